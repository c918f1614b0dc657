"""Ranges of parameters in which a tuning searches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias


class Range(NamedTuple):
    """Numbers between two ends: whole ones if both ends are.

    Attributes
    ----------
    low, high : int or float
        The ends, which are in it.
    log : bool
        Whether it is searched on a logarithmic scale.
    """

    low: float
    high: float
    log: bool = False


# A range, or choices.
TuningSpace: TypeAlias = Mapping[str, Range | tuple[Any, ...]]

POPULATION = Range(8, 256, log=True)
SHRINKING_POPULATION = Range(20, 1000, log=True)
