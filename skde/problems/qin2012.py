"""Four shifted functions of Qin and others, 2012.

A. K. Qin, F. Raimondo, F. Forbes, Y. S. Ong: An improved CUDA-based implementation of differential evolution on GPU
(GECCO 2012): CEC 2005's F1, F6, F7 and F9, shifted and unrotated, without bias.

The paper gives no boxes; F3's is our choice, the others are CEC 2005's. F2 is Rosenbrock's of x - o + 1, so that the
minimiser is o (as the paper prints it, it would be o + 1).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from skde.problems import data as streams
from skde.problems.base import DimRange, Problem
from skde.problems.cec2005 import OfficialData, given_options


class Definition(NamedTuple):
    """A function: its kernel, CEC 2005's name of it, half the width of its box, and the range of its shift."""

    kernel: str
    official: str
    box: float
    shift: tuple[float, float]
    smallest_dim: int = 1
    with_roots: bool = False  # the square roots that Griewank's function divides by


TABLE = {
    "F1": Definition("qin2012_F1", "F1", 100.0, (-100.0, 100.0)),
    "F2": Definition("qin2012_F2", "F6", 100.0, (-90.0, 90.0), smallest_dim=2),
    "F3": Definition("qin2012_F3", "F7", 600.0, (-600.0, 0.0), with_roots=True),
    "F4": Definition("qin2012_F4", "F9", 5.0, (-5.0, 5.0)),
}
NAMES = {"plain": tuple(f"qin2012/{key}" for key in TABLE)}


def dim_range(name: str) -> DimRange:
    """Return the allowed numbers of variables of a problem."""
    return DimRange(TABLE[name.rpartition("/")[2]].smallest_dim)


def build(name: str, dim: int, *, data: str = "generated", folder: Any = None) -> Problem:
    """Return a function of the suite.

    Parameters
    ----------
    name : str
        "qin2012/F1" ... "qin2012/F4".
    dim : int
        Number of variables.
    data : {"generated", "official"}, default "generated"
        Shifts of skde, for any number of variables, or those of CEC 2005, for at most 100.
    folder : str, path or None, default None
        Folder with the competition's files; None: the data of the package optproblems.

    Returns
    -------
    problem : Problem
    """
    official = OfficialData(data, folder)
    key = name.rpartition("/")[2]
    definition = TABLE[key]
    if official.used:
        o = official.shift(definition.official, dim)
    else:
        o = streams.shift(f"qin2012:{key}:shift", dim, *definition.shift)
    arrays = (o, np.sqrt(np.arange(1.0, dim + 1))) if definition.with_roots else (o,)
    box = np.tile([-definition.box, definition.box], (dim, 1))
    return Problem(name, definition.kernel, box, o, 0.0, arrays, given_options(data, folder))
