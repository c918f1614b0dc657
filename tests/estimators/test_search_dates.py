"""Columns of dates in EvolutionSearchCV: the estimator gets them as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skde import Real
from skde.estimators import EvolutionSearchCV

DAYS = (np.datetime64("2026-01-01") + np.arange(40))[:, None]
VALUES = 3.0 * np.arange(40.0)


def days_of(X: Any) -> Any:
    """Return the days since the first of January; the column has to be one of dates."""
    dates = np.asarray(X)
    assert dates.dtype.kind == "M"
    return (dates - np.datetime64("2026-01-01")) / np.timedelta64(1, "D")


def table(dates: Any) -> Any:
    """Return a table with a column of dates."""
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame({"day": dates[:, 0]})


def search(estimator: Any, alpha: str) -> EvolutionSearchCV:
    return EvolutionSearchCV(estimator, {alpha: Real(0.01, 1.0)}, n_iter=6, cv=3, random_state=0)


@pytest.mark.parametrize("form", [np.asarray, table])
def test_a_pipeline_gets_the_dates_as_they_are(form: Any) -> None:
    m = search(make_pipeline(FunctionTransformer(days_of), Ridge()), "ridge__alpha").fit(form(DAYS), VALUES)
    assert m.best_score_ > 0.8
    assert m.predict(form(DAYS[:3])) == pytest.approx(VALUES[:3], abs=1.0)


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("name", ["jde", "racing"])
@pytest.mark.filterwarnings("ignore:Scoring failed")
def test_an_estimator_that_predicts_nothing_from_dates_fails_with_the_reason(name: str, n_jobs: int | None) -> None:
    m = search(Ridge(), "alpha").set_params(search=name, n_jobs=n_jobs)
    with pytest.raises(ValueError, match=r"All the \d+ fits failed.*(?s:.)*DateTime64"):
        m.fit(DAYS, VALUES)


def test_every_metric_may_fail() -> None:
    def metrics(estimator: Any, X: Any, y: Any) -> Any:
        raise ZeroDivisionError("no metric")

    for scoring in (metrics, ["r2", "neg_mean_absolute_error"]):
        m = search(Ridge(), "alpha").set_params(scoring=scoring, refit=False)
        with pytest.warns(UserWarning, match="Scoring failed"), pytest.raises(ValueError, match="fits failed"):
            m.fit(DAYS, VALUES)
