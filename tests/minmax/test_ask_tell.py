"""Runs that have ended while others continue, and a function's StopIteration."""

from __future__ import annotations

from typing import Any

import joblib
import numpy as np
import pytest
from scipy.optimize import NonlinearConstraint

from skde import ConstrainedProblem, MinMaxSolver, Status, get_problem
from skde.functions.pointwise import array_namespace

from .games import make, side, state

LOW, HIGH = 1.0, 3.0
BOX = [(LOW, HIGH)] * 2
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
# Runs end with their initial populations, and in several of the cycles after these.
PARAMETERS: dict[str, Any] = {"n_runs": 6, "target": 1.0, "max_iter": 12, "gens_x": 1, "gens_y": 3, "renewal": 0.3}


def game(X: Any, Y: Any) -> Any:
    """Return the values of a game with a saddle point at 2 and 2."""
    return (20 * (X[:, None] - 2.0) ** 2 - (Y[None] - 2.0) ** 2).sum(axis=2)


def solver(**parameters: Any) -> MinMaxSolver:
    return make(algorithm_x=side("de"), bounds_x=BOX, bounds_y=BOX, **{**PARAMETERS, **parameters})


def kept(solver: MinMaxSolver) -> dict[str, Any]:
    """Return all numbers but the status of the sides, which differs with execution on the host."""
    return {name: array for name, array in state(solver).items() if not name.endswith(".status")}


def same(first: MinMaxSolver, second: MinMaxSolver) -> bool:
    a, b = kept(first), kept(second)
    return all(np.array_equal(a[name], b[name], equal_nan=a[name].dtype.kind == "f") for name in a)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_values_of_ended_runs_are_ignored(dtype: str, device: str) -> None:
    fitted = solver(dtype=dtype, device=device).fit(game)
    assert len({run.n_iter for run in fitted.runs_}) > 2
    told = solver(dtype=dtype, device=device)
    while not told.stopped_:
        X, Y = told.ask()
        for points in (X, Y):
            assert bool(((points >= LOW) & (points <= HIGH)).all())
        F = array_namespace(X).stack([game(x, y) for x, y in zip(X, Y, strict=True)])
        F[array_namespace(X).asarray(told._fit.batch.host("status") != Status.RUNNING)] = np.nan
        told.tell(X, Y, F)
    assert same(told, fitted)


@pytest.mark.parametrize("device", DEVICES)
def test_ended_runs_keep_their_values(device: str) -> None:
    """Their populations are those of a fit that ended at the same time."""
    fitted = solver(device=device).fit(game)
    for r, run in enumerate(fitted.runs_):
        alone = solver(device=device, n_runs=1, random_state=run.seed).fit(game)
        for one, whole in (
            (alone._coevolution.x, fitted._coevolution.x),
            (alone._coevolution.y, fitted._coevolution.y),
        ):
            for a, b in zip(one.population(0), whole.population(r), strict=True):
                assert np.array_equal(a, b)


@pytest.mark.parametrize("device", DEVICES)
def test_compiled_games_end_as_those_of_python(device: str) -> None:
    problem = get_problem("minmax/rustem5")
    parameters = {**PARAMETERS, "target": 5.0, "device": device}
    inside = make(**parameters).fit(problem)
    assert len({run.n_iter for run in inside.runs_}) > 2
    outside = make(**parameters).fit(lambda X, Y: problem(X, Y), problem.bounds_x, problem.bounds_y)
    assert same(outside, inside)


def test_a_compiled_fit_continues_by_ask_and_tell() -> None:
    """The engine's loop does not write the other half of the arrays of runs that have ended."""
    problem = get_problem("minmax/rustem5")
    parameters = {**PARAMETERS, "target": 5.0, "bounds_x": problem.bounds_x, "bounds_y": problem.bounds_y}
    m = make(**parameters, callbacks=lambda progress: True).fit(problem)
    assert {run.status for run in m.runs_} == {Status.TARGET, Status.CALLBACK}
    while not m.stopped_:
        X, Y = m.ask()
        for points, box in ((X, problem.bounds_x), (Y, problem.bounds_y)):
            assert ((points >= box[:, 0]) & (points <= box[:, 1])).all()
        m.tell(X, Y, np.stack([problem(x, y) for x, y in zip(X, Y, strict=True)]))
    assert same(m, make(**parameters).fit(problem))


# -- parts -------------------------------------------------------------------------------------------------------------


def test_values_of_pairs_may_be_told_in_parts() -> None:
    parameters = {"n_runs": 1, "target": None, "max_iter": 3}
    rng, parts = np.random.default_rng(0), solver(**parameters)
    while not parts.stopped_:
        X, Y = parts.ask(5)
        if len(X) == 0:  # all have been handed out, and half of their pairs told
            X, Y = parts.ask()
            order = rng.permutation(len(X))
            parts.tell(X[order], Y[1::2], game(X[order], Y[1::2]))
        else:
            assert len(X) <= 5
            parts.tell(X, Y[::2], game(X, Y[::2]))
    assert same(parts, solver(**parameters).fit(game))


def test_wrong_parts_are_refused() -> None:
    m = solver(n_runs=1)
    X, Y = m.ask()
    for arguments, message in (
        ((X[:2] + 1e-9, Y, game(X[:2], Y)), r"X must be what ask returned, .* row 0 is none of them"),
        (
            (X[:2], Y[:, :1], game(X[:2], Y)),
            r"Y must be what ask returned, of shape .*, or some of its rows, got \(\d+, 1\)",
        ),
        ((X[:2], Y[:3], game(X[:3], Y[:2])), r"F must have shape \(2, 3\), .* got \(3, 2\), transposed"),
    ):
        with pytest.raises(ValueError, match=message):
            m.tell(*arguments)
    several = solver()
    X, Y = several.ask()
    with pytest.raises(ValueError, match=r"ask\(n\) needs n_runs=1, got n_runs=6"):
        several.ask(3)
    with pytest.raises(ValueError, match="X must be what ask returned"):
        several.tell(X[:, :2], Y, np.zeros((6, 2, Y.shape[1])))


# -- StopIteration -----------------------------------------------------------------------------------------------------


class Ends:
    """A function, of pairs or of one pair, that raises StopIteration once, after so many calls."""

    def __init__(self, function: Any, calls: int) -> None:
        self.function, self.left = function, calls

    def __call__(self, *points: Any) -> Any:
        self.left -= 1
        if self.left == -1:
            next(iter(()))
        return self.function(*points)


def one_pair(x: Any, y: Any) -> float:
    return float(game(x[None], y[None])[0, 0])


@pytest.mark.parametrize(
    ("function", "calls", "parameters"),
    [
        (game, 20, {}),
        (game, 60, {"n_runs": 3}),
        (game, 40, {"n_runs": 3, "device": ["cpu", "cpu"]}),
        (one_pair, 5000, {"pairwise": True}),
        (one_pair, 5000, {"pairwise": True, "n_jobs": 2}),
    ],
)
def test_the_stop_iteration_of_a_function_is_an_error(function: Any, calls: int, parameters: dict[str, Any]) -> None:
    m = make(algorithm_x=side("de"), **parameters)
    with joblib.parallel_config("threading"), pytest.raises((StopIteration, RuntimeError)) as caught:
        m.fit(Ends(function, calls), BOX, BOX)
    assert isinstance(caught.value, StopIteration) or "StopIteration" in str(caught.value)
    assert np.isfinite(m._fit.batch.best()[1]).all()
    assert Status.RUNNING in {run.status for run in m.runs_}


@pytest.mark.parametrize("part", ["function", "constraint"])
def test_the_stop_iteration_of_a_constrained_problem_is_an_error(part: str) -> None:
    ends = Ends(lambda x: x[0], 12)
    f = (lambda X: ends(X.T)) if part == "function" else (lambda X: X[:, 0])
    g = (lambda X: ends(X.T)) if part == "constraint" else (lambda X: X[:, 0])
    m = make(algorithm_x=side("de"))
    with pytest.raises((StopIteration, RuntimeError)):
        m.fit(ConstrainedProblem(f, BOX, NonlinearConstraint(g, -np.inf, 2)))
    assert m.runs_[0].status == Status.RUNNING


def test_an_error_inside_a_cycle_does_not_end_it(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, broken = (make(algorithm_x=side("de"), bounds_x=BOX, bounds_y=BOX) for _ in range(2))
    whole.fit(game)
    asked = 0
    while not broken.stopped_:
        X, Y = broken.ask()
        asked += 1
        if asked == 9:
            with monkeypatch.context() as patch:
                patch.setattr(broken._fit.engine.engine, "accept", fails)
                with pytest.raises(MemoryError):
                    broken.tell(X, Y, game(X, Y))
            X, Y = broken.ask()
        broken.tell(X, Y, game(X, Y))
    assert same(broken, whole)


def fails(*arguments: Any) -> None:
    raise MemoryError
