"""Losses of models: the interface, a function of the user, and scorers of scikit-learn."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import get_scorer, get_scorer_names

from skde.functions.pointwise import one_number
from skde.model_fitting.user_functions import call_with_data
from skde.typing import Array, FloatArray
from skde.utils.arrays import array_namespace, move_to, to_numpy
from skde.utils.validation import nearest, quote


class Loss(ABC):
    """A loss of predictions, for given targets and weights.

    Attributes
    ----------
    valid : callable or None
        valid(predictions) returns which of n candidates have predictions that a loss is defined for; None: all.
    """

    valid: Callable[[Array], Array] | None = None
    smooth = False  # whether the value is the sum of squares of `residuals`
    squared = False  # whether these are weighted differences of predictions and targets

    @abstractmethod
    def values(self, predictions: Array) -> Array:
        """Return the losses of n candidates, from predictions of shape (n, n_samples) or (n, n_samples, n_classes)."""

    def of_valid(self, predictions: Array) -> Array:
        """Return the losses of n candidates; NaN for those that are not valid."""
        valid = None if self.valid is None else self.valid(predictions)
        if valid is None or valid.all():
            return self.values(predictions)
        losses = array_namespace(predictions).full(len(predictions), np.nan)
        if valid.any():
            losses[valid] = self.values(predictions[valid])
        return losses

    def residuals(self, predictions: Array) -> Array:
        """Return residuals, of shape (n, n_samples), with the loss as their sum of squares."""
        raise TypeError(f"{type(self).__name__} is no sum of squares")


class UserLoss(Loss):
    """A function of the user, called for one candidate after the other.

    Parameters
    ----------
    function : callable
        function(y, predictions) or, where weights are given, function(y, predictions, sample_weight=weights).
    y : ndarray of shape (n_samples,)
        Targets.
    weights : ndarray of shape (n_samples,) or None
        Weights as they were given.
    response : callable
        response(predictions) returns the function's second argument, for one candidate.
    """

    def __init__(
        self, function: Callable[..., Any], y: Array, weights: Array | None, response: Callable[[Array], Array]
    ) -> None:
        if weights is not None and not takes_weights(function):
            raise TypeError(f"loss={quote(function)} must take sample_weight=..., because fit was given weights")
        self.function = function
        self.y = y
        self.options = {} if weights is None else {"sample_weight": weights}
        self.response = response

    def call_function(self, row: Array) -> Any:
        """Return what the function returns for the predictions of one candidate."""
        return call_with_data(self.function, self.y, self.response(row), **self.options)

    def values(self, predictions: Array) -> Array:
        """Return the function's values."""
        found = [one_number(self.call_function(row), "the loss") for row in predictions]
        return array_namespace(predictions).asarray(found, dtype=np.float64)


class ResidualLoss(UserLoss):
    """The sum of squares of the user's residuals, called for one candidate after the other.

    Parameters
    ----------
    function, y, weights, response
        As for `UserLoss`; the function returns an array of residuals, of any length.
    """

    smooth = True

    def values(self, predictions: Array) -> Array:
        """Return the sums of squares."""
        return (self.residuals(predictions) ** 2).sum(axis=1)

    def residuals(self, predictions: Array) -> Array:
        """Return the residuals."""
        rows = [move_to(self.call_function(row), predictions, "loss.residuals") for row in predictions]
        if any(row.ndim != 1 for row in rows):
            raise TypeError(f"loss.residuals must return one array of numbers, got shape {rows[0].shape}")
        return array_namespace(predictions).stack(rows).astype(np.float64, copy=False)


class ScorerLoss(Loss):
    """Minus the score of a scorer of scikit-learn, called for one candidate after the other on the host.

    Parameters
    ----------
    scorer : callable
        scorer(estimator, X, y), as of `sklearn.metrics.get_scorer`.
    X, y : ndarray
        Samples and targets.
    weights : ndarray of shape (n_samples,) or None
        Weights as they were given.
    estimator : callable
        estimator(out) returns an estimator with these predictions.
    """

    def __init__(
        self, scorer: Any, X: Any, y: Any, weights: Array | None, estimator: Callable[[FloatArray], Any]
    ) -> None:
        self.scorer = scorer
        self.X = X
        self.y = to_numpy(y)
        self.options = {} if weights is None else {"sample_weight": to_numpy(weights)}
        self.estimator = estimator

    def values(self, predictions: Array) -> Array:
        """Return minus the scores; NaN where a prediction is not finite."""
        scores = [
            self.scorer(self.estimator(row), self.X, self.y, **self.options) if np.isfinite(row).all() else np.nan
            for row in to_numpy(predictions)
        ]
        return -array_namespace(predictions).asarray(scores, dtype=np.float64)


def find_scorer(loss: Any, own: tuple[str, ...]) -> Any:
    """Return the scorer with a name; `own` are the other names that a loss may have."""
    names = get_scorer_names()
    if not isinstance(loss, str) or loss not in names:
        raise ValueError(
            f"loss must be one of {', '.join(map(repr, own))}, a name of sklearn.metrics.get_scorer_names() or a "
            f"callable; got {quote(loss)}{nearest(loss, [*own, *names])}"
        )
    return get_scorer(loss)


def takes_weights(function: Callable[..., Any]) -> bool:
    """Return whether a function has the argument sample_weight."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # a function of an extension module without a signature
        return True
    return any(one.name == "sample_weight" or one.kind is one.VAR_KEYWORD for one in parameters)
