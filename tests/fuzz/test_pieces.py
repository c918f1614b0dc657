"""A fit in pieces equals the fit in one piece: for every objective, every end of a piece, and by way of files."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from skde import SOUPDE, SS, Migration, Minimizer, MinMaxSolver, get_problem
from skde.algorithms import ALGORITHMS, Algorithm
from skde.functions.pointwise import array_namespace

from .settings import examples

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
FEW = 24  # examples on a GPU, which compiles kernels for nearly every one


def waves(X: Any) -> Any:
    """Return the values of a function of many minima, on arrays of either library; X is never empty."""
    assert len(X)
    return (X * X - 3 * array_namespace(X).cos(3 * X)).sum(axis=1)


def game(X: Any, Y: Any) -> Any:
    """Return the values of a game, rounded: sides come to rest after some cycles."""
    x, y = X[:, None, :] - 0.5, Y[None] + 0.5
    return array_namespace(X).rint(8 * (x * x - y * y + x * y).sum(axis=2)) / 8


def samples(history: Any) -> list[Any]:
    """Return a history without its times."""
    return [history.best.tolist(), history.n_evals.tolist()]


def told(solver: Any) -> list[Any]:
    """Return the results of all runs without their times."""
    return [
        (run.x.tolist(), run.fun, run.n_iter, run.n_evals, run.status.name, run.violation, samples(run.history))
        for run in solver.runs_
    ]


def limits_of(draw: random.Random, last: int) -> list[int]:
    """Return where the pieces of a fit of `last` generations end."""
    return [*sorted(draw.sample(range(last + 1), min(draw.randint(1, 4), last + 1))), last]


def rules_of(draw: random.Random) -> dict[str, Any]:
    """Return rules that end many runs early, and often in the last generation of a piece."""
    return {
        "target": draw.choice([None, None, 3.0, 0.1, -6.0]),
        "tol": draw.choice([None, None, 0.3, 0.05]),
        "stagnation": draw.choice([None, 1, 2, 3, 5]),
    }


def with_size(kind: type[Algorithm], pop_size: int) -> Algorithm:
    """Return an instance of the contract tests with another population."""
    parameters = {**kind.get_test_params(), "pop_size": pop_size}
    if kind is SOUPDE:
        parameters["subpopulations"] = pop_size // 6
    return kind(**parameters)


def algorithm_of(draw: random.Random) -> Algorithm:
    """Return a small instance of an algorithm."""
    kind = ALGORITHMS[draw.choice(sorted(ALGORITHMS))]
    if kind is SS:
        return SS(pop_size=12, n_best=draw.randint(1, 3), n_diverse=draw.randint(1, 2), n_local=draw.randint(0, 6))
    return with_size(kind, draw.randint(6, 14))


def minimizer_of(draw: random.Random, device: str) -> tuple[dict[str, Any], dict[str, Any], list[int]]:
    """Return a Minimizer's parameters, its objective, and where the pieces end."""
    algorithm = algorithm_of(draw)
    last = draw.randint(0, 40) if draw.random() < 0.9 else draw.randint(128, 300)
    islands = draw.choice([1, 1, 2, 3])
    kind = draw.choice(["name", "function", "constrained"])
    parameters: dict[str, Any] = {
        "algorithm": algorithm,
        "n_runs": draw.choice([1, 2, 3]),
        "n_islands": islands,
        "n_jobs": 1,
        "migration": Migration(every=draw.randint(1, 6), n_migrants=1) if islands > 1 else None,
        "dtype": "float64" if kind == "constrained" else draw.choice(["float32", "float64"]),
        "random_state": draw.randrange(2**32),
        "execution": draw.choice(["auto", "step"]),
        **rules_of(draw),
    }
    several = islands * parameters["n_runs"] > 1 and draw.random() < 0.3
    parameters["device"] = [device] * 2 if several else device
    if device == "cuda" and kind == "function" and not several and not algorithm.shrinks and type(algorithm) is not SS:
        parameters["execution"] = draw.choice(["auto", "graph"])
    given = {
        "name": {"objective": "rastrigin", "dim": draw.randint(1, 5)},
        "function": {"objective": waves, "bounds": [(-3.0, 3.0)] * draw.randint(1, 4)},
        "constrained": {"objective": get_problem("fabris2012/p5")},
    }[kind]
    return parameters, given, limits_of(draw, last)


def sizes_of(draw: random.Random, device: str) -> tuple[dict[str, Any], dict[str, Any], list[int]]:
    """Return the same for runs of several sizes with limits of evaluations: they are not at the same generation."""
    parameters, given, pieces = minimizer_of(draw, device)
    algorithm = parameters["algorithm"]
    if algorithm.shrinks:
        algorithm = ALGORITHMS["jde"]()
    if parameters["execution"] == "graph":  # which needs one size
        parameters["execution"] = "auto"
    sizes = [draw.randint(10, 25) for _ in range(3)]
    parameters |= {"n_runs": 3, "algorithm": [clone(algorithm).set_params(pop_size=size) for size in sizes]}
    return parameters, given, [75 + 20 * last for last in pieces]


def solver_of(draw: random.Random, device: str) -> tuple[dict[str, Any], dict[str, Any], list[int]]:
    """Return a MinMaxSolver's parameters, its problem, and where the pieces end."""
    sides = sorted(name for name, kind in ALGORITHMS.items() if kind(**kind.get_test_params()).iteration_length == 1)
    kind = draw.choice(["name", "function", "constrained"])
    # Sides that plan with max_iter would plan otherwise.
    planned = ("jso", "nlshadersp", "rdex", "arrde")
    x, y = (ALGORITHMS[draw.choice([name for name in sides if name not in planned])] for _ in "xy")
    parameters: dict[str, Any] = {
        "algorithm_x": with_size(x, draw.randint(6, 12)),
        "algorithm_y": with_size(y, draw.randint(6, 12)),
        "gens_x": draw.randint(1, 3),
        "gens_y": draw.randint(1, 3),
        "archive_size": draw.randint(0, 4),
        "renewal": draw.choice([0.0, 0.3]),
        "n_runs": 2,
        "n_jobs": 1,
        "device": draw.choice([device, device, [device] * 2]),
        "dtype": "float64" if kind == "constrained" else draw.choice(["float32", "float64"]),
        "random_state": draw.randrange(2**32),
        **rules_of(draw),
    }
    box = [(-2.0, 2.0)] * draw.randint(1, 2)
    given = {
        "name": {"objective": "minmax/rustem4"},
        "function": {"objective": game, "bounds_x": box, "bounds_y": box},
        "constrained": {"objective": get_problem("fabris2012/p5")},
    }[kind]
    return parameters, given, limits_of(draw, draw.randint(0, 12))


def piece(limit: str, last: int, until: int, planned: bool) -> dict[str, Any]:
    """Return the parameters by which a fit ends early: a limit or, where the limit plans the fit, a callback."""
    if planned:
        return {limit: last, "callbacks": lambda progress: progress.n_iter >= until}
    return {limit: until, "callbacks": None}


def by_hand(solver: Any, generations: int) -> None:
    """Ask and tell."""
    for _ in range(generations):
        if not solver.stopped_:
            X = solver.ask()
            solver.tell(X, waves(X))


def in_pieces(
    solver: Any, limit: str, pieces: list[int], given: dict[str, Any], draw: random.Random, path: Path
) -> Any:
    """Return a solver after a fit in pieces."""
    function = next(iter(given.values()))
    planned = isinstance(solver, Minimizer) and limit == "max_iter" and solver.algorithm.shrinks
    alone = function is waves and solver.n_runs * solver.n_islands == 1
    first = piece(limit, pieces[-1], pieces[0], planned)
    if alone and draw.random() < 0.7:
        by_hand(solver.set_params(**{limit: pieces[-1]}, bounds=given["bounds"]), pieces[0] + 1)
    else:
        solver.set_params(**first).fit(**given)
    for until in pieces[1:]:
        if draw.random() < 0.4:
            told(solver)  # reading changes nothing
        if draw.random() < 0.5:
            solver.save(path)
            solver = type(solver).load(path)
        solver.set_params(**piece(limit, pieces[-1], until, planned)).resume(
            function if not isinstance(function, str) else None
        )
    return solver


def check(kind: Any, limit: str, make: Any, device: str, number: int, path: Path) -> None:
    """Fit in one piece and in several, and compare."""
    draw = random.Random(f"{make.__name__} {device} {number}")
    parameters, given, pieces = make(draw, device)
    whole = kind(**parameters, **{limit: pieces[-1]}).fit(**given)
    parts = in_pieces(kind(**parameters), limit, pieces, given, draw, path)
    assert told(parts) == told(whole), f"example {number}: {pieces} {parameters} {given}"
    assert np.array_equal(parts.population_, whole.population_)
    assert np.array_equal(parts.fitness_, whole.fitness_)


@pytest.mark.parametrize("device", DEVICES)
def test_minimizers(device: str, tmp_path: Path) -> None:
    for number in range(examples(130 if device == "cpu" else FEW)):
        check(Minimizer, "max_iter", minimizer_of, device, number, tmp_path / "fit.skde")


@pytest.mark.parametrize("device", DEVICES)
def test_runs_of_several_sizes(device: str, tmp_path: Path) -> None:
    for number in range(examples(60 if device == "cpu" else FEW)):
        check(Minimizer, "max_evals", sizes_of, device, number, tmp_path / "fit.skde")


@pytest.mark.parametrize("device", DEVICES)
def test_min_max_solvers(device: str, tmp_path: Path) -> None:
    for number in range(examples(60 if device == "cpu" else FEW // 2)):
        check(MinMaxSolver, "max_iter", solver_of, device, number, tmp_path / "fit.skde")
