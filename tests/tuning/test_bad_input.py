"""Parameters that are not allowed: the error names the parameter, the value and the allowed values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from skde.cli.main import main
from skde.tuning import FriedmanPruner, IteratedRacingSampler, RacingTuner, Rules, Space, space_of
from skde.tuning.cli import WORKER_OPTIONS
from skde.tuning.rules import find_preset
from skde.tuning.study_storage import IDENTITY, StudyRecord, open_storage
from skde.tuning.work_queue import QueuedExperiment, WorkQueue

from .landscape import SPACE, cost, decisions, tuner

TUNER = [
    ("space", 3, "a space must be a function of an Optuna trial or a mapping"),
    ("space", {"x": 3}, "'x' must be an Optuna distribution or a function, got 3"),
    ("space", None, "space must be given: only algorithms of skde have a default, got"),
    ("instances", 5, "instances must be a sequence of at least 1, got 5 (int)"),
    ("instances", "abc", "instances must be a sequence of at least 1, got 'abc' (str)"),
    ("instances", [], "instances must be at least 1, got 0"),
    ("instances", iter([1.0, 2.0]), "instances must be a sequence of at least 1, got <list_iterator object"),
    ("instances", {1.0, 2.0}, "instances must be a sequence of at least 1, got {1.0, 2.0} (set)"),
    ("max_experiments", "many", "max_experiments must be an integer >= 1, got 'many' (str)"),
    ("max_experiments", 0, "max_experiments must be an integer >= 1, got 0"),
    ("max_experiments", 1e3, "max_experiments must be an integer >= 1, got 1000.0 (float)"),
    ("run_max_time", "long", "run_max_time must be a number in (0, inf), got 'long' (str)"),
    ("run_max_time", 0, "run_max_time must be a number in (0, inf), got 0"),
    ("run_max_time", np.inf, "run_max_time must be a number in (0, inf), got inf"),
    ("run_max_evals", 0, "run_max_evals must be an integer >= 1, got 0"),
    ("test", "freedman", "test must be one of 'friedman', 't', 't-holm', 't-bonferroni'; got 'freedman'"),
    ("test", 3, "test must be one of"),
    ("preset", "Elitist", "did you mean 'elitist'?"),
    ("preset", 3, "preset must be one of 'irace-2011', 'elitist', 'small-budget'; got 3"),
    ("storage", 3, "storage must be None, a file's name, a URL or a storage of Optuna, got 3 (int)"),
    ("study_name", "", "study_name must be a name, got ''"),
    ("study_name", 3, "study_name must be a name, got 3"),
    ("n_jobs", "all", "n_jobs must be"),
    ("n_jobs", 0.5, "n_jobs must be"),
    ("n_jobs", False, "n_jobs must be"),
    ("n_jobs", -(10**30), "n_jobs must be"),
    ("device", "gpu", "device must be 'auto', 'cpu', 'cuda', 'cuda:N' or a list of devices, got 'gpu'"),
    ("device", 3, "device must be"),
    ("vectorized", 1, "vectorized must be 'auto', True or False, got 1 (int)"),
    ("deterministic", "False", "deterministic must be True or False, got 'False' (str)"),
    ("random_state", "a", "random_state must be None, an integer >= 0"),
    ("random_state", -1, "random_state must be an integer in [0, 18446744073709551615], got -1"),
    ("callbacks", 3, "callbacks must be callables, got 3 (int)"),
    ("use_workers", 0, "use_workers must be True or False, got 0 (int)"),
    ("n_jobs", 0, "n_jobs must be None or an integer other than 0, got 0"),
    ("verbose", "yes", "verbose must be an integer >= 0, got 'yes' (str)"),
]


@pytest.mark.parametrize(("name", "value", "message"), TUNER)
def test_racing_tuner(name: str, value: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        tuner(**{name: value}).fit(cost)
    assert message in str(caught.value)


def test_every_parameter_of_the_tuner_is_tested() -> None:
    assert {name for name, _, _ in TUNER} == set(RacingTuner({}, []).get_params(deep=False))


@pytest.mark.parametrize("n_jobs", ["all", 0.5])
def test_workers_check_n_jobs(n_jobs: Any, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="n_jobs must be"):
        tuner(n_jobs=n_jobs, storage=tmp_path / "tuning.log").work(cost)


RULES = [
    *((name, "False", f"{name} must be True or False, got 'False' (str)") for name in ("elitist", "final", "spending")),
    ("guided", 1, "guided must be True or False, got 1 (int)"),
    ("test", "T", "did you mean 't'?"),
    ("confidence", 1, "confidence must be a number in (0, 1), got 1"),
    ("confidence", "high", "confidence must be a number in (0, 1), got 'high' (str)"),
    ("first_test", 1, "first_test must be an integer >= 2, got 1"),
    ("each_test", 0, "each_test must be an integer >= 1, got 0"),
    ("mu", 2.5, "mu must be an integer >= 1, got 2.5 (float)"),
    ("most_configurations", 0, "most_configurations must be an integer >= 1, got 0"),
    ("survivors", "few", "survivors must be an integer >= 1, got 'few' (str)"),
    ("new_steps", None, "new_steps must be an integer >= 1, got None (NoneType)"),
    ("patience", 0, "patience must be an integer >= 1, got 0"),
]


@pytest.mark.parametrize(("name", "value", "message"), RULES)
def test_rules(name: str, value: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        Rules(**{"elitist": True, name: value})
    assert message in str(caught.value)


def test_every_rule_is_tested() -> None:
    assert {name for name, _, _ in RULES} == set(Rules.__dataclass_fields__)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Space(3), "a space must be a function of an Optuna trial or a mapping"),
        (lambda: Space({1: FloatDistribution(0, 1)}), "the parameters of a space must have names, got 1 (int)"),
        (lambda: Space({"x": 3}), "'x' must be an Optuna distribution or a function, got 3"),
        (lambda: Space({"x": lambda values: 3}), "'x' must be of an Optuna distribution, got 3"),
        (lambda: Space(SPACE, conditions=[3]), "conditions must be a mapping of names to functions, got [3]"),
        (
            lambda: Space(SPACE, conditions={"x": True}),
            "conditions['x'] must be a function of the values before, got True",
        ),
        (lambda: Space(SPACE, forbidden=3), "forbidden must be a list of functions, got 3"),
        (lambda: Space(SPACE, ordinal="kind"), "ordinal must be a list of names, got a name"),
        (lambda: Space(SPACE, initial=3), "initial must be a list of mappings, got 3"),
        (lambda: space_of("DE"), "did you mean 'de'?"),
        (lambda: find_preset("Elitist"), "did you mean 'elitist'?"),
        (lambda: IteratedRacingSampler(n_trials=0), "n_trials must be an integer >= 1, got 0"),
        (lambda: IteratedRacingSampler(seed="a"), "seed must be an integer >= 0, got 'a' (str)"),
        (lambda: FriedmanPruner(p_threshold=1), "p_threshold must be a number in (0, 1), got 1"),
        (lambda: FriedmanPruner(n_startup_steps="a"), "n_startup_steps must be an integer >= 2, got 'a' (str)"),
        (
            lambda: RacingTuner(SPACE, [1, 2], seed=1),
            "RacingTuner got an unexpected keyword argument 'seed'; did you mean 'random_state'?",
        ),
        (lambda: RacingTuner(SPACE, [1, 2], max_experiment=1), "did you mean 'max_experiments'?"),
    ],
)
def test_other_constructors(make: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        make()
    assert message in str(caught.value)


# -- misspelt names ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("target", "names", "message"),
    [
        ("de", ["F", "pop_sise"], "the space has 'pop_sise', which is no parameter of DE(); did you mean 'pop_size'?"),
        (SVC(), ["C", "gama"], "the space has 'gama', which is no parameter of SVC(); did you mean 'gamma'?"),
        (make_pipeline(SVC()), ["svc__c"], "did you mean 'svc__C'?"),
    ],
)
def test_a_misspelt_parameter_fails_before_the_first_experiment(
    target: Any, names: list[str], message: str, tmp_path: Path
) -> None:
    space = {name: FloatDistribution(0.1, 1.0) for name in names}
    instances: list[Any] = ["sphere", "levy"] if target == "de" else [load_iris(), load_iris()]
    storage = open_storage(tmp_path / "tuning.log")
    with pytest.raises(ValueError, match="which is no parameter of") as caught:
        tuner(space=space, instances=instances, storage=storage).fit(target)
    assert message in str(caught.value)
    assert storage.get_all_studies() == []


def test_parameters_of_an_estimator_that_is_a_choice_may_be_any() -> None:
    space = Space({"svc": CategoricalDistribution(["passthrough", "linear"]), "svc__alpha": FloatDistribution(0, 1)})
    space.check_names({"svc"}, "a pipeline")
    with pytest.raises(ValueError, match="the space has 'svc__alpha', which is no parameter of a pipeline"):
        Space({"svc__alpha": FloatDistribution(0, 1)}).check_names({"svc"}, "a pipeline")


@pytest.mark.parametrize(
    "options",
    [
        {"conditions": {"knd": lambda values: True}},
        {"conditions": {"n": lambda values: values["knd"] == "good"}},
        {"forbidden": [lambda values: values["knd"] == "good"]},
        {"ordinal": ["knd"]},
        {"initial": [{"x": 0.5, "kind": "good", "n": 3, "knd": "good"}]},
    ],
)
def test_a_misspelt_name_in_a_space_suggests_the_parameter(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="did you mean 'kind'"):
        Space(SPACE, **options)


# -- choices -----------------------------------------------------------------------------------------------------------


def wide(choices: list[Any]) -> Any:
    return lambda trial: (trial.suggest_categorical("n", choices), trial.suggest_float("x", 0, 1))


@pytest.mark.filterwarnings("ignore:Choices for a categorical distribution:UserWarning")
@pytest.mark.parametrize("mapping", [True, False])
def test_choices_that_are_numpys(mapping: bool, tmp_path: Path) -> None:
    choices = [np.int64(3), np.float32(0.5), np.bool_(True), np.str_("a"), (np.int64(1), 2)]
    mapped = {"n": CategoricalDistribution(choices), "x": FloatDistribution(0, 1), "i": IntDistribution(1, 2)}
    space = Space(mapped if mapping else wide(choices), initial=[] if mapping else [{"n": np.int64(3), "x": 0.5}])
    options = {"space": space, "max_experiments": 100, "storage": tmp_path / "tuning.log"}
    fitted = tuner(**options).fit(plain_cost)
    assert decisions(tuner(**options).resume(plain_cost)) == decisions(fitted)


def plain_cost(config: dict[str, Any], instance: float, seed: int) -> float:
    assert type(config["n"]) in (int, float, bool, str, tuple)
    return instance * config["x"]


@pytest.mark.filterwarnings("ignore:Choices for a categorical distribution:UserWarning")
@pytest.mark.parametrize("choice", [b"a", len, np.zeros(2), {"a": 1}])
@pytest.mark.parametrize("mapping", [True, False])
def test_choices_that_cannot_be_stored(choice: Any, mapping: bool) -> None:
    with pytest.raises(TypeError, match="choices of 'n' must be None, bool, int, float, str or tuples of these, got"):
        Space({"n": CategoricalDistribution([1, choice])} if mapping else wide([1, choice]))


# -- storages that were damaged ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("damaged", ["", "{", "[]", "{}", '{"random_state": "a"}', '{"random_state": -1}', "3"])
def test_a_damaged_beginning(damaged: str, tmp_path: Path) -> None:
    storage = open_storage(tmp_path / "tuning.log")
    record = StudyRecord(storage, {"random_state": 1}, resume=False)
    storage.set_study_user_attr(record.study._study_id, IDENTITY, damaged)
    for random_state in (None, 1):
        with pytest.raises(ValueError, match="the tuning 'skde-tuning' in the storage is damaged"):
            tuner(storage=storage, random_state=random_state).resume(cost)
    with pytest.raises(ValueError, match="in the storage is damaged"):
        tuner(storage=storage).work(cost)


def test_damaged_offers(tmp_path: Path) -> None:
    storage = open_storage(tmp_path / "tuning.log")
    queue = WorkQueue(storage)
    queue.storage.set_trial_user_attr(queue._id(queue.offer(QueuedExperiment(0, 0, 1), 1)), "seed", "a")
    with pytest.raises(ValueError, match="the queue in the storage is damaged: seed of offer 0 is 'a'"):
        tuner(storage=storage, use_workers=True, max_experiments=100).fit(cost)


GOOD = {
    **{"algorithm": "de", "set": [], "suite": "qin2012", "functions": None, "dim": 3, "max_experiments": 150},
    **{"objectives": [], "bounds": None, "var": None, "scalar": False},
    **{"run_max_time": 1.0, "run_max_evals": 600, "test": "friedman", "preset": "elitist"},
}


@pytest.mark.parametrize(
    "options",
    [
        *(3, [], {}, {**GOOD, "more": 1}),
        *({**GOOD, name: {}} for name in WORKER_OPTIONS),
        *({**GOOD, "set": pairs} for pairs in ([3], [["F"]], [[3, 4]])),
    ],
)
def test_damaged_worker_options(options: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "tuning.log")
    WorkQueue(open_storage(path)).worker_options = options
    assert main(["tune", "worker", "--storage", path]) == 2
    printed = capsys.readouterr().err
    assert printed.startswith("skde: error: the options for workers in the storage cannot be read, ")
    assert printed.count("\n") == 1
