"""The results of the runs of a fit in the phases before the present search."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skde.engines.state.task import NUMBER
from skde.result import History, RunResult
from skde.stopping import LIMIT, Status
from skde.typing import FloatArray, IntArray
from skde.utils.serialization import Layout, entry
from skde.utils.validation import check_points_inside

COLUMNS = ("codes", "n_evals", "n_trials", "n_iter", "seconds", "status", "polish_evals", "samples")
ENTRIES = ("past_points", "past_numbers", "past_history", "past_x", "past_f")


@dataclass(repr=False, eq=False)
class PastPhases:
    """The results of every run in the phases before the present search.

    Attributes
    ----------
    points : ndarray of shape (n_runs, dim)
        The best points, as points of the box.
    codes : ndarray of shape (n_runs,)
        Their values, or with constraints their codes of the feasibility rules.
    n_evals, n_trials, n_iter : ndarray of int of shape (n_runs,)
        Evaluations, trials, of which some may be points that were evaluated before, and generations after the initial
        population.
    seconds : ndarray of shape (n_runs,)
        The time from the fit's beginning to the end of the search.
    status : ndarray of int of shape (n_runs,)
        The reasons for its end.
    polish_evals : ndarray of int of shape (n_runs,)
        Evaluations of local searches, a part of n_evals.
    histories : list of History
        The best values over time.
    x, f : ndarray of shape (number of runs that ended, P, dim), (number, P)
        The last populations of the runs that ended for good; the rows after the end of a smaller one are NaN.
    """

    points: FloatArray
    codes: FloatArray
    n_evals: IntArray
    n_trials: IntArray
    n_iter: IntArray
    seconds: FloatArray
    status: IntArray
    polish_evals: IntArray
    histories: list[History]
    x: FloatArray
    f: FloatArray

    @property
    def ended(self) -> Any:
        """Which runs ended for good: not because their evaluations in the phases were over."""
        return self.status != LIMIT

    def reopen(self, statuses: list[int]) -> None:
        """Let the runs that ended with one of these statuses take part in the present search."""
        kept = ~np.isin(self.status[self.ended], statuses)
        self.x, self.f = self.x[kept], self.f[kept]
        self.status = np.where(np.isin(self.status, statuses), LIMIT, self.status)

    def population(self, run: int) -> tuple[FloatArray, FloatArray]:
        """Return the last population of a run that ended, and its values."""
        place = int(np.count_nonzero(self.ended[:run]))
        rows = ~np.isnan(self.x[place]).any(axis=1)
        return self.x[place, rows], self.f[place, rows]

    def replace_worse(self, points: FloatArray, codes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return points and codes, of every run, with those found here where they are not worse."""
        better = ~np.isnan(self.codes) & ~(codes < self.codes)
        return np.where(better[:, None], self.points, points), np.where(better, self.codes, codes)

    def extend(self, result: RunResult, run: int, last: int) -> RunResult:
        """Return the result of a run in the present search with that of this one before it.

        Parameters
        ----------
        result : RunResult
            With the best point of both.
        run : int
            The run's number.
        last : int
            Its last generation in the present search; -1: none.
        """
        before, after = self.histories[run], result.history
        history = History(
            np.concatenate([before.n_evals, self.n_evals[run] + after.n_evals]),
            np.concatenate([before.seconds, after.seconds]),
            np.fmin.accumulate(np.concatenate([before.best, after.best])),
        )
        return replace(
            result,
            n_evals=int(self.n_evals[run]) + result.n_evals,
            n_iter=int(self.n_iter[run]) + last + 1,
            time=float(self.seconds[run]) if last < 0 else result.time,
            history=history,
            polish_evals=int(self.polish_evals[run]),
        )

    def state(self) -> dict[str, Any]:
        """Return the arrays of a file."""
        samples = [len(history) for history in self.histories]
        columns = (*(getattr(self, name) for name in COLUMNS[:-1]), samples)
        rows = [np.stack([one.n_evals, one.seconds, one.best], axis=1) for one in self.histories]
        arrays = (
            self.points,
            np.stack([np.asarray(column, np.float64) for column in columns], axis=1),
            np.concatenate(rows),
            self.x,
            self.f,
        )
        return dict(zip(ENTRIES, (np.asarray(array, np.float64) for array in arrays), strict=True))

    @classmethod
    def from_state(cls, arrays: dict[str, Any]) -> PastPhases | None:
        """Return what `state` described, after a check; None where a file has no earlier search."""
        if ENTRIES[0] not in arrays:
            return None
        points, numbers, rows, x, f = (arrays[name] for name in ENTRIES)
        with entry("past_numbers"):
            check_numbers(numbers)
        codes, n_evals, n_trials, n_iter, seconds, status, polish_evals, samples = numbers.T
        ends = np.cumsum(samples.astype(np.int64))
        with entry("past_history"):
            if len(rows) != ends[-1] or not (np.isfinite(rows[:, :2]) & (rows[:, :2] >= 0)).all():
                raise ValueError("it must have the samples of all runs, with evaluations and seconds >= 0")
        with entry("past_x"):
            if not len(x) == len(f) == np.count_nonzero(status != LIMIT):
                raise ValueError("it must have the populations of the runs that ended")
        histories = [
            History(part[:, 0].astype(np.int64), part[:, 1], part[:, 2]) for part in np.split(rows, ends[:-1].tolist())
        ]
        counts = (column.astype(np.int64) for column in (n_evals, n_trials, n_iter, status, polish_evals))
        evals, trials, generations, states, local = counts
        return cls(points, codes, evals, trials, generations, seconds, states, local, histories, x, f)

    @staticmethod
    def layout(n_runs: int, arrays: dict[str, Any]) -> dict[str, Layout]:
        """Return the layout of the arrays of a file, which has them in the second search of a sequence."""
        if not set(ENTRIES) & set(arrays):
            return {}
        shapes = ((n_runs, None), (n_runs, len(COLUMNS)), (None, 3), (None, None, None), (None, None))
        return {name: Layout(shape, NUMBER) for name, shape in zip(ENTRIES, shapes, strict=True)}


def stack_populations(populations: list[tuple[FloatArray, FloatArray]], dim: int) -> tuple[FloatArray, FloatArray]:
    """Return populations of different sizes as `PastPhases` has them."""
    size = max((len(f) for _, f in populations), default=0)
    x, values = np.full((len(populations), size, dim), np.nan), np.full((len(populations), size), np.nan)
    for k, (points, f) in enumerate(populations):
        x[k, : len(f)], values[k, : len(f)] = points, f
    return x, values


def check_numbers(numbers: FloatArray) -> None:
    """Check the numbers of all runs in a file."""
    counts, whole = numbers[:, 1:], numbers[:, [1, 2, 3, 5, 6, 7]]
    if not (np.isfinite(counts) & (counts >= 0) & (counts < 2**53)).all():
        raise ValueError("evaluations, trials, generations, seconds and samples must be numbers >= 0")
    if not np.array_equal(whole, np.floor(whole)):
        raise ValueError("evaluations, trials, generations and samples must be whole numbers")
    if not np.isin(numbers[:, 5], [int(one) for one in Status if one != Status.RUNNING]).all():
        raise ValueError("every run must have ended its search")


def check_past(past: PastPhases | None, box: FloatArray, dtype: Any) -> None:
    """Check that saved points are inside the bounds, to the precision of the fit."""
    if past is None:
        return
    for name, points in (("past_points", past.points), ("past_x", past.x)):
        with entry(name):
            if points.shape[-1] != len(box):
                raise ValueError(f"points must have {len(box)} variables, got {points.shape[-1]}")
            check_points_inside(points, box, dtype)
