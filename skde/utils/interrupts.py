"""Deferral of Ctrl-C during a fit to the end of steps that must be complete."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

Handler = Callable[[int, FrameType | None], Any]


class Interrupts:
    """Handling of Ctrl-C in the main thread, which is the only one that Python runs signal handlers in.

    Steps that change the state in several parts, such as the launches that make one generation, run in the context
    `deferred`: Ctrl-C takes effect at their end. That needs a signal handler, which takes microseconds to set: the
    first of these steps in a fit sets it, and the end of the fit restores the old one. Nothing is deferred outside
    fits.

    Attributes
    ----------
    fit, deferred : context managers
        The context of a fit, and a step's. Both may be nested.
    """

    def __init__(self) -> None:
        self.fits = self.steps = 0
        self.old_handler: Any = None
        self.pending: tuple[Handler, int, FrameType | None] | None = None
        self.fit, self.deferred = FitContext(self), StepContext(self)

    def install(self) -> None:
        """Set the handler, unless Ctrl-C is ignored or not Python's."""
        handler = signal.getsignal(signal.SIGINT)
        if callable(handler):
            self.old_handler = handler
            signal.signal(signal.SIGINT, self.handle)

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Handle Ctrl-C by the old handler."""
        self.call(self.old_handler, number, frame)

    def call(self, handler: Handler, number: int, frame: FrameType | None) -> None:
        """Call the handler of a signal: now, or at the end of the step."""
        if self.steps:
            self.pending = handler, number, frame
        else:
            self.forward(handler, number, frame)

    def forward(self, handler: Handler, number: int, frame: FrameType | None) -> None:
        """Call a handler, with everything uninstalled: its exception may keep a fit's context from its end."""
        fits = self.fits
        self.uninstall()
        handler(number, frame)
        self.fits = fits

    def uninstall(self) -> None:
        """Restore the old handler, unless another one has been set in the meantime."""
        self.fits, self.steps, self.pending = 0, 0, None
        try:  # Ctrl-C may come here too, and finds the old handler in its attribute
            if self.old_handler is not None and signal.getsignal(signal.SIGINT) == self.handle:
                signal.signal(signal.SIGINT, self.old_handler)
        finally:
            self.old_handler = None


class FitContext:
    """The context of a fit."""

    def __init__(self, interrupts: Interrupts) -> None:
        self.interrupts = interrupts

    def __enter__(self) -> None:
        if in_main_thread():
            self.interrupts.fits += 1

    def __exit__(self, *error: object) -> None:
        if in_main_thread():
            self.interrupts.fits -= 1
            if self.interrupts.fits <= 0:
                self.interrupts.uninstall()


class StepContext:
    """The context of a step that Ctrl-C does not break off."""

    def __init__(self, interrupts: Interrupts) -> None:
        self.interrupts = interrupts

    def __enter__(self) -> None:
        interrupts = self.interrupts
        if in_main_thread() and interrupts.fits:
            if interrupts.old_handler is None:
                interrupts.install()
            interrupts.steps += 1

    def __exit__(self, *error: object) -> None:
        interrupts = self.interrupts
        if not in_main_thread() or interrupts.steps == 0:
            return
        # Python runs signal handlers between calls: not between these lines.
        interrupts.steps -= 1
        if interrupts.steps == 0 and interrupts.pending is not None:
            pending, interrupts.pending = interrupts.pending, None
            interrupts.forward(*pending)


def in_main_thread() -> bool:
    """Whether this is the main thread."""
    return threading.current_thread() is threading.main_thread()


interrupts = Interrupts()
