"""Comparison of fits that end with a polish."""

from __future__ import annotations

import numpy as np

from skde import Minimizer
from skde.algorithms import Algorithm
from skde.algorithms.sequence import AlgorithmSequence


def assert_same(one: Minimizer, other: Minimizer) -> None:
    """Check that two fits chose the same, and that all their runs have the same results."""
    assert [type(each) for each in parts(one)] == [type(each) for each in parts(other)]
    assert one.polish_evals_ == other.polish_evals_
    for a, b in zip(one.runs_, other.runs_, strict=True):
        assert (a.fun, a.n_evals, a.polish_evals, a.status) == (b.fun, b.n_evals, b.polish_evals, b.status)
        assert a.polish_complete == b.polish_complete
        assert np.array_equal(a.x, b.x)
        assert np.array_equal(a.history.best, b.history.best)


def parts(m: Minimizer) -> list[Algorithm]:
    """Return the algorithms of a fit."""
    algorithm = m.algorithm_
    if isinstance(algorithm, AlgorithmSequence):
        return list(algorithm.algorithms)
    return [algorithm] if isinstance(algorithm, Algorithm) else list(algorithm)
