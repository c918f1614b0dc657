"""One fit of a search: a configuration on the training rows of a split, scored on its test rows."""

from __future__ import annotations

import time
import traceback
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Number
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from skde.utils.validation import quote

Scores = dict[str, float]
SCORE = "score"  # the name of the metric where there is only one
SCORING_FAILED = "Scoring failed:\n"  # the begin of such an error


@dataclass(frozen=True)
class FoldScores:
    """The result of one fit.

    Attributes
    ----------
    test, train : dict of str to float
        The scores by metric; those on the training rows are empty unless they were asked for.
    fit_time, score_time : float
        Seconds.
    several : bool
        Whether a dict of metrics was scored.
    error : str
        The traceback of a fit that failed, or of a scorer that returned no score of it; empty otherwise.
    """

    test: Scores
    train: Scores
    fit_time: float
    score_time: float
    several: bool = False
    error: str = ""


@dataclass(frozen=True)
class FoldTask:
    """The inputs that all fits of a search have in common.

    Attributes
    ----------
    estimator : estimator
        It is cloned for every fit.
    X, y : array-like
        The data.
    scorer : callable
        Returns a number, or numbers by metric.
    metrics : tuple of str
        The names of the metrics, or none where only the scorer knows them.
    fit_params, score_params : dict
        Metadata for the estimator's fit and for the scorer.
    error_score : float or "raise"
        The score of a fit that failed.
    train_score : bool
        Whether the training rows are scored, too.
    """

    estimator: Any
    X: Any
    y: Any
    scorer: Any
    metrics: tuple[str, ...]
    fit_params: Mapping[str, Any]
    score_params: Mapping[str, Any]
    error_score: Any
    train_score: bool

    @property
    def several(self) -> bool:
        """Whether there are several metrics, as far as the parameters say."""
        return self.metrics not in ((), (SCORE,))


def fit_and_score(task: FoldTask, params: Mapping[str, Any], train: Any, test: Any) -> FoldScores:
    """Return the scores of a configuration on one split; exceptions of the fit count as the error score."""
    estimator = clone(task.estimator)
    # Values that are estimators are cloned, too: fits side by side must not share them.
    estimator = estimator.set_params(**clone(dict(params), safe=False))
    n = len_of(task.X)
    X_train, y_train = part_of(estimator, task.X, train, train), rows(task.y, train)
    begin = time.perf_counter()
    try:
        fit_params = rows_of_all(task.fit_params, train, n)
        if y_train is None:
            estimator.fit(X_train, **fit_params)
        else:
            estimator.fit(X_train, y_train, **fit_params)
    except Exception:
        if task.error_score == "raise":
            raise
        seconds = time.perf_counter() - begin
        failed = dict.fromkeys(task.metrics, float(task.error_score))
        return FoldScores(
            failed, dict(failed) if task.train_score else {}, seconds, 0.0, task.several, traceback.format_exc()
        )
    fitted = time.perf_counter()
    X_test, y_test = part_of(estimator, task.X, test, train), rows(task.y, test)
    scored, error = score(task, estimator, X_test, y_test, rows_of_all(task.score_params, test, n))
    end = time.perf_counter()
    on_train: Any = {}
    if task.train_score:
        on_train = as_dict(score(task, estimator, X_train, y_train, rows_of_all(task.score_params, train, n))[0])
    return FoldScores(as_dict(scored), on_train, fitted - begin, end - fitted, isinstance(scored, dict), error)


def score(task: FoldTask, estimator: Any, X: Any, y: Any, params: Mapping[str, Any]) -> tuple[float | Scores, str]:
    """Return the scorer's number or numbers, and the traceback where it failed for all.

    A score that failed is the error score.
    """
    arguments = (X,) if y is None else (X, y)
    try:
        scores = task.scorer(estimator, *arguments, **params)
    except Exception:
        if task.error_score == "raise":
            raise
        error = traceback.format_exc()
        warn_of_scoring(task, error)
        return number(task.error_score), SCORING_FAILED + error
    if not isinstance(scores, dict):
        return number(scores), ""
    errors = {name: value for name, value in scores.items() if isinstance(value, str)}  # tracebacks
    for name, error in errors.items():
        warn_of_scoring(task, error)
        scores[name] = task.error_score
    failed = bool(errors) and len(errors) == len(scores)
    return {name: number(value, name) for name, value in scores.items()}, SCORING_FAILED + error if failed else ""


def warn_of_scoring(task: FoldTask, reason: str) -> None:
    """Warn of a scorer that failed."""
    warnings.warn(
        f"Scoring failed. The score on this train-test partition for these parameters will be set to "
        f"{task.error_score}. Details: \n{reason}",
        UserWarning,
        stacklevel=2,
    )


def number(value: Any, name: str = "") -> float:
    """Return a score as a float.

    Raises
    ------
    ValueError
        For anything else.
    """
    value = value.item() if hasattr(value, "item") and np.ndim(value) == 0 else value
    if not isinstance(value, Number) or isinstance(value, complex):
        of = f" of {name!r}" if name else ""
        raise ValueError(f"scoring must return a number, got {quote(value)} ({type(value).__name__}){of} instead")
    return float(value)  # type: ignore[arg-type]


def error_value(error_score: Any) -> float:
    """Return the score of a fit that failed; NaN with "raise", as in a search that is resumed."""
    return np.nan if error_score == "raise" else float(error_score)


def as_dict(scores: float | Scores) -> Scores:
    """Return scores by metric; a single one is "score"."""
    return scores if isinstance(scores, dict) else {SCORE: scores}


# -- rows of data ------------------------------------------------------------------------------------------------------


def len_of(X: Any) -> int:
    """Return the number of rows."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def rows(data: Any, indices: Any) -> Any:
    """Return the rows of an array, a sparse matrix, a data frame or a list."""
    if data is None:
        return None
    if hasattr(data, "iloc"):
        return data.iloc[indices]
    if hasattr(data, "shape"):
        return data[indices]
    return [data[i] for i in np.arange(len(data))[indices]]


def part_of(estimator: Any, X: Any, indices: Any, train: Any) -> Any:
    """Return the rows of X; of a square matrix of distances or kernels also the columns of the training rows."""
    if not get_tags(estimator).input_tags.pairwise:
        return rows(X, indices)
    if not hasattr(X, "shape"):
        raise ValueError("Precomputed kernels or affinity matrices have to be passed as arrays or sparse matrices.")
    if X.shape[0] != X.shape[1]:
        raise ValueError("X should be a square kernel matrix")
    return X[np.ix_(indices, train)]


def rows_of_all(params: Mapping[str, Any], indices: Any, n: int) -> dict[str, Any]:
    """Return metadata with the rows of every value that has one row for each of X."""

    def has_rows(value: Any) -> bool:
        if hasattr(value, "shape"):
            return len(value.shape) > 0 and value.shape[0] == n
        return isinstance(value, Sequence) and not isinstance(value, str | bytes) and len(value) == n

    return {name: rows(value, indices) if has_rows(value) else value for name, value in params.items()}
