"""Points that individuals keep: the CPU does not copy them, and has the populations of steps, which copy all points."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from skde import DE, GADE, GODE, JDE, SADE, Migration, Minimizer, get_problem

PROBLEM = get_problem("rastrigin", dim=5)
ALGORITHMS = [DE, JDE, SADE, GADE, GODE]
ISLANDS = {"n_islands": 3, "migration": Migration(every=2, n_migrants=2)}


def make(algorithm: Any, **parameters: Any) -> Minimizer:
    return Minimizer(algorithm, random_state=1, n_jobs=1, device="cpu", bounds=PROBLEM.bounds, **parameters)


def tell(m: Minimizer, generations: int) -> None:
    for _ in range(generations):
        X = m.ask()
        m.tell(X, PROBLEM(X.reshape(-1, 5)).reshape(X.shape[:-1]))


def compiled(m: Minimizer) -> None:
    m.fit(PROBLEM)


def told(m: Minimizer) -> None:
    tell(m, 31)


def asked_in_between(m: Minimizer) -> None:
    """Compiled generations make their own trials in place of those that `ask` has made."""
    tell(m, 10)
    m.ask()
    m.resume(PROBLEM)


def stopped_in_between(m: Minimizer) -> None:
    """The step that ends by a callback has made the trials of the next generation."""
    m.set_params(max_iter=10).fit(PROBLEM)
    m.set_params(max_iter=30, execution="step", callbacks=lambda progress: True).resume()
    assert m.n_iter_ == 10
    m.set_params(execution="auto", callbacks=None).resume()


@pytest.mark.parametrize("parameters", [{}, ISLANDS], ids=["alone", "islands"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("way", [compiled, told, asked_in_between, stopped_in_between])
def test_points_are_those_of_steps(way: Any, algorithm: Any, parameters: dict[str, Any]) -> None:
    m = make(algorithm(pop_size=12), max_iter=30, **parameters)
    way(m)
    steps = make(algorithm(pop_size=12), max_iter=30, execution="step", **parameters).fit(PROBLEM)
    assert np.array_equal(m.population_, steps.population_)
    assert np.array_equal(m.fitness_, steps.fitness_)
    points = m.population_.reshape(-1, 5)
    assert np.array_equal(PROBLEM(points), m.fitness_.reshape(-1))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_runs_that_have_ended_continue(algorithm: Any) -> None:
    """They repeat their populations while other runs make steps, and are behind these afterwards."""

    def population(execution: str) -> Any:
        m = make(algorithm(pop_size=12), n_runs=6, target=20.0, max_iter=5, execution=execution).fit(PROBLEM)
        m.set_params(max_iter=20, execution="step").resume()
        assert len(set(m._runner.batch.host("generation"))) > 1
        m.set_params(max_iter=30, execution=execution, target=None, warm_start=True).fit(PROBLEM)
        return [m._runner.population(run)[0] for run in range(6)]

    assert np.array_equal(population("auto"), population("step"))
