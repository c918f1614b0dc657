"""Calls of the user's functions, which can read the data of a fit and cannot change it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from skde.typing import Array

READ_ONLY = "a fit calls its functions with the same X, y and sample_weight for every candidate: change a copy of them"


def call_with_data(function: Callable[..., Any], data: Array, own: Any, **more_data: Array) -> Any:
    """Return function(data, own, **more_data), with data that it cannot write to.

    Parameters
    ----------
    function : callable
        A model, a loss or residuals.
    data, more_data : ndarray or data frame
        Arrays of the fit, or its samples as they were given.
    own : object
        What the function may change: an array of this call alone.
    """
    try:
        return function(protect(data), own, **{name: protect(array) for name, array in more_data.items()})
    except ValueError as error:
        if "read-only" in str(error):
            error.add_note(READ_ONLY)
        raise


def protect(array: Array) -> Array:
    """Return a view of an array without the right to write to it, or a copy of one of CuPy, or of a data frame.

    It is made for every call, because an array that joblib sends to a worker can be written to there.
    """
    if hasattr(array, "columns"):  # a data frame: polars' cannot change
        return array.copy(deep=not copies_on_write(array)) if hasattr(array, "iloc") else array
    if not isinstance(array, np.ndarray):
        return array.copy()
    view = array.view()
    view.flags.writeable = False
    return view


def copies_on_write(frame: Any) -> bool:
    """Whether a copy of a data frame of pandas that shares its memory can be written to without an effect on it."""
    version: str = sys.modules["pandas"].__version__
    return int(version.partition(".")[0]) >= 3
