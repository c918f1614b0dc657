"""The progress bar of fits, searches, tunings and experiments."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, TextIO

INTERVAL = 0.1  # seconds between two drawings


class ProgressBar:
    """A tqdm bar: steps that are done, a text, rate, time left.

    Parameters
    ----------
    state : callable
        Returns the number of steps done and the text, which may be empty. It is called for drawings alone.
    total : int or None
        Number of steps at the end; None: not known.
    unit : str
        A step.
    scaled : bool, default False
        Whether numbers of steps are in thousands and millions.
    """

    def __init__(
        self, state: Callable[[], tuple[int, str]], total: int | None, unit: str, scaled: bool = False
    ) -> None:
        from tqdm.auto import tqdm

        self.state = state
        self.bar: Any = tqdm(total=total, unit=unit, unit_scale=scaled, dynamic_ncols=True, mininterval=INTERVAL)
        self._drawn = -math.inf

    def move(self, now: bool = False) -> None:
        """Draw the state, at most ten times a second or now."""
        if now or time.monotonic() - self._drawn >= INTERVAL:
            done, text = self.state()
            self.bar.n = done
            if text:
                self.bar.set_postfix_str(text, refresh=False)
            self.bar.refresh()
            self._drawn = time.monotonic()

    def write(self, text: str, file: TextIO | None = None) -> None:
        """Write a line above the bar, into a file or to the standard output."""
        self.bar.write(text, file=file)

    def close(self) -> None:
        """Draw the last state, and leave the bar as it is."""
        try:
            self.move(now=True)
        finally:
            self.bar.close()
