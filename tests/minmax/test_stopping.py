"""The stopping rules of a co-evolution."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from skde import MinMaxSolver, Status, get_problem

from .games import BOX, game, make, same, side


@pytest.mark.parametrize(("name", "tol"), [("rustem4", 1e-3), ("rustem6", 1e-2), ("damped_cosine", 1e-2)])
def test_the_tolerance_is_that_of_a_cycle_that_changes_nothing(name: str, tol: float) -> None:
    def levels(c: int) -> tuple[float, float]:
        solver = make(max_iter=c).fit(f"minmax/{name}")
        return float(solver.fitness_.min()), float(-solver._coevolution.y.population(0)[1].min())

    def rests(c: int) -> bool:
        of_x, *others = *levels(c), *levels(c - 1)
        return all(abs(of_x - other) <= tol * max(abs(of_x), abs(other)) for other in others)

    ended = make(max_iter=500, tol=tol).fit(f"minmax/{name}").n_iter_
    assert ended > 2
    assert [rests(c) for c in range(1, ended + 1)] == [False] * (ended - 1) + [True]


def test_the_tolerance_after_a_file(tmp_path: Path) -> None:
    """The file holds the best values of the cycle before."""
    whole = make(max_iter=500, tol=1e-3).fit("minmax/rustem4")
    make(max_iter=whole.n_iter_ - 1, tol=1e-3).fit("minmax/rustem4").save(tmp_path / "part.skde")
    assert same(MinMaxSolver.load(tmp_path / "part.skde").set_params(max_iter=500).resume(), whole)


@pytest.mark.parametrize("name", ["rustem1", "rustem5", "rustem6", "lagrangian1"])
def test_a_tolerance_does_not_hold_at_the_start(name: str) -> None:
    """A pair of two initial populations may well be a saddle point."""
    problem = get_problem(f"minmax/{name}")
    solver = MinMaxSolver(tol=1e-6, n_runs=10, random_state=0, device="cpu").fit(problem)
    assert all(run.status == Status.CONVERGED for run in solver.runs_)
    assert all(run.fun == pytest.approx(problem.value, abs=1e-5) for run in solver.runs_)


def test_stopping_rules() -> None:
    reached = make(max_iter=200, target=1e-3).fit(game, BOX, BOX)
    assert reached.runs_[0].status == Status.TARGET
    assert reached.fun_ <= 1e-3
    closed = make(max_iter=500, tol=1e-3).fit("minmax/rustem4")
    assert closed.runs_[0].status == Status.CONVERGED
    assert closed.converged_
    assert closed.n_iter_ < 500
    stuck = make(max_iter=500, stagnation=20).fit("minmax/rustem4")
    assert stuck.runs_[0].status == Status.STAGNATED
    assert stuck.n_iter_ < 500
    timed = make(max_iter=10**6, max_time=0.2).fit("minmax/rustem4")
    assert timed.runs_[0].status == Status.TIME
    assert 0.19 <= timed.time_ < 2  # the last cycle is done a moment before the clock is read
    seen = []
    called = make(max_iter=10**6, callbacks=lambda progress: seen.append(progress.n_iter) or len(seen) > 3)
    assert called.fit(game, BOX, BOX).runs_[0].status == Status.CALLBACK
    assert len(seen) == 4
    assert seen[0] == 0


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_the_time_limit_is_looked_at_between_pairs(n_jobs: int | None, tmp_path: Path) -> None:
    """Of a cycle that takes longer than the limit, the pairs before it are not evaluated again."""
    log = tmp_path / "log"

    def slow(x: Any, y: Any) -> float:
        import time

        with open(log, "a") as file:
            file.write("x\n")
        if len(log.read_text()) > 2 * 144:  # after the initial populations
            time.sleep(0.005)
        return float(game(x[None], y[None])[0, 0])

    options = {"algorithm_x": side("de"), "pairwise": True, "max_iter": 1, "gens_x": 3, "gens_y": 3}
    whole = make(**options).fit(lambda x, y: float(game(x[None], y[None])[0, 0]), BOX, BOX)
    solver = make(max_time=0.3 if n_jobs is None else 2.0, n_jobs=n_jobs, **options)
    begin = time.monotonic()
    solver.fit(slow, BOX, BOX)
    assert n_jobs or time.monotonic() - begin < 2.0  # processes need seconds to start
    assert solver.runs_[0].status == Status.TIME
    assert solver.n_iter_ == 0
    solver.set_params(max_time=None).resume()
    assert (solver.fun_, solver.n_evals_) == (whole.fun_, whole.n_evals_)
    # The incumbent may be a member, too, with pairs that are known by then.
    assert whole.n_evals_ - 12 <= len(log.read_text()) // 2 <= whole.n_evals_
