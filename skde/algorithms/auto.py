"""The choice of an algorithm by what a fit is about: a table, and the function that reads it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from skde.algorithms import Algorithm, get_algorithm
from skde.algorithms.base import FitSetting

AUTO = "auto"
LEAST_INDIVIDUALS = 8
LEAST_GENERATIONS = 5


class Circumstances(NamedTuple):
    """The properties of a fit that the choice depends on.

    Neither the device nor the number of runs is one of them: a fit has the same bits on every device, and a run in a
    batch is the run alone. The types of the variables have no record yet, and change nothing.

    Attributes
    ----------
    dim : int
        Number of variables of the box.
    max_evals, max_iter : int or None
        Budget of one population; None where it is not limited.
    constrained : bool
        Whether there are constraints.
    n_start : int
        Number of first points, which the population has room for.
    """

    dim: int
    max_evals: int | None = None
    max_iter: int | None = None
    constrained: bool = False
    n_start: int = 0


class Row(NamedTuple):
    """A row of the table.

    Attributes
    ----------
    evals_per_dim : float
        The row is for budgets of at most so many evaluations for every variable,
    most_dim : float
        and for at most so many variables.
    name : str
        The algorithm's name in the registry.
    pop_size : callable or None
        The size of the population by the dimension; None: the algorithm's own.
    parameters : mapping
        Other parameters.
    constrained : mapping
        Other parameters where there are constraints.
    """

    evals_per_dim: float
    most_dim: float
    name: str
    pop_size: Callable[[int], int] | None = None
    parameters: Mapping[str, Any] = MappingProxyType({})
    constrained: Mapping[str, Any] = MappingProxyType({})


MIDPOINT = MappingProxyType({"repair": "midpoint"})
# The first row that a fit fits counts. Of the rows' candidates each has the lowest mean rank, or nearly so, over the
# suites of docs/benchmarks/auto.json, which has D = 2 to 20. With constraints the rule of midpoints is better. `rdex`
# and `cmaes` have lower ranks in some rows; they get their rows when their kernels have run on a GPU.
BY_BUDGET = (
    Row(300, 3, "jso", lambda dim: 10, MIDPOINT),
    Row(300, 7, "jso", lambda dim: 20, MIDPOINT),
    Row(300, math.inf, "lshade", lambda dim: 20, MIDPOINT),
    Row(3000, 3, "jso", lambda dim: 20, constrained=MIDPOINT),
    Row(3000, 15, "lshade", lambda dim: 50, MIDPOINT),
    Row(3000, math.inf, "lshade", lambda dim: 100, MIDPOINT),
    Row(math.inf, math.inf, "jso", constrained=MIDPOINT),
)
# Generations alone: evaluations have no limit, and a large population makes better use of each generation.
BY_GENERATIONS = Row(math.inf, math.inf, "jso", lambda dim: 200, constrained=MIDPOINT)
# Neither of them: time alone does not plan a reduction, so that the population keeps its size.
WITHOUT_BUDGET = Row(math.inf, math.inf, "shade", lambda dim: max(30, min(5 * dim, 100)))


def rule(given: Circumstances) -> tuple[Algorithm, str]:
    """Return the parameter object for a fit, and the reason for it.

    Parameters
    ----------
    given : Circumstances
        The properties of the fit.

    Returns
    -------
    algorithm : Algorithm
        With every size set that the choice depends on.
    reason : str
        A part of a sentence.

    Examples
    --------
    >>> from skde.algorithms.auto import Circumstances, rule
    >>> rule(Circumstances(dim=10, max_evals=1000))
    (LSHADE(pop_size=20, repair='midpoint'), '100 evaluations for each of 10 variables')
    """
    if given.max_evals is None and given.max_iter is None:
        return made(WITHOUT_BUDGET, given), "the number of evaluations is not known"
    if given.max_evals is None:
        return made(BY_GENERATIONS, given), f"{given.max_iter} generations, and no limit on the evaluations"
    share = given.max_evals / given.dim
    row = next(row for row in BY_BUDGET if share <= row.evals_per_dim and given.dim <= row.most_dim)
    reason = f"{share:.4g} evaluations for each of {given.dim} variable{'s' if given.dim > 1 else ''}"
    return made(row, given), f"{reason}, with constraints" if given.constrained and row.constrained else reason


def made(row: Row, given: Circumstances) -> Algorithm:
    """Return the parameter object of a row; its population leaves some generations, and has room for first points."""
    parameters = {**row.parameters, **(row.constrained if given.constrained else {})}
    algorithm = get_algorithm(row.name, **parameters)
    if row.pop_size is None:
        size = int(algorithm.kernel_parameters(FitSetting(given.dim, given.max_evals, given.max_iter))["pop_size"])
    else:
        size = row.pop_size(given.dim)
    if given.max_evals is not None:
        size = min(size, max(given.max_evals // LEAST_GENERATIONS, min(given.max_evals, LEAST_INDIVIDUALS), 4))
    return get_algorithm(row.name, **parameters, pop_size=max(size, given.n_start))
