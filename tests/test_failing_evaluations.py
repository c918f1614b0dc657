"""Fits in which most evaluations fail, or all of them."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skde import DE, DeviceObjective, Minimizer, MinMaxSolver, array_namespace, differential_evolution, minimize
from skde.cli.main import main

BOX = [(0.0, 1.0)] * 3
NO_VALUE = "no value of the objective was finite in {} evaluations"
WIDTH = 0.085  # the values are in 0.5 % of the box
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


def island(bad: float) -> Any:
    """Return a function with values in a small part of the box, and this one elsewhere."""

    def f(X: Any) -> Any:
        xp = array_namespace(X)
        return xp.where((abs(X - 0.6) < WIDTH).all(axis=1), ((X - 0.6) ** 2).sum(axis=1), bad)

    return f


def none(X: Any) -> Any:
    """Return NaN alone."""
    return X[:, 0] * np.nan


def none_of_point(x: Any) -> float:
    """Raise an exception."""
    raise ArithmeticError("no mesh")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_small_part_with_values_is_found(device: str, bad: float) -> None:
    """By most runs; the others say that they have found no value."""
    found = []
    for seed in range(6):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "no value of the objective was finite")
            m = Minimizer(max_evals=20000, random_state=seed, device=device).fit(island(bad), bounds=BOX)
        assert m.n_evals_ > 15000
        assert (m.fun_ < 1e-9) is not m.message_.startswith("No value of")
        found.append(m.fun_ < 1e-9)
    assert sum(found) >= 4


def test_exceptions_are_left_behind() -> None:
    def f(x: Any) -> float:
        value = island(np.nan)(x[None])[0]
        if np.isnan(value):
            raise ArithmeticError("no mesh")
        return float(value)

    with pytest.warns(RuntimeWarning, match="raised ArithmeticError") as caught:
        found = minimize(f, BOX, max_evals=6000, random_state=0, vectorized=False, on_error="nan")
    assert len(caught) == 1
    assert found.fun < 1e-3


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"n_runs": 3},
        {"n_islands": 2},
        {"max_evals": None, "max_iter": 30},
        {"callbacks": lambda progress: None},
        {"device": ["cpu", "cpu"], "n_runs": 2},
        {"execution": "joblib", "n_runs": 2, "n_jobs": 1},
        {"algorithm": "auto"},
        {"algorithm": "auto", "max_evals": 12000},
        {"tol": 1e-3},
        {"polish": True},
        {"final_evals": 50},
    ],
)
@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nothing_but_failures(parameters: dict[str, Any], compiled: bool, bad: float) -> None:
    parameters = {"algorithm": DE(pop_size=7), "max_evals": 700, "random_state": 0, **parameters}
    if compiled and ("final_evals" in parameters or "execution" in parameters):
        parameters = {name: value for name, value in parameters.items() if name not in ("final_evals", "execution")}
    body = f"return infinity(){' * 0' if np.isnan(bad) else ''};"
    objective = DeviceObjective(body) if compiled else lambda X: X[:, 0] * 0 + bad
    with pytest.warns(RuntimeWarning) as caught:
        m = Minimizer(**parameters).fit(objective, bounds=BOX)
    n_evals = sum(run.n_evals for run in m.runs_)
    assert [str(warning.message).split(":")[0] for warning in caught] == [NO_VALUE.format(n_evals)]
    assert m.n_evals_ > 0.7 * (parameters["max_evals"] or 210)
    assert not m.converged_
    assert not m.result_.success
    for run in m.runs_:
        assert not run.fun < np.inf
        assert run.message.startswith(f"No value of {run.n_evals} evaluations was finite. The limit")
    assert ((m.x_ >= 0) & (m.x_ <= 1)).all()


def test_one_run_of_several_without_a_value() -> None:
    """Nothing is warned of where another run has a value."""
    batch = Minimizer(DE(pop_size=5), max_iter=2, n_runs=30, random_state=1).fit(
        lambda X: np.where(X[:, 0] > 0.9, X[:, 1], np.nan), bounds=BOX
    )
    blind = [run for run in batch.runs_ if np.isnan(run.fun)]
    assert 0 < len(blind) < 30
    assert blind[0].message.startswith(f"No value of {blind[0].n_evals} evaluations was finite.")
    assert batch.fun_ == min(run.fun for run in batch.runs_ if run.fun < np.inf)
    assert batch.message_.startswith("The limit")


def test_ask_and_tell() -> None:
    m = Minimizer(DE(pop_size=10), max_evals=200, bounds=BOX, random_state=0)

    def tell_all() -> None:
        while not m.stopped_:
            X = m.ask()
            m.tell(X, none(X))

    with pytest.warns(RuntimeWarning, match=NO_VALUE.format(200)) as caught:
        tell_all()
    assert m.stopped_
    assert len(caught) == 1
    assert m.message_.startswith("No value of 200 evaluations was finite.")


def test_saved_and_resumed(tmp_path: Path) -> None:
    """A value that comes late is found by a fit that was saved without one."""
    with pytest.warns(RuntimeWarning, match="no value"):
        m = Minimizer("jde", max_evals=500, random_state=0).fit(none, bounds=BOX)
    m.save(tmp_path / "m")
    other = Minimizer.load(tmp_path / "m")
    assert np.isnan(other.fun_)
    assert other.message_ == m.message_
    other.set_params(max_evals=5000).resume(lambda X: X.sum(axis=1))
    assert other.fun_ < 0.1
    assert not np.isnan(other.history_.best[-1])


def test_scipys_interface() -> None:
    with pytest.warns(RuntimeWarning, match="no value"):
        found = minimize(none, BOX, max_evals=300)
    assert not found.success
    assert "was finite" in found.message
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        evolved = differential_evolution(lambda x: np.nan, BOX, maxiter=5, polish=True, rng=0)
    assert not evolved.success
    assert evolved.nit == 5


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_games(device: str, bad: float) -> None:
    def game(X: Any, Y: Any) -> Any:
        xp = array_namespace(X)
        values = ((X[:, None] - 0.6) ** 2).sum(axis=2) - ((Y[None] - 0.5) ** 2).sum(axis=2)
        return xp.where((abs(X - 0.6) < WIDTH).all(axis=1)[:, None], values, bad)

    solver = MinMaxSolver("de", max_iter=60, random_state=0, device=device).fit(game, BOX, BOX[:1])
    assert abs(solver.fun_) < 1e-3
    assert np.abs(solver.x_ - 0.6).max() < 0.02


def test_games_without_a_value() -> None:
    with pytest.warns(RuntimeWarning, match=r"no value of the objective was finite") as caught:
        solver = MinMaxSolver("de", max_iter=3, random_state=0).fit(lambda X, Y: np.nan * X[:, :1] * Y[:, 0], BOX, BOX)
    assert len(caught) == 1
    assert solver.n_iter_ == 3
    assert not solver.converged_
    assert solver.message_.startswith(f"No value of {solver.n_evals_} evaluations was finite.")
    asked = MinMaxSolver("de", max_iter=2, random_state=0, bounds_x=BOX, bounds_y=BOX)

    def tell_all() -> None:
        while not asked.stopped_:
            X, Y = asked.ask()
            asked.tell(X, Y, np.full((len(X), len(Y)), np.nan))

    with pytest.warns(RuntimeWarning, match="no value"):
        tell_all()
    assert asked.n_iter_ == 2


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_the_command_shows_what_it_has(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "blind_module.py").write_text("def none(X): return X[:, 0] * float('nan')\n")
    arguments = ["minimize", "blind_module:none", "--dim", "2", "--bounds", "0", "1", "--max-evals", "300", *options]
    with pytest.warns(RuntimeWarning, match="no value"):
        assert main(arguments) == 0
    printed = capsys.readouterr().out
    if options:
        found = json.loads(printed)
        assert found["fun"] is None
        assert found["success"] is False
    assert "was finite" in printed
