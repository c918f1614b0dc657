"""What ends a fit between two values."""

from __future__ import annotations

from collections.abc import Callable


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
