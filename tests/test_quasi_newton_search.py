"""The quasi-Newton search from many points: minima, bounds, limits and bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from skde import Minimizer
from skde.fit.phases.quasi_newton_search import QuasiNewtonSearch

from .joint_searches import finish


def ellipsoid(u: Any) -> Any:
    return ((u - 0.3) ** 2 * np.logspace(0, 4, u.shape[1])).sum(axis=1)


def rosenbrock(u: Any) -> Any:
    x = 4 * u - 2
    return (100 * (x[:, 1:] - x[:, :-1] ** 2) ** 2 + (1 - x[:, :-1]) ** 2).sum(axis=1)


def searched(f: Any, begin: Any, max_evals: int = 2000, **parameters: Any) -> QuasiNewtonSearch:
    begin = np.asarray(begin, float)
    limits = np.full(len(begin), max_evals)
    search = QuasiNewtonSearch(begin, f(begin), limits, **parameters)
    finish(search, f)
    assert (search.n_evals <= max_evals).all()
    assert np.array_equal(search.best_f, f(search.best_u))
    return search


def begin(n_searches: int, n: int) -> Any:
    return np.random.default_rng(0).uniform(size=(n_searches, n))


@pytest.mark.parametrize(("f", "n", "limit"), [(ellipsoid, 10, 1e-8), (rosenbrock, 5, 1e-6)])
def test_it_finds_minima(f: Any, n: int, limit: float) -> None:
    assert np.median(searched(f, begin(9, n)).best_f) < limit


def test_few_evaluations_suffice_for_a_sphere() -> None:
    assert (searched(lambda u: ((u - 0.3) ** 2).sum(axis=1), begin(9, 10), 40).best_f < 1e-12).all()


@pytest.mark.parametrize("factor", [1e160, 1e300, 1e307])
def test_huge_values_give_no_warning(factor: float) -> None:
    """Products of such values are not finite, and the search goes along the gradient then."""
    first = begin(9, 5)
    search = searched(lambda u: factor * ((u - 0.3) ** 2).sum(axis=1), first, 300)
    assert (search.best_f < 1e-3 * factor * ((first - 0.3) ** 2).sum(axis=1)).all()


@pytest.mark.parametrize(("factor", "limit"), [(1e-160, 1e-3), (1e-300, 1e-3), (1e-307, 1.0), (1e-312, 1.0)])
def test_tiny_values_give_no_warning(factor: float, limit: float) -> None:
    """Products of such values may be 0, or have no finite inverse; with the smallest gradients the search ends."""
    first = begin(9, 5)
    search = searched(lambda u: factor * ((u - 0.3) ** 2).sum(axis=1), first, 300)
    assert (search.best_f <= limit * factor * ((first - 0.3) ** 2).sum(axis=1)).all()


def test_bounds_hold_and_the_minimum_may_be_on_one() -> None:
    search = searched(lambda u: ((u - np.array([-0.5, 0.5, 2.0])) ** 2).sum(axis=1), begin(5, 3))
    assert np.allclose(search.best_u, [0.0, 0.5, 1.0], atol=1e-6)


def test_a_search_alone_has_the_same_bits() -> None:
    points = begin(6, 4)
    together = searched(rosenbrock, points)
    for k, point in enumerate(points):
        alone = searched(rosenbrock, point[None])
        assert np.array_equal(alone.best_u[0], together.best_u[k])
        assert (alone.best_f[0], alone.n_evals[0]) == (together.best_f[k], together.n_evals[k])


@pytest.mark.parametrize("max_evals", [0, 3, 4, 5, 6, 17, 40])
def test_limits_are_never_exceeded(max_evals: int) -> None:
    points = begin(3, 4)
    search = searched(rosenbrock, points, max_evals)
    assert (search.best_f <= rosenbrock(points)).all()


def test_it_ends_at_its_target_and_at_constants() -> None:
    search = searched(ellipsoid, begin(3, 4), target=1e-2)
    assert (search.best_f <= 1e-2).all()
    assert (search.n_evals < 500).all()
    assert (searched(lambda u: np.zeros(len(u)), begin(3, 4)).n_evals == 4).all()


def test_nan_is_worse_than_all_values() -> None:
    def f(u: Any) -> Any:
        return np.where(u[:, 0] > 0.6, np.nan, ((u - 0.5) ** 2).sum(axis=1))

    points = 0.1 + 0.4 * begin(4, 3)
    search = searched(f, points)
    assert (search.best_f < 1e-10).all()


def test_it_is_a_polish() -> None:
    def f(X: Any) -> Any:
        return ((X - 1) ** 2).sum(axis=1)

    given: dict[str, Any] = {"max_evals": 1000, "random_state": 0, "device": "cpu", "n_runs": 5}
    plain = Minimizer("cmaes", polish=False, **given).fit(f, bounds=[(-5, 5)] * 10)
    polished = Minimizer("cmaes", polish="quasi-Newton", **given).fit(f, bounds=[(-5, 5)] * 10)
    assert all(run.n_evals <= 1000 and 0 < run.polish_evals <= 100 for run in polished.runs_)
    assert np.median([run.fun for run in polished.runs_]) < 1e-3 * np.median([run.fun for run in plain.runs_])
