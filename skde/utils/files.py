"""Atomic writing of files: a name always has a complete file, the old one or the new one."""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]  # mypy takes the name for the module's

KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
# Characters of a file's name that its temporary file's name has: file systems allow 255 bytes.
LONGEST_NAME = 40


@contextmanager
def atomic_write(path: str | os.PathLike[str], text: bool = False) -> Iterator[IO[Any]]:
    """Open a temporary file that takes the name of a file when the context ends without an exception.

    Parameters
    ----------
    path : str or path-like
        The file. The target of a symbolic link is replaced. An existing file keeps its permissions.
    text : bool, default False
        Whether the file takes text, in UTF-8, or bytes.

    Yields
    ------
    file : file object
        To write to.

    Raises
    ------
    OSError
        When it cannot be written, or when something other than a regular file has the name. The old file is
        then untouched.
    """
    mode = permissions(path)
    target = Path(os.path.realpath(path))
    remove_stale(target)
    try:
        temporary, handle = open_temporary(target)
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None
    try:
        with os.fdopen(handle, "w" if text else "wb", encoding="utf-8" if text else None) as file:
            if mode is not None:
                os.chmod(temporary, mode)
            yield file
            file.flush()
            os.fsync(file.fileno())
            # Before the file is closed, which would end the lock that keeps others from removing it.
            os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(target.parent)


def permissions(path: str | os.PathLike[str]) -> int | None:
    """Return the permissions of a regular file, None where there is no file; refuse everything else by its kind."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        kind = KINDS.get(stat.S_IFMT(status.st_mode), "no regular file")
        error = IsADirectoryError if stat.S_ISDIR(status.st_mode) else OSError
        raise error(f"{os.fspath(path)!r} is {kind}: give the name of a regular file, or of a new one")
    return stat.S_IMODE(status.st_mode) & 0o777


def open_temporary(target: Path) -> tuple[Path, int]:
    """Return the name of a new temporary file next to a file, and its descriptor, locked."""
    while True:
        temporary = target.with_name(f".{target.name[:LONGEST_NAME]}.{os.getpid()}.{secrets.token_hex(4)}.tmp")
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        if fcntl is None:
            return temporary, handle
        with suppress(OSError):  # a file system without locks, where no process removes stale files either
            fcntl.flock(handle, fcntl.LOCK_EX)
        if temporary.exists():
            return temporary, handle
        os.close(handle)  # another process has removed it as stale before it was locked


def remove_stale(target: Path) -> None:
    """Remove the temporary files of processes that were killed while they wrote this file."""
    if fcntl is None:
        return
    pattern = re.compile(rf"\.{re.escape(target.name[:LONGEST_NAME])}\.\d+\.[0-9a-f]{{8}}\.tmp")
    with suppress(OSError):  # a folder that cannot be listed keeps them
        for name in [entry.name for entry in os.scandir(target.parent) if pattern.fullmatch(entry.name)]:
            remove_if_stale(target.with_name(name))


def remove_if_stale(temporary: Path) -> None:
    """Remove a temporary file that no process has locked."""
    try:
        handle = os.open(temporary, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        temporary.unlink(missing_ok=True)
    except OSError:
        return  # another process is writing it, or another user owns it
    finally:
        os.close(handle)


def sync_folder(folder: Path) -> None:
    """Sync a folder's list of names to the disk, where the system can do that."""
    # The file is complete by now: a folder that cannot be opened or synced is no reason to report an error.
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
