"""The naive parallel model (Janssen et al. 2024): the algorithm on the CPU, the objective on a GPU."""

from __future__ import annotations

from typing import Any

from skde.engines.cpu import CpuEngine
from skde.engines.spec import Compiled
from skde.typing import FloatArray


class NaiveEngine(CpuEngine):
    """Runs batches on the CPU, and evaluates compiled objectives on a GPU.

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
