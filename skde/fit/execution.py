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
    Pace,
    check_replay,
    reason_by_pace,
    reason_to_step,
    replay_once,
    sizes_vary,
)
from skde.engines.single_generations import Evaluation
from skde.fit.begun_generations import begun_generations, keep_begun
from skde.fit.evaluator import Evaluator
from skde.fit.pace import pace_of
from skde.fit.runner import Runner
from skde.fit.watch import Watch
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


def run_fit(
    runner: Runner,
    objective: Any,
    execution: str,
    max_time: float | None,
    stop: StopRequest | None,
    verbose: int = 0,
) -> None:
    """Run until every run has ended.

    Parameters
    ----------
    runner : Runner
        The batch and its engine.
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

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C; the results are those of all evaluations that are done, and another call continues from there.
    """
    with fit_context(runner):
        Execution(runner, max_time, stop, verbose).run(objective, execution)


@contextmanager
def fit_context(runner: Runner) -> Iterator[None]:
    """Return the context of a fit, which counts its time and notes how it ends; `OutOfTime` ends it."""
    with interrupts.fit:
        runner.ledger.timer.start()
        try:
            runner.judge()
            yield
        except OutOfTime:  # within a cycle, the rest of which can be made later
            runner.locate()
            if runner.ending == Status.RUNNING:
                runner.ending = Status.TIME
        except BaseException as error:
            runner.locate()
            if isinstance(error, KeyboardInterrupt):
                runner.ending = Status.INTERRUPTED
            raise
        finally:
            runner.ledger.timer.pause()


@dataclass(repr=False, eq=False)
class Execution:
    """The loops over the generations of a runner, with the limits that the host checks.

    Attributes
    ----------
    runner : Runner
        The batch and its engine.
    max_time : float or None
        Time limit in seconds.
    stop : StopRequest or None
        Called after each engine call; true ends the fit.
    verbose : int
        Whether to print the choice of "auto".
    """

    runner: Runner
    max_time: float | None
    stop: StopRequest | None
    verbose: int
    reported: float = field(default_factory=time.perf_counter, init=False)

    def run(self, objective: Any, execution: str) -> None:
        """Run all generations in the way that execution, engine and objective ask for."""
        runner = self.runner
        if execution == "step" and objective.by_rows and divides(runner.engine):
            with runner.engine.share(runner.batch, objective, execution):
                self.run_parts(runner.engine)
            return
        if not self.finish_begun(objective):
            return
        if execution == "graph":
            self.run_graph(objective)
        elif execution == "auto":
            self.run_auto(objective)
        elif shares(runner.engine):
            with runner.engine.share(runner.batch, objective, execution):
                self.run_chunks(even=execution == "step")
        elif execution == "step":
            self.run_steps(objective)
        else:
            engine, batch = runner.on_device
            engine.load(batch, objective.compiled)
            if engine.even:
                self.run_chunks(even=True)
            elif batch.spec.run_seconds is None:
                self.run_small_start(objective)
            else:
                with engine.exclusive:
                    self.run_slices()

    @property
    def seconds_left(self) -> float:
        """Seconds until the time limit; infinite without one."""
        return math.inf if self.max_time is None else self.max_time - self.runner.ledger.timer.seconds_of_limit

    def finish_begun(self, objective: Objective) -> bool:
        """Complete a generation that has some of its values; return whether that was not cut short.

        Where runs are at different generations, the one with values may be a later one, and stays.
        """
        return not self.runner.begun or self.evaluator(objective).complete_begun()

    def evaluator(self, objective: Objective) -> Evaluator:
        """Return the evaluator of the generations."""
        return Evaluator(self.runner, objective, Watch(lambda: self.seconds_left, self.ends_within))

    def ends_within(self) -> bool:
        """Return whether a callback or the time limit ends the fit within a generation; callbacks are called rarely."""
        if time.perf_counter() - self.reported >= WITHIN_SECONDS:
            return self.ends()
        if self.seconds_left <= 0:
            self.runner.ending = Status.TIME
        return self.runner.ending != Status.RUNNING

    def ends(self) -> bool:
        """Return whether a callback or the time limit ends the fit, and note which."""
        self.reported = time.perf_counter()
        if self.stop is not None and self.stop():
            self.runner.ending = Status.CALLBACK
        elif self.seconds_left <= 0:
            self.runner.ending = Status.TIME
        return self.runner.ending != Status.RUNNING

    def run_small_start(self, objective: Objective) -> None:
        """Run all generations; small initial populations and the second chunk in one engine call.

        A call takes longer than these do. It makes more generations where an earlier fit has shown how long they take.
        The initial populations are made alone where something may end the fit before the second chunk.
        """
        runner, (engine, batch) = self.runner, self.runner.on_device
        if runner.generation >= 0 or not runner.starts_small or self.max_time is not None or self.stop is not None:
            self.run_chunks()
            return
        pace = pace_of(engine, batch, objective.source)
        runner.ledger.timer.mark(0)  # the times of this call's generations are interpolated from here
        until = min(max(SECOND_CHUNK, int(engine.chunk_seconds / pace.seconds)), runner.last)
        progress, seconds = self.run_chunk(until)
        pace.seconds = max(seconds, 1e-9) / (until + 1)
        if RUNNING in runner.settle(progress)["status"]:
            self.run_chunks(first=self.next_chunk(until + 1, seconds))

    def run_chunks(self, even: bool = False, first: int = 1) -> None:
        """Let the engine run some generations at a time, `first` of them in the first call.

        With `even`, each call is for runs at the same generation only.
        """
        runner = self.runner
        generations, done = first, runner.generation >= 0 and runner.done
        while not done:
            if even and runner.uneven:
                runner.hold_runs_ahead()
                generations = 1
            begin, until = runner.generation, self.end_of_chunk(generations)
            progress, seconds = self.run_chunk(until)
            done = RUNNING not in runner.settle(progress)["status"]
            if done or self.ends():
                return
            generations = self.next_chunk(until - begin, seconds)

    def run_parts(self, engine: DividingEngine) -> None:
        """Let the engine run some generations at a time with a function of one point; the last may be cut short."""
        runner = self.runner
        generations, done = 1, runner.generation >= 0 and runner.done
        while not done:
            runner.hold_runs_ahead()
            begin, before = runner.generation, runner.seconds
            until = self.end_of_chunk(1 if runner.uneven else generations)
            work = PartsOfGenerations(begun_generations(runner), lambda: self.seconds_left, not runner.has_results)
            try:
                engine.run_parts(runner.batch, begin, until, work)
            finally:
                with interrupts.deferred:
                    runner.locate()
                    keep_begun(runner, work.begun)
            if runner.generation > begin:
                runner.ledger.timer.mark(runner.generation)
            done = runner.done
            if done or self.ends():
                return
            generations = self.next_chunk(max(runner.generation - begin, 1), runner.seconds - before)

    def run_chunk(self, until: int) -> tuple[dict[str, Any], float]:
        """Let the engine run up to generation `until`; return the progress, and the seconds that it took.

        To read from the batch waits for the end of the engine's work.
        """
        runner = self.runner
        before = runner.seconds
        runner.drop_trials()
        runner.engine.run(runner.batch, runner.generation, until)
        progress = runner.batch.progress()
        runner.generation = until
        runner.ledger.timer.mark(until)
        return progress, runner.seconds - before

    def next_chunk(self, generations: int, took: float) -> int:
        """Return the length of the next chunk in generations, from the seconds that the last one took."""
        room = min(self.runner.engine.chunk_seconds, self.seconds_left)
        wanted = int(generations * room / max(took, 1e-9))
        # The initial population takes less time than a generation, so its time alone does not decide.
        return max(1, wanted if self.runner.generation > 0 else min(wanted, SECOND_CHUNK))

    def end_of_chunk(self, generations: int) -> int:
        """Return the last generation of the next engine call, which makes `generations` or fewer."""
        runner, every = self.runner, None if self.stop is None else self.stop.every
        end = min(runner.generation + generations, runner.last)
        return end if every is None else min(end, (runner.generation // every + 1) * every)

    def run_slices(self) -> None:
        """Run in slices of time, measured by each run's own clock, so that fast runs do not wait for slow ones.

        The host's work between slices, such as compiling, counts for no run.
        """
        runner = self.runner
        spec = runner.batch.spec
        spec.pause_seconds = 0.0
        while not runner.done:
            spec.pause_seconds += SLICE_SECONDS
            runner.batch.refresh()
            runner.engine.run(runner.batch, runner.generation, runner.last)
            runner.engine.synchronize()
            runner.locate()
            if self.stop is not None and self.stop():
                runner.ending = Status.CALLBACK
                return

    def run_steps(self, objective: Objective) -> None:
        """Run one generation after the other, with values that the host computes."""
        runner = self.runner
        evaluator = self.evaluator(objective)
        while True:
            runner.propose()
            before = runner.status_poll.time
            if runner.poll_done():
                return
            if runner.status_poll.time != before and runner.generation >= 0 and self.ends():
                return
            if not evaluator.complete(runner.status_poll.status):
                return
            if runner.generation < 128 or runner.generation % 64 == 0:
                runner.ledger.timer.mark(runner.generation)

    def run_graph(self, objective: Objective) -> None:
        """Record one generation on the GPU, and replay it."""
        runner = self.runner
        batch = runner.on_device[1]
        if not records(runner.engine):
            raise ValueError("execution='graph' needs a GPU, and one alone: device='cuda'")
        if objective.host_work is not None:
            raise RecordingError(objective.host_work)
        evaluation = Evaluation(*runner.on_device, objective)
        if sizes_vary(batch):
            raise ValueError("execution='graph' needs the same pop_size in all runs and generations")
        runner.propose()
        while runner.generation < 0 or runner.uneven:
            runner.accept(None, evaluation.values(runner.generation + 1, batch.host("status")))
            runner.propose()
        self.replay(runner.engine.record(batch, runner.generation, objective.values))

    def replay(self, recording: Any) -> None:
        """Replay a recorded generation until every run has ended; the batch has the trials of the next one."""
        runner = self.runner
        generations = 1
        while not runner.done and not self.ends():
            before = runner.seconds
            begin, until = runner.generation, self.end_of_chunk(generations)
            runner.drop_trials()
            runner.judged = False
            recording.replay(until - begin)
            generations = self.next_chunk(until - begin, runner.seconds - before)
            runner.generation = until
            runner.ledger.timer.mark(until)
            runner.propose()
            runner.engine.synchronize()

    def run_auto(self, objective: Objective) -> None:
        """Replay a recorded generation where that pays and gives the bits of single steps; else run these."""
        runner, batch = self.runner, self.runner.on_device[1]
        recording: Any = None
        reason = reason_to_step(batch, objective.host_work, runner.last - runner.generation, sys.modules)
        if reason is None:
            evaluation = Evaluation(*runner.on_device, objective)
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

    def run_timed_steps(self, evaluation: Evaluation) -> Pace | None:
        """Run the first generations, and return the least times of one; None where the fit ended.

        The batch then has the trials of the next generation, and all running runs are at the same one.
        """
        runner, batch = self.runner, self.runner.on_device[1]
        times: list[Pace] = []
        runner.propose()
        while runner.generation < 0 or not (runner.done or self.ends()):
            if len(times) >= TIMED_GENERATIONS and not runner.uneven:
                return Pace(*map(min, zip(*times, strict=True)))
            status = batch.host("status")
            begin = time.perf_counter()
            runner.accept(None, evaluation.values(runner.generation + 1, status))
            runner.propose()
            host = time.perf_counter() - begin
            runner.engine.synchronize()
            if runner.generation > 0:  # the initial population takes another time
                times.append(Pace(host, time.perf_counter() - begin))
            runner.ledger.timer.mark(runner.generation)
        return None

    def check_recording(self, objective: Objective, evaluation: Evaluation) -> Any:
        """Return a recorded generation, after one more step that has the bits of a replay."""
        runner = self.runner
        engine, batch = runner.on_device
        try:
            recording = cast(RecordingEngine, engine).record(batch, runner.generation, objective.values)
        except MemoryError as error:
            raise RecordingError(f"no memory for a recording: {error}") from error
        before = batch.state()
        replayed = replay_once(engine, batch, recording, before)
        runner.propose()
        f = evaluation.values(runner.generation + 1, before["status"])
        values = to_numpy(f).reshape(batch.n_runs, batch.pop_max)
        runner.accept(None, f)
        check_replay(replayed, Generation(values, batch.state()), before["status"] == RUNNING)
        runner.propose()
        engine.synchronize()
        return recording
