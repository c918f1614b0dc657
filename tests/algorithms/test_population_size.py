"""Sizes and evaluations of populations, compared with a count from generation to generation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skde import ARRDE, DE, LSHADE, SS, Minimizer
from skde.algorithms import ALGORITHMS
from skde.algorithms.base import Algorithm, FitSetting
from skde.algorithms.population_size import PopulationSchedule
from skde.stopping import Limits

BEYOND = 20  # generations after the budget is spent


def schedule_of(algorithm: Algorithm, **given: float) -> PopulationSchedule:
    """The schedule of a kernel, with some of its parameters replaced."""
    parameters = algorithm.kernel_parameters(FitSetting(3, max_iter=1))
    assert given.keys() <= parameters.keys()
    return PopulationSchedule.from_parameters(algorithm.kernel, {**parameters, **given})


def shrink(pop_size: int, pop_min: int, max_evals: int, max_iter: int = 0) -> PopulationSchedule:
    """The schedule of a population that shrinks linearly."""
    return schedule_of(LSHADE(), pop_size=pop_size, pop_min=pop_min, max_evals=max_evals, max_iter=max_iter)


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
    schedule = shrink(*given)
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
    schedule = shrink(*given)
    _, simulated = simulate(*given)
    for evals in (*simulated[:3], given[0] - 1, given[2], data.draw(st.integers(0, simulated[-1] - 1))):
        last = schedule.last(evals)
        assert schedule.evals(last) <= evals < schedule.evals(last + 1)
        assert last == sum(done <= evals for done in simulated) - 1


@given(st.integers(1, 10_000), st.integers(0, 10**6), st.integers(0, 10**9))
def test_constant_sizes(pop_size: int, g: int, evals: int) -> None:
    for schedule in (
        schedule_of(DE(), pop_size=pop_size),
        shrink(pop_size, pop_size, 1000),
        shrink(pop_size, pop_size, 0, 50),
    ):
        assert not schedule.varies
        assert schedule.size(g) == pop_size
        assert schedule.evals(g) == (g + 1) * pop_size
        assert schedule.last(evals) == evals // pop_size - 1
        assert schedule.evals_at(np.array([0, g])).tolist() == [pop_size, (g + 1) * pop_size]


def test_before_the_first_generation() -> None:
    for schedule in (schedule_of(DE(), pop_size=10), shrink(10, 4, 100)):
        assert schedule.evals(-1) == 0
        assert schedule.last(9) == -1
        assert schedule.last(10) == 0


@pytest.mark.parametrize("limits", [(10**9, 0), (0, 10**7)])
def test_large_budgets_are_planned_at_once(limits: tuple[int, int]) -> None:
    """Schedules store changes of size, not generations."""
    schedule = shrink(1000, 4, *limits)
    assert len(schedule.sizes) == 997
    assert schedule.evals(schedule.last(10**9)) <= 10**9
    end = schedule.starts[-1]
    assert (schedule.size(end - 1), schedule.size(end), schedule.size(10**12)) == (5, 4, 4)


def test_without_a_limit_nothing_shrinks() -> None:
    schedule = shrink(20, 4, 0)
    assert schedule.size(10**6) == 20
    assert not schedule.varies


def test_a_reference_set_is_added_to_the_trials() -> None:
    """The first generation has another size than the others."""
    schedule = schedule_of(SS(pop_size=40, n_best=9, n_diverse=2, n_local=1))
    parameters = SS(pop_size=40, n_best=9, n_diverse=2, n_local=1).kernel_parameters(FitSetting(3))
    pool = int(parameters["pool_size"])
    assert [schedule.size(g) for g in range(3)] == [40, pool, pool]
    assert schedule.evals(2) == 40 + 2 * pool
    assert (schedule.references, schedule.members, schedule.varies) == (11, 11, True)


@given(
    st.integers(4, 60),
    st.integers(4, 60),
    st.integers(4, 60),
    st.floats(0.05, 0.95),
    st.booleans(),
    st.integers(1, 900),
)
def test_sizes_that_grow_late(
    pop_size: int, pop_min: int, late: int, refine_from: float, by_evals: bool, limit: int
) -> None:
    """Of the formula as it is written in `ARRDE`; sizes may fall to the smallest one, rise and fall again."""
    pop_min, late = min(pop_min, pop_size), min(late, pop_size)
    limits = {"max_evals": 10 * limit, "max_iter": 0} if by_evals else {"max_evals": 0, "max_iter": limit}
    given = {"pop_size": pop_size, "pop_min": pop_min, "late_size": late, "refine_from": refine_from, "power": 2.0}
    schedule = schedule_of(ARRDE(), **given, **limits)
    evals = size = pop_size
    for g in range(1, 400):
        done = min(evals / (10 * limit) if by_evals else g / limit, 1.0)
        if done <= refine_from:
            near = pop_min + (pop_size - pop_min) * (1 - done / refine_from) ** 2
        else:
            near = pop_min + (max(late, pop_min) - pop_min) * (1 - (done - refine_from) / (1 - refine_from)) ** 2
        size = schedule.size(g)
        assert abs(size - near) <= 0.5 + 1e-9
        evals += size
        assert schedule.evals(g) == evals


def test_parameters_that_are_missing_are_named() -> None:
    with pytest.raises(KeyError, match="pop_min"):
        PopulationSchedule.from_parameters("lshade", {"pop_size": 20.0})
    with pytest.raises(KeyError, match="nonsense"):
        PopulationSchedule.from_parameters("nonsense", {"pop_size": 20.0})


@pytest.mark.parametrize("kind", [kind for kind in ALGORITHMS.values() if kind.shrinks], ids=lambda kind: kind.name)
@pytest.mark.parametrize("limit", [{"max_evals": 977}, {"max_iter": 31}, {"max_evals": 20_000}])
def test_the_schedule_is_followed_by_the_kernel(kind: type[Algorithm], limit: dict[str, int]) -> None:
    """Trials of ask are as many as it says, in every generation."""
    m = Minimizer(kind(pop_size=30), bounds=[(-1, 1)] * 3, random_state=0, device="cpu", **limit)
    schedule, evals = None, 0
    for g in range(60):
        if m.stopped_:
            break
        X = m.ask()
        schedule = schedule or m._fit.batch.spec.schedules[0]
        assert len(X) == schedule.size(g)
        evals += len(X)
        assert schedule.evals(g) == evals
        m.tell(X, (X**2).sum(1))
    assert schedule is not None
    assert schedule.sizes[-1] < 30


@pytest.mark.parametrize("limit", [{"max_evals": 10**30}, {"max_iter": 10**30}, {"max_evals": 2**62}])
def test_absurd_budgets_are_planned_with_too(limit: dict[str, int]) -> None:
    """A double does not tell such numbers apart, so that counting would never come to the next size."""
    planned = Limits(**limit).to_setting(3)
    schedule = shrink(40, 4, planned.max_evals or 0, planned.max_iter or 0)
    assert len(schedule.sizes) == 37
