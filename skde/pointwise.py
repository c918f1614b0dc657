"""Functions of one point as functions of many, and checks of their return values."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from skde.arrays import REAL, array_namespace, complex_hint, is_masked
from skde.typing import Array, FloatArray

ON_ERROR = ("raise", "nan")


def one_number(value: Any, what: str, where: str = "") -> float:
    """Return one real number, or refuse the value; `what` names the function, `where` the point."""
    array = np.asarray(value)
    if array.size != 1 or array.dtype.kind not in REAL or is_masked(value):
        raise TypeError(
            f"{what} must return one real number, got {value!r} ({type(value).__name__}){where}"
            + complex_hint(array.dtype)
        )
    return float(array.reshape(()))


def scalar(value: Any, row: FloatArray) -> float:
    """Return the value of an objective at one point."""
    return one_number(value, "with vectorized=False the objective", f" for a point of shape {row.shape}")


class RowByRow:
    """A function of one point as a function of many, in parallel through joblib.

    The points are divided into one part a worker: one message for each point would cost more than a cheap function.

    Parameters
    ----------
    function : callable
        Function of one point, of shape (dim,).
    n_jobs : int or None
        Number of joblib's workers.
    checked : callable, default scalar
        checked(value, row) returns the function's value at a point as a number.
    failing : NanOnError or None, default None
        The function, or the part of it, of which exceptions become NaN.
    """

    def __init__(
        self,
        function: Callable[[FloatArray], Any],
        n_jobs: int | None,
        checked: Callable[..., Any] = scalar,
        failing: NanOnError | None = None,
    ) -> None:
        self.function = function
        self.n_jobs = n_jobs
        self.checked = checked
        self.failing = function if isinstance(function, NanOnError) else failing

    def __call__(self, X: Array) -> FloatArray | Array:
        """Return the function's values at every row."""
        import joblib

        rows = X if isinstance(X, np.ndarray) else X.get()
        workers = min(joblib.effective_n_jobs(self.n_jobs), len(rows))
        if workers <= 1:
            done = [evaluate_rows(self.function, rows, self.checked, self.failing)]
        else:
            done = joblib.Parallel(n_jobs=self.n_jobs)(
                joblib.delayed(evaluate_rows)(self.function, part, self.checked, self.failing)
                for part in np.array_split(rows, workers)
            )
        parts, errors = zip(*done, strict=True)
        check_same_shape([part[:1] for part in parts])
        if self.failing is not None:
            self.failing.warn(next(filter(None, errors), ""))
        return array_namespace(X).asarray(np.concatenate(parts))


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

    def __call__(self, *points: FloatArray) -> Any:
        """Return the function's value at a point or at a pair."""
        try:
            return self.function(*points)
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


def evaluate_rows(
    function: Callable[[FloatArray], Any], rows: FloatArray, checked: Callable[..., Any], failing: NanOnError | None
) -> tuple[FloatArray, str]:
    """Return function(row) for every row, each checked, and the first exception that became NaN."""
    values = [checked(function(row), row) for row in rows]
    try:
        array = np.array(values, dtype=np.float64)
    except ValueError:
        check_same_shape(values)
        raise
    return array, "" if failing is None else failing.first_error


def check_same_shape(values: Sequence[Any]) -> None:
    """Refuse values of several points that have different shapes."""
    shapes = sorted({np.shape(value) for value in values})
    if len(shapes) > 1:
        raise ValueError(
            f"a function must return as many numbers for every point, got shapes {shapes[0]} and {shapes[1]}"
        )
