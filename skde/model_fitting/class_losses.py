"""Losses of classifications, by name, and the meaning of a model's output."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from skde.model_fitting.losses import Loss, ScorerLoss, UserLoss, find_scorer
from skde.typing import Array, FloatArray
from skde.utils.arrays import array_namespace, to_numpy

OUTPUTS = DECISION, PROBABILITY = "decision", "probability"
SMALLEST = 1e-300  # a probability, before its logarithm is taken
ROUNDING = 1e-6  # of probabilities, which a model may compute in single precision


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

    def valid(self, out: Array) -> Array:
        """Return which candidates, on the first axis, have probabilities in [0, 1], and in no row the sum 0."""
        inside = ((out >= -ROUNDING) & (out <= 1.0 + ROUNDING)).all(axis=tuple(range(1, out.ndim)))
        return inside if self.n_classes == 2 else inside & (out.sum(axis=-1) > 0).all(axis=1)

    def labels(self, out: Array) -> Array:
        """Return the numbers of the classes."""
        xp = array_namespace(out)
        if self.n_classes > 2:
            return xp.argmax(out, axis=-1)
        return (out > (0.0 if self.output == DECISION else 0.5)).astype(np.int64)

    def probabilities(self, out: Array) -> Array:
        """Return probabilities, with the classes on the last axis.

        A model can leave [0, 1] by rounding, and for samples that it was not fitted to: values beyond count as the
        nearest in it, and classes that all have 0 have equal probabilities.
        """
        xp = array_namespace(out)
        if self.output == PROBABILITY:
            out = xp.clip(out, 0.0, 1.0)
        if self.n_classes > 2:
            if self.output == DECISION:
                out = xp.exp(out - out.max(axis=-1, keepdims=True))
            total = out.sum(axis=-1, keepdims=True)
            return xp.where(total == 0, 1.0, out) / xp.where(total == 0, self.n_classes, total)
        if self.output == DECISION:
            small = xp.exp(-abs(out))  # does not overflow
            out = xp.where(out > 0, 1.0, small) / (1.0 + small)
        return xp.stack([1.0 - out, out], axis=-1)

    def scores(self, out: Array) -> Array:
        """Return log-odds or, for several classes, logarithms of probabilities up to a constant."""
        xp = array_namespace(out)
        if self.output == DECISION:
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


class ClassSamples(NamedTuple):
    """The samples of a loss of classes.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        The samples, for scorers.
    y, codes : ndarray of shape (n_samples,)
        The classes, and their numbers.
    weights : ndarray of shape (n_samples,)
        Weights with the sum 1.
    given : ndarray of shape (n_samples,) or None
        The weights as they were given.
    """

    X: FloatArray
    y: Array
    codes: Array
    weights: Array
    given: Array | None


def classification_loss(
    loss: Any, samples: ClassSamples, responses: Responses, classes: Any, response_method: str
) -> Loss:
    """Return the loss of a classification, by a name or a function."""
    X, y, codes, weights, given = samples
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
    scorer = find_scorer(loss, CLASSIFICATION)
    return ScorerLoss(scorer, X, to_numpy(y), given, lambda out: PredictedClassifier(out, responses, classes))


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
