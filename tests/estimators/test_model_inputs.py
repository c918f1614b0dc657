"""Functions that write to their arguments, samples without a weight, and outputs that models must not have."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import log_loss

from skde.estimators import ModelClassifier, ModelRegressor
from skde.model_fitting.class_losses import Responses

X = np.linspace(0.1, 4.0, 40)[:, None]
y = 2.5 * np.exp(-1.3 * X[:, 0])
WEIGHTS = np.linspace(0.5, 1.0, 40)
CLASSES = (X[:, 0] > 2).astype(int)
BOX = [(0, 10), (0, 5)]
QUICK: dict[str, Any] = {"random_state": 0, "max_evals": 600, "n_agreeing": 1, "max_restarts": 1}


def decay(X: Any, theta: Any) -> Any:
    return theta[0] * np.exp(-theta[1] * X[:, 0])


# -- functions that write to their arguments ---------------------------------------------------------------------------


@pytest.mark.parametrize("parameters", [{}, {"vectorized": True}, {"separate_linear": False}, {"loss": "log_cosh"}])
def test_a_model_may_change_its_parameters(parameters: dict[str, Any]) -> None:
    def model(X: Any, theta: Any) -> Any:
        theta[0] *= 2
        return decay(X, theta)

    fit = ModelRegressor(model, BOX, **{**QUICK, **parameters}).fit(X, y)
    np.testing.assert_allclose(fit.theta_, [1.25, 1.3], rtol=1e-6)
    before = fit.theta_.copy()
    for _ in range(2):
        np.testing.assert_allclose(fit.predict(X), y, rtol=1e-6)
    assert fit.theta_.tolist() == before.tolist() == list(fit.params_.values())


@pytest.mark.parametrize("vectorized", [True, False])
def test_a_penalty_may_change_its_parameters(vectorized: bool) -> None:
    def penalty(theta: Any) -> float:
        theta *= theta
        return float(theta.sum())

    own, named = (
        ModelRegressor(decay, BOX, loss="absolute", penalty=one, alpha=0.1, vectorized=vectorized, **QUICK)
        for one in (penalty, lambda theta: float((theta * theta).sum()))
    )
    assert own.fit(X, y).theta_.tolist() == named.fit(X, y).theta_.tolist()


def test_a_model_may_return_the_same_array_in_every_call() -> None:
    predictions = np.empty(40)

    def model(X: Any, theta: Any) -> Any:
        predictions[:] = decay(X, theta)
        return predictions

    np.testing.assert_allclose(ModelRegressor(model, BOX, **QUICK).fit(X, y).theta_, [2.5, 1.3], rtol=1e-6)


def model_that_writes(X: Any, theta: Any) -> Any:
    X *= 2
    return decay(X, theta)


def loss_that_writes(y: Any, predictions: Any, sample_weight: Any = None) -> float:
    return float(abs(np.subtract(y, predictions, out=y)).mean())


def loss_that_writes_weights(y: Any, predictions: Any, sample_weight: Any) -> float:
    sample_weight /= sample_weight.sum()
    return float(sample_weight @ abs(y - predictions))


class ResidualsThatWrite:
    def residuals(self, y: Any, predictions: Any, sample_weight: Any = None) -> Any:
        y -= predictions
        return y


@pytest.mark.parametrize(
    ("estimator", "model", "loss"),
    [
        (ModelRegressor, model_that_writes, "squared"),
        (ModelRegressor, decay, loss_that_writes),
        (ModelRegressor, decay, loss_that_writes_weights),
        (ModelRegressor, decay, ResidualsThatWrite()),
        (ModelClassifier, model_that_writes, "log_loss"),
        (ModelClassifier, decay, loss_that_writes),
        (ModelClassifier, decay, loss_that_writes_weights),
    ],
)
def test_functions_cannot_change_the_samples(estimator: Any, model: Any, loss: Any) -> None:
    samples = X, y if estimator is ModelRegressor else CLASSES.astype(float), WEIGHTS
    given = [array.copy() for array in samples]
    with pytest.raises(ValueError, match="read-only") as caught:
        estimator(model, BOX, loss=loss, **QUICK).fit(*given)
    assert "change a copy" in caught.value.__notes__[0]
    for array, before in zip(given, samples, strict=True):
        assert array.tolist() == before.tolist()
        assert array.flags.writeable


def test_functions_cannot_change_the_samples_of_a_worker() -> None:
    """An array that is sent to another process can be written to there, whatever it was here."""
    here = os.getpid()

    def model(X: Any, theta: Any) -> Any:
        if os.getpid() != here:
            X *= 2
        return decay(X, theta)

    with pytest.raises(ValueError, match="read-only"):
        ModelRegressor(model, BOX, loss="absolute", n_jobs=2, **QUICK).fit(X, y)


# -- residuals and probabilities ---------------------------------------------------------------------------------------


def test_complex_residuals_are_refused() -> None:
    class Complex:
        def residuals(self, y: Any, predictions: Any) -> Any:
            return (predictions - y) * 1j

    with pytest.raises(TypeError, match=r"loss\.residuals must hold real numbers, got dtype complex128"):
        ModelRegressor(decay, BOX, loss=Complex(), **QUICK).fit(X, y)


def line(X: Any, theta: Any) -> Any:
    return theta[0] + theta[1] * X[:, 0]


def lines(X: Any, theta: Any) -> Any:
    return np.stack([theta[0] + theta[1] * X[:, 0], 0.5 + 0 * X[:, 0], 0.1 + 0 * X[:, 0]], axis=-1)


LOSSES: dict[str, dict[str, Any]] = {
    "log_loss": {},
    "accuracy": {"loss": "accuracy"},
    "scorer": {"loss": "neg_log_loss"},
    "function": {"loss": lambda y, p: log_loss(y, p), "response_method": "predict_proba"},
}


@pytest.mark.parametrize("model", [line, lines])
@pytest.mark.parametrize("loss", LOSSES)
def test_candidates_with_values_that_are_no_probabilities_fail(model: Callable[..., Any], loss: str) -> None:
    classes = CLASSES if model is line else np.where(X[:, 0] < 0.2, 2, CLASSES)
    fit = ModelClassifier(model, [(-1, 1)] * 2, output="probability", penalty=None, **{**QUICK, **LOSSES[loss]})
    fit.fit(X, classes)
    values = fit.decision_function(X)
    assert values.min() >= -1e-6
    assert values.max() <= 1 + 1e-6
    shares = fit.predict_proba(X)
    assert np.isfinite(shares).all()
    assert shares.min() >= 0
    if loss != "accuracy":
        assert fit.loss_ == pytest.approx(log_loss(classes, shares), rel=1e-6)


def test_a_linear_model_of_probabilities_is_searched() -> None:
    """Its log loss has no value in most of the box, so that a local search from the middle is not enough."""
    fit = ModelClassifier(output="probability", bounds=(-0.5, 0.5), penalty=None, random_state=0).fit(X, CLASSES)
    assert fit.n_restarts_ > 1
    assert fit.loss_ < 0.6


def test_a_model_without_probabilities_is_explained() -> None:
    with pytest.raises(ValueError, match="NaN") as caught:
        ModelClassifier(lambda X, theta: 2 + line(X, theta), [(0, 1)] * 2, output="probability", **QUICK).fit(
            X, CLASSES
        )
    assert "not in [0, 1]" in caught.value.__notes__[0]


def test_which_values_are_probabilities() -> None:
    two, three = Responses(2, "probability"), Responses(3, "probability")
    out = np.array([[0.0, 1.0], [-1e-9, 1 + 1e-9], [0.5, 1.1], [-0.1, 0.5], [0.5, np.nan]])
    assert two.valid(out).tolist() == [True, True, False, False, False]
    rows = np.array([[[0.2, 0.3, 0.5], [0.1, 0.1, 0.1]], [[0, 0, 0], [1, 0, 0]], [[1, 0, 0], [2, 0, 0]]])
    assert three.valid(rows).tolist() == [True, False, False]
    assert two.probabilities(out[1:4, 1]).tolist() == [[0, 1], [0, 1], [0.5, 0.5]]
    np.testing.assert_allclose(three.probabilities(rows[1]), [[1 / 3] * 3, [1, 0, 0]])


# -- weights -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["squared", "absolute", "chebyshev", "neg_mean_absolute_error"])
def test_a_model_need_not_be_defined_for_samples_of_weight_0(loss: str) -> None:
    def model(X: Any, theta: Any) -> Any:
        return theta[0] * np.log(X[:, 0]) + theta[1]

    x = np.linspace(0.0, 4.0, 30)[:, None]
    targets = np.append(5.0, 2.0 * np.log(x[1:, 0]) + 1.0 + 0.1 * np.cos(9 * x[1:, 0]))
    fit = ModelRegressor(model, [(-5, 5)] * 2, loss=loss, **QUICK).fit(x, targets, np.append(0, np.ones(29)))
    without = ModelRegressor(model, [(-5, 5)] * 2, loss=loss, **QUICK).fit(x[1:], targets[1:], np.ones(29))
    assert fit.theta_.tolist() == without.theta_.tolist()
    assert fit.n_features_in_ == 1


def test_a_classifier_need_not_be_defined_for_samples_of_weight_0() -> None:
    def model(X: Any, theta: Any) -> Any:
        return theta[0] * np.log(X[:, 0]) + theta[1]

    x, classes = np.append(0.0, X[:, 0])[:, None], np.append(2, CLASSES) % 2
    fit = ModelClassifier(model, [(-5, 5)] * 2, **QUICK).fit(x, classes, np.append(0, WEIGHTS))
    assert (
        fit.theta_.tolist() == ModelClassifier(model, [(-5, 5)] * 2, **QUICK).fit(X, CLASSES, WEIGHTS).theta_.tolist()
    )


@pytest.mark.parametrize("weights", [np.full(40, 1e308), np.append(np.ones(39), 1e308)], ids=["sum", "bootstrap"])
def test_weights_without_a_finite_sum_are_refused(weights: Any) -> None:
    with pytest.raises(ValueError, match=r"sample_weight must have a finite sum: divide by its largest, 1e\+308"):
        ModelRegressor(decay, BOX, **QUICK).fit(X, y, weights)
    fit = ModelRegressor(decay, BOX, **QUICK).fit(X, y, weights / weights.max())
    assert fit.loss_ < 1e-9


# -- time --------------------------------------------------------------------------------------------------------------


def test_a_time_limit_ends_the_search_for_linear_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = 0.0
    monkeypatch.setattr(time, "perf_counter", lambda: seconds)

    def model(X: Any, theta: Any) -> Any:
        nonlocal seconds
        seconds += 0.1
        return line(X, theta) + theta[2] * np.sin(X[:, 0])

    fit = ModelRegressor(model, [(-5, 5)] * 3, max_time=2.0, **QUICK).fit(X, y)
    assert fit.linear_ == ["theta0"]


@pytest.mark.parametrize("on_error", ["raise", "nan"])
def test_a_model_of_single_parameters_is_refused_with_the_form_that_it_needs(on_error: str) -> None:
    def curve(x: Any, a: Any, b: Any) -> Any:
        return a * np.exp(-b * x)

    fit = ModelRegressor(curve, {"a": (0, 10), "b": (0, 5)}, on_error=on_error)
    with pytest.raises(TypeError, match=r"model must take two arguments.*model\(X, theta\); got .*\*theta"):
        fit.fit(np.ones((5, 1)), np.ones(5))
