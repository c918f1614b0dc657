"""Constraints that hide the objective, and failing evaluations, at random: every way of a fit gives the same bits.

SKDE_FUZZ=100 tries a hundred times as many examples.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import NonlinearConstraint

from skde import Minimizer, MinMaxSolver
from skde.algorithms import ALGORITHMS

from .settings import examples

FAILURES = (np.nan, np.inf)


class Case:
    """A problem in a box: an objective with values in a part of it, and constraints that may hide the rest.

    Parameters
    ----------
    rng : numpy.random.Generator
        The source of the example.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self.dim = int(rng.integers(1, 5))
        self.centre = rng.uniform(0.2, 0.8, self.dim)
        works = float(rng.choice([1.0, 0.5, 0.1, 0.005, 0.0]))  # the part of the box where evaluations do not fail
        self.half = works ** (1 / self.dim) / 2
        self.failure = float(rng.choice(FAILURES))
        self.limit = float(rng.choice([-1.0, 0.05, 0.3, 2.0]))  # of the distance from the centre
        self.hidden = float(rng.choice([np.nan, np.inf, -np.inf, 1e308, 0.0]))
        self.raises = bool(rng.random() < 0.3)

    def g(self, x: Any) -> Any:
        """Return the constraint at points in rows, or at one point."""
        return np.abs(x - self.centre).max(axis=-1) - self.limit

    def f(self, X: Any) -> Any:
        """Return the values at rows, hidden where the constraint is violated."""
        away = X - self.centre
        values = np.where((np.abs(away) <= self.half).all(axis=-1), (away**2).sum(axis=-1), self.failure)
        return np.where(self.g(X) > 1e-6, self.hidden, values)

    def feasible_f(self, X: Any) -> Any:
        """Return the values at rows, all of which have to be feasible."""
        assert not (self.g(X) > 1e-6).any()
        return self.f(X)

    def point(self, x: Any) -> float:
        """Return the value at one point, or raise an exception where it fails."""
        value = float(self.feasible_f(x[None])[0])
        if self.raises and not value < np.inf:
            raise ArithmeticError("no mesh")
        return value

    def both(self, X: Any) -> Any:
        """Return the values and the constraint at rows."""
        return self.f(X), self.g(X)


def results(m: Minimizer) -> str:
    """Return the results of all runs, as text, in which NaN equals NaN; f may be known of an infeasible point."""
    return repr(
        [
            (run.x.tolist(), run.fun if run.feasible else None, run.max_violation, run.n_evals, int(run.status))
            for run in m.runs_
        ]
    )


def check(m: Minimizer, case: Case, most: int) -> None:
    """Check what every fit promises."""
    for run in m.runs_:
        assert run.n_evals <= most
        assert run.n_evals > most - 60 or run.status.success
        if run.success or run.fun < np.inf:
            assert run.feasible
            assert run.fun == case.f(run.x[None])[0]
        if run.feasible and not run.fun < np.inf:
            assert run.message.startswith(f"No value of {run.n_evals} evaluations was finite.")
            assert not run.success


@pytest.mark.parametrize("seed", range(examples(40)))
def test_constraints_that_hide_the_objective(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    case, name = Case(rng), str(rng.choice(sorted(ALGORITHMS)))
    algorithm = ALGORITHMS[name](**ALGORITHMS[name].get_test_params())
    most = int(rng.integers(200, 900))
    options: dict[str, Any] = {"algorithm": algorithm, "max_evals": most, "n_runs": int(rng.integers(1, 3))}
    options |= {"random_state": seed, "device": "cpu"}
    box, hides = [(0.0, 1.0)] * case.dim, NonlinearConstraint(case.g, -np.inf, 0.0)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "no value of the objective was finite|the objective raised")
        m = Minimizer(constraints=hides, vectorized=True, **options).fit(case.feasible_f, box)
        check(m, case, most)
        expected = results(m)
        on_error = {"vectorized": False, "on_error": "nan"}
        points = Minimizer(constraints=hides, **on_error, **options).fit(case.point, box)
        assert results(points) == expected
        assert results(Minimizer(**options).fit(case.both, box)) == expected
        asked = Minimizer(constraints=hides, vectorized=True, bounds=box, **options)
        told = Minimizer(bounds=box, **options)
        while not asked.stopped_:
            X, ids = asked.ask(int(rng.integers(1, 50)), return_ids=True)
            order = rng.permutation(len(X))
            if len(X):
                asked.tell(f=case.feasible_f(X[order]), ids=ids[order])
        while not told.stopped_:
            X = told.ask()
            told.tell(X, case.f(X), g=case.g(X))
        assert results(asked) == expected
        assert results(told) == expected
        half = Minimizer(constraints=hides, vectorized=True, **{**options, "max_iter": 3}).fit(case.feasible_f, box)
        half.save(tmp_path / "half")
        again = Minimizer.load(tmp_path / "half").set_params(max_iter=None, constraints=hides)
        if not algorithm.shrinks:
            assert results(again.resume(case.feasible_f)) == expected


@pytest.mark.parametrize("seed", range(examples(20)))
def test_games_in_which_pairs_fail(seed: int) -> None:
    rng = np.random.default_rng(seed)
    case, max_iter = Case(rng), int(rng.integers(1, 6))
    box = [(0.0, 1.0)] * case.dim

    def game(X: Any, Y: Any) -> Any:
        values = ((X[:, None] - case.centre) ** 2).sum(axis=2) - ((Y[None] - case.centre) ** 2).sum(axis=2)
        fails = (np.abs(X - case.centre) > case.half).any(axis=1)[:, None] | (Y[:, 0] < case.limit / 10)
        return np.where(fails, case.failure, values)

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "no value of the objective was finite")
        solver = MinMaxSolver("jde", max_iter=max_iter, random_state=seed, device="cpu").fit(game, box, box)
    assert solver.n_iter_ == max_iter
    if not solver.fun_ < np.inf:
        assert not solver.converged_
        assert solver.message_.startswith(f"No value of {solver.n_evals_} evaluations was finite.")
