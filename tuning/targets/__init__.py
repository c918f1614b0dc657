"""Targets of a tuning: algorithms, functions, programs and estimators."""
