"""Tests, and the processes that they start, get signals also where these are ignored or blocked."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from .signal_handlers import HANDLERS, default_handlers

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
TESTS = Path(__file__).parent
# One that starts a process, one that gets the signal itself, and one whose command has children.
CHOSEN = [
    "test_interruptions.py::test_ctrl_c_ends_a_fit_with_the_best_so_far[compiled]",
    "tuning/test_journal.py::test_an_interruption_ends_a_wait",
    "cli/test_signals.py::test_children_of_minimize_end",
]
IGNORE = """
import os, signal, sys
for name in sys.argv[1].split(","):
    signal.signal(getattr(signal, name), signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
"""
STATE = """
import signal
print(*(signal.getsignal(getattr(signal, name)) is signal.SIG_IGN for name in {names!r}))
print(*signal.pthread_sigmask(signal.SIG_BLOCK, []))
"""


def ignoring(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python where all signals are ignored that the tests need, and Ctrl-C is blocked."""
    command = [sys.executable, "-c", IGNORE, ",".join(HANDLERS), *arguments]
    return subprocess.run(command, text=True, capture_output=True, cwd=TESTS.parent, timeout=400)


def test_tests_of_signals_pass_where_these_are_ignored() -> None:
    chosen = [os.fspath(TESTS / one) for one in CHOSEN]
    done = ignoring("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", *chosen)
    assert done.returncode == 0, done.stdout


def test_processes_that_tests_start_ignore_no_signals() -> None:
    state = STATE.format(names=list(HANDLERS))
    ignored = ignoring("-c", state)
    assert ignored.stdout.split() == [*(["True"] * len(HANDLERS)), str(int(signal.SIGINT))]
    started = subprocess.run([sys.executable, "-c", state], text=True, capture_output=True)
    assert started.stdout.split() == ["False"] * len(HANDLERS)


def test_handlers_are_as_before_afterwards() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with default_handlers():
            assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
