"""The evaluation of generations on the host: whole ones, or what an interrupted one lacks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from skde.engines import evaluate
from skde.engines.single_generations import Evaluation
from skde.fit.ask_tell import begin_partial, first_of_points, keep_values, select_complete
from skde.fit.fit import Fit
from skde.fit.partial_generation import PartialGeneration
from skde.fit.recording import record_trials
from skde.fit.results import values_of_points
from skde.fit.watch import Watch
from skde.functions.point_workers import Part
from skde.objectives.objective import Objective
from skde.typing import Array
from skde.utils.interrupts import interrupts


class Evaluator:
    """The values of the trials of a fit, and the selection by them.

    A function of arrays is called once for a generation. Values of a function of one point come one after the other, or
    from workers in any order; where something ends the fit between them, they are kept in the fit.

    Parameters
    ----------
    fit : Fit
        The fit.
    objective : Objective
        The objective.
    watch : Watch
        Ends the fit between values.
    """

    def __init__(self, fit: Fit, objective: Objective, watch: Watch) -> None:
        self.fit, self.objective, self.watch = fit, objective, watch
        self._whole: Evaluation | None = None
        if objective.by_rows:
            fit.population.status_poll.exact = True  # the host waits for a GPU in every generation anyway

    def complete(self, status: Any) -> bool:
        """Evaluate the proposed trials of the runs with this status, and select; return whether all have values."""
        fit = self.fit
        if fit.population.begun or fit.remembers:
            return self.complete_begun()
        if self._whole is None:
            self._whole = Evaluation(*fit.population.on_device, self.objective)
        if not self.objective.by_rows and fit.recorder is None:
            fit.population.accept(None, self._whole.values(fit.population.generation + 1, status))
            return True
        rows, X = self._whole.find_used(fit.population.generation + 1, status)
        partial: PartialGeneration | None = None
        whole: Array = None
        for part in self.parts(X):
            if len(part.rows) == len(rows):
                whole = part.values
                continue
            partial = begin_partial(fit) if partial is None else partial
            assert partial is not None
            self._keep(partial, np.flatnonzero(partial.needed)[part.rows], part.values)
        if whole is None:
            return self._select(partial)
        size, most = fit.population.rows_per_population, fit.batch.pop_max
        record = record_trials(fit, rows // most * size + rows % most, values_of_points(fit.batch, X), whole)
        values = self._whole.spread(rows, whole)
        with interrupts.deferred:
            fit.population.accept(None, values)
            record()
        return True

    def complete_begun(self) -> bool:
        """Evaluate what an interrupted generation lacks, and select; return whether all trials have values."""
        partial = begin_partial(self.fit)
        if partial is None:
            return True
        missing = partial.missing_rows
        if partial.keys:
            missing = missing[first_of_points(partial, missing)]
        if len(missing):
            with self.fit.engine.device_context:
                X = partial.points[self.fit.batch.xp.asarray(missing)]
            for part in self.parts(X):
                self._keep(partial, missing[part.rows], part.values)
        return self._select(partial)

    def parts(self, X: Array) -> Iterator[Part]:
        """Yield the values at points of the box, on the device or the host."""
        with self.fit.engine.device_context:
            if self.objective.compiled is not None:
                yield Part(np.arange(len(X)), evaluate(self.objective.compiled, X))
            else:
                yield from self.objective.parts(X, self.watch.seconds_left)

    def _keep(self, partial: PartialGeneration, rows: Any, values: Array) -> None:
        """Keep some values, and find out whether something ends the fit."""
        record = record_trials(self.fit, rows, partial.told[self.fit.batch.xp.asarray(rows)], values)
        with interrupts.deferred:
            keep_values(self.fit, partial, rows, values)
            record()
        self.watch.look(partial.complete)

    def _select(self, partial: PartialGeneration | None) -> bool:
        if partial is None or not partial.complete:
            self.watch.ends()
            return False
        select_complete(self.fit, partial)
        return True
