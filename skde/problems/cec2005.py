"""Official data of the competition CEC 2005: from optproblems, or files in a user's folder.

P. N. Suganthan and others: Problem definitions and evaluation criteria for the CEC 2005 special session on
real-parameter optimization (2005). The data are for at most 100 variables; fewer take the first numbers of each row.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skde.problems.official_data import CHOICES, OfficialFiles
from skde.typing import FloatArray
from skde.utils.validation import check_choice

MOST = 100
PACKAGE = "optproblems"
FILES = {
    "F1": "sphere_func_data.txt",
    "F5": "schwefel_206_data.txt",
    "F6": "rosenbrock_func_data.txt",
    "F7": "griewank_func_data.txt",
    "F9": "rastrigin_func_data.txt",
    "F12": "schwefel_213_data.txt",
}
OFFICIAL = OfficialFiles(
    f"optproblems has the data (pip install {PACKAGE}); the folder needs the competition's files "
    f"{', '.join(FILES.values())}"
)


class OfficialData:
    """The official data of functions of CEC 2005, from one place.

    Parameters
    ----------
    data : {"generated", "official"}
        A suite's option of that name.
    folder : str, path or None
        A user's folder with the competition's files; None: the installed package optproblems.

    Attributes
    ----------
    used : bool
        Whether `data` is "official".

    Raises
    ------
    ValueError, TypeError, FileNotFoundError
        As for `OfficialFiles.folder`.
    """

    def __init__(self, data: Any, folder: Any) -> None:
        self.used = check_choice("data", data, CHOICES) == "official"
        self.place: Path | None = None
        if folder is not None or not self.used:
            self.place = OFFICIAL.folder(data, folder)

    def shift(self, function: str, dim: int) -> FloatArray:
        """Return the minimiser of F1, F6, F7 or F9."""
        o: FloatArray = self.block(function, "offsets", 0, 1, dim)[0]
        return o

    def schwefel_206(self, dim: int) -> tuple[FloatArray, FloatArray]:
        """Return the numbers from which the minimiser of F5 is made, and the matrix A."""
        return self.block("F5", "offsets", 0, 1, dim)[0], self.block("F5", "A", 1, dim, dim)

    def schwefel_213(self, dim: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the matrices a and b of F12, and the angles alpha."""
        a, b = (self.block("F12", name, first, dim, dim) for name, first in (("a", 0), ("b", MOST)))
        return a, b, self.block("F12", "alpha", 2 * MOST, 1, dim)[0]

    def block(self, function: str, name: str, first: int, rows: int, dim: int) -> FloatArray:
        """Return the beginnings of some rows of a function's data.

        Parameters
        ----------
        function : str
            The competition's name of it.
        name : str
            The name of the rows in optproblems.
        first, rows : int
            The first of the rows in the competition's file, and their number.
        dim : int
            Number of variables.

        Raises
        ------
        ValueError
            For more than 100 variables, without the package, and for a file with another shape.
        FileNotFoundError
            If there is no such file.
        """
        if dim > MOST:
            raise ValueError(
                f"dim must be at most {MOST} with data='official', got {dim}; data='generated' has no limit"
            )
        if self.place is not None:
            wanted: FloatArray = OFFICIAL.table(self.place / FILES[function], first + rows, dim, longer_rows=True)[
                first:
            ]
            return wanted
        if find_spec(PACKAGE) is None:
            raise ValueError(
                f"data='official' needs {PACKAGE}, which is not installed, or folder=...; {OFFICIAL.advice}"
            )
        numbers: NDArray[np.float64] = np.atleast_2d(
            np.array(getattr(getattr(import_module(f"{PACKAGE}.cec2005"), function), name), np.float64)
        )
        return numbers[:rows, :dim]
