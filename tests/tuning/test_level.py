"""How often a race eliminates the best of equals: at most at the stated level, where that is spent over its tests."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from skde.tuning.race import Race
from skde.tuning.rules import find_preset

RACES = 300


def lost(test: str, spending: bool, seed: int) -> bool:
    """Whether configuration 0 is eliminated in a race of five equal ones over thirty steps, with a test at each."""
    rules = replace(find_preset("irace-2011", test=test), spending=spending)
    race = Race(rules, range(5), lambda position: position, minimum=1, budget=150, limit=150)
    rng = np.random.default_rng(seed)
    while race.ended is None:
        for experiment in race.pending():
            race.add_result(experiment, float(rng.normal()))
    return 0 not in race.alive


@pytest.mark.parametrize("test", ["friedman", "t-holm", "t-bonferroni"])
def test_a_level_that_is_spent_is_kept_over_a_whole_race(test: str) -> None:
    # 0.05 is where the rate may be; 0.0125 is one standard deviation of it.
    assert np.mean([lost(test, True, seed) for seed in range(RACES)]) <= 0.05


def test_repeated_tests_at_the_full_level_do_not_keep_it() -> None:
    """As in irace. The rate in the documents, about 0.1 for Friedman's test, is right."""
    rate = np.mean([lost("friedman", False, seed) for seed in range(RACES)])
    assert 0.05 < rate < 0.16
