"""The arrays of a batch of runs, and the record that passes them to the kernels."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

import skde._cpu as _cpu
from skde.arrays import address, device_of, to_numpy
from skde.constants import CONSTANTS
from skde.engines.block import ArrayShapes, Block, BlockArrays
from skde.engines.spec import Spec
from skde.memory import check_memory
from skde.typing import Array, FloatArray, IntArray

MAX_ARRAYS = CONSTANTS["MAX_ARRAYS"]
# The advice of errors about memory.
MEMORY_ADVICE = "take fewer runs, islands, individuals or dimensions, a smaller archive, or dtype='float32'"

# Every field has eight bytes. The extension reports names and order, so that task.cuh alone defines the layout.
KINDS = dict(_cpu.task_fields())
TASK = np.dtype([(name, "f8" if kind == "number" else "i8") for name, kind in KINDS.items()])
DATA_OFFSET = TASK.fields["array0"][1] if TASK.fields else 0


# Arrays in one block with those of the spec: some begin with other values than zero, and the host reads the last three
# often. One copy writes the block, and one reads these three.
SMALL_ARRAYS = ("limit", "status", "generation", "spent")
# Arrays of a checkpoint, in addition to the current populations.
PROGRESS = ("generation", "status", "record", "since", "history", "met")
# Arrays of individuals that are parameters of differential evolution.
ADAPTED = ("F", "CR")
# The axis of the runs in the arrays of a checkpoint, where it is not the first.
RUN_AXIS = {"record": 1, "since": 1, "extra": 1, "vectors": 1, "memory": 1}


class Runs(ABC):
    """The interface of a batch for a Runner: its sizes, and access to its arrays.

    Parameters
    ----------
    spec : Spec
        The spec of the batch.
    xp : module
        NumPy or CuPy.
    """

    monotone = True  # whether the best value of a run never rises

    def __init__(self, spec: Spec, xp: Any) -> None:
        self.spec = spec
        self.xp = xp
        self.n_runs, self.dim = len(spec.seeds), len(spec.lower)
        self.n_islands = spec.islands.n_islands
        self.varies = any(schedule.varies for schedule in spec.schedules)  # whether population sizes change
        self.pop_sizes = spec.parameters[:, 0].astype(np.int64)
        self.pop_max = spec.pop_max

    @abstractmethod
    def refresh(self) -> None:
        """Pass the current spec to the kernels."""

    @abstractmethod
    def put(self, name: str, values: Any) -> None:
        """Write one of the arrays, from the host."""

    @abstractmethod
    def host(self, name: str) -> Any:
        """Return one of the arrays as a NumPy array."""

    def progress(self) -> dict[str, Any]:
        """Return status, generation and seconds (`spent`) of all runs as NumPy arrays."""
        return {name: self.host(name) for name in ("status", "generation", "spent")}

    @abstractmethod
    def population(self, run: int) -> tuple[FloatArray, FloatArray]:
        """Return a run's population (P, D) and its values (P,), on the host."""

    @abstractmethod
    def points(self, generation: IntArray, runs: IntArray, individuals: IntArray) -> FloatArray:
        """Return positions (n, D), on the host: one of an individual of each of these runs, which are in order.

        `generation` is that of all runs.
        """

    @abstractmethod
    def best(self, generation: IntArray | None = None) -> tuple[IntArray, FloatArray]:
        """Return the row of every run's best individual and its value (NaN where all values are NaN).

        `generation` is that of all runs, where it has been read.
        """

    @abstractmethod
    def parameter_values(self, name: str, generation: IntArray) -> FloatArray:
        """Return one of the `adapted` parameters of all rows, of shape (R, P), on the host.

        `generation` is that of all runs.
        """

    @property
    def adapted(self) -> list[str]:
        """The parameters of which every individual has its own, of F and CR."""
        return [name for name in state_names(self.spec)[0] if name in ADAPTED]

    def is_blank(self) -> bool:
        """Whether no run has found a number yet."""
        return bool(np.isnan(self.best()[1]).all())

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Return the state for a checkpoint, as NumPy arrays: the current halves and the progress."""

    @abstractmethod
    def restore(self, saved: dict[str, Any]) -> None:
        """Continue from what `state` returned."""

    def set_limits(self, limits: IntArray) -> None:
        """Set new limits; stopped runs below them run on."""
        self.spec.limits = limits
        self.spec.last = max(self.spec.last, int(limits.max()))
        self.refresh()

    def sizes(self, g: Any) -> IntArray:
        """Return the size of every run's generation g, of shape (R,)."""
        generations = np.broadcast_to(g, self.n_runs)
        return np.array([schedule.size(int(g)) for schedule, g in zip(self.spec.schedules, generations, strict=True)])

    def evals(self, g: Any) -> IntArray:
        """Return every run's evaluations up to the end of generation g, of shape (R,)."""
        generations = np.broadcast_to(g, self.n_runs)
        return np.array([schedule.evals(int(g)) for schedule, g in zip(self.spec.schedules, generations, strict=True)])


class Batch(Runs):
    """The state of R runs in the memory of one engine.

    Parameters
    ----------
    spec : Spec
        The spec of the batch.
    xp : module
        The library of the arrays, NumPy or CuPy.
    device_context : callable, default nullcontext
        Returns a context in which the library works on this engine's device.

    Attributes
    ----------
    array : dict of str to ndarray
        The arrays by their names in task.cuh.
    task : ndarray of shape (1,)
        The record that the kernels read.
    """

    def __init__(
        self, spec: Spec, xp: Any, device_context: Callable[[], AbstractContextManager[Any]] = nullcontext
    ) -> None:
        super().__init__(spec, xp)
        self.device_context = device_context
        self.task = np.zeros(1, TASK)
        self.record = self.task[0]  # the same memory, as a scalar
        self.task_address = address(self.task, TASK, 1)
        with self.device_context():
            self._allocate()
        self.program: Any = None  # the compiled objective in the engine's form
        self.step: Any = None  # the engine's launcher for single steps
        self.refresh()

    def _allocate(self) -> None:
        """Allocate the arrays, and pass their addresses and the sizes to the kernels."""
        spec, xp = self.spec, self.xp
        self.kernel = algorithm_entry(spec.algorithm)
        self.number, self.parameter_names = self.kernel.number, self.kernel.parameters
        self.array_names, self.vector_names = state_names(spec)
        self.single = spec.dtype == np.float32
        self.ordered = spec.needs.ordered
        arrays = array_shapes(spec, self.n_runs)
        check_shapes_memory(arrays, xp)
        self.small = self._small_block({name: arrays.pop(name) for name in SMALL_ARRAYS})
        large = Block(arrays, xp)
        self.array = BlockArrays(self.small, large)
        self.device = device_of(large.memory)
        for name, begin in (self.small.address | large.address).items():
            self.record[name] = begin
        self._describe()

    @cached_property
    def stages(self) -> int:
        """The largest number of stages between two generations on a GPU."""
        needs = self.spec.needs
        sorts, large = needs.ranked or needs.sorts, self.kernel.large_stages or needs.stages
        return _cpu.stages_on_gpu(needs.stages, large, sorts, needs.opposition, self.pop_max)

    def _small_block(self, shapes: ArrayShapes) -> Block:
        """Return the block of SMALL_ARRAYS and of the spec's arrays, with their values."""
        spec = self.spec
        values: dict[str, Any] = {
            "seeds": spec.seeds.astype(np.uint64).view(np.int64),
            "parameters": np.asarray(spec.parameters, np.float64),
            **{name: getattr(spec, name).astype(spec.dtype) for name in ("lower", "upper", "start")},
        }
        shapes = {**{name: (array.shape, array.dtype) for name, array in values.items()}, **shapes}
        values |= {"limit": spec.limits, "generation": np.int64(-1)}
        self.limits = spec.limits
        block = Block(shapes, np)
        for name, array in values.items():
            block.view(name)[...] = array
        block.move_to(self.xp)
        return block

    def _describe(self) -> None:
        """Pass to the kernels the part of the spec that does not change."""
        spec, record, islands = self.spec, self.record, self.spec.islands
        record["n_runs"], record["pop_max"], record["dim"] = self.n_runs, self.pop_max, self.dim
        record["reference_rows"] = spec.needs.references
        record["n_start"] = len(spec.start)
        record["ranked"], record["stages"] = spec.needs.ranked, spec.needs.stages
        record["sorting_size"] = sorting_size(spec)
        record["memory_size"], record["archive_size"] = spec.needs.memory, spec.needs.archive
        record["n_islands"], record["first_island"] = islands.n_islands, islands.first
        record["migrate_every"], record["migrant_rows"] = islands.every, islands.rows
        record["migrant_route"], record["migrant_choice"] = islands.route, islands.choice
        record["migrant_place"], record["migrant_count"] = islands.place, islands.count
        record["migrant_share"] = islands.share

    @cached_property
    def constants(self) -> tuple[tuple[str, int], ...]:
        """The algorithm's constant parameters that are equal in all runs."""
        columns = [(name, self.spec.parameters[:, self.parameter_names.index(name)]) for name in self.spec.constants]
        return tuple((name, int(values[0])) for name, values in columns if (values == values[0]).all())

    def refresh(self) -> None:
        """Pass the limits and the stopping rules of the current spec to the kernels."""
        spec, record = self.spec, self.record
        if spec.limits is not self.limits:
            self.limits = spec.limits
            self.put("limit", spec.limits)
        self._grow_history()
        record["stagnation"] = spec.stagnation or 0
        record["target"] = -np.inf if spec.target is None else spec.target
        record["tol"] = -1.0 if spec.tol is None else spec.tol
        record["run_seconds"] = spec.run_seconds or 0.0
        record["pause_seconds"] = spec.pause_seconds
        record["history_slots"] = self.array["history"].shape[1]

    def replace_array(self, name: str, array: Array) -> None:
        """Let the kernels use another array, of the same dtype, for one of the arrays."""
        self.array[name] = array
        self.record[name] = address(array, read_dtype(KINDS[name], self.spec.dtype), device=self.device)

    def attach(self, arrays: tuple[Array, ...], decoding: Decoding | None = None) -> None:
        """Pass the objective's data to the kernels (arrays of this batch's library and dtype)."""
        fill_data(self.record, arrays, self.spec.dtype, self.device, decoding)
        self.data = arrays, decoding  # keeps them alive

    def _grow_history(self) -> None:
        old, slots = self.array["history"], sampled_slots(self.spec)
        if slots > old.shape[1]:
            with self.device_context():
                needed = self.n_runs * slots * self.spec.dtype.itemsize
                check_memory(f"the history of {self.n_runs} runs", needed, "set smaller limits", self.xp)
                history = self.xp.zeros((self.n_runs, slots), self.spec.dtype)
                history[:, : old.shape[1]] = old
                self.replace_array("history", history)

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
        return self.small.hosts(SMALL_ARRAYS[1], SMALL_ARRAYS[-1])

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

    def parameter_values(self, name: str, generation: IntArray) -> FloatArray:
        """Return one of the `adapted` parameters of all rows, of shape (R, P), on the host."""
        both = to_numpy(self.array["extra"][state_names(self.spec)[0].index(name)])
        values: FloatArray = both[generation & 1, np.arange(self.n_runs)]
        return values

    def state(self) -> dict[str, Any]:
        """Return the state for a checkpoint, as NumPy arrays: the current halves and the progress."""
        half = self.host("generation") & 1
        runs = np.arange(self.n_runs)
        saved = {name: self.host(name) for name in PROGRESS}
        saved["x"], saved["f"] = self.host("x")[half, runs], self.host("f")[half, runs]
        saved |= {name: self.host(name)[:, half, runs] for name in ("extra", "vectors")}
        saved |= {name: self.host(name) for name in ("memory", "archive")}
        if self.ordered:
            saved["order"] = self.host("order")[half, runs]
        return saved

    def restore(self, saved: dict[str, Any]) -> None:
        """Continue from what `state` returned."""
        half, runs = saved["generation"] & 1, np.arange(self.n_runs)
        for name in ("generation", "status", "record", "since", "met", "memory", "archive"):
            self.put(name, saved[name])
        history = self.host("history")
        slots = min(saved["history"].shape[1], history.shape[1])
        history[:, :slots] = saved["history"][:, :slots]
        self.put("history", history)
        # Into both halves, because both have the reference set.
        for name in ("x", "f", *(("order",) if self.ordered else ())):
            self.put(name, saved[name])
        for name in ("extra", "vectors"):
            self.put(name, saved[name][:, None])
        pieces = range(0, self.pop_max, CONSTANTS["BEST_PIECE"])
        values = np.where(member_rows(self.spec, saved["generation"]), saved["f"], np.nan)
        bests = [[k + best_of(f[k : k + CONSTANTS["BEST_PIECE"]]) for k in pieces] for f in values]
        self.put("bests", np.array(bests, np.int64))
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


def read_dtype(kind: str, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype that kernels of a precision read for a field, from its kind as the extension reports it."""
    return {"reals": dtype, "words": np.dtype(np.int64), "numbers": np.dtype(np.float64)}[kind]


INTEGER, NUMBER = np.dtype(np.int64), np.dtype(np.float64)


def array_shapes(spec: Spec, n_runs: int) -> ArrayShapes:
    """Return the arrays of a batch with so many runs of a spec, without those copied from the spec."""
    R, P, D = n_runs, spec.pop_max, len(spec.lower)
    array_names, vector_names = state_names(spec)
    islands = spec.islands
    all_islands = islands.begun(R)
    reals: dict[str, tuple[int, ...]] = {
        "x": (2, R, P, D),
        "f": (2, R, P),
        "extra": (len(array_names), 2, R, P),
        "scratch": (len(algorithm_entry(spec.algorithm).scratch), R, P),
        "vectors": (len(vector_names), 2, R, P, D),
        "archive": (R, spec.needs.archive, D),
        "record": (2, R),
        "history": (R, sampled_slots(spec)),
        "migrants": (all_islands, islands.rows, D),
        "migrant_values": (all_islands, islands.rows),
    }
    words: dict[str, tuple[int, ...]] = {
        "meets": (all_islands,),
        "places": (R, P if islands.rows else 0),
        **{name: (R,) for name in ("status", "met", "limit", "generation", "clock")},
        "arrivals": (R + 1,),
        "since": (2, R),
        "evals": (2, R),
        "order": (2, R, P) if spec.needs.ordered else (2, 1, 1),
        "sorting": (R, sorting_size(spec)),
        "bests": (R, best_pieces(P)),
        "owners": (R, spec.needs.archive if CONSTANTS["COUNTED_BY_CPU"] < P else 0),
    }
    numbers = {"spent": (R, 2), "memory": (2, R, spec.needs.memory)}
    kinds = ((reals, spec.dtype), (words, INTEGER), (numbers, NUMBER))
    return {name: (shape, dtype) for shapes, dtype in kinds for name, shape in shapes.items()}


def sorting_size(spec: Spec) -> int:
    """Return the words that sorting takes for each run: twice those sorted, and those of two sets of samples."""
    most = max(2 * spec.pop_max, spec.islands.n_islands * spec.islands.rows)  # with opposites; migrants of all islands
    samples = 3 * -(-most // CONSTANTS["BUCKET"]) + 2  # sample_words of order.cuh
    return 2 * (most + samples) if most > CONSTANTS["COUNTED_BY_CPU"] else 0


def best_pieces(pop_max: int) -> int:
    """Return the number of pieces into which the kernels divide a population to find its best (run.cuh)."""
    return -(-pop_max // CONSTANTS["BEST_PIECE"])


def size_of(arrays: ArrayShapes) -> int:
    """Return the bytes that arrays take."""
    return sum(math.prod(shape) * dtype.itemsize for shape, dtype in arrays.values())


def check_batch_memory(spec: Spec, n_runs: int, xp: Any = np) -> None:
    """Refuse a batch that does not fit into memory.

    Parameters
    ----------
    spec : Spec
        The spec of its runs.
    n_runs : int
        Number of runs, each island counted.
    xp : module, default numpy
        The library of the arrays.

    Raises
    ------
    MemoryError
        With the memory needed and available.
    """
    check_shapes_memory(array_shapes(spec, n_runs), xp)


def check_shapes_memory(arrays: ArrayShapes, xp: Any) -> None:
    """Refuse the arrays of a batch when they do not fit into memory."""
    _, n_runs, individuals, dim = arrays["x"][0]
    what = f"a batch of {n_runs} populations of {individuals} individuals in {dim} dimensions"
    check_memory(what, size_of(arrays), MEMORY_ADVICE, xp)


def ranges(n: int, parts: int) -> list[tuple[int, int]]:
    """Return the begin and end of consecutive parts of n runs; their sizes differ by one at most."""
    ends = [n * k // parts for k in range(parts + 1)]
    return list(pairwise(ends))


def cut(state: dict[str, Any], begin: int, end: int) -> dict[str, Any]:
    """Return the part of a batch's state for the runs begin ... end - 1."""
    return {name: array[(slice(None),) * run_axis(name) + (slice(begin, end),)] for name, array in state.items()}


def join(states: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the state of a batch from those of its parts."""
    return {name: np.concatenate([state[name] for state in states], run_axis(name)) for name in states[0]}


def run_axis(name: str) -> int:
    """Return the axis of the runs in an array of a state; its name may have a prefix, as "x.extra"."""
    return RUN_AXIS.get(name.rpartition(".")[2], 0)


def best_of(values: FloatArray) -> int:
    """Return the index of the smallest number, the first of equals; NaN is worse than infinity."""
    smallest = np.flatnonzero(values == np.fmin.reduce(values))
    return int(smallest[0]) if len(smallest) else 0


class Kernel(NamedTuple):
    """The kernel of an algorithm: its number and C++ type in all.cuh, and its names of parameters and state.

    Attributes
    ----------
    has_operators : bool
        Whether operators.cuh has it.
    varies : bool
        Whether it may change the size of a population.
    large_stages : int
        The largest number of stages between generations of a large population on a GPU, without sorting; 0: as many as
        for a small one.
    """

    number: int
    cpp_type: str
    parameters: list[str]
    arrays: list[str]
    vectors: list[str]
    scratch: list[str]
    has_operators: bool
    varies: bool
    large_stages: int


@lru_cache
def algorithm_entry(name: str) -> Kernel:
    """Return the kernel of a name."""
    number, cpp_type, *names = _cpu.algorithms()[name]
    parameters, arrays, vectors, scratch = map(split, names)
    return Kernel(number, cpp_type, parameters, arrays, vectors, scratch, *_cpu.algorithm_traits()[name])


def state_names(spec: Spec) -> tuple[list[str], list[str]]:
    """Return the names of the arrays and the vectors of an individual's state, with those of opposition.cuh."""
    kernel, opposition = algorithm_entry(spec.algorithm), spec.needs.opposition
    return kernel.arrays + ["opposite_value"] * opposition, kernel.vectors + ["opposite"] * opposition


def split(names: str) -> list[str]:
    """Return the names in 'a, b'."""
    return [name.strip() for name in names.split(",") if name.strip()]


def sampled_slots(spec: Spec) -> int:
    """Return the number of history slots of a run: up to the end of its last generation's iteration."""
    return _cpu.history_slots(spec.last + spec.iteration - 1) if spec.recorded else 0


class Decoding(NamedTuple):
    """The table and the number of an objective's typed variables and, on the CPU, the address of its function."""

    table: Array
    n: int
    function: int = 0


def fill_data(
    task: Any, arrays: tuple[Array, ...], dtype: Any, device: int | None, decoding: Decoding | None = None
) -> None:
    """Write the addresses and sizes of the objective's arrays into a task, and its typed variables."""
    if decoding is not None:
        task["variables"] = address(decoding.table, dtype, device=device)
        task["n_variables"], task["function"] = decoding.n, decoding.function
    for k in range(MAX_ARRAYS):
        task[f"array{k}"] = address(arrays[k], dtype, device=device) if k < len(arrays) else 0
        task[f"size{k}"] = arrays[k].size if k < len(arrays) else 0
