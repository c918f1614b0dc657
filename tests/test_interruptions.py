"""Errors, Ctrl-C, kill -9 and full disks: results stay readable, and fits can be resumed."""

from __future__ import annotations

import enum
import errno
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skde import Checkpoint, Minimizer, Status
from skde.testing.base import PROBE_CALLS

from .digests.settings import all_fits
from .short_fits import BOX, f, fit

FITS = all_fits()


def test_a_callback_that_fails() -> None:
    def fails(progress: Any) -> None:
        if progress.n_iter == 3:
            raise ZeroDivisionError("the plot is broken")

    m = Minimizer("jde", max_iter=10, random_state=0, device="cpu", callbacks=fails)
    with pytest.raises(ZeroDivisionError, match="the plot is broken"):
        m.fit(f, bounds=BOX)
    assert m.n_iter_ == 3
    assert np.array_equal(m.set_params(callbacks=None).resume().x_, fit(max_iter=10).x_)


def test_the_result_before_an_error_stays() -> None:
    calls = []

    def breaks(X: Any) -> Any:
        calls.append(X)
        if len(calls) == PROBE_CALLS + 4:
            raise OSError("the instrument is gone")
        return f(X)

    m = Minimizer("jde", max_iter=10, random_state=0, device="cpu")
    with pytest.raises(OSError, match="the instrument is gone"):
        m.fit(breaks, bounds=BOX)
    assert m.n_evals_ == 300
    assert m.fun_ == min(f(X).min() for X in calls[PROBE_CALLS : PROBE_CALLS + 3])
    assert m.runs_[0].status == Status.RUNNING
    assert np.array_equal(m.resume(f).x_, fit(max_iter=10).x_)


def test_an_interrupt_inside_the_objective() -> None:
    calls = []

    def interrupted(X: Any) -> Any:
        calls.append(f(X).min())
        if len(calls) == PROBE_CALLS + 5:
            raise KeyboardInterrupt
        return f(X)

    m = Minimizer("jde", max_iter=10, random_state=0, device="cpu")
    with pytest.raises(KeyboardInterrupt):
        m.fit(interrupted, bounds=BOX)
    assert m.runs_[0].status == Status.INTERRUPTED
    assert (m.n_iter_, m.fun_) == (3, min(calls[PROBE_CALLS : PROBE_CALLS + 4]))
    assert np.array_equal(m.resume(f).x_, fit(max_iter=10).x_)


def test_a_fit_that_is_refused_leaves_the_last_one() -> None:
    m = fit()
    x, fun = m.x_.copy(), m.fun_
    for options in ({"bounds": [(1, 0)]}, {"bounds": BOX, "x0": [99, 0, 0]}):
        with pytest.raises(ValueError, match="bounds"):
            m.fit(f, **options)
        assert np.array_equal(m.x_, x)
        assert m.fun_ == fun


FIT = """
import sys, time
import numpy as np
from skde import Checkpoint, Minimizer
kind, path = sys.argv[1:]
def slow(X):
    time.sleep(0.01)
    return (X * X).sum(axis=1)
print("begins", flush=True)
options = dict(random_state=4, device="cpu", max_iter=None if kind != "killed" else 4000, max_time=30.0)
if kind == "killed":
    options["callbacks"] = [Checkpoint(path, every=0.0), lambda progress: time.sleep(0.02)]
m = Minimizer("jde", **options)
try:
    if kind == "slow":
        m.fit(slow, bounds=[(-5, 5)] * 4)
    else:
        m.fit("rastrigin", dim=10)
except KeyboardInterrupt:
    print(m.runs_[0].status.name, m.n_evals_ > 0, np.isfinite(m.fun_), flush=True)
"""


def start(kind: str, path: Path) -> subprocess.Popen[str]:
    """Begin a fit in another process."""
    process = subprocess.Popen([sys.executable, "-c", FIT, kind, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "begins\n"
    return process


@pytest.mark.parametrize("kind", ["slow", "compiled"])
def test_ctrl_c_ends_a_fit_with_the_best_so_far(kind: str, tmp_path: Path) -> None:
    process = start(kind, tmp_path / "unused")
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    out, _ = process.communicate(timeout=20)
    assert time.monotonic() - began < 5  # of the 30 seconds of the fit, on a busy machine
    assert out.split() == ["INTERRUPTED", "True", "True"]
    assert process.returncode == 0


LOOP = """
import sys
import scipy.optimize
from skde import Minimizer, MinMaxSolver, minimize, scipy_method
from skde.estimators import ModelRegressor
X, y = [[0.0], [1.0], [2.0]], [1.0, 2.0, 4.0]
few = dict(max_evals=100, max_restarts=1, n_agreeing=1)
FITS = {
    "minimizer": lambda: Minimizer("jde", max_iter=20, device="cpu").fit("sphere", dim=3),
    "function": lambda: Minimizer("jde", max_iter=20, device="cpu").fit(lambda X: X[:, 0] ** 2, bounds=[(-1, 1)]),
    "devices": lambda: Minimizer("jde", max_iter=20, n_runs=2, device=["cpu"] * 2).fit("sphere", dim=3),
    "resume": lambda: fitted.set_params(max_iter=fitted.max_iter + 20).resume(),
    "minimize": lambda: minimize("sphere", dim=3, max_iter=20, device="cpu"),
    "scipy": lambda: scipy.optimize.minimize(
        lambda x: x[0] ** 2, [0.5], method=scipy_method(max_iter=2, device="cpu"), bounds=[(-1, 1)]
    ),
    "model by a population": lambda: ModelRegressor(loss="absolute", **few).fit(X, y),
    "model by a local search": lambda: ModelRegressor(loss="huber").fit(X, y),
    "min-max": lambda: MinMaxSolver(max_iter=2, device="cpu").fit("minmax/rustem4"),
}
fitted = Minimizer("jde", max_iter=20, device="cpu").fit("sphere", dim=3)
fit = FITS[sys.argv[1]]
fit()
print("begins", flush=True)
try:
    while True:
        fit()
except KeyboardInterrupt:
    print("ends", flush=True)
"""


@pytest.mark.parametrize("kind", re.findall(r'^    "(.*)": lambda', LOOP, re.MULTILINE))
def test_one_ctrl_c_ends_a_loop_of_fits(kind: str) -> None:
    """Also where a fit ends before it reads the signal."""
    with subprocess.Popen([sys.executable, "-c", LOOP, kind], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begins\n"
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        try:
            assert process.communicate(timeout=20)[0] == "ends\n"
        finally:
            process.kill()
    assert process.returncode == 0


@pytest.mark.parametrize("name", FITS)
def test_numpy_runs_no_code_of_an_enumeration(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy drops exceptions that arrive in such code: there a loop of fits would go on after Ctrl-C."""
    asked = []

    def attribute(enumeration: type, name: str) -> Any:
        if name.startswith("__array"):
            asked.append(enumeration)
        raise AttributeError(name)

    monkeypatch.setattr(enum.EnumType, "__getattr__", attribute, raising=False)
    assert FITS[name]("cpu").runs_
    assert asked == []


def test_killed_and_resumed_equals_uninterrupted(tmp_path: Path) -> None:
    path = tmp_path / "fit.skde"
    process = start("killed", path)
    deadline = time.monotonic() + 20
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.1)
    process.kill()
    process.communicate()
    loaded = Minimizer.load(path)
    assert 0 < loaded.n_iter_ < 4000
    whole = Minimizer("jde", max_iter=4000, random_state=4, device="cpu").fit("rastrigin", dim=10)
    resumed = loaded.resume()
    assert np.array_equal(resumed.population_, whole.population_)
    assert np.array_equal(resumed.history_.best, whole.history_.best)


def test_checkpoints_are_taken_now_and_then(tmp_path: Path) -> None:
    path = tmp_path / "fit"
    fit("sphere", fit_options={"dim": 3}, callbacks=Checkpoint(path, every=3600.0))
    assert not path.exists()
    fit("sphere", fit_options={"dim": 3}, callbacks=Checkpoint(path, every=0.0))
    assert path.exists()
    with pytest.raises(ValueError, match=re.escape("every must be a number in [0, inf], got -1")):
        Checkpoint(path, every=-1)


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "fit.skde"
    fit("sphere", fit_options={"dim": 3}).save(path)
    before = path.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        fit("sphere", fit_options={"dim": 4}).save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [path.name]
