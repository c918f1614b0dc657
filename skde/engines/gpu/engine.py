"""The GPU engine: the kernels of gpu_*.cu, compiled at run time through CuPy, on CuPy arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from functools import lru_cache
from threading import Lock
from typing import Any

import numpy as np

from skde.engines.decoded_game import DecodedGame, variables_of_sides
from skde.engines.game import Game, opponent_task
from skde.engines.gpu.current_device import CurrentDevice
from skde.engines.gpu.graph_replay import sizes_vary
from skde.engines.gpu.graphs import Recording, record_generation
from skde.engines.gpu.launch_plan import (
    MANY_WITH_STAGES,
    STEP_TEAMS,
    STEP_THREADS,
    Device,
    Plan,
    Work,
    blocks_for,
    is_large_trial,
    make_launch_plan,
    plan_shared_memory,
    step_plan,
)
from skde.engines.gpu.nvrtc import (
    ROOM,
    TRIALS_SHARED,
    Kernels,
    Launcher,
    blocks_per_multiprocessor,
    coevolution_switches,
    compile_module,
    game_options,
    kernel_options,
    kernels_of,
    load_function,
    mark_switches,
)
from skde.engines.gpu.row_evaluator import RowEvaluator
from skde.engines.state.batch import Batch
from skde.engines.state.batch_arrays import MEMORY_ADVICE, check_batch_memory
from skde.engines.state.coevolution import Coevolution
from skde.engines.state.coevolution_arrays import check_coevolution_memory
from skde.engines.state.coevolution_spec import CoevolutionSpec
from skde.engines.state.spec import CHUNK_SECONDS, Compiled, Spec
from skde.engines.state.task import Decoding
from skde.islands import Step
from skde.typing import Array
from skde.utils.arrays import address, contiguous, device_of
from skde.utils.interrupts import interrupts
from skde.utils.memory import check_memory
from skde.variables import Variables

NULL = np.int64(0)
WHOLE = nullcontext()  # around one launch, which Ctrl-C cannot divide


class CudaEngine:
    """Runs batches on one GPU.

    Parameters
    ----------
    device : int, default 0
        The GPU's number.

    Raises
    ------
    RuntimeError
        When CuPy is missing or finds no such GPU.
    """

    chunk_seconds = CHUNK_SECONDS
    even = False

    def __init__(self, device: int = 0) -> None:
        import cupy

        self.xp: Any = cupy
        self.device = device
        self.name = f"cuda:{device}"
        properties = cupy.cuda.runtime.getDeviceProperties(device)
        self.description = str(properties["name"].decode())
        self.machine = Device(properties["multiProcessorCount"], properties["sharedMemPerBlockOptin"])
        self.exclusive = Lock()
        self._loading: dict[Kernels, Lock] = {}  # so that only one thread compiles a kernel
        self._program = lru_cache(maxsize=256)(self._make_program)

    @property
    def device_context(self) -> CurrentDevice:
        """A context in which this GPU is the current one: a new object each time, which stores the previous GPU."""
        return CurrentDevice(self.xp.cuda.runtime, self.device)

    @property
    def threads(self) -> int:
        """Number of threads on the host."""
        return 1

    def use_own_stream(self) -> None:
        """Give the calling thread its own stream, so that it does not wait for the work of other threads."""
        self.xp.cuda.runtime.setDevice(self.device)
        self.xp.cuda.Stream(non_blocking=True).use()

    def apply(self, work: Callable[[Any], Any]) -> Any:
        """Return work(cupy), called on this GPU."""
        with self.device_context:
            return work(self.xp)

    def check_memory(self, spec: Spec, n_runs: int) -> None:
        """Refuse a batch of n_runs runs of a spec when the GPU has no memory for it."""
        with self.device_context:
            check_batch_memory(spec, n_runs, self.xp)

    def batch(self, spec: Spec) -> Batch:
        """Allocate a batch on the GPU."""
        with self.device_context:
            return Batch(spec, self.xp, lambda: self.device_context)

    def load(self, batch: Batch, objective: Compiled) -> None:
        """Make a batch ready to run a compiled objective: plan the launch, compile, upload the data."""
        with self.device_context:
            # One more team adapts the parameters between generations while the others work on individuals.
            work = self._attach(batch, objective, batch.pop_max + int(batch.spec.needs.stages > 0))
            batch.program = self._program(kernels_of(batch).with_objective(objective), work)
            self._make_workspace(batch, batch.program.plan, workspace_vectors(objective, batch) * batch.dim)

    def _make_program(self, kernels: Kernels, work: Work) -> Launcher:
        """Return the launcher of the persistent driver for a batch of these sizes, compiled."""

        def module(team: str, threads: int, resident: int, trials_shared: int) -> Any:
            return self._module("gpu_run", kernels, team, threads, resident, trials_shared)

        def occupancy(team: str, threads: int, least: int, trials_shared: int, shared_bytes: int) -> int:
            return blocks_per_multiprocessor(module(team, threads, least, trials_shared), "run", threads, shared_bytes)

        with self._loading.setdefault(kernels, Lock()):
            plan = make_launch_plan(work, self.machine, occupancy)
        program = module(plan.team, plan.threads, plan.resident, plan.trials_shared)
        return Launcher(program, plan, work.vectors(max(plan.trials_shared, 1)))

    def _attach(self, batch: Batch, objective: Compiled, teams: int) -> Work:
        """Upload an objective's data, and return the sizes for a plan with `teams` teams for a run."""
        arrays, needs = self._upload(objective, batch.spec.dtype), batch.spec.needs
        batch.attach(arrays, self._decoding(objective, batch.spec.dtype))
        divides = batch.kernel.large_stages > 0
        # Else one team does the work of a run, and should have many lanes. An algorithm that sorts by itself has warps,
        # too, where trials are large: blocks were not measured.
        is_many = (divides or needs.opposition) and batch.pop_max >= MANY_WITH_STAGES
        has_small_teams = is_many and not (needs.sorts and is_large_trial(batch.dim, batch.spec.dtype.itemsize))
        return Work(
            batch.dim,
            teams,
            batch.n_runs,
            objective.scratch,
            tuple(array.size for array in arrays),
            batch.spec.dtype.itemsize,
            has_stages=needs.stages > 0,
            divides=divides,
            has_tiles=has_small_teams or not needs.stages,
            has_vectors=bool(batch.kernel.vectors),
            repeated=count_repeated_vectors(objective, batch),
        )

    def _make_workspace(self, batch: Batch, plan: Plan, length: int) -> None:
        """Allocate `length` numbers for each team, where a plan has no room for them in shared memory."""
        if not plan.trials_shared:
            size = max(1, plan.grid * plan.teams * length)
            check_memory("the scratch of the GPU's teams", size * batch.spec.dtype.itemsize, MEMORY_ADVICE, self.xp)
            batch.replace_array("workspace", self.xp.empty(size, batch.spec.dtype))

    def run(self, batch: Batch, begin: int, until: int) -> None:
        """Start whole generations up to number `until`, from `begin`, where the runs furthest behind are.

        `synchronize` waits for their end.
        """
        with self.device_context:
            self._prepare_launch(batch)
            batch.program("run", batch.record, np.int64(begin), np.int64(until))

    def _prepare_launch(self, batch: Batch) -> None:
        """Set what a persistent launch counts and joins to zero, as it is in a batch before its first launch."""
        if batch.started:
            batch.block.clear("arrivals")
            batch.block.clear("best_words")
        batch.started = True

    def _steps(self, batch: Batch) -> Launcher:
        """Return the launcher of a batch for single steps, which the first of them makes."""
        batch.started = True
        if batch.step is None:
            plan = step_plan(batch.pop_max, batch.n_runs, self.machine)
            module = self._module("gpu_step", kernels_of(batch), plan.team, plan.threads, plan.resident)
            batch.step = Launcher(module, plan)
        launcher: Launcher = batch.step
        return launcher

    def judge(self, batch: Batch, g: int) -> None:
        """Judge the end of generation g, for the runs that are at it."""
        self.migrate(batch, g, Step.JUDGE)

    def propose(self, batch: Batch, g: int) -> None:
        """Judge the end of generation g - 1 and make the trials of generation g."""
        with self.device_context:
            if batch.spec.islands.migrates(g - 1):
                with interrupts.fit, interrupts.deferred:
                    for step in range(Step.JUDGE, Step.REORDER + 1):
                        self.migrate(batch, g - 1, step)
            self._steps(batch)("propose", batch.record, np.int64(g), NULL, NULL)

    def migrate(self, batch: Batch, g: int, step: int) -> None:
        """Do one step of the migration between islands after generation g."""
        with self.device_context:
            self._steps(batch)("migrate", batch.record, np.int64(g), NULL, np.int64(step))

    def accept(self, batch: Batch, g: int, trials: Array | None, f: Array) -> None:
        """Select between parents and trials (None: those proposed) by the trials' values f, of shape (R, P)."""
        with self.device_context, interrupts.fit, interrupts.deferred if batch.stages else WHOLE:
            n, dtype = batch.n_runs * batch.pop_max, batch.spec.dtype
            where = NULL if trials is None else self._address(trials, dtype, n * batch.dim)
            steps = self._steps(batch)
            steps("accept", batch.record, np.int64(g), NULL, where, self._address(f, dtype, n))
            for stage in range(batch.stages):
                steps("end_generation", batch.record, np.int64(g), NULL, np.int64(stage))

    def record(self, batch: Batch, g: int, values: Callable[[Array], Array]) -> Recording:
        """Record one generation, the objective included; see `record_generation`."""
        with self.device_context:
            self._steps(batch)
            return record_generation(self.xp, batch, g, values)

    def evaluate(self, objective: Compiled, x: Array) -> Array:
        """Return the values of the rows of x, an (n, d) array on this GPU."""
        with self.device_context:
            return self.row_evaluator(objective, x.shape, x.dtype).values(x)

    def row_evaluator(self, objective: Compiled, shape: tuple[int, int], dtype: np.dtype[Any]) -> RowEvaluator:
        """Return an objective that is ready for arrays of a shape on this GPU, with its data there."""
        with self.device_context:
            n, dim = shape
            arrays = self._upload(objective, dtype)
            sizes = tuple(array.size for array in arrays)
            work = Work(dim, n, 1, objective.scratch, sizes, dtype.itemsize)
            staged, trials_shared, shared_bytes = plan_shared_memory(work, self.machine, "Warp", STEP_TEAMS)
            staged &= ~1  # evaluation needs no bounds
            blocks = blocks_for(n, STEP_TEAMS, self.machine)
            plan = Plan("Warp", STEP_THREADS, 1, blocks, 1, staged, trials_shared, shared_bytes)
            kernels = Kernels(dtype).with_objective(objective)
            module = self._module("gpu_evaluate", kernels, plan.team, plan.threads, 1, trials_shared)
            data = arrays, self._decoding(objective, dtype)
            return RowEvaluator(self.xp, self.device, data, Launcher(module, plan, objective.scratch), shape, dtype)

    def decode(self, variables: Variables, x: Array) -> Array:
        """Return the values of typed variables at the rows of x, an (n, d) array on this GPU."""
        with self.device_context:
            (rows, dim), n = x.shape, len(variables)
            values = self.xp.empty((rows, n), x.dtype)
            module = self._module("gpu_decode", Kernels(x.dtype), "Warp", STEP_THREADS, 1)
            blocks = blocks_for(rows * n, STEP_THREADS, self.machine)
            table = self._address(self._table(variables, x.dtype), x.dtype, len(variables.table))
            points, out = self._address(x, x.dtype, rows * dim), self._address(values, x.dtype, rows * n)
            arguments = (points, np.int64(rows), np.int64(dim), table, np.int64(n), out)
            load_function(module, "decode", 0)((blocks,), (STEP_THREADS,), arguments)
            return values

    def _table(self, variables: Variables, dtype: np.dtype[Any]) -> Array:
        """Return the table of variables on this GPU. It is copied once: CUDA graphs need a fixed address."""
        key = self.device, dtype.name
        if key not in variables.uploaded:
            variables.uploaded[key] = self.xp.asarray(variables.table_of(dtype))
            self.xp.cuda.get_current_stream().synchronize()  # the streams of other threads may read it at once
        return variables.uploaded[key]

    def _decoding(self, objective: Compiled, dtype: np.dtype[Any]) -> Decoding | None:
        """Return the typed variables of an objective; None where it has none."""
        return self._decoding_of(objective.decoded_variables, dtype)

    def _decoding_of(self, variables: Variables | None, dtype: np.dtype[Any]) -> Decoding | None:
        return None if variables is None else Decoding(self._table(variables, dtype), len(variables))

    def coevolution(self, spec: CoevolutionSpec) -> Coevolution:
        """Allocate a co-evolution on the GPU."""
        with self.device_context:
            check_coevolution_memory(spec, self.xp)
            return Coevolution(spec, self.xp, self.batch(spec.x), self.batch(spec.y), lambda: self.device_context)

    def load_game(self, batch: Coevolution, game: Game | DecodedGame) -> None:
        """Make a co-evolution ready to run a compiled game: plan the launch, compile, upload the data."""
        with self.device_context:
            dtype = batch.spec.dtype
            x, y = (self._decoding_of(side, dtype) for side in variables_of_sides(game))
            batch.x.attach(self._upload(game, dtype), x)
            batch.y.attach((), y)
            dim = max(batch.x.dim, batch.y.dim)
            algorithms = (batch.x.spec.algorithm, batch.y.spec.algorithm)
            # The kernels of both sides share one definition of a constant.
            constants = tuple(sorted(set(batch.x.constants) & set(batch.y.constants)))
            needs = batch.x.spec.needs | batch.y.spec.needs
            switches = coevolution_switches(batch)
            pop = max(batch.x.pop_max, 0 if batch.coevolution_spec.updates else batch.y.pop_max) + int(needs.stages > 0)
            # A lane works on one component or one opponent: the larger of the two numbers decides the lanes of a team.
            work = Work(
                max(dim, batch.opponents),
                pop,
                batch.n_runs,
                game.scratch,
                (),
                batch.spec.dtype.itemsize,
                has_tiles=False,
            )

            def module(team: str, threads: int, resident: int, trials_shared: int) -> Any:
                needed = (*switches, TRIALS_SHARED) if trials_shared else switches
                options = game_options(batch.spec.dtype, team, threads, resident, game, algorithms, constants, needed)
                return compile_module(self.device, "gpu_cycles", options)

            def occupancy(team: str, threads: int, least: int, trials_shared: int, shared_bytes: int) -> int:
                return blocks_per_multiprocessor(
                    module(team, threads, least, trials_shared), "cycles", threads, shared_bytes
                )

            plan = make_launch_plan(work, self.machine, occupancy)
            shape = plan.team, plan.threads, plan.resident
            batch.program = Launcher(module(*shape, plan.trials_shared), plan, game.scratch)
            self._make_workspace(batch, plan, game.scratch * dim)

    def cycles(self, batch: Coevolution, until: int) -> None:
        """Start whole cycles up to number `until`; `synchronize` waits for their end."""
        with self.device_context:
            self._prepare_launch(batch)
            for side in (batch.x, batch.y):
                side.block.clear("best_words")
            records = (batch.x.record, batch.y.record, batch.record)
            batch.program("cycles", batch.fields[0], *records, np.int64(until))

    def coevolution_step(self, batch: Coevolution, c: int, phase: int, values: Array | None) -> None:
        """Do one phase of cycle c with the values of its request, of shape (R, n, m)."""
        with self.device_context:
            if batch.phase_program is None:
                plan = step_plan(max(batch.x.pop_max, batch.opponents), batch.n_runs, self.machine)
                switches = coevolution_switches(batch)
                options = game_options(batch.spec.dtype, "Warp", plan.threads, 1, switches=switches)
                batch.phase_program = Launcher(compile_module(self.device, "gpu_coevolution", options), plan)
            batch.started = True
            records = (batch.x.record, batch.y.record, batch.record)
            where, shape = NULL, (0, 0)
            if values is not None:
                where, shape = self._address(values, batch.spec.dtype, values.size), values.shape[1:]
            numbers = (np.int64(c), np.int64(phase), where, *map(np.int64, shape))
            batch.phase_program("step", batch.fields[0], *records, *numbers)

    def matrix(self, game: Game, X: Array, Y: Array) -> Array:
        """Return the game's values of the rows of X against the rows of Y, of shape (n, m)."""
        with self.device_context:
            f = self.xp.empty((len(X), len(Y)), X.dtype)
            task, alive = opponent_task(game, X, Y, self.xp)
            plan = step_plan(len(X), 1, self.machine)
            options = game_options(X.dtype, "Warp", plan.threads, 1, game)
            launcher = Launcher(compile_module(self.device, "gpu_coevolution", options), plan)
            n, dim = X.shape
            launcher("matrix", task.record, self._address(X, f.dtype, n * dim), np.int64(n), np.int64(dim), f)
            del alive
            return f

    def trials(self, batch: Batch, g: int) -> Array:
        """Return a copy of the trials of generation g, of shape (R * P, D)."""
        with self.device_context:
            out = self.xp.empty((batch.n_runs * batch.pop_max, batch.dim), batch.spec.dtype)
            self.copy_array(out, batch.rows[g & 1])
            return out

    def copy_array(self, target: Array, source: Array) -> None:
        """Copy a contiguous array into another, by a memory copy, which starts faster than a kernel.

        The work that writes a source on another GPU has to be complete, or followed.
        """
        address(target, target.dtype, device=self.device)
        address(source, target.dtype, target.size, device_of(source))
        with self.device_context:
            target.data.copy_from_device_async(source.data, source.nbytes, self.xp.cuda.get_current_stream())

    def mark(self) -> Any:
        """Return a mark of the work on the current stream."""
        with self.device_context:
            event = self.xp.cuda.Event(disable_timing=True)
            event.record(self.xp.cuda.get_current_stream())
            return event

    def follow(self, marks: Iterable[Any]) -> None:
        """Let later work on the current stream wait for the work before some marks, which may be of other GPUs."""
        with self.device_context:
            for mark in marks:
                self.xp.cuda.get_current_stream().wait_event(mark)

    def synchronize(self) -> None:
        """Wait for all work on the current stream."""
        with self.device_context:
            self.xp.cuda.get_current_stream().synchronize()

    def _address(self, array: Array, dtype: np.dtype[Any], size: int) -> np.int64:
        """Return an array's address as a kernel argument."""
        return np.int64(address(array, dtype, size, self.device))

    def _upload(self, objective: Compiled | Game | DecodedGame, dtype: np.dtype[Any]) -> tuple[Array, ...]:
        return tuple(self.xp.asarray(contiguous(np.asarray(array), dtype)) for array in objective.arrays)

    def _module(
        self,
        source: str,
        kernels: Kernels,
        team: str,
        threads: int,
        resident: int,
        trials_shared: int = 0,
    ) -> Any:
        options = kernel_options(kernels, team, threads, resident, trials_shared)
        return compile_module(self.device, source, options)


def workspace_vectors(objective: Compiled, batch: Batch) -> int:
    """Return the vectors of a team in the workspace, if it has none in shared memory: scratch, and room for a trial."""
    return objective.scratch + (ROOM in mark_switches(batch))


def count_repeated_vectors(objective: Compiled, batch: Batch) -> int:
    """Return the vectors of working memory that each of several trials needs; 0 where a team evaluates one at a time.

    That is so for an objective without a matrix, and where population sizes differ: else places without a trial would
    be evaluated, too.
    """
    return 0 if sizes_vary(batch) else objective.repeated
