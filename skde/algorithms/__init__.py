"""The registry of algorithms. A new one adds its import and its place in ALGORITHMS."""

from __future__ import annotations

from typing import Any

from skde.algorithms.base import Algorithm, Setting, describe
from skde.algorithms.de import DE
from skde.algorithms.gode import GODE, GOJDE
from skde.algorithms.jade import JADE
from skde.algorithms.jde import JDE
from skde.algorithms.jso import JSO
from skde.algorithms.lshade import LSHADE
from skde.algorithms.lsrtde import LSRTDE
from skde.algorithms.pso import PSO
from skde.algorithms.sade import SADE
from skde.algorithms.shade import SHADE
from skde.algorithms.ss import SS
from skde.validation import check_choice

__all__ = [
    "ALGORITHMS",
    "DE",
    "GODE",
    "GOJDE",
    "JADE",
    "JDE",
    "JSO",
    "LSHADE",
    "LSRTDE",
    "PSO",
    "SADE",
    "SHADE",
    "SS",
    "Algorithm",
    "Setting",
    "algorithm_names",
    "describe",
    "get_algorithm",
]

ALGORITHMS: dict[str, type[Algorithm]] = {
    algorithm.name: algorithm for algorithm in (DE, JDE, SADE, JADE, SHADE, LSHADE, JSO, LSRTDE, GODE, GOJDE, PSO, SS)
}


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
