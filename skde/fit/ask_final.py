"""The points at the end of a fit that a user evaluates again."""

from __future__ import annotations

import numpy as np

from skde.fit.partial_generation import PartialGeneration
from skde.fit.reevaluation import Plan, begin_final, end_round, note_final
from skde.fit.run_results import values_of_points
from skde.fit.runner import Runner
from skde.typing import Array, IntArray
from skde.utils.arrays import to_numpy


def final_done(runner: Runner, plan: Plan) -> bool:
    """Return whether no point is to be evaluated again; the first call makes the points of the first round."""
    if runner.partial is None and runner.ledger.final.values is None and begin_final(runner, plan):
        hand_out_round(runner)
    return runner.ledger.final.values is not None or runner.partial is None


def ask_final(runner: Runner, plan: Plan, n: int | None) -> tuple[Array | None, IntArray | None]:
    """Return points to be evaluated again, of all runs, with their ids; None where that is done."""
    partial = None if final_done(runner, plan) else runner.partial
    if partial is None:
        return None, None
    rows = partial.hand_out(len(partial.asked) if n is None else n)
    if n is None:
        rows = np.arange(len(partial.asked))
    with runner.engine.device_context:
        return partial.asked[runner.batch.xp.asarray(rows)], partial.first + rows


def tell_final(runner: Runner, partial: PartialGeneration, rows: IntArray) -> None:
    """Keep the values of some points of a round, and make the next round where they are the last."""
    note_final(runner, rows, to_numpy(partial.values[runner.batch.xp.asarray(rows)]).astype(np.float64))
    if partial.complete:
        end_round(runner)
        hand_out_round(runner)


def hand_out_round(runner: Runner) -> None:
    """Let the points of the present round be handed out, those with values left out."""
    final, batch = runner.ledger.final.rounds, runner.batch
    runner.partial = None
    if final is None:
        return
    with runner.engine.device_context:
        points, needed = batch.xp.asarray(final.points), np.ones(len(final.points), bool)
        place = runner.first_id + final.first, values_of_points(batch, points)
        partial = PartialGeneration(*place, points, needed, batch.xp, runs=final.runs)
        known = np.setdiff1d(np.arange(len(final.points)), final.missing)
        partial.put(known, final.values[final.first + known])
    runner.partial = partial
