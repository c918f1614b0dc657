"""The pairs of one request of a cycle, or its points, that get their values in parts: from a fit, or from a user."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from skde.fit.partial_generation import PartialValues
from skde.typing import Array, IntArray
from skde.utils.arrays import to_numpy


class RequestPlace(NamedTuple):
    """The place of a request in a run.

    Attributes
    ----------
    cycle : int
        The cycle.
    evals : int
        The evaluations of the cycle before the request.
    """

    cycle: int
    evals: int


class PartialRequest(PartialValues):
    """The points of a request of all runs, each x against each y, with the values that are known so far.

    A row is a pair: first of the first run's first x, then of its second x, and so on. Without Y it is a point x,
    and its value is a row of features.

    Parameters
    ----------
    place : Place
        The place of the request.
    X : ndarray of shape (R, n, dim x)
        Points of the box.
    Y : ndarray of shape (R, m, dim y) or None
        Opponents.
    runs : ndarray of bool, of shape (R,)
        The runs that need values.
    features : int
        The number of features of a point.
    xp : module
        NumPy or CuPy.
    before : ndarray of shape (R * n, features) or None, default None
        Features of the same points in the request before: they are evaluated again.
    """

    def __init__(
        self, place: RequestPlace, X: Array, Y: Array | None, runs: Any, features: int, xp: Any, before: Array = None
    ) -> None:
        self.place, self.X, self.Y, self.runs, self.before = place, X, Y, runs, before
        n_runs, n = X.shape[:2]
        self.n_opponents = 1 if Y is None else Y.shape[1]
        self.size = n * self.n_opponents  # rows of a run
        shape = (n_runs * self.size, features) if Y is None else n_runs * self.size
        self.shape = (n_runs, n, features) if Y is None else (n_runs, n, self.n_opponents)
        super().__init__(np.repeat(runs, self.size), xp.full(shape, np.nan, X.dtype), xp, n_runs)

    @property
    def reply(self) -> Array:
        """The values in the form of the engine, of shape (R, n, m) or (R, n, features)."""
        return self.values.reshape(self.shape)

    def find_told_rows(self, r: int) -> IntArray:
        """Return the rows of a run with values, counted from its first."""
        rows = slice(r * self.size, (r + 1) * self.size)
        return np.flatnonzero(self.has_value[rows] & self.needed[rows])

    def places_of(self, rows: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """Return the runs of rows, and the places of x and of y in them."""
        runs, within = np.divmod(rows, self.size)
        return runs, *np.divmod(within, self.n_opponents)

    def points(self, rows: IntArray) -> tuple[Array, Array | None]:
        """Return the points of the boxes of rows: x, and y where there is one."""
        runs, x, y = map(self.xp.asarray, self.places_of(rows))
        return self.X[runs, x], None if self.Y is None else self.Y[runs, y]

    def take(self, other: PartialRequest) -> None:
        """Take the values of the runs that have the same points in another request of the same place."""
        if other.place != self.place or other.shape != self.shape:
            return
        same = [same_points(*points) for points in zip((self.X, self.Y), (other.X, other.Y), strict=True)]
        rows = np.flatnonzero(other.has_value & other.needed & self.needed & np.repeat(same[0] & same[1], self.size))
        self.put(rows, other.values[self.xp.asarray(rows)])
        self.before = other.before if self.before is None else self.before


def same_points(first: Array | None, second: Array | None) -> Any:
    """Return for every run whether it has the same points, of shape (R,)."""
    if first is None or second is None:
        return np.bool_(first is second)
    return to_numpy((first == second).all(axis=(1, 2)))
