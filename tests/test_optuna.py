"""EvolutionSampler: Optuna's requirements, the same population in every process, and trials of every origin and end."""

from __future__ import annotations

import logging
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.samplers import BaseSampler
from optuna.trial import Trial, TrialState

from skde import DE, JADE, LSHADE, Categorical, Integer, Minimizer, Real
from skde.algorithms import algorithm_names
from skde.optuna import EvolutionSampler
from skde.optuna.search_space import StudyParameter

try:
    from optuna.testing import pytest_samplers as requirements
except ImportError:  # an older Optuna
    requirements = None


@pytest.fixture(autouse=True)
def quiet_optuna() -> Any:
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(before)


if requirements is None:

    @pytest.mark.skip(reason=f"Optuna {optuna.__version__} does not export its tests of samplers")
    def test_requirements() -> None: ...

else:

    class TestRequirements(
        requirements.BasicSamplerTestCase, requirements.RelativeSamplerTestCase, requirements.SingleOnlySamplerTestCase
    ):
        @pytest.fixture
        def sampler(self) -> Callable[[], BaseSampler]:
            return lambda: EvolutionSampler(seed=0)


def bowl(trial: Trial) -> float:
    x = trial.suggest_float("x", -5, 5)
    y = trial.suggest_float("y", 1e-3, 1e3, log=True)
    z = 0.0 if trial.suggest_categorical("kind", ["a", "b", "c"]) == "b" else 1.0
    return (x - 2) ** 2 + (np.log10(y) + 1) ** 2 + z + 0.1 * trial.suggest_int("i", 0, 5)


def optimized(sampler: BaseSampler, n_trials: int = 60, **options: Any) -> optuna.Study:
    study = optuna.create_study(sampler=sampler, **options)
    study.optimize(bowl, n_trials)
    return study


def params_of(study: optuna.Study) -> list[dict[str, Any]]:
    return [trial.params for trial in study.trials]


# -- the search --------------------------------------------------------------------------------------------------------


def test_the_trials_are_those_of_a_minimizer() -> None:
    """Trial 0 is drawn before there is a search space; it replaces the last individual of the initial population."""
    sampler = EvolutionSampler(DE(F=0.5, CR=0.9, pop_size=8), seed=3)
    study = optuna.create_study(sampler=sampler)
    study.optimize(lambda trial: sum(trial.suggest_float(name, -5, 5) ** 2 for name in "ab"), 40)
    found = np.array([[trial.params[name] for name in "ab"] for trial in study.trials])
    minimizer = Minimizer(
        DE(F=0.5, CR=0.9, pop_size=8), bounds={"a": Real(-5, 5), "b": (-5, 5)}, max_evals=40, random_state=3
    )
    X = minimizer.ask().copy()
    X[-1] = found[0]
    expected = [found[0], *X[:-1]]
    for _ in range(4):
        minimizer.tell(X, (X**2).sum(1))
        X = minimizer.ask()
        expected += list(X)
    assert found.tolist() == np.array(expected).tolist()


def test_it_is_better_than_random() -> None:
    own = [optimized(EvolutionSampler(seed=seed), 100).best_value for seed in range(10)]
    random = [optimized(optuna.samplers.RandomSampler(seed), 100).best_value for seed in range(10)]
    assert np.median(own) < np.median(random) / 2


@pytest.mark.parametrize("name", algorithm_names())
def test_every_algorithm(name: str) -> None:
    """Shrinking populations begin again after the planned trials."""
    study = optimized(EvolutionSampler(name, n_trials=50, seed=1), 120)
    # Trials of nlshadersp differ from a member in one parameter only, in the first half; that may be a step.
    least = 80 if name == "nlshadersp" else 100
    assert len({tuple(params.values()) for params in params_of(study)}) > least
    assert study.best_value < 2


def test_maximize_mirrors_minimize() -> None:
    low = optimized(EvolutionSampler(seed=3))
    high = optuna.create_study(sampler=EvolutionSampler(seed=3), direction="maximize")
    high.optimize(lambda trial: -bowl(trial), 60)
    assert params_of(low) == params_of(high)


DISTRIBUTIONS = [
    (FloatDistribution(-2.0, 3.0), 101, 0.5),
    (FloatDistribution(1e-6, 1.0, log=True), 101, 1e-3),
    (FloatDistribution(-1.0, 1.0, step=0.1), 21, 0.3),
    (IntDistribution(-3, 7), 11, 2),
    (IntDistribution(1, 100, log=True), None, 10),
    (IntDistribution(2, 14, step=3), 5, 8),
    (IntDistribution(0, 2**60), None, 2**40),
    (CategoricalDistribution(["a", None, 3]), 3, None),
]


@pytest.mark.parametrize(("distribution", "n_values", "one"), DISTRIBUTIONS, ids=str)
def test_values_and_numbers(distribution: BaseDistribution, n_values: int | None, one: Any) -> None:
    parameter = StudyParameter(distribution)
    low, high = parameter.variable.limits
    numbers = np.linspace(low, high, 101) if parameter.n_levels is None else np.arange(low, high + 1)
    values = [parameter.value(number) for number in numbers]
    assert n_values is None or len(set(values)) == n_values
    for value in values:
        assert distribution._contains(distribution.to_internal_repr(value))
        number = parameter.number(value)
        assert number is not None
        assert parameter.value(number) == value
    if not isinstance(distribution, CategoricalDistribution):
        assert (values[0], values[-1]) == (distribution.low, distribution.high)
        assert parameter.number(distribution.high + 1) is None
    number = parameter.number(one)
    assert number is not None
    assert parameter.value(number) == pytest.approx(one)


def test_a_value_between_two_steps_is_none_of_the_distribution() -> None:
    assert StudyParameter(FloatDistribution(-1.0, 1.0, step=0.1)).number(0.25) is None
    assert StudyParameter(CategoricalDistribution(["a", "b"])).number("c") is None


# -- several processes, and studies that go on -------------------------------------------------------------------------


def test_a_study_goes_on_in_another_process() -> None:
    storage = optuna.storages.InMemoryStorage()
    study = optuna.create_study(study_name="s", storage=storage, sampler=EvolutionSampler(seed=3))
    study.optimize(bowl, 25)
    study = optuna.load_study(study_name="s", storage=storage, sampler=EvolutionSampler(seed=3))
    study.optimize(bowl, 10)
    study.sampler = pickle.loads(pickle.dumps(study.sampler))
    study.optimize(bowl, 10)
    assert params_of(study) == params_of(optimized(EvolutionSampler(seed=3), 45))


def test_processes_with_one_seed_share_a_population() -> None:
    storage = optuna.storages.InMemoryStorage()
    optuna.create_study(study_name="s", storage=storage)
    studies = [
        optuna.load_study(study_name="s", storage=storage, sampler=EvolutionSampler(DE(pop_size=8), seed=3))
        for _ in range(2)
    ]
    for _ in range(20):
        trials = [study.ask() for study in studies]
        values = [bowl(trial) for trial in trials]
        for study, trial, value in zip(studies, trials, values, strict=True):
            study.tell(trial, value)
    alone = optimized(EvolutionSampler(DE(pop_size=8), seed=3), 40)
    initial = [tuple(params.values()) for params in params_of(alone)[1:8]]
    shared = [tuple(params.values()) for params in params_of(studies[0])]
    assert shared[2:8] == initial[:6]
    assert len(set(shared)) == 40


def test_threads() -> None:
    study = optuna.create_study(sampler=EvolutionSampler(n_trials=100, seed=0))
    study.optimize(bowl, 100, n_jobs=3)
    assert [trial.state for trial in study.trials] == [TrialState.COMPLETE] * 100
    assert len({tuple(params.values()) for params in params_of(study)}) > 70
    assert study.best_value < 1


def test_a_trial_that_never_ends_delays_no_generation() -> None:
    study = optuna.create_study(sampler=EvolutionSampler(DE(pop_size=8), seed=0))
    study.optimize(bowl, 1)
    lost = study.ask()
    bowl(lost)
    study.optimize(bowl, 6 + 1)  # the last one takes its place
    state = study.sampler._states[study]  # type: ignore[attr-defined]
    assert not state.population._waiting.keys() - range(8)
    study.optimize(bowl, 3)
    assert len(state.population._waiting) == 8 - 2  # of the second generation; the last end is not read yet
    assert len({tuple(params.items()) for params in params_of(study)}) == len(study.trials)


def test_a_batch_that_is_larger_than_a_generation_has_no_point_twice() -> None:
    space = {"x": optuna.distributions.FloatDistribution(0, 1), "k": optuna.distributions.IntDistribution(0, 1000)}
    study = optuna.create_study(sampler=EvolutionSampler(DE(pop_size=8), seed=0))
    for _ in range(2):  # without a population yet, and with one
        trials = [study.ask(space) for _ in range(12)]
        assert len({tuple(trial.params.values()) for trial in trials}) == 12
        for trial in trials:
            study.tell(trial, trial.params["x"])
    again = optuna.create_study(sampler=EvolutionSampler(DE(pop_size=8), seed=0))
    assert [again.ask(space).params for _ in range(12)] == [trial.params for trial in study.trials[:12]]


def test_equal_individuals_are_proposed_to_as_many_trials() -> None:
    """In a space of four points, trials that run side by side are the individuals, each once."""
    space = {"a": CategoricalDistribution(["p", "q"]), "b": optuna.distributions.IntDistribution(0, 1)}
    algorithm = DE(pop_size=12)
    study = optuna.create_study(sampler=EvolutionSampler(algorithm, seed=3))
    first = study.ask(space)
    study.tell(first, 1.0)  # takes the place of the first individual with its point
    asked = [study.ask(space) for _ in range(11)]
    bounds = {"a": Categorical(["p", "q"]), "b": Integer(0, 1)}
    points = Minimizer(algorithm, bounds=bounds, max_evals=12, random_state=3).ask()
    individuals = [{"a": "pq"[int(a)], "b": int(b)} for a, b in points]
    individuals.remove(first.params)
    assert [trial.params for trial in asked] == individuals
    population = study.sampler._states[study].population  # type: ignore[attr-defined]
    assert len(population._waiting) == 11
    study.tell(asked[0], 2.0)
    study.ask(space)  # reads the end: one of the equal ones has a value
    assert len(population._waiting) == 10


def test_trials_from_elsewhere_count() -> None:
    """Of an earlier sampler, and enqueued ones."""

    def median_value(enqueued: list[dict[str, Any]]) -> float:
        study = optimized(optuna.samplers.RandomSampler(0), 40)
        for params in enqueued:
            study.enqueue_trial(params)
        study.sampler = EvolutionSampler(DE(strategy="best/1/bin", pop_size=8), seed=0)
        study.optimize(bowl, 50)
        return float(np.median([trial.value for trial in study.trials[50:]]))

    without = median_value([])
    assert without < np.median([trial.value for trial in optimized(optuna.samplers.RandomSampler(0), 40).trials]) / 2
    assert median_value([{"x": 2.0, "y": 0.1, "kind": "b", "i": 0}]) < without / 2


# -- trials of every end -----------------------------------------------------------------------------------------------


def test_failed_and_pruned_trials_are_the_worst() -> None:
    def objective(trial: Trial) -> float:
        value = bowl(trial)
        if trial.params["x"] < 1:
            trial.report(-100.0, 0)
            raise optuna.TrialPruned
        if trial.params["i"] > 3:
            raise ArithmeticError
        return value

    study = optuna.create_study(sampler=EvolutionSampler(seed=0))
    study.optimize(objective, 120, catch=ArithmeticError)
    states = [trial.state for trial in study.trials]
    assert {TrialState.PRUNED, TrialState.FAIL, TrialState.COMPLETE} == set(states)
    assert states[60:].count(TrialState.COMPLETE) > 1.3 * states[:60].count(TrialState.COMPLETE)
    assert study.best_value < 1


@pytest.mark.skipif(not hasattr(Trial, "set_constraint"), reason="constraints of trials are of Optuna 5")
def test_constraints() -> None:
    def objective(trial: Trial) -> float:
        value = bowl(trial)
        trial.set_constraint("x", trial.params["x"] + 3)  # x <= -3, and the minimum is at 2
        trial.set_constraint("i", -1.0)
        return value

    study = optuna.create_study(sampler=EvolutionSampler(seed=0))
    study.optimize(objective, 120)
    assert -3.2 < study.best_params["x"] <= -3
    assert np.mean([params["x"] <= -2.9 for params in params_of(study)[80:]]) > 0.5


@pytest.mark.skipif(not hasattr(Trial, "set_constraint"), reason="constraints of trials are of Optuna 5")
def test_a_feasible_trial_with_a_large_value_is_better_than_an_infeasible_one() -> None:
    def objective(trial: Trial) -> float:
        trial.set_constraint("x", 1e-3 * (trial.suggest_float("x", -5, 5) + 3))
        return 1e200 * (1 + trial.suggest_float("y", 0, 1))

    study = optuna.create_study(sampler=EvolutionSampler(seed=0))
    study.optimize(objective, 120)
    assert np.mean([params["x"] <= -3 for params in params_of(study)[80:]]) > 0.5


def test_parameters_under_a_condition_are_drawn_independently(caplog: pytest.LogCaptureFixture) -> None:
    def objective(trial: Trial) -> float:
        x = trial.suggest_float("x", -5, 5)
        return x**2 + (trial.suggest_float("y", 0, 1) if x > 0 else trial.suggest_int("z", 0, 3))

    caplog.set_level(logging.INFO, "skde.optuna")
    first, second = (optuna.create_study(sampler=EvolutionSampler(seed=0)) for _ in range(2))
    for study in (first, second):
        study.optimize(objective, 40)
    assert params_of(first) == params_of(second)
    assert first.best_value < 0.5
    told = [record.getMessage() for record in caplog.records]
    assert sum("'y' is drawn by the independent sampler" in text for text in told) == 2  # once for each study
    other = optuna.create_study(sampler=EvolutionSampler(seed=0, independent_sampler=optuna.samplers.RandomSampler(9)))
    other.optimize(objective, 5)
    assert params_of(other)[0] != params_of(first)[0]


def test_ranges_that_change() -> None:
    study = optuna.create_study(sampler=EvolutionSampler(seed=0))
    study.optimize(bowl, 20)
    study.optimize(lambda trial: bowl(trial) + trial.suggest_float("new", 0, 1), 5)
    study.optimize(lambda trial: trial.suggest_float("x", -50, 50) ** 2 + trial.suggest_int("i", 0, 5), 20)
    assert len(study.trials) == 45


def test_hyperband() -> None:
    """Its brackets see a part of the trials each."""

    def objective(trial: Trial) -> float:
        value = bowl(trial)
        for step in range(4):
            trial.report(value, step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return value

    study = optuna.create_study(
        sampler=EvolutionSampler(seed=0), pruner=optuna.pruners.HyperbandPruner(max_resource=4, reduction_factor=2)
    )
    study.optimize(objective, 60)
    assert len(study.trials) == 60
    assert study.best_value < 2


def test_the_pages_code_runs(capsys: pytest.CaptureFixture[str]) -> None:
    page = Path(__file__).resolve().parents[1] / "docs" / "optuna.md"
    (block,) = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    exec(compile(block, page.name, "exec"), {})
    assert "'rate'" in capsys.readouterr().out


# -- refusals ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"algorithm": "jad"}, "did you mean 'jade'"),
        ({"algorithm": DE(F=3)}, "DE.F must be"),
        (
            {"algorithm": LSHADE(pop_size=100), "n_trials": 20},
            "n_trials must be at least the population size of LSHADE",
        ),
        ({"n_trials": 0}, "n_trials must be an integer >= 1, got 0"),
        ({"seed": -1}, "seed must be an integer in"),
        ({"independent_sampler": 3}, "independent_sampler must be None or a sampler of Optuna, got 3"),
    ],
)
def test_bad_input(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        EvolutionSampler(**arguments)
    assert message in str(caught.value)


def test_a_default_population_that_is_too_large_is_refused() -> None:
    study = optuna.create_study(sampler=EvolutionSampler(LSHADE(), n_trials=50))
    with pytest.raises(ValueError, match=r"n_trials must be at least the population size of LSHADE\(\), \d+, got 50"):
        study.optimize(bowl, 2)


def test_several_objectives_are_refused() -> None:
    study = optuna.create_study(directions=["minimize", "maximize"], sampler=EvolutionSampler(JADE(pop_size=8)))
    with pytest.raises(ValueError, match="EvolutionSampler is for one objective; the study has 2"):
        study.optimize(lambda trial: (trial.suggest_float("x", 0, 1), 0.0), 1)


def test_a_population_that_has_converged_to_known_points_begins_again() -> None:
    """A minimum that all individuals come to leaves nothing to try in this population; the study goes on."""
    study = optuna.create_study(sampler=EvolutionSampler("shade", seed=0))
    study.optimize(lambda trial: sum(trial.suggest_int(f"i{k}", 0, 5) for k in range(3)), 600)
    assert study.best_value == 0
    assert len({tuple(trial.params.values()) for trial in study.trials}) > 100


# -- a choice by the study ---------------------------------------------------------------------------------------------


def auto_study(n_parameters: int, n_trials: int | None, trials: int = 12) -> EvolutionSampler:
    """Return the sampler of a study with so many parameters."""
    sampler = EvolutionSampler("auto", n_trials=n_trials, seed=0)
    study = optuna.create_study(sampler=sampler)
    study.optimize(lambda trial: sum(trial.suggest_float(f"x{k}", -1, 1) ** 2 for k in range(n_parameters)), trials)
    return sampler


@pytest.mark.parametrize(
    ("n_parameters", "n_trials", "kernel", "reason"),
    [
        (2, 500, "jso", "250 evaluations for each of 2 variables"),
        (8, 500, "cmaes", "62.5 evaluations for each of 8 variables"),
        (3, None, "shade", "the number of trials is not known"),
        (3, 10, "shade", "10 trials are too few for another"),
    ],
)
def test_auto_chooses_by_parameters_and_trials(
    n_parameters: int, n_trials: int | None, kernel: str, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level("INFO", logger="skde.optuna.sampler"):
        sampler = auto_study(n_parameters, n_trials)
    assert type(sampler.algorithm_).__name__.lower() == kernel
    assert sampler.reason_ == reason
    assert f"auto is {sampler.algorithm_!r}: {reason}" in caplog.text
    assert sampler.algorithm == "auto"


def test_auto_knows_discrete_parameters_and_pickles() -> None:
    sampler = pickle.loads(pickle.dumps(EvolutionSampler("auto", n_trials=200, seed=0)))
    study = optuna.create_study(sampler=sampler)
    study.optimize(lambda trial: trial.suggest_int("n", 0, 9) + trial.suggest_float("x", 0, 1), 12)
    assert sampler.reason_ == "100 evaluations for each of 2 variables, with discrete variables"


@pytest.mark.parametrize("n_trials", [None, 1, 19, 20, 60])
def test_auto_searches_with_any_number_of_trials(n_trials: int | None) -> None:
    sampler = EvolutionSampler("auto", n_trials=n_trials, seed=0)
    study = optuna.create_study(sampler=sampler)
    study.optimize(lambda trial: (trial.suggest_float("x", -10, 10) - 2) ** 2, 80)
    assert study.best_value < 0.1


def test_a_given_algorithm_has_no_reason() -> None:
    sampler = EvolutionSampler("jade", seed=0)
    optuna.create_study(sampler=sampler).optimize(bowl, 3)
    assert (sampler.algorithm_, sampler.reason_, sampler.n_trials) == (sampler.algorithm, "", 100)


# -- the module's name -------------------------------------------------------------------------------------------------


def test_the_name_of_the_module_hides_nothing() -> None:
    code = "import skde.optuna, optuna, skde; optuna.create_study; assert skde.optuna is not optuna"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, capture_output=True)


def test_without_optuna_the_error_says_what_to_install() -> None:
    code = "import sys; sys.modules['optuna'] = None; import skde.optuna"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "skde.optuna needs Optuna, which is missing: pip install 'skde[tuning]'" in done.stderr


def test_an_unknown_algorithm_is_refused_with_those_that_may_be_chosen() -> None:
    for given in ("AUTO", 3, None):
        with pytest.raises((ValueError, TypeError), match="algorithm must be one of 'auto', 'de', "):
            EvolutionSampler(given)  # type: ignore[arg-type]
