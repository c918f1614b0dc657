"""The results of the runs of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

import skde._cpu as _cpu
from skde.engines import Engine, Runs, decode
from skde.engines.state.batch import best_of
from skde.fit.known_values import KnownValues
from skde.fit.ledger import Ledger
from skde.fit.local_results import LocalResults
from skde.fit.partial_generation import PartialGeneration
from skde.fit.past_phases import PastPhases
from skde.fit.timer import Timer
from skde.objectives.feasibility import FeasibilityRules, Outcome, StoredOutcomes, values_of_codes
from skde.objectives.told_rules import ToldRules
from skde.result import History, RunResult, add_sample
from skde.stopping import Status
from skde.typing import Array, FloatArray, IntArray

Rules = FeasibilityRules | ToldRules | StoredOutcomes


def make_results(
    engine: Engine,
    batch: Runs,
    rules: Rules | None,
    progress: dict[str, Any],
    ending: Status,
    ledger: Ledger,
    incomplete: Sequence[PartialGeneration] = (),
    known: KnownValues | None = None,
) -> list[RunResult]:
    """Return every run's result so far.

    Parameters
    ----------
    engine, batch
        The engine and its batch.
    rules : FeasibilityRules, StoredOutcomes or None
        The meaning of the values, where there are constraints.
    progress : dict of str to ndarray
        Status, generation and seconds of every population.
    ending : Status
        That of the runs that the kernels left running.
    ledger : Ledger
        The time of the fit, and what other phases have found.
    incomplete : sequence of PartialGeneration, default ()
        The values of generations that are not complete.
    known : KnownValues or None, default None
        The values of a discrete space.
    """
    status, generation, spent = progress["status"], progress["generation"], progress["spent"].max(axis=1)
    index, value = batch.best(generation)
    past, local, timer = ledger.past, ledger.local, ledger.timer
    bests, points, codes = find_best_points(batch, generation, index, value, (past, *incomplete, local))
    evals = batch.evals(generation)
    more = sum((one.evals for one in incomplete), np.zeros(batch.n_runs, np.int64))
    history, differed = batch.host("history"), batch.host("differed").any(axis=1)
    shown = value
    if rules is not None:
        history, shown = values_of_codes(history), values_of_codes(value)
    samples = lru_cache(partial(sample_times, timer))  # most runs end at the same generation
    results = []
    x_of_runs = values_of_points(batch, points)
    outcomes = outcomes_of(engine, rules, x_of_runs, codes)
    for run, (best, x, code, outcome) in enumerate(
        zip(bests.tolist(), x_of_runs, codes.tolist(), outcomes, strict=True)
    ):
        first = run * batch.n_islands
        islands = slice(first, first + batch.n_islands)
        last = int(generation[islands].max())
        generations, seconds = samples(last)
        if batch.spec.run_seconds is not None:  # a run's own clock is divided evenly
            seconds = float(spent[best]) * (generations + 1) / (last + 1)
        result = RunResult(
            x=x,
            fun=outcome.fun,
            n_evals=int(evals[islands].sum()),
            n_iter=max(last, 0),
            time=float(seconds[-1]) if last >= 0 else 0.0,
            status=status_of(status[islands].tolist(), int(status[best]), ending),
            seed=int(ledger.seeds[first]),
            history=history_of(batch, islands, history, generation, shown, generations, seconds.copy()),
            max_violation=outcome.max_violation,
            violation=outcome.violation,
            agreeing=int(ledger.agreeing[run]),
            flat=last >= 0 and not (differed[islands].any() or more[islands].any()),
        )
        if known is not None:
            result = with_repeated(result, known, run, generations)
        result = result if past is None else past.extend(result, run, last)
        if more[islands].any():
            result = add_sample(result, result.n_evals + int(more[islands].sum()), timer.seconds)
        results.append(result if local is None else local.extend(result, run, code, batch.spec.target))

    if not ledger.final.begun:
        return results

    def at(points: FloatArray, values: FloatArray) -> tuple[FloatArray, list[Outcome]]:
        x = values_of_points(batch, points)
        return x, outcomes_of(engine, rules, x, values)

    return ledger.final.extend(results, timer.seconds, at)


def find_best_points(
    batch: Runs,
    generation: IntArray,
    index: IntArray,
    value: FloatArray,
    others: Sequence[PastPhases | PartialGeneration | LocalResults | None],
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return every run's best island, and its best point of the box with its value, wherever that was found."""
    firsts = range(0, batch.n_runs, batch.n_islands)
    bests = np.array([first + best_of(value[first : first + batch.n_islands]) for first in firsts])
    points, codes = batch.points(generation, bests, index[bests]), value[bests]
    for found in others:
        if found is not None:
            points, codes = found.replace_worse(points, codes)
    return bests, points.astype(batch.spec.dtype, copy=False), codes


def with_repeated(result: RunResult, known: KnownValues, run: int, generations: IntArray) -> RunResult:
    """Return the result of a run without the evaluations of points that it came to again."""
    history = result.history
    fewer = history.n_evals - known.count_repeated_at(run, generations)
    return replace(
        result,
        n_evals=result.n_evals - int(known.repeated[run]),
        history=History(fewer, history.seconds, history.best),
        exhausted=bool(known.exhausted[run]),
    )


def values_of_points(batch: Runs, points: Array) -> Array:
    """Return points of the box as they are evaluated: the values of typed variables."""
    return points if batch.spec.variables is None else decode(batch.spec.variables, points)


def outcomes_of(engine: Engine, rules: Rules | None, x: FloatArray, values: FloatArray) -> list[Outcome]:
    """Return the values and the violations of all runs' points, of shape (n_runs, dim)."""
    if rules is None:
        return list(map(Outcome, values.tolist()))
    with engine.device_context:
        return rules.outcomes(x, values, engine.xp)


def status_of(status: list[int], best: int, ending: Status) -> Status:
    """Return the status of a run of islands: TARGET if one island reached it, else that of the best island."""
    if Status.TARGET in status:
        return Status.TARGET
    return ending if Status.RUNNING in status else Status(best)


def sample_times(timer: Timer, last: int) -> tuple[IntArray, FloatArray]:
    """Return the sampled generations up to `last`, which ends them, and the times at which they were done."""
    if last < 0:
        return np.empty(0, np.int64), np.empty(0)
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
    if len(values) and np.isnan(bests).all():
        values[-1] = np.nan
    return History(evals, seconds, np.minimum.accumulate(values) if batch.monotone else values)
