"""The plot of a search for parameters of an estimator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skde.plotting.axes import axes_of, note_values, show_legend, write_title
from skde.typing import FloatArray, IntArray


class SearchDisplay:
    """The best score of a search against its fits.

    Parameters
    ----------
    n_fits : ndarray of shape (n,)
        Fits done.
    best_score : ndarray of shape (n,)
        The best mean score so far of a configuration with all its fits.
    scores : ndarray of shape (n,) or None, default None
        The mean score of the configuration that these fits end with; they are drawn as points.
    name, title : str or None, default None
        The name of the line in the legend, and the title of the axes.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        The plot's.
    line_ : matplotlib line
        The best score.
    lines_ : list of matplotlib lines
        The best score and, with scores, the points.

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
    >>> len(SearchDisplay.from_result(search.cv_results_).lines_)
    2
    """

    def __init__(
        self,
        n_fits: IntArray,
        best_score: FloatArray,
        scores: FloatArray | None = None,
        *,
        name: str | None = None,
        title: str | None = None,
    ) -> None:
        self.n_fits = n_fits
        self.best_score = best_score
        self.scores = scores
        self.name = name
        self.title = title

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, metric: str = "score", name: str | None = None, ax: Any = None, **kwargs: Any
    ) -> SearchDisplay:
        """Draw a fitted search.

        Parameters
        ----------
        estimator : EvolutionSearchCV, or another search of scikit-learn
            A fitted search. Other searches than EvolutionSearchCV have no times of their fits: their configurations
            are drawn in the order of cv_results_.
        metric : str, default "score"
            The metric of another search, as in the columns mean_test_... of cv_results_.
        name : str or None, default None
            The name of the line; None: the name of the search's class.
        ax : matplotlib axes or None, default None
            Axes of the plot; None: a new figure's.
        **kwargs
            Arguments of matplotlib's step.

        Returns
        -------
        display : SearchDisplay
        """
        check_is_fitted(estimator, "cv_results_")
        name = type(estimator).__name__ if name is None else name
        searched = estimator.estimator
        title = type(
            searched.steps[-1][1] if hasattr(searched, "steps") else searched
        ).__name__  # the last of a pipeline
        history = getattr(estimator, "history_", None)
        if history is None:
            return cls(*order_fits(estimator.cv_results_, metric), name=name, title=title).plot(ax, **kwargs)
        return cls(history["n_fits"], history["best_score"], name=name, title=title).plot(ax, **kwargs)

    @classmethod
    def from_result(
        cls,
        result: Mapping[str, Any],
        *,
        metric: str = "score",
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> SearchDisplay:
        """Draw the table of results of a search: all configurations, in its order, and the best so far.

        Parameters
        ----------
        result : mapping
            ``cv_results_`` of any search of scikit-learn.
        metric : str, default "score"
            The metric, as in the columns mean_test_... of the table.
        name : str or None, default None
            The name of the line.
        ax : matplotlib axes or None, default None
            Axes of the plot; None: a new figure's.
        **kwargs
            Arguments of matplotlib's step.

        Returns
        -------
        display : SearchDisplay

        Raises
        ------
        ValueError
            For a metric that the table does not have, with those that it has.
        """
        return cls(*order_fits(result, metric), name=name).plot(ax, **kwargs)

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> SearchDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes or None, default None
            Axes of the plot; None: a new figure's.
        name : str or None, default None
            The name of the line; None: the display's.
        **kwargs
            Arguments of matplotlib's step.

        Returns
        -------
        self : SearchDisplay
        """
        ax = axes_of(ax)
        label = self.name if name is None else name
        (self.line_,) = ax.step(self.n_fits, self.best_score, where="post", **{"label": label, **kwargs})
        self.lines_ = [self.line_]
        if self.scores is not None:
            style = {"color": self.line_.get_color(), "alpha": 0.35, "markersize": 4}
            self.lines_ += ax.plot(self.n_fits, self.scores, "o", **style)
        note_values(ax, self.best_score, label)
        ax.set_xlabel("fits")
        ax.set_ylabel("best mean score")
        write_title(ax, self.title)
        show_legend(ax, "lower right")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def order_fits(results: Mapping[str, Any], metric: str) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the fits at the end of every configuration of cv_results_, the best score so far, and its own score.

    Configurations that were not tried on all splits are points, but are not the best.
    """
    column = f"mean_test_{metric}"
    if column not in results:
        metrics = [name[10:] for name in results if name.startswith("mean_test_")]
        raise ValueError(f"metric must be one of {', '.join(metrics)}, got {metric!r}")
    scores = np.asarray(results[column], np.float64)
    splits = [name for name in results if name.startswith("split") and name.endswith(f"_test_{metric}")]
    if "n_fits" in results:  # tables of earlier versions
        fits = np.asarray(results["n_fits"])
    else:
        # A mean is NaN where a fit failed, and otherwise over the splits that a configuration was tried on.
        done = [~np.isnan(np.asarray(results[name], np.float64)) for name in splits]
        fits = np.where(np.isnan(scores), len(splits), np.sum(done, axis=0, dtype=int) if done else 0)
    complete = np.where(fits == fits.max(), scores, np.nan)
    return np.cumsum(fits), np.fmax.accumulate(complete), scores
