"""The lengths and widths of iterated races, against the formulas by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from skde.tuning.rules import PRESETS, Rules, find_preset, n_iterations, n_survivors, race_budget


@pytest.mark.parametrize(("n", "expected"), [(1, 2), (2, 3), (3, 3), (4, 4), (6, 4), (7, 4), (8, 5), (100, 8)])
def test_iterations_and_survivors(n: int, expected: int) -> None:
    assert n_iterations(n) == expected
    assert n_survivors(n) == expected


def test_the_races_share_what_is_left() -> None:
    assert race_budget(30_000, 1, 4) == 7500
    assert race_budget(22_501, 2, 4) == 7500
    assert race_budget(17, 4, 4) == 17
    assert race_budget(17, 5, 4) == 17


def test_the_first_race_of_2011_has_1250_configurations_for_six_parameters() -> None:
    assert PRESETS["irace-2011"].configurations(race_budget(30_000, 1, n_iterations(6)), 1) == 1250


def test_the_elitist_first_race_is_capped() -> None:
    assert PRESETS["elitist"].configurations(7500, 1) == 1024
    assert PRESETS["elitist"].configurations(6000, 1) == 1000


@pytest.mark.parametrize(("iteration", "expected"), [(1, 1200 // 6), (2, 1200 // 7), (5, 120), (9, 120)])
def test_2011_grows_the_denominator_up_to_the_fifth_race(iteration: int, expected: int) -> None:
    assert PRESETS["irace-2011"].configurations(1200, iteration) == expected


@pytest.mark.parametrize(
    ("each", "n_elites", "n_old", "expected"),
    [
        (1, 4, 3, (600 + 12) // 7),  # mu + e min(5, j) decides
        (1, 4, 20, (600 + 80) // 21),  # old and new steps decide
        (3, 4, 20, (600 + 80) // 21),  # 21 is a multiple of 3
        (4, 4, 20, (600 + 80) // 24),  # rounded up to one
    ],
)
def test_elites_save_their_finished_experiments(each: int, n_elites: int, n_old: int, expected: int) -> None:
    assert find_preset("elitist", each_test=each).configurations(600, 2, n_elites, n_old) == expected


def test_first_test_may_limit_the_configurations() -> None:
    assert find_preset("irace-2011", first_test=9).configurations(1000, 1) == 100


@pytest.mark.parametrize("name", sorted(PRESETS))
@pytest.mark.parametrize("n_parameters", [1, 3, 6, 20])
@pytest.mark.parametrize("each_test", [1, 4])
def test_the_least_budget_is_the_least_that_begins_a_race(name: str, n_parameters: int, each_test: int) -> None:
    rules = find_preset(name, each_test=each_test)

    def first(budget: int) -> int:
        return rules.configurations(race_budget(budget, 1, n_iterations(n_parameters)), 1)

    least = rules.least_budget(n_parameters)
    assert first(least) > n_survivors(n_parameters)
    assert first(least - 1) <= n_survivors(n_parameters)
    more = replace(rules, survivors=11)
    assert more.n_survivors(n_parameters) == 11
    assert more.least_budget(n_parameters) == least * 12 // (n_survivors(n_parameters) + 1)


def test_levels() -> None:
    assert Rules(elitist=True).alpha(7) == pytest.approx(0.05)
    spending = Rules(elitist=True, spending=True)
    assert sum(spending.alpha(test) for test in range(1, 100_000)) == pytest.approx(0.05, rel=1e-4)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"test": "Friedman"}, "did you mean 'friedman'"),
        ({"confidence": 95}, r"confidence must be a number in \(0, 1\)"),
        ({"confidence": 1.0}, r"confidence must be a number in \(0, 1\)"),
        ({"first_test": 1}, "first_test must be an integer >= 2"),
        ({"each_test": 0}, "each_test must be an integer >= 1"),
        ({"mu": 0}, "mu must be an integer >= 1"),
        ({"new_steps": 0}, "new_steps must be an integer >= 1"),
        ({"survivors": 0}, "survivors must be an integer >= 1"),
        ({"most_configurations": 0}, "most_configurations must be an integer >= 1"),
        ({"patience": 0}, "patience must be an integer >= 1"),
    ],
)
def test_invalid_rules_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Rules(elitist=True, **changes)


@pytest.mark.parametrize("changes", [{"test": "wilcoxon"}, {"test": None}])
def test_unknown_tests_are_refused(changes: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="test must be one of"):
        find_preset("elitist", **changes)


def test_unknown_presets_are_refused() -> None:
    with pytest.raises(ValueError, match="did you mean 'elitist'"):
        find_preset("elitest")
