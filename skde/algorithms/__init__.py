"""Parameter objects of the algorithms, and the registry that finds them by name."""

from __future__ import annotations

from typing import Any

from skde.algorithms import registry
from skde.algorithms.base import Algorithm, FitSetting, describe
from skde.algorithms.registry import *
from skde.utils.validation import check_choice

ALGORITHMS: dict[str, type[Algorithm]] = {
    kind.name: kind for kind in vars(registry).values() if isinstance(kind, type) and issubclass(kind, Algorithm)
}

__all__ = [
    "ALGORITHMS",
    "Algorithm",
    "FitSetting",
    "algorithm_names",
    "describe",
    "get_algorithm",
    "small_population",
    *(kind.__name__ for kind in ALGORITHMS.values()),
]


def algorithm_names() -> list[str]:
    """Return the names of all algorithms.

    Returns
    -------
    names : list of str
        In the registry's order.

    Examples
    --------
    >>> from skde import algorithm_names
    >>> algorithm_names()[:3]
    ['de', 'jde', 'sade']
    """
    return list(ALGORITHMS)


def get_algorithm(algorithm: Any, **parameters: Any) -> Algorithm:
    """Return the parameter object of an algorithm.

    Parameters
    ----------
    algorithm : str or Algorithm
        A name of the registry. A parameter object is returned unchanged.
    **parameters
        Parameters of the algorithm with this name.

    Returns
    -------
    algorithm : Algorithm

    Raises
    ------
    ValueError, TypeError
        For an unknown name of an algorithm or of a parameter.

    Examples
    --------
    >>> from skde.algorithms import get_algorithm
    >>> get_algorithm("de", F=0.7).F
    0.7
    """
    if isinstance(algorithm, Algorithm):
        return algorithm
    kind = ALGORITHMS[check_choice("algorithm", algorithm, ALGORITHMS)]
    for name in parameters:
        check_choice(f"parameter of {algorithm!r}", name, kind().get_params())
    return kind(**parameters)


def small_population(name: str, pop_size: int) -> Algorithm:
    """Return an algorithm with a small population, of 6 or more individuals, for searches of few evaluations."""
    kind = ALGORITHMS[check_choice("algorithm", name, ALGORITHMS)]
    return kind(**{"pop_size": pop_size, **kind.small_parameters})
