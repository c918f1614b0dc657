"""The evaluations at the end of a fit that tell a good point of a noisy function from a lucky one."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from skde.arrays import to_numpy
from skde.fit.recording import record_others
from skde.fit.run_results import FinalValues, values_of_points
from skde.fit.runner import Runner
from skde.interrupts import interrupts
from skde.objectives.feasibility import LARGEST, values_of_codes
from skde.objectives.objective import Objective
from skde.typing import FloatArray, IntArray

# Yields the points to evaluate, receives their values, and returns a point and its value.
Search = Generator[FloatArray, FloatArray, tuple[FloatArray, float]]
# Likewise for all runs, with the number of every point's run.
Request = tuple[FloatArray, IntArray]
Rounds = Generator[Request, FloatArray, None]


def reevaluate(runner: Runner, objective: Objective, n_evals: IntArray) -> None:
    """Choose every run's best point by further evaluations, and estimate its value.

    Parameters
    ----------
    runner : Runner
        The runs after their last generation.
    objective : Objective
        A Python function.
    n_evals : ndarray of int of shape (n_runs,)
        Evaluations of every run.
    """
    if not n_evals.any():
        return
    with interrupts.fit:
        runner.timer.start()
        try:
            steps = rounds(runner, n_evals)
            request = next(steps, None)
            while request is not None:
                request = next_request(steps, evaluate(runner, objective, *request))
        finally:
            runner.timer.pause()


def next_request(steps: Rounds, values: FloatArray) -> Request | None:
    """Return the points to evaluate after those with these values; None where there are no more."""
    try:
        return steps.send(values)
    except StopIteration:
        return None


def rounds(runner: Runner, n_evals: IntArray) -> Rounds:
    """Yield the points to evaluate next, with their runs, receive their values, and set the runner's results.

    Runs without a feasible point, without a value, or without evaluations, stay as they are.
    """
    members = [candidates(runner, run) for run in range(len(runner.extra_evals))]
    searches = {
        run: halving(points, n)
        for run, (points, n) in enumerate(zip(members, n_evals.tolist(), strict=True))
        if len(points) and n
    }
    wanted = {run: next(search) for run, search in searches.items()}
    found: dict[int, tuple[FloatArray, float]] = {}
    while wanted:
        values = yield np.concatenate(list(wanted.values())), np.repeat(list(wanted), list(map(len, wanted.values())))
        parts = np.split(values, np.cumsum([len(points) for points in wanted.values()])[:-1])
        for run, own in zip(list(wanted), parts, strict=True):
            runner.extra_evals[run] += len(own)
            try:
                wanted[run] = searches[run].send(own)
            except StopIteration as end:
                found[run] = end.value
                del wanted[run]
    runner.final = final_values(runner, found)


def candidates(runner: Runner, run: int) -> FloatArray:
    """Return the different feasible members of a run's populations, as points of the box, the best first."""
    batch = runner.batch
    islands = range(run * batch.n_islands, (run + 1) * batch.n_islands)
    x, f = zip(*(batch.population(island) for island in islands), strict=True)
    points, values = np.concatenate(x), np.concatenate(f).astype(np.float64)
    usable = np.flatnonzero(values < np.inf if runner.rules is None else values <= LARGEST)
    points = points[usable[np.argsort(values[usable], kind="stable")]]
    _, firsts = np.unique(values_of_points(batch, points), axis=0, return_index=True)
    different: FloatArray = points[np.sort(firsts)]
    return different


def halving(points: FloatArray, n_evals: int) -> Search:
    """Search the best of some points by successive halving, and estimate its value by other evaluations.

    In each round the points that are left get the same number of evaluations, and the half with the better means stays
    (Karnin, Koren and Somekh, 2013). This takes up to half of the evaluations, and the estimate the others. Where there
    are too few for all points, the first ones take part.
    """
    budget = n_evals // 2
    n = next(n for n in range(len(points), 0, -1) if n == 1 or n * n_rounds(n) <= budget)
    points, sums, spent = points[:n], np.zeros(n), 0
    for left in range(n_rounds(n), 0, -1):
        each = (budget - spent) // (left * len(points))
        sums += (yield np.repeat(points, each, axis=0)).reshape(-1, each).sum(axis=1)
        spent += each * len(points)
        better = np.argsort(np.where(np.isnan(sums), np.inf, sums), kind="stable")[: (len(points) + 1) // 2]
        points, sums = points[better], sums[better]
    values = yield np.repeat(points, n_evals - spent, axis=0)
    numbers = values[values < np.inf]  # the others failed
    return points[0], float(numbers.mean()) if len(numbers) else np.nan


def n_rounds(n: int) -> int:
    """Return how often n points are halved until one is left."""
    return (n - 1).bit_length()


def evaluate(runner: Runner, objective: Objective, points: FloatArray, runs: IntArray) -> FloatArray:
    """Return the values of points of the box, infinite where one is not feasible.

    No more points are evaluated at a time than in a generation.
    """
    batch, engine = runner.batch, runner.engine
    at_a_time = batch.n_runs * batch.pop_max
    values = np.empty(len(points))
    with engine.device_context:
        for begin in range(0, len(points), at_a_time):
            X = engine.xp.asarray(points[begin : begin + at_a_time], dtype=batch.spec.dtype)
            part = slice(begin, begin + at_a_time)
            values[part] = to_numpy(objective.values(X))
            record_others(runner, runs[part], points[part].astype(batch.spec.dtype), values[part], "final")
    return values if runner.rules is None else values_of_codes(values)


def final_values(runner: Runner, found: dict[int, tuple[FloatArray, float]]) -> FinalValues:
    """Return the points and values of all runs; those of runs that were not evaluated again are NaN."""
    batch, n_runs = runner.batch, len(runner.extra_evals)
    points, fun = np.full((n_runs, batch.dim), np.nan, batch.spec.dtype), np.full(n_runs, np.nan)
    for run, (point, value) in found.items():
        points[run], fun[run] = point, value
    chosen = np.isin(np.arange(n_runs), list(found))
    return FinalValues(chosen, points, fun)
