"""The polish under constraints: near the optimum, at feasible points only, and never worse than its start."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint, minimize

from skde import ConstrainedProblem, Integer, Log, Minimizer, differential_evolution
from skde.fit.phases.feasible_search import FeasibleSearch, shortest_step
from skde.fit.search_values import rows_of
from skde.objectives.feasibility import FeasibilityRules

TOLERANCE = 1e-6


def fit(f: Any, bounds: Any, constraints: Any, **parameters: Any) -> Minimizer:
    given: dict[str, Any] = {"max_evals": 3000, "random_state": 0, "device": "cpu", "polish": True, **parameters}
    return Minimizer("jde", constraints=constraints, **given).fit(f, bounds=bounds)


def convex(dim: int, seed: int) -> tuple[Callable[[Any], Any], LinearConstraint, float]:
    """Return c'x + 0.1 |x|^2, constraints A x <= b, and the minimum in the box from -5 to 5."""
    random = np.random.default_rng(seed)
    A, b, c = random.standard_normal((dim, dim)), random.uniform(0.5, 2.0, dim), random.standard_normal(dim)
    minimum = minimize(
        lambda x: c @ x + 0.1 * x @ x,
        np.zeros(dim),
        jac=lambda x: c + 0.2 * x,
        bounds=[(-5, 5)] * dim,
        constraints={"type": "ineq", "fun": lambda x: b - A @ x, "jac": lambda x: -A},
        method="SLSQP",
        options={"ftol": 1e-10, "maxiter": 1000},
    )
    assert minimum.success
    return lambda X: X @ c + 0.1 * (X**2).sum(axis=-1), LinearConstraint(A, -np.inf, b), minimum.fun


@pytest.mark.parametrize("dim", [5, 10, 20, 60])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_convex_problems_are_solved(dim: int, seed: int) -> None:
    f, constraint, minimum = convex(dim, seed)
    m = fit(f, [(-5, 5)] * dim, constraint, max_evals=300 * dim)
    assert m.fun_ - minimum <= 5e-5 * max(1, abs(minimum))
    assert m.max_violation_ <= TOLERANCE
    assert m.runs_[0].polish_evals <= 30 * dim
    assert m.n_evals_ <= 300 * dim


def test_units_of_variables_and_constraints_do_not_matter() -> None:
    f, constraint, minimum = convex(10, 0)
    units, rows = 10.0 ** np.arange(-5, 5), 10.0 ** np.arange(5, -5, -1)
    scaled = LinearConstraint(constraint.A / units * rows[:, None], -np.inf, constraint.ub * rows)
    box = np.outer(units, [-5, 5])
    m = fit(lambda X: 1e4 * f(X / units), box, scaled, feasibility_tol=1e-9)
    assert m.fun_ == pytest.approx(1e4 * minimum, rel=5e-5)


# -- where f is called -------------------------------------------------------------------------------------------------


class Inside:
    """f of points that it has a value for: it raises for any that violates the constraint by more than 1e-6."""

    def __init__(self, violation: Callable[[Any], Any], f: Callable[[Any], Any]) -> None:
        self.violation, self.f, self.calls = violation, f, 0

    def __call__(self, X: Any) -> Any:
        self.calls += len(X)
        if (self.violation(X) > TOLERANCE).any():
            raise ValueError("not here")
        return self.f(X)


OUTSIDE: dict[str, tuple[Any, Any, Any, float, float]] = {
    "linear": (
        LinearConstraint([1, 1, 1], -np.inf, 1),
        lambda X: X.sum(axis=1) - 1,
        lambda X: ((X - 0.6) ** 2).sum(axis=1),
        0.64 / 3,
        0.1,
    ),
    "ball": (
        NonlinearConstraint(lambda x: (x**2).sum(axis=-1), -np.inf, 0.75),
        lambda X: (X**2).sum(axis=1) - 0.75,
        lambda X: -X.sum(axis=1),
        -1.5,
        0.1,
    ),
    "sphere": (
        NonlinearConstraint(lambda x: (x**2).sum(axis=-1), 0.75, 0.75),
        lambda X: abs((X**2).sum(axis=1) - 0.75),
        lambda X: -X.sum(axis=1),
        -1.5,
        0.5,
    ),
}


@pytest.mark.parametrize("kind", OUTSIDE)
def test_f_is_called_at_feasible_points_only(kind: str) -> None:
    """The search begins at a feasible point or, on the sphere, near one."""
    constraint, violation, f, minimum, start = OUTSIDE[kind]
    inside = Inside(violation, f)
    search = feasible_search(inside, constraint, np.full(3, start))
    search.run("SLSQP")
    assert inside.calls > 0
    assert violation(search.x[None])[0] <= TOLERANCE
    assert search.code == pytest.approx(minimum, abs=1e-5)


def feasible_search(f: Any, constraint: Any, x: Any, tolerance: float = TOLERANCE, **options: Any) -> FeasibleSearch:
    """Return a search in the unit cube."""
    problem = ConstrainedProblem(f, [(0, 1)] * len(x), constraint)
    rules = FeasibilityRules(problem, tolerance)
    return FeasibleSearch(
        lambda X: rows_of(rules, X, everywhere=False),
        x,
        np.inf,
        *problem.bounds.T,
        n_inequalities=problem.n_inequalities,
        tolerance=tolerance,
        linear=problem.linear_slopes,
        **options,
    )


@pytest.mark.parametrize("polish", [True, "trust-constr", "COBYQA"])
@pytest.mark.parametrize("failure", ["nan", "inf", "raise"])
def test_f_need_not_be_defined_outside(polish: Any, failure: str) -> None:
    def f(X: Any) -> Any:
        outside = X.sum(axis=1) > 1 + TOLERANCE
        if failure == "raise" and outside.any():
            raise ValueError("not here")
        values = ((X - 0.6) ** 2).sum(axis=1)
        return np.where(outside, np.nan if failure == "nan" else -np.inf, values)

    problem = feasible_search(f, LinearConstraint(np.ones(3), -np.inf, 1), np.zeros(3))
    assert problem.run("SLSQP").fun == pytest.approx(0.64 / 3, abs=2e-6)
    box = [(0, 0.4)] * 3  # most of its points are feasible
    m = fit(f if failure != "raise" else quiet(f), box, LinearConstraint(np.ones(3), -np.inf, 1), polish=polish)
    assert m.max_violation_ <= TOLERANCE
    assert m.fun_ == pytest.approx(0.64 / 3, abs=1e-5)


def quiet(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function of which the population sees no exception."""

    def g(X: Any) -> Any:
        return f(X) if len(X) < 20 else ((X - 0.6) ** 2).sum(axis=1)

    return g


@pytest.mark.parametrize("tolerance", [0.0, 1e-3])
def test_the_tolerance_is_kept_and_used(tolerance: float) -> None:
    constraint = LinearConstraint(np.ones(3), -np.inf, 1)
    search = feasible_search(lambda X: -X.sum(axis=1), constraint, np.zeros(3), tolerance)
    search.run("SLSQP")
    assert search.x.sum() <= 1 + tolerance
    assert search.code == pytest.approx(-1 - 0.9 * tolerance, abs=1e-6)


def test_values_that_are_not_finite_inside_are_avoided() -> None:
    def f(X: Any) -> Any:
        with np.errstate(invalid="ignore", divide="ignore"):
            return -np.log(1 - X.sum(axis=1)) - 3 * X.sum(axis=1)  # the minimum has the sum 2/3

    search = feasible_search(f, LinearConstraint(np.ones(3), -np.inf, 2), np.full(3, 0.01))
    assert search.run("SLSQP").fun == pytest.approx(np.log(3) - 2)


@pytest.mark.parametrize("dim", [2, 5, 20])
def test_f_may_have_no_value_at_the_limit_of_a_constraint(dim: int) -> None:
    """The nearest feasible point is at the limit of the sum, where the logarithm has no value."""

    def f(X: Any) -> Any:
        with np.errstate(invalid="ignore", divide="ignore"):
            return -np.log(1 - X.sum(axis=1)) + ((X - 0.9) ** 2).sum(axis=1)

    search = feasible_search(f, LinearConstraint(np.ones(dim), -np.inf, 1), np.full(dim, 0.9))
    s = search.run("SLSQP").x.sum()
    assert s == pytest.approx(dim * search.x[0], rel=1e-3)
    assert 1 / (1 - s) + 2 * (search.x[0] - 0.9) == pytest.approx(0, abs=1e-2)
    sphere = NonlinearConstraint(lambda x: (x**2).sum(axis=-1), -np.inf, 1)
    root = feasible_search(lambda X: -np.sqrt(1 - (X**2).sum(axis=1)) - X[:, 0], sphere, np.full(dim, 0.9))
    with np.errstate(invalid="ignore"):
        assert root.run("SLSQP").fun == pytest.approx(-np.sqrt(2), abs=1e-5)


# -- starts and ends ---------------------------------------------------------------------------------------------------


def test_an_infeasible_best_point_becomes_feasible() -> None:
    """A random point is not on the sphere; the population alone has not reached it."""
    sphere = NonlinearConstraint(lambda x: (x**2).sum(axis=-1), 1.0, 1.0)
    plane = LinearConstraint(np.ones(6), 0.5, 0.5)
    given: dict[str, Any] = {"bounds": [(-2, 2)] * 6, "constraints": [sphere, plane], "max_evals": 1500}
    without = fit(lambda X: X[:, 0], **{**given, "max_evals": 1350}, polish=False)
    assert not without.runs_[0].feasible
    m = fit(lambda X: X[:, 0], **given)
    assert m.runs_[0].feasible
    assert m.fun_ == pytest.approx(1 / 12 - np.sqrt((1 - 1 / 24) * 5 / 6), abs=1e-4)


def test_constraints_that_no_point_satisfies_end_the_search() -> None:
    far = NonlinearConstraint(lambda x: x[..., 0] ** 2 + x[..., 1] ** 2, 100, np.inf)
    m = fit(lambda X: X[:, 0], [(-3, 3)] * 2, far)
    assert not m.runs_[0].feasible
    assert m.max_violation_ == pytest.approx(82)


@pytest.mark.parametrize("polish", [True, "SLSQP", "trust-constr", "COBYQA"])
def test_it_is_never_worse_than_its_start(polish: Any) -> None:
    random = np.random.default_rng(0)

    def rough(X: Any) -> Any:
        noise = np.sin(1e4 * X).sum(axis=1)
        return np.where(X[:, 0] < -1, np.nan, (X**2).sum(axis=1) + noise)

    for _ in range(3):
        A = random.standard_normal((2, 4))
        given: dict[str, Any] = {"bounds": [(-3, 3)] * 4, "constraints": LinearConstraint(A, -np.inf, -0.5)}
        before = fit(rough, **given, max_evals=900, polish=False)
        m = fit(rough, **given, max_evals=1000, polish=polish)
        assert m.fun_ <= before.fun_
        assert m.max_violation_ <= TOLERANCE
        assert m.n_evals_ <= 1000


def test_discrete_variables_stay() -> None:
    bounds = {"n": Integer(1, 9), "rate": Log(1e-4, 1.0), "x": (-2.0, 2.0)}
    product = NonlinearConstraint(lambda x: x[..., 0] * x[..., 1], 0.5, np.inf)
    m = fit(lambda X: X[:, 0] + X[:, 1] + (X[:, 2] - 1) ** 2, bounds, product)
    assert m.params_["n"] == 1
    assert m.params_["rate"] == pytest.approx(0.5, rel=1e-5)
    assert m.params_["x"] == pytest.approx(1, abs=1e-5)


def test_the_same_result_after_an_interruption_and_in_one_piece() -> None:
    f, constraint, _ = convex(10, 0)
    once = fit(f, [(-5, 5)] * 10, constraint, n_runs=2)
    twice = fit(f, [(-5, 5)] * 10, constraint, n_runs=2, max_evals=1500).set_params(max_evals=3000).resume()
    assert np.array_equal(once.x_, fit(f, [(-5, 5)] * 10, constraint, n_runs=2).x_)
    assert twice.fun_ == pytest.approx(once.fun_, rel=1e-6)
    assert max(run.n_evals for run in twice.runs_) <= 3000


def test_slsqp_without_constraints() -> None:
    m = Minimizer("jde", polish="SLSQP", max_evals=1000, random_state=0).fit(
        lambda X: ((X - 0.3) ** 2).sum(axis=1), bounds=[(-1, 1)] * 4
    )
    assert m.fun_ < 1e-12


# -- parts -------------------------------------------------------------------------------------------------------------


def test_the_shortest_step() -> None:
    assert shortest_step(np.array([[1.0, 1.0]]), np.array([2.0])) == pytest.approx([1, 1])
    assert shortest_step(np.array([[1.0, 0.0], [0.0, 1e6]]), np.array([-1.0, 3e6])) == pytest.approx([0, 3])
    assert shortest_step(np.array([[1.0], [-1.0]]), np.array([1.0, 1.0])) is None
    assert shortest_step(np.zeros((1, 2)), np.zeros(1)).tolist() == [0, 0]


def test_differential_evolution_polishes_at_feasible_points() -> None:
    def f(x: Any) -> float:
        if x.sum() > 1:
            raise ValueError("not here")
        return float(((x - 0.6) ** 2).sum())

    for constraint in LinearConstraint(np.ones(3), -np.inf, 1), NonlinearConstraint(np.sum, -np.inf, 1):
        result = differential_evolution(f, Bounds(np.zeros(3), np.ones(3)), constraints=constraint, rng=0, maxiter=30)
        assert result.success or result.maxcv == 0
        assert result.fun == pytest.approx(0.64 / 3, abs=1e-5)


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e101, 1e150, 1e300])
@pytest.mark.parametrize("polish", [True, "trust-constr", "COBYQA", "L-BFGS-B"])
def test_the_size_of_values_does_not_matter(polish: Any, scale: float) -> None:
    constrained = polish != "L-BFGS-B"
    found = Minimizer(
        "jde",
        constraints=LinearConstraint(np.ones(3), -np.inf, 1) if constrained else None,
        polish=polish,
        max_evals=1500 if constrained else 1000,
        random_state=0,
    ).fit(lambda X: scale * ((X - 0.6) ** 2).sum(1), [(0, 1)] * 3)
    assert found.fun_ / scale - (16 / 75 if constrained else 0) < 1e-5
