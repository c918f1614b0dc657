"""Test problems: compiled functions with their boxes, data and minima."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import skde._cpu as _cpu
from skde.engines import CompiledDefaults, evaluate
from skde.problems.stated_objective import StatedObjective
from skde.typing import Array, FloatArray
from skde.utils.arrays import points

DEFAULT_DIM = 30
# Of every compiled function: its number, its C++ type, the vectors of working memory that it needs, and how many of
# them each of several points needs.
FUNCTORS: dict[str, tuple[int, str, int, int]] = _cpu.problems()


class DimRange(NamedTuple):
    """Allowed numbers of variables of a problem, and the default."""

    least: int = 1
    default: int = DEFAULT_DIM
    most: int = 2**20

    @classmethod
    def only(cls, dim: int) -> DimRange:
        """Return the range that allows one number of variables."""
        return cls(dim, dim, dim)


class Problem(StatedObjective, CompiledDefaults):
    """A function of the compiled core, with its box and its minimum.

    Parameters
    ----------
    name : str
        Name in the registry, such as "nashed2012/f9".
    kernel : str
        Name of the compiled functor.
    bounds : ndarray of shape (dim, 2)
        Lower and upper bounds.
    x_opt : ndarray of shape (dim,)
        A minimiser.
    f_opt : float
        The minimum.
    arrays : tuple of ndarray
        Data of the functor; matrices by columns.
    options : dict, optional
        Options given to `get_problem`.

    Attributes
    ----------
    dim : int
        Number of variables.

    Examples
    --------
    >>> from skde import get_problem
    >>> sphere = get_problem("sphere", dim=3)
    >>> float(sphere([[1.0, 2.0, 2.0]])[0])
    9.0
    """

    f_opt: float

    def __init__(
        self,
        name: str,
        kernel: str,
        bounds: FloatArray,
        x_opt: FloatArray,
        f_opt: float,
        arrays: tuple[FloatArray, ...] = (),
        options: dict[str, Any] | None = None,
    ) -> None:
        self.name = name
        self.kernel = kernel
        self.bounds = make_read_only(bounds)
        self.x_opt = make_read_only(x_opt)
        self.f_opt = f_opt
        self.arrays = tuple(make_read_only(array) for array in arrays)
        self.options = dict(options or {})
        self.dim = len(bounds)

    @property
    def functor(self) -> Problem:
        """The problem itself, which is compiled."""
        return self

    @property
    def space(self) -> FloatArray:
        """The box."""
        return self.bounds

    @property
    def file_entry(self) -> dict[str, Any]:
        """What finds the problem again in the registry."""
        return {"problem": self.name, "dim": self.dim, "options": self.options}

    @property
    def identity(self) -> dict[str, Any]:
        """Key that is equal for equal problems of the registry."""
        return self.file_entry

    @property
    def cpp_type(self) -> str:
        """C++ type of the functor."""
        return FUNCTORS[self.kernel][1]

    @property
    def scratch(self) -> int:
        """Number of vectors of length dim that one evaluation needs as working memory."""
        return FUNCTORS[self.kernel][2]

    @property
    def repeated(self) -> int:
        """Number of these vectors that every point needs where several are evaluated together; 0: none are."""
        return FUNCTORS[self.kernel][3]

    def cpu_address(self, single: bool) -> int:
        """Return the address of the compiled function for float32 (`single`) or float64."""
        return int(_cpu.problem_address(FUNCTORS[self.kernel][0], single))

    def __call__(self, X: Array) -> Array:
        """Return the function's values at points.

        Parameters
        ----------
        X : array-like of shape (n, dim) or (dim,), NumPy or CuPy
            Points; float32 is kept, other types become float64.

        Returns
        -------
        f : ndarray of shape (n,), or a scalar for one point
            Values, in the library of X.

        Raises
        ------
        ValueError
            For an array of another shape, or of other than real numbers.
        """
        f = evaluate(self, points(X, self.dim, self, one=True))
        return f[0] if np.ndim(X) == 1 else f

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"Problem({self.name!r}, dim={self.dim}{options})"


def same_bounds(low: float, high: float, dim: int) -> FloatArray:
    """Return the box with the same bounds for every variable, of shape (dim, 2)."""
    box = np.empty((dim, 2))
    box[:] = low, high
    return box


def make_read_only(array: FloatArray) -> FloatArray:
    """Return a read-only float64 copy in C order: a change of a box or a minimum would not change the function."""
    copy = np.array(array, dtype=np.float64, order="C")
    copy.setflags(write=False)
    return copy
