"""What is kept between runs of a program: files that nobody else may write, because they are compiled and loaded."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from pathlib import Path

OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def cache_folder() -> Path:
    """Return the folder of what is kept: SKDE_CACHE_DIR, else skde in the user's cache."""
    named = os.environ.get("SKDE_CACHE_DIR")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "skde"


def private_folder(*names: str) -> Path:
    """Return a folder in the cache, made with mode 0700 where it is not there.

    Parameters
    ----------
    *names : str
        Its path.

    Raises
    ------
    PermissionError
        Where it, or a folder between it and the cache, belongs to another user or can be written by others.
    """
    folder = cache_folder()
    folder.parent.mkdir(parents=True, exist_ok=True)
    check_private(folder)
    for name in names:
        folder = folder / name
        check_private(folder)
    return folder


def check_private(folder: Path) -> None:
    """Make a folder, or refuse what others may put files into."""
    folder.mkdir(mode=0o700, exist_ok=True)
    if not hasattr(os, "geteuid"):
        return
    found = folder.stat()
    if found.st_uid != os.geteuid():
        wrong, remedy = f"belongs to the user with the number {found.st_uid}", "set SKDE_CACHE_DIR to one of yours"
    elif found.st_mode & OTHERS_WRITE:
        wrong, remedy = "can be written by other users", f"chmod go-w {folder}, or set SKDE_CACHE_DIR to another one"
    else:
        return
    raise PermissionError(
        f"the cache folder {str(folder)!r} {wrong}, so that what is loaded from it may not be yours; {remedy}"
    )


def keep_text(path: Path, text: str) -> None:
    """Write a file, which others may be writing too, whole; one that holds the text already stays."""
    if not path.exists() or path.read_bytes() != text.encode():
        keep(path, text.encode())


def keep(path: Path, content: bytes) -> None:
    """Write a file under a temporary name, and rename it."""
    with tempfile.NamedTemporaryFile("wb", dir=path.parent, delete=False) as file:
        file.write(content)
    os.replace(file.name, path)


def keep_library(folder: Path, name: str, content: bytes) -> Path:
    """Write a library under a name that tells what is in it."""
    path = folder / f"{name}-{digest(content)}.so"
    keep(path, content)
    return path


def whole_library(folder: Path, name: str) -> Path | None:
    """Return the library that `keep_library` wrote, if it is still what it was; a damaged one is removed."""
    for path in sorted(folder.glob(f"{name}-*.so")):
        if path.name == f"{name}-{digest(path.read_bytes())}.so":
            return path
        path.unlink(missing_ok=True)
    return None


def digest(content: bytes) -> str:
    """Return a short digest of a file."""
    return hashlib.sha256(content).hexdigest()[:32]
