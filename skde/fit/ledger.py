"""The account of a fit over all of its phases: evaluations, time and best points."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from skde.fit.final_results import FinalResults
from skde.fit.local_results import LocalResults
from skde.fit.past_phases import PastPhases
from skde.fit.timer import Timer
from skde.typing import FloatArray, IntArray


class Ends(NamedTuple):
    """The best point of every run in a search.

    Attributes
    ----------
    points : ndarray of shape (n_runs, dim)
        Points of the box.
    codes : ndarray of shape (n_runs,)
        Their values; NaN for a run that had ended before.
    """

    points: FloatArray
    codes: FloatArray


class Ledger:
    """The account of all runs of a fit, apart from the generations of the present search.

    Limits are checked against it. A phase adds what it spends and finds, and knows no other phase.

    Parameters
    ----------
    n_runs : int
        The runs.
    timer : Timer or None, default None
        The time of the fit; None: it begins.
    past : PastPhases or None, default None
        The results of the phases before the present search.
    spent : tuple of int, default ()
        The trials of a run in each search before the present one.
    n_ids : int, default 0
        The ids that points of these phases may have.

    Attributes
    ----------
    local : LocalResults or None
        What local searches have found after the last generation.
    final : FinalResults
        What the points that are evaluated again at the end have found.
    before : ndarray of int of shape (n_runs,)
        Every run's evaluations before the present limits (warm start).
    seeds : ndarray of shape (number of populations,)
        The seeds of the first search.
    ends : list of Ends
        Where the independent searches have ended, one after the other.
    agreeing : ndarray of int of shape (n_runs,)
        How many of them have ended at the best point of a run that ended for that reason.
    finished : ndarray of bool of shape (n_runs,)
        Whether a last local search has followed.
    """

    def __init__(
        self,
        n_runs: int,
        timer: Timer | None = None,
        past: PastPhases | None = None,
        spent: tuple[int, ...] = (),
        n_ids: int = 0,
    ) -> None:
        self.timer = Timer() if timer is None else timer
        self.past, self.spent, self.n_ids = past, spent, n_ids
        self.local: LocalResults | None = None
        self.final = FinalResults(n_runs)
        self.before: IntArray = np.zeros(n_runs, np.int64)
        self.seeds: IntArray = np.zeros(n_runs, np.uint64)
        self.ends: list[Ends] = []
        self.agreeing: IntArray = np.zeros(n_runs, np.int64)
        self.finished = np.zeros(n_runs, bool)

    def following(self, past: PastPhases, spent: tuple[int, ...], n_ids: int) -> Ledger:
        """Return the account of the next search."""
        ledger = Ledger(len(self.before), self.timer.following(), past, spent, n_ids)
        ledger.seeds, ledger.ends = self.seeds, self.ends
        ledger.agreeing, ledger.finished = self.agreeing, self.finished
        return ledger

    def open_local(self, dim: int) -> LocalResults:
        """Return the results of the local searches, which may be the first ones."""
        if self.local is None:
            self.local = LocalResults(len(self.before), dim)
        return self.local

    def begin_limits(self, made: IntArray) -> None:
        """Count from now on what the limits allow; `made` are the evaluations in the generations of every run."""
        self.timer.restart_limit()
        self.before = made + self.n_evals
        if self.local is not None:
            self.local.spent[:] = 0

    @property
    def n_evals(self) -> IntArray:
        """Evaluations of every run outside of the generations of the present search."""
        return self.search_evals + self.final.n_evals

    @property
    def search_evals(self) -> IntArray:
        """Those in searches, of populations and local ones."""
        evals = np.zeros_like(self.before)
        for found in (self.past, self.local):
            evals = evals if found is None else evals + found.n_evals
        return evals

    @property
    def n_iter(self) -> IntArray:
        """Generations of every run in the searches before, their initial populations counted."""
        return np.zeros_like(self.before) if self.past is None else self.past.n_iter + 1

    @property
    def local_spent(self) -> IntArray:
        """Evaluations of every run's local searches within the present limits."""
        return np.zeros_like(self.before) if self.local is None else self.local.spent

    @property
    def other_evals(self) -> IntArray:
        """Evaluations of every run that belong to no generation, without `local_spent`."""
        polished = 0 if self.local is None else self.local.n_evals - self.local.spent
        return self.final.n_evals + polished

    @property
    def has_points(self) -> bool:
        """Whether a best point may be one of another phase than the present search."""
        return self.past is not None or self.local is not None

    def lower_codes(self, codes: FloatArray) -> FloatArray:
        """Return the least code of every run: of these, and of all phases."""
        codes = codes if self.past is None else np.fmin(codes, self.past.codes)
        return codes if self.local is None else np.fmin(codes, self.local.code)

    # -- saved state ---------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return the arrays of a file."""
        arrays = {"marks": np.array(self.timer.marks, np.float64).reshape(-1, 2), **self.final.state()}
        for found in (self.past, self.local):
            arrays |= {} if found is None else found.state()
        if self.ends:
            arrays["ends"] = np.stack([np.column_stack([end.codes, end.points]) for end in self.ends]).astype(
                np.float64
            )
            arrays |= {"agreeing": self.agreeing, "finished": self.finished.astype(np.int64)}
        return arrays

    def restore(self, seconds: float, arrays: dict[str, Any]) -> None:
        """Continue from what `state` returned, checked."""
        self.past, self.local = PastPhases.from_state(arrays), LocalResults.from_state(arrays)
        self.final = FinalResults.from_state(len(self.before), arrays)
        if "ends" in arrays:
            self.ends = [Ends(end[:, 1:], end[:, 0]) for end in arrays["ends"]]
            self.agreeing, self.finished = arrays["agreeing"], arrays["finished"] == 1
        self.timer.restore(seconds, arrays["marks"])
