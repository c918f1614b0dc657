"""The account of a fit over all of its phases: evaluations, time and best points."""

from __future__ import annotations

from typing import Any

import numpy as np

from skde.fit.earlier_search import EarlierSearch
from skde.fit.final_points import FinalPoints
from skde.fit.polished_points import PolishedPoints
from skde.fit.timer import Timer
from skde.typing import FloatArray, IntArray


class Ledger:
    """The account of all runs of a fit, apart from the generations of the present search.

    Limits are checked against it. A phase adds what it spends and finds, and knows no other phase.

    Parameters
    ----------
    n_runs : int
        The runs.
    timer : Timer or None, default None
        The time of the fit; None: it begins.
    earlier : EarlierSearch or None, default None
        The results of the searches before the present one.

    Attributes
    ----------
    polish : PolishedPoints or None
        The points of the local searches after the last generation.
    final : FinalPoints
        The points that are evaluated again at the end.
    before : ndarray of int of shape (n_runs,)
        Every run's evaluations before the present limits (warm start).
    """

    def __init__(self, n_runs: int, timer: Timer | None = None, earlier: EarlierSearch | None = None) -> None:
        self.timer = Timer() if timer is None else timer
        self.earlier = earlier
        self.polish: PolishedPoints | None = None
        self.final = FinalPoints(n_runs)
        self.before: IntArray = np.zeros(n_runs, np.int64)

    def begin_polish(self, dim: int) -> PolishedPoints:
        """Return the points of the local searches, which may be the first ones."""
        if self.polish is None:
            self.polish = PolishedPoints(len(self.before), dim)
        return self.polish

    def begin_limits(self, made: IntArray) -> None:
        """Count from now on what the limits allow; `made` are the evaluations in the generations of every run."""
        self.timer.restart_limit()
        self.before = made + self.n_evals
        if self.polish is not None:
            self.polish.spent[:] = 0

    @property
    def n_evals(self) -> IntArray:
        """Evaluations of every run outside of the generations of the present search."""
        return self.search_evals + self.final.n_evals

    @property
    def search_evals(self) -> IntArray:
        """Those in searches, of populations and local ones."""
        evals = np.zeros_like(self.before)
        for found in (self.earlier, self.polish):
            evals = evals if found is None else evals + found.n_evals
        return evals

    @property
    def n_iter(self) -> IntArray:
        """Generations of every run in the searches before, their initial populations counted."""
        return np.zeros_like(self.before) if self.earlier is None else self.earlier.n_iter + 1

    @property
    def polish_spent(self) -> IntArray:
        """Evaluations of every run's polish within the present limits."""
        return np.zeros_like(self.before) if self.polish is None else self.polish.spent

    @property
    def other_evals(self) -> IntArray:
        """Evaluations of every run that belong to no generation, those of `polish_spent` left out."""
        polished = 0 if self.polish is None else self.polish.n_evals - self.polish.spent
        return self.final.n_evals + polished

    @property
    def has_points(self) -> bool:
        """Whether a best point may be one of another phase than the present search."""
        return self.earlier is not None or self.polish is not None

    def lower_codes(self, codes: FloatArray) -> FloatArray:
        """Return the least code of every run: of these, and of all phases."""
        codes = codes if self.earlier is None else np.fmin(codes, self.earlier.codes)
        return codes if self.polish is None else np.fmin(codes, self.polish.code)

    # -- saved state ---------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return the arrays of a file."""
        arrays = {"marks": np.array(self.timer.marks, np.float64).reshape(-1, 2), **self.final.state()}
        for found in (self.earlier, self.polish):
            arrays |= {} if found is None else found.state()
        return arrays

    def restore(self, seconds: float, arrays: dict[str, Any]) -> None:
        """Continue from what `state` returned, checked."""
        self.earlier, self.polish = EarlierSearch.from_state(arrays), PolishedPoints.from_state(arrays)
        self.final = FinalPoints.from_state(len(self.before), arrays)
        self.timer.restore(seconds, arrays["marks"])
