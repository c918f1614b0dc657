"""Iterated racing: configuration of optimisers, and of anything else, within a number of experiments."""
