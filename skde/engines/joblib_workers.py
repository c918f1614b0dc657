"""The engine of joblib's workers: processes, or machines through Dask and Ray."""

from __future__ import annotations

import os
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from skde.engines.cpu import CpuEngine
from skde.engines.generation_parts import (
    SLICE_SECONDS,
    BegunGeneration,
    PartsOfGenerations,
    PointSteps,
    merge_begun,
    take_begun,
)
from skde.engines.protocol import ObjectiveLike, PointObjective
from skde.engines.single_device import choose_device
from skde.engines.single_generations import advance, load
from skde.engines.state.batch import Batch
from skde.engines.state.parts import cut, join, ranges
from skde.engines.state.spec import Spec
from skde.functions.point_workers import (
    GRACE_SECONDS,
    EndedEvaluation,
    OutOfTime,
    Piece,
    WorkerTraceback,
    make_sendable,
)
from skde.islands import Step
from skde.stopping import RUNNING
from skde.utils.interrupts import interrupts

Rows = Sequence[tuple[int, int]]  # begin and end of the runs of every part


class JoblibEngine(CpuEngine):
    """Runs a batch on the workers of joblib's active backend.

    The batch stays in this process. A worker receives the state of its runs and returns it after some generations;
    migrations between workers happen in this process. Workers keep no state, so that any backend works.

    Parameters
    ----------
    device : str
        The device of every worker; "auto": a GPU if it has one.
    n_jobs : int or None
        Number of workers. None: as joblib.parallel_config says, otherwise one.
    """

    chunk_seconds = 1.0  # a message takes milliseconds

    def __init__(self, device: str, n_jobs: int | None) -> None:
        super().__init__()
        self.device, self.workers = device, n_jobs
        self.name = f"joblib, {device}"

    def apply(self, work: Callable[[Any], Any]) -> Any:
        """Return work(xp), called in one worker with the array library of its device."""
        import joblib

        (answer,) = joblib.Parallel(n_jobs=self.workers)([joblib.delayed(apply_on)(self.device, work)])
        return answer

    @contextmanager
    def share(self, batch: Batch, objective: ObjectiveLike, execution: str) -> Iterator[None]:
        """Return the context in which a batch runs an objective, by "run" or by "step", with the same workers."""
        import joblib

        with joblib.Parallel(n_jobs=self.workers, return_as="generator_unordered") as parallel:
            batch.program = parallel, objective, execution
            yield

    def run(self, batch: Batch, begin: int, until: int) -> None:
        """Run whole generations up to number `until`, from `begin`, where the runs furthest behind are."""
        for rows, g, end in self._stretches(batch, begin, until):
            self._advance(batch, rows, g, end)

    def run_parts(self, batch: Batch, begin: int, until: int, work: PartsOfGenerations) -> None:
        """Run generations of a function of one point; the last may be cut short."""
        for rows, g, end in self._stretches(batch, begin, until):
            if not self._advance_parts(batch, rows, g, end, work):
                return

    def _stretches(self, batch: Batch, begin: int, until: int) -> Iterator[tuple[Rows, int, int]]:
        """Yield the rows of the parts with begin and end of the generations between migrations, which are made here."""
        import joblib

        rows = ranges(batch.n_runs, min(joblib.effective_n_jobs(self.workers), batch.n_runs))
        islands = batch.spec.share_islands(rows)
        for g, end in islands.stretches(begin, until):
            if islands.migrates(g):
                with interrupts.deferred:
                    for step in range(Step.EMIGRATE, Step.REORDER + 1):
                        self.migrate(batch, g, step)
            yield rows, g, end

    def _advance(self, batch: Batch, rows: Rows, begin: int, until: int) -> None:
        """Run whole generations of the parts with running runs in the workers."""
        import joblib

        parallel, objective, execution = batch.program
        specs, parts, running = running_parts(batch, rows)
        jobs = [(specs[k], parts[k], objective, execution, begin, until) for k in running]
        for k, state in parallel(
            joblib.delayed(return_with_number)(k, advance_state, self.device, *job)
            for k, job in zip(running, jobs, strict=True)
        ):
            parts[k] = state
        with interrupts.deferred:
            batch.restore(join(parts))

    def _advance_parts(self, batch: Batch, rows: Rows, begin: int, until: int, work: PartsOfGenerations) -> bool:
        """Run generations of the parts with running runs in the workers; return whether none was cut short.

        What has come from workers is kept where an exception comes from another one, or from Ctrl-C.
        """
        import joblib

        parallel, objective, _ = batch.program
        specs, parts, running = running_parts(batch, rows)
        row_ranges = [(first * batch.pop_max, last * batch.pop_max) for first, last in rows]
        begun = [take_begun(work.begun, *own) for own in row_ranges]
        left, sent, parent = work.seconds_left(), time.time(), os.getpid()
        limit = Piece(0, np.empty((0, 0)), left, sent, work.always, None, None, parent)
        jobs = [
            (k, advance_part, self.device, specs[k], parts[k], objective, begin, until, begun[k], limit)
            for k in running
        ]
        answers: dict[int, Advanced] = {}
        try:
            for k, answer in parallel(joblib.delayed(return_with_number)(*job) for job in jobs):
                answers[k] = answer
        except BrokenProcessPool:  # a worker that hung has ended at the limit
            if work.seconds_left() > 0:
                raise
        finally:
            with interrupts.deferred:
                for k, answer in answers.items():
                    parts[k], begun[k] = answer.state, answer.begun
                batch.restore(join(parts))
                work.begun = merge_begun(zip([first for first, _ in row_ranges], begun, strict=True))
                work.always = work.always and not any(answer.evaluated for answer in answers.values())
        for answer in answers.values():
            if answer.error is not None:
                raise answer.error from WorkerTraceback(answer.trace)
        return len(answers) == len(running) and all(answer.whole for answer in answers.values())


def running_parts(batch: Batch, rows: Rows) -> tuple[list[Spec], list[dict[str, Any]], list[int]]:
    """Return the specs and the states of the parts of a batch, and the numbers of those with running runs."""
    state = batch.state()
    parts = [cut(state, *one) for one in rows]
    running = [k for k, part in enumerate(parts) if (part["status"] == RUNNING).any()]
    return batch.spec.parts(rows), parts, running


def return_with_number(k: int, work: Callable[..., Any], *arguments: Any) -> tuple[int, Any]:
    """Return a number, and what the work returns, in a worker."""
    return k, work(*arguments)


def apply_on(device: str, work: Callable[[Any], Any]) -> Any:
    """Return work(xp), called on a device, in a worker."""
    return choose_device(device, 1)[0].apply(work)


def advance_state(
    device: str, spec: Spec, state: dict[str, Any], objective: ObjectiveLike, execution: str, begin: int, until: int
) -> dict[str, Any]:
    """Return the state of some runs at generation `until`, in a worker."""
    engine, _ = choose_device(device, 1)
    batch = engine.batch(spec)
    batch.restore(state)
    load(engine, batch, objective, execution)
    advance(engine, batch, objective, execution, begin, until)
    engine.synchronize()
    return batch.state()


class Advanced(NamedTuple):
    """The answer of a worker with a part of a batch.

    Attributes
    ----------
    state : dict
        The state after the last complete generation.
    begun : list of BegunGeneration
        What is known of generations that are not complete.
    whole : bool
        Whether none was cut short.
    evaluated : bool
        Whether a point was evaluated.
    error, trace : BaseException or None, str
        The exception of an evaluation, and its traceback.
    """

    state: dict[str, Any]
    begun: list[BegunGeneration]
    whole: bool
    evaluated: bool
    error: BaseException | None
    trace: str


def advance_part(
    device: str,
    spec: Spec,
    state: dict[str, Any],
    objective: PointObjective,
    begin: int,
    until: int,
    begun: list[BegunGeneration],
    limit: Piece,
) -> Advanced:
    """Return some runs at generation `until`, or before where the time ends or an evaluation fails, in a worker.

    A generation is cut short after SLICE_SECONDS, so that not more than this is lost with this process.
    """
    engine, _ = choose_device(device, 1)
    batch = engine.batch(spec)
    batch.restore(state)
    end = time.perf_counter() + max(limit.seconds_left, 0.0)
    work = PartsOfGenerations(begun, lambda: end - time.perf_counter(), limit.always)
    whole, trace = True, ""
    error: BaseException | None = None
    try:
        with EndedEvaluation(evaluate_nothing, limit, end + GRACE_SECONDS):
            PointSteps(engine, batch, objective, work, SLICE_SECONDS).advance(begin, until)
    except OutOfTime:
        whole = False
    except KeyboardInterrupt as raised:  # its values are kept
        whole, error = False, raised
    except Exception as raised:
        whole, error, trace = False, make_sendable(raised), traceback.format_exc()
    engine.synchronize()
    return Advanced(batch.state(), work.begun, whole, limit.always and not work.always, error, trace)


def evaluate_nothing(row: Any) -> None:
    """Evaluate nothing: the objective has the function."""
