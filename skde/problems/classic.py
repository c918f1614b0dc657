"""Problems that belong to no suite."""

from __future__ import annotations

import numpy as np

from skde.problems import data
from skde.problems.base import DimRange, Problem

NAMES = ("rotated_rastrigin",)


def dim_range(name: str) -> DimRange:
    """Return how many variables a problem may have."""
    return DimRange()


def build(name: str, dim: int) -> Problem:
    """Return Rastrigin's function of M x, in [-5.12, 5.12]."""
    M = data.rotation(f"skde:rotated_rastrigin:M:D{dim}", dim)
    bounds = np.tile([-5.12, 5.12], (dim, 1))
    return Problem(name, "rotated_rastrigin", bounds, np.zeros(dim), 0.0, (np.ascontiguousarray(M.T),))
