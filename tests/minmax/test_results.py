"""The values of incumbents against their opponents, those of other runs, and the worst case."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skde import DE, JADE, MinMaxSolver, get_problem

from .games import BOX, game, make


def test_equal_incumbents_change_nothing() -> None:
    def flat(X: Any, Y: Any) -> Any:
        return np.zeros((len(X), len(Y)))

    first, last = (make(max_iter=n).fit(flat, BOX, BOX) for n in (0, 6))
    assert not np.array_equal(first.population_x_, last.population_x_)
    assert np.array_equal(first.x_, last.x_)


def test_an_incumbent_is_evaluated_against_the_strongest_opponents() -> None:
    """There are two best responses of y to every x, and a population may find only one of them."""

    def two(X: Any, Y: Any) -> Any:
        x, y = X[:, :1], Y[:, 0]
        return np.maximum((x - 1) ** 2 - 4 * (y - 3) ** 2, (x + 1) ** 2 - 4 * (y + 3) ** 2)

    solver = make(max_iter=100, gens_x=10, gens_y=10, n_runs=5).fit(two, [(-4, 4)], [(-5, 5)])
    for run in solver.runs_:
        assert run.fun == pytest.approx(1, abs=1e-3)
        assert abs(run.x[0]) < 1e-3
    assert solver.saddle_gap_ > 0.5


class TestTheBestOfSeveralRuns:
    def solver(self, **parameters: Any) -> MinMaxSolver:
        return MinMaxSolver(n_runs=12, max_iter=3, archive_size=0, renewal=0.0, random_state=2, **parameters)

    @pytest.mark.parametrize("compiled", [True, False])
    def test_the_best_run_is_chosen_against_the_opponents_of_all(self, compiled: bool) -> None:
        problem = get_problem("minmax/two_planes")
        given = (problem,) if compiled else (lambda X, Y: problem(X, Y), problem.bounds_x, problem.bounds_y)
        solver = self.solver(device="cpu").fit(*given)
        answers = np.array([run.x for run in solver.runs_])
        values = np.maximum(problem(answers[:, :1], answers[:, 1:]).max(axis=1), [run.fun for run in solver.runs_])
        best = int(values.argmin())
        assert best != np.argmin([run.fun for run in solver.runs_])  # its own opponents are too weak
        assert abs(solver.fun_ - problem.value) < 1e-6
        assert np.array_equal(solver.x_, answers[best, :1])
        assert solver.fun_ == values[best]
        assert solver.fun_ == problem(solver.x_[None], solver.y_[None])[0, 0]
        assert np.array_equal(solver.population_x_, solver._coevolution.x.population(best)[0])
        assert solver.result_.fun == solver.fun_

    def test_a_loaded_fit_has_the_same_best_run(self, tmp_path: Path) -> None:
        problem = get_problem("minmax/two_planes")
        for given in ((problem,), (lambda X, Y: problem(X, Y), problem.bounds_x, problem.bounds_y)):
            solver = self.solver(device="cpu").fit(*given)
            before = solver.x_.tolist(), solver.y_.tolist(), solver.fun_
            solver.save(tmp_path / "file.skde")
            for again in (MinMaxSolver.load(tmp_path / "file.skde"), pickle.loads(pickle.dumps(solver))):
                if len(given) > 1:
                    assert again.fun_ == min(run.fun for run in again.runs_)
                    again.resume(given[0])
                assert (again.x_.tolist(), again.y_.tolist(), again.fun_) == before

    def test_values_that_are_integers(self) -> None:
        def steps(X: Any, Y: Any) -> Any:
            return np.round(game(X, Y)).astype(int)

        assert self.solver(device="cpu").fit(steps, BOX, BOX).fun_ == 0

    def test_values_without_any_number(self) -> None:
        """Where every incumbent has NaN against an opponent, the first run is the best, with its own value."""
        solver = self.solver(device="cpu").fit(game, BOX, BOX)
        solver._objective.matrix = lambda X, Y: np.full((len(X), len(Y)), np.nan)
        solver._compared = None
        assert solver.fun_ == np.inf


def test_the_worst_case_is_searched_beyond_the_opponents() -> None:
    """The value of an incumbent against few opponents is too small."""
    problem = get_problem("minmax/two_planes")
    solver = MinMaxSolver(max_iter=2, archive_size=0, renewal=0.0, random_state=0, device="cpu").fit(problem)
    grid = np.linspace(*problem.bounds_y[0], 100_001)[:, None]
    true = float(problem(solver.x_[None], grid).max())
    assert solver.fun_ < true - 1e-3
    assert true <= solver.worst_case_ < true + 1e-4
    assert solver.worst_case_ - solver.saddle_gap_ <= solver.fun_


def test_the_worst_case_is_that_of_the_current_incumbent() -> None:
    problem, seen = get_problem("minmax/two_planes"), []
    solver = make(max_iter=4, callbacks=lambda progress: seen.append(solver.worst_case_))
    solver.fit(lambda X, Y: problem(X, Y), problem.bounds_x, problem.bounds_y)
    alone = make(max_iter=4).fit(problem)
    assert seen[0] != alone.worst_case_
    assert solver.worst_case_ == alone.worst_case_
    assert make(max_iter=4).fit("minmax/rustem1").worst_case_ == solver.fit("minmax/rustem1").worst_case_
    assert not {"_compared", "_searched"} & set(solver.__getstate__())


@pytest.mark.gpu
def test_the_best_of_several_runs_on_a_gpu() -> None:
    problem = get_problem("minmax/two_planes")
    boxes = problem.bounds_x, problem.bounds_y
    cpu, gpu = (make(n_runs=12, device=d).fit(lambda X, Y: problem(X, Y), *boxes) for d in ("cpu", "cuda"))
    assert (gpu.x_.tolist(), gpu.y_.tolist(), gpu.fun_) == (cpu.x_.tolist(), cpu.y_.tolist(), cpu.fun_)


@pytest.mark.parametrize("sizes", [(20, 1000), (300, 2000)])
def test_y_may_be_sorted_where_x_is_not(sizes: tuple[int, int]) -> None:
    """The memory for sorting was that of x alone."""
    sides = DE(pop_size=sizes[0]), JADE(pop_size=sizes[1])
    found = [
        MinMaxSolver(*sides, max_iter=4, random_state=0, device="cpu", n_jobs=n_jobs).fit("minmax/parabolas")
        for n_jobs in (1, 2)
    ]
    assert found[0].fun_ == found[1].fun_
    assert np.array_equal(found[0].y_, found[1].y_)
