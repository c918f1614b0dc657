"""Points that individuals keep: they are not copied, and the populations are those of steps, which copy all points.

On a GPU that is so for long rows: of 500 components, where trials are in shared memory, and of 30,000, where they are
not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from skde import DE, GADE, GODE, JDE, PSO, SADE, Migration, Minimizer, get_problem
from skde.problems import Problem

ALGORITHMS = [DE, JDE, SADE, GADE, GODE, PSO]
# Device, components, and generations.
SETTINGS = [
    ("cpu", 5, 30),
    *(pytest.param(("cuda", *sizes), marks=pytest.mark.gpu) for sizes in ((500, 30), (30_000, 20))),
]
ISLANDS = {"n_islands": 3, "migration": Migration(every=2, n_migrants=2)}


@pytest.fixture(params=SETTINGS, ids=str)
def setting(request: Any) -> Any:
    return request.param


def make(algorithm: Any, device: str, dim: int, **parameters: Any) -> Minimizer:
    bounds = get_problem("rastrigin", dim=dim).bounds
    return Minimizer(algorithm, random_state=1, n_jobs=1, device=device, bounds=bounds, **parameters)


def problem_of(m: Minimizer) -> Problem:
    return get_problem("rastrigin", dim=len(m.bounds))


def tell(m: Minimizer, generations: int) -> None:
    problem = problem_of(m)
    for _ in range(generations):
        X = m.ask()
        m.tell(X, problem(X.reshape(-1, problem.dim)).reshape(X.shape[:-1]))


def compiled(m: Minimizer, last: int) -> None:
    m.fit(problem_of(m))


def told(m: Minimizer, last: int) -> None:
    tell(m, last + 1)


def asked_in_between(m: Minimizer, last: int) -> None:
    """Compiled generations make their own trials in place of those that `ask` has made."""
    tell(m, 10)
    m.ask()
    m.resume(problem_of(m))


def stopped_in_between(m: Minimizer, last: int) -> None:
    """The step that ends by a callback has made the trials of the next generation."""
    m.set_params(max_iter=10).fit(problem_of(m))
    m.set_params(max_iter=last, execution="step", callbacks=lambda progress: True).resume()
    assert m.n_iter_ == 10
    m.set_params(execution="auto", callbacks=None).resume()


@pytest.mark.parametrize("parameters", [{}, ISLANDS], ids=["alone", "islands"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("way", [compiled, told, asked_in_between, stopped_in_between])
def test_points_are_those_of_steps(way: Any, algorithm: Any, parameters: dict[str, Any], setting: Any) -> None:
    device, dim, last = setting
    m = make(algorithm(pop_size=12), device, dim, max_iter=last, **parameters)
    way(m, last)
    problem = problem_of(m)
    steps = make(algorithm(pop_size=12), device, dim, max_iter=last, execution="step", **parameters).fit(problem)
    assert np.array_equal(m.population_, steps.population_)
    assert np.array_equal(m.fitness_, steps.fitness_)
    points = m.population_.reshape(-1, dim)
    assert np.array_equal(problem(points), m.fitness_.reshape(-1))


@pytest.mark.gpu
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_trials_that_are_evaluated_together(algorithm: Any) -> None:
    """Each of them has its own mark (test_launch_plan.py: two trials of this size are evaluated together)."""
    problem = get_problem("rotated_rastrigin", dim=400)
    m = make(algorithm(pop_size=4000), "cuda", 400, max_iter=15).fit(problem)
    steps = make(algorithm(pop_size=4000), "cuda", 400, max_iter=15, execution="step").fit(problem)
    assert np.array_equal(m.population_, steps.population_)
    assert np.array_equal(m.fitness_, steps.fitness_)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_runs_that_have_ended_continue(algorithm: Any) -> None:
    """They repeat their populations while other runs make steps, and are behind these afterwards."""
    problem = get_problem("rastrigin", dim=5)

    def population(execution: str) -> Any:
        m = make(algorithm(pop_size=12), "cpu", 5, n_runs=6, target=20.0, max_iter=5, execution=execution).fit(problem)
        m.set_params(max_iter=20, execution="step").resume()
        assert len(set(m._fit.batch.host("generation"))) > 1
        m.set_params(max_iter=30, execution=execution, target=None, warm_start=True).fit(problem)
        return [m._fit.members(run)[0] for run in range(6)]

    assert np.array_equal(population("auto"), population("step"))
