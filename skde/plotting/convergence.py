"""The plot of the best value over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skde.base import BaseSolver
from skde.curves import AXES, FLOOR, Band, band_of, is_logarithmic
from skde.plotting.axes import (
    axes_of,
    clip_band,
    draw_band,
    draw_floor,
    note_without_values,
    show_legend,
    thin_ticks,
    write_title,
)
from skde.plotting.solvers import check_solver, histories_of, minimum_of, name_objective, name_of
from skde.result import History
from skde.typing import FloatArray
from skde.utils.validation import check_choice, check_real

SPREADS = ("quartiles", "runs", "none")


class ConvergenceDisplay:
    """The best value against evaluations: the median of the runs, and the band between their quartiles.

    Parameters
    ----------
    histories : list of History
        The runs.
    f_opt : float or None, default None
        The known minimum, which is subtracted: the plot then shows errors on a logarithmic axis. None: values.
    name : str or None, default None
        The name of the line in the legend.
    title : str or None, default None
        The title of the axes, where they have none.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        The plot's.
    lines_ : list of matplotlib lines
        The median; with spread="runs" the runs after it.
    band_ : matplotlib collection or None
        The band between the quartiles.

    Examples
    --------
    >>> from skde import ConvergenceDisplay, Minimizer
    >>> m = Minimizer(max_iter=50, n_runs=15, random_state=0).fit("sphere", dim=5)
    >>> display = ConvergenceDisplay.from_estimator(m)
    >>> display.ax_.get_title(), display.ax_.get_ylabel()
    ('sphere, D = 5', 'error')
    >>> ConvergenceDisplay.from_result(m.runs_, name="jde", ax=display.ax_).figure_ is display.figure_
    True
    """

    def __init__(
        self,
        histories: Sequence[History],
        f_opt: float | None = None,
        *,
        name: str | None = None,
        title: str | None = None,
    ) -> None:
        self.histories = list(histories)
        self.f_opt = f_opt
        self.name = name
        self.title = title

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseSolver,
        *,
        f_opt: float | None = None,
        name: str | None = None,
        x_axis: str = "n_evals",
        spread: str = "quartiles",
        floor: float = FLOOR,
        ax: Any = None,
        **kwargs: Any,
    ) -> ConvergenceDisplay:
        """Draw the runs of a fitted solver.

        Parameters
        ----------
        estimator : Minimizer or MinMaxSolver
            A fitted solver.
        f_opt : float or None, default None
            The known minimum; None: the problem's, where it has one.
        name : str or None, default None
            The name of the line; None: the algorithm's.
        x_axis, spread, floor, ax, **kwargs
            As in `plot`.

        Returns
        -------
        display : ConvergenceDisplay

        Raises
        ------
        TypeError
            For an estimator that records no runs, such as ModelRegressor.
        """
        check_solver(estimator)
        histories = [run.history for run in estimator.runs_]
        known = minimum_of(estimator) if f_opt is None else f_opt
        display = cls(
            histories, known, name=name_of(estimator) if name is None else name, title=name_objective(estimator)
        )
        return display.plot(ax, x_axis=x_axis, spread=spread, floor=floor, **kwargs)

    @classmethod
    def from_result(
        cls,
        result: Any,
        *,
        f_opt: float | None = None,
        name: str | None = None,
        x_axis: str = "n_evals",
        spread: str = "quartiles",
        floor: float = FLOOR,
        ax: Any = None,
        **kwargs: Any,
    ) -> ConvergenceDisplay:
        """Draw results.

        Parameters
        ----------
        result : RunResult, OptimizeResult of skde, History, or list of these
            One run, or several such as ``runs_``.
        f_opt : float or None, default None
            The known minimum.
        name : str or None, default None
            The name of the line.
        x_axis, spread, floor, ax, **kwargs
            As in `plot`.

        Returns
        -------
        display : ConvergenceDisplay
        """
        display = cls(histories_of(result), f_opt, name=name)
        return display.plot(ax, x_axis=x_axis, spread=spread, floor=floor, **kwargs)

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        x_axis: str = "n_evals",
        spread: str = "quartiles",
        floor: float = FLOOR,
        log: bool | None = None,
        **kwargs: Any,
    ) -> ConvergenceDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes or None, default None
            Axes of the plot; None: a new figure's.
        name : str or None, default None
            The name of the line; None: the display's.
        x_axis : {"n_evals", "seconds"}, default "n_evals"
            The horizontal axis.
        spread : {"quartiles", "runs", "none"}, default "quartiles"
            The band between the quartiles, a thin line for every run, or neither.
        floor : float, default 1e-12
            Smaller errors, such as zeros, are drawn here on a logarithmic axis, > 0.
        log : bool or None, default None
            Whether the vertical axis is logarithmic; None: for errors, and for positive values of a wide range.
        **kwargs
            Arguments of matplotlib's plot for the median.

        Returns
        -------
        self : ConvergenceDisplay
        """
        if not self.histories:
            raise ValueError("there is no run to draw")
        check_choice("x_axis", x_axis, AXES)
        check_choice("spread", spread, SPREADS)
        floor = check_real("floor", floor, 0, low_open=True, high_open=True)
        ax = axes_of(ax)
        band = band_of(self.histories, self.f_opt or 0.0, x_axis)
        values = np.concatenate([history.best for history in self.histories])
        if log is None:
            log = self.f_opt is not None or is_logarithmic(values)
        several = len(self.histories) > 1
        style = {"label": self.name if name is None else name, **kwargs}
        drawn = draw_band(
            ax, clip_band(band, floor) if log else band, spread=several and spread == "quartiles", **style
        )
        self._note(ax, band, values, style["label"])
        self.lines_ = drawn[:1]
        self.band_ = drawn[1] if len(drawn) > 1 else None
        if several and spread == "runs":
            self.lines_ += self._draw_runs(ax, x_axis, floor if log else None)
        if log:
            draw_floor(ax, floor)
            thin_ticks(ax.yaxis)
        ax.set_xlabel(AXES[x_axis])
        ax.set_ylabel("best value" if self.f_opt is None else "error")
        write_title(ax, self.title)
        kind = {"quartiles": "median and quartiles", "runs": "median and runs", "none": "median"}[spread]
        show_legend(ax, title=f"{kind} of {len(self.histories)} runs" if several else None)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _note(self, ax: Any, band: Band, values: FloatArray, name: str | None) -> None:
        """Say in the axes why there is no line."""
        if not np.isfinite(values).any():
            note_without_values(ax, name)
        elif not np.isfinite(band.middle).any():
            note_without_values(ax, name, "no finite median: half of the runs or more have no finite value")

    def _draw_runs(self, ax: Any, x_axis: str, floor: float | None) -> list[Any]:
        """Draw a thin line for every run."""
        lines = []
        style = {"spread": False, "color": self.lines_[0].get_color(), "linewidth": 0.6, "alpha": 0.5}
        for history in self.histories:
            band = band_of([history], self.f_opt or 0.0, x_axis)
            lines += draw_band(ax, band if floor is None else clip_band(band, floor), **style)
        return lines
