"""The execution models that papers compare: one algorithm with the same bits, run in several ways.

"serial": whole generations in one thread. "threads": one generation after the other, evaluated by all threads of the
CPU. "naive", "kernels", "fpde" and "fused" are of a GPU: engines.py has them. "persistent" is the engine of `Minimizer`
on a GPU.
"""

from skde.benchmark.execution_models.minimizer import CPU_MODELS, EXECUTION_MODELS, GPU_MODELS, ModelMinimizer

__all__ = ["CPU_MODELS", "EXECUTION_MODELS", "GPU_MODELS", "ModelMinimizer"]
