"""RDEx's kernel makes the decisions of the slow implementation, to the last bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import cauchy, chisquare, kstest

import skde._cpu as _cpu
from skde import RDEX, Minimizer
from skde.algorithms.base import REPAIRS

from .compare import BOXES, OBJECTIVES, bowl, check_best_survives, compare, compare_fit, corner, steps
from .philox import Draws
from .rdex import Rdex


class Counted(Rdex):
    """A run that counts its trials of each mutation."""

    counts = (0, 0)

    def tell(self, trials: Any, f: Any) -> None:
        """Count, then as before."""
        self.counts = (self.counts[0] + self.exploits.count(False), self.counts[1] + self.exploits.count(True))
        super().tell(trials, f)


def side_by_side(algorithm: Any, dim: int, budget: dict[str, int], seed: int, f: Callable[[Any], Any]) -> Counted:
    """The slow run at its end."""
    kernel = Minimizer(algorithm, bounds=BOXES[dim], random_state=seed, device="cpu", **budget)
    slow = Counted(algorithm, BOXES[dim], seed, **budget)
    compare(kernel, slow, f)
    assert kernel.n_evals_ == slow.evals
    return slow


@pytest.mark.parametrize(
    ("dim", "pop_size", "budget"),
    [(2, 40, {"max_iter": 60}), (7, 30, {"max_iter": 40}), (7, 140, {"max_evals": 2500}), (75, 24, {"max_evals": 300})],
)
def test_decisions(dim: int, pop_size: int, budget: dict[str, int]) -> None:
    """Both mutations make trials, and both memories move."""
    slow = side_by_side(RDEX(pop_size=pop_size, exploit_from=0.2), dim, budget, 2**40 + 7, bowl)
    assert min(slow.counts) > 20
    assert len(set(slow.M_F)) > 1
    assert len(set(slow.M)) > 1


def test_decisions_with_the_defaults() -> None:
    kernel = Minimizer("rdex", bounds=BOXES[7], max_evals=3000, random_state=2, device="cpu")
    compare(kernel, Rdex(RDEX(), BOXES[7], 2, max_evals=3000), bowl)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("pop_min", [4, 18])
def test_decisions_on_plateaus_and_on_no_numbers(pop_min: int, objective: Callable[[Any], Any]) -> None:
    algorithm = RDEX(memory_size=2, pop_size=18, pop_min=pop_min, exploit_from=0.3)
    side_by_side(algorithm, 7, {"max_iter": 25}, 3, objective)


def test_decisions_in_the_smallest_population() -> None:
    """Indices are often drawn again."""
    side_by_side(RDEX(pop_size=4, exploit_from=0.0), 7, {"max_iter": 120}, 9, bowl)


@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_one_mutation_alone_keeps_the_first_rate(rate: float) -> None:
    algorithm = RDEX(pop_size=20, exploit_from=0.0, exploit_rate=rate)
    slow = side_by_side(algorithm, 7, {"max_iter": 30}, 5, steps)
    assert slow.rate == rate
    assert slow.counts[0 if rate else 1] == 0


@pytest.mark.parametrize("repair", REPAIRS)
def test_decisions_with_every_repair(repair: str) -> None:
    """Long perturbations lead out of the box."""
    algorithm = RDEX(CR_start=0.5, pop_size=12, repair=repair, exploit_from=0.5, perturbation_scale=0.2)
    side_by_side(algorithm, 7, {"max_iter": 25}, 11, corner)


def test_decisions_without_perturbation() -> None:
    side_by_side(RDEX(CR_start=0.5, pop_size=12, perturbation_rate=0.0), 7, {"max_iter": 25}, 11, corner)


def test_decisions_from_given_points() -> None:
    algorithm, x0 = RDEX(pop_size=15), BOXES[7].mean(axis=1) * [[1.0], [0.9]]
    kernel = Minimizer(algorithm, max_evals=200, random_state=4, device="cpu")
    compare_fit(kernel, Rdex(algorithm, BOXES[7], 4, x0, max_evals=200), BOXES[7], x0, bowl)


def test_the_best_is_never_lost() -> None:
    check_best_survives(RDEX(pop_size=40, exploit_from=0.2), BOXES[7], bowl)


# -- draws -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("many", [4, 20])
def test_ranks_are_drawn_with_weights_that_fall_linearly(many: int) -> None:
    n = 20
    slow = Rdex(RDEX(), BOXES[2], 0, max_iter=1)
    slow.front = [None] * n  # type: ignore[list-item]
    drawn = [next(slow.ranks(d, d.block(1, 0)[0], 0, many)) for d in (Draws(0, g, 0) for g in range(6000))]
    weights = n - np.arange(many)
    assert chisquare(np.bincount(drawn, minlength=many), weights / weights.sum() * len(drawn)).pvalue > 1e-4


def test_perturbations_have_the_cauchy_distribution() -> None:
    words = np.floor(np.arange(0.0, 2.0**32, 2.0**32 / 20011))
    draws = _cpu.cauchy_draw(words)
    assert kstest(draws, cauchy.cdf).statistic < 1e-4
    assert np.array_equal(_cpu.cauchy_draw(2.0**32 - 1 - words), -draws)
    assert np.abs(draws - cauchy.ppf((words + 0.5) / 2.0**32)).max() < 1e-3 * np.abs(draws).max()
