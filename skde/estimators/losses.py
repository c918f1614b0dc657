"""Losses of models: by name, by a function, or by a scorer of scikit-learn."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer, get_scorer_names

from skde.arrays import array_namespace, to_numpy
from skde.pointwise import one_number
from skde.typing import Array, FloatArray
from skde.validation import nearest, shown

SMALLEST = 1e-300  # a probability, before its logarithm is taken


class Loss(ABC):
    """A loss of predictions, for given targets and weights."""

    smooth = False  # whether the value is the sum of squares of `residuals`
    squared = False  # whether these are weighted differences of predictions and targets

    @abstractmethod
    def values(self, predictions: Array) -> Array:
        """Return the losses of n candidates, from predictions of shape (n, n_samples) or (n, n_samples, n_classes)."""

    def residuals(self, predictions: Array) -> Array:
        """Return residuals, of shape (n, n_samples), with the loss as their sum of squares."""
        raise TypeError(f"{type(self).__name__} is no sum of squares")


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
    """The largest absolute residual of the samples with a weight above 0.

    Parameters
    ----------
    y, weights : ndarray of shape (n_samples,)
        Targets and weights.
    """

    def __init__(self, y: Array, weights: Array) -> None:
        self.y = y
        self.counts = weights > 0

    def values(self, predictions: Array) -> Array:
        """Return the largest absolute residuals."""
        return (abs(predictions - self.y) * self.counts).max(axis=1)


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
            raise TypeError(f"loss={shown(function)} must take sample_weight=..., because fit was given weights")
        self.function = function
        self.y = y
        self.options = {} if weights is None else {"sample_weight": weights}
        self.response = response

    def values(self, predictions: Array) -> Array:
        """Return the function's values."""
        found = [
            one_number(self.function(self.y, self.response(row), **self.options), "the loss") for row in predictions
        ]
        return array_namespace(predictions).asarray(found, dtype=np.float64)


class RankLoss(Loss):
    """Minus the area under the ROC curve, for two classes.

    Parameters
    ----------
    positive : ndarray of bool, of shape (n_samples,)
        The samples of the second class.
    weights : ndarray of shape (n_samples,)
        Weights.
    """

    def __init__(self, positive: Array, weights: Array) -> None:
        xp = array_namespace(positive)
        kept = xp.flatnonzero(weights > 0)
        negatives_first = kept[xp.argsort(positive[kept], kind="stable")]
        # A stable sort keeps equal predictions in these two orders; the mean counts a tie of two classes by half.
        self.orders = (negatives_first, negatives_first[::-1])
        self.gains = xp.where(positive, weights, 0.0)
        self.losses = xp.where(positive, 0.0, weights)
        self.pairs = self.gains.sum() * self.losses.sum()

    def values(self, predictions: Array) -> Array:
        """Return minus the areas; NaN where a prediction is NaN."""
        xp = array_namespace(predictions)
        area = 0.0
        for order in self.orders:
            ranked = order[xp.argsort(predictions[:, order], axis=1, kind="stable")]
            area = area + (self.gains[ranked] * xp.cumsum(self.losses[ranked], axis=1)).sum(axis=1)
        return xp.where(xp.isnan(predictions).any(axis=1), xp.nan, -area / (2 * self.pairs))


class LabelLoss(Loss):
    """Minus a score of the predicted classes.

    Parameters
    ----------
    codes : ndarray of int, of shape (n_samples,)
        The classes, numbered.
    weights : ndarray of shape (n_samples,)
        Weights.
    labels : callable
        labels(predictions) returns the numbers of the predicted classes.
    score : {"f1", "accuracy"}
        The score.
    """

    def __init__(self, codes: Array, weights: Array, labels: Callable[[Array], Array], score: str) -> None:
        self.codes = codes
        self.weights = weights
        self.labels = labels
        self.score = score

    def values(self, predictions: Array) -> Array:
        """Return minus the scores; NaN where a prediction is NaN."""
        xp = array_namespace(predictions)
        labels = self.labels(predictions)
        right = ((labels == self.codes) * self.weights).sum(axis=1)
        if self.score == "f1":
            hits = ((labels == 1) * (self.codes == 1) * self.weights).sum(axis=1)
            wrong = self.weights.sum() - right
            score = 2 * hits / xp.maximum(2 * hits + wrong, SMALLEST)
        else:
            score = right / self.weights.sum()
        failed = xp.isnan(predictions).any(axis=tuple(range(1, predictions.ndim)))
        return xp.where(failed, xp.nan, -score)


# -- regression --------------------------------------------------------------------------------------------------------


def squared(residual: Array, _: float) -> Array:
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


OF_RESIDUALS = {"squared": squared, "absolute": absolute, "huber": huber, "log_cosh": log_cosh, "quantile": pinball}
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
        A name of REGRESSION, a scorer's name, or a function.
    y, weights : ndarray of shape (n_samples,)
        Targets, and weights with the sum 1.
    given : ndarray of shape (n_samples,) or None
        The weights as they were given.
    X : ndarray of shape (n_samples, n_features)
        The samples, for scorers.
    delta, quantile : float
        The parameters of "huber" and "quantile".
    """
    if callable(loss):
        return UserLoss(loss, y, given, lambda row: row)
    if loss == LARGEST:
        return LargestLoss(y, weights)
    if isinstance(loss, str) and loss in OF_RESIDUALS:
        rho, number = OF_RESIDUALS[loss], {"huber": delta, "quantile": quantile}.get(loss, 0.0)

        def of_samples(predictions: Array) -> tuple[Array, Array]:
            residual = predictions - y
            return rho(residual, number), residual

        return MeanLoss(of_samples, weights, loss in SMOOTH, squared=loss == "squared")
    return ScorerLoss(named_scorer(loss, REGRESSION), X, y, given, PredictedRegressor)


# -- classification ----------------------------------------------------------------------------------------------------


LOG_LOSS, AUC = "log_loss", "roc_auc"
OF_LABELS = ("f1", "accuracy")
CLASSIFICATION = (LOG_LOSS, AUC, *OF_LABELS)


class Responses:
    """Decision values, probabilities and classes from the output of a model.

    Parameters
    ----------
    n_classes : int
        The number of classes.
    output : {"decision", "probability"}
        The output: decision values, which are log-odds or, with several classes, logarithms of probabilities up to a
        constant; or probabilities.
    """

    def __init__(self, n_classes: int, output: str) -> None:
        self.n_classes = n_classes
        self.output = output

    def labels(self, out: Array) -> Array:
        """Return the numbers of the classes."""
        xp = array_namespace(out)
        if self.n_classes > 2:
            return xp.argmax(out, axis=-1)
        return (out > (0.0 if self.output == "decision" else 0.5)).astype(np.int64)

    def probabilities(self, out: Array) -> Array:
        """Return probabilities, with the classes on the last axis."""
        xp = array_namespace(out)
        if self.n_classes > 2:
            if self.output == "decision":
                out = xp.exp(out - out.max(axis=-1, keepdims=True))
            return out / out.sum(axis=-1, keepdims=True)
        if self.output == "decision":
            small = xp.exp(-abs(out))  # does not overflow
            out = xp.where(out > 0, 1.0, small) / (1.0 + small)
        return xp.stack([1.0 - out, out], axis=-1)

    def scores(self, out: Array) -> Array:
        """Return log-odds or, for several classes, logarithms of probabilities up to a constant."""
        xp = array_namespace(out)
        if self.output == "decision":
            return out
        logarithm = xp.log(xp.maximum(out, SMALLEST))
        return logarithm if self.n_classes > 2 else logarithm - xp.log(xp.maximum(1.0 - out, SMALLEST))


class LogLoss(Loss):
    """The weighted mean of minus the logarithms of the probabilities of the samples' classes.

    Parameters
    ----------
    responses : Responses
        The meaning of the model's output.
    codes : ndarray of int, of shape (n_samples,)
        The classes, numbered.
    weights : ndarray of shape (n_samples,)
        Weights with the sum 1.
    """

    def __init__(self, responses: Responses, codes: Array, weights: Array) -> None:
        self.responses = responses
        self.codes = codes
        self.weights = weights

    def values(self, predictions: Array) -> Array:
        """Return the means."""
        xp, scores = array_namespace(predictions), self.responses.scores(predictions)
        if self.responses.n_classes > 2:
            largest = scores.max(axis=-1, keepdims=True)
            total = (largest + xp.log(xp.exp(scores - largest).sum(axis=-1, keepdims=True)))[..., 0]
            index = xp.broadcast_to(self.codes, scores.shape[:-1])[..., None]
            losses = total - xp.take_along_axis(scores, index, axis=-1)[..., 0]
        else:
            margin = xp.where(self.codes == 1, scores, -scores)
            losses = xp.maximum(-margin, 0.0) + xp.log1p(xp.exp(-abs(margin)))
        return (losses * self.weights).sum(axis=1)


def classification_loss(
    loss: Any,
    y: Array,
    codes: Array,
    weights: Array,
    given: Array | None,
    X: FloatArray,
    responses: Responses,
    classes: Any,
    response_method: str,
) -> Loss:
    """Return the loss of a classification.

    Parameters
    ----------
    loss : str or callable
        A name of CLASSIFICATION, a scorer's name, or a function.
    y, codes : ndarray of shape (n_samples,)
        The classes, and their numbers.
    weights : ndarray of shape (n_samples,)
        Weights with the sum 1.
    given : ndarray of shape (n_samples,) or None
        The weights as they were given.
    X : ndarray of shape (n_samples, n_features)
        The samples, for scorers.
    responses : Responses
        The meaning of the model's output.
    classes : ndarray of shape (n_classes,)
        The classes.
    response_method : {"decision_function", "predict_proba", "predict"}
        The second argument of a function.
    """
    if callable(loss):
        forms = {
            "decision_function": lambda row: row,
            "predict_proba": responses.probabilities,
            "predict": lambda row: classes[to_numpy(responses.labels(row))],
        }
        return UserLoss(loss, y, given, forms[response_method])
    if loss == LOG_LOSS:
        return LogLoss(responses, codes, weights)
    if responses.n_classes == 2 and loss == AUC:
        return RankLoss(codes == 1, weights)
    if loss == "accuracy" or (loss == "f1" and responses.n_classes == 2):
        return LabelLoss(codes, weights, responses.labels, loss)
    scorer = named_scorer(loss, CLASSIFICATION)
    return ScorerLoss(scorer, X, to_numpy(y), given, lambda out: PredictedClassifier(out, responses, classes))


# -- scorers -----------------------------------------------------------------------------------------------------------


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


class PredictedClassifier(ClassifierMixin, BaseEstimator):
    """A classifier with given decision values, for scorers."""

    def __init__(self, out: FloatArray, responses: Responses, classes: Any) -> None:
        self.out = out
        self.responses = responses
        self.classes = classes

    @property
    def classes_(self) -> Any:
        """The classes."""
        return self.classes

    def __sklearn_is_fitted__(self) -> bool:
        """Whether it can predict: always."""
        return True

    def predict(self, X: Any) -> Any:
        """Return the classes."""
        return self.classes[self.responses.labels(self.out)]

    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities."""
        return self.responses.probabilities(self.out)

    def decision_function(self, X: Any) -> Any:
        """Return the decision values."""
        return self.out


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


def named_scorer(loss: Any, own: tuple[str, ...]) -> Any:
    """Return the scorer with a name; `own` are the other names that a loss may have."""
    names = get_scorer_names()
    if not isinstance(loss, str) or loss not in names:
        raise ValueError(
            f"loss must be one of {', '.join(map(repr, own))}, a name of sklearn.metrics.get_scorer_names() or a "
            f"callable; got {shown(loss)}{nearest(loss, [*own, *names])}"
        )
    return get_scorer(loss)


def takes_weights(function: Callable[..., Any]) -> bool:
    """Return whether a function has the argument sample_weight."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # a function of an extension module without a signature
        return True
    return any(one.name == "sample_weight" or one.kind is one.VAR_KEYWORD for one in parameters)
