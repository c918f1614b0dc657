"""What all tests share."""

from __future__ import annotations

import os

import hypothesis
import pytest

from skde.engines import find_gpus

os.environ.setdefault("MPLBACKEND", "Agg")
# Processes that tests start use the package that is under test, and not the sources where they happen to stand.
if "PYTHONPATH" not in os.environ:
    os.environ["PYTHONSAFEPATH"] = "1"
hypothesis.settings.register_profile("skde", deadline=None, derandomize=True, max_examples=50)
hypothesis.settings.load_profile("skde")


def pytest_report_header() -> str:
    """Say why GPU tests are left out, where they are."""
    count, reason = find_gpus()
    return f"gpu tests: on {count} GPUs" if count else f"gpu tests: left out, {reason}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave GPU tests out where there is no GPU."""
    if find_gpus()[0]:
        return
    gpu = [item for item in items if item.get_closest_marker("gpu")]
    config.hook.pytest_deselected(items=gpu)
    items[:] = [item for item in items if not item.get_closest_marker("gpu")]
