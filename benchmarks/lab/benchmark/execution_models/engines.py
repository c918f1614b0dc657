"""The engines of execution models that `Minimizer` does not have."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

from skde.benchmark.execution_models.launches import (
    GENERATION,
    MODELS,
    OPERATORS,
    PREPARED_BYTES,
    GenerationLaunches,
)
from skde.engines import Batch, CpuEngine
from skde.engines.gpu.engine import CudaEngine, workspace_vectors
from skde.engines.gpu.launch_plan import Plan
from skde.engines.gpu.nvrtc import blocks_per_multiprocessor, compile_module, kernel_options, kernels_of
from skde.engines.state.spec import Compiled
from skde.typing import FloatArray

KERNELS = Path(__file__).with_name("kernels")


class NaiveEngine(CpuEngine):
    """The naive parallel model (Janssen et al. 2024): the algorithm on the CPU, the objective on a GPU.

    Trials travel to the GPU and values back in every generation. The objective's data stay there.

    Parameters
    ----------
    gpu : CudaEngine
        The engine of the GPU.
    n_jobs : int or None, default None
        Threads of the CPU, as for `CpuEngine`.
    """

    def __init__(self, gpu: Any, n_jobs: int | None = None) -> None:
        super().__init__(n_jobs)
        self.gpu = gpu
        self.name = f"cpu with {gpu.name}"
        self._evaluator: tuple[Compiled, Any] | None = None

    def evaluate(self, objective: Compiled, x: FloatArray) -> FloatArray:
        """Return the values of the rows of x, an (n, d) array."""
        with self.gpu.device_context:
            held = self._evaluator
            if held is None or held[0] is not objective or (held[1].shape, held[1].dtype) != (x.shape, x.dtype):
                held = self._evaluator = objective, self.gpu.row_evaluator(objective, x.shape, x.dtype)
            values: FloatArray = held[1].values_on_host(x)
            return values


class LaunchingEngine(CudaEngine):
    """The engine of a GPU that launches kernels for every generation.

    Parameters
    ----------
    model : {"kernels", "fpde", "fused"}
        The launches of a generation.
    gpu : CudaEngine
        The engine of the GPU.
    """

    even = True

    def __init__(self, model: str, gpu: Any) -> None:
        super().__init__(gpu.device)
        self.model = model

    def load(self, batch: Batch, objective: Compiled) -> None:
        """Make a batch ready to run a compiled objective."""
        with self.device_context:
            if batch.spec.run_seconds is not None:
                raise ValueError(f"model={self.model!r} has no clock for each run; 'persistent' has")
            work, kernels = self._attach(batch, objective, batch.pop_max), kernels_of(batch)
            evaluating = kernels.with_objective(objective)
            self._steps(batch)

            def compile_for(source: str, plan: Plan) -> Any:
                shape = plan.team, plan.threads, plan.resident
                if source == GENERATION:
                    return self._own_module(source, evaluating, *shape, plan.trials_shared)
                if source == OPERATORS:
                    return self._own_module(source, kernels, *shape)
                return self._module(source, kernels, *shape)

            def occupancy(team: str, threads: int, least: int, trials_shared: int, shared_bytes: int) -> int:
                module = self._own_module(GENERATION, evaluating, team, threads, least, trials_shared)
                return blocks_per_multiprocessor(module, "make", threads, shared_bytes)

            with self._loading.setdefault(evaluating, Lock()):
                plan = MODELS[self.model].plan(work, self.machine, occupancy)
                batch.program = MODELS[self.model](batch, plan, objective.scratch, compile_for)
            self._make_workspace(batch, plan, workspace_vectors(objective, batch) * batch.dim)

    def run(self, batch: Batch, begin: int, until: int) -> None:
        """Start generations begin + 1, ..., until of runs that are all at generation `begin`."""
        launches = batch.program
        assert isinstance(launches, GenerationLaunches)
        with self.device_context:
            launches.run(begin, until)

    def _own_module(self, source: str, kernels: Any, *shape: Any) -> Any:
        return compile_module(self.device, str(KERNELS / source), (*kernel_options(kernels, *shape), *own_options()))


@lru_cache(maxsize=1)
def own_options() -> tuple[str, ...]:
    """Return the compiler's options for the kernels here, with a digest: CuPy's cache ignores changes of headers."""
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(KERNELS.glob("*.cu*"))))
    return f"-I{KERNELS}", f"-DSKDE_PREPARED_BYTES={PREPARED_BYTES}", f"-DSKDE_MODELS={digest.hexdigest()[:16]}"
