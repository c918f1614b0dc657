"""ARRDE's kernel makes the decisions of the slow implementation, to the last bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from skde import ARRDE, Minimizer
from skde.algorithms.base import REPAIRS

from .arrde import KEPT, REFINEMENT, RESTART, Arrde, Phased
from .compare import BOXES, OBJECTIVES, bowl, check_best_survives, compare, compare_fit, corner

# Phases end after few generations.
SHORT = {"tol_first": 0.5, "tol_restart": 0.6, "tol_refine": 0.4}


def shifted(X: Any) -> Any:
    """A bowl with a minimum that is not 0, so that values come close to their mean."""
    return bowl(X) + 0.05


def side_by_side(
    algorithm: Any, dim: int, budget: dict[str, int], seed: int, f: Callable[[Any], Any] = shifted
) -> Phased:
    """The slow run at its end."""
    kernel = Minimizer(algorithm, bounds=BOXES[dim], random_state=seed, device="cpu", **budget)
    slow = Arrde(algorithm, BOXES[dim], seed, **budget)
    compare(kernel, slow, f)
    assert kernel.n_evals_ == slow.search.evals
    return slow.search


@pytest.mark.parametrize(
    ("dim", "pop_size", "budget"),
    [
        (2, 40, {"max_iter": 90}),
        (7, 30, {"max_iter": 60}),
        (7, 140, {"max_evals": 4000}),
        (75, 200, {"max_evals": 3000}),
    ],
)
def test_decisions(dim: int, pop_size: int, budget: dict[str, int]) -> None:
    """There are restarts and refinements, and the population grows before its end."""
    slow = side_by_side(ARRDE(pop_size=pop_size, **SHORT), dim, budget, 2**40 + 7)
    assert slow.phases.count(RESTART) > 1
    assert slow.phases.count(REFINEMENT) > 1


def test_decisions_with_the_defaults() -> None:
    kernel = Minimizer("arrde", bounds=BOXES[7], max_evals=3000, random_state=2, device="cpu")
    slow = Arrde(ARRDE(pop_size=33), BOXES[7], 2, max_evals=3000)
    assert len(kernel.ask()) == 33
    compare(kernel, slow, shifted)
    assert {RESTART, REFINEMENT} == set(slow.search.phases)


def test_a_first_phase_that_lasts_up_to_the_last_refinement() -> None:
    """Its population is as small as it gets, so that the refinement takes the latest of its bests."""
    slow = side_by_side(ARRDE(pop_size=40, tol_first=0.0), 7, {"max_evals": 3000}, 2)
    assert slow.phases == [REFINEMENT]
    assert len(slow.bests) > slow.late


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("pop_min", [4, 18])
def test_decisions_on_plateaus_and_on_no_numbers(pop_min: int, objective: Callable[[Any], Any]) -> None:
    algorithm = ARRDE(memory_size=2, pop_size=18, pop_min=pop_min, **SHORT)
    side_by_side(algorithm, 7, {"max_iter": 40}, 3, objective)


def test_decisions_in_the_smallest_population() -> None:
    side_by_side(ARRDE(pop_size=4, memory_size=1, **SHORT), 7, {"max_iter": 120}, 9)


def test_more_records_than_there_is_room_for() -> None:
    """And more boxes, and more copies of the memory."""
    algorithm = ARRDE(pop_size=12, pop_min=12, tol_first=1e9, tol_restart=1e9, tol_refine=1e9)
    slow = side_by_side(algorithm, 2, {"max_iter": 90}, 5)
    assert slow.n_records > 5 * len(slow.records)
    assert min(slow.n_boxes, slow.n_copies) > KEPT


def test_restarts_keep_out_of_boxes() -> None:
    algorithm = ARRDE(pop_size=40, tol_first=0.05, tol_restart=0.05, tol_refine=0.05)
    slow, seen = Arrde(algorithm, BOXES[2], 6, max_evals=4000), 0
    while slow.search.progress < 0.99:
        X = slow.ask()
        if slow.generation == slow.search.renewed:
            seen += 1
            lower, upper = slow.search.boxes[0]
            assert (lower < upper).all()
            assert not ((lower <= X) & (upper >= X)).any()
        slow.tell(X, shifted(X))
    assert seen > 1


@pytest.mark.parametrize("repair", REPAIRS)
def test_decisions_with_every_repair(repair: str) -> None:
    algorithm = ARRDE(pop_size=14, F_start=1.0, repair=repair, **SHORT)
    side_by_side(algorithm, 7, {"max_iter": 25}, 11, corner)


@pytest.mark.parametrize("archive_rate", [0.0, 3.0])
def test_decisions_with_other_archives(archive_rate: float) -> None:
    side_by_side(ARRDE(pop_size=20, archive_rate=archive_rate, p_best=0.3, **SHORT), 7, {"max_iter": 40}, 8)


def test_decisions_from_given_points() -> None:
    algorithm, x0 = ARRDE(pop_size=15, **SHORT), BOXES[7].mean(axis=1) * [[1.0], [0.9]]
    kernel = Minimizer(algorithm, max_evals=400, random_state=4, device="cpu")
    compare_fit(kernel, Arrde(algorithm, BOXES[7], 4, x0, max_evals=400), BOXES[7], x0, shifted)


def test_the_best_is_never_lost() -> None:
    check_best_survives(ARRDE(pop_size=40, **SHORT), BOXES[7], shifted)


@pytest.mark.parametrize("refine_from", [0.3, 0.9])
@pytest.mark.parametrize("budget", [{"max_evals": 977}, {"max_iter": 61}, {"max_evals": 41}, {"max_evals": 100_000}])
def test_sizes(budget: dict[str, int], refine_from: float) -> None:
    """The schedule of the host is that of the kernel."""
    algorithm = ARRDE(pop_size=40, refine_from=refine_from)
    m = Minimizer(algorithm, random_state=0, device="cpu", **budget).fit("sphere", dim=3)
    sizes = [m._fit.batch.spec.schedules[0].size(g) for g in range(m.n_iter_ + 1)]
    slow = Phased(algorithm, BOXES[7][:3], 0, **budget)
    expected = []
    for g in range(len(sizes)):
        slow.generation, slow.evals = g, sum(expected)
        expected.append(slow.size() if g else 40)
    assert sizes == expected
    assert m.n_evals_ == sum(sizes) <= max(budget.values()) * 40
    if len(sizes) > 50:
        assert np.diff(sizes).max() > 2
        assert sizes[-1] <= 5
