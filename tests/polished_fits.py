"""Comparison of fits that end with a polish."""

from __future__ import annotations

import numpy as np

from skde import Minimizer


def assert_same(one: Minimizer, other: Minimizer) -> None:
    """Check that two fits chose the same, and that all their runs have the same results."""
    assert repr(one.algorithm_) == repr(other.algorithm_)
    assert_same_runs(one, other)


def assert_same_runs(one: Minimizer, other: Minimizer) -> None:
    """Check that all runs of two fits have the same results; a file has lists where an algorithm has tuples."""
    assert one.polish_evals_ == other.polish_evals_
    for a, b in zip(one.runs_, other.runs_, strict=True):
        assert (a.fun, a.n_evals, a.polish_evals, a.status) == (b.fun, b.n_evals, b.polish_evals, b.status)
        assert a.polish_complete == b.polish_complete
        assert np.array_equal(a.x, b.x)
        assert np.array_equal(a.history.best, b.history.best)
