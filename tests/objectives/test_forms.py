"""Functions of one point and of arrays of points, which a fit tells apart."""

from __future__ import annotations

import math
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
import scipy.optimize
from scipy.optimize import LinearConstraint, NonlinearConstraint

from skde import DE, Categorical, ConstrainedProblem, Fixed, Integer, Minimizer, MinMaxSolver, minimize
from skde.objectives.objective import Objective

from .test_probe import MIXING, PATHS


def branching(x: Any) -> float:
    """Return a value that an `if` depends on."""
    return float(x[0] ** 2) if x[0] > 0 else float(2 * x[0] ** 2)


def in_python(x: Any) -> float:
    """Return a value by Python's own functions of numbers."""
    return math.fsum(math.sin(v) ** 2 for v in x)


def ravelled(x: Any) -> Any:
    """Return a value of any number of numbers."""
    return np.sum(np.ravel(x) ** 2)


def guarded(x: Any) -> Any:
    """Return a penalty where anything is wrong."""
    try:
        return float(x[0]) ** 2
    except TypeError:
        return 1e10


WEIGHTS = np.arange(1.0, 51.0)
OF_ONE: dict[str, Callable[[Any], Any]] = {
    "rosen": scipy.optimize.rosen,
    "rows by accident": lambda x: x[0] ** 2 + (x[-1] - 1) ** 2,
    "reduces everything": lambda x: np.sum(x**2),
    "an if": branching,
    "math": in_python,
    "sum": lambda x: sum(v**2 for v in x),
    "a product": lambda x: x @ x,
    "a form": lambda x: x @ np.diag(WEIGHTS[: len(x)]) @ x,
    "an average": lambda x: np.linalg.norm(x - 1),
    "ravel": ravelled,
    "a penalty": guarded,
    "an array of one": lambda x: np.array([np.sum(x**2)]),
    "NaN": lambda x: float("nan") if np.ndim(x) == 1 else np.nan,
    "sorted": lambda x: np.sort(x)[0] + np.sum(x) ** 2,
    "constant": lambda x: 1.0,
}
OF_ROWS: dict[str, Callable[[Any], Any]] = {
    "columns": lambda X: X[:, 0] ** 2,
    "sum": lambda X: (X**2).sum(axis=1),
    "either": lambda x: (x**2).sum(axis=-1),
    "any axis": lambda x: np.sum(np.atleast_2d(x) ** 2, axis=1),
    "a loop": lambda X: [sum(row**2) for row in X],
    "a column": lambda X: (X**2).sum(axis=1)[:, None],
    "NaN": lambda X: np.full(len(X), np.nan),
    "norm": lambda X: np.linalg.norm(X, axis=-1),
}


def begin(function: Any, dim: int, **parameters: Any) -> Minimizer:
    """Return a fit of no generations."""
    given = {"max_iter": 0, "random_state": 0, "device": "cpu", **parameters}
    m = Minimizer(given.pop("algorithm", DE(pop_size=max(dim, 4))), **given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # where all values are NaN
        m.fit(function, [(-2.0, 2.5)] * dim)
    return m


@pytest.mark.parametrize("dim", [1, 2, 3, 4, 5, 6, 12])
@pytest.mark.parametrize("name", OF_ONE)
def test_functions_of_one_point(name: str, dim: int) -> None:
    """One call with an array, and one with a point, find the form; then there is one call an evaluation."""
    shapes: list[Any] = []

    def function(x: Any) -> Any:
        shapes.append(np.shape(x))
        return OF_ONE[name](x)

    m = begin(function, dim)
    assert [len(shape) for shape in shapes[:2]] == [2, 1]
    assert shapes[0][0] in (5, 6)
    assert set(shapes[1:]) == {(dim,)}
    if name != "NaN":
        assert m.fun_ == OF_ONE[name](m.x_)
        assert len(shapes) == 2 + m.n_evals_


@pytest.mark.parametrize("dim", [1, 2, 3, 4, 5, 6, 12])
@pytest.mark.parametrize("name", OF_ROWS)
def test_functions_of_arrays(name: str, dim: int) -> None:
    shapes: list[Any] = []

    def function(X: Any) -> Any:
        shapes.append(np.shape(X))
        return OF_ROWS[name](X)

    begin(function, dim)
    assert [len(shape) for shape in shapes] == [2] * len(shapes)
    assert len(shapes) >= 3


@pytest.mark.parametrize("parameters", PATHS.values(), ids=PATHS)
def test_every_execution_takes_what_was_found(parameters: dict[str, Any]) -> None:
    given = {"max_iter": 3, "random_state": 0, "device": "cpu", **parameters}
    found = Minimizer("jde", **given).fit(scipy.optimize.rosen, [(-2, 2)] * 5)
    said = Minimizer("jde", vectorized=False, **given).fit(scipy.optimize.rosen, [(-2, 2)] * 5)
    assert np.array_equal(found.x_, said.x_)
    assert found.fun_ == said.fun_


def test_workers_find_the_form() -> None:
    from os import getpid

    here = getpid()

    def elsewhere(x: Any) -> Any:
        if getpid() == here:
            raise RuntimeError("called at home")
        return scipy.optimize.rosen(x)

    with joblib.parallel_config("loky", n_jobs=2):
        m = Minimizer("jde", max_iter=2, n_runs=2, execution="joblib", device="cpu").fit(elsewhere, [(-2, 2)] * 4)
    assert m.fun_ == scipy.optimize.rosen(m.x_)


def test_the_form_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    for function, takes in ((scipy.optimize.rosen, "one point"), (OF_ROWS["sum"], "arrays of points")):
        minimize(function, [(-1, 1)] * 3, max_iter=1, verbose=1)
        assert f"vectorized='auto' found that the objective takes {takes}" in capsys.readouterr().out


class Broken(Exception):
    """An exception of the user's."""


def broken(x: Any) -> Any:
    """Raise for everything."""
    raise Broken("the simulation has no licence")


def test_the_users_own_exception_is_raised() -> None:
    with pytest.raises(Broken, match="no licence") as caught:
        minimize(broken, [(-1, 1)] * 3)
    (note,) = caught.value.__notes__
    assert "arrays of points, of shape (5, 3)" in note
    assert "one point, of shape (3,)" in note

    def needs_points(x: Any) -> Any:
        if x.ndim == 2:
            raise TypeError("a matrix")
        raise Broken("of a point")

    with pytest.raises(Broken, match="of a point"):
        minimize(needs_points, [(-1, 1)] * 3)
    with pytest.raises(Broken, match="of an array"):
        minimize(raise_of, [(-1, 1)] * 3)


def raise_of(X: Any) -> Any:
    """Raise for the values of a column."""
    raise Broken(f"of an array {X[:, 0]}")


def test_values_that_are_right_in_no_form() -> None:
    with pytest.raises(ValueError, match=r"must have shape \(5,\).*got shape \(5, 3\)"):
        minimize(lambda x: x**2, [(-1, 1)] * 3)
    with pytest.raises(TypeError, match="must return one real number"):
        minimize(lambda x: np.diag([1.0, 2.0, 3.0]) @ x, [(-1, 1)] * 3)


def test_warnings_of_the_wrong_form_are_not_shown() -> None:
    def warned(x: Any) -> Any:
        if np.ndim(x) == 2:
            warnings.warn("an array", UserWarning, stacklevel=1)
        return np.sum(x**2)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        minimize(warned, [(-1, 1)] * 3, max_iter=1)


@pytest.mark.parametrize("name", MIXING)
def test_values_that_depend_on_other_rows_are_no_function_of_one_point(name: str) -> None:
    for dim in range(1, 8):
        with pytest.raises(ValueError, match="from that row alone"):
            minimize(MIXING[name], [(-5, 5)] * dim, max_iter=1)


def test_exceptions_that_become_nan() -> None:
    def half(x: Any) -> Any:
        if x[0] > -1.9:
            raise Broken("outside")
        return float(x[0])

    with pytest.warns(RuntimeWarning, match="the objective raised Broken"):
        m = Minimizer("jde", max_iter=3, random_state=0, device="cpu", on_error="nan").fit(half, [(-2, 2)] * 2)
    assert m.fun_ <= -1.9
    either = Minimizer("jde", max_iter=3, random_state=0, device="cpu", on_error="nan")
    assert either.fit(OF_ROWS["either"], [(-2, 2)] * 2).fun_ >= 0
    with pytest.raises(ValueError, match="on_error='nan' is for a function of one point, and the objective takes arr"):
        either.fit(OF_ROWS["sum"], [(-2, 2)] * 2)


CONSTRAINTS: dict[str, tuple[Callable[[Any], Any], bool]] = {
    "either": (lambda x: x[..., 0] + x[..., 1], True),
    "first axis": (lambda x: x[0] + x[1], False),
    "reduces everything": (lambda x: np.sum(x), False),
    "a list": (lambda x: [x[0] + x[1], x[0] * x[1]], False),
    "a matrix": (lambda x: np.ones((2, len(x))) @ x, False),
    "a product of rows": (lambda x: x @ np.ones((x.shape[-1], 2)), True),
    "a product": (lambda x: x @ x, False),
    "an if": (lambda x: x[0] if x[0] > 0 else 0.0, False),
    "sorted": (lambda x: np.sort(x)[0], False),
    "the least": (lambda x: x.min(), False),
}


@pytest.mark.parametrize("dim", [2, 3, 5, 6])
@pytest.mark.parametrize("name", CONSTRAINTS)
def test_constraints_of_scipys_users(name: str, dim: int) -> None:
    function, takes_rows = CONSTRAINTS[name]
    shapes: list[Any] = []

    def counted(x: Any) -> Any:
        shapes.append(np.ndim(x))
        return function(x)

    constraint = NonlinearConstraint(counted, -np.inf, 1.0)
    r = minimize(scipy.optimize.rosen, [(-2, 2)] * dim, constraints=constraint, max_iter=5, random_state=0)
    assert np.max(function(r.x)) <= 1 + 1e-5
    assert shapes[-1] == (2 if takes_rows else 1)
    problem = ConstrainedProblem(scipy.optimize.rosen, [(-2, 2)] * dim, NonlinearConstraint(function, -np.inf, 1.0))
    X = np.random.default_rng(0).uniform(-2, 2, (3, dim))
    expected = [[scipy.optimize.rosen(x), *(np.atleast_1d(function(x)) - 1)] for x in X]
    assert np.allclose(problem.values(X), expected)
    assert np.allclose(problem.values(X[:1]), expected[:1])


def test_one_point_of_a_problem_is_enough() -> None:
    least = NonlinearConstraint(lambda x: np.sort(x)[0], -1, 1)
    problem = ConstrainedProblem(scipy.optimize.rosen, [(-2, 2)] * 3, [least, LinearConstraint([[1, 1, 1]], -1, 1)])
    x = np.array([0.5, -0.25, 0.75])
    assert problem.values(x[None])[0, 0] == scipy.optimize.rosen(x)
    assert problem.values(x[None])[0, 1:3].tolist() == [-0.75, -1.25]
    again = pickle.loads(
        pickle.dumps(ConstrainedProblem(scipy.optimize.rosen, [(-2, 2)] * 3, LinearConstraint(np.eye(3))))
    )
    assert again.values(x[None])[0, 0] == scipy.optimize.rosen(x)


def test_ask_and_tell_with_a_constraint_of_one_point() -> None:
    m = Minimizer(
        "jde",
        bounds=[(-2, 2)] * 3,
        constraints=NonlinearConstraint(lambda x: float(np.sum(x)), -np.inf, 0),
        max_iter=3,
        random_state=0,
        device="cpu",
    )
    while not m.stopped_:
        X = m.ask()
        m.tell(X, [scipy.optimize.rosen(x) for x in X])
    assert m.max_violation_ == 0


def test_a_file_keeps_the_form(tmp_path: Path) -> None:
    shapes: list[Any] = []

    def rosen(x: Any) -> Any:
        shapes.append(np.ndim(x))
        return scipy.optimize.rosen(x)

    m = Minimizer("jde", max_iter=2, random_state=0, device="cpu").fit(rosen, [(-2, 2)] * 3)
    m.save(tmp_path / "fit.skde")
    loaded = Minimizer.load(tmp_path / "fit.skde").set_params(max_iter=4)
    shapes.clear()
    loaded.resume(rosen)
    assert set(shapes) == {1}  # it is not tried with an array again
    assert loaded.vectorized == "auto"
    m.set_params(max_iter=4).resume()
    assert np.array_equal(m.x_, loaded.x_)


def test_the_caller_keeps_its_parameters() -> None:
    m = Minimizer("jde", max_iter=1, device="cpu").fit(scipy.optimize.rosen, [(-2, 2)] * 3)
    assert m.get_params()["vectorized"] == "auto"
    assert isinstance(m._objective, Objective)
    assert m._objective.by_rows


def test_bounds_by_position() -> None:
    m = Minimizer("jde", max_iter=1, random_state=0, device="cpu")
    assert m.fit("sphere", [(-1, 1)] * 4, dim=4).x_.shape == (4,)
    with pytest.raises(ValueError, match=r"bounds must have shape \(dim, 2\).*named: dim=5"):
        m.fit("sphere", 5)
    with pytest.raises(ValueError, match="named: dim=5"):
        minimize(scipy.optimize.rosen, 5)
    with pytest.raises(ValueError, match=r"bounds_x: .*named: dim=5"):
        MinMaxSolver().fit(lambda X, Y: X @ Y.T, 5, [(0, 1)])


# -- named variables ---------------------------------------------------------------------------------------------------

NAMED: dict[str, Any] = {
    "n": Integer(1, 9),
    "kind": Categorical(["ring", "star", None]),
    "x": (0.0, 1.0),
    "fixed": Fixed(3),
}


def cost(n: int, kind: str | None, x: float, fixed: int) -> float:
    """Return the cost of values, after a check of their types."""
    assert type(n) is int
    assert kind in ("ring", "star", None)
    assert type(x) is float
    assert fixed == 3
    return abs(len(range(n)) - 4) + (kind != "ring") + x


POINT_FORMS: dict[str, Callable[..., float]] = {
    "keywords": cost,
    "any keywords": lambda **values: cost(**values),
    "a dict": lambda point: cost(**point),
    "a dict by names": lambda p: cost(p["n"], p["kind"], p["x"], p["fixed"]),
    "keywords with defaults": lambda n=1, kind="a", x=0.0, fixed=0: cost(n, kind, x, fixed),
    "keywords, and more": lambda n, kind, x, fixed, more=0.0: cost(n, kind, x, fixed) + more,
}


@pytest.mark.parametrize("vectorized", ["auto", False])
@pytest.mark.parametrize("name", POINT_FORMS)
def test_a_function_of_one_point_gets_the_values_of_named_variables(name: str, vectorized: Any) -> None:
    m = Minimizer("jde", max_iter=20, random_state=0, device="cpu", vectorized=vectorized)
    m.fit(POINT_FORMS[name], NAMED)
    assert cost(**m.params_) == pytest.approx(m.fun_)
    assert m.params_["kind"] == "ring"
    assert m.params_["n"] == 4
    again = Minimizer("jde", max_iter=20, random_state=0, device="cpu").fit(
        lambda X: abs(X[:, 0] - 4) + (X[:, 1] != 0) + X[:, 2], NAMED
    )
    assert np.array_equal(again.x_, m.x_)


def test_named_variables_of_a_list_and_of_a_file(tmp_path: Path) -> None:
    for bounds, takes_dict in (([Integer(1, 9, name="n"), (0.0, 1.0)], True), ([Integer(1, 9), (0.0, 1.0)], False)):
        seen: list[Any] = []

        def f(point: Any, seen: list[Any] = seen) -> float:
            seen.append(point)
            return 0.0 if isinstance(point, dict) else float(point[0])

        m = Minimizer("jde", max_iter=1, random_state=0, device="cpu", vectorized=False).fit(f, bounds)
        assert {isinstance(point, dict) for point in seen} == {takes_dict}
        m.save(tmp_path / "fit.skde")
        seen.clear()
        Minimizer.load(tmp_path / "fit.skde").set_params(max_iter=2).resume(f)
        assert {isinstance(point, dict) for point in seen} == {takes_dict}


@pytest.mark.parametrize("function", [lambda n: abs(len(range(n)) - 4), lambda n: abs(n["n"] - 4)])
@pytest.mark.parametrize("vectorized", ["auto", False])
def test_a_parameter_with_the_name_of_the_only_variable(function: Any, vectorized: Any) -> None:
    r = minimize(function, {"n": Integer(1, 20)}, max_iter=20, random_state=0, vectorized=vectorized)
    assert r.params == {"n": 4}


def test_an_array_that_is_expected_where_a_dict_is_given() -> None:
    for vectorized in ("auto", False):
        with pytest.raises(KeyError) as caught:
            minimize(lambda x: len(range(x[0])), {"n": Integer(1, 9), "m": Integer(1, 9)}, vectorized=vectorized)
        assert any("a function of one point gets a dict, here {'n': " in note for note in caught.value.__notes__)


def test_constraints_of_named_variables() -> None:
    def within(point: dict[str, Any]) -> float:
        return point["n"] if point["kind"] == "ring" else 100.0

    r = minimize(
        lambda n, kind: -n,
        {"n": Integer(1, 9), "kind": Categorical(["star", "ring"])},
        constraints=NonlinearConstraint(within, -np.inf, 5),
        max_iter=30,
        random_state=0,
    )
    assert r.params == {"n": 5, "kind": "ring"}


# -- pairs -------------------------------------------------------------------------------------------------------------


def pair(x: Any, y: Any) -> Any:
    """Return the value of one pair."""
    return float((x[0] - 0.3) ** 2 - (y[0] - 0.2) ** 2 + x[1] * y[1])


def solve(f: Any, **parameters: Any) -> MinMaxSolver:
    """Return a short fit of a game."""
    given: dict[str, Any] = {"max_iter": 2, "gens_x": 2, "gens_y": 2, "random_state": 0, "device": "cpu", **parameters}
    return MinMaxSolver(**given).fit(f, [(-1.0, 1.0)] * 2, [(-1.0, 1.0)] * 2)


def test_functions_of_pairs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    found, said = solve(pair, verbose=1), solve(pair, pairwise=True)
    assert "pairwise='auto' found that the function takes one pair of points" in capsys.readouterr().out
    assert np.array_equal(found.x_, said.x_)
    of_arrays = solve(lambda X, Y: np.array([[pair(x, y) for y in Y] for x in X]))
    assert np.array_equal(found.x_, of_arrays.x_)
    found.save(tmp_path / "fit.skde")
    loaded = MinMaxSolver.load(tmp_path / "fit.skde").set_params(max_iter=3).resume(pair)
    assert np.array_equal(loaded.x_, solve(pair, max_iter=3).x_)
    with pytest.raises(Broken):
        solve(lambda x, y: broken(x))


def test_pairs_of_named_variables() -> None:
    def f(x: dict[str, Any], y: Any) -> float:
        return abs(x["n"] - 3) + (x["kind"] == "a") - float(y[0] ** 2)

    solver = MinMaxSolver(max_iter=10, random_state=0, device="cpu")
    solver.fit(f, {"n": Integer(1, 9), "kind": Categorical(["a", "b"])}, [(-1, 1)])
    assert solver.params_ == {"n": 3, "kind": "b"}
