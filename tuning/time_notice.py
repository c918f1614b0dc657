"""The notice of how long a tuning takes, and how to make it shorter."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from skde.tuning.loop import TuningLoop

logger = logging.getLogger("skde.tuning")

# A measured notice comes after MEASURED_AFTER seconds, and only where the whole takes at least WORTH_SAYING seconds.
MEASURED_AFTER, WORTH_SAYING = 2.0, 60.0
ADVICE = "for a shorter tuning, lower max_experiments (at least {least:,}) or the limit of one run, or raise n_jobs"


class TimeNotice:
    """One line on the time of a tuning: before it where a limit determines the time, else after the first steps.

    Parameters
    ----------
    loop : TuningLoop
        The tuning.
    longest : float or None
        Seconds that all its experiments take at most, where that is known.
    show : callable or None
        Shows the line, in addition to the logger "skde.tuning".
    """

    def __init__(self, loop: TuningLoop, longest: float | None, show: Callable[[str], None] | None) -> None:
        self.advice = ADVICE.format(least=loop.setting.rules.least_budget(loop.setting.space.n_parameters))
        self.show = show
        self._since = time.perf_counter()
        self._stored = len(loop.record.stored)  # before a resumption
        self._given = longest is not None
        if longest is not None:
            self._tell(f"{loop.setting.max_experiments:,} experiments take up to {duration(longest)}")

    def __call__(self, loop: TuningLoop) -> None:
        """Say how long the rest takes, as soon as there are enough results to tell."""
        seconds, done = time.perf_counter() - self._since, len(loop.record.stored) - self._stored
        if self._given or seconds < MEASURED_AFTER or done < loop.setting.rules.first_test:
            return
        self._given = True
        left = seconds / done * (loop.setting.max_experiments - len(loop.results))
        if left >= WORTH_SAYING:
            measured = f"{done:,} experiments took {duration(seconds)}"
            self._tell(f"{measured}: the others take about {duration(left)} more")

    def _tell(self, time: str) -> None:
        text = f"{time}; {self.advice}"
        logger.info(text)
        if self.show is not None:
            self.show(text)


def duration(seconds: float) -> str:
    """Return a time in words, such as '2 h 5 min'."""
    if seconds < 60:
        return f"{seconds:.2g} s"
    minutes = round(seconds / 60)
    hours, minutes = divmod(minutes, 60)
    if hours >= 48:
        return f"{hours / 24:.0f} days"
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
