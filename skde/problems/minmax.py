"""Min-max problems: functions f(x, y) to be minimised over x and maximised over y, with a box for each.

The functions are from the publications below. Their solutions were found again by searches over grids and from many
points, and refined by Newton's method on the stationarity conditions in 40 digits.

- M. T. Jensen: A new look at solving minimax problems with coevolutionary genetic algorithms (2003): parabolas,
  two_planes, damped_sine, damped_cosine.
- Y. Shi, R. A. Krohling: Co-evolutionary particle swarm optimization to solve min-max problems (CEC 2002): lagrangian1
  and lagrangian2, the Lagrangians of two constrained problems. At the best x of lagrangian2 all y have the same
  value; y_opt is the y that makes it a saddle point.
- A. M. Cramer, S. D. Sudhoff, E. L. Zivi: Evolutionary algorithms for minimax problems in robust design (2009);
  R. I. Lung, D. Dumitrescu: A new evolutionary approach to minimax problems (CEC 2011); X. Qiu, J.-X. Xu, Y. Xu,
  K. C. Tan: A new differential evolution algorithm for minimax optimization in robust design (2018): the six
  functions above.
- N. Damavandi, S. Safavi-Naeini: A hybrid evolutionary programming method for circuit optimization (2005): damavandi,
  which the paper minimises over both variables; here the second one is maximised.
- B. Rustem, M. Howe: Algorithms for worst-case design and applications to risk management (2002): rustem1 ... rustem7.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from skde.engines import Game, matrix
from skde.problems.base import DimRange, make_read_only
from skde.problems.stated_objective import StatedObjective
from skde.typing import Array, FloatArray
from skde.utils.arrays import points

SUITE = "minmax"


class MinMaxProblem(StatedObjective):
    """A function f(x, y) of the compiled core, to be minimised over x and maximised over y.

    Parameters
    ----------
    name : str
        Name in the registry, such as "minmax/rustem1".
    kernel : str
        Name of the compiled functor.
    bounds_x, bounds_y : ndarray of shape (dim_x, 2), (dim_y, 2)
        Lower and upper bounds of x and of y.
    x_opt : ndarray of shape (dim_x,)
        Point x with the smallest maximum over y.
    y_opt : ndarray of shape (dim_y,)
        Point y that attains this maximum; if `saddle`, x_opt is also the best x for this y.
    value : float
        Value f(x_opt, y_opt).
    saddle : bool
        Whether (x_opt, y_opt) is a saddle point: a change of x alone, or of y alone, is no improvement.
    arrays : tuple of ndarray
        Data of the functor.
    options : dict, optional
        Options given to `get_problem`.
    source : str, default ""
        Publication that the function is from.

    Attributes
    ----------
    dim_x, dim_y : int
        Numbers of variables of x and of y.

    Examples
    --------
    >>> from skde import get_problem
    >>> problem = get_problem("minmax/rustem4")
    >>> problem.dim_x, problem.dim_y, problem.saddle
    (2, 3, True)
    """

    def __init__(
        self,
        name: str,
        kernel: str,
        bounds_x: FloatArray,
        bounds_y: FloatArray,
        x_opt: FloatArray,
        y_opt: FloatArray,
        value: float,
        saddle: bool,
        arrays: tuple[FloatArray, ...] = (),
        options: dict[str, Any] | None = None,
        source: str = "",
    ) -> None:
        self.name = name
        self.kernel = kernel
        self.bounds_x, self.bounds_y = make_read_only(bounds_x), make_read_only(bounds_y)
        self.x_opt, self.y_opt = make_read_only(x_opt), make_read_only(y_opt)
        self.value = value
        self.saddle = saddle
        self.arrays = tuple(make_read_only(array) for array in arrays)
        self.options = dict(options or {})
        self.source = source

    @property
    def game(self) -> MinMaxProblem:
        """The problem itself, which has two sides."""
        return self

    @property
    def dim_x(self) -> int:
        """Number of variables of x."""
        return len(self.bounds_x)

    @property
    def dim_y(self) -> int:
        """Number of variables of y."""
        return len(self.bounds_y)

    def __call__(self, X: Array, Y: Array) -> Array:
        """Return the function's values at all pairs of points.

        Parameters
        ----------
        X : array-like of shape (n, dim_x), NumPy or CuPy
            Points x; float32 is kept, other types become float64.
        Y : array-like of shape (m, dim_y)
            Points y.

        Returns
        -------
        f : ndarray of shape (n, m)
            Values, in the library of X.

        Raises
        ------
        ValueError, TypeError
            For arrays of other shapes, of other than real numbers, or in the memory of different devices.
        """
        sides = points(X, self.dim_x, self), points(Y, self.dim_y, self, "Y")
        return matrix(Game(self.kernel, self.arrays), *sides)

    def __repr__(self) -> str:
        return f"MinMaxProblem({self.name!r}, dim_x={self.dim_x}, dim_y={self.dim_y})"


class Definition(NamedTuple):
    """A function: bounds of every variable of x and of y, the solution, its value, whether it is a saddle point."""

    x: tuple[float, float] | list[tuple[float, float]]
    y: tuple[float, float]
    x_opt: list[float]
    y_opt: list[float]
    value: float
    saddle: bool
    source: str


JENSEN, SHI, DAMAVANDI, RUSTEM = (
    "Jensen 2003",
    "Shi and Krohling 2002",
    "Damavandi and Safavi-Naeini 2005",
    "Rustem and Howe 2002",
)
# damped_sine is not defined at 0, so its box begins at 0.1; in the publications it is open at 0.
TABLE = {
    "parabolas": Definition((0, 10), (0, 10), [5.0], [5.0], 0.0, True, JENSEN),
    "two_planes": Definition((0, 10), (0, 10), [0.0], [0.0], 3.0, False, JENSEN),
    "damped_sine": Definition((0.1, 10), (0.1, 10), [10.0], [2.1256833085981274], 0.097794302781568724, False, JENSEN),
    "damped_cosine": Definition((0, 10), (0, 10), [7.0441463337512122], [10.0], 0.042488112348293765, False, JENSEN),
    "lagrangian1": Definition([(-0.5, 0.5), (0, 1)], (0, 10), [0.5, 0.25], [0.0, 0.0], 0.25, True, SHI),
    "lagrangian2": Definition((-1, 3), (0, 10), [1.0, 1.0], [2 / 3, 2 / 3], 1.0, True, SHI),
    "damavandi": Definition((0, 14), (0, 14), [7.0], [0.0], 100.0, True, DAMAVANDI),
    "rustem1": Definition((-5, 5), (-5, 5), [-29 / 60, -19 / 60], [1 / 12, -1 / 12], -101 / 60, True, RUSTEM),
    "rustem2": Definition(
        (-5, 5), (-5, 5), [1.6954151962791331, 0.0], [0.71860817194355284, 0.0], 1.4038830201988257, True, RUSTEM
    ),
    "rustem3": Definition(
        (-5, 5),
        (-3, 3),
        [-1.1806742778229231, 0.91282563818112401],
        [2.0984859899580485, 2.6660435007877485],
        -2.4687753046373058,
        True,
        RUSTEM,
    ),
    "rustem4": Definition(
        (-5, 5),
        (-3, 3),
        [0.41812829948014204, 0.41812829948014204],
        [0.70906414974007102, 1.0874156374130777, 0.70906414974007102],
        -0.13483394288454773,
        True,
        RUSTEM,
    ),
    "rustem5": Definition(
        (-5, 5), (-1, 1), [1 / 9, 2 / 13, 1 / 5], [4 / 9, 12 / 13, 2 / 5], 1.3452991452991453, True, RUSTEM
    ),
    "rustem6": Definition(
        (-5, 5),
        (-2, 2),
        [-0.23156024432992424, 0.22281091283141776, -0.67552025717041731, -0.083769313605480682],
        [0.61952914517888991, 0.35349170251245771, 1.4780053931329829],
        4.5429696822258018,
        True,
        RUSTEM,
    ),
    "rustem7": Definition(
        (-5, 5),
        (-3, 3),
        [1.4252083288003120, 1.6612294891063902, 1.2585294531408924, -0.97441266042710327, -0.73485079737896542],
        [0.51560939024088908, 0.87984170773833908, 0.29194819221155680, 0.11978093152406893, -0.11978093152406893],
        -6.3509153582430857,
        True,
        RUSTEM,
    ),
}
NAMES = {"minmax": tuple(f"{SUITE}/{key}" for key in TABLE)}


def dim_range(name: str) -> DimRange:
    """Return the number of variables of x, the only one that is allowed."""
    return DimRange.only(len(TABLE[name.rpartition("/")[2]].x_opt))


def build(name: str, dim: int) -> MinMaxProblem:
    """Return a function of the suite."""
    key = name.rpartition("/")[2]
    definition = TABLE[key]
    box_x = definition.x if isinstance(definition.x, list) else [definition.x] * dim
    box_y = [definition.y] * len(definition.y_opt)
    boxes, points = (np.array(box_x), np.array(box_y)), (np.array(definition.x_opt), np.array(definition.y_opt))
    return MinMaxProblem(
        name, f"{SUITE}_{key}", *boxes, *points, definition.value, definition.saddle, source=definition.source
    )
