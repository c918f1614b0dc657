"""The race as a state machine: its pending experiments, its end, and the order of results, which does not matter."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skde.tuning.iterated_race import AllRejectedError, IteratedRace
from skde.tuning.race import Experiment, Race
from skde.tuning.rules import Rules, find_preset

PLAIN = find_preset("irace-2011")
ELITIST = find_preset("elitist")
Cost = Callable[[int, int], float]


def endless(position: int) -> int:
    return position


def make(rules: Rules = PLAIN, n: int = 6, **options: object) -> Race:
    settings = {"minimum": 2, "budget": 1000, "limit": 1000, **options}
    return Race(rules, range(n), settings.pop("steps", endless), **settings)


def run(race: Race, cost: Cost) -> list[Experiment]:
    """Run a race to its end, the most urgent experiment first; return the experiments."""
    done = []
    while race.ended is None:
        experiment = race.pending()[0]
        race.add_result(experiment, cost(*experiment))
        done.append(experiment)
    return done


def by_number(configuration: int, step: int) -> float:
    return float(configuration)


def alike(configuration: int, step: int) -> float:
    return float((configuration * 7 + step * 5) % 6)  # each has every rank once in six steps


# -- pending experiments -----------------------------------------------------------------------------------------------


def test_all_experiments_up_to_the_first_test_can_start_at_once() -> None:
    race = make(n=4)
    assert race.pending() == [Experiment(c, s) for s in range(5) for c in range(4)]


def test_after_the_first_test_one_step_at_a_time() -> None:
    race = make(n=4, minimum=1)
    for experiment in race.pending():
        race.add_result(experiment, alike(*experiment))
    assert race.pending() == [Experiment(c, 5) for c in range(4)]


def test_each_test_steps_at_a_time() -> None:
    race = make(find_preset("irace-2011", each_test=3), n=4, minimum=1)
    for experiment in race.pending():
        race.add_result(experiment, alike(*experiment))
    # The first test is due at the first multiple of 3 that is not before first_test.
    assert {e.step for e in race.pending()} == {5}
    for experiment in race.pending():
        race.add_result(experiment, alike(*experiment))
    assert {e.step for e in race.pending()} == {6, 7, 8}


def test_nothing_is_decided_before_a_step_is_complete() -> None:
    race = make(n=3)
    first, *rest = race.pending()
    for experiment in rest:
        race.add_result(experiment, by_number(*experiment))
    assert race.position == 0
    assert race.pending() == [first]
    race.add_result(first, 0.0)
    assert race.alive == [0]  # five steps that all agree


def test_results_that_are_not_pending_are_ignored() -> None:
    race = make(n=3)
    race.add_result(Experiment(9, 0), 1.0)
    race.add_result(Experiment(0, 99), 1.0)
    race.add_result(Experiment(0, 0), 1.0)
    race.add_result(Experiment(0, 0), np.inf)
    assert Experiment(0, 0) not in race.pending()
    race.add_result(Experiment(1, 0), 1.0)
    race.add_result(Experiment(2, 0), 1.0)
    assert race.rejected == []


def test_nan_is_no_result() -> None:
    with pytest.raises(ValueError, match="NaN"):
        make().add_result(Experiment(0, 0), float("nan"))


# -- the end of a race -------------------------------------------------------------------------------------------------


def test_few_alive_end_it_and_not_before_the_first_test() -> None:
    race = make(n=6, minimum=2)
    done = run(race, by_number)
    assert race.ended == "1 alive, at most 2 wanted"
    assert len(done) == race.used == 30
    small = make(n=2, minimum=2)
    run(small, alike)
    assert small.position == 5


def test_the_budget_ends_it() -> None:
    race = make(n=6, budget=40, minimum=1)
    run(race, alike)
    assert race.used == 36
    assert race.ended == "the race's experiments do not suffice for the next test"


def test_the_limit_ends_it_at_once() -> None:
    race = make(n=6, budget=20, limit=20)
    assert len(race.pending()) == 18
    run(race, alike)
    assert race.used == 18
    assert race.ended == "no experiments left"
    assert sorted(race.best_first()) == list(range(6))


def test_early_results_count_for_the_limit() -> None:
    race = make(n=6, budget=20, limit=20)
    for experiment in race.pending()[1:]:  # the first step stays open
        race.add_result(experiment, alike(*experiment))
    assert race.pending() == [Experiment(0, 0)]


def test_the_end_of_the_steps_ends_it() -> None:
    race = make(n=6, minimum=1, steps=lambda position: position if position < 7 else None)
    run(race, alike)
    assert race.position == 7
    assert race.ended == "no steps left"


def test_two_tests_without_elimination_end_an_elitist_race() -> None:
    race = make(ELITIST, n=6, minimum=1)
    run(race, alike)
    # The test at the first_test does not count, as in irace: steps 6 and 7 are the two.
    assert race.position == 7
    assert race.ended == "2 tests in a row eliminated no configuration"
    for rules in (PLAIN, find_preset("elitist", patience=None)):
        patient = make(rules, n=6, minimum=1, budget=120)
        run(patient, alike)
        assert patient.position == 20


def test_infinity_rejects_at_once() -> None:
    race = make(n=4)
    done = run(race, lambda c, s: np.inf if c == 1 and s == 0 else alike(c, s))
    assert [e for e in done if e.configuration == 1] == [Experiment(1, 0)]
    assert race.rejected == [1]
    assert 1 not in race.best_first()


def test_all_rejected() -> None:
    race = make()
    run(race, lambda c, s: np.inf)
    assert race.ended == "every configuration of the race failed"
    assert race.best_first() == []
    with pytest.raises(AllRejectedError):
        races(ELITIST, lambda c, s: np.inf)


# -- elites ------------------------------------------------------------------------------------------------------------


def elitist(**options: object) -> Race:
    """Return a race of elites 0 and 1, which know steps 1 to 6 (1 not step 6), and four new ones; step 0 is new."""
    known = {Experiment(c, s): (c + s) % 2 + 10.0 for c in (0, 1) for s in range(1, 7) if (c, s) != (1, 6)}
    return make(ELITIST, earlier=known, **options)


def test_elites_run_the_new_step_and_what_they_miss() -> None:
    asked = {Experiment(0, 0), Experiment(1, 0), Experiment(1, 6)}
    race = elitist(n=2, minimum=0)
    done = run(race, by_number)
    assert asked <= set(done)
    assert not any(e.configuration == 0 and 1 <= e.step <= 6 for e in done)
    assert race.used == len(done)


def test_elites_are_safe_until_replayed() -> None:
    """Elites are worst on every step, and would be out after five; they go when their steps have come by."""
    race = elitist(minimum=1)

    def cost(configuration: int, step: int) -> float:
        return 99.0 if configuration < 2 else alike(configuration, step)

    seen = {}
    while race.ended is None:
        experiment = race.pending()[0]
        race.add_result(experiment, cost(*experiment))
        seen[race.position] = set(race.alive)
    assert {0, 1} <= seen[5]
    assert 1 not in seen[6]  # its five steps are 1 to 5
    assert 0 in seen[6]
    assert 0 not in seen[7]


def test_a_race_continues_while_only_eliminated_ones_have_an_old_step() -> None:
    known = {Experiment(0, s): 0.0 for s in range(1, 9)} | {Experiment(1, s): 0.0 for s in range(1, 4)}
    race = make(ELITIST, n=4, earlier=known, minimum=3, budget=5)
    run(race, lambda c, s: np.inf if c == 0 else alike(c, s))
    assert race.position == 9  # to the end of what 0 knew, although 3 are left and the budget is used
    assert race.used > 5


def test_a_rejected_elite_is_not_safe() -> None:
    race = elitist(minimum=1)
    run(race, lambda c, s: np.inf if c == 0 else by_number(c, s) + 20)
    assert race.rejected == [0]


def test_elites_with_more_steps_rank_first() -> None:
    """Elite 0 knows ten steps, elite 1 eight; the new configurations win the five of the race, and come last."""
    known = {Experiment(0, s): 5.0 for s in range(1, 11)} | {Experiment(1, s): 5.0 for s in range(1, 9)}
    race = make(ELITIST, n=4, earlier=known, minimum=4)
    run(race, lambda c, s: 5.0 if c < 2 else (c + s) % 2 - 1.0)
    assert race.position == 5
    assert race.best_first() == [0, 1, 2, 3]


def test_elites_with_equal_steps_rank_by_shared_steps() -> None:
    known = {Experiment(0, s): 5.0 for s in range(1, 10)} | {Experiment(1, s): 4.0 for s in range(2, 11)}
    race = make(ELITIST, n=2, earlier=known, minimum=2, steps=lambda position: position if position < 11 else None)
    run(race, lambda c, s: 0.0 if c == 0 else 9.0)
    assert race.best_first()[0] == 1


def test_results_of_survivors() -> None:
    race = elitist(minimum=1)
    run(race, lambda c, s: by_number(c, s) + 20 if c else 0.0)
    found = race.results()
    assert {e.configuration for e in found} == set(race.alive)
    assert found[Experiment(0, 3)] == 11.0
    assert found[Experiment(0, 0)] == 0.0


# -- races in a row ----------------------------------------------------------------------------------------------------


def backwards(iteration: int, steps: list[int]) -> list[int]:
    return steps[::-1]


def races(rules: Rules, cost: Cost, budget: int = 600, n_steps: int | None = None, pick: int | None = 0) -> list[dict]:
    """Run an iterated race to its end; pick=None: in a random order. Return a description of every race."""
    machine = IteratedRace(rules, 3, budget, backwards, n_steps)
    rng = np.random.default_rng(1)
    number, told = 0, []
    while not machine.finished:
        plan = machine.plan
        assert plan is not None
        race = machine.begin(range(number, number + plan.n_new))
        number += plan.n_new
        asked = []
        while machine.race is race:
            pending = race.pending()
            experiment = pending[pick if pick is not None else rng.integers(len(pending))]
            machine.add_result(experiment, cost(*experiment))
            asked.append(experiment)
        told.append({"plan": plan, "asked": asked, "elites": machine.elites, "used": machine.used, "ended": race.ended})
    return told


def noisy(configuration: int, step: int) -> float:
    rng = np.random.default_rng([configuration, step])
    return float(rng.normal() + (configuration * 37 % 101) / 50)


@pytest.mark.parametrize("rules", [PLAIN, ELITIST])
def test_the_whole_race_keeps_its_budget(rules: Rules) -> None:
    told = races(rules, noisy)
    assert len(told) >= 3
    assert sum(len(race["asked"]) for race in told) == told[-1]["used"] <= 600
    assert told[-1]["used"] > 600 - 70
    for before, after in pairwise(told):
        assert after["plan"].elites == before["elites"]
        assert len(before["elites"]) <= 3


def test_an_elitist_race_begins_with_a_new_step_and_replays_the_old_ones_shuffled() -> None:
    first, second, *_ = races(ELITIST, noisy)
    n_old = max(e.step for e in first["asked"]) + 1
    order = list(dict.fromkeys(e.step for e in second["asked"]))
    wanted = [n_old, *range(n_old)[::-1]]
    assert order[: len(wanted)] == wanted[: len(order)]
    elites = set(second["plan"].elites)
    assert {e.step for e in second["asked"] if e.configuration in elites} <= {n_old, *range(n_old + 1, 99)}


def test_a_race_of_2011_has_new_steps_and_runs_elites_again() -> None:
    first, second, *_ = races(PLAIN, noisy)
    n_old = max(e.step for e in first["asked"]) + 1
    assert min(e.step for e in second["asked"]) == n_old
    assert set(second["plan"].elites) <= {e.configuration for e in second["asked"] if e.step == n_old}


def test_rules_may_keep_more_of_a_race() -> None:
    told = races(find_preset("elitist", survivors=6), noisy, budget=2000)
    assert all(len(race["elites"]) == 6 for race in told)
    assert all(race["plan"].elites == before["elites"] for before, race in pairwise(told))
    # Those of a race in which one configuration after the other drops out.
    won = races(find_preset("elitist", survivors=6), by_number, budget=2000)
    assert won[0]["ended"] in {f"{n} alive, at most 6 wanted" for n in range(1, 7)}
    assert won[0]["elites"] == list(range(len(won[0]["elites"])))


def test_the_last_planned_race_may_be_a_final() -> None:
    """Equal configurations end a race after tests without elimination, but a final spends the rest of the budget."""

    def random(configuration: int, step: int) -> float:
        return float(np.random.default_rng([configuration, step]).normal()) + 10 * (configuration % 5 > 0)

    told = races(ELITIST, random)
    assert len(told) > 3
    assert "eliminated no configuration" in told[2]["ended"]
    told = races(find_preset("elitist", final=True), random)
    assert len(told) == 3
    assert "eliminated no configuration" in told[0]["ended"]
    assert "eliminated no configuration" not in told[2]["ended"]
    assert told[2]["used"] > 600 - 30
    won = races(find_preset("elitist", final=True), lambda configuration, step: float(configuration))
    assert len(won) == 3
    assert won[2]["used"] < 600
    assert "alive, at most 3 wanted" in won[2]["ended"]


@pytest.mark.parametrize("rules", [PLAIN, ELITIST])
def test_with_few_steps_no_other_is_used(rules: Rules) -> None:
    told = races(rules, noisy, n_steps=8)
    assert len(told) >= 2
    assert {e.step for race in told for e in race["asked"]} <= set(range(8))


@given(st.integers(0, 2**32 - 1), st.sampled_from([PLAIN, ELITIST]), st.sampled_from(["friedman", "t-holm"]))
def test_decisions_do_not_depend_on_the_order_of_results(seed: int, rules: Rules, test: str) -> None:
    rules = find_preset("elitist" if rules.elitist else "irace-2011", test=test)

    def cost(configuration: int, step: int) -> float:
        rng = np.random.default_rng([seed, configuration, step])
        return np.inf if rng.random() < 0.01 else float(rng.normal() + configuration % 5 / 3)

    in_order, shuffled = (races(rules, cost, budget=300, pick=pick) for pick in (0, None))
    for one, other in zip(in_order, shuffled, strict=True):
        assert one["plan"] == other["plan"]
        assert one["elites"] == other["elites"]
        assert one["used"] == other["used"]
        assert one["ended"] == other["ended"]


def test_the_best_configuration_survives() -> None:
    """Costs differ by a third of their deviation; the best is elite at the end in nearly all of 40 races."""
    found = 0
    for seed in range(40):

        def cost(configuration: int, step: int, seed: int = seed) -> float:
            rng = np.random.default_rng([seed, configuration, step])
            return float(configuration / 3 + rng.normal() + 10 * (step % 3))

        race = make(n=20, minimum=2, budget=400, limit=400)
        run(race, cost)
        found += 0 in race.alive
    assert found >= 38


@pytest.mark.parametrize(("budget", "steps"), [(23, 6), (24, 6), (35, 6), (36, 9), (47, 9), (48, 12)])
def test_a_race_begins_no_block_of_steps_that_its_budget_does_not_end(budget: int, steps: int) -> None:
    """Four configurations, tests after every third step: a block costs 12 experiments."""
    race = make(find_preset("irace-2011", each_test=3, first_test=6), n=4, minimum=1, budget=budget)
    run(race, lambda configuration, step: float((configuration + step) % 4))
    assert race.ended == "the race's experiments do not suffice for the next test"
    assert (race.position, race.used) == (steps, 4 * steps)
