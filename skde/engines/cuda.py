"""The GPU engine: the kernels of gpu_*.cu, compiled at run time through CuPy, on CuPy arrays."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from skde.engines.batch import TASK, Batch, Compiled, Spec, algorithm_entry, fill_data
from skde.engines.plan import BLOCK, WARP, Device, Plan, Work, make_plan, shared_memory
from skde.typing import Array

KERNELS = Path(__file__).resolve().parent.parent / "kernels"
# The Plan of gpu.cuh.
PLAN = np.dtype([("blocks", "i8"), ("staged", "i8"), ("roomy", "i8"), ("scratch", "i8")])
STEP_TEAMS = 4  # warps in a block of the step kernels


class CudaEngine:
    """Runs batches on one GPU.

    Parameters
    ----------
    device : int, default 0
        The GPU's number.

    Raises
    ------
    RuntimeError
        Where CuPy is missing or finds no such GPU.
    """

    def __init__(self, device: int = 0) -> None:
        import cupy

        self.xp: Any = cupy
        self.device = device
        self.name = f"cuda:{device}"
        properties = cupy.cuda.runtime.getDeviceProperties(device)
        self.description = str(properties["name"].decode())
        self.machine = Device(properties["multiProcessorCount"], properties["sharedMemPerBlockOptin"])

    @property
    def threads(self) -> int:
        """Threads on the host."""
        return 1

    def batch(self, spec: Spec) -> Batch:
        """Allocate a batch on the GPU."""
        with self.xp.cuda.Device(self.device):
            batch = Batch(spec, self.xp)
            blocks = -(-batch.pop_max // STEP_TEAMS)
            plan = Plan("Warp", WARP * STEP_TEAMS, 1, blocks, batch.n_runs, 0, False, 0)
            batch.step = Launcher(self._module("gpu_step", spec.dtype, "Warp", plan.threads, 1, batch), plan)
            return batch

    def load(self, batch: Batch, objective: Compiled) -> None:
        """Make a batch ready to run a compiled objective: plan the launch, compile, upload the data."""
        with self.xp.cuda.Device(self.device):
            spec = batch.spec
            arrays = self._upload(objective, spec.dtype)
            batch.attach(arrays)
            work = Work(
                batch.dim,
                batch.pop_max,
                batch.n_runs,
                objective.scratch,
                tuple(array.size for array in arrays),
                spec.dtype.itemsize,
            )

            def resident(team: str, threads: int, least: int, shared_bytes: int) -> int:
                kernel = self._module("gpu_run", spec.dtype, team, threads, least, batch, objective).get_function("run")
                kernel.max_dynamic_shared_size_bytes = shared_bytes
                occupancy = self.xp.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor
                return int(occupancy(kernel.kernel.ptr, threads, shared_bytes))

            plan = make_plan(work, self.machine, resident)
            module = self._module("gpu_run", spec.dtype, plan.team, plan.threads, plan.resident, batch, objective)
            batch.program = Launcher(module, plan, objective.scratch)
            if not plan.roomy:
                teams = plan.grid * (plan.threads // (BLOCK if plan.team == "Block" else WARP))
                batch.array["workspace"] = self.xp.empty(max(1, teams * objective.scratch * batch.dim), spec.dtype)
                batch.refresh()

    def run(self, batch: Batch, until: int) -> None:
        """Start whole generations up to number `until`; `synchronize` waits for their end."""
        with self.xp.cuda.Device(self.device):
            arrivals = batch.array["arrivals"]
            arrivals.data.memset_async(0, arrivals.nbytes)
            batch.program("run", batch.task[0], np.int64(until))

    def propose(self, batch: Batch, g: int) -> None:
        """Judge the end of generation g - 1 and make the trials of generation g."""
        with self.xp.cuda.Device(self.device):
            if batch.spec.ranked and g > 0:
                batch.step("rank", batch.task[0], np.int64(g))
            batch.step("propose", batch.task[0], np.int64(g))

    def accept(self, batch: Batch, g: int, trials: Array | None, f: Array) -> None:
        """Select between parents and trials (None: those proposed) by the trials' values f, of shape (R, P)."""
        with self.xp.cuda.Device(self.device):
            where = np.int64(0) if trials is None else trials
            batch.step("accept", batch.task[0], np.int64(g), where, f)

    def evaluate(self, objective: Compiled, x: Array) -> Array:
        """Return the values of the rows of x, an (n, d) array on this GPU."""
        with self.xp.cuda.Device(self.device):
            n, dim = x.shape
            arrays = self._upload(objective, x.dtype)
            task = np.zeros(1, TASK)
            fill_data(task, arrays)
            sizes = tuple(array.size for array in arrays)
            work = Work(dim, n, 1, objective.scratch, sizes, x.dtype.itemsize)
            staged, roomy, shared_bytes = shared_memory(work, self.machine, "Warp", STEP_TEAMS)
            staged &= ~1  # bounds are not needed, and their room stays free
            blocks = max(1, min(-(-n // STEP_TEAMS), 8 * self.machine.multiprocessors))
            plan = Plan("Warp", WARP * STEP_TEAMS, 1, blocks, 1, staged, roomy, shared_bytes)
            workspace = self.xp.empty(max(1, blocks * STEP_TEAMS * objective.scratch * dim), x.dtype)
            task["dim"], task["workspace"] = dim, workspace.data.ptr
            f = self.xp.empty(n, x.dtype)
            module = self._module("gpu_evaluate", x.dtype, "Warp", plan.threads, 1, objective=objective)
            Launcher(module, plan, objective.scratch)("evaluate", task[0], x, np.int64(n), f)
            return f

    def synchronize(self) -> None:
        """Wait for everything started on the current stream."""
        with self.xp.cuda.Device(self.device):
            self.xp.cuda.get_current_stream().synchronize()

    def _upload(self, objective: Compiled, dtype: np.dtype[Any]) -> tuple[Array, ...]:
        return tuple(self.xp.asarray(np.ascontiguousarray(array, dtype)) for array in objective.arrays)

    def _module(
        self,
        source: str,
        dtype: np.dtype[Any],
        team: str,
        threads: int,
        resident: int,
        batch: Batch | None = None,
        objective: Compiled | None = None,
    ) -> Any:
        algorithm, constants = (batch.spec.algorithm, batch.constants) if batch is not None else ("", ())
        options = kernel_options(dtype, team, threads, resident, algorithm, constants, objective)
        return compile_module(self.device, source, options)


class Launcher:
    """Launches the kernels of one module as a plan says."""

    def __init__(self, module: Any, plan: Plan, scratch: int = 0) -> None:
        self.module, self.plan = module, plan
        self.record = np.array([(plan.blocks, plan.staged, plan.roomy, scratch)], PLAN)
        self.functions: dict[str, Any] = {}

    def __call__(self, name: str, task: Any, *arguments: Any) -> None:
        function = self.functions.get(name)
        if function is None:
            function = self.functions[name] = self.module.get_function(name)
            if self.plan.shared_bytes:
                function.max_dynamic_shared_size_bytes = self.plan.shared_bytes
        plan = self.plan
        arguments = (task, self.record[0], *arguments)
        function((plan.grid,), (plan.threads,), arguments, shared_mem=plan.shared_bytes)


@lru_cache(maxsize=256)
def compile_module(device: int, source: str, options: tuple[str, ...]) -> Any:
    """Compile a source with these options for a GPU (its number only separates the modules loaded there).

    Only the persistent driver is launched cooperatively: its blocks wait for each other, so all must be resident.
    """
    import cupy

    code = (KERNELS / f"{source}.cu").read_text()
    cooperative = source == "gpu_run"
    return cupy.RawModule(code=code, options=options, backend="nvrtc", enable_cooperative_groups=cooperative)


def kernel_options(
    dtype: np.dtype[Any],
    team: str,
    threads: int,
    resident: int = 1,
    algorithm: str = "",
    constants: tuple[tuple[str, int], ...] = (),
    objective: Compiled | None = None,
) -> tuple[str, ...]:
    """Return the compiler's options for one member of the family.

    No contraction (--fmad=false): the CPU does not contract either, so both round alike.
    """
    options = [
        f"-I{KERNELS}",
        "--std=c++17",
        "--fmad=false",
        f"-DSKDE_REAL={'float' if dtype == np.float32 else 'double'}",
        f"-DSKDE_TEAM={team}",
        f"-DSKDE_THREADS={threads}",
        f"-DSKDE_RESIDENT={resident}",
        f"-DSKDE_SOURCE={source_hash()}",  # CuPy's cache does not look into the headers
    ]
    if algorithm:
        options.append(f"-DSKDE_ALGORITHM=skde::{algorithm_entry(algorithm)[1]}")
    options += [f"-DSKDE_{name.upper()}={value}" for name, value in constants]
    if objective is not None:
        options += [f"-DSKDE_OBJECTIVE=skde::{objective.cpp_type}", *getattr(objective, "cuda_options", ())]
    return tuple(options)


@lru_cache(maxsize=1)
def source_hash() -> str:
    """Return a digest of all kernel sources."""
    digest = hashlib.sha256()
    for path in sorted(KERNELS.rglob("*.cu*")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
