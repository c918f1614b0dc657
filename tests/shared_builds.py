"""Libraries that tests compile, once for all processes of a test run."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock


def built_once(name: str, build: Callable[[Path], None], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the path of a file that build(path) writes in the first process that asks for it."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # the folder of all processes
    path = folder / name
    with FileLock(folder / f"{name}.lock"):
        if not path.exists():
            unfinished = path.with_name(f"{name}.unfinished")
            build(unfinished)
            unfinished.rename(path)
    return path
