"""What is known of generations that are not complete: for files, and for engines that divide a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skde.engines import BegunGeneration
from skde.fit.ask_final import hand_out_round
from skde.fit.ask_tell import begin_partial, check_inside, select_complete
from skde.fit.partial_generation import PartialGeneration
from skde.fit.reevaluation import open_final
from skde.fit.run_results import values_of_points
from skde.fit.runner import Runner
from skde.stopping import RUNNING
from skde.utils.arrays import to_numpy
from skde.utils.serialization import entry
from skde.utils.validation import quote


def pack_told(runner: Runner) -> dict[str, Any]:
    """Return the known values of incomplete generations, with their rows and points of the box, for a file."""
    found = begun_generations(runner)
    if not found:
        return {}
    return {
        "told_generations": np.repeat([one.generation for one in found], [len(one.rows) for one in found]),
        "told_rows": np.concatenate([one.rows for one in found]),
        "told_points": np.concatenate([one.points for one in found]),
        "told_values": np.concatenate([one.values for one in found]).astype(runner.batch.spec.dtype),
    }


def restore_told(runner: Runner, arrays: dict[str, Any]) -> None:
    """Set the values that `pack_told` returned, where there are any.

    Raises
    ------
    ValueError
        With the entry's name, for rows, points or values that no tell could have left.
    """
    if runner.ledger.final.rounds is not None and runner.done:
        open_final(runner)
        hand_out_round(runner)
    if "told_rows" not in arrays:
        return
    names = "told_generations", "told_rows", "told_points", "told_values"
    generations, rows, points, values = (arrays[name] for name in names)
    batch = runner.batch
    with entry("told_rows"):
        if not len(generations) == len(points) == len(values) == len(rows):
            raise ValueError("there must be as many rows as generations, points and values")
        runs = rows // batch.pop_max
        if ((rows < 0) | (runs >= batch.n_runs)).any():
            raise ValueError("the rows must be those of trials that need a value")
        last = np.maximum(generations, 0)
        sizes = [batch.spec.schedules[run].size(int(g)) for run, g in zip(runs, last, strict=True)]
        waits = (batch.host("status")[runs] == RUNNING) & (batch.host("generation")[runs] == generations - 1)
        if not (waits & (rows % batch.pop_max < sizes)).all():
            raise ValueError("the rows must be those of trials that need a value")
        if len(np.unique(rows)) < len(rows):
            raise ValueError(f"the rows must all be different, got {quote(rows.tolist())}")
        check_inside(runner, batch.xp.asarray(points)[None], np.array([len(points)]))
        begun = [
            BegunGeneration(g, rows[generations == g], points[generations == g], values[generations == g])
            for g in np.unique(generations).tolist()
        ]
        keep_begun(runner, begun)
        if runner.begun:
            partial = begin_partial(runner)
            if partial is not None and partial.complete:
                select_complete(runner, partial)


def begun_generations(runner: Runner) -> list[BegunGeneration]:
    """Return what is known of generations that are not complete."""
    found = []
    for one in [*runner.kept, *([] if runner.partial is None or runner.partial.runs is not None else [runner.partial])]:
        if one.generation > runner.generation and len(rows := one.told_rows):
            where, size = runner.batch.xp.asarray(rows), runner.rows_at(one.generation)
            points, values = to_numpy(one.points[where]), to_numpy(one.values[where]).astype(np.float64)
            inner = rows // size * runner.batch.pop_max + rows % size
            found.append(BegunGeneration(one.generation, inner, points, values))
    return found


def keep_begun(runner: Runner, begun: Sequence[BegunGeneration]) -> None:
    """Set what is known of generations that are not complete."""
    runner.drop_trials()
    runner.kept = [restore_generation(runner, one) for one in begun]
    if runner.generation < 0 and runner.kept:
        begin_partial(runner)  # a run without a value has its first trial as the result


def restore_generation(runner: Runner, begun: BegunGeneration) -> PartialGeneration:
    """Return a generation of which only the trials with values are there."""
    batch, size = runner.batch, runner.rows_at(begun.generation)
    rows, n = begun.rows // batch.pop_max * size + begun.rows % batch.pop_max, batch.n_runs * size
    with runner.engine.device_context:
        points = batch.xp.zeros((n, batch.dim), batch.spec.dtype)
        points[:] = batch.xp.asarray(batch.spec.lower, dtype=batch.spec.dtype)
        points[batch.xp.asarray(rows)] = batch.xp.asarray(begun.points)
        needed = np.zeros(n, bool)
        needed[rows] = True
        place = begun.generation, batch.n_runs
        kept = PartialGeneration(0, values_of_points(batch, points), points, needed, batch.xp, *place)
        kept.put(rows, begun.values)
    return kept
