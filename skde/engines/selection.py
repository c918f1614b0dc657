"""The choice of an engine: one device, or several."""

from __future__ import annotations

from collections.abc import Sequence

from skde.engines.multi_device import MultiDeviceEngine
from skde.engines.protocol import Engine
from skde.engines.single_device import check_device, choose_device

PYTHON_ON_CPU = "a Python function may only know NumPy"


def choose_engine(device: str | Sequence[str] = "auto", n_jobs: int | None = None) -> tuple[Engine, str]:
    """Return the engine for one device or several, and the reason for the choice.

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
        For any other text, and for an empty or mixed list.
    RuntimeError
        When there is no such GPU.
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


def engine_for(device: str | Sequence[str], n_jobs: int | None, cpu_reason: str | None, verbose: int) -> Engine:
    """Return the engine for a device; with `verbose`, print the choice of "auto".

    Parameters
    ----------
    device, n_jobs
        As for `choose_engine`.
    cpu_reason : str or None
        The reason why "auto" is the CPU for this objective, such as PYTHON_ON_CPU; None: it may be a GPU.
    verbose : int
        Whether to print it.
    """
    chosen = isinstance(device, str) and device == "auto"
    if chosen and cpu_reason is not None:
        engine, reason = choose_engine("cpu", n_jobs)[0], cpu_reason
    else:
        engine, reason = choose_engine(device, n_jobs)
    if verbose and chosen:
        print(f"skde: device='auto' chose {engine.name}: {reason}")
    return engine
