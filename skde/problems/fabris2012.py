"""Six problems of Fabris and Krohling, 2012.

F. Fabris, R. A. Krohling: A co-evolutionary differential evolution algorithm for solving min-max optimization problems
implemented on GPU using C-CUDA (Expert Systems with Applications, 2012): P1 is a min-max problem, P2 ... P6 have
constraints; all in corrected form. Minimisers and multipliers: Newton's method on the Karush-Kuhn-Tucker conditions,
in 40 digits and more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from skde.problems.base import DimRange, Problem, same_bounds
from skde.problems.compiled_constrained import CompiledConstrainedProblem
from skde.problems.constraints import ConstrainedProblem
from skde.problems.minmax import MinMaxProblem

SUITE = "fabris2012"
SOURCE = "Fabris and Krohling 2012"


class Definition(NamedTuple):
    """A constrained problem: box, minimiser, minimum and multipliers."""

    box: Sequence[tuple[float, float]]
    x_opt: list[float]
    f_opt: float
    multipliers: list[float]


TABLE = {
    "p2": Definition(  # its multipliers are not unique
        [(0, 1)] * 9 + [(0, 100)] * 3 + [(0, 1)],
        [1.0] * 9 + [3.0] * 3 + [1.0],
        -15.0,
        [0.5, 0, 0, 0.5, 0, 0, 0.5, 0, 0],
    ),
    "p3": Definition(
        [(-10, 10)] * 10,
        [
            2.1719963712554553,
            2.36368297369728,
            8.77392573847685,
            5.095984487948453,
            0.9906547649638592,
            1.4305739789363159,
            1.3216442081617032,
            9.828725807886322,
            8.280091670098345,
            8.375926663921323,
        ],
        24.306209068179809,
        [
            1.71653315346817,
            0.474520154188971,
            1.37592666392132,
            0,
            0.0205455551024224,
            0.287049319290877,
            0.312028508935333,
            0,
        ],
    ),
    "p4": Definition(
        [(-10, 10)] * 7,
        [
            2.33049937287957,
            1.951372372896889,
            -0.4775413923888716,
            4.36572623365581,
            -0.6244869705268175,
            1.0381310186079584,
            1.5942267116118685,
        ],
        680.63005737440215,
        [1.13971995916738, 0, 0, 0.368614517187211],
    ),
    "p5": Definition(
        [(100, 10000)] + [(1000, 10000)] * 2 + [(10, 1000)] * 5,
        [
            579.3066844253551,
            1359.9706680516551,
            5109.970668051655,
            182.01769958111993,
            295.6011732779338,
            217.98230041888007,
            286.4165263031861,
            395.6011732779338,
        ],
        7049.2480205286652,
        [
            1964.04607256718,
            5210.6741454948,
            5109.97066805166,
            0.00847584761824135,
            0.0095786517090104,
            0.01,
        ],
    ),
    "p6": Definition(
        [(0.05, 2), (0.25, 1.3), (2, 15)],
        [0.0516890610827635, 0.356717739799441, 11.2889657516133],
        0.012665232788319417,
        [0.0107591050993709, 0.0243774017321646, 0, 0],
    ),
}
NAMES = {"minmax": (f"{SUITE}/p1",), "constrained": tuple(f"{SUITE}/{key}" for key in TABLE)}


def dim_range(name: str) -> DimRange:
    """Return the allowed numbers of variables of a problem."""
    key = name.rpartition("/")[2]
    return DimRange.only(len(TABLE[key].x_opt)) if key in TABLE else DimRange(default=100)


def build(name: str, dim: int) -> MinMaxProblem | ConstrainedProblem:
    """Return a problem of the suite."""
    key = name.rpartition("/")[2]
    kernel = f"{SUITE}_{key}"
    if key not in TABLE:
        box, zero = same_bounds(-1.0, 1.0, dim), np.zeros(dim)
        return MinMaxProblem(name, kernel, box, box, zero, zero, 0.0, True, source=SOURCE)
    definition = TABLE[key]
    problem = Problem(name, kernel, np.array(definition.box), np.array(definition.x_opt), definition.f_opt)
    return CompiledConstrainedProblem(problem, np.array(definition.multipliers))
