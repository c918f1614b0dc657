"""The notice of how long a tuning takes, and how to make it shorter."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable

from skde.tuning.loop import TuningLoop

logger = logging.getLogger("skde.tuning")

# A measured notice comes after MEASURED_AFTER seconds, and only where the whole takes at least WORTH_SAYING seconds.
# Where nothing shows it, there is a warning of WORTH_A_WARNING seconds and more. It is measured later, when the starts
# of processes count less.
MEASURED_AFTER, WORTH_SAYING = 2.0, 60.0
WARNED_AFTER, WORTH_A_WARNING = 60.0, 600.0
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
        Shows the line, in addition to the logger "skde.tuning"; None: a UserWarning has it, from 10 minutes on.
    """

    def __init__(self, loop: TuningLoop, longest: float | None, show: Callable[[str], None] | None) -> None:
        self.advice = ADVICE.format(least=loop.setting.rules.least_budget(loop.setting.space.n_parameters))
        self.show = show
        self._since = time.perf_counter()
        self._stored = len(loop.record.stored)  # before a resumption
        self._told = self._warned = longest is not None
        if longest is not None:
            text = f"{loop.setting.max_experiments:,} experiments take up to {duration(longest)}"
            self._tell(text)
            self._warn(text, longest)

    def __call__(self, loop: TuningLoop) -> None:
        """Say how long the rest takes, as soon as there are enough results to tell."""
        seconds, done = time.perf_counter() - self._since, len(loop.record.stored) - self._stored
        if self._warned or seconds < MEASURED_AFTER or done < loop.setting.rules.first_test:
            return
        left = seconds / done * (loop.setting.max_experiments - len(loop.results))
        text = f"{done:,} experiments took {duration(seconds)}: the others take about {duration(left)} more"
        if not self._told:
            self._told = True
            if left >= WORTH_SAYING:
                self._tell(text)
        if seconds >= WARNED_AFTER:
            self._warned = True
            self._warn(text, left)

    def _tell(self, text: str) -> None:
        """Log a line, and show it."""
        logger.info(f"{text}; {self.advice}")
        if self.show is not None:
            self.show(f"{text}; {self.advice}")

    def _warn(self, text: str, seconds: float) -> None:
        """Warn of a long time, where nothing shows it."""
        if self.show is None and seconds >= WORTH_A_WARNING:
            warnings.warn(f"{text}; {self.advice}; verbose=1 shows the progress", UserWarning, stacklevel=2)


def duration(seconds: float) -> str:
    """Return a time in words, such as '2 h 5 min'."""
    if seconds < 60:
        return f"{seconds:.2g} s"
    minutes = round(seconds / 60)
    hours, minutes = divmod(minutes, 60)
    if hours >= 48:
        return f"{hours / 24:.0f} days"
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
