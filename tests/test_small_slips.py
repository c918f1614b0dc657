"""What a small slip would break: an off-by-one, a copy that is left out, one comparison for another."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import NonlinearConstraint

from skde import Fixed, Minimizer
from skde.estimators import ModelRegressor

BOX = [(-5.0, 10.0)] * 3


def valley(X: Any) -> Any:
    """Rosenbrock's function."""
    return (100 * (X[..., 1:] - X[..., :-1] ** 2) ** 2 + (1 - X[..., :-1]) ** 2).sum(-1)


def make(**parameters: Any) -> Minimizer:
    given = {"algorithm": "jde", "bounds": BOX, "random_state": 0, "device": "cpu", "n_jobs": 1, "vectorized": True}
    return Minimizer(**{**given, **parameters})


def test_a_lower_limit_is_no_end_of_what_was_made(tmp_path: Path) -> None:
    m = make(max_iter=20).fit(valley)
    m.set_params(max_iter=5).resume(valley)
    assert m.n_iter_ == 20
    m.save(tmp_path / "fit")
    again = Minimizer.load(tmp_path / "fit")
    assert again.n_iter_ == 20
    assert np.array_equal(again.population_, m.population_)
    whole = make(max_iter=31).fit(valley)
    for other in (m, again):
        other.set_params(max_iter=31).resume(valley)
        assert np.array_equal(other.population_, whole.population_)
        assert other.n_evals_ == whole.n_evals_


def test_bounds_in_the_order_of_fortran_are_saved(tmp_path: Path) -> None:
    bounds = np.asfortranarray([[-5.0, 10.0], [-4.0, 3.0], [0.0, 2.0]])
    assert not bounds.flags.c_contiguous
    m = make(bounds=bounds, max_iter=7).fit(valley)
    m.save(tmp_path / "fit")
    again = Minimizer.load(tmp_path / "fit")
    assert np.array_equal(again.bounds, bounds)
    whole = make(bounds=bounds, max_iter=15).fit(valley)
    again.set_params(max_iter=15).resume(valley)
    assert np.array_equal(again.x_, whole.x_)


@pytest.mark.parametrize("polish", ["L-BFGS-B", "Nelder-Mead", "quasi-Newton"])
def test_a_slow_polish_counts_every_point(polish: str) -> None:
    """Callbacks look at it many times."""
    points = looks = 0

    def slow(x: Any) -> float:
        nonlocal points
        points += 1
        if points > 450:
            time.sleep(2e-3)
        return float(valley(x))

    def look(progress: Any) -> None:
        nonlocal looks
        looks += progress.polishing

    m = make(polish=polish, max_evals=600, vectorized=False, callbacks=look).fit(slow)
    assert looks > 2
    assert m.n_evals_ == points
    assert m.history_.n_evals[-1] == points
    assert m.runs_[0].polish_evals == points - m.n_iter_ * 100 - 100


def test_an_island_without_a_value_has_no_part_in_the_history() -> None:
    m = make(n_islands=2, max_iter=6)
    best = []
    while not m.stopped_:
        X = m.ask()
        f = valley(X)
        f[: len(f) // 2] = np.nan
        m.tell(X, f)
        best.append(f[len(f) // 2 :].min())
    assert np.array_equal(m.history_.best, np.minimum.accumulate(best)[: len(m.history_)])
    assert m.fun_ == min(best)


@pytest.mark.parametrize(("excess", "feasible"), [(0.0, True), (1e-12, False)])
def test_a_constraint_at_its_tolerance_is_satisfied(excess: float, feasible: bool) -> None:
    constraint = NonlinearConstraint(lambda X: np.full(len(X), 0.5 + excess), -np.inf, 0.0)
    m = make(constraints=constraint, feasibility_tol=0.5, max_iter=3).fit(valley)
    assert m.runs_[0].feasible is feasible


def test_a_fixed_parameter_does_not_change_the_errors_of_the_others() -> None:
    rng = np.random.default_rng(0)
    x = np.linspace(0.0, 3.0, 60)
    y = 2.0 * np.exp(-1.3 * x) + 0.5 + 0.05 * rng.normal(size=60)

    def model(X: Any, theta: Any) -> Any:
        return theta[0] * np.exp(-theta[1] * X[:, 0]) + theta[2]

    def alone(X: Any, theta: Any) -> Any:
        return theta[0] * np.exp(-theta[1] * X[:, 0]) + 0.5

    free = {"a": (0.0, 5.0), "k": (0.0, 5.0)}
    fits = [
        ModelRegressor(model, {**free, "c": Fixed(0.5)}, random_state=0).fit(x[:, None], y),
        ModelRegressor(alone, free, random_state=0).fit(x[:, None], y),
    ]
    errors = [fit.standard_errors_[:2] for fit in fits]
    assert errors[0] == pytest.approx(errors[1], rel=1e-4)
