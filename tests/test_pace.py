"""The first engine call of a fit, where an earlier fit has shown how long a generation takes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from skde import DeviceObjective, Minimizer
from skde.engines import CpuEngine
from skde.fit.pace import find_pace


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Return the list of the generations that each engine call begins and ends with."""
    run, made = CpuEngine.run, []

    def counted(engine: CpuEngine, batch: Any, begin: int, until: int) -> None:
        made.append((begin, until))
        run(engine, batch, begin, until)

    monkeypatch.setattr(CpuEngine, "run", counted)
    find_pace.cache_clear()
    return made


def test_a_second_fit_of_a_problem_takes_one_call_and_has_the_same_bits(calls: list[tuple[int, int]]) -> None:
    m = Minimizer("jde", max_iter=40, random_state=0, device="cpu", n_jobs=1)
    first = m.fit("rastrigin", dim=2).result_
    assert calls[0] == (-1, 8)
    while calls != [(-1, 40)]:  # a busy machine may have taken long
        calls.clear()
        second = m.fit("rastrigin", dim=2).result_
    assert np.array_equal(first.population, second.population)
    assert np.array_equal(first.history.best, second.history.best)


def test_another_problem_or_algorithm_is_not_known(calls: list[tuple[int, int]]) -> None:
    for name, problem, dim in (("de", "sphere", 2), ("de", "ackley", 2), ("de", "sphere", 3), ("jde", "sphere", 2)):
        calls.clear()
        Minimizer(name, max_iter=40, random_state=0, device="cpu", n_jobs=1).fit(problem, dim=dim)
        assert calls[0] == (-1, 8)


def test_the_time_of_a_users_objective_is_not_taken_for_known(calls: list[tuple[int, int]]) -> None:
    f = DeviceObjective("return team.sum(d, [&](int j) { return x[j] * x[j]; });")
    for _ in range(3):
        calls.clear()
        Minimizer("de", max_iter=40, random_state=0, device="cpu", n_jobs=1).fit(f, bounds=[(-5, 5)] * 2)
        assert calls[0] == (-1, 8)
