"""The kernels and a slow run side by side: boxes, objectives, and what is compared."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from skde import Minimizer
from skde.testing.base import PROBE_CALLS

NARROW = [[-1.0, 2.0], [0.0, 0.25], [-3.0, -1.0], [5.0, 9.0], [-1e-3, 1e3], [-2.0, 2.0], [0.0, 1.0]]
# The third has more than one vector of components, and more than one block of draws.
BOXES = {2: np.array(NARROW[:2]), 7: np.array(NARROW), 75: np.tile([[-2.0, 3.0]], (75, 1))}


def scaled(X: Any) -> Any:
    """Positions as shares of their box."""
    box = BOXES[X.shape[-1]]
    return (X - box[:, 0]) / (box[:, 1] - box[:, 0])


def corner(X: Any) -> Any:
    """Pull into the corner where all are low: trials leave the box."""
    return scaled(X).sum(axis=-1)


def bowl(X: Any) -> Any:
    """The minimum lies inside, where a population contracts."""
    return ((scaled(X) - 0.4) ** 2).sum(axis=-1)


def flat(X: Any) -> Any:
    """All values are equal, so that every trial is accepted."""
    return np.zeros(len(X))


def steps(X: Any) -> Any:
    """Few values, many ties."""
    return np.floor(4.0 * scaled(X)).sum(axis=-1) // 3.0


def holes(X: Any) -> Any:
    """NaN and both infinities among numbers that tie now and then."""
    stripe = np.floor(scaled(X)[:, -1] * 97.0) % 8.0
    lowest = (stripe == 3.0) & (scaled(X)[:, 0] < 0.05)
    return np.select([stripe == 0.0, stripe == 1.0, lowest], [math.nan, math.inf, -math.inf], steps(X))


def one_number(X: Any) -> Any:
    """NaN for all but one of every generation."""
    return np.where(np.arange(len(X)) == 1, scaled(X)[:, 0], math.nan)


OBJECTIVES = [corner, bowl, flat, steps, holes, one_number]


# How many of the numbers in their memory these have in both halves; the rest are in the first alone.
IN_BOTH_HALVES = dict.fromkeys(("jade", "shade", "lshade", "jso", "nlshadersp", "arrde"), 2)
IN_BOTH_HALVES.update(sade=0)


def learned(kernel: Minimizer) -> list[float]:
    """The memory of successes. Trials depend on it, but rarely on its last bits."""
    batch = kernel._fit.batch
    first, now = batch.state()["memory"][0, 0], batch.state()["memory"][batch.state()["generation"][0] & 1, 0]
    halves = IN_BOTH_HALVES.get(batch.spec.algorithm, len(now))
    return [*now[:halves], *first[halves:]]


def compare(kernel: Minimizer, slow: Any, objective: Callable[[Any], Any]) -> int:
    """Ask and tell both until the kernel stops; return how many rows of the population changed."""
    changed = 0
    while not kernel.stopped_:
        X, expected = kernel.ask(), slow.ask()
        assert np.array_equal(X, expected), f"trials of generation {slow.generation}"
        before, f = np.array(slow.x), objective(X)
        kernel.tell(X, f)
        slow.tell(expected, f)
        assert np.array_equal(kernel.population_, slow.x), f"population of generation {slow.generation}"
        assert np.array_equal(kernel.fitness_, slow.f, equal_nan=True), f"values of generation {slow.generation}"
        assert learned(kernel)[: len(slow.learned)] == slow.learned, f"memory of generation {slow.generation}"
        if len(before) == len(slow.x):
            changed += int((before != np.array(slow.x)).any(axis=1).sum())
    return changed


def compare_fit(kernel: Minimizer, slow: Any, box: Any, x0: Any, objective: Callable[[Any], Any]) -> None:
    """The same for a fit, in which given points can start."""
    asked: list[Any] = []

    def noting(X: Any) -> Any:
        asked.append(X.copy())
        return objective(X)

    kernel.fit(noting, bounds=box, x0=x0)
    del asked[:PROBE_CALLS]
    for X in asked:
        expected = slow.ask()
        assert np.array_equal(X, expected), f"trials of generation {slow.generation}"
        slow.tell(expected, objective(expected))
    assert len(asked) == slow.generation + 1 > 1
    assert np.array_equal(asked[0][: len(x0)], x0)
    assert np.array_equal(kernel.population_, slow.x)
    assert np.array_equal(kernel.fitness_, slow.f, equal_nan=True)


def check_best_survives(algorithm: Any, box: Any, f: Callable[[Any], Any]) -> None:
    """The best value of all that were told is in the population, after every generation."""
    kernel = Minimizer(algorithm, bounds=box, max_iter=60, random_state=0, device="cpu")
    best = np.inf
    while not kernel.stopped_:
        X = kernel.ask()
        values = f(X)
        kernel.tell(X, values)
        best = min(best, values.min())
        assert kernel.fitness_.min() == best == kernel.fun_
