"""The contract of all solvers, for MinMaxSolver: every algorithm, device and kind of game."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, NonlinearConstraint
from sklearn.base import clone

from skde import ConstrainedProblem, MinMaxSolver, Status, get_problem
from skde.algorithms import ALGORITHMS
from skde.engines import find_gpus
from skde.testing.base import PROBE_CALLS

from .games import BOX, SIDES, constraint_of, game, make, played, ring, same, side


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
        solver = make(algorithm_x=side(name), max_iter=60, n_runs=2, random_state=0).fit(game, BOX, BOX)
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
        opponents = solver._coevolution.opponents_of(6)[0]
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


def test_the_front_restarts() -> None:
    """L-SRTDE compares trials with its front: the front's values must be those against the last opponents."""
    solver = make(algorithm_x=side("lsrtde")).fit(game, BOX, BOX)
    batch = solver._coevolution.x
    half = int(batch.host("generation")[0]) & 1
    values = batch.host("extra")[batch.array_names.index("value"), half, 0]
    front = batch.host("vectors")[batch.vector_names.index("front"), half, 0]
    best = np.argsort(solver.fitness_, kind="stable")
    assert np.array_equal(values, solver.fitness_[best])
    assert np.array_equal(front, solver.population_x_[best])


def test_populations_keep_their_size() -> None:
    for name in (name for name, kind in ALGORITHMS.items() if kind.shrinks):
        solver = make(algorithm_x=name, max_iter=3).fit(game, BOX, BOX)
        assert solver.population_x_.shape == solver.population_y_.shape == (50, 3)


@pytest.mark.parametrize("devices", [["cpu", "cpu"], ["cpu"] * 3])
@pytest.mark.parametrize("f", ["minmax/rustem5", "fabris2012/p3", game])
def test_several_devices_equal_one(devices: list[str], f: Any, tmp_path: Path) -> None:
    boxes = () if isinstance(f, str) else (BOX, BOX)
    whole = make(n_runs=5).fit(f, *boxes)
    shared = make(n_runs=5, device=devices).fit(f, *boxes)
    assert same(shared, whole)
    assert shared.x_.tolist() == whole.x_.tolist()
    assert np.array_equal(shared.population_x_, whole.population_x_)
    assert np.array_equal(shared.population_y_, whole.population_y_)
    part = make(n_runs=5, device=devices, max_iter=3).fit(f, *boxes)
    part.save(tmp_path / "part.skde")
    again = f if callable(f) else None
    for device in ("cpu", devices):
        loaded = MinMaxSolver.load(tmp_path / "part.skde", device=device)
        assert same(loaded.set_params(max_iter=6).resume(again), whole)
    assert same(pickle.loads(pickle.dumps(part)).set_params(max_iter=6).resume(again), whole)


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
    """The rest of an interrupted cycle is the same by ask and tell and by fit."""
    whole = make(n_runs=2).fit(game, BOX, BOX)
    part = played(make(n_runs=2, bounds_x=BOX, bounds_y=BOX), 14 + asked)
    part.save(tmp_path / "part.skde")
    loaded = MinMaxSolver.load(tmp_path / "part.skde")
    assert same(played(loaded), whole)
    assert same(MinMaxSolver.load(tmp_path / "part.skde").resume(game), whole)


def test_an_interrupted_function_resumes() -> None:
    calls = []

    def failing(X: Any, Y: Any) -> Any:
        calls.append(len(X))
        if len(calls) == 23:
            raise KeyboardInterrupt
        return game(X, Y)

    solver = make()
    with pytest.raises(KeyboardInterrupt):
        solver.fit(failing, BOX, BOX)
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


def test_no_number_counts_as_infinity_in_a_compiled_game() -> None:
    """Points with NaN against one opponent, and no infinity against the others."""
    problem, seen = get_problem("minmax/rustem2"), []
    boxes = [(6e76, 1.2e77), (5e76, 1e77)], [(7.5e153, 1.5e154), (6.5e153, 1.3e154)]

    def watched(X: Any, Y: Any) -> Any:
        seen.append(problem(X, Y))
        return seen[-1]

    inside, outside = (make(n_runs=3, max_iter=0).fit(f, *boxes) for f in (problem, watched))
    values = np.concatenate(seen[PROBE_CALLS:])
    assert (np.isnan(values).any(axis=1) & ~np.isposinf(values).any(axis=1)).any()
    assert same(inside, outside)


@pytest.mark.parametrize("name", SIDES)
def test_compiled_games_are_those_of_python(name: str) -> None:
    problem = get_problem("minmax/rustem5")
    solver = make(n_runs=2, algorithm_x=side(name))
    outside = clone(solver).fit(lambda X, Y: problem(X, Y), problem.bounds_x, problem.bounds_y)
    assert same(solver.fit(problem), outside)


@pytest.mark.filterwarnings("ignore:no value of the objective was finite")
def test_compiled_games_without_numbers() -> None:
    """Where squares overflow, some values are infinite, and their differences are NaN."""
    problem = get_problem("minmax/rustem3")
    boxes = [(-5.0, 5.0), (-5.0, -0.1)], [(-1.4e154, 1.4e154)] * 2
    seen = []

    def watched(X: Any, Y: Any) -> Any:
        seen.append(problem(X, Y))
        return seen[-1]

    outside = make(n_runs=2, random_state=2).fit(watched, *boxes)
    assert any(np.isnan(values).all(axis=0).any() for values in seen)  # a y without a value for any x
    assert any((np.isnan(values).any(axis=1) & np.isfinite(values).any(axis=1)).any() for values in seen)
    assert same(make(n_runs=2, random_state=2).fit(problem, *boxes), outside)
    first, others = (make(n_runs=2, random_state=2, max_iter=0).fit(f, *boxes) for f in (problem, watched))
    assert np.isinf(first.fitness_).any()
    assert same(first, others)


def test_pairs_one_by_one() -> None:
    def value(x: Any, y: Any) -> float:
        return float(game(x[None], y[None])[0, 0])

    pairs = make(pairwise=True, max_iter=2).fit(value, BOX, BOX)
    assert same(pairs, make(max_iter=2).fit(game, BOX, BOX))


def no_mesh(x: Any, y: Any) -> float:
    if x[0] > 0.7:
        raise FloatingPointError("no mesh")
    return float(game(x[None], y[None])[0, 0])


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_an_exception_of_a_pair_is_a_nan_where_that_is_asked_for(n_jobs: int | None) -> None:
    def by_nan(X: Any, Y: Any) -> Any:
        return np.where(X[:, :1] > 0.7, np.nan, game(X, Y))

    options = {"pairwise": True, "max_iter": 2, "n_jobs": n_jobs}
    with pytest.raises(FloatingPointError, match="no mesh"):
        make(**options).fit(no_mesh, BOX, BOX)
    with pytest.warns(RuntimeWarning, match=r"raised FloatingPointError\('no mesh'\)") as caught:
        solver = make(on_error="nan", **options).fit(no_mesh, BOX, BOX)
    assert len(caught) == 1
    assert same(solver, make(max_iter=2).fit(by_nan, BOX, BOX))


def test_exceptions_of_other_functions_are_no_nan() -> None:
    with pytest.raises(ValueError, match="on_error='nan' needs pairwise=True"):
        make(on_error="nan", pairwise=False).fit(game, BOX, BOX)
    with pytest.raises(
        ValueError, match="on_error='nan' is for a function of one point, and the function takes arrays"
    ):
        make(on_error="nan").fit(game, BOX, BOX)
    with pytest.raises(ValueError, match="on_error='nan' is for a Python function of one pair, got"):
        make(on_error="nan", pairwise=True).fit("minmax/rustem1")
    with pytest.raises(ValueError, match="on_error must be one of 'raise', 'nan'; got 'skip'"):
        make(on_error="skip").fit(game, BOX, BOX)


def test_equality_constraints() -> None:
    for kind, x, f in (("both", [-np.sqrt(0.5)] * 2, -np.sqrt(2)), ("equality", [-np.sqrt(0.5)] * 2, -np.sqrt(2))):
        solver = make(max_iter=100, gens_x=10).fit(ring(kind))
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
    assert solver.n_evals_ == sum(pairs[PROBE_CALLS:])
    assert make(archive_size=3, max_evals=solver.n_evals_).fit(game, BOX, BOX).n_iter_ == 6
    assert make(archive_size=3, max_evals=solver.n_evals_ - 1).fit(game, BOX, BOX).n_iter_ == 5
    points = []
    problem = get_problem("fabris2012/p6")

    def f(X: Any) -> Any:
        points.append(len(X))
        return problem.f(X)

    fitted = make().fit(ConstrainedProblem(f, problem.bounds, constraint_of(problem), vectorized=True))
    # None for the value of the answer, and none before the fit, because no point of that sample is feasible.
    assert fitted.n_evals_ == sum(points)


def test_results_of_a_constrained_problem_need_no_call_after_the_fit() -> None:
    closed: list[bool] = []

    def inside(x: Any) -> Any:
        assert not closed
        return x.sum(axis=-1)

    fitted = make().fit(ConstrainedProblem(lambda X: (X**2).sum(axis=1), BOX, NonlinearConstraint(inside, 1.0, np.inf)))
    closed.append(True)
    assert fitted.max_violation_ < 1.0


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_no_numbers(bad: float) -> None:
    def partly(X: Any, Y: Any) -> Any:
        return np.where(X[:, :1] < 0, bad, game(X, Y))

    solver = make(max_iter=40).fit(partly, BOX, BOX)
    assert solver.x_[0] >= 0
    assert abs(solver.fun_) < 0.1
    with pytest.warns(RuntimeWarning, match="no value of the objective was finite"):
        blind = make().fit(lambda X, Y: np.full((len(X), len(Y)), bad), BOX, BOX)
    assert not blind.converged_
    assert blind.message_.startswith(f"No value of {blind.n_evals_} evaluations was finite.")


@pytest.mark.gpu
class TestOnGpu:
    @pytest.mark.parametrize("problem", ["minmax/rustem5", "minmax/damped_cosine", "fabris2012/p3", "fabris2012/p6"])
    @pytest.mark.parametrize("name", SIDES)
    def test_same_bits_as_the_cpu(self, name: str, problem: str) -> None:
        for n_runs in (1, 3):
            cpu, gpu = (make(algorithm_x=side(name), n_runs=n_runs, device=d).fit(problem) for d in ("cpu", "cuda"))
            assert same(cpu, gpu, scratch=name not in ("lsrtde", "rdex"))

    @pytest.mark.parametrize("dim", [2, 17, 100, 300])
    @pytest.mark.parametrize("dtype", ["float64", "float32"])
    def test_dimensions(self, dim: int, dtype: str) -> None:
        cpu, gpu = (make(n_runs=2, device=d, dtype=dtype).fit("fabris2012/p1", dim=dim) for d in ("cpu", "cuda"))
        assert same(cpu, gpu)

    @pytest.mark.parametrize("problem", ["fabris2012/p2", "fabris2012/p5"])
    def test_multipliers_that_evolve(self, problem: str) -> None:
        cpu, gpu = (
            MinMaxSolver.fabris2012(max_iter=5, n_runs=3, random_state=1, device=d).fit(problem)
            for d in ("cpu", "cuda")
        )
        assert same(cpu, gpu)

    def test_several_gpus(self) -> None:
        n = find_gpus()[0]
        for f, boxes in (("minmax/rustem5", ()), ("fabris2012/p3", ()), (game, (BOX, BOX))):
            one = make(n_runs=4, device="cuda").fit(f, *boxes)
            assert same(make(n_runs=4, device=[f"cuda:{k % n}" for k in range(2)]).fit(f, *boxes), one)

    def test_many_runs(self) -> None:
        cpu, gpu = (make(n_runs=500, max_iter=3, device=d).fit("minmax/rustem5") for d in ("cpu", "cuda"))
        assert same(cpu, gpu)

    def test_functions_of_arrays(self) -> None:
        inside = make(device="cuda", n_runs=2).fit("minmax/rustem5")
        problem = get_problem("minmax/rustem5")
        outside = make(device="cuda", n_runs=2).fit(lambda X, Y: problem(X, Y), problem.bounds_x, problem.bounds_y)
        assert same(inside, outside)
        solver = make(device="cuda", max_iter=60).fit(game, BOX, BOX)
        assert abs(solver.fun_) < 1e-2
        assert solver.saddle_gap_ < 1e-2

    def test_constraints_of_arrays(self) -> None:
        solver = make(device="cuda", max_iter=60, gens_x=10).fit(ring())
        assert solver.fun_ == pytest.approx(-np.sqrt(2), abs=1e-4)

    def test_resumes_on_another_device(self, tmp_path: Path) -> None:
        whole = make().fit("fabris2012/p3")
        make(device="cuda", max_iter=3).fit("fabris2012/p3").save(tmp_path / "part.skde")
        loaded = MinMaxSolver.load(tmp_path / "part.skde", device="cpu")
        assert same(loaded.set_params(max_iter=6).resume(), whole)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_an_objective_that_fails_outside_of_the_feasible_region_ends_no_fit(n_jobs: int | None) -> None:
    def log_barrier(x: Any) -> float:
        if x.sum() > 1:
            raise FloatingPointError("no logarithm")
        return float(-np.log(1.0 + 1e-9 - x.sum()) + ((x - 0.4) ** 2).sum())

    problem = ConstrainedProblem(log_barrier, [(0, 1)] * 4, LinearConstraint(np.ones(4), -np.inf, 1))
    with pytest.raises(FloatingPointError, match="no logarithm"):
        make(max_iter=2).fit(problem)
    with pytest.warns(RuntimeWarning, match=r"raised FloatingPointError\('no logarithm'\)") as caught:
        solver = make(max_iter=20, on_error="nan", n_jobs=n_jobs).fit(problem)
    assert len(caught) == 1
    assert solver.max_violation_ <= 1e-6
    assert np.isfinite(solver.fun_)
    assert (solver.n_iter_, solver.result_.status) == (20, Status.LIMIT)


def test_an_objective_of_arrays_cannot_fail_for_single_points() -> None:
    for vectorized in ("auto", True):
        problem = ConstrainedProblem(
            lambda X: X[:, 0], BOX, LinearConstraint([1, 1, 1], -np.inf, 1), vectorized=vectorized
        )
        with pytest.raises(ValueError, match=r"on_error='nan' is for a .*function of one point"):
            make(on_error="nan").fit(problem)
    with pytest.raises(ValueError, match="on_error='nan' is for a Python function of one point"):
        make(on_error="nan").fit("fabris2012/p3")
