"""What ends a fit between two values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from skde.fit.fit import Fit


class Watch:
    """The time limit and the callbacks of a fit, while values come one after the other.

    Parameters
    ----------
    seconds_left : callable
        Returns the seconds until the time limit.
    ends : callable
        Returns whether a callback or the time limit ends the fit.

    Attributes
    ----------
    stopped : bool
        Whether the fit has been ended.
    """

    def __init__(self, seconds_left: Callable[[], float], ends: Callable[[], bool]) -> None:
        self._seconds_left, self.ends = seconds_left, ends
        self.stopped = False

    def seconds_left(self) -> float:
        """Return the seconds until the time limit; 0 after the end."""
        return 0.0 if self.stopped else self._seconds_left()

    def look(self, complete: bool) -> None:
        """Find out whether something ends the fit, after values of which these may be the last."""
        self.stopped = not complete and (self.stopped or self.ends())


class StallWatch:
    """The limit on the seconds without a better best value of any run, from the beginning of a phase.

    Parameters
    ----------
    fit : Fit
        The fit.
    max_stall_time : float or None
        The limit; None: there is none.
    """

    def __init__(self, fit: Fit, max_stall_time: float | None) -> None:
        self.fit, self.max_stall_time = fit, max_stall_time
        self._codes = np.full(fit.n_runs, np.nan)  # the best values so far
        self._since = fit.seconds

    def ends(self) -> bool:
        """Return whether the limit is reached; values are compared only where there is one."""
        if self.max_stall_time is None or not self.fit.has_results:
            return False
        codes = self.fit.best_points()[1]
        if (np.isnan(self._codes) & ~np.isnan(codes) | (codes < self._codes)).any():
            self._codes, self._since = np.fmin(codes, self._codes), self.fit.seconds
        return self.fit.seconds - self._since >= self.max_stall_time
