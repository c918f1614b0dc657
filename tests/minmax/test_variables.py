"""Typed variables in min-max problems and in the Lagrangian of constrained problems."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import NonlinearConstraint

from skde import Categorical, ConstrainedProblem, Fixed, Integer, Log, MinMaxSolver, Ordinal, get_problem

SPACE_X = {"n": Integer(-5, 5), "shift": Ordinal([0.0, 0.25, 1.0])}
SPACE_Y = {"m": Integer(-4, 4), "kind": Categorical(["weak", "strong", "none"])}
GIVEN = {"max_iter": 12, "gens_x": 6, "gens_y": 6, "random_state": 0, "device": "cpu"}
LOADS = np.array([0.0, 2.0, 1.0])


def f(X: Any, Y: Any) -> Any:
    """Convex in x and concave in y: the saddle point is n = 1, shift = 0.25, m = 2, kind = strong, with the value 2."""
    own = (X[:, 0] - 1) ** 2 + (X[:, 1] - 0.25) ** 2
    other = -((Y[:, 0] - 2) ** 2) + LOADS[Y[:, 1].astype(int)]
    return own[:, None] + other[None]


def solver(**more: Any) -> Any:
    return MinMaxSolver(**{**GIVEN, **more})


def test_both_sides_have_typed_variables() -> None:
    m = solver(n_runs=2).fit(f, SPACE_X, SPACE_Y)
    assert m.params_ == {"n": 1, "shift": 0.25}
    assert m.params_y_ == {"m": 2, "kind": "strong"}
    assert m.fun_ == 2.0
    assert (m.worst_case_, m.saddle_gap_) == (2.0, 0.0)
    assert set(m.population_y_[:, 0].tolist()) <= set(range(-4, 5))
    assert m.result_.x.tolist() == [1, 0.25]


def test_one_side_may_have_real_variables() -> None:
    m = solver().fit(lambda X, Y: (X[:, :1] - 0.5) ** 2 - (Y[:, 0] - 2) ** 2, [(-2, 2)], SPACE_Y)
    assert m.x_[0] == pytest.approx(0.5, abs=1e-3)
    assert m.params_y_["m"] == 2
    with pytest.raises(AttributeError, match="params_ needs typed variables"):
        _ = m.params_


def test_the_same_values_by_ask_and_tell() -> None:
    fitted = solver().fit(f, SPACE_X, SPACE_Y)
    m = solver(bounds_x=SPACE_X, bounds_y=SPACE_Y)
    while not m.stopped_:
        X, Y = m.ask()
        assert set(Y[:, 1].tolist()) <= {0.0, 1.0, 2.0}
        m.tell(X, Y, f(X, Y))
    assert (m.population_x_ == fitted.population_x_).all()
    assert (m.population_y_ == fitted.population_y_).all()


def test_files_continue_with_the_variables(tmp_path: Path) -> None:
    whole = solver().fit(f, SPACE_X, SPACE_Y)
    solver(max_iter=5).fit(f, SPACE_X, SPACE_Y).save(tmp_path / "m.skde")
    loaded = MinMaxSolver.load(tmp_path / "m.skde").set_params(max_iter=12)
    assert set(loaded.params_) == {"n", "shift"}
    assert (loaded.resume(f).population_x_ == whole.population_x_).all()


def test_a_compiled_game_gets_the_values() -> None:
    m = solver().fit("minmax/rustem1", [Integer(-5, 5), Integer(-5, 5)], [Integer(-5, 5), Fixed(1)])
    assert (m.x_ == np.round(m.x_)).all()
    assert m.y_[1] == 1


@pytest.mark.parametrize("form", ["dict", "list"])
def test_a_compiled_game_by_ask_and_tell_and_from_a_file(form: str, tmp_path: Path) -> None:
    x: Any = {"n": Integer(-5, 5), "r": (-2, 2)}
    y: Any = {"kind": Categorical(["p", "q", "r"]), "load": Fixed(1)}
    if form == "list":
        x, y = [Integer(-5, 5, name="n"), (-2, 2)], list(y.values())
    game = get_problem("minmax/rustem1")
    whole = solver().fit("minmax/rustem1", x, y)
    told = solver(bounds_x=x, bounds_y=y)
    while not told.stopped_:
        X, Y = told.ask()
        told.tell(X, Y, game(X, Y))
    solver(max_iter=5).fit("minmax/rustem1", x, y).save(tmp_path / "m.skde")
    loaded = MinMaxSolver.load(tmp_path / "m.skde")
    assert loaded.worst_case_ == pytest.approx(whole.worst_case_, abs=1e-3)
    for other in (told, loaded.set_params(max_iter=12).resume()):
        assert (other.population_x_ == whole.population_x_).all()
        assert (other.params_, other.params_y_, other.fun_) == (whole.params_, whole.params_y_, whole.fun_)


def test_a_loaded_constrained_problem_has_its_multipliers(tmp_path: Path) -> None:
    m = solver(max_iter=30).fit("fabris2012/p4", bounds_x=[(-10, 10)] * 6 + [Integer(-10, 10)])
    m.save(tmp_path / "m.skde")
    assert (MinMaxSolver.load(tmp_path / "m.skde").multipliers_ == m.multipliers_).all()


def test_a_lagrangian_takes_the_values() -> None:
    """Minimise n + r where n r >= 7, n is whole and r one of a few numbers: 4 + 2."""
    constraint = NonlinearConstraint(lambda x: x[..., 0] * x[..., 1], 7, np.inf)
    space = {"n": Integer(1, 9), "r": Ordinal([0.5, 1, 2, 4]), "unused": Log(0.1, 1.0)}
    problem = ConstrainedProblem(lambda X: X[:, 0] + X[:, 1], space, constraint)
    m = solver(max_iter=30).fit(problem)
    assert m.max_violation_ <= 1e-6
    assert m.fun_ == 6.0
    assert m.params_["n"] * m.params_["r"] >= 7


def test_a_compiled_constrained_problem_takes_the_values() -> None:
    bounds = [(-10, 10)] * 6 + [Integer(-10, 10)]
    m = solver(max_iter=30).fit("fabris2012/p4", bounds_x=bounds)
    assert m.x_[6] == 2
    assert m.max_violation_ <= 1e-6
    assert m.fun_ < 690


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ({"n": (1, 0)}, SPACE_Y, "bounds_x: Real must have low <= high"),
    ],
)
def test_wrong_variables_are_refused(x: Any, y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        solver().fit(f, x, y)
