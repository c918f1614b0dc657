"""The loops of a fit: generations inside the engine, one after the other, or recorded on the GPU."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from skde.engines import (
    DividingEngine,
    PartsOfGenerations,
    RecordingEngine,
    RecordingError,
    divides,
    records,
    shares,
)
from skde.engines.gpu.graph_replay import (
    TIMED_GENERATIONS,
    Generation,
    StepTime,
    check_replay,
    reason_by_pace,
    reason_to_step,
    replay_once,
    sizes_vary,
)
from skde.engines.single_generations import Evaluation
from skde.fit.begun_generations import begun_generations, keep_begun
from skde.fit.evaluator import Evaluator
from skde.fit.fit import Fit
from skde.fit.pace import pace_of
from skde.fit.phases.population import Population
from skde.fit.watch import StallWatch, Watch
from skde.functions.point_workers import OutOfTime
from skde.objectives.objective import Objective
from skde.stopping import RUNNING, Status
from skde.utils.arrays import to_numpy
from skde.utils.interrupts import interrupts

# Generations in the second chunk, at most. The first chunk is the initial population, or both are one.
SECOND_CHUNK = 8
# For runs with their own time limits. At the end of a slice all runs wait for the slowest, for up to one iteration: a
# hundredth of a second for scatter search. A GPU with a screen ends kernels that take longer than two seconds.
SLICE_SECONDS = 0.25
# Interval between two calls of the callbacks within a generation.
WITHIN_SECONDS = 0.25


class StopRequest(Protocol):
    """A function that is called after each engine call; true ends the fit.

    Attributes
    ----------
    every : int or None
        Engine calls end at multiples of this number of generations, or before; None: anywhere.
    """

    every: int | None

    def __call__(self) -> bool:
        """Return whether to end the fit."""
        ...


def run_search(
    fit: Fit,
    objective: Any,
    execution: str,
    max_time: float | None,
    stop: StopRequest | None,
    verbose: int = 0,
    max_stall_time: float | None = None,
) -> None:
    """Run the present search until every run has ended.

    Parameters
    ----------
    fit : Fit
        The fit.
    objective : Objective
        The objective, in the form that the engine evaluates.
    execution : {"run", "step", "graph", "auto"}
        Whole generations inside the engine (compiled objectives); one after the other with the host's evaluation, or
        one recorded on the GPU and replayed; "auto": recorded where that pays and has the bits of "step", else "step".
    max_time : float or None
        Time limit in seconds.
    stop : StopRequest or None
        Called after each engine call; true ends the fit.
    verbose : int, default 0
        Whether to print the choice of "auto".
    max_stall_time : float or None, default None
        Limit on the seconds without a better best value of any run.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C; the results are those of all evaluations that are done, and another call continues from there.
    """
    with fit_context(fit):
        Execution(fit, max_time, stop, verbose, max_stall_time).run(objective, execution)


@contextmanager
def fit_context(fit: Fit) -> Iterator[None]:
    """Return the context of a fit, which counts its time and notes how it ends; `OutOfTime` ends it."""
    population = fit.population
    with interrupts.fit:
        fit.ledger.timer.start()
        try:
            population.judge()
            yield
        except OutOfTime:  # within a cycle, the rest of which can be made later
            population.locate()
            if population.ending == Status.RUNNING:
                population.ending = Status.TIME
        except BaseException as error:
            population.locate()
            if isinstance(error, KeyboardInterrupt):
                population.ending = Status.INTERRUPTED
            raise
        finally:
            fit.ledger.timer.pause()


@dataclass(repr=False, eq=False)
class Execution:
    """The loops over the generations of a population, with the limits that the host checks.

    Attributes
    ----------
    fit : Fit
        The fit, with the population.
    max_time : float or None
        Time limit in seconds.
    stop : StopRequest or None
        Called after each engine call; true ends the fit.
    verbose : int
        Whether to print the choice of "auto".
    max_stall_time : float or None
        Limit on the seconds without a better best value of any run, checked where callbacks are called.
    """

    fit: Fit
    max_time: float | None
    stop: StopRequest | None
    verbose: int
    max_stall_time: float | None = None
    reported: float = field(default_factory=time.perf_counter, init=False)

    def __post_init__(self) -> None:
        self.stall = StallWatch(self.fit, self.max_stall_time)

    def run(self, objective: Any, execution: str) -> None:
        """Run all generations in the way that execution, engine and objective ask for."""
        population = self.population
        if execution == "step" and objective.by_rows and divides(population.engine):
            with population.engine.share(population.batch, objective, execution):
                self.run_parts(population.engine)
            return
        if not self.finish_begun(objective):
            return
        if execution == "graph":
            self.run_graph(objective)
        elif execution == "auto":
            self.run_auto(objective)
        elif shares(population.engine):
            with population.engine.share(population.batch, objective, execution):
                self.run_chunks(even=execution == "step")
        elif execution == "step":
            self.run_steps(objective)
        else:
            engine, batch = population.on_device
            engine.load(batch, objective.compiled)
            if engine.even:
                self.run_chunks(even=True)
            elif batch.spec.run_seconds is None:
                self.run_small_start(objective)
            else:
                with engine.exclusive:
                    self.run_slices()

    @property
    def population(self) -> Population:
        """The population."""
        return self.fit.population

    @property
    def seconds_left(self) -> float:
        """Seconds until the time limit; infinite without one."""
        return math.inf if self.max_time is None else self.max_time - self.fit.ledger.timer.seconds_of_limit

    def finish_begun(self, objective: Objective) -> bool:
        """Complete a generation that has some of its values; return whether that was not cut short.

        Where runs are at different generations, the one with values may be a later one, and stays.
        """
        return not self.population.begun or self.evaluator(objective).complete_begun()

    def evaluator(self, objective: Objective) -> Evaluator:
        """Return the evaluator of the generations."""
        return Evaluator(self.fit, objective, Watch(lambda: self.seconds_left, self.ends_within))

    def ends_within(self) -> bool:
        """Return whether a callback or the time limit ends the fit within a generation; callbacks are called rarely."""
        if time.perf_counter() - self.reported >= WITHIN_SECONDS:
            return self.ends()
        if self.seconds_left <= 0:
            self.population.ending = Status.TIME
        return self.population.ending != Status.RUNNING

    def ends(self) -> bool:
        """Return whether a callback or a limit of time ends the fit, and note which."""
        self.reported = time.perf_counter()
        if self.stop is not None and self.stop():
            self.population.ending = Status.CALLBACK
        elif self.seconds_left <= 0:
            self.population.ending = Status.TIME
        elif self.stall.ends():
            self.population.ending = Status.STALLED
        return self.population.ending != Status.RUNNING

    def run_small_start(self, objective: Objective) -> None:
        """Run all generations; small initial populations and the second chunk in one engine call.

        A call takes longer than these do. It makes more generations where an earlier fit has shown how long they take.
        The initial populations are made alone where something may end the fit before the second chunk.
        """
        fit, population, (engine, batch) = self.fit, self.population, self.population.on_device
        if (
            population.generation >= 0
            or not population.starts_small
            or self.max_time is not None
            or self.stop is not None
        ):
            self.run_chunks()
            return
        pace = pace_of(engine, batch, objective.source)
        fit.ledger.timer.mark(0)  # the times of this call's generations are interpolated from here
        until = min(max(SECOND_CHUNK, int(engine.chunk_seconds / pace.seconds)), population.last)
        progress, seconds = self.run_chunk(until)
        pace.seconds = max(seconds, 1e-9) / (until + 1)
        if RUNNING in population.settle(progress)["status"]:
            self.run_chunks(first=self.next_chunk(until + 1, seconds))

    def run_chunks(self, even: bool = False, first: int = 1) -> None:
        """Let the engine run some generations at a time, `first` of them in the first call.

        With `even`, each call is for runs at the same generation only.
        """
        population = self.population
        generations, done = first, population.generation >= 0 and population.done
        while not done:
            if even and population.uneven:
                population.hold_runs_ahead()
                generations = 1
            begin, until = population.generation, self.end_of_chunk(generations)
            progress, seconds = self.run_chunk(until)
            done = RUNNING not in population.settle(progress)["status"]
            if done or self.ends():
                return
            generations = self.next_chunk(until - begin, seconds)

    def run_parts(self, engine: DividingEngine) -> None:
        """Let the engine run some generations at a time with a function of one point; the last may be cut short."""
        fit, population = self.fit, self.population
        generations, done = 1, population.generation >= 0 and population.done
        while not done:
            population.hold_runs_ahead()
            begin, before = population.generation, fit.seconds
            until = self.end_of_chunk(1 if population.uneven else generations)
            work = PartsOfGenerations(begun_generations(fit), lambda: self.seconds_left, not fit.has_results)
            try:
                engine.run_parts(population.batch, begin, until, work)
            finally:
                with interrupts.deferred:
                    population.locate()
                    keep_begun(fit, work.begun)
            if population.generation > begin:
                fit.ledger.timer.mark(population.generation)
            done = population.done
            if done or self.ends():
                return
            generations = self.next_chunk(max(population.generation - begin, 1), fit.seconds - before)

    def run_chunk(self, until: int) -> tuple[dict[str, Any], float]:
        """Let the engine run up to generation `until`; return the progress, and the seconds that it took.

        To read from the batch waits for the end of the engine's work.
        """
        fit, population = self.fit, self.population
        before = fit.seconds
        population.drop_trials()
        population.engine.run(population.batch, population.generation, until)
        progress = population.batch.progress()
        population.generation = until
        fit.ledger.timer.mark(until)
        return progress, fit.seconds - before

    def next_chunk(self, generations: int, took: float) -> int:
        """Return the length of the next chunk in generations, from the seconds that the last one took."""
        room = min(self.population.engine.chunk_seconds, self.seconds_left)
        wanted = int(generations * room / max(took, 1e-9))
        # The initial population takes less time than a generation, so its time alone does not decide.
        return max(1, wanted if self.population.generation > 0 else min(wanted, SECOND_CHUNK))

    def end_of_chunk(self, generations: int) -> int:
        """Return the last generation of the next engine call, which makes `generations` or fewer."""
        population, every = self.population, None if self.stop is None else self.stop.every
        end = min(population.generation + generations, population.last)
        return end if every is None else min(end, (population.generation // every + 1) * every)

    def run_slices(self) -> None:
        """Run in slices of time, measured by each run's own clock, so that fast runs do not wait for slow ones.

        The host's work between slices, such as compiling, counts for no run.
        """
        population = self.population
        spec = population.batch.spec
        spec.pause_seconds = 0.0
        while not population.done:
            spec.pause_seconds += SLICE_SECONDS
            population.batch.refresh()
            population.engine.run(population.batch, population.generation, population.last)
            population.engine.synchronize()
            population.locate()
            if self.stop is not None and self.stop():
                population.ending = Status.CALLBACK
                return

    def run_steps(self, objective: Objective) -> None:
        """Run one generation after the other, with values that the host computes."""
        fit, population = self.fit, self.population
        evaluator = self.evaluator(objective)
        while True:
            population.propose()
            before = population.status_poll.time
            if population.poll_done():
                return
            if population.status_poll.time != before and population.generation >= 0 and self.ends():
                return
            if not evaluator.complete(population.status_poll.status):
                return
            if population.generation < 128 or population.generation % 64 == 0:
                fit.ledger.timer.mark(population.generation)

    def run_graph(self, objective: Objective) -> None:
        """Record one generation on the GPU, and replay it."""
        population = self.population
        batch = population.on_device[1]
        if not records(population.engine):
            raise ValueError("execution='graph' needs a GPU, and one alone: device='cuda'")
        if objective.host_work is not None:
            raise RecordingError(objective.host_work)
        evaluation = Evaluation(*population.on_device, objective)
        if sizes_vary(batch):
            raise ValueError("execution='graph' needs the same pop_size in all runs and generations")
        population.propose()
        while population.generation < 0 or population.uneven:
            population.accept(None, evaluation.values(population.generation + 1, batch.host("status")))
            population.propose()
        self.replay(population.engine.record(batch, population.generation, objective.values))

    def replay(self, recording: Any) -> None:
        """Replay a recorded generation until every run has ended; the batch has the trials of the next one."""
        fit, population = self.fit, self.population
        generations = 1
        while not population.done and not self.ends():
            before = fit.seconds
            begin, until = population.generation, self.end_of_chunk(generations)
            population.drop_trials()
            population.judged = False
            recording.replay(until - begin)
            generations = self.next_chunk(until - begin, fit.seconds - before)
            population.generation = until
            fit.ledger.timer.mark(until)
            population.propose()
            population.engine.synchronize()

    def run_auto(self, objective: Objective) -> None:
        """Replay a recorded generation where that pays and gives the bits of single steps; else run these."""
        population, batch = self.population, self.population.on_device[1]
        recording: Any = None
        reason = reason_to_step(batch, objective.host_work, population.last - population.generation, sys.modules)
        if reason is None:
            evaluation = Evaluation(*population.on_device, objective)
            pace = self.run_timed_steps(evaluation)
            if pace is None:
                return
            reason = reason_by_pace(pace, self.seconds_left)
            if reason is None:
                try:
                    recording = self.check_recording(objective, evaluation)
                except RecordingError as error:
                    reason = error.reason
        if self.verbose:
            choice = f"'step': {reason}" if reason else "'graph': a replayed generation has the bits of a plain one"
            print(f"skde: execution='auto' chose {choice}")
        if recording is None:
            self.run_steps(objective)
        else:
            self.replay(recording)

    def run_timed_steps(self, evaluation: Evaluation) -> StepTime | None:
        """Run the first generations, and return the least times of one; None where the fit ended.

        The batch then has the trials of the next generation, and all running runs are at the same one.
        """
        fit, population, batch = self.fit, self.population, self.population.on_device[1]
        times: list[StepTime] = []
        population.propose()
        while population.generation < 0 or not (population.done or self.ends()):
            if len(times) >= TIMED_GENERATIONS and not population.uneven:
                return StepTime(*map(min, zip(*times, strict=True)))
            status = batch.host("status")
            begin = time.perf_counter()
            population.accept(None, evaluation.values(population.generation + 1, status))
            population.propose()
            host = time.perf_counter() - begin
            population.engine.synchronize()
            if population.generation > 0:  # the initial population takes another time
                times.append(StepTime(host, time.perf_counter() - begin))
            fit.ledger.timer.mark(population.generation)
        return None

    def check_recording(self, objective: Objective, evaluation: Evaluation) -> Any:
        """Return a recorded generation, after one more step that has the bits of a replay."""
        population = self.population
        engine, batch = population.on_device
        try:
            recording = cast(RecordingEngine, engine).record(batch, population.generation, objective.values)
        except MemoryError as error:
            raise RecordingError(f"no memory for a recording: {error}") from error
        before = batch.state()
        replayed = replay_once(engine, batch, recording, before)
        population.propose()
        f = evaluation.values(population.generation + 1, before["status"])
        values = to_numpy(f).reshape(batch.n_runs, batch.pop_max)
        population.accept(None, f)
        check_replay(replayed, Generation(values, batch.state()), before["status"] == RUNNING)
        population.propose()
        engine.synchronize()
        return recording
