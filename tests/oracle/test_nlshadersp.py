"""NL-SHADE-RSP's kernel makes the decisions of the slow implementation, to the last bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from skde import NLSHADERSP, Minimizer
from skde.algorithms.base import REPAIRS

from .compare import BOXES, OBJECTIVES, bowl, check_best_survives, compare, compare_fit, corner, steps
from .nlshadersp import NlShadeRsp
from .philox import Draws

SMALL = {"memory_size": 6}


def side_by_side(
    algorithm: Any, dim: int, budget: dict[str, int], seed: int, f: Callable[[Any], Any] = bowl
) -> NlShadeRsp:
    """The slow run at its end."""
    kernel = Minimizer(algorithm, bounds=BOXES[dim], random_state=seed, device="cpu", **budget)
    slow = NlShadeRsp(algorithm, BOXES[dim], seed, **budget)
    seen: list[float] = []

    def noting(X: Any) -> Any:
        seen.append(slow.p_A)
        return f(X)

    compare(kernel, slow, noting)
    assert kernel.n_evals_ == slow.evals
    slow.shares = seen
    return slow


@pytest.mark.parametrize(
    ("dim", "pop_size", "budget"),
    [
        (2, 40, {"max_iter": 60}),
        (7, 30, {"max_iter": 40}),
        (7, 140, {"max_evals": 4000}),
        (75, 60, {"max_evals": 1500}),
    ],
)
def test_decisions(dim: int, pop_size: int, budget: dict[str, int]) -> None:
    """The population falls to four individuals, and the archive is used now more often and now more rarely."""
    slow = side_by_side(NLSHADERSP(pop_size=pop_size, **SMALL), dim, budget, 2**40 + 7)
    assert len(slow.x) < 10
    assert min(slow.shares) < 0.4
    assert max(slow.shares) > 0.6


def test_decisions_with_the_defaults() -> None:
    kernel = Minimizer("nlshadersp", bounds=BOXES[7], max_evals=3000, random_state=2, device="cpu")
    slow = NlShadeRsp(NLSHADERSP(pop_size=210, memory_size=140), BOXES[7], 2, max_evals=3000)
    assert len(kernel.ask()) == 210
    compare(kernel, slow, bowl)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("pop_min", [4, 18])
def test_decisions_on_plateaus_and_on_no_numbers(pop_min: int, objective: Callable[[Any], Any]) -> None:
    side_by_side(NLSHADERSP(pop_size=18, pop_min=pop_min, memory_size=2), 7, {"max_iter": 40}, 3, objective)


def test_decisions_in_the_smallest_population() -> None:
    """All four individuals take part in every mutation without the archive."""
    side_by_side(NLSHADERSP(pop_size=4, memory_size=1), 7, {"max_iter": 120}, 9)


@pytest.mark.parametrize("exponential_rate", [0.0, 1.0])
@pytest.mark.parametrize("archive_rate", [0.0, 0.1, 4.0])
def test_decisions_with_one_crossover_and_other_archives(archive_rate: float, exponential_rate: float) -> None:
    algorithm = NLSHADERSP(pop_size=24, archive_rate=archive_rate, exponential_rate=exponential_rate, **SMALL)
    slow = side_by_side(algorithm, 7, {"max_iter": 40}, 8)
    if archive_rate == 0:
        assert set(slow.shares) == {0.5}


@pytest.mark.parametrize("shares", [(0.4, 0.2), (0.2, 0.4), (1e-3, 1.0)])
def test_decisions_with_other_shares_of_the_best(shares: tuple[float, float]) -> None:
    first, last = shares
    side_by_side(NLSHADERSP(pop_size=21, p_best=first, p_best_end=last, **SMALL), 2, {"max_iter": 30}, 4, steps)


@pytest.mark.parametrize("repair", REPAIRS)
def test_decisions_with_every_repair(repair: str) -> None:
    side_by_side(NLSHADERSP(pop_size=14, F_start=1.0, repair=repair, **SMALL), 7, {"max_iter": 25}, 11, corner)


def test_means_that_do_not_exist() -> None:
    """Where nothing succeeds, and where all successes had CR = 0."""
    runs = [
        side_by_side(NLSHADERSP(pop_size=6, memory_size=3, CR_start=0.0), 2, {"max_iter": 12}, seed)
        for seed in range(8)
    ]
    assert any(slow.failures for slow in runs)
    assert any(slow.zeros for slow in runs)


def test_the_smallest_improvements_are_learnt_from() -> None:
    """Their products with CR would lose digits, or vanish."""
    slow = side_by_side(NLSHADERSP(pop_size=20, **SMALL), 7, {"max_iter": 15}, 3, lambda X: 1e-315 * bowl(X))
    assert len(set(slow.M_F)) > 2
    assert len(set(slow.shares)) > 2


def test_decisions_from_given_points() -> None:
    algorithm, x0 = NLSHADERSP(pop_size=15, **SMALL), BOXES[7].mean(axis=1) * [[1.0], [0.9]]
    kernel = Minimizer(algorithm, max_evals=400, random_state=4, device="cpu")
    compare_fit(kernel, NlShadeRsp(algorithm, BOXES[7], 4, x0, max_evals=400), BOXES[7], x0, bowl)


def test_the_best_is_never_lost() -> None:
    check_best_survives(NLSHADERSP(pop_size=40), BOXES[7], bowl)


@pytest.mark.parametrize("budget", [{"max_evals": 977}, {"max_iter": 61}, {"max_evals": 41}, {"max_evals": 100_000}])
def test_sizes(budget: dict[str, int]) -> None:
    """The schedule of the host is that of the equation; the population falls faster than with the budget."""
    m = Minimizer(NLSHADERSP(pop_size=40), random_state=0, device="cpu", **budget).fit("sphere", dim=3)
    schedule = m._fit.batch.spec.schedules[0]
    sizes = [schedule.size(g) for g in range(m.n_iter_ + 1)]
    slow = NlShadeRsp(NLSHADERSP(pop_size=40, memory_size=60), BOXES[7][:3], 0, **budget)
    expected = [40]
    for g in range(1, len(sizes)):
        slow.generation, slow.evals = g, sum(expected)
        expected.append(slow.size())
        assert expected[-1] <= int(40 - 36 * slow.progress + 0.5)
    assert sizes == expected


def test_pressure_on_the_best() -> None:
    n = 20
    slow = NlShadeRsp(NLSHADERSP(pop_size=n, memory_size=1), BOXES[2], 0, max_iter=1)
    drawn = [slow.ranked(draws := Draws(0, g, 0), draws.block(1, 0)[2], n, ()) for g in range(6000)]
    weights = np.exp(-np.arange(n) / n)
    assert chisquare(np.bincount(drawn, minlength=n), weights / weights.sum() * len(drawn)).pvalue > 1e-4
