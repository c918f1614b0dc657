"""The results of the runs of a batch."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

import numpy as np

import skde._cpu as _cpu
from skde.engines import Engine, Runs, decode
from skde.engines.batch import best_of
from skde.objectives.feasibility import FeasibilityRules, Outcome, StoredOutcomes, values_of_codes
from skde.result import History, RunResult
from skde.stopping import Status
from skde.timer import Timer
from skde.typing import Array, FloatArray, IntArray

Rules = FeasibilityRules | StoredOutcomes


def run_results(
    engine: Engine, batch: Runs, rules: Rules | None, timer: Timer, progress: dict[str, Any], ending: Status
) -> list[RunResult]:
    """Return every run's result so far.

    Parameters
    ----------
    engine, batch
        The engine and its batch.
    rules : FeasibilityRules, StoredOutcomes or None
        The meaning of the values, where there are constraints.
    timer : Timer
        The time of the fit.
    progress : dict of str to ndarray
        Status, generation and seconds of every population.
    ending : Status
        That of the runs that the kernels left running.
    """
    status, generation, spent = progress["status"], progress["generation"], progress["spent"].max(axis=1)
    index, value = batch.best(generation)
    evals = batch.evals(generation)
    history = batch.host("history")
    shown = value
    if rules is not None:
        history, shown = values_of_codes(history), values_of_codes(value)
    firsts = range(0, batch.n_runs, batch.n_islands)
    bests = np.array([first + best_of(value[first : first + batch.n_islands]) for first in firsts])
    samples = lru_cache(partial(sampled_times, timer))  # most runs end at the same generation
    points = values_of_points(batch, batch.points(generation, bests, index[bests]))
    results = []
    for first, best, x in zip(firsts, bests.tolist(), points, strict=True):
        islands = slice(first, first + batch.n_islands)
        last = int(generation[islands].max())
        outcome = outcome_of(engine, rules, first // batch.n_islands, x, float(value[best]))
        generations, seconds = samples(last)
        if batch.spec.run_seconds is not None:  # a run's own clock is divided evenly
            seconds = float(spent[best]) * (generations + 1) / (last + 1)
        results.append(
            RunResult(
                x=x,
                fun=outcome.fun,
                n_evals=int(evals[islands].sum()),
                n_iter=max(last, 0),
                time=float(seconds[-1]),
                status=status_of(status[islands].tolist(), int(status[best]), ending),
                seed=int(batch.spec.seeds[first]),
                history=history_of(batch, islands, history, generation, shown, generations, seconds.copy()),
                max_violation=outcome.max_violation,
                violation=outcome.violation,
            )
        )
    return results


def values_of_points(batch: Runs, points: Array) -> Array:
    """Return points of the box as they are evaluated: the values of typed variables."""
    return points if batch.spec.variables is None else decode(batch.spec.variables, points)


def outcome_of(engine: Engine, rules: Rules | None, run: int, x: FloatArray, value: float) -> Outcome:
    """Return the value and the violations of a run's best point."""
    if rules is None:
        return Outcome(value)
    with engine.device_context:
        return rules.outcome(run, x, value, engine.xp)


def status_of(status: list[int], best: int, ending: Status) -> Status:
    """Return the status of a run of islands: TARGET if one island reached it, else that of the best island."""
    if Status.TARGET in status:
        return Status.TARGET
    return ending if Status.RUNNING in status else Status(best)


def sampled_times(timer: Timer, last: int) -> tuple[IntArray, FloatArray]:
    """Return the sampled generations up to `last`, which ends them, and the times at which they were done."""
    generations = _cpu.sampled_generations(last)
    if generations[-1] != last:
        generations = np.append(generations, last)
    return generations, timer.at(generations)


def history_of(
    batch: Runs,
    islands: slice,
    sampled: FloatArray,
    last: IntArray,
    best: FloatArray,
    generations: IntArray,
    seconds: FloatArray,
) -> History:
    """Return the history of a run of islands from their samples, last generations and best values."""
    evals, values = np.zeros(len(generations), np.int64), np.full(len(generations), np.inf)
    ends, bests = last[islands].tolist(), best[islands].tolist()
    for schedule, row, end, final in zip(batch.spec.schedules[islands], sampled[islands], ends, bests, strict=True):
        before = np.searchsorted(generations, end)
        own = np.full(len(generations), final)
        own[:before] = row[:before]
        evals += schedule.evals_at(np.minimum(generations, end))
        values = np.fmin(values, own)
    if np.isnan(bests).all():
        values[-1] = np.nan
    return History(evals, seconds, np.minimum.accumulate(values) if batch.monotone else values)
