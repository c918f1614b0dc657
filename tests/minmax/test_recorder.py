"""The recorder of all pairs, or of all points of a constrained problem."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skde import Categorical, Integer, MinMaxSolver, Real, Recorder, get_problem
from skde.cli.main import main

from .games import BOX, game, make, ring, same, side

COLUMNS = ["id", "run", "generation", "phase", "seconds", "fun", "violation"]
NAMES = [*(f"x{j}" for j in range(3)), *(f"y{j}" for j in range(3))]
SMALL: dict[str, Any] = {"max_iter": 2, "gens_x": 1, "gens_y": 2, "archive_size": 2}


def pair(x: Any, y: Any) -> float:
    return float(game(x[None], y[None])[0, 0])


def new(**parameters: Any) -> MinMaxSolver:
    return make(algorithm_x=side("de"), **{**SMALL, **parameters})


def values(table: dict[str, Any]) -> list[float]:
    points = np.stack([table[name] for name in NAMES], axis=1)
    return [pair(x, y) for x, y in zip(points[:, :3], points[:, 3:], strict=True)]


FITS: dict[str, dict[str, Any]] = {
    "array": {"pairwise": False},
    "pair": {"pairwise": True},
    "runs": {"pairwise": False, "n_runs": 3, "target": 2.0},
    "workers": {"pairwise": True, "n_jobs": 2},
}


@pytest.mark.parametrize("name", FITS)
def test_every_pair_is_recorded_once(name: str, tmp_path: Path) -> None:
    f = pair if FITS[name]["pairwise"] else game
    whole = new(**FITS[name]).fit(f, BOX, BOX)
    for recorder in (Recorder(), Recorder(tmp_path / "log.csv")):
        m = new(recorder=recorder, **FITS[name]).fit(f, BOX, BOX)
        assert same(m, whole)
        table = recorder.table
        assert list(table) == [*COLUMNS, *NAMES]
        assert len(recorder) == len(np.unique(table["id"])) == sum(run.n_evals for run in m.runs_)
        assert np.bincount(table["run"]).tolist() == [run.n_evals for run in m.runs_]
        np.testing.assert_allclose(table["fun"], values(table), rtol=1e-12)
        for number, run in enumerate(m.runs_):
            assert table["generation"][table["run"] == number].max() == run.n_iter
        assert (table["violation"] == 0).all()
        assert set(table["phase"]) == {"search"}
        assert (np.diff(table["seconds"]) >= 0).all()


@pytest.mark.parametrize("name", ["minmax/rustem4", "fabris2012/p3"])
def test_compiled_problems_have_the_same_bits(name: str) -> None:
    recorder = Recorder()
    whole, m = make().fit(get_problem(name)), make(recorder=recorder).fit(get_problem(name))
    assert [(run.x.tolist(), run.n_evals, run.history.best.tolist()) for run in m.runs_] == [
        (run.x.tolist(), run.n_evals, run.history.best.tolist()) for run in whole.runs_
    ]
    assert len(recorder) == len(np.unique(recorder.table["id"])) == m.n_evals_


def test_violations_are_recorded() -> None:
    recorder, problem = Recorder(), ring()
    m = new(recorder=recorder).fit(problem)
    table = recorder.table
    assert list(table) == [*COLUMNS, "x0", "x1"]
    X = np.stack([table["x0"], table["x1"]], axis=1)
    assert np.array_equal(table["fun"], problem.f(X))
    assert np.array_equal(table["violation"], problem.violation(X))
    assert len(recorder) == m.n_evals_


def test_typed_variables_have_their_values() -> None:
    recorder = Recorder()
    spaces = {"n": Integer(0, 9), "kind": Categorical(["a", "b"])}, {"y": Real(-1.0, 1.0)}
    m = new(recorder=recorder, pairwise=True).fit(lambda x, y: x["n"] - y["y"], *spaces)
    table = recorder.table
    assert list(table) == [*COLUMNS, "n", "kind", "y"]
    assert table["n"].dtype == np.int64
    assert set(table["kind"]) == {"a", "b"}
    assert np.array_equal(table["n"] - table["y"], table["fun"])
    assert len(recorder) == m.n_evals_


@pytest.mark.parametrize("parts", [False, True])
def test_ask_and_tell_record_what_is_told(parts: bool) -> None:
    fitted, told = Recorder(), Recorder()
    new(recorder=fitted, pairwise=False).fit(game, BOX, BOX)
    m = new(recorder=told, bounds_x=BOX, bounds_y=BOX)
    while not m.stopped_:
        X, Y = m.ask(5) if parts else m.ask()
        m.tell(X, Y, game(X, Y))
    order = np.argsort(told.table["id"])
    for name in set(told.table) - {"seconds"}:
        assert np.array_equal(told.table[name][order], fitted.table[name]), name


def test_resume_continues_the_record(tmp_path: Path) -> None:
    calls = []

    def breaks(x: Any, y: Any) -> float:
        calls.append(x)
        if len(calls) in (50, 51, 700):
            raise ZeroDivisionError
        return pair(x, y)

    path = tmp_path / "log.jsonl"
    m = new(pairwise=True, recorder=path)
    with pytest.raises(ZeroDivisionError):
        m.fit(breaks, BOX, BOX)
    for again in (m, pickle.loads(pickle.dumps(m))):
        assert len(Recorder(path)) == again.n_evals_
        with pytest.raises(ZeroDivisionError):
            again.resume(breaks)
    again.save(tmp_path / "fit")
    loaded = MinMaxSolver.load(tmp_path / "fit")
    assert loaded.recorder is None
    loaded.set_params(recorder=os.fspath(path)).resume(breaks)
    assert Recorder.read(path)["id"].tolist() == list(range(loaded.n_evals_))


def test_what_a_recorder_refuses() -> None:
    for parameters, spaces, message in (
        ({"device": ["cpu", "cpu"], "n_runs": 2}, (BOX, BOX), "recorder needs one device, got 'cpu, cpu'"),
        ({}, ({"a": (0, 1)}, {"a": (0, 1)}), "different names of the variables of x and y, and both have 'a'"),
        ({}, ({"run": (0, 1)}, BOX), "a variable must not be named 'run'"),
    ):
        with pytest.raises(ValueError, match=message):
            new(recorder=Recorder(), pairwise=False, **parameters).fit(game, *spaces)
    with pytest.raises(TypeError, match="recorder must be a Recorder, the name of a file or None, got 3"):
        new(recorder=3).fit(game, BOX, BOX)


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = os.fspath(tmp_path / "log.csv")
    arguments = ["minmax", "minmax/rustem4", "--max-iter", "1", "--gens-x", "1", "--gens-y", "1", "--device", "cpu"]
    assert main([*arguments, "--record", path, "--json"]) == 0
    table = Recorder.read(path)
    assert f'"n_evals": {len(table["id"])}' in capsys.readouterr().out
    assert main([*arguments, "--max-eval-time", "1", "--n-jobs", "2"]) == 2
    assert "max_eval_time=1.0 is for a Python function of one pair" in capsys.readouterr().err
