"""The CPU engine: the compiled drivers of skde._cpu on NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from types import ModuleType
from typing import Any

import numpy as np

import skde._cpu as _cpu
from skde.constants import CONSTANTS
from skde.engines.decoded_game import DecodedGame, variables_of_sides
from skde.engines.game import Game, opponent_task
from skde.engines.state.batch import Batch
from skde.engines.state.batch_arrays import check_batch_memory
from skde.engines.state.coevolution import Coevolution
from skde.engines.state.coevolution_arrays import check_coevolution_memory
from skde.engines.state.coevolution_spec import CoevolutionSpec
from skde.engines.state.spec import CHUNK_SECONDS, Compiled, Spec
from skde.engines.state.task import WORD, Decoding, Task
from skde.engines.threads import COMPONENTS_WORTH_THREADS, limit_team, team_size
from skde.islands import Step
from skde.typing import Array, FloatArray
from skde.utils.arrays import address, array_view, begin_of, contiguous
from skde.utils.memory import check_memory
from skde.variables import Variables

WORKER_BYTES = CONSTANTS["WORKER_BYTES"]  # of a thread for every component or individual, in addition to scratch
# JAX takes an array of the CPU without a copy where it begins at a multiple of these bytes. A copy of fewer than
# LARGE_COPY bytes takes a few microseconds.
SHARED_ALIGNMENT, LARGE_COPY = 64, 2**16
COMPONENTS_WORTH_SHARING = CONSTANTS["COMPONENTS_WORTH_SHARING"]  # with fewer, a call uses one thread


class CpuEngine:
    """Runs batches on the processor's cores.

    Threads take whole runs first. They share the individuals of one run only where a population is large enough to gain
    from it. Results do not depend on the number of threads. A process that was forked after OpenMP had started threads
    uses one thread.

    Parameters
    ----------
    n_jobs : int or None, default None
        Threads. None: as many as OpenMP gives (OMP_NUM_THREADS, threadpoolctl); negative: counted from the number of
        cores, as in joblib (-1 is all of them).
    """

    name = "cpu"
    xp: ModuleType = np
    device_context: AbstractContextManager[Any] = nullcontext()
    exclusive: AbstractContextManager[Any] = nullcontext()
    chunk_seconds = CHUNK_SECONDS
    even = False

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_jobs = n_jobs

    @property
    def threads(self) -> int:
        """The number of threads that the next call may use."""
        if self.n_jobs is None:
            return int(_cpu.max_threads())
        import joblib

        return max(1, int(joblib.effective_n_jobs(self.n_jobs)))

    def _team(self, batch: Batch) -> int:
        """Return the number of threads for a call that runs whole generations."""
        return team_size(self.threads, batch.n_runs, batch.pop_max, batch.dim)

    def _step_team(self, batch: Batch) -> int:
        """Return the number of threads for a call that does a part of one generation."""
        small = batch.n_runs * batch.pop_max * batch.dim < COMPONENTS_WORTH_THREADS
        return 1 if small else self._team(batch)

    def _cycle_team(self, batch: Coevolution) -> int:
        """Return the number of threads for a call that works on both sides of a co-evolution."""
        individuals = max(batch.x.pop_max, batch.y.pop_max, batch.max_opponents)
        return team_size(self.threads, batch.n_runs, individuals, max(batch.x.dim, batch.y.dim, batch.features))

    def _phase_team(self, batch: Coevolution) -> int:
        """Return the number of threads for a call that does a part of one cycle."""
        small = batch.n_runs * batch.x.pop_max * batch.max_opponents < COMPONENTS_WORTH_THREADS
        return 1 if small else self._cycle_team(batch)

    def _row_team(self, components: int) -> int:
        """Return the number of threads for a call that evaluates rows; `components` counts all rows'."""
        return 1 if components < COMPONENTS_WORTH_SHARING else limit_team(self.threads)

    def use_own_stream(self) -> None:
        """Do nothing: threads on the CPU are independent."""

    def apply(self, work: Callable[[Any], Any]) -> Any:
        """Return work(numpy)."""
        return work(self.xp)

    def check_memory(self, spec: Spec, n_runs: int) -> None:
        """Refuse a batch of n_runs runs of a spec when there is no memory for it."""
        check_batch_memory(spec, n_runs)

    def batch(self, spec: Spec) -> Batch:
        """Allocate a batch."""
        return Batch(spec, np)

    def load(self, batch: Batch, objective: Compiled) -> None:
        """Make a batch ready to run a compiled objective."""
        batch.attach(data_of(objective, batch.spec.dtype), decoding_of(objective, batch.spec.dtype))
        scratch = objective.scratch
        self._check_scratch(scratch, max(batch.dim, batch.pop_max), batch.spec.dtype)
        batch.program = objective.cpu_address(batch.single), scratch

    def _check_scratch(self, scratch: int, length: int, dtype: np.dtype[Any]) -> None:
        """Refuse an objective when there is no memory for the threads' scratch vectors."""
        threads = self.threads
        needed = threads * length * ((scratch + 1) * dtype.itemsize + WORKER_BYTES)
        check_memory(f"working memory of {threads} threads", needed, "take a smaller n_jobs, or less scratch")

    def run(self, batch: Batch, begin: int, until: int) -> None:
        """Run whole generations up to number `until`, from `begin`, where the runs furthest behind are."""
        _cpu.run(batch.number, batch.single, batch.task_address, begin, until, self._team(batch), *batch.program)

    def judge(self, batch: Batch, g: int) -> None:
        """Judge the end of generation g, for the runs that are at it."""
        self.migrate(batch, g, Step.JUDGE)

    def propose(self, batch: Batch, g: int) -> None:
        """Judge the end of generation g - 1 and make the trials of generation g."""
        _cpu.propose(batch.number, batch.single, batch.task_address, g, self._step_team(batch))

    def accept(self, batch: Batch, g: int, trials: Array | None, f: Array) -> None:
        """Select between parents and trials (None: those proposed) by the trials' values f, of shape (R, P)."""
        n, dtype = batch.n_runs * batch.pop_max, batch.spec.dtype
        where = 0 if trials is None else address(trials, dtype, n * batch.dim)
        values, team = address(f, dtype, n), self._step_team(batch)
        _cpu.accept(batch.number, batch.single, batch.task_address, g, where, values, team)

    def migrate(self, batch: Batch, g: int, step: int) -> None:
        """Do one step of the migration between islands after generation g."""
        _cpu.migrate(batch.number, batch.single, batch.task_address, g, step, self._step_team(batch))

    def evaluate(self, objective: Compiled, x: FloatArray) -> FloatArray:
        """Return the values of the rows of x, an (n, d) array."""
        f = np.empty(len(x), x.dtype)
        arrays, decoding = data_of(objective, x.dtype), decoding_of(objective, x.dtype)
        task = Task()
        task.fill_data(arrays, x.dtype, None, decoding)
        single = x.dtype == np.float32
        n, dim = x.shape
        scratch = objective.scratch
        self._check_scratch(scratch, dim, x.dtype)
        _cpu.evaluate(
            single,
            objective.cpu_address(single),
            scratch,
            task.data_address,
            address(x, real_dtype(single), n * dim),
            n,
            dim,
            address(f, x.dtype, n),
            self._row_team(n * dim),
        )
        return f

    def decode(self, variables: Variables, x: FloatArray) -> FloatArray:
        """Return the values of typed variables at the rows of x, an (n, d) array."""
        values = np.empty((len(x), len(variables)), x.dtype)
        table = variables.table_of(x.dtype)
        single, (rows, dim), n = x.dtype == np.float32, x.shape, len(variables)
        where = address(x, real_dtype(single)), address(table, x.dtype), address(values, x.dtype)
        _cpu.decode(single, where[0], rows, dim, where[1], n, where[2])
        return values

    def coevolution(self, spec: CoevolutionSpec) -> Coevolution:
        """Allocate a co-evolution."""
        check_coevolution_memory(spec)
        return Coevolution(spec, np, self.batch(spec.x), self.batch(spec.y))

    def load_game(self, batch: Coevolution, game: Game | DecodedGame) -> None:
        """Make a co-evolution ready to run a compiled game."""
        dtype = batch.spec.dtype
        x, y = (decoding_of_variables(side, dtype) for side in variables_of_sides(game))
        batch.x.attach(data_of(game, dtype), x)
        batch.y.attach((), y)
        batch.program = game.number

    def cycles(self, batch: Coevolution, until: int) -> None:
        """Run whole cycles up to number `until`."""
        team = self._cycle_team(batch)
        _cpu.cycles(batch.x.number, batch.y.number, batch.program, batch.single, *batch.addresses, until, team)

    def coevolution_step(self, batch: Coevolution, c: int, phase: int, values: FloatArray | None) -> None:
        """Do one phase of cycle c with the values of its request, of shape (R, n, m)."""
        where, n, m = (0, 0, 0) if values is None else (address(values, batch.spec.dtype), *values.shape[1:])
        _cpu.coevolution_step(batch.single, *batch.addresses, c, phase, where, n, m, self._phase_team(batch))

    def matrix(self, game: Game, X: FloatArray, Y: FloatArray) -> FloatArray:
        """Return the game's values of the rows of X against the rows of Y, of shape (n, m)."""
        f = np.empty((len(X), len(Y)), X.dtype)
        task, alive = opponent_task(game, X, Y, np)
        single = X.dtype == np.float32
        n, dim = X.shape
        data, where = task.data_address, address(X, real_dtype(single), n * dim)
        team = self._row_team(n * len(Y) * dim)
        _cpu.matrix(game.number, single, data, where, n, dim, address(f, X.dtype, n * len(Y)), team)
        del alive
        return f

    def trials(self, batch: Batch, g: int) -> FloatArray:
        """Return a copy of the trials of generation g, of shape (R * P, D)."""
        return shareable_copy(batch.rows[g & 1])

    def copy_array(self, target: FloatArray, source: FloatArray) -> None:
        """Copy an array into another of the same shape."""
        np.copyto(target, source)

    def mark(self) -> None:
        """Return a mark of the work that was started: nothing, because calls return when the work is done."""

    def follow(self, marks: Iterable[None]) -> None:
        """Do nothing, for the same reason."""

    def synchronize(self) -> None:
        """Do nothing, for the same reason."""


def shareable_copy(array: FloatArray) -> FloatArray:
    """Return a copy which, where it is large, begins at a multiple of SHARED_ALIGNMENT."""
    if array.nbytes < LARGE_COPY:
        return array.copy()
    memory = np.empty(array.nbytes + SHARED_ALIGNMENT, np.uint8)
    copied: FloatArray = array_view(memory, -begin_of(memory) % SHARED_ALIGNMENT, array.shape, array.dtype)
    np.copyto(copied, array)
    return copied


def data_of(objective: Compiled | Game | DecodedGame, dtype: np.dtype[Any]) -> tuple[FloatArray, ...]:
    """Return the objective's arrays in the precision of the batch; words of 64 bits keep their bits."""
    arrays = map(np.asarray, objective.arrays)
    return tuple(array.view(dtype) if array.dtype == WORD else contiguous(array, dtype) for array in arrays)


def decoding_of(objective: Compiled, dtype: np.dtype[Any]) -> Decoding | None:
    """Return the typed variables of an objective; None where it has none."""
    variables = objective.decoded_variables
    if variables is None:
        return None
    return Decoding(variables.table_of(dtype), len(variables), objective.value_address(dtype == np.float32))


def decoding_of_variables(variables: Variables | None, dtype: np.dtype[Any]) -> Decoding | None:
    """Return the typed variables of one side of a game, where the kernels know its function."""
    return None if variables is None else Decoding(variables.table_of(dtype), len(variables))


def real_dtype(single: bool) -> np.dtype[Any]:
    """Return the dtype that the compiled functions of a precision read."""
    return np.dtype(np.float32 if single else np.float64)
