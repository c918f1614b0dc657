"""Algorithms: their parameter objects, and the registry's names for them."""

from __future__ import annotations

from typing import Any

from skde.algorithms import registry
from skde.algorithms.base import Algorithm, FitSetting, describe
from skde.algorithms.registry import *  # noqa: F403 - one line there makes an algorithm known everywhere
from skde.validation import check_choice

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
    *(kind.__name__ for kind in ALGORITHMS.values()),
]


def algorithm_names() -> list[str]:
    """Return the registry's names."""
    return list(ALGORITHMS)


def get_algorithm(algorithm: Any, **parameters: Any) -> Algorithm:
    """Return a parameter object for a registry name; an object is returned as it is.

    Examples
    --------
    >>> from skde.algorithms import get_algorithm
    >>> get_algorithm("de", F=0.7).F
    0.7
    """
    if isinstance(algorithm, Algorithm):
        return algorithm
    kind = ALGORITHMS[check_choice("algorithm", algorithm, ALGORITHMS)]
    allowed = kind().get_params()
    for name in parameters:
        check_choice(f"parameter of {algorithm!r}", name, allowed)
    return kind(**parameters)
