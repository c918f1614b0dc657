"""The model that guides races: it learns from incomplete tables, and races with it find more and repeat."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from skde.tuning import PRESETS, RacingTuner, Rules, Space
from skde.tuning.parameter_scale import uniform
from skde.tuning.race import Experiment, Race
from skde.tuning.space import Configuration
from skde.tuning.surrogate import (
    MOST,
    Surrogate,
    arrange_costs,
    by_instance,
    normal_scores,
    position,
    without_step_effects,
)

from .landscape import INSTANCES, SPACE, cost, truth

GUIDED = replace(PRESETS["small-budget"], test="t")
UNGUIDED = replace(GUIDED, guided=False)
MIXED = Space(
    {
        "kernel": CategoricalDistribution(["linear", "rbf"]),
        "gamma": FloatDistribution(1e-4, 10.0, log=True),
        "size": CategoricalDistribution(["s", "m", "l"]),
        "n": IntDistribution(1, 20),
        "fixed": IntDistribution(3, 3),
    },
    conditions={"gamma": lambda values: values["kernel"] == "rbf"},
    ordinal=["size"],
    forbidden=[lambda values: values["n"] == 7],
)


def log_cost(config: dict[str, Any], instance: float, seed: int) -> float:
    return math.log(cost(config, instance, seed))


def mixed_cost(config: dict[str, Any], instance: float, seed: int = 0) -> float:
    assert config["n"] != 7
    gamma = config.get("gamma")
    of_kernel = 1.0 if gamma is None else abs(math.log10(gamma) + 1) / 4
    size = {"s": 0.0, "m": 0.3, "l": 0.6}[config["size"]]
    return of_kernel + size + abs(config["n"] - 12) / 20 + np.random.default_rng([seed, config["n"]]).normal(0, 0.1)


def racing(rules: Rules, seed: int = 1, **options: Any) -> RacingTuner:
    settings = {"space": SPACE, "instances": INSTANCES, "max_experiments": 200, **options}
    space, instances = settings.pop("space"), settings.pop("instances")
    return RacingTuner(space, instances, preset=rules, random_state=seed, **settings)


def tuned(rules: Rules, seed: int = 1, target: Any = log_cost, **options: Any) -> RacingTuner:
    return racing(rules, seed, **options).fit(target)


def decisions(fitted: RacingTuner) -> Any:
    return [(race["elites"], race["alive"], race["n_experiments"]) for race in fitted.races_], fitted.elites_


def drawn(space: Space, count: int, seed: int = 0) -> list[Configuration]:
    rng = np.random.default_rng(seed)

    def choose(name: str, distribution: BaseDistribution) -> Any:
        return uniform(distribution, rng)

    return [space.draw(choose) for _ in range(count)]


# -- tables ------------------------------------------------------------------------------------------------------------


def test_effects_are_found_in_an_incomplete_table() -> None:
    truth, step = np.array([3.0, 1.0, 0.0, 2.0]), np.array([0.0, 5.0, -40.0, 9.0, 30.0])
    costs = truth[:, None] + step
    costs[0, 3:] = costs[3, 3:] = costs[1, 4] = costs[2, 0] = np.nan
    means = np.nanmean(costs, axis=1)
    assert np.argmin(means) != 2  # the best ran on the hardest step
    steady = without_step_effects(costs)
    np.testing.assert_array_equal(np.isnan(steady), np.isnan(costs))
    expected = np.where(np.isnan(costs), np.nan, truth[:, None])
    np.testing.assert_allclose(steady - steady[2, 1], expected, atol=1e-10)


def test_a_failure_is_as_bad_as_the_worst_and_changes_no_step() -> None:
    steady = without_step_effects(np.array([[1.0, 2.0], [3.0, 4.0], [-50.0, np.inf]]))
    np.testing.assert_allclose(steady - steady[0, 0], [[0, 0], [2, 2], [np.nan, 2]], atol=1e-12)


def test_means_by_instance() -> None:
    nan = np.nan
    costs = np.array([[1.0, 2.0, 5.0, nan], [nan, 4.0, nan, 8.0]])
    rows, shares, means, counts = by_instance(costs, np.array([7, 3, 7, 3]))
    np.testing.assert_array_equal(rows, [0, 0, 1])
    np.testing.assert_array_equal(shares, [[1, 0], [0, 1], [1, 0]])  # of instances 3 and 7
    np.testing.assert_array_equal(means, [2, 3, 6])
    np.testing.assert_array_equal(counts, [1, 2, 2])


def test_too_many_means_are_joined_over_instances(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skde.tuning.surrogate.MOST_COSTS", 5)
    costs = np.full((3, 6), np.nan)
    costs[0] = np.arange(6)
    costs[1, 2], costs[2, :2] = 9.0, [4.0, 5.0]
    rows, shares, means, counts = by_instance(costs, np.array([0, 1, 2, 3, 4, 4]))
    np.testing.assert_array_equal(rows, [0, 0, 1, 2, 2])
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_allclose(shares[:2] * counts[:2, None], [[1, 0, 1, 0, 2], [0, 1, 0, 1, 0]])
    np.testing.assert_allclose(means, [(0 + 2 + 4 + 5) / 4, (1 + 3) / 2, 9, 4, 5])
    np.testing.assert_array_equal(counts, [4, 2, 1, 1, 1])


def test_normal_scores_depend_on_ranks_alone() -> None:
    costs = np.array([5.0, np.nan, 1.0, 3.0, np.inf])
    np.testing.assert_array_equal(normal_scores(costs), normal_scores(np.exp(costs)))
    scores = normal_scores(costs)
    assert np.isnan(scores[1])
    assert np.isposinf(scores[4])
    assert scores[2] < scores[3] < scores[0]


def test_of_many_configurations_those_with_the_most_results_count() -> None:
    results = {Experiment(c, 0): 1.0 for c in range(MOST + 10)} | {Experiment(c, 4): 2.0 for c in range(5)}
    numbers, steps, costs = arrange_costs(results)
    assert numbers == [*range(5), *range(15, MOST + 10)]
    assert steps == [0, 4]
    assert costs.shape == (MOST, 2)
    np.testing.assert_array_equal(costs[:6, 1], [2, 2, 2, 2, 2, np.nan])


# -- the model ---------------------------------------------------------------------------------------------------------


def surrogate(space: Space, configurations: list[Configuration], target: Any, by_ranks: bool = False) -> Surrogate:
    results = {
        Experiment(c, step): target(configuration.params, 1.0, step) + 3 * (step % 2)
        for c, configuration in enumerate(configurations)
        for step in range(3 + c % 3)
    }
    return Surrogate(
        space, configurations, results, instance_of=lambda step: step % 2, n_instances=2, by_ranks=by_ranks
    )


def test_missing_parameters_are_outside_the_range() -> None:
    rest = {"size": "m", "n": 5, "fixed": 3}
    linear, rbf = MIXED.read({"kernel": "linear", **rest}), MIXED.read({"kernel": "rbf", "gamma": 0.1, **rest})
    assert not 0 <= position(linear, "gamma") <= 1
    assert 0 <= position(rbf, "gamma") <= 1


@pytest.mark.parametrize("by_ranks", [False, True])
def test_it_orders_new_configurations(by_ranks: bool) -> None:
    """With numbers on both scales, choices with an order and without, conditions and forbidden combinations."""
    model = surrogate(MIXED, drawn(MIXED, 60), mixed_cost, by_ranks)
    new = drawn(MIXED, 200, seed=1)
    known = [np.mean([mixed_cost(c.params, 1.0, seed) for seed in range(20)]) for c in new]
    assert np.corrcoef(model.mean(new), known)[0, 1] > 0.85
    assert known[int(model.mean(new).argmin())] < np.quantile(known, 0.05)
    chosen = model.choose(new, 20, np.random.default_rng(0))
    assert np.mean([known[i] for i in chosen]) < np.quantile(known, 0.25)


def test_it_chooses_candidates_by_their_chance_to_be_best() -> None:
    """The first choice falls on each as often as each is the best of draws; with little known, on many."""
    model = surrogate(MIXED, drawn(MIXED, 8), mixed_cost)
    new = drawn(MIXED, 6, seed=1)
    firsts = [model.choose(new, 1, np.random.default_rng(seed))[0] for seed in range(2000)]
    points, _ = model._points(new)
    best = model._process.draws(points, 2, 20000, np.random.default_rng(1)).argmin(axis=1)
    shares = np.bincount(firsts, minlength=6) / 2000
    np.testing.assert_allclose(shares, np.bincount(best, minlength=6) / 20000, atol=0.05)
    assert (shares > 0.02).sum() >= 2


def test_it_chooses_none_twice_and_equal_ones_last() -> None:
    model = surrogate(MIXED, drawn(MIXED, 20), mixed_cost)
    a, b, c = drawn(MIXED, 3, seed=1)
    for seed in range(20):
        chosen = model.choose([a, a, a, b, b, c], 6, np.random.default_rng(seed))
        assert sorted(chosen) == list(range(6))
        assert {"aaabbc"[i] for i in chosen[:3]} == set("abc")


def test_costs_that_are_all_equal() -> None:
    found = surrogate(MIXED, drawn(MIXED, 12), lambda config, instance, seed: 2.0).mean(drawn(MIXED, 5, seed=1))
    np.testing.assert_allclose(found, found[0])


def test_one_result() -> None:
    configurations = drawn(MIXED, 2)
    results = {Experiment(1, 0): 3.0}
    model = Surrogate(MIXED, configurations, results, instance_of=lambda step: 0, n_instances=1, by_ranks=False)
    assert np.isfinite(model.mean(configurations)).all()


# -- results of races --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "failing"),
    [(GUIDED, {5: 1}), (replace(GUIDED, first_test=2, each_test=4), dict.fromkeys(range(2, 6), 2))],
)
def test_a_races_table_does_not_depend_on_the_order_of_results(rules: Rules, failing: dict[int, int]) -> None:
    """Where all but two fail between two tests, the race ends there, and later results may have arrived."""

    def run(at_once: bool) -> Race:
        race = Race(rules, range(6), lambda position: position, minimum=2, budget=18, limit=100)
        while race.ended is None:
            pending = race.pending()
            for configuration, step in pending if at_once else [e for e in pending if e.step == pending[0].step]:
                failed = step >= failing.get(configuration, 100)
                race.add_result(
                    Experiment(configuration, step), math.inf if failed else math.sin(3 * configuration + 7 * step)
                )
        return race

    told = run(at_once=True).find_decided_results()
    assert told == run(at_once=False).find_decided_results()
    for configuration, step in failing.items():
        costs = {e.step: cost for e, cost in told.items() if e.configuration == configuration and e.step >= step}
        assert costs == {step: math.inf}
    assert {e.step for e in told if e.configuration == 0} == {0, 1, 2}


# -- guided races ------------------------------------------------------------------------------------------------------


def test_guided_races_find_more_with_fewer_experiments() -> None:
    def reached(rules: Rules, max_experiments: int) -> float:
        found = [tuned(rules, seed, max_experiments=max_experiments).best_params_ for seed in range(20)]
        return float(np.mean([truth(params) for params in found]))

    assert reached(GUIDED, 200) < reached(UNGUIDED, 300) - 0.01


def test_presets_of_irace_are_not_guided() -> None:
    assert {name for name, rules in PRESETS.items() if rules.guided} == {"small-budget"}


def test_the_first_race_is_the_same_and_the_next_is_not() -> None:
    first, second = (tuned(rules) for rules in (GUIDED, UNGUIDED))
    n = first.races_[0]["n_configurations"]
    params = [[trial.params for trial in fitted.study_.trials] for fitted in (first, second)]
    assert params[0][:n] == params[1][:n]
    assert params[0][n] != params[1][n]


@pytest.mark.parametrize("test", ["friedman", "t"])
def test_it_repeats_itself_also_after_an_interruption(test: str, tmp_path: Path) -> None:
    rules = replace(GUIDED, test=test)
    calls: list[int] = []

    def interrupting(config: dict[str, Any], instance: float, seed: int) -> float:
        calls.append(seed)
        if len(calls) in (70, 130):
            raise KeyboardInterrupt
        return log_cost(config, instance, seed)

    interrupting.__qualname__ = log_cost.__qualname__
    whole = tuned(rules)
    storage = tmp_path / "tuning.log"
    with pytest.raises(KeyboardInterrupt):
        tuned(rules, target=interrupting, storage=storage)
    with pytest.raises(KeyboardInterrupt):
        racing(rules, storage=storage).resume(interrupting)
    again = racing(rules, storage=storage).resume(interrupting)
    assert again.finished_
    assert decisions(again) == decisions(whole) == decisions(tuned(rules))
    assert len(calls) == len(whole.results_) + 2


def test_an_interruption_while_it_learns(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def interrupting(*arguments: Any, **options: Any) -> Surrogate:
        calls.append(len(calls))
        if len(calls) == 2:
            raise KeyboardInterrupt
        return Surrogate(*arguments, **options)

    monkeypatch.setattr("skde.tuning.loop.Surrogate", interrupting)
    interrupted = racing(GUIDED)
    with pytest.raises(KeyboardInterrupt):
        interrupted.fit(log_cost)
    assert len(interrupted.races_) == 1
    assert not interrupted.finished_
    again = interrupted.resume()
    monkeypatch.undo()
    assert decisions(again) == decisions(tuned(GUIDED))


@pytest.mark.parametrize("unit", [2.0**1010, 2.0**-1010])
@pytest.mark.parametrize("rules", [GUIDED, UNGUIDED], ids=["guided", "not guided"])
def test_costs_of_any_size_decide_alike(unit: float, rules: Rules) -> None:
    def sized(config: dict[str, Any], instance: float, seed: int) -> float:
        return unit * log_cost(config, instance, seed)

    assert decisions(tuned(rules, target=sized)) == decisions(tuned(rules))


def test_it_knows_the_instance_of_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    instances: list[Any] = []

    def watched(*arguments: Any, **options: Any) -> Surrogate:
        instances.append([options["instance_of"](step) for step in range(30)])
        assert options["n_instances"] == len(INSTANCES)
        return Surrogate(*arguments, **options)

    monkeypatch.setattr("skde.tuning.loop.Surrogate", watched)
    fitted = tuned(GUIDED)
    assert len(instances) == len(fitted.races_)
    for result in fitted.results_:
        assert result.instance == instances[0][result.step]


def test_processes_and_failures_change_nothing() -> None:
    def failing(config: dict[str, Any], instance: float, seed: int) -> float:
        if config["kind"] == "ugly" and seed % 2:
            raise ArithmeticError("ugly")
        return log_cost(config, instance, seed)

    alone, together = (tuned(GUIDED, target=failing, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert any(race["rejected"] for race in alone.races_)
    assert alone.best_params_["kind"] == "good"
    assert decisions(alone) == decisions(together)


def test_ranks_alone_decide_with_friedman() -> None:
    rules = replace(GUIDED, test="friedman")
    assert decisions(tuned(rules)) == decisions(tuned(rules, target=cost))


def test_it_tunes_a_space_of_every_kind() -> None:
    fitted = tuned(GUIDED, target=mixed_cost, space=MIXED)
    assert fitted.best_params_["kernel"] == "rbf"
    assert fitted.best_params_["size"] == "s"
    assert np.mean([mixed_cost(fitted.best_params_, 1.0, seed) for seed in range(20)]) < 0.25


@pytest.mark.parametrize("equal", [True, False])
def test_one_parameter_and_the_fewest_configurations(equal: bool) -> None:
    def distance(config: dict[str, Any], instance: float, seed: int) -> float:
        return 1.0 if equal else abs(config["x"] - 0.3)

    space = {"x": FloatDistribution(0.0, 1.0)}
    least = GUIDED.least_budget(1)
    fitted = tuned(GUIDED, target=distance, space=space, max_experiments=least)
    assert fitted.n_experiments_ <= least
    if not equal:
        best = min((trial.params["x"] for trial in fitted.study_.trials), key=lambda x: abs(x - 0.3))
        assert fitted.best_params_["x"] == best
