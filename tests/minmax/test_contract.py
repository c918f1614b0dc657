"""What every solver promises, of MinMaxSolver: for every algorithm that it takes, device and kind of game."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import NonlinearConstraint
from sklearn.base import clone

from skde import ConstrainedProblem, MinMaxSolver, Status, get_problem
from skde.algorithms import ALGORITHMS, Algorithm
from skde.engines import find_gpus
from skde.returned import library_of

BOX = [(-2.0, 2.0)] * 3
SIDES = sorted(name for name, kind in ALGORITHMS.items() if kind(**kind.get_test_params()).iteration_length == 1)


def game(X: Any, Y: Any) -> Any:
    """Return the values of a game with a saddle point at 0.5 and -0.5, of several waves on the way."""
    xp = library_of(X)
    x, y = X[:, None, :] - 0.5, Y[None] + 0.5
    return (x * x - y * y + x * y - 0.3 * xp.cos(5 * x) + 0.3 * xp.cos(5 * y)).sum(axis=2)


def ring(kind: str = "both") -> ConstrainedProblem:
    """Return a problem with an inequality and an equality: the sum of x on a circle's arc."""
    inside = NonlinearConstraint(lambda x: x[0] - x[1], -np.inf, 0.5)
    on = NonlinearConstraint(lambda x: x[0] ** 2 + x[1] ** 2, 1.0, 1.0)
    return ConstrainedProblem(lambda X: X[:, 0] + X[:, 1], [(-2, 2)] * 2, {"both": [inside, on], "equality": on}[kind])


def make(**parameters: Any) -> MinMaxSolver:
    """Return a small solver."""
    given = {"n_cycles": 6, "gens_x": 3, "gens_y": 4, "archive_size": 4, "random_state": 3, "device": "cpu"}
    return MinMaxSolver(**{**given, **parameters})


def side(name: str) -> Algorithm:
    """Return a small instance of an algorithm."""
    return ALGORITHMS[name](**{**ALGORITHMS[name].get_test_params(), "pop_size": 12})


def state(solver: MinMaxSolver) -> dict[str, Any]:
    """Return all numbers of a fit."""
    return solver._runner.batch.state()


def same(first: MinMaxSolver, second: MinMaxSolver, scratch: bool = True) -> bool:
    """Whether two fits ended with the same bits: everywhere, or but for numbers of which not all are used."""
    a, b = ({k: v for k, v in state(s).items() if scratch or not k.endswith(".extra")} for s in (first, second))
    runs = [(run.x.tolist(), run.fun, run.n_evals, run.status, run.history.best.tolist()) for run in first.runs_]
    others = [(run.x.tolist(), run.fun, run.n_evals, run.status, run.history.best.tolist()) for run in second.runs_]
    arrays = all(np.array_equal(a[name], b[name], equal_nan=a[name].dtype.kind == "f") for name in a)
    return a.keys() == b.keys() and arrays and runs == others


def played(solver: MinMaxSolver, cycles: int | None = None) -> MinMaxSolver:
    """Return a solver after a fit by hand."""
    done = 0
    while not solver.stopped_ and (cycles is None or done < cycles):
        X, Y = solver.ask()
        if X.ndim == 2:
            solver.tell(X, Y, game(X, Y))
        else:
            solver.tell(X, Y, np.stack([game(x, y) for x, y in zip(X, Y, strict=True)]))
        done += 1
    return solver


class TestSolver:
    @pytest.fixture(params=SIDES)
    def name(self, request: pytest.FixtureRequest) -> str:
        return str(request.param)

    def test_same_seed_same_bits(self, name: str) -> None:
        solver = make(algorithm_x=side(name))
        first, second = (clone(solver).fit(game, BOX, BOX) for _ in range(2))
        assert same(first, second)
        assert not same(first, clone(solver).set_params(random_state=4).fit(game, BOX, BOX))

    def test_progress(self, name: str) -> None:
        solver = make(algorithm_x=side(name), n_cycles=60, n_runs=2, random_state=0).fit(game, BOX, BOX)
        assert abs(solver.fun_) < 1e-2
        assert np.abs(solver.x_ - 0.5).max() < 0.05
        assert np.abs(solver.y_ + 0.5).max() < 0.05
        assert -1e-9 <= solver.saddle_gap_ < 1e-2
        assert ((solver.x_ >= -2) & (solver.x_ <= 2)).all()

    def test_ask_and_tell_is_fit(self, name: str) -> None:
        parameters = {"algorithm_x": side(name), "n_runs": 2}
        told = played(make(**parameters, bounds_x=BOX, bounds_y=BOX))
        assert same(told, make(**parameters).fit(game, BOX, BOX))

    def test_a_run_alone_is_the_run_of_a_batch(self, name: str) -> None:
        batch = make(algorithm_x=side(name), n_runs=3).fit(game, BOX, BOX)
        for run in batch.runs_:
            alone = make(algorithm_x=side(name), random_state=run.seed).fit(game, BOX, BOX)
            assert np.array_equal(alone.runs_[0].x, run.x)
            assert alone.fun_ == run.fun

    @pytest.mark.parametrize("problem", ["minmax/rustem5", "fabris2012/p3"])
    def test_threads(self, name: str, problem: str) -> None:
        one, four = (
            make(algorithm_x=side(name), n_runs=3, n_jobs=n, multipliers=how, penalty=p).fit(problem)
            for n, how, p in ((1, "update", None), (4, "update", None))
        )
        assert same(one, four)

    def test_values_are_those_against_the_last_opponents(self, name: str) -> None:
        solver = make(algorithm_x=side(name), archive_size=10).fit(game, BOX, BOX)
        opponents = solver._pair.opponents_of(6)[0]
        assert np.array_equal(opponents[:12], solver.population_y_)
        assert len(opponents) == 18
        assert np.array_equal(solver.fitness_, game(solver.population_x_, opponents).max(axis=1))

    @pytest.mark.parametrize("problem", ["minmax/rustem5", "fabris2012/p3"])
    def test_a_resumed_run_is_an_uninterrupted_one(self, name: str, problem: str, tmp_path: Path) -> None:
        whole = make(algorithm_x=side(name), n_runs=2).fit(problem)
        # JSO plans with its generations, so another number of cycles would be another fit.
        part = make(algorithm_x=side(name), n_runs=2, max_evals=whole.n_evals_ // 2).fit(problem)
        assert 0 < part.n_iter_ < 6
        part.save(tmp_path / "part.skde")
        loaded = MinMaxSolver.load(tmp_path / "part.skde")
        assert same(part, loaded)
        assert same(loaded.set_params(max_evals=None).resume(), whole)
        assert same(pickle.loads(pickle.dumps(part)).set_params(max_evals=None).resume(), whole)


def test_the_front_begins_anew() -> None:
    """L-SRTDE compares trials with its front, whose values must not be those against earlier opponents."""
    solver = make(algorithm_x=side("lsrtde")).fit(game, BOX, BOX)
    batch = solver._pair.x
    half = int(batch.host("generation")[0]) & 1
    values = batch.host("extra")[batch.array_names.index("value"), half, 0]
    front = batch.host("vectors")[batch.vector_names.index("front"), half, 0]
    best = np.argsort(solver.fitness_, kind="stable")
    assert np.array_equal(values, solver.fitness_[best])
    assert np.array_equal(front, solver.population_x_[best])


def test_populations_keep_their_size() -> None:
    for name in ("lshade", "jso", "lsrtde"):
        solver = make(algorithm_x=name, n_cycles=3).fit(game, BOX, BOX)
        assert solver.population_x_.shape == solver.population_y_.shape == (50, 3)


@pytest.mark.parametrize("devices", [["cpu", "cpu"], ["cpu"] * 3])
@pytest.mark.parametrize("f", ["minmax/rustem5", "fabris2012/p3", game])
def test_several_devices_do_as_one(devices: list[str], f: Any, tmp_path: Path) -> None:
    boxes = () if isinstance(f, str) else (BOX, BOX)
    whole = make(n_runs=5).fit(f, *boxes)
    shared = make(n_runs=5, device=devices).fit(f, *boxes)
    assert same(shared, whole)
    assert shared.x_.tolist() == whole.x_.tolist()
    assert np.array_equal(shared.population_x_, whole.population_x_)
    assert np.array_equal(shared.population_y_, whole.population_y_)
    part = make(n_runs=5, device=devices, n_cycles=3).fit(f, *boxes)
    part.save(tmp_path / "part.skde")
    again = f if callable(f) else None
    for device in ("cpu", devices):
        loaded = MinMaxSolver.load(tmp_path / "part.skde", device=device)
        assert same(loaded.set_params(n_cycles=6).resume(again), whole)
    assert same(pickle.loads(pickle.dumps(part)).set_params(n_cycles=6).resume(again), whole)


def test_a_function_that_fails_on_one_of_several_devices() -> None:
    def failing(X: Any, Y: Any) -> Any:
        if (X[:, 0] > 1.9).any():
            raise ZeroDivisionError("at the edge")
        return game(X, Y)

    solver = make(n_runs=4, device=["cpu", "cpu"])
    with pytest.raises(ZeroDivisionError, match="at the edge"):
        solver.fit(failing, BOX, BOX)


def test_ask_needs_one_device() -> None:
    solver = make(n_runs=2, device=["cpu", "cpu"], bounds_x=BOX, bounds_y=BOX)
    with pytest.raises(ValueError, match=r"ask and tell need one device, got device=\['cpu', 'cpu'\]"):
        solver.ask()


@pytest.mark.parametrize("asked", [1, 2, 3, 5, 8, 9, 12])
def test_saved_amid_a_cycle(asked: int, tmp_path: Path) -> None:
    """The rest of a cycle is made from where it was broken off, by hand or by fit."""
    whole = make(n_runs=2).fit(game, BOX, BOX)
    part = played(make(n_runs=2, bounds_x=BOX, bounds_y=BOX), 14 + asked)
    part.save(tmp_path / "part.skde")
    loaded = MinMaxSolver.load(tmp_path / "part.skde")
    assert same(played(loaded), whole)
    assert same(MinMaxSolver.load(tmp_path / "part.skde").resume(game), whole)


def test_an_interrupted_function_goes_on() -> None:
    calls = []

    def failing(X: Any, Y: Any) -> Any:
        calls.append(len(X))
        if len(calls) == 23:
            raise KeyboardInterrupt
        return game(X, Y)

    solver = make().fit(failing, BOX, BOX)
    assert solver.runs_[0].status == Status.INTERRUPTED
    assert same(solver.resume(game), make().fit(game, BOX, BOX))


@pytest.mark.parametrize("multipliers", ["update", "evolve"])
@pytest.mark.parametrize("name", ["fabris2012/p3", "fabris2012/p5"])
def test_compiled_constraints_are_those_of_python(name: str, multipliers: str) -> None:
    """The same problem inside the engine, and evaluated by the host."""
    problem = get_problem(name)
    functions = ConstrainedProblem(problem.f, problem.bounds, constraint_of(problem), name="python")
    parameters = {"multipliers": multipliers, "penalty": 1e3 if multipliers == "evolve" else None, "n_runs": 2}
    inside, outside = (make(**parameters).fit(one) for one in (problem, functions))
    assert inside.n_evals_ == outside.n_evals_
    assert np.allclose(inside.population_x_, outside.population_x_, rtol=1e-12, atol=0)
    assert np.allclose(inside.multipliers_, outside.multipliers_, rtol=1e-12, atol=0)
    assert inside.max_violation_ == pytest.approx(outside.max_violation_)


def constraint_of(problem: ConstrainedProblem) -> NonlinearConstraint:
    """Return a compiled problem's constraints as a function."""
    return NonlinearConstraint(lambda x: problem.values(np.ascontiguousarray(x.T))[:, 1:].T, -np.inf, 0)


def test_no_number_counts_as_infinity_in_a_compiled_game() -> None:
    """Points that have no number against some opponent, and against no other infinity."""
    problem, seen = get_problem("minmax/rustem2"), []
    boxes = [(6e76, 1.2e77), (5e76, 1e77)], [(7.5e153, 1.5e154), (6.5e153, 1.3e154)]

    def watched(X: Any, Y: Any) -> Any:
        seen.append(problem(X, Y))
        return seen[-1]

    inside, outside = (make(n_runs=3, n_cycles=0).fit(f, *boxes) for f in (problem, watched))
    values = np.concatenate(seen)
    assert (np.isnan(values).any(axis=1) & ~np.isposinf(values).any(axis=1)).any()
    assert same(inside, outside)


@pytest.mark.parametrize("name", SIDES)
def test_compiled_games_are_those_of_python(name: str) -> None:
    problem = get_problem("minmax/rustem5")
    solver = make(n_runs=2, algorithm_x=side(name))
    outside = clone(solver).fit(lambda X, Y: problem(X, Y), problem.bounds_x, problem.bounds_y)
    assert same(solver.fit(problem), outside)


def test_compiled_games_without_numbers() -> None:
    """Where squares overflow, some values are infinite, and differences of these are no numbers."""
    problem = get_problem("minmax/rustem3")
    boxes = [(-5.0, 5.0), (-5.0, -0.1)], [(-1.4e154, 1.4e154)] * 2
    seen = []

    def watched(X: Any, Y: Any) -> Any:
        seen.append(problem(X, Y))
        return seen[-1]

    outside = make(n_runs=2, random_state=2).fit(watched, *boxes)
    assert any(np.isnan(values).all(axis=0).any() for values in seen)  # a y that nobody can be compared by
    assert any((np.isnan(values).any(axis=1) & np.isfinite(values).any(axis=1)).any() for values in seen)
    assert same(make(n_runs=2, random_state=2).fit(problem, *boxes), outside)
    first, others = (make(n_runs=2, random_state=2, n_cycles=0).fit(f, *boxes) for f in (problem, watched))
    assert np.isinf(first.fitness_).any()
    assert same(first, others)


def test_pairs_one_by_one() -> None:
    def value(x: Any, y: Any) -> float:
        return float(game(x[None], y[None])[0, 0])

    pairs = make(pairwise=True, n_cycles=2).fit(value, BOX, BOX)
    assert same(pairs, make(n_cycles=2).fit(game, BOX, BOX))


def test_equality_constraints() -> None:
    for kind, x, f in (("both", [-np.sqrt(0.5)] * 2, -np.sqrt(2)), ("equality", [-np.sqrt(0.5)] * 2, -np.sqrt(2))):
        solver = make(n_cycles=100, gens_x=10).fit(ring(kind))
        assert solver.fun_ == pytest.approx(f, abs=1e-5)
        assert np.allclose(solver.x_, x, atol=1e-3)
        assert solver.max_violation_ <= 1e-6
        assert solver.multipliers_[-1] == pytest.approx(np.sqrt(0.5), rel=1e-3)


def test_every_evaluation_is_counted() -> None:
    pairs = []

    def counted(X: Any, Y: Any) -> Any:
        pairs.append(len(X) * len(Y))
        return game(X, Y)

    solver = make(archive_size=3).fit(counted, BOX, BOX)
    assert solver.n_evals_ == sum(pairs)
    assert make(archive_size=3, max_evals=solver.n_evals_).fit(game, BOX, BOX).n_iter_ == 6
    assert make(archive_size=3, max_evals=solver.n_evals_ - 1).fit(game, BOX, BOX).n_iter_ == 5
    points = []
    problem = get_problem("fabris2012/p6")

    def f(X: Any) -> Any:
        points.append(len(X))
        return problem.f(X)

    fitted = make().fit(ConstrainedProblem(f, problem.bounds, constraint_of(problem)))
    assert fitted.n_evals_ == sum(points[:-1])  # the last one is the answer's, for its value


def test_equal_answers_change_nothing() -> None:
    def flat(X: Any, Y: Any) -> Any:
        return np.zeros((len(X), len(Y)))

    first, last = (make(n_cycles=n).fit(flat, BOX, BOX) for n in (0, 6))
    assert not np.array_equal(first.population_x_, last.population_x_)
    assert np.array_equal(first.x_, last.x_)


@pytest.mark.parametrize(("name", "tol"), [("rustem4", 1e-3), ("rustem6", 1e-2), ("damped_cosine", 1e-2)])
def test_the_tolerance_is_that_of_a_cycle_that_changes_nothing(name: str, tol: float) -> None:
    def levels(c: int) -> tuple[float, float]:
        solver = make(n_cycles=c).fit(f"minmax/{name}")
        return float(solver.fitness_.min()), float(-solver._pair.y.population(0)[1].min())

    def rests(c: int) -> bool:
        of_x, *others = *levels(c), *levels(c - 1)
        return all(abs(of_x - other) <= tol * max(1.0, abs(of_x)) for other in others)

    ended = make(n_cycles=500, tol=tol).fit(f"minmax/{name}").n_iter_
    assert ended > 2
    assert [rests(c) for c in range(1, ended + 1)] == [False] * (ended - 1) + [True]


def test_the_tolerance_after_a_file(tmp_path: Path) -> None:
    """What the cycle before has come to is in the file."""
    whole = make(n_cycles=500, tol=1e-3).fit("minmax/rustem4")
    make(n_cycles=whole.n_iter_ - 1, tol=1e-3).fit("minmax/rustem4").save(tmp_path / "part.skde")
    assert same(MinMaxSolver.load(tmp_path / "part.skde").set_params(n_cycles=500).resume(), whole)


@pytest.mark.parametrize("name", ["rustem1", "rustem5", "rustem6", "lagrangian1"])
def test_a_tolerance_is_kept(name: str) -> None:
    """Of the pairs of two populations that have just been drawn, one may well be a saddle point."""
    problem = get_problem(f"minmax/{name}")
    solver = MinMaxSolver(tol=1e-6, n_runs=10, random_state=0, device="cpu").fit(problem)
    assert all(run.status == Status.CONVERGED for run in solver.runs_)
    assert all(run.fun == pytest.approx(problem.value, abs=1e-5) for run in solver.runs_)


def test_stopping_rules() -> None:
    reached = make(n_cycles=200, target=1e-3).fit(game, BOX, BOX)
    assert reached.runs_[0].status == Status.TARGET
    assert reached.fun_ <= 1e-3
    closed = make(n_cycles=500, tol=1e-3).fit("minmax/rustem4")
    assert closed.runs_[0].status == Status.CONVERGED
    assert closed.converged_
    assert closed.n_iter_ < 500
    stuck = make(n_cycles=500, stagnation=20).fit("minmax/rustem4")
    assert stuck.runs_[0].status == Status.STAGNATED
    assert stuck.n_iter_ < 500
    timed = make(n_cycles=10**6, max_time=0.2).fit("minmax/rustem4")
    assert timed.runs_[0].status == Status.TIME
    assert 0.19 <= timed.time_ < 2  # the last cycle is done a moment before the clock is read
    seen = []
    called = make(n_cycles=10**6, callbacks=lambda progress: seen.append(progress.n_iter) or len(seen) > 3)
    assert called.fit(game, BOX, BOX).runs_[0].status == Status.CALLBACK
    assert len(seen) == 4
    assert seen[0] == 0


def test_an_answer_meets_the_strongest_opponents() -> None:
    """Two answers of y to every x: a population that knows one of them only would be deceived."""

    def two(X: Any, Y: Any) -> Any:
        x, y = X[:, :1], Y[:, 0]
        return np.maximum((x - 1) ** 2 - 4 * (y - 3) ** 2, (x + 1) ** 2 - 4 * (y + 3) ** 2)

    solver = make(n_cycles=100, gens_x=10, gens_y=10, n_runs=5).fit(two, [(-4, 4)], [(-5, 5)])
    for run in solver.runs_:
        assert run.fun == pytest.approx(1, abs=1e-3)
        assert abs(run.x[0]) < 1e-3
    assert solver.saddle_gap_ > 0.5


class TestTheBestOfSeveralRuns:
    def solver(self, **parameters: Any) -> MinMaxSolver:
        return MinMaxSolver(n_runs=12, n_cycles=3, archive_size=0, renewal=0.0, random_state=2, **parameters)

    @pytest.mark.parametrize("compiled", [True, False])
    def test_is_judged_by_the_opponents_of_all(self, compiled: bool) -> None:
        problem = get_problem("minmax/two_planes")
        given = (problem,) if compiled else (lambda X, Y: problem(X, Y), problem.bounds_x, problem.bounds_y)
        solver = self.solver(device="cpu").fit(*given)
        answers = np.array([run.x for run in solver.runs_])
        values = np.maximum(problem(answers[:, :1], answers[:, 1:]).max(axis=1), [run.fun for run in solver.runs_])
        best = int(values.argmin())
        assert best != np.argmin([run.fun for run in solver.runs_])  # who claims the least is deceived
        assert abs(solver.fun_ - problem.value) < 1e-6
        assert np.array_equal(solver.x_, answers[best, :1])
        assert solver.fun_ == values[best]
        assert solver.fun_ == problem(solver.x_[None], solver.y_[None])[0, 0]
        assert np.array_equal(solver.population_x_, solver._pair.x.population(best)[0])
        assert solver.result_.fun == solver.fun_

    def test_is_found_again_by_name_and_with_the_function(self, tmp_path: Path) -> None:
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

    def test_of_whole_numbers(self) -> None:
        def steps(X: Any, Y: Any) -> Any:
            return np.round(game(X, Y)).astype(int)

        assert self.solver(device="cpu").fit(steps, BOX, BOX).fun_ == 0

    def test_without_numbers(self) -> None:
        """Where every answer has an opponent that leaves no number, the first one stands with what it claims."""
        solver = self.solver(device="cpu").fit(game, BOX, BOX)
        solver._objective.function = lambda X, Y: np.full((len(X), len(Y)), np.nan)
        solver._compared = None
        assert solver.fun_ == np.inf


def test_the_worst_case_is_not_what_was_met() -> None:
    """An answer that has met few opponents claims too little."""
    problem = get_problem("minmax/two_planes")
    solver = MinMaxSolver(n_cycles=2, archive_size=0, renewal=0.0, random_state=0, device="cpu").fit(problem)
    grid = np.linspace(*problem.bounds_y[0], 100_001)[:, None]
    true = float(problem(solver.x_[None], grid).max())
    assert solver.fun_ < true - 1e-3
    assert true <= solver.worst_case_ < true + 1e-4
    assert solver.worst_case_ - solver.saddle_gap_ <= solver.fun_


def test_the_worst_case_is_that_of_the_answer_now() -> None:
    problem, seen = get_problem("minmax/two_planes"), []
    solver = make(n_cycles=4, callbacks=lambda progress: seen.append(solver.worst_case_))
    solver.fit(lambda X, Y: problem(X, Y), problem.bounds_x, problem.bounds_y)
    alone = make(n_cycles=4).fit(problem)
    assert seen[0] != alone.worst_case_
    assert solver.worst_case_ == alone.worst_case_
    assert make(n_cycles=4).fit("minmax/rustem1").worst_case_ == solver.fit("minmax/rustem1").worst_case_
    assert not {"_compared", "_searched"} & set(solver.__getstate__())


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_no_numbers(bad: float) -> None:
    def partly(X: Any, Y: Any) -> Any:
        return np.where(X[:, :1] < 0, bad, game(X, Y))

    solver = make(n_cycles=40).fit(partly, BOX, BOX)
    assert solver.x_[0] >= 0
    assert abs(solver.fun_) < 0.1
    with pytest.raises(ValueError, match="nothing to compare"):
        make().fit(lambda X, Y: np.full((len(X), len(Y)), bad), BOX, BOX)


@pytest.mark.gpu
class TestOnGpu:
    @pytest.mark.parametrize("problem", ["minmax/rustem5", "minmax/damped_cosine", "fabris2012/p3", "fabris2012/p6"])
    @pytest.mark.parametrize("name", SIDES)
    def test_same_bits_as_the_cpu(self, name: str, problem: str) -> None:
        for n_runs in (1, 3):
            cpu, gpu = (make(algorithm_x=side(name), n_runs=n_runs, device=d).fit(problem) for d in ("cpu", "cuda"))
            assert same(cpu, gpu, scratch=name != "lsrtde")

    @pytest.mark.parametrize("dim", [2, 17, 100, 300])
    @pytest.mark.parametrize("dtype", ["float64", "float32"])
    def test_dimensions(self, dim: int, dtype: str) -> None:
        cpu, gpu = (make(n_runs=2, device=d, dtype=dtype).fit("fabris2012/p1", dim=dim) for d in ("cpu", "cuda"))
        assert same(cpu, gpu)

    @pytest.mark.parametrize("problem", ["fabris2012/p2", "fabris2012/p5"])
    def test_multipliers_that_evolve(self, problem: str) -> None:
        cpu, gpu = (
            MinMaxSolver.fabris2012(n_cycles=5, n_runs=3, random_state=1, device=d).fit(problem)
            for d in ("cpu", "cuda")
        )
        assert same(cpu, gpu)

    def test_the_best_of_several_runs(self) -> None:
        problem = get_problem("minmax/two_planes")
        boxes = problem.bounds_x, problem.bounds_y
        cpu, gpu = (make(n_runs=12, device=d).fit(lambda X, Y: problem(X, Y), *boxes) for d in ("cpu", "cuda"))
        assert (gpu.x_.tolist(), gpu.y_.tolist(), gpu.fun_) == (cpu.x_.tolist(), cpu.y_.tolist(), cpu.fun_)

    def test_several_gpus(self) -> None:
        n = find_gpus()[0]
        for f, boxes in (("minmax/rustem5", ()), ("fabris2012/p3", ()), (game, (BOX, BOX))):
            one = make(n_runs=4, device="cuda").fit(f, *boxes)
            assert same(make(n_runs=4, device=[f"cuda:{k % n}" for k in range(2)]).fit(f, *boxes), one)

    def test_many_runs(self) -> None:
        cpu, gpu = (make(n_runs=500, n_cycles=3, device=d).fit("minmax/rustem5") for d in ("cpu", "cuda"))
        assert same(cpu, gpu)

    def test_functions_of_arrays(self) -> None:
        inside = make(device="cuda", n_runs=2).fit("minmax/rustem5")
        problem = get_problem("minmax/rustem5")
        outside = make(device="cuda", n_runs=2).fit(lambda X, Y: problem(X, Y), problem.bounds_x, problem.bounds_y)
        assert same(inside, outside)
        solver = make(device="cuda", n_cycles=60).fit(game, BOX, BOX)
        assert abs(solver.fun_) < 1e-2
        assert solver.saddle_gap_ < 1e-2

    def test_constraints_of_arrays(self) -> None:
        solver = make(device="cuda", n_cycles=60, gens_x=10).fit(ring())
        assert solver.fun_ == pytest.approx(-np.sqrt(2), abs=1e-4)

    def test_goes_on_elsewhere(self, tmp_path: Path) -> None:
        whole = make().fit("fabris2012/p3")
        make(device="cuda", n_cycles=3).fit("fabris2012/p3").save(tmp_path / "part.skde")
        loaded = MinMaxSolver.load(tmp_path / "part.skde", device="cpu")
        assert same(loaded.set_params(n_cycles=6).resume(), whole)
