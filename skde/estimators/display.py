"""The plot of a search; matplotlib is imported when it is drawn."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from skde.typing import FloatArray, IntArray


class SearchDisplay:
    """The best score of a search against its fits.

    Parameters
    ----------
    n_fits : ndarray of shape (n,)
        Fits done.
    best_score : ndarray of shape (n,)
        The best mean score so far of a configuration with all its fits.

    Attributes
    ----------
    ax_, figure_, line_
        The axes, figure and line that `plot` drew.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from skde.estimators import EvolutionSearchCV, SearchDisplay
    >>> space = {"n_neighbors": list(range(1, 100)), "p": [1, 2]}
    >>> search = EvolutionSearchCV(KNeighborsClassifier(), space, search="de", n_iter=30, random_state=0)
    >>> display = SearchDisplay.from_estimator(search.fit(*load_iris(return_X_y=True)))
    >>> display.ax_.get_xlabel()
    'fits'
    """

    def __init__(self, n_fits: IntArray, best_score: FloatArray) -> None:
        self.n_fits = n_fits
        self.best_score = best_score

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **style: Any) -> SearchDisplay:
        """Draw a fitted search.

        Parameters
        ----------
        estimator : EvolutionSearchCV
            A fitted search.
        ax : matplotlib axes or None
            Axes of the plot; None: those of a new figure.
        **style
            Arguments of matplotlib's step.

        Returns
        -------
        display : SearchDisplay
        """
        check_is_fitted(estimator, "history_")
        return cls(estimator.history_["n_fits"], estimator.history_["best_score"]).plot(ax=ax, **style)

    def plot(self, ax: Any = None, **style: Any) -> SearchDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes or None
            Axes of the plot; None: those of a new figure.
        **style
            Arguments of matplotlib's step.

        Returns
        -------
        self : SearchDisplay
        """
        if ax is None:
            from matplotlib.figure import Figure

            ax = Figure(layout="constrained").subplots()
        (self.line_,) = ax.step(self.n_fits, self.best_score, where="post", **style)
        ax.set_xlabel("fits")
        ax.set_ylabel("best mean score")
        self.ax_, self.figure_ = ax, ax.figure
        return self
