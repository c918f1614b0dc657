"""SaDE's kernel makes the decisions of the NumPy implementation, to the last bit, and learns from successes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from skde import SADE, Minimizer
from skde.algorithms.base import REPAIRS

from .compare import BOXES, OBJECTIVES, bowl, check_best_survives, compare, compare_fit, corner, flat
from .sade import CURRENT_TO_RAND_1, RAND_TO_BEST_2, Sade


def side_by_side(
    algorithm: Any, dim: int, max_iter: int, seed: int, objective: Callable[[Any], Any]
) -> tuple[Sade, int]:
    """The slow run at its end, and how many trials were accepted."""
    kernel = Minimizer(algorithm, bounds=BOXES[dim], max_iter=max_iter, random_state=seed, device="cpu")
    slow = Sade(algorithm, BOXES[dim], seed)
    accepted = compare(kernel, slow, objective)
    assert slow.generation == max_iter
    return slow, accepted


@pytest.mark.parametrize(("dim", "pop_size", "max_iter"), [(2, 6, 80), (7, 50, 30), (7, 131, 9), (75, 20, 12)])
def test_decisions(dim: int, pop_size: int, max_iter: int) -> None:
    """Some populations are larger than the 128 partial sums of a reduction."""
    slow, accepted = side_by_side(SADE(5, pop_size=pop_size), dim, max_iter, 2**40 + 7, corner)
    assert accepted > max_iter
    assert len(set(slow.chance)) > 1


def test_decisions_over_the_default_period() -> None:
    """Fifty generations before it learns, and long enough after that the first ones are forgotten."""
    slow, _ = side_by_side(SADE(pop_size=8), 7, 115, 5, bowl)
    assert len(set(slow.chance)) > 1


def test_decisions_with_the_defaults() -> None:
    kernel = Minimizer("sade", bounds=BOXES[7], max_iter=55, random_state=2, device="cpu")
    compare(kernel, Sade(SADE(), BOXES[7], 2), bowl)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_decisions_on_plateaus_and_on_no_numbers(objective: Callable[[Any], Any]) -> None:
    side_by_side(SADE(5, pop_size=13), 7, 25, 3, objective)


@pytest.mark.parametrize("repair", REPAIRS)
def test_decisions_with_every_repair(repair: str) -> None:
    side_by_side(SADE(1, F_mean=1.5, F_deviation=1.0, pop_size=10, repair=repair), 7, 15, 11, corner)


def test_decisions_from_given_points() -> None:
    algorithm, x0 = SADE(5, pop_size=9), BOXES[7].mean(axis=1) * [[1.0], [0.9]]
    kernel = Minimizer(algorithm, max_iter=20, random_state=4, device="cpu")
    compare_fit(kernel, Sade(algorithm, BOXES[7], 4, x0), BOXES[7], x0, bowl)


# -- learning ----------------------------------------------------------------------------------------------------------


def test_chances_and_medians_move() -> None:
    """They are as at the start while the period lasts, then follow the successes; and no strategy is given up."""
    slow = Sade(SADE(5, pop_size=40), BOXES[7], 1)
    history = []
    for _ in range(40):
        X = slow.ask()
        slow.tell(X, bowl(X))
        history.append((list(slow.chance), list(slow.CRm)))
    assert all(entry == ([0.25] * 4, [0.5] * 3) for entry in history[:5])
    assert all(chance != [0.25] * 4 for chance, _ in history[5:])
    assert np.ptp([chance for chance, _ in history], axis=0).min() > 0.05
    assert np.ptp([CRm for _, CRm in history], axis=0).min() > 0.05
    assert all(sum(chance) == pytest.approx(1) and min(chance) > 0.002 for chance, _ in history)
    # The pull towards the best pays on a bowl.
    mean = np.mean([chance for chance, _ in history[5:]], axis=0)
    assert mean.argmax() in (RAND_TO_BEST_2, CURRENT_TO_RAND_1)


def test_strategies_are_assigned_by_their_probabilities() -> None:
    """Every generation has each strategy's share, rounded; every individual gets strategies by their probabilities."""
    n, chance = 50, [0.1, 0.2, 0.3, 0.4]
    slow = Sade(SADE(pop_size=n), BOXES[2], 6)
    slow.f, slow.chance = np.zeros(n), chance
    dealt = []
    for _ in range(120):
        slow.ask()
        dealt.append([strategy for strategy, _ in slow.used])
    counts = np.array([np.bincount(row, minlength=4) for row in dealt])
    assert (np.abs(counts - np.multiply(chance, n)) <= 1).all()
    first = np.bincount(np.array(dealt)[:, 0], minlength=4)
    assert chisquare(first, np.multiply(chance, len(dealt))).pvalue > 1e-4


def test_flat_objectives_teach_nothing() -> None:
    """Where every trial succeeds all strategies stay alike."""
    slow, _ = side_by_side(SADE(5, pop_size=20), 2, 12, 8, flat)
    assert slow.chance == [0.25] * 4


def test_the_best_is_never_lost() -> None:
    check_best_survives(SADE(5, pop_size=20), BOXES[7], bowl)
