"""Official data of test problems: files of numbers in an installed package or in a user's folder."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skde.typing import FloatArray
from skde.utils.validation import check_choice, check_path, quote

CHOICES = ("generated", "official")
SPECS = ("cec", "paper")


class OfficialFiles(NamedTuple):
    """Official files of a suite, and the places that have them.

    Attributes
    ----------
    advice : str
        How to get the files, for messages.
    package : str
        An installed package that has them, which is not imported; empty if there is none.
    inside : str
        The folder in that package.
    """

    advice: str
    package: str = ""
    inside: str = ""

    def folder(self, data: Any, folder: Any) -> Path | None:
        """Return the folder of the official files, or None for generated data.

        Parameters
        ----------
        data : {"generated", "official"}
            The suite's option of that name.
        folder : str, path or None
            A user's folder with the official files; None: the package's.

        Raises
        ------
        ValueError, TypeError
            For other values, a folder without official data, and a package that is not installed.
        FileNotFoundError
            If there is no such folder.
        """
        if check_choice("data", data, CHOICES) == "generated":
            if folder is not None:
                raise ValueError(f"folder is for data='official' only, got {quote(folder)} and data='generated'")
            return None
        place = self.find_installed() if folder is None else Path(check_path("folder", folder))
        if not place.is_dir():
            raise FileNotFoundError(f"folder must have the official files, but {place} is none; {self.advice}")
        return place

    def find_installed(self) -> Path:
        """Return the folder in the installed package."""
        spec = find_spec(self.package) if self.package else None
        if spec is None or spec.origin is None:
            why = f"{self.package}, which is not installed," if self.package else "your copy of the files"
            raise ValueError(f"data='official' needs {why} or folder=...; {self.advice}")
        return Path(spec.origin).parent / self.inside

    def table(self, path: Path, rows: int, columns: int, *, longer_rows: bool = False) -> FloatArray:
        """Return the first rows of a text file of numbers.

        Parameters
        ----------
        path : Path
            The file; a line of it is a row.
        rows, columns : int
            Shape of the result. The file may have more rows.
        longer_rows : bool, default False
            Whether the file's rows may be longer too; only their beginnings count then.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ValueError
            If the file has other things than finite numbers, or another shape.
        """
        if not path.is_file():
            raise FileNotFoundError(f"the official file {path} is missing; {self.advice}")
        try:
            lines = [[float(word) for word in line.split()] for line in path.read_text("utf-8").splitlines()]
        except ValueError as error:  # also for bytes that are no text
            raise ValueError(f"the official file {path} must be a text of numbers: {error}") from error
        found = [line for line in lines if line][:rows]
        lengths = sorted({len(row) for row in found})
        right = all(length >= columns if longer_rows else length == columns for length in lengths)
        if len(found) < rows or not right:
            wanted = f"{rows} or more rows of {columns}{' or more' if longer_rows else ''} numbers"
            lengths_found = ", ".join(map(str, lengths)) or "no"
            raise ValueError(f"{path} must have {wanted}; it has {len(found)} rows of {lengths_found} numbers")
        values: NDArray[np.float64] = np.array([row[:columns] for row in found])
        if not np.isfinite(values).all():
            raise ValueError(f"the official file {path} must have finite numbers only")
        return values

    def permutation(self, path: Path, n: int) -> NDArray[np.int64]:
        """Return the order of 0 ... n - 1 that a file has as numbers 1 ... n in its first row."""
        numbers = self.table(path, 1, n)[0]
        order: NDArray[np.int64] = numbers.astype(np.int64) - 1
        if sorted(numbers) != list(range(1, n + 1)):
            raise ValueError(f"{path} must have every whole number of 1 ... {n} once")
        return order


def read_options(data: str, folder: Any, spec: str = "cec") -> dict[str, Any]:
    """Return the options of a suite that differ from their defaults, after their check."""
    given = {"data": data, "folder": None if folder is None else os.fspath(folder), "spec": spec}
    defaults = {"data": "generated", "folder": None, "spec": "cec"}
    return {option: value for option, value in given.items() if value != defaults[option]}
