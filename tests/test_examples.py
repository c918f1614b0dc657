"""Runs and results of the examples."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def example(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def auc_example():
    return example("auc_breast_cancer")


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
    module = example("islands")
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


def test_minimax_regression_comes_near_linear_programming(tmp_path):
    module = example("minimax_regression")
    found = module.main(n_cycles=60, plot=str(tmp_path / "residuals.png"))
    for column, ours, exact in (
        ("worst", "minimax", "minimax, exact"),
        ("worst with errors", "robust", "robust, exact"),
    ):
        assert found[exact][column] <= found[ours][column] * (1 + 1e-9)
        assert found[ours][column] < 1.03 * found[exact][column]
        assert found[ours][column] < 0.9 * found["least squares"][column]
    assert found["least squares"]["mean square"] == min(row["mean square"] for row in found.values())
    assert (tmp_path / "residuals.png").read_bytes().startswith(b"\x89PNG")


def test_minimax_regression_knows_the_worst_errors():
    module = example("minimax_regression")
    rng = np.random.default_rng(0)
    samples, targets, w = rng.normal(size=(5, 3)), rng.normal(size=5), rng.normal(size=4)
    signs = np.array(np.meshgrid(*[[-0.2, 0.2]] * 3)).reshape(3, -1).T
    opponents = np.array([[i, *errors] for i in range(5) for errors in signs])
    values = module.make_game(samples, targets, np.eye(4))(w[None], opponents)
    assert values.shape == (1, 40)
    assert values.max() == pytest.approx(module.worst(samples, targets, w, 0.2))


def test_spring_by_multipliers_and_by_rules(tmp_path):
    module = example("spring")
    found = module.main(max_evals=30_000, n_runs=5, plot=str(tmp_path / "spring.png"))
    for row in found.values():
        assert row["feasible runs"] == 5
        assert row["violation"] <= 1e-6
        assert row["weight"] == pytest.approx(module.SPRING.f_opt, rel=1e-4)
    assert found["multipliers"]["multipliers"] == pytest.approx(module.SPRING.multipliers_opt, abs=1e-3)
    assert (tmp_path / "spring.png").read_bytes().startswith(b"\x89PNG")


def test_the_robust_controller_is_better_at_its_worst(tmp_path):
    module = example("robust_filter")
    found = module.main(n_cycles=8, plot=str(tmp_path / "responses.png"))
    assert found["robust"]["worst"] < 0.6 * found["nominal"]["worst"]
    assert found["nominal"]["nominal"] < found["robust"]["nominal"]
    assert 0.8 < found["claimed"] / found["robust"]["worst"] < 1.01
    assert found["gap"] > 0.5
    assert (tmp_path / "responses.png").read_bytes().startswith(b"\x89PNG")


def test_all_pairs_of_controllers_and_plants_are_simulated():
    module = example("robust_filter")
    gains, plants = np.array([[1.0, 0.5], [2.0, 0.0]]), module.corners_and_grid(2)
    costs = module.cost(gains, plants)
    assert costs.shape == (2, 8)
    assert costs[1, 5] == module.cost(gains[1:], plants[5:6])[0, 0]


@pytest.mark.parametrize("name", ["minimax_regression", "spring", "robust_filter"])
def test_examples_explain_themselves(name):
    done = subprocess.run([sys.executable, str(EXAMPLES / f"{name}.py"), "--help"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "--plot FILE" in done.stdout
