"""Runs with a clock each: they end in time, wait for no other run, and do the same as a run alone until then."""

from __future__ import annotations

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import groupby
from threading import Lock, Timer
from typing import Any

import numpy as np
import pytest

from skde import DE, JADE, PSO, SS, DeviceObjective, Minimizer, get_problem
from skde.engines import choose_device
from skde.fit import execution
from skde.stopping import Status
from skde.tuning.targets import algorithm_target
from skde.tuning.targets.algorithm_target import SharedSeedMinimizer
from skde.tuning.targets.base import TargetJob, TargetLimits
from skde.tuning.targets.conversion import as_target

PROBLEM = get_problem("rotated_rastrigin", dim=10)
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
# A generation, or of scatter search an iteration, and what the system takes on a busy machine.
LATE = 0.2


def timed(algorithms: list[Any], seconds: float, problem: Any = PROBLEM, **options: Any) -> SharedSeedMinimizer:
    minimizer = SharedSeedMinimizer(algorithms, n_runs=len(algorithms), max_time=1e9, random_state=5, **options)
    minimizer.run_seconds = seconds
    minimizer.fit(problem)
    return minimizer


def alone(algorithm: Any, generations: int, problem: Any = PROBLEM, **options: Any) -> Minimizer:
    return Minimizer(algorithm, max_iter=generations, random_state=5, **options).fit(problem)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "algorithms",
    [
        [DE(pop_size=8), DE(pop_size=200, F=0.7), DE(pop_size=40, CR=0.2)],
        [PSO(pop_size=8), PSO(pop_size=200)],
        [JADE(pop_size=10), JADE(pop_size=100)],
        [SS(n_local=2), SS(n_local=3, lambda_=0.2)],
    ],
    ids=lambda algorithms: algorithms[0].name,
)
def test_runs_end_in_time_and_are_those_without_clocks(algorithms: list[Any], device: str) -> None:
    found = timed(algorithms, 0.15, device=device, n_jobs=1)
    assert len({run.n_iter for run in found.runs_}) == len(algorithms)  # each went its own way
    for algorithm, run in zip(algorithms, found.runs_, strict=True):
        assert run.status == Status.TIME
        assert 0.15 <= run.time < 0.15 + LATE
        assert (np.diff(run.history.seconds) > 0).all()
        assert run.history.seconds[-1] == run.time
        same = alone(algorithm, run.n_iter, device=device, n_jobs=1).runs_[0]
        assert np.array_equal(same.x, run.x)
        assert same.fun == run.fun
        assert same.n_evals == run.n_evals > 1000
        assert np.array_equal(same.history.best, run.history.best)


def test_threads_that_share_a_run_agree_on_its_end() -> None:
    problem, algorithm = get_problem("rastrigin", dim=50), DE(pop_size=400)
    (run,) = timed([algorithm], 0.2, problem, n_jobs=2).runs_
    assert run.status == Status.TIME
    assert 0.2 <= run.time < 0.2 + LATE
    same = alone(algorithm, run.n_iter, problem, n_jobs=1).runs_[0]
    assert np.array_equal(same.x, run.x)
    assert same.n_evals == run.n_evals


@pytest.mark.parametrize("device", DEVICES)
def test_other_rules_come_before_the_clock(device: str) -> None:
    algorithms = [DE(pop_size=20), DE(pop_size=20, F=0.0, CR=0.0)]
    sphere = get_problem("sphere", dim=5)
    found = timed(algorithms, 0.3, sphere, device=device, target=1e-6)
    first, second = found.runs_
    assert (first.status, second.status) == (Status.TARGET, Status.TIME)
    assert first.time < 0.2
    same = Minimizer(algorithms[0], target=1e-6, max_iter=10_000, random_state=5, device=device).fit(sphere).runs_[0]
    assert (same.fun, same.n_evals) == (first.fun, first.n_evals)


def test_limits_of_generations_and_callbacks_end_them_too() -> None:
    found = timed([DE(pop_size=20)], 10.0, max_iter=7)
    assert [(run.status, run.n_iter) for run in found.runs_] == [(Status.LIMIT, 7)]
    before = time.perf_counter()
    found = timed([DE(pop_size=20)], 10.0, callbacks=lambda progress: time.perf_counter() - before > 0.2)
    assert found.runs_[0].status == Status.CALLBACK
    assert 0.1 < found.runs_[0].time < 1.0


def test_islands_have_no_clocks() -> None:
    with pytest.raises(ValueError, match="run_seconds must be None with islands"):
        timed([DE(pop_size=20)], 1.0, n_islands=2)


def test_runs_without_a_value_have_their_time() -> None:
    with pytest.warns(RuntimeWarning, match="no value of the objective was finite"):
        found = timed([DE(pop_size=20)], 0.3, DeviceObjective("return infinity() * 0.0;"), bounds=[(-1.0, 1.0)] * 3)
    assert found.runs_[0].status == Status.TIME


def test_experiments_of_a_batch_have_their_seconds_each() -> None:
    """Two threads do two at a time, and evaluations are those of each."""
    jobs = [TargetJob(number, {"pop_size": size}, 0, PROBLEM, 7) for number, size in enumerate((10, 50, 20, 100))]
    begin = time.perf_counter()
    outcomes = list(as_target("de", TargetLimits(0.2), 2, "cpu").run(jobs))
    assert time.perf_counter() - begin < 0.4 + 2 * LATE
    assert all(outcome.n_evals % job.params["pop_size"] == 0 for outcome, job in zip(outcomes, jobs, strict=True))
    assert all(outcome.n_evals > 1000 for outcome in outcomes)
    assert all(0.1 <= outcome.seconds < 0.1 + LATE for outcome in outcomes)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("told", ["this thread", "another"])
def test_prepared_batches_end_after_an_interruption(
    device: str, told: str, ctrl_c: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever thread the system gives the signal to."""
    if device == "cpu":  # which runs one batch at a time
        monkeypatch.setattr(algorithm_target, "gpu_threads", lru_cache(lambda device: ThreadPoolExecutor(2)))
    target = as_target("de", TargetLimits(30.0), 1, device)
    target.threaded = True
    begun: list[int] = []
    run = target.run_alike
    monkeypatch.setattr(target, "run_alike", lambda jobs: (begun.append(len(jobs)), run(jobs))[1])
    jobs = [TargetJob(number, {"pop_size": size}, number, PROBLEM, 7) for number, size in enumerate((10, 50, 20, 30))]
    algorithm_target.gpu_threads(device).submit(time.sleep, 0.0).result()  # threads take over what is blocked here
    begin = time.perf_counter()
    Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    if told == "another":
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        with pytest.raises(KeyboardInterrupt):
            list(target.run(jobs))
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    algorithm_target.gpu_threads(device).shutdown()  # waits for its batches
    algorithm_target.gpu_threads.cache_clear()
    assert time.perf_counter() - begin < 20.0
    if device == "cpu":
        assert begun == [1, 1]  # no later batch began
    with pytest.raises(KeyboardInterrupt):  # what was cut short is no result
        target.begin_batch(jobs[0], [DE(pop_size=10)])


def test_batches_with_clocks_are_always_full() -> None:
    """Alone, a run would have both threads, and come further than others on the same step."""
    target = as_target("de", TargetLimits(0.1), 2, "cpu")
    jobs = [TargetJob(number, {"pop_size": size}, 0, PROBLEM, 7) for number, size in enumerate((10, 50, 20))]
    batch = target.begin_batch(jobs[2], [DE(pop_size=20)])
    assert [run.seed for run in batch.runs_] == [batch.runs_[0].seed] * 2
    outcomes = list(target.run(jobs))
    assert [outcome.n_evals % job.params["pop_size"] for outcome, job in zip(outcomes, jobs, strict=True)] == [0] * 3
    by_evals = as_target("de", TargetLimits(0.1, 500), 2, "cpu")
    assert len(by_evals.begin_batch(jobs[2], [DE(pop_size=20)]).runs_) == 1


def test_prepared_batches_keep_their_order() -> None:
    """Here they run at the same time, as the CPU does not make them wait for each other."""
    problems = [get_problem("sphere", dim=dim) for dim in (2, 3, 4)]
    jobs = [TargetJob(k, {"pop_size": 10 + k}, k // 2, problems[k // 2], 7) for k in range(6)]
    target = as_target("de", TargetLimits(0.2), 2, "cpu")
    target.threaded = True
    begin = time.perf_counter()
    outcomes = list(target.run(jobs))
    assert time.perf_counter() - begin < 0.2 + 2 * LATE
    assert all(outcome.n_evals % job.params["pop_size"] == 0 for outcome, job in zip(outcomes, jobs, strict=True))
    # The time that a batch waited for another does not count.
    assert sum(outcome.seconds for outcome in outcomes) < 0.2 + 2 * LATE


@pytest.mark.parametrize("device", DEVICES)
def test_one_batch_runs_at_a_time_while_others_are_made_ready(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = type(choose_device(device)[0])
    monkeypatch.setattr(execution, "SLICE_SECONDS", 0.02)  # others have many places to come in between
    if device == "cpu":  # which does not make batches wait for each other
        monkeypatch.setattr(engine, "exclusive", Lock())
    target = as_target("de", TargetLimits(0.2), 1, device)
    target.threaded = True
    jobs = [TargetJob(k, {"pop_size": 10 + k}, k, PROBLEM, 7) for k in range(8)]
    load, run = engine.load, engine.run
    loaded: list[Any] = []
    slices: list[int] = []

    def noted_load(self: Any, batch: Any, objective: Any) -> None:
        load(self, batch, objective)
        loaded.append(batch)

    def noted_run(self: Any, batch: Any, begin: int, until: int) -> None:
        """Wait for another batch to be ready: no run's clock is on between slices."""
        run(self, batch, begin, until)
        slices.append(loaded.index(batch))
        while len(loaded) < min(len(set(slices)) + 1, 8) and time.monotonic() < deadline:
            time.sleep(0.01)

    monkeypatch.setattr(engine, "load", noted_load)
    monkeypatch.setattr(engine, "run", noted_run)
    deadline = time.monotonic() + 120.0
    list(target.run(jobs))
    assert time.monotonic() < deadline
    assert len(slices) > 5 * 8
    assert len([batch for batch, _ in groupby(slices)]) == len(set(slices)) == 8


@pytest.mark.gpu
def test_batches_have_the_gpu_for_themselves() -> None:
    """Prepared batches do not slow the running one down, and there are no pauses between batches."""
    problems = [get_problem(name, dim=30) for name in ("sphere", "rastrigin", "ackley")]
    target = as_target(DE(strategy="rand/1/bin"), TargetLimits(0.5), 1, "cuda")

    def jobs(batches: int) -> list[TargetJob]:
        return [TargetJob(k, {"pop_size": 20 + k}, b, problems[b % 3], 7) for b in range(batches) for k in range(100)]

    def evals_alone() -> int:
        batches = (jobs(3)[100 * batch : 100 * batch + 100] for batch in range(3))
        return sum(outcome.n_evals for batch in batches for outcome in target.run(batch))

    def together_as_alone() -> bool:
        before, begin = evals_alone(), time.perf_counter()
        together = sum(outcome.n_evals for outcome in target.run(jobs(9))) / 3
        in_time = time.perf_counter() - begin < 1.25 * 9 * 0.5
        few, many = sorted((before, evals_alone()))
        return in_time and 0.9 * few < together < 1.1 * many

    list(target.run(jobs(3)))  # compiles
    assert any(together_as_alone() for _ in range(5))  # other processes on this GPU may come or go


@pytest.mark.gpu
def test_a_hundred_experiments_of_a_second_take_about_a_second() -> None:
    jobs = [TargetJob(number, {"pop_size": 8 + 2 * number}, 0, PROBLEM, 7) for number in range(124)]
    list(as_target("de", TargetLimits(0.05), 1, "cuda").run(jobs))  # compiles, for as many runs as there will be
    target = as_target("de", TargetLimits(1.0), 1, "cuda")
    begin = time.perf_counter()
    outcomes = list(target.run(jobs))
    assert time.perf_counter() - begin < 3.0
    assert all(outcome.n_evals > 1000 for outcome in outcomes)
