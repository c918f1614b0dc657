"""A Minimizer that runs by one of the execution models."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from skde import Minimizer
from skde.benchmark.execution_models.engines import LaunchingEngine, NaiveEngine
from skde.engines import CpuEngine, Engine, check_device, choose_device, find_gpus
from skde.utils.validation import check_choice
from skde.variables import Variables

# Execution model -> the execution of `Minimizer` on its engine.
CPU_MODELS = {"serial": "run", "threads": "step"}
GPU_MODELS = {"naive": "step", "kernels": "run", "fpde": "run", "fused": "run", "persistent": "run"}
EXECUTION_MODELS = CPU_MODELS | GPU_MODELS


class ModelMinimizer(Minimizer):
    """A Minimizer of compiled objectives that runs by an execution model; all have the same bits.

    `execution` must be the model's, and `device` "auto" or one that it runs on: `with_model` sets both.

    Attributes
    ----------
    model : str
        A name of EXECUTION_MODELS, set before the fit.

    Examples
    --------
    >>> from skde.benchmark.execution_models import ModelMinimizer
    >>> m = ModelMinimizer.with_model("serial", "jde", max_iter=50, random_state=0).fit("sphere", dim=5)
    >>> m.n_iter_
    50
    """

    model: str = "serial"

    @classmethod
    def with_model(cls, model: str, *algorithm: Any, **parameters: Any) -> ModelMinimizer:
        """Return a Minimizer with these parameters that runs by a model."""
        execution = EXECUTION_MODELS[check_choice("model", model, EXECUTION_MODELS)]
        minimizer = cls(*algorithm, execution=execution, **parameters)
        minimizer.model = model
        return minimizer

    def _make_engine(self, objective: Any, variables: Variables | None) -> Engine:
        if objective is not None and objective.compiled is None:
            raise ValueError(
                f"model={self.model!r} needs a compiled objective: a name, a Problem or a DeviceObjective, without "
                "constraints in Python"
            )
        if variables is not None and not variables.free:  # one point is evaluated
            return super()._make_engine(objective, variables)
        return model_engine(self.model, self.device, self.n_jobs)

    def __sklearn_clone__(self) -> ModelMinimizer:
        """Return a Minimizer with the same parameters and model, which is not fitted."""
        parameters = {name: clone(value, safe=False) for name, value in self.get_params(deep=False).items()}
        del parameters["execution"]
        return type(self).with_model(self.model, **parameters)


def model_engine(model: str, device: Any, n_jobs: int | None) -> Engine:
    """Return the engine of an execution model.

    Parameters
    ----------
    model : str
        A name of EXECUTION_MODELS.
    device : str
        "auto": a GPU for the models of GPUs, the CPU for the others.
    n_jobs : int or None
        Threads of the CPU.

    Raises
    ------
    ValueError
        For a device that the model does not run on, and for n_jobs that "serial" does not have.
    RuntimeError
        When there is no such GPU.
    """
    if not isinstance(device, str):
        raise ValueError(f"model={model!r} needs one device, got device={device!r}")
    on_gpu = check_device(device) is not None
    if model in CPU_MODELS:
        if on_gpu:
            raise ValueError(f"model={model!r} runs on the CPU, got device={device!r}")
        if model == "serial" and n_jobs not in (None, 1):
            raise ValueError(f"model='serial' has one thread: n_jobs must be None or 1, got {n_jobs}")
        return CpuEngine(1 if model == "serial" else n_jobs)
    if device == "cpu":
        raise ValueError(f"model={model!r} runs on a GPU, got device='cpu'; set device='cuda'")
    count, reason = find_gpus()
    if not count:
        raise RuntimeError(f"model={model!r} needs a GPU, but {reason}; 'serial' and 'threads' need none")
    gpu = choose_device(device)[0]
    if model == "persistent":
        return gpu
    return NaiveEngine(gpu, n_jobs) if model == "naive" else LaunchingEngine(model, gpu)
