"""Functions of users that write to their arguments: a fit has the same result as with functions that do not."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, NonlinearConstraint

from skde import JDE, ConstrainedProblem, Minimizer, MinMaxSolver, differential_evolution

BOX = [(-5.0, 5.0)] * 2


def writing(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function, which then overwrites its arguments."""

    @wraps(function)
    def value(*arguments: np.ndarray) -> Any:
        result = np.array(function(*arguments))
        for argument in arguments:
            argument[...] = -7.0
        return result

    return value


def bowl(X: np.ndarray) -> np.ndarray:
    return ((X - 3.0) ** 2).sum(axis=-1)


def ring(x: np.ndarray) -> np.ndarray:
    return x[..., 0] ** 2 + x[..., 1] ** 2


def saddle(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    return (X[:, :1] - 1) ** 2 - (Y[:, 0] - 2) ** 2 + X[:, :1] * Y[:, 0]


def saddle_of_pair(x: np.ndarray, y: np.ndarray) -> float:
    return float((x[0] - 1) ** 2 - (y[0] - 2) ** 2 + x[0] * y[0])


def of(solver: Any) -> list[Any]:
    return [(run.x.tolist(), run.fun, run.n_evals, run.max_violation) for run in solver.runs_]


SETTINGS = (
    {},
    {"polish": "COBYQA"},
    {"algorithm": "auto", "max_evals": 8000},
    {"final_evals": 50},
    {"vectorized": False, "polish": True},
    {"algorithm": JDE(pop_size=10), "n_runs": 2, "n_islands": 2},
)
WITHOUT_CONSTRAINTS = ({"polish": "L-BFGS-B"}, {"polish": "Nelder-Mead"}, {"polish": "quasi-Newton"})


@pytest.mark.parametrize(
    ("settings", "constrained"),
    [*((each, False) for each in (*SETTINGS, *WITHOUT_CONSTRAINTS)), *((each, True) for each in SETTINGS)],
    ids=str,
)
def test_minimizer(settings: dict[str, Any], constrained: bool) -> None:
    own = {"algorithm": "jde", "max_evals": 700, "random_state": 0, **settings}

    def fit(change: Callable[..., Any]) -> list[Any]:
        inside = NonlinearConstraint(change(ring), 1.0, 4.0)
        return of(Minimizer(**own, constraints=inside if constrained else None).fit(change(bowl), bounds=BOX))

    assert fit(writing) == fit(lambda function: function)


@pytest.mark.parametrize("settings", [{}, {"polish": True}, {"vectorized": True, "polish": True}], ids=str)
def test_differential_evolution(settings: dict[str, Any]) -> None:
    own = {"maxiter": 20, "polish": False, "updating": "deferred", "rng": 0, **settings}

    def solve(change: Callable[..., Any]) -> tuple[Any, float]:
        columns = settings.get("vectorized")
        outside = change((lambda x: ring(x.T)) if columns else ring)
        below = [LinearConstraint([[1, 0]], -np.inf, 1), NonlinearConstraint(outside, 1.0, np.inf)]
        function = (lambda x: bowl(x.T)) if columns else bowl
        found = differential_evolution(change(function), BOX, constraints=below, **own)
        return found.x.tolist(), found.fun

    assert solve(writing) == solve(lambda function: function)


def test_values_of_a_problem_leave_the_points_of_the_caller() -> None:
    problem = ConstrainedProblem(writing(bowl), BOX, NonlinearConstraint(writing(ring), 1.0, 4.0))
    X = np.ones((3, 2))
    assert problem.values(X).tolist() == [[8.0, -1.0, -2.0]] * 3
    assert X.tolist() == [[1.0, 1.0]] * 3


@pytest.mark.parametrize("pairwise", [False, True])
def test_min_max_solver(pairwise: bool) -> None:
    function = saddle_of_pair if pairwise else saddle

    def solve(change: Callable[..., Any]) -> tuple[Any, ...]:
        s = MinMaxSolver(pairwise=pairwise, max_iter=1, n_runs=2, random_state=0).fit(
            change(function), [(-5, 5)], [(-5, 5)]
        )
        return of(s), s.x_.tolist(), s.y_.tolist(), s.worst_case_, s.saddle_gap_

    assert solve(writing) == solve(lambda function: function)
