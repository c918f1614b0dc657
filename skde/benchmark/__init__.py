"""Measurements, and the description of their machine in records."""

from __future__ import annotations

import datetime
import os
import platform
import re
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from skde import __version__, _cpu
from skde.engines import choose_device, find_gpus

__all__ = ["commit", "cpu_model", "gpu_descriptions", "machine", "now", "provenance", "versions"]

LIBRARIES = ("numpy", "scipy", "scikit-learn", "joblib")
OPTIONAL_LIBRARIES = (
    *("optuna", "cupy", "cupy-cuda11x", "cupy-cuda12x", "cupy-cuda13x"),
    *("pygmo", "minionpy", "pyswarms", "fcmaes", "evosax", "jax", "evox", "torch"),
    *("cma", "coco-experiment", "ioh", "sklearn-genetic-opt"),
)


def now() -> str:
    """Return date and time, in UTC."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def today() -> str:
    """Return the date in UTC."""
    return now().partition("T")[0]


def provenance(command: str) -> dict[str, Any]:
    """Return the first entries of a record: date, machine, versions, commit and command of the measurement."""
    return {"date": now(), "machine": machine(), "versions": versions(), "commit": commit(), "command": command}


def versions() -> dict[str, str]:
    """Return the versions of skde, Python and the libraries in use; of optional ones if they are installed."""
    installed = {"skde": __version__, "python": platform.python_version()}
    for name in (*LIBRARIES, *OPTIONAL_LIBRARIES):
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


def commit() -> str | None:
    """Return the commit of the checkout that skde is imported from, or None for an installed copy."""
    package = Path(__file__).resolve().parent.parent

    def git(*arguments: str) -> str | None:
        done = subprocess.run(["git", *arguments], cwd=package, capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else None

    try:
        # An installed copy may be inside the checkout of another project.
        return git("rev-parse", "HEAD") if git("ls-files", "--error-unmatch", "__init__.py") else None
    except OSError:
        return None
