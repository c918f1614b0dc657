"""Nineteen functions of Wang and others, 2012.

H. Wang, S. Rahnamayan, Z. Wu: Parallel differential evolution with self-adapting control parameters and generalized
opposition-based learning for solving high-dimensional optimization problems (J. Parallel and Distributed Computing 73,
2013), Table 1. They are the functions of the special issue of Soft Computing on large scale continuous optimization
(SOCO 2011); F1 to F6 come from CEC 2008. The paper prints names, boxes and minima, no formulas.

F1 sphere, F2 Schwefel 2.21, F3 Rosenbrock, F4 Rastrigin, F5 Griewank, F6 Ackley, F7 Schwefel 2.22, F8 Schwefel 1.2,
F9 extended f10, F10 Bohachevsky, F11 Schaffer, all shifted; F12 to F19 are hybrids of two of them. F7 and F15 multiply
hundreds of components: far from the minimiser, at 1000 variables, they overflow to infinity as their formulas do.

A hybrid gives every second one of the first components to each of two parts, and the rest to the larger part. F12 to
F14 and F16 to F18 shift the second part only; F15 and F19 shift both. Below 4 variables a part may be empty. With 4 to
7 variables the smaller part of F15 and of F17 has a single component, on which these functions do not depend.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skde.problems.base import DimRange, Problem, same_bounds
from skde.problems.data import shift
from skde.problems.nashed2012 import roots
from skde.problems.official_data import SPECS, OfficialFiles, read_options
from skde.typing import FloatArray
from skde.utils.validation import check_choice

SUITE = "wang2012"
OFFICIAL = OfficialFiles(
    "write the 1000 numbers of each shift into one line of F1.txt ... F11.txt, F15.txt and F19.txt; they are in the "
    "programs of the special issue, and the package opfunu has the data of F1 to F6, rounded, in cec_based/data_2008"
)


class Definition(NamedTuple):
    """A function: half the width of its box, its shift, its minimum, and how a hybrid divides the components.

    Attributes
    ----------
    box : float
        Half the width of the box.
    shift : str
        The function with that shift.
    minimum : float
        The bias.
    share : int
        Of a hybrid: the share of its first part, in quarters of the components; 0: no hybrid.
    smallest_dim : int
        Least number of variables.
    """

    box: float
    shift: str
    minimum: float = 0.0
    share: int = 0
    smallest_dim: int = 2


SHIFTS = {
    "F1": (-100.0, 100.0),
    "F2": (-100.0, 0.0),
    "F3": (-90.0, 90.0),
    "F4": (-5.0, 5.0),
    "F5": (-600.0, 600.0),
    "F6": (-30.0, 30.0),
    "F7": (-5.0, 5.0),
    "F8": (-32.0, 32.0),
    "F9": (-50.0, 50.0),
    "F10": (-7.0, 7.0),
    "F11": (-50.0, 50.0),
    "F15": (-5.0, 5.0),
    "F19": (-5.0, 5.0),
}
TABLE = {
    "F1": Definition(100.0, "F1", -450.0, smallest_dim=1),
    "F2": Definition(100.0, "F2", -450.0, smallest_dim=1),
    "F3": Definition(100.0, "F3", 390.0),
    "F4": Definition(5.0, "F4", -330.0, smallest_dim=1),
    "F5": Definition(600.0, "F5", -180.0, smallest_dim=1),
    "F6": Definition(32.0, "F6", -140.0, smallest_dim=1),
    "F7": Definition(10.0, "F7", smallest_dim=1),
    "F8": Definition(65.536, "F8", smallest_dim=1),
    "F9": Definition(100.0, "F9"),
    "F10": Definition(15.0, "F10"),
    "F11": Definition(100.0, "F11"),
    "F12": Definition(100.0, "F1", share=1),
    "F13": Definition(100.0, "F3", share=1),
    "F14": Definition(5.0, "F4", share=1),
    "F15": Definition(10.0, "F15", share=1),
    "F16": Definition(100.0, "F1", share=2),
    "F17": Definition(100.0, "F3", share=3),
    "F18": Definition(5.0, "F4", share=3),
    "F19": Definition(10.0, "F19", share=3),
}
WHOLE_SHIFT = ("F15", "F19")  # hybrids that shift all components, by vectors that only they have
NAMES = {"plain": tuple(f"{SUITE}/{key}" for key in TABLE)}


def dim_range(name: str) -> DimRange:
    """Return the allowed numbers of variables of a problem."""
    return DimRange(TABLE[name.rpartition("/")[2]].smallest_dim)


def parts(share: int, dim: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the components of a hybrid's two parts, in their order."""
    each = dim * min(share, 4 - share) // 4
    first, second, rest = np.arange(0, 2 * each, 2), np.arange(1, 2 * each, 2), np.arange(2 * each, dim)
    if share > 2:
        return np.concatenate([first, rest]), second
    return first, np.concatenate([second, rest])


def build(name: str, dim: int, *, spec: str = "cec", data: str = "generated", folder: Any = None) -> Problem:
    """Return a function of the suite.

    Parameters
    ----------
    name : str
        "wang2012/F1" ... "wang2012/F19".
    dim : int
        Number of variables.
    spec : {"cec", "paper"}, default "cec"
        "paper" has a slip of the special issue's published program: F2 takes the first variable unshifted.
    data : {"generated", "official"}, default "generated"
        Shifts made of their names by `skde.problems.data.shift`, in the ranges of the official ones, or the official
        ones from `folder`.
    folder : str, path or None, default None
        Folder with F1.txt ... F11.txt, F15.txt and F19.txt, each with one line of numbers, at least `dim` of them.

    Returns
    -------
    problem : Problem
    """
    check_choice("spec", spec, SPECS)
    place = OFFICIAL.folder(data, folder)
    key = name.rpartition("/")[2]
    definition = TABLE[key]
    if place is None:
        o = shift(f"soco2010:{definition.shift}:shift", dim, *SHIFTS[definition.shift])
    else:
        o = OFFICIAL.table(place / f"{definition.shift}.txt", 1, dim, longer_rows=True)[0]
    if key == "F2" and spec == "paper":
        o[0] = 0.0
    x_opt, arrays = hybrid(key, o) if definition.share else (o, (o,))
    if key == "F5":
        arrays = (o, roots(dim))
    box = same_bounds(-definition.box, definition.box, dim)
    options = read_options(data, folder, spec)
    return Problem(name, f"{SUITE}_{key}", box, x_opt, definition.minimum, arrays, options)


def hybrid(key: str, o: FloatArray) -> tuple[FloatArray, tuple[FloatArray, ...]]:
    """Return the minimiser of a hybrid, and the kernel's array: the shift in the order of the parts."""
    first, second = parts(TABLE[key].share, len(o))
    if key in WHOLE_SHIFT:
        return o, (np.concatenate([o[first], o[second]]),)
    x_opt = np.zeros(len(o))
    x_opt[second] = o[: len(second)]
    return x_opt, (np.concatenate([x_opt[first], x_opt[second]]),)
