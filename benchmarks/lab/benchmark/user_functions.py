"""Functions of users as suites: by the name of a module, or by an entry point of another package."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from skde.benchmark.functions import Function, Suite
from skde.cli.user_modules import import_name
from skde.typing import FloatArray
from skde.utils.arrays import real_values
from skde.utils.validation import check_bounds, check_real

# Each entry point is a function with an attribute bounds, or a mapping of names to such functions.
ENTRY_POINTS = "skde.suites"
NEEDED = "f.bounds = (low, high), or one such pair a variable; f.f_opt = the minimum, or a value below it"


def user_suite(name: str, found: Any = None) -> Suite:
    """Return the suite of a user.

    Parameters
    ----------
    name : str
        MODULE:NAME, or the name of an entry point.
    found : callable or mapping, optional
        The functions: f(X) takes NumPy arrays of shape (n, dim) and returns n values. ``f.bounds`` is a pair for every
        variable in any dimension, or one pair a variable; ``f.f_opt`` is the minimum, or a value below it: errors are
        differences to it. None: they are imported, also from the current directory.

    Returns
    -------
    suite : Suite

    Raises
    ------
    ValueError, TypeError
        For a module or a name that is not there, and for functions without bounds or f_opt, or with wrong ones.
    """
    if found is None:
        if not all(name.partition(":")[::2]):
            raise ValueError(f"suite must be the name of one or MODULE:NAME, got {name!r}")
        found = import_name(name)
    functions: Mapping[str, Any] = found if isinstance(found, Mapping) else {name.rpartition(".")[2]: found}
    for key in functions:
        if not isinstance(key, str):
            raise ValueError(f"names of functions in {name!r} must be strings, got {key!r}")
    functions = {key.rpartition(":")[2]: function for key, function in functions.items()}
    for key, function in functions.items():
        if not callable(function):
            raise ValueError(f"{key!r} of {name!r} must be a function, or a mapping of names to functions")
        for attribute in ("bounds", "f_opt"):
            if getattr(function, attribute, None) is None:
                raise ValueError(f"{key!r} of {name!r} has no {attribute}; it needs {NEEDED}")
        check_real(f"f_opt of {key!r} of {name!r}", function.f_opt, low_open=True, high_open=True)
    fixed = {key: box_of(name, key, function) for key, function in functions.items()}
    # Where no function has a number of variables, the user gives the dimensions.
    dims = None if any(box.ndim == 1 for box in fixed.values()) else (lambda key: (len(fixed[key]),))
    return Suite(name, tuple(functions), partial(user_function, functions, fixed), False, dims=dims)


def user_function(
    functions: Mapping[str, Any], boxes: Mapping[str, FloatArray], suite: str, name: str, dim: int
) -> Function:
    """Return one function of a user in one dimension."""
    function, box = functions[name], boxes[name]
    if box.ndim == 1:
        box = np.tile(box, (dim, 1))
    if len(box) != dim:
        raise ValueError(f"dims of {name!r} of {suite!r} must be {len(box)}, as its bounds say; got {dim}")

    def of_lists(points: list[list[float]]) -> list[float]:
        X = np.asarray(points, float)
        values: list[float] = real_values(function(X), X, "the function's return value").tolist()
        return values

    return Function(name, function, of_lists, box, float(function.f_opt))


def box_of(suite: str, name: str, function: Any) -> FloatArray:
    """Return a function's bounds, of shape (2,) or (dim, 2)."""
    try:
        box = np.asarray(function.bounds, float)
    except (ValueError, TypeError):
        box = np.empty(0)
    if box.shape != (2,) and (box.ndim != 2 or box.shape[1] != 2):
        raise ValueError(f"{name!r} of {suite!r} has the bounds {function.bounds!r}; it needs {NEEDED}")
    try:
        check_bounds(np.atleast_2d(box))
    except ValueError as error:
        raise ValueError(f"{name!r} of {suite!r}: {error}") from None
    return box
