"""The registry of algorithms. A new one adds its import and its place in ALGORITHMS."""

from __future__ import annotations

from typing import Any

from skde.algorithms.base import Algorithm, describe
from skde.algorithms.de import DE
from skde.algorithms.jde import JDE
from skde.validation import check_choice

__all__ = ["ALGORITHMS", "DE", "JDE", "Algorithm", "algorithm_names", "describe", "get_algorithm"]

ALGORITHMS: dict[str, type[Algorithm]] = {algorithm.kernel: algorithm for algorithm in (DE, JDE)}


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
