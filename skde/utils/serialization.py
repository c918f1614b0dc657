"""The file format: arrays and a JSON header in an npz file, without anything that could run code."""

from __future__ import annotations

import ast
import json
import math
import os
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, NamedTuple

import numpy as np

from skde.utils.files import atomic_write

FORMAT = "skde"
VERSION = 2
HEADER = "header"
# The exceptions that damaged or crafted files may raise. zipfile raises RuntimeError for entries with the flag of
# encryption or with an unknown method.
READ_ERRORS = (
    OSError,
    ValueError,
    LookupError,
    EOFError,
    AttributeError,
    TypeError,
    RuntimeError,
    SyntaxError,
    ArithmeticError,
    zipfile.BadZipFile,
    zlib.error,
)
DTYPES = tuple(np.dtype(name) for name in ("float64", "float32", "int64", "uint64", "uint8"))
# The first bytes of an array in NumPy's format; its description has about 120 characters.
NPY, LONGEST_NPY_HEADER = b"\x93NUMPY\x01\x00", 1000


class Layout(NamedTuple):
    """Required shape and dtype of an entry's array; a length of None allows any."""

    shape: tuple[int | None, ...]
    dtype: np.dtype[Any]

    def check(self, array: Any) -> None:
        """Refuse an array of another shape or dtype."""
        wanted = tuple("any" if length is None else length for length in self.shape)
        lengths = zip(self.shape, array.shape, strict=False)
        if array.ndim != len(wanted) or any(length not in (None, given) for length, given in lengths):
            raise ValueError(f"its shape must be {wanted}, got {array.shape}")
        if array.dtype != self.dtype:
            raise ValueError(f"its dtype must be {self.dtype.str!r}, got {array.dtype.str!r}")


def json_view(value: Any, finite: bool = False) -> Any:
    """Return a value as dict, list, text and number, which JSON can hold; with `finite`, other numbers become None."""
    if isinstance(value, dict):
        return {str(key): json_view(item, finite) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_view(item, finite) for item in value]
    if isinstance(value, np.generic | np.ndarray):
        return json_view(value.tolist(), finite)
    return None if finite and isinstance(value, float) and not math.isfinite(value) else value


@contextmanager
def entry(name: str) -> Iterator[None]:
    """Name the entry of the file in the errors that are raised within this context."""
    try:
        yield
    except (TypeError, ValueError, ArithmeticError) as error:
        raise ValueError(f"entry {name!r}: {error}") from error


def check_layout(arrays: dict[str, Any], layout: dict[str, Layout], whole: bool = True) -> None:
    """Check the names, shapes and dtypes of arrays; with `whole`, refuse arrays that the layout does not have.

    Raises
    ------
    ValueError
        With the entry's name.
    """
    for name in layout:
        if name not in arrays:
            raise ValueError(f"entry {name!r} is missing")
        with entry(name):
            layout[name].check(arrays[name])
    for name in arrays if whole else ():
        if name not in layout:
            raise ValueError(f"entry {name!r} is unknown")


def check_keys(what: str, part: dict[str, Any], needed: dict[str, Any], optional: dict[str, Any]) -> None:
    """Check that a part of the header has all needed keys, no unknown ones, and values of their types.

    A type of None allows any value.
    """
    known = {**needed, **optional}
    for key in needed:
        if key not in part:
            raise ValueError(f"{what} has no {key!r}")
    for key, value in part.items():
        if key not in known:
            raise ValueError(f"{what} has an unknown {key!r}")
        kinds = known[key] if isinstance(known[key], tuple) else (known[key],)
        if type(value) not in kinds and kinds != (None,):
            names = " or ".join(kind.__name__ for kind in kinds)
            raise ValueError(f"{key!r} of {what} must be of type {names}, got {type(value).__name__}")


def save(path: str | os.PathLike[str], header: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Write a checkpoint in one atomic write: the old file stays until the new one is complete.

    Raises
    ------
    OSError
        When the file cannot be written (the old one is then untouched).
    """
    text = json.dumps({"format": FORMAT, "version": VERSION, **header})
    with atomic_write(path) as file:
        np.savez(file, **{HEADER: np.frombuffer(text.encode(), np.uint8), **arrays})


def load(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read a checkpoint.

    The sizes that entries claim are compared with the file's length first, so that no more memory is allocated.

    Raises
    ------
    FileNotFoundError
        When there is no such file.
    ValueError
        When it is broken, not skde's, or of another version; the message says which.
    """
    name = os.fspath(path)
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise ValueError("it is no regular file")
        with open(path, "rb") as stream, zipfile.ZipFile(stream) as file:
            arrays = read_arrays(file, os.fstat(stream.fileno()).st_size)
        header = read_header(arrays)
    except FileNotFoundError:
        raise
    except READ_ERRORS as error:
        raise ValueError(f"{name!r} is broken or not a file that skde saved ({error})") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ValueError(f"{name!r} is not a file that skde saved")
    if header.get("version") != VERSION:
        raise ValueError(
            f"{name!r} was saved in version {header.get('version')} of the format; this skde reads {VERSION}"
        )
    return header, arrays


def read_arrays(file: zipfile.ZipFile, length: int) -> dict[str, Any]:
    """Return the arrays of a zip file; `length` is its length in bytes."""
    infos = file.infolist()
    for info in infos:
        if info.flag_bits & 1 or info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size:
            raise ValueError(f"entry {info.filename!r} is compressed or encrypted")
        if not info.filename.endswith(".npy"):
            raise ValueError(f"entry {info.filename!r} is unknown")
    if len({info.filename for info in infos}) < len(infos):
        raise ValueError("several entries have one name")
    if sum(info.file_size for info in infos) > length:
        raise ValueError("its entries are longer than the file")
    arrays = {}
    for info in infos:
        name = info.filename.removesuffix(".npy")
        with entry(name):
            arrays[name] = read_entry(file, info)
    return arrays


def read_entry(file: zipfile.ZipFile, info: zipfile.ZipInfo) -> Any:
    """Return the array of one entry."""
    with file.open(info) as stream:
        shape, by_columns, dtype = read_npy_header(stream)
        size = info.file_size - stream.tell()
        if math.prod(shape) * dtype.itemsize != size:
            raise ValueError(f"it says that it has the shape {shape}, and has {size} bytes")
        data = np.frombuffer(stream.read(), dtype)
    return data.reshape(shape, order="F" if by_columns else "C").copy()


def read_npy_header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return shape, order and dtype of an array in NumPy's format 1.0; no text in it is evaluated."""
    if stream.read(len(NPY)) != NPY:
        raise ValueError("it is no array of NumPy's format 1.0")
    length = int.from_bytes(stream.read(2), "little")
    if length > LONGEST_NPY_HEADER:
        raise ValueError(f"its description has {length} characters")
    described = ast.literal_eval(stream.read(length).decode("ascii"))
    if not isinstance(described, dict) or set(described) != {"descr", "fortran_order", "shape"}:
        raise ValueError("its description must be descr, fortran_order and shape")
    name, by_columns, shape = (described[key] for key in ("descr", "fortran_order", "shape"))
    known = {dtype.str: dtype for dtype in DTYPES}
    if not isinstance(name, str) or name not in known:
        raise ValueError(f"its dtype must be one of {', '.join(known)}, got {name!r}")
    if not isinstance(shape, tuple) or not all(type(length) is int and length >= 0 for length in shape):
        raise ValueError(f"its shape must be whole numbers >= 0, got {shape!r}")
    return shape, by_columns is True, known[name]


def read_header(arrays: dict[str, Any]) -> Any:
    """Return the header, which is taken out of the arrays."""
    if HEADER not in arrays:
        raise ValueError(f"entry {HEADER!r} is missing")
    array = arrays.pop(HEADER)
    with entry(HEADER):
        Layout((None,), np.dtype(np.uint8)).check(array)
        return json.loads(array.tobytes())
