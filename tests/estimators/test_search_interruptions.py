"""Failures, limits, interruptions and files of searches."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn
from scipy.stats import uniform
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures, StandardScaler

from skde.estimators import EvolutionSearchCV, SearchProgress
from skde.model_selection.search_setting import describe_input

from .counted import Counted, X, search, y

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("method", ["racing", "de"])
def test_fits_that_fail(method: str) -> None:
    failing = search(search=method).set_params(estimator=Counted(fails=0.75))
    with pytest.warns() as caught:
        found = failing.fit(X, y)
    assert {FitFailedWarning, UserWarning} == {warning.category for warning in caught}
    bad = np.isnan(found.cv_results_["mean_test_score"])
    assert bad.any()
    assert all(params["a"] > 0.75 for params, one in zip(found.cv_results_["params"], bad, strict=True) if one)
    assert found.cv_results_["rank_test_score"][bad].min() > (~bad).sum()
    assert found.best_params_["a"] <= 0.75
    with pytest.raises(ValueError, match="a is too large"):
        search(search=method, error_score="raise").set_params(estimator=Counted(fails=0.5)).fit(X, y)
    with pytest.raises(ValueError, match=r"All the \d+ fits failed"):
        search(search=method).set_params(estimator=Counted(fails=-1)).fit(X, y)


@pytest.mark.parametrize("method", ["racing", "de"])
def test_a_search_without_a_score_warns_and_fits_a_configuration(method: str) -> None:
    """As in RandomizedSearchCV. A broken estimator would raise in the refit."""
    with pytest.warns(UserWarning, match="test scores are non-finite"):
        found = search(search=method, scoring=lambda estimator, X, y: np.nan).fit(X, y)
    assert found.best_params_ == found.cv_results_["params"][0]
    assert np.isnan(found.best_score_)
    if method == "racing":
        assert re.match(r"Every configuration of the race failed, \d+ in all: the score is NaN", found.message_)


def test_metrics_that_fail_add_no_column() -> None:
    def metrics(estimator: Any, X: Any, y: Any) -> dict[str, float]:
        if estimator.a > 0.5:
            raise ValueError("no metric")
        return {"first": estimator.a, "second": 1.0}

    space = {"a": [0.2, 0.4, 0.6]}
    with pytest.warns(UserWarning, match="Scoring failed|non-finite"):
        found = search(space, search="de", scoring=metrics, refit="first").fit(X, y)
    assert [name for name in found.cv_results_ if name.startswith("rank_")] == ["rank_test_first", "rank_test_second"]
    assert found.best_params_ == {"a": 0.4}


@pytest.mark.parametrize("scoring", [None, lambda estimator, X, y: estimator.score(X, y)])
def test_a_fit_that_fails_has_the_error_score_also_during_the_search(scoring: Any) -> None:
    seen: list[float] = []
    options: dict[str, Any] = {"search": "de", "scoring": scoring, "error_score": 2.0, "refit": False}
    failing = search({"a": [0.9, 0.2]}, callbacks=lambda progress: seen.append(progress.best_score), **options)
    with pytest.warns(FitFailedWarning):
        failing.set_params(estimator=Counted(fails=0.5)).fit(X, y)
    assert failing.cv_results_["mean_test_score"].max() == 2.0
    assert seen == [2.0]


def test_the_time_limit_ends_between_two_fits() -> None:
    class Slow(Counted):
        def fit(self, X: Any, y: Any, **params: Any) -> Slow:
            time.sleep(0.05)
            super().fit(X, y)
            return self

    found = EvolutionSearchCV(Slow(), {"a": uniform(0, 1)}, search="de", max_time=0.3, cv=3, n_iter=1000).fit(X, y)
    assert found.message_ == "The time limit was reached."
    assert 1 <= found.n_fits_ <= 6
    assert 0 <= found.best_params_["a"] <= 1
    assert found.history_["n_fits"][-1] == found.n_fits_


def test_callbacks() -> None:
    seen: list[SearchProgress] = []

    def stop(progress: SearchProgress) -> bool:
        seen.append(progress)
        return len(seen) == 3

    found = search(callbacks=stop).fit(X, y)
    assert found.message_ == "A callback asked to stop."
    assert [one.n_fits for one in seen] == found.history_["n_fits"].tolist()
    assert seen[-1].n_fits == found.n_fits_
    assert seen[-1].n_candidates == len(found.cv_results_["params"])
    assert seen[-1].search is found
    assert seen[-1].best_params == found.best_params_
    assert seen[-1].best_score == pytest.approx(found.best_score_)
    with pytest.raises(NotImplementedError, match="callbacks="):
        found.set_callbacks(stop)


class Interrupting:
    """A callback that raises KeyboardInterrupt once, as Ctrl-C does."""

    def __init__(self, call: int) -> None:
        self.call = call

    def __call__(self, progress: SearchProgress) -> None:
        self.call -= 1
        if self.call == 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize("method", ["racing", "jde"])
def test_an_interrupted_search_keeps_its_results_and_is_resumed(method: str) -> None:
    whole = search(search=method).fit(X, y)
    found = search(search=method, callbacks=Interrupting(2))
    with pytest.raises(KeyboardInterrupt):
        found.fit(X, y)
    assert found.best_params_ in found.cv_results_["params"]
    assert found.message_.startswith("Interrupted")
    done = found.n_fits_
    assert 0 < done < whole.n_fits_
    Counted.FITS.clear()
    with pytest.raises(ValueError, match="splits="):
        clone(found).set_params(cv=StratifiedKFold(3, shuffle=True))._run(X, y, {}, found._record)
    found.resume(X, y)
    assert sum(Counted.FITS.values()) == whole.n_fits_ - done + 1
    assert found.cv_results_["params"] == whole.cv_results_["params"]
    assert found.best_params_ == whole.best_params_
    assert found.predict(X).shape == y.shape


def test_a_killed_search_is_resumed_from_its_file(tmp_path: Path) -> None:
    file = tmp_path / "search.json"
    options: dict[str, Any] = {"search": "de", "random_state": None, "checkpoint": file}
    first = search(callbacks=Interrupting(3), **options)
    with pytest.raises(KeyboardInterrupt):
        first.fit(X, y)
    Counted.FITS.clear()
    second = search(**options)
    with pytest.raises(ValueError, match=r"resume\(X, y\)"):
        second.fit(X, y)
    second.resume(X, y)
    n = len(first.cv_results_["params"])
    assert second.cv_results_["params"][:n] == first.cv_results_["params"]
    assert sum(Counted.FITS.values()) == second.n_fits_ - first.n_fits_ + 1
    with pytest.raises(ValueError, match="data and splits="):
        second.resume(X + 1, y)
    with pytest.raises(ValueError, match="n_splits='3', and this one has '4'"):
        search(**{**options, "cv": 4}).resume(X, y)
    with pytest.raises(ValueError, match=r"search=\"'de'\", and this one has \"'jde'\""):
        search(**{**options, "search": "jde"}).resume(X, y)
    with pytest.raises(ValueError, match="space="):
        search({"a": uniform(0, 1), "b": uniform(0, 2)}, **options).resume(X, y)
    file.write_text(file.read_text()[:100])
    with pytest.raises(ValueError, match="holds no search"):
        search(**options).resume(X, y)
    with pytest.raises(ValueError, match=r"begin one by fit"):
        search().resume(X, y)


def test_a_list_with_other_values_is_another_space(tmp_path: Path) -> None:
    options: dict[str, Any] = {"search": "de", "random_state": 0, "checkpoint": tmp_path / "search.json"}
    search({"a": [0.1, 0.2], "mode": ["x", "y"]}, **options).fit(X, y)
    with pytest.raises(ValueError, match=r"choices=.*0\.1.* and this one has .*0\.7"):
        search({"a": [0.7, 0.8], "mode": ["x", "y"]}, **options).resume(X, y)
    again = search({"a": [0.1, 0.2], "mode": ["x", "y"]}, **options).resume(X, y)
    assert again.best_params_["a"] == 0.2


def test_a_search_that_fails_before_its_first_fit_leaves_no_file(tmp_path: Path) -> None:
    file = tmp_path / "search.json"
    with pytest.raises(ValueError, match="Invalid parameter"):
        search({"aa": [0.1, 0.2]}, search="de", checkpoint=file).fit(X, y)
    assert not file.exists()
    assert search({"a": [0.1, 0.2]}, search="de", checkpoint=file).fit(X, y).best_params_ == {"a": 0.2}


def test_a_file_that_cannot_be_written_leaves_the_results(tmp_path: Path) -> None:
    found = search(search="de", checkpoint=tmp_path / "none" / "search.json")
    with pytest.raises(FileNotFoundError):
        found.fit(X, y)
    assert found.best_params_ in found.cv_results_["params"]


def test_a_search_with_other_metadata_is_another_one(tmp_path: Path) -> None:
    options: dict[str, Any] = {"search": "de", "checkpoint": tmp_path / "search.json"}
    weights = np.ones(len(y))
    first = search(**options).fit(X, y, weights=weights, name=None)
    for other in ({}, {"weights": weights * (y == 0)}, {"weights": weights, "name": "n"}):
        with pytest.raises(ValueError, match="the search to resume had fit parameters="):
            search(**options).resume(X, y, **other)
    again = search(**options).resume(X, y, weights=weights.copy())
    assert again.cv_results_["params"] == first.cv_results_["params"]


def long_pipeline(degree: int) -> Any:
    """Return a pipeline of which scikit-learn's repr leaves out the middle."""
    scalers = [StandardScaler(with_mean=False) for _ in range(8)]
    return make_pipeline(*scalers, PolynomialFeatures(degree), *scalers, Ridge())


def test_a_search_of_another_estimator_is_another_one(tmp_path: Path) -> None:
    options: dict[str, Any] = {"search": "de", "n_iter": 2, "cv": 2, "checkpoint": tmp_path / "search.json"}
    space = {"ridge__alpha": [0.1, 1.0]}
    assert repr(long_pipeline(1)) == repr(long_pipeline(3))
    EvolutionSearchCV(long_pipeline(1), space, **options).fit(X, y)
    with pytest.raises(ValueError, match=r"had estimator=.*degree=1, .* and this one has .*degree=3, "):
        EvolutionSearchCV(long_pipeline(3), space, **options).resume(X, y)
    assert EvolutionSearchCV(long_pipeline(1), space, **options).resume(X, y).n_fits_ == 4


DIFFERENT = [
    FunctionTransformer(lambda X: X**2),
    FunctionTransformer(lambda X: X**3),
    FunctionTransformer(np.exp),
    FunctionTransformer(kw_args={"a": np.zeros(2000)}),
    FunctionTransformer(kw_args={"a": np.r_[np.zeros(1000), 1, np.zeros(999)]}),
    FunctionTransformer(kw_args={"a": {"x", "y", "z"}}),
    FunctionTransformer(kw_args={"a": {"x": 1, "y": StandardScaler}}),
    make_pipeline(*[StandardScaler() for _ in range(40)]),
    make_pipeline(*[StandardScaler(copy=k != 35) for k in range(40)]),
]


def test_the_text_of_an_estimator_is_the_same_in_every_process() -> None:
    texts = [describe_input(one) for one in DIFFERENT]
    assert len(set(texts)) == len(DIFFERENT)
    # The root is last: the sources of skde there have no compiled core.
    code = (
        f"import json, sys; sys.path.append({str(ROOT)!r}); import {__name__} as same; "
        "print(json.dumps([same.describe_input(one) for one in same.DIFFERENT]))"
    )
    run = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(run.stdout) == texts


def damaged(path: tuple[str, ...], value: Any) -> Any:
    """Return a change of the entry at a path of keys; "*" is the first key."""

    def change(data: Any) -> None:
        for key in path[:-1]:
            data = data[next(iter(data)) if key == "*" else key]
        data[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("scores", "*", "0", "test"), "damaged", r"\['0'\]\['test'\] must be numbers by metric, got 'damaged'"),
        (("scores", "*", "0", "test", "score"), None, r"\['test'\] must be numbers by metric, got {'score': None}"),
        (("scores", "*", "0", "train"), [], r"\['train'\] must be numbers by metric"),
        (("scores", "*", "0", "fit_time"), -1.0, r"\['fit_time'\] must be seconds >= 0, got -1.0"),
        (("scores", "*", "0", "several"), "no", r"\['several'\] must be true or false"),
        (("scores", "*", "0", "error"), None, r"\['error'\] must be a text"),
        (("scores", "*", "0", "more"), 1, r"\['0'\] must be a dict of test, train"),
        (("scores", "*", "0"), 3, r"\['0'\] must be a dict of test, train"),
        (("scores", "*", "77"), {}, r"a split of scores\[.* must be an integer in \[0, 2\], got '77'"),
        (("scores", "*", "one"), {}, r"a split of scores\[.* must be an integer in \[0, 2\], got 'one'"),
        (("scores",), [], "scores must be a dict"),
        (("seed",), 0.5, "seed must be an integer in"),
        (("seed",), -1, "seed must be an integer in"),
        (("setting", "space"), 3, "setting must be a dict of texts"),
    ],
)
def test_a_damaged_entry_of_a_file_is_named(tmp_path: Path, path: tuple[str, ...], value: Any, message: str) -> None:
    file = tmp_path / "search.json"
    options: dict[str, Any] = {"search": "de", "checkpoint": file}
    search({"a": [0.1, 0.2]}, **options).fit(X, y)
    data = json.loads(file.read_text())
    damaged(path, value)(data)
    file.write_text(json.dumps(data))
    with pytest.raises(ValueError, match=rf"search.json' is incomplete or inconsistent: .*{message}"):
        search({"a": [0.1, 0.2]}, **options).resume(X, y)


def test_a_file_of_another_version_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "search.json"
    file.write_text(json.dumps({"format": "skde-search", "version": 1}))
    with pytest.raises(ValueError, match="must be a skde-search of version 2, got 'skde-search' of version 1"):
        search(checkpoint=file).resume(X, y)


@pytest.mark.parametrize("refit", [True, lambda results: 0])
def test_an_interrupted_search_has_nothing_of_the_one_before(refit: Any) -> None:
    found = search(search="de").fit(X, y)
    with pytest.raises(KeyboardInterrupt):
        found.set_params(callbacks=Interrupting(1), refit=refit).fit(X + 1, y)
    assert found.best_params_ in found.cv_results_["params"]
    assert not hasattr(found, "best_estimator_")
    assert not hasattr(found, "refit_time_")
    assert hasattr(found, "best_score_") == (refit is True)
    found.set_params(callbacks=None, refit=True).resume(X + 1, y)
    assert found.predict(X).shape == y.shape


def test_the_message_names_an_exception() -> None:
    def fail(progress: SearchProgress) -> None:
        raise RuntimeError("no disk\nin the computer")

    found = search(search="de", callbacks=fail)
    with pytest.raises(RuntimeError, match="no disk"):
        found.fit(X, y)
    assert found.message_ == "The search failed with RuntimeError: no disk"


def test_a_search_with_other_metadata_of_the_scorer_is_another_one(tmp_path: Path) -> None:
    options: dict[str, Any] = {"cv": 2, "refit": False, "checkpoint": tmp_path / "search.json"}
    weights = np.linspace(1, 2, len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        options["scoring"] = make_scorer(accuracy_score).set_score_request(sample_weight=True)
        model = LogisticRegression().set_fit_request(sample_weight=False)
        EvolutionSearchCV(model, {"C": [1.0]}, **options).fit(X, y, sample_weight=weights)
        with pytest.raises(ValueError, match="the search to resume had score parameters="):
            EvolutionSearchCV(model, {"C": [1.0]}, **options).resume(X, y, sample_weight=weights[::-1])
