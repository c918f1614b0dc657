"""Compiled constrained problems, compared with formulas and with the conditions of a minimum."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from skde import ConstrainedProblem, get_problem, problem_names
from skde.objectives.feasibility import FeasibilityRules, feasibility_codes, total_violation

from .constrained import VALUES, Vector

ALL = sorted(VALUES)


def random_points(problem: ConstrainedProblem, n: int = 200) -> Vector:
    low, high = problem.bounds.T
    return np.random.default_rng(0).uniform(low, high, (n, problem.dim))


def slopes(name: str, x: Vector) -> Vector:
    """Derivatives of f, g..., of shape (1 + m, dim), by central differences of the formulas."""
    step = 1e-6 * np.maximum(1, np.abs(x))
    ends = [np.stack(VALUES[name](x + sign * np.diag(step)), axis=0) for sign in (1, -1)]
    difference: Vector = (ends[0] - ends[1]) / (2 * step)
    return difference


def test_names() -> None:
    assert problem_names("constrained") == ALL
    with pytest.raises(ValueError, match=r"kind must be one of 'plain', 'constrained', 'minmax'"):
        problem_names("constraint")


@pytest.mark.parametrize("name", ALL)
def test_values(name: str) -> None:
    problem = get_problem(name)
    X = np.vstack([random_points(problem), problem.x_opt])
    expected = np.stack(VALUES[name](X), axis=1)
    assert problem.values(X).shape == (len(X), 1 + problem.n_inequalities + problem.n_equalities)
    np.testing.assert_allclose(problem.values(X), expected, rtol=1e-12, atol=1e-9)
    np.testing.assert_array_equal(problem.f(X), problem.values(X)[:, 0])


@pytest.mark.parametrize("name", ALL)
def test_minimum(name: str) -> None:
    """The minimiser is feasible, has the stated value, and satisfies the Karush-Kuhn-Tucker conditions."""
    problem = get_problem(name)
    f, g = np.split(problem.values(problem.x_opt[None])[0], [1])
    assert f[0] == pytest.approx(problem.f_opt, rel=1e-14)
    assert g.max() < 1e-9
    assert problem.violation(problem.x_opt[None])[0] == 0
    multipliers = problem.multipliers_opt
    assert multipliers.min() >= 0
    assert np.abs(multipliers * g).max() < 1e-6
    derivatives = slopes(name, problem.x_opt)
    rest = derivatives[0] + multipliers @ derivatives[1:]
    low, high = np.isclose(problem.x_opt, problem.bounds.T, rtol=1e-12, atol=1e-12)
    # A bound that is active may push back.
    assert (rest[low] >= -1e-5).all()
    assert (rest[high] <= 1e-5).all()
    assert np.abs(rest[~low & ~high]).max(initial=0) < 2e-5


@pytest.mark.parametrize("name", ALL)
def test_no_feasible_point_is_better(name: str) -> None:
    problem = get_problem(name)
    rng = np.random.default_rng(1)
    low, high = problem.bounds.T
    near = problem.x_opt + rng.normal(0, 1e-3, (5000, problem.dim)) * (high - low) * rng.random((5000, 1)) ** 4
    X = np.clip(near, low, high)
    feasible = problem.violation(X, 0.0) == 0
    assert feasible.any()
    assert (problem.f(X[feasible]) >= problem.f_opt * (1 - 1e-12 * np.sign(problem.f_opt))).all()


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("tol", [0.0, 1e-6, 1.0])
def test_compiled_codes_are_those_of_python(name: str, tol: float) -> None:
    problem = get_problem(name)
    X = np.vstack([random_points(problem), problem.x_opt])
    np.testing.assert_array_equal(problem.feasibility_objective(tol)(X), FeasibilityRules(problem, tol)(X))


def test_infinite_violation_where_a_value_is_not_finite() -> None:
    problem = get_problem("fabris2012/p6")
    X = np.array([[0.5, 0.5, 5.0]])  # a denominator is 0
    assert not np.isfinite(problem.values(X)).all()
    assert problem.violation(X)[0] == np.inf
    assert problem.feasibility_objective(1e-6)(X)[0] == 2.0**990


def test_the_order_of_codes() -> None:
    f = np.array([-np.inf, -1e300, -1.0, 0.0, 1e-300, 5.0, 1e300, np.nan])
    feasible = feasibility_codes(f[:-1], np.zeros(7))
    failed = feasibility_codes(np.array([np.inf, np.nan]), np.zeros(2))
    assert (np.diff(feasible) >= 0).all()
    assert feasible[2:6].tolist() == f[2:6].tolist()
    distances = np.array([1e-300, 1e-100, 1e-6, 1.0, 1e100, np.inf])
    codes = feasibility_codes(np.full(6, np.nan), distances)
    assert (np.diff(codes) > 0).all()
    assert codes.min() > feasible.max()
    assert np.isfinite(codes).all()
    assert (failed == codes.max()).all()


def test_violations_are_added_up() -> None:
    values = np.array([[1e-7, 0, 0], [0.5, 1e-7, 0], [0.5, 0.25, -0.5], [-1, -1, 1e-7], [0, 0, np.nan]])
    found = total_violation(values, 2, 1e-6)
    np.testing.assert_allclose(found, [0, 0.5, 1.25 - 1e-6, 0, np.inf], rtol=1e-15)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda problem: pickle.loads(pickle.dumps(problem))])
def test_copies(duplicate: Any) -> None:
    problem = get_problem("fabris2012/p3")
    X = random_points(problem)
    np.testing.assert_array_equal(duplicate(problem).values(X), problem.values(X))
    assert repr(duplicate(problem)) == "ConstrainedProblem('fabris2012/p3', dim=10)"


def test_dimensions_are_fixed() -> None:
    assert get_problem("fabris2012/p2", dim=13).dim == 13
    with pytest.raises(ValueError, match=r"dim of 'fabris2012/p2' must be an integer in \[13, 13\], got 5"):
        get_problem("fabris2012/p2", dim=5)


@pytest.mark.gpu
@pytest.mark.parametrize("name", ALL)
def test_gpu_has_the_same_bits(name: str) -> None:
    import cupy

    problem = get_problem(name)
    X = random_points(problem)
    found = problem.values(cupy.asarray(X))
    assert isinstance(found, cupy.ndarray)
    np.testing.assert_array_equal(found.get(), problem.values(X))
    np.testing.assert_array_equal(
        problem.feasibility_objective(1e-6)(cupy.asarray(X)).get(), problem.feasibility_objective(1e-6)(X)
    )
    np.testing.assert_array_equal(
        FeasibilityRules(problem, 1e-6)(cupy.asarray(X)).get(), problem.feasibility_objective(1e-6)(X)
    )
