"""Checks of what users give; every error names the thing, what was given and what is allowed."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from functools import wraps
from inspect import signature
from numbers import Integral, Real
from typing import Any, ParamSpec

import numpy as np

from skde.typing import FloatArray

P = ParamSpec("P")

# What others call our parameters.
SYNONYMS = {
    "seed": "random_state",
    "rng": "random_state",
    "workers": "n_jobs",
    "maxfun": "max_evals",
    "maxfev": "max_evals",
}


def check_int(name: str, value: Any, low: int, high: int | None = None) -> int:
    """Return value as an int in [low, high]."""
    allowed = f"an integer >= {low}" if high is None else f"an integer in [{low}, {high}]"
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be {allowed}, got {value!r} ({type(value).__name__})")
    number = int(value)
    if number < low or (high is not None and number > high):
        raise ValueError(f"{name} must be {allowed}, got {value!r}")
    return number


def check_bool(name: str, value: Any) -> bool:
    """Return value as a bool; texts and numbers are none."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {value!r} ({type(value).__name__})")
    return bool(value)


def check_jobs(n_jobs: Any) -> int | None:
    """Return n_jobs as joblib takes it: None or an integer other than 0."""
    if n_jobs is None:
        return None
    if check_int("n_jobs", n_jobs, -(2**31)) == 0:
        raise ValueError("n_jobs must be None or an integer other than 0, got 0")
    return int(n_jobs)


def check_verbose(verbose: Any) -> int:
    """Return verbose as an int."""
    return int(verbose) if isinstance(verbose, bool | np.bool_) else check_int("verbose", verbose, 0)


def check_real(
    name: str,
    value: Any,
    low: float = -np.inf,
    high: float = np.inf,
    *,
    low_open: bool = False,
    high_open: bool = False,
) -> float:
    """Return value as a float in the interval; NaN is never inside."""
    allowed = f"a number in {'(' if low_open else '['}{low:g}, {high:g}{')' if high_open else ']'}"
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise TypeError(f"{name} must be {allowed}, got {value!r} ({type(value).__name__})")
    number = float(value)
    above = number > low if low_open else number >= low
    below = number < high if high_open else number <= high
    if not (above and below):
        raise ValueError(f"{name} must be {allowed}, got {value!r}")
    return number


def check_choice(name: str, value: Any, choices: Iterable[str]) -> str:
    """Return value when it is one of the choices; else suggest the nearest."""
    choices = list(choices)
    if not isinstance(value, str) or value not in choices:
        raise ValueError(
            f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}{nearest(value, choices)}"
        )
    return value


def named_parameters(init: Callable[P, None]) -> Callable[P, None]:
    """Decorate a constructor, to say which parameter comes nearest to one that it does not have."""
    names = list(signature(init).parameters)[1:]

    @wraps(init)
    def checked(*args: P.args, **kwargs: P.kwargs) -> None:
        for name in kwargs:
            if name not in names:
                solver = type(args[0]).__name__
                raise TypeError(f"{solver} has no parameter {name!r}{nearest(name, names)}; it has {', '.join(names)}")
        init(*args, **kwargs)

    return checked


def nearest(value: Any, choices: Iterable[str]) -> str:
    """'; did you mean ...?' when something like value is among the choices, else nothing."""
    if not isinstance(value, str):
        return ""
    spelled = {choice.lower(): choice for choice in choices}
    given = value.lower()
    if SYNONYMS.get(given) in spelled:
        given = SYNONYMS[given]
    close = difflib.get_close_matches(given, list(spelled), n=1)
    return f"; did you mean {spelled[close[0]]!r}?" if close else ""


def check_bounds(bounds: Any, dim: int | None = None) -> FloatArray:
    """Return the box as a float64 array of shape (dim, 2).

    Parameters
    ----------
    bounds : scipy.optimize.Bounds, or array-like of shape (dim, 2), or one (low, high) pair with `dim`
        The box.
    dim : int or None
        The dimension, where the caller knows it.
    """
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        lower, upper = np.broadcast_arrays(np.atleast_1d(bounds.lb), np.atleast_1d(bounds.ub))
        bounds = np.stack([lower, upper], axis=1)
    try:
        box = np.array(bounds, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"bounds must be pairs (low, high) of numbers, got {bounds!r}") from error
    if box.shape == (2,) and dim is not None:
        box = box[None, :]
    if box.ndim != 2 or box.shape[1] != 2 or len(box) == 0:
        raise ValueError(f"bounds must have shape (dim, 2), one pair (low, high) a variable; got shape {box.shape}")
    if dim is not None and len(box) == 1 and dim > 1:
        box = np.repeat(box, dim, axis=0)
    if dim is not None and len(box) != dim:
        raise ValueError(f"bounds has {len(box)} pairs, but the objective has dim={dim} variables")
    for j, (low, high) in enumerate(box):
        if not (np.isfinite(low) and np.isfinite(high)):
            raise ValueError(f"bounds[{j}] must be finite, got ({low}, {high})")
        if not low < high:
            raise ValueError(f"bounds[{j}] must have low < high, got ({low}, {high})")
        with np.errstate(over="ignore"):
            width = high - low
        if not np.isfinite(width):
            raise ValueError(f"bounds[{j}] is too wide: high - low overflows for ({low}, {high})")
    return box


def check_precision(box: FloatArray, dtype: str) -> None:
    """Refuse bounds that fall together, or are no numbers any more, in the precision of a fit."""
    with np.errstate(over="ignore", invalid="ignore"):
        cast = box.astype(dtype)
        width = cast[:, 1] - cast[:, 0]
    for j in np.flatnonzero(~((width > 0) & np.isfinite(width))):
        raise ValueError(f"bounds[{j}] = ({box[j, 0]}, {box[j, 1]}) cannot be told apart or held in dtype={dtype!r}")


def check_start(x0: Any, box: FloatArray, pop: int) -> FloatArray:
    """Return the rows that initial populations begin with, (n, dim); x0 is None, one point, or n <= pop points."""
    dim = len(box)
    if x0 is None:
        return np.zeros((0, dim))
    try:
        rows = np.atleast_2d(np.array(x0, dtype=np.float64))
    except (TypeError, ValueError) as error:
        raise ValueError(f"x0 must be numbers of shape ({dim},) or (n, {dim}), got {x0!r}") from error
    if rows.ndim != 2 or rows.shape[1] != dim:
        raise ValueError(f"x0 must have shape ({dim},) or (n, {dim}), got {np.shape(x0)}")
    if len(rows) > pop:
        raise ValueError(f"x0 has {len(rows)} rows, more than the population's {pop}")
    outside = ~((rows >= box[:, 0]) & (rows <= box[:, 1]))
    if outside.any():
        n, j = np.argwhere(outside)[0]
        raise ValueError(f"x0[{n}, {j}] = {rows[n, j]} is outside its bounds [{box[j, 0]}, {box[j, 1]}]")
    return rows
