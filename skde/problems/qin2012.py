"""Four shifted functions of Qin and others, 2012.

A. K. Qin, F. Raimondo, F. Forbes, Y. S. Ong: An improved CUDA-based implementation of differential evolution on GPU
(GECCO 2012): CEC 2005's F1, F6, F7 and F9, shifted and unrotated, without bias.

The paper gives no boxes; F3's is our choice, the others are CEC 2005's. F2 is Rosenbrock's of x - o + 1, so that the
minimiser is o (as the paper prints it, it would be o + 1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skde.problems import data
from skde.problems.base import DimRange, Problem


@dataclass(frozen=True)
class Definition:
    """A function: its kernel, half the width of its box, and the range of its shift."""

    kernel: str
    box: float
    shift: tuple[float, float]
    smallest_dim: int = 1
    with_roots: bool = False  # the square roots that Griewank's function divides by


TABLE = {
    "F1": Definition("qin2012_F1", 100.0, (-100.0, 100.0)),
    "F2": Definition("qin2012_F2", 100.0, (-90.0, 90.0), smallest_dim=2),
    "F3": Definition("qin2012_F3", 600.0, (-600.0, 0.0), with_roots=True),
    "F4": Definition("qin2012_F4", 5.0, (-5.0, 5.0)),
}
NAMES = tuple(f"qin2012/{key}" for key in TABLE)


def dim_range(name: str) -> DimRange:
    """Return the allowed numbers of variables of a problem."""
    return DimRange(TABLE[name.rpartition("/")[2]].smallest_dim)


def build(name: str, dim: int) -> Problem:
    """Return a function of the suite."""
    key = name.rpartition("/")[2]
    definition = TABLE[key]
    o = data.shift(f"qin2012:{key}:shift", dim, *definition.shift)
    arrays = (o, np.sqrt(np.arange(1.0, dim + 1))) if definition.with_roots else (o,)
    return Problem(name, definition.kernel, np.tile([-definition.box, definition.box], (dim, 1)), o, 0.0, arrays)
