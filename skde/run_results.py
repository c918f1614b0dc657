"""The results of the runs of a batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from skde import _cpu
from skde.engines import Engine, Runs
from skde.engines.batch import best_of
from skde.objectives.feasibility import FeasibilityRules, Outcome, StoredOutcomes, values_of_codes
from skde.result import History, RunResult
from skde.stopping import Status
from skde.timer import Timer
from skde.typing import FloatArray, IntArray

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
    results = []
    for first, best, x in zip(firsts, bests.tolist(), batch.points(generation, bests, index[bests]), strict=True):
        islands = np.arange(first, first + batch.n_islands)
        last = int(generation[islands].max())
        outcome = outcome_of(engine, rules, first // batch.n_islands, x, float(value[best]))
        when = times_of(batch, timer, last, float(spent[best]))
        results.append(
            RunResult(
                x=x,
                fun=outcome.fun,
                n_evals=int(evals[islands].sum()),
                n_iter=max(last, 0),
                time=float(when(last)),
                status=status_of(status[islands], int(status[best]), ending),
                seed=int(batch.spec.seeds[first]),
                history=history_of(batch, history[islands], generation[islands], islands, shown[islands], when),
                max_violation=outcome.max_violation,
                violation=outcome.violation,
            )
        )
    return results


def outcome_of(engine: Engine, rules: Rules | None, run: int, x: FloatArray, value: float) -> Outcome:
    """Return the value and the violations of a run's best point."""
    if rules is None:
        return Outcome(value)
    with engine.device_context:
        return rules.outcome(run, x, value, engine.xp)


def status_of(status: IntArray, best: int, ending: Status) -> Status:
    """Return the status of a run of islands: TARGET if one island reached it, else that of the best island."""
    if (status == Status.TARGET).any():
        return Status.TARGET
    return ending if (status == Status.RUNNING).any() else Status(best)


def times_of(batch: Runs, timer: Timer, last: int, spent: float) -> Callable[[Any], FloatArray]:
    """Return the function from generations to their times; a run's own clock is divided evenly."""
    if batch.spec.run_seconds is None:
        return timer.at
    return lambda generations: np.asarray(spent * (np.asarray(generations) + 1) / (last + 1))


def history_of(
    batch: Runs,
    sampled: FloatArray,
    last: IntArray,
    islands: IntArray,
    best: FloatArray,
    when: Callable[[Any], FloatArray],
) -> History:
    """Return the samples up to the last generations of a run's islands, which end the history."""
    generations = _cpu.sampled_generations(int(last.max()))
    if generations[-1] != last.max():
        generations = np.append(generations, last.max())
    evals, values = np.zeros(len(generations), np.int64), np.full(len(generations), np.inf)
    for k, island in enumerate(islands):
        reached = np.minimum(generations, last[k])
        own = np.full(len(generations), best[k])
        before = np.flatnonzero(generations < last[k])
        own[before] = sampled[k, before]
        evals += batch.spec.schedules[island].evals_at(reached)
        values = np.fmin(values, own)
    if np.isnan(best).all():
        values[-1] = np.nan
    return History(evals, when(generations), np.minimum.accumulate(values) if batch.monotone else values)
