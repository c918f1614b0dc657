"""Ten functions of Janssen and others, 2024: one unimodal, three basic, three hybrid and three composition functions.

D. M. Janssen, W. Pullan, A. W.-C. Liew: GPU based differential evolution: new insights and comparative study (2024),
Table 2, without bias. The functions are chosen from the competitions CEC 2014 and CEC 2017, and their programs define
them. F1 Zakharov, F2 Rosenbrock, F3 Rastrigin, F4 Schwefel, F5 to F7 hybrids, F8 to F10 compositions.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skde.problems import data as streams
from skde.problems.base import DimRange, Problem, same_bounds
from skde.problems.nashed2012 import Options, elliptic_weights, index_weights, roots
from skde.problems.official_data import SPECS, OfficialFiles, read_options
from skde.typing import FloatArray
from skde.utils.validation import check_choice

SUITE = "janssen2024"
BOX = 100.0
OFFICIAL = OfficialFiles(
    "minionpy has the files for 10, 30, 50 and 100 variables (pip install minionpy); the folder needs its folders "
    "input_data_2014 and input_data_2017 with M_18_D50.txt, shift_data_18.txt, shuffle_data_18_D50.txt and so on",
    "minionpy",
    "cec_input_data",
)


class Definition(NamedTuple):
    """A function: the competition's year and number, the parts of a hybrid, the components of a composition.

    Attributes
    ----------
    year, number : int
        The competition's year, and the number of the function in its program.
    tenths : tuple of int
        Share of the variables, in tenths, of every part of a hybrid.
    sigma, height, bias : tuple of float
        Width, factor and bias of every component of a composition.
    weights : tuple of str
        Arrays of the base functions, in their order.
    """

    year: int
    number: int
    tenths: tuple[int, ...] = ()
    sigma: tuple[float, ...] = ()
    height: tuple[float, ...] = ()
    bias: tuple[float, ...] = ()
    weights: tuple[str, ...] = ()

    @property
    def components(self) -> int:
        """Number of shifts and of matrices."""
        return len(self.sigma) or 1


TABLE = {
    "F1": Definition(2017, 3, weights=("zakharov",)),
    "F2": Definition(2017, 4),
    "F3": Definition(2017, 5),
    "F4": Definition(2017, 10),
    "F5": Definition(2014, 18, (3, 3, 4)),
    "F6": Definition(2017, 16, (2, 2, 3, 3)),
    "F7": Definition(2014, 22, (1, 2, 2, 2, 3), weights=("katsuura",)),
    "F8": Definition(2017, 22, (), (10, 20, 30), (1, 10, 1), (0, 100, 200), ("griewank",)),
    "F9": Definition(2017, 24, (), (10, 20, 30, 40), (10, 1e-6, 10, 1), (0, 100, 200, 300), ("elliptic", "griewank")),
    "F10": Definition(2017, 26, (), (10, 20, 20, 30, 40), (5e-4, 1, 10, 1, 10), (0, 100, 200, 300, 400), ("griewank",)),
}
# Where the paper's table differs from the competitions' programs.
PAPER: dict[str, dict[str, Any]] = {
    "F7": {"tenths": (3, 2, 2, 1, 2)},
    "F10": {"height": (0.005, 1, 10, 1, 10)},
}
NAMES = {"plain": tuple(f"{SUITE}/{key}" for key in TABLE)}


def dim_range(name: str) -> DimRange:
    """Return the allowed numbers of variables of a problem; the paper has 50 and 100."""
    return DimRange(5 if TABLE[name.rpartition("/")[2]].tenths else 2, 50)


def block_lengths(name: str, tenths: tuple[int, ...], dim: int) -> list[int]:
    """Return the numbers of variables of a hybrid's parts: shares rounded up, and the rest for the last part."""
    lengths = [-(-tenth * dim // 10) for tenth in tenths[:-1]]
    lengths.append(dim - sum(lengths))
    if lengths[-1] < 1:
        raise ValueError(
            f"dim of {name!r} must leave variables for the last of its {len(lengths)} parts, got {dim}: "
            f"the others take {' + '.join(map(str, lengths[:-1]))}"
        )
    return lengths


def katsuura_root(n: int) -> FloatArray:
    """Return 10 / n^1.2, rounded correctly."""
    with localcontext() as context:
        context.prec = 40
        return np.array([float(10 / Decimal(n) ** Decimal("1.2"))])


def base_weights(kind: str, n: int) -> FloatArray:
    """Return an array of a base function of n variables."""
    if kind == "zakharov":
        return 0.5 * index_weights(n, Options())
    if kind == "elliptic":
        return elliptic_weights(n, Options())
    return roots(n) if kind == "griewank" else katsuura_root(n)


class Transformation(NamedTuple):
    """Data of a function: every component's shift and matrix; the order of a hybrid's variables."""

    shifts: FloatArray
    matrices: FloatArray
    order: NDArray[np.int64]


def generate_data(definition: Definition, dim: int) -> Transformation:
    """Return shifts in [-80, 80], orthogonal matrices and a permutation, from the streams of `skde.problems.data`."""
    tag = f"{SUITE}:cec{definition.year}:F{definition.number}"
    components = range(definition.components)
    return Transformation(
        np.array([streams.shift(f"{tag}:shift{k}", dim, -80, 80) for k in components]),
        np.array([streams.rotation(f"{tag}:M{k}:D{dim}", dim) for k in components]),
        streams.permutation(f"{tag}:perm:D{dim}", dim) if definition.tenths else np.arange(dim),
    )


def official(definition: Definition, dim: int, folder: Path) -> Transformation:
    """Return the data of the competition's files."""
    files, number, count = folder / f"input_data_{definition.year}", definition.number, definition.components
    matrices = OFFICIAL.table(files / f"M_{number}_D{dim}.txt", count * dim, dim)
    return Transformation(
        OFFICIAL.table(files / f"shift_data_{number}.txt", count, dim, longer_rows=True),
        matrices.reshape(count, dim, dim),
        OFFICIAL.permutation(files / f"shuffle_data_{number}_D{dim}.txt", dim) if definition.tenths else np.arange(dim),
    )


def build(name: str, dim: int, *, data: str = "generated", folder: Any = None, spec: str = "cec") -> Problem:
    """Return a function of the suite.

    Parameters
    ----------
    name : str
        "janssen2024/F1" ... "janssen2024/F10".
    dim : int
        Number of variables.
    data : {"generated", "official"}, default "generated"
        Shifts, matrices and permutations: skde's, for any number of variables, or the competitions'.
    folder : str, path or None, default None
        Folder with the competitions' files, in input_data_2014 and input_data_2017; None: minionpy's.
    spec : {"cec", "paper"}, default "cec"
        Where they differ, the numbers of the competitions' programs or those printed in the paper: the shares of F7's
        parts, and the factor of F10's first component.

    Returns
    -------
    problem : Problem
    """
    key = name.rpartition("/")[2]
    definition = TABLE[key]
    if check_choice("spec", spec, SPECS) == "paper":
        definition = definition._replace(**PAPER.get(key, {}))
    lengths = block_lengths(name, definition.tenths, dim) if definition.tenths else [dim]
    place = OFFICIAL.folder(data, folder)
    parts = generate_data(definition, dim) if place is None else official(definition, dim, place)
    # A hybrid's permutation of M z is one of the rows of M. The kernel reads matrices by columns.
    columns = parts.matrices[:, parts.order].transpose(0, 2, 1)
    numbers = []
    if definition.tenths:
        numbers = [np.array(lengths)]
    elif definition.sigma:
        rows = zip(definition.sigma, definition.height, definition.bias, strict=True)
        numbers = [np.array([(1 / (2 * dim * sigma**2), height, bias) for sigma, height, bias in rows])]
    arrays = (parts.shifts, columns, *numbers, *(base_weights(kind, lengths[0]) for kind in definition.weights))
    bounds = same_bounds(-BOX, BOX, dim)
    return Problem(name, f"{SUITE}_{key}", bounds, parts.shifts[0], 0.0, arrays, read_options(data, folder, spec))
