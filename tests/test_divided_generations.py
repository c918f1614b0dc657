"""Functions of one point on joblib's workers and on several devices: time limits and interruptions between points."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import LinearConstraint

from skde import DE, Categorical, Integer, Log, Migration, Minimizer, Real, Status

BOX = [(-5.0, 5.0)] * 2
WAYS: dict[str, dict[str, Any]] = {
    "workers": {"execution": "joblib", "n_jobs": 2, "device": "cpu"},
    "one worker": {"execution": "joblib", "n_jobs": 1, "device": "cpu"},
    "devices": {"device": ["cpu", "cpu"]},
}


def sphere(x: Any) -> float:
    return float(((np.asarray(x, np.float64) - 0.5) ** 2).sum())


class Logged:
    """A sphere that writes every point that it evaluates to a file, in whatever process.

    Parameters
    ----------
    path : Path
        The file. While there is a file `path.breaks`, points with a large first variable raise an exception.
    seconds : float
        The time of an evaluation.
    hangs : bool
        Whether such points take a minute instead.
    """

    def __init__(self, path: Path, seconds: float = 0.0, hangs: bool = False) -> None:
        self.path, self.seconds, self.hangs = path, seconds, hangs

    def __call__(self, x: Any) -> float:
        if self.path.with_suffix(".breaks").exists() and x[0] > (4.0 if self.hangs else 2.5):
            time.sleep(60.0 if self.hangs else 0.0)
            raise ZeroDivisionError(f"broken at {x[0]}")
        time.sleep(self.seconds)
        with open(self.path, "ab") as file:
            file.write(x.tobytes().hex().encode() + b"\n")
        return float(((np.asarray(x, np.float64) - 0.5) ** 2).sum())

    @property
    def seen(self) -> Counter[str]:
        """The number of evaluations of every point."""
        return Counter(self.path.read_text().split() if self.path.exists() else [])

    def breaks(self, now: bool) -> None:
        """Set whether it raises exceptions."""
        self.path.with_suffix(".breaks").touch() if now else self.path.with_suffix(".breaks").unlink()


@pytest.fixture(scope="module")
def workers() -> None:
    """Start joblib's processes, which takes seconds."""
    import joblib

    joblib.Parallel(n_jobs=2)(joblib.delayed(sphere)(0.0) for _ in range(4))
    make(max_iter=0, **WAYS["workers"]).fit(sphere)


@pytest.fixture
def f(tmp_path: Path) -> Logged:
    return Logged(tmp_path / "log")


def make(**parameters: Any) -> Minimizer:
    defaults: dict[str, Any] = {"bounds": BOX, "max_iter": 4, "n_runs": 4, "random_state": 3, "vectorized": False}
    return Minimizer(**{"algorithm": DE(pop_size=10), **defaults, **parameters})


def results(m: Minimizer) -> list[Any]:
    return [(run.x.tolist(), run.fun, run.n_evals, run.status, run.history.best.tolist()) for run in m.runs_]


def counted(m: Minimizer) -> int:
    return sum(run.n_evals for run in m.runs_)


@pytest.mark.parametrize("way", WAYS)
def test_the_limit_is_looked_at_between_points(way: str, f: Logged, workers: None) -> None:
    f.seconds = 0.1
    begin = time.monotonic()
    m = make(max_time=1.0, **WAYS[way]).fit(f)  # a generation takes two to four seconds
    assert time.monotonic() - begin < 1.0 + (5.0 if way == "workers" else 0.5)  # with the start of the workers
    assert 1 <= counted(m) == sum(f.seen.values()) < 40
    assert m.n_iter_ == 0
    assert {run.status for run in m.runs_} == {Status.TIME}
    assert m.fun_ == min(sphere(np.frombuffer(bytes.fromhex(x))) for x in f.seen)
    f.seconds = 0.0
    assert results(m.set_params(max_time=None).resume(f)) == results(make(device="cpu").fit(sphere))
    assert set(f.seen.values()) == {1}


@pytest.mark.parametrize("again", ["same", "file", "pickle"])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"n_runs": 2, "n_islands": 2, "migration": Migration(every=2), "max_iter": 7},
        {"n_runs": 1, "n_islands": 3, "migration": Migration(every=1)},
        {"bounds": [Integer(0, 9), Categorical(["a", "b"]), Log(0.01, 9.0), Real(-1.0, 4.0)], "dtype": "float32"},
        {"algorithm": "lshade", "max_evals": 300, "max_iter": None},
        {"constraints": LinearConstraint([1.0, 1.0], -3.0, 8.0)},
        {"n_runs": 3, "algorithm": [DE(pop_size=n) for n in (7, 12, 9)]},
    ],
    ids=["runs", "islands", "one run", "typed", "shrinking", "constrained", "algorithms"],
)
@pytest.mark.parametrize("way", ["workers", "devices"])
def test_interruptions_repeat_nothing(
    way: str, parameters: dict[str, Any], again: str, f: Logged, tmp_path: Path
) -> None:
    whole = make(device="cpu", **parameters).fit(sphere)
    m, constrained = make(**WAYS[way], **parameters), "constraints" in parameters
    f.breaks(True)
    with pytest.raises(ZeroDivisionError, match="broken at"):
        m.fit(f)
    for repeat in range(200):
        if not constrained:
            assert counted(m) == sum(f.seen.values())
        before = results(m)
        if again == "file":
            m.save(tmp_path / "fit")
            m = Minimizer.load(tmp_path / "fit").set_params(constraints=parameters.get("constraints"))
        elif again == "pickle":
            m = pickle.loads(pickle.dumps(m)).set_params(constraints=parameters.get("constraints"))
        np.testing.assert_equal(results(m), before)
        if repeat == 1:
            f.breaks(False)
        try:
            m.resume(f)
            break
        except ZeroDivisionError:
            assert repeat < 1
    assert results(m) == results(whole)
    if not constrained:
        assert counted(m) == sum(f.seen.values())


@pytest.mark.parametrize("way", WAYS)
def test_ctrl_c_ends_between_points(way: str, f: Logged, workers: None) -> None:
    f.seconds = 0.05
    m = make(**WAYS[way])
    threading.Timer(3.0 if way == "workers" else 1.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        m.fit(f)
    lost = sum(f.seen.values()) - counted(m)
    # A worker sends its values after a quarter of a second.
    assert lost == 0 if way != "workers" else lost <= 2 * 0.4 / 0.05
    assert counted(m) > 0
    f.seconds = 0.0
    assert results(m.resume(f)) == results(make(device="cpu").fit(sphere))
    assert way == "workers" or set(f.seen.values()) == {1}


def test_callbacks_are_called_within_a_generation(f: Logged) -> None:
    f.seconds = 0.05
    seen: list[int] = []

    def ends(progress: Any) -> bool:
        seen.append(progress.n_evals)
        return len(seen) == 2

    m = make(callbacks=ends, **WAYS["devices"]).fit(f)
    assert 0 < seen[0] < seen[1] == counted(m) < 40
    assert {run.status for run in m.runs_} == {Status.CALLBACK}


def test_workers_that_hang_are_ended_at_the_limit(f: Logged, workers: None) -> None:
    f.hangs, f.seconds = True, 0.1
    f.breaks(True)
    begin = time.monotonic()
    m = make(max_time=3.0, **WAYS["workers"]).fit(f)
    assert time.monotonic() - begin < 12.0
    assert {run.status for run in m.runs_} == {Status.TIME}
    assert counted(m) > 0
    f.breaks(False)
    f.seconds = 0.0
    m.set_params(max_time=None)
    assert results(m.resume(f)) == results(make(device="cpu").fit(sphere))
