"""The values of a function of one point, in this process or in joblib's workers, as they come."""

from __future__ import annotations

import copy
import faulthandler
import math
import multiprocessing
import os
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from skde.typing import FloatArray, IntArray

# A message to a worker has the points of about this time, and in one process values are given after it: to divide
# cheap functions further would cost more than they do.
PIECE_SECONDS = 0.1
# An evaluation that is under way at the time limit may end within this time.
GRACE_SECONDS = 0.25

Function = Callable[[FloatArray], Any]


def unlimited() -> float:
    """Return the seconds left where there is no time limit."""
    return math.inf


class Part(NamedTuple):
    """Values of some rows.

    Attributes
    ----------
    rows : ndarray of int of shape (k,)
        The rows.
    values : ndarray of shape (k,) or (k, m)
        Their values.
    """

    rows: IntArray
    values: FloatArray


class OutOfTime(Exception):
    """The end of the time before a function had all of its values."""


class WorkerTraceback(Exception):
    """The traceback of an exception in a worker, as its cause."""


def values_in_turn(
    function: Function, rows: FloatArray, check: Callable[..., Any], end: float, every: float
) -> Iterator[list[Any]]:
    """Yield the values of rows one after the other, as lists, one for every `every` seconds.

    They end at the last row, or after one that is done at `end` or later, a time of `time.perf_counter`. The values
    before an exception are yielded before it is raised.
    """
    values: list[Any] = []
    due = min(time.perf_counter() + every, end)
    try:
        for row in rows:
            values.append(check(function(row), row))
            now = time.perf_counter()
            if now >= due:
                yield values
                if now >= end:
                    return
                values, due = [], min(now + every, end)
    except GeneratorExit:
        raise
    except BaseException:
        if values:
            yield values
        raise
    if values:
        yield values


def array_of(values: Sequence[Any]) -> FloatArray:
    """Return the values of several points as an array, after a check that they have the same shape."""
    try:
        return np.array(values, dtype=np.float64)
    except ValueError:
        check_same_shape(values)
        raise


def check_same_shape(values: Sequence[Any]) -> None:
    """Refuse values of several points that have different shapes."""
    shapes = sorted({np.shape(value) for value in values})
    if len(shapes) > 1:
        raise ValueError(
            f"a function must return as many numbers for every point, got shapes {shapes[0]} and {shapes[1]}"
        )


# -- in a worker -------------------------------------------------------------------------------------------------------


class Piece(NamedTuple):
    """The work of one message to a worker.

    Attributes
    ----------
    begin : int
        The place of its first row.
    rows : ndarray of shape (k, dim)
        The points.
    left, sent : float
        Seconds until the time limit when the message was made, and the time of that, by `time.time`.
    always : bool
        Whether one point is evaluated also after the time limit.
    max_eval_time : float or None
        The time limit of one evaluation.
    file : Path or None
        Is written when an evaluation takes longer.
    parent : int
        The number of the process that waits.
    """

    begin: int
    rows: FloatArray
    left: float
    sent: float
    always: bool
    max_eval_time: float | None
    file: Path | None
    parent: int

    @property
    def seconds_left(self) -> float:
        """Seconds until the time limit now; clocks of other machines may differ."""
        return self.left - min(max(time.time() - self.sent, 0.0), self.left) if self.left < math.inf else math.inf

    @property
    def may_be_ended(self) -> bool:
        """Whether this is a process that may be ended: not a thread, nor a process of a pool that would wait for it."""
        return os.getpid() != self.parent and not multiprocessing.current_process().daemon


class Done(NamedTuple):
    """The answer of a worker.

    Attributes
    ----------
    begin : int
        The piece's.
    values : ndarray of shape (k, ...)
        Values of its first rows: of all of them, or of those before the time limit or an exception.
    seconds : float
        The time that they took.
    error, trace : Exception or None, str
        The exception, and its traceback.
    caught : str
        The first exception that became NaN.
    """

    begin: int
    values: FloatArray
    seconds: float
    error: Exception | None
    trace: str
    caught: str


def evaluate_piece(function: Function, check: Callable[..., Any], failing: Any, piece: Piece) -> Done:
    """Return the values of a piece, in a worker."""
    begin, left = time.perf_counter(), piece.seconds_left
    values: list[Any] = []
    error, trace = None, ""
    if left > 0 or piece.always:
        try:
            end = begin + max(left, 0.0)
            with EndedEvaluation(function, piece, end + GRACE_SECONDS) as timed:
                for part in values_in_turn(timed, piece.rows, check, end, math.inf):
                    values += part
        except Exception as raised:
            error, trace = make_sendable(raised), traceback.format_exc()
    caught = "" if failing is None else failing.first_error
    return Done(piece.begin, array_of(values), time.perf_counter() - begin, error, trace, caught)


def make_sendable(error: Exception) -> Exception:
    """Return an exception that can be sent to another process: itself where it can be made again."""
    try:
        copy.copy(error)
    except Exception:  # whatever its constructor asks for
        return RuntimeError(repr(error))
    return error


class EndedEvaluation:
    """A function of one point in a process that ends itself where an evaluation takes too long.

    Parameters
    ----------
    function : callable
        The function.
    piece : Piece
        With the time limit of one evaluation, and the file that is then written.
    end : float
        The time of `time.perf_counter` at which the process ends in any case.
    """

    def __init__(self, function: Function, piece: Piece, end: float) -> None:
        self.function, self.end, self.most = function, end, piece.max_eval_time
        self.timed = (end < math.inf or self.most is not None) and piece.may_be_ended
        if self.most is not None and not self.timed:
            raise ValueError("max_eval_time needs processes that it may end, and this one is a worker of another kind")
        self.file = open(piece.file or os.devnull, "w") if self.timed else None  # noqa: SIM115

    def __enter__(self) -> EndedEvaluation:
        if self.timed and self.most is None:
            self._set(self.end - time.perf_counter())
        return self

    def __exit__(self, *error: object) -> None:
        if self.file is not None:
            faulthandler.cancel_dump_traceback_later()
            self.file.close()

    def __call__(self, row: FloatArray) -> Any:
        """Return the function's value."""
        if self.most is not None:
            self._set(min(self.most, self.end - time.perf_counter()))
        return self.function(row)

    def _set(self, seconds: float) -> None:
        """End this process after some seconds, unless they are set again before."""
        assert self.file is not None
        faulthandler.dump_traceback_later(max(seconds, 1e-3), exit=True, file=self.file)


# -- in the process of the fit -----------------------------------------------------------------------------------------


@dataclass
class PointWorkers:
    """joblib's workers for a function of one point.

    Attributes
    ----------
    n_jobs : int or None
        The number of workers.
    max_eval_time : float or None
        The time limit of one evaluation in seconds; its value is then NaN, and its worker is ended.
    pace : float or None
        The last known time of one evaluation in seconds.
    """

    n_jobs: int | None
    max_eval_time: float | None = None
    pace: float | None = None

    def count(self, n: int) -> int:
        """Return the number of workers for n points."""
        import joblib

        return min(int(joblib.effective_n_jobs(self.n_jobs)), n)

    def parts(
        self,
        function: Function,
        rows: FloatArray,
        check: Callable[..., Any],
        failing: Any,
        seconds_left: Callable[[], float],
        warn: Callable[[str, str], None],
    ) -> Iterator[Part]:
        """Yield the values of rows, as the workers find them, until all are there or no seconds are left.

        warn(caught, late) is called with the first exception that became NaN, and with a sentence on an evaluation
        that took too long.
        """
        missing = np.arange(len(rows))
        always = True
        shape: tuple[int, ...] = ()
        while len(missing):
            error: tuple[Exception, str] | None = None
            known = np.zeros(len(rows), bool)

            def find_seconds() -> float:
                return 0.0 if error is not None else seconds_left()  # noqa: B023

            with Clock(self.max_eval_time) as clock:
                try:
                    for done in self._answers(function, rows[missing], check, failing, find_seconds, clock, always):
                        n = len(done.values)
                        warn(done.caught, "")
                        if n:
                            found = Part(missing[done.begin : done.begin + n], done.values)
                            known[found.rows], shape, self.pace = True, done.values.shape[1:], done.seconds / n
                            yield found
                        if done.error is not None and error is None:
                            error = done.error, done.trace
                except BrokenProcessPool:
                    late = missing[clock.late()]
                    if not len(late) and seconds_left() > 0:
                        raise
                    if seconds_left() > 0:
                        known[late] = True
                        warn("", clock.sentence)
                        yield Part(late, np.full((len(late), *shape), np.nan))
            if error is not None:
                raise error[0] from WorkerTraceback(error[1])
            if seconds_left() <= 0:
                return
            missing, always = missing[~known[missing]], False

    def _answers(
        self,
        function: Function,
        rows: FloatArray,
        check: Callable[..., Any],
        failing: Any,
        find_seconds: Callable[[], float],
        clock: Clock,
        always: bool,
    ) -> Iterator[Done]:
        """Yield the answers of the workers, until all rows are sent or no seconds are left."""
        import joblib

        workers = self.count(len(rows))
        if workers == 1 and self.max_eval_time is not None:
            workers = 2  # joblib works in this process where there is one
        call = joblib.delayed(evaluate_piece)

        def pieces() -> Iterator[Any]:
            begin = number = 0
            while begin < len(rows) and (find_seconds() > 0 or (always and number < workers)):
                end = begin + self._size(len(rows) - begin, number, workers)
                # The first ones wait for the start of the processes, which may take longer than the limit.
                first = always and number < workers
                timing = find_seconds(), time.time(), first, self.max_eval_time, clock.file(begin), os.getpid()
                yield call(function, check, failing, Piece(begin, rows[begin:end], *timing))
                begin, number = end, number + 1

        backend = {} if self.max_eval_time is None else {"backend": "loky"}
        parallel = joblib.Parallel(
            n_jobs=workers, pre_dispatch=workers, batch_size=1, return_as="generator_unordered", **backend
        )
        answers = parallel(pieces())
        try:
            yield from answers
        finally:
            with warnings.catch_warnings():  # of answers that nobody waits for any more
                warnings.simplefilter("ignore")
                answers.close()

    def _size(self, rows: int, number: int, workers: int) -> int:
        """Return how many points the next message has: as PIECE_SECONDS allow, or few if this is not known."""
        if self.max_eval_time is not None:
            return 1
        even = -(-rows // workers)
        wanted = 2 ** min(number // workers, 30) if self.pace is None else int(PIECE_SECONDS / max(self.pace, 1e-9))
        return max(1, min(even, wanted))


class Clock:
    """The files by which the process of a fit knows evaluations that took too long.

    Parameters
    ----------
    max_eval_time : float or None
        The time limit of one evaluation; None: there are no files.
    """

    def __init__(self, max_eval_time: float | None) -> None:
        self.max_eval_time = max_eval_time
        self.folder: TemporaryDirectory[str] | None = None

    def __enter__(self) -> Clock:
        if self.max_eval_time is not None:
            self.folder = TemporaryDirectory(prefix="skde-", ignore_cleanup_errors=True)
        return self

    def __exit__(self, *error: object) -> None:
        if self.folder is not None:
            self.folder.cleanup()

    def file(self, begin: int) -> Path | None:
        """Return the file of an evaluation."""
        return None if self.folder is None else Path(self.folder.name) / str(begin)

    def late(self) -> IntArray:
        """Return the places of the evaluations that took too long."""
        files = [] if self.folder is None else Path(self.folder.name).iterdir()
        return np.array(sorted(int(file.name) for file in files if file.stat().st_size), np.int64)

    @property
    def sentence(self) -> str:
        """The warning."""
        return (
            f"an evaluation took longer than max_eval_time={self.max_eval_time} seconds and was ended; the values of "
            "such points are NaN"
        )
