"""A phase that asks for the values of some points at a time, which depend on the values before."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator
from typing import Any, ClassVar, NamedTuple

import numpy as np

from skde.engines.state.task import NUMBER, WORD
from skde.fit.ledger import Ledger
from skde.fit.partial_generation import PartialGeneration
from skde.typing import FloatArray, IntArray
from skde.utils.interrupts import interrupts
from skde.utils.serialization import Layout, entry

MOST_EVALS = 2**20  # of a run


class Request(NamedTuple):
    """Points that need values.

    Attributes
    ----------
    points : ndarray of shape (n, dim)
        Points of the box.
    runs : ndarray of int of shape (n,)
        Their runs.
    """

    points: FloatArray
    runs: IntArray


# Yields requests, and receives rows of values, of shape (n, k). What a run asks for depends on its own values alone.
Steps = Generator[Request, FloatArray, None]
NOTHING = Request(np.zeros((0, 0)), np.zeros(0, np.int64))


class RequestPhase(ABC):
    """A phase of requests, with a record of all values.

    Every run's values are kept in the order in which it asks for them. After an interruption the same steps begin
    again and get these values, so that only the others are evaluated: nothing is lost, and the bits are the same.

    Parameters
    ----------
    n_runs : int
        The runs.
    n_iter : ndarray of int of shape (n_runs,)
        The generations that the phase follows.

    Attributes
    ----------
    request : Request
        The points that it asks for now.
    done : bool
        Whether it asks for no more.
    counts : ndarray of int of shape (n_runs,)
        The values that every run has.
    n_asked : int
        The points of all complete requests.
    partial : PartialGeneration or None
        The present request as a user evaluates it.
    asked : bool
        Whether a user has been given points.
    """

    kind: ClassVar[str]  # in the names of a file's arrays
    label: ClassVar[str]  # in records
    with_constraints: ClassVar[bool]  # whether a row of values has f, g and h, where there are constraints; else f
    everywhere = False  # whether f is called at infeasible points too, where it may fail

    def __init__(self, n_runs: int, n_iter: IntArray) -> None:
        self.n_iter = n_iter
        self.partial: PartialGeneration | None = None
        self.asked = False
        self.request, self.done, self.n_asked = NOTHING, False, 0
        self.counts = np.zeros(n_runs, np.int64)
        self._values, self._known = np.zeros((n_runs, 0, 1)), np.zeros((n_runs, 0), bool)
        self._taken = np.zeros(n_runs, np.int64)  # values of complete requests
        self._places: IntArray = np.zeros(0, np.int64)  # of the present request's values among those of their runs
        self._steps: Steps | None = None

    def begin(self, steps: Steps) -> None:
        """Begin, or begin again after an interruption, up to the first request that lacks values."""
        self._steps, self.request, self.done, self.n_asked, self.partial = steps, NOTHING, False, 0, None
        self._taken[:] = 0
        self._advance(None)
        self.end_request()

    def pause(self) -> None:
        """Forget the present request, which `begin` makes again."""
        if self._steps is not None:
            self._steps.close()
        self._steps, self.partial = None, None

    @property
    def begun(self) -> bool:
        """Whether the present request is there: not after a pause, or from a file."""
        return self._steps is not None

    @property
    def n_ids(self) -> int:
        """The ids that its points have used so far."""
        return self.n_asked + len(self.request.runs) if self.asked else 0

    @property
    def missing(self) -> IntArray:
        """The rows of the present request without a value."""
        return np.flatnonzero(~self._known[self.request.runs, self._places])

    @property
    def values(self) -> FloatArray:
        """The rows of values of the present request, NaN where there are none."""
        values: FloatArray = self._values[self.request.runs, self._places]
        return values

    def note(self, rows: IntArray, values: FloatArray) -> None:
        """Set the values of some rows of the present request, which have none; values have shape (k, m)."""
        runs, places = self.request.runs[rows], self._places[rows]
        if values.shape[1] != self._values.shape[2]:  # before the first one
            self._values = np.full((*self._known.shape, values.shape[1]), np.nan)
        self._values[runs, places], self._known[runs, places] = values, True
        np.add.at(self.counts, runs, 1)

    @abstractmethod
    def account(self, ledger: Ledger, rows: IntArray, codes: FloatArray) -> None:
        """Count rows of the present request that have got values, as selection compares them."""

    @abstractmethod
    def close(self, ledger: Ledger) -> None:
        """Let the account have the results of what has come to its end."""

    def end_request(self) -> None:
        """Make the next request, where the present one has all of its values."""
        while not self.done and not len(self.missing):
            self._advance(self.values)

    def _advance(self, values: FloatArray | None) -> None:
        """Make the request after these values; None: the first one."""
        assert self._steps is not None
        with interrupts.deferred:
            self.partial = None
            self.n_asked += len(self.request.runs)
            np.add.at(self._taken, self.request.runs, 1)
            try:
                self.request = next(self._steps) if values is None else self._steps.send(values)
            except StopIteration:
                self.request, self.done = NOTHING, True
            self._places = self._taken[self.request.runs] + count_before(self.request.runs)
            self._make_room(int(self._places.max(initial=-1)) + 1)

    def _make_room(self, size: int) -> None:
        n_runs, before, width = self._values.shape
        if size > before:
            more = max(size, 2 * before) - before
            self._values = np.concatenate([self._values, np.full((n_runs, more, width), np.nan)], axis=1)
            self._known = np.concatenate([self._known, np.zeros((n_runs, more), bool)], axis=1)

    # -- saved state ---------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return the arrays of a file."""
        used = int(np.flatnonzero(self._known.any(axis=0)).max(initial=-1)) + 1
        known = self._known[:, :used]
        return {
            f"{self.kind}_iter": self.n_iter,
            f"{self.kind}_known": known.astype(np.int64),
            f"{self.kind}_values": self._values[:, :used],
        }

    @classmethod
    def layout(cls, n_runs: int, dim: int) -> dict[str, Layout]:
        """Return the layout of the arrays of a file."""
        return {
            f"{cls.kind}_iter": Layout((n_runs,), WORD),
            f"{cls.kind}_known": Layout((n_runs, None), WORD),
            f"{cls.kind}_values": Layout((n_runs, None, None), NUMBER),
        }

    def restore(self, arrays: dict[str, Any]) -> None:
        """Continue from the values of a file, after a check; the steps begin again."""
        known, values = arrays[f"{self.kind}_known"], arrays[f"{self.kind}_values"]
        with entry(f"{self.kind}_known"):
            if not np.isin(known, (0, 1)).all() or known.shape[1] > MOST_EVALS:
                raise ValueError("it must be 0 or 1 for every evaluation")
        with entry(f"{self.kind}_values"):
            if values.shape[:2] != known.shape or not values.shape[2]:
                raise ValueError("there must be a row of values for each evaluation")
        self._known, self._values = known == 1, values.astype(np.float64)
        self.counts = self._known.sum(axis=1)


def count_before(runs: IntArray) -> IntArray:
    """Return for each entry how many equal ones are before it."""
    if len(runs) < 2 or (runs == runs[0]).all():
        return np.arange(len(runs))
    order = np.argsort(runs, kind="stable")
    ordered = runs[order]
    first = np.searchsorted(ordered, ordered)
    before = np.empty(len(runs), np.int64)
    before[order] = np.arange(len(runs)) - first
    return before
