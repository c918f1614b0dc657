"""Time limits of functions of one pair: between pairs in every phase, in workers, and of one evaluation."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import NonlinearConstraint

from skde import ConstrainedProblem, MinMaxSolver, Status

from .games import BOX, game, make, same, side

SMALL: dict[str, Any] = {"max_iter": 1, "gens_x": 1, "gens_y": 1, "pairwise": True}


def pair(x: Any, y: Any) -> float:
    return float(game(x[None], y[None])[0, 0])


def new(**parameters: Any) -> MinMaxSolver:
    return make(algorithm_x=side("de"), **{**SMALL, **parameters})


def slow(seconds: float, hangs: tuple[float, float] | None = None) -> Callable[[Any, Any], float]:
    """Return a function that takes some seconds, and a minute at the pair with these first variables."""

    def f(x: Any, y: Any) -> float:
        import time

        time.sleep(60.0 if (x[0], y[0]) == hangs else seconds)
        return float(((x - 0.5) ** 2 - (y + 0.5) ** 2 + x * y).sum())

    return f


def pair_of_populations(i: int, k: int) -> tuple[float, float]:
    """Return the first variables of a pair of the initial populations."""
    X, Y = new(bounds_x=BOX, bounds_y=BOX).ask()
    return float(X[i, 0]), float(Y[k, 0])


def timed(m: MinMaxSolver, *given: Any) -> float:
    begin = time.monotonic()
    m.fit(*given)
    return time.monotonic() - begin


@pytest.fixture
def workers() -> None:
    """Start joblib's processes, which takes seconds."""
    import joblib

    joblib.Parallel(n_jobs=2)(joblib.delayed(time.sleep)(0.2) for _ in range(4))


def test_the_limit_is_looked_at_in_the_first_cycle() -> None:
    m = new(max_time=0.3)
    assert timed(m, slow(0.05), BOX, BOX) < 1.5
    assert 1 <= m.n_evals_ <= 7
    assert m.runs_[0].status == Status.TIME
    m.set_params(max_time=None).resume(pair)


def test_cheap_pairs_end_at_the_limit() -> None:
    m = MinMaxSolver(max_time=0.4, random_state=0, device="cpu", pairwise=True)
    assert timed(m, slow(0.001), BOX, BOX) < 1.5
    assert m.n_iter_ == 0


def test_one_pair_is_evaluated_in_any_case() -> None:
    m = new(max_time=1e-6).fit(pair, BOX, BOX)
    assert m.n_evals_ == 1
    assert m.fun_ == pair(m.x_, m.y_)


def test_the_limit_is_looked_at_between_calls_of_a_function_of_arrays() -> None:
    def f(X: Any, Y: Any) -> Any:
        time.sleep(0.1)
        return game(X, Y)

    m = new(max_time=0.35, gens_x=50, pairwise=False)
    assert timed(m, f, BOX, BOX) < 2.0
    assert m.runs_[0].status == Status.TIME
    assert m.n_iter_ == 0
    assert m.n_evals_ > 144
    whole = new(gens_x=50, pairwise=False).fit(game, BOX, BOX)
    assert same(m.set_params(max_time=None).resume(game), whole)


def test_workers_that_hang_are_ended_at_the_limit(workers: None) -> None:
    m = new(max_time=1.0, n_jobs=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert timed(m, slow(0.02, pair_of_populations(0, 7)), BOX, BOX) < 15.0
    assert 1 <= m.n_evals_ < 144
    assert m.runs_[0].status == Status.TIME


def test_an_evaluation_that_takes_too_long_is_nan(workers: None) -> None:
    late = pair_of_populations(6, 5)

    def cut(x: Any, y: Any) -> float:
        return np.nan if (x[0], y[0]) == late else slow(0.0)(x, y)

    whole = new(max_iter=0).fit(cut, BOX, BOX)
    m = new(max_eval_time=0.3, n_jobs=2, max_iter=0)
    with pytest.warns(RuntimeWarning, match=r"an evaluation took longer than max_eval_time=0\.3 seconds") as found:
        m.fit(slow(0.0, late), BOX, BOX)
    assert len(found) == 1
    assert m.n_evals_ == 144
    assert m.fun_ == whole.fun_
    assert np.array_equal(m.fitness_, whole.fitness_)
    assert np.isinf(m.fitness_).sum() == 1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "n_jobs must be 2 or more, got n_jobs=None"),
        ({"n_jobs": 1}, "n_jobs must be 2 or more, got n_jobs=1"),
        ({"n_jobs": 2, "pairwise": False}, "is for a Python function of one pair"),
        ({"n_jobs": 2, "max_eval_time": 0}, r"max_eval_time must be a number in \(0, inf\], got 0"),
    ],
)
def test_a_limit_of_evaluations_needs_processes(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        new(**{"max_eval_time": 1.0, **parameters}).fit(game, BOX, BOX)
    with pytest.raises(ValueError, match="is for a Python function of one pair"):
        new(max_eval_time=1.0, n_jobs=2, pairwise="auto").fit("minmax/rustem4")


@pytest.mark.parametrize("slow_part", ["objective", "constraint"])
def test_functions_of_a_constrained_problem_end_at_the_limit(slow_part: str) -> None:
    def wait(part: str) -> None:
        if part == slow_part:
            time.sleep(0.05)

    def g(x: Any) -> float:
        wait("constraint")
        return float(x[0] + x[1])

    def f(x: Any) -> float:
        wait("objective")
        return float(x @ x)

    problem = ConstrainedProblem(f, [(-2, 2)] * 2, NonlinearConstraint(g, 1.0, np.inf), vectorized=False)
    m = new(max_time=0.3, pairwise="auto")
    assert timed(m, problem) < 2.5
    assert 1 <= m.n_evals_ < 12
    assert m.runs_[0].status == Status.TIME
    assert m.max_violation_ == max(1 - m.x_.sum(), 0)


def test_workers_evaluate_the_points_of_a_constrained_problem(workers: None) -> None:
    def f(x: Any) -> float:
        return float(x @ x)

    inside = NonlinearConstraint(lambda x: x[..., 0] + x[..., 1], 1.0, np.inf)
    problem = ConstrainedProblem(f, [(-2, 2)] * 2, inside, vectorized=False)
    alone, together = (new(n_jobs=n_jobs, pairwise="auto").fit(problem) for n_jobs in (None, 2))
    assert same(alone, together)
