"""Fixtures of all tests."""

from __future__ import annotations

import gc
import os
import platform
import sys
from collections.abc import Generator, Iterator
from typing import Any

# Before OpenMP and BLAS are loaded, also in processes that tests start. Threads that wait must not take the processors
# from other tests, and the matrices of the tests are small.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "2")

import cloudpickle
import hypothesis
import joblib
import pytest

from skde import DeviceObjective
from skde.engines import find_gpus
from skde.engines.gpu import graph_replay

from .signal_handlers import default_handlers

os.environ.setdefault("MPLBACKEND", "Agg")
# Processes that tests start use the package that is under test, and not the sources where they happen to stand.
if "PYTHONPATH" not in os.environ:
    os.environ["PYTHONSAFEPATH"] = "1"
hypothesis.settings.register_profile("skde", deadline=None, derandomize=True, max_examples=50)
hypothesis.settings.load_profile("skde")


# Where the test extra brings the GPU's compiler; NVIDIA has none for other systems.
HAS_NVRTC = platform.system() == "Linux" and platform.machine() == "x86_64"


PATH = [*sys.path]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, Any, Any]:
    """Run a test, with its fixtures, as if a terminal had started it."""
    with default_handlers():
        return (yield)


def pytest_runtest_teardown() -> None:
    """Remove the current folder, which commands add to the path: processes of later tests would take the sources.

    Close the figures of pyplot, which warns of too many.
    """
    here = os.getcwd()
    while here in sys.path and here not in PATH:
        sys.path.remove(here)
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Let Ctrl-C raise in the test itself.

    Nothing is collected meanwhile: Python ignores what is raised in callbacks of the collector, such as hypothesis has.
    """
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def without_jax(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let fits record, although other tests may have loaded JAX."""
    monkeypatch.setattr(graph_replay, "NEVER_RECORDED", {})


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return the number of processes of `-n auto`: one alone where tests use a GPU's memory.

    Else one more than processors, because many tests wait for processes that they start.
    """
    on_gpu = find_gpus()[0] > 0 and config.option.markexpr != "not gpu"
    return 1 if on_gpu else joblib.cpu_count() + 1


def pytest_report_header() -> list[str]:
    """Say which tests are left out, and why."""
    count, reason = find_gpus()
    lines = [f"gpu tests: on {count} GPUs" if count else f"gpu tests: left out, {reason}"]
    if not HAS_NVRTC:
        lines.append("nvrtc tests: left out, the compiler is installed on Linux on x86-64 only")
    return lines


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what cannot be tested here."""
    without_gpu = not find_gpus()[0]

    def left_out(item: pytest.Item) -> bool:
        gpu = without_gpu and item.get_closest_marker("gpu") is not None
        return gpu or (not HAS_NVRTC and item.path.name == "test_nvrtc.py")

    # Processes that tests start cannot import the tests: what they get of these goes to them whole.
    for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
        cloudpickle.register_pickle_by_value(sys.modules[name])

    config.hook.pytest_deselected(items=[item for item in items if left_out(item)])
    items[:] = [item for item in items if not left_out(item)]


@pytest.fixture
def objective_with_scratch() -> DeviceObjective:
    """Return an objective with working memory of one number for each variable, and an array."""
    body = """
    real* y = team.scratch;
    team.each(d, [&](int j) { y[j] = cos(x[j]) * w[j % int(w_size)]; });
    team.sync();
    return team.sum(d, [&](int j) { return y[j] + x[(j + 1) % d] * x[j]; });
    """
    return DeviceObjective(body, arrays={"w": [1.0, 2.0, 3.0]}, scratch=1)
