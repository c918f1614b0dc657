"""Ctrl-C at a given line of some code."""

from __future__ import annotations

import linecache
import signal
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any


class Moment:
    """Ctrl-C at the k-th line that the main thread runs of some code; 0: nowhere, but the lines are counted.

    Parameters
    ----------
    k : int
        The line.
    includes : callable
        Whether a function belongs to the code.
    left_out : str
        Lines with this text do not count: tracing sees the exit of a context as a line, before or after which a
        signal comes.
    """

    def __init__(self, k: int, includes: Callable[[CodeType], bool], left_out: str) -> None:
        self.k, self.includes, self.left_out, self.lines = k, includes, left_out, 0

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        if not self.includes(code):
            return None
        if event == "line" and self.left_out not in linecache.getline(code.co_filename, frame.f_lineno):
            self.lines += 1
            if self.lines == self.k:
                signal.raise_signal(signal.SIGINT)
        return self

    def during(self, call: Callable[[], Any]) -> None:
        """Call something."""
        before = sys.gettrace()
        sys.settrace(self)
        try:
            call()
        finally:
            sys.settrace(before)
