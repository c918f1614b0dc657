"""The state of a batch of runs: its spec, its arrays, and their checks."""
