"""Results of an earlier fit after a fit that fails or is stopped."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import pytest

from skde import Minimizer, MinMaxSolver


class Lost(Exception):
    """The error of a function."""


def failing(*arrays: Any) -> Any:
    raise Lost


def test_an_earlier_fit_stays_where_a_new_one_fails_at_once() -> None:
    m = Minimizer("de", max_iter=5, random_state=0, device="cpu").fit("sphere", dim=2)
    population = m.population_
    with pytest.raises(Lost):
        m.fit(failing, bounds=[(0.0, 1.0)] * 3)
    with pytest.raises(ValueError, match="must have low < high"):
        m.fit("sphere", dim=3, bounds=[(1.0, 0.0)] * 3)
    assert np.array_equal(m.population_, population)
    assert np.array_equal(
        m.set_params(max_iter=9).resume().population_,
        Minimizer("de", max_iter=9, random_state=0, device="cpu").fit("sphere", dim=2).population_,
    )


def test_an_earlier_game_stays_where_a_new_one_fails_at_once() -> None:
    solver = MinMaxSolver(max_iter=2, random_state=0, device="cpu").fit("minmax/rustem1")
    fun = solver.fun_
    with pytest.raises(Lost):
        solver.fit(failing, [(0.0, 1.0)], [(0.0, 1.0)])
    assert solver.fun_ == fun


def test_a_warm_fit_that_fails_at_once_changes_nothing() -> None:
    works = [True]

    def function(X: Any) -> Any:
        if not works:
            raise Lost
        return (X**2).sum(axis=1)

    given: dict[str, Any] = {"bounds": [(-1.0, 1.0)] * 2, "random_state": 0, "device": "cpu", "warm_start": True}
    m = Minimizer("auto", max_evals=4000, **given).fit(function)
    before = m.message_, m.n_evals_, m.algorithm_, m.polish_evals_
    works.clear()
    with pytest.raises(Lost):
        m.fit(function)
    assert (m.message_, m.n_evals_, m.algorithm_, m.polish_evals_) == before
    assert m._fit.population.done


def test_ctrl_c_before_the_populations_of_a_new_fit_keeps_the_earlier_one(monkeypatch: pytest.MonkeyPatch) -> None:
    m = Minimizer("auto", max_evals=4000, random_state=0, device="cpu").fit("sphere", dim=2)
    before = m.fun_, m.algorithm_

    def interrupted(*given: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("skde.minimizer.solver.Population", interrupted)
        with pytest.raises(KeyboardInterrupt):
            m.fit("rastrigin", dim=30)
    assert (m.fun_, m.algorithm_) == before


def test_an_earlier_fit_leaves_memory_while_a_new_one_runs() -> None:
    m = Minimizer("de", max_iter=3, device="cpu").fit("sphere", dim=2)
    earlier = weakref.ref(m._fit)
    alive: list[bool] = []
    m.set_params(callbacks=[lambda state: alive.append(earlier() is not None)]).fit("sphere", dim=2)
    assert alive[-1] is False
