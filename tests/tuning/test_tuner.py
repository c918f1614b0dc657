"""RacingTuner: it finds the best, repeats itself, survives kills and failures, and its errors name the reason."""

from __future__ import annotations

import logging
import math
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest
from optuna.distributions import FloatDistribution
from optuna.trial import TrialState
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skde import DE
from skde.tuning import RacingTuner, Rules, Space
from skde.tuning.loop import TuningLoop
from skde.tuning.report import page
from skde.tuning.time_notice import duration

from .landscape import INSTANCES, SPACE, cost, decisions, sometimes, truth, tuner

# -- results -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", ["elitist", "irace-2011", "small-budget", Rules(elitist=True, spending=True)])
@pytest.mark.parametrize("test", ["friedman", "t-holm"])
def test_it_finds_the_best(preset: Any, test: str) -> None:
    found = [tuner(preset=preset, test=test, max_experiments=1000, random_state=seed).fit(cost) for seed in range(3)]
    for fitted in found:
        assert fitted.best_params_["kind"] == "good"
        assert truth(fitted.best_params_) < 1.25
        assert 900 < fitted.n_experiments_ == len(fitted.results_) <= 1000
    assert np.median([truth(fitted.best_params_) for fitted in found]) < 1.15


@pytest.mark.parametrize("test", ["friedman", "t"])
def test_the_preset_for_small_budgets_is_better_with_one(test: str) -> None:
    def log_cost(config: dict[str, Any], instance: float, seed: int) -> float:
        return math.log(cost(config, instance, seed))

    def reached(preset: str) -> float:
        options = {"preset": preset, "test": test, "max_experiments": 100}
        return float(np.mean([truth(tuner(**options, random_state=s).fit(log_cost).best_params_) for s in range(15)]))

    assert reached("small-budget") < reached("elitist") - 0.05


def test_it_is_better_than_random_search() -> None:
    """At equal experiments, of which random search gives ten to each configuration."""
    raced, random = [], []
    for seed in range(8):
        raced.append(truth(tuner(random_state=seed).fit(cost).best_params_))
        rng = np.random.default_rng(seed)
        configurations = [
            {"x": rng.uniform(-1, 1), "kind": rng.choice(["good", "bad", "ugly"]), "n": int(rng.integers(1, 21))}
            for _ in range(60)
        ]
        means = [np.mean([cost(c, 1.0, s) for s in range(10)]) for c in configurations]
        random.append(truth(configurations[int(np.argmin(means))]))
    assert np.median(raced) < np.median(random)
    assert np.median(raced) < 1.1


def test_an_initial_configuration_that_is_best_stays() -> None:
    best = {"x": 0.3, "kind": "good", "n": 15}
    fitted = tuner(space=Space(SPACE, initial=[best])).fit(cost)
    assert fitted.results_[0].configuration == 0
    assert 0 in fitted.races_[0]["alive"]
    assert truth(fitted.best_params_) < 1.06
    assert fitted.study_.trials[0].params == best


# -- the study ---------------------------------------------------------------------------------------------------------


def test_the_study_is_one_of_optuna() -> None:
    fitted = tuner().fit(cost)
    study = fitted.study_
    survivors = {number for race in fitted.races_ for number in race["alive"]}
    assert {trial.number for trial in study.trials if trial.state == TrialState.COMPLETE} <= survivors
    assert {trial.number for trial in study.trials if trial.state == TrialState.PRUNED} >= {
        trial.number for trial in study.trials
    } - survivors
    assert {TrialState.COMPLETE, TrialState.PRUNED} == {trial.state for trial in study.trials}
    assert study.metric_names == ["share of better configurations"]
    assert sum(len(trial.intermediate_values) for trial in study.trials) == len(fitted.results_)
    for result in fitted.results_[::50]:
        trial = study.trials[result.configuration]
        assert trial.intermediate_values[result.step] == result.cost
        assert result.cost == cost(trial.params, INSTANCES[result.instance], result.seed)
    assert all(0 <= trial.value <= 1 for trial in study.trials)
    assert study.trials[fitted.elites_[0].number].params == fitted.best_params_
    assert set(optuna.importance.get_param_importances(study)) == set(SPACE)
    values = {kind: [t.value for t in study.trials if t.params["kind"] == kind] for kind in ("good", "bad")}
    assert np.mean(values["good"]) < np.mean(values["bad"])


def test_with_t_tests_values_are_mean_costs() -> None:
    fitted = tuner(test="t").fit(cost)
    trial = fitted.study_.trials[3]
    assert trial.value == pytest.approx(np.mean(list(trial.intermediate_values.values())))
    assert trial.value == trial.user_attrs["cost"]
    assert fitted.study_.metric_names == ["mean cost"]


def test_the_mean_cost_is_an_attribute_of_the_trial() -> None:
    fitted = tuner().fit(cost)
    for trial in fitted.study_.trials[::7]:
        costs = [result.cost for result in fitted.results_ if result.configuration == trial.number]
        assert trial.user_attrs["cost"] == pytest.approx(np.mean(costs))


def test_it_leaves_out_optunas_line_about_a_new_study(caplog: pytest.LogCaptureFixture) -> None:
    optuna.logging.set_verbosity(optuna.logging.INFO)
    logger = logging.getLogger("optuna")
    logger.addHandler(caplog.handler)
    try:
        page(tuner(max_experiments=100).fit(cost))
        assert caplog.records == []
        optuna.create_study()
    finally:
        logger.removeHandler(caplog.handler)
    assert "A new study" in caplog.text


def test_every_step_is_one_instance_and_one_seed() -> None:
    results = tuner().fit(cost).results_
    steps = {(r.step, r.instance, r.seed) for r in results}
    assert len(steps) == len({r.step for r in results}) == len({r.seed for r in results})
    instances = [instance for _, instance, _ in sorted(steps)]
    for begin in range(0, len(instances) - 2, 3):
        assert sorted(instances[begin : begin + 3]) == [0, 1, 2]


@pytest.mark.parametrize("preset", ["elitist", "irace-2011"])
def test_deterministic_targets_have_one_step_an_instance(preset: str) -> None:
    instances = list(range(1, 9))
    fitted = tuner(deterministic=True, instances=instances, preset=preset).fit(lambda c, i, seed: i * truth(c))
    assert {r.step for r in fitted.results_} <= set(range(8))
    assert len({(r.configuration, r.step) for r in fitted.results_}) == len(fitted.results_)
    assert truth(fitted.best_params_) < 1.1


def test_the_callback_sees_every_race(tmp_path: Path) -> None:
    seen: list[int] = []

    def callback(fitted: RacingTuner) -> None:
        assert fitted.races_[-1]["elites"] == [elite.number for elite in fitted.elites_]
        seen.append(fitted.races_[-1]["iteration"])
        if len(seen) == 2:
            raise KeyboardInterrupt

    interrupted = tuner(callbacks=callback, storage=tmp_path / "tuning.log")
    with pytest.raises(KeyboardInterrupt):
        interrupted.fit(cost)
    assert not interrupted.finished_
    assert seen == [1, 2]
    resumed = tuner(callbacks=callback, storage=tmp_path / "tuning.log").resume(cost)
    assert seen == [1, 2, *range(1, len(resumed.races_) + 1)]
    assert decisions(resumed) == decisions(tuner().fit(cost))
    with pytest.raises(TypeError, match="callbacks must be callables, got 3"):
        tuner(callbacks=3).fit(cost)


# -- one's own problem -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", ["elitist", "small-budget", "irace-2011"])
def test_one_instance_is_enough(preset: str) -> None:
    """Its seeds are the steps."""
    fitted = tuner(instances=[10.0], preset=preset).fit(cost)
    assert truth(fitted.best_params_) < 1.15
    assert len({result.seed for result in fitted.results_}) == len({result.step for result in fitted.results_}) > 5


def shifted_sphere(x: Any) -> float:
    assert np.shape(x) == (2,)
    return float(np.sum((x - 0.3) ** 2))


def test_functions_of_one_point() -> None:
    options = {"max_experiments": 80, "run_max_evals": 200, "random_state": 0}
    space = {"F": FloatDistribution(0.1, 1), "CR": FloatDistribution(0, 1)}
    instances = [(shifted_sphere, [(-5, 5)] * 2)]
    fitted = RacingTuner(space, instances, vectorized=False, **options).fit(DE(pop_size=10))
    assert {result.error for result in fitted.results_} == {None}
    found = RacingTuner(space, instances, **options).fit(DE(pop_size=10))
    assert decisions(found) == decisions(fitted)
    hint = "(?s)every configuration of the race failed.*a function of a single point needs vectorized=False"
    with pytest.raises(RuntimeError, match=hint):
        RacingTuner(space, instances, vectorized=True, **options).fit(DE(pop_size=10))


# -- the same decisions ------------------------------------------------------------------------------------------------


def test_it_repeats_itself() -> None:
    assert decisions(tuner().fit(cost)) == decisions(tuner().fit(cost))
    assert decisions(tuner().fit(cost)) != decisions(tuner(random_state=2).fit(cost))


def test_processes_change_nothing() -> None:
    assert decisions(tuner(n_jobs=2).fit(cost)) == decisions(tuner().fit(cost))


# -- failures ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_failing_configurations_are_rejected_and_the_race_goes_on(n_jobs: int) -> None:
    def failing(config: dict[str, Any], instance: float, seed: int) -> float:
        if config["kind"] == "bad":
            raise ArithmeticError("bad is bad")
        if config["kind"] == "ugly":
            return math.nan if config["n"] % 2 else math.inf
        return cost(config, instance, seed)

    fitted = tuner(n_jobs=n_jobs).fit(failing)
    assert fitted.best_params_["kind"] == "good"
    rejected = {number: error for race in fitted.races_ for number, error in race["rejected"].items()}
    reasons = {"ArithmeticError: bad is bad", "ValueError: the cost is NaN", "the cost is inf"}
    assert set(rejected.values()) == reasons
    states = [trial.state for trial in fitted.study_.trials]
    assert states.count(TrialState.FAIL) == len(rejected)
    failed = [result for result in fitted.results_ if result.cost == np.inf]
    if n_jobs == 1:
        assert len(failed) == len(rejected)
    assert {result.error for result in failed} == reasons


def test_processes_change_no_trial_where_some_fail() -> None:
    """Of what has failed, processes may have begun more."""
    alone, together = (tuner(n_jobs=n_jobs, max_experiments=300).fit(sometimes) for n_jobs in (1, 2))
    assert decisions(alone) == decisions(together)
    assert any(race["rejected"] for race in alone.races_)
    assert [trial.values for trial in alone.study_.trials] == [trial.values for trial in together.study_.trials]


def test_all_configurations_fail() -> None:
    def failing(config: dict[str, Any], instance: float, seed: int) -> float:
        raise OSError("no disk")

    unlucky = tuner()
    for method in (lambda: unlucky.fit(failing), unlucky.resume):
        with pytest.raises(RuntimeError, match=r"every configuration of the race failed, \d+ in all: OSError: no disk"):
            method()
    with pytest.raises(NotFittedError):
        _ = unlucky.best_params_


def test_all_fail_later() -> None:
    """The best configuration so far stays readable."""
    calls = []

    def failing(config: dict[str, Any], instance: float, seed: int) -> float:
        calls.append(seed)
        if len(calls) > 400:
            raise OSError("disk full")
        return cost(config, instance, seed)

    unlucky = tuner(preset="irace-2011")
    with pytest.raises(RuntimeError, match="disk full"):
        unlucky.fit(failing)
    assert unlucky.best_params_["kind"] == "good"


# -- bad input ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"max_experiments": 71},
            ValueError,
            r"max_experiments must be at least 72 for 3 parameters, got 71: the first",
        ),
        ({"max_experiments": 0}, ValueError, "max_experiments must be an integer >= 1"),
        (
            {"instances": [1.0], "deterministic": True},
            ValueError,
            "instances must be at least 2 with deterministic=True",
        ),
        ({"instances": []}, ValueError, "instances must be at least 1, got 0"),
        ({"space": {}}, ValueError, "the space is empty"),
        ({"space": None}, ValueError, "space must be given"),
        ({"run_max_time": 0}, ValueError, "run_max_time must be"),
        ({"run_max_evals": 0}, ValueError, "run_max_evals must be"),
        ({"test": "anova"}, ValueError, "test must be one of"),
        ({"preset": "elite"}, ValueError, "did you mean 'elitist'"),
        ({"storage": 3}, TypeError, "storage must be"),
        ({"random_state": "x"}, TypeError, "random_state must be"),
    ],
)
def test_bad_input(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        tuner(**options).fit(cost)


def test_the_least_budget_is_enough() -> None:
    assert tuner(max_experiments=72).fit(cost).best_params_


def test_too_many_initial_configurations() -> None:
    initial = [{"x": x, "kind": "good", "n": 3} for x in np.linspace(0, 1, 30).tolist()]
    with pytest.raises(ValueError, match="too small for 30 initial configurations"):
        tuner(space=Space(SPACE, initial=initial), max_experiments=100).fit(cost)


# -- as an estimator ---------------------------------------------------------------------------------------------------


def test_it_is_an_estimator() -> None:
    first = tuner(test="t")
    assert clone(first).get_params()["test"] == "t"
    with pytest.raises(NotFittedError):
        _ = first.best_params_
    with pytest.raises(AttributeError, match="best_estimator_"):
        _ = first.fit(cost).best_estimator_


def test_prediction() -> None:
    found = tuner(space={name: FloatDistribution(0, 1) for name in "abcdef"}, max_experiments=30_000).predict_budget()
    assert found["n_parameters"] == 6
    assert found["n_iterations"] == found["n_survivors"] == 4
    assert found["races"][0] == {"iteration": 1, "n_experiments": 7500, "n_configurations": 1024}
    assert sum(race["n_experiments"] for race in found["races"]) == 30_000
    assert found["seconds"] == 30_000
    assert tuner(run_max_evals=100).predict_budget()["seconds"] is None
    least = tuner().predict_budget()["least"]
    assert least == 72


def test_a_prediction_is_about_right() -> None:
    fitted = tuner().fit(cost)
    predicted = tuner().predict_budget()["races"]
    assert fitted.races_[0]["n_configurations"] == predicted[0]["n_configurations"]
    assert fitted.races_[0]["n_experiments"] <= predicted[0]["n_experiments"]


def test_progress(capsys: pytest.CaptureFixture[str]) -> None:
    fitted = tuner(verbose=1).fit(cost)
    shown = capsys.readouterr().err
    assert f"{fitted.n_experiments_}/600" in shown
    assert f"alive, best is configuration {fitted.elites_[0].number}" in shown


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.25, "0.25 s"), (59.4, "59 s"), (61, "1 min"), (7500, "2 h 5 min"), (432000, "5 days")]
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_it_says_before_how_long_limited_runs_take(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO, "skde.tuning")
    monkeypatch.setattr(TuningLoop, "run", lambda loop, target: None)
    options = {"max_experiments": 7200, "n_jobs": 1, "device": "cpu"}
    RacingTuner(None, ["sphere"], **options, run_max_evals=100).fit("de")
    RacingTuner(None, ["sphere"], **options, run_max_time=2.0, verbose=1).fit("de")
    with pytest.warns(UserWarning, match=r"7,200 experiments take up to 4 h 0 min; .* verbose=1 shows the progress"):
        RacingTuner(None, ["sphere"], **options, run_max_time=2.0).fit("de")
    RacingTuner(None, ["sphere"], **options, run_max_time=0.08).fit("de")  # less than 10 minutes
    line = "7,200 experiments take up to 4 h 0 min; for a shorter tuning, lower max_experiments (at least 120) or the"
    assert [record.getMessage()[: len(line)] for record in caplog.records[:2]] == [line, line]
    assert "7,200 experiments take up to 10 min" in caplog.records[2].getMessage()
    assert capsys.readouterr().err.count(line) == 1


def test_it_says_after_the_first_steps_how_long_the_others_take(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "skde.tuning")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("skde.tuning.time_notice.MEASURED_AFTER", 1e-3)
        patch.setattr("skde.tuning.time_notice.WORTH_SAYING", 0.0)
        tuner(max_experiments=100).fit(cost)
        patch.setattr("skde.tuning.time_notice.WARNED_AFTER", 1e-3)
        patch.setattr("skde.tuning.time_notice.WORTH_A_WARNING", 0.0)
        with pytest.warns(UserWarning, match="the others take about"):
            tuner(max_experiments=100).fit(cost)
    told, _ = [record.getMessage() for record in caplog.records]
    assert "the others take about" in told
