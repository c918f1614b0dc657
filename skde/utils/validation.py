"""Checks of parameters; every error has the name, the value and the allowed values."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from inspect import signature
from numbers import Integral, Real
from typing import Any, NoReturn, ParamSpec, TypeVar

import numpy as np

from skde.typing import FloatArray
from skde.utils.memory import check_memory

P = ParamSpec("P")
R = TypeVar("R")

MOST_JOBS = 1024  # or the number of processors
LONGEST = 200  # characters of a value in a message
LEAST_BYTES = 128  # of a fit for every variable: boxes, and two populations of four

# Names of our parameters and devices in other packages.
SYNONYMS = {
    "seed": "random_state",
    "rng": "random_state",
    "workers": "n_jobs",
    "maxfun": "max_evals",
    "maxfev": "max_evals",
    "gpu": "cuda",
    "algorithm": "method",
}
# Parameters of algorithms, which users give to solvers.
OF_ALGORITHMS = {"pop_size": "pop_size", "popsize": "pop_size", "f": "F", "cr": "CR", "strategy": "strategy"}
ROUNDING = 4 * float(np.finfo(np.float64).eps)  # relative to the larger of two bounds
DTYPES = ("float32", "float64")
# The types of numbers. Python's own come first: an abstract class takes several times as long to recognise them.
INTEGERS, REALS, BOOLS = (int, Integral), (float, int, Real), (bool, np.bool_)


def check_int(name: str, value: Any, low: int, high: int | None = None) -> int:
    """Return value as an int in [low, high]; an array of no dimension counts as its number."""
    given = unwrap_scalar(value)
    is_integer = isinstance(given, INTEGERS) and not isinstance(given, bool)
    number = int(given) if is_integer else 0
    if not is_integer or number < low or (high is not None and number > high):
        allowed = f"an integer >= {low}" if high is None else f"an integer in [{low}, {high}]"
        refuse(name, allowed, value, is_integer)
    return number


def check_bool(name: str, value: Any) -> bool:
    """Return value as a bool; other values that count as true or false are refused."""
    given = unwrap_scalar(value)
    if not isinstance(given, BOOLS):
        raise TypeError(f"{name} must be True or False, got {quote(value)} ({type(value).__name__})")
    return bool(given)


def check_path(name: str, value: Any) -> str | os.PathLike[str]:
    """Return value when it can name a file."""
    if not isinstance(value, str | os.PathLike) or not os.fspath(value):
        raise TypeError(f"{name} must be the name of a file or a path, got {quote(value)} ({type(value).__name__})")
    return value


def check_jobs(n_jobs: Any) -> int | None:
    """Return n_jobs as joblib takes it: None or an integer other than 0, at most MOST_JOBS or the processors."""
    if n_jobs is None:
        return None
    number = check_int("n_jobs", n_jobs, -(2**31))
    if number == 0:
        raise ValueError("n_jobs must be None or an integer other than 0, got 0")
    if number > MOST_JOBS and number > (most := max(MOST_JOBS, os.cpu_count() or 1)):
        raise ValueError(f"n_jobs must be at most {most}, got {quote(n_jobs)}; -1 is as many as there are processors")
    return number


def check_verbose(verbose: Any) -> int:
    """Return verbose as an int."""
    return int(verbose) if isinstance(verbose, BOOLS) else check_int("verbose", verbose, 0)


def check_real(
    name: str,
    value: Any,
    low: float = -np.inf,
    high: float = np.inf,
    *,
    low_open: bool = False,
    high_open: bool = False,
) -> float:
    """Return value as a float in the interval; NaN is never inside. An array of no dimension counts as its number."""
    given, too_large = unwrap_scalar(value), ""
    is_real = isinstance(given, REALS) and not isinstance(given, bool)
    number = float("nan")
    if is_real:
        try:
            number = float(given)
        except OverflowError:
            too_large = ", which is too large for a float"
    above = number > low if low_open else number >= low
    below = number < high if high_open else number <= high
    if not (above and below):
        allowed = f"a number in {'(' if low_open else '['}{low:g}, {high:g}{')' if high_open else ']'}"
        refuse(name, allowed, value, is_real, too_large)
    return number


def refuse(name: str, allowed: str, value: Any, is_number: bool, why: str = "") -> NoReturn:
    """Raise the error for a value that is out of range or, where it is no number, of a wrong type."""
    if not is_number:
        raise TypeError(f"{name} must be {allowed}, got {quote(value)} ({type(value).__name__})")
    raise ValueError(f"{name} must be {allowed}, got {quote(value)}{why}")


def check_choice(name: str, value: Any, choices: Iterable[str]) -> str:
    """Return value when it is one of the choices; else suggest the nearest."""
    choices = list(choices)
    if not isinstance(value, str) or value not in choices:
        raise ValueError(
            f"{name} must be one of {', '.join(map(repr, choices))}; got {quote(value)}{nearest(value, choices)}"
        )
    return value


def check_dtype(value: Any) -> str:
    """Return the name of the precision: by name, or as NumPy's type."""
    named = value
    if value is not None and not isinstance(value, str):
        try:
            named = np.dtype(value).name
        except (TypeError, ValueError):
            named = value  # refused below by its value
    return check_choice("dtype", named, DTYPES)


def check_names(what: str, given: Iterable[str], allowed: Iterable[str]) -> None:
    """Refuse unknown names of parameters, with the nearest allowed one.

    Raises
    ------
    ValueError
        With the names that are allowed.
    """
    for name in given:
        check_choice(f"a parameter of {what}", name, allowed)


def suggest_names(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a constructor or a function, so that the error for an unknown parameter suggests the nearest name."""
    names = [name for name in signature(function).parameters if name != "self"]
    constructs = function.__name__ == "__init__"

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in kwargs:
            if name not in names:
                called = type(args[0]).__name__ if constructs else function.__qualname__
                hint = nearest(name, names) or of_algorithm(called, name, names)
                raise TypeError(f"{called} got an unexpected keyword argument {name!r}{hint}")
        return function(*args, **kwargs)

    return call


def of_algorithm(called: str, name: str, names: Iterable[str]) -> str:
    """Return the place of a parameter that belongs to an algorithm, or an empty text."""
    own = OF_ALGORITHMS.get(name.lower())
    first = next(iter(names), "")
    if own is None or not first.startswith("algorithm"):
        return ""
    return f"; it is a parameter of the algorithm: {called}(DE({own}=...))"


def nearest(value: Any, choices: Iterable[str]) -> str:
    """Return '; did you mean ...?' with the choice nearest to value, or an empty text; a class needs a call."""
    if isinstance(value, type):
        return f"; a class is no parameter object, {value.__name__}() is one"
    if not isinstance(value, str):
        return ""
    spelled = {choice.lower(): choice for choice in choices}
    given = value.lower()
    if SYNONYMS.get(given) in spelled:
        given = SYNONYMS[given]
    close = difflib.get_close_matches(given, list(spelled), n=1)
    return f"; did you mean {spelled[close[0]]!r}?" if close else ""


def unwrap_scalar(value: Any) -> Any:
    """Return the number in an array without dimensions; any other value unchanged."""
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


def quote(value: Any) -> str:
    """Return a value's repr for messages, shortened to about a line."""
    try:
        text = repr(value)
    except ValueError:  # an integer with more digits than Python prints
        text = f"a {type(value).__name__} too long to be shown"
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 20]} ... {text[-10:]}"


def float_array(value: Any, message: str) -> FloatArray:
    """Return a new array of float64."""
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "biufO":
            raise TypeError(f"the type {array.dtype} is none of numbers")
        return np.array(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{message}, got {quote(value)}") from error


def refuse_ragged(name: str, given: Any) -> None:
    """Refuse rows of different lengths, by the parameter's name, which NumPy's message does not have."""
    try:
        np.shape(given)
    except ValueError as error:
        raise ValueError(f"{name} must have rows of one length, got {quote(given)}") from error


def list_bounds(bounds: Any) -> Any:
    """Return bounds that can be read more than once: an iterator's, such as a zip, as a list."""
    return list(bounds) if isinstance(bounds, Iterator) else bounds


def refuse_iterator(name: str, bounds: Any) -> None:
    """Refuse bounds of a constructor that only the first fit could read."""
    if isinstance(bounds, Iterator):
        kind = type(bounds).__name__
        raise ValueError(
            f"{name} must be a list in the constructor, got a {kind}, which can be read once only: list({kind}(...)); "
            "fit takes a zip"
        )


def check_bounds(bounds: Any, dim: int | None = None) -> FloatArray:
    """Return the box as a float64 array of shape (dim, 2)."""
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        lower, upper = np.broadcast_arrays(np.atleast_1d(bounds.lb), np.atleast_1d(bounds.ub))
        bounds = np.stack([lower, upper], axis=1)
    bounds = list_bounds(bounds)
    if isinstance(bounds, list | tuple):
        for j, pair in enumerate(bounds):
            if isinstance(pair, list | tuple) and len(pair) == 2 and any(one is None for one in pair):
                raise ValueError(
                    f"bounds[{j}] must be two finite numbers, got {quote(pair)}: the first points are drawn between "
                    "them, so give a number that the solution does not pass"
                )
    box = float_array(bounds, "bounds must be pairs (low, high) of numbers")
    if box.shape == (2,) and dim is not None:
        box = box[None, :]
    if box.ndim != 2 or box.shape[1] != 2 or len(box) == 0:
        hint = f" of {quote(bounds)}; the number of variables is named: dim={quote(bounds)}" if box.ndim == 0 else ""
        raise ValueError(
            f"bounds must have shape (dim, 2), one pair (low, high) a variable; got shape {box.shape}{hint}"
        )
    if dim is not None and len(box) == 1 and dim > 1:
        check_memory(f"dim={dim}", LEAST_BYTES * dim, "take fewer variables")
        box = np.repeat(box, dim, axis=0)
    if dim is not None and len(box) != dim:
        raise ValueError(
            f"bounds has {len(box)} pairs, but the objective has dim={dim} variables; give as many, or the objective "
            f"dim={len(box)}"
        )
    with np.errstate(over="ignore", invalid="ignore"):
        width = box[:, 1] - box[:, 0]
    wrong = np.flatnonzero(~((width > 0) & np.isfinite(width)))
    if len(wrong):
        refuse_pair(int(wrong[0]), *box[wrong[0]].tolist())
    return box


def refuse_pair(j: int, low: float, high: float) -> None:
    """Raise the error for a wrong pair of bounds."""
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ValueError(f"bounds[{j}] must be finite, got ({low}, {high})")
    if not low < high:
        raise ValueError(f"bounds[{j}] must have low < high, got ({low}, {high})")
    raise ValueError(f"bounds[{j}] is too wide: high - low overflows for ({low}, {high})")


def check_points_inside(points: FloatArray, box: FloatArray, dtype: Any) -> None:
    """Refuse points that are outside of the bounds in the precision of a fit."""
    low, high = round_inwards(box, dtype).T
    rounded = points.astype(dtype)
    if not ((rounded >= low) & (rounded <= high)).all():
        raise ValueError("points must be inside their bounds")


def round_inwards(box: FloatArray, dtype: Any) -> FloatArray:
    """Return the largest box of numbers of a precision, as float64, that is inside a box.

    Parameters
    ----------
    box : ndarray of shape (dim, 2)
        The bounds.
    dtype : dtype
        The precision of a fit.

    Raises
    ------
    ValueError
        For bounds with fewer than two numbers of the precision between them, or with a width that it does not hold.
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        low, high = box.astype(dtype, copy=False).T
        if low.dtype != box.dtype:
            low = np.where(low < box[:, 0], np.nextafter(low, low.dtype.type(np.inf)), low)
            high = np.where(high > box[:, 1], np.nextafter(high, high.dtype.type(-np.inf)), high)
        width = high - low
    good = (width > 0) & (width < np.inf)
    if not good.all():
        j = int(good.argmin())
        what = "is too wide" if low[j] < high[j] else "has fewer than two numbers inside"
        raise ValueError(f"bounds[{j}] = ({box[j, 0]}, {box[j, 1]}) {what} for dtype={np.dtype(dtype).name!r}")
    return box if low.dtype == box.dtype else np.stack([low, high], axis=1).astype(np.float64)


def clip_rounded(values: FloatArray, low: Any, high: Any) -> FloatArray:
    """Return numbers; where rounding has put one outside of its bounds, it is at the bound."""
    tolerance = ROUNDING * np.maximum(np.abs(low), np.abs(high))
    inside = np.clip(values, low, high)
    clipped: FloatArray = np.where(np.abs(values - inside) <= tolerance, inside, values)
    return clipped


def check_start(x0: Any, box: FloatArray, pop: int) -> FloatArray:
    """Return the first rows of initial populations, (n, dim); x0 is None, one point, or n <= pop points."""
    dim = len(box)
    if x0 is None:
        return np.zeros((0, dim))
    rows = np.atleast_2d(float_array(x0, f"x0 must be numbers of shape ({dim},) or (n, {dim})"))
    if rows.ndim != 2 or rows.shape[1] != dim:
        raise ValueError(f"x0 must have shape ({dim},) or (n, {dim}), got {np.shape(x0)}")
    if len(rows) > pop:
        raise ValueError(f"x0 has {len(rows)} rows, more than the population's {pop}")
    rows = clip_rounded(rows, *box.T)
    outside = ~((rows >= box[:, 0]) & (rows <= box[:, 1]))
    if outside.any():
        n, j = np.argwhere(outside)[0]
        raise ValueError(f"x0[{n}, {j}] = {rows[n, j]} is outside its bounds [{box[j, 0]}, {box[j, 1]}]")
    return rows
