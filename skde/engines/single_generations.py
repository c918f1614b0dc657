"""Single generations of a batch, made by the host: trials, their values, selection."""

from __future__ import annotations

import math
import time

import numpy as np

from skde.engines.protocol import DeviceEngine, ObjectiveLike
from skde.engines.state.batch import Batch
from skde.engines.state.runs import Runs
from skde.stopping import RUNNING
from skde.typing import Array, IntArray

# Interval between two reads of a GPU's status.
POLL_SECONDS = 0.005


class StatusPoll:
    """The last known status of all runs.

    Reading the status from a GPU waits for its queue, so it is read every few milliseconds only. Runs that have stopped
    do not change in between.

    Parameters
    ----------
    batch : Runs
        The batch of the runs.

    Attributes
    ----------
    exact : bool
        Whether every poll reads the status: on a CPU, and where the caller waits for the GPU anyway.
    """

    def __init__(self, batch: Runs) -> None:
        self.batch = batch
        self.exact = batch.xp is np
        self.status = np.full(batch.n_runs, RUNNING)  # nothing is read before the first `poll`
        self.time = -math.inf

    def poll(self, force: bool = False) -> bool:
        """Read the status when the interval is over, or with `force`; return whether it was read."""
        now = time.perf_counter()
        if not force and not self.exact and now - self.time < POLL_SECONDS:
            return False
        self.time, self.status = now, self.batch.host("status")
        return True


class Evaluation:
    """The values of a batch's trials, computed for the running runs only.

    Parameters
    ----------
    engine : DeviceEngine
        The engine of the batch.
    batch : Batch
        The batch with the trials.
    objective : ObjectiveLike
        The objective.
    """

    def __init__(self, engine: DeviceEngine, batch: Batch, objective: ObjectiveLike) -> None:
        self.engine, self.batch, self.objective = engine, batch, objective
        self._status: bytes | None = None  # the status that the rows were selected by
        self._rows: Array = None

    def values(self, g: int, status: IntArray) -> Array:
        """Return the values of the trials of generation g, flattened; unused ones are arbitrary."""
        batch = self.batch
        with self.engine.device_context:
            X = batch.rows[g & 1]
            if self.objective.compiled is not None:
                return self.engine.evaluate(self.objective.compiled, X)
            rows = self._find_used_rows(g, status)
            if len(rows) == len(X):
                return self.objective.values(self.engine.trials(batch, g))
            return self.spread(rows, self.objective.values(X[rows]))

    def find_used(self, g: int, status: IntArray) -> tuple[Array, Array]:
        """Return the rows with trials of generation g of running runs, and a copy of these trials."""
        with self.engine.device_context:
            rows = self._find_used_rows(g, status)
            return rows, self.batch.rows[g & 1][rows]

    def spread(self, rows: Array, values: Array) -> Array:
        """Return values of some rows as an array with all rows; the others are arbitrary."""
        xp, dtype = self.batch.xp, self.batch.spec.dtype
        with self.engine.device_context:
            f = xp.full(self.batch.n_runs * self.batch.pop_max, np.nan, dtype)
            f[rows] = xp.asarray(values, dtype=dtype)
            return f

    def _find_used_rows(self, g: int, status: IntArray) -> Array:
        """Return the indices of the rows with trials of running runs."""
        batch, key = self.batch, status.tobytes()
        if batch.varies or key != self._status:
            used = (status == RUNNING)[:, None] & (np.arange(batch.pop_max) < batch.sizes(g)[:, None])
            self._status, self._rows = key, batch.xp.asarray(np.flatnonzero(used))
        return self._rows


def load(engine: DeviceEngine, batch: Batch, objective: ObjectiveLike, execution: str) -> None:
    """Make a batch ready for `advance`."""
    if execution == "run" and objective.compiled is not None:
        engine.load(batch, objective.compiled)


def advance(
    engine: DeviceEngine, batch: Batch, objective: ObjectiveLike, execution: str, begin: int, until: int
) -> None:
    """Start whole generations of a loaded batch, up to number `until`, and judge the last one.

    `engine.synchronize` waits for their end.

    Parameters
    ----------
    engine, batch
        The engine and its batch.
    objective : ObjectiveLike
        The objective.
    execution : {"run", "step"}
        Whole generations in the engine (compiled objectives), or one generation at a time.
    begin, until : int
        The generation of the runs furthest behind, and the last one.
    """
    with engine.device_context:
        if execution == "run":
            engine.run(batch, begin, until)
        else:
            poll, evaluation = StatusPoll(batch), Evaluation(engine, batch, objective)
            for g in range(begin + 1, until + 1):
                engine.propose(batch, g)
                if poll.poll() and not (poll.status == RUNNING).any():
                    break
                engine.accept(batch, g, None, evaluation.values(g, poll.status))
            engine.judge(batch, until)
