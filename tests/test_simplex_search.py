"""Nelder and Mead's search from many points together: its steps are SciPy's, and each search is the search alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.optimize

from skde.benchmark.nist import load_regression
from skde.fit.phases.simplex_search import PATIENCE, SIDE, SimplexSearch
from skde.typing import FloatArray

from .joint_searches import finish


def valley(u: Any) -> Any:
    """Rosenbrock's function in [-1, 2]."""
    x = 3 * u - 1
    return (100 * (x[..., 1:] - x[..., :-1] ** 2) ** 2 + (1 - x[..., :-1]) ** 2).sum(-1)


def searches(f: Any, begin: FloatArray, max_evals: int = 10**6, target: float = -np.inf) -> SimplexSearch:
    """Return searches from some points, with the list of all points that they evaluate."""
    limits = np.full(len(begin), max_evals)
    return SimplexSearch(begin, f(begin), limits, target)


def ended(f: Any, begin: FloatArray, max_evals: int = 10**6, target: float = -np.inf) -> SimplexSearch:
    search = searches(f, begin, max_evals, target)
    finish(search, f)
    return search


@pytest.mark.parametrize("n", [2, 3, 7])
def test_its_points_are_those_of_scipy(n: int) -> None:
    begin, ours, theirs = np.linspace(0.2, 0.995, n), [], []

    def noted(u: Any) -> Any:
        ours.append(u[0].copy())
        return valley(u)

    def of_point(u: Any) -> float:
        theirs.append(np.array(u))
        return float(valley(u))

    simplex = np.repeat(begin[None], n + 1, axis=0)
    simplex[1:] += np.diag(np.where(begin + SIDE <= 1, SIDE, -SIDE))
    given = {"adaptive": True, "initial_simplex": simplex, "maxfev": 170, "maxiter": 170, "xatol": 1e-9, "fatol": 1e-9}
    bounds = [(0.0, 1.0)] * n
    scipy.optimize.minimize(of_point, begin, method="Nelder-Mead", bounds=bounds, options=given)
    ended(noted, begin[None])
    # Ours has the value of the first point before. Rounding differs, and a valley enlarges the difference.
    same = min(len(theirs), 150)
    assert same > 70
    assert np.allclose(ours[1:same], theirs[1:same], rtol=0, atol=1e-8)


def test_a_search_is_the_search_alone() -> None:
    begin = np.random.default_rng(0).uniform(size=(9, 4))
    together = ended(valley, begin, 900)
    assert len(set(together.n_evals.tolist())) > 3
    for k in range(9):
        alone = ended(valley, begin[k : k + 1], 900)
        assert np.array_equal(alone.u[0], together.u[k])
        assert np.array_equal(alone.f[0], together.f[k])
        assert alone.n_evals[0] == together.n_evals[k]


def test_calls_are_shared() -> None:
    calls = 0

    def counted(u: Any) -> Any:
        nonlocal calls
        calls += 1
        return valley(u)

    search = ended(counted, np.random.default_rng(0).uniform(size=(50, 3)), 600)
    assert search.n_evals.sum() > 10 * calls


@pytest.mark.parametrize("n", [1, 2, 6])
def test_the_best_of_all_points_is_kept_in_the_box(n: int) -> None:
    """The least value is at a corner."""
    seen: list[float] = []

    def slope(u: Any) -> Any:
        assert ((u >= 0) & (u <= 1)).all()
        values = (u**2).sum(axis=1) + np.exp(u).sum(axis=1)
        seen.extend(values)
        return values

    search = ended(slope, np.full((1, n), 0.3))
    assert search.f[0, 0] == min(seen) == pytest.approx(n, abs=1e-9)
    assert slope(search.u[:, 0])[0] == search.f[0, 0]


@pytest.mark.parametrize("max_evals", [0, 3, 4, 5, 9, 30, 200])
def test_the_limit_is_kept(max_evals: int) -> None:
    search = ended(valley, np.full((2, 4), 0.1), max_evals)
    assert (search.n_evals <= max_evals).all()
    assert (search.n_evals > max_evals - 7).all()


def test_it_ends_at_the_target_and_where_nothing_gets_better() -> None:
    begin = np.full((1, 2), 0.1)
    search = ended(valley, begin, target=0.5)
    assert search.f[0, 0] <= 0.5
    assert search.n_evals[0] < ended(valley, begin).n_evals[0]
    assert not searches(valley, begin, target=1e9).active.any()
    least = np.full((1, 2), 2 / 3)
    assert ended(lambda u: np.abs(u - least).sum(axis=1), least).n_evals[0] <= PATIENCE * 3 + 5


def test_equal_values_end_a_small_simplex_only() -> None:
    """The values of the first simplex are equal by symmetry."""
    search = ended(lambda u: (u[:, 0] - 0.5) ** 2, np.array([[0.495]]))
    assert search.f[0, 0] < 1e-12
    assert ended(lambda u: np.round(u[:, 0] - 0.3, 5) ** 2, np.array([[0.4]])).n_evals[0] < 100


def test_values_that_are_not_numbers_are_the_worst() -> None:
    def half(u: Any) -> Any:
        return np.where(u[:, 0] < 0.4, np.nan, valley(u))

    search = ended(half, np.array([[0.401, 0.2], [0.2, 0.2]]))
    assert search.f[0, 0] < 1e-10
    assert search.f[1, 0] == np.inf


@pytest.mark.parametrize("name", ["MGH10", "Lanczos3"])
def test_it_follows_a_narrow_valley(name: str) -> None:
    regression = load_regression(name)
    lower, upper = regression.bounds().T

    def sums(u: Any) -> Any:
        X = lower + u * (upper - lower)
        with np.errstate(over="ignore"):
            return ((regression.model(regression.X, X.T[:, :, None]) - regression.y) ** 2).sum(axis=1)

    start = {"MGH10": [0.003, 6800.0, 365.0], "Lanczos3": [0.13, 1.2, 0.8, 2.9, 1.6, 5.0]}[name]
    search = ended(sums, (np.array([start]) - lower) / (upper - lower), 6000)
    assert regression.digits(lower + search.u[0, 0] * (upper - lower)) > 6
