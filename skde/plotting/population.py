"""The plot of a population: two variables, or its two principal components."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from skde.base import BaseSolver, find_variable_limits, variables_of
from skde.curves import is_logarithmic
from skde.objectives.caller_library import move_to_host
from skde.plotting.axes import axes_of, draw_landscape, note_values, show_legend, write_title
from skde.plotting.solvers import check_solver, name_objective, name_of
from skde.typing import FloatArray
from skde.utils.validation import check_int, quote
from skde.variables import Categorical, Integer, Log, Variables
from skde.variables.kinds import Variable

PCA = "pca"
GRID = 120
MARGIN = 0.03  # on each side of the box, as a share


class PopulationDisplay:
    """The individuals of a population by two of their variables, or by their two principal components.

    Parameters
    ----------
    population : ndarray of shape (n, dim)
        The individuals.
    fitness : ndarray of shape (n,) or None, default None
        Their values, which are their colours. Individuals without a finite value are crosses.
    x : ndarray of shape (dim,) or None, default None
        The best point, a star.
    box : ndarray of shape (dim, 2) or None, default None
        The limits of the variables. They scale the principal components.
    space : Variables or None, default None
        Typed variables, with their names, scales and choices; None: real ones, x0, x1, ...
    name, title : str or None, default None
        The name of the individuals in the legend, and the title of the axes.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        The plot's.
    lines_ : list of matplotlib lines
        The best point, and the crosses.
    points_ : matplotlib collection
        The individuals.
    explained_variance_ratio_ : ndarray of shape (2,)
        The shares of the variance of the principal components; only with variables="pca".

    Examples
    --------
    >>> from skde import Minimizer, PopulationDisplay, get_problem
    >>> m = Minimizer(max_iter=20, random_state=0).fit("rastrigin", dim=2)
    >>> display = PopulationDisplay.from_estimator(m, landscape=get_problem("rastrigin", dim=2))
    >>> display.ax_.get_xlabel()
    'x0'
    >>> m = Minimizer(max_iter=20, random_state=0).fit("rastrigin", dim=10)
    >>> PopulationDisplay.from_estimator(m).explained_variance_ratio_.shape
    (2,)
    """

    def __init__(
        self,
        population: FloatArray,
        fitness: FloatArray | None = None,
        *,
        x: FloatArray | None = None,
        box: FloatArray | None = None,
        space: Variables | None = None,
        name: str | None = None,
        title: str | None = None,
    ) -> None:
        self.population = np.asarray(move_to_host(population), np.float64)
        self.fitness = None if fitness is None else np.asarray(move_to_host(fitness), np.float64)
        self.x = None if x is None else np.asarray(move_to_host(x), np.float64)
        self.box = box
        self.space = space
        self.names = [f"x{k}" for k in range(self.population.shape[1])] if space is None else list(space.names)
        self.name = name
        self.title = title

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseSolver,
        *,
        variables: Any = None,
        landscape: Callable[[FloatArray], Any] | None = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> PopulationDisplay:
        """Draw the population of the best run of a fitted solver; of a MinMaxSolver, x's.

        Parameters
        ----------
        estimator : Minimizer or MinMaxSolver
            A fitted solver.
        variables, landscape, ax, **kwargs
            As in `plot`.
        name : str or None, default None
            The name of the individuals; None: the algorithm's.

        Returns
        -------
        display : PopulationDisplay

        Raises
        ------
        TypeError
            For an estimator that records no population, such as ModelRegressor.
        """
        check_solver(estimator)
        display = cls(
            estimator.population_,
            estimator.fitness_,
            x=estimator.x_,
            box=find_variable_limits(estimator),
            space=variables_of(estimator),
            name=name_of(estimator) if name is None else name,
            title=name_objective(estimator),
        )
        return display.plot(ax, variables=variables, landscape=landscape, **kwargs)

    @classmethod
    def from_result(
        cls,
        result: Any,
        *,
        variables: Any = None,
        landscape: Callable[[FloatArray], Any] | None = None,
        bounds: Any = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> PopulationDisplay:
        """Draw the population of a result, also of `scipy.optimize.differential_evolution`.

        Parameters
        ----------
        result : OptimizeResult
            With ``x``, ``population`` and ``population_energies``.
        variables, landscape, ax, **kwargs
            As in `plot`.
        bounds : array-like of shape (dim, 2) or None, default None
            The limits of the variables.
        name : str or None, default None
            The name of the individuals.

        Returns
        -------
        display : PopulationDisplay

        Raises
        ------
        TypeError
            For a result without a population.
        """
        missing = [entry for entry in ("x", "population", "population_energies") if not hasattr(result, entry)]
        if missing:
            raise TypeError(f"result must have x, population and population_energies; it has no {', '.join(missing)}")
        box = None if bounds is None else np.asarray(bounds, np.float64)
        display = cls(result.population, result.population_energies, x=result.x, box=box, name=name)
        return display.plot(ax, variables=variables, landscape=landscape, **kwargs)

    def plot(
        self,
        ax: Any = None,
        *,
        variables: Any = None,
        landscape: Callable[[FloatArray], Any] | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> PopulationDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes or None, default None
            Axes of the plot; None: a new figure's.
        variables : pair of int or str, "pca" or None, default None
            The two variables, by index or name; or the principal components of the population in the unit box. None:
            the variables where there are two, else the components.
        landscape : callable or None, default None
            f(X), as in `Minimizer.fit`, drawn as contours on a grid of 120 by 120 points, with the other variables as
            at the best point. Not with "pca".
        name : str or None, default None
            The name of the individuals; None: the display's.
        **kwargs
            Arguments of matplotlib's scatter.

        Returns
        -------
        self : PopulationDisplay
        """
        dim = self.population.shape[1]
        if dim < 2:
            raise ValueError(f"a population is drawn by two variables, and this one has dim={dim}")
        places = self._places((0, 1) if variables is None and dim == 2 else variables)
        if places is None and len(self.population) < 2:
            raise ValueError("principal components need two individuals or more, got 1: variables=(0, 1)")
        if places is None and landscape is not None:
            raise ValueError("landscape needs two variables: variables=(0, 1)")
        ax = axes_of(ax)
        if places is None:
            points, best = self._draw_components(ax)
        else:
            points, best = self.population[:, places], None if self.x is None else self.x[places]
            self._draw_box(ax, places, landscape)
        self._draw_points(ax, points, best, self.name if name is None else name, kwargs)
        write_title(ax, self.title)
        show_legend(ax, frame=landscape is not None)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _places(self, variables: Any) -> list[int] | None:
        """Return the indices of the two variables; None for the principal components."""
        if variables is None or (isinstance(variables, str) and variables == PCA):
            return None
        if isinstance(variables, str) or np.ndim(variables) != 1 or len(variables) != 2:
            raise ValueError(f"variables must be two indices or names, or {PCA!r}, got {quote(variables)}")
        return [self._place(variable) for variable in variables]

    def _place(self, variable: Any) -> int:
        if isinstance(variable, str):
            if variable not in self.names:
                raise ValueError(f"variables: {variable!r} must be one of {', '.join(self.names)}")
            return self.names.index(variable)
        return check_int("variables", variable, 0, len(self.names) - 1)

    def _draw_components(self, ax: Any) -> tuple[FloatArray, FloatArray | None]:
        """Label the axes by the principal components, and return the population and the best point by these."""
        low, high = self.population.min(axis=0), self.population.max(axis=0)
        if self.box is not None:
            low, high = self.box.T
        width = np.where(high > low, high - low, 1.0)
        unit = (self.population - low) / width
        middle = unit.mean(axis=0)
        _, sizes, directions = np.linalg.svd(unit - middle, full_matrices=False)
        # The sign of a component is arbitrary: its largest coefficient is positive here.
        directions = directions[:2] * np.sign(directions[[0, 1], np.abs(directions[:2]).argmax(axis=1)])[:, None]
        total = float((sizes**2).sum())
        self.explained_variance_ratio_ = sizes[:2] ** 2 / total if total > 0 else np.zeros(2)
        for k, set_label in enumerate((ax.set_xlabel, ax.set_ylabel)):
            set_label(f"component {k + 1} ({100 * self.explained_variance_ratio_[k]:.0f} % of the variance)")
        best = None if self.x is None else ((self.x - low) / width - middle) @ directions.T
        return (unit - middle) @ directions.T, best

    def _draw_box(self, ax: Any, places: list[int], landscape: Callable[[FloatArray], Any] | None) -> None:
        """Set labels, scales and limits of the axes, and draw the landscape."""
        ax.set(xlabel=self.names[places[0]], ylabel=self.names[places[1]])
        if self.box is None:
            limits = np.stack([self.population.min(axis=0), self.population.max(axis=0)], axis=1)[places]
        else:
            limits = self.box[places]
        for axis, place, (low, high) in zip("xy", places, limits, strict=True):
            margin = MARGIN if landscape is None else 0.0
            set_scale(ax, axis, None if self.space is None else self.space.members[place], low, high, margin)
        if landscape is not None:
            fixed = self.population[0] if self.x is None else self.x
            x, y = (np.linspace(low, high, GRID) for low, high in limits)
            points = np.tile(fixed, (GRID * GRID, 1))
            points[:, places[0]], points[:, places[1]] = (grid.ravel() for grid in np.meshgrid(x, y))
            values = np.asarray(landscape(points), np.float64)
            if values.size != len(points):
                raise ValueError(f"landscape must return {len(points)} values, one a row, got shape {values.shape}")
            draw_landscape(ax, x, y, values.reshape(GRID, GRID), "f")

    def _draw_points(
        self, ax: Any, points: FloatArray, best: FloatArray | None, name: str | None, style: dict[str, Any]
    ) -> None:
        """Draw the individuals, those without a finite value, and the best point."""
        label = "individuals" if name is None else f"individuals of {name}"
        style = {"s": 22, "linewidths": 0.4, "edgecolors": "white", "zorder": 3, "label": label, **style}
        values = self.fitness
        finite = np.ones(len(points), bool) if values is None else np.isfinite(values)
        if values is None or not len(set(values[finite].tolist())) > 1:
            self.points_ = ax.scatter(*points[finite].T, **style)
        else:
            # Zeros have no logarithm.
            log = is_logarithmic(values) and bool((values[finite] > 0).all())
            norm = {"norm": "log"} if log else {}
            self.points_ = ax.scatter(*points[finite].T, c=values[finite], cmap="viridis", **norm, **style)
            ax.figure.colorbar(self.points_, ax=ax, label="value")
        self.lines_ = []
        if not finite.all():
            self.lines_ += ax.plot(*points[~finite].T, "x", color="0.5", markersize=5, label="without a value")
            note_values(ax, values, name)
        if best is not None:
            marker = {"color": "C3", "markersize": 13, "markeredgecolor": "white", "linestyle": "none", "zorder": 4}
            self.lines_ += ax.plot(*best[:, None], marker="*", label="best point", **marker)


def set_scale(ax: Any, axis: str, variable: Variable | None, low: float, high: float, margin: float) -> None:
    """Set limits, scale and ticks of an axis with the values of a variable; the margin is a share of their range."""
    if isinstance(variable, Log):
        factor = (high / low) ** margin
        ax.set(**{f"{axis}scale": "log", f"{axis}lim": (low / factor, high * factor)})
        return
    if high > low:
        more = 0.5 if isinstance(variable, Categorical | Integer) and margin else margin * (high - low)
        ax.set(**{f"{axis}lim": (low - more, high + more)})
    if isinstance(variable, Categorical):
        ax.set(**{f"{axis}ticks": range(len(variable.choices)), f"{axis}ticklabels": list(map(str, variable.choices))})
