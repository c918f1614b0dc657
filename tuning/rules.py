"""Rules of an iterated race: the numbers of its iterations, configurations and experiments."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, floor, log2
from typing import Any

from skde.tuning.statistical_tests import TESTS
from skde.utils.validation import check_bool, check_choice, check_int, check_real


@dataclass(frozen=True)
class Rules:
    """The options of a kind of iterated race; see `PRESETS`.

    Parameters
    ----------
    elitist : bool
        Whether the best of a race keep their results for the next one and are safe until these have been replayed.
    test : {"friedman", "t", "t-holm", "t-bonferroni"}, default "friedman"
        The test that eliminates: Friedman's test with its post-hoc rule, or paired t-tests against the best, adjusted
        for their number or not.
    confidence : float, default 0.95
        Confidence of every test, in (0, 1).
    first_test : int, default 5
        Steps before the first test, >= 2.
    each_test : int, default 1
        Steps between two tests, >= 1.
    mu : int, default 5
        Steps that the budget must allow every configuration, >= 1.
    most_configurations : int or None, default None
        The most configurations of one race, >= 1; None: not limited.
    survivors : int or None, default None
        Number of elites of a race, the parents of the next configurations, >= 1; a race ends when no more are left.
        None: floor(2 + log2 N) with N parameters. With noisy costs the few best of a race are best by chance, and more
        survivors are safer.
    new_steps : int, default 1
        Steps that an elitist race begins with before it replays the old ones, >= 1.
    patience : int or None, default 2
        Tests in a row without an elimination that end an elitist race, >= 1; None: not limited.
    final : bool, default False
        Whether the last planned race is a final, which such tests do not end and no race follows: the experiments left
        compare its best configurations, where further races would have a few new configurations each.
    spending : bool, default False
        Whether the i-th test of a race has the level alpha / (i (i + 1)), so that the levels of all its tests together
        are at most alpha, however long the race is. Otherwise every test has the level alpha, as in irace.
    guided : bool, default False
        Whether a model of all results so far guides the races, a Gaussian process on the parameters: each new
        configuration is the best of some hundred candidates in a draw of their costs (Thompson sampling), and the
        configurations left at the end of a race are ordered by their expected costs.
    """

    elitist: bool
    test: str = "friedman"
    confidence: float = 0.95
    first_test: int = 5
    each_test: int = 1
    mu: int = 5
    most_configurations: int | None = None
    survivors: int | None = None
    new_steps: int = 1
    patience: int | None = 2
    final: bool = False
    spending: bool = False
    guided: bool = False

    def __post_init__(self) -> None:
        """Check the options."""
        for name in ("elitist", "final", "spending", "guided"):
            check_bool(name, getattr(self, name))
        check_choice("test", self.test, TESTS)
        check_real("confidence", self.confidence, 0, 1, low_open=True, high_open=True)
        for name, low in (("first_test", 2), ("each_test", 1), ("mu", 1), ("new_steps", 1)):
            check_int(name, getattr(self, name), low)
        for name in ("most_configurations", "survivors", "patience"):
            if getattr(self, name) is not None:
                check_int(name, getattr(self, name), 1)

    def alpha(self, test: int) -> float:
        """Return the level of a race's test number 1, 2, ..."""
        level = 1 - self.confidence
        return level / (test * (test + 1)) if self.spending else level

    def configurations(self, budget: int, iteration: int, n_elites: int = 0, n_old: int = 0) -> int:
        """Return the number of configurations of a race, with the elites.

        Parameters
        ----------
        budget : int
            Experiments of the race.
        iteration : int
            Number of the race, from 1.
        n_elites, n_old : int, default 0
            Number of elites and of their steps; only for an elitist race.
        """
        growth = min(5, iteration)
        if not self.elitist:
            count = budget // (max(self.mu, self.first_test) + growth)
        else:
            replayed = ceil((n_old + self.new_steps) / self.each_test) * self.each_test
            least = max(self.mu, self.first_test) + self.each_test * growth
            count = (budget + n_elites * n_old) // max(least, replayed)
        return count if self.most_configurations is None else min(count, self.most_configurations)

    def least_budget(self, n_parameters: int) -> int:
        """Return the fewest experiments for which the first race has more configurations than survivors."""
        growth = 1 if not self.elitist else self.each_test
        steps = max(self.mu, self.first_test) + growth
        return (self.n_survivors(n_parameters) + 1) * steps * n_iterations(n_parameters)

    def n_survivors(self, n_parameters: int) -> int:
        """Return the number of configurations at which a race ends."""
        return n_survivors(n_parameters) if self.survivors is None else self.survivors


# irace as it was in 2011 (the technical report), and as it is by default since its version 2. In a race of few steps,
# these tests would eliminate hardly any configuration, and chance would choose the best. "small-budget" tests earlier
# and with less confidence, which leaves more steps for good configurations, and a model uses all results.
PRESETS = {
    "irace-2011": Rules(elitist=False),
    "elitist": Rules(elitist=True, most_configurations=1024),
    "small-budget": Rules(
        elitist=True, confidence=0.7, first_test=3, mu=3, patience=5, most_configurations=1024, guided=True
    ),
}


def find_preset(name: str, **changes: Any) -> Rules:
    """Return the rules of a preset, with changes.

    Parameters
    ----------
    name : {"elitist", "irace-2011", "small-budget"}
        Name of the preset.
    **changes
        Parameters of `Rules` to change.

    Examples
    --------
    >>> from skde.tuning.rules import find_preset
    >>> find_preset("irace-2011", test="t-holm").test
    't-holm'
    """
    return replace(PRESETS[check_choice("preset", name, PRESETS)], **changes)


def n_iterations(n_parameters: int) -> int:
    """Return the number of planned races: floor(2 + log2 N)."""
    return floor(2 + log2(n_parameters))


def n_survivors(n_parameters: int) -> int:
    """Return the default number of configurations at which a race ends: floor(2 + log2 N)."""
    return floor(2 + log2(n_parameters))


def race_budget(left: int, iteration: int, iterations: int) -> int:
    """Return the share of the experiments left that race number `iteration` may use; races beyond the plan: all."""
    return left // max(iterations - iteration + 1, 1)


def plan_races(rules: Rules, n_parameters: int, max_experiments: int) -> list[dict[str, int]]:
    """Return the planned races, on the assumption that each uses its experiments."""
    left, n_elites, n_old, races = max_experiments, 0, 0, []
    for iteration in range(1, n_iterations(n_parameters) + 1):
        budget = race_budget(left, iteration, n_iterations(n_parameters))
        count = rules.configurations(budget, iteration, n_elites, n_old)
        if count <= rules.n_survivors(n_parameters):
            break
        races.append({"iteration": iteration, "n_experiments": budget, "n_configurations": count})
        left -= budget
        if rules.elitist:
            n_elites = rules.n_survivors(n_parameters)
            n_old += rules.first_test + rules.each_test * min(5, iteration)
    return races
