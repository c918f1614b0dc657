"""SciPy's constraints: their conversion, and SciPy's functions with them."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint
from scipy.sparse import csr_array

import skde
from skde import ConstrainedProblem, Minimizer, MinMaxSolver

from .disc import BOX, DISC, X, make, problem, radius, total


def test_one_sided_bounds_of_a_constraint() -> None:
    """Two bounds, one, none, and an equality; h comes after all g."""
    lower, upper = [1.0, -np.inf, -np.inf, 0.5, 2.0], [4.0, 3.0, np.inf, np.inf, 2.0]
    c = NonlinearConstraint(
        lambda x: np.stack([x[..., 0], x[..., 1], x[..., 0], x[..., 0] * x[..., 1], x[..., 0] - x[..., 1]], axis=-1),
        lower,
        upper,
    )
    found = problem(c)
    assert (found.n_inequalities, found.n_equalities) == (4, 1)
    a, b = X.T
    expected = np.stack([a + b, 1 - a, a - 4, b - 3, 0.5 - a * b, a - b - 2], axis=1)
    np.testing.assert_allclose(found.values(X), expected, rtol=1e-15)


def test_linear_constraints() -> None:
    A = np.array([[1.0, 2.0], [0.0, 3.0]])
    for matrix in (A, A.tolist(), csr_array(A)):
        found = problem(LinearConstraint(matrix, -1, [2, -1]))
        assert (found.n_inequalities, found.n_equalities) == (2, 1)
        c = X @ A.T
        expected = np.stack([-1 - c[:, 0], c[:, 0] - 2, c[:, 1] + 1], axis=1)
        np.testing.assert_allclose(found.constraint_values(X), expected, rtol=1e-15)


def test_bounds_narrow_the_box() -> None:
    found = problem([Bounds([-1, -np.inf], [np.inf, 2]), Bounds(-2, 1.5)])
    assert found.bounds.tolist() == [[-1, 1.5], [-2, 1.5]]
    assert (found.n_inequalities, found.n_equalities) == (0, 0)
    m = Minimizer("jde", max_iter=200, random_state=0).fit(found)
    assert m.x_ == pytest.approx([-1, -2], abs=1e-6)
    assert m.max_violation_ == 0


def test_several_constraints_keep_their_order() -> None:
    equal = LinearConstraint([[1, -1]], 0, 0)
    found = problem([equal, DISC, {"type": "Ineq", "fun": lambda x, a: x[0] - a, "args": (0.25,)}])
    np.testing.assert_allclose(found.values(X)[1], [2, 0, -0.75, 0], rtol=1e-15)
    assert (found.n_inequalities, found.n_equalities) == (2, 1)


def test_functions_of_one_point() -> None:
    one = ConstrainedProblem(
        lambda x: x[0] + x[1],
        BOX,
        [NonlinearConstraint(lambda x: x @ x, -np.inf, 2.0), NonlinearConstraint(lambda x: [x[..., 0], 1.0], 0, 1)],
        vectorized=False,
    )
    many = problem([DISC, NonlinearConstraint(lambda x: np.stack([x[..., 0], 1 + 0 * x[..., 1]], axis=-1), 0, 1)])
    np.testing.assert_array_equal(one.values(X), many.values(X))
    np.testing.assert_array_equal(one.with_jobs(2).values(X), many.values(X))


def test_violation() -> None:
    found = problem([DISC, LinearConstraint([[1, 0]], 0.5, 0.5)])
    np.testing.assert_allclose(found.violation(X, 0.0), [0.5, 0.5, 2.0625 + 2.5], rtol=1e-15)
    np.testing.assert_allclose(found.violation(X, 0.25), [0.25, 0.25, 2.0625 + 2.25], rtol=1e-15)
    with pytest.raises(ValueError, match=r"tol must be a number in \[0, inf\], got -1"):
        found.violation(X, -1)


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        (
            LinearConstraint([[1, 1, 1]], 0, 1),
            r"constraints\[0\].A must be finite and of shape \(m, 2\), got shape \(1, 3\)",
        ),
        (LinearConstraint([[1, np.nan]], 0, 1), r"constraints\[0\].A must be finite"),
        (
            [DISC, NonlinearConstraint(radius, 2, 1)],
            r"constraints\[1\] must have lb <= ub, got lb\[0\] = 2 and ub\[0\] = 1",
        ),
        (NonlinearConstraint(radius, np.inf, np.inf), r"must have lb <= ub, got lb\[0\] = inf"),
        (
            NonlinearConstraint(radius, np.nan, 1),
            r"constraints\[0\].lb must be a number or a vector of numbers, got nan",
        ),
        (NonlinearConstraint(radius, "a", 1), r"constraints\[0\].lb must be numbers, got 'a'"),
        (NonlinearConstraint(radius, np.datetime64("1970-01-01"), 1), r"\[0\].lb must be numbers, got .*datetime64"),
        (NonlinearConstraint(radius, 0, [np.timedelta64(3, "D")]), r"\[0\].ub must be numbers, got .*timedelta64"),
        (NonlinearConstraint(radius, 0, np.array([np.timedelta64(3, "D")], object)), r"\[0\].ub must be numbers"),
        (NonlinearConstraint(radius, 0, datetime.date(2026, 1, 1)), r"\[0\].ub must be numbers, got datetime.date"),
        (Bounds(np.array(["1970-01-01"] * 2, "datetime64[D]"), 1), r"\[0\].lb must be numbers, got .*datetime64"),
        (NonlinearConstraint(radius, [0, 1], [1, 2, 3]), "lb and ub must have the same length, got 2 and 3"),
        (Bounds(4, 5), r"constraints\[0\] leaves nothing of bounds\[0\]: from 4 to 3"),
        (Bounds([0, 0, 0], 5), r"constraints\[0\] must have one bound for each of 2 variables, got 3"),
    ],
)
def test_constraints_that_say_nothing_sensible(constraints: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        problem(constraints)
    with pytest.raises(ValueError, match=message):
        make(constraints=constraints).fit(total, bounds=BOX)


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        (radius, r"constraints must be LinearConstraint, NonlinearConstraint or Bounds of scipy.optimize, or a list"),
        ([DISC, 3], r"constraints\[1\] must be LinearConstraint, .* got 3 \(int\)"),
        ({"type": "less", "fun": radius}, r"constraints\[0\] must be LinearConstraint"),
        ({"type": "eq", "fun": radius, "args": 3}, r"constraints\[0\]\['args'\] must be a tuple, .* got 3"),
        (NonlinearConstraint("radius", 0, 1), r"constraints\[0\].fun must be callable, got 'radius'"),
    ],
)
def test_constraints_of_another_kind(constraints: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        problem(constraints)


@pytest.mark.parametrize(
    ("function", "bound", "message"),
    [
        (
            lambda x: x[:-1, 0],
            1,
            r"constraints\[0\]'s function must return shape \(\d+, m\) or \(\d+,\) for X of shape",
        ),
        (lambda x: x, [1, 2, 3], r"must return 3 components, as many as before or as its bounds, got 2"),
        (lambda x: x[..., :0], 1, r"must return at least 1 components"),
    ],
)
def test_constraints_that_return_another_shape(function: Any, bound: Any, message: str) -> None:
    constraint = NonlinearConstraint(function, -np.inf, bound)
    found = problem(constraint)
    with pytest.raises(ValueError, match=message):
        found.n_inequalities, found.values(np.ones((5, 2)))
    with pytest.raises(ValueError, match=message):
        make(constraints=constraint).fit(total, bounds=BOX)


@pytest.mark.parametrize("shape", ["vector", "column", "two components"])
def test_rows_are_points_of_constraints(shape: str) -> None:
    shapes: list[Any] = []

    def function(X: Any) -> Any:
        shapes.append(X.shape)
        first, second = X[:, 0] ** 2, X[:, 1] ** 2
        together = first + second
        found = {"vector": together, "column": together[:, None], "two components": np.stack([first, second], axis=1)}
        return found[shape]

    rows = problem(NonlinearConstraint(function, -np.inf, 2.0), vectorized=True)
    points = np.array([[0.5, 1.0], [2.0, 0.0], [0.0, 0.25]])
    expected = points**2 if shape == "two components" else (points**2).sum(axis=1, keepdims=True)
    assert np.array_equal(rows.constraint_values(points), expected - 2.0)
    fitted = make(constraints=NonlinearConstraint(function, -np.inf, 2.0), vectorized=True).fit(total, bounds=BOX)
    assert {found[1] for found in shapes} == {2}
    assert max(function(fitted.x_[None])) <= 2.0 + 1e-6 if shape != "two components" else fitted.max_violation_ <= 1e-6
    assert fitted.fun_ < (-1.9 if shape != "two components" else -2.5)


def test_a_constraint_of_one_point_that_is_said_to_take_arrays() -> None:
    found = ConstrainedProblem(total, BOX, NonlinearConstraint(lambda x: 1.0, -np.inf, 1), vectorized=True)
    with pytest.raises(ValueError, match="a function of a single point needs vectorized=False"):
        found.values(np.ones((5, 2)))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_constraint_has_as_many_components_for_every_point(n_jobs: int) -> None:
    varying = NonlinearConstraint(lambda x: x[: 1 + (x[..., 0] > 0)], -1, 1)
    wrong = ConstrainedProblem(lambda x: x @ x, [(-1, 1)] * 2, varying, vectorized=False).with_jobs(n_jobs)
    with pytest.raises(ValueError, match=r"as many numbers for every point, got shapes \(1,\) and \(2,\)|\(1, 1\)"):
        wrong.constraint_values(np.array([[-0.5, 0.0], [0.5, 0.0]]))


def test_a_constraint_keeps_its_number_of_components() -> None:
    found = problem(NonlinearConstraint(lambda X: X if len(X) == 1 else X[:, 0], 0, 1), vectorized=True)
    assert found.n_inequalities == 4
    with pytest.raises(ValueError, match="must return 2 components, as many as before or as its bounds, got 1"):
        found.values(X)


def test_constraints_that_return_no_numbers() -> None:
    for function in (lambda x: x[0] + 1j, lambda x: None):
        with pytest.raises(TypeError, match=r"constraints\[0\]'s return value must"):
            make(constraints=NonlinearConstraint(function, 0, 1)).fit(total, bounds=BOX)
    with pytest.raises(ValueError, match=r"must return \(m,\) or a number for one point, got shape \(1, 2\)"):
        problem(NonlinearConstraint(lambda x: x[None], 0, 1), vectorized=False).constraint_values(X)


def test_a_function_that_is_none() -> None:
    not_a_function: Any = 3
    with pytest.raises(TypeError, match=r"objective must be a function of arrays of shape \(n, dim\), got 3"):
        ConstrainedProblem(not_a_function, BOX, DISC)


# ---- SciPy's functions -----------------------------------------------------------------------------------------------


def test_minimize() -> None:
    r = skde.minimize(total, BOX, constraints=DISC, max_iter=100, random_state=0)
    assert not r.success  # the budget was spent
    assert r.fun == pytest.approx(-2, abs=1e-4)
    assert r.maxcv <= 1e-6
    assert skde.minimize(problem(), max_iter=100, random_state=0).fun == r.fun


@pytest.mark.parametrize(
    "constraints",
    [
        NonlinearConstraint(lambda x: x @ x, -np.inf, 2.0),
        [{"type": "ineq", "fun": lambda x: 2.0 - x @ x}],
        [LinearConstraint([[1, 1]], -2, np.inf), {"type": "eq", "fun": lambda x: x[0] - x[1]}],
    ],
)
def test_as_scipys_method(constraints: Any) -> None:
    method = skde.scipy_method(max_iter=300, random_state=0)
    r = scipy.optimize.minimize(np.sum, [0.0, 0.0], method=method, bounds=BOX, constraints=constraints)
    assert r.fun == pytest.approx(-2, abs=1e-4)
    assert r.x == pytest.approx([-1, -1], abs=0.02)
    assert r.maxcv <= 1e-6


def test_like_scipys_own() -> None:
    """The same constraints; points are columns in differential_evolution with vectorized=True, and rows here."""
    disc = NonlinearConstraint(lambda x: radius(x.T)[None], -np.inf, 2.0)
    line = LinearConstraint([[1, -1]], 0.5, 1)
    theirs = scipy.optimize.differential_evolution(
        lambda x: x[0] + x[1],
        BOX,
        constraints=[disc, line],
        vectorized=True,
        updating="deferred",
        rng=0,
        polish=False,
        maxiter=100,
        tol=0,
    )
    ours = make(constraints=[DISC, line], max_iter=300).fit(total, bounds=BOX)
    assert ours.fun_ == pytest.approx(theirs.fun, abs=1e-4)


@pytest.mark.parametrize("none", [(), []], ids=str)
def test_an_empty_list_says_that_there_are_no_constraints(none: Any) -> None:
    without = make(constraints=None).fit(total, bounds=BOX)
    for m in (
        make(constraints=none).fit(total, bounds=BOX),
        make(constraints=None).fit(problem(none)),
        make(constraints=none).fit(problem(none)),
    ):
        assert (m.fun_, m.x_.tolist(), m.max_violation_) == (without.fun_, without.x_.tolist(), 0.0)
    assert skde.minimize("sphere", dim=2, constraints=none, max_evals=500, random_state=0).fun < 0.1
    method = skde.scipy_method(max_evals=500, random_state=0)
    assert scipy.optimize.minimize(lambda x: x @ x, [1, 1], bounds=BOX, constraints=none, method=method).fun < 0.1
    found = make(constraints=none).fit(problem(DISC))  # the problem has its own
    assert found.fun_ == make(constraints=None).fit(problem(DISC)).fun_
    with pytest.raises(ValueError, match="has no constraints but its box: use Minimizer"):
        MinMaxSolver(max_iter=1).fit(problem(none))
    asked = make(constraints=none, bounds=BOX)
    asked.tell(points := asked.ask(), total(points), g=radius(points) - 2)
    assert asked.max_violation_ >= 0


def test_an_empty_text_is_no_list_of_constraints() -> None:
    with pytest.raises(TypeError, match=r"constraints must be LinearConstraint.*got ''"):
        make(constraints="").fit(total, bounds=BOX)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_an_objective_of_a_problem_may_fail(n_jobs: int | None) -> None:
    def sometimes(x: Any) -> float:
        if x[0] > 1:
            raise FloatingPointError("no mesh")
        return float(x.sum())

    given = ConstrainedProblem(sometimes, BOX, DISC)
    with pytest.raises(FloatingPointError, match="no mesh"):
        make(constraints=None).fit(given)
    with pytest.warns(RuntimeWarning, match="no mesh"):
        m = make(constraints=None, on_error="nan", n_jobs=n_jobs).fit(given)

    def by_nan(x: Any) -> float:
        return float(x.sum()) if x[0] <= 1 else np.nan

    assert m.fun_ == make(constraints=None).fit(ConstrainedProblem(by_nan, BOX, DISC)).fun_
    for other in (ConstrainedProblem(total, BOX, DISC, vectorized=True), skde.get_problem("fabris2012/p3")):
        with pytest.raises(ValueError, match="on_error='nan' is for a Python function of one point"):
            make(constraints=None, on_error="nan").fit(other)
