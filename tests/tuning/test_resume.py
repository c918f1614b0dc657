"""Tunings that are interrupted, killed or refused: the contents of their storage, and their resumption."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution

from skde.tuning import RacingTuner, Space
from skde.tuning.loop import instance_name
from skde.tuning.study_storage import StudyRecord, open_storage

from .landscape import SPACE, cost, decisions, sometimes, truth, tuner

KILLED = """
import sys
sys.path.insert(0, {folder!r})
import optuna
optuna.logging.set_verbosity(optuna.logging.ERROR)
from landscape import INSTANCES, SPACE, killed_after
from skde.tuning import RacingTuner
tuner = RacingTuner(SPACE, INSTANCES, max_experiments=150, random_state=1, storage={storage!r})
getattr(tuner, {method!r})(killed_after({calls}))
"""


@pytest.mark.parametrize("kind", ["journal", "sqlite"])
def test_a_killed_tuning_resumes_with_the_same_decisions(kind: str, tmp_path: Path) -> None:
    storage = str(tmp_path / "tuning.log") if kind == "journal" else f"sqlite:///{tmp_path / 'tuning.db'}"
    for method, calls in (("fit", 37), ("resume", 41)):
        code = KILLED.format(folder=str(Path(__file__).parent), storage=storage, method=method, calls=calls)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert done.returncode == -9, done.stderr
    calls = []

    def counted(config: dict[str, Any], instance: float, seed: int) -> float:
        calls.append(seed)
        return cost(config, instance, seed)

    counted.__qualname__ = cost.__qualname__
    resumed = tuner(storage=storage, random_state=None, max_experiments=150).resume(counted)
    whole = tuner(max_experiments=150).fit(cost)
    assert decisions(resumed) == decisions(whole)
    assert len(calls) == len(whole.results_) - 37 - 41
    assert resumed.results_[0].seconds is None
    assert resumed.results_[-1].seconds is not None
    # And once more, when all is done.
    assert decisions(tuner(storage=storage, max_experiments=150).resume(counted)) == decisions(whole)
    assert len(calls) == len(whole.results_) - 37 - 41


def test_another_function_box_or_data_is_another_tuning(tmp_path: Path) -> None:
    def refused(instance: Any) -> bool:
        options = {"max_experiments": 120, "run_max_evals": 20, "random_state": 0}
        other = RacingTuner(None, [instance], storage=str(tmp_path / "log"), **options)
        with pytest.raises(ValueError, match="had another instances"):
            other.resume("de")
        with pytest.raises(ValueError, match="had another instances"):
            other.work("de")
        return True

    def first(X: Any) -> Any:
        return (X**2).sum(axis=1)

    def second(X: Any) -> Any:
        return first(X) + 1.0

    box = [(-5, 5)] * 2
    RacingTuner(
        None, [(first, box)], storage=str(tmp_path / "log"), max_experiments=120, run_max_evals=20, random_state=0
    ).fit("de")
    assert refused((second, box))
    assert refused((first, [(-5, 5)] * 3))
    assert refused((first, [(-5, 4)] * 2))


def test_names_of_instances() -> None:
    data = np.arange(6.0).reshape(3, 2)
    names = [instance_name(each) for each in ((data, data[:, 0]), (data + 1, data[:, 0]), (data, data[:, 1]))]
    assert len(set(names)) == 3
    assert names[0].startswith("(ndarray(3, 2) ")
    assert instance_name((data.copy(), data[:, 0])) == names[0]
    assert instance_name((cost, {"x": np.float64(1.0)})) == "(cost, (('x', 1.0)))"
    assert len(instance_name([data] * 1000)) < 50


def test_interrupted_and_resumed() -> None:
    calls = []

    def interrupting(config: dict[str, Any], instance: float, seed: int) -> float:
        calls.append(seed)
        if len(calls) == 200:
            raise KeyboardInterrupt
        return cost(config, instance, seed)

    fitted = tuner()
    with pytest.raises(KeyboardInterrupt):
        fitted.fit(interrupting)
    assert len(fitted.results_) == 199
    assert set(fitted.best_params_) == set(SPACE)
    seconds = [result.seconds for result in fitted.results_]
    assert decisions(fitted.resume()) == decisions(tuner().fit(cost))
    assert [result.seconds for result in fitted.results_[:199]] == seconds
    assert None not in seconds


@pytest.mark.parametrize("part", ["add", "report", "finish", "store_race"])
@pytest.mark.parametrize("after", [False, True])
def test_interrupted_while_it_stores(part: str, after: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between any two steps of the session: it goes on with what is stored, as after a kill."""
    calls: list[int] = []
    original = getattr(StudyRecord, part)

    def interrupting(*arguments: Any) -> None:
        calls.append(1)
        if len(calls) == 3 and not after:
            raise KeyboardInterrupt
        original(*arguments)
        if len(calls) == 3:
            raise KeyboardInterrupt

    whole = decisions(tuner().fit(cost))
    monkeypatch.setattr(StudyRecord, part, interrupting)
    fitted = tuner()
    with pytest.raises(KeyboardInterrupt):
        fitted.fit(cost)
    assert decisions(fitted.resume()) == whole


def test_interrupted_before_the_first_result() -> None:
    def interrupting(config: dict[str, Any], instance: float, seed: int) -> float:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tuner().fit(interrupting)


def test_a_resumed_tuning_has_the_reasons_of_failures(tmp_path: Path) -> None:
    storage = tmp_path / "tuning.log"
    fitted = tuner(storage=storage, max_experiments=100).fit(sometimes)
    assert {why for race in fitted.races_ for why in race["rejected"].values()} == {"ArithmeticError: one in ten"}
    resumed = tuner(storage=storage, max_experiments=100).resume(sometimes)
    assert [race["rejected"] for race in resumed.races_] == [race["rejected"] for race in fitted.races_]
    assert resumed.study_.user_attrs["race 1"]["rejected"] == fitted.races_[0]["rejected"]


# -- refusals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("use_workers", [False, True])
def test_a_refused_tuning_leaves_the_storage_empty(use_workers: bool, tmp_path: Path) -> None:
    storage = open_storage(tmp_path / "tuning.log")
    initial = [{"x": x, "kind": "good", "n": 3} for x in np.linspace(0, 1, 30).tolist()]
    for changes in ({"space": Space(SPACE, initial=initial), "max_experiments": 100}, {"max_experiments": 3}):
        with pytest.raises(ValueError, match="max_experiments"):
            tuner(storage=storage, use_workers=use_workers, **changes).fit(cost)
    with pytest.raises(ValueError, match="no tuning to resume"):
        tuner(storage=storage, use_workers=use_workers).resume(cost)
    assert storage.get_all_studies() == []
    fitted = tuner(storage=storage, space=Space(SPACE, initial=[{"x": 0.5, "kind": "good", "n": np.int64(3)}])).fit(
        cost
    )
    assert fitted.study_.trials[0].params["n"] == 3


@pytest.mark.filterwarnings("ignore:Choices for a categorical distribution:UserWarning")
def test_choices_that_are_tuples_can_be_resumed(tmp_path: Path) -> None:
    """Storages make lists of them."""
    space = {"layers": CategoricalDistribution([(10,), (10, 10), (5, 5, 5)]), "x": FloatDistribution(0.0, 1.0)}
    settings = {"space": space, "storage": tmp_path / "tuning.log", "max_experiments": 100}
    fitted = tuner(**settings).fit(layered)
    assert decisions(tuner(**settings).resume(layered)) == decisions(fitted)
    assert fitted.best_params_["layers"] == (10, 10)
    with ThreadPoolExecutor(1) as pool:
        settings["storage"] = tmp_path / "queue.log"
        working = pool.submit(tuner(**settings).work, layered)
        assert decisions(tuner(**settings, use_workers=True).fit(layered)) == decisions(fitted)
        assert working.result() == len(fitted.results_)


def layered(config: dict[str, Any], instance: float, seed: int) -> float:
    assert isinstance(config["layers"], tuple)
    return instance * (config["x"] + abs(len(config["layers"]) - 2))


def test_a_storage_with_a_tuning_is_not_overwritten(tmp_path: Path) -> None:
    storage = tmp_path / "tuning.log"
    tuner(storage=storage, max_experiments=100).fit(cost)
    with pytest.raises(ValueError, match=r"continue it by resume\(\)"):
        tuner(storage=storage, max_experiments=100).fit(cost)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"space": {**SPACE, "x": FloatDistribution(-2.0, 1.0)}}, "had another space"),
        ({"instances": [1.0, 2.0, 3.0]}, "had another instances"),
        ({"max_experiments": 101}, "had another max experiments"),
        ({"random_state": 7}, "had another random state"),
        ({"test": "t"}, "had another rules"),
        ({"run_max_time": 2.0}, "had another limits"),
    ],
)
def test_only_the_same_tuning_is_resumed(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    storage = tmp_path / "tuning.log"
    tuner(storage=storage, max_experiments=100).fit(cost)
    with pytest.raises(ValueError, match=message):
        tuner(**{"storage": storage, "max_experiments": 100, **options}).resume(cost)
    with pytest.raises(ValueError, match="had another target"):
        tuner(storage=storage, max_experiments=100).resume(lambda config, instance, seed: truth(config))


def test_a_changed_space_function_is_refused(tmp_path: Path) -> None:
    """The same distributions met, but other configurations: a condition that changed."""

    def space(trial: Any, border: float = 0.5) -> None:
        if trial.suggest_float("x", 0, 1) > border:
            trial.suggest_float("y", 0, 1)

    storage = tmp_path / "tuning.log"
    options = {"storage": storage, "max_experiments": 100}
    tuner(space=space, **options).fit(lambda config, instance, seed: config["x"])
    changed = tuner(space=lambda trial: space(trial, 0.2), **options)
    with pytest.raises(ValueError, match="but the space gives"):
        changed.resume(lambda config, instance, seed: config["x"])


def test_nothing_to_resume(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no tuning to resume"):
        tuner(storage=tmp_path / "tuning.log").resume(cost)
    with pytest.raises(ValueError, match="resume needs the target"):
        tuner(storage=tmp_path / "tuning.log").resume()
    study = optuna.create_study(study_name="skde-tuning")
    with pytest.raises(ValueError, match="is not of a tuning"):
        tuner(storage=study._storage, random_state=None).resume(cost)
