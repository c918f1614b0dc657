"""Compiled constrained problems, compared with formulas and with the conditions of a minimum."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from scipy.optimize import NonlinearConstraint

from skde import ConstrainedProblem, Minimizer, get_problem, problem_names
from skde.objectives.feasibility import (
    FeasibilityRules,
    feasibility_codes,
    total_violation,
    values_of_codes,
    violations_of_codes,
)

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


SIZES = np.array(
    [5e-324, 1e-310, 1e-200, 2.0**-390, 1e-6, 1.0, 2.0**200, 1e61, 1e100, 2.0**380, 1e200, 1e300, 1.79e308]
)


def test_the_order_of_codes() -> None:
    f = np.concatenate([[-np.inf], -SIZES[::-1], [0.0], SIZES])
    feasible = feasibility_codes(f, np.zeros(len(f)))
    assert (np.diff(feasible) > 0).all()
    assert feasible[f <= 2.0**200].tolist() == f[f <= 2.0**200].tolist()
    distances = np.append(SIZES, np.inf)
    codes = feasibility_codes(np.full(len(distances), np.nan), distances)
    assert (np.diff(codes) > 0).all()
    assert codes.min() > feasible.max()
    assert np.isfinite(codes).all()
    failed = feasibility_codes(np.array([np.inf, np.nan]), np.zeros(2))
    assert (failed == codes.max()).all()


def test_codes_of_close_numbers_keep_their_order() -> None:
    sizes = SIZES[(SIZES > 1e-300) & (SIZES < 1e308)]
    greater = sizes * (1 + 1e-13)
    zeros, nothing = np.zeros(len(sizes)), np.full(len(sizes), np.nan)
    assert (feasibility_codes(greater, zeros) > feasibility_codes(sizes, zeros)).all()
    assert (feasibility_codes(nothing, greater) > feasibility_codes(nothing, sizes)).all()


@pytest.mark.filterwarnings("error")
def test_numbers_of_codes() -> None:
    with np.errstate(under="ignore"):
        codes = feasibility_codes(SIZES, np.zeros(len(SIZES)))
        np.testing.assert_allclose(values_of_codes(codes), SIZES, rtol=1e-13)
        codes = feasibility_codes(SIZES, SIZES)
        np.testing.assert_allclose(violations_of_codes(codes), SIZES, rtol=1e-13, atol=1e-321)
    assert np.isinf(values_of_codes(codes)).all()
    assert violations_of_codes(feasibility_codes(np.array(np.nan), np.array(0.0))) == np.inf
    assert [float(violations_of_codes(code)) for code in (-np.inf, -1.0, 0.0, 1e60)] == [0.0] * 4


@pytest.mark.parametrize("algorithm", ["jde", "lshade", "pso", "cmaes"])
@pytest.mark.parametrize("scale", [1e-300, 1e-100, 1e61, 1e100, 1e300])
def test_large_and_small_values_and_constraints(algorithm: str, scale: float) -> None:
    fitted = Minimizer(
        algorithm,
        constraints=NonlinearConstraint(lambda x: scale * (x.sum(-1) - 1), -np.inf, 0),
        feasibility_tol=1e-6 * scale,
        max_evals=6000,
        target=0.215 * scale,
        random_state=0,
    ).fit(lambda X: scale * ((X - 0.6) ** 2).sum(1), [(0, 1)] * 3)
    assert fitted.converged_
    assert 0.2133 < fitted.fun_ / scale <= 0.215
    assert fitted.fitness_.min() <= fitted.fun_ * (1 + 1e-9)
    assert len(set(fitted.fitness_)) > 1


def test_finite_violations_with_an_infinite_sum() -> None:
    values = np.array([[1.7e308, 1.7e308], [np.inf, 0.0]])
    assert total_violation(values, 2, 1e-6).tolist() == [np.finfo(float).max, np.inf]


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
