"""Check of a user's function before a fit: every value must depend on its own point alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from skde.engines import Engine
from skde.functions.forms import Form, MixedRowsError, find_rows
from skde.functions.pointwise import RowByRow
from skde.typing import Array, FloatArray, IntArray
from skde.utils.arrays import to_numpy
from skde.utils.validation import round_inwards

# Relative to the largest value. Functions may compute in single precision, and matrix products round differently for
# one row and for several; a value that depends on other rows differs by much more.
TOLERANCE = 1e-3
# Two of them may be extremes, and two others have the extreme values.
FEWEST_POINTS = 5
# Points among which those are looked for that satisfy the constraints.
CANDIDATES = 100
# Of every variable's range.
PARTS = ((0.0, 1.0), (0.55, 0.8), (0.15, 0.4), (0.35, 0.9), (0.1, 0.3), (0.6, 0.7))

Function = Callable[..., Array]


class UserFunction(NamedTuple):
    """A user's Python function, in both forms.

    Attributes
    ----------
    of_rows : callable
        The function of arrays of points, with checked return values.
    name : str
        Its name in messages.
    form : Form
        The form that it has.
    of_point : RowByRow or None
        The function of one point; None where it takes arrays for certain.
    feasible : callable or None
        feasible(X) says which rows of X it may be called with; None: with all.
    """

    of_rows: Function
    name: str
    form: Form
    of_point: RowByRow | None
    feasible: Function | None = None


def probe_form(
    function: UserFunction,
    decoded: Function,
    box: FloatArray,
    engine: Engine,
    dtype: np.dtype[Any],
    verbose: int,
) -> None:
    """Probe a function of arrays, or find out the form of one that is not known, where the engine calls functions.

    A function of one point is not called. To find the form takes one call with an array and one with a point; where the
    function takes arrays, `probe` makes the second call.

    Parameters
    ----------
    function : UserFunction
        The function.
    decoded : callable
        decoded(X) returns the values of the variables at points of the box.
    box : ndarray of shape (dim, 2)
        Bounds of the points.
    engine : Engine
        The engine of the fit.
    dtype : dtype
        Type of the points.
    verbose : int
        Whether to print the form that was found.
    """
    form = function.form
    if form.rows is False:
        return
    feasible = None if function.feasible is None else partial(call_after, function.feasible, decoded)
    if form.rows is None:
        form.rows = engine.apply(partial(find_form, function, decoded, box, dtype, feasible))
        if verbose and form.rows is not None:
            takes = "arrays of points" if form.rows else "one point"
            print(f"skde: vectorized='auto' found that {function.name} takes {takes}")
    else:
        of_rows = partial(call_after, function.of_rows, decoded)
        form.noisy = engine.apply(partial(probe, of_rows, function.name, [box], dtype, feasible=feasible))


def find_form(
    function: UserFunction,
    decoded: Function,
    box: FloatArray,
    dtype: np.dtype[Any],
    feasible: Function | None,
    xp: Any,
) -> bool | None:
    """Return whether a function takes arrays of points; None where too few points may be tried."""
    assert function.of_point is not None
    sides = probe_points([box], dtype, xp, feasible)
    if sides is None:
        return None
    points = to_numpy(decoded(xp.array(sides[0])))

    of_rows = partial(call_after, function.of_rows, decoded)

    def call_rows() -> None:
        function.form.noisy = probe(of_rows, function.name, [box], dtype, xp, feasible=feasible, hint=False)

    def alone(k: int) -> Any:
        return to_numpy(of_rows(xp.array(sides[0][k : k + 1])))[0]

    return find_rows(call_rows, function.of_point, [points], function.name, points.shape, alone)


def call_after(function: Function, change: Function, X: Array) -> Array:
    """Return function(change(X))."""
    return function(change(X))


def probe(
    function: Function,
    what: str,
    boxes: Sequence[FloatArray],
    dtype: np.dtype[Any],
    xp: Any,
    *,
    feasible: Function | None = None,
    hint: bool = True,
) -> bool:
    """Raise ValueError for a function with values that depend on other points than their own.

    The function is called with a few points and with one of them. A function of a single point that is given as one of
    arrays then returns a wrong number of values. A function that returns other values when it is called again with the
    same points, such as a noisy one, is not checked.

    Parameters
    ----------
    function : callable
        function(X) or function(X, Y) of arrays of points. Its result has an axis for each of these, and may have one
        more for components; the function checks the shape itself.
    what : str
        Name of the function in messages.
    boxes : sequence of ndarray of shape (dim, 2)
        Bounds of X, and of Y.
    dtype : dtype
        Type of the points.
    xp : module
        Array library of the points, NumPy or CuPy.
    feasible : callable or None, default None
        feasible(X) says which rows of X the function may be called with; where it is not enough, it is not called.
    hint : bool, default True
        Whether an exception of the function gets a note on functions of one point.

    Returns
    -------
    noisy : bool
        Whether the function returned other values when it was called again with the same points.

    Raises
    ------
    ValueError
        When the value of a point depends on other points.
    """

    def values(sides: Sequence[FloatArray]) -> FloatArray:
        arrays = [xp.array(side) for side in sides]  # a copy for each call, because functions may write to it
        try:
            answer: FloatArray = to_numpy(function(*arrays)).astype(np.float64)
        except Exception as error:
            if hint:
                shapes = " and ".join(str(side.shape) for side in sides)
                other = "point needs vectorized=False" if len(sides) == 1 else "pair needs pairwise=True"
                error.add_note(f"skde called {what} before the fit with {shapes}; a function of a single {other}")
            raise
        return answer

    sides = probe_points(boxes, dtype, xp, feasible)
    if sides is None:
        return False
    together = values(sides)
    if together.size == 0:
        return False
    index = choose_index(together, sides)
    moved = [np.roll(side, -k, axis=0) for side, k in zip(sides, index, strict=True)]
    rows, first = [side[:1] for side in moved], (0,) * len(sides)
    alone = values(rows)[first]
    scale = np.abs(np.where(np.isfinite(together), together, 0.0)).max(axis=tuple(range(len(sides))))
    if equal_up_to_rounding(together[index], alone, scale):
        return False
    # A function may add the same random numbers in every call: these depend on the row's number, not on other points.
    copies = [np.repeat(row, len(side), axis=0) for row, side in zip(rows, sides, strict=True)]
    if equal_up_to_rounding(values(moved)[first], alone, scale) and equal_up_to_rounding(
        values(copies)[index], together[index], scale
    ):
        return False
    if np.array_equal(values(sides), together, equal_nan=True):
        count = " and ".join(str(len(side)) for side in sides)
        raise MixedRowsError(
            f"{what} must compute the value of a row from that row alone: one is {together[index]} among {count} rows, "
            f"and {alone} when its row is the only one; leave out results of several rows such as means and ranks",
            index,
            alone,
        )
    return True


def probe_points(
    boxes: Sequence[FloatArray], dtype: np.dtype[Any], xp: Any, feasible: Function | None
) -> list[FloatArray] | None:
    """Return the points of a probe, of every box; None where too few are feasible."""
    counts = sizes(boxes)
    if feasible is None:
        return [sample_box(box, n, dtype) for box, n in zip(boxes, counts, strict=True)]
    candidates = [sample_box(box, CANDIDATES, dtype) for box in boxes]
    sides = [X[to_numpy(feasible(xp.array(X)))][:n] for X, n in zip(candidates, counts, strict=True)]
    return None if any(len(side) < n for side, n in zip(sides, counts, strict=True)) else sides


def sizes(boxes: Sequence[FloatArray]) -> list[int]:
    """Return small numbers of points for the boxes, all different and none equal to a number of variables."""
    taken = {len(box) for box in boxes}
    free = (n for n in range(FEWEST_POINTS, FEWEST_POINTS + 2 * len(boxes) + 1) if n not in taken)
    return [next(free) for _ in boxes]


def sample_box(box: FloatArray, n: int, dtype: np.dtype[Any]) -> FloatArray:
    """Return n points of a box, always the same: each has a part of the box, so that their means and sizes differ."""
    first, last = np.resize(PARTS, (n, 2)).T[:, :, None]
    share = first + (last - first) * np.random.default_rng(n).random((n, len(box)))
    points = (box[:, 0] + share * (box[:, 1] - box[:, 0])).clip(*round_inwards(box, dtype).T)
    rounded: FloatArray = points.astype(dtype)
    return rounded


def choose_index(values: FloatArray, sides: Sequence[FloatArray]) -> tuple[int, ...]:
    """Return the index of the value to compare.

    An extreme of all points or values would not tell a function that takes maxima over rows: its value is the same
    where its row is the only one. So the points are inner ones, and of their values the middle one is taken.
    """
    first = values.reshape(*(len(side) for side in sides), -1)[..., 0]
    inner = np.ix_(*(inner_rows(side) for side in sides))
    order: IntArray = np.argsort(first[inner], axis=None)
    known = int(np.count_nonzero(~np.isnan(first[inner])))
    place = np.unravel_index(int(order[known // 2]), first[inner].shape)
    return tuple(int(rows.ravel()[k]) for rows, k in zip(inner, place, strict=True))


def inner_rows(points: FloatArray) -> IntArray:
    """Return the rows that hold neither the least nor the largest number of all rows: at least n - 2 of n."""
    outer = {int(np.unravel_index(k, points.shape)[0]) for k in (points.argmin(), points.argmax())}
    return np.array([row for row in range(len(points)) if row not in outer])


def equal_up_to_rounding(first: Any, second: Any, scale: Any) -> bool:
    """Return whether values are equal up to rounding."""
    with np.errstate(invalid="ignore"):
        near = np.abs(first - second) <= TOLERANCE * scale
    return bool(np.all(near | (first == second) | (np.isnan(first) & np.isnan(second))))
