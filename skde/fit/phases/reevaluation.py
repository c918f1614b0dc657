"""Further evaluations of the members of a population, which tell a good point of a noisy function from a lucky one."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, Self

import numpy as np

from skde.engines.state.task import WORD
from skde.fit.final_results import FinalValues
from skde.fit.ledger import Ledger
from skde.fit.phases.requests import MOST_EVALS, Request, RequestPhase, Steps
from skde.typing import FloatArray, IntArray
from skde.utils.serialization import Layout, entry

# Yields the points to evaluate, receives their values, and returns a point and its value.
Search = Generator[FloatArray, FloatArray, tuple[FloatArray, float]]


class Reevaluation(RequestPhase):
    """Rounds of evaluations of all runs' members; the next round depends on the values of the last one.

    Parameters
    ----------
    planned : ndarray of int of shape (n_runs,)
        The evaluations of every run.
    n_iter : ndarray of int of shape (n_runs,)
        The generations that the phase follows.

    Attributes
    ----------
    found : dict of int to (ndarray, float)
        The points that were chosen and their values, by runs. Runs without members or evaluations have none.
    """

    kind, label, with_constraints = "final", "final", False

    def __init__(self, planned: IntArray, n_iter: IntArray) -> None:
        super().__init__(len(planned), n_iter)
        self.planned = planned
        self.found: dict[int, tuple[FloatArray, float]] = {}
        self._like: FloatArray = np.zeros((0, 0))

    def begin_rounds(self, members: Sequence[FloatArray]) -> None:
        """Begin, or begin again after an interruption, with every run's points of the box, the best first."""
        self.found, self._like = {}, members[0]
        self.begin(self._rounds(members))

    def _rounds(self, members: Sequence[FloatArray]) -> Steps:
        searches = {
            run: halving(points, n)
            for run, (points, n) in enumerate(zip(members, self.planned.tolist(), strict=True))
            if len(points) and n
        }
        wanted = {run: next(search) for run, search in searches.items()}
        while wanted:
            runs = np.repeat(list(wanted), list(map(len, wanted.values())))
            values = yield Request(np.concatenate(list(wanted.values())), runs)
            parts = np.split(values[:, 0], np.cumsum([len(points) for points in wanted.values()])[:-1])
            for run, own in zip(list(wanted), parts, strict=True):
                try:
                    wanted[run] = searches[run].send(own)
                except StopIteration as end:
                    self.found[run] = end.value
                    del wanted[run]

    def account(self, ledger: Ledger, rows: IntArray, codes: FloatArray) -> None:
        """Count rows of the present request that have got values."""
        np.add.at(ledger.final.n_evals, self.request.runs[rows], 1)

    def close(self, ledger: Ledger) -> None:
        """Set the results after the last round; those of runs that were not evaluated again are NaN."""
        if not self.done:
            return
        n_runs = len(self.planned)
        points, fun = np.full((n_runs, self._like.shape[1]), np.nan, self._like.dtype), np.full(n_runs, np.nan)
        for run, (point, value) in self.found.items():
            points[run], fun[run] = point, value
        ledger.final.values = FinalValues(np.isin(np.arange(n_runs), list(self.found)), points, fun)

    # -- saved state ---------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return the arrays of a file."""
        return super().state() | {"final_planned": self.planned}

    @classmethod
    def layout(cls, n_runs: int, dim: int) -> dict[str, Layout]:
        """Return the layout of the arrays of a file."""
        return super().layout(n_runs, dim) | {"final_planned": Layout((n_runs,), WORD)}

    @classmethod
    def from_state(cls, n_runs: int, arrays: dict[str, Any], dtype: np.dtype[Any]) -> Self | None:
        """Return what `state` described, after a check; None where a file has no such evaluations."""
        if "final_planned" not in arrays:
            return None
        with entry("final_planned"):
            planned = arrays["final_planned"]
            if ((planned < 0) | (planned > MOST_EVALS)).any():
                raise ValueError(f"numbers of evaluations must be in [0, {MOST_EVALS}]")
        phase = cls(planned, arrays["final_iter"])
        phase.restore(arrays)
        return phase


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
