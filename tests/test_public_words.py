"""The words of the public interface: one for each meaning, in every solver, estimator, tuner and command."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest

import skde
import skde.tuning
from skde.cli.main import make_parser
from skde.estimators import EvolutionSearchCV, ModelClassifier, ModelRegressor

from .documents import ROOT

CLASSES = [
    skde.Minimizer,
    skde.MinMaxSolver,
    skde.ConstrainedProblem,
    EvolutionSearchCV,
    ModelClassifier,
    ModelRegressor,
    skde.tuning.RacingTuner,
]
# Other words for the same: parameters, and options of commands with hyphens.
OTHERS = {
    "callback",
    "constraint",
    "cycles",
    "evals_limit",
    "f",
    "jobs",
    "maxiter",
    "max_generations",
    "n_cycles",
    "n_iterations",
    "run_evals_limit",
    "run_time_limit",
    "time_limit",
    "workers",
}
COMMANDS = ["minimize", "minmax", "tune", "tune worker"]


def parameters_of(function: Callable[..., Any]) -> list[str]:
    return [name for name in inspect.signature(function).parameters if name != "self"]


@pytest.mark.parametrize("kind", CLASSES)
def test_parameters_have_the_words_of_all(kind: Any) -> None:
    methods = [getattr(kind, name) for name in ("fit", "resume") if hasattr(kind, name)]
    assert not OTHERS & {name for function in (kind, *methods) for name in parameters_of(function)}


@pytest.mark.parametrize("command", COMMANDS)
def test_options_have_the_words_of_all(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    parser, _ = make_parser([*command.split()])
    with pytest.raises(SystemExit):
        parser.parse_args([command, "--help"])
    options = {one[2:].replace("-", "_") for one in re.findall(r"--[a-z][\w-]*", capsys.readouterr().out)}
    assert len(options) > 3
    assert not OTHERS & options


def test_fit_takes_objective_and_bounds_by_position() -> None:
    assert parameters_of(skde.Minimizer.fit)[:2] == ["objective", "bounds"]
    assert parameters_of(skde.MinMaxSolver.fit)[:3] == ["objective", "bounds_x", "bounds_y"]
    assert parameters_of(skde.ConstrainedProblem)[:3] == ["objective", "bounds", "constraints"]
    box = [(-1.0, 1.0)]
    m = skde.Minimizer("de", max_iter=3, random_state=0, device="cpu").fit(lambda X: X[:, 0] ** 2, box)
    game = skde.MinMaxSolver("de", max_iter=1, gens_x=1, gens_y=1, random_state=0, device="cpu")
    game.fit(lambda X, Y: X[:, :1] * Y[:, 0], box, [(0.0, 1.0)])
    assert m.x_.shape == game.x_.shape == (1,)
    assert 0.0 <= game.y_[0] <= 1.0


def test_contributing_lists_words_that_are_parameters() -> None:
    section = (ROOT / "CONTRIBUTING.md").read_text().partition("## Public words")[2].partition("\n## ")[0]
    rows = re.findall(r"(?m)^\| (`.+?) \|", section)
    words = {word for row in rows for word in re.findall(r"`(\w+)`", row)}
    functions = [*CLASSES, *(kind.fit for kind in CLASSES if hasattr(kind, "fit"))]
    found = {name for function in functions for name in parameters_of(function)}
    assert len(words) > 8
    assert words <= found


def test_contributing_is_short() -> None:
    assert len((ROOT / "CONTRIBUTING.md").read_text().splitlines()) < 250
