"""The pruner in Optuna's own studies."""

from __future__ import annotations

import math

import numpy as np
import optuna
import pytest
from optuna.trial import Trial, TrialState

from skde.tuning import FriedmanPruner

SIZES = np.resize([1.0, 10.0, 100.0], 20)


def optimized(direction: str = "minimize", **options: float) -> optuna.Study:
    sign = 1 if direction == "minimize" else -1

    def objective(trial: Trial) -> float:
        x = trial.suggest_float("x", -1, 1)
        rng = np.random.default_rng(trial.number)
        costs = []
        for step in rng.permutation(20).tolist():
            costs.append(sign * SIZES[step] * (x**2 + 0.1) * np.exp(0.2 * rng.normal()))
            trial.report(costs[-1], step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return float(np.mean(costs))

    sampler = optuna.samplers.RandomSampler(0)
    study = optuna.create_study(direction=direction, sampler=sampler, pruner=FriedmanPruner(**options))
    study.optimize(objective, n_trials=60)
    return study


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_the_bad_are_pruned_and_the_good_are_not(direction: str) -> None:
    study = optimized(direction)
    pruned = [trial for trial in study.trials if trial.state == TrialState.PRUNED]
    complete = [trial for trial in study.trials if trial.state == TrialState.COMPLETE]
    assert len(pruned) > 25
    assert np.median([abs(t.params["x"]) for t in pruned]) > 2 * np.median([abs(t.params["x"]) for t in complete[5:]])
    assert min(len(trial.intermediate_values) for trial in pruned) >= 5
    best = min(study.trials, key=lambda trial: abs(trial.params["x"]))
    assert best.state == TrialState.COMPLETE


def test_both_directions_are_the_same() -> None:
    low, high = optimized("minimize"), optimized("maximize")
    assert [trial.state for trial in low.trials] == [trial.state for trial in high.trials]


def test_a_lower_threshold_and_later_tests_prune_less() -> None:
    def reports(study: optuna.Study) -> int:
        return sum(len(trial.intermediate_values) for trial in study.trials)

    assert reports(optimized(p_threshold=0.001)) > reports(optimized())
    late = optimized(n_startup_steps=12)
    assert min(len(trial.intermediate_values) for trial in late.trials) == 12


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_failures_are_pruned(value: float) -> None:
    study = optuna.create_study(pruner=FriedmanPruner())
    good, bad = study.ask(), study.ask()
    for step in range(6):
        good.report(1.0, step)
        bad.report(value if step == 3 else 0.5, step)
    assert bad.should_prune()
    assert not good.should_prune()


@pytest.mark.parametrize(
    ("options", "message"), [({"p_threshold": 0.0}, "p_threshold must be"), ({"n_startup_steps": 1}, "n_startup_steps")]
)
def test_bad_input(options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FriedmanPruner(**options)
