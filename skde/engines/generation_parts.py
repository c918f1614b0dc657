"""Generations with a function of one point, made where the parts of a batch are; the last one may be cut short."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from skde.engines.protocol import DeviceEngine, PointObjective
from skde.engines.single_generations import Evaluation, StatusPoll
from skde.engines.state.batch import Batch
from skde.functions.point_workers import OutOfTime
from skde.stopping import RUNNING
from skde.typing import Array, FloatArray, IntArray
from skde.utils.arrays import to_numpy

# A generation is cut short after this time: then its values are sent, and callbacks are called.
SLICE_SECONDS = 0.25


class BegunGeneration(NamedTuple):
    """The known values of a generation that is not complete.

    Attributes
    ----------
    generation : int
        Its number.
    rows : ndarray of int of shape (n,)
        The rows of the trials in the batch; every run has as many as the largest population.
    points : ndarray of shape (n, dim)
        The points of the box where they were evaluated, on the host.
    values : ndarray of shape (n,)
        Their values, on the host.
    """

    generation: int
    rows: IntArray
    points: FloatArray
    values: FloatArray


def take_begun(begun: Iterable[BegunGeneration], begin: int, end: int) -> list[BegunGeneration]:
    """Return what is known of the rows begin ... end - 1, which the part numbers from 0."""
    inside = [(one, (one.rows >= begin) & (one.rows < end)) for one in begun]
    return [
        BegunGeneration(one.generation, one.rows[own] - begin, one.points[own], one.values[own])
        for one, own in inside
        if own.any()
    ]


def merge_begun(parts: Iterable[tuple[int, Sequence[BegunGeneration]]]) -> list[BegunGeneration]:
    """Return what is known of all parts, given with their first rows in the batch."""
    return [one._replace(rows=one.rows + first) for first, begun in parts for one in begun]


@dataclass
class PartsOfGenerations:
    """The work of an engine on generations that may be cut short.

    Attributes
    ----------
    begun : list of BegunGeneration
        What is known of generations that are not complete: before the work and, also after an exception, after it.
    seconds_left : callable
        Returns the seconds until the time limit.
    always : bool
        Whether one point is evaluated also after the limit, because none has been before.
    """

    begun: list[BegunGeneration]
    seconds_left: Callable[[], float]
    always: bool


class PointSteps:
    """Single generations of a batch with a function of one point.

    Parameters
    ----------
    engine : DeviceEngine
        The engine of the batch.
    batch : Batch
        The batch.
    objective : PointObjective
        The function.
    work : PartsOfGenerations
        The values that are known, and the limit.
    slice_seconds : float, default inf
        The time after which a generation is cut short, so that its values are sent before it is complete.
    """

    def __init__(
        self,
        engine: DeviceEngine,
        batch: Batch,
        objective: PointObjective,
        work: PartsOfGenerations,
        slice_seconds: float = math.inf,
    ) -> None:
        self.engine, self.batch, self.objective, self.work = engine, batch, objective, work
        self.slice_seconds = slice_seconds
        self._poll, self._evaluation = StatusPoll(batch), Evaluation(engine, batch, objective)
        self._poll.exact = True  # a GPU is waited for in every generation anyway

    def advance(self, begin: int, until: int) -> None:
        """Make the generations up to number `until`, from `begin`, where the running runs are.

        Raises
        ------
        OutOfTime
            Where one is cut short.
        """
        with self.engine.device_context:
            for g in range(begin + 1, until + 1):
                self.engine.propose(self.batch, g)
                self._poll.poll()
                if not (self._poll.status == RUNNING).any():
                    break
                self._make(g)
            self.engine.judge(self.batch, until)

    def _make(self, g: int) -> None:
        """Evaluate what generation g lacks, and select."""
        batch, work, xp = self.batch, self.work, self.batch.xp
        own = [one for one in work.begun if one.generation == g]
        others = [one for one in work.begun if one.generation != g]
        trials = self.engine.trials(batch, g).reshape(-1, batch.dim)
        values, known = np.full(len(trials), np.nan), np.zeros(len(trials), bool)
        for one in own:
            trials[xp.asarray(one.rows)] = xp.asarray(one.points)
            values[one.rows], known[one.rows] = one.values, True
        rows = to_numpy(self._evaluation.find_used(g, self._poll.status)[0])
        missing = rows[~known[rows]]
        try:
            self._evaluate(trials, missing, values, known)
        finally:
            found = rows[known[rows]]
            at = to_numpy(trials[xp.asarray(found)])
            work.begun = [*others, BegunGeneration(g, found, at, values[found])] if len(found) else others
        if not known[rows].all():
            raise OutOfTime
        self.engine.accept(batch, g, trials, xp.asarray(values, dtype=batch.spec.dtype))
        work.begun = others

    def _evaluate(self, trials: Array, missing: IntArray, values: FloatArray, known: Any) -> None:
        """Set values of trials until all are known, or until the end of the time."""
        work, end = self.work, time.perf_counter() + self.slice_seconds

        def find_seconds() -> float:
            return min(work.seconds_left(), end - time.perf_counter())

        if not len(missing) or not (work.always or work.seconds_left() > 0):
            return
        for part in self.objective.parts(trials[self.batch.xp.asarray(missing)], find_seconds):
            rows = missing[part.rows]
            values[rows], known[rows], work.always = to_numpy(part.values), True, False
