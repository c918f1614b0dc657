"""The lock of a record's file: two commands that write one file would each lose the other's cells."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

if sys.platform == "win32":
    import msvcrt

    def lock(file: IO[bytes]) -> None:
        """Lock a file, or raise OSError."""
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def lock(file: IO[bytes]) -> None:
        """Lock a file, or raise OSError. Unlike a lock of flock, it is not kept by processes that this one forked."""
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


ENDING = ".lock"


@contextmanager
def locked(file: str | os.PathLike[str] | None) -> Iterator[None]:
    """Keep other processes from a file until the context ends.

    The lock is on another file, FILE.lock, because FILE is replaced whenever it is written. The system ends the lock
    with the process, also after a kill, where FILE.lock stays and does no harm.

    Parameters
    ----------
    file : path or None
        The file; None: there is nothing to lock.

    Raises
    ------
    ValueError
        If another process has the lock.
    OSError
        If the file's folder cannot be written.
    """
    if file is None:
        yield
        return
    path = Path(os.path.realpath(file) + ENDING)
    with open_locked(path, os.fspath(file)):
        try:
            yield
        finally:
            with suppress(OSError):  # Windows removes no open file
                path.unlink()


def open_locked(path: Path, file: str) -> IO[bytes]:
    """Return the file of a lock, opened and locked."""
    while True:
        try:
            opened = open(path, "ab")  # noqa: SIM115 - it stays open
        except OSError as error:
            raise OSError(f"{file!r} cannot be written ({error})") from None
        try:
            lock(opened)
        except (BlockingIOError, PermissionError):
            opened.close()
            raise ValueError(
                f"another command is writing {file!r}: wait until it ends and repeat this one, which continues, or "
                "give another file or folder"
            ) from None
        except OSError:  # a file system without locks
            return opened
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(opened.fileno()), path.stat()):
                return opened
        opened.close()  # another command has removed it between open and lock
