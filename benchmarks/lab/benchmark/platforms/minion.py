"""Suites of minionpy: the competitions of CEC, and BBOB-2009's functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import inf

import numpy as np

from skde.benchmark.functions import Function, Package, Suite
from skde.typing import FloatArray

MINIONPY = Package("minionpy", "minionpy")
CEC_DIMS = (10, 30, 50, 100)
# Each function of these suites has one dimension.
CEC2011_DIMS = (6, 30, 1, 1, 30, 30, 20, 7, 126, 12, 120, 240, 6, 13, 15, 40, 140, 96, 96, 96, 26, 22)
CEC2019_DIMS = (9, 16, 18, *(10,) * 7)
BLOCK = 256


def minion_function(class_name: str, suite: str, name: str, dim: int) -> Function:
    """Return a function of one of minionpy's classes; where the minimum is not published, errors are values."""
    import minionpy

    function = getattr(minionpy, class_name)(int(name[1:]), dim)

    def of_arrays(X: FloatArray) -> FloatArray:
        # minionpy takes arrays too, but reads lists faster, and short ones fastest, because they stay in the cache.
        return np.concatenate([function(X[row : row + BLOCK].tolist()) for row in range(0, len(X), BLOCK)])

    f_opt = 0.0 if function.f_opt is None else float(function.f_opt)
    return Function(name, of_arrays, function, np.asarray(function.bounds, float), f_opt)


def suites() -> list[Suite]:
    """Return all suites, whether minionpy is installed or not."""

    def suite(name: str, class_name: str, numbers: Sequence[int], dims: Callable[[str], tuple[int, ...]]) -> Suite:
        functions = tuple(f"f{number}" for number in numbers)
        # Values of CEC 2011 have no published minima and may be negative: none of them counts as zero.
        zero = -inf if name == "cec2011" else 1e-8
        make = partial(minion_function, class_name)
        return Suite(name, functions, make, False, zero, dims=dims, package=MINIONPY)

    def always(*dims: int) -> Callable[[str], tuple[int, ...]]:
        return lambda name: dims

    def one_of(dims: Sequence[int]) -> Callable[[str], tuple[int, ...]]:
        return lambda name: (dims[int(name[1:]) - 1],)

    def cec2020_dims(name: str) -> tuple[int, ...]:
        # The two hybrid functions are not defined in 5 variables in the competition's report.
        return (10, 15, 20) if name in ("f6", "f7") else (5, 10, 15, 20)

    return [
        suite("cec2011", "CEC2011Functions", range(1, 23), one_of(CEC2011_DIMS)),
        suite("cec2014", "CEC2014Functions", range(1, 31), always(*CEC_DIMS)),
        # Function 2 was removed from the competition because its values in high dimensions are not stable.
        suite("cec2017", "CEC2017Functions", [n for n in range(1, 31) if n != 2], always(*CEC_DIMS)),
        suite("cec2019", "CEC2019Functions", range(1, 11), one_of(CEC2019_DIMS)),
        suite("cec2020", "CEC2020Functions", range(1, 11), cec2020_dims),
        suite("cec2022", "CEC2022Functions", range(1, 13), always(10, 20)),
        suite("bbob2009", "BBOB2009Functions", range(1, 25), always(2, 5, 10, 20, 40)),
    ]
