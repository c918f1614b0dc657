"""Samples of models: data frames, dates, missing values, complex targets and known standard deviations."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import curve_fit
from sklearn.base import clone
from sklearn.metrics import r2_score
from sklearn.model_selection import cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skde import Fixed, Minimizer
from skde.estimators import ModelClassifier, ModelRegressor
from skde.utils.random_state import run_seeds

t = np.linspace(0.1, 4.0, 40)
X = t[:, None]
y = 2.5 * np.exp(-1.3 * t) + 0.05 * np.random.default_rng(0).standard_normal(40)
CLASSES = (t > 2).astype(int)
BOX = [(0, 10), (0, 5)]
QUICK: dict[str, Any] = {"random_state": 0, "max_evals": 600, "n_agreeing": 1, "max_restarts": 1}


def decay(X: Any, theta: Any) -> Any:
    return theta[0] * np.exp(-theta[1] * X[:, 0])


def named_decay(X: Any, theta: Any) -> Any:
    return theta[0] * np.exp(-theta[1] * X["t"])


def many_decays(X: Any, theta: Any) -> Any:
    return theta[0] * np.exp(-theta[1] * X["t"].to_numpy())


def line(X: Any, theta: Any) -> Any:
    return theta[0] * (X[:, 0] - theta[1])


# -- data frames -------------------------------------------------------------------------------------------------------

FRAME = pd.DataFrame({"other": np.arange(40), "t": t}, index=np.arange(100, 140))


@pytest.mark.parametrize("model", [named_decay, many_decays])
def test_a_model_gets_a_data_frame_as_one(model: Any) -> None:
    before = FRAME.copy()
    fit = ModelRegressor(model, BOX, vectorized=model is many_decays, **QUICK).fit(FRAME, pd.Series(y, FRAME.index))
    plain = ModelRegressor(decay, BOX, vectorized=model is many_decays, **QUICK).fit(X, y)
    np.testing.assert_allclose(fit.theta_, plain.theta_, rtol=1e-12)
    np.testing.assert_allclose(fit.predict(FRAME[:5]), plain.predict(X[:5]), rtol=1e-12)
    pd.testing.assert_frame_equal(FRAME, before)
    assert fit.n_features_in_ == 2


def test_a_model_cannot_change_a_data_frame() -> None:
    def model(X: Any, theta: Any) -> Any:
        X["t"] = 2 * X["t"]
        return named_decay(X, theta)

    before = FRAME.copy()
    fit = ModelRegressor(model, BOX, loss="absolute", **QUICK).fit(FRAME, y)
    pd.testing.assert_frame_equal(FRAME, before)
    assert fit.theta_[1] == pytest.approx(0.65, abs=0.05)


def test_rows_of_a_data_frame_are_left_out_and_drawn() -> None:
    weights = np.where(np.arange(40) % 4 == 0, 0.0, 1.0)
    options: dict[str, Any] = {**QUICK, "standard_errors": "bootstrap", "n_bootstrap": 5}
    fit = ModelRegressor(named_decay, BOX, **options).fit(FRAME, y, weights)
    plain = ModelRegressor(decay, BOX, **options).fit(X, y, weights)
    np.testing.assert_allclose(fit.bootstrap_thetas_, plain.bootstrap_thetas_, rtol=1e-8)


def test_a_data_frame_in_a_cross_validation_and_for_a_linear_model() -> None:
    found = cross_val_predict(ModelRegressor(named_decay, BOX, **QUICK), FRAME, y, cv=3)
    assert found.shape == (40,)
    kept = make_pipeline(FunctionTransformer(lambda X: X[["t"]]), ModelRegressor(named_decay, BOX, **QUICK))
    assert kept.fit(FRAME, y).predict(FRAME).shape == (40,)
    assert ModelRegressor(bounds=(-9, 9), **QUICK).fit(FRAME, y).linear_ == ["intercept", "coef0", "coef1"]
    fit = ModelRegressor(decay, BOX, **QUICK).fit(X, y)
    with pytest.warns(UserWarning, match="feature names"):
        assert fit.predict(FRAME[["t"]]).shape == (40,)  # it was fitted to an array, and gets one


def test_a_classifier_gets_a_data_frame() -> None:
    def model(X: Any, theta: Any) -> Any:
        return theta[0] * (X["t"] - theta[1])

    fit = ModelClassifier(model, [(-9, 9), (0, 4)], **QUICK).fit(FRAME, CLASSES)
    assert fit.score(FRAME, CLASSES) > 0.9


# -- dates -------------------------------------------------------------------------------------------------------------

DAYS = np.datetime64("2026-01-01") + np.arange(40)
OF_DATES: dict[str, Any] = {
    "days": DAYS[:, None],
    "nanoseconds": DAYS.astype("datetime64[ns]")[:, None],
    "differences": (DAYS - DAYS[0])[:, None],
    "objects": np.array([[datetime.date(2026, 1, 1 + k % 28)] for k in range(40)], dtype=object),
    "list": [[datetime.datetime(2026, 1, 1 + k % 28)] for k in range(40)],
    "timedelta objects": np.array([[datetime.timedelta(k)] for k in range(40)], dtype=object),
    "column": pd.DataFrame({"n": t, "when": DAYS}),
    "zone": pd.DataFrame({"when": pd.date_range("2026-01-01", periods=40, tz="UTC")}),
    "difference column": pd.DataFrame({"when": pd.to_timedelta(np.arange(40), unit="s")}),
    "period": pd.DataFrame({"when": pd.period_range("2026-01-01", periods=40)}),
    "object column": pd.DataFrame({"when": np.array([pd.Timestamp("2026-01-01")] * 40, dtype=object)}),
}


@pytest.mark.parametrize("kind", OF_DATES)
@pytest.mark.parametrize("estimator", [ModelRegressor, ModelClassifier])
def test_dates_are_refused_by_name(estimator: Any, kind: str) -> None:
    given = OF_DATES[kind]
    name = "the column 'when' of X" if isinstance(given, pd.DataFrame) else "X"
    for model in (decay, "linear"):
        with pytest.raises(TypeError, match=f"^{name} must hold numbers, and it holds .*: convert it"):
            estimator(model, BOX, **QUICK).fit(given, CLASSES if estimator is ModelClassifier else y)
    fit = estimator(line, BOX, **QUICK).fit(X, CLASSES if estimator is ModelClassifier else y)
    with pytest.raises(TypeError, match="must hold numbers"):
        fit.predict(given)


@pytest.mark.parametrize("dates", [DAYS, DAYS - DAYS[0], pd.Series(DAYS), list(DAYS.astype(object))])
def test_dates_as_targets_and_weights_are_refused(dates: Any) -> None:
    with pytest.raises(TypeError, match=r"^y must hold numbers, and it holds"):
        ModelRegressor(decay, BOX, **QUICK).fit(X, dates)
    with pytest.raises(TypeError, match=r"^sample_weight must hold numbers, and it holds"):
        ModelRegressor(decay, BOX, **QUICK).fit(X, y, dates)


def test_dates_are_refused_by_a_minimizer() -> None:
    days = np.array([["2026-01-01", "2026-01-09"]], "M8[D]")
    for bounds in (days, days - days[0, 0], days.astype(object), [(days[0, 0], days[0, 1])]):
        with pytest.raises((ValueError, TypeError), match="bounds"):
            Minimizer("jde", max_iter=5).fit(lambda X: X[:, 0], bounds=bounds)
    for x0 in (days[:, :1], (days - days[0, 0])[:, 1:], days[:, :1].astype(object)):
        with pytest.raises((ValueError, TypeError), match="x0"):
            Minimizer("jde", max_iter=5).fit(lambda X: X[:, 0], bounds=[(0, 1e9)], x0=x0)
    with pytest.raises((ValueError, TypeError), match="datetime64"):
        Minimizer("jde", max_iter=5).fit(lambda X: np.full(len(X), days[0, 0]), bounds=[(0, 1)])
    m = Minimizer("jde", bounds=[(0, 1)], max_iter=5)
    points = m.ask()
    with pytest.raises((ValueError, TypeError), match=r"datetime64|timedelta64"):
        m.tell(points, np.full(len(points), days[0, 1] - days[0, 0]))


# -- missing values ----------------------------------------------------------------------------------------------------


def holes() -> tuple[Any, Any]:
    values, targets = X.copy(), y.copy()
    values[3], targets[[7, 9]] = np.nan, np.nan
    return values, targets


def test_missing_values_are_refused() -> None:
    values, targets = holes()
    for given in ((values, y), (X, targets), (FRAME.assign(t=values[:, 0]), y)):
        with pytest.raises(ValueError, match=r"Input . contains NaN.*nan_policy='omit'"):
            ModelRegressor(decay, BOX, **QUICK).fit(*given)
    with pytest.raises(ValueError, match=r"Input X contains NaN.*nan_policy='omit'"):
        ModelClassifier(line, BOX, **QUICK).fit(values, CLASSES)
    with pytest.raises(ValueError, match=r"Input X contains NaN.*nan_policy='omit'"):
        ModelRegressor(decay, BOX, **QUICK).fit(X, y).predict(values)
    with pytest.raises(ValueError, match="nan_policy must be one of"):
        ModelRegressor(decay, BOX, nan_policy="drop", **QUICK).fit(X, y)


@pytest.mark.parametrize("weights", [None, np.linspace(0.5, 1, 40)])
def test_samples_with_missing_values_are_left_out(weights: Any) -> None:
    values, targets = holes()
    kept = np.setdiff1d(np.arange(40), [3, 7, 9])
    plain = ModelRegressor(decay, BOX, **QUICK).fit(X[kept], y[kept], None if weights is None else weights[kept])
    fit = ModelRegressor(decay, BOX, nan_policy="omit", **QUICK).fit(values, targets, weights)
    assert fit.theta_.tolist() == plain.theta_.tolist()
    assert fit.standard_errors_.tolist() == plain.standard_errors_.tolist()
    found = fit.predict(values)
    assert np.isnan(found[3])
    np.testing.assert_array_equal(np.delete(found, 3), np.delete(plain.predict(X), 3))
    frame = ModelRegressor(named_decay, BOX, nan_policy="omit", **QUICK).fit(FRAME.assign(t=values[:, 0]), targets)
    assert np.isnan(frame.predict(FRAME.assign(t=values[:, 0]))[3])
    with pytest.raises(ValueError, match="leaves nothing"):
        clone(fit).fit(X, np.full(40, np.nan))
    with pytest.raises(ValueError, match="infinity"):
        clone(fit).fit(X, np.append(y[:-1], np.inf))


def test_classes_that_are_missing() -> None:
    values = X.copy()
    values[3] = np.nan
    for classes in (np.where(t < 0.5, np.nan, CLASSES), np.where(t < 0.5, None, CLASSES.astype(str))):  # type: ignore[call-overload]
        fit = ModelClassifier(line, [(-9, 9), (0, 4)], nan_policy="omit", **QUICK).fit(values, classes)
        assert len(fit.classes_) == 2
        assert np.isnan(fit.decision_function(values)[3])
        with pytest.raises(ValueError, match="missing"):
            ModelClassifier(line, [(-9, 9), (0, 4)], nan_policy="propagate", **QUICK).fit(X, classes)


def test_missing_values_are_passed_on() -> None:
    values, targets = holes()

    def model(X: Any, theta: Any) -> Any:
        return decay(np.nan_to_num(X), theta)

    class Known:
        def residuals(self, y: Any, predictions: Any) -> Any:
            return np.nan_to_num(predictions - y)

    fit = ModelRegressor(model, BOX, loss=Known(), nan_policy="propagate", **QUICK).fit(values, targets)
    assert fit.theta_[1] == pytest.approx(1.3, abs=0.3)
    assert np.isfinite(fit.predict(values)).all()
    with pytest.raises(ValueError, match="NaN"):
        ModelRegressor(model, BOX, nan_policy="propagate", **QUICK).fit(values, targets)


# -- complex targets ---------------------------------------------------------------------------------------------------


def resonance(X: Any, theta: Any) -> Any:
    """Return a complex response."""
    return theta[0] / (theta[1] - X[:, 0] + 0.2j) + 0.1j * theta[2]


RESPONSE = resonance(X, [2.0, 1.5, 3.0]) + 0.01 * (1 - 1j) * np.random.default_rng(1).standard_normal(40)
COMPLEX_BOX = [(0, 10), (0, 4), (-5, 5)]


@pytest.mark.parametrize("vectorized", [True, False])
def test_complex_targets_count_as_their_parts(vectorized: bool) -> None:
    fit = ModelRegressor(resonance, COMPLEX_BOX, vectorized=vectorized, random_state=0).fit(X, RESPONSE)

    def parts(_: Any, *theta: Any) -> Any:
        values = resonance(X, theta)
        return np.concatenate([values.real, values.imag])

    both = np.concatenate([RESPONSE.real, RESPONSE.imag])
    best, covariance = curve_fit(parts, np.zeros(80), both, [2.0, 1.5, 3.0])
    np.testing.assert_allclose(fit.theta_, best, rtol=1e-6)
    np.testing.assert_allclose(fit.standard_errors_, np.sqrt(np.diag(covariance)), rtol=1e-4)
    assert fit.loss_ == pytest.approx((abs(resonance(X, fit.theta_) - RESPONSE) ** 2).mean())
    np.testing.assert_allclose(fit.predict(X), resonance(X, fit.theta_))


def test_losses_of_complex_targets() -> None:
    weights = np.linspace(1, 2, 40)

    def loss(y: Any, predictions: Any, sample_weight: Any = None) -> float:
        assert y.dtype == predictions.dtype == np.complex128
        return float(np.average(abs(predictions - y) ** 2, weights=sample_weight))

    named = ModelRegressor(resonance, COMPLEX_BOX, random_state=0).fit(X, RESPONSE, weights)
    own = ModelRegressor(resonance, COMPLEX_BOX, loss=loss, **{**QUICK, "max_evals": 5000}).fit(X, RESPONSE, weights)
    assert own.loss_ == pytest.approx(named.loss_, rel=0.01)
    for name in ("absolute", "chebyshev", "huber"):
        fit = ModelRegressor(resonance, COMPLEX_BOX, loss=name, **{**QUICK, "max_evals": 5000}).fit(X, RESPONSE)
        np.testing.assert_allclose(fit.theta_, [2.0, 1.5, 3.0], rtol=0.05)
    with pytest.raises(ValueError, match="loss='r2' takes no complex y"):
        ModelRegressor(resonance, COMPLEX_BOX, loss="r2", **QUICK).fit(X, RESPONSE)
    omitted = ModelRegressor(resonance, COMPLEX_BOX, nan_policy="omit", random_state=0)
    assert omitted.fit(X, np.where(t < 0.3, np.nan, RESPONSE)).predict(X).dtype == np.complex128
    with pytest.raises(ValueError, match=r"y contains NaN.*nan_policy"):
        ModelRegressor(resonance, COMPLEX_BOX, **QUICK).fit(X, np.where(t < 0.3, np.nan, RESPONSE))
    with pytest.raises(ValueError, match="Complex data not supported"):
        ModelRegressor(resonance, COMPLEX_BOX, **QUICK).fit(X + 1j, RESPONSE)
    with pytest.raises(TypeError, match="predictions must hold real numbers"):
        ModelRegressor(resonance, COMPLEX_BOX, **QUICK).fit(X, RESPONSE.real)


# -- standard errors ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("absolute", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_absolute_sigma_is_that_of_curve_fit(absolute: bool, weighted: bool) -> None:
    sigma = np.linspace(0.05, 0.2, 40) if weighted else None
    fit = ModelRegressor(decay, BOX, absolute_sigma=absolute, **QUICK).fit(
        X, y, None if sigma is None else 1 / sigma**2
    )
    best, covariance = curve_fit(
        lambda x, *theta: decay(x[:, None], theta), t, y, [2.5, 1.3], sigma=sigma, absolute_sigma=absolute
    )
    np.testing.assert_allclose(fit.theta_, best, rtol=1e-6)
    np.testing.assert_allclose(fit.covariance_, covariance, rtol=1e-5)


def test_absolute_sigma_is_checked() -> None:
    with pytest.raises(TypeError, match="absolute_sigma must be True or False, got 1"):
        ModelRegressor(decay, BOX, absolute_sigma=1, **QUICK).fit(X, y)


def test_a_fixed_parameter_is_no_degree_of_freedom() -> None:
    def model(X: Any, theta: Any) -> Any:
        return theta[0] * np.exp(-theta[1] * X[:, 0]) + theta[2]

    box = {"a": (0, 10), "b": (0, 5), "c": Fixed(0.1)}
    few = slice(None, None, 4)
    fit = ModelRegressor(model, box, random_state=0).fit(X[few], y[few])
    best, covariance = curve_fit(lambda x, a, b: a * np.exp(-b * x) + 0.1, t[few], y[few], [2.5, 1.3])
    np.testing.assert_allclose(fit.theta_[:2], best, rtol=1e-6)
    np.testing.assert_allclose(fit.standard_errors_[:2], np.sqrt(np.diag(covariance)), rtol=1e-4)
    assert np.isnan(fit.standard_errors_[2])


def test_a_bootstrap_with_weights_and_a_penalty_fits_like_a_fit() -> None:
    """The weights of each draw have the sum 1, so that a penalty counts as in the fit itself."""
    weights = np.geomspace(100, 0.01, 40)
    options: dict[str, Any] = {"penalty": "l2", "alpha": 0.01, **QUICK}
    fit = ModelRegressor(decay, BOX, standard_errors="bootstrap", n_bootstrap=20, **options).fit(X, y, weights)
    random = np.random.default_rng(int(run_seeds(0, 1)[0]))  # the seed of the first search
    for theta in fit.bootstrap_thetas_:
        rows = random.choice(np.arange(40), 40)
        alone = ModelRegressor(decay, BOX, **options).fit(X[rows], y[rows], weights[rows])
        np.testing.assert_allclose(theta, alone.theta_, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(fit.standard_errors_, fit.bootstrap_thetas_.std(axis=0, ddof=1))


# -- scores ------------------------------------------------------------------------------------------------------------


def test_the_score_leaves_out_what_a_fit_leaves_out() -> None:
    holed_X, holed_y = X.copy(), y.copy()
    holed_X[3], holed_y[5] = np.nan, np.nan
    fit = ModelRegressor(decay, BOX, nan_policy="omit", **QUICK).fit(holed_X, holed_y)
    rows = np.setdiff1d(np.arange(40), [3, 5])
    assert fit.score(holed_X, holed_y) == r2_score(y[rows], fit.predict(X[rows]))
    weights = np.linspace(1, 2, 40)
    expected = r2_score(y[rows], fit.predict(X[rows]), sample_weight=weights[rows])
    assert fit.score(holed_X, holed_y, weights) == expected
    assert np.isfinite(cross_val_score(fit, holed_X, holed_y, cv=3, error_score="raise")).all()


def test_the_score_of_complex_targets_is_by_absolute_values() -> None:
    values = 3.0 / (1 + 1j * t * 0.8)
    fit = ModelRegressor(lambda X, theta: theta[0] / (1 + 1j * X[:, 0] * theta[1]), BOX, **QUICK).fit(X, values)
    assert fit.score(X, values) == pytest.approx(1.0)
    rest = np.abs(values + 0.1 - fit.predict(X)) ** 2
    assert fit.score(X, values + 0.1) == pytest.approx(1 - rest.sum() / (np.abs(values - values.mean()) ** 2).sum())


def test_the_score_of_numbers_is_that_of_scikit_learn() -> None:
    fit = ModelRegressor(decay, BOX, **QUICK).fit(X, y)
    assert fit.score(X, y) == r2_score(y, fit.predict(X))
    assert fit.score(X, y[:, None]) == fit.score(X, y)


def test_samples_that_are_left_out_have_no_class() -> None:
    holed = X.copy()
    holed[3] = np.nan
    fit = ModelClassifier(line, [(-5, 5), (0, 5)], nan_policy="omit", **QUICK).fit(holed, CLASSES)
    with pytest.raises(ValueError, match=r"X has NaN in 1 rows, the first is row 3: .*predict_proba"):
        fit.predict(holed)
    assert np.isnan(fit.predict_proba(holed)[3]).all()
    rows = np.delete(np.arange(40), 3)
    expected = (fit.predict(X[rows]) == CLASSES[rows]).mean()
    assert fit.score(holed, CLASSES) == fit.score(pd.DataFrame(holed), CLASSES) == expected
    wrong = np.where(rows < 20, 1 - CLASSES[rows], CLASSES[rows])
    assert fit.score(X[rows], wrong, np.where(rows < 20, 0.0, 1.0)) == (fit.predict(X[20:]) == CLASSES[20:]).mean()


@pytest.mark.parametrize("texts", [["a"] * 40, pd.Categorical(["a", "b"] * 20), [str(one) for one in t]], ids=str)
def test_a_column_of_text_is_refused_by_name(texts: Any) -> None:
    frame = pd.DataFrame({"t": t, "label": texts})
    with pytest.raises(TypeError, match=r"the column 'label' of X must hold numbers, and it holds text, such as '"):
        ModelRegressor(named_decay, BOX, **QUICK).fit(frame, y)
