"""Measurements: suites, other libraries, records, statistics, reports, and the experiments of papers."""

from __future__ import annotations

import datetime
import subprocess
from pathlib import Path
from typing import Any

import skde
from skde.cli import environment
from skde.cli.environment import cpu_model, gpu_descriptions, machine

__all__ = ["commit", "cpu_model", "gpu_descriptions", "machine", "now", "provenance", "versions"]

PEERS = (
    *("pygmo", "minionpy", "pyswarms", "fcmaes", "evosax", "evox"),
    *("cma", "coco-experiment", "ioh", "sklearn-genetic-opt"),
)


def now() -> str:
    """Return date and time, in UTC."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def today() -> str:
    """Return the date in UTC."""
    return now().partition("T")[0]


def list_versions() -> dict[str, str]:
    """Return the versions of skde, Python, the libraries in use, and the libraries that skde is compared with."""
    return environment.versions(PEERS)


def provenance(command: str) -> dict[str, Any]:
    """Return the first entries of a record: date, machine, versions, commit and command of the measurement."""
    return {"date": now(), "machine": machine(), "versions": list_versions(), "commit": commit(), "command": command}


def commit() -> str | None:
    """Return the commit of the checkout that skde is imported from, or None for an installed copy."""
    package = Path(skde.__file__).resolve().parent

    def git(*arguments: str) -> str | None:
        done = subprocess.run(["git", *arguments], cwd=package, capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else None

    try:
        # An installed copy may be inside the checkout of another project.
        return git("rev-parse", "HEAD") if git("ls-files", "--error-unmatch", "__init__.py") else None
    except OSError:
        return None
