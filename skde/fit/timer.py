"""The running time of a fit."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from skde.typing import FloatArray


class Timer:
    """Running time without pauses, and the times at which generations were done.

    Attributes
    ----------
    marks : list of (int, float)
        Generations, and the running time at their ends.
    """

    def __init__(self) -> None:
        self.marks: list[tuple[int, float]] = []
        self._before = 0.0
        self._started: float | None = None
        self._origin = 0.0

    @property
    def seconds(self) -> float:
        """Running time so far."""
        return self._before + (0.0 if self._started is None else time.perf_counter() - self._started)

    @property
    def seconds_of_limit(self) -> float:
        """The part of the running time that max_time limits: since the last `restart_limit`."""
        return self.seconds - self._origin

    def start(self) -> None:
        """Begin, or continue after a pause."""
        self._started = time.perf_counter()

    def pause(self) -> None:
        """Stop counting."""
        self._before, self._started = self.seconds, None

    def following(self) -> Timer:
        """Return a timer that continues the time of this one, without its marks."""
        timer = Timer()
        timer._before, timer._origin = self.seconds, self._origin
        return timer

    def restart_limit(self) -> None:
        """Count `seconds_of_limit` from now."""
        self._origin = self.seconds

    def mark(self, generation: int) -> None:
        """Record the time of a generation's end."""
        self.marks.append((generation, self.seconds))

    def restore(self, seconds: float, marks: Any) -> None:
        """Continue from a saved time and saved marks."""
        self._before, self._started = seconds, None
        self.marks = [(int(generation), float(when)) for generation, when in marks]

    def at(self, generations: Any) -> FloatArray:
        """Return the times at which generations were done, interpolated between the marks."""
        if not self.marks:
            return np.full(np.shape(generations), self.seconds)
        marks = np.array(self.marks)
        return np.asarray(np.interp(generations, marks[:, 0], marks[:, 1]))
