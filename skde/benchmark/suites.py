"""Test functions of quality experiments: skde's suites, and CEC 2017's from minionpy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

import numpy as np

from skde.problems import Problem, get_problem, problem_names
from skde.typing import FloatArray
from skde.validation import check_choice

CEC2017_DIMS = (10, 30, 50, 100)
BLOCK = 256


@dataclass(frozen=True)
class Function:
    """One function of a suite in one dimension.

    Attributes
    ----------
    name : str
        Name in its suite.
    objective : Problem or callable
        The objective of a Minimizer: compiled, or f(X) on NumPy arrays of shape (n, dim).
    of_lists : callable
        The same function for lists of points; returns a list of values.
    bounds : ndarray of shape (dim, 2)
        The box.
    f_opt : float
        The minimum.
    """

    name: str
    objective: Any
    of_lists: Callable[[list[list[float]]], list[float]]
    bounds: FloatArray
    f_opt: float

    @property
    def dim(self) -> int:
        """Number of variables."""
        return len(self.bounds)


def skde_function(suite: str, name: str, dim: int) -> Function:
    """Return a function of one of skde's suites."""
    return problem_function(name, get_problem(f"{suite}/{name}", dim=dim))


def nashed2012_as_run_function(suite: str, name: str, dim: int) -> Function:
    """Return a function of nashed2012 with the weights and factors of the paper's program."""
    return problem_function(name, get_problem(f"nashed2012/{name}", dim=dim, as_run=True))


def problem_function(name: str, problem: Problem) -> Function:
    """Return one of skde's problems as a function of a suite."""

    def of_lists(points: list[list[float]]) -> list[float]:
        values: list[float] = problem(np.asarray(points)).tolist()
        return values

    return Function(name, problem, of_lists, problem.bounds, problem.f_opt)


def cec2017_function(suite: str, name: str, dim: int) -> Function:
    """Return a function of CEC 2017's suite; its minimum is 100 times its number."""
    if dim not in CEC2017_DIMS:
        raise ValueError(f"dims of {suite!r} must be of {', '.join(map(str, CEC2017_DIMS))}; got {dim}")
    if find_spec("minionpy") is None:
        raise ValueError(f"the suite {suite!r} needs minionpy, which is not installed: pip install minionpy")
    import minionpy

    number = int(name[1:])
    function = minionpy.CEC2017Functions(number, dim)

    def of_arrays(X: FloatArray) -> FloatArray:
        # minionpy takes arrays too, but reads lists faster, and short ones fastest, because they stay in the cache.
        return np.concatenate([function(X[row : row + BLOCK].tolist()) for row in range(0, len(X), BLOCK)])

    return Function(name, of_arrays, function, np.tile([-100.0, 100.0], (dim, 1)), 100.0 * number)


@dataclass(frozen=True)
class Suite:
    """A suite of test functions.

    Attributes
    ----------
    name : str
        Name of the suite.
    functions : tuple of str
        Their names, in order.
    make : callable
        (suite, function, dim) -> Function; raises ValueError for a dimension that is not allowed.
    compiled : bool
        Whether the functions run on a GPU too.
    zero : float
        Smaller errors count as zero, as in papers on the suite.
    """

    name: str
    functions: tuple[str, ...]
    make: Callable[[str, str, int], Function]
    compiled: bool
    zero: float = 1e-8

    def function(self, name: str, dim: int) -> Function:
        """Return one function.

        Raises
        ------
        ValueError, TypeError
            For a name or a dimension that the suite does not have.
        """
        return self.make(self.name, check_choice(f"function of {self.name!r}", name, self.functions), dim)


def suites() -> dict[str, Suite]:
    """Return every suite by its name."""
    names: dict[str, list[str]] = {}
    for problem in problem_names():
        suite, slash, name = problem.partition("/")
        if slash:
            names.setdefault(suite, []).append(name)
    zeros = {"nashed2012": {"zero": 1e-12}, "wang2012": {"zero": 1e-14}}
    named = {
        suite: Suite(suite, tuple(functions), skde_function, True, **zeros.get(suite, {}))
        for suite, functions in names.items()
    }
    # Function 2 was removed from the competition because its values in high dimensions are not stable.
    cec2017 = tuple(f"f{number}" for number in range(1, 31) if number != 2)
    as_run = replace(named["nashed2012"], name="nashed2012-as-run", make=nashed2012_as_run_function)
    return {**named, as_run.name: as_run, "cec2017": Suite("cec2017", cec2017, cec2017_function, False)}


def find_suite(name: str) -> Suite:
    """Return the suite of that name; the nearest is suggested."""
    known = suites()
    return known[check_choice("suite", name, known)]


def zero_of(suite: str) -> float:
    """Return the error below which papers on a suite set it to zero; 1e-8 for a suite that is not known."""
    known = suites()
    return known[suite].zero if suite in known else 1e-8
