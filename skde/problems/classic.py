"""Problems outside the suites."""

from __future__ import annotations

import numpy as np

from skde.problems import data
from skde.problems.base import DimRange, Problem, same_bounds

NAMES = {"plain": ("rotated_rastrigin",)}


def dim_range(name: str) -> DimRange:
    """Return the allowed numbers of variables of a problem."""
    return DimRange()


def build(name: str, dim: int) -> Problem:
    """Return Rastrigin's function of M x with an orthogonal matrix M, in [-5.12, 5.12]."""
    M = data.rotation(f"skde:rotated_rastrigin:M:D{dim}", dim)
    bounds = same_bounds(-5.12, 5.12, dim)
    return Problem(name, "rotated_rastrigin", bounds, np.zeros(dim), 0.0, (np.ascontiguousarray(M.T),))
