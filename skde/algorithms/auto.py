"""The choice of an algorithm by what a fit is about: tables, and the function that reads them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from skde.algorithms import Algorithm, get_algorithm
from skde.algorithms.base import FitSetting
from skde.algorithms.sequence import AlgorithmSequence

AUTO = "auto"
LEAST_INDIVIDUALS = 8
LEAST_GENERATIONS = 5
MOST_COMPONENTS = 10**7  # of a population: 80 MB; an algorithm has several such arrays


class DefaultPolish(NamedTuple):
    """The evaluations of a run that are kept for a local search, by what precedes it; 0: there is none.

    Attributes
    ----------
    after_one, after_two : int
        After one search, and after the two of a sequence.
    """

    after_one: int = 0
    after_two: int = 0


class FitProperties(NamedTuple):
    """The properties of a fit that the choice depends on.

    Neither the device nor the number of runs is one of them: a fit has the same bits on every device, and a run in a
    batch is the run alone.

    Attributes
    ----------
    dim : int
        Number of variables of the box.
    max_evals, max_iter : int or None
        Budget of one population; None where it is not limited.
    constrained : bool
        Whether there are constraints.
    discrete : bool
        Whether some variables are integers, ordinal or categories, so that the objective has steps.
    n_choices : int
        The most choices of a category: a population with fewer members would leave some of them untried.
    n_start : int
        Number of first points, which the population has room for.
    n_islands : int
        Populations of a run, which all have this budget.
    one_search : bool
        Whether another rule of the fit is about one population, such as tol, so that there is no sequence.
    polish : DefaultPolish
        What the searches leave to a local search.
    """

    dim: int
    max_evals: int | None = None
    max_iter: int | None = None
    constrained: bool = False
    discrete: bool = False
    n_choices: int = 0
    n_start: int = 0
    n_islands: int = 1
    one_search: bool = False
    polish: DefaultPolish = DefaultPolish()

    @property
    def special(self) -> str:
        """The reason for the second table, or an empty text."""
        return "constraints" if self.constrained else "discrete variables" if self.discrete else ""


class Row(NamedTuple):
    """A row of the table.

    Attributes
    ----------
    evals_per_dim : float
        Largest budget in evaluations for every variable.
    most_dim : float
        Largest number of variables.
    name : str
        The algorithm's name in the registry.
    pop_size : callable or None
        The size of the population by the dimension; None: the algorithm's own.
    parameters : mapping
        Other parameters.
    pop_min : callable or None
        The size of the population at the end by the dimension; None: the algorithm's own.
    first : bool
        Whether a search by FIRST has a part of the evaluations before.
    """

    evals_per_dim: float
    most_dim: float
    name: str
    pop_size: Callable[[int], int] | None = None
    parameters: Mapping[str, Any] = MappingProxyType({})
    pop_min: Callable[[int], int] | None = None
    first: bool = False


MIDPOINT = MappingProxyType({"repair": "midpoint"})
RARE_PERTURBATION = MappingProxyType({"perturbation_rate": 0.2})
# The largest middle budget that is for DE, in evaluations for every variable: in at most MIDDLE_DIM, and in more.
MIDDLE_EVALS, MIDDLE_DIM, MIDDLE_EVALS_OF_MANY = 3000, 30, 1500
# The first row that a fit fits counts. Of the candidates each has the lowest mean rank, or nearly so, in the records
# benchmarks/records/auto.json, bbob-comparison.json and auto-middle-budgets.json, which have D = 2 to 40; with large
# budgets in 10 to 15 variables, and middle ones in more than 30, in the trials of docs/which.md.
BY_BUDGET = (
    Row(300, 3, "jso", lambda dim: 10, MIDPOINT),
    Row(300, math.inf, "cmaes"),
    Row(1500, 15, "rdex", lambda dim: max(12 * dim, 36), RARE_PERTURBATION, lambda dim: min(5 * dim, 25)),
    Row(1500, MIDDLE_DIM, "rdex", lambda dim: 8 * dim, RARE_PERTURBATION, lambda dim: 2 * dim),
    Row(MIDDLE_EVALS_OF_MANY, math.inf, "arrde"),
    Row(MIDDLE_EVALS, MIDDLE_DIM, "rdex", None, RARE_PERTURBATION, lambda dim: min(5 * dim, 25)),
    Row(MIDDLE_EVALS, math.inf, "cmaes"),
    Row(math.inf, 9, "arrde", first=True),
    Row(math.inf, 15, "rdex", lambda dim: 25 * dim, RARE_PERTURBATION, lambda dim: 25, first=True),
    Row(math.inf, math.inf, "rdex", first=True),
)
# Before differential evolution with a large budget: CMA-ES finds most of what it finds in a small part of it. Its
# restarts do not depend on the size of the values.
FIRST = Row(math.inf, math.inf, "cmaes", None, MappingProxyType({"tol_fun": 0.0}))
# With constraints or discrete variables the rule of midpoints is better, and the other three algorithms are not.
SPECIAL_BY_BUDGET = (
    Row(300, 3, "jso", lambda dim: 10, MIDPOINT),
    Row(300, 7, "jso", lambda dim: 20, MIDPOINT),
    Row(300, math.inf, "lshade", lambda dim: 20, MIDPOINT),
    Row(3000, 3, "jso", lambda dim: 20, MIDPOINT),
    Row(3000, 15, "lshade", lambda dim: 50, MIDPOINT),
    Row(3000, math.inf, "lshade", lambda dim: 100, MIDPOINT),
    Row(math.inf, math.inf, "jso", None, MIDPOINT),
)
# Generations alone: evaluations have no limit, and a large population makes better use of each generation.
BY_GENERATIONS = Row(math.inf, math.inf, "rdex", lambda dim: 200)
SPECIAL_BY_GENERATIONS = Row(math.inf, math.inf, "jso", lambda dim: 200, MIDPOINT)
# Neither of them: time alone does not plan a reduction, so that the population keeps its size.
WITHOUT_BUDGET = Row(math.inf, math.inf, "shade", lambda dim: max(30, min(5 * dim, 100)))


class Choice(NamedTuple):
    """The choice for a fit.

    Attributes
    ----------
    algorithm : Algorithm or AlgorithmSequence
        With every size set that the choice depends on.
    polish_evals : int
        Evaluations of a run that are kept for a local search; 0: there is none.
    reason : str
        A part of a sentence.
    """

    algorithm: Algorithm | AlgorithmSequence
    polish_evals: int
    reason: str


def rule(given: FitProperties) -> Choice:
    """Return the parameter objects for the searches of a fit, what is kept for a polish, and the reason.

    Parameters
    ----------
    given : FitProperties
        The properties of the fit.

    Returns
    -------
    Choice

    Examples
    --------
    >>> from skde.algorithms.auto import FitProperties, rule
    >>> choice = rule(FitProperties(dim=10, max_evals=1000))
    >>> choice.algorithm, choice.reason
    (CMAES(pop_size=10), '100 evaluations for each of 10 variables')
    """
    if given.max_evals is None and given.max_iter is None:
        return Choice(make_parameters(WITHOUT_BUDGET, given), 0, "the number of evaluations is not known")
    if given.max_evals is None:
        row = SPECIAL_BY_GENERATIONS if given.special else BY_GENERATIONS
        reason = f"{given.max_iter} generations, and no limit on the evaluations"
    else:
        share = given.max_evals / given.dim
        rows = SPECIAL_BY_BUDGET if given.special else BY_BUDGET
        row = next(row for row in rows if share <= row.evals_per_dim and given.dim <= row.most_dim)
        of = " of an island" if given.n_islands > 1 else ""
        reason = f"{share:.4g} evaluations{of} for each of {given.dim} variable{'s' if given.dim > 1 else ''}"
    algorithm, polish_evals = choose_searches(row, given)
    return Choice(algorithm, polish_evals, f"{reason}, with {given.special}" if given.special else reason)


def choose_searches(row: Row, given: FitProperties) -> tuple[Algorithm | AlgorithmSequence, int]:
    """Return the parameter object of a row, or of its two searches where the fit has room for both, and the polish."""
    if given.one_search or given.max_evals is None or given.max_iter is not None:
        return make_parameters(row, given), 0
    islands = given.n_islands
    evals = int(first_share(given.dim) * given.max_evals) if row.first else 0
    kept = given.polish.after_two if evals else 0 if given.special else given.polish.after_one
    rest = given.max_evals - evals - math.ceil(kept / islands)
    if not evals:
        return make_parameters(row, given._replace(max_evals=rest)), kept
    if given.n_start > evals // LEAST_GENERATIONS:
        return make_parameters(row, given), 0
    first, second = (make_parameters(of, given._replace(max_evals=each)) for of, each in ((FIRST, evals), (row, rest)))
    return AlgorithmSequence((first, second), (evals * islands, rest * islands)), kept


def first_share(dim: int) -> float:
    """Return the share of the evaluations that FIRST has: a tenth, more for the larger covariance matrices."""
    return min(max(0.1, dim / 200), 0.2)


def make_parameters(row: Row, given: FitProperties) -> Algorithm:
    """Return the parameter object of a row.

    Its population fits into memory, leaves some generations, and has room for first points.
    """
    algorithm = get_algorithm(row.name, **row.parameters)
    if row.pop_size is None:
        size = int(algorithm.kernel_parameters(FitSetting(given.dim, given.max_evals, given.max_iter))["pop_size"])
    else:
        size = row.pop_size(given.dim)
    size = max(size, given.n_choices)
    size = min(size, max(MOST_COMPONENTS // given.dim, LEAST_INDIVIDUALS))
    if given.max_evals is not None:
        size = min(size, max(given.max_evals // LEAST_GENERATIONS, min(given.max_evals, LEAST_INDIVIDUALS), 4))
    least = {} if row.pop_min is None else {"pop_min": min(max(row.pop_min(given.dim), 4), size)}
    return get_algorithm(row.name, **row.parameters, **least, pop_size=max(size, given.n_start))
