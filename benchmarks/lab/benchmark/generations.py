"""Times of a generation inside the engine, for every algorithm on CPU and GPU."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from skde.algorithms import ALGORITHMS, DE, PSO, Algorithm, FitSetting, get_algorithm
from skde.algorithms.population_size import PopulationSchedule
from skde.engines import Batch, DeviceEngine, Spec
from skde.engines.state.spec_builder import build_spec
from skde.islands import Archipelago, Migration
from skde.problems import Problem, get_problem
from skde.utils.random_state import run_seeds

WARM_GENERATIONS = 100
GENERATIONS = 2000
REPEATS = 5
# Every algorithm on the same function with the same number of individuals throughout.
COMMON = ("rastrigin", 30, 100)


def new_spec(
    algorithm: Algorithm,
    problem: Problem,
    n_runs: int,
    last: int,
    migration: Migration | None = None,
    dtype: str = "float64",
) -> Spec:
    """Return the spec of a batch that runs up to generation `last`.

    With a migration, the runs are the islands of one run.
    """
    setting = FitSetting(problem.dim, max_iter=last)
    given = algorithm.kernel_parameters(setting)
    schedule = PopulationSchedule.from_parameters(algorithm.kernel, given)
    islands = migration.archipelago(n_runs, schedule.members) if migration else Archipelago()
    seeds, limits, start = run_seeds(0, n_runs), np.full(n_runs, last), np.zeros((0, problem.dim))
    return build_spec(
        [algorithm] * n_runs,
        [given] * n_runs,
        [schedule] * n_runs,
        setting,
        problem.bounds,
        seeds=seeds,
        limits=limits,
        start=start,
        islands=islands,
        dtype=np.dtype(dtype),
    )


def new_batch(
    engine: DeviceEngine,
    algorithm: Algorithm,
    problem: Problem,
    n_runs: int,
    last: int,
    migration: Migration | None = None,
    dtype: str = "float64",
) -> Batch:
    """Return a batch that is ready to run a problem up to generation `last`, without a Minimizer around it."""
    batch = engine.batch(new_spec(algorithm, problem, n_runs, last, migration, dtype))
    engine.load(batch, problem)
    return batch


def device_seconds(engine: DeviceEngine, work: Callable[[], None]) -> float:
    """Return the seconds of some work: by events on a GPU, by the clock on the CPU."""
    engine.synchronize()
    if engine.xp is np:
        begin = time.perf_counter()
        work()
        return time.perf_counter() - begin
    cuda = engine.xp.cuda
    start, end = cuda.Event(), cuda.Event()
    start.record()
    work()
    end.record()
    end.synchronize()
    return float(cuda.get_elapsed_time(start, end)) * 1e-3


def generation_us(
    engine: DeviceEngine, make: Callable[[int], Batch], generations: int, warm: int | None = None
) -> float:
    """Return the microseconds of a generation in one call of the engine, after `warm` generations.

    Each measurement has a new batch, because a converged population would not be typical of users' runs.
    """
    warm = WARM_GENERATIONS if warm is None else warm
    last = warm + generations
    batch = make(last)
    engine.run(batch, -1, warm)
    spent = device_seconds(engine, lambda: engine.run(batch, warm, last))
    if int(batch.host("generation").min()) != last:
        raise RuntimeError(f"only {batch.host('generation').min()} of {last} generations were done")
    return spent * 1e6 / generations


def constant_size(name: str, pop_size: int) -> Algorithm:
    """Return an algorithm with a population of constant size."""
    algorithm = get_algorithm(name, pop_size=pop_size)
    return algorithm.set_params(pop_min=pop_size) if algorithm.shrinks else algorithm


def measure_generations(engine: DeviceEngine, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """Return one row a figure: the setting, microseconds a generation, and the median ratio to de's."""
    name, dim, pop_size = COMMON
    makers: dict[str, tuple[dict[str, Any], Callable[[int], Batch]]] = {}

    def add(label: str, algorithm: Algorithm, problem: str, dim: int, runs: int = 1, **more: Any) -> None:
        setting = {"problem": problem, "dim": dim, "pop_size": algorithm.pop_size, "n_runs": runs}
        function = get_problem(problem, dim=dim)
        makers[label] = setting, lambda last: new_batch(engine, algorithm, function, runs, last, **more)

    for algorithm in ALGORITHMS:
        add(algorithm, constant_size(algorithm, pop_size), name, dim)
    for topology in ("ring", "random"):
        add(f"pso, {topology}", PSO(topology=topology, pop_size=pop_size), name, dim)
    add("pso, 125 particles", PSO(pop_size=125), "sphere", dim)
    add("de, 16 islands of 16", DE(pop_size=16), name, 100, 16, migration=Migration())
    times: dict[str, list[float]] = {label: [] for label in makers}
    for repeat in range(REPEATS + 1):
        for label, (_, make) in makers.items():
            if repeat == 0:
                say(label)
            times[label].append(generation_us(engine, make, GENERATIONS))
    rows = []
    for label, (setting, _) in makers.items():
        spent, de = times[label][1:], times["de"][1:]  # the first repeat compiled and warmed up
        ratio = median(a / b for a, b in zip(spent, de, strict=True))
        rows.append({"algorithm": label, **setting, "median": median(spent), "repeats": spent, "ratio to de": ratio})
    return rows
