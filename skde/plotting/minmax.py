"""The plot of a min-max solution: both populations, and the function of one variable of each side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from skde.minmax.solution import MinMaxSolution, limits_of_space, make_array_function, spaces_of
from skde.plotting.axes import axes_of, draw_landscape, note_values, show_legend, write_title
from skde.plotting.solvers import name_objective
from skde.typing import FloatArray
from skde.utils.validation import check_int, quote

GRID = 60


class MinMaxDisplay:
    """A min-max solution by one variable of each side: the function, both populations, and the solution.

    The other variables are as at the solution. Points of x have the y of the solution, and points of y its x: they
    are marks at the edges of the plot. Dotted curves are the y of the largest value for every x, and the x of the
    smallest value for every y, on the grid; they cross at a saddle point.

    Parameters
    ----------
    x, y : ndarray of shape (dim x,), (dim y,)
        The solution.
    population_x, population_y : ndarray of shape (n, dim x), (m, dim y)
        The populations.
    box_x, box_y : ndarray of shape (dim x, 2), (dim y, 2), or None, default None
        The limits of the variables; None: the populations'.
    function : callable or None, default None
        f(X, Y) -> (n, m) on NumPy arrays, as in `MinMaxSolver.fit`.
    names_x, names_y : sequence of str or None, default None
        The names of the variables; None: x0, x1, ... and y0, y1, ...
    name, title : str or None, default None
        The name of the solution in the legend, and the title of the axes.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        The plot's.
    lines_ : list of matplotlib lines
        The solution, the marks of both populations and, with a function, both curves of best responses.
    contours_ : matplotlib contours or None
        The function.

    Examples
    --------
    >>> from skde import MinMaxDisplay, MinMaxSolver
    >>> def f(X, Y):
    ...     return (X[:, :1] - 2) ** 2 - (Y[:, 0] - 2) ** 2 + X[:, :1] * Y[:, 0]
    >>> solver = MinMaxSolver(max_iter=20, random_state=0).fit(f, bounds_x=[(-5, 5)], bounds_y=[(-5, 5)])
    >>> display = MinMaxDisplay.from_estimator(solver)
    >>> display.ax_.get_xlabel(), display.ax_.get_ylabel()
    ('x0', 'y0')
    >>> MinMaxDisplay.from_result(solver.result_, function=f, bounds_x=[(-5, 5)], bounds_y=[(-5, 5)]).ax_.get_xlabel()
    'x0'
    """

    def __init__(
        self,
        x: FloatArray,
        y: FloatArray,
        population_x: FloatArray,
        population_y: FloatArray,
        *,
        box_x: FloatArray | None = None,
        box_y: FloatArray | None = None,
        function: Callable[[FloatArray, FloatArray], Any] | None = None,
        names_x: Sequence[str] | None = None,
        names_y: Sequence[str] | None = None,
        name: str | None = None,
        title: str | None = None,
    ) -> None:
        self.x, self.y = np.asarray(x, np.float64), np.asarray(y, np.float64)
        self.population_x, self.population_y = np.asarray(population_x), np.asarray(population_y)
        self.box_x = range_of(population_x) if box_x is None else np.asarray(box_x, np.float64)
        self.box_y = range_of(population_y) if box_y is None else np.asarray(box_y, np.float64)
        self.function = function
        self.names_x = [f"x{k}" for k in range(len(self.x))] if names_x is None else list(names_x)
        self.names_y = [f"y{k}" for k in range(len(self.y))] if names_y is None else list(names_y)
        self.name = name
        self.title = title

    @classmethod
    def from_estimator(
        cls,
        estimator: MinMaxSolution,
        *,
        variables: tuple[int, int] = (0, 0),
        landscape: bool = True,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> MinMaxDisplay:
        """Draw the best run of a fitted solver.

        Parameters
        ----------
        estimator : MinMaxSolver
            A fitted solver of a min-max problem.
        variables : pair of int, default (0, 0)
            The variables of x and y, by index.
        landscape : bool, default True
            Whether to evaluate the function on a grid of 60 by 60 points: one call, or 3600 with pairwise=True. A
            solver without a function, from ask and tell or a file, has none to draw.
        name : str or None, default None
            The name of the solution in the legend.
        ax, **kwargs
            As in `plot`.

        Returns
        -------
        display : MinMaxDisplay

        Raises
        ------
        ValueError, TypeError
            For the solution of a constrained problem, and for another solver.
        """
        if not isinstance(estimator, MinMaxSolution):
            raise TypeError(f"estimator must be a MinMaxSolver, got {type(estimator).__name__}")
        x, y = estimator.x_, estimator.y_
        space_x, space_y = spaces_of(estimator)
        if space_y is None:
            raise ValueError(
                "MinMaxDisplay draws a function of x and y, and this is a constrained problem: "
                "ConvergenceDisplay.from_estimator draws its value, PopulationDisplay.from_estimator its points"
            )
        display = cls(
            x,
            y,
            estimator.population_x_,
            estimator.population_y_,
            box_x=limits_of_space(space_x),
            box_y=limits_of_space(space_y),
            function=make_array_function(estimator) if landscape else None,
            names_x=getattr(space_x, "names", None),
            names_y=getattr(space_y, "names", None),
            name=name,
            title=name_objective(estimator),
        )
        display.plot(ax, variables=variables, **kwargs)
        note_values(display.ax_, estimator.fun_)
        return display

    @classmethod
    def from_result(
        cls,
        result: Any,
        *,
        function: Callable[[FloatArray, FloatArray], Any] | None = None,
        bounds_x: Any = None,
        bounds_y: Any = None,
        variables: tuple[int, int] = (0, 0),
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> MinMaxDisplay:
        """Draw ``result_`` of a MinMaxSolver.

        Parameters
        ----------
        result : OptimizeResult
            With ``x``, ``y``, ``population_x`` and ``population_y``.
        function : callable or None, default None
            f(X, Y) -> (n, m) on NumPy arrays, as in `MinMaxSolver.fit`.
        bounds_x, bounds_y : array-like of shape (dim, 2) or None, default None
            The limits of the variables; None: the populations'.
        variables : pair of int, default (0, 0)
            The variables of x and y, by index.
        name : str or None, default None
            The name of the solution in the legend.
        ax, **kwargs
            As in `plot`.

        Returns
        -------
        display : MinMaxDisplay

        Raises
        ------
        TypeError
            For another result.
        """
        needed = ("x", "y", "population_x", "population_y")
        missing = [entry for entry in needed if not hasattr(result, entry)]
        if missing:
            raise TypeError(f"result must be result_ of a MinMaxSolver; it has no {', '.join(missing)}")
        parts = (getattr(result, entry) for entry in needed)
        display = cls(*parts, box_x=bounds_x, box_y=bounds_y, function=function, name=name)
        display.plot(ax, variables=variables, **kwargs)
        note_values(display.ax_, getattr(result, "fun", 0.0))
        return display

    def plot(
        self, ax: Any = None, *, variables: tuple[int, int] = (0, 0), name: str | None = None, **kwargs: Any
    ) -> MinMaxDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes or None, default None
            Axes of the plot; None: a new figure's.
        variables : pair of int, default (0, 0)
            The variables of x and y, by index.
        name : str or None, default None
            The name of the solution in the legend; None: the display's, or "solution".
        **kwargs
            Arguments of matplotlib's plot for the solution.

        Returns
        -------
        self : MinMaxDisplay
        """
        if not isinstance(variables, tuple | list) or len(variables) != 2:
            raise ValueError(
                f"variables must be a pair: the index of one of x, and of one of y, got {quote(variables)}"
            )
        i = check_int("variables[0]", variables[0], 0, len(self.x) - 1)
        j = check_int("variables[1]", variables[1], 0, len(self.y) - 1)
        ax = axes_of(ax)
        ax.set(xlabel=self.names_x[i], ylabel=self.names_y[j], xlim=self.box_x[i], ylim=self.box_y[j])
        marks = {"linestyle": "none", "markersize": 9, "markeredgewidth": 1.2, "clip_on": False}
        star = {"marker": "*", "markersize": 14, "color": "C3", "markeredgecolor": "white", "linestyle": "none"}
        label = name or self.name or "solution"
        self.lines_ = ax.plot(self.x[i], self.y[j], **{**star, "zorder": 4, "label": label, **kwargs})
        points = self.population_x[:, i], self.population_y[:, j]
        edge_x, edge_y = ax.get_xaxis_transform(), ax.get_yaxis_transform()
        at_edge = [np.zeros(len(values)) for values in points]
        self.lines_ += ax.plot(
            points[0], at_edge[0], "|", color="C0", transform=edge_x, label="population of x", **marks
        )
        self.lines_ += ax.plot(
            at_edge[1], points[1], "_", color="C1", transform=edge_y, label="population of y", **marks
        )
        self.contours_ = None if self.function is None else self._draw_function(ax, i, j)
        write_title(ax, self.title)
        show_legend(ax, frame=self.function is not None)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_function(self, ax: Any, i: int, j: int) -> Any:
        """Draw the contours and the best responses of both sides; return the contours."""
        assert self.function is not None
        X, Y = np.tile(self.x, (GRID, 1)), np.tile(self.y, (GRID, 1))
        for points, k, (low, high) in ((X, i, self.box_x[i]), (Y, j, self.box_y[j])):
            points[:, k] = np.linspace(low, high, GRID)
        values = np.asarray(self.function(X, Y), np.float64)
        dots = {"linestyle": "none", "marker": ".", "markersize": 3}
        highest, lowest = np.nan_to_num(values, nan=-np.inf).argmax(axis=1), np.nan_to_num(values, nan=np.inf).argmin(0)
        self.lines_ += ax.plot(X[:, i], Y[highest, j], color="C1", label="y of the largest value", **dots)
        self.lines_ += ax.plot(X[lowest, i], Y[:, j], color="C0", label="x of the smallest value", **dots)
        return draw_landscape(ax, X[:, i], Y[:, j], values.T, "f(x, y)")


def range_of(population: Any) -> FloatArray:
    """Return the smallest and the largest value of every variable of a population, of shape (dim, 2)."""
    return np.stack([np.min(population, axis=0), np.max(population, axis=0)], axis=1).astype(np.float64)
