"""The sampler in Optuna's own studies: Optuna's requirements of samplers, and better results than random ones."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import numpy as np
import optuna
import pytest
from optuna.samplers import BaseSampler
from optuna.testing.pytest_samplers import BasicSamplerTestCase, SingleOnlySamplerTestCase
from optuna.trial import Trial

from skde.tuning import IteratedRacingSampler


class TestContract(BasicSamplerTestCase, SingleOnlySamplerTestCase):
    @pytest.fixture
    def sampler(self) -> Callable[[], BaseSampler]:
        return lambda: IteratedRacingSampler(n_trials=20, seed=0)


def bowl(trial: Trial) -> float:
    x = trial.suggest_float("x", -5, 5)
    y = trial.suggest_float("y", 1e-3, 1e3, log=True)
    z = 0.0 if trial.suggest_categorical("kind", ["a", "b", "c"]) == "b" else 1.0
    return (x - 2) ** 2 + (np.log10(y) + 1) ** 2 + z + 0.1 * trial.suggest_int("i", 0, 5)


def optimized(sampler: BaseSampler, direction: str = "minimize", n_jobs: int = 1) -> optuna.Study:
    study = optuna.create_study(sampler=sampler, direction=direction)
    sign = 1 if direction == "minimize" else -1
    study.optimize(lambda trial: sign * bowl(trial), n_trials=120, n_jobs=n_jobs)
    return study


def test_it_is_better_than_random() -> None:
    own = [optimized(IteratedRacingSampler(120, seed=seed)).best_value for seed in range(10)]
    random = [optimized(optuna.samplers.RandomSampler(seed)).best_value for seed in range(10)]
    assert np.median(own) < np.median(random) / 2


def test_maximize_mirrors_minimize() -> None:
    low, high = (optimized(IteratedRacingSampler(120, seed=3), way) for way in ("minimize", "maximize"))
    assert [trial.params for trial in low.trials] == [trial.params for trial in high.trials]


def test_draws_repeat() -> None:
    first, second = (optimized(IteratedRacingSampler(120, seed=3)) for _ in range(2))
    assert [trial.params for trial in first.trials] == [trial.params for trial in second.trials]
    other = optimized(IteratedRacingSampler(120, seed=4))
    assert first.trials[0].params != other.trials[0].params


def test_trials_side_by_side_differ() -> None:
    study = optimized(IteratedRacingSampler(120, seed=3), n_jobs=2)
    assert len({trial.params["x"] for trial in study.trials}) == 120


def test_later_iterations_are_closer() -> None:
    """With four parameters there are four iterations of thirty trials; after them the plan goes on."""
    study = optuna.create_study(sampler=IteratedRacingSampler(120, seed=0))
    study.optimize(bowl, n_trials=180)
    spread = [np.std([t.params["x"] for t in study.trials[30 * j : 30 * (j + 1)]]) for j in range(6)]
    assert spread[0] > 2 * spread[2] > 3 * spread[5]
    kinds = [t.params["kind"] for t in study.trials[120:]]
    assert kinds.count("b") > 40


def test_there_is_no_end_of_trials() -> None:
    """Long after the plan, where the deviation would vanish."""
    study = optuna.create_study()
    distribution = optuna.distributions.FloatDistribution(0.0, 1.0)
    for value, x in enumerate((0.3, 0.3, 0.8, 0.1)):
        study.add_trial(optuna.create_trial(params={"x": x}, distributions={"x": distribution}, value=value))
    sampler, trial = IteratedRacingSampler(10, seed=0), study.trials[0]
    late = []
    for trial.number in range(3000, 3020):
        late.append(sampler.sample_independent(study, trial, "x", distribution))
    assert len(set(late)) == 20
    assert np.abs(np.array(late) - 0.3).max() < 1e-3


def test_it_can_be_pickled_with_its_state() -> None:
    sampler = IteratedRacingSampler(120, seed=3)
    study = optuna.create_study(sampler=sampler)
    study.optimize(bowl, n_trials=50)
    study.sampler = pickle.loads(pickle.dumps(sampler))
    study.optimize(bowl, n_trials=70)
    assert [t.params for t in study.trials] == [t.params for t in optimized(IteratedRacingSampler(120, seed=3)).trials]


def test_without_a_seed_studies_differ() -> None:
    assert optimized(IteratedRacingSampler()).trials[0].params != optimized(IteratedRacingSampler()).trials[0].params


@pytest.mark.parametrize(("arguments", "message"), [({"n_trials": 0}, "n_trials must be"), ({"seed": -1}, "seed must")])
def test_bad_input(arguments: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        IteratedRacingSampler(**arguments)
