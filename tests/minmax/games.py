"""Games and solvers that the tests of MinMaxSolver share."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import NonlinearConstraint

from skde import ConstrainedProblem, MinMaxSolver
from skde.algorithms import ALGORITHMS, Algorithm
from skde.utils.arrays import array_namespace

BOX = [(-2.0, 2.0)] * 3
SIDES = sorted(name for name, kind in ALGORITHMS.items() if kind(**kind.get_test_params()).iteration_length == 1)


def game(X: Any, Y: Any) -> Any:
    """Return the values of a game with several waves and a saddle point at 0.5 and -0.5."""
    xp = array_namespace(X)
    x, y = X[:, None, :] - 0.5, Y[None] + 0.5
    return (x * x - y * y + x * y - 0.3 * xp.cos(5 * x) + 0.3 * xp.cos(5 * y)).sum(axis=2)


def ring(kind: str = "both") -> ConstrainedProblem:
    """Return a problem with an inequality and an equality: the sum of x on a circle's arc."""
    inside = NonlinearConstraint(lambda x: x[..., 0] - x[..., 1], -np.inf, 0.5)
    on = NonlinearConstraint(lambda x: x[..., 0] ** 2 + x[..., 1] ** 2, 1.0, 1.0)
    return ConstrainedProblem(lambda X: X[:, 0] + X[:, 1], [(-2, 2)] * 2, {"both": [inside, on], "equality": on}[kind])


def make(**parameters: Any) -> MinMaxSolver:
    """Return a small solver."""
    given = {"max_iter": 6, "gens_x": 3, "gens_y": 4, "archive_size": 4, "random_state": 3, "device": "cpu"}
    return MinMaxSolver(**{**given, **parameters})


def side(name: str) -> Algorithm:
    """Return a small instance of an algorithm."""
    return ALGORITHMS[name](**{**ALGORITHMS[name].get_test_params(), "pop_size": 12})


def state(solver: MinMaxSolver) -> dict[str, Any]:
    """Return all numbers of a fit."""
    return solver._fit.batch.state()


def same(first: MinMaxSolver, second: MinMaxSolver, scratch: bool = True) -> bool:
    """Whether two fits ended with the same bits, in all numbers or in all that are used."""
    a, b = ({k: v for k, v in state(s).items() if scratch or not k.endswith(".extra")} for s in (first, second))
    runs = [(run.x.tolist(), run.fun, run.n_evals, run.status, run.history.best.tolist()) for run in first.runs_]
    others = [(run.x.tolist(), run.fun, run.n_evals, run.status, run.history.best.tolist()) for run in second.runs_]
    arrays = all(np.array_equal(a[name], b[name], equal_nan=a[name].dtype.kind == "f") for name in a)
    return a.keys() == b.keys() and arrays and runs == others


def played(solver: MinMaxSolver, cycles: int | None = None) -> MinMaxSolver:
    """Return a solver after a fit by hand."""
    done = 0
    while not solver.stopped_ and (cycles is None or done < cycles):
        X, Y = solver.ask()
        if X.ndim == 2:
            solver.tell(X, Y, game(X, Y))
        else:
            solver.tell(X, Y, np.stack([game(x, y) for x, y in zip(X, Y, strict=True)]))
        done += 1
    return solver


def constraint_of(problem: ConstrainedProblem) -> NonlinearConstraint:
    """Return a compiled problem's constraints as a function."""
    return NonlinearConstraint(lambda X: problem.values(X)[:, 1:], -np.inf, 0)
