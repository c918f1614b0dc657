"""SOUPDE's kernel makes the decisions of the NumPy implementation, to the last bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from skde import SOUPDE, Minimizer
from skde.algorithms.base import REPAIRS

from .compare import BOXES, OBJECTIVES, bowl, check_best_survives, compare, compare_fit, corner
from .philox import Draws
from .soupde import Soupde, permutation


def side_by_side(
    algorithm: Any, dim: int, max_iter: int, seed: int, objective: Callable[[Any], Any]
) -> tuple[Soupde, int]:
    """The slow run at its end, and how many rows of the population changed."""
    kernel = Minimizer(algorithm, bounds=BOXES[dim], max_iter=max_iter, random_state=seed, device="cpu")
    slow = Soupde(algorithm, BOXES[dim], seed)
    changed = compare(kernel, slow, objective)
    assert slow.generation == max_iter
    return slow, changed


@pytest.mark.parametrize(
    ("dim", "pop_size", "subpopulations", "max_iter"), [(2, 4, 1, 60), (7, 50, 10, 30), (7, 131, 3, 9), (75, 20, 5, 12)]
)
def test_decisions(dim: int, pop_size: int, subpopulations: int, max_iter: int) -> None:
    slow, changed = side_by_side(SOUPDE(subpopulations, pop_size=pop_size), dim, max_iter, 2**40 + 7, corner)
    assert changed > max_iter
    assert 0 < slow.shuffles < max_iter
    assert 0 < slow.updates < max_iter


@pytest.mark.parametrize("shuffle", [0.0, 1.0])
@pytest.mark.parametrize("update", [0.0, 1.0])
def test_decisions_with_and_without_shuffles_and_updates(shuffle: float, update: float) -> None:
    slow, _ = side_by_side(SOUPDE(3, shuffle=shuffle, update=update, pop_size=15), 7, 20, 3, bowl)
    assert (slow.shuffles, slow.updates) == (20 * shuffle, 20 * update)


def test_decisions_with_the_defaults() -> None:
    kernel = Minimizer("soupde", bounds=BOXES[7], max_iter=30, random_state=2, device="cpu")
    compare(kernel, Soupde(SOUPDE(), BOXES[7], 2), bowl)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_decisions_on_plateaus_and_on_no_numbers(objective: Callable[[Any], Any]) -> None:
    side_by_side(SOUPDE(3, pop_size=12), 7, 25, 3, objective)


@pytest.mark.parametrize("repair", REPAIRS)
@pytest.mark.parametrize("CR", [0.0, 1.0])
def test_decisions_with_every_repair(repair: str, CR: float) -> None:
    side_by_side(SOUPDE(2, F=(1.5, 2.0), CR=CR, pop_size=10, repair=repair), 7, 15, 11, corner)


def test_decisions_from_given_points() -> None:
    algorithm, x0 = SOUPDE(2, pop_size=10), BOXES[7].mean(axis=1) * [[1.0], [0.9]]
    kernel = Minimizer(algorithm, max_iter=20, random_state=4, device="cpu")
    compare_fit(kernel, Soupde(algorithm, BOXES[7], 4, x0), BOXES[7], x0, bowl)


# -- subpopulations ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 60, 64, 65, 1000])
def test_permutations(n: int) -> None:
    assert sorted(permutation(Draws(3, 1, 0), n)) == list(range(n))


def test_every_individual_comes_to_every_place_equally_often() -> None:
    images = np.array([permutation(Draws(3, g, 0), 12) for g in range(3000)])
    for k in range(12):
        assert chisquare(np.bincount(images[:, k], minlength=12)).pvalue > 1e-4
        assert chisquare(np.bincount((images[:, k] - images[:, k - 1]) % 12, minlength=12)[1:]).pvalue > 1e-4


def test_without_shuffles_subpopulations_do_not_meet() -> None:
    """The points of one lie in the hull of its first points, and CR = 1 moves all components."""
    slow = Soupde(SOUPDE(2, shuffle=0.0, CR=1.0, F=(0.5, 0.5), pop_size=10), BOXES[7], 1)
    lines = np.zeros((10, 7))
    lines[:5], lines[5:] = slow.x[0], slow.x[5]
    slow.x = lines + np.arange(10)[:, None] * 1e-3 * (BOXES[7][:, 1] - BOXES[7][:, 0])
    for _ in range(20):
        X = slow.ask()
        slow.tell(X, np.zeros(10))
    spread = (slow.x - lines) / (BOXES[7][:, 1] - BOXES[7][:, 0])
    assert np.allclose(spread, spread[:, :1], atol=1e-9)


def test_subpopulations_share_one_f() -> None:
    slow = Soupde(SOUPDE(3, pop_size=12), BOXES[2], 1)
    assert len(set(slow.F)) == 3
    assert all(0.1 <= F <= 1.0 for F in slow.F)


def test_subpopulations_that_are_too_small_are_refused() -> None:
    message = r"SOUPDE\.pop_size must be at least 28 with subpopulations=7, for rand/1 in each, got 27"
    with pytest.raises(ValueError, match=message):
        Minimizer(SOUPDE(7, pop_size=27)).fit("sphere", dim=2)


def test_the_best_is_never_lost() -> None:
    check_best_survives(SOUPDE(2, pop_size=20), BOXES[7], bowl)
