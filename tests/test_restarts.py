"""A fit without limits: independent restarts, which end it where they agree."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import LinearConstraint

from skde import Integer, Minimizer, Status, minimize
from skde.algorithms.restarts import list_restarts
from skde.fit.agreement import count_agreeing

from .polished_fits import assert_same

BOX = [(-5.0, 10.0)] * 3


def valley(X: Any) -> Any:
    """Rosenbrock's function."""
    return (100 * (X[..., 1:] - X[..., :-1] ** 2) ** 2 + (1 - X[..., :-1]) ** 2).sum(-1)


def waves(X: Any) -> Any:
    """Rastrigin's function, moved, in an even number of its waves."""
    Z = X - 0.7
    return (10 + Z**2 - 10 * np.cos(2 * np.pi * Z)).sum(-1)


def make(**parameters: Any) -> Minimizer:
    given = {"bounds": BOX, "random_state": 0, "device": "cpu", "n_jobs": 1, "vectorized": True}
    return Minimizer(**{**given, **parameters})


def test_it_ends_when_the_minimum_is_known() -> None:
    m = make().fit(valley)
    assert m.converged_
    assert m.fun_ < 1e-9
    assert m.n_evals_ < 5000
    assert m.message_.startswith("4 independent searches ended at this point.")
    assert m.runs_[0].status == Status.CONVERGED
    assert m.algorithm_.name.startswith("arrde, jso, cmaes, arrde")
    assert m.history_.n_evals[-1] == m.n_evals_
    assert (np.diff(m.history_.best) <= 0).all()
    result = minimize(valley, BOX, random_state=0, device="cpu", vectorized=True)
    assert result.success
    assert (result.fun, result.nfev) == (m.fun_, m.n_evals_)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("offset", [0.0, -1000.0])
def test_the_size_of_values_does_not_matter(scale: float, offset: float) -> None:
    m = make().fit(lambda X: scale * (valley(X) + (offset if scale == 1.0 else 0.0)))
    assert m.converged_
    assert np.abs(m.x_ - 1.0).max() < 1e-3


def test_local_minima_are_left() -> None:
    found = [make(random_state=seed, bounds=[(-5.0, 5.0)] * 4).fit(waves) for seed in range(5)]
    assert all(m.fun_ < 1e-6 for m in found)


@pytest.mark.parametrize("n", [None, 5])
def test_what_is_asked_and_told_is_what_fit_makes(n: int | None) -> None:
    m = make()
    while not m.stopped_:
        m.tell(X := m.ask(n), valley(X))
    assert_same(m, make().fit(valley))


def test_a_run_in_a_batch_is_the_run_alone() -> None:
    batch = make(n_runs=4).fit(valley)
    assert len({run.n_evals for run in batch.runs_}) > 1
    for run in batch.runs_:
        alone = make(random_state=run.seed).fit(valley)
        assert (alone.fun_, alone.n_evals_, alone.message_) == (run.fun, run.n_evals, run.message)
        assert np.array_equal(alone.x_, run.x)


@pytest.mark.parametrize("parameters", [{"device": ["cpu", "cpu"], "n_runs": 2}, {"vectorized": False}])
def test_forms_of_execution_have_the_same_bits(parameters: dict[str, Any]) -> None:
    m = make(**parameters).fit(valley)
    assert_same(m, make(n_runs=parameters.get("n_runs", 1)).fit(valley))


def test_it_goes_on_from_files(tmp_path: Path) -> None:
    m, count = make(n_runs=2), 0
    while not m.stopped_:
        m.tell(X := m.ask(), valley(X))
        count += 1
        if count % 30 == 0:
            m.save(tmp_path / "fit")
            m = Minimizer.load(tmp_path / "fit")
    assert count > 100
    fitted = make(n_runs=2).fit(valley)
    assert_same(m, fitted)
    assert [run.seed for run in m.runs_] == [run.seed for run in fitted.runs_]
    assert m.message_ == fitted.message_


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_interrupted_fit_goes_on(error: type[BaseException]) -> None:
    calls = points = 0

    def f(x: Any) -> Any:
        nonlocal calls, points
        calls += 1
        if calls % 397 == 0:
            raise error
        points += 1
        return valley(x)

    m = make(vectorized=False)
    with pytest.raises(error):
        m.fit(f)
    for _ in range(100):
        try:
            m.resume(f)
            break
        except error:
            continue
    assert points == m.n_evals_
    assert_same(m, make().fit(valley))


def test_what_is_no_evidence() -> None:
    """Equal values, noise, and a callback: nothing is known."""
    flat = make().fit(lambda X: np.zeros(X.shape[:-1]))
    assert not flat.converged_
    assert flat.n_evals_ <= 41_000
    rng = np.random.default_rng(0)
    noisy = make().fit(lambda X: valley(X) + rng.normal(size=X.shape[:-1]))
    assert not noisy.converged_
    assert 20_000 < noisy.n_evals_ <= 41_000
    stopped = make(callbacks=lambda progress: progress.n_evals > 400).fit(valley)
    assert stopped.runs_[0].status == Status.CALLBACK
    assert not stopped.converged_
    with pytest.warns(RuntimeWarning, match="no value of the objective was finite"):
        assert make().fit(lambda X: np.full(X.shape[:-1], np.inf)).n_evals_ <= 41_000


@pytest.mark.parametrize(
    "parameters",
    [
        {"max_evals": 2000},
        {"max_iter": 50},
        {"tol": 1e-3},
        {"stagnation": 30},
        {"polish": False},
        {"final_evals": 100},
        {"n_islands": 2},
        {"bounds": {"n": Integer(-3, 3), "x": (-5.0, 5.0)}},
        {"algorithm": "jde"},
    ],
)
def test_limits_and_rules_of_a_user_have_no_restarts(parameters: dict[str, Any]) -> None:
    m = make(**parameters)
    m.ask()
    assert m._plan.n_restarts == 0


def test_a_target_ends_it() -> None:
    m = make(target=1e-3).fit(valley)
    assert m.runs_[0].status == Status.TARGET
    assert m.fun_ <= 1e-3
    assert m.n_evals_ < make().fit(valley).n_evals_


def test_a_larger_fit_follows_where_they_differ() -> None:
    """Many equal minima."""
    m = make(bounds=[(-10.0, 10.0)] * 4).fit(lambda X: 4 - (np.sin(3 * X) ** 2).sum(-1))
    assert m.fun_ < 1e-9
    assert len(m.algorithm_.algorithms) > len(list_restarts(4))
    assert m.n_evals_ <= 55_000


def test_agreement() -> None:
    u, values, gains = np.full((4, 1, 2), 0.5), np.zeros((4, 1)), np.ones(1)
    kinds = ["arrde", "jso", "cmaes", "arrde"]

    def count(u: Any = u, values: Any = values, gains: Any = gains, kinds: Any = kinds) -> int:
        return int(count_agreeing(u, values, gains, kinds, 12)[0])

    assert count() == 4
    assert count(u=u[:3], values=values[:3], kinds=kinds[:3]) == 0  # too few
    assert count(kinds=["jso"] * 4) == 0  # of one algorithm
    assert count(gains=np.zeros(1)) == count(gains=np.full(1, np.inf)) == 0  # nothing was gained
    for k in range(4):
        elsewhere, other, failed = u.copy(), values.copy(), values.copy()
        elsewhere[k], other[k], failed[k] = 0.6, 1e-5, np.nan
        assert count(u=elsewhere) == count(values=other) == count(values=failed) == 0
    nine = np.concatenate([u, np.full((5, 1, 2), 0.1)])
    worse = np.concatenate([values, np.ones((5, 1))])
    assert count(nine, worse, kinds=kinds * 2 + ["jso"]) == 0  # fewer than half
    assert count_agreeing(nine[::-1], worse[::-1], gains, kinds * 2 + ["jso"], 8)[0] == 4  # the long one is among them
    assert count_agreeing(nine, worse, gains, kinds * 2 + ["jso"], 8)[0] == 0


def slow(X: Any) -> Any:
    """The function, which takes 20 microseconds for a point."""
    time.sleep(20e-6 * len(np.atleast_2d(X)))
    return valley(X)


def test_time_is_a_budget(tmp_path: Path) -> None:
    m = make(max_time=0.5).fit(slow)
    assert 0.4 < m.time_ < 0.8
    assert m.fun_ < 1e-6
    assert m.runs_[0].status == Status.TIME
    assert not m.converged_
    assert len(m.algorithm_.spent) >= 1
    m.save(tmp_path / "fit")
    again, n_evals = Minimizer.load(tmp_path / "fit"), m.n_evals_
    assert again.set_params(max_time=1.0).resume(slow).n_evals_ > n_evals
    assert again.fun_ <= m.fun_
    assert make(max_time=0.3, n_runs=2, callbacks=lambda progress: progress.seconds > 0.1).fit(slow).time_ < 0.3


@pytest.mark.parametrize(
    "parameters",
    [
        {"constraints": LinearConstraint([[1.0, 1.0, 0.0]], -np.inf, 1.0)},
        {"bounds": {"n": Integer(-3, 3), "x": (-5.0, 10.0), "y": (-5.0, 10.0)}},
        {"bounds": {"n": Integer(-3, 3), "k": Integer(-3, 30), "y": Integer(-3, 30)}},
    ],
)
def test_time_is_a_budget_under_constraints_and_with_steps(parameters: dict[str, Any]) -> None:
    m = make(max_time=0.3, **parameters).fit(slow)
    assert m.max_violation_ <= 1e-6
    assert len(m.algorithm_.spent) >= 1 or m.runs_[0].exhausted
    assert m.time_ < 0.6


def test_nobody_measures_the_time_of_points_that_are_asked_for() -> None:
    m = make(max_time=10)
    m.ask()
    assert not m._plan.timed


def first_points(m: Minimizer, n_searches: int) -> list[Any]:
    """Return the first points that every search asks for."""
    found = [m.ask()]
    while len(found) < n_searches:
        m.tell(X := m.ask(), valley(X))
        assert not m.stopped_
        if len(m._fit.ledger.spent) == len(found):
            found.append(m.ask())
    return found


def test_searches_begin_at_other_points() -> None:
    """The first and the fourth search are by the same algorithm."""
    found = first_points(make(), 4)
    for k, one in enumerate(found):
        for other in found[:k]:
            assert not (one[:, None] == other).all(axis=2).any()


def test_a_restart_does_not_begin_at_the_points_of_a_user() -> None:
    x0 = [1.5, 2.5, 3.5]
    begun = []

    def f(X: Any) -> Any:
        begun.append((x0 == X).all(axis=-1).sum())
        return valley(X)

    m = make().fit(f, x0=x0)
    assert len(m.algorithm_.spent) >= 3
    assert sum(begun) == 1


def test_most_of_the_time_is_planned() -> None:
    """After a short search, each one plans with nearly all of the time that is left."""
    m = make(max_time=0.6).fit(slow)
    assert 1 <= len(m.algorithm_.spent) <= 6
    assert max(m.algorithm_.evals) > 0.3 * m.n_evals_
