"""Shared parts of the NumPy runs: the initial population, comparison of values, and crossover."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import skde._cpu as _cpu

from .philox import CROSSOVER, REPAIR, Draws
from .reference import repaired

OPPOSITION, STRATEGY, COMBINATION, RENEWAL, PERTURBATION = 9, 11, 12, 13, 14


def scalar(function: Callable[[Any], Any]) -> Callable[[float], float]:
    """A function of the core for one number; the C library's may differ in the last bit."""
    return lambda x: float(function(np.array([x]))[0])


exp, log, tanh, normal_quantile, cauchy_quantile = map(
    scalar, (_cpu.exp, _cpu.log, _cpu.tanh, _cpu.normal_quantile, _cpu.cauchy_quantile)
)


def inner_unit(word: int) -> float:
    """(0, 1) from 32 bits."""
    return (word + 0.5) * 2.0**-32


def worth(f: float) -> tuple[bool, float]:
    """A key to sort by: NaN is worse than any number."""
    return (True, 0.0) if math.isnan(f) else (False, float(f))


def replaces(trial: float, parent: float) -> bool:
    """A trial takes its parent's place when it is not worse."""
    return math.isnan(parent) or trial <= parent


def taken(draws: Draws, CR: float, d: int, one: int) -> list[bool]:
    """Binomial crossover: u < CR with u = word / 2^32, decided on its upper 31 bits."""
    threshold = min(int(CR * 2**31 + 0.5), 2**31 - 1)
    return [CR >= 1 or draws.component(CROSSOVER, j) >> 1 < threshold or j == one for j in range(d)]


def inside(rule: str, u: Any, parent: Any, box: Any, draws: Draws) -> Any:
    """The trial with every component that left the box brought back."""
    for j, (low, high) in enumerate(box):
        if not low <= u[j] <= high:
            u[j] = repaired(rule, u[j], parent[j], low, high, draws.component(REPAIR, j))
    return u
