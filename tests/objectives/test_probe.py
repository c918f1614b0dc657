"""Checks of functions before a fit: one value for every row, which depends on that row alone."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import joblib
import numpy as np
import pytest
import scipy.optimize
from scipy.optimize import NonlinearConstraint

from skde import DE, ConstrainedProblem, Minimizer, MinMaxSolver, minimize, scipy_method
from skde.objectives.probe import probe, sample_box, sizes
from skde.testing.base import PROBE_CALLS
from skde.utils.arrays import array_namespace

from ..short_fits import BOX, f, fit

PATHS: dict[str, dict[str, Any]] = {
    "fit": {},
    "float32": {"dtype": "float32"},
    "runs": {"n_runs": 3},
    "islands": {"n_islands": 3},
    "devices": {"n_runs": 2, "device": ["cpu", "cpu"]},
    "joblib": {"n_runs": 2, "execution": "joblib", "n_jobs": 1},
}
GPU_PATHS = {"a GPU": {"device": "cuda"}, "a graph": {"device": "cuda", "execution": "graph"}}
paths = pytest.mark.parametrize(
    "parameters",
    [
        *(pytest.param(one, id=name) for name, one in PATHS.items()),
        *(pytest.param(one, id=name, marks=pytest.mark.gpu) for name, one in GPU_PATHS.items()),
    ],
)


def ranks(X: Any) -> Any:
    """Return the rank of every row's value."""
    return f(X).argsort().argsort()


MIXING: dict[str, Callable[[Any], Any]] = {
    "above the least": lambda X: f(X) - f(X).min(),
    "below the largest": lambda X: f(X) - f(X).max(),
    "standardised": lambda X: (f(X) - f(X).mean()) / (f(X).std() + 1e-9),
    "relative to the largest": lambda X: f(X) / f(X).max(),
    "ranks": ranks,
    "the neighbour's value": lambda X: array_namespace(X).roll(f(X), 1) + f(X),
    "whether it is the least": lambda X: f(X) == f(X).min(),
    "the first row's value": lambda X: f(X[:1]) + 0.0 * f(X),
}


@paths
@pytest.mark.parametrize("function", MIXING.values(), ids=MIXING)
def test_values_that_depend_on_the_other_rows_are_refused(
    function: Callable[[Any], Any], parameters: dict[str, Any]
) -> None:
    with pytest.raises(ValueError, match=r"the objective must compute the value of a row from that row alone: one is"):
        fit(function, **parameters)


@paths
@pytest.mark.parametrize("dim", [1, 2, 3, 4, 12])
def test_a_function_of_one_point_that_is_said_to_take_arrays_is_refused(dim: int, parameters: dict[str, Any]) -> None:
    def of_one(x: Any) -> Any:
        return (x[1:] - x[:-1] ** 2).sum(axis=0) ** 2 + (x[-1] - 1.0) ** 2

    with pytest.raises(ValueError, match=rf"must have shape \(\d,\).*got shape \({dim},\).*vectorized=False"):
        fit(
            of_one,
            algorithm=DE(pop_size=max(dim, 4)),
            fit_options={"bounds": [(-2.0, 2.0)] * dim},
            vectorized=True,
            **parameters,
        )


def test_a_function_of_scipy() -> None:
    with pytest.raises(ValueError, match=r"got shape \(100,\); a function of a single point needs vectorized=False"):
        minimize(scipy.optimize.rosen, [(-2, 2)] * 100, vectorized=True)
    whole = scipy.optimize.minimize(
        scipy.optimize.rosen, np.zeros(20), method=scipy_method("de", max_iter=1), bounds=[(-2, 2)] * 20
    )
    assert whole.fun == scipy.optimize.rosen(whole.x)


def test_an_error_says_what_the_function_was_called_with() -> None:
    """A function of one point that gets all points looks for a variable among the rows."""
    with pytest.raises(IndexError, match="index 7 is out of bounds") as caught:
        fit(lambda x: x[0] ** 2 + x[7] ** 2, fit_options={"bounds": [(-1, 1)] * 9}, vectorized=True)
    assert caught.value.__notes__ == [
        "skde called the objective before the fit with (5, 9); a function of a single point needs vectorized=False"
    ]


NOISE = np.random.default_rng(0)
TAKEN: dict[str, Callable[[Any], Any]] = {
    "noisy": lambda X: f(X) + NOISE.normal(size=len(X)),
    "noisy, and mixing": lambda X: f(X) - f(X).min() + NOISE.normal(size=len(X)),
    "the same random numbers in every call": lambda X: f(X) + np.random.default_rng(0).normal(size=len(X)),
    "NaN in places": lambda X: np.where(X[:, 0] > 0, np.nan, f(X)),
    "infinite in places": lambda X: np.where(X[:, 0] > 0, np.inf, f(X)),
    "infinite": lambda X: np.full(len(X), -np.inf),
    "constant": lambda X: np.zeros(len(X), int),
    "single precision": lambda X: (X.astype(np.float32) @ np.ones((3, 8), np.float32) * 1e-3).sum(axis=1) + 1e3,
    "written in place": lambda X: f(np.subtract(X, 1.0, out=X)),
    "a list": lambda X: f(X).tolist(),
}


@pytest.mark.parametrize("parameters", [{}, {"dtype": "float32"}, {"n_runs": 2, "device": ["cpu", "cpu"]}], ids=str)
@pytest.mark.parametrize("function", TAKEN.values(), ids=TAKEN)
def test_accepted_functions(function: Callable[[Any], Any], parameters: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fit(function, **parameters).n_iter_ == 5


def test_calls_are_few_and_not_counted() -> None:
    shapes: list[tuple[int, ...]] = []

    def counted(X: Any) -> Any:
        shapes.append(X.shape)
        return f(X)

    m = fit(counted, max_iter=2)
    assert shapes[:PROBE_CALLS] == [(5, 3), (1, 3)]
    assert sum(n for n, _ in shapes[PROBE_CALLS:]) == m.n_evals_ == 300
    m.set_params(max_iter=3).resume()  # the same function is not called with them again
    assert [n for n, _ in shapes[PROBE_CALLS:]] == [100] * 4
    m.set_params(max_iter=4).resume(lambda X: counted(X))
    assert shapes[PROBE_CALLS + 4 :] == [(5, 3), (1, 3), (100, 3)]


def test_a_function_of_one_point_is_not_probed() -> None:
    calls: list[Any] = []

    def counted(x: Any) -> Any:
        calls.append(x)
        return (x * x).sum()

    assert fit(counted, vectorized=False, max_iter=1).n_evals_ == len(calls)


def test_joblib_workers_call_the_function() -> None:
    """The function may need what only they have."""
    from os import getpid

    here = getpid()

    def elsewhere(X: Any) -> Any:
        if getpid() == here:
            raise RuntimeError("called at home")
        return f(X)

    def mixing(X: Any) -> Any:
        return f(X) - f(X).min()

    with joblib.parallel_config("loky", n_jobs=2):
        assert fit(elsewhere, n_runs=2, execution="joblib").n_iter_ == 5
        with pytest.raises(ValueError, match="must compute the value of a row from that row alone"):
            fit(mixing, n_runs=2, execution="joblib")


@pytest.mark.parametrize("solve", [lambda problem: fit(problem, fit_options={}), lambda problem: play(problem, None)])
@pytest.mark.parametrize(
    ("objective", "function", "message"),
    [
        (MIXING["ranks"], lambda X: X[:, 0], "the objective must compute the value of a row from that row alone"),
        (
            f,
            lambda X: X[:, 0] - X[:, 0].mean(),
            "the constraints' function must compute the value of a row from that row alone",
        ),
        (f, lambda X: np.stack([X[:, 0], X[:, 1] - X[:, 1].min()], axis=1), "the constraints' function must compute"),
    ],
)
def test_constrained_problems(solve: Any, objective: Any, function: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        solve(ConstrainedProblem(objective, BOX, NonlinearConstraint(function, -1.0, 1.0)))


def game(X: Any, Y: Any) -> Any:
    """Return the values of a game that is not symmetric."""
    return (X[:, None, 0] - 0.3) ** 2 - (Y[None, :, 0] - 0.2) ** 2 + X[:, None, 1] * Y[None, :, 1]


def play(function: Any, box: Any = ((-1.0, 1.0),) * 2, **parameters: Any) -> MinMaxSolver:
    """Return a short fit."""
    given: dict[str, Any] = {"max_iter": 2, "gens_x": 2, "gens_y": 2, "random_state": 0, "device": "cpu", **parameters}
    return MinMaxSolver(**given).fit(function, box, box)


GAME_PATHS: list[Any] = [{}, {"archive_size": 0}, {"n_runs": 2, "device": ["cpu", "cpu"]}]


@pytest.mark.parametrize("parameters", [*GAME_PATHS, pytest.param({"device": "cuda"}, marks=pytest.mark.gpu)], ids=str)
@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda X, Y: game(X, Y).T, r"must return shape \(5, 6\).*got \(6, 5\); it is transposed"),
        (
            lambda X, Y: game(X, Y) - game(X, Y).mean(),
            "the function must compute the value of a row from that row alone",
        ),
        (lambda X, Y: game(X, Y) - game(X, Y).max(axis=1)[:, None], "the function must compute the value of a row"),
        (lambda X, Y: game(X, Y) - game(X, Y).min(axis=0), "the function must compute the value of a row"),
    ],
)
def test_games(function: Any, message: str, parameters: dict[str, Any]) -> None:
    """Where the sides have as many points, a transposed matrix has the right shape."""
    with pytest.raises(ValueError, match=message):
        play(function, **parameters)


def test_accepted_games() -> None:
    noise = np.random.default_rng(0)
    assert play(lambda X, Y: game(X, Y) + noise.normal(size=(len(X), len(Y)))).n_iter_ == 2
    calls: list[tuple[int, int]] = []

    def counted(X: Any, Y: Any) -> Any:
        calls.append((len(X), len(Y)))
        return game(X, Y)

    solver = play(counted)
    assert calls[:PROBE_CALLS] == [(5, 6), (1, 1)]
    assert sum(n * m for n, m in calls[PROBE_CALLS:]) == solver.n_evals_


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("dim", [1, 2, 3, 4, 5, 1000])
def test_the_points_differ_and_are_inside(dim: int, dtype: Any) -> None:
    box = np.array([[-1e-3, 1e3], [1.0, np.nextafter(np.float32(1.0), np.float32(2.0))]])[np.arange(dim) % 2]
    (n,) = sizes([box])
    assert n != dim
    points = sample_box(box, n, np.dtype(dtype))
    assert points.shape == (n, dim)
    assert points.dtype == dtype
    assert len(np.unique(points, axis=0)) == n
    assert ((points >= box[:, 0].astype(dtype)) & (points <= box[:, 1].astype(dtype))).all()
    first, second = sizes([box, box[:1]])
    assert len({first, second, dim, 1}) == len({dim, 1}) + 2


def test_ask_and_tell_probe_nothing() -> None:
    m = Minimizer("jde", bounds=BOX, max_iter=1, random_state=0, device="cpu")
    while not m.stopped_:
        m.tell(m.ask(), ranks(m.ask()))
    assert m.fun_ == 0


MIXED: dict[str, Callable[[Any], Any]] = {
    "mean": lambda X: X.sum(axis=1) - X.mean(),
    "standard deviation": lambda X: (X**2).sum(axis=1) / X.std(),
    "largest size": lambda X: X.sum(axis=1) / abs(X).max(),
    "largest size of a column": lambda X: (X / abs(X).max(axis=0)).sum(axis=1),
    "least value": lambda X: (X**2).sum(axis=1) - (X**2).sum(axis=1).min(),
    "largest value": lambda X: (X**2).sum(axis=1) / (X**2).sum(axis=1).max(),
    "ranks": lambda X: X[:, 0].argsort().argsort() * 1.0,
    "the first row's value": lambda X: np.full(len(X), (X[0] ** 2).sum()),
    "the first row's mean": lambda X: np.full(len(X), X[0].mean()),
}


@pytest.mark.parametrize("function", MIXED.values(), ids=MIXED)
def test_no_dimension_hides_a_value_that_depends_on_other_rows(function: Callable[[Any], Any]) -> None:
    for dim in range(2, 40):
        for low, high in ((-2.0, 2.0), (0.0, 1.0), (1.0, 5.0), (-5.0, 10.0)):
            with pytest.raises(ValueError, match="from that row alone"):
                probe(function, "the objective", [np.array([(low, high)] * dim)], np.dtype("float64"), np)
