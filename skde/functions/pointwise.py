"""Functions of one point as functions of many, and checks of their return values."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from skde.functions.point_workers import (
    PIECE_SECONDS,
    OutOfTime,
    Part,
    PointWorkers,
    array_of,
    check_same_shape,
    unlimited,
    values_in_turn,
)
from skde.typing import Array, FloatArray
from skde.utils.arrays import REAL, array_namespace, complex_hint, is_masked
from skde.utils.validation import check_real

ON_ERROR = ("raise", "nan")


def check_processes(max_eval_time: Any, n_jobs: int | None, got: str) -> None:
    """Refuse a time limit of one evaluation where no process can be ended; `got` names the parameters that say so."""
    given = check_real("max_eval_time", max_eval_time, 0, low_open=True)
    if PointWorkers(n_jobs).count(2) < 2:
        raise ValueError(
            f"max_eval_time={given} needs processes, which can be ended: n_jobs must be 2 or more, got {got}"
        )


def one_number(value: Any, what: str, where: str = "") -> float:
    """Return one real number, or refuse the value; `what` names the function, `where` the point."""
    array = np.asarray(value)
    if array.size != 1 or array.dtype.kind not in REAL or is_masked(value):
        raise TypeError(
            f"{what} must return one real number, got {value!r} ({type(value).__name__}){where}"
            + complex_hint(array.dtype)
        )
    return float(array.reshape(()))


def read_point_value(value: Any, row: FloatArray) -> float:
    """Return the value of an objective at one point."""
    return one_number(value, "with vectorized=False the objective", f" for a point of shape {row.shape}")


class RowByRow:
    """A function of one point as a function of many, in parallel through joblib.

    Parameters
    ----------
    function : callable
        Function of one point, of shape (dim,).
    n_jobs : int or None
        Number of joblib's workers.
    check : callable, default read_point_value
        check(value, row) returns the function's value at a point as a number.
    failing : NanOnError or None, default None
        The function, or the part of it, whose exceptions become NaN.
    max_eval_time : float or None, default None
        Time limit of one evaluation in seconds, with several workers: the value is then NaN.
    """

    def __init__(
        self,
        function: Callable[[FloatArray], Any],
        n_jobs: int | None,
        check: Callable[..., Any] = read_point_value,
        failing: NanOnError | None = None,
        max_eval_time: float | None = None,
    ) -> None:
        self.function = function
        self.n_jobs = n_jobs
        self.check = check
        self.failing = function if isinstance(function, NanOnError) else failing
        self.workers = PointWorkers(n_jobs, max_eval_time)
        self.warned = False

    def __call__(self, X: Array, seconds_left: Callable[[], float] = unlimited) -> FloatArray | Array:
        """Return the function's values at every row; `OutOfTime` is raised where the time ends before."""
        values, known = np.empty(len(X)), 0
        for part in self.parts(X, seconds_left):
            known += len(part.rows)
            if part.values.shape[1:] != values.shape[1:]:
                values = np.empty((len(X), *part.values.shape[1:]))
            values[part.rows] = part.values
        if known < len(X):
            raise OutOfTime
        return array_namespace(X).asarray(values)

    def parts(self, X: Array, seconds_left: Callable[[], float] = unlimited) -> Iterator[Part]:
        """Yield the function's values at the rows, on the host, as they come.

        They end when all are there, or early when `seconds_left` returns 0 or less between two points; one point is
        evaluated in any case. Values that were found before an exception are yielded before it is raised.
        """
        rows = X if isinstance(X, np.ndarray) else X.get()
        shape: tuple[int, ...] | None = None
        for part in self._parts(rows, seconds_left):
            if shape is not None and part.values.shape[1:] != shape:
                check_same_shape([np.empty(shape), part.values[0]])
            shape = part.values.shape[1:]
            yield part

    def _parts(self, rows: FloatArray, seconds_left: Callable[[], float]) -> Iterator[Part]:
        if self.workers.max_eval_time is not None or self.workers.count(len(rows)) > 1:
            yield from self.workers.parts(self.function, rows, self.check, self.failing, seconds_left, self._warn)
            return
        begin, end = 0, time.perf_counter() + seconds_left()
        for values in values_in_turn(self.function, rows, self.check, end, PIECE_SECONDS):
            self._warn("" if self.failing is None else self.failing.first_error, "")
            yield Part(np.arange(begin, begin + len(values)), array_of(values))
            begin += len(values)
            if seconds_left() <= 0:
                return

    def _warn(self, caught: str, late: str) -> None:
        """Warn of an exception that became NaN, and of an evaluation that took too long, each once."""
        if self.failing is not None:
            self.failing.warn(caught)
        if late and not self.warned:
            self.warned = True
            warnings.warn(late, RuntimeWarning, stacklevel=2)


class NanOnError:
    """A function of one point, or of one pair, that returns NaN where another one raises an exception.

    Parameters
    ----------
    function : callable
        Function of points of shape (dim,).

    Attributes
    ----------
    first_error : str
        The first exception in this process; empty: there was none.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.first_error = ""
        self.warned = False

    def __call__(self, *points: Any, **named: Any) -> Any:
        """Return the function's value at a point or at a pair, or at the values of named variables."""
        try:
            return self.function(*points, **named)
        except Exception as error:  # whatever the user's code raises
            self.first_error = self.first_error or repr(error)
            return math.nan

    def warn(self, error: str) -> None:
        """Warn of an exception, once; of a worker's, too, because a worker's own warnings reach no caller."""
        if error and not self.warned:
            self.warned = True
            warnings.warn(
                f"the objective raised {error}; with on_error='nan' the values of points that raise are NaN",
                RuntimeWarning,
                stacklevel=2,
            )
