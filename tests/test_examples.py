"""Runs and results of the examples."""

from __future__ import annotations

import ast
import importlib.util
import json
import runpy
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import skde.model_selection.searches
from skde import get_problem

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = sorted(path.stem for path in (ROOT / "examples").glob("plot_*.py"))
Run = Callable[..., dict[str, Any]]


ON_GPU = (
    "plot_auc",
    "plot_digits_network",
    "plot_minimax_regression",
    "plot_robust_controller",
    "plot_robust_regression",
)


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    """Return a function that runs an example once, and returns its variables."""
    from matplotlib import pyplot

    done: dict[str, dict[str, Any]] = {}

    def run(name: str) -> dict[str, Any]:
        if name not in done:
            done[name] = runpy.run_path(str(ROOT / "examples" / f"{name}.py"))
            done[name]["figures"] = len(pyplot.get_fignums())
            pyplot.close("all")
        return done[name]

    racing = EntryPoint("racing", "skde.tuning.split_race:race_splits", "skde.searches")
    with pytest.MonkeyPatch.context() as patch:
        # Where the package is not installed, the race has no entry point.
        patch.setattr(skde.model_selection.searches, "entry_points", lambda group, name: [racing])
        yield run
    pyplot.close("all")


def module_of(path: str) -> ModuleType:
    """Return a script as a module."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_run_and_draw(name: str, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(name)["figures"] >= 1


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_have_the_form_of_the_gallery(name: str) -> None:
    text = (ROOT / "examples" / f"{name}.py").read_text()
    first, second, *rest = (ast.get_docstring(ast.parse(text)) or "").splitlines()
    assert second == "=" * len(first)
    assert len(" ".join(rest)) > 50
    assert "\n# %%\n" in text


# -- a classifier with the largest AUC ---------------------------------------------------------------------------------


def test_auc_objective_is_the_auc(run: Run) -> None:
    rng = np.random.default_rng(0)
    X, y, W = rng.normal(size=(60, 3)), rng.integers(0, 2, 60), rng.normal(size=(7, 3))
    expected = [1 - roc_auc_score(y, X @ w) for w in W]
    found = run("plot_auc")["one_minus_auc"](X, y)(W)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_auc_objective_gives_nothing_for_ties(run: Run) -> None:
    X, y = np.ones((10, 2)), np.arange(10) % 2
    assert run("plot_auc")["one_minus_auc"](X, y)(np.zeros((1, 2))) == [1.0]


def test_auc_is_larger_than_that_of_logistic_regression(run: Run) -> None:
    found = run("plot_auc")
    auc = found["auc"]
    assert auc["AUC maximised"][0] > auc["logistic regression"][0]
    assert auc["AUC maximised"][1] > 0.97
    assert auc["AUC maximised"][0] == pytest.approx(1 - found["search"].fun_)


# -- others ------------------------------------------------------------------------------------------------------------


def test_the_race_is_at_least_as_good_as_random_search(run: Run) -> None:
    found = run("plot_search_pipeline")
    assert found["search"].best_score_ >= found["random"].best_score_
    assert found["search"].n_fits_ <= 150
    assert len(found["search"].cv_results_["params"]) > 30
    assert all(
        ("svc__gamma" in params) == (params["svc__kernel"] != "linear")
        for params in found["search"].cv_results_["params"]
    )


def test_robust_losses_find_the_decay(run: Run) -> None:
    found = run("plot_robust_regression")
    distance = {name: np.abs(fit.x_ - found["truth"]).max() for name, fit in found["fits"].items()}
    assert distance["Tukey"] < 0.05
    assert distance["absolute"] < 0.1
    assert distance["least squares"] > 0.5


def test_the_quantiles_of_the_decay_have_their_shares(run: Run) -> None:
    found = run("plot_robust_regression")
    for quartile, share in zip(found["quartiles"], (0.25, 0.75), strict=True):
        below = found["y"] < found["model"](quartile.x_[None], found["t"])[0]
        assert below.mean() == pytest.approx(share, abs=0.05)


def test_the_vessel_is_the_best_published(run: Run) -> None:
    found = run("plot_pressure_vessel")
    vessel = found["vessel"]
    assert vessel.fun_ == pytest.approx(6059.714335, abs=1e-4)
    assert (vessel.params_["shell"], vessel.params_["head"]) == (0.8125, 0.4375)
    assert found["limits"](vessel.x_).max() <= 1e-9
    assert found["cost"](found["thicker"][None])[0] > vessel.fun_
    assert found["limits"](found["thinner"]).max() > 1e-3


def test_islands_are_better_than_one_population(run: Run) -> None:
    for medians in run("plot_islands")["medians"].values():
        one, *islands = medians.values()
        assert max(islands) < one / 3


def test_the_network_reads_digits(run: Run) -> None:
    found = run("plot_digits_network")
    assert found["accuracy"]["training"] > 0.97
    assert found["accuracy"]["test"] > 0.93


def test_devices_that_fail_do_not_stop_the_search(run: Run) -> None:
    found = run("plot_hardware")
    assert found["failed"] > 0
    assert found["minimizer"].n_evals_ == found["resumed"].n_evals_ == 32 * 31
    assert found["Device"].loss(found["chosen"]) < 0.06
    # A single measurement is luck: no setting has a loss below zero.
    assert found["minimizer"].fun_ < found["again"].min()


def test_the_tuned_configuration_is_better_on_new_instances(run: Run) -> None:
    costs = run("plot_tune_de")["costs"]
    assert np.median(costs["DE, tuned"]) < 0.5 * np.median(costs["DE, default"])


def test_both_solvers_find_the_spring(run: Run) -> None:
    found = run("plot_spring")
    spring = get_problem("fabris2012/p6")
    for solver in found["solvers"].values():
        assert solver.max_violation_ <= 1e-6
        assert solver.fun_ == pytest.approx(spring.f_opt, rel=1e-4)
    assert found["solvers"]["multipliers"].multipliers_ == pytest.approx(spring.multipliers_opt, abs=1e-3)


def test_minimax_regression_is_near_linear_programming(run: Run) -> None:
    table = run("plot_minimax_regression")["table"]
    for column, ours, exact in (
        ("worst", "minimax", "minimax, exact"),
        ("worst with errors", "robust", "robust, exact"),
    ):
        assert table[exact][column] <= table[ours][column] * (1 + 1e-9)
        assert table[ours][column] < 1.03 * table[exact][column]
        assert table[ours][column] < 0.9 * table["least squares"][column]
    assert table["least squares"]["mean square"] == min(row["mean square"] for row in table.values())


def test_minimax_regression_knows_the_worst_errors(run: Run) -> None:
    found = run("plot_minimax_regression")
    samples, targets, w = found["samples"], found["targets"], found["least_squares"]
    worst_signs = -np.sign(w[1:]) * np.sign(found["residuals"](w))[:, None]
    opponents = np.column_stack([np.arange(len(samples)), 0.2 * worst_signs])
    values = found["make_game"](samples, targets, np.eye(len(w)))(w[None], opponents)
    assert values.shape == (1, len(samples))
    assert values.max() == pytest.approx(found["worst"](w, 0.2))


def test_the_robust_controller_is_better_at_its_worst(run: Run) -> None:
    found = run("plot_robust_controller")
    table = found["table"]
    assert table["robust"]["worst"] < 0.6 * table["nominal"]["worst"]
    assert table["nominal"]["nominal"] < table["robust"]["nominal"]
    assert 0.8 < found["solver"].fun_ / table["robust"]["worst"] < 1.01


def test_all_pairs_of_controllers_and_plants_are_simulated(run: Run) -> None:
    found = run("plot_robust_controller")
    gains, plants = np.array([[1.0, 0.5], [2.0, 0.0]]), found["plants"][::90]
    costs = found["cost"](gains, plants)
    assert costs.shape == (2, len(plants))
    assert costs[1, 5] == found["cost"](gains[1:], plants[5:6])[0, 0]


@pytest.mark.gpu
@pytest.mark.parametrize("name", ON_GPU)
def test_examples_on_a_gpu(name: str, run: Run) -> None:
    found = run(name)
    assert found["DEVICE"] == "cuda"
    if name == "plot_minimax_regression":
        for fit in ("minimax", "robust"):
            worst = "worst" if fit == "minimax" else "worst with errors"
            assert found["table"][fit][worst] < 1.05 * found["table"][f"{fit}, exact"][worst]
    elif name == "plot_robust_controller":
        assert found["table"]["robust"]["worst"] < 0.6 * found["table"]["nominal"]["worst"]
    elif name == "plot_auc":
        assert found["auc"]["AUC maximised"][0] > found["auc"]["logistic regression"][0]
    elif name == "plot_digits_network":
        assert found["accuracy"]["training"] > 0.97
    else:
        assert found["fits"]["Tukey"].x_ == pytest.approx(found["truth"], abs=0.05)


def test_the_benchmark_of_islands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "islands.json"
    options = ["--dim", "20", "--evals", "60000", "--runs", "3", "--device", "cpu", "--out", str(file)]
    rows = module_of("benchmarks/studies/islands/islands.py").main(options)
    for one, many in (rows[:2], rows[2:]):
        assert one["problem"] == many["problem"]
        assert many["median"] < one["median"]
        assert len(many["best"]) == 3
    record = json.loads(file.read_text())
    assert record["figures"] == rows
    assert record["command"].startswith("python benchmarks/studies/islands/islands.py --dim 20")
    assert "16 islands of 16" in capsys.readouterr().out


def test_the_benchmark_of_large_populations_refuses_other_algorithms(monkeypatch: pytest.MonkeyPatch) -> None:
    script = module_of("benchmarks/studies/speed/large_populations.py")  # it needs a GPU
    monkeypatch.setattr("sys.argv", ["large_populations.py", "--algorithms", "de,psoo"])
    with pytest.raises(ValueError, match=r"each of --algorithms must be one of .*; did you mean 'pso'"):
        script.main()


def test_the_comparison_on_bbob_goes_on_after_its_finished_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ioh")
    comparison = module_of("benchmarks/studies/auto/comparison.py")
    parts, file = tmp_path / "parts.jsonl", tmp_path / "comparison.json"
    for name, value in (("DIMS", (2,)), ("BUDGETS", (300,)), ("OWN", ("de", "auto")), ("PEERS", ()), ("SLOW", ())):
        monkeypatch.setattr(comparison, name, value)
    comparison.main([str(parts), "--out", str(file)])
    best, last = json.loads(file.read_text())["rows"]["300"]["2"]
    assert (best["algorithm"], last["algorithm"]) == ("auto", "de")
    assert best["rank"] + last["rank"] == 3.0
    assert best["area"] > last["area"] > 0
    assert best["medians"][0] == 0.0
    assert last["p"] < 0.05 < best["p"]
    monkeypatch.setattr(comparison, "measure", None)  # nothing is measured again
    comparison.main([str(parts), "--out", str(file)])
    assert json.loads(file.read_text())["rows"] == {"300": {"2": [best, last]}}


def test_the_comparison_counts_each_evaluation(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ioh")
    comparison = module_of("benchmarks/studies/auto/comparison.py")
    monkeypatch.setattr(comparison, "FUNCTIONS", range(1, 2))
    # The first generation of 100 individuals is the whole run, and its targets count where they are reached.
    assert comparison.measure(2, 50, "de")["area"] > 0
