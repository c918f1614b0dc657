"""Tables and plots that the site makes from benchmarks/records, by the functions that its pages name."""
