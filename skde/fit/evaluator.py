"""The evaluation of generations on the host: whole ones, or what an interrupted one lacks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from skde.engines import evaluate
from skde.engines.single_generations import Evaluation
from skde.fit.ask_tell import begin_partial, first_of_points, keep_values, select_complete
from skde.fit.partial_generation import PartialGeneration
from skde.fit.recording import record_trials
from skde.fit.run_results import values_of_points
from skde.fit.runner import Runner
from skde.fit.watch import Watch
from skde.functions.point_workers import Part
from skde.objectives.objective import Objective
from skde.typing import Array
from skde.utils.interrupts import interrupts


class Evaluator:
    """The values of the trials of a fit, and the selection by them.

    A function of arrays is called once for a generation. Values of a function of one point come one after the other, or
    from workers in any order; where something ends the fit between them, they are kept in the runner.

    Parameters
    ----------
    runner : Runner
        The batch and its engine.
    objective : Objective
        The objective.
    watch : Watch
        Ends the fit between values.
    """

    def __init__(self, runner: Runner, objective: Objective, watch: Watch) -> None:
        self.runner, self.objective, self.watch = runner, objective, watch
        self._whole: Evaluation | None = None
        if objective.by_rows:
            runner.status_poll.exact = True  # the host waits for a GPU in every generation anyway

    def complete(self, status: Any) -> bool:
        """Evaluate the proposed trials of the runs with this status, and select; return whether all have values."""
        runner = self.runner
        if runner.begun or runner.remembers:
            return self.complete_begun()
        if self._whole is None:
            self._whole = Evaluation(*runner.on_device, self.objective)
        if not self.objective.by_rows and runner.recorder is None:
            runner.accept(None, self._whole.values(runner.generation + 1, status))
            return True
        rows, X = self._whole.find_used(runner.generation + 1, status)
        partial: PartialGeneration | None = None
        whole: Array = None
        for part in self.parts(X):
            if len(part.rows) == len(rows):
                whole = part.values
                continue
            partial = begin_partial(runner) if partial is None else partial
            assert partial is not None
            self._keep(partial, np.flatnonzero(partial.needed)[part.rows], part.values)
        if whole is None:
            return self._select(partial)
        size, most = runner.rows_per_population, runner.batch.pop_max
        record = record_trials(runner, rows // most * size + rows % most, values_of_points(runner.batch, X), whole)
        values = self._whole.spread(rows, whole)
        with interrupts.deferred:
            runner.accept(None, values)
            record()
        return True

    def complete_begun(self) -> bool:
        """Evaluate what an interrupted generation lacks, and select; return whether all trials have values."""
        partial = begin_partial(self.runner)
        if partial is None:
            return True
        missing = partial.missing_rows
        if partial.keys:
            missing = missing[first_of_points(partial, missing)]
        if len(missing):
            with self.runner.engine.device_context:
                X = partial.points[self.runner.batch.xp.asarray(missing)]
            for part in self.parts(X):
                self._keep(partial, missing[part.rows], part.values)
        return self._select(partial)

    def parts(self, X: Array) -> Iterator[Part]:
        """Yield the values at points of the box, on the device or the host."""
        with self.runner.engine.device_context:
            if self.objective.compiled is not None:
                yield Part(np.arange(len(X)), evaluate(self.objective.compiled, X))
            else:
                yield from self.objective.parts(X, self.watch.seconds_left)

    def _keep(self, partial: PartialGeneration, rows: Any, values: Array) -> None:
        """Keep some values, and find out whether something ends the fit."""
        record = record_trials(self.runner, rows, partial.told[self.runner.batch.xp.asarray(rows)], values)
        with interrupts.deferred:
            keep_values(self.runner, partial, rows, values)
            record()
        self.watch.look(partial.complete)

    def _select(self, partial: PartialGeneration | None) -> bool:
        if partial is None or not partial.complete:
            self.watch.ends()
            return False
        select_complete(self.runner, partial)
        return True
