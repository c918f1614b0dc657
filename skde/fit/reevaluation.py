"""The evaluations at the end of a fit that tell a good point of a noisy function from a lucky one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from skde.fit.final_evals import FinalEvals
from skde.fit.final_points import FinalValues
from skde.fit.recording import record_others
from skde.fit.run_results import values_of_points
from skde.fit.runner import Runner
from skde.functions.point_workers import Part
from skde.objectives.feasibility import LARGEST, values_of_codes
from skde.objectives.objective import Objective
from skde.typing import FloatArray, IntArray
from skde.utils.arrays import to_numpy
from skde.utils.interrupts import interrupts

Plan = Callable[[IntArray], IntArray]  # the evaluations of every run, from those that it has made before


def reevaluate(runner: Runner, objective: Objective, plan: Plan, max_time: float | None) -> None:
    """Choose every run's best point by further evaluations, and estimate its value.

    Values that are known when something ends them are kept, and another call evaluates the others.

    Parameters
    ----------
    runner : Runner
        The runs after their last generation.
    objective : Objective
        A Python function.
    plan : callable
        Returns the evaluations of every run, from those that it has made before.
    max_time : float or None
        The time limit of the fit.
    """
    if not begin_final(runner, plan):
        return

    def seconds_left() -> float:
        return np.inf if max_time is None else max_time - runner.ledger.timer.seconds_of_limit

    with interrupts.fit:
        runner.ledger.timer.start()
        try:
            while runner.ledger.final.values is None and seconds_left() > 0:
                evaluate_round(runner, objective, seconds_left)
        finally:
            runner.ledger.timer.pause()


def begin_final(runner: Runner, plan: Plan) -> bool:
    """Begin the evaluations after the last generation, or go on with them; return whether there are any."""
    current = runner.ledger.final.rounds
    same = current is not None and np.array_equal(current.n_iter, runner.n_iter)
    if current is None or not same or (plan(runner.limited_evals - current.counts) != current.planned).any():
        planned = plan(runner.limited_evals)
        runner.ledger.final.rounds = FinalEvals(planned, runner.n_iter) if planned.any() else None
    begun = runner.ledger.final.rounds is not None
    open_final(runner)
    return begun


def open_final(runner: Runner) -> None:
    """Make the present round of the evaluations after the last generation, where there are some."""
    if runner.ledger.final.rounds is not None:
        runner.ledger.final.rounds.begin([candidates(runner, run) for run in range(len(runner.ledger.final.n_evals))])
        end_round(runner)


def note_final(runner: Runner, rows: IntArray, values: FloatArray) -> None:
    """Keep values of some rows of the present round."""
    final = runner.ledger.final.rounds
    assert final is not None
    final.note(rows, values if runner.rules is None else values_of_codes(values))
    np.add.at(runner.ledger.final.n_evals, final.runs[rows], 1)


def end_round(runner: Runner) -> None:
    """Make the next round where the present one is complete, and after the last one set the runner's results."""
    final = runner.ledger.final.rounds
    assert final is not None
    final.end_round()
    if final.found is not None:
        runner.ledger.final.values, runner.ledger.final.rounds = final_values(runner, final.found), None


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


def evaluate_round(runner: Runner, objective: Objective, seconds_left: Callable[[], float]) -> None:
    """Evaluate what the present round lacks, until no seconds are left, and make the next one.

    No more points are evaluated at a time than in a generation.
    """
    batch, engine, final = runner.batch, runner.engine, runner.ledger.final.rounds
    assert final is not None
    at_a_time, missing = batch.n_runs * batch.pop_max, final.missing
    with engine.device_context:
        for begin in range(0, len(missing), at_a_time):
            rows = missing[begin : begin + at_a_time]
            X = engine.xp.asarray(final.points[rows], dtype=batch.spec.dtype)
            whole = not objective.by_rows  # one call, of which a generator would change a StopIteration
            for part in [Part(np.arange(len(X)), objective.values(X))] if whole else objective.parts(X, seconds_left):
                own, values = rows[part.rows], to_numpy(part.values).astype(np.float64)
                with interrupts.deferred:
                    note_final(runner, own, values)
                    record_others(runner, final.runs[own], final.points[own].astype(batch.spec.dtype), values, "final")
            if seconds_left() <= 0:
                break
    end_round(runner)


def final_values(runner: Runner, found: dict[int, tuple[FloatArray, float]]) -> FinalValues:
    """Return the points and values of all runs; those of runs that were not evaluated again are NaN."""
    batch, n_runs = runner.batch, len(runner.ledger.final.n_evals)
    points, fun = np.full((n_runs, batch.dim), np.nan, batch.spec.dtype), np.full(n_runs, np.nan)
    for run, (point, value) in found.items():
        points[run], fun[run] = point, value
    chosen = np.isin(np.arange(n_runs), list(found))
    return FinalValues(chosen, points, fun)
