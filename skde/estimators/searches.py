"""Methods of search: an algorithm of skde on the unit cube, and those that other packages add by entry points."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any

import numpy as np
from sklearn.base import clone

from skde.algorithms import Algorithm, algorithm_names, small_population
from skde.estimators.evaluation import Evaluation
from skde.minimizer import Minimizer
from skde.validation import nearest, shown

# Functions of an Evaluation. skde.tuning adds "racing" in this way, because skde imports nothing of it.
SEARCHES = "skde.searches"
RACING = "racing"
Search = Callable[[Evaluation], None]
# The population of an algorithm that is given by name makes about so many generations, if it has enough individuals.
GENERATIONS, LEAST_POPULATION = 6, 6


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
        raise TypeError(f"search must be {RACING!r}, an algorithm of skde or its name, got {shown(search)}")
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
    """Return the search by an algorithm: individuals are points of the unit cube, their values mean costs."""

    def search(evaluation: Evaluation) -> None:
        n_iter = evaluation.n_iter
        chosen = (
            algorithm
            if isinstance(algorithm, Algorithm)
            else small_population(algorithm, max(n_iter // GENERATIONS, LEAST_POPULATION))
        )
        if chosen.pop_size is not None and chosen.pop_size > n_iter:
            raise ValueError(
                f"n_iter must be at least the population size of search={algorithm!r}, {chosen.pop_size}, got {n_iter}"
            )
        minimizer = Minimizer(
            chosen,
            bounds=[(0.0, 1.0)] * len(evaluation.space.parameters),
            max_evals=n_iter,
            random_state=evaluation.seed,
            device="cpu",
        )
        while not minimizer.stopped_:
            points = minimizer.ask()
            costs = evaluation.mean_costs([evaluation.space.at(point) for point in points])
            minimizer.tell(points, np.array(costs))

    return search
