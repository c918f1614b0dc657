"""Targets that are algorithms of skde, with many experiments as the runs of one batch."""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from functools import lru_cache
from itertools import cycle, groupby, islice
from threading import Event
from typing import Any

import numpy as np
from sklearn.base import clone

from skde.algorithms import Algorithm
from skde.engines import CpuEngine, Spec, choose_device, choose_engine
from skde.minimizer import Minimizer
from skde.problems import find_forms, get_problem
from skde.result import ignore_missing_values
from skde.stopping import Status
from skde.tuning.targets.base import Target, TargetJob, TargetLimits, TargetOutcome

# Runs of one batch; more would be no faster and need more memory.
MOST_RUNS = 128
# Batches of runs with clocks in progress on a GPU: one runs while others are compiled, which takes seconds, or read.
BATCHES_IN_PROGRESS = 5
POLL_SECONDS = 0.25
# Errors below count as reached.
ZERO = 1e-12


class ClockedMinimizer(Minimizer):
    """A Minimizer of compiled objectives with an optional clock for every run.

    Kernels are not specialised for values that the runs share: a run must not depend on the other runs of its batch.

    Attributes
    ----------
    run_seconds : float or None
        Time limit of every run by its clock. max_time then ends nothing, but has to be given as a stopping rule.
    """

    run_seconds: float | None = None

    def _customize_spec(self, spec: Spec) -> Spec:
        return replace(super()._customize_spec(spec), run_seconds=self.run_seconds, constants=())


class SharedSeedMinimizer(ClockedMinimizer):
    """A ClockedMinimizer that gives all runs the seed of the first: they differ in their parameters alone."""

    def _customize_spec(self, spec: Spec) -> Spec:
        spec = super()._customize_spec(spec)
        return replace(spec, seeds=np.full_like(spec.seeds, spec.seeds[0]))


class AlgorithmTarget(Target):
    """An algorithm of skde on problems; the cost is the best value found, less the minimum where that is known.

    Where constraints are violated the cost is infinite. Errors below 1e-12 are zero, because differences among them are
    rounding, which would decide a race by ranks.

    Different configurations on a step are runs of one batch. With a limit of seconds every run has its own clock, and
    the CPU runs as many at a time as it has threads; Python functions, for which the runs would share the time, run one
    after the other. The evaluations of a run in its time depend on the size of its batch, so these batches are always
    full: where jobs are missing, some run twice. While one batch runs on a GPU, the next are compiled and prepared.

    Parameters
    ----------
    algorithm : Algorithm
        The algorithm, with the values of the parameters that are not tuned.
    limits : TargetLimits
        Limits of one experiment.
    n_jobs : int or None
        Threads on the CPU.
    device : str
        "auto", "cpu", "cuda" or "cuda:N".
    vectorized : {"auto"} or bool, default "auto"
        Whether Python objectives take arrays of points, or one point; "auto": it is found out.
    """

    batched = True

    def __init__(
        self,
        algorithm: Algorithm,
        limits: TargetLimits,
        n_jobs: int | None,
        device: str,
        vectorized: bool | str = "auto",
    ) -> None:
        self.algorithm = algorithm
        self.vectorized = vectorized
        self.limits = limits
        self.n_jobs = n_jobs
        self.device = device
        engine = choose_engine(device, n_jobs)[0]
        self.timed = limits.evals is None and limits.seconds is not None
        self.on_gpu = not isinstance(engine, CpuEngine)
        self.parallel_runs = engine.threads if isinstance(engine, CpuEngine) else MOST_RUNS
        self.most_runs = self.parallel_runs if self.timed else MOST_RUNS
        self.threaded = self.timed and self.on_gpu
        self._ended = 0.0  # when the last batch did
        self._stop = Event()  # ends the batches in progress after an interruption

    def run(self, jobs: Sequence[TargetJob]) -> Generator[TargetOutcome]:
        """Yield the outcomes in the order of the jobs."""
        batches: list[list[TargetJob]] = []
        clocks = True
        for (_, seed), same in groupby(jobs, lambda job: (job.index, job.seed)):
            group = list(same)
            instance = instance_for_seed(group[0].instance, seed)
            has = has_clocks(instance, self.on_gpu)
            group = [replace(job, instance=instance) for job in group]
            most = self.most_runs if has or not self.timed else 1
            batches += [group[begin : begin + most] for begin in range(0, len(group), most)]
            clocks &= has
        if self.threaded and clocks:
            yield from self._run_in_threads(batches)
        else:
            for batch in batches:
                yield from self.run_alike(batch)

    def batch_size(self, instance: Any, seed: int) -> int:
        """Return the number of jobs for a worker: one of a Python function, because its runs would share the time."""
        return self.parallel_runs if has_clocks(instance_for_seed(instance, seed), self.on_gpu) else 1

    def _run_in_threads(self, batches: list[list[TargetJob]]) -> Generator[TargetOutcome]:
        """Return the outcomes of batches, with several in progress; after Ctrl-C these end early."""
        self._stop = stop = Event()
        futures = [gpu_threads(self.device).submit(self.run_alike, batch) for batch in batches]
        try:
            for future in futures:
                # The system may deliver Ctrl-C to another thread, which does not wake this one.
                while wait([future], POLL_SECONDS).not_done:
                    pass
                yield from future.result()
        finally:
            stop.set()
            for future in futures:
                future.cancel()

    def run_alike(self, jobs: list[TargetJob]) -> list[TargetOutcome]:
        """Return the outcomes of jobs on one step, in as few batches as kernels allow."""
        outcomes: list[TargetOutcome | None] = [None] * len(jobs)
        batches: dict[str, list[int]] = {}
        algorithms: list[Any] = []
        for number, job in enumerate(jobs):
            try:
                algorithms.append(self.configure(job.params))
                batches.setdefault(algorithms[-1].kernel, []).append(number)
            except (ValueError, TypeError) as error:
                algorithms.append(None)
                outcomes[number] = TargetOutcome.of_error(error, 0.0)
        for numbers in batches.values():
            of_batch = self.run_batch(jobs[numbers[0]], [algorithms[number] for number in numbers])
            for number, outcome in zip(numbers, of_batch, strict=True):
                outcomes[number] = outcome
        return [outcome for outcome in outcomes if outcome is not None]

    def run_batch(self, job: TargetJob, algorithms: list[Algorithm]) -> list[TargetOutcome]:
        """Return the outcomes of algorithms on a job's step; after a failure each runs alone, to find its cause."""
        begin = time.perf_counter()
        try:
            minimizer = self.begin_batch(job, algorithms)
        except Exception as error:  # a Python objective may raise anything
            if len(algorithms) > 1:
                return [self.run_batch(job, [algorithm])[0] for algorithm in algorithms]
            return [TargetOutcome.of_error(error, time.perf_counter() - begin)]
        # A batch that had to wait for another did not take that time.
        before, self._ended = self._ended, time.perf_counter()
        seconds = (self._ended - max(begin, before)) / len(algorithms)
        return [self.outcome(job, run, seconds) for run in minimizer.runs_[: len(algorithms)]]

    def begin_batch(self, job: TargetJob, algorithms: list[Algorithm]) -> Minimizer:
        """Return the batch of runs, the algorithms' first.

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C; there is no result then.
        """
        stop = self._stop
        objective, bounds = objective_of(job.instance)
        clocks = self.timed and has_clocks(job.instance, self.on_gpu)
        if clocks:
            algorithms = list(islice(cycle(algorithms), self.most_runs))
        minimizer = SharedSeedMinimizer(
            algorithms,
            n_runs=len(algorithms),
            max_evals=self.limits.evals,
            max_time=self.limits.seconds if self.timed else None,
            device=self.device,
            n_jobs=self.n_jobs,
            vectorized=self.vectorized,
            random_state=job.seed,
            callbacks=(lambda progress: stop.is_set()) if clocks else None,
        )
        if clocks:
            minimizer.run_seconds = self.limits.seconds
        with ignore_missing_values():  # `outcome` says it
            minimizer.fit(objective, bounds=bounds)
        if any(run.status == Status.CALLBACK for run in minimizer.runs_):  # after an interruption
            raise KeyboardInterrupt
        return minimizer

    def outcome(self, job: TargetJob, run: Any, seconds: float) -> TargetOutcome:
        """Return the outcome of one run."""
        objective, _ = objective_of(job.instance)
        lowest = find_forms(objective).f_opt
        if not run.feasible:
            return TargetOutcome(math.inf, seconds, run.n_evals, run.message)
        if not math.isfinite(run.fun):
            return TargetOutcome(math.inf, seconds, run.n_evals, f"ValueError: the best value is {run.fun}")
        if lowest is None:
            return TargetOutcome(run.fun, seconds, run.n_evals)
        error = run.fun - lowest
        return TargetOutcome(error if error >= ZERO else 0.0, seconds, run.n_evals)

    def describe(self) -> str:
        """Return the algorithm with its parameters."""
        return repr(self.algorithm)

    def configure(self, params: dict[str, Any]) -> Algorithm:
        """Return a clone of the algorithm with the values of a configuration."""
        algorithm: Algorithm = clone(self.algorithm).set_params(**params)
        return algorithm

    @property
    def parameter_names(self) -> set[str]:
        """Names of the algorithm's parameters."""
        return set(self.algorithm.get_params())

    def longest(self, instances: Sequence[Any], n_experiments: int) -> float | None:
        """Return the seconds that experiments take at most; None with a limit of evaluations."""
        if not self.timed:
            return None
        assert self.limits.seconds is not None
        clocks = all(has_clocks(instance_for_seed(instance, 0), self.on_gpu) for instance in instances)
        return self.limits.seconds * n_experiments / (self.parallel_runs if clocks else 1)

    def check(self, instances: Sequence[Any]) -> None:
        """Refuse instances that are no objectives."""
        for number, instance in enumerate(instances):
            objective, bounds = objective_of(check_instance(instance, number))
            if find_forms(objective).space is None and bounds is None:
                raise ValueError(
                    f"instances[{number}] must be a problem, a problem's name, a pair (objective, bounds), or a "
                    f"function of a seed that returns one of them, got {instance!r}"
                )


@lru_cache
def gpu_threads(device: str) -> ThreadPoolExecutor:
    """Return the threads that run batches on a GPU."""
    return ThreadPoolExecutor(BATCHES_IN_PROGRESS, "skde-tuning", initializer=choose_device(device)[0].use_own_stream)


def instance_for_seed(instance: Any, seed: int) -> Any:
    """Return an instance; of a function of the seed, its value."""
    if callable(instance) and find_forms(instance).space is None:
        return instance(seed)
    return instance


def check_instance(instance: Any, number: int) -> Any:
    """Return an instance for a seed.

    Raises
    ------
    TypeError
        For a function that fails with a seed, such as an objective without bounds.
    """
    try:
        return instance_for_seed(instance, 0)
    except Exception as error:
        raise TypeError(
            f"instances[{number}] must be a problem, a problem's name, a pair (objective, bounds), or a function of a "
            f"seed that returns one of them; as a function of the seed 0, it failed with {type(error).__name__}: "
            f"{error}. For one problem, give a list of one pair, [(objective, bounds)]"
        ) from error


def has_clocks(instance: Any, on_gpu: bool) -> bool:
    """Whether every run of a batch on this instance can have its own clock: where the kernels evaluate."""
    functor = find_forms(objective_of(instance)[0]).functor
    return functor is not None and not (on_gpu and functor.cpu_only)


def objective_of(instance: Any) -> tuple[Any, Any]:
    """Return the objective of an instance, and its bounds where the instance brings them."""
    if isinstance(instance, str):
        return get_problem(instance), None
    if isinstance(instance, tuple) and len(instance) == 2:
        return instance
    return instance, None
