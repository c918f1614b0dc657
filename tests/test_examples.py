"""The examples run, and do what they say."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


@pytest.fixture(scope="module")
def auc_example():
    spec = importlib.util.spec_from_file_location("auc_breast_cancer", EXAMPLES / "auc_breast_cancer.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_auc_objective_is_the_auc(auc_example):
    rng = np.random.default_rng(0)
    X, y, W = rng.normal(size=(60, 3)), rng.integers(0, 2, 60), rng.normal(size=(7, 3))
    expected = [1 - roc_auc_score(y, X @ w) for w in W]
    np.testing.assert_allclose(auc_example.make_objective(X, y)(W), expected, rtol=0, atol=1e-12)


def test_auc_objective_gives_nothing_for_ties(auc_example):
    X, y = np.ones((10, 2)), np.arange(10) % 2
    assert auc_example.make_objective(X, y)(np.zeros((1, 2))) == [1.0]


def test_auc_beats_logistic_regression(auc_example):
    found = auc_example.main(max_evals=20_000)
    assert found["n_evals"] <= 20_000
    assert found["train"] >= found["logistic_train"] - 0.002
    assert found["train"] > 0.995
    assert found["test"] >= 0.95
    assert found == {**auc_example.main(max_evals=20_000), "seconds": found["seconds"]}


@pytest.mark.gpu
def test_auc_on_a_gpu(auc_example):
    found = auc_example.main("cuda", max_evals=20_000)
    assert found["train"] >= found["logistic_train"] - 0.002
    assert found["test"] >= 0.95


def test_auc_as_a_script():
    command = [sys.executable, str(EXAMPLES / "auc_breast_cancer.py"), "--max-evals", "1000"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("1000 evaluations in ")
    assert "LogisticRegression" in done.stdout


def test_islands_beat_one_population(tmp_path, capsys):
    spec = importlib.util.spec_from_file_location("islands", EXAMPLES / "islands.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    file = tmp_path / "islands.json"
    options = ["--dim", "20", "--evals", "60000", "--runs", "3", "--device", "cpu", "--out", str(file)]
    rows = module.main(options)
    for one, many in (rows[:2], rows[2:]):
        assert one["problem"] == many["problem"]
        assert many["median"] < one["median"]
        assert len(many["best"]) == 3
    record = json.loads(file.read_text())
    assert record["figures"] == rows
    assert record["command"].startswith("python examples/islands.py --dim 20")
    assert "16 islands of 16" in capsys.readouterr().out
