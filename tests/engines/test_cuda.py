"""Tests of the CUDA engine that need a GPU, in addition to the contract tests."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from skde import DE, GODE, JDE, DeviceObjective, Migration, Minimizer, get_problem
from skde.algorithms import get_algorithm
from skde.algorithms.de import strategies
from skde.benchmark.generations import constant_size, new_batch
from skde.engines import choose_device
from skde.engines.gpu import graph_replay
from skde.utils.arrays import array_namespace

pytestmark = pytest.mark.gpu
BOX = [(-5.0, 5.0)] * 30


def squares(X: Any) -> Any:
    """Return a row's sum of squares, in X's library."""
    return (X * X).sum(axis=1)


def same(first: Minimizer, second: Minimizer) -> bool:
    """Whether two fits ended with the same bits."""
    return np.array_equal(first.population_, second.population_) and np.array_equal(first.fitness_, second.fitness_)


@pytest.mark.parametrize("strategy", strategies())
@pytest.mark.parametrize(
    ("kind", "problem", "dim", "pop_size", "n_runs"),
    [
        (DE, "rastrigin", 30, 48, 1),
        (JDE, "rotated_rastrigin", 100, 60, 3),
        (JDE, "schwefel_1_2", 131, 40, 2),
        (DE, "ackley", 5, 700, 40),  # more individuals than the machine holds at once
    ],
)
def test_persistent_driver_equals_the_cpu(
    strategy: str, kind: Any, problem: str, dim: int, pop_size: int, n_runs: int
) -> None:
    algorithm = kind(strategy=strategy, pop_size=pop_size)
    options: dict[str, Any] = {"max_iter": 40, "n_runs": n_runs, "random_state": 3}
    gpu = Minimizer(algorithm, device="cuda", **options).fit(problem, dim=dim)
    cpu = Minimizer(algorithm, device="cpu", **options).fit(problem, dim=dim)
    assert same(gpu, cpu)
    assert [run.fun for run in gpu.runs_] == [run.fun for run in cpu.runs_]


@pytest.mark.parametrize(
    ("algorithm", "problem", "dim", "n_runs", "options"),
    [
        (DE(pop_size=250), "janssen2024/F9", 100, 30, {}),
        (JDE(pop_size=100), "janssen2024/F7", 100, 30, {"dtype": "float32"}),
        (DE(pop_size=613), "janssen2024/F8", 50, 9, {}),
        (GODE(pop_size=300), "janssen2024/F1", 30, 10, {"n_islands": 3}),
        (DE(pop_size=250), "rotated_rastrigin", 130, 30, {}),
        (DE(pop_size=250), "rotated_rastrigin", 37, 30, {}),
        (DE(pop_size=250), "rotated_rastrigin", 70, 30, {"dtype": "float32"}),
        (JDE(pop_size=250), "shifted_rosenbrock", 100, 30, {}),
    ],
)
def test_several_trials_together_equal_the_cpu(
    algorithm: Any, problem: str, dim: int, n_runs: int, options: dict[str, Any]
) -> None:
    """A multiprocessor has many teams, and a team evaluates several trials together if there is a matrix."""
    gpu, cpu = (
        Minimizer(algorithm, max_iter=6, n_runs=n_runs, random_state=0, device=device, **options).fit(problem, dim=dim)
        for device in ("cuda", "cpu")
    )
    assert same(gpu, cpu)
    assert [run.fun for run in gpu.runs_] == [run.fun for run in cpu.runs_]


@pytest.mark.parametrize(
    ("algorithm", "trials"), [(constant_size("shade", 250), 4), (get_algorithm("lshade", pop_size=250), 1)]
)
def test_populations_that_shrink_have_one_trial_at_a_time(algorithm: Any, trials: int) -> None:
    """Else places without a trial would be evaluated, too."""
    engine = choose_device("cuda")[0]
    batch = new_batch(engine, algorithm, get_problem("janssen2024/F8", dim=100), 30, 3)
    assert batch.program.plan.trials_shared == trials


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_too_large_for_shared_memory(dtype: str) -> None:
    """Trials and scratch are then in the new population and in the workspace."""
    options: dict[str, Any] = {"max_iter": 5, "random_state": 0, "dtype": dtype}
    algorithm = DE(pop_size=9)
    problem = "shifted_rosenbrock"
    gpu = Minimizer(algorithm, device="cuda", **options).fit(problem, dim=20_011)
    cpu = Minimizer(algorithm, device="cpu", **options).fit(problem, dim=20_011)
    assert same(gpu, cpu)


def test_stopping_rules_end_runs_alike() -> None:
    # Schwefel's minimum is not zero, so its population converges relative to the mean.
    for problem, rule in (("sphere", {"target": 1e-3}), ("schwefel", {"tol": 1e-2}), ("sphere", {"stagnation": 7})):
        options: dict[str, Any] = {"max_iter": 3000, "n_runs": 5, "random_state": 0, **rule}
        gpu = Minimizer(DE(pop_size=50), device="cuda", **options).fit(problem, dim=10)
        cpu = Minimizer(DE(pop_size=50), device="cpu", **options).fit(problem, dim=10)
        assert [(run.n_iter, run.status) for run in gpu.runs_] == [(run.n_iter, run.status) for run in cpu.runs_]
        assert gpu.n_iter_ < 3000


def test_history_is_the_cpus() -> None:
    gpu = Minimizer("jde", max_iter=1000, random_state=0, device="cuda").fit("rastrigin", dim=10)
    cpu = Minimizer("jde", max_iter=1000, random_state=0, device="cpu").fit("rastrigin", dim=10)
    assert np.array_equal(gpu.history_.best, cpu.history_.best)
    assert np.array_equal(gpu.history_.n_evals, cpu.history_.n_evals)


@pytest.mark.parametrize("strategy", ["rand/1/bin", "current-to-pbest/1/exp"])
def test_graph_equals_step(strategy: str) -> None:
    options: dict[str, Any] = {"max_iter": 300, "random_state": 0, "device": "cuda", "n_runs": 2}
    graph = Minimizer(JDE(strategy), execution="graph", **options).fit(squares, bounds=BOX)
    step = Minimizer(JDE(strategy), execution="step", **options).fit(squares, bounds=BOX)
    assert same(graph, step)
    assert graph.n_iter_ == 300


def test_graph_stops_at_a_target() -> None:
    options: dict[str, Any] = {"target": 1e-3, "max_iter": 5000, "random_state": 0, "device": "cuda"}
    graph = Minimizer("jde", execution="graph", **options).fit(squares, bounds=BOX)
    step = Minimizer("jde", execution="step", **options).fit(squares, bounds=BOX)
    assert graph.n_iter_ == step.n_iter_ < 5000
    assert graph.converged_


def test_graph_refuses_functions_that_it_cannot_record() -> None:
    import cupy

    def reads_back(X: Any) -> Any:
        return cupy.asarray((X.get() ** 2).sum(axis=1))

    with pytest.raises(RuntimeError, match=r"execution='graph'.*cannot be recorded"):
        Minimizer("jde", max_iter=10, random_state=0, device="cuda", execution="graph").fit(reads_back, bounds=BOX)
    m = Minimizer("jde", max_iter=10, random_state=0, device="cuda").fit(reads_back, bounds=BOX)
    assert m.n_iter_ == 10


LONG: dict[str, Any] = {"max_iter": 400, "random_state": 0, "device": "cuda"}


def rastrigin(X: Any) -> Any:
    """Return Rastrigin's function, in X's library."""
    return (X * X - 10.0 * array_namespace(X).cos(2.0 * np.pi * X) + 10.0).sum(axis=1)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"n_runs": 3, "target": 150.0},
        {"n_islands": 4, "migration": Migration(every=9)},
        {"dtype": "float32"},
        {"algorithm": "shade"},
        {"algorithm": "pso"},
        {"algorithm": GODE(pop_size=30)},
    ],
    ids=["defaults", "target", "islands", "float32", "shade", "pso", "gode"],
)
def test_auto_records_and_equals_step(
    parameters: dict[str, Any], capsys: Any, monkeypatch: Any, without_jax: None
) -> None:
    # Other processes on the device make each generation longer, and so the host's share smaller.
    monkeypatch.setattr(graph_replay, "LEAST_SHARE", 0.0)
    parameters = {"algorithm": "jde", **LONG, **parameters}
    auto = Minimizer(verbose=1, **parameters).fit(rastrigin, bounds=BOX)
    assert "skde: execution='auto' chose 'graph'" in capsys.readouterr().out
    for execution in ("step", "graph"):
        other = Minimizer(execution=execution, **parameters).fit(rastrigin, bounds=BOX)
        assert same(auto, other)
        assert [(run.fun, run.n_iter, run.n_evals) for run in auto.runs_] == [
            (run.fun, run.n_iter, run.n_evals) for run in other.runs_
        ]


def test_auto_goes_by_steps_where_a_recording_fails(
    capsys: Any, without_jax: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    import cupy

    monkeypatch.setattr(graph_replay, "LEAST_SHARE", 0.0)  # other processes may use the GPU
    noise = cupy.random.default_rng(0)

    def reads_back(X: Any) -> Any:
        return cupy.asarray((X.get() ** 2).sum(axis=1))

    def curand(X: Any) -> Any:
        return squares(X) + cupy.random.RandomState(0).rand(len(X))

    def noisy(X: Any) -> Any:
        return squares(X) + noise.random(len(X))

    for function, reason in (
        (reads_back, "captur"),
        (curand, ""),
        (noisy, ""),
    ):
        m = Minimizer("jde", verbose=1, **LONG).fit(function, bounds=BOX)
        out = capsys.readouterr().out
        assert "execution='auto' chose 'step': " in out, function.__name__
        assert reason in out.lower(), function.__name__
        assert m.n_iter_ == 400
    step = Minimizer("jde", execution="step", **LONG).fit(reads_back, bounds=BOX)
    assert same(step, Minimizer("jde", **LONG).fit(reads_back, bounds=BOX))


def test_values_that_only_the_recording_computes_are_noticed(capsys: Any, without_jax: None) -> None:
    """A function may work on its own stream, which a recording does not contain."""
    import cupy

    elsewhere = cupy.cuda.Stream(non_blocking=True)
    values = cupy.empty(100)

    def outside(X: Any) -> Any:
        if len(X) != len(values):
            return squares(X)
        if not cupy.cuda.get_current_stream().is_capturing():
            cupy.cuda.get_current_stream().synchronize()
        with elsewhere:
            values[...] = squares(X)
        elsewhere.synchronize()
        return values

    auto = Minimizer("jde", verbose=1, **LONG).fit(outside, bounds=BOX)
    assert "chose 'step': " in capsys.readouterr().out
    assert same(auto, Minimizer("jde", execution="step", **LONG).fit(squares, bounds=BOX))


def test_step_never_records(monkeypatch: pytest.MonkeyPatch, without_jax: None) -> None:
    from skde.engines.gpu.engine import CudaEngine

    def record(*arguments: Any) -> None:
        raise AssertionError("recorded")

    # Other processes on the device make each generation longer, and so the host's share smaller.
    monkeypatch.setattr(graph_replay, "LEAST_SHARE", 0.0)
    monkeypatch.setattr(CudaEngine, "record", record)
    assert Minimizer("jde", execution="step", **LONG).fit(squares, bounds=BOX).n_iter_ == 400
    with pytest.raises(AssertionError, match="recorded"):
        Minimizer("jde", **LONG).fit(squares, bounds=BOX)


def test_numpy_values_for_a_gpu_population_are_refused() -> None:
    with pytest.raises(TypeError, match="must be a CuPy array"):
        Minimizer("jde", max_iter=3, device="cuda").fit(lambda X: np.zeros(len(X)), bounds=BOX)


def test_ask_and_tell_in_cupy_arrays() -> None:
    import cupy

    m = Minimizer("de", bounds=BOX, max_iter=60, random_state=0, device="cuda")
    while not m.stopped_:
        X = m.ask()
        assert isinstance(X, cupy.ndarray)
        m.tell(X, squares(X))
    fitted = Minimizer("de", max_iter=60, random_state=0, device="cuda").fit(squares, bounds=BOX)
    assert same(m, fitted)
    assert isinstance(m.x_, np.ndarray)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_device_objective_equals_the_cpu(objective_with_scratch: DeviceObjective, dtype: str) -> None:
    options: dict[str, Any] = {"max_iter": 100, "random_state": 0, "dtype": dtype}
    gpu = Minimizer("jde", device="cuda", **options).fit(objective_with_scratch, bounds=BOX)
    cpu = Minimizer("jde", device="cpu", **options).fit(objective_with_scratch, bounds=BOX)
    assert same(gpu, cpu)


def test_time_limit_and_callbacks_end_fits() -> None:
    Minimizer("jde", max_iter=1, device="cuda").fit("rotated_rastrigin", dim=100)  # compiles the kernel
    seen: list[int] = []
    m = Minimizer("jde", max_time=0.5, device="cuda", callbacks=lambda progress: seen.append(progress.n_iter))
    m.fit("rotated_rastrigin", dim=100)
    assert 0.4 < m.time_ < 0.6
    assert len(seen) >= 8  # about every 40 ms
    assert seen == sorted(seen)


def test_saved_on_the_gpu_resumed_on_the_cpu(tmp_path: Any) -> None:
    path = tmp_path / "run.skde"
    Minimizer("jde", max_iter=30, random_state=0, device="cuda").fit("griewank", dim=20).save(path)
    resumed = Minimizer.load(path, device="cpu").set_params(max_iter=90).resume()
    whole = Minimizer("jde", max_iter=90, random_state=0, device="cuda").fit("griewank", dim=20)
    assert same(resumed, whole)


@pytest.mark.parametrize(("algorithm", "team"), [("pso", "Tile16"), ("de", "Tile8")])
def test_long_rows_with_vectors_have_larger_teams(algorithm: str, team: str) -> None:
    engine = choose_device("cuda")[0]
    batch = new_batch(engine, constant_size(algorithm, 5000), get_problem("sphere", dim=100), 1, 2)
    assert batch.program.plan.team == team


def test_auto_chooses_the_gpu_for_problems_and_the_cpu_for_functions() -> None:
    import cupy

    kinds: list[type] = []

    def f(X: Any) -> Any:
        kinds.append(type(X))
        return squares(X)

    Minimizer("jde", max_iter=2, random_state=0).fit(f, bounds=BOX)
    assert set(kinds) == {np.ndarray}
    m = Minimizer("jde", max_iter=2, random_state=0).fit("sphere", dim=30)
    assert m._fit.engine.name == "cuda:0"
    assert isinstance(get_problem("sphere", dim=3)(cupy.ones((2, 3))), cupy.ndarray)


def test_the_arrays_of_a_batch_take_few_allocations() -> None:
    """Each would take several calls of the driver, and a short fit as long as these."""
    import cupy

    sizes: list[int] = []

    def allocate(size: int) -> Any:
        sizes.append(size)
        return cupy.get_default_memory_pool().malloc(size)

    minimizer = Minimizer(DE(pop_size=20), max_iter=50, n_runs=3, random_state=0, device="cuda")
    with cupy.cuda.using_allocator(allocate):
        minimizer.fit("sphere", dim=5)
        assert len(minimizer.runs_) == 3
    assert 0 < len(sizes) <= 8
