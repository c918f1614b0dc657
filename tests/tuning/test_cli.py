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
from skde.cli import main

SMALL = ["tune", "de", "--suite", "qin2012", "--dim", "3", "--max-experiments", "150", "--evals-limit", "600"]


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


def test_a_worker(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    storage = ["--storage", str(tmp_path / "tuning.log"), "--functions", "F1,F3"]
    command = [sys.executable, "-m", "skde", *SMALL, *storage, "--worker", "--json"]
    worker = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    found = found_by(capsys, *storage, "--seed", "1", "--jobs", "0")
    out, _ = worker.communicate(timeout=60)
    assert worker.returncode == 0
    assert json.loads(out)["n_experiments"] == found["n_experiments"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tune", "dee", "--suite", "qin2012"], "did you mean 'de'"),
        (["tune", "de", "--suite", "quin2012"], "did you mean 'qin2012'"),
        (["tune", "de"], "--suite"),
        ([*SMALL, "--functions", "F1,F9"], "function of 'qin2012' must be one of"),
        ([*SMALL, "--functions", "F1"], "instances must be at least 2"),
        ([*SMALL, "--max-experiments", "50"], "max_experiments must be at least"),
        ([*SMALL, "--preset", "elite"], "did you mean 'elitist'"),
        ([*SMALL, "--jobs", "0"], "workers need a storage"),
        ([*SMALL, "--resume"], "holds no tuning to resume"),
    ],
)
def test_bad_input(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
