"""ModelRegressor and ModelClassifier: any model under any loss."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.optimize import curve_fit, linprog
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, get_scorer, log_loss, mean_absolute_error, roc_auc_score
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import check_estimator
from threadpoolctl import threadpool_limits

from skde import Categorical, Fixed, Integer, Log
from skde.benchmark.nist import MODELS, agreement, load_regression
from skde.estimators import ModelClassifier, ModelRegressor
from skde.model_fitting.class_losses import LabelLoss, RankLoss, Responses
from skde.model_fitting.linear_parameters import linear_parameters
from skde.utils.arrays import to_numpy

random = np.random.default_rng(0)
X = np.linspace(0.0, 4.0, 40)[:, None]
CLEAN = 2.5 * np.exp(-1.3 * X[:, 0]) + 0.7
y = CLEAN + 0.05 * random.standard_normal(40)
BOX = {"a": (0, 10), "b": (0, 5), "c": (-5, 5)}
QUICK: dict[str, Any] = {"random_state": 0, "n_agreeing": 2, "max_restarts": 3}


def decay(X: Any, theta: Any) -> Any:
    """Return a model of one candidate and of many."""
    return theta[0] * np.exp(-theta[1] * X[:, 0]) + theta[2]


def fitted(**parameters: Any) -> ModelRegressor:
    return ModelRegressor(decay, BOX, **{**QUICK, "vectorized": True, **parameters}).fit(X, y)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Let the tests that run at the same time not wait for threads of BLAS, which has small matrices here."""
    with threadpool_limits(1):
        yield


@pytest.mark.parametrize("estimator", [ModelRegressor(random_state=0), ModelClassifier(random_state=0)], ids=repr)
def test_is_an_estimator_of_scikit_learn(estimator: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of checks that are left out
        checks = check_estimator(estimator)  # raises where one fails
    assert sum(check["status"] == "passed" for check in checks) > 55


# -- least squares -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["Misra1a", "Eckerle4", "MGH17", "Nelson", "Thurber"])
@pytest.mark.parametrize("signs", [True, False])
def test_certified_regressions(name: str, signs: bool) -> None:
    regression = load_regression(name)
    fit = ModelRegressor(regression.model, regression.bounds(signs), vectorized=True, random_state=0)
    fit.fit(regression.X, regression.y)
    assert regression.digits(fit.theta_) >= 6
    assert fit.converged_
    assert fit.n_agreeing_ == 3
    assert fit.loss_ * len(regression.y) == pytest.approx(regression.residual_sum_of_squares, rel=1e-8)
    if signs:
        assert fit.standard_errors_ is not None
        assert agreement(fit.standard_errors_, regression.standard_errors) >= 4


@pytest.mark.parametrize("name", MODELS)
def test_the_certified_parameters_belong_to_the_data(name: str) -> None:
    regression = load_regression(name)
    rest = regression.y - regression.model(regression.X, regression.certified)
    if name != "Lanczos1":  # its residuals are less than the rounding of the parameters
        assert rest @ rest == pytest.approx(regression.residual_sum_of_squares, rel=1e-9)
    for order, sign in regression.forms:
        moved = np.empty_like(regression.certified)
        moved[order] = regression.certified * sign
        np.testing.assert_allclose(regression.y - regression.model(regression.X, moved), rest, atol=1e-9)
        assert regression.digits(moved) == 11


def test_a_fit_is_that_of_scipys_curve_fit_with_its_standard_errors() -> None:
    fit = fitted()
    theta, covariance = curve_fit(lambda x, *theta: decay(x[:, None], theta), X[:, 0], y, p0=[2, 1, 1])
    np.testing.assert_allclose(fit.theta_, theta, rtol=1e-6)
    np.testing.assert_allclose(fit.covariance_, covariance, rtol=1e-4)
    assert fit.params_ == dict(zip("abc", fit.theta_.tolist(), strict=True))
    assert fit.loss_ == pytest.approx(np.mean((fit.predict(X) - y) ** 2))


def test_a_formula_is_the_same_for_one_candidate_and_for_many() -> None:
    one, many = fitted(vectorized=False), fitted(vectorized=True)
    np.testing.assert_allclose(one.theta_, many.theta_, rtol=1e-8)
    np.testing.assert_allclose(one.predict(X), many.predict(X), rtol=1e-8)
    assert one.n_evals_ > 1000


def test_the_same_seed_gives_the_same_fit() -> None:
    first = fitted(loss="absolute", max_evals=300)
    assert clone(first).fit(X, y).theta_.tolist() == first.theta_.tolist()
    assert pickle.loads(pickle.dumps(first.set_params(model="linear"))).theta_.tolist() == first.theta_.tolist()


@pytest.mark.parametrize("polish", [True, False])
def test_linear_parameters_are_found_and_solved_for(polish: bool) -> None:
    fit = fitted(polish=polish)
    assert fit.linear_ == ["a", "c"]
    whole = fitted(separate_linear=False)
    assert whole.linear_ == []
    np.testing.assert_allclose(fit.theta_, whole.theta_, rtol=1e-4)
    assert fitted(loss="huber").linear_ == []


@pytest.mark.parametrize("name", ["MGH17", "Misra1d", "Chwirut1", "ENSO"])
def test_no_parameter_is_linear_by_mistake(name: str) -> None:
    """In most of the box of MGH17 the predictions hardly depend on the parameters in exponents."""
    regression = load_regression(name)
    linear = {"MGH17": [0, 1, 2], "Misra1d": [0], "Chwirut1": [], "ENSO": [0, 1, 2, 4, 5, 7, 8]}[name]

    def predictions(theta: Any) -> Any:
        with np.errstate(all="ignore"):
            return np.array([regression.model(regression.X, row) for row in theta])

    for seed in range(20):
        found = linear_parameters(predictions, regression.bounds(), np.arange(len(regression.certified)), seed)
        assert found == linear


def test_bounds_hold_and_parameters_at_them_have_no_standard_error() -> None:
    fit = ModelRegressor(decay, [(0, 2), (0, 5), (-5, 5)], vectorized=True, **QUICK).fit(X, y)
    assert fit.theta_[0] == pytest.approx(2, abs=1e-6)
    assert fit.theta_[0] <= 2
    assert fit.standard_errors_ is not None
    assert np.isnan(fit.standard_errors_).tolist() == [True, False, False]
    assert list(fit.params_) == ["theta0", "theta1", "theta2"]


def test_weights_count_as_repeated_samples() -> None:
    counts = random.integers(0, 3, 40)
    for loss in ("squared", "huber", "chebyshev"):
        weighted = ModelRegressor(decay, BOX, loss=loss, vectorized=True, **QUICK).fit(X, y, counts)
        repeated = ModelRegressor(decay, BOX, loss=loss, vectorized=True, **QUICK)
        repeated.fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
        np.testing.assert_allclose(weighted.theta_, repeated.theta_, rtol=1e-3)
        assert weighted.loss_ == pytest.approx(repeated.loss_, rel=1e-4)


def test_typed_parameters() -> None:
    def model(X: Any, theta: Any) -> Any:
        power, rate, kind, shift = theta
        return np.where(kind == 1, 1.0, -1.0) * np.exp(-rate * X[:, 0]) * X[:, 0] ** power + shift

    bounds = {"power": Integer(0, 5), "rate": Log(1e-3, 1e3), "kind": Categorical(["minus", "plus"]), "s": Fixed(1)}
    target = np.exp(-0.8 * X[:, 0]) * X[:, 0] ** 2 + 1
    for vectorized in (True, False):
        fit = ModelRegressor(model, bounds, vectorized=vectorized, **QUICK).fit(X, target)
        assert fit.params_ == {"power": 2, "rate": pytest.approx(0.8), "kind": "plus", "s": 1.0}
        np.testing.assert_allclose(fit.predict(X), target, rtol=1e-7)


def test_bootstrap_standard_errors_are_near_those_of_the_jacobian() -> None:
    fit = fitted(standard_errors="bootstrap", n_bootstrap=200)
    assert fit.bootstrap_thetas_.shape == (200, 3)
    assert fit.standard_errors_ is not None
    reference = fitted().standard_errors_
    assert reference is not None
    np.testing.assert_allclose(fit.standard_errors_, reference, rtol=0.35)
    robust = fitted(loss="absolute", max_evals=500, standard_errors="bootstrap", n_bootstrap=5)
    assert (robust.standard_errors_ > 0).all()  # type: ignore[operator]
    assert fitted(standard_errors=None).standard_errors_ is None


# -- other losses ------------------------------------------------------------------------------------------------------


def linear_fit(loss: Any, **parameters: Any) -> ModelRegressor:
    line = ModelRegressor(loss=loss, bounds=(-5, 5), **{**QUICK, **parameters})
    return line.fit(X, OUTLIERS)


OUTLIERS = 1.5 - 0.7 * X[:, 0] + 0.1 * random.standard_normal(40)
OUTLIERS[[3, 17, 30]] += 4.0


def least_sum(up: float, down: float) -> float:
    """Return the smallest mean of costs of residuals of a line, by a linear program."""
    n = len(X)
    line = np.column_stack([np.ones(n), X])
    costs = np.concatenate([np.zeros(2), np.full(n, up / n), np.full(n, down / n)])
    equations = np.column_stack([line, np.eye(n), -np.eye(n)])
    bounds = [(None, None)] * 2 + [(0, None)] * (2 * n)
    return float(linprog(costs, A_eq=equations, b_eq=OUTLIERS, bounds=bounds).fun)


def test_absolute_and_quantile_losses_are_those_of_a_linear_program() -> None:
    assert linear_fit("absolute").loss_ == pytest.approx(least_sum(1, 1), rel=1e-5)
    fit = linear_fit("quantile", quantile=0.9)
    assert fit.loss_ == pytest.approx(least_sum(0.9, 0.1), rel=1e-5)
    assert np.mean(fit.predict(X) > OUTLIERS) == pytest.approx(0.9, abs=0.06)


def test_the_chebyshev_loss_is_that_of_a_linear_program() -> None:
    line = np.column_stack([np.ones(40), X])
    rows = np.column_stack([np.vstack([line, -line]), -np.ones(80)])
    least = linprog([0, 0, 1], A_ub=rows, b_ub=np.concatenate([OUTLIERS, -OUTLIERS]), bounds=[(None, None)] * 3).fun
    assert linear_fit("chebyshev").loss_ == pytest.approx(least, rel=1e-5)


@pytest.mark.parametrize("loss", ["huber", "log_cosh"])
def test_robust_losses_are_polished(loss: str) -> None:
    fit = linear_fit(loss, delta=0.2) if loss == "huber" else linear_fit(loss)
    rest = fit.predict(X) - OUTLIERS
    slope = np.clip(rest, -0.2, 0.2) if loss == "huber" else np.tanh(rest)
    np.testing.assert_allclose([slope.sum(), slope @ X[:, 0]], 0.0, atol=1e-6)
    value = np.where(abs(rest) < 0.2, rest**2 / 2, 0.2 * abs(rest) - 0.02) if loss == "huber" else np.log(np.cosh(rest))
    assert fit.loss_ == pytest.approx(value.mean())
    assert fit.n_restarts_ == 1


def test_a_function_and_a_scorers_name_as_loss() -> None:
    def loss(y: Any, predictions: Any, sample_weight: Any = None) -> float:
        return mean_absolute_error(y, predictions, sample_weight=sample_weight)

    quick = {"max_evals": 600, "n_agreeing": 1, "max_restarts": 1}
    weights = np.linspace(0, 1, 40)
    for one in (loss, "neg_mean_absolute_error"):
        own = ModelRegressor(loss=one, bounds=(-5, 5), **{**QUICK, **quick}).fit(X, OUTLIERS, weights)
        named = ModelRegressor(loss="absolute", bounds=(-5, 5), **{**QUICK, **quick}).fit(X, OUTLIERS, weights)
        assert own.loss_ == pytest.approx(named.loss_, rel=1e-6)


class RelativeResiduals:
    """Residuals relative to the targets, and two more."""

    def residuals(self, y: Any, predictions: Any, sample_weight: Any = None) -> Any:
        roots = 1.0 if sample_weight is None else np.sqrt(sample_weight)
        return np.append(roots * (predictions - y) / y, [0.0, 0.0])


@pytest.mark.parametrize("weights", [None, np.linspace(0.1, 1, 40)], ids=["plain", "weights"])
def test_residuals_of_the_user_are_polished_by_least_squares(weights: Any) -> None:
    fit = ModelRegressor(decay, BOX, loss=RelativeResiduals(), vectorized=True, **QUICK).fit(X, y, weights)
    sigma = y if weights is None else y / np.sqrt(weights)
    best, _ = curve_fit(lambda x, *theta: decay(x[:, None], theta), X[:, 0], y, [2.5, 1.3, 0.7], sigma=sigma)
    np.testing.assert_allclose(fit.theta_, best, rtol=1e-6)
    assert fit.loss_ == pytest.approx((((decay(X, best) - y) / sigma) ** 2).sum(), rel=1e-9)
    assert fit.n_restarts_ == 2
    assert clone(fit).fit(X, y, weights).loss_ == fit.loss_

    def value(y: Any, predictions: Any, sample_weight: Any = None) -> float:
        return float((RelativeResiduals().residuals(y, predictions, sample_weight) ** 2).sum())

    quick = {**QUICK, "n_agreeing": 1, "max_restarts": 1}
    without = ModelRegressor(decay, BOX, loss=value, vectorized=True, **quick).fit(X, y, weights)
    assert fit.loss_ < without.loss_


def test_residuals_of_the_user_are_checked() -> None:
    class One:
        def residuals(self, y: Any, predictions: Any) -> Any:
            return ((predictions - y) ** 2).mean()

    with pytest.raises(TypeError, match="residuals must return one array of numbers, got shape"):
        ModelRegressor(loss=One(), bounds=(-5, 5), **QUICK).fit(X, y)
    with pytest.raises(TypeError, match="must take sample_weight"):
        ModelRegressor(loss=One(), bounds=(-5, 5), **QUICK).fit(X, y, np.ones(40) * 2)


def test_the_intercept_has_no_penalty_whatever_its_name() -> None:
    X = np.linspace(-1, 1, 20)[:, None]
    y = 5 + 2 * X[:, 0]
    options: dict[str, Any] = {"penalty": "l2", "alpha": 1.0, "random_state": 0}
    unnamed = ModelRegressor(bounds=[(-10, 10)] * 2, **options).fit(X, y)
    named = ModelRegressor(bounds={"a": (-10, 10), "intercept_of_none": (-10, 10)}, **options).fit(X, y)
    assert named.theta_.tolist() == unnamed.theta_.tolist()


def test_samples_of_a_bootstrap_have_a_weight() -> None:
    X = np.linspace(0, 4, 30)[:, None]
    y = 2.5 * np.exp(-1.3 * X[:, 0]) + 0.01 * np.cos(9 * X[:, 0])
    weights = np.where(np.arange(30) % 10 == 0, 1.0, 0.0)

    def model(X: Any, theta: Any) -> Any:
        return theta[0] * np.exp(-theta[1] * X[:, 0])

    options: dict[str, Any] = {"standard_errors": "bootstrap", "n_bootstrap": 60, "random_state": 0}
    fit = ModelRegressor(model, [(0, 10), (0, 5)], **options).fit(X, y, weights)
    assert fit.standard_errors_ is not None
    assert np.isfinite(fit.standard_errors_).all()


def test_a_fit_that_is_refused_leaves_no_classes_of_other_samples() -> None:
    X = np.linspace(-1, 1, 20)[:, None]
    classifier = ModelClassifier(random_state=0).fit(X, X[:, 0] > 0)
    with pytest.raises(ValueError, match="alpha"):
        classifier.set_params(alpha=-1).fit(X, np.where(X[:, 0] > 0, "b", "a"))
    with pytest.raises(NotFittedError):
        classifier.predict(X)


def test_a_fit_without_a_bootstrap_keeps_none_of_an_earlier_one() -> None:
    X = np.linspace(-1, 1, 20)[:, None]
    fit = ModelRegressor(loss="huber", standard_errors="bootstrap", n_bootstrap=2, random_state=0).fit(X, X[:, 0])
    assert fit.set_params(n_bootstrap=2).bootstrap_thetas_.shape == (2, 2)
    assert not hasattr(fit.set_params(standard_errors=None).fit(X, X[:, 0]), "bootstrap_thetas_")


def test_evaluations_of_a_bootstrap_count() -> None:
    X = np.linspace(0, 4, 30)[:, None]
    calls = 0

    def model(X: Any, theta: Any) -> Any:
        nonlocal calls
        calls += 1
        return theta[0] * np.exp(-theta[1] * X[:, 0])

    options: dict[str, Any] = {"standard_errors": "bootstrap", "n_bootstrap": 3, "random_state": 0}
    fit = ModelRegressor(model, [(0, 10), (0, 5)], **options).fit(X, np.exp(-X[:, 0]))
    assert fit.n_evals_ == calls


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_evaluations_of_workers_count(loss: str) -> None:
    X = np.linspace(0, 4, 30)[:, None]

    def model(X: Any, theta: Any) -> Any:
        return theta[0] * np.exp(-theta[1] * X[:, 0])

    def fitted(n_jobs: int) -> ModelRegressor:
        options: dict[str, Any] = {"max_evals": 100, "n_agreeing": 1, "max_restarts": 1, "random_state": 0}
        seen: list[int] = []
        options |= {"standard_errors": None, "n_jobs": n_jobs}
        fit = ModelRegressor(model, [(0, 10), (0, 5)], loss=loss, **options)
        fit.set_params(callbacks=lambda progress: seen.append(progress.n_evals)).fit(X, np.exp(-X[:, 0]))
        assert seen[-1] == fit.n_evals_
        return fit

    assert fitted(2).n_evals_ == fitted(1).n_evals_


def test_penalties() -> None:
    ridge = ModelRegressor(penalty="l2", alpha=0.3, **QUICK).fit(X, OUTLIERS)
    centred = X[:, 0] - X.mean()
    slope = centred @ OUTLIERS / (centred @ centred + 0.3 * 40)
    np.testing.assert_allclose(ridge.theta_[1], slope, rtol=1e-8)
    lasso = ModelRegressor(penalty="l1", alpha=100.0, bounds=(-5, 5), **QUICK).fit(X, OUTLIERS)
    assert lasso.theta_[1] == pytest.approx(0, abs=1e-6)
    own = ModelRegressor(penalty=lambda theta: theta[1] ** 2, alpha=0.3, bounds=(-5, 5), **QUICK).fit(X, OUTLIERS)
    np.testing.assert_allclose(own.theta_, ridge.theta_, rtol=1e-4)
    assert own.loss_ == pytest.approx(ridge.loss_)
    bent = fitted(penalty="l2", alpha=0.1)
    np.testing.assert_allclose(bent.theta_, fitted(penalty="l2", alpha=0.1, separate_linear=False).theta_, rtol=1e-6)


# -- classes -----------------------------------------------------------------------------------------------------------

POINTS, CLASSES = make_classification(120, 3, n_informative=3, n_redundant=0, flip_y=0.1, random_state=1)
NAMES = np.array(["no", "yes"])[CLASSES]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_log_loss_is_that_of_logistic_regression(n_classes: int) -> None:
    points, classes = make_classification(150, 4, n_informative=4, n_redundant=0, n_classes=n_classes, random_state=0)
    weights = random.random(150)
    fit = ModelClassifier(alpha=1e-3, random_state=0).fit(points, classes, weights)
    reference = LogisticRegression(C=1 / (2e-3 * weights.sum()), tol=1e-10, max_iter=10_000)
    reference.fit(points, classes, weights)
    np.testing.assert_allclose(fit.predict_proba(points), reference.predict_proba(points), atol=1e-5)
    assert (fit.predict(points) == reference.predict(points)).all()
    mean = log_loss(classes, fit.predict_proba(points), sample_weight=weights)
    assert fit.loss_ == pytest.approx(mean + 1e-3 * (reference.coef_**2).sum(), rel=1e-6)


def test_probabilities_as_output() -> None:
    """A psychometric function with a rate of guesses and one of lapses."""

    def model(X: Any, theta: Any) -> Any:
        guess, lapse, place, slope = theta
        return guess + (1 - guess - lapse) / (1 + np.exp(-slope * (X[:, 0] - place)))

    points = np.repeat(np.linspace(-3, 3, 13), 400)[:, None]
    chance = model(points, [0.2, 0.05, 0.5, 2.0])
    right = np.where(np.random.default_rng(0).random(len(points)) < chance, "right", "wrong")
    fit = ModelClassifier(
        lambda X, theta: 1 - model(X, theta), [(0, 0.5), (0, 0.3), (-3, 3), (0.1, 20)], output="probability", **QUICK
    ).set_params(vectorized=True, penalty=None)
    fit.fit(points, right)
    assert fit.classes_.tolist() == ["right", "wrong"]
    np.testing.assert_allclose(fit.theta_, [0.2, 0.05, 0.5, 2.0], atol=0.5)
    assert fit.loss_ < log_loss(right == "wrong", 1 - chance)
    assert fit.loss_ == pytest.approx(log_loss(right, fit.predict_proba(points)))


@pytest.mark.parametrize("loss", ["roc_auc", "f1", "accuracy", "balanced_accuracy"])
def test_scores_as_losses(loss: str) -> None:
    labels = CLASSES if loss == "f1" else NAMES
    fit = ModelClassifier(loss=loss, bounds=(-1, 1), max_evals=150, penalty=None, **{**QUICK, "max_restarts": 2})
    fit.fit(POINTS, labels)
    assert -fit.loss_ == pytest.approx(cross_score(fit, labels, loss))
    assert -fit.loss_ > 0.8


def cross_score(fit: Any, labels: Any, name: str) -> float:
    return float(get_scorer(name)(fit, POINTS, labels))


def test_a_business_cost_of_predicted_classes() -> None:
    def cost(y: Any, predicted: Any) -> float:
        return float(np.mean(5.0 * ((y == "yes") & (predicted == "no")) + ((y == "no") & (predicted == "yes"))))

    quick = {**QUICK, "max_evals": 300, "max_restarts": 2, "penalty": None}
    fit = ModelClassifier(loss=cost, response_method="predict", bounds=(-1, 1), **quick).fit(POINTS, NAMES)
    assert fit.loss_ == pytest.approx(cost(NAMES, fit.predict(POINTS)))
    plain = ModelClassifier(random_state=0).fit(POINTS, NAMES)
    assert fit.loss_ < cost(NAMES, plain.predict(POINTS))
    proba = ModelClassifier(
        loss=lambda y, p: log_loss(y, p), response_method="predict_proba", bounds=(-2, 2), **quick
    ).fit(POINTS, NAMES)
    assert proba.loss_ == pytest.approx(log_loss(NAMES, proba.predict_proba(POINTS)))


def test_auc_and_labels_with_ties_and_weights_are_those_of_scikit_learn() -> None:
    values = np.round(random.standard_normal((5, 120)), 1)
    weights = random.integers(0, 3, 120) / 7
    areas = RankLoss(CLASSES == 1, weights).values(values)
    f1 = LabelLoss(CLASSES, weights, Responses(2, "decision").labels, "f1").values(values)
    for k, row in enumerate(values):
        assert -areas[k] == pytest.approx(roc_auc_score(CLASSES, row, sample_weight=weights))
        assert -f1[k] == pytest.approx(f1_score(CLASSES, row > 0, sample_weight=weights))
    values[0, 0] = np.nan
    assert np.isnan(RankLoss(CLASSES == 1, weights).values(values)).tolist() == [True] + 4 * [False]


def test_a_model_of_several_classes() -> None:
    points, classes = make_classification(90, 2, n_redundant=0, n_clusters_per_class=1, n_classes=3, random_state=0)

    def model(X: Any, theta: Any) -> Any:
        zero = 0.0 * X[:, 0] * theta[0]
        return np.stack([zero, theta[0] + theta[1] * X[:, 0], theta[2] + theta[3] * X[:, 1]], axis=-1)

    fits = [
        ModelClassifier(model, [(-20, 20)] * 4, vectorized=vectorized, **QUICK).fit(points, classes)
        for vectorized in (True, False)
    ]
    np.testing.assert_allclose(fits[0].theta_, fits[1].theta_, rtol=1e-5)
    assert fits[0].predict_proba(points).shape == (90, 3)
    assert fits[0].score(points, classes) > 0.6


def test_rounding_shifts_no_intercepts_to_the_bounds() -> None:
    """A shift of the intercepts of all classes changes no loss, so that only rounding would choose its length."""
    samples = np.random.default_rng(1).random((15, 30))
    fit = ModelClassifier(random_state=0).fit(samples, np.arange(15) % 3)
    assert abs(fit.theta_).max() < 10  # of 100


def test_bootstrap_of_a_classifier() -> None:
    fit = ModelClassifier(standard_errors="bootstrap", n_bootstrap=20, random_state=0).fit(POINTS, NAMES)
    assert fit.standard_errors_ is not None
    assert (fit.standard_errors_ > 0.02).all()
    assert (fit.standard_errors_ < 2).all()


def test_works_in_a_cross_validation() -> None:
    assert cross_val_score(ModelRegressor(decay, BOX, vectorized=True, **QUICK), X[::-1], y[::-1], cv=2).shape == (2,)


# -- errors ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "sqared"}, "loss must be one of 'squared'.*did you mean 'squared'"),
        ({"model": 3}, "model must be 'linear' or a callable"),
        ({"model": decay, "bounds": None}, "bounds must be given"),
        ({"model": decay, "bounds": (0, 1)}, r"for every parameter theta\[j\] of the model.*got \(0, 1\)"),
        ({"algorithm": "jed"}, "algorithm must be one of.*did you mean 'jde'"),
        ({"penalty": "l3"}, "penalty must be one of"),
        ({"alpha": -1}, "alpha must be a number in"),
        ({"loss": "huber", "delta": 0}, "delta must be a number in"),
        ({"quantile": 1}, "quantile must be a number in"),
        ({"n_agreeing": 5, "max_restarts": 4}, "max_restarts must be an integer >= 5"),
        ({"bounds": [(0, 1)] * 3}, "intercept, coef0"),
        ({"standard_errors": "jacobian", "loss": "huber"}, "take 'bootstrap'"),
        ({"model": lambda X, theta: 1.0, "bounds": [(0, 1)]}, r"predictions of shape \(40,\), got \(\)"),
        ({"model": lambda X, theta: X[:, 0] * theta[0] * np.nan, "bounds": [(0, 1)]}, "candidates is infinite or NaN"),
        ({"model": decay, "bounds": BOX, "vectorized": "yes"}, "vectorized must be True or False"),
    ],
)
def test_wrong_parameters_are_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        ModelRegressor(**{**QUICK, "max_evals": 100, **parameters}).fit(X, y)


def test_wrong_inputs_of_a_classifier_are_refused() -> None:
    with pytest.raises(ValueError, match="at least two classes"):
        ModelClassifier().fit(POINTS, np.zeros(120))
    with pytest.raises(ValueError, match="output must be one of"):
        ModelClassifier(output="odds").fit(POINTS, NAMES)
    with pytest.raises(TypeError, match="must take sample_weight"):
        ModelClassifier(loss=lambda y, z: 0.0).fit(POINTS, NAMES, np.ones(120))
    with pytest.raises(ValueError, match="sample_weight must be >= 0"):
        ModelClassifier().fit(POINTS, NAMES, -np.ones(120))


@pytest.mark.gpu
def test_a_gpu_gives_the_fit_of_the_cpu() -> None:
    import cupy

    def model(X: Any, theta: Any) -> Any:
        xp = cupy.get_array_module(X)
        return theta[0] * xp.exp(-theta[1] * X[:, 0]) + theta[2]

    fit = ModelRegressor(model, BOX, vectorized=True, **QUICK).fit(cupy.asarray(X), cupy.asarray(y))
    np.testing.assert_allclose(fit.theta_, fitted().theta_, rtol=1e-6)
    assert isinstance(fit.predict(cupy.asarray(X)), cupy.ndarray)
    auc = ModelClassifier(loss="roc_auc", bounds=(-1, 1), device="cuda", max_evals=150, penalty=None, **QUICK)
    auc.fit(POINTS, NAMES)
    host = clone(auc).set_params(device="cpu").fit(POINTS, NAMES)
    assert auc.loss_ == pytest.approx(host.loss_)
    assert isinstance(to_numpy(auc.decision_function(cupy.asarray(POINTS))), np.ndarray)
    with pytest.raises(ValueError, match="vectorized must be True"):
        ModelRegressor(model, BOX, device="cuda").fit(X, y)


@pytest.mark.parametrize("vectorized", [True, False])
def test_a_model_of_more_parameters_than_bounds_is_explained(vectorized: bool) -> None:
    def model(X: Any, theta: Any) -> Any:
        return theta[0] * X[:, 0] + theta[2]

    with pytest.raises(IndexError) as caught:
        ModelRegressor(model, [(-1, 1)] * 2, vectorized=vectorized, **QUICK).fit(np.ones((20, 1)), np.ones(20))
    notes = " ".join(caught.value.__notes__)
    assert "the model was given 2 parameters, one for each bound, and X of (20, 1)" in notes
