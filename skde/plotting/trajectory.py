"""The plot of parameters that adapt during a run."""

from __future__ import annotations

from typing import Any

import numpy as np

from skde.base import BaseSolver, best_run_of
from skde.callbacks import ParameterTrace, traces_of
from skde.curves import Band
from skde.plotting.axes import axes_of, draw_band, show_legend, write_title
from skde.plotting.solvers import check_solver, name_objective, name_of
from skde.typing import FloatArray, IntArray
from skde.utils.validation import check_choice, check_int

AXES = {"n_iter": "generations", "n_evals": "evaluations"}


class ParameterTrajectoryDisplay:
    """The parameters of a population over time: the median of the individuals, and the band between their quartiles.

    Parameters
    ----------
    n_iter, n_evals : ndarray of shape (n,)
        Generations and evaluations.
    quartiles : dict of str to ndarray of shape (n, 3)
        Lower quartile, median and upper quartile of every parameter, such as "F" and "CR".
    name, title : str or None, default None
        A prefix of the names in the legend, and the title of the axes.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        The plot's.
    lines_ : list of matplotlib lines
        The medians of the parameters.
    bands_ : list of matplotlib collections
        The bands between the quartiles.

    Examples
    --------
    >>> from skde import Minimizer, ParameterTrace, ParameterTrajectoryDisplay
    >>> m = Minimizer("shade", max_iter=200, callbacks=[ParameterTrace(every=5)], random_state=0)
    >>> display = ParameterTrajectoryDisplay.from_estimator(m.fit("rosenbrock", dim=10))
    >>> [line.get_label() for line in display.lines_]
    ['F', 'CR']
    """

    def __init__(
        self,
        n_iter: IntArray,
        n_evals: IntArray,
        quartiles: dict[str, FloatArray],
        *,
        name: str | None = None,
        title: str | None = None,
    ) -> None:
        self.n_iter = n_iter
        self.n_evals = n_evals
        self.quartiles = quartiles
        self.name = name
        self.title = title

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseSolver,
        *,
        run: int | None = None,
        name: str | None = None,
        x_axis: str = "n_iter",
        ax: Any = None,
        **kwargs: Any,
    ) -> ParameterTrajectoryDisplay:
        """Draw the parameters of a fit with a `ParameterTrace` among its callbacks.

        Parameters
        ----------
        estimator : Minimizer
            A fitted solver.
        run : int or None, default None
            The run; None: the best one.
        name : str or None, default None
            A prefix of the names in the legend.
        x_axis, ax, **kwargs
            As in `plot`.

        Returns
        -------
        display : ParameterTrajectoryDisplay

        Raises
        ------
        ValueError
            Without a `ParameterTrace`.
        """
        check_solver(estimator)
        best = best_run_of(estimator)  # says so where nothing is fitted
        traces = traces_of(getattr(estimator, "callbacks", None))
        if not traces:
            raise ValueError(
                "parameters are recorded during a fit: Minimizer(..., callbacks=[ParameterTrace()]), then fit"
            )
        title = " on ".join(text for text in (name_of(estimator), name_objective(estimator)) if text)
        display = cls(*select_run(traces[0], best if run is None else run), name=name, title=title)
        return display.plot(ax, x_axis=x_axis, **kwargs)

    @classmethod
    def from_result(
        cls,
        result: ParameterTrace,
        *,
        run: int = 0,
        name: str | None = None,
        x_axis: str = "n_iter",
        ax: Any = None,
        **kwargs: Any,
    ) -> ParameterTrajectoryDisplay:
        """Draw recorded parameters.

        Parameters
        ----------
        result : ParameterTrace
            After a fit.
        run : int, default 0
            The run.
        name : str or None, default None
            A prefix of the names in the legend.
        x_axis, ax, **kwargs
            As in `plot`.

        Returns
        -------
        display : ParameterTrajectoryDisplay

        Raises
        ------
        TypeError
            For anything but a trace.
        ValueError
            Without records, and for a run that was not recorded.
        """
        if not isinstance(result, ParameterTrace):
            raise TypeError(
                "result must be a ParameterTrace of a fit: trace = ParameterTrace(), Minimizer(..., "
                f"callbacks=[trace]).fit(...), then from_result(trace); got {type(result).__name__}"
            )
        return cls(*select_run(result, run), name=name).plot(ax, x_axis=x_axis, **kwargs)

    def plot(
        self, ax: Any = None, *, x_axis: str = "n_iter", name: str | None = None, **kwargs: Any
    ) -> ParameterTrajectoryDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes or None, default None
            Axes of the plot; None: a new figure's.
        x_axis : {"n_iter", "n_evals"}, default "n_iter"
            The horizontal axis.
        name : str or None, default None
            A prefix of the names in the legend; None: the display's.
        **kwargs
            Arguments of matplotlib's plot for the medians.

        Returns
        -------
        self : ParameterTrajectoryDisplay
        """
        check_choice("x_axis", x_axis, AXES)
        ax = axes_of(ax)
        prefix = self.name if name is None else name
        self.lines_, self.bands_ = [], []
        for parameter, values in self.quartiles.items():
            label = parameter if prefix is None else f"{prefix}: {parameter}"
            band = Band(np.asarray(getattr(self, x_axis), np.float64), *values.T)
            line, between = draw_band(ax, band, spread=True, **{"label": label, **kwargs})
            self.lines_.append(line)
            self.bands_.append(between)
        ax.set_xlabel(AXES[x_axis])
        ax.set_ylabel("value")
        ax.set_ylim(-0.03, max(1.03, ax.get_ylim()[1]))
        write_title(ax, self.title)
        show_legend(ax, title="median and quartiles of the individuals")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def select_run(trace: ParameterTrace, run: int) -> tuple[IntArray, IntArray, dict[str, FloatArray]]:
    """Return generations, evaluations and quartiles of one run of a trace."""
    n_evals = trace.n_evals
    if not trace.quartiles:
        raise ValueError(
            f"the trace has no records: it needs a fit of more than every={trace.every} generations; ask and tell "
            "make none"
        )
    check_int("run", run, 0, n_evals.shape[1] - 1)
    return trace.n_iter, n_evals[:, run], {name: values[:, run] for name, values in trace.quartiles.items()}
