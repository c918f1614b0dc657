"""The samples of a model's fit: dates and missing values in them, data frames, and complex targets."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np

from skde.typing import Array, FloatArray, IntArray
from skde.utils.arrays import array_namespace
from skde.utils.validation import quote

NAN_POLICIES = RAISE, OMIT, PROPAGATE = "raise", "omit", "propagate"
DATES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
DATE_HINT = "convert it to numbers, such as (t - t.min()) / numpy.timedelta64(1, 's')"


# -- dates -------------------------------------------------------------------------------------------------------------


def refuse_dates(name: str, given: Any) -> None:
    """Refuse dates, times and differences of these, which NumPy would convert to numbers of nanoseconds or days.

    Raises
    ------
    TypeError
        With the name and, of a data frame, the column.
    """
    if is_frame(given):
        for column in given.columns:
            refuse_dates(f"the column {column!r} of {name}", given[column])
            refuse_text(f"the column {column!r} of {name}", given[column])
        return
    kind = date_kind(given)
    if kind is not None:
        raise TypeError(f"{name} must hold numbers, and it holds {kind}: {DATE_HINT}")


def refuse_text(name: str, column: Any) -> None:
    """Refuse a column of a data frame that holds text, also text of numbers, which no model could calculate with.

    Raises
    ------
    TypeError
        With the name and the first text.
    """
    dtype = str(getattr(column, "dtype", "")).lower()
    if dtype.startswith(("object", "str", "category", "enum", "categorical")):
        text = next((one for one in column if isinstance(one, str)), None)
        if text is not None:
            raise TypeError(f"{name} must hold numbers, and it holds text, such as {quote(text)}: convert or drop it")


def date_kind(given: Any) -> str | None:
    """Return the name of the type of dates in an array, a list or a column; None: there are none."""
    dtype = getattr(given, "dtype", None)
    if dtype is not None and getattr(dtype, "kind", "O") in "mM":  # also pandas' dtypes with time zones
        return str(dtype)
    name = str(dtype).lower()
    if dtype is not None and name.startswith(("date", "duration", "period", "time", "interval")):
        return str(dtype)
    if hasattr(given, "__cuda_array_interface__") or getattr(dtype, "kind", "O") != "O":
        return None
    try:
        array = np.asarray(given)
    except (TypeError, ValueError):
        return None  # later checks say why
    if array.dtype.kind in "mM":
        return str(array.dtype)
    if array.dtype.kind == "O":
        return next((type(one).__name__ for one in array.ravel() if isinstance(one, DATES)), None)
    return None


# -- data frames -------------------------------------------------------------------------------------------------------


def is_frame(given: Any) -> bool:
    """Whether something is a table with named columns, of pandas, polars or the like."""
    return hasattr(given, "columns") and hasattr(given, "__getitem__") and hasattr(given, "shape")


def frame_rows(frame: Any, rows: IntArray) -> Any:
    """Return some rows of a data frame."""
    return frame.iloc[rows] if hasattr(frame, "iloc") else frame[rows]


# -- missing values ----------------------------------------------------------------------------------------------------


def missing(values: Any) -> Any:
    """Return which entries of a vector are NaN or None."""
    if values.dtype.kind in "fc":
        return np.isnan(values)
    if values.dtype.kind != "O":
        return np.zeros(len(values), bool)
    return np.array([is_missing(one) for one in values], bool)


def is_missing(one: Any) -> bool:
    """Whether a value is NaN, None, or one that cannot be compared, such as pandas.NA."""
    try:
        return one is None or bool(one != one)
    except TypeError:
        return True


def complete_rows(X: FloatArray, y: Any) -> IntArray:
    """Return the rows without missing values.

    Raises
    ------
    ValueError
        Where there are none.
    """
    rows = np.flatnonzero(~(np.isnan(X).any(axis=1) | missing(y)))
    if not len(rows):
        raise ValueError(f"every one of {len(y)} rows of X and y has a NaN: nan_policy='omit' leaves nothing")
    return rows


def explain_nan(error: ValueError) -> ValueError:
    """Return an error of scikit-learn about NaN with advice; another error as it is."""
    text = str(error)
    if "contains NaN" not in text:
        return error
    return ValueError(f"{text.splitlines()[0]} nan_policy='omit' leaves out rows with NaN")


# -- complex targets ---------------------------------------------------------------------------------------------------


def is_complex(given: Any) -> bool:
    """Whether an array, a list or a column holds complex numbers."""
    dtype = getattr(given, "dtype", None)
    if dtype is None:
        try:
            dtype = np.asarray(given).dtype
        except (TypeError, ValueError):
            return False
    return getattr(dtype, "kind", "O") == "c"


def check_complex(y: Any, n_samples: int, policy: str) -> Any:
    """Return complex targets as an array of shape (n_samples,) or refuse them."""
    array = np.asarray(y, np.complex128)
    array = array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array
    if array.shape != (n_samples,):
        raise ValueError(f"y must have shape ({n_samples},), got {np.shape(y)}")
    wrong = np.isinf(array) if policy != RAISE else ~np.isfinite(array)
    if wrong.any():
        raise explain_nan(ValueError(f"Input y contains {'infinity' if np.isinf(array).any() else 'NaN'}."))
    return array


def real_parts(values: Array) -> Array:
    """Return real and imaginary parts, one after the other on the last axis."""
    return array_namespace(values).concatenate([values.real, values.imag], axis=-1)


def complex_values(parts: Array) -> Array:
    """Return complex numbers from their parts."""
    n = parts.shape[-1] // 2
    return parts[..., :n] + 1j * parts[..., n:]


def explain_complex(loss: Any) -> str:
    """Return the reason why a scorer cannot be the loss of complex targets."""
    return f"loss={quote(loss)} takes no complex y: take 'squared', another loss of residuals, or a function"
