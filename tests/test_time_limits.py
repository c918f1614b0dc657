"""Time limits of functions of one point: between points, in workers, and of one evaluation."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import NonlinearConstraint

from skde import DE, Minimizer, Recorder, Status

BOX = [(-5.0, 5.0)] * 2


def make(**parameters: Any) -> Minimizer:
    defaults: dict[str, Any] = {"bounds": BOX, "max_iter": 2, "random_state": 3, "device": "cpu", "vectorized": False}
    return Minimizer(DE(pop_size=20), **{**defaults, **parameters})


def sphere(x: Any) -> float:
    return float(((x - 0.5) ** 2).sum())


def slow(seconds: float, hangs: float = np.inf) -> Callable[[Any], float]:
    """Return a function that takes some seconds, and a minute where the first variable is larger than `hangs`."""

    def f(x: Any) -> float:
        import time

        time.sleep(60.0 if x[0] > hangs else seconds)
        return float(((x - 0.5) ** 2).sum())

    return f


def timed(m: Minimizer, f: Any) -> float:
    begin = time.monotonic()
    m.fit(f)
    return time.monotonic() - begin


@pytest.fixture
def workers() -> None:
    """Start joblib's processes, which takes seconds."""
    import joblib

    joblib.Parallel(n_jobs=2)(joblib.delayed(time.sleep)(0.2) for _ in range(4))


def test_the_limit_is_looked_at_between_points() -> None:
    m = make(max_time=0.5)
    assert timed(m, slow(0.1)) < 2.0
    assert 1 <= m.n_evals_ <= 5
    assert m.runs_[0].status == Status.TIME
    whole = make().fit(sphere)
    m.set_params(max_time=None).resume(sphere)
    assert (m.n_evals_, m.fun_) == (60, whole.fun_)


def test_one_point_is_evaluated_in_any_case() -> None:
    m = make(max_time=1e-6).fit(sphere)
    assert m.n_evals_ == 1
    assert np.isfinite(m.fun_)


def test_workers_stop_by_themselves(workers: None) -> None:
    m = make(max_time=0.7, n_jobs=2)
    assert timed(m, slow(0.1)) < 5.0
    assert 2 <= m.n_evals_ <= 16
    assert m.runs_[0].status == Status.TIME
    whole = make().fit(sphere)
    m.set_params(max_time=None, n_jobs=None).resume(sphere)
    assert (m.n_evals_, m.fun_) == (60, whole.fun_)


def test_workers_that_hang_are_ended_at_the_limit(workers: None) -> None:
    m = make(max_time=1.0, n_jobs=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert timed(m, slow(0.02, hangs=3.0)) < 10.0
    assert 1 <= m.n_evals_ < 20
    assert m.runs_[0].status == Status.TIME


@pytest.mark.parametrize("n_runs", [1, 2])
def test_an_evaluation_that_takes_too_long_is_nan(n_runs: int) -> None:
    def cut(x: Any) -> float:
        return np.nan if x[0] > 4.0 else sphere(x)

    whole = make(max_iter=1, n_runs=n_runs).fit(cut)
    m = make(max_iter=1, max_eval_time=0.5, n_jobs=2, n_runs=n_runs)
    with pytest.warns(RuntimeWarning, match=r"an evaluation took longer than max_eval_time=0\.5 seconds") as found:
        m.fit(slow(0.0, hangs=4.0))
    assert len(found) == 1
    assert [run.n_evals for run in m.runs_] == [40] * n_runs
    assert m.fun_ == whole.fun_
    assert np.array_equal(m.fitness_, whole.fitness_, equal_nan=True)
    assert np.isnan(m.fitness_).any()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "n_jobs must be 2 or more, got n_jobs=None"),
        ({"n_jobs": 1}, "n_jobs must be 2 or more, got n_jobs=1"),
        ({"n_jobs": 2, "execution": "joblib"}, "got n_jobs=2 and execution='joblib'"),
        ({"n_jobs": 2, "vectorized": True}, "is for a Python function of one point"),
        ({"n_jobs": 2, "max_eval_time": 0}, r"max_eval_time must be a number in \(0, inf\], got 0"),
    ],
)
def test_a_limit_of_evaluations_needs_processes(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(**{"max_eval_time": 1.0, **parameters}).fit(lambda X: ((X - 0.5) ** 2).sum(axis=-1))


@pytest.mark.parametrize("polish", ["L-BFGS-B", "Nelder-Mead", "quasi-Newton", "COBYQA", True])
def test_a_polish_ends_at_the_limit(polish: Any) -> None:
    """A gradient in 30 variables takes longer than the limit."""
    calls = []

    def f(x: Any) -> float:
        calls.append(x)
        time.sleep(0.1 if len(calls) > 20 else 0.0)
        return float(((x - 0.5) ** 2).sum())

    dim = 10 if polish in (True, "Nelder-Mead", "COBYQA") else 30
    m = make(bounds=[(-5.0, 5.0)] * dim, max_iter=0, max_time=0.2, polish=polish)
    assert timed(m, f) < 0.9
    assert m.n_evals_ == len(calls)
    assert m.fun_ == min(float(((x - 0.5) ** 2).sum()) for x in calls)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
@pytest.mark.parametrize("polish", ["L-BFGS-B", "Nelder-Mead", "quasi-Newton"])
def test_an_interrupted_polish_counts_what_it_evaluated(polish: str, error: Any) -> None:
    calls = []

    def f(x: Any) -> float:
        if len(calls) == 27:
            raise error
        calls.append(x)
        return float(((x - 0.5) ** 2).sum())

    m = make(bounds=[(-5.0, 5.0)] * 10, max_iter=0, polish=polish)
    with pytest.raises(error):
        m.fit(f)
    assert m.n_evals_ == len(calls) == 27
    assert m.fun_ == min(float(((x - 0.5) ** 2).sum()) for x in calls)


@pytest.mark.parametrize("again", ["same", "file"])
@pytest.mark.parametrize("polish", ["L-BFGS-B", "Nelder-Mead", "quasi-Newton", "SLSQP", True])
def test_a_polish_goes_on_from_its_best_point(polish: Any, again: str, tmp_path: Path) -> None:
    """What it had evaluated counts, is recorded, and is the start of the next one."""
    calls: list[Any] = []
    breaks = {30, 31, 55}

    def f(x: Any) -> float:
        if len(calls) in breaks:
            breaks.remove(len(calls))
            raise ZeroDivisionError
        calls.append(x.copy())
        return float(((x - 0.5) ** 2).sum() + 0.1 * ((x[1:] - x[:-1] ** 2) ** 2).sum())

    recorder = Recorder(tmp_path / "log.jsonl")
    m = make(bounds=[(-5.0, 5.0)] * 6, max_iter=0, polish=polish, max_evals=2000, recorder=recorder)
    with pytest.raises(ZeroDivisionError):
        m.fit(f)
    for _ in range(10):
        before, best = len(calls), m.fun_
        assert m.n_evals_ == before == len(recorder)
        assert best == f_min(calls)
        if again == "file":
            m.save(tmp_path / "fit")
            m = Minimizer.load(tmp_path / "fit").set_params(recorder=recorder)
            assert (m.n_evals_, m.fun_) == (before, best)
        try:
            m.resume(f)
            break
        except ZeroDivisionError:
            pass
    assert not breaks
    assert m.n_evals_ == len(calls) == len(recorder)
    assert m.fun_ == f_min(calls) <= best
    assert m.runs_[0].polish_complete


def f_min(points: list[Any]) -> float:
    """Return the least value of this function at some points."""
    return min(float(((x - 0.5) ** 2).sum() + 0.1 * ((x[1:] - x[:-1] ** 2) ** 2).sum()) for x in points)


@pytest.mark.parametrize("slow_part", ["objective", "constraint"])
def test_functions_of_constraints_end_at_the_limit(slow_part: str) -> None:
    def wait(part: str) -> None:
        if part == slow_part:
            time.sleep(0.05)

    def g(x: Any) -> float:
        wait("constraint")
        return float(x[0] + x[1])

    def f(x: Any) -> float:
        wait("objective")
        return sphere(x)

    m = make(constraints=NonlinearConstraint(g, -20.0, 20.0), max_time=0.3)
    assert timed(m, f) < 1.0
    assert 1 <= m.n_evals_ < 20
    assert m.runs_[0].status == Status.TIME
    m.set_params(max_time=None).resume(f if slow_part == "constraint" else sphere)
    assert m.fun_ == make().fit(sphere).fun_


def test_a_limit_of_evaluations_under_constraints() -> None:
    m = make(constraints=NonlinearConstraint(lambda x: x[..., 0], -20.0, 20.0), max_iter=0, max_eval_time=0.5, n_jobs=2)
    with pytest.warns(RuntimeWarning, match="an evaluation took longer than"):
        m.fit(slow(0.0, hangs=3.0))
    assert m.n_evals_ == 20
    assert np.isfinite(m.fun_)
