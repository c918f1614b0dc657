"""Ask and tell against fit, with parameters drawn at random: the same bits, and no point outside the bounds.

SKDE_FUZZ=100 tries a hundred times as many examples.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import NonlinearConstraint

from skde import Migration, Minimizer, MinMaxSolver, Status
from skde.algorithms import ALGORITHMS, Algorithm

from .settings import examples

SIDES = sorted(name for name, kind in ALGORITHMS.items() if kind(**kind.get_test_params()).iteration_length == 1)


class Box:
    """Bounds that do not contain the origin, which notes whether all points were inside."""

    def __init__(self, rng: np.random.Generator, dim: int, dtype: str) -> None:
        low = rng.choice([1.0, 2.5, -9.0], dim)
        self.pairs = np.stack([low, low + rng.choice([0.5, 1.0, 4.0], dim)], axis=1)
        self.low, self.high = self.pairs.astype(dtype).T
        self.centre = self.pairs.mean(axis=1) + 0.1
        self.kept = True

    def look(self, X: Any) -> None:
        """Check points of any leading axes."""
        self.kept &= bool((np.clip(X, self.low, self.high) == X).all())


def bowl(X: Any, centre: Any) -> Any:
    """Sum of squares, added in one order for arrays of every shape."""
    total = np.zeros(X.shape[:-1], X.dtype)
    for j in range(X.shape[-1]):
        total += (X[..., j] - X.dtype.type(centre[j])) ** 2
    return total


def rules(rng: np.random.Generator, worst: float) -> dict[str, Any]:
    """Return rules that end runs, at once or later."""
    drawn = {"target": worst * rng.choice([1e-4, 0.01, 0.03, 0.1]), "tol": rng.choice([1e-2, 0.3]), "stagnation": 3}
    return {name: value for name, value in drawn.items() if rng.random() < 0.5}


def one_of(rng: np.random.Generator, names: list[str], pop_size: int) -> Algorithm:
    """Return a small instance of an algorithm."""
    kind = ALGORITHMS[str(rng.choice(names))]
    return kind(**{**kind.get_test_params(), "pop_size": pop_size})


def results(solver: Minimizer | MinMaxSolver) -> list[Any]:
    """Return the results of all runs."""
    return [
        (run.x.tolist(), run.fun, run.n_evals, run.n_iter, run.status, run.violation, run.history.best.tolist())
        for run in solver.runs_
    ]


def outcome(work: Callable[[], Any]) -> str:
    """Return how a fit went, as text, in which NaN equals NaN."""
    try:
        return repr(work())
    except ValueError as error:
        return repr(error)


def minimizer(rng: np.random.Generator) -> tuple[Minimizer, Box, Callable[[Any], Any]]:
    """Return a Minimizer, its box and its objective."""
    dim, dtype = int(rng.integers(1, 4)), str(rng.choice(["float64", "float64", "float32"]))
    box = Box(rng, dim, dtype)
    n_runs, n_islands = (int(n) for n in rng.integers(1, 4, 2))
    pop_size = int(rng.integers(12, 20))
    algorithm: Any = one_of(rng, sorted(ALGORITHMS), pop_size)
    if rng.random() < 0.3:
        algorithm = [type(algorithm)(**{**algorithm.get_params(), "pop_size": pop_size + 3 * r}) for r in range(n_runs)]
    hole = box.centre[0] + 0.2 if rng.random() < 0.2 else np.inf

    def objective(X: Any) -> Any:
        return np.where(X[..., 0] > hole, np.nan, bowl(X, box.centre))

    constraints = None
    if dtype == "float64" and rng.random() < 0.3:
        constraints = NonlinearConstraint(lambda x: x[..., 0] * 1.0, -np.inf, box.centre[0])
    limits = (
        {"max_evals": int(rng.integers(3 * 30, 900))} if rng.random() < 0.5 else {"max_iter": int(rng.integers(25))}
    )
    solver = Minimizer(
        algorithm,
        bounds=box.pairs,
        n_runs=n_runs,
        n_islands=n_islands,
        migration=Migration(every=int(rng.integers(1, 6)), n_migrants=1) if n_islands > 1 else None,
        dtype=dtype,
        constraints=constraints,
        device=["cpu", "cpu"] if n_runs * n_islands > 1 and rng.random() < 0.2 else "cpu",
        n_jobs=1,
        random_state=int(rng.integers(1000)),
        **limits,
        **rules(rng, float(bowl(box.pairs[:, 0], box.centre))),
    )
    return solver, box, objective


def asked(m: Minimizer, box: Box, objective: Callable[[Any], Any]) -> list[Any]:
    """Return the results of ask and tell, with NaN as the values of runs that have ended."""
    while not m.stopped_:
        X = m.ask()
        box.look(X)
        f = objective(X)
        running = m._fit.batch.host("status") == Status.RUNNING
        f.reshape(len(running), -1)[~running] = np.nan
        m.tell(X, f)
    return results(m)


def fitted(m: Minimizer, box: Box, objective: Callable[[Any], Any]) -> list[Any]:
    """Return the results of fit."""

    def watched(X: Any) -> Any:
        box.look(X)
        return objective(X)

    return results(m.fit(watched))


def asked_in_parts(
    m: Minimizer, box: Box, objective: Callable[[Any], Any], rng: np.random.Generator, path: Path
) -> Any:
    """Return the results of ask and tell in parts, told in any order, by points or by ids, with files in between."""
    given: dict[int, Any] = {}
    by_ids = rng.random() < 0.5  # not mixed, because a value by points counts for any of equal points
    while not m.stopped_:
        X, ids = m.ask(int(rng.integers(1, 30)), return_ids=True)
        box.look(X)
        given |= dict(zip(ids.tolist(), X, strict=True))
        chosen = rng.permutation(list(given))[: rng.integers(len(given) + 1)].tolist()
        rows = np.array([given.pop(i) for i in chosen]).reshape(-1, X.shape[1])
        if by_ids:
            m.tell(f=objective(rows), ids=chosen)
        else:
            m.tell(rows, objective(rows))
        if rng.random() < 0.03:
            m.save(path)
            m = Minimizer.load(path).set_params(constraints=m.constraints)
            if rng.random() < 0.5:
                given.clear()  # else some are handed out twice, and told once
            elif given:
                again, ids = m.ask(1000, return_ids=True)
                assert not by_ids or set(given) <= set(ids.tolist())
                given = dict(zip(ids.tolist(), again, strict=True))
    return results(m)


@pytest.mark.parametrize("seed", range(examples(150)))
def test_parts_of_generations(seed: int, tmp_path: Path) -> None:
    by_fit, by_parts = (minimizer(np.random.default_rng(seed)) for _ in range(2))
    first = outcome(lambda: fitted(*by_fit))
    second = outcome(lambda: asked_in_parts(*by_parts, np.random.default_rng(seed), tmp_path / "fit"))
    assert first == second
    assert by_parts[1].kept


@pytest.mark.parametrize("seed", range(examples(400)))
def test_minimizer(seed: int) -> None:
    by_fit, by_asking = (minimizer(np.random.default_rng(seed)) for _ in range(2))
    first, second = outcome(lambda: fitted(*by_fit)), outcome(lambda: asked(*by_asking))
    assert first == second
    assert by_fit[1].kept
    assert by_asking[1].kept


def game(X: Any, Y: Any, x: Any, y: Any) -> Any:
    """Return all values of a game with a saddle point at x and y, added in one order."""
    total = np.zeros((len(X), len(Y)), X.dtype)
    for j in range(X.shape[1]):
        total += (X[:, None, j] - X.dtype.type(x[j])) ** 2
    for j in range(Y.shape[1]):
        total -= (Y[None, :, j] - X.dtype.type(y[j])) ** 2
    return total


def minmax(rng: np.random.Generator) -> tuple[MinMaxSolver, Box, Box]:
    """Return a MinMaxSolver and its boxes."""
    dtype = str(rng.choice(["float64", "float32"]))
    box_x, box_y = (Box(rng, int(rng.integers(1, 4)), dtype) for _ in range(2))
    solver = MinMaxSolver(
        one_of(rng, SIDES, int(rng.integers(12, 16))),
        one_of(rng, SIDES, int(rng.integers(12, 16))),
        bounds_x=box_x.pairs,
        bounds_y=box_y.pairs,
        max_iter=int(rng.integers(0, 7)),
        gens_x=int(rng.integers(1, 4)),
        gens_y=int(rng.integers(1, 4)),
        archive_size=int(rng.integers(0, 4)),
        renewal=float(rng.choice([0.0, 0.3])),
        max_evals=int(rng.integers(250, 9000)) if rng.random() < 0.3 else None,
        n_runs=int(rng.integers(1, 5)),
        dtype=dtype,
        device="cpu",
        n_jobs=1,
        random_state=int(rng.integers(1000)),
        **rules(rng, 0.5),
    )
    return solver, box_x, box_y


@pytest.mark.parametrize("seed", range(examples(150)))
def test_minmax(seed: int) -> None:
    (whole, x, y), (parts, box_x, box_y) = (minmax(np.random.default_rng(seed)) for _ in range(2))

    def watched(X: Any, Y: Any) -> Any:
        x.look(X)
        y.look(Y)
        return game(X, Y, x.centre, y.centre)

    def fit() -> list[Any]:
        return results(whole.fit(watched))

    def loop() -> list[Any]:
        while not parts.stopped_:
            X, Y = parts.ask()
            box_x.look(X)
            box_y.look(Y)
            pairs = zip(X.reshape(whole.n_runs, -1, X.shape[-1]), Y.reshape(whole.n_runs, -1, Y.shape[-1]), strict=True)
            F = np.stack([game(one, other, x.centre, y.centre) for one, other in pairs])
            F[parts._fit.batch.host("status") != Status.RUNNING] = np.nan
            parts.tell(X, Y, F if X.ndim == 3 else F[0])
        return results(parts)

    assert outcome(fit) == outcome(loop)
    assert x.kept
    assert y.kept
    assert box_x.kept
    assert box_y.kept
    if whole.__sklearn_is_fitted__():
        sides = [
            (side.population(r), one.population(r))
            for r in range(whole.n_runs)
            for side, one in zip(
                (whole._coevolution.x, whole._coevolution.y), (parts._coevolution.x, parts._coevolution.y), strict=True
            )
        ]
        assert all(np.array_equal(a, b) for first, second in sides for a, b in zip(first, second, strict=True))
