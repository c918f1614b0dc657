"""Several devices of one host as one engine: each has a part of the runs, and a thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from skde.engines.batch import Batch, Runs, check_batch, cut, join, ranges
from skde.engines.device_threads import DeviceThreads, IslandBarrier
from skde.engines.protocol import DeviceEngine, ObjectiveLike
from skde.engines.spec import CHUNK_SECONDS, Spec
from skde.engines.stepping import advance
from skde.islands import EMIGRATE, IMMIGRATE, JUDGE, REORDER
from skde.typing import Array, FloatArray, IntArray

# What islands tell each other when they meet.
LETTERS = ("migrants", "migrant_values", "meets")


class SplitBatch(Runs):
    """A batch in consecutive parts, one a device.

    Parameters
    ----------
    spec : Spec
        What the whole is made of.
    parts : sequence of Batch
        What the devices have of it, as `ranges` shares it out.
    """

    def __init__(self, spec: Spec, parts: Sequence[Any]) -> None:
        super().__init__(spec, parts[0].xp)
        self.parts = list(parts)
        self.ranges = ranges(self.n_runs, len(parts))

    def _where(self, run: int) -> tuple[Batch, int]:
        """Return the part that has a run, and the run's number there."""
        k = next(k for k, (_, end) in enumerate(self.ranges) if run < end)
        return self.parts[k], run - self.ranges[k][0]

    def refresh(self) -> None:
        """Let the kernels know what the spec says now."""
        for part, spec in zip(self.parts, self.spec.parts(self.ranges), strict=True):
            part.spec = spec
            part.refresh()

    def put(self, name: str, values: Any) -> None:
        """Write one of the arrays whose first axis is that of the runs, from the host."""
        for part, (begin, end) in zip(self.parts, self.ranges, strict=True):
            part.put(name, values[begin:end])

    def host(self, name: str) -> Any:
        """Return one of the arrays whose first axis is that of the runs as a NumPy array."""
        return np.concatenate([part.host(name) for part in self.parts])

    def population(self, run: int) -> tuple[FloatArray, FloatArray]:
        """Return a run's population (P, D) and its values (P,), on the host."""
        part, own = self._where(run)
        return part.population(own)

    def point(self, run: int, individual: int) -> FloatArray:
        """Return one individual's position (D,), on the host."""
        part, own = self._where(run)
        return part.point(own, individual)

    def best(self) -> tuple[IntArray, FloatArray]:
        """Return the index of every run's best individual and its value (NaN where a run has nothing but NaN)."""
        index, value = zip(*(part.best() for part in self.parts), strict=True)
        return np.concatenate(index), np.concatenate(value)

    def state(self) -> dict[str, Any]:
        """Return all that a checkpoint must hold."""
        return join([part.state() for part in self.parts])

    def restore(self, saved: dict[str, Any]) -> None:
        """Continue from what `state` returned."""
        for part, one in zip(self.parts, self.ranges, strict=True):
            part.restore(cut(saved, *one))


class MultiDeviceBatch(SplitBatch):
    """A batch of runs or islands in consecutive parts, one a device.

    Parameters
    ----------
    spec : Spec
        What to run.
    engines : sequence of DeviceEngine
        Where.
    """

    def __init__(self, spec: Spec, engines: Sequence[DeviceEngine]) -> None:
        rows = ranges(len(spec.seeds), len(engines))
        super().__init__(spec, [engine.batch(part) for engine, part in zip(engines, spec.parts(rows), strict=True)])
        self.shared_islands = spec.shared_islands(rows)
        self.letters = [self._letters(k) for k in range(len(engines))]
        self.work: tuple[Any, str] | None = None  # the objective, and how it is run

    def _letters(self, k: int) -> list[tuple[Array, Array]]:
        """Return what part k gets from others when islands meet: pairs of its own array and the other's."""
        pairs = []
        low = self._first(k)
        high = low + len(self.parts[k].array["meets"])
        for j, (begin, end) in enumerate(self.ranges):
            begin, end = max(begin, low), min(end, high)
            if j == k or begin >= end:
                continue
            other = self._first(j)
            pairs += [
                (
                    self.parts[k].array[name][begin - low : end - low],
                    self.parts[j].array[name][begin - other : end - other],
                )
                for name in LETTERS
            ]
        return pairs

    def _first(self, k: int) -> int:
        """Return the first island of the archipelago that part k begins in."""
        return self.ranges[k][0] // self.n_islands * self.n_islands


class MultiDeviceEngine:
    """Runs a batch on several devices of one kind, and does so to the bit as one of them would.

    Each device has a thread, and consecutive runs of the batch: islands, where runs have some. Where the islands of a
    run are on several devices, the threads meet when these do, and every one copies what the others' islands sent to
    its own; else each goes on by itself.

    Parameters
    ----------
    engines : sequence of DeviceEngine
        All on the CPU, or all on GPUs.
    """

    chunk_seconds = CHUNK_SECONDS

    def __init__(self, engines: Sequence[DeviceEngine]) -> None:
        self.engines = list(engines)
        self.name = ", ".join(engine.name for engine in engines)
        self.crew = DeviceThreads(self.engines)

    @property
    def xp(self) -> Any:
        """The array library of all devices."""
        return self.engines[0].xp

    @property
    def here(self) -> AbstractContextManager[Any]:
        """Points that are asked for lie on the first device."""
        return self.engines[0].here

    def apply(self, work: Callable[[Any], None]) -> None:
        """Call work(xp) on the first device."""
        self.engines[0].apply(work)

    def check_room(self, spec: Spec, n_runs: int) -> None:
        """Refuse a batch of so many runs like those of a spec, where there is no memory for it."""
        if self.xp is np:  # all parts are in the same memory
            check_batch(spec, n_runs)
            return
        for engine, (begin, end) in zip(self.engines, ranges(n_runs, len(self.engines)), strict=True):
            engine.check_room(spec, end - begin)

    def batch(self, spec: Spec) -> MultiDeviceBatch:
        """Allocate a batch.

        Raises
        ------
        ValueError
            For fewer runs than devices.
        """
        if len(spec.seeds) < len(self.engines):
            raise ValueError(
                f"device has {len(self.engines)} entries, more than n_runs * n_islands = {len(spec.seeds)} populations"
            )
        return MultiDeviceBatch(spec, self.engines)

    @contextmanager
    def share(self, batch: MultiDeviceBatch, objective: ObjectiveLike, execution: str) -> Iterator[None]:
        """Return the context in which a batch runs an objective, by "run" or by "step"."""
        batch.work = objective, execution
        if execution == "run" and objective.compiled is not None:
            for engine, part in zip(self.engines, batch.parts, strict=True):
                engine.load(part, objective.compiled)
        yield

    def run(self, batch: MultiDeviceBatch, begin: int, until: int) -> None:
        """Run whole generations up to number `until`, from `begin`, that of the runs furthest behind."""
        if batch.work is None:
            raise RuntimeError("run needs share before it")
        objective, execution = batch.work
        islands = batch.shared_islands

        def work(k: int, meeting: IslandBarrier) -> None:
            for g, end in islands.legs(begin, until):
                if islands.meet(g):
                    self._meet(batch, k, meeting, g)
                advance(self.engines[k], batch.parts[k], objective, execution, g, end)

        self.crew.together(work)

    def judge(self, batch: MultiDeviceBatch, g: int) -> None:
        """Judge the end of generation g, for the runs that are at it."""
        self.crew.together(lambda k, meeting: self.engines[k].judge(batch.parts[k], g))

    def propose(self, batch: MultiDeviceBatch, g: int) -> None:
        """Judge the end of generation g - 1 and make the trials of generation g."""

        def work(k: int, meeting: IslandBarrier) -> None:
            if batch.shared_islands.meet(g - 1):
                self.engines[k].migrate(batch.parts[k], g - 1, JUDGE)
                self._meet(batch, k, meeting, g - 1)
            self.engines[k].propose(batch.parts[k], g)

        self.crew.together(work)

    def accept(self, batch: MultiDeviceBatch, g: int, trials: Array, f: Array) -> None:
        """Select between parents and trials by the trials' values; both are whole, on the first device."""
        trials, f = trials.reshape(-1, batch.pop_max, batch.dim), f.reshape(-1, batch.pop_max)
        self.engines[0].synchronize()

        def work(k: int, meeting: IslandBarrier) -> None:
            engine, rows = self.engines[k], slice(*batch.ranges[k])
            own = [batch.xp.empty(array[rows].shape, array.dtype) for array in (trials, f)]
            for target, source in zip(own, (trials, f), strict=True):
                engine.fill(target, source[rows])
            engine.accept(batch.parts[k], g, *own)

        self.crew.together(work)

    def trials(self, batch: MultiDeviceBatch, g: int) -> Array:
        """Return a copy of the trials of generation g, of shape (R * P, D), on the first device."""
        with self.here:
            out = batch.xp.empty((batch.n_runs, batch.pop_max, batch.dim), batch.spec.dtype)
            for part, rows in zip(batch.parts, batch.ranges, strict=True):
                self.engines[0].fill(out[slice(*rows)], part.trials(g))
            return out.reshape(-1, batch.dim)

    def synchronize(self) -> None:
        """Nothing to wait for: calls return when the work is done."""

    def _meet(self, batch: MultiDeviceBatch, k: int, meeting: IslandBarrier, g: int) -> None:
        engine, part = self.engines[k], batch.parts[k]
        engine.migrate(part, g, EMIGRATE)
        engine.synchronize()
        meeting.arrive.wait()
        try:
            for target, source in batch.letters[k]:
                engine.fill(target, source)
            engine.synchronize()
        except BaseException:
            meeting.leave.abort()
            raise
        meeting.leave.wait()  # nobody writes anew before all have read
        engine.migrate(part, g, IMMIGRATE)
        engine.migrate(part, g, REORDER)
