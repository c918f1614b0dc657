"""The values of the points of a discrete space that were evaluated, so that none is evaluated twice."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from skde.engines.state.task import NUMBER, WORD
from skde.fit.partial_generation import PartialGeneration, row_keys
from skde.typing import FloatArray, IntArray
from skde.utils.serialization import Layout, entry
from skde.variables import Ordinal, Variables

MOST_POINTS = 2**18  # that are remembered: some tens of megabytes
# Values of a compiled objective are remembered in a space of so many points, which a fit may come to the end of. A step
# with a look into the memory takes some microseconds for each trial, and a compiled generation a tenth of that.
FEW_POINTS = 2**10
BITS = np.dtype(np.uint8)


def n_points(variables: Variables) -> int:
    """Return the number of points of a discrete space."""
    levels = []
    for variable in variables.members:
        low, high = variable.limits
        whole = int(high) - int(low) + 1
        levels.append(1 if variable.fixed else len(variable.values) if isinstance(variable, Ordinal) else whole)
    return math.prod(levels)


class KnownValues:
    """The values of the points of a discrete space that all runs of a fit have evaluated.

    A run that comes to a point that another one has evaluated needs no evaluation, but it counts one, as it would
    alone. A point that a run comes to again counts nothing.

    Parameters
    ----------
    variables : Variables
        Variables with levels.
    n_runs : int
        The runs.

    Attributes
    ----------
    size : int
        The number of points of the space.
    repeated : ndarray of int of shape (n_runs,)
        How many trials of every run's complete generations it has come to before.
    """

    def __init__(self, variables: Variables, n_runs: int) -> None:
        self.size = n_points(variables)
        self.n_variables, self.repeated = len(variables), np.zeros(n_runs, np.int64)
        self._places: dict[bytes, int] = {}
        self._points: list[FloatArray] = []
        self._values: list[float] = []
        self._seen = np.zeros((n_runs, 256), bool)  # by run and place
        self._n_seen = np.zeros(n_runs, np.int64)
        self._marks: list[tuple[int, ...]] = []  # generations, and how many trials had been repeated then

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, key: bytes) -> bool:
        return key in self._places

    @property
    def exhausted(self) -> Any:
        """Which runs have come to all points, of shape (n_runs,)."""
        return self._n_seen == self.size

    def begin(self, partial: PartialGeneration, X: FloatArray, runs: IntArray) -> None:
        """Give known trials of a generation their values, and let those that equal others wait for the first of these.

        Parameters
        ----------
        partial : PartialGeneration
            The generation.
        X : ndarray of shape (n, number of variables)
            Its trials as the objective gets them, on the host.
        runs : ndarray of int of shape (n,)
            Their runs.
        """
        partial.keys, partial.rows_runs, partial.waiting = row_keys(X), runs, {}
        for row in partial.told_rows.tolist():  # before an interruption
            self._see(int(runs[row]), self._places.get(partial.keys[row], -1))
        self._wait(partial, partial.missing_rows.tolist())

    def _wait(self, partial: PartialGeneration, rows: list[int]) -> None:
        """Give trials their values where these are known, and let others wait for the first of equal ones."""
        for row in rows:
            key = partial.keys[row]
            place = self._places.get(key)
            if place is not None:
                self._give(partial, row, place)
            elif key in partial.waiting:
                partial.waiting[key].append(row)
                partial.handed_out[row] = True
            else:
                partial.waiting[key] = []

    def note(self, partial: PartialGeneration, rows: IntArray, X: FloatArray, values: FloatArray) -> None:
        """Remember the values of some trials, which they have in the generation, and give them to equal ones."""
        for row, key, x, value in zip(rows.tolist(), row_keys(X), X, values.tolist(), strict=True):
            place = self._places.get(key)
            if place is None and len(self) < MOST_POINTS:
                place = self._places[key] = len(self)
                self._points.append(np.array(x))
                self._values.append(value)
            self._see(int(partial.rows_runs[row]), -1 if place is None else place)
            others = partial.waiting.pop(partial.keys[row], [])
            if partial.keys[row] != key:  # another point has replaced the trial
                partial.release(others)
                equal = [other for other in partial.missing_rows.tolist() if partial.keys[other] == key]
                self._wait(partial, [*others, *(other for other in equal if not partial.handed_out[other])])
            elif place is None:
                for other in others:
                    partial.give(other, value, counts=True)
            else:
                for other in others:
                    self._give(partial, other, place)

    def _give(self, partial: PartialGeneration, row: int, place: int) -> None:
        """Give a trial the value of its point; it counts where its run has not come to the point before."""
        run = int(partial.rows_runs[row])
        partial.give(row, self._values[place], counts=not self._seen[run, place : place + 1].any())
        self._see(run, place)

    def _see(self, run: int, place: int) -> None:
        if place >= self._seen.shape[1]:
            self._seen = np.concatenate([self._seen, np.zeros_like(self._seen)], axis=1)
        if place >= 0 and not self._seen[run, place]:
            self._seen[run, place] = True
            self._n_seen[run] += 1

    def end(self, partial: PartialGeneration) -> None:
        """Count the repeated trials of a complete generation."""
        self.repeated += np.bincount(partial.rows_runs[partial.repeated], minlength=len(self.repeated))
        if partial.generation < 128 or partial.generation % 64 == 0:
            self._marks.append((partial.generation, *self.repeated.tolist()))

    def count_repeated_at(self, run: int, generations: IntArray) -> IntArray:
        """Return how many trials of a run had been repeated at some generations, up to its last one."""
        if not self._marks or not len(generations):
            return np.zeros(len(generations), np.int64)
        marks = np.array(self._marks)
        found: IntArray = np.interp(generations, marks[:, 0], marks[:, 1 + run]).astype(np.int64)
        found[-1] = self.repeated[run]
        return found

    def follow(self) -> None:
        """Begin to count for another search of the same runs."""
        self.repeated = np.zeros_like(self.repeated)
        self._marks = []

    # -- saved state ---------------------------------------------------------------------------------------------------

    def state(self, dtype: Any) -> dict[str, Any]:
        """Return the arrays of a file."""
        n = len(self)
        return {
            "known_points": np.array(self._points, dtype).reshape(n, self.n_variables),
            "known_values": np.array(self._values, dtype),
            "known_seen": np.packbits(self._seen[:, :n], axis=1),
            "repeated": self.repeated,
            "repeated_marks": np.array(self._marks, np.float64).reshape(-1, 1 + len(self.repeated)),
        }

    @staticmethod
    def layout(variables: Variables, n_runs: int, dtype: Any) -> dict[str, Layout]:
        """Return the layout of the arrays of a file."""
        return {
            "known_points": Layout((None, len(variables)), dtype),
            "known_values": Layout((None,), dtype),
            "known_seen": Layout((n_runs, None), BITS),
            "repeated": Layout((n_runs,), WORD),
            "repeated_marks": Layout((None, 1 + n_runs), NUMBER),
        }

    @classmethod
    def from_state(cls, variables: Variables | None, n_runs: int, arrays: dict[str, Any]) -> KnownValues | None:
        """Return what `state` described, after a check; None where a file has no such values."""
        if "known_points" not in arrays:
            return None
        with entry("known_points"):
            if variables is None or variables.real_components.any():
                raise ValueError("values are remembered where all variables have levels")
            known, points = cls(variables, n_runs), arrays["known_points"]
            n = len(points)
            variables.encode(points, "a point")
            known._places = {key: place for place, key in enumerate(row_keys(points))}
            if not len(known._places) == n == len(arrays["known_values"]) <= MOST_POINTS:
                raise ValueError("the points must be different, and each must have a value")
        with entry("known_seen"):
            bits = arrays["known_seen"]
            if bits.shape[1] != -(-n // 8):
                raise ValueError(f"there must be a bit for each of {n} points, got {bits.shape[1]} bytes")
            known._seen = np.unpackbits(bits, axis=1, count=n).astype(bool)
            known._n_seen = known._seen.sum(axis=1)
            if n == 0:
                known._seen = np.zeros((n_runs, 256), bool)
        with entry("repeated"):
            if not ((arrays["repeated"] >= 0) & (arrays["repeated"] < 2**40)).all():
                raise ValueError("numbers of trials must be in [0, 2^40)")
        with entry("repeated_marks"):
            marks = arrays["repeated_marks"]
            if not (np.isfinite(marks) & (marks >= 0) & (marks < 2**53)).all() or (np.diff(marks[:, 0]) <= 0).any():
                raise ValueError("generations must rise, and numbers of trials must be >= 0")
        known._points, known._values = list(points), arrays["known_values"].tolist()
        known.repeated = arrays["repeated"]
        known._marks = [tuple(map(int, mark)) for mark in marks]
        return known
