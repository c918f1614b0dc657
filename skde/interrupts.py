"""Ctrl-C during a fit: it waits for the end of what must not be left half-way."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any


class Interrupts:
    """What becomes of Ctrl-C in the main thread, the only one that Python tells of it.

    Steps that change the state in several parts, such as the launches that make one generation, are made in the
    context `held`; Ctrl-C is then heard at their end. That needs a signal handler, which takes microseconds to set: the
    first of these steps in a fit sets it, and the end of the fit puts the old one back. Outside fits nothing is held.

    Attributes
    ----------
    fit, held : context managers
        In which a fit runs; in which Ctrl-C waits. Both may be nested.
    """

    def __init__(self) -> None:
        self.fits = self.steps = 0
        self.before: Any = None  # the handler that there was
        self.waiting: tuple[int, FrameType | None] | None = None
        self.fit, self.held = Fit(self), Held(self)

    def listen(self) -> None:
        """Set the handler, unless Ctrl-C is ignored or not Python's."""
        before = signal.getsignal(signal.SIGINT)
        if callable(before):
            self.before = before
            signal.signal(signal.SIGINT, self.hear)

    def hear(self, number: int, frame: FrameType | None) -> None:
        """Handle the signal: now, or at the end of the step."""
        if self.steps:
            self.waiting = number, frame
        else:
            self.tell(number, frame)

    def tell(self, number: int, frame: FrameType | None) -> None:
        """Call the old handler. The exception that it usually raises may keep a fit from leaving by itself."""
        before, fits = self.before, self.fits
        self.leave()
        before(number, frame)
        self.fits = fits

    def leave(self) -> None:
        """Put the old handler back, unless somebody else has set one."""
        before, self.before, self.waiting = self.before, None, None
        self.fits = self.steps = 0
        if before is not None and signal.getsignal(signal.SIGINT) == self.hear:
            signal.signal(signal.SIGINT, before)


class Fit:
    """In which a fit runs."""

    def __init__(self, interrupts: Interrupts) -> None:
        self.interrupts = interrupts

    def __enter__(self) -> None:
        if in_main_thread():
            self.interrupts.fits += 1

    def __exit__(self, *error: object) -> None:
        if in_main_thread():
            self.interrupts.fits -= 1
            if self.interrupts.fits <= 0:
                self.interrupts.leave()


class Held:
    """In which Ctrl-C waits."""

    def __init__(self, interrupts: Interrupts) -> None:
        self.interrupts = interrupts

    def __enter__(self) -> None:
        interrupts = self.interrupts
        if in_main_thread() and interrupts.fits:
            if interrupts.before is None:
                interrupts.listen()
            interrupts.steps += 1

    def __exit__(self, *error: object) -> None:
        interrupts = self.interrupts
        if not in_main_thread() or interrupts.steps == 0:
            return
        # Python hears of signals between calls: not between these lines.
        interrupts.steps -= 1
        if interrupts.steps == 0 and interrupts.waiting is not None:
            waiting, interrupts.waiting = interrupts.waiting, None
            interrupts.tell(*waiting)


def in_main_thread() -> bool:
    """Whether this is the thread that hears of Ctrl-C."""
    return threading.current_thread() is threading.main_thread()


interrupts = Interrupts()
