"""One engine for several devices of one host: each device has a part of the runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from threading import Barrier
from typing import Any

import numpy as np

from skde.engines.device_threads import DeviceThreads, IslandBarrier
from skde.engines.generation_parts import (
    SLICE_SECONDS,
    PartsOfGenerations,
    PointSteps,
    merge_begun,
    take_begun,
)
from skde.engines.single_generations import advance, load
from skde.engines.state.batch import Batch
from skde.engines.state.batch_arrays import check_batch_memory
from skde.engines.state.coevolution import Coevolution, IncumbentRuns
from skde.engines.state.coevolution_arrays import check_coevolution_memory
from skde.engines.state.coevolution_spec import CoevolutionSpec
from skde.engines.state.parts import cut, join, ranges
from skde.engines.state.runs import Runs
from skde.engines.state.spec import Spec
from skde.functions.point_workers import OutOfTime
from skde.islands import Step
from skde.typing import Array, FloatArray, IntArray


class SplitBatch(Runs):
    """A batch of runs or islands in consecutive parts, one for each device.

    Parameters
    ----------
    spec : Spec
        The spec of the whole batch.
    parts : sequence of Batch
        The parts on the devices, divided as `ranges` does.
    """

    def __init__(self, spec: Spec, parts: Sequence[Any]) -> None:
        super().__init__(spec, parts[0].xp)
        self.parts = list(parts)
        self.ranges = ranges(self.n_runs, len(parts))
        self.share_islands = spec.share_islands(self.ranges)
        self.migrant_copies = [self._migrant_copies(k) for k in range(len(parts))]
        self.work: tuple[Any, str] | None = None  # the objective, and its execution

    def _migrant_copies(self, k: int) -> list[tuple[Array, Array]]:
        """Return the arrays that part k copies in a migration: pairs of a target and a source in another part."""
        copies = []
        low, own = self._first_island(k), self.parts[k].array["migrants"]
        for j, (begin, end) in enumerate(self.ranges):
            begin, end = max(begin, low), min(end, low + len(own))
            if j != k and begin < end:
                other = self._first_island(j)
                source = self.parts[j].array["migrants"][begin - other : end - other]
                copies.append((own[begin - low : end - low], source))
        return copies

    def _first_island(self, k: int) -> int:
        """Return the first island of the archipelago in which part k begins."""
        return self.ranges[k][0] // self.n_islands * self.n_islands

    def _locate(self, run: int) -> tuple[Batch, int]:
        """Return the part of a run, and the run's number in that part."""
        k = next(k for k, (_, end) in enumerate(self.ranges) if run < end)
        return self.parts[k], run - self.ranges[k][0]

    def refresh(self) -> None:
        """Pass the current spec to the kernels."""
        for part, spec in zip(self.parts, self.spec.parts(self.ranges), strict=True):
            part.spec = spec
            part.refresh()

    def find_bests(self) -> None:
        """Find again the values that the stopping rules read, where the kernels may not have stored them."""
        for part in self.parts:
            part.find_bests()

    def put(self, name: str, values: Any) -> None:
        """Write one of the arrays with a first axis of runs, from the host."""
        for part, (begin, end) in zip(self.parts, self.ranges, strict=True):
            part.put(name, values[begin:end])

    def host(self, name: str) -> Any:
        """Return one of the arrays with a first axis of runs as a NumPy array."""
        return np.concatenate([part.host(name) for part in self.parts])

    def population(self, run: int) -> tuple[FloatArray, FloatArray]:
        """Return a run's population (P, D) and its values (P,), on the host."""
        part, own = self._locate(run)
        return part.population(own)

    def points(self, generation: IntArray, runs: IntArray, individuals: IntArray) -> FloatArray:
        """Return positions (n, D), on the host: one of an individual of each of these runs, which are in order."""
        points = []
        for part, (begin, end) in zip(self.parts, self.ranges, strict=True):
            rows = slice(*np.searchsorted(runs, [begin, end]))
            points.append(part.points(generation[begin:end], runs[rows] - begin, individuals[rows]))
        return np.concatenate(points)

    def best(self, generation: IntArray | None = None) -> tuple[IntArray, FloatArray]:
        """Return the row of every run's best individual and its value (NaN where a run has nothing but NaN)."""
        rows = [None if generation is None else generation[begin:end] for begin, end in self.ranges]
        index, value = zip(*(part.best(own) for part, own in zip(self.parts, rows, strict=True)), strict=True)
        return np.concatenate(index), np.concatenate(value)

    def parameter_values(self, name: str, generation: IntArray) -> FloatArray:
        """Return one of the `adapted` parameters of all rows, of shape (R, P), on the host."""
        parts = zip(self.parts, self.ranges, strict=True)
        return np.concatenate([part.parameter_values(name, generation[begin:end]) for part, (begin, end) in parts])

    def state(self) -> dict[str, Any]:
        """Return the state for a checkpoint."""
        return join([part.state() for part in self.parts])

    def restore(self, saved: dict[str, Any]) -> None:
        """Continue from a state that `state` returned."""
        for part, one in zip(self.parts, self.ranges, strict=True):
            part.restore(cut(saved, *one))


class SplitCoevolution(IncumbentRuns, SplitBatch):
    """A co-evolution in consecutive parts, one for each device: the incumbents, with the two sides.

    Parameters
    ----------
    spec : CoevolutionSpec
        The spec of the whole co-evolution.
    parts : sequence of Coevolution
        The parts on the devices, divided as `ranges` does.
    """

    def __init__(self, spec: CoevolutionSpec, parts: Sequence[Coevolution]) -> None:
        super().__init__(spec.incumbents, parts)
        self.coevolution_spec, self.constraints = spec, spec.constraints
        self.x = SplitBatch(spec.x, [part.x for part in parts])
        self.y = SplitBatch(spec.y, [part.y for part in parts])


class MultiDeviceEngine:
    """Runs a batch, or a co-evolution, on several devices of one kind, with the same bits as on one of them.

    Each device has consecutive runs of the batch: islands, where runs have islands. Where the islands of a run are on
    several devices, these wait for each other at a migration, and each one copies the migrants of the other devices'
    islands. Otherwise each works independently. Devices have a thread each; but where GPUs do the work, one
    thread starts the work of all, one GPU after the other, and a GPU waits for the others by itself.

    Parameters
    ----------
    engines : sequence of DeviceEngine or CoevolutionEngine
        All on the CPU, or all on GPUs.
    load, advance : callable
        How one of these engines loads an objective and runs generations; see `skde.engines.single_generations`.
    """

    def __init__(
        self, engines: Sequence[Any], load: Callable[..., None] = load, advance: Callable[..., None] = advance
    ) -> None:
        self.engines = list(engines)
        self.name = ", ".join(engine.name for engine in engines)
        self.even = False
        self.chunk_seconds: float = self.engines[0].chunk_seconds
        self.threads = DeviceThreads(self.engines)
        self._load, self._advance = load, advance

    @property
    def xp(self) -> Any:
        """The array library of all devices."""
        return self.engines[0].xp

    @property
    def device_context(self) -> AbstractContextManager[Any]:
        """The context of the first device, where the trials of `ask` are."""
        context: AbstractContextManager[Any] = self.engines[0].device_context
        return context

    def apply(self, work: Callable[[Any], Any]) -> Any:
        """Return work(xp), called on the first device."""
        return self.engines[0].apply(work)

    def check_memory(self, spec: Spec, n_runs: int) -> None:
        """Refuse a batch of n_runs runs of a spec when there is no memory for it."""
        if self.xp is np:  # all parts are in the same memory
            check_batch_memory(spec, n_runs)
            return
        for engine, (begin, end) in zip(self.engines, ranges(n_runs, len(self.engines)), strict=True):
            engine.check_memory(spec, end - begin)

    def batch(self, spec: Spec | CoevolutionSpec) -> SplitBatch:
        """Allocate a batch or a co-evolution.

        Raises
        ------
        ValueError
            For fewer runs than devices.
        """
        if spec.n_runs < len(self.engines):
            raise ValueError(f"device has {len(self.engines)} entries, more than {spec.size_text}")
        if isinstance(spec, CoevolutionSpec) and self.xp is np:  # all parts are in the same memory
            check_coevolution_memory(spec)
        rows = ranges(spec.n_runs, len(self.engines))
        parts = [engine.batch(part) for engine, part in zip(self.engines, spec.parts(rows), strict=True)]
        return SplitCoevolution(spec, parts) if isinstance(spec, CoevolutionSpec) else SplitBatch(spec, parts)

    @contextmanager
    def share(self, batch: SplitBatch, objective: Any, execution: str) -> Iterator[None]:
        """Return the context in which a batch runs an objective, by "run" or by "step"."""
        for engine, part in zip(self.engines, batch.parts, strict=True):
            self._load(engine, part, objective, execution)
        batch.work = objective, execution
        try:
            yield
        finally:
            batch.work = None
            self.threads.close()

    def run(self, batch: SplitBatch, begin: int, until: int) -> None:
        """Run whole generations up to number `until`, from `begin`, where the runs furthest behind are."""
        if batch.work is None:
            raise RuntimeError("run needs share before it")
        objective, execution = batch.work
        islands = batch.share_islands

        def work(k: int, barrier: IslandBarrier) -> Iterator[Barrier]:
            for g, end in islands.stretches(begin, until):
                if islands.migrates(g):
                    yield from self._migrate(batch, k, barrier, g)
                self._advance(self.engines[k], batch.parts[k], objective, execution, g, end)

        self.threads.run(work, self._is_asynchronous and execution == "run")

    def run_parts(self, batch: SplitBatch, begin: int, until: int, work: PartsOfGenerations) -> None:
        """Run generations of a function of one point; the last may be cut short: also by Ctrl-C."""
        if batch.work is None:
            raise RuntimeError("run_parts needs share before it")
        objective, islands = batch.work[0], batch.share_islands
        first_rows = [(first * batch.pop_max, last * batch.pop_max) for first, last in batch.ranges]
        parts = [
            PartsOfGenerations(
                take_begun(work.begun, *rows), self.threads.seconds_until(work.seconds_left), work.always
            )
            for rows in first_rows
        ]

        def advance(k: int, barrier: IslandBarrier) -> Iterator[Barrier]:
            steps = PointSteps(self.engines[k], batch.parts[k], objective, parts[k], SLICE_SECONDS)
            for g, end in islands.stretches(begin, until):
                if islands.migrates(g):
                    yield from self._migrate(batch, k, barrier, g)
                steps.advance(g, end)

        try:
            self.threads.run(advance, False)
        except OutOfTime:  # parts that wait for the others' migrants end too
            pass
        finally:
            begun = [part.begun for part in parts]
            work.begun = merge_begun(zip([first for first, _ in first_rows], begun, strict=True))
            work.always = all(part.always for part in parts)

    def judge(self, batch: SplitBatch, g: int) -> None:
        """Judge the end of generation g, for the runs that are at it."""
        self._each(lambda k: self.engines[k].judge(batch.parts[k], g))

    def propose(self, batch: SplitBatch, g: int) -> None:
        """Judge the end of generation g - 1 and make the trials of generation g."""

        def work(k: int, barrier: IslandBarrier) -> Iterator[Barrier]:
            if batch.share_islands.migrates(g - 1):
                self.engines[k].migrate(batch.parts[k], g - 1, Step.JUDGE)
                yield from self._migrate(batch, k, barrier, g - 1)
            self.engines[k].propose(batch.parts[k], g)

        self.threads.run(work, self._is_asynchronous)

    def accept(self, batch: SplitBatch, g: int, trials: Array, f: Array) -> None:
        """Select between parents and trials by the trials' values; both are whole, on the first device."""
        trials, f = trials.reshape(-1, batch.pop_max, batch.dim), f.reshape(-1, batch.pop_max)
        self.engines[0].synchronize()

        def work(k: int) -> None:
            engine, rows = self.engines[k], slice(*batch.ranges[k])
            with engine.device_context:
                own = [batch.xp.empty(array[rows].shape, array.dtype) for array in (trials, f)]
            for target, source in zip(own, (trials, f), strict=True):
                engine.copy_array(target, source[rows])
            engine.accept(batch.parts[k], g, *own)

        self._each(work)

    def trials(self, batch: SplitBatch, g: int) -> Array:
        """Return a copy of the trials of generation g, of shape (R * P, D), on the first device."""
        with self.device_context:
            out = batch.xp.empty((batch.n_runs, batch.pop_max, batch.dim), batch.spec.dtype)
            for part, rows in zip(batch.parts, batch.ranges, strict=True):
                self.engines[0].copy_array(out[slice(*rows)], part.trials(g))
            return out.reshape(-1, batch.dim)

    def synchronize(self) -> None:
        """Do nothing: calls return when the work is done."""

    @property
    def _is_asynchronous(self) -> bool:
        """Whether calls of the engines only start work, as on GPUs."""
        return self.xp is not np

    def _each(self, work: Callable[[int], None]) -> None:
        """Do work without barriers on each part."""

        def steps(k: int, barrier: IslandBarrier) -> Iterator[Barrier]:
            work(k)
            return iter(())

        self.threads.run(steps, self._is_asynchronous)

    def _migrate(self, batch: SplitBatch, k: int, barrier: IslandBarrier, g: int) -> Iterator[Barrier]:
        """Do part k's share of the migration after generation g."""
        engine, part = self.engines[k], batch.parts[k]
        engine.follow(barrier.copied.values())  # no device may write its migrants again before all have copied them
        engine.migrate(part, g, Step.EMIGRATE)
        barrier.sent[k] = engine.mark()
        yield barrier.arrive
        try:
            engine.follow(barrier.sent.values())
            for target, source in batch.migrant_copies[k]:
                engine.copy_array(target, source)
            barrier.copied[k] = engine.mark()
        except BaseException:
            barrier.leave.abort()
            raise
        yield barrier.leave
        engine.migrate(part, g, Step.IMMIGRATE)
        engine.migrate(part, g, Step.REORDER)
