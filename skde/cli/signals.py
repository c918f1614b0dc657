"""Handler of SIGTERM, which ends a command as Ctrl-C does."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any

from skde.utils.interrupts import interrupts


class Termination:
    """SIGTERM as KeyboardInterrupt, while a command runs in the main thread and the signal has no other handler.

    Attributes
    ----------
    signal : signal.Signals
        The signal that interrupted the command, SIGINT by default.
    """

    def __init__(self) -> None:
        self.signal = signal.SIGINT
        self._before: Any = None

    def __enter__(self) -> Termination:
        """Handle SIGTERM."""
        main_thread = threading.current_thread() is threading.main_thread()
        if main_thread and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            self._before = signal.signal(signal.SIGTERM, self._interrupt)
        return self

    def __exit__(self, *error: object) -> None:
        """Leave SIGTERM as it was."""
        if self._before is not None:
            signal.signal(signal.SIGTERM, self._before)

    @property
    def exit_code(self) -> int:
        """The shell's exit code of a command that a signal has ended."""
        return 128 + self.signal

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self.signal is signal.SIGTERM:
            return  # timeout(1) sends it twice, and after the first one the command prints its result
        self.signal = signal.SIGTERM
        interrupts.call(signal.default_int_handler, number, frame)
