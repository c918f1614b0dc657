"""The state of a batch of runs, in arrays that the kernels read."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

import skde._cpu as _cpu
from skde.algorithms.base import StateSizes
from skde.constants import CONSTANTS
from skde.engines.state.algorithm_kernels import algorithm_entry, state_names
from skde.engines.state.batch_arrays import (
    AXES,
    CURRENT,
    PROGRESS,
    check_batch_memory,
    count_slots,
    halves_axis,
    names_in_file,
    sorting_size,
)
from skde.engines.state.block import Block, BlockArrays
from skde.engines.state.runs import Runs
from skde.engines.state.spec import Spec
from skde.engines.state.task import KINDS, PLACES, Decoding, Task, field_dtypes
from skde.islands import Archipelago
from skde.typing import Array, FloatArray, IntArray
from skde.utils.arrays import address, device_of, to_numpy
from skde.utils.memory import check_memory

ADDRESSES = np.array([PLACES[name] for name in AXES])  # the fields of the task with the addresses of the arrays


@lru_cache(maxsize=64)
def write_sizes(
    n_runs: int, pop_max: int, dim: int, n_start: int, sorting: int, needs: StateSizes, islands: Archipelago
) -> IntArray:
    """Return the words of a task with the sizes of a batch, and with nothing else."""
    task = Task()
    record = task.record
    record["n_runs"], record["pop_max"], record["dim"], record["n_start"] = n_runs, pop_max, dim, n_start
    record["reference_rows"] = needs.references
    record["ranked"], record["stages"], record["sorting_size"] = needs.ranked, needs.stages, sorting
    record["memory_size"], record["archive_size"] = needs.memory, needs.archive
    record["n_islands"], record["first_island"] = islands.n_islands, islands.first
    record["migrate_every"], record["migrant_rows"] = islands.every, islands.rows
    record["migrant_route"], record["migrant_choice"] = islands.route, islands.choice
    record["migrant_place"], record["migrant_count"] = islands.place, islands.count
    record["migrant_share"] = islands.share
    return task.words


class Batch(Runs):
    """The state of R runs in the memory of one engine.

    Parameters
    ----------
    spec : Spec
        The spec of the batch.
    xp : module
        The library of the arrays, NumPy or CuPy.
    device_context : callable, default nullcontext
        Returns a context in which the library works on this engine's device. A batch is made in one.

    Attributes
    ----------
    array : dict of str to ndarray
        The arrays by their names in task.cuh.
    task : Task
        The record that the kernels read.
    """

    def __init__(
        self, spec: Spec, xp: Any, device_context: Callable[[], AbstractContextManager[Any]] = nullcontext
    ) -> None:
        super().__init__(spec, xp)
        self.device_context = device_context
        self.task = Task()
        self.record, self.task_address = self.task.record, self.task.address
        self._allocate()
        self.program: Any = None  # the compiled objective in the engine's form
        self.step: Any = None  # the engine's launcher for single steps
        self.started = False  # whether there was a launch on a GPU, which may have used the barriers and words
        self.refresh()

    def _allocate(self) -> None:
        """Allocate the arrays, and pass their addresses and the sizes to the kernels."""
        spec, xp = self.spec, self.xp
        self.kernel = algorithm_entry(spec.algorithm)
        self.number = self.kernel.number
        self.array_names, self.vector_names = state_names(spec)
        self.single = spec.dtype == np.float32
        shapes, self.limits = check_batch_memory(spec, self.n_runs, xp), spec.limits
        values = {name: getattr(spec, name) for name in ("parameters", "lower", "upper", "start")}
        values["seeds"] = spec.seeds.astype(np.uint64, copy=False).view(np.int64)
        values |= {"limit": spec.limits, "generation": np.int64(-1)}
        self.block = Block(shapes, xp, values)
        self.array = BlockArrays(self.block)
        self.device = device_of(self.block.memory)
        self.slots = shapes["history"][0][1]
        self._describe()
        self.task.words[ADDRESSES] = self.block.addresses

    @property
    def stages(self) -> int:
        """The largest number of stages between two generations on a GPU."""
        needs = self.spec.needs
        large = 0 if self.kernel.along_sorting else self.kernel.large_stages or needs.stages
        small, tol = needs.stages, self.spec.tol is not None
        return _cpu.stages_on_gpu(small, large, needs.ranked, needs.sorts, needs.opposition, tol, self.pop_max)

    def _describe(self) -> None:
        """Pass to the kernels the part of the spec that does not change."""
        spec = self.spec
        sizes = self.n_runs, self.pop_max, self.dim, len(spec.start), sorting_size(spec)
        self.task.words[:] = write_sizes(*sizes, spec.needs, spec.islands)

    @cached_property
    def constants(self) -> tuple[tuple[str, int], ...]:
        """The algorithm's constant parameters that are equal in all runs."""
        first = self.spec.parameters[0]
        equal = np.logical_and.reduce(self.spec.parameters == first).tolist()
        columns = [(name, self.kernel.parameters.index(name)) for name in self.spec.constants]
        return tuple([(name, int(first[column])) for name, column in columns if equal[column]])

    def refresh(self) -> None:
        """Pass the limits and the stopping rules of the current spec to the kernels."""
        spec, words, numbers = self.spec, self.task.words, self.task.numbers
        self._grow_history()
        if spec.limits is not self.limits:
            self.limits = spec.limits
            self.put("limit", spec.limits)
        words[PLACES["history_slots"]] = self.slots
        words[PLACES["stagnation"]] = spec.stagnation or 0
        numbers[PLACES["target"]] = -np.inf if spec.target is None else spec.target
        tol = -1.0 if spec.tol is None else spec.tol
        if (tol < 0) != (numbers[PLACES["tol"]] < 0):
            self.step = None  # a tol needs other kernels
        numbers[PLACES["tol"]], numbers[PLACES["atol"]] = tol, spec.atol
        numbers[PLACES["converging"]] = spec.converging
        numbers[PLACES["run_seconds"]] = spec.run_seconds or 0.0
        numbers[PLACES["pause_seconds"]] = spec.pause_seconds

    def replace_array(self, name: str, array: Array) -> None:
        """Let the kernels use another array, of the same dtype, for one of the arrays."""
        self.array[name] = array
        self.record[name] = address(array, field_dtypes(self.spec.dtype)[KINDS[name]], device=self.device)

    def attach(self, arrays: tuple[Array, ...], decoding: Decoding | None = None) -> None:
        """Pass the objective's data to the kernels (arrays of this batch's library and dtype)."""
        self.task.fill_data(arrays, self.spec.dtype, self.device, decoding)
        self.data = arrays, decoding  # keeps them alive

    def _grow_history(self) -> None:
        slots = count_slots(self.spec)
        if slots > self.slots:
            with self.device_context():
                needed = self.n_runs * slots * self.spec.dtype.itemsize
                check_memory(f"the history of {self.n_runs} runs", needed, "set smaller limits", self.xp)
                history = self.xp.zeros((self.n_runs, slots), self.spec.dtype)
                history[:, : self.slots] = self.array["history"]
                self.replace_array("history", history)
                self.slots = slots

    def put(self, name: str, values: Any) -> None:
        """Write one of the arrays, from the host."""
        with self.device_context():
            self.array[name][...] = self.xp.asarray(values)

    def host(self, name: str) -> Any:
        """Return one of the arrays as a NumPy array."""
        return to_numpy(self.array[name])

    @cached_property
    def rows(self) -> tuple[Array, Array]:
        """The rows of both halves of the populations, of shape (R * P, D): trials by row."""
        x = self.array["x"]
        return x[0].reshape(-1, self.dim), x[1].reshape(-1, self.dim)

    def progress(self) -> dict[str, Any]:
        """Return status, generation and seconds of all runs as NumPy arrays, by one copy."""
        with self.device_context():
            return self.block.hosts(*PROGRESS)

    def trials(self, g: int) -> Array:
        """Return a view of the rows of generation g's trials, of shape (R, P, D)."""
        return self.array["x"][g & 1]

    def population(self, run: int) -> tuple[FloatArray, FloatArray]:
        """Return a run's population (P, D) and its values (P,), on the host."""
        generation = self.host("generation")
        half, members = int(generation[run]) & 1, member_rows(self.spec, generation)[run]
        return to_numpy(self.array["x"][half, run])[members], to_numpy(self.array["f"][half, run])[members]

    def points(self, generation: IntArray, runs: IntArray, individuals: IntArray) -> FloatArray:
        """Return positions (n, D), on the host: one of an individual of each of these runs."""
        rows = ((generation[runs] & 1) * self.n_runs + runs) * self.pop_max + individuals
        with self.device_context():
            points: FloatArray = to_numpy(self.array["x"].reshape(-1, self.dim)[self.xp.asarray(rows)])
        return points

    def best(self, generation: IntArray | None = None) -> tuple[IntArray, FloatArray]:
        """Return the row of every run's best individual and its value (NaN where all values are NaN)."""
        generation = self.host("generation") if generation is None else generation
        runs = np.arange(self.n_runs)
        f = self.host("f")[generation & 1, runs]
        values = np.where(member_rows(self.spec, generation), f, np.nan)
        index = (values == np.fmin.reduce(values, axis=1)[:, None]).argmax(axis=1)  # the first of equals
        return index, values[runs, index].astype(np.float64)

    def find_bests(self) -> None:
        """Find the best of each piece of the populations, as the kernels of a GPU do after a generation.

        Sums of the values that the kernels have stored are no longer valid, and are cleared.
        """
        generation, piece = self.host("generation"), CONSTANTS["BEST_PIECE"]
        f = self.host("f")[generation & 1, np.arange(self.n_runs)]
        values = np.where(member_rows(self.spec, generation), f, np.nan)
        bests = [[k + best_of(row[k : k + piece]) for k in range(0, self.pop_max, piece)] for row in values]
        self.put("bests", np.array(bests, np.int64))
        self.put("value_sums", np.zeros(self.array["value_sums"].shape))

    def parameter_values(self, name: str, generation: IntArray) -> FloatArray:
        """Return one of the `adapted` parameters of all rows, of shape (R, P), on the host."""
        both = to_numpy(self.array["extra"][self.array_names.index(name)])
        values: FloatArray = both[generation & 1, np.arange(self.n_runs)]
        return values

    def state(self) -> dict[str, Any]:
        """Return the state for a checkpoint, as NumPy arrays: the current halves and the progress."""
        current = self.host("generation") & 1, np.arange(self.n_runs)
        return {
            name: self.host(name)[*(slice(None),) * halves_axis(name), *current] if name in CURRENT else self.host(name)
            for name in names_in_file(self.spec)
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Continue from what `state` returned."""
        for name in set(names_in_file(self.spec)) - CURRENT - {"history"}:
            self.put(name, saved[name])
        history = self.host("history")
        slots = min(saved["history"].shape[1], history.shape[1])
        history[:, :slots] = saved["history"][:, :slots]
        self.put("history", history)
        # Into both halves, because both have the reference set.
        for name in set(names_in_file(self.spec)) & CURRENT:
            self.put(name, np.expand_dims(saved[name], halves_axis(name)))
        self.find_bests()
        half, runs = saved["generation"] & 1, np.arange(self.n_runs)
        evals = np.zeros((2, self.n_runs), np.int64)
        for back in (0, 1):
            evals[(half - back) & 1, runs] = self.evals(saved["generation"] - back)
        self.put("evals", evals)


def member_rows(spec: Spec, generation: IntArray) -> Any:
    """Return which rows hold the members of every run's population, of shape (R, P).

    These are the rows of trials and, from generation 1 on, the reference set. There are none before generation 0.
    """
    rows, first = np.arange(spec.pop_max), spec.pop_max - spec.needs.references
    begun = list(zip(spec.schedules, generation.tolist(), strict=True))
    sizes = np.array([schedule.size(g) if g >= 0 else 0 for schedule, g in begun])
    members = rows < sizes[:, None]
    if spec.needs.references:
        references = np.array([schedule.references if g > 0 else 0 for schedule, g in begun])
        members |= (rows >= first) & (rows - first < references[:, None])
    return members


def best_of(values: FloatArray) -> int:
    """Return the index of the smallest number, the first of equals; NaN is worse than infinity."""
    smallest = np.flatnonzero(values == np.fmin.reduce(values))
    return int(smallest[0]) if len(smallest) else 0
