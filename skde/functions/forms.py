"""The two forms of a user's function, of arrays of points and of one point, and which of them a function has."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn, Protocol

import numpy as np

from skde.typing import Array, FloatArray
from skde.utils.arrays import array_namespace, to_numpy
from skde.utils.validation import BOOLS, quote, unwrap_scalar

AUTO = "auto"
# Of NumPy, CuPy, PyTorch and JAX, where a function of arrays gets one point.
TOO_FEW_AXES = ("too many indices", "invalid index to scalar")


class OfOne(Protocol):
    """A user's function of one point, or of one pair."""

    @property
    def function(self) -> Callable[..., Any]:
        """The function."""

    @property
    def check(self) -> Callable[..., Any]:
        """check(value, point) returns its value as a number, or refuses it."""

    @property
    def failing(self) -> Any:
        """The `NanOnError` that makes exceptions of the function NaN; None: there is none."""


@dataclass(frozen=True)
class CallOptions:
    """The way in which a user's Python function is called.

    Attributes
    ----------
    rows : {"auto"} or bool, default "auto"
        Whether it takes arrays of points; "auto": that is to be found out.
    n_jobs : int or None, default None
        Number of joblib workers for a function of one point.
    on_error : {"raise", "nan"}, default "raise"
        With "nan", the value of a function of one point that raises an exception is NaN.
    max_eval_time : float or None, default None
        Time limit of one evaluation in workers.
    """

    rows: bool | str = AUTO
    n_jobs: int | None = None
    on_error: str = "raise"
    max_eval_time: float | None = None


DEFAULT_CALLS = CallOptions()


@dataclass(eq=False)
class Form:
    """The form of a function.

    Attributes
    ----------
    rows : bool or None
        Whether the function takes arrays of points; None: that is not known yet.
    noisy : bool
        Whether it has returned other values at the same points.
    """

    rows: bool | None
    noisy: bool = False


class CalledFunction(NamedTuple):
    """A user's Python function in both forms.

    Attributes
    ----------
    of_rows : callable
        The function of arrays of points.
    of_point : RowByRow, PairByPair or None
        The function of one point, or of one pair; None where it only takes arrays.
    form : Form or None
        Whether the function takes arrays; None: it does.
    """

    of_rows: Callable[..., Any]
    of_point: Any = None
    form: Form | None = None


class MixedRowsError(ValueError):
    """An error for a value that depends on other points than its own.

    Parameters
    ----------
    message : str
        The message.
    index : tuple of int
        The place of the point, or of the pair, among the call's.
    alone : object
        The value of the point when it is the only one.
    """

    def __init__(self, message: str, index: tuple[int, ...], alone: Any) -> None:
        super().__init__(message, index, alone)
        self.index, self.alone = index, alone

    def __str__(self) -> str:
        return str(self.args[0])


class ConstraintsReturned(Exception):
    """A function has been found to return (f, g) or (f, g, h), and not f alone.

    Parameters
    ----------
    x : ndarray of shape (dim,) or None, default None
        The point of the call, of a function of one point.
    outputs : ndarray of shape (1 + m + l,) or None, default None
        The f, the g and the h there.
    sizes : (int, int) or None, default None
        The numbers m and l.
    """

    def __init__(
        self, x: FloatArray | None = None, outputs: FloatArray | None = None, sizes: tuple[int, int] | None = None
    ) -> None:
        super().__init__(x, outputs, sizes)
        self.x, self.outputs, self.sizes = x, outputs, sizes


class ListReturned(TypeError):
    """A function has returned [f, g] or [f, g, h], and not a tuple."""


def check_form(name: str, value: Any) -> bool | str:
    """Return a parameter that is "auto", True or False."""
    if isinstance(value, str) and value == AUTO:
        return AUTO
    given = unwrap_scalar(value)
    if not isinstance(given, BOOLS):
        raise TypeError(f"{name} must be 'auto', True or False, got {quote(value)} ({type(value).__name__})")
    return bool(given)


def as_form(given: bool | str) -> Form:
    """Return the form that a parameter says."""
    return Form(None if given == AUTO else bool(given))


def find_rows(
    call_rows: Callable[[], Any],
    one: OfOne,
    sides: Sequence[FloatArray],
    what: str,
    shape: Any,
    alone: Callable[[int], Any] | None = None,
) -> bool:
    """Return whether a function takes arrays of points, found by a call of each form; arrays where both are right.

    Parameters
    ----------
    call_rows : callable
        Calls the function with an array of points, and raises where the values are not the points'.
    one : OfOne
        The function of one point.
    sides : sequence of ndarray of shape (n, dim)
        The points, of a game on both sides.
    what : str
        Name of the function in messages.
    shape : object
        Shape of the array, in messages.
    alone : callable or None, default None
        alone(k) returns the value of an array with the k-th point alone.

    Raises
    ------
    Exception
        The function's, where it takes neither.
    """
    points = tuple(side[0] for side in sides)
    if one.failing is not None:
        refuse_rows_that_fail(call_rows, one, points, what)
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a call that may be of the wrong form
            call_rows()
        return True
    except (ConstraintsReturned, ListReturned):
        raise
    except Exception as error:  # whatever a function of one point raises for an array
        of_rows = error
    if isinstance(of_rows, MixedRowsError):
        points = tuple(side[k] for side, k in zip(sides, of_rows.index, strict=True))
    returned = False
    try:
        value = one.function(*(point.copy() for point in points))
        returned = True
        number = one.check(value, points[0])
    except (ConstraintsReturned, ListReturned):
        raise
    except Exception as error:  # it takes neither: the user's own error is raised
        refuse_both(of_rows, error, returned, what, shape, points)
    if isinstance(of_rows, MixedRowsError) and equal_values(of_rows.alone, number) and agree(one, alone, sides[0]):
        of_rows.add_note("if it is a function of one point, say so: vectorized=False, or pairwise=True for a pair")
        raise of_rows
    del of_rows  # its traceback holds this call, and with it the fit
    return False


def agree(one: OfOne, alone: Callable[[int], Any] | None, points: FloatArray) -> bool:
    """Return whether both forms of a function have the same values at all points, where arrays have one of them."""
    if alone is None:
        return True
    return all(equal_values(alone(k), one.check(one.function(point.copy()), point)) for k, point in enumerate(points))


def equal_values(first: Any, second: Any) -> bool:
    """Return whether two values of a point are equal."""
    return bool(np.array_equal(np.ravel(to_numpy(first)), np.ravel(second), equal_nan=True))


def refuse_rows_that_fail(call_rows: Callable[[], Any], one: OfOne, points: tuple[FloatArray, ...], what: str) -> None:
    """Refuse on_error="nan" for a function that takes arrays alone; one that fails for both may take a point."""
    try:
        one.check(one.function(*(point.copy() for point in points)), points[0])
        raised, one.failing.first_error = one.failing.first_error, ""
    except ConstraintsReturned:
        raise
    except Exception as error:
        raised = repr(error)
    if not raised:
        return
    try:
        call_rows()
    except Exception:  # the point may be one of those that fail
        return
    raise ValueError(
        f"on_error='nan' is for a function of one point, and {what} takes arrays of points: an exception of f(X) does "
        "not say which rows failed; let f return NaN for these"
    )


def refuse_both(
    of_rows: Exception, of_point: Exception, returned: bool, what: str, shape: Any, points: tuple[FloatArray, ...]
) -> NoReturn:
    """Raise the error of the form that a function seems to have; `returned`: it raised none for one point."""
    many = f"arrays of points, of shape {shape}"
    single = f"one point, of shape {points[0].shape}" if len(points) == 1 else "one pair"
    if returned:  # two wrong values, or an error for arrays alone
        is_of_rows = is_own(of_rows)
    else:
        too_few = any(text in str(of_point).lower() for text in TOO_FEW_AXES)
        is_of_rows = too_few or isinstance(of_point, np.exceptions.AxisError)
    first, second, tried = (of_rows, of_point, many), (of_point, of_rows, single), [many, single]
    error, other, which = first if is_of_rows else second
    tried.remove(which)
    error.add_note(
        f"skde called {what} before the fit with {which}, which raised this, and with {tried[0]}, which raised "
        f"{type(other).__name__}: {other}"
    )
    raise error


def is_own(error: Exception) -> bool:
    """Return whether the package raised an error, and not the user's function."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    return frame is not None and str(frame.tb_frame.f_globals.get("__name__")).partition(".")[0] == "skde"


def few_rows(X: Array) -> Array:
    """Return five or six rows of X, some of them several times where it has fewer: not as many as it has columns."""
    n = 6 if X.shape[1] == 5 else 5
    return X[array_namespace(X).arange(n) % len(X)]


def find_at(of_rows: Callable[[Array], Array], one: OfOne, X: Array, what: str) -> bool:
    """Return whether a function takes arrays of points, where only these points may be tried.

    Few points, or equal ones, do not show whether a value depends on other points, so both forms must agree.
    """
    rows = few_rows(X)
    point = np.array(to_numpy(rows[0]))
    found: list[Any] = []
    takes_rows = find_rows(lambda: found.append(of_rows(rows.copy())), one, [point[None]], what, rows.shape)
    if not takes_rows:
        return False
    try:
        alone = one.check(one.function(point.copy()), point)
    except Exception:  # it takes arrays only
        return True
    return equal_values(to_numpy(found[0])[0], alone)
