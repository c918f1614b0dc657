"""The comparison of tuners runs, and racing is better than random search in it."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "tuners.py"


@pytest.fixture(scope="module")
def tuners() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tuners", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["tuners"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


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
    with pytest.raises(ValueError, match="has seeds 20, not 3; use the same, or another file"):
        tuners.main(["--tasks", "landscape", "--seeds", "3", "--out", str(file)])


@pytest.mark.parametrize("name", ["differential evolution", "support vectors"])
def test_the_other_tasks_can_be_tuned_and_judged(tuners: ModuleType, name: str) -> None:
    task = tuners.TASKS[name]()
    task.max_experiments, task.evals = 150, 500 if task.evals else None
    for tuner in ("racing, means", "racing, elitist"):
        params = tuners.TUNERS[tuner](task, 0)
        assert set(params) == set(task.space)
        (value,) = tuners.judged(task, [params], 0, 1)
        assert np.isfinite(value)


@pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
def test_trials_of_the_others_cost_as_many_experiments(tuners: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    task = tuners.TASKS["landscape"]()
    task.max_experiments = 100
    calls = []
    plain = tuners.costs

    def counted(*arguments: object) -> object:
        calls.append(arguments)
        return plain(*arguments)

    monkeypatch.setattr(tuners, "costs", counted)
    assert set(tuners.TUNERS["TPE, WilcoxonPruner"](task, 0)) == set(task.space)
    assert len(calls) == 100
