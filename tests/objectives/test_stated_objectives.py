"""Objectives state their forms: a new kind of objective works everywhere without a change elsewhere."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import LinearConstraint

import skde
import skde.tuning
from skde import ConstrainedProblem, DeviceObjective, Minimizer, MinMaxSolver, get_problem, minimize
from skde.cli.arguments import InputError
from skde.cli.minimize import find_objective
from skde.engines.cpu import data_of
from skde.problems import Problem, StatedObjective, find_forms, state_forms
from skde.tuning.targets.algorithm_target import has_clocks, instance_for_seed
from skde.typing import FloatArray
from skde.utils.arrays import Array
from skde.variables import Integer

BOX = np.array([(-2.0, 3.0)] * 2)


class OtherKind(StatedObjective):
    """A kind of objective that skde does not know: the sphere with a box and a minimum of its own."""

    f_opt = -1.0

    @property
    def functor(self) -> Problem:
        sphere: Problem = get_problem("sphere", dim=2)
        return sphere

    @property
    def space(self) -> FloatArray:
        return BOX

    @property
    def file_entry(self) -> dict[str, Any]:
        return {"callable": "the other kind"}


def squares(X: Array) -> Any:
    return (X**2).sum(axis=1)


def test_a_minimizer_runs_another_kind_in_the_kernels() -> None:
    m = Minimizer("de", execution="run", max_iter=30, random_state=1, device="cpu").fit(OtherKind())
    assert m.fun_ == Minimizer("de", max_iter=30, random_state=1, device="cpu").fit("sphere", BOX, dim=2).fun_


def test_constraints_in_python_go_with_another_kind() -> None:
    constraint = LinearConstraint([[1.0, 1.0]], 1.0, np.inf)
    m = Minimizer("de", max_iter=100, random_state=1, constraints=constraint, device="cpu").fit(OtherKind())
    assert m.fun_ == pytest.approx(0.5, abs=1e-3)


def test_a_tuning_gives_runs_on_another_kind_clocks() -> None:
    other = OtherKind()
    assert has_clocks(other, on_gpu=True)
    assert instance_for_seed(other, 3) is other


def test_a_file_says_what_another_kind_was(tmp_path: Path) -> None:
    m = Minimizer("de", max_iter=3, random_state=1, device="cpu").fit(OtherKind())
    m.save(tmp_path / "fit.npz")
    with pytest.raises(ValueError, match="it was the other kind"):
        Minimizer.load(tmp_path / "fit.npz").resume()


def test_arguments_are_for_python_functions() -> None:
    for fun in (get_problem("sphere", dim=2), DeviceObjective("return x[0];"), "sphere", 5):
        with pytest.raises(TypeError, match="args are passed on to a Python function"):
            minimize(fun, BOX, args=(2.0,))


def test_a_game_needs_a_function_of_two_points() -> None:
    for f in (get_problem("sphere", dim=2), DeviceObjective("return x[0];"), OtherKind()):
        with pytest.raises(TypeError, match="is a function of x alone: use Minimizer"):
            MinMaxSolver(max_iter=1).fit(f, bounds_x=BOX, bounds_y=BOX)


def test_the_command_line_refuses_what_is_no_function_of_x(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_games.py").write_text("import skde\ngame = skde.get_problem('minmax/rustem1')\nname = 'sphere'\n")
    monkeypatch.syspath_prepend(tmp_path)
    for text in ("own_games:game", "own_games:name"):
        with pytest.raises(InputError, match="must be a function, of Python or C, a Problem"):
            find_objective(text, None)
    with pytest.raises(InputError, match="it has two sides"):
        find_objective("minmax/rustem1", None)


def test_the_forms_of_every_kind() -> None:
    problem, device = get_problem("sphere", dim=2), DeviceObjective("return x[0];")
    constrained, game = ConstrainedProblem(squares, BOX, ()), get_problem("minmax/rustem1")
    for given, form in ((problem, "functor"), (device, "functor"), (constrained, "constrained"), (game, "game")):
        forms = ("function", "functor", "constrained", "game")
        assert {name: getattr(find_forms(given), name) for name in forms} == {
            name: given if name == form else None for name in forms
        }
    assert find_forms(squares).function is squares
    assert [getattr(find_forms(5), name) for name in ("function", "functor", "constrained", "game")] == [None] * 4
    assert state_forms("sphere", 3).functor.dim == 3  # type: ignore[union-attr]


def test_devices_of_auto() -> None:
    for given, python in ((get_problem("sphere"), False), (squares, True), (get_problem("fabris2012/p3"), False)):
        assert (find_forms(given).cpu_reason is not None) == python
    assert find_forms(ConstrainedProblem(squares, BOX, ())).cpu_reason is not None


def test_no_chain_of_kinds() -> None:
    """Nothing but the statement itself asks for the class of an objective."""
    kinds = {"Problem", "ConstrainedProblem", "MinMaxProblem", "DeviceObjective", "DecodedObjective", "Simulation"}
    found = []
    for package in (skde, skde.tuning):
        for file in Path(package.__file__).parent.rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance":
                    asked = {one.id for one in ast.walk(node.args[1]) if isinstance(one, ast.Name)}
                    found += [(file.name, node.lineno) for _ in asked & kinds]
    assert [name for name, _ in found] == ["lagrangian.py"], found  # a class that only takes constrained problems


class BoundProblem(Problem):
    """A problem that another process or a GPU could not call."""

    @property
    def cpu_only(self) -> str:
        return "it is bound"


def test_a_kind_may_be_bound_to_the_cpu_of_this_process() -> None:
    sphere = get_problem("sphere", dim=2)
    bound = BoundProblem(sphere.name, sphere.kernel, BOX, sphere.x_opt, sphere.f_opt)
    assert find_forms(bound).cpu_reason == "it is bound"
    assert has_clocks(bound, on_gpu=False)
    assert not has_clocks(bound, on_gpu=True)
    m = Minimizer("de", max_iter=10, random_state=0).fit(bound)
    assert m._fit.engine.name == "cpu"
    assert m.fun_ == Minimizer("de", max_iter=10, random_state=0, device="cpu").fit(sphere, BOX).fun_
    for given in (bound, ConstrainedProblem(bound, BOX, LinearConstraint([[1.0, 1.0]], 1.0, np.inf))):
        for device in ("cuda", "cuda:1", ["cuda:0", "cuda:1"]):
            with pytest.raises(ValueError, match=r"device must be 'cpu' or 'auto', got .*: it is bound"):
                Minimizer("de", max_iter=10, device=device).fit(given)
        with pytest.raises(ValueError, match="other processes can call: it is bound"):
            Minimizer("de", max_iter=10, execution="joblib", n_jobs=2).fit(given)
    typed = {"a": Integer(-2, 3), "b": (-2.0, 3.0)}
    with pytest.raises(ValueError, match="it is bound"):
        Minimizer("de", max_iter=10, device="cuda").fit(bound, typed)


def test_words_of_an_objective_keep_their_bits() -> None:
    class Words:
        arrays = (np.array([2**62 + 1, -3]), np.array([0.5, 2.0]))

    for dtype in map(np.dtype, ("float64", "float32")):
        words, numbers = data_of(Words(), dtype)  # type: ignore[arg-type]
        assert words.dtype == numbers.dtype == dtype
        assert words.view(np.int64).tolist() == [2**62 + 1, -3]
        assert numbers.tolist() == [0.5, 2.0]
