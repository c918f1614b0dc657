"""Generation by generation: trials, their values, selection."""

from __future__ import annotations

import time

import numpy as np

from skde.engines.batch import Batch, Runs
from skde.engines.protocol import DeviceEngine, ObjectiveLike
from skde.stopping import Status
from skde.typing import Array, IntArray

# How often the host asks a GPU that works through its queue how far it is.
POLL_SECONDS = 0.005


class StatusPoll:
    """The runs' states, as far as is known.

    A GPU works through its queue, and asking it means waiting for it: it is asked every few milliseconds. Stopped runs
    stand still meanwhile.
    """

    def __init__(self, batch: Runs) -> None:
        self.batch = batch
        self.exact = batch.xp is np  # the CPU is asked every time
        self.status: IntArray = batch.host("status")
        self.time = 0.0

    def poll(self, force: bool = False) -> bool:
        """Ask, where it is time or one must be sure, and return whether it was asked."""
        now = time.perf_counter()
        if not force and not self.exact and now - self.time < POLL_SECONDS:
            return False
        self.time, self.status = now, self.batch.host("status")
        return True


class Evaluation:
    """The values of a batch's trials, made for those runs only that still run.

    Parameters
    ----------
    engine : DeviceEngine
        Where the batch is.
    batch : Batch
        Whose trials.
    objective : ObjectiveLike
        Of which the values are.
    """

    def __init__(self, engine: DeviceEngine, batch: Batch, objective: ObjectiveLike) -> None:
        self.engine, self.batch, self.objective = engine, batch, objective
        self._known: bytes | None = None  # the states that the rows were chosen by
        self._rows: Array = None

    def values(self, g: int, status: IntArray) -> Array:
        """Return the values of the trials of generation g, flattened; what is not used is NaN, or anything."""
        batch, xp = self.batch, self.batch.xp
        with self.engine.device_context:
            X = batch.rows[g & 1]
            if self.objective.compiled is not None:
                return self.engine.evaluate(self.objective.compiled, X)
            rows = self._used(g, status)
            if len(rows) == len(X):
                return self.objective.values(self.engine.trials(batch, g))
            f = xp.full(len(X), np.nan, X.dtype)
            f[rows] = self.objective.values(X[rows])
            return f

    def _used(self, g: int, status: IntArray) -> Array:
        """Return the numbers of the rows of trials that running runs have."""
        batch, known = self.batch, status.tobytes()
        if batch.varies or known != self._known:
            used = (status == Status.RUNNING)[:, None] & (np.arange(batch.pop_max) < batch.sizes(g)[:, None])
            self._known, self._rows = known, batch.xp.asarray(np.flatnonzero(used))
        return self._rows


def load(engine: DeviceEngine, batch: Batch, objective: ObjectiveLike, execution: str) -> None:
    """Make a batch ready for `advance`."""
    if execution == "run" and objective.compiled is not None:
        engine.load(batch, objective.compiled)


def advance(
    engine: DeviceEngine, batch: Batch, objective: ObjectiveLike, execution: str, begin: int, until: int
) -> None:
    """Run whole generations of a loaded batch, up to number `until`, and judge it.

    Parameters
    ----------
    engine, batch
        Where, and what.
    objective : ObjectiveLike
        What is minimised.
    execution : {"run", "step"}
        By the engine's own loop (compiled objectives), or one generation after the other.
    begin, until : int
        The generation that the runs furthest behind are at, and the last one.
    """
    with engine.device_context:
        if execution == "run":
            engine.run(batch, begin, until)
        else:
            hearing, evaluation = StatusPoll(batch), Evaluation(engine, batch, objective)
            for g in range(begin + 1, until + 1):
                engine.propose(batch, g)
                if hearing.poll() and not (hearing.status == Status.RUNNING).any():
                    break
                engine.accept(batch, g, None, evaluation.values(g, hearing.status))
            engine.judge(batch, until)
        engine.synchronize()
