"""Tables and plots that the site makes from benchmarks/records, by the functions that its pages name."""

import scikit_posthocs  # noqa: F401 - without it, tests would be left out of the tables
