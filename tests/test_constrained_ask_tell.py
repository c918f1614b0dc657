"""Ask and tell under constraints: trials that violate them need no value."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import LinearConstraint

from skde import Minimizer, Recorder
from skde.utils.arrays import to_numpy

DIM = 4
BOX = [(0.0, 1.0)] * DIM
CORNER = LinearConstraint(np.eye(DIM), 0.9, np.inf)
NOWHERE = LinearConstraint(np.ones(DIM), 10, np.inf)
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


def f(X: Any) -> Any:
    """Sum of squares, of feasible points alone."""
    assert (X >= 0.9 - 1e-5).all()
    return ((X - 0.95) ** 2).sum(axis=-1)


def make(**parameters: Any) -> Minimizer:
    return Minimizer(**{"algorithm": "jde", "max_evals": 1500, "random_state": 2, "constraints": CORNER, **parameters})


def same(first: Minimizer, second: Minimizer) -> bool:
    """Whether two fits have the same results."""
    return bool(
        np.array_equal(to_numpy(first.population_), to_numpy(second.population_))
        and np.array_equal(first.fun_, second.fun_, equal_nan=True)
        and first.n_evals_ == second.n_evals_
        and np.array_equal(first.history_.best, second.history_.best)
    )


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "parameters", [{}, {"n_runs": 3}, {"n_islands": 2, "max_evals": 5000}, {"algorithm": "lshade"}], ids=str
)
def test_infeasible_trials_are_not_handed_out(device: str, parameters: dict[str, Any]) -> None:
    m = make(bounds=BOX, device=device, **parameters)
    rng, told = np.random.default_rng(0), 0
    waiting: list[tuple[Any, int]] = []
    while not m.stopped_:
        waiting += zip(*m.ask(int(rng.integers(1, 30)), return_ids=True), strict=True)
        if waiting:
            x, i = waiting.pop(int(rng.integers(len(waiting))))
            m.tell(f=f(x[None]), ids=[i])
            told += 1
    assert same(m, make(device=device, **parameters).fit(f, bounds=BOX))
    assert 0 < told < sum(run.n_evals for run in m.runs_)


def test_values_of_infeasible_trials_are_ignored() -> None:
    """Of all trials of an ask, the infeasible ones may be told anything, or be left out."""
    fitted = make().fit(f, bounds=BOX)
    whole, parts = make(bounds=BOX), make(bounds=BOX)
    while not whole.stopped_:
        X = whole.ask()
        feasible = (X >= 0.9).all(axis=1)
        whole.tell(X, np.where(feasible, ((X - 0.95) ** 2).sum(axis=1), np.nan))
    rng = np.random.default_rng(0)
    while not parts.stopped_:
        X = parts.ask()
        some = rng.permutation(np.flatnonzero((X >= 0.9).all(axis=1)))
        for rows in np.array_split(some, 2 if len(some) > 1 else 1):
            parts.tell(X[rows], f(X[rows]))
    assert same(whole, fitted)
    assert same(parts, fitted)


def test_a_trial_that_is_infeasible_may_be_told_all_the_same() -> None:
    m = make(bounds=[(0.8, 1.0)] * DIM)
    X, ids = m.ask(return_ids=True)
    outside = ~(X >= 0.9).all(axis=1)
    assert 0 < outside.sum() < len(X)
    m.ask(1)
    m.tell(f=np.full(outside.sum(), -1e9), ids=ids[outside])
    m.tell(X[outside][:1], [np.nan])
    m.tell(X[~outside], f(X[~outside]))
    assert m.n_iter_ == 0
    assert m.fun_ == f(X[~outside]).min()


def test_where_nothing_is_feasible_there_is_nothing_to_evaluate() -> None:
    m = make(bounds=BOX, constraints=NOWHERE)
    assert not m.stopped_
    X, ids = m.ask(5, return_ids=True)
    assert X.shape == (0, DIM)
    assert ids.shape == (0,)
    assert m.stopped_
    assert same(m, make(constraints=NOWHERE).fit(f, bounds=BOX))
    assert m.n_evals_ == 1500


def test_files_and_recorders(tmp_path: Path) -> None:
    recorder = Recorder()
    m = make(bounds=BOX, recorder=recorder)
    X, ids = m.ask(3, return_ids=True)
    m.tell(f=f(X[:2]), ids=ids[:2])
    m.save(tmp_path / "m")
    assert len(recorder) == m.n_evals_
    table = recorder.table
    assert (np.isnan(table["fun"]) == (table["violation"] > 0)).all()
    other = Minimizer.load(tmp_path / "m").set_params(constraints=CORNER)
    other.tell(f=f(X[2:]), ids=ids[2:])
    while not other.stopped_:
        X, ids = other.ask(7, return_ids=True)
        other.tell(f=f(X), ids=ids)
    assert same(other, make().fit(f, bounds=BOX))
