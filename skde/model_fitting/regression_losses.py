"""Losses of regressions, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from skde.model_fitting.losses import Loss, ResidualLoss, ScorerLoss, UserLoss, find_scorer
from skde.model_fitting.samples import complex_values, explain_complex, real_parts
from skde.typing import Array, FloatArray
from skde.utils.arrays import array_namespace


class MeanLoss(Loss):
    """The weighted mean of a loss of each sample.

    Parameters
    ----------
    of_samples : callable
        of_samples(predictions) returns the losses, and numbers with the signs of residuals, of shape (n, n_samples).
    weights : ndarray of shape (n_samples,)
        Weights with the sum 1.
    smooth : bool
        Whether the losses are the squares of smooth residuals.
    squared : bool, default False
        Whether these are differences of predictions and targets.
    """

    def __init__(
        self,
        of_samples: Callable[[Array], tuple[Array, Array]],
        weights: Array,
        smooth: bool,
        squared: bool = False,
    ) -> None:
        self.of_samples = of_samples
        self.weights = weights
        self.smooth = smooth
        self.squared = squared

    def values(self, predictions: Array) -> Array:
        """Return the means."""
        return (self.of_samples(predictions)[0] * self.weights).sum(axis=1)

    def residuals(self, predictions: Array) -> Array:
        """Return the roots of the losses, with signs."""
        xp = array_namespace(predictions)
        losses, signs = self.of_samples(predictions)
        return xp.copysign(xp.sqrt(losses * self.weights), signs)


class LargestLoss(Loss):
    """The largest absolute residual.

    Parameters
    ----------
    y : ndarray of shape (n_samples,)
        Targets.
    """

    def __init__(self, y: Array) -> None:
        self.y = y

    def values(self, predictions: Array) -> Array:
        """Return the largest absolute residuals."""
        return abs(predictions - self.y).max(axis=1)


def square(residual: Array, _: float) -> Array:
    """Return the square."""
    return residual * residual


def absolute(residual: Array, _: float) -> Array:
    """Return the absolute value."""
    return abs(residual)


def huber(residual: Array, delta: float) -> Array:
    """Return half the square up to delta, and a straight line from there."""
    xp, size = array_namespace(residual), abs(residual)
    return xp.where(size <= delta, 0.5 * residual * residual, delta * (size - 0.5 * delta))


def log_cosh(residual: Array, _: float) -> Array:
    """Return the logarithm of the hyperbolic cosine, precise for small and finite for large residuals."""
    xp, size = array_namespace(residual), abs(residual)
    near = xp.log1p(2.0 * xp.sinh(0.5 * xp.minimum(size, 1.0)) ** 2)
    return xp.where(size < 1.0, near, size - np.log(2.0) + xp.log1p(xp.exp(-2.0 * size)))


def pinball(residual: Array, quantile: float) -> Array:
    """Return the loss of a quantile; a residual is a prediction minus its target."""
    xp = array_namespace(residual)
    return xp.where(residual < 0, -quantile * residual, (1.0 - quantile) * residual)


OF_RESIDUALS = {"squared": square, "absolute": absolute, "huber": huber, "log_cosh": log_cosh, "quantile": pinball}
SMOOTH = ("squared", "huber", "log_cosh")
LARGEST = "chebyshev"
REGRESSION = (*OF_RESIDUALS, LARGEST)


def regression_loss(
    loss: Any, y: Array, weights: Array, given: Array | None, X: FloatArray, delta: float, quantile: float
) -> Loss:
    """Return the loss of a regression.

    Parameters
    ----------
    loss : str or callable
        A name of REGRESSION, a scorer's name, a function, or an object with a method `residuals`.
    y, weights : ndarray of shape (n_samples,)
        Targets, and weights with the sum 1.
    given : ndarray of shape (n_samples,) or None
        The weights as they were given.
    X : ndarray of shape (n_samples, n_features)
        The samples, for scorers.
    delta, quantile : float
        The parameters of "huber" and "quantile".
    """
    complex_valued = y.dtype.kind == "c"
    response = complex_values if complex_valued else (lambda row: row)
    if callable(getattr(loss, "residuals", None)):
        return ResidualLoss(loss.residuals, y, given, response)
    if callable(loss):
        return UserLoss(loss, y, given, response)
    y = real_parts(y) if complex_valued else y
    if loss == LARGEST:
        return LargestLoss(y)
    if isinstance(loss, str) and loss in OF_RESIDUALS:
        rho, number = OF_RESIDUALS[loss], {"huber": delta, "quantile": quantile}.get(loss, 0.0)

        def of_samples(predictions: Array) -> tuple[Array, Array]:
            residual = predictions - y
            return rho(residual, number), residual

        return MeanLoss(of_samples, weights, loss in SMOOTH, squared=loss == "squared")
    scorer = find_scorer(loss, REGRESSION)
    if complex_valued:
        raise ValueError(explain_complex(loss))
    return ScorerLoss(scorer, X, y, given, PredictedRegressor)


class PredictedRegressor(RegressorMixin, BaseEstimator):
    """A regressor with given predictions, for scorers."""

    def __init__(self, out: FloatArray) -> None:
        self.out = out

    def __sklearn_is_fitted__(self) -> bool:
        """Whether it can predict: always."""
        return True

    def predict(self, X: Any) -> FloatArray:
        """Return the predictions."""
        return self.out
