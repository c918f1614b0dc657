"""Objectives that are defined only where the constraints hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, NonlinearConstraint

from skde import ConstrainedProblem, Minimizer, MinMaxSolver, array_namespace, get_problem, minimize
from skde.algorithms import algorithm_names

from ..minmax.games import constraint_of

DIM = 5
BOX = [(0.0, 1.0)] * DIM
CORNER = LinearConstraint(np.eye(DIM), 0.9, np.inf)  # 1e-5 of the box


def sphere(X: Any) -> Any:
    """Sum of squares, with the minimum in the corner."""
    return ((X - 0.95) ** 2).sum(axis=1)


DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


def hidden(value: Any) -> Any:
    """Return the sum of squares with this value outside the corner."""

    def f(X: Any) -> Any:
        xp = array_namespace(X)
        return xp.where((X >= 0.9 - 1e-9).all(axis=1), sphere(X), value)

    return f


def barrier(X: Any) -> Any:
    """A function that is NaN where the sum of x exceeds 1."""
    with np.errstate(invalid="ignore"):
        return -np.log(1.0 - X.sum(axis=1)) + ((X - 0.4) ** 2).sum(axis=1)


class Feasible:
    """An objective that is called with points of the corner alone, and counts them."""

    def __init__(self) -> None:
        self.points = 0

    def __call__(self, X: Any) -> Any:
        """Return the values of an array of points, or of one point."""
        points = X if X.ndim == 2 else X[None]
        assert (points >= 0.9 - 1e-5).all()
        self.points += len(points)
        return sphere(points) if X.ndim == 2 else float(sphere(points)[0])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, -1e300, 1e308])
def test_a_value_where_a_constraint_is_violated_does_not_count(value: float, device: str) -> None:
    options: dict[str, Any] = {"constraints": CORNER, "max_evals": 4000, "random_state": 3, "device": device}
    found, plain = (minimize(f, BOX, **options) for f in (hidden(value), sphere))
    assert found.success == plain.success
    assert found.fun == plain.fun < 1e-6
    np.testing.assert_array_equal(found.x, plain.x)


@pytest.mark.parametrize("seed", range(5))
def test_a_barrier_is_minimised(seed: int) -> None:
    box = [(0, 1)] * 6
    constraint = LinearConstraint(np.ones(6), -np.inf, 1)
    found = minimize(barrier, box, constraints=constraint, max_evals=20000, random_state=seed)
    assert found.fun == pytest.approx(0.96)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", algorithm_names())
def test_every_algorithm_calls_f_at_feasible_points_only(name: str, device: str) -> None:
    f = Feasible()
    m = Minimizer(name, max_evals=6000, constraints=CORNER, random_state=0, device=device).fit(f, bounds=BOX)
    assert m.max_violation_ == 0
    assert m.fun_ < 0.02
    assert f.points < m.n_evals_


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_function_of_one_point_is_called_at_feasible_points_only(n_jobs: int) -> None:
    f = Feasible()
    options: dict[str, Any] = {"constraints": CORNER, "max_evals": 2000, "random_state": 0, "vectorized": False}
    found = minimize(f, BOX, n_jobs=n_jobs, **options)
    assert found.fun < 1e-3
    assert n_jobs > 1 or 0 < f.points < found.nfev


@pytest.mark.parametrize("device", DEVICES)
def test_a_compiled_problem_ranks_infeasible_points_by_their_violation(device: str) -> None:
    """In most of this box f overflows, and the constraints do not."""
    problem = get_problem("fabris2012/p4")
    box = problem.bounds.copy()
    box[4] = -1e56, 1e56
    assert np.isinf(problem.f(box.max(axis=1)[None])).all()
    m = Minimizer("jde", max_evals=120_000, random_state=0, device=device).fit(problem, bounds=box)
    assert m.max_violation_ <= 1e-6
    assert np.isfinite(m.fun_)
    plain = ConstrainedProblem(problem.f, box, constraint_of(problem))
    outside = Minimizer("jde", max_evals=120_000, random_state=0, device="cpu").fit(plain)
    np.testing.assert_array_equal(m.population_, outside.population_)
    assert m.fun_ == outside.fun_


@pytest.mark.gpu
def test_points_are_chosen_by_the_host(capsys: pytest.CaptureFixture[str]) -> None:
    options: dict[str, Any] = {"constraints": CORNER, "max_iter": 200, "random_state": 0, "device": "cuda"}
    auto = Minimizer("jde", verbose=1, **options).fit(sphere, bounds=BOX)
    assert "chose 'step': the host chooses the feasible points" in capsys.readouterr().out
    np.testing.assert_array_equal(auto.x_, Minimizer("jde", **{**options, "device": "cpu"}).fit(sphere, bounds=BOX).x_)
    with pytest.raises(RuntimeError, match="the host chooses the feasible points"):
        Minimizer("jde", execution="graph", **options).fit(sphere, bounds=BOX)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("multipliers", ["update", "evolve"])
def test_a_lagrangian_ranks_points_without_a_value_by_their_violation(
    value: float, device: str, multipliers: str
) -> None:
    """The method needs f also where a constraint is violated, as far as it is known there."""
    problem = ConstrainedProblem(hidden(value), BOX, CORNER)
    options: dict[str, Any] = {"multipliers": multipliers, "penalty": 1e3 if multipliers == "evolve" else None}
    solver = MinMaxSolver("jde", max_iter=30, random_state=0, device=device, **options).fit(problem)
    assert solver.max_violation_ <= 1e-6
    assert solver.fun_ < 1e-3


def test_f_is_not_called_where_no_point_is_feasible() -> None:
    f = Feasible()
    nowhere = LinearConstraint(np.ones(DIM), 10, np.inf)
    m = Minimizer(max_evals=1000, constraints=nowhere, random_state=0).fit(f, bounds=BOX)
    assert f.points == 0
    assert np.isnan(m.fun_)
    assert m.max_violation_ == pytest.approx(5)


def test_a_violation_needs_no_objective() -> None:
    f = Feasible()
    problem = ConstrainedProblem(f, BOX, CORNER)
    X = np.array([[0.0] * DIM, [0.95] * DIM])
    assert problem.violation(X).tolist() == [pytest.approx(0.9 * DIM), 0.0]
    assert f.points == 0
    compiled = get_problem("fabris2012/p3")
    assert np.isfinite(compiled.violation(compiled.bounds.mean(axis=1)[None])).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_failed_value_is_worse_than_every_violation(bad: float) -> None:
    constraint = NonlinearConstraint(lambda x: x[..., 0], -np.inf, 0.5)
    m = Minimizer("jde", max_iter=30, constraints=constraint, random_state=0)
    m.fit(lambda X: np.where(X[:, 0] < 0.4, bad, X[:, 1]), bounds=[(0, 1)] * 2)
    assert 0.4 <= m.x_[0] <= 0.5 + 1e-6


def test_a_constraint_that_is_nan_is_an_infinite_violation() -> None:
    hole = NonlinearConstraint(lambda x: np.where(x[..., 0] < 0.9, np.nan, x[..., 1]), -np.inf, 0.5)
    f = Feasible()
    m = Minimizer("jde", max_iter=50, constraints=hole, random_state=0)
    m.fit(lambda X: f(np.where((X[:, :1] >= 0.9) & (X[:, 1:2] <= 0.5 + 1e-6), X * 0 + 1, X)), bounds=[(0, 1)] * 2)
    assert m.max_violation_ <= 1e-6


def test_the_probe_calls_f_at_feasible_points_only() -> None:
    f = Feasible()
    wide = LinearConstraint(np.eye(DIM), 0.9, np.inf)
    Minimizer("jde", max_iter=0, constraints=wide, random_state=0).fit(f, bounds=[(0.8, 1.0)] * DIM)
    assert f.points > 0


@pytest.mark.parametrize(
    "parameters", [{}, {"vectorized": False}, {"n_runs": 3}, {"device": ["cpu", "cpu"], "n_runs": 2}]
)
def test_calls_of_the_objective_are_counted(parameters: dict[str, Any], tmp_path: Path) -> None:
    f = Feasible()
    options: dict[str, Any] = {
        "max_evals": 3000,
        "constraints": CORNER,
        "random_state": 0,
        "vectorized": True,
        **parameters,
    }
    m = Minimizer("jde", **options).fit(f, bounds=BOX)
    assert 0 < m.n_fun_evals_ == f.points < sum(run.n_evals for run in m.runs_)
    m.save(tmp_path / "m")
    other = Minimizer.load(tmp_path / "m")
    assert other.n_fun_evals_ == m.n_fun_evals_
    other.set_params(constraints=CORNER, max_evals=4000).resume(f)
    assert m.n_fun_evals_ < other.n_fun_evals_ == f.points


def test_told_values_and_polishes_are_counted() -> None:
    m, told = Minimizer("jde", max_evals=2000, constraints=CORNER, random_state=0, bounds=BOX), 0
    while not m.stopped_:
        X, ids = m.ask(20, return_ids=True)
        if len(X):
            m.tell(f=sphere(X), ids=ids)
            told += len(X)
    assert m.n_fun_evals_ == told
    f = Feasible()
    polished = Minimizer(max_evals=3000, polish=True, constraints=CORNER, random_state=0, vectorized=True)
    assert polished.fit(f, bounds=BOX).n_fun_evals_ == f.points
    plain = Minimizer("jde", max_iter=3, n_runs=2, random_state=0).fit(sphere, bounds=BOX)
    assert plain.n_fun_evals_ == sum(run.n_evals for run in plain.runs_)
    compiled = Minimizer("jde", max_iter=3, random_state=0).fit("fabris2012/p3")
    assert compiled.n_fun_evals_ == compiled.n_evals_
    nowhere = Minimizer("jde", max_iter=3, constraints=LinearConstraint(np.ones(DIM), 10, np.inf), random_state=0)
    assert nowhere.fit(f, bounds=BOX).n_fun_evals_ == 0
