"""Models that fail for some candidates, and constraints between parameters."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint, curve_fit
from scipy.optimize import minimize as scipy_minimize

from skde import Fixed, Integer
from skde.estimators import ModelClassifier, ModelRegressor

X = np.linspace(0.1, 4.0, 40)[:, None]
y = 2.5 * np.exp(-1.3 * X[:, 0]) + 0.05 * np.random.default_rng(0).standard_normal(40)
CLASSES = (X[:, 0] > 2).astype(int)
BOX = [(0, 10), (0, 5)]
QUICK: dict[str, Any] = {"random_state": 0, "max_evals": 600, "n_agreeing": 1, "max_restarts": 1}


def decay(X: Any, theta: Any) -> Any:
    return theta[0] * np.exp(-theta[1] * X[:, 0])


def line(X: Any, theta: Any) -> Any:
    return theta[0] * (X[:, 0] - theta[1])


class Failing:
    """A model that fails where its second parameter is above 2: in one of several ways."""

    def __init__(self, model: Any, way: str) -> None:
        self.model, self.way = model, way

    def __call__(self, X: Any, theta: Any) -> Any:
        if np.max(theta[1]) > 2:
            if self.way == "raise":
                raise ZeroDivisionError("not here")
            if self.way == "short":
                return self.model(X, theta)[..., :-1]
            if self.way == "text":
                return "failed"
            return None
        return self.model(X, theta)


@pytest.mark.parametrize("vectorized", [True, False])
@pytest.mark.parametrize("way", ["raise", "short", "text", "none"])
@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_candidates_may_fail(vectorized: bool, way: str, loss: str) -> None:
    options: dict[str, Any] = {"vectorized": vectorized, "loss": loss, **QUICK}
    with pytest.raises((ZeroDivisionError, ValueError, TypeError)):
        ModelRegressor(Failing(decay, way), BOX, **options).fit(X, y)
    with pytest.warns(RuntimeWarning, match="the model failed: .*on_error='nan'") as caught:
        fit = ModelRegressor(Failing(decay, way), BOX, on_error="nan", **options).fit(X, y)
    assert len([one for one in caught if "the model failed" in str(one.message)]) == 1
    whole = ModelRegressor(decay, BOX, **{**options, "max_evals": 3000}).fit(X, y)
    np.testing.assert_allclose(fit.theta_, whole.theta_, rtol=1e-6 if loss == "squared" else 0.02)


def failing_line(X: Any, theta: Any) -> Any:
    if theta[1] > 0.5:
        raise ZeroDivisionError("not here")
    return theta[0] * X[:, 0]


def test_failures_in_workers_are_a_warning_here() -> None:
    options: dict[str, Any] = {"loss": "absolute", "n_jobs": 2, "on_error": "nan", **QUICK}
    with pytest.warns(RuntimeWarning, match="ZeroDivisionError"):
        fit = ModelRegressor(failing_line, [(0, 4), (0, 1)], **options).fit(X, 2 * X[:, 0])
    assert fit.theta_[0] == pytest.approx(2, abs=1e-3)
    assert fit.theta_[1] <= 0.5


def test_candidates_of_a_classifier_may_fail() -> None:
    with pytest.warns(RuntimeWarning, match="the model failed"):
        fit = ModelClassifier(Failing(line, "raise"), BOX, on_error="nan", **QUICK).fit(X, CLASSES)
    assert fit.score(X, CLASSES) > 0.9


def test_a_model_that_always_fails_is_explained() -> None:
    def model(X: Any, theta: Any) -> Any:
        raise ZeroDivisionError("not here")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match="NaN"):
            ModelRegressor(model, BOX, on_error="nan", **QUICK).fit(X, y)
    with pytest.raises(ValueError, match="on_error must be one of 'raise', 'nan'; got 'ignore'"):
        ModelRegressor(decay, BOX, on_error="ignore", **QUICK).fit(X, y)


def test_a_failure_of_predict_is_an_error() -> None:
    with pytest.warns(RuntimeWarning, match="the model failed"):
        fit = ModelRegressor(Failing(decay, "raise"), BOX, on_error="nan", **QUICK).fit(X, y)
    fit.set_params(model=Failing(decay, "raise"))
    fit.theta_ = np.array([1.0, 3.0])
    with pytest.raises(ZeroDivisionError):
        fit.predict(X)


def test_ctrl_c_is_no_failure() -> None:
    def model(X: Any, theta: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ModelRegressor(model, BOX, on_error="nan", **QUICK).fit(X, y)


# -- constraints -------------------------------------------------------------------------------------------------------


def two_decays(X: Any, theta: Any) -> Any:
    return theta[0] * np.exp(-theta[1] * X[:, 0]) + theta[2] * np.exp(-theta[3] * X[:, 0])


TWO_BOX = {"a": (0, 5), "fast": (0, 9), "b": (0, 5), "slow": (0, 9)}
TWO = two_decays(X, [2.0, 3.0, 1.0, 0.5]) + 0.001 * np.random.default_rng(2).standard_normal(40)
ORDER = LinearConstraint([0, 1, 0, -1], 0, np.inf)  # slow <= fast


@pytest.mark.parametrize("vectorized", [True, False])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_an_order_of_parameters(vectorized: bool, seed: int) -> None:
    options: dict[str, Any] = {"vectorized": vectorized, "random_state": seed, "n_agreeing": 1, "max_restarts": 2}
    fit = ModelRegressor(two_decays, TWO_BOX, constraints=ORDER, **options).fit(X, TWO)
    best, covariance = curve_fit(lambda x, *theta: two_decays(x[:, None], theta), X[:, 0], TWO, [2.0, 3.0, 1.0, 0.5])
    np.testing.assert_allclose(fit.theta_, best, rtol=1e-5)
    np.testing.assert_allclose(fit.standard_errors_, np.sqrt(np.diag(covariance)), rtol=1e-3)
    swapped = ModelRegressor(two_decays, TWO_BOX, constraints=LinearConstraint(-ORDER.A, 0, np.inf), **options)
    np.testing.assert_allclose(swapped.fit(X, TWO).theta_, best[[2, 3, 0, 1]], rtol=1e-5)


CONSTRAINTS: dict[str, tuple[Any, Any]] = {
    "linear": (LinearConstraint([1, 1], -np.inf, 3), lambda theta: 3 - theta[0] - theta[1]),
    "nonlinear": (
        NonlinearConstraint(lambda theta: theta[..., 0] * theta[..., 1], -np.inf, 2),
        lambda p: 2 - p[0] * p[1],
    ),
    "dictionary": (
        {"type": "ineq", "fun": lambda theta: 2 - theta[..., 0] * theta[..., 1]},
        lambda theta: 2 - theta[0] * theta[1],
    ),
}


@pytest.mark.parametrize("vectorized", [True, False])
@pytest.mark.parametrize("kind", CONSTRAINTS)
@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_active_constraints_hold_at_the_best_parameters(kind: str, loss: str, vectorized: bool) -> None:
    constraint, room = CONSTRAINTS[kind]
    options: dict[str, Any] = {"loss": loss, "vectorized": vectorized, **QUICK}
    fit = ModelRegressor(decay, BOX, constraints=constraint, **options).fit(X, y)
    assert room(fit.theta_) >= -1.1e-6

    def value(theta: Any) -> float:
        rest = decay(X, theta) - y
        half = np.where(abs(rest) < 1, rest**2 / 2, abs(rest) - 0.5)
        return float((rest**2).mean() if loss == "squared" else half.mean())

    reference = scipy_minimize(
        value,
        [1.0, 0.5],
        bounds=BOX,
        constraints={"type": "ineq", "fun": room},
        method="SLSQP",
        options={"ftol": 1e-14},
    )
    assert fit.loss_ == pytest.approx(reference.fun, rel=1e-4)
    np.testing.assert_allclose(fit.theta_, reference.x, rtol=1e-3)
    assert fit.linear_ == []


def test_an_equality_takes_a_degree_of_freedom() -> None:
    tied = ModelRegressor(two_decays, TWO_BOX, constraints=LinearConstraint([1, 0, -2, 0], 0, 0), random_state=0)
    fit = tied.fit(X, TWO)
    assert fit.theta_[0] == pytest.approx(2 * fit.theta_[2], abs=2e-6)
    free = lambda x, b, fast, slow: two_decays(x[:, None], [2 * b, fast, b, slow])  # noqa: E731
    best, covariance = curve_fit(free, X[:, 0], TWO, [1.0, 3.0, 0.5])
    errors = np.sqrt(np.diag(covariance))
    if fit.theta_[1] < fit.theta_[3]:  # the larger amplitude belongs to either rate
        pytest.fail("the tie is wrong")
    np.testing.assert_allclose(fit.theta_[[2, 1, 3]], best, rtol=1e-4)
    np.testing.assert_allclose(fit.standard_errors_, [2 * errors[0], errors[1], errors[0], errors[2]], rtol=1e-2)


def test_constraints_of_other_losses_models_and_parameters() -> None:
    budget = LinearConstraint([1, 1], -np.inf, 3)
    absolute = ModelRegressor(decay, BOX, loss="absolute", constraints=budget, **QUICK).fit(X, y)
    assert absolute.theta_.sum() <= 3 + 1e-6
    straight = ModelRegressor(bounds=(-9, 9), constraints=LinearConstraint([0, 1], 0, np.inf), **QUICK).fit(X, y)
    assert straight.theta_[1] == pytest.approx(0, abs=2e-6)
    assert straight.theta_[0] == pytest.approx(y.mean(), abs=1e-4)
    typed = ModelRegressor(
        lambda X, theta: theta[0] * X[:, 0] ** theta[1] + theta[2],
        {"a": (0, 5), "n": Integer(0, 3), "c": Fixed(0.5)},
        constraints=LinearConstraint([1, 1, 1], -np.inf, 2.5),
        **QUICK,
    ).fit(X, 1.5 * X[:, 0] ** 2 + 0.5)
    assert typed.params_ == {"a": pytest.approx(1.0, abs=0.01), "n": 1, "c": 0.5} or sum(typed.theta_) <= 2.5 + 1e-6
    scores = ModelClassifier(line, [(-9, 9), (0, 4)], constraints=LinearConstraint([1, 0], -np.inf, 2), **QUICK)
    assert scores.fit(X, CLASSES).theta_[0] == pytest.approx(2, abs=1e-5)
    drawn = ModelRegressor(decay, BOX, constraints=budget, standard_errors="bootstrap", n_bootstrap=8, **QUICK)
    assert (drawn.fit(X, y).bootstrap_thetas_.sum(axis=1) <= 3 + 1e-6).all()


@pytest.mark.parametrize("loss", ["squared", "absolute", "log_cosh"])
def test_a_model_is_called_only_where_the_constraints_allow_it(loss: str) -> None:
    def model(X: Any, theta: Any) -> Any:
        assert theta.sum() <= 3 + 2e-6
        return decay(X, theta)

    budget = LinearConstraint([1, 1], -np.inf, 3)
    fit = ModelRegressor(model, BOX, loss=loss, constraints=budget, **QUICK).fit(X, y)
    assert fit.theta_.sum() <= 3 + 1e-6


def test_constraints_that_are_refused() -> None:
    with pytest.raises(TypeError, match=r"constraints\[0\] must be LinearConstraint"):
        ModelRegressor(decay, BOX, constraints="a < b", **QUICK).fit(X, y)
    with pytest.raises(ValueError, match=r"constraints\[0\].A must be finite and of shape \(m, 2\)"):
        ModelRegressor(decay, BOX, constraints=LinearConstraint([1, 1, 1], 0, 1), **QUICK).fit(X, y)
    with pytest.raises(ValueError, match=r"constraints\[0\] must not be Bounds"):
        ModelRegressor(decay, BOX, constraints=Bounds(0, 1), **QUICK).fit(X, y)
    with pytest.raises(ValueError, match="constraints"):
        ModelRegressor(decay, BOX, constraints=LinearConstraint([1, 1], 50, 60), **QUICK).fit(X, y)


@pytest.mark.parametrize("none", [(), []], ids=str)
def test_an_empty_list_says_that_there_are_no_constraints(none: Any) -> None:
    without, found = (ModelRegressor(decay, BOX, constraints=one, **QUICK).fit(X, y) for one in (None, none))
    assert found.theta_.tolist() == without.theta_.tolist()
    assert found.n_evals_ == without.n_evals_


@pytest.mark.gpu
def test_constraints_and_failures_on_a_gpu() -> None:
    budget = LinearConstraint([1, 1], -np.inf, 3)
    host = ModelRegressor(decay, BOX, vectorized=True, constraints=budget, **QUICK).fit(X, y)
    fit = ModelRegressor(decay, BOX, vectorized=True, constraints=budget, device="cuda", **QUICK).fit(X, y)
    np.testing.assert_allclose(fit.theta_, host.theta_, rtol=1e-4)


@pytest.mark.parametrize("largest", [5.0, 9.9])
@pytest.mark.parametrize("vectorized", [False, True])
def test_a_parameter_for_which_a_model_fails_is_not_solved_for(largest: float, vectorized: bool) -> None:
    """Linear parameters are solved for from the predictions at their bounds, where this model has none."""
    t = np.linspace(0, 5, 40)

    def decay(X: Any, theta: Any) -> Any:
        values = theta[0] * np.exp(-theta[1] * X[:, 0]) + theta[2]
        return np.where(theta[0] <= largest, values, np.nan)

    fit = ModelRegressor(decay, [(0, 10), (0, 5), (-1, 1)], vectorized=vectorized, random_state=0)
    fit.fit(t[:, None], 2 * np.exp(-0.7 * t) + 0.5)
    np.testing.assert_allclose(fit.theta_, [2, 0.7, 0.5], rtol=1e-6)
    assert fit.linear_ == ["theta2"]
