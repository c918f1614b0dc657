"""The loops of a fit: generations inside the engine, one after the other, or recorded on the GPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from skde.engines import RecordingEngine, SharingEngine
from skde.engines.stepping import Evaluation
from skde.interrupts import interrupts
from skde.objectives.objective import Objective
from skde.runner import Runner
from skde.stopping import Status

# A chunk of generations is at most this many times as long as the one before.
CHUNK_GROWTH = 8
# For runs with their own time limits. At the end of a slice all runs wait for the slowest, for up to one iteration: a
# hundredth of a second for scatter search. A GPU with a screen ends kernels that take longer than two seconds.
SLICE_SECONDS = 0.25

# Called after each engine call; true ends the fit.
StopRequest = Callable[[], bool]


def run_fit(runner: Runner, objective: Any, execution: str, max_time: float | None, stop: StopRequest | None) -> None:
    """Run until every run has ended.

    Parameters
    ----------
    runner : Runner
        The batch and its engine.
    objective : Objective
        The objective, in the form that the engine evaluates.
    execution : {"run", "step", "graph"}
        Whole generations inside the engine (compiled objectives), one after the other with the host's evaluation, or
        one recorded on the GPU and replayed.
    max_time : float or None
        Time limit in seconds.
    stop : callable or None
        Called after each engine call; true ends the fit.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C; the results are those of the last complete generation, and another call continues from there.
    """
    with interrupts.fit:
        runner.timer.start()
        try:
            runner.judge()
            Execution(runner, max_time, stop).run(objective, execution)
        except BaseException as error:
            runner.locate()
            if isinstance(error, KeyboardInterrupt):
                runner.ending = Status.INTERRUPTED
            raise
        finally:
            runner.timer.pause()


@dataclass(frozen=True)
class Execution:
    """The loops over the generations of a runner, with the limits that the host checks.

    Attributes
    ----------
    runner : Runner
        The batch and its engine.
    max_time : float or None
        Time limit in seconds.
    stop : callable or None
        Called after each engine call; true ends the fit.
    """

    runner: Runner
    max_time: float | None
    stop: StopRequest | None

    def run(self, objective: Any, execution: str) -> None:
        """Run all generations in the way that execution, engine and objective ask for."""
        runner = self.runner
        if execution == "graph":
            self.run_graph(objective)
        elif isinstance(runner.engine, SharingEngine):
            with runner.engine.share(runner.batch, objective, execution):
                self.run_chunks(even=execution == "step")
        elif execution == "step":
            self.run_steps(objective)
        else:
            engine, batch = runner.on_device
            engine.load(batch, objective.compiled)
            if batch.spec.run_seconds is None:
                self.run_chunks()
            else:
                with engine.exclusive:
                    self.run_slices()

    def ends(self) -> bool:
        """Return whether a callback or the time limit ends the fit, and note which."""
        if self.stop is not None and self.stop():
            self.runner.ending = Status.CALLBACK
        elif self.max_time is not None and self.runner.timer.seconds_of_limit >= self.max_time:
            self.runner.ending = Status.TIME
        return self.runner.ending != Status.RUNNING

    def run_chunks(self, even: bool = False) -> None:
        """Let the engine run some generations at a time; with `even`, only for runs at the same generation."""
        runner, last = self.runner, self.runner.last
        generations = 1
        while not runner.done:
            if even and runner.uneven:
                runner.hold_leaders()
                generations = 1
            until = min(runner.generation + generations, last)
            before = runner.seconds
            runner.drop_trials()
            runner.engine.run(runner.batch, runner.generation, until)
            runner.engine.synchronize()
            runner.generation = until
            runner.timer.mark(until)
            runner.check_start()
            if runner.done or self.ends():
                return
            generations = self.next_chunk(generations, runner.seconds - before)

    def next_chunk(self, generations: int, took: float) -> int:
        """Return the length of the next chunk in generations, from the seconds that the last one took."""
        room = self.runner.engine.chunk_seconds
        if self.max_time is not None:
            room = min(room, self.max_time - self.runner.timer.seconds_of_limit)
        wanted = int(generations * room / max(took, 1e-9))
        return max(1, min(wanted, CHUNK_GROWTH * generations))

    def run_slices(self) -> None:
        """Run in slices of time, measured by each run's own clock, so that fast runs do not wait for slow ones.

        The host's work between slices, such as compiling, counts for no run.
        """
        runner = self.runner
        spec, until = runner.batch.spec, 0  # the initial population first, to be checked
        spec.pause_seconds = 0.0
        while not runner.done:
            spec.pause_seconds += SLICE_SECONDS
            runner.batch.refresh()
            runner.engine.run(runner.batch, runner.generation, until)
            runner.engine.synchronize()
            runner.locate()
            runner.check_start()
            if self.stop is not None and self.stop():
                runner.ending = Status.CALLBACK
                return
            until = runner.last

    def run_steps(self, objective: Objective) -> None:
        """Run one generation after the other, with values that the host computes."""
        runner = self.runner
        evaluation = Evaluation(*runner.on_device, objective)
        while True:
            runner.propose()
            before = runner.status_poll.time
            if runner.poll_done():
                return
            if runner.status_poll.time != before and runner.generation >= 0 and self.ends():
                return
            runner.accept(None, evaluation.values(runner.generation + 1, runner.status_poll.status))
            if runner.generation < 128 or runner.generation % 64 == 0:
                runner.timer.mark(runner.generation)

    def run_graph(self, objective: Objective) -> None:
        """Record one generation on the GPU, and replay it."""
        runner = self.runner
        batch = runner.on_device[1]
        if not isinstance(runner.engine, RecordingEngine):
            raise ValueError("execution='graph' needs a GPU, and one alone: device='cuda'")
        evaluation = Evaluation(*runner.on_device, objective)
        if batch.varies or (batch.pop_sizes != batch.pop_max).any():
            raise ValueError("execution='graph' needs the same pop_size in all runs and generations")
        last = runner.last
        runner.propose()
        while runner.generation < 0 or runner.uneven:  # the initial population is checked on the way
            runner.accept(None, evaluation.values(runner.generation + 1, batch.host("status")))
            runner.propose()
        recording = runner.engine.record(batch, runner.generation, objective.values)
        generations = 1
        while not runner.done and not self.ends():
            before = runner.seconds
            until = min(runner.generation + generations, last)
            runner.drop_trials()
            runner.judged = False
            recording.replay(until - runner.generation)
            generations = self.next_chunk(until - runner.generation, runner.seconds - before)
            runner.generation = until
            runner.timer.mark(until)
            runner.propose()
            runner.engine.synchronize()
