"""The comparison of runs, and the searches for best responses to the result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from skde.algorithms import JDE
from skde.engines import Engine
from skde.engines.state.batch import best_of
from skde.minimizer import Minimizer
from skde.minmax.objective import MinMaxObjective
from skde.result import RunResult
from skde.typing import Array, FloatArray
from skde.utils.arrays import array_namespace, to_numpy
from skde.variables import Variables

# The searches that estimate the best response of either side.
SEARCH = {"pop_size": 50, "generations": 200}


def best_against_all(
    runs: list[RunResult], objective: MinMaxObjective, dim: int, engine: Engine
) -> tuple[int, RunResult]:
    """Return the run with the smallest worst value against the opponents of all runs, and its result."""
    incumbents, opponents = np.split(np.array([run.x for run in runs]), [dim], axis=1)
    xp = engine.xp if objective.game is None else np
    with engine.device_context:
        values = to_numpy(objective.values(xp.asarray(incumbents), xp.asarray(opponents))).astype(np.float64)
    values[np.isnan(values)] = np.inf
    own = np.array([np.inf if np.isnan(run.fun) else run.fun for run in runs])
    best = best_of(np.maximum(values.max(axis=1), own))
    strongest = int(values[best].argmax())
    if not values[best, strongest] > own[best]:
        return best, runs[best]
    x = np.concatenate([incumbents[best], opponents[strongest]])
    return best, replace(runs[best], x=x, fun=float(values[best, strongest]))


def best_response_values(
    values: Callable[[Array, Array], Array],
    x: FloatArray,
    y: FloatArray,
    bounds_x: Variables | FloatArray,
    bounds_y: Variables | FloatArray,
    device: str,
) -> tuple[float, float]:
    """Return max over y of f(x, y) and min over x of f(x, y), each by a search that starts at the given point."""
    algorithm = JDE(pop_size=SEARCH["pop_size"])
    search = Minimizer(algorithm, max_iter=SEARCH["generations"], device=device, random_state=0)

    def loss_of_y(Y: Array) -> Array:
        return -values(array_namespace(Y).asarray(x)[None], Y)[0]

    def loss_of_x(X: Array) -> Array:
        return values(X, array_namespace(X).asarray(y)[None])[:, 0]

    highest = -search.fit(loss_of_y, bounds=bounds_y, x0=y).fun_
    return highest, search.fit(loss_of_x, bounds=bounds_x, x0=x).fun_
