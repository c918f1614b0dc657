"""L-SRTDE's kernel makes the decisions of the slow implementation, to the last bit, and shrinks as it should."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from skde import LSRTDE, Minimizer
from skde.algorithms.base import REPAIRS

from .compare import BOXES, OBJECTIVES, bowl, check_best_survives, compare, compare_fit, corner, steps
from .lsrtde import Lsrtde
from .philox import Draws


def side_by_side(
    algorithm: Any, dim: int, budget: dict[str, int], seed: int, objective: Callable[[Any], Any]
) -> tuple[Lsrtde, int]:
    """The slow run at its end, and how many places of the top changed."""
    kernel = Minimizer(algorithm, bounds=BOXES[dim], random_state=seed, device="cpu", **budget)
    slow = Lsrtde(algorithm, BOXES[dim], seed, **budget)
    changed = compare(kernel, slow, objective)
    assert kernel.n_evals_ == slow.evals
    return slow, changed


@pytest.mark.parametrize(
    ("dim", "pop_size", "budget"),
    [
        (2, 40, {"max_iter": 60}),
        (7, 30, {"max_iter": 40}),
        (7, 140, {"max_evals": 2500}),
        (75, 24, {"max_evals": 300}),
    ],
)
def test_decisions(dim: int, pop_size: int, budget: dict[str, int]) -> None:
    """Some populations are larger than the 128 partial sums of a reduction."""
    slow, changed = side_by_side(LSRTDE(pop_size=pop_size), dim, budget, 2**40 + 7, corner)
    assert changed > 20
    assert len(slow.front) < 10


def test_decisions_with_the_defaults() -> None:
    kernel = Minimizer("lsrtde", bounds=BOXES[7], max_evals=3000, random_state=2, device="cpu")
    compare(kernel, Lsrtde(LSRTDE(), BOXES[7], 2, max_evals=3000), bowl)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("pop_min", [4, 9, 18])
def test_decisions_on_plateaus_and_on_no_numbers(pop_min: int, objective: Callable[[Any], Any]) -> None:
    """Shrinking to the end, in part, and not at all."""
    algorithm = LSRTDE(memory_size=2, pop_size=18, pop_min=pop_min)
    slow, _ = side_by_side(algorithm, 7, {"max_iter": 25}, 3, objective)
    assert len(slow.x) == len(slow.front) == pop_min


def test_decisions_where_half_are_gone_at_once() -> None:
    """The slot in turn may be one that is no longer there."""
    for seed in range(8):
        side_by_side(LSRTDE(pop_size=40), 2, {"max_iter": 3}, seed, steps)


@pytest.mark.parametrize(("dim", "pop_size"), [(2, 77), (7, 100), (7, 123)])
def test_decisions_where_members_and_trials_leave_from_the_same_slots(dim: int, pop_size: int) -> None:
    """Such a slot counts twice, also behind the last whole vector."""
    side_by_side(LSRTDE(pop_size=pop_size), dim, {"max_iter": 12}, 1, bowl)


def test_decisions_in_the_smallest_population() -> None:
    side_by_side(LSRTDE(pop_size=4, CR_start=0.0), 7, {"max_iter": 120}, 9, bowl)


def test_the_smallest_improvements_are_learnt_from() -> None:
    """Their products with CR would lose digits, or vanish."""
    slow, _ = side_by_side(LSRTDE(pop_size=20), 7, {"max_iter": 15}, 3, lambda X: 1e-315 * bowl(X))
    assert len(set(slow.M)) > 2


@pytest.mark.parametrize("repair", REPAIRS)
def test_decisions_with_every_repair(repair: str) -> None:
    side_by_side(LSRTDE(CR_start=0.5, pop_size=12, repair=repair), 7, {"max_iter": 25}, 11, corner)


def test_decisions_from_given_points() -> None:
    algorithm, x0 = LSRTDE(pop_size=15), BOXES[7].mean(axis=1) * [[1.0], [0.9]]
    kernel = Minimizer(algorithm, max_evals=200, random_state=4, device="cpu")
    compare_fit(kernel, Lsrtde(algorithm, BOXES[7], 4, x0, max_evals=200), BOXES[7], x0, bowl)


# -- populations -------------------------------------------------------------------------------------------------------


def test_the_top_is_the_best_that_was_found() -> None:
    """In order, of all points that were not worse than their slot by then; the population is constant."""
    algorithm = LSRTDE(pop_size=12, pop_min=12)
    kernel = Minimizer(algorithm, bounds=BOXES[2], max_iter=40, random_state=0, device="cpu")
    slow = Lsrtde(algorithm, BOXES[2], 0, max_iter=40)
    successes: list[float] = []
    while not kernel.stopped_:
        X = slow.ask()
        f = bowl(X)
        kernel.tell(kernel.ask(), f)
        if slow.generation == 0:
            successes += f.tolist()
        else:
            front, place = [member.f for member in slow.front], slow.next
            for value, rival in zip(f.tolist(), slow.chosen, strict=True):
                if value <= front[rival]:
                    successes.append(value)
                    front[place], place = value, (place + 1) % 12
        slow.tell(X, f)
        if slow.generation:
            assert kernel.fitness_.tolist() == sorted(successes)[:12]


def test_the_best_is_never_lost() -> None:
    check_best_survives(LSRTDE(pop_size=40), BOXES[7], bowl)


def test_the_memory_follows_what_was_crossed() -> None:
    """The crossover rates leave the 1 that they start from."""
    algorithm = LSRTDE(pop_size=40, pop_min=40)
    slow, _ = side_by_side(algorithm, 7, {"max_iter": 40}, 2, corner)
    assert all(0 <= M < 1 for M in slow.M)


def test_members_are_drawn_with_weights_that_fall_with_their_ranks() -> None:
    n = 20
    slow = Lsrtde(LSRTDE(), BOXES[2], 0, max_iter=1)
    drawn = [slow.by_weight(Draws(0, g, 0), list(range(n)), 1) for g in range(6000)]
    weights = np.exp(-3.0 * np.arange(n) / n)
    assert chisquare(np.bincount(drawn, minlength=n), weights / weights.sum() * len(drawn)).pvalue > 1e-4
