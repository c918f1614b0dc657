"""The cache of compiled objectives: folders that only the user may write to, because libraries are loaded from them."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

from skde.utils.files import atomic_write

OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def cache_folder() -> Path:
    """Return the cache's folder: SKDE_CACHE_DIR, else skde in the user's cache."""
    named = os.environ.get("SKDE_CACHE_DIR")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "skde"


def private_folder(*names: str) -> Path:
    """Return a folder in the cache, after making it with mode 0700 where there is none.

    Parameters
    ----------
    *names : str
        Path of the folder in the cache.

    Raises
    ------
    PermissionError
        If the folder, or one between it and the cache, belongs to another user or others may write to it.
    """
    folder = cache_folder()
    folder.parent.mkdir(parents=True, exist_ok=True)
    check_private(folder)
    for name in names:
        folder = folder / name
        check_private(folder)
    return folder


def check_private(folder: Path) -> None:
    """Make a folder where there is none; raise PermissionError where other users may write to it."""
    folder.mkdir(mode=0o700, exist_ok=True)
    if not hasattr(os, "geteuid"):
        return
    status = folder.stat()
    if status.st_uid != os.geteuid():
        wrong, remedy = f"belongs to the user with the number {status.st_uid}", "set SKDE_CACHE_DIR to one of yours"
    elif status.st_mode & OTHERS_WRITE:
        wrong, remedy = "can be written by other users", f"chmod go-w {folder}, or set SKDE_CACHE_DIR to another one"
    else:
        return
    raise PermissionError(
        f"the cache folder {str(folder)!r} {wrong}, so that what is loaded from it may not be yours; {remedy}"
    )


def store_text(path: Path, text: str) -> None:
    """Write a file, unless it holds this text already: other processes may be reading it."""
    if not path.exists() or path.read_bytes() != text.encode():
        store(path, text.encode())


def store(path: Path, content: bytes) -> None:
    """Write a file that other processes see either whole or not at all."""
    with atomic_write(path) as file:
        file.write(content)


def store_library(folder: Path, name: str, content: bytes) -> Path:
    """Write a library under a name with the digest of its content."""
    path = folder / f"{name}-{digest(content)}.so"
    store(path, content)
    return path


def find_library(folder: Path, name: str) -> Path | None:
    """Return the library that `store_library` wrote, None where there is none; remove it where it is damaged."""
    for path in sorted(folder.glob(f"{name}-*.so")):
        if path.name == f"{name}-{digest(path.read_bytes())}.so":
            return path
        path.unlink(missing_ok=True)
    return None


def digest(content: bytes) -> str:
    """Return a short digest of a file."""
    return hashlib.sha256(content).hexdigest()[:32]
