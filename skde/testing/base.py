"""The setting of contract tests: a box, a function on it, and short, repeatable fits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from skde.algorithms import Algorithm
from skde.minimizer import Minimizer
from skde.typing import Array
from skde.utils.arrays import array_namespace

# Bounds of different widths, none of them symmetric, one of them narrow.
BOX = np.array([[-1.0, 3.0], [2.0, 2.5], [-100.0, -10.0], [0.0, 1e-9], [-5.0, 1000.0]])
# Calls of a correct function before a fit, which check its return values.
PROBE_CALLS = 2


def bowl(X: Array) -> Array:
    """Return the squared distance to a point of the box, each variable measured in the width of its bounds."""
    xp = array_namespace(X)
    low, width = xp.asarray(BOX[:, 0], X.dtype), xp.asarray(BOX[:, 1] - BOX[:, 0], X.dtype)
    return (((X - low) / width - 0.25) ** 2).sum(axis=1)


def same(first: Minimizer, second: Minimizer) -> bool:
    """Whether two fits ended with the same bits."""
    pairs = [(first.x_, second.x_), (first.population_, second.population_), (first.fitness_, second.fitness_)]
    return all(np.array_equal(a, b) for a, b in pairs) and first.n_evals_ == second.n_evals_


def with_repair(algorithm: Algorithm, repair: str) -> Algorithm:
    """Return an algorithm with another repair of bounds, or itself where it has none."""
    return clone(algorithm).set_params(repair=repair) if "repair" in algorithm.get_params() else algorithm


class BaseContract:
    """The fixtures of a contract, and a Minimizer of them."""

    @pytest.fixture
    def algorithm(self) -> Algorithm:
        """Return the algorithm under test."""
        raise TypeError("a subclass of AlgorithmContract needs a fixture named algorithm")

    @pytest.fixture
    def device(self) -> str:
        """Return the device of the tests."""
        return "cpu"

    def make(self, algorithm: Any, device: str | list[str], **parameters: Any) -> Minimizer:
        """Return a Minimizer for a short, repeatable fit."""
        return Minimizer(algorithm, device=device, **{"max_iter": 30, "random_state": 5, **parameters})
