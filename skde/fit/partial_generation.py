"""Values that become known in parts and in any order: the trials of one generation, from a fit or from a user."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from skde.engines.state.batch import best_of
from skde.typing import Array, FloatArray, IntArray
from skde.utils.arrays import to_numpy
from skde.utils.validation import quote

PIECE = 256  # rows that are searched at a time


class PartialValues:
    """Values of rows that become known in parts and in any order.

    Parameters
    ----------
    needed : ndarray of bool, of shape (n,)
        The rows that need a value.
    values : ndarray of shape (n,) or (n, k)
        NaN for every row.
    xp : module
        NumPy or CuPy.
    n_populations : int, default 1
        The populations that the rows belong to, one after the other.

    Attributes
    ----------
    has_value : ndarray of bool, of shape (n,)
        On the host. Rows that need no value count too.
    """

    def __init__(self, needed: Any, values: Array, xp: Any, n_populations: int = 1) -> None:
        self.needed, self.values, self.xp, self.n_populations = needed, values, xp, n_populations
        self.has_value = ~needed
        self._missing = int(np.count_nonzero(needed))  # values

    @property
    def complete(self) -> bool:
        """Whether every row that needs a value has one."""
        return self._missing == 0

    @property
    def told_rows(self) -> IntArray:
        """The rows with values."""
        return np.flatnonzero(self.has_value & self.needed)

    @property
    def missing_rows(self) -> IntArray:
        """The rows that need a value and have none."""
        return np.flatnonzero(~self.has_value)

    @property
    def evals(self) -> IntArray:
        """The number of values of every population."""
        evals: IntArray = (self.has_value & self.needed).reshape(self.n_populations, -1).sum(axis=1)
        return evals

    def put(self, rows: IntArray, values: Any) -> None:
        """Set the values of some rows."""
        self.values[self.xp.asarray(rows)] = self.xp.asarray(values, dtype=self.values.dtype)
        self.note(rows)

    def note(self, rows: IntArray) -> None:
        """Note that these rows have values."""
        self._missing -= int(np.count_nonzero(~self.has_value[rows]))
        self.has_value[rows] = True


class PartialGeneration(PartialValues):
    """The trials of one generation with the values that are known so far.

    A trial's id is `first` plus its row, so that ids of different generations differ.

    Parameters
    ----------
    first : int
        The id of the first row.
    asked : ndarray of shape (n, number of variables)
        The trials as users see them.
    points : ndarray of shape (n, dim)
        The same as points of the box.
    needed : ndarray of bool, of shape (n,)
        The rows that need a value; the others are never handed out.
    xp : module
        NumPy or CuPy.
    generation : int, default -1
        The number of the generation; -1 for points that belong to none.
    n_populations : int, default 1
        The populations that the rows belong to, one after the other.

    Attributes
    ----------
    told : ndarray of shape (n, number of variables)
        The points that were evaluated: `asked`, or those that replace them.
    values : ndarray of shape (n,)
        The values as selection compares them, with constraints the codes of feasibility rules; NaN where there is none.
    handed_out, has_value : ndarray of bool, of shape (n,)
        On the host. Rows that need no value count as both.
    infeasible : ndarray of bool, of shape (n,)
        The rows that constraints have given their values; a user need not tell any. On the host.
    screened : bool
        Whether the constraints have been evaluated at all rows without a value.
    """

    def __init__(
        self,
        first: int,
        asked: Array,
        points: Array,
        needed: Any,
        xp: Any,
        generation: int = -1,
        n_populations: int = 1,
    ) -> None:
        super().__init__(needed, xp.full(len(asked), np.nan, points.dtype), xp, n_populations)
        self.first, self.asked, self.generation = first, asked, generation
        self.told, self.points = asked.copy(), points.copy()  # both change, `asked` does not
        self.handed_out = ~needed
        self.infeasible, self.screened = np.zeros(len(asked), bool), False
        # Of a discrete space, see known_values.py: the keys and the runs of all rows, those that wait for others, the
        # rows with values that were known before, and those of them that do not count.
        self.keys: list[bytes] = []
        self.rows_runs: IntArray = np.zeros(0, np.int64)
        self.waiting: dict[bytes, list[int]] = {}
        self.given, self.repeated = np.zeros(len(asked), bool), np.zeros(len(asked), bool)
        # So that a part of one row needs no search of all rows: all rows before _next are handed out, and of the rows
        # that have the same point, the first _told[point] have values.
        self._next = 0
        self._told: dict[bytes, int] = {}
        self._rows: dict[bytes, list[int]] | None = None

    @property
    def ids(self) -> IntArray:
        """The ids of all rows."""
        return self.first + np.arange(len(self.asked))

    def give(self, row: int, value: float, counts: bool) -> None:
        """Set a value that was known before; the row then needs none where it does not count as an evaluation."""
        self.values[row] = value
        self.note(np.array([row]))
        self.given[row] = True
        if not counts:
            self.needed[row], self.repeated[row] = False, True

    def release(self, rows: list[int]) -> None:
        """Let rows be handed out again."""
        self.handed_out[rows] = False
        self._next = min([self._next, *rows])

    def reopen(self, rows: IntArray) -> None:
        """Let infeasible rows, which other points replace, wait for values."""
        self.infeasible[rows] = False
        self.forget(rows)

    def take(self, other: PartialGeneration) -> None:
        """Take the values of the same trials that were found before, and the points where they were found."""
        rows = np.flatnonzero(other.has_value & other.needed & self.needed)
        where = self.xp.asarray(rows)
        self.told[where], self.points[where] = other.told[where], other.points[where]
        self.put(rows, other.values[where])
        self.infeasible[rows] = other.infeasible[rows]

    def replace_worse(self, points: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return points of the box and values, one of every run, with those found here where they are better.

        A run without any value gets its first trial, and NaN.
        """
        n_runs = len(values)
        known = np.where(self.has_value & self.needed, to_numpy(self.values), np.nan).astype(np.float64)
        known = known.reshape(n_runs, -1)
        rows = np.array([best_of(own) for own in known]) + np.arange(n_runs) * known.shape[1]
        best = known.reshape(-1)[rows]
        better = np.isnan(values) | (best < values)
        found = to_numpy(self.points[self.xp.asarray(rows)])
        return np.where(better[:, None], found, points), np.where(better, best, values)

    def hand_out(self, n: int) -> IntArray:
        """Return the next rows, n or as many as are left, which are not handed out again."""
        rows = np.zeros(0, np.int64)
        while len(rows) < n and self._next < len(self.handed_out):
            piece = self.handed_out[self._next : self._next + max(n, PIECE)]
            free = self._next + np.flatnonzero(~piece)[: n - len(rows)]
            rows = np.concatenate([rows, free])
            self._next = int(free[-1]) + 1 if len(rows) == n else self._next + len(piece)
        self.handed_out[rows] = True
        return rows

    def note(self, rows: IntArray) -> None:
        """Note that these rows have values, which no longer are handed out."""
        super().note(rows)
        self.handed_out[rows] = True

    def forget(self, rows: IntArray) -> None:
        """Let these rows wait for values again, which are not infeasible."""
        self.has_value[rows] = ~self.needed[rows] | self.infeasible[rows]
        self._missing = int(np.count_nonzero(~self.has_value))
        self._told.clear()

    def rows_of_ids(self, ids: IntArray) -> IntArray:
        """Return the rows with these ids, after a check that none of them has been told a value."""
        rows: IntArray = ids - self.first
        last = self.first + len(self.asked) - 1
        for k in np.flatnonzero((rows < 0) | (rows >= len(self.asked))):
            raise ValueError(
                f"ids must be those of the current generation, {self.first} to {last}, got {ids[k]}; a generation is "
                "complete when all of its values are told"
            )
        known = self.given[rows] | self.infeasible[rows]
        for k in np.flatnonzero(self.has_value[rows] & self.needed[rows] & ~known):
            raise ValueError(f"ids must be those of trials that wait for values, got {ids[k]}, which has one already")
        if len(np.unique(rows)) < len(rows):
            raise ValueError(f"ids must all be different, got {quote(ids.tolist())}")
        return rows

    def rows_of_points(self, X: Array) -> IntArray:
        """Return the rows of these points, which are some of `asked` in any order; of equal rows each takes another.

        None of them may have been told a value.
        """
        free: dict[bytes, Iterator[int]] = {}
        rows = []
        for k, key in enumerate(row_keys(X)):
            if key not in free:
                free[key] = self._free_rows(key)
            row = next(free[key], None)
            if row is None:
                why = (
                    "has a value already"
                    if key in self.rows_by_key
                    else "is none of the points of the current generation; a point that replaces one of them needs "
                    "its id: tell(X, f, ids=ids)"
                )
                raise ValueError(f"X must be points that ask returned and that wait for values, but row {k} {why}")
            rows.append(row)
        return np.array(rows, np.int64)

    def _free_rows(self, key: bytes) -> Iterator[int]:
        """Yield the rows of a point that wait for a value, and then those that need none or had one before."""
        rows, begin = self.rows_by_key.get(key, []), self._told.get(key, 0)
        while begin < len(rows) and self.has_value[rows[begin]]:
            begin += 1
        self._told[key] = begin
        yield from (row for k in range(begin, len(rows)) if not self.has_value[row := rows[k]])
        yield from (row for row in rows if self.given[row] or self.infeasible[row] or not self.needed[row])

    @property
    def rows_by_key(self) -> dict[bytes, list[int]]:
        """The rows that have the same point, by that point."""
        if self._rows is None:
            self._rows = rows_by_key(self.asked)
        return self._rows


def rows_by_key(X: Array) -> dict[bytes, list[int]]:
    """Return the rows of equal points, by the key of the point."""
    found: dict[bytes, list[int]] = {}
    for row, key in enumerate(row_keys(X)):
        found.setdefault(key, []).append(row)
    return found


def row_keys(X: Array) -> list[bytes]:
    """Return the bytes of every row of X; -0.0 counts as 0.0, which it equals."""
    return [row.tobytes() for row in to_numpy(X) + 0.0]


def order_of_rows(X: Array, asked: Array) -> IntArray | None:
    """Return the rows of X in the order of `asked`, where X has the same rows in another order; else None."""
    places = {key: iter(rows) for key, rows in rows_by_key(asked).items()}
    order = np.zeros(len(asked), np.int64)
    for k, key in enumerate(row_keys(X)):
        row = next(places.get(key, iter(())), None)
        if row is None:
            return None
        order[row] = k
    return order
