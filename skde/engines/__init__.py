"""Where optimisers run: the engines, and the choice of one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec

import numpy as np

from skde.arrays import contiguous, moved_to
from skde.engines.batch import Batch, Runs
from skde.engines.coevolution import Coevolution, CoevolutionSpec, Game, IncumbentRuns
from skde.engines.cpu import CpuEngine
from skde.engines.joblib_workers import JoblibEngine
from skde.engines.multi_device import MultiDeviceEngine
from skde.engines.protocol import DeviceEngine, Engine, RecordingEngine, SharingEngine
from skde.engines.spec import Compiled, Spec
from skde.typing import Array

__all__ = [
    "Batch",
    "Coevolution",
    "CoevolutionSpec",
    "Compiled",
    "CpuEngine",
    "DeviceEngine",
    "Engine",
    "Game",
    "IncumbentRuns",
    "JoblibEngine",
    "MultiDeviceEngine",
    "RecordingEngine",
    "Runs",
    "SharingEngine",
    "Spec",
    "check_device",
    "choose_device",
    "choose_engine",
    "engine_for",
    "evaluate",
    "find_gpus",
    "matrix",
]


def find_gpus() -> tuple[int, str]:
    """Return the number of usable GPUs, and where there is none, why."""
    if find_spec("cupy") is None:
        return 0, "CuPy is not installed (pip install 'skde[cuda12]' or 'skde[cuda13]')"
    import cupy

    try:
        count = int(cupy.cuda.runtime.getDeviceCount())
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return 0, f"CuPy finds no GPU: {error}"
    return count, "" if count else "CuPy finds no GPU"


def check_device(device: str) -> int | None:
    """Return the number of a GPU, None for "auto" and "cpu", or say what is allowed."""
    match = re.fullmatch(r"auto|cpu|cuda(?::(\d+))?", device) if isinstance(device, str) else None
    if match is None:
        raise ValueError(f"device must be 'auto', 'cpu', 'cuda', 'cuda:N' or a list of devices, got {device!r}")
    return int(match[1] or 0) if device.startswith("cuda") else None


def choose_device(device: str = "auto", n_jobs: int | None = None) -> tuple[DeviceEngine, str]:
    """Return the engine of one device, and why it was chosen; see `choose_engine`."""
    number = check_device(device)
    if device == "cpu":
        return CpuEngine(n_jobs), "asked for"
    count, reason = find_gpus()
    if number is None:
        return (cuda_engine(0), "a GPU was found") if count else (CpuEngine(n_jobs), reason)
    if number >= count:
        raise RuntimeError(f"device={device!r} was asked for, but " + (reason or f"there are only {count} GPUs"))
    return cuda_engine(number), "asked for"


def choose_engine(device: str | Sequence[str] = "auto", n_jobs: int | None = None) -> tuple[Engine, str]:
    """Return the engine for a device or for several, and why it was chosen.

    Parameters
    ----------
    device : str, or list of str
        "auto" (a GPU where there is one, else the CPU), "cpu", "cuda" (the first GPU) or "cuda:N". A list: GPUs, or
        "cpu" several times.
    n_jobs : int or None
        Threads of a CPU engine.

    Raises
    ------
    ValueError
        For any other text, and for lists that are empty or mixed.
    RuntimeError
        When the GPU asked for is not there.
    """
    if isinstance(device, str) or not isinstance(device, Sequence):
        return choose_device(device, n_jobs)
    kinds = {check_device(entry) is None for entry in device}
    if len(kinds) != 1 or "auto" in device:
        raise ValueError(
            f"device, where it is a list, must name 'cpu' once or more, or GPUs 'cuda:N', got {list(device)!r}"
        )
    engines = [choose_device(entry, n_jobs)[0] for entry in device]
    return (engines[0] if len(engines) == 1 else MultiDeviceEngine(engines)), "asked for"


def engine_for(device: str | Sequence[str], n_jobs: int | None, python: bool, verbose: int) -> Engine:
    """Return the engine for a device, and say what "auto" chose where `verbose` asks for it.

    Parameters
    ----------
    device, n_jobs
        As for `choose_engine`.
    python : bool
        Whether a Python function is evaluated, which may only know NumPy: "auto" then is the CPU.
    verbose : int
        Whether to say it.
    """
    chosen = isinstance(device, str) and device == "auto"
    if chosen and python:
        engine, reason = choose_engine("cpu", n_jobs)[0], "a Python function may only know NumPy"
    else:
        engine, reason = choose_engine(device, n_jobs)
    if verbose and chosen:
        print(f"skde: device='auto' chose {engine.name}: {reason}")
    return engine


@lru_cache
def cuda_engine(number: int) -> DeviceEngine:
    """Return the engine of a GPU, importing CUDA on the way."""
    from skde.engines.cuda import CudaEngine

    return CudaEngine(number)


def evaluate(objective: Compiled, x: Array) -> Array:
    """Return the values of the rows of x, evaluated where x lives."""
    if isinstance(x, np.ndarray):
        return CpuEngine().evaluate(objective, x)
    return cuda_engine(x.device.id).evaluate(objective, x)


def matrix(game: Game, X: Array, Y: Array) -> Array:
    """Return the game's values of the rows of X against the rows of Y, of shape (n, m), made where X lives."""
    engine = CpuEngine() if isinstance(X, np.ndarray) else cuda_engine(X.device.id)
    dtype = np.float32 if X.dtype == np.float32 else np.float64
    with engine.here:
        return engine.matrix(game, contiguous(X, dtype), contiguous(moved_to(Y, X, "Y"), dtype))
