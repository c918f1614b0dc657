"""The execution models of a GPU that launch kernels for every generation, and wait for each other between launches.

"kernels": an operator a kernel, which leaves its result in memory for the next (the all-GPU model of Janssen et al.
2024; kernels I, E, P, M, C and R of Qin et al. 2012). "fused": mutation, crossover, evaluation and selection are one
kernel (cudaDE_i of Qin et al. 2012), and the indices of the next generation are drawn in a second stream meanwhile.
"fpde": the operators in the launch shape of FPDE, with which Qin et al. compare.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from skde.constants import CONSTANTS
from skde.engines.gpu.launch_plan import (
    BLOCK,
    LANES,
    Device,
    Occupancy,
    Plan,
    Work,
    choose_team,
    plan_shared_memory,
    resident_blocks,
)
from skde.engines.gpu.nvrtc import Launcher
from skde.engines.state.batch import Batch
from skde.engines.state.batch_arrays import MEMORY_ADVICE
from skde.islands import Step
from skde.typing import Array
from skde.utils.arrays import address
from skde.utils.interrupts import interrupts
from skde.utils.memory import check_memory

# Generations of a recorded graph. The host launches a graph in about the time of one kernel.
RECORDED = 32
GENERATION, OPERATORS = "gpu_generation", "gpu_operators"  # the sources here: of kernels that evaluate, and others
WITH_OPERATORS = ("De", "Jde")  # the kernels that operators.cuh has
PREPARED_BYTES = 48  # of PreparedTrial, which operators.cuh checks
NULL = np.int64(0)
# FPDE's blocks; a multiprocessor holds many of them.
FPDE_THREADS, FPDE_TEAM, FPDE_RESIDENT = 16, "Tile16", 2
# Warps in a block that are tried.
WARPS = (1, 2, 4, 8)

# (source, plan) -> the module of this source, compiled for the plan's team and threads.
CompileFor = Callable[[str, Plan], Any]


def generation_plan(work: Work, device: Device, occupancy: Occupancy) -> Plan:
    """Choose the shape of a launch that makes one generation: a team an individual.

    The lanes of a team depend on the sizes. A block has as many warps as let the machine work on the most individuals
    at once; of equal numbers the fewest, which spread a small population over all multiprocessors. Nothing is staged in
    shared memory but trials and working memory: arrays that every launch would have to copy again are read from the
    caches.
    """
    team, planned = choose_team(work, device)
    counts = WARPS if team == "Warp" else (planned,)
    individuals = work.pop * work.n_runs
    best: tuple[int, Plan] | None = None
    for teams in counts:
        threads, resident = teams * LANES[team], resident_blocks(work, device, team, teams)
        _, trials_shared, _ = plan_shared_memory(work, device, team, teams, resident)
        shared_bytes = teams * (CONSTANTS["BLOCK_BYTES"] if team == "Block" else 0)
        if trials_shared:
            shared_bytes += teams * (1 + work.scratch) * work.dim * work.itemsize
        blocks = -(-work.pop // teams)
        plan = Plan(team, threads, resident, blocks, work.n_runs, 0, trials_shared, shared_bytes)
        held = occupancy(team, threads, resident, trials_shared, shared_bytes)
        at_once = min(individuals, teams * device.multiprocessors * held)
        if best is None or at_once > best[0]:
            best = at_once, plan
        if at_once == individuals:
            break
    assert best is not None
    return best[1]


def operator_plan(plan: Plan) -> Plan:
    """Return the plan of the kernels that evaluate nothing: the same teams, without trials in shared memory."""
    shared_bytes = plan.teams * (CONSTANTS["BLOCK_BYTES"] if plan.team == "Block" else 0)
    return Plan(plan.team, plan.threads, plan.resident, plan.blocks, plan.groups, 0, 0, shared_bytes)


def lane_plan(batch: Batch) -> Plan:
    """Return the plan of a kernel in which each lane has an individual."""
    return Plan("Warp", BLOCK, 1, -(-batch.pop_max // BLOCK), batch.n_runs, 0, 0, 0)


class GenerationLaunches(ABC):
    """The launches that make generations of a batch, one after the other, on two streams.

    Where many generations are to be made, they are recorded as a CUDA graph, and replayed: then the device counts the
    generations.

    Parameters
    ----------
    batch : Batch
        The batch, with the objective's data.
    plan : Plan
        The launch of the kernels that evaluate.
    scratch : int
        Vectors of working memory that the objective needs.
    compile_for : callable
        (source, plan) -> the module.
    """

    def __init__(self, batch: Batch, plan: Plan, scratch: int, compile_for: CompileFor) -> None:
        self.batch = batch
        self.cuda = batch.xp.cuda
        self.has_operators, self.varies = batch.kernel.cpp_type in WITH_OPERATORS, batch.kernel.varies
        self.evaluating = Launcher(compile_for(GENERATION, plan), plan, scratch)
        self.step: Launcher = batch.step
        if self.has_operators:
            operators, lanes = self.operator_plans(plan)
            self.operators = Launcher(compile_for(OPERATORS, operators), operators)
            self.preparing = Launcher(compile_for(OPERATORS, lanes), lanes)
        self.main, self.other = (self.cuda.Stream(non_blocking=True) for _ in range(2))
        self.reached, self.prepared = (self.cuda.Event(disable_timing=True) for _ in range(2))
        self.clock = batch.xp.zeros(1, np.int64)
        self.graph: Any = None
        self.recorded = b""  # the record of the batch that the graph has

    @classmethod
    def plan(cls, work: Work, device: Device, occupancy: Occupancy) -> Plan:
        """Choose the launch of the kernels that evaluate; see `generation_plan`."""
        return generation_plan(work, device, occupancy)

    def operator_plans(self, plan: Plan) -> tuple[Plan, Plan]:
        """Return the launches of the kernels that evaluate nothing, and of the one that draws indices."""
        return operator_plan(plan), lane_plan(self.batch)

    def run(self, begin: int, until: int) -> None:
        """Start generations begin + 1, ..., until of runs that are all at generation `begin`, and judge the last."""
        islands, record = self.batch.spec.islands, self.batch.record
        current = self.cuda.get_current_stream()
        with interrupts.deferred:
            self.order(current, self.main)
            try:
                for start, end in islands.stretches(begin, until):
                    if islands.migrates(start):
                        with self.main:
                            for step in range(Step.JUDGE, Step.REORDER + 1):
                                self.step("migrate", record, np.int64(start), NULL, np.int64(step))
                    self.make(start, end)
                with self.main:
                    self.step("migrate", record, np.int64(until), NULL, np.int64(Step.JUDGE))
            finally:  # whoever reads the batch after an exception waits for what was started
                self.order(self.main, current)

    def make(self, begin: int, end: int) -> None:
        """Launch generations between which no islands migrate: by replays as far as these go."""
        if begin < 0 and end >= 0:  # no graph contains the initial population
            self.launch(begin, 1, NULL)
            begin = 0
        replays = (end - begin) // RECORDED if end - begin >= 2 * RECORDED else 0
        if replays:
            self.record()
            with self.main:
                self.clock.fill(begin)
            for _ in range(replays):
                self.graph.launch(self.main)
            begin += replays * RECORDED
        self.launch(begin, end - begin, NULL)

    def record(self) -> None:
        """Record a graph of RECORDED generations, unless there is one of this batch as it is."""
        if self.batch.task.words.tobytes() == self.recorded:
            return
        for launcher, names in self.kernels():
            for name in names:
                launcher.function(name)
        self.recorded = b""
        self.main.begin_capture()
        try:
            clock = self.address(self.clock)
            self.launch(0, RECORDED, clock)
            with self.main:
                self.evaluating.function("advance")((1,), (1,), (clock, np.int64(RECORDED)))
        finally:
            graph = self.main.end_capture()
        self.graph, self.recorded = graph, self.batch.task.words.tobytes()

    def kernels(self) -> list[tuple[Launcher, tuple[str, ...]]]:
        """Return all kernels, which must be loaded before a recording."""
        launchers: list[tuple[Launcher, tuple[str, ...]]] = [
            (self.step, ("propose", "accept", "end_generation", "migrate")),
            (self.evaluating, ("make", "evaluate", "count", "advance")),
        ]
        if self.has_operators:
            launchers += [(self.operators, ("mutate", "cross")), (self.preparing, ("prepare",))]
        return launchers

    @abstractmethod
    def launch(self, g: int, generations: int, clock: np.int64) -> None:
        """Launch generations g + 1, ..., g + generations; with the address of a clock, g counts from its value."""

    def order(self, first: Any, then: Any) -> None:
        """Let a stream wait for the work that another one has so far."""
        self.reached.record(first)
        then.wait_event(self.reached)

    def end_generation(self, g: np.int64, clock: np.int64) -> None:
        """Launch the stages between generation g and the next."""
        for stage in range(self.batch.stages):
            self.step("end_generation", self.batch.record, g, clock, np.int64(stage))

    def buffer(self, shape: tuple[int, ...], dtype: Any, content: str) -> Array:
        """Allocate memory between two kernels."""
        xp = self.batch.xp
        check_memory(content, int(np.prod(shape)) * np.dtype(dtype).itemsize, MEMORY_ADVICE, xp)
        return xp.empty(shape, dtype)

    def address(self, array: Array) -> np.int64:
        """Return an array's address as a kernel argument."""
        return np.int64(address(array, array.dtype, device=self.batch.device))

    def prepare_trials(self, halves: int) -> list[np.int64]:
        """Allocate memory for the words of the trials of `halves` generations, and return its addresses."""
        size = self.batch.n_runs * self.batch.pop_max * PREPARED_BYTES
        self.words = self.buffer((halves, size), np.uint8, "the random words of trials")
        return [self.address(half) for half in self.words]


class OperatorLaunches(GenerationLaunches):
    """Execution model "kernels": a kernel for each operator.

    For `DE`, `JDE`, `GODE` and `GOJDE`: indices, mutation, crossover, evaluation and selection. For the other
    algorithms the first three are one kernel, which proposes trials. The step driver selects.

    Parameters
    ----------
    batch, plan, scratch, compile_for
        As for `GenerationLaunches`.
    """

    def __init__(self, batch: Batch, plan: Plan, scratch: int, compile_for: CompileFor) -> None:
        super().__init__(batch, plan, scratch, compile_for)
        rows = batch.n_runs * batch.pop_max
        self.values = self.buffer((rows,), batch.spec.dtype, "the values of trials")
        if self.has_operators:
            self.trial_words = self.prepare_trials(1)[0]
            self.mutants = self.buffer((rows, batch.dim), batch.spec.dtype, "the mutants of a generation")

    def launch(self, g: int, generations: int, clock: np.int64) -> None:
        """Launch generations g + 1, ..., g + generations."""
        record, values = self.batch.record, self.address(self.values)
        with self.main:
            for k in range(g + 1, g + generations + 1):
                now = np.int64(k)
                if self.has_operators and k > 0:
                    mutants = self.address(self.mutants)
                    self.preparing("prepare", record, now, clock, self.trial_words)
                    self.operators("mutate", record, now, clock, self.trial_words, mutants)
                    self.operators("cross", record, now, clock, self.trial_words, mutants)
                else:
                    self.step("propose", record, now, clock, NULL)
                self.evaluating("evaluate", record, now, clock, values)
                self.step("accept", record, now, clock, NULL, values)
                self.end_generation(now, clock)


class FpdeLaunches(OperatorLaunches):
    """Execution model "fpde": the operators in blocks of 16 threads.

    A thread an individual, and for evaluation a block an individual, whatever the sizes (Qin et al. 2012, section 3).

    Parameters
    ----------
    batch, plan, scratch, compile_for
        As for `GenerationLaunches`.
    """

    def __init__(self, batch: Batch, plan: Plan, scratch: int, compile_for: CompileFor) -> None:
        super().__init__(batch, plan, scratch, compile_for)
        step = self.operator_plans(plan)[0]
        self.step = Launcher(compile_for("gpu_step", step), step)

    @classmethod
    def plan(cls, work: Work, device: Device, occupancy: Occupancy) -> Plan:
        """Return the launch of the kernel that evaluates: a block an individual."""
        _, trials_shared, _ = plan_shared_memory(work, device, FPDE_TEAM, 1, FPDE_RESIDENT)
        shared_bytes = (1 + work.scratch) * work.dim * work.itemsize if trials_shared else 0
        return Plan(FPDE_TEAM, FPDE_THREADS, FPDE_RESIDENT, work.pop, work.n_runs, 0, trials_shared, shared_bytes)

    def operator_plans(self, plan: Plan) -> tuple[Plan, Plan]:
        """Return the launches of the other kernels: a thread an individual."""
        blocks = -(-self.batch.pop_max // FPDE_THREADS)
        operators = Plan("Tile1", FPDE_THREADS, FPDE_RESIDENT, blocks, self.batch.n_runs, 0, 0, 0)
        return operators, operators


class FusedLaunches(GenerationLaunches):
    """Execution model "fused": mutation, crossover, evaluation and selection in one kernel.

    For `DE`, `JDE`, `GODE` and `GOJDE` the indices of the next generation are drawn in a second stream while the kernel
    works: into one of two buffers, while it reads the other.

    Parameters
    ----------
    batch, plan, scratch, compile_for
        As for `GenerationLaunches`.
    """

    def __init__(self, batch: Batch, plan: Plan, scratch: int, compile_for: CompileFor) -> None:
        super().__init__(batch, plan, scratch, compile_for)
        self.buffers = self.prepare_trials(2) if self.has_operators else [NULL, NULL]

    def launch(self, g: int, generations: int, clock: np.int64) -> None:
        """Launch generations g + 1, ..., g + generations."""
        record = self.batch.record
        if self.has_operators and generations:
            with self.main:
                self.preparing("prepare", record, np.int64(g + 1), clock, self.buffers[1])
        for k in range(1, generations + 1):
            now = np.int64(g + k)
            ahead = self.has_operators and k < generations
            if ahead:
                self.order(self.main, self.other)  # the last generation has read the buffer
                with self.other:
                    self.preparing("prepare", record, now + np.int64(1), clock, self.buffers[(k + 1) & 1])
                self.prepared.record(self.other)
            with self.main:
                self.evaluating("make", record, now, clock, self.buffers[k & 1])
                if self.varies:
                    self.evaluating("count", record, now, clock)
                self.end_generation(now, clock)
            if ahead:
                self.main.wait_event(self.prepared)


MODELS: dict[str, type[GenerationLaunches]] = {
    "kernels": OperatorLaunches,
    "fpde": FpdeLaunches,
    "fused": FusedLaunches,
}
