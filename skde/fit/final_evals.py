"""The plan and the values of the evaluations at the end of a fit."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

import numpy as np

from skde.engines.state.task import NUMBER, WORD
from skde.typing import FloatArray, IntArray
from skde.utils.serialization import Layout, entry

# Yields the points to evaluate, receives their values, and returns a point and its value.
Search = Generator[FloatArray, FloatArray, tuple[FloatArray, float]]
# Likewise for all runs, with the number of every point's run; returns points and values by runs.
Rounds = Generator[tuple[FloatArray, IntArray], FloatArray, dict[int, tuple[FloatArray, float]]]
MOST_EVALS = 2**20  # of a run


class FinalEvals:
    """The evaluations after the last generation: rounds of points, of which the next depends on the values of the last.

    Values are kept in the order in which the rounds ask for them, so that after an interruption only the others are
    evaluated.

    Parameters
    ----------
    planned : ndarray of int of shape (n_runs,)
        The evaluations of every run.
    n_iter : ndarray of int of shape (n_runs,)
        The generations that they follow.

    Attributes
    ----------
    values, known : ndarray of shape (n,)
        The values, and which of them are known.
    counts : ndarray of int of shape (n_runs,)
        The values that every run has.
    points, runs : ndarray of shape (m, dim), ndarray of int of shape (m,)
        The points of the box of the present round, and their runs.
    first : int
        The place of its first value.
    found : dict of int to (ndarray, float) or None
        The points that the last round chose and their values, by runs; None before.
    """

    def __init__(self, planned: IntArray, n_iter: IntArray) -> None:
        self.planned, self.n_iter = planned, n_iter
        n = int(planned.sum())
        self.values, self.known = np.full(n, np.nan), np.zeros(n, bool)
        self.counts = np.zeros_like(planned)
        self.first = 0
        self.points: FloatArray = np.zeros((0, 0))
        self.runs: IntArray = np.zeros(0, np.int64)
        self.found: dict[int, tuple[FloatArray, float]] | None = None
        self._steps: Rounds | None = None

    def begin(self, members: Sequence[FloatArray]) -> None:
        """Make the rounds of every run's points, the best first, up to the first one that lacks values."""
        if self._steps is None:
            self._steps = rounds(members, self.planned)
            self._take(None)
            self.end_round()

    @property
    def missing(self) -> IntArray:
        """The rows of the present round without a value."""
        return np.flatnonzero(~self.known[self.first : self.first + len(self.points)])

    def note(self, rows: IntArray, values: FloatArray) -> None:
        """Set the values of some rows of the present round, which have none."""
        self.values[self.first + rows], self.known[self.first + rows] = values, True
        np.add.at(self.counts, self.runs[rows], 1)

    def end_round(self) -> None:
        """Make the next round, where the present one has all of its values."""
        while self.found is None and not len(self.missing):
            self._take(self.values[self.first : self.first + len(self.points)])

    def _take(self, values: FloatArray | None) -> None:
        """Make the round after these values; None: the first one."""
        assert self._steps is not None
        self.first += len(self.points)
        try:
            self.points, self.runs = next(self._steps) if values is None else self._steps.send(values)
        except StopIteration as end:
            self.found = end.value

    # -- saved state ---------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return the arrays of a file."""
        return {
            "final_planned": self.planned,
            "final_counts": self.counts,
            "final_iter": self.n_iter,
            "final_values": self.values,
            "final_known": self.known.astype(np.int64),
        }

    @staticmethod
    def layout(n_runs: int) -> dict[str, Layout]:
        """Return the layout of the arrays of a file."""
        of_run, of_value = Layout((n_runs,), WORD), Layout((None,), WORD)
        return {
            "final_planned": of_run,
            "final_counts": of_run,
            "final_iter": of_run,
            "final_values": Layout((None,), NUMBER),
            "final_known": of_value,
        }

    @classmethod
    def from_state(cls, arrays: dict[str, Any]) -> FinalEvals | None:
        """Return what `state` described, after a check; None where a file has no such evaluations."""
        if "final_planned" not in arrays:
            return None
        with entry("final_planned"):
            planned = arrays["final_planned"]
            if ((planned < 0) | (planned > MOST_EVALS)).any():
                raise ValueError(f"numbers of evaluations must be in [0, {MOST_EVALS}]")
            if not len(arrays["final_values"]) == len(arrays["final_known"]) == planned.sum():
                raise ValueError("there must be a value for each evaluation")
        final = cls(planned, arrays["final_iter"])
        with entry("final_known"):
            if not np.isin(arrays["final_known"], (0, 1)).all():
                raise ValueError("it must be 0 or 1 for every evaluation")
            final.values, final.known = arrays["final_values"], arrays["final_known"] == 1
        with entry("final_counts"):
            final.counts = arrays["final_counts"]
            if (final.counts < 0).any() or final.counts.sum() != final.known.sum():
                raise ValueError("it must count the known values")
        return final


def rounds(members: Sequence[FloatArray], n_evals: IntArray) -> Rounds:
    """Yield the points to evaluate next, with their runs, and receive their values.

    Runs without points or without evaluations have none.
    """
    searches = {
        run: halving(points, n)
        for run, (points, n) in enumerate(zip(members, n_evals.tolist(), strict=True))
        if len(points) and n
    }
    wanted = {run: next(search) for run, search in searches.items()}
    found: dict[int, tuple[FloatArray, float]] = {}
    while wanted:
        values = yield np.concatenate(list(wanted.values())), np.repeat(list(wanted), list(map(len, wanted.values())))
        parts = np.split(values, np.cumsum([len(points) for points in wanted.values()])[:-1])
        for run, own in zip(list(wanted), parts, strict=True):
            try:
                wanted[run] = searches[run].send(own)
            except StopIteration as end:
                found[run] = end.value
                del wanted[run]
    return found


def halving(points: FloatArray, n_evals: int) -> Search:
    """Search the best of some points by successive halving, and estimate its value by other evaluations.

    In each round the points that are left get the same number of evaluations, and the half with the better means stays
    (Karnin, Koren and Somekh, 2013). This takes up to half of the evaluations, and the estimate the others. Where there
    are too few for all points, the first ones take part.
    """
    budget = n_evals // 2
    n = next(n for n in range(len(points), 0, -1) if n == 1 or n * n_rounds(n) <= budget)
    points, sums, spent = points[:n], np.zeros(n), 0
    for left in range(n_rounds(n), 0, -1):
        each = (budget - spent) // (left * len(points))
        sums += (yield np.repeat(points, each, axis=0)).reshape(-1, each).sum(axis=1)
        spent += each * len(points)
        better = np.argsort(np.where(np.isnan(sums), np.inf, sums), kind="stable")[: (len(points) + 1) // 2]
        points, sums = points[better], sums[better]
    values = yield np.repeat(points, n_evals - spent, axis=0)
    numbers = values[values < np.inf]  # the others failed
    return points[0], float(numbers.mean()) if len(numbers) else np.nan


def n_rounds(n: int) -> int:
    """Return how often n points are halved until one is left."""
    return (n - 1).bit_length()
