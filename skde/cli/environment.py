"""The machine, the GPUs and the versions in use, for `skde info` and for records of measurements."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from skde import __version__, _cpu
from skde.engines import choose_device, find_gpus

LIBRARIES = ("numpy", "scipy", "scikit-learn", "joblib")
OPTIONAL_LIBRARIES = ("optuna", "cupy", "cupy-cuda11x", "cupy-cuda12x", "cupy-cuda13x", "jax", "torch")


def versions(others: Sequence[str] = ()) -> dict[str, str]:
    """Return the versions of skde, Python and the libraries in use; of optional and other ones if installed."""
    installed = {"skde": __version__, "python": platform.python_version()}
    for name in (*LIBRARIES, *OPTIONAL_LIBRARIES, *others):
        try:
            installed[name] = version(name)
        except PackageNotFoundError:
            if name in LIBRARIES:
                installed[name] = "not found"
    return installed


def cpu_model() -> str:
    """Return the processor's name as the system gives it."""
    try:
        match = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        match = None
    return match[1].strip() if match else platform.processor() or platform.machine()


def gpu_descriptions() -> tuple[list[dict[str, str]], str]:
    """Return device and name of every GPU, and the reason if there is none."""
    count, reason = find_gpus()
    if not count:
        return [], reason
    engines = [choose_device(f"cuda:{number}")[0] for number in range(count)]
    return [{"device": engine.name, "name": getattr(engine, "description", engine.name)} for engine in engines], ""


def machine() -> dict[str, Any]:
    """Return the processor, the instruction sets that skde finds, and the default number of threads."""
    return {
        "system": platform.platform(),
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "threads": _cpu.max_threads(),
        "isa": _cpu.isa(),
        "isas": _cpu.isas(),
    }
