"""The phases of a fit: asked and told point by point, interrupted and resumed in the middle."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import NonlinearConstraint

from skde import Integer, Minimizer
from skde.fit.phases.scipy_search import NAMES

from .polished_fits import assert_same, assert_same_runs

BOX = [(-5.0, 10.0)] * 3


def add(X: Any) -> Any:
    """Return the sum of two variables, which is limited."""
    return X[..., 0] + X[..., 1]


HALF = NonlinearConstraint(add, -np.inf, 1.0)
# What local searches there are: of SciPy, of our own, one after the other, and under constraints.
PHASES: dict[str, dict[str, Any]] = {
    **{method: {"polish": method} for method in NAMES},
    "L-BFGS-B, Nelder-Mead": {"polish": True, "n_runs": 2},
    "by default": {"polish": None, "algorithm": "auto"},
    "several runs": {"polish": "quasi-Newton", "n_runs": 3},
    "SLSQP with constraints": {"polish": True, "constraints": HALF},
    "COBYQA with constraints": {"polish": "COBYQA", "constraints": HALF},
    "float32": {"polish": "quasi-Newton", "dtype": "float32"},
    "integers": {"polish": "Nelder-Mead", "bounds": {"n": Integer(-3, 3), "x": (-5.0, 10.0), "y": (-5.0, 10.0)}},
    "final_evals": {"polish": False, "final_evals": 100, "n_runs": 2},
}


def valley(X: Any) -> Any:
    """Rosenbrock's function."""
    return (100 * (X[..., 1:] - X[..., :-1] ** 2) ** 2 + (1 - X[..., :-1]) ** 2).sum(-1)


def make(phase: str = "", **parameters: Any) -> Minimizer:
    given = {"algorithm": "jde", "bounds": BOX, "max_evals": 1200, "random_state": 0, "device": "cpu", "n_jobs": 1}
    return Minimizer(**{**given, "vectorized": True, **PHASES.get(phase, {}), **parameters})


def ask_all(m: Minimizer, n: int | None = None, each: Callable[[Minimizer], Minimizer] = lambda m: m) -> Minimizer:
    """Evaluate everything that is asked for, and let `each` see the fit after every tell."""
    asked: set[int] = set()
    while not m.stopped_:
        X, ids = m.ask(n, return_ids=True)
        if n is not None:
            assert not asked & set(ids.tolist())
            asked |= set(ids.tolist())
            order = np.random.default_rng(len(asked)).permutation(len(ids))
            X, ids = X[order], ids[order]
            m.tell(f=valley(X), ids=ids)
        else:
            m.tell(X, valley(X))
        m = each(m)
    return m


@pytest.mark.parametrize("n", [None, 3])
@pytest.mark.parametrize("phase", [name for name in PHASES if name != "COBYQA with constraints"])
def test_what_is_asked_and_told_is_what_fit_makes(phase: str, n: int | None) -> None:
    fitted, asked = make(phase).fit(valley), ask_all(make(phase), n)
    assert_same(asked, fitted)
    if phase != "final_evals":
        assert asked.runs_[0].polish_evals > 0


def test_constraints_that_hide_the_function_are_asked_about_at_feasible_points_alone() -> None:
    m = make("SLSQP with constraints")
    while not m.stopped_:
        X = m.ask(5)
        assert (X[:, 0] + X[:, 1] <= 1 + 1e-6).all()
        m.tell(X, valley(X))
    assert m.runs_[0].polish_evals > 10
    assert m.max_violation_ <= 1e-6


def test_constraints_are_told_in_a_local_search(tmp_path: Path) -> None:
    def evaluate(m: Minimizer, saved: bool = False) -> Minimizer:
        while not m.stopped_:
            X = m.ask()
            m.tell(X, valley(X), g=add(X) - 1.0)
            if saved and m._fit.requests is not None:
                m.save(tmp_path / "fit")
                m = Minimizer.load(tmp_path / "fit")
        return m

    polished, alone = evaluate(make(polish=True)), evaluate(make(polish=False, max_evals=1080))
    assert polished.runs_[0].polish_evals > 10
    assert polished.fun_ < alone.fun_
    assert polished.max_violation_ <= 1e-6
    assert_same_runs(evaluate(make(polish=True), saved=True), polished)
    assert evaluate(make("by default")).runs_[0].polish_evals == 0


@pytest.mark.parametrize("copy", ["file", "pickle"])
@pytest.mark.parametrize("phase", ["Nelder-Mead", "L-BFGS-B", "several runs", "SLSQP with constraints", "final_evals"])
def test_a_phase_goes_on_from_a_file(phase: str, copy: str, tmp_path: Path) -> None:
    count = 0

    def reload(m: Minimizer) -> Minimizer:
        nonlocal count
        count += 1
        if count % 40 or m._fit.requests is None:
            return m
        if copy == "pickle":
            return pickle.loads(pickle.dumps(m))
        m.save(tmp_path / "fit")
        again = Minimizer.load(tmp_path / "fit")
        return again.set_params(constraints=m.constraints)

    m = ask_all(make(phase), 2, reload)
    assert count > 60
    assert_same_runs(m, make(phase).fit(valley))


class Broken:
    """The function, which raises an exception at some of its calls."""

    def __init__(self, every: int, error: type[BaseException]) -> None:
        self.every, self.error, self.calls, self.points = every, error, 0, 0

    def __call__(self, X: Any) -> Any:
        self.calls += 1
        if self.calls > 300 and self.calls % self.every == 0:
            raise self.error("once")
        self.points += 1
        return valley(X)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, StopIteration])
@pytest.mark.parametrize("phase", [*NAMES, "L-BFGS-B, Nelder-Mead", "several runs", "final_evals"])
def test_an_interrupted_phase_goes_on_in_the_middle(phase: str, error: type[BaseException]) -> None:
    """No point is evaluated twice, and the bits are those of a fit in one piece."""
    f = Broken(97, error)
    m = make(phase, vectorized=False)
    try:
        m.fit(f)
    except (error, RuntimeError):
        for _ in range(100):
            try:
                m.resume(f)
                break
            except (error, RuntimeError):
                continue
    assert f.calls > f.points + 3
    assert f.points == sum(run.n_evals for run in m.runs_)
    assert_same(m, make(phase, vectorized=False).fit(valley))


@pytest.mark.parametrize("phase", ["L-BFGS-B", "quasi-Newton", "final_evals"])
def test_a_callback_and_time_end_a_phase_that_goes_on(phase: str) -> None:
    if phase != "final_evals":
        m = make(phase, callbacks=lambda progress: progress.polishing).fit(valley)
        assert not m.runs_[0].polish_complete
        m.set_params(callbacks=None).resume(valley)
        assert_same(m, make(phase).fit(valley))


def test_a_larger_limit_begins_with_the_population() -> None:
    m = make("Nelder-Mead").fit(valley)
    before = m.runs_[0]
    m.set_params(max_evals=2400).resume(valley)
    assert m.n_iter_ > before.n_iter
    assert m.runs_[0].polish_evals > before.polish_evals
    assert m.n_evals_ <= 2400
    assert m.fun_ <= before.fun


def test_no_thread_stays() -> None:
    before = threading.active_count()
    m = make("L-BFGS-B")
    while m._begun_fit().requests is None:
        m.tell(X := m.ask(), valley(X))
        assert not m.stopped_
    assert threading.active_count() == before + 1  # SciPy waits for a value
    m._fit.requests.pause()
    assert threading.active_count() == before
    assert_same(ask_all(m), make("L-BFGS-B").fit(valley))
    assert threading.active_count() == before


def test_points_of_local_searches_cannot_be_replaced() -> None:
    m = make("quasi-Newton")
    while m._begun_fit().requests is None:
        m.tell(X := m.ask(), valley(X))
        assert not m.stopped_
    X, ids = m.ask(return_ids=True)
    with pytest.raises(ValueError, match="cannot be replaced by others"):
        m.tell(X + 0.1, valley(X), ids=ids)
    with pytest.raises(ValueError, match="none of the points"):
        m.tell(X + 0.1, valley(X))
    m.tell(X, valley(X))
    with pytest.raises(ValueError, match="ids must be"):
        m.tell(f=valley(X), ids=ids)


def test_no_id_is_used_twice_in_a_fit_that_goes_on(tmp_path: Path) -> None:
    """Generations follow a local search that has asked for points."""
    m, ids = make("Nelder-Mead", max_evals=3000), []

    def ask_to_the_end(m: Minimizer) -> None:
        while not m.stopped_:
            X, own = m.ask(7, return_ids=True)
            ids.extend(own.tolist())
            m.tell(f=valley(X), ids=own)

    ask_to_the_end(m)
    local, last = m.runs_[0].polish_evals, m.n_iter_
    m.save(tmp_path / "fit")
    m = Minimizer.load(tmp_path / "fit").set_params(max_evals=6000, callbacks=lambda progress: True)
    m.resume(valley)
    assert m.n_iter_ < last + 3
    ask_to_the_end(m)
    assert local > 250  # more than two generations have points
    assert m.n_iter_ > last + 3
    assert len(set(ids)) == len(ids)
