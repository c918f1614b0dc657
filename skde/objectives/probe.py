"""A few calls of a user's function before a fit: whether it returns one value a point, made of that point alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from skde.arrays import to_numpy
from skde.typing import Array, FloatArray, IntArray

# Relative to the largest value: functions may compute in single precision, and matrix products round differently for
# one row and for several. A value that depends on the other rows differs by much more.
TOLERANCE = 1e-3

Function = Callable[..., Array]


def probe(function: Function, what: str, boxes: Sequence[FloatArray], dtype: np.dtype[Any], xp: Any) -> None:
    """Refuse a function with values that do not belong to one point each, or to one pair of points.

    It is called with a few points and with one of them: where a function of a single point is given for one of whole
    populations, the number of its values is another one. A function that gives other values when it is called again
    with the same points, as noisy ones do, is taken as it is.

    Parameters
    ----------
    function : callable
        function(X), or function(X, Y), on arrays of points. Its values have an axis for each of these, and may have
        one more for components; it checks their shape itself.
    what : str
        Its name in messages.
    boxes : sequence of ndarray of shape (dim, 2)
        The bounds of X, and of Y.
    dtype : dtype
        Of the points.
    xp : module
        The library of the points, NumPy or CuPy.

    Raises
    ------
    ValueError
        When the value of a point depends on the others.
    """

    def values(sides: Sequence[FloatArray]) -> FloatArray:
        arrays = [xp.array(side) for side in sides]  # each call has its own, as functions may write there
        try:
            found: FloatArray = to_numpy(function(*arrays)).astype(np.float64)
        except Exception as error:
            shapes = " and ".join(str(side.shape) for side in sides)
            hint = "point needs vectorized=False" if len(sides) == 1 else "pair needs pairwise=True"
            error.add_note(f"skde called {what} before the fit with {shapes}; a function of a single {hint}")
            raise
        return found

    sides = [sample(box, n, dtype) for box, n in zip(boxes, sizes(boxes), strict=True)]
    together = values(sides)
    if together.size == 0:
        return
    place = middle(together, len(sides))
    moved = [np.roll(side, -k, axis=0) for side, k in zip(sides, place, strict=True)]
    alone = values([side[:1] for side in moved])[(0,) * len(sides)]
    scale = np.abs(np.where(np.isfinite(together), together, 0.0)).max(axis=tuple(range(len(sides))))
    if agree(together[place], alone, scale):
        return
    # Random numbers that are the same in every call belong to places, and not to the other points.
    if agree(values(moved)[(0,) * len(sides)], alone, scale):
        return
    if np.array_equal(values(sides), together, equal_nan=True):
        rows = " and ".join(str(len(side)) for side in sides)
        raise ValueError(
            f"{what} must make the value of a row of that row alone: one is {together[place]} among {rows} rows, and "
            f"{alone} when its row is the only one; leave out what is taken over rows, such as means, minima and ranks"
        )


def sizes(boxes: Sequence[FloatArray]) -> list[int]:
    """Return how many points to take in every box: few, each another number, and none that of a box's variables."""
    taken = {len(box) for box in boxes}
    free = (n for n in range(3, 3 + 2 * len(boxes) + 1) if n not in taken)
    return [next(free) for _ in boxes]


def sample(box: FloatArray, n: int, dtype: np.dtype[Any]) -> FloatArray:
    """Return n points of a box, always the same: those of a lattice, which differ in every variable."""
    i, j = np.arange(1, n + 1)[:, None], np.arange(1, len(box) + 1)
    share = (i * j * (np.sqrt(5.0) - 1.0) / 2.0) % 1.0
    low, high = box.T.astype(dtype)
    points: FloatArray = (box[:, 0] + share * (box[:, 1] - box[:, 0])).astype(dtype)
    return points.clip(low, high)  # single precision may round out of the box


def middle(values: FloatArray, axes: int) -> tuple[int, ...]:
    """Return the place of the value in the middle: the least and the largest may be all that others do not change."""
    first = values.reshape(*values.shape[:axes], -1)[..., 0]
    order: IntArray = np.argsort(first, axis=None)
    known = int(np.count_nonzero(~np.isnan(first)))
    return tuple(int(k) for k in np.unravel_index(int(order[known // 2]), first.shape))


def agree(first: Any, second: Any, scale: Any) -> bool:
    """Whether values are the same but for rounding."""
    with np.errstate(invalid="ignore"):
        near = np.abs(first - second) <= TOLERANCE * scale
    return bool(np.all(near | (first == second) | (np.isnan(first) & np.isnan(second))))
