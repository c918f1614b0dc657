"""`skde tune`, through main()."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import optuna
import pytest

import skde
from skde.cli.main import main

SMALL = ["tune", "de", "--suite", "qin2012", "--dim", "3", "--max-experiments", "150", "--run-max-evals", "600"]


def found_by(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert main([*SMALL, *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_readable_result(capsys: pytest.CaptureFixture[str]) -> None:
    optuna.logging.set_verbosity(optuna.logging.INFO)
    assert main([*SMALL, "--seed", "0"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "ended because" in out
    line = out.split("the best first:\n")[1].splitlines()[0]
    algorithm = eval(line, vars(skde))
    assert isinstance(algorithm, skde.DE)


def test_data_and_repetition(capsys: pytest.CaptureFixture[str]) -> None:
    found = found_by(capsys, "--seed", "3", "--set", "F=0.9")
    assert found["finished"]
    assert found["races"][0]["n_experiments"] <= 150 // 4 + 1
    assert set(found["elites"][0]["params"]) == {"strategy", "F", "CR", "pop_size"}
    assert found == found_by(capsys, "--seed", "3", "--set", "F=0.9")
    assert found != found_by(capsys, "--seed", "4", "--set", "F=0.9")


def test_storage_and_resumption(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    storage = str(tmp_path / "tuning.log")
    found = found_by(capsys, "--storage", storage)
    assert found_by(capsys, "--storage", storage, "--resume") == found
    assert main([*SMALL, "--storage", storage]) == 2
    assert "holds a tuning already" in capsys.readouterr().err


OWN = """
import numpy as np

def loss(X):
    return (X**2).sum(axis=1)

def loss_of_one_point(x):
    return float(x @ x)
"""


@pytest.fixture
def own_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the name of a module in the current folder."""
    (tmp_path / "own_losses.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return "own_losses"


@pytest.mark.parametrize(
    "arguments",
    [
        ["loss", "--bounds", "-5", "5", "--dim", "2"],
        ["loss_of_one_point", "--scalar", "--bounds", "-5,5; -1,1"],
        ["loss", "--var", "a:real:-5:5", "--var", "n:int:1:9"],
    ],
)
def test_your_function(capsys: pytest.CaptureFixture[str], own_module: str, arguments: list[str]) -> None:
    command = ["tune", "de", f"{own_module}:{arguments[0]}", *arguments[1:]]
    assert main([*command, "--max-experiments", "120", "--run-max-evals", "300", "--seed", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["finished"]
    assert all(not race["rejected"] for race in found["races"])


def test_workers_of_your_function(capsys: pytest.CaptureFixture[str], own_module: str, tmp_path: Path) -> None:
    storage = ["--storage", str(tmp_path / "tuning.log")]
    command = [
        "tune",
        "de",
        f"{own_module}:loss",
        "--var",
        "a:real:-5:5",
        "--var",
        "n:int:1:9",
        "--seed",
        "1",
        "--json",
    ]
    command += ["--max-experiments", "120", "--run-max-evals", "300"]
    worker = start_worker(*storage, "--json")
    assert main([*command, *storage, "--use-workers"]) == 0
    found = json.loads(capsys.readouterr().out)
    out, err = worker.communicate(timeout=60)
    assert worker.returncode == 0, err
    assert json.loads(out)["n_experiments"] == found["n_experiments"]
    assert main(command) == 0
    assert json.loads(capsys.readouterr().out) == found


def start_worker(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "skde", "tune", "worker", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_workers_know_the_storage_alone(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    storage = ["--storage", str(tmp_path / "tuning.log"), "--study", "dithered"]
    workers = [start_worker(*storage, "--json") for _ in range(2)]
    tuning = ["--functions", "F1,F3", "--set", "F=0.4,0.9", "--seed", "1"]
    found = found_by(capsys, *storage, *tuning, "--use-workers")
    counts = []
    for worker in workers:
        out, err = worker.communicate(timeout=60)
        assert worker.returncode == 0, err
        counts.append(json.loads(out)["n_experiments"])
    assert sum(counts) == found["n_experiments"]
    assert found == found_by(capsys, *tuning)
    found_by(capsys, *tuning, *storage[:2], "--n-jobs", "1")  # another study in the same storage


def test_workers_are_told_when_a_tuning_goes_on_with_them(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    storage = ["--storage", str(tmp_path / "tuning.log")]
    found = found_by(capsys, *storage)
    assert found_by(capsys, *storage, "--resume", "--use-workers") == found
    assert main(["tune", "worker", *storage]) == 0
    assert capsys.readouterr().out == "0 experiments done; the tuning is over\n"


def test_a_worker_of_a_tuning_without_workers_ends(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    storage = ["--storage", str(tmp_path / "tuning.log")]
    found_by(capsys, *storage)
    assert main(["tune", "worker", *storage]) == 2
    assert "has no workers of this command: begin it by skde tune ... --use-workers" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tune", "dee", "--suite", "qin2012"], "did you mean 'de'"),
        (["tune", "de", "--suite", "quin2012"], "did you mean 'qin2012'"),
        (["tune", "de"], "FUNCTION or --suite is needed"),
        (["tune", "de", "sphere", "--suite", "qin2012"], "--suite cannot go together with FUNCTION"),
        (["tune", "de", "sphere", "--bounds", "-5", "5"], "'sphere' has bounds"),
        ([*SMALL, "--bounds", "-5", "5"], "--bounds is for FUNCTION"),
        (["tune", "de", "math:hypot"], "'math:hypot' needs --bounds LOW HIGH"),
        (["tune", "de", "math:hypod"], "did you mean 'hypot'"),
        ([*SMALL, "--functions", "F1,F9"], "function of 'qin2012' must be one of"),
        ([*SMALL, "--max-experiments", "50"], "max_experiments must be at least"),
        ([*SMALL, "--preset", "elite"], "did you mean 'elitist'"),
        ([*SMALL, "--use-workers"], "workers need a storage"),
        ([*SMALL, "--resume"], "holds no tuning to resume"),
        ([*SMALL, "--resume", "--storage", "{folder}/tuning.log"], "holds no tuning to resume"),
        ([*SMALL, "--resume", "--storage", "{folder}/tuning.log", "--use-workers"], "holds no tuning to resume"),
        ([*SMALL, "--storage", "{folder}/tuning.log", "--max-experiments", "50"], "max_experiments must be at least"),
        ([*SMALL, "--study", ""], "study_name must be a name"),
        (["tune", "worker"], "--storage"),
        (["tune", "worker", "--storage", "sqlite:///{folder}/tuning.db"], "workers cannot share SQLite"),
        ([*SMALL, "--storage", "sqlite:///{folder}/tuning.db", "--use-workers"], "workers cannot share SQLite"),
        (
            ["tune", "worker", "--storage", "{folder}/tuning.log", "--use-workers"],
            "unknown argument '--use-workers'",
        ),
        (["tune", "worker", "--storage", "mysql+nobody://me:secret@host/all"], "mysql+nobody://... cannot be opened"),
        (["tune", "worker", "--storage", "oracle+oracledb://me@host/all"], "driver for oracle+oracledb:// is not"),
    ],
)
def test_bad_input(capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: list[str], message: str) -> None:
    assert main([argument.replace("{folder}", str(tmp_path)) for argument in arguments]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
    assert list(tmp_path.iterdir()) == []
