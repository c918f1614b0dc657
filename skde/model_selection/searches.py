"""Methods of search: an algorithm of skde, random ones, and those that other packages add by entry points."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any

import numpy as np
from sklearn.base import clone

from skde.algorithms import Algorithm, algorithm_names, small_population
from skde.minimizer import Minimizer
from skde.model_selection.evaluation import SearchEvaluation
from skde.model_selection.parameter_space import Candidate, Parameter, ParameterSpace
from skde.result import ignore_missing_values
from skde.typing import FloatArray
from skde.utils.validation import nearest, quote
from skde.variables import Categorical, Fixed, Integer, Real, Variable

# Functions of an Evaluation. skde.tuning adds "racing" in this way, because skde imports nothing of it.
SEARCHES = "skde.searches"
RACING = "racing"
Search = Callable[[SearchEvaluation], None]
# The population of an algorithm that is given by name makes about this many generations, if it has enough individuals.
GENERATIONS, LEAST_POPULATION = 6, 6
TRIES = 100  # random points for each configuration that is not there yet


def find_search(search: Any) -> Search:
    """Return the function of a method of search.

    Raises
    ------
    ValueError, TypeError
        For anything but a name or a parameter object.
    ImportError
        Where the package that has the method is not installed.
    """
    if isinstance(search, Algorithm):
        return population_search(clone(search))
    if not isinstance(search, str):
        raise TypeError(f"search must be {RACING!r}, an algorithm of skde or its name, got {quote(search)}")
    if search in algorithm_names():
        return population_search(search)
    for extension in entry_points(group=SEARCHES, name=search):
        found: Search = extension.load()
        return found
    if search == RACING:
        raise ImportError(
            "search='racing' needs skde.tuning: pip install 'skde[tuning]', or take an algorithm, such as search='jde'"
        )
    names = [RACING, *algorithm_names()]
    raise ValueError(f"search must be one of {', '.join(map(repr, names))}; got {search!r}{nearest(search, names)}")


def population_search(algorithm: str | Algorithm) -> Search:
    """Return the search by an algorithm: individuals are configurations, their values mean costs."""

    def search(evaluation: SearchEvaluation) -> None:
        n_iter = evaluation.n_iter
        chosen = (
            algorithm
            if isinstance(algorithm, Algorithm)
            else small_population(algorithm, max(n_iter // GENERATIONS, LEAST_POPULATION))
        )
        if chosen.pop_size is not None and chosen.pop_size > n_iter:
            error = (
                f"n_iter must be at least the population size of search={algorithm!r}, {chosen.pop_size}, got {n_iter}"
            )
            if isinstance(algorithm, Algorithm):
                raise ValueError(error)
            random_search(evaluation, error)
            return
        parameters = evaluation.space.parameters
        minimizer = Minimizer(
            chosen,
            bounds={f"p{number}": variable(one) for number, one in enumerate(parameters)},
            max_evals=n_iter,
            random_state=evaluation.seed,
            device="cpu",
        )
        while not has_stopped(minimizer):
            points = minimizer.ask()
            costs = evaluation.mean_costs([candidate_of(evaluation.space, point) for point in points])
            minimizer.tell(points, np.array(costs))

    return search


def has_stopped(minimizer: Minimizer) -> bool:
    """Return whether the search has ended; that no configuration has a score is said by the caller."""
    with ignore_missing_values():
        return minimizer.stopped_


def variable(parameter: Parameter) -> Variable:
    """Return the typed variable of a parameter's raw values."""
    if parameter.choices is None:
        return Real(0.0, 1.0)
    n = len(parameter.choices)
    if n == 1:
        return Fixed(0.0)
    return Integer(0, n - 1) if parameter.ordered else Categorical(range(n))


def candidate_of(space: ParameterSpace, raw: FloatArray) -> Candidate:
    """Return the configuration of the values of the typed variables."""
    return space.candidate({one.key: float(value) for one, value in zip(space.parameters, raw, strict=True)})


def random_search(evaluation: SearchEvaluation, reason: str) -> None:
    """Try n_iter different random configurations with all their splits, where another search cannot."""
    rng, found = np.random.default_rng(evaluation.seed), dict[str, Candidate]()
    for _ in range(TRIES * evaluation.n_iter):
        if len(found) == evaluation.n_iter:
            break
        candidate = evaluation.space.at(rng.random(len(evaluation.space)))
        found.setdefault(candidate.identity, candidate)
    evaluation.remark(f"{reason}: {len(found)} random configurations are tried with all their splits")
    evaluation.mean_costs(list(found.values()))
