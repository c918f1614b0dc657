"""The lock of a record's file: two commands that write one file would each lose the other's cells."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    from filelock import FileLock, Timeout
except ImportError:
    raise ImportError("records need filelock, which is not installed: pip install 'skde[bench]'") from None

ENDING = ".lock"


@contextmanager
def lock(file: str | os.PathLike[str] | None) -> Iterator[None]:
    """Keep other commands from a file until the context ends.

    The lock is on another file, FILE.lock, because FILE is replaced whenever it is written. The system ends the lock
    with the process, also after a kill, where FILE.lock stays and does no harm.

    Parameters
    ----------
    file : path or None
        The file; None: there is nothing to lock.

    Raises
    ------
    ValueError
        If another command has the lock.
    OSError
        If the file's folder cannot be written, or has no locks.
    """
    if file is None:
        yield
        return
    path = Path(os.path.realpath(file) + ENDING)
    with acquire(path, os.fspath(file)):
        try:
            yield
        finally:
            path.unlink(missing_ok=True)  # a command that has opened it meanwhile sees that it is gone


def acquire(path: Path, file: str) -> FileLock:
    """Return the lock of a file, acquired."""
    if not path.parent.is_dir():  # filelock would make the folder
        raise FileNotFoundError(f"{file!r} cannot be written: there is no folder {str(path.parent)!r}")
    found = FileLock(path, blocking=False)
    try:
        found.acquire()
    except Timeout:
        raise ValueError(
            f"another command is writing {file!r}: wait until it ends and repeat this one, which continues, or "
            "give another file or folder"
        ) from None
    except OSError as error:
        raise OSError(f"{file!r} cannot be written ({error})") from None
    return found
