"""Where optimisers run: the engines, and the choice of one."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, Protocol, runtime_checkable

import numpy as np

from skde.engines.batch import Batch, Compiled, Spec
from skde.engines.cpu import CpuEngine
from skde.typing import Array

__all__ = [
    "Batch",
    "Compiled",
    "CpuEngine",
    "Engine",
    "RecordingEngine",
    "Spec",
    "choose_engine",
    "evaluate",
    "find_gpus",
]


class Engine(Protocol):
    """What an engine offers; it owns memory, loops, launches and time, and knows nothing of algorithms."""

    @property
    def name(self) -> str:
        """'cpu' or 'cuda:N'."""

    @property
    def xp(self) -> Any:
        """The array library: NumPy or CuPy."""

    @property
    def threads(self) -> int:
        """Threads used on the host."""

    def batch(self, spec: Spec) -> Batch:
        """Allocate a batch."""

    def load(self, batch: Batch, objective: Compiled) -> None:
        """Make a batch ready to run a compiled objective."""

    def run(self, batch: Batch, begin: int, until: int) -> None:
        """Run whole generations up to number `until`, from `begin`, that of the runs furthest behind."""

    def propose(self, batch: Batch, g: int) -> None:
        """Judge the end of generation g - 1 and make the trials of generation g."""

    def accept(self, batch: Batch, g: int, trials: Array | None, f: Array) -> None:
        """Select between parents and trials (None: those proposed) by the trials' values."""

    def evaluate(self, objective: Compiled, x: Array) -> Array:
        """Return the values of the rows of x."""

    def copy(self, array: Array) -> Array:
        """Return a copy of one of this engine's arrays."""

    def synchronize(self) -> None:
        """Wait for what was started."""


@runtime_checkable
class RecordingEngine(Protocol):
    """An engine that can record a generation, the objective included, and replay it."""

    def record(self, batch: Batch, g: int, values: Callable[[Array], Array]) -> Any:
        """Record one generation; see CudaEngine.record."""


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


def choose_engine(device: str = "auto", n_jobs: int | None = None) -> tuple[Engine, str]:
    """Return the engine for a device, and why it was chosen.

    Parameters
    ----------
    device : str
        "auto" (a GPU where there is one, else the CPU), "cpu", "cuda" (the first GPU) or "cuda:N".
    n_jobs : int or None
        Threads of the CPU engine.

    Raises
    ------
    ValueError
        For any other text.
    RuntimeError
        When the GPU asked for is not there.
    """
    match = re.fullmatch(r"cuda(?::(\d+))?", device) if isinstance(device, str) else None
    if device == "cpu":
        return CpuEngine(n_jobs), "asked for"
    if device != "auto" and match is None:
        raise ValueError(f"device must be 'auto', 'cpu', 'cuda' or 'cuda:N', got {device!r}")
    count, reason = find_gpus()
    if device == "auto":
        return (cuda_engine(0), "a GPU was found") if count else (CpuEngine(n_jobs), reason)
    number = int(match[1] or 0) if match else 0
    if number >= count:
        raise RuntimeError(f"device={device!r} was asked for, but " + (reason or f"there are only {count} GPUs"))
    return cuda_engine(number), "asked for"


@lru_cache
def cuda_engine(number: int) -> Engine:
    """Return the engine of a GPU, importing CUDA on the way."""
    from skde.engines.cuda import CudaEngine

    return CudaEngine(number)


def evaluate(objective: Compiled, x: Array) -> Array:
    """Return the values of the rows of x, evaluated where x lives."""
    if isinstance(x, np.ndarray):
        return CpuEngine().evaluate(objective, x)
    return cuda_engine(x.device.id).evaluate(objective, x)
