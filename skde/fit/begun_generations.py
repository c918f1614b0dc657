"""What is known of generations that are not complete: for files, and for engines that divide a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skde.engines import BegunGeneration
from skde.fit.ask_tell import begin_partial, check_inside, select_complete
from skde.fit.fit import Fit
from skde.fit.partial_generation import PartialGeneration
from skde.fit.results import values_of_points
from skde.stopping import RUNNING
from skde.utils.arrays import to_numpy
from skde.utils.serialization import entry
from skde.utils.validation import quote


def pack_told(fit: Fit) -> dict[str, Any]:
    """Return the known values of incomplete generations, with their rows and points of the box, for a file."""
    found = begun_generations(fit)
    if not found:
        return {}
    return {
        "told_generations": np.repeat([one.generation for one in found], [len(one.rows) for one in found]),
        "told_rows": np.concatenate([one.rows for one in found]),
        "told_points": np.concatenate([one.points for one in found]),
        "told_values": np.concatenate([one.values for one in found]).astype(fit.batch.spec.dtype),
    }


def restore_told(fit: Fit, arrays: dict[str, Any]) -> None:
    """Set the values that `pack_told` returned, where there are any.

    Raises
    ------
    ValueError
        With the entry's name, for rows, points or values that no tell could have left.
    """
    if "told_rows" not in arrays:
        return
    names = "told_generations", "told_rows", "told_points", "told_values"
    generations, rows, points, values = (arrays[name] for name in names)
    batch = fit.batch
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
        check_inside(fit, batch.xp.asarray(points)[None], np.array([len(points)]))
        begun = [
            BegunGeneration(g, rows[generations == g], points[generations == g], values[generations == g])
            for g in np.unique(generations).tolist()
        ]
        keep_begun(fit, begun)
        if fit.population.begun:
            partial = begin_partial(fit)
            if partial is not None and partial.complete:
                select_complete(fit, partial)


def begun_generations(fit: Fit) -> list[BegunGeneration]:
    """Return what is known of generations that are not complete."""
    found = []
    population = fit.population
    for one in [*population.kept, *([] if population.partial is None else [population.partial])]:
        if one.generation > fit.population.generation and len(rows := one.told_rows):
            where, size = fit.batch.xp.asarray(rows), fit.population.rows_at(one.generation)
            points, values = to_numpy(one.points[where]), to_numpy(one.values[where]).astype(np.float64)
            inner = rows // size * fit.batch.pop_max + rows % size
            found.append(BegunGeneration(one.generation, inner, points, values))
    return found


def keep_begun(fit: Fit, begun: Sequence[BegunGeneration]) -> None:
    """Set what is known of generations that are not complete."""
    fit.population.drop_trials()
    fit.population.kept = [restore_generation(fit, one) for one in begun]
    if fit.population.generation < 0 and fit.population.kept:
        begin_partial(fit)  # a run without a value has its first trial as the result


def restore_generation(fit: Fit, begun: BegunGeneration) -> PartialGeneration:
    """Return a generation of which only the trials with values are there."""
    batch, size = fit.batch, fit.population.rows_at(begun.generation)
    rows, n = begun.rows // batch.pop_max * size + begun.rows % batch.pop_max, batch.n_runs * size
    with fit.engine.device_context:
        points = batch.xp.zeros((n, batch.dim), batch.spec.dtype)
        points[:] = batch.xp.asarray(batch.spec.lower, dtype=batch.spec.dtype)
        points[batch.xp.asarray(rows)] = batch.xp.asarray(begun.points)
        needed = np.zeros(n, bool)
        needed[rows] = True
        place = begun.generation, batch.n_runs
        kept = PartialGeneration(0, values_of_points(batch, points), points, needed, batch.xp, *place)
        kept.put(rows, begun.values)
    return kept
