"""The public interface of Minimizer."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from typing import Any

import joblib
import numpy as np
import pytest
import scipy.optimize
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from threadpoolctl import threadpool_limits

import skde
from skde import (
    DE,
    JDE,
    Algorithm,
    DeviceObjective,
    History,
    Minimizer,
    Problem,
    Progress,
    RunResult,
    Status,
    get_problem,
    minimize,
    scipy_method,
)
from skde.engines import CpuEngine, single_generations
from skde.stopping import MESSAGES
from skde.testing.base import PROBE_CALLS
from skde.utils.random_state import run_seeds

BOX = [(-5.0, 5.0)] * 3


def f(X: Any) -> Any:
    """Sum of squares of many points."""
    return (X * X).sum(axis=1)


def point(x: Any) -> float:
    """Sum of squares of one point."""
    return float(x @ x)


def make(algorithm: Any = "jde", **parameters: Any) -> Minimizer:
    """Return a Minimizer for a short, repeatable fit on the CPU."""
    return Minimizer(algorithm, **{"max_iter": 40, "random_state": 0, "device": "cpu", **parameters})


# -- parameters and results --------------------------------------------------------------------------------------------


def test_parameters_as_scikit_learn_has_them() -> None:
    m = Minimizer(DE(F=0.7), max_iter=3)
    assert m.get_params()["algorithm__F"] == 0.7
    copy = clone(m).set_params(algorithm__F=0.4, max_iter=5)
    assert (copy.algorithm.F, m.algorithm.F) == (0.4, 0.7)
    assert "DE(F=0.7)" in repr(m)
    with pytest.raises(ValueError, match="Invalid parameter 'Fx'"):
        m.set_params(algorithm__Fx=1)
    assert all(issubclass(kind, Algorithm) for kind in (DE, JDE))


def test_results() -> None:
    m = make(n_runs=3).fit("rastrigin", dim=4)
    best = min(m.runs_, key=lambda run: run.fun)
    assert isinstance(best, RunResult)
    assert isinstance(m.history_, History)
    assert m.x_.shape == (4,)
    assert m.population_.shape == (100, 4)
    assert m.fitness_.shape == (100,)
    assert m.fun_ == best.fun == get_problem("rastrigin", dim=4)(m.x_)
    assert (m.n_iter_, m.n_evals_, m.converged_) == (40, 4100, False)
    assert m.message_ == MESSAGES[Status.LIMIT]
    assert 0 < m.time_ < 5
    result = m.result_
    assert (result.nfev, result.nit, result.success, result.status) == (3 * 4100, 40, False, Status.LIMIT)
    assert np.array_equal(result.population_energies, m.fitness_)


def test_a_fit_without_limits_ends() -> None:
    assert Minimizer("jde", random_state=0, device="cpu").fit("sphere", dim=2).n_evals_ == 20_000


def test_minimize() -> None:
    result = minimize(
        lambda X, a: ((X - a) ** 2).sum(axis=1), BOX, args=(1.5,), method=DE(), max_iter=200, random_state=0
    )
    assert isinstance(result, scipy.optimize.OptimizeResult)
    assert np.allclose(result.x, 1.5, atol=1e-6)
    assert minimize("sphere", dim=3, max_iter=5, random_state=0).x.shape == (3,)


def test_as_a_method_of_scipy() -> None:
    seen: list[Any] = []
    method = scipy_method("de", random_state=0)
    result = scipy.optimize.minimize(
        scipy.optimize.rosen,
        [0.0, 0.0],
        method=method,
        bounds=[(-2, 2)] * 2,
        options={"max_iter": 150},
        callback=seen.append,
    )
    assert np.allclose(result.x, 1, atol=1e-4)
    assert len(seen) >= 150
    with pytest.raises(ValueError, match="need bounds"):
        scipy.optimize.minimize(scipy.optimize.rosen, [0.0, 0.0], method=method)


def test_scipy_method_takes_one_pair_of_bounds_for_all_variables() -> None:
    options = {"method": scipy_method("de", max_iter=20, random_state=0), "x0": [0.0, 0.0, 0.0]}
    every, one = (
        scipy.optimize.minimize(scipy.optimize.rosen, bounds=bounds, **options)
        for bounds in ([(-2, 2)] * 3, scipy.optimize.Bounds(-2, 2))
    )
    assert np.array_equal(every.x, one.x)


def test_scipy_method_calls_a_callback_with_a_result() -> None:
    seen = []

    def stop(intermediate_result: scipy.optimize.OptimizeResult) -> bool:
        seen.append(intermediate_result)
        return len(seen) == 3

    options = {"method": scipy_method("de", random_state=0), "bounds": [(-2, 2)] * 2, "callback": stop}
    result = scipy.optimize.minimize(scipy.optimize.rosen, [0.0, 0.0], **options)
    assert len(seen) == 3
    assert seen[-1].fun == result.fun == scipy.optimize.rosen(seen[-1].x)


def test_bounds_in_every_form() -> None:
    fits = [
        make().fit(f, bounds=BOX),
        make().fit(f, bounds=np.array(BOX)),
        make().fit(f, bounds=scipy.optimize.Bounds([-5] * 3, [5] * 3)),
        make().fit(f, bounds=scipy.optimize.Bounds(-5, 5), dim=3),
        make().fit(f, bounds=(-5, 5), dim=3),
        make(bounds=BOX).fit(f),
    ]
    assert len({m.fun_ for m in fits}) == 1


# -- objectives --------------------------------------------------------------------------------------------------------


def test_a_function_of_one_point() -> None:
    plain = make().fit(lambda X: np.array([point(x) for x in X]), bounds=BOX)
    for n_jobs in (None, 2):
        m = make(vectorized=False, n_jobs=n_jobs).fit(lambda x: float(x @ x), bounds=BOX)
        assert np.array_equal(m.x_, plain.x_)


def test_a_function_of_one_point_on_any_backend() -> None:
    with joblib.parallel_config(backend="threading", n_jobs=2):
        m = make(vectorized=False).fit(point, bounds=BOX)
    assert np.array_equal(m.x_, make(vectorized=False).fit(point, bounds=BOX).x_)


def test_a_function_may_spoil_its_argument() -> None:
    def spoils(X: Any) -> Any:
        values = f(X)
        X[:] = np.nan
        return values

    assert np.array_equal(make().fit(spoils, bounds=BOX).x_, make().fit(f, bounds=BOX).x_)


def test_stopped_runs_are_not_evaluated() -> None:
    counts: list[int] = []

    def counting(X: Any) -> Any:
        counts.append(len(X))
        return f(X)

    m = make(n_runs=4, target=5.0).fit(counting, bounds=BOX)
    assert {run.status for run in m.runs_} == {Status.TARGET}
    assert sum(counts[PROBE_CALLS:]) == sum(run.n_evals for run in m.runs_)


def test_device_objective_equals_the_built_in() -> None:
    body = "return team.sum(d, [&](int j) { return x[j] * x[j]; });"
    mine, built_in = make().fit(DeviceObjective(body), bounds=BOX), make().fit("sphere", dim=3, bounds=BOX)
    assert np.array_equal(mine.population_, built_in.population_)
    weighted = DeviceObjective("return team.max(d, [&](int j) { return w[j] * x[j]; });", {"w": [1.0, 3.0]})
    assert np.array_equal(weighted(np.array([[1.0, 2.0], [9.0, 1.0]])), [6.0, 9.0])
    single = make(dtype="float32").fit(DeviceObjective(body), bounds=BOX)
    assert single.population_.dtype == np.float32


def test_the_times_of_a_history_rise_from_the_first_generation_on() -> None:
    seconds = make().fit("sphere", bounds=BOX, dim=3).history_.seconds
    assert seconds[0] >= 0
    assert (np.diff(seconds) > 0).all()


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("other", [0.0, 1.0])
def test_later_generations_find_numbers_after_a_start_without(device: str, other: float) -> None:
    lowest = make(max_iter=0, device=device).fit("sphere", bounds=BOX, dim=3).population_[:, 0].min()
    body = "return x[0] < edge[0] ? x[0] : infinity() * edge[1];"  # NaN or infinite at first
    assert make(device=device).fit(DeviceObjective(body, {"edge": [lowest, other]}), bounds=BOX).fun_ < lowest


@pytest.mark.parametrize(("algorithm", "max_evals"), [("auto", 9001), ("cmaes", 1000)])
def test_small_populations_may_begin_with_nan(algorithm: str, max_evals: int) -> None:
    """All initial points of these seeds are in the part of the box that has no values."""
    edge = DeviceObjective("return x[0] < 3 ? infinity() * 0 : x[0] + abs_of(x[1]);")

    def function(X: Any) -> Any:
        return np.where(X[:, 0] < 3, np.nan, X[:, 0] + np.abs(X[:, 1]))

    def fitted(objective: Any, **parameters: Any) -> Minimizer:
        return Minimizer(algorithm, max_evals=max_evals, **parameters).fit(objective, bounds=[(-5.0, 5.0)] * 3)

    for seed in (2, 17):
        m = fitted(function, random_state=seed)
        assert 3 <= m.fun_ < 9
        assert m.fun_ == fitted(edge, random_state=seed).fun_
    batch = fitted(edge, random_state=2, n_runs=3)
    assert batch.runs_[0].fun == fitted(edge, random_state=2).fun_


def test_problems_bring_their_bounds() -> None:
    problem = get_problem("griewank", dim=6)
    assert isinstance(problem, Problem)
    m = make().fit(problem)
    assert (np.abs(m.population_) <= 600).all()
    assert np.abs(make(max_iter=0).fit(problem).population_).max() > 500


# -- while it runs -----------------------------------------------------------------------------------------------------


def test_callbacks_see_the_progress() -> None:
    seen: list[tuple[int, int, float, float]] = []

    def look(progress: Progress) -> None:
        assert progress.x.shape == (3,)
        assert progress.funs.shape == (2,)
        seen.append((progress.n_iter, progress.n_evals, progress.fun, progress.seconds))

    m = make(n_runs=2, callbacks=[look]).fit(f, bounds=BOX)
    assert [n for n, *_ in seen] == list(range(40))  # the limit ends the fit before it is looked at again
    assert [evals for _, evals, *_ in seen] == [200 * (n + 1) for n in range(40)]
    assert all(a[2] >= b[2] and a[3] <= b[3] for a, b in itertools.pairwise(seen))
    assert seen[-1][2] >= m.fun_


def test_a_callback_may_raise_stop_iteration() -> None:
    def stop(progress: Progress) -> None:
        if progress.n_iter == 7:
            raise StopIteration

    m = make(callbacks=stop).fit(f, bounds=BOX)
    assert (m.n_iter_, m.runs_[0].status) == (7, Status.CALLBACK)
    assert np.array_equal(m.set_params(callbacks=None).resume().x_, make().fit(f, bounds=BOX).x_)


def test_verbose_says_what_was_chosen_and_shows_a_bar(capsys: pytest.CaptureFixture[str]) -> None:
    make(device="auto", verbose=1).fit(f, bounds=BOX)
    captured = capsys.readouterr()
    assert "device='auto' chose cpu: a Python function may only know NumPy" in captured.out
    assert "best" in captured.err
    assert "4.10k/4.10k" in captured.err


# -- resources ---------------------------------------------------------------------------------------------------------


def test_threads() -> None:
    assert CpuEngine(3).threads == 3
    assert CpuEngine(-1).threads == joblib.cpu_count()
    with threadpool_limits(limits=1, user_api="openmp"):
        assert CpuEngine().threads == 1
    code = "from skde.engines import CpuEngine; print(CpuEngine().threads)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "OMP_NUM_THREADS": "5"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "5\n"


def test_importing_skde_loads_nothing_heavy() -> None:
    code = "import sys, skde; print([m for m in ('cupy', 'optuna', 'matplotlib', 'tqdm') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_public_names() -> None:
    names = ["de", "jde", "sade", "gade", "jade", "shade", "lshade", "jso", "nlshadersp", "arrde", "lsrtde", "rdex"]
    names += ["gode", "gojde", "soupde", "chc", "pso", "ss", "cmaes"]
    assert skde.algorithm_names() == names
    assert {"rastrigin", "nashed2012/f9", "qin2012/F4"} <= set(skde.problem_names())


# -- seeds -------------------------------------------------------------------------------------------------------------


def test_seeds() -> None:
    assert run_seeds(7, 3)[0] == 7
    assert len(set(run_seeds(7, 1000).tolist())) == 1000
    assert np.array_equal(run_seeds(7, 2), run_seeds(7, 5)[:2])
    assert run_seeds(2**64 - 1, 2)[0] == 2**64 - 1
    assert run_seeds(None, 1) != run_seeds(None, 1)
    for kind in (np.random.RandomState, np.random.default_rng):
        assert run_seeds(kind(1), 1) == run_seeds(kind(1), 1) != run_seeds(kind(2), 1)


@given(last=st.integers(0, 10**7))
@example(2**63 - 1)
def test_history_slots_are_the_sampled_generations(last: int) -> None:
    import skde._cpu as _cpu

    generations = _cpu.sampled_generations(last).tolist()
    assert len(generations) == _cpu.history_slots(last)
    assert [_cpu.history_slot(g) for g in generations] == list(range(len(generations)))
    unsampled = set(range(last, max(last - 50, 0), -1)) - set(generations)
    assert all(_cpu.history_slot(g) == -1 for g in unsampled)


# -- pauses ------------------------------------------------------------------------------------------------------------


def everything(m: Minimizer) -> list[Any]:
    """Return a run's result without its times."""
    return [(r.fun, r.n_evals, r.status, r.x.tolist(), r.history.best.tolist(), r.seed) for r in m.runs_]


@settings(max_examples=15)
@given(
    sizes=st.lists(st.integers(6, 25), min_size=1, max_size=3),
    strategy=st.sampled_from(["rand/1/bin", "best/2/exp", "current-to-pbest/1/bin"]),
    rule=st.sampled_from([{}, {"target": 20.0}, {"tol": 0.3}, {"stagnation": 5}]),
    pauses=st.lists(st.tuples(st.integers(0, 30), st.sampled_from(["run", "step"]), st.booleans()), max_size=4),
    max_evals=st.integers(200, 1500),
)
def test_any_pauses(
    tmp_path_factory: pytest.TempPathFactory,
    sizes: list[int],
    strategy: str,
    rule: dict[str, Any],
    pauses: list[tuple[int, str, bool]],
    max_evals: int,
) -> None:
    """Runs of different sizes that stop, are saved and go on in either driver end where the uninterrupted ones do."""
    path = tmp_path_factory.mktemp("pauses") / "fit.skde"
    algorithms = [JDE(strategy, pop_size=size) for size in sizes]
    options: dict[str, Any] = {"n_runs": len(sizes), "max_iter": None, "max_evals": max_evals, **rule}
    whole = make(algorithms, **options).fit("ackley", dim=6)
    m = make(algorithms, **options, callbacks=lambda progress: True).fit("ackley", dim=6)
    reached = 0
    for further, execution, saved in pauses:
        if saved:
            m.save(path)
            m = Minimizer.load(path)
        reached += further

        def far_enough(progress: Progress, limit: int = reached) -> bool:
            return progress.n_iter >= limit

        m.set_params(execution=execution, callbacks=far_enough).resume()
    m.set_params(callbacks=None).resume()
    assert everything(m) == everything(whole)


@pytest.mark.parametrize("execution", ["run", "step"])
def test_a_raised_limit_equals_one_long_fit(execution: str) -> None:
    """Also where the lower limit ended runs of different sizes at different generations."""
    algorithms = [DE(pop_size=size) for size in (10, 23, 50)]
    options: dict[str, Any] = {"n_runs": 3, "max_iter": None, "execution": execution}
    m = make(algorithms, max_evals=333, **options).fit("levy", dim=5)
    assert [run.n_evals for run in m.runs_] == [330, 322, 300]
    m.set_params(max_evals=1000).resume()
    assert everything(m) == everything(make(algorithms, max_evals=1000, **options).fit("levy", dim=5))


def test_warm_start_needs_the_same_box() -> None:
    m = make(warm_start=True).fit(f, bounds=BOX)
    with pytest.raises(ValueError, match="warm_start=True: the box differs"):
        m.fit(f, bounds=[(-6, 5)] * 3)
    assert m.n_iter_ == 40


# -- shapes and boxes --------------------------------------------------------------------------------------------------


@given(
    dim=st.integers(1, 140),
    pop_size=st.integers(6, 40),
    n_runs=st.integers(1, 3),
    dtype=st.sampled_from(["float32", "float64"]),
    strategy=st.sampled_from(["rand/1/bin", "rand/2/exp", "current-to-pbest/1/bin"]),
    low=st.floats(-1e6, 1e6),
    width=st.floats(1e-3, 1e6),
    seed=st.integers(0, 2**64 - 1),
)
def test_any_shape_and_box(
    dim: int, pop_size: int, n_runs: int, dtype: str, strategy: str, low: float, width: float, seed: int
) -> None:
    box = np.array([[low, low + width]] * dim)
    cast = box.astype(dtype)
    assume((cast[:, 0] < cast[:, 1]).all())
    assume(((cast == 0) == (box == 0)).all())
    shapes: list[tuple[int, ...]] = []

    def objective(X: Any) -> Any:
        shapes.append(X.shape)
        assert X.dtype == np.dtype(dtype)
        bounds = box.astype(X.dtype)
        assert (bounds[:, 0] <= X).all()
        assert (bounds[:, 1] >= X).all()
        return np.abs(X).sum(axis=1)

    algorithm = JDE(strategy, pop_size=pop_size)
    m = make(algorithm, n_runs=n_runs, dtype=dtype, max_iter=6, random_state=seed).fit(objective, bounds=box)
    assert set(shapes[PROBE_CALLS:]) == {(n_runs * pop_size, dim)}
    assert m.fun_ == m.fitness_.min() == objective(m.x_[None])[0]
    assert m.n_evals_ == 7 * pop_size


def test_an_end_between_stopped_and_ask_is_reported_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU is polled every few milliseconds, so that `ask` may be the first to see that all runs have ended."""
    solver = Minimizer(DE(pop_size=10), bounds=[(-5.0, 5.0)] * 2, max_iter=200, target=1e-3, random_state=0)
    solver.ask()
    monkeypatch.setattr(solver._fit.population.status_poll, "exact", False)
    monkeypatch.setattr(single_generations, "POLL_SECONDS", 1e9)
    while solver._fit.batch.host("status")[0] == Status.RUNNING:
        assert not solver.stopped_
        X = solver.ask()
        solver.tell(X, (X**2).sum(axis=1))
    assert not solver.stopped_
    found = solver.fun_
    monkeypatch.setattr(single_generations, "POLL_SECONDS", 0.0)
    X = solver.ask()
    solver.tell(X, np.zeros(10))  # which a run that has ended takes no notice of
    assert solver.stopped_
    assert 0 < solver.fun_ == found <= 1e-3
    with pytest.raises(RuntimeError, match="every run has ended"):
        solver.ask()
