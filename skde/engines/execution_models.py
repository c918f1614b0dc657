"""The execution models that papers compare: their names, and the engine that each of them runs on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skde.engines.cpu import CpuEngine
from skde.engines.joblib_workers import JoblibEngine
from skde.engines.naive import NaiveEngine
from skde.engines.protocol import Engine, launches, shares
from skde.engines.selection import choose_engine
from skde.engines.single_device import check_device, choose_device, find_gpus

# Execution model -> the execution of a Runner on its engine.
CPU_MODELS = {"serial": "run", "threads": "step"}
GPU_MODELS = {"naive": "step", "kernels": "kernels", "fpde": "fpde", "fused": "fused", "persistent": "run"}
EXECUTION_MODELS = CPU_MODELS | GPU_MODELS


class SerialEngine(CpuEngine):
    """Runs batches in one thread."""

    name = "cpu with one thread"

    def __init__(self) -> None:
        super().__init__(1)


# The executions with an engine of their kind, which a fit that has begun keeps.
KINDS: dict[str, type[CpuEngine]] = {"joblib": JoblibEngine, "naive": NaiveEngine, "serial": SerialEngine}


def model_engine(model: str, device: str | Sequence[str], n_jobs: int | None) -> Engine:
    """Return the engine of an execution model.

    Parameters
    ----------
    model : str
        A name of EXECUTION_MODELS.
    device : str or list of str
        "auto": a GPU for the models of GPUs, the CPU for the others. A list is for "persistent" only.
    n_jobs : int or None
        Threads of the CPU.

    Raises
    ------
    ValueError
        For a device that the model does not run on, and for n_jobs that "serial" does not have.
    RuntimeError
        When there is no such GPU.
    """
    if model == "persistent" and not isinstance(device, str):
        engine = choose_engine(device, n_jobs)[0]
        if engine.xp is np:
            raise wrong_device(model, device)
        return engine
    if not isinstance(device, str):
        raise ValueError(f"execution={model!r} needs one device, got device={device!r}")
    number = check_device(device)
    if model in CPU_MODELS:
        if number is not None:
            raise wrong_device(model, device)
        if model == "threads":
            return CpuEngine(n_jobs)
        if n_jobs not in (None, 1):
            raise ValueError(
                f"execution='serial' has one thread: n_jobs must be None or 1, got {n_jobs}; 'threads' has n_jobs"
            )
        return SerialEngine()
    if device == "cpu":
        raise wrong_device(model, device)
    count, reason = find_gpus()
    if not count:
        raise RuntimeError(f"execution={model!r} needs a GPU, but {reason}; 'serial' and 'threads' need none")
    gpu = choose_device(device)[0]
    return NaiveEngine(gpu, n_jobs) if model == "naive" else gpu


def wrong_device(model: str, device: Any) -> ValueError:
    """Return the error for an execution model on a device that it does not run on."""
    if model in CPU_MODELS:
        return ValueError(
            f"execution={model!r} runs on the CPU, got device={device!r}; set device='cpu', or take one of "
            f"{', '.join(map(repr, GPU_MODELS))}"
        )
    return ValueError(
        f"execution={model!r} runs on a GPU, got device={device!r}; set device='cuda', or take one of "
        f"{', '.join(map(repr, CPU_MODELS))}"
    )


def check_kind(execution: str, engine: Engine) -> None:
    """Refuse an execution that a fit which began on an engine cannot change to or from."""
    begun = next((name for name, kind in KINDS.items() if isinstance(engine, kind)), None)
    if begun != (execution if execution in KINDS else None):
        raise ValueError(
            f"execution={execution!r}: this fit began on {engine.name!r}; a fit cannot change to or from "
            f"{', '.join(map(repr, KINDS))} after its beginning"
        )


def model_path(model: str, engine: Engine) -> str:
    """Return the execution of a Runner, by an execution model, on the engine that its fit began on."""
    on_cpu = engine.xp is np and model != "naive"
    if on_cpu != (model in CPU_MODELS):
        raise wrong_device(model, engine.name)
    path = EXECUTION_MODELS[model]
    if (shares(engine) and model != "persistent") or (path == model and not launches(engine)):
        raise ValueError(f"execution={model!r} needs one device, but this fit began on {engine.name!r}")
    return path


def model_on(execution: str, device: str | Sequence[str]) -> str:
    """Return the execution of a saved fit on a device: "auto" for a model that the device does not have."""
    if isinstance(device, str):
        missing = set(GPU_MODELS if device == "cpu" else CPU_MODELS if device != "auto" else ())
    else:
        missing = set(EXECUTION_MODELS) - (set() if "cpu" in device else {"persistent"})
    return "auto" if execution in missing else execution
