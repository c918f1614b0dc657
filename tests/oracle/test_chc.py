"""CHC's kernel makes the decisions of the NumPy implementation, to the last bit."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from skde import CHC, Minimizer

from .chc import Chc, gray
from .compare import BOXES, OBJECTIVES, bowl, check_best_survives, compare, compare_fit, corner, flat


def side_by_side(
    algorithm: Any, dim: int, max_iter: int, seed: int, objective: Callable[[Any], Any]
) -> tuple[Chc, int]:
    """The slow run at its end, and how many rows of the population changed."""
    kernel = Minimizer(algorithm, bounds=BOXES[dim], max_iter=max_iter, random_state=seed, device="cpu")
    slow = Chc(algorithm, BOXES[dim], seed)
    changed = compare(kernel, slow, objective)
    assert slow.generation == max_iter
    return slow, changed


@pytest.mark.parametrize(
    ("dim", "pop_size", "max_iter"), [(2, 2, 80), (7, 50, 30), (7, 131, 9), (75, 20, 12), (2, 600, 3)]
)
def test_decisions(dim: int, pop_size: int, max_iter: int) -> None:
    _, changed = side_by_side(CHC(pop_size=pop_size), dim, max_iter, 2**40 + 7, corner)
    assert changed > max_iter // 2


@pytest.mark.parametrize("divergence", [0.0, 0.35, 1.0])
@pytest.mark.parametrize("bits", [1, 3, 30])
def test_decisions_with_cataclysms(divergence: float, bits: int) -> None:
    algorithm = CHC(pop_size=8, bits=bits, divergence=divergence)
    slow, _ = side_by_side(algorithm, 2, 150, 5, bowl)
    assert slow.cataclysms > 1


@pytest.mark.parametrize("alpha", [0.0, 0.3, 10.0])
def test_decisions_with_every_interval(alpha: float) -> None:
    """Up to one that is as wide as the box."""
    side_by_side(CHC(alpha=alpha, pop_size=12, bits=10), 7, 25, 1, corner)


def test_decisions_with_the_defaults() -> None:
    kernel = Minimizer("chc", bounds=BOXES[7], max_iter=30, random_state=2, device="cpu")
    compare(kernel, Chc(CHC(), BOXES[7], 2), bowl)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_decisions_on_plateaus_and_on_no_numbers(objective: Callable[[Any], Any]) -> None:
    side_by_side(CHC(pop_size=13, bits=2), 7, 40, 3, objective)


def test_decisions_from_given_points() -> None:
    algorithm, x0 = CHC(pop_size=9, bits=4), BOXES[7].mean(axis=1) * [[1.0], [0.9]]
    kernel = Minimizer(algorithm, max_iter=20, random_state=4, device="cpu")
    compare_fit(kernel, Chc(algorithm, BOXES[7], 4, x0), BOXES[7], x0, bowl)


# -- incest prevention and cataclysms ----------------------------------------------------------------------------------


def test_neighbouring_numbers_differ_in_one_bit() -> None:
    codes = [gray(number / 255, 8) for number in range(256)]
    assert sorted(codes) == list(range(256))
    assert {(a ^ b).bit_count() for a, b in pairwise(codes)} == {1}


def worse(slow: Chc, X: Any) -> Any:
    """Values of which those of a generation are worse than all before."""
    return bowl(X) + 10.0 * slow.generation


def test_generations_without_survivors_lower_the_threshold_step_by_step() -> None:
    slow = Chc(CHC(pop_size=10, bits=8, divergence=0.5), BOXES[2], 1)
    thresholds = []
    for _ in range(7):
        X = slow.ask()
        slow.tell(X, worse(slow, X))
        thresholds.append(slow.threshold)
    assert thresholds == [4, 3, 2, 1, 0, 4, 4]
    assert slow.cataclysms == 1


def test_a_cataclysm_leaves_the_best_alone() -> None:
    """All others are copies of it, of which about half of the components are new."""
    slow = Chc(CHC(pop_size=40, bits=1, divergence=0.5), BOXES[75], 1)
    while not slow.cataclysm:
        X = slow.ask()
        slow.tell(X, worse(slow, X))
    best, value = slow.x[0].copy(), slow.f[0]
    X = slow.ask()
    assert np.mean(best == X) == pytest.approx(0.5, abs=0.05)
    slow.tell(X, worse(slow, X))
    assert slow.f[0] == value
    assert np.array_equal(slow.x[0], best)
    assert all(row.tolist() in X.tolist() for row in slow.x[1:])


def test_equal_children_replace_their_parents() -> None:
    slow = Chc(CHC(pop_size=10), BOXES[7], 1)
    for _ in range(3):
        X = slow.ask()
        slow.tell(X, flat(X))
        assert np.array_equal(slow.x, X)


def test_the_best_is_never_lost() -> None:
    check_best_survives(CHC(pop_size=20, bits=3), BOXES[7], bowl)
