"""The comparison of tuners runs, and racing is better than random search in it."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import joblib
import numpy as np
import pytest
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from skde import get_problem

BENCHMARK = Path(__file__).resolve().parents[2] / "benchmarks" / "studies" / "tuners"


@pytest.fixture(scope="module")
def tuners() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCHMARK)  # the script imports its neighbours
        yield importlib.import_module("tuners")


def test_a_small_comparison(tuners: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = {name: tuners.TUNERS[name] for name in ("racing, elitist", "random search")}
    monkeypatch.setattr(tuners, "TUNERS", chosen)
    file = tmp_path / "tuners.json"
    rows = tuners.main(["--tasks", "landscape", "--repetitions", "4", "--out", str(file)])
    raced, random = (np.array(row["values"]) for row in rows)
    assert len(raced) == 4
    assert np.median(raced) < np.median(random)
    assert (raced >= np.log(0.1)).all()
    assert json.loads(file.read_text())["figures"] == rows
    chosen["racing, means"] = tuners.TUNERS["racing, elitist"]
    more = tuners.main(["--tasks", "landscape", "--repetitions", "5", "--out", str(file)])
    assert [row["values"][:4] for row in more] == [*(row["values"] for row in rows), raced.tolist()]
    assert [row["p"] for row in more] == [1.0, more[1]["p"], 1.0]
    for option, told in (("seeds", "seeds 20, not 3"), ("first", "first 0, not 3")):
        with pytest.raises(ValueError, match=f"has {told}; use the same, or another file"):
            tuners.main(["--tasks", "landscape", f"--{option}", "3", "--out", str(file)])


def test_fewer_tuners_and_jobs_side_by_side_change_no_value(tuners: ModuleType) -> None:
    few = ["--tasks", "landscape", "--repetitions", "2", "--tuners", "random search"]
    rows = tuners.main(few)
    assert [row["tuner"] for row in rows] == ["racing, means", "random search"]
    assert len({*rows[0]["values"]}) == 2
    with joblib.parallel_config("threading"):  # processes would take seconds to begin
        assert tuners.main([*few, "--jobs", "2"]) == rows


@pytest.mark.parametrize("name", ["differential evolution", "sixty instances", "suite", "gradient boosting"])
def test_the_other_tasks_can_be_tuned_and_judged(tuners: ModuleType, name: str) -> None:
    task = tuners.TASKS[name](0)
    task.max_experiments, task.evals = 150, 500 if task.evals else None
    for tuner in ("racing, means", "racing, elitist"):
        params = tuners.TUNERS[tuner](task, 0)
        assert set(params) == set(task.space)
        (value,) = tuners.measure_held_out(task, [params], 0, 1)
        assert np.isfinite(value)


def test_every_repetition_has_other_boxes(tuners: ModuleType) -> None:
    tasks = [tuners.TASKS["differential evolution"](repetition) for repetition in (0, 1, 0)]
    boxes = [[problem.bounds for problem in (*task.instances, *task.held_out)] for task in tasks]
    assert len(np.unique([*boxes[0], *boxes[1]], axis=0)) == 4 * 24
    np.testing.assert_array_equal(boxes[0], boxes[2])
    for problem in tasks[0].instances:
        plain = get_problem(problem.name, dim=10)
        width = np.diff(plain.bounds)
        np.testing.assert_allclose(np.diff(problem.bounds), width)
        assert (np.abs(problem.bounds - plain.bounds) <= 0.25 * width).all()
        points = np.linspace(*problem.bounds.T, 5)
        np.testing.assert_array_equal(problem(points), plain(points))


def test_errors_below_the_threshold_of_zero_are_equal(tuners: ModuleType) -> None:
    task = tuners.TASKS["differential evolution"](0)
    task.evals = 30_000  # which solve the third function
    solved = {"strategy": "rand/1/bin", "F": 0.5, "CR": 0.9, "pop_size": 20}
    assert tuners.costs(task, [solved], task.instances[2:3], [0])[0, 0] == task.zero == 1e-8


@pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
def test_trials_of_the_others_cost_as_many_experiments(tuners: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    task = tuners.TASKS["landscape"](0)
    task.max_experiments = 100
    calls = []
    plain = tuners.costs

    def counted(*arguments: object) -> object:
        calls.append(arguments)
        return plain(*arguments)

    monkeypatch.setattr(tuners, "costs", counted)
    assert set(tuners.TUNERS["TPE, WilcoxonPruner"](task, 0)) == set(task.space)
    assert len(calls) == 100


def test_tuners_that_are_not_installed_are_left_out(
    tuners: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    irace = tuners.tuners_irace
    irace.missing.cache_clear()
    monkeypatch.setattr(tuners, "TUNERS", {name: tuners.TUNERS[name] for name in ("racing, elitist", "irace, elitist")})
    (row,) = tuners.main(["--tasks", "landscape", "--repetitions", "1"])
    irace.missing.cache_clear()
    assert row["tuner"] == "racing, elitist"
    assert "against" not in row
    assert "irace, elitist is left out: there is no Rscript" in capsys.readouterr().err


def test_a_preset_is_compared_with_its_rival(tuners: ModuleType) -> None:
    better, worse = [1.0, 2.0, 3.0, 4.0, 5.0], [1.1, 2.2, 3.3, 4.4, 5.5]
    reached = {"racing, means": better, "racing, elitist": worse, "irace, elitist": better}
    row = tuners.row_of("task", "racing, elitist", reached)
    assert row["p"] == row["against"]["p_worse"] == 1 / 2**5
    assert row["against"]["p"] == 1.0
    assert "against" not in tuners.row_of("task", "racing, means", reached)


@pytest.mark.parametrize(
    ("found", "line", "value"),
    [
        (FloatDistribution(1e-5, 10, log=True), 'x "" r,log (1e-05,10.0)', 1 / 3),
        (IntDistribution(1, 30), 'x "" i (1,30)', 7),
        (CategoricalDistribution(["a/b", None, True]), 'x "" c ("a/b","None","True")', True),
    ],
)
def test_parameters_go_to_irace_and_back(tuners: ModuleType, found: BaseDistribution, line: str, value: object) -> None:
    irace = tuners.tuners_irace
    assert irace.line_of("x", found) == line
    assert irace.params_of([str(value)], {"x": found}) == {"x": value}


@pytest.mark.parametrize("elitist", [True, False])
def test_irace_costs_as_many_experiments(tuners: ModuleType, monkeypatch: pytest.MonkeyPatch, elitist: bool) -> None:
    irace = tuners.tuners_irace
    if reason := irace.missing():
        pytest.skip(reason)
    task = tuners.TASKS["landscape"](0)
    task.max_experiments = 300
    seen = []
    plain = irace.experiment_costs

    def counted(task: object, jobs: list[object]) -> object:
        seen.extend(jobs)
        return plain(task, jobs)

    monkeypatch.setattr(irace, "experiment_costs", counted)
    best = irace.irace(elitist)(task, 0)
    assert 270 < len(seen) <= 300
    assert {job.index for job in seen} == set(range(12))
    assert best in [job.params for job in seen]
    assert best == irace.irace(elitist)(task, 0)


def test_smac_costs_as_many_experiments(tuners: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    if reason := tuners.tuners_smac.missing():
        pytest.skip(reason)
    task = tuners.TASKS["landscape"](0)
    task.max_experiments = 30
    calls = []
    plain = tuners.costs

    def counted(*arguments: object) -> object:
        calls.append(arguments)
        return plain(*arguments)

    monkeypatch.setattr(tuners.tuners_smac, "costs", counted)
    assert set(tuners.tuners_smac.smac(task, 0)) == set(task.space)
    assert len(calls) == 30
