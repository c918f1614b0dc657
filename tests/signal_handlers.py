"""The handlers of signals that a program has when a terminal starts it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# Whoever starts the tests may ignore these: nohup, a shell for its jobs in the background, some CI systems. Processes
# that the tests start would ignore them, too.
HANDLERS: dict[str, Any] = {
    "SIGINT": signal.default_int_handler,
    "SIGTERM": signal.SIG_DFL,
    "SIGHUP": signal.SIG_DFL,
    "SIGQUIT": signal.SIG_DFL,
}


@contextmanager
def default_handlers() -> Iterator[None]:
    """Handle signals as a program that a terminal starts, here and in processes that begin meanwhile."""
    numbers = {getattr(signal, name): handler for name, handler in HANDLERS.items() if hasattr(signal, name)}
    before = {number: signal.signal(number, handler) for number, handler in numbers.items()}
    blocked = change_mask("SIG_UNBLOCK", set(numbers))
    try:
        yield
    finally:
        change_mask("SIG_SETMASK", blocked)
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def change_mask(how: str, signals: set[Any]) -> set[Any]:
    """Change the signals that are blocked, and return those before; Windows has none."""
    return signal.pthread_sigmask(getattr(signal, how), signals) if hasattr(signal, "pthread_sigmask") else set()
