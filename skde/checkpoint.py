"""Saved state: arrays and one piece of JSON in an npz file, nothing that could run code when it is read."""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

FORMAT = "skde"
VERSION = 1
HEADER = "header"
ZIP_ERRORS = (zipfile.BadZipFile, zlib.error)


def save(path: str | os.PathLike[str], header: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Write a checkpoint under a temporary name, then rename it: the old file stays until the new is whole.

    Raises
    ------
    OSError
        When the file cannot be written (the old one is then untouched).
    """
    path = Path(path)
    text = json.dumps({"format": FORMAT, "version": VERSION, **header})
    handle, temporary = tempfile.mkstemp(prefix=path.name + ".", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            arrays = {HEADER: np.frombuffer(text.encode(), np.uint8), **arrays}
            np.savez(file, **arrays)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def load(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read a checkpoint.

    Raises
    ------
    FileNotFoundError
        When there is no such file.
    ValueError
        When it is broken, not skde's, or of another version; the message says which.
    """
    try:
        # Opened here, because np.load leaves a file that it cannot read open.
        with open(path, "rb") as stream, np.load(stream, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        header = json.loads(arrays.pop(HEADER).tobytes())
    except FileNotFoundError:
        raise
    # zipfile raises RuntimeError for an entry that claims to be encrypted or of a method it does not know.
    except (OSError, ValueError, LookupError, EOFError, AttributeError, TypeError, RuntimeError, *ZIP_ERRORS) as error:
        raise ValueError(f"{os.fspath(path)!r} is broken or not a file that skde saved ({error})") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ValueError(f"{os.fspath(path)!r} is not a file that skde saved")
    if header.get("version") != VERSION:
        raise ValueError(
            f"{os.fspath(path)!r} was saved in version {header.get('version')} of the format; this skde reads {VERSION}"
        )
    return header, arrays
