"""Journal files of Optuna, with checks of the file and repair of a cut last line."""

from __future__ import annotations

import json
import logging
import os
import socket
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import IO, Any

from filelock import lock_descriptor
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend, JournalFileSymlinkLock

from skde.utils.interrupts import interrupts

# A process that was killed leaves its lock. One of another host, or of Optuna's own, is removed when it has not changed
# for this time, in seconds.
STALE_AFTER = 30.0
FIRST_PAUSE, LONGEST_PAUSE = 0.001, 1.0  # seconds between attempts at the lock; each pause is twice the last one
logger = logging.getLogger("skde.tuning")
FIELDS = {"op_code": int, "worker_id": str}


def open_journal(path: str) -> JournalStorage:
    """Return the storage in a journal file, which is made where it is not there.

    Parameters
    ----------
    path : str
        The file.

    Raises
    ------
    ValueError
        For a file that is no journal, or a damaged one; nothing is written to it.
    OSError
        For a place where there can be no file.
    """
    path = os.path.abspath(path)  # another folder may be the current one later
    if not os.path.isdir(os.path.dirname(path)):
        raise FileNotFoundError(f"storage: there is no directory {os.path.dirname(path)!r}")
    lock = JournalLock(path)
    if os.path.exists(path):
        check_kind(path)
        complete(partial(check_locked, path, lock))
    try:
        return JournalStorage(JournalBackend(path, lock))
    except (LookupError, TypeError, AttributeError, ValueError, AssertionError) as error:  # of Optuna's reader
        raise ValueError(f"storage: the journal {path!r} is damaged: {error!r}; give another file's name") from error


def check_kind(path: str) -> None:
    """Refuse special files, and a file that does not begin as a journal of Optuna."""
    if not os.path.isfile(path):
        raise ValueError(f"storage must be a regular file's name or a URL, got {path!r}")
    with open(path, "rb") as file:
        line = file.readline()
    start = b'{"op_code":'
    cut_short = not line.endswith(b"\n") and (line.startswith(start) or start.startswith(line))
    if not (cut_short or is_operation(line)):
        raise ValueError(f"storage: {path!r} is no journal of Optuna: give another file's name")


def check_locked(path: str, lock: JournalLock) -> None:
    """Check the lines while no other process writes."""
    lock.acquire()
    try:
        check_lines(path)
    finally:
        lock.release()


def check_lines(path: str) -> None:
    """Refuse a journal with a damaged line; where it is the last one, remove it."""
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            if is_operation(line):
                continue
            if file.read(1):
                raise ValueError(
                    f"storage: line {number} of the journal {path!r} is damaged: remove it and all lines after it, "
                    "or give another file's name"
                )
            cut_journal(path, file.tell() - len(line))


def is_operation(line: bytes) -> bool:
    """Return whether a line is one of a journal: a JSON object with an operation and a worker."""
    try:
        operation = json.loads(line)
    except ValueError:
        return False
    return isinstance(operation, dict) and all(isinstance(operation.get(n), kind) for n, kind in FIELDS.items())


def cut_journal(path: str, size: int) -> None:
    """Cut a journal off behind its last whole line, and warn of it."""
    lost = os.path.getsize(path) - size
    os.truncate(path, size)
    warnings.warn(
        f"the last line of the journal {path!r} was cut short, as by a full disk: its {lost} bytes were removed, and "
        "what it was to store will be done again",
        stacklevel=2,
    )


def complete(step: Callable[[], None]) -> None:
    """Take a step that takes a lock, when the lock is free. Ctrl-C ends the wait, but not the step."""
    pause = FIRST_PAUSE
    while True:
        with suppress(FileExistsError), interrupts.fit, interrupts.deferred:
            step()
            return
        time.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)


class JournalBackend(JournalFileBackend):
    """Optuna's journal file, in which Ctrl-C breaks off no write."""

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        """Write to the end of the journal."""
        complete(partial(super().append_logs, logs))


class JournalLock(JournalFileSymlinkLock):
    """Optuna's lock of a journal file, without a wait; while it is held, the file ends with a whole line.

    The lock is a link, which excludes all processes that use Optuna's, and a lock of the system on the journal, which
    ends with its process. So a link that a process of this host has left is known, and removed at once.

    Parameters
    ----------
    path : str
        The journal, an absolute path.
    """

    def __init__(self, path: str) -> None:
        super().__init__(path, grace_period=None)
        self.path, self.link = path, f"{path}.lock"
        self.owner = f"skde:{socket.gethostname()}"  # the target of its link
        self.seen, self.since = -1, 0.0  # the time of another process's link, and when it was first seen
        self._locked: IO[bytes] | None = None

    def acquire(self) -> bool:
        """Take the lock, and remove a last line that was cut short.

        Raises
        ------
        FileExistsError
            While another process has the lock.
        """
        self._lock()
        try:
            self._make_link()
        except FileExistsError:
            self._unlock()
            self._remove_stale()
            raise
        except BaseException:
            self._unlock()
            raise
        try:
            self._mend()
        except BaseException:
            self.release()
            raise
        return True

    def release(self) -> None:
        """Give the lock back."""
        try:
            super().release()
        finally:
            self._unlock()

    def _lock(self) -> None:
        """Lock the journal in the system."""
        self._locked = open(self.path, "ab")  # noqa: SIM115 - to write, as network file systems want it, until _unlock
        try:
            free = lock_descriptor(self._locked.fileno(), blocking=False)
        except OSError:  # a file system without locks: the link alone counts
            self._unlock()
            return
        if not free:
            self._unlock()
            raise FileExistsError(f"another process writes to {self.path!r}")

    def _unlock(self) -> None:
        if self._locked is not None:
            self._locked.close()
            self._locked = None

    def _make_link(self) -> None:
        """Make the link, in the place of one of this host: the process that made it does not lock the journal."""
        try:
            os.symlink(self.owner, self.link)
        except FileExistsError:
            if self._locked is None or not self._is_left():
                raise
            os.unlink(self.link)
            logger.warning("the lock %r was removed: its process has ended", self.link)
            os.symlink(self.owner, self.link)

    def _is_left(self) -> bool:
        try:
            return os.readlink(self.link) == self.owner
        except OSError:
            return False

    def _remove_stale(self) -> None:
        with suppress(FileNotFoundError):  # the other process has given it back
            made, now = os.lstat(self.link).st_mtime_ns, time.monotonic()
            if made != self.seen:
                self.seen, self.since = made, now
            elif now - self.since > STALE_AFTER:
                self._remove(made)

    def _remove(self, made: int) -> None:
        """Remove another process's link, made at this time.

        One process at a time does so: a second one could remove the link that a third has made meanwhile.
        """
        with open(self.path, "ab") as file:  # to write, as network file systems want it
            with suppress(OSError):  # a file system without locks
                lock_descriptor(file.fileno())
            if os.lstat(self.link).st_mtime_ns == made:
                os.unlink(self.link)
                logger.warning("the lock %r was removed: %g seconds without a write", self.link, STALE_AFTER)

    def _mend(self) -> None:
        with open(self.path, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            if not size:
                return
            file.seek(size - 1)
            if file.read(1) == b"\n":
                return
            file.seek(0)
            end = sum(len(line) for line in file if line.endswith(b"\n"))
        cut_journal(self.path, end)
