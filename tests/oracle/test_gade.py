"""GaDE's kernel makes the decisions of the NumPy implementation, to the last bit, and learns from improvements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from skde import GADE, Minimizer
from skde.algorithms.base import REPAIRS

from .compare import BOXES, OBJECTIVES, bowl, check_best_survives, compare, compare_fit, corner, flat
from .gade import Gade


def side_by_side(
    algorithm: Any, dim: int, max_iter: int, seed: int, objective: Callable[[Any], Any]
) -> tuple[Gade, int]:
    """The slow run at its end, and how many trials were accepted."""
    kernel = Minimizer(algorithm, bounds=BOXES[dim], max_iter=max_iter, random_state=seed, device="cpu")
    slow = Gade(algorithm, BOXES[dim], seed)
    accepted = compare(kernel, slow, objective)
    assert slow.generation == max_iter
    return slow, accepted


@pytest.mark.parametrize(
    ("dim", "pop_size", "max_iter"), [(2, 4, 80), (7, 50, 30), (7, 131, 9), (75, 20, 12), (2, 600, 3)]
)
def test_decisions(dim: int, pop_size: int, max_iter: int) -> None:
    """Some populations are larger than the 128 partial sums of a reduction, one is sorted."""
    slow, accepted = side_by_side(GADE(learning_period=3, pop_size=pop_size), dim, max_iter, 2**40 + 7, corner)
    assert accepted > max_iter
    assert slow.F_m != 0.5 != slow.CR_m


@pytest.mark.parametrize("rate", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("p_best", [1e-3, 0.5, 1.0])
def test_decisions_with_every_mutation(rate: float, p_best: float) -> None:
    side_by_side(GADE(pop_size=15, p_best=p_best, pbest_rate=rate, learning_period=2), 7, 20, 3, bowl)


def test_decisions_with_the_defaults() -> None:
    kernel = Minimizer("gade", bounds=BOXES[7], max_iter=45, random_state=2, device="cpu")
    compare(kernel, Gade(GADE(), BOXES[7], 2), bowl)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_decisions_on_plateaus_and_on_no_numbers(objective: Callable[[Any], Any]) -> None:
    side_by_side(GADE(learning_period=1, pop_size=13), 7, 25, 3, objective)


def test_decisions_on_improvements_that_vanish_in_products() -> None:
    side_by_side(GADE(learning_period=2, pop_size=13), 7, 25, 3, lambda X: bowl(X) * 2.0**-1000)


@pytest.mark.parametrize("repair", REPAIRS)
def test_decisions_with_every_repair(repair: str) -> None:
    side_by_side(GADE(F_start=1.0, CR_start=0.9, pop_size=10, repair=repair), 7, 15, 11, corner)


def test_scale_factors_that_are_drawn_again() -> None:
    """Around 0 every second draw is not positive, and few are large."""
    side_by_side(GADE(F_start=0.0, F_least=0.0, CR_start=0.0, pop_size=20), 7, 10, 5, bowl)
    side_by_side(GADE(F_start=0.0, F_least=0.9, CR_start=0.0, pop_size=10), 7, 3, 5, bowl)


def test_decisions_from_given_points() -> None:
    algorithm, x0 = GADE(learning_period=5, pop_size=9), BOXES[7].mean(axis=1) * [[1.0], [0.9]]
    kernel = Minimizer(algorithm, max_iter=20, random_state=4, device="cpu")
    compare_fit(kernel, Gade(algorithm, BOXES[7], 4, x0), BOXES[7], x0, bowl)


# -- learning ----------------------------------------------------------------------------------------------------------


def test_distributions_change_at_the_end_of_a_period_only() -> None:
    slow = Gade(GADE(learning_period=5, pop_size=40), BOXES[7], 1)
    history = []
    for _ in range(32):
        X = slow.ask()
        slow.tell(X, bowl(X))
        history.append((slow.F_m, slow.CR_m))
    changed = [k for k in range(1, 32) if history[k] != history[k - 1]]
    assert changed == [5, 10, 15, 20, 25, 30]
    assert history[0] == (0.5, 0.5)


def test_crossover_rates_follow_the_function() -> None:
    """Low where components can be improved one by one, high where they cannot."""

    def valley(X: Any) -> Any:
        return 1e4 * ((X - X.mean(axis=1, keepdims=True)) ** 2).sum(axis=1) + (X.mean(axis=1) - 0.3) ** 2

    def found(objective: Callable[[Any], Any]) -> float:
        slow = Gade(GADE(learning_period=10, pop_size=40), np.tile([[-1.0, 1.0]], (7, 1)), 1)
        for _ in range(101):
            X = slow.ask()
            slow.tell(X, objective(X))
        return slow.CR_m

    assert found(lambda X: np.abs(np.sin(20 * X)).sum(axis=1) + (X**2).sum(axis=1)) < 0.4
    assert found(valley) > 0.6


def test_flat_objectives_teach_nothing() -> None:
    """No trial improves, though all are accepted."""
    slow, accepted = side_by_side(GADE(learning_period=2, pop_size=20), 2, 12, 8, flat)
    assert accepted > 0
    assert slow.learned[:2] == [0.5, 0.5]


def test_the_best_is_never_lost() -> None:
    check_best_survives(GADE(pop_size=20), BOXES[7], bowl)
