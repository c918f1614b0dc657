"""Plots in scikit-learn's style; matplotlib is imported when one is drawn."""

from __future__ import annotations

from typing import Any

from skde.base import BaseSolver
from skde.result import History


class ConvergenceDisplay:
    """The best value against evaluations, one line a run.

    Parameters
    ----------
    histories : list of History
        The runs.
    f_opt : float, default 0.0
        Subtracted, so that the logarithmic axis shows the error.

    Attributes
    ----------
    ax_, figure_, lines_
        The axes, figure and lines that `plot` drew.

    Examples
    --------
    >>> from skde import ConvergenceDisplay, Minimizer
    >>> m = Minimizer(max_iter=50, n_runs=3, random_state=0).fit("sphere", dim=5)
    >>> len(ConvergenceDisplay.from_estimator(m).lines_)
    3
    """

    def __init__(self, histories: list[History], f_opt: float = 0.0) -> None:
        self.histories = histories
        self.f_opt = f_opt

    @classmethod
    def from_estimator(
        cls, estimator: BaseSolver, *, f_opt: float = 0.0, ax: Any = None, **style: Any
    ) -> ConvergenceDisplay:
        """Draw the runs of a fitted solver.

        Parameters
        ----------
        estimator : Minimizer or MinMaxSolver
            A fitted solver.
        f_opt : float, default 0.0
            The known minimum.
        ax : matplotlib axes or None
            Axes of the plot; None: those of a new figure.
        **style
            Arguments of matplotlib's plot.

        Returns
        -------
        display : ConvergenceDisplay
        """
        return cls([run.history for run in estimator.runs_], f_opt).plot(ax=ax, **style)

    def plot(self, ax: Any = None, **style: Any) -> ConvergenceDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes or None
            Axes of the plot; None: those of a new figure.
        **style
            Arguments of matplotlib's plot.

        Returns
        -------
        self : ConvergenceDisplay
        """
        if ax is None:
            from matplotlib.figure import Figure

            ax = Figure(layout="constrained").subplots()
        self.lines_ = [line for h in self.histories for line in ax.plot(h.n_evals, h.best - self.f_opt, **style)]
        positive = any((h.best - self.f_opt > 0).any() for h in self.histories)
        if positive:
            ax.set_yscale("log")
        ax.set_xlabel("evaluations")
        ax.set_ylabel("best value" if self.f_opt == 0 else "error")
        self.ax_, self.figure_ = ax, ax.figure
        return self
