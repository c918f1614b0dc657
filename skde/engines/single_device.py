"""The devices of this machine, and evaluation on one of them."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.util import find_spec

import numpy as np

from skde.engines.cpu import CpuEngine
from skde.engines.game import Game
from skde.engines.protocol import DeviceEngine
from skde.engines.state.spec import Compiled
from skde.typing import Array
from skde.utils.arrays import contiguous, move_to
from skde.utils.validation import nearest
from skde.variables import Variables

DEVICE = re.compile(r"auto|cpu|cuda(?::(\d+))?")


def find_gpus() -> tuple[int, str]:
    """Return the number of usable GPUs, and the reason when there is none.

    Returns
    -------
    count : int
        The number of CUDA GPUs.
    reason : str
        Empty where there are some.

    Examples
    --------
    A script that takes a GPU where there is one:

    >>> from skde import find_gpus
    >>> device = "cuda" if find_gpus()[0] else "cpu"
    """
    if find_spec("cupy") is None:
        return 0, "CuPy is not installed (pip install 'skde[cuda12]' or 'skde[cuda13]')"
    import cupy

    try:
        count = int(cupy.cuda.runtime.getDeviceCount())
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return 0, f"CuPy finds no GPU: {error}"
    return count, "" if count else "CuPy finds no GPU"


def check_device(device: str, name: str = "device", *, auto: bool = True, several: bool = True) -> int | None:
    """Return the number of a GPU, None for "auto" and "cpu"; refuse any other text.

    Parameters
    ----------
    device : str
        The device.
    name : str, default "device"
        The parameter or option, for the message.
    auto : bool, default True
        Whether "auto" is allowed.
    several : bool, default True
        Whether the parameter may be a list of devices, for the message.
    """
    named = ["auto", "cpu", "cuda"] if auto else ["cpu", "cuda"]
    match = DEVICE.fullmatch(device) if isinstance(device, str) and (auto or device != "auto") else None
    if match is None:
        allowed = [*map(repr, named), "'cuda:N'", *(["a list of devices"] if several else [])]
        raise ValueError(
            f"{name} must be {', '.join(allowed[:-1])} or {allowed[-1]}, got {device!r}{nearest(device, named)}"
        )
    return int(match[1] or 0) if device.startswith("cuda") else None


def choose_device(device: str = "auto", n_jobs: int | None = None) -> tuple[DeviceEngine, str]:
    """Return the engine of one device, and the reason for the choice; see `choose_engine`."""
    number = check_device(device)
    if device == "cpu":
        return CpuEngine(n_jobs), "asked for"
    count, reason = find_gpus()
    if number is None:
        return (cuda_engine(0), "a GPU was found") if count else (CpuEngine(n_jobs), reason)
    if number >= count:
        raise RuntimeError(f"device={device!r} was asked for, but " + (reason or f"there are only {count} GPUs"))
    return cuda_engine(number), "asked for"


@lru_cache
def cuda_engine(number: int) -> DeviceEngine:
    """Return the engine of a GPU; this imports CuPy."""
    from skde.engines.gpu.engine import CudaEngine

    return CudaEngine(number)


def evaluate(objective: Compiled, x: Array) -> Array:
    """Return the values of the rows of x, computed on the device of x."""
    if isinstance(x, np.ndarray):
        return CpuEngine().evaluate(objective, x)
    return cuda_engine(x.data.device_id).evaluate(objective, x)


def decode(variables: Variables, x: Array) -> Array:
    """Return the values of typed variables at points of their box, (..., number of components), on the device of x."""
    rows = contiguous(x, np.float32 if x.dtype == np.float32 else np.float64).reshape(-1, x.shape[-1])
    engine = CpuEngine() if isinstance(rows, np.ndarray) else cuda_engine(rows.data.device_id)
    return engine.decode(variables, rows).reshape(*x.shape[:-1], len(variables))


def matrix(game: Game, X: Array, Y: Array) -> Array:
    """Return the game's values of the rows of X against the rows of Y, of shape (n, m), computed on the device of X."""
    engine = CpuEngine() if isinstance(X, np.ndarray) else cuda_engine(X.data.device_id)
    dtype = np.float32 if X.dtype == np.float32 else np.float64
    with engine.device_context:
        return engine.matrix(game, contiguous(X, dtype), contiguous(move_to(Y, X, "Y"), dtype))
