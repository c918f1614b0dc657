"""Four shifted functions of Qin and others, 2012.

A. K. Qin, F. Raimondo, F. Forbes, Y. S. Ong: An improved CUDA-based implementation of differential evolution on GPU
(GECCO 2012): CEC 2005's F1, F6, F7 and F9, shifted and unrotated, without bias.

The paper gives no boxes; F3's is our choice, the others are CEC 2005's. F2 is Rosenbrock's of x - o + 1, so that the
minimiser is o (as the paper prints it, it would be o + 1).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from skde.problems import data as streams
from skde.problems.base import DimRange, Problem, same_bounds
from skde.problems.cec2005 import OfficialData
from skde.problems.nashed2012 import roots
from skde.problems.official_data import read_options

SUITE = "qin2012"


class Definition(NamedTuple):
    """A function: CEC 2005's name of it, half the width of its box, and the range of its shift."""

    official: str
    box: float
    shift: tuple[float, float]
    smallest_dim: int = 1
    with_roots: bool = False  # the square roots that Griewank's function divides by


TABLE = {
    "F1": Definition("F1", 100.0, (-100.0, 100.0)),
    "F2": Definition("F6", 100.0, (-90.0, 90.0), smallest_dim=2),
    "F3": Definition("F7", 600.0, (-600.0, 0.0), with_roots=True),
    "F4": Definition("F9", 5.0, (-5.0, 5.0)),
}
NAMES = {"plain": tuple(f"{SUITE}/{key}" for key in TABLE)}


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
        Shifts of skde, for any number of variables, or of CEC 2005, for at most 100.
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
        o = streams.shift(f"{SUITE}:{key}:shift", dim, *definition.shift)
    arrays = (o, roots(dim)) if definition.with_roots else (o,)
    box = same_bounds(-definition.box, definition.box, dim)
    return Problem(name, f"{SUITE}_{key}", box, o, 0.0, arrays, read_options(data, folder))
