"""Compilation of the GPU's kernels at run time, and their launches."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

import skde._cpu as _cpu
from skde.constants import CONSTANTS
from skde.engines.decoded_game import DecodedGame
from skde.engines.game import Game
from skde.engines.gpu.launch_plan import Plan, is_large_trial
from skde.engines.state.algorithm_kernels import algorithm_entry
from skde.engines.state.batch import Batch
from skde.engines.state.coevolution import Coevolution
from skde.engines.state.spec import Compiled, Spec

KERNELS = Path(__file__).resolve().parents[2] / "kernels"
PLAN = np.dtype([(name, "i8") for name in _cpu.plan_fields()])
MARKS, ROOM = "SKDE_MARKS", "SKDE_ROOM"
TRIALS_SHARED = "SKDE_TRIALS_SHARED"  # the definition for trials in shared memory, with their number for a team


class Launcher:
    """Launches the kernels of one module by a plan.

    Parameters
    ----------
    module : cupy.RawModule
        The compiled module.
    plan : Plan
        Grid, block and shared memory of every launch.
    scratch : int, default 0
        Vectors of working memory that one evaluation needs.
    """

    def __init__(self, module: Any, plan: Plan, scratch: int = 0) -> None:
        self.module, self.plan = module, plan
        self.grid, self.block = (plan.grid,), (plan.threads,)
        self.record = np.zeros(1, PLAN)[0]
        self.record["blocks"], self.record["staged"] = plan.blocks, plan.staged
        self.record["scratch"] = scratch
        self.functions: dict[str, Any] = {}

    def function(self, name: str) -> Any:
        """Return one kernel, loaded."""
        function = self.functions.get(name)
        if function is None:
            function = self.functions[name] = load_function(self.module, name, self.plan.shared_bytes)
        return function

    def __call__(self, name: str, task: Any, *arguments: Any) -> None:
        """Launch one kernel."""
        arguments = (task, self.record, *arguments)
        self.function(name)(self.grid, self.block, arguments, shared_mem=self.plan.shared_bytes)


RAISING = Lock()  # held by the thread that raises the limit of a kernel's shared memory


@lru_cache(maxsize=1024)
def load_function(module: Any, name: str, shared_bytes: int) -> Any:
    """Return a kernel that may be launched with so much shared memory.

    Its limit is raised and never lowered, because other threads launch the kernel too.
    """
    function = module.get_function(name)
    with RAISING:
        if shared_bytes > function.max_dynamic_shared_size_bytes:
            function.max_dynamic_shared_size_bytes = shared_bytes
    return function


@lru_cache(maxsize=1024)
def blocks_per_multiprocessor(module: Any, name: str, threads: int, shared_bytes: int) -> int:
    """Return how many blocks of a kernel a multiprocessor of the current GPU holds."""
    import cupy

    function = load_function(module, name, shared_bytes)
    occupancy = cupy.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor
    return int(occupancy(function.kernel.ptr, threads, shared_bytes))


@lru_cache(maxsize=256)
def compile_module(device: int, source: str, options: tuple[str, ...]) -> Any:
    """Compile a source with these options for a GPU (its number only separates the modules loaded there).

    Only the persistent drivers are launched cooperatively: their blocks wait for each other, so all must be resident.
    """
    import cupy

    code = (KERNELS / "gpu" / f"{source}.cu").read_text()
    cooperative = source in ("gpu_run", "gpu_cycles")
    return cupy.RawModule(code=code, options=options, backend="nvrtc", enable_cooperative_groups=cooperative)


class Kernels(NamedTuple):
    """The types and constants that kernels are compiled for.

    Attributes
    ----------
    dtype : dtype
        The precision.
    algorithm : str
        The name of an algorithm's kernel; empty: none.
    constants : tuple of (str, int)
        The algorithm's constant parameters.
    switches : tuple of str
        Definitions that only some batches need.
    objective : tuple of str
        The objective's C++ type and its options; empty: no objective.
    """

    dtype: np.dtype[Any]
    algorithm: str = ""
    constants: tuple[tuple[str, int], ...] = ()
    switches: tuple[str, ...] = ()
    objective: tuple[str, ...] = ()

    def with_objective(self, objective: Compiled) -> Kernels:
        """Return the kernels that evaluate an objective."""
        return self._replace(objective=(objective.cpp_type, *objective.cuda_options))


def kernels_of(batch: Batch) -> Kernels:
    """Return the kernels of a batch's algorithm."""
    switches = kernel_switches(batch.spec) + mark_switches(batch)
    return Kernels(batch.spec.dtype, batch.spec.algorithm, batch.constants, switches)


def mark_switches(batch: Batch) -> tuple[str, ...]:
    """Return the definitions for marks of kept points, which take less time than the copies of long rows."""
    if "unchanged" not in batch.kernel.scratch or not is_large_trial(batch.dim, batch.spec.dtype.itemsize):
        return ()
    return (MARKS,) if "trials" in batch.kernel.vectors else (MARKS, ROOM)


@lru_cache(maxsize=1024)
def kernel_options(
    kernels: Kernels, team: str, threads: int, resident: int = 1, trials_shared: int = 0
) -> tuple[str, ...]:
    """Return the compiler's options for kernels and the shape of their launch."""
    options = basic_options(kernels.dtype, team, threads, resident)
    if kernels.algorithm:
        options.append(f"-DSKDE_ALGORITHM=skde::{algorithm_entry(kernels.algorithm).cpp_type}")
    options += [f"-DSKDE_{name.upper()}={value}" for name, value in kernels.constants]
    options += [f"-D{switch}" for switch in kernels.switches]
    if trials_shared:
        options.append(f"-D{TRIALS_SHARED}={trials_shared}")
    if kernels.objective:
        cpp_type, *own = kernels.objective
        options += [f"-DSKDE_OBJECTIVE=skde::{cpp_type}", *own]
    return tuple(options)


def game_options(
    dtype: np.dtype[Any],
    team: str,
    threads: int,
    resident: int = 1,
    game: Game | DecodedGame | None = None,
    algorithms: tuple[str, ...] = (),
    constants: tuple[tuple[str, int], ...] = (),
    switches: tuple[str, ...] = (),
) -> tuple[str, ...]:
    """Return the compiler's options for a co-evolution: a game and two algorithms."""
    options = basic_options(dtype, team, threads, resident)
    if game is not None:
        options.append(f"-DSKDE_GAME={game.cpp_type}")
    for side, algorithm in zip("XY", algorithms, strict=False):
        options.append(f"-DSKDE_ALGORITHM_{side}=skde::{algorithm_entry(algorithm).cpp_type}")
    options += [f"-DSKDE_{name.upper()}={value}" for name, value in constants]
    options += [f"-D{switch}" for switch in switches]
    return tuple(options)


def basic_options(dtype: np.dtype[Any], team: str, threads: int, resident: int) -> list[str]:
    """Return the options of all kernels.

    Without contraction (--fmad=false), as on the CPU, so that both round alike.
    """
    return [
        f"-I{KERNELS}",
        "--std=c++17",
        "--fmad=false",
        f"-DSKDE_REAL={'float' if dtype == np.float32 else 'double'}",
        f"-DSKDE_TEAM={team}",
        f"-DSKDE_THREADS={threads}",
        f"-DSKDE_RESIDENT={resident}",
        f"-DSKDE_SOURCE={source_hash()}",  # CuPy's cache ignores changes of the headers
    ]


def kernel_switches(spec: Spec) -> tuple[str, ...]:
    """Return the definitions that only some batches need."""
    most = max(spec.pop_max, spec.islands.n_islands * spec.islands.rows)  # values that are ranked or sorted
    needed = {
        "SKDE_LARGE": most > CONSTANTS["COUNTED_BY_GPU"],
        "SKDE_RANKED": spec.needs.ranked,
        "SKDE_TOL": most > CONSTANTS["COUNTED_BY_GPU"] and spec.tol is not None,
        "SKDE_ISLANDS": spec.islands.every > 0,
        "SKDE_TIMED": spec.run_seconds is not None,
        "SKDE_OPPOSITION": spec.needs.opposition,
    }
    return tuple(name for name, is_needed in needed.items() if is_needed)


def coevolution_switches(batch: Coevolution) -> tuple[str, ...]:
    """Return the definitions that one of the two sides of a co-evolution needs."""
    return tuple(sorted({*kernel_switches(batch.x.spec), *kernel_switches(batch.y.spec)}))


@lru_cache(maxsize=1)
def source_hash() -> str:
    """Return a digest of all kernel sources."""
    digest = hashlib.sha256()
    for path in sorted(KERNELS.rglob("*.cu*")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
