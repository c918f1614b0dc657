"""Sizes and evaluations of populations, compared with a count from generation to generation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skde.algorithms.population_size import PopulationSchedule
from skde.stopping import Limits

BEYOND = 20  # generations after the budget is spent


def simulate(pop_size: int, pop_min: int, max_evals: int, max_iter: int) -> tuple[list[int], list[int]]:
    """The size of every generation, and the evaluations up to its end, until after the end of the budget."""
    sizes, evals = [pop_size], [pop_size]
    while (evals[-1] < max_evals or len(sizes) <= max_iter) or len(sizes) < BEYOND or sizes[-BEYOND] > pop_min:
        g = len(sizes)
        done = evals[-1] / max_evals if max_evals else g / max_iter
        sizes.append(int(pop_size - (pop_size - pop_min) * min(done, 1.0) + 0.5))
        evals.append(evals[-1] + sizes[-1])
    return sizes, evals


@st.composite
def shrinking(draw: Any) -> tuple[int, int, int, int]:
    """pop_size, pop_min and one of two limits; some budgets do not hold the first population."""
    pop_size = draw(st.integers(2, 300))
    pop_min = draw(st.integers(1, pop_size - 1))
    if draw(st.booleans()):
        return pop_size, pop_min, draw(st.integers(1, 8000)), 0
    return pop_size, pop_min, 0, draw(st.integers(1, 400))


@given(shrinking())
def test_sizes_and_evaluations(given: tuple[int, int, int, int]) -> None:
    schedule = PopulationSchedule(*given)
    sizes, evals = simulate(*given)
    generations = range(len(sizes))
    assert schedule.varies
    assert [schedule.size(g) for g in generations] == sizes
    assert [schedule.evals(g) for g in generations] == evals
    assert schedule.evals_at(np.array(generations)).tolist() == evals
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == given[1]


@given(shrinking(), st.data())
def test_last_generation_within_a_budget(given: tuple[int, int, int, int], data: Any) -> None:
    """The budget has room for this generation, but not for the next."""
    schedule = PopulationSchedule(*given)
    _, simulated = simulate(*given)
    for evals in (*simulated[:3], given[0] - 1, given[2], data.draw(st.integers(0, simulated[-1] - 1))):
        last = schedule.last(evals)
        assert schedule.evals(last) <= evals < schedule.evals(last + 1)
        assert last == sum(done <= evals for done in simulated) - 1


@given(st.integers(1, 10_000), st.integers(0, 10**6), st.integers(0, 10**9))
def test_constant_sizes(pop_size: int, g: int, evals: int) -> None:
    for schedule in (
        PopulationSchedule(pop_size),
        PopulationSchedule(pop_size, pop_size, 1000),
        PopulationSchedule(pop_size, pop_size, 0, 50),
    ):
        assert not schedule.varies
        assert schedule.size(g) == pop_size
        assert schedule.evals(g) == (g + 1) * pop_size
        assert schedule.last(evals) == evals // pop_size - 1
        assert schedule.evals_at(np.array([0, g])).tolist() == [pop_size, (g + 1) * pop_size]


def test_before_the_first_generation() -> None:
    for schedule in (PopulationSchedule(10), PopulationSchedule(10, 4, 100)):
        assert schedule.evals(-1) == 0
        assert schedule.last(9) == -1
        assert schedule.last(10) == 0


@pytest.mark.parametrize("limits", [{"max_evals": 10**9}, {"max_iter": 10**7}])
def test_large_budgets_are_planned_at_once(limits: dict[str, int]) -> None:
    """Schedules store changes of size, not generations."""
    schedule = PopulationSchedule(1000, 4, **limits)
    assert len(schedule.sizes) == 997
    assert schedule.evals(schedule.last(10**9)) <= 10**9
    end = schedule.starts[-1]
    assert (schedule.size(end - 1), schedule.size(end), schedule.size(10**12)) == (5, 4, 4)


def test_without_a_limit_nothing_shrinks() -> None:
    schedule = PopulationSchedule(20, 4)
    assert schedule.size(10**6) == 20


def test_from_the_parameters_of_a_kernel() -> None:
    assert PopulationSchedule.from_parameters({"pop_size": 30.0, "w": 0.5}).sizes == [30]
    shrinks = PopulationSchedule.from_parameters(
        {"pop_size": 30.0, "pop_min": 4.0, "max_evals": 900.0, "max_iter": 0.0}
    )
    assert shrinks.sizes == PopulationSchedule(30, 4, 900).sizes


@pytest.mark.parametrize("limit", [{"max_evals": 10**30}, {"max_iter": 10**30}, {"max_evals": 2**62}])
def test_absurd_budgets_are_planned_with_too(limit: dict[str, int]) -> None:
    """A double does not tell such numbers apart, so that counting would never come to the next size."""
    planned = Limits(**limit).to_setting(3)
    schedule = PopulationSchedule(40, 4, planned.max_evals or 0, planned.max_iter or 0)
    assert len(schedule.sizes) == 37
