"""EvolutionSearchCV: the interface of a search estimator, and what it adds to RandomizedSearchCV."""

from __future__ import annotations

import importlib
import inspect
import json
import pickle
import re
import sys
import time
import tomllib
import warnings
from collections import Counter
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import sklearn
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from scipy.stats import expon, loguniform, norm, poisson, randint, uniform
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GroupKFold, RandomizedSearchCV, StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import check_estimator

import skde.estimators.searches
from skde import DE, Categorical, Fixed, Integer, Log, Ordinal, Real, algorithm_names
from skde.estimators import EvolutionSearchCV, MLflowLogger, SearchDisplay, SearchProgress, TensorBoardLogger
from skde.estimators.cv_results import ranks
from skde.estimators.parameter_space import ParameterSpace
from skde.tuning.split_race import race_rules, race_splits

X, y = load_iris(return_X_y=True)
SPACE = {"C": loguniform(1e-2, 1e2), "tol": uniform(1e-4, 1e-1)}


class Counted(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier with a score that its parameters say, of which fits are noted in FITS."""

    FITS: ClassVar[Counter[tuple[Any, ...]]] = Counter()
    CALLS: ClassVar[list[dict[str, Any]]] = []

    def __init__(self, a: float = 0.0, b: float = 0.0, mode: str = "x", fails: float = 2.0) -> None:
        self.a, self.b, self.mode, self.fails = a, b, mode, fails

    def fit(self, X: Any, y: Any, **params: Any) -> Counted:
        self.FITS[self.a, self.b, self.mode, float(np.sum(X)), len(X)] += 1
        self.CALLS.append(params)
        if self.a > self.fails:
            raise ValueError("a is too large")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.zeros(len(X), int)

    def score(self, X: Any, y: Any) -> float:
        return float(1 - (self.a - 0.7) ** 2 - (self.b - 0.2) ** 2 + 1e-3 * X[0, 0])


@pytest.fixture(autouse=True)
def counted() -> None:
    Counted.FITS.clear()
    Counted.CALLS.clear()


@pytest.fixture(autouse=True)
def racing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Find the race without its entry point, which an installation may lack that is older than these sources."""

    class EntryPoint:
        def load(self) -> Any:
            return race_splits

    def entry_points(group: str, name: str) -> list[EntryPoint]:
        return [EntryPoint()] if (group, name) == ("skde.searches", "racing") else []

    monkeypatch.setattr(skde.estimators.searches, "entry_points", entry_points)


def search(space: Any = None, **parameters: Any) -> EvolutionSearchCV:
    given = {"n_iter": 24, "random_state": 0, "cv": 3, **parameters}
    return EvolutionSearchCV(Counted(), space or {"a": uniform(0, 1), "b": uniform(0, 1)}, **given)


def test_is_a_search_estimator_of_scikit_learn() -> None:
    found = EvolutionSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2, error_score="raise", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of checks that are left out
        checks = check_estimator(found)  # raises where one fails
    assert sum(check["status"] == "passed" for check in checks) > 40


@pytest.mark.parametrize("method", ["racing", *algorithm_names()])
def test_every_method_of_search_finds_the_best(method: str) -> None:
    found = search(search=method, n_iter=40).fit(X, y)
    assert found.n_fits_ <= 40 * 3
    assert abs(found.best_params_["a"] - 0.7) < 0.2
    assert found.best_score_ == max(found.cv_results_["mean_test_score"][found.cv_results_["n_fits"] == 3])
    assert max(Counted.FITS.values()) == 1
    assert sum(Counted.FITS.values()) == found.n_fits_ + 1  # the refit


def test_a_race_tries_more_configurations() -> None:
    found = search(n_iter=20, cv=8).fit(X, y)
    n_fits = found.cv_results_["n_fits"]
    assert len(n_fits) > 25
    assert found.n_fits_ == n_fits.sum() <= 160
    assert n_fits[found.best_index_] == 8
    assert np.isnan(found.cv_results_["split7_test_score"][n_fits < 8]).any()
    assert found.cv_results_["rank_test_score"][found.best_index_] == 1


@pytest.mark.parametrize("method", ["racing", "jde", DE(pop_size=8)])
def test_the_same_seed_gives_the_same_search_with_any_jobs(method: Any) -> None:
    one, two, other = (
        search(search=method, n_iter=12, n_jobs=jobs, random_state=seed).fit(X, y)
        for jobs, seed in ((1, 0), (2, 0), (1, 1))
    )
    assert one.cv_results_["params"] == two.cv_results_["params"] != other.cv_results_["params"]
    np.testing.assert_array_equal(one.cv_results_["split0_test_score"], two.cv_results_["split0_test_score"])


def test_a_finite_space_is_tried_in_full_and_equals_cross_validation() -> None:
    space = {"n_neighbors": [1, 5, 20], "weights": ["uniform", "distance"]}
    found = EvolutionSearchCV(KNeighborsClassifier(), space, cv=4, return_train_score=True).fit(X, y)
    assert len(found.cv_results_["params"]) == 6
    assert found.message_ == "All configurations of the space were tried."
    for k, params in enumerate(found.cv_results_["params"]):
        scores = cross_val_score(KNeighborsClassifier(**params), X, y, cv=4)
        np.testing.assert_array_equal([found.cv_results_[f"split{s}_test_score"][k] for s in range(4)], scores)
        assert found.cv_results_["mean_test_score"][k] == pytest.approx(scores.mean())
        assert found.cv_results_["std_test_score"][k] == pytest.approx(scores.std())
    assert found.cv_results_["mean_train_score"][0] == 1.0
    assert found.cv_results_["param_weights"].dtype == object
    assert found.cv_results_["param_n_neighbors"].dtype.kind == "i"


def test_methods_of_the_best_estimator() -> None:
    found = EvolutionSearchCV(SVC(), {"C": [1.0, 10.0]}, cv=3).fit(X, y)
    best = SVC(**found.best_params_).fit(X, y)
    np.testing.assert_array_equal(found.predict(X), best.predict(X))
    np.testing.assert_array_equal(found.decision_function(X), best.decision_function(X))
    assert found.score(X, y) == best.score(X, y)
    assert (found.n_splits_, found.n_features_in_, found.classes_.tolist()) == (3, 4, [0, 1, 2])
    assert isinstance(found, RandomizedSearchCV)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(found)).predict(X), found.predict(X))
    assert not hasattr(clone(found), "best_params_")


def test_several_metrics() -> None:
    space = {"C": loguniform(1e-2, 1e2), "gamma": loguniform(1e-3, 1e1)}
    options: dict[str, Any] = {"n_iter": 12, "cv": 3, "random_state": 0}
    scoring = {"first": "accuracy", "second": make_scorer(accuracy_score)}
    found = EvolutionSearchCV(SVC(), space, scoring=scoring, refit="second", **options).fit(X, y)
    alone = EvolutionSearchCV(SVC(), space, scoring="accuracy", **options).fit(X, y)
    assert found.multimetric_
    assert found.best_params_ == alone.best_params_
    np.testing.assert_array_equal(found.cv_results_["mean_test_first"], alone.cv_results_["mean_test_score"])
    assert found.score(X, y) == alone.score(X, y)

    def chosen(results: dict[str, Any]) -> int:
        return int(results["mean_test_first"].argmin())

    worst = EvolutionSearchCV(SVC(), space, scoring=["accuracy"], refit=False, **options).fit(X, y)
    assert not hasattr(worst, "best_params_")
    least = EvolutionSearchCV(SVC(), space, scoring=scoring, refit=chosen, **options).fit(X, y)
    assert least.best_index_ == chosen(least.cv_results_)
    together = EvolutionSearchCV(
        SVC(), space, scoring=lambda e, X, y: {"s": e.score(X, y), "t": 0.0}, refit="s", **options
    ).fit(X, y)
    assert together.best_params_ == alone.best_params_


@pytest.mark.parametrize(
    ("refit", "message"),
    [(True, "refit must be set to a scorer key"), ("thirst", "scorers are 'first', 'second'")],
)
def test_several_metrics_need_one_to_search_by(refit: Any, message: str) -> None:
    scoring = {"first": "accuracy", "second": "accuracy"}
    with pytest.raises(ValueError, match=message):
        search(scoring=scoring, refit=refit).fit(X, y)


def test_groups_and_fit_parameters() -> None:
    groups = np.arange(len(X)) % 6
    found = search(search="de", cv=GroupKFold(3)).fit(X, y, groups=groups, weights=list(range(len(X))), name="n")
    assert found.n_splits_ == 3
    lengths = {len(call["weights"]) for call in Counted.CALLS}
    assert lengths == {100, 150}
    assert {call["name"] for call in Counted.CALLS} == {"n"}
    with pytest.raises(ValueError, match="groups"):
        search(search="de", cv=GroupKFold(3)).fit(X, y)


def test_metadata_routing() -> None:
    weights = np.linspace(0, 1, len(X))
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = make_scorer(accuracy_score).set_score_request(sample_weight=True)
        estimator = LogisticRegression().set_fit_request(sample_weight=True)
        found = EvolutionSearchCV(estimator, {"C": [1.0]}, scoring=scorer, cv=GroupKFold(3))
        found.fit(X, y, sample_weight=weights, groups=np.arange(len(X)) % 3)
        train, test = next(GroupKFold(3).split(X, y, np.arange(len(X)) % 3))
        fitted = LogisticRegression().fit(X[train], y[train], sample_weight=weights[train])
        expected = accuracy_score(y[test], fitted.predict(X[test]), sample_weight=weights[test])
        assert found.cv_results_["split0_test_score"][0] == expected
        with pytest.raises(TypeError, match="other"):
            found.fit(X, y, other=weights)


# -- failures, limits, interruptions -----------------------------------------------------------------------------------


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


def test_a_race_without_a_score_says_so() -> None:
    with pytest.raises(RuntimeError, match=r"every configuration of the race failed, \d+ in all: the score is NaN"):
        search(scoring=lambda estimator, X, y: np.nan).fit(X, y)


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


def test_a_file_without_choices_is_resumed(tmp_path: Path) -> None:
    file = tmp_path / "search.json"
    options: dict[str, Any] = {"search": "de", "random_state": 0, "checkpoint": file}
    search({"a": [0.1, 0.2]}, **options).fit(X, y)
    data = json.loads(file.read_text())
    del data["setting"]["choices"]  # as in files of earlier versions
    file.write_text(json.dumps(data))
    assert search({"a": [0.1, 0.2]}, **options).resume(X, y).best_params_ == {"a": 0.2}


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


# -- spaces ------------------------------------------------------------------------------------------------------------


def test_distributions() -> None:
    space = ParameterSpace(
        {
            "uniform": uniform(2, 3),
            "log": loguniform(1e-3, 1e3),
            "normal": norm(0, 1),
            "integer": randint(3, 7),
            "poisson": poisson(4),
            "list": ["b", None, (1, 2)],
            "numbers": np.array([1, 5, 9]),
            "float": FloatDistribution(1e-2, 1e2, log=True),
            "steps": FloatDistribution(0.0, 1.0, step=0.25),
            "whole": IntDistribution(1, 1000, log=True),
            "many": IntDistribution(0, 10_000, step=5),
            "category": CategoricalDistribution(["p", "q"]),
        }
    )
    first, middle, last = (space.at(np.full(len(space.parameters), u)).params for u in (0.0, 0.5, 1.0))
    assert [
        first[name] for name in ("uniform", "integer", "list", "numbers", "steps", "whole", "many", "category")
    ] == [*(2.0, 3, "b", 1, 0.0, 1, 0, "p")]
    assert [last[name] for name in ("uniform", "integer", "list", "numbers", "steps", "whole", "many", "category")] == [
        *(5.0, 6, (1, 2), 9, 1.0, 1000, 10_000, "q")
    ]
    assert [middle[name] for name in ("log", "normal", "float")] == pytest.approx([1.0, 0.0, 1.0])
    assert (first["poisson"], last["poisson"] > 8, type(middle["poisson"])) == (0, True, int)
    assert -4 < first["normal"] < -3
    ordered = {parameter.name for parameter in space.parameters if parameter.ordered}
    assert ordered == {"integer", "numbers", "steps"}
    draws = [space.at(u).params["integer"] for u in np.random.default_rng(0).uniform(size=(4000, 12))]
    np.testing.assert_allclose(np.bincount(draws)[3:] / 4000, 0.25, atol=0.03)


def test_typed_variables() -> None:
    variables = {
        "real": Real(-1, 3),
        "log": Log(1e-4, 1.0),
        "few": Integer(2, 4),
        "many": Integer(0, 1000),
        "ordinal": Ordinal([0.1, 0.5]),
        "category": Categorical(["rbf", None]),
        "fixed": Fixed(2.0),
    }
    space = ParameterSpace(variables)
    found = [space.at(np.full(len(space), u)).params for u in (0.0, 0.5, 1.0)]
    assert list(found[0].values()) == pytest.approx([-1, 1e-4, 2, 0, 0.1, "rbf", 2], abs=1e-12)
    assert list(found[2].values()) == pytest.approx([3, 1, 4, 1000, 0.5, None, 2])
    assert (found[1]["real"], found[1]["log"]) == pytest.approx((1.0, 0.01))
    assert type(found[1]["few"]) is type(found[1]["many"]) is int
    assert {parameter.name for parameter in space.parameters if parameter.ordered} == {"few", "ordinal", "fixed"}


@pytest.mark.parametrize("method", ["racing", "de"])
def test_conditions(method: str) -> None:
    space = {"mode": ["x", "y"], "a": uniform(0, 1), "b": uniform(0, 1)}
    found = search(space, search=method, conditions={"b": lambda values: values["mode"] == "y"}).fit(X, y)
    params = found.cv_results_["params"]
    assert all(("b" in one) == (one["mode"] == "y") for one in params)
    assert any("b" in one for one in params)
    np.testing.assert_array_equal(found.cv_results_["param_b"].mask, ["b" not in one for one in params])


@pytest.mark.parametrize("method", ["racing", "de"])
def test_several_mappings(method: str) -> None:
    space = [{"mode": ["x"], "a": uniform(0, 1)}, {"mode": ["y"], "b": uniform(0, 1)}]
    found = search(space, search=method).fit(X, y)
    assert {tuple(sorted(one)) for one in found.cv_results_["params"]} == {("a", "mode"), ("b", "mode")}
    assert all(("a" in one) == (one["mode"] == "x") for one in found.cv_results_["params"])


def test_estimators_as_values() -> None:
    inner = [Ridge(alpha=1.0), Ridge(alpha=2.0)]
    from sklearn.compose import TransformedTargetRegressor

    found = EvolutionSearchCV(TransformedTargetRegressor(), {"regressor": inner}, cv=2).fit(X, y)
    assert found.best_params_["regressor"] in inner
    assert not hasattr(inner[0], "coef_")


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"param_distributions": 3}, TypeError, "param_distributions must be a mapping"),
        ({"param_distributions": {"a": 3}}, TypeError, r"param_distributions\['a'\] must be a list of values"),
        ({"param_distributions": {"a": []}}, ValueError, "at least one value"),
        ({"param_distributions": {"a": uniform}}, TypeError, "must be a frozen distribution"),
        ({"conditions": {"aa": bool}}, ValueError, "did you mean 'a'"),
        ({"conditions": {"a": 3}}, TypeError, r"conditions\['a'\] must be a function"),
        ({"conditions": {"a": lambda values: values["b"]}}, ValueError, "'b', which has to come before"),
        ({"search": "jdee"}, ValueError, "did you mean 'jde'"),
        ({"search": 3}, TypeError, "search must be 'racing'"),
        ({"n_iter": 0}, ValueError, "n_iter must be an integer >= 1"),
        ({"n_iter": 4}, ValueError, "n_iter must be at least 7 for a race of 2 parameters over 3 splits, got 4"),
        ({"search": "de", "n_iter": 4}, ValueError, "at least the population size of search='de', 6, got 4"),
        ({"max_time": 0}, ValueError, "max_time must be a number in"),
        ({"cv": [(range(100), range(100, 150))]}, ValueError, "at least 2 splits, and cv has 1"),
        ({"error_score": "rise"}, ValueError, "error_score must be 'raise' or a number"),
        ({"estimator": 3}, TypeError, "estimator must have the method fit"),
        ({"callbacks": 3}, TypeError, "callbacks must be callables"),
    ],
)
def test_errors_say_what_is_allowed(parameters: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        search().set_params(**parameters).fit(X, y)


def test_a_misspelt_parameter_suggests_the_nearest() -> None:
    with pytest.raises(TypeError, match="did you mean 'n_iter'"):
        EvolutionSearchCV(Counted(), {"a": [1]}, n_iters=3)  # type: ignore[call-arg]


def test_the_entry_point_names_the_race() -> None:
    project = tomllib.loads((Path(__file__).resolve().parents[2] / "pyproject.toml").read_text())["project"]
    module, _, name = project["entry-points"]["skde.searches"]["racing"].partition(":")
    assert getattr(importlib.import_module(module), name) is race_splits


def test_without_tuning_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(skde.estimators.searches, "entry_points", lambda **group: [])
    with pytest.raises(ImportError, match=r"pip install 'skde\[tuning\]'"):
        search().fit(X, y)


# -- parts -------------------------------------------------------------------------------------------------------------


def test_ranks_are_by_fits_then_by_means() -> None:
    means, n_fits = np.array([0.9, 0.5, np.nan, 0.8, 0.8]), np.array([2, 3, 3, 3, 3])
    assert ranks(means, n_fits).tolist() == [4, 3, 5, 1, 1]


def test_a_race_adapts_to_few_fits() -> None:
    assert (race_rules(2, 300, 5).survivors, race_rules(2, 300, 5).first_test) == (3, 3)
    assert (race_rules(2, 34, 5).survivors, race_rules(2, 34, 5).first_test) == (1, 3)
    assert (race_rules(2, 24, 5).survivors, race_rules(2, 24, 5).first_test) == (1, 2)
    with pytest.raises(ValueError, match="n_iter must be at least 5"):
        race_rules(2, 20, 5)


def test_the_plot_of_a_search() -> None:
    found = search(search="de").fit(X, y)
    display = SearchDisplay.from_estimator(found)
    assert display.ax_.get_ylabel() == "best mean score"
    assert display.line_.get_ydata()[-1] == pytest.approx(found.best_score_)
    again = SearchDisplay(found.history_["n_fits"], found.history_["best_score"]).plot(ax=display.ax_)
    assert again.figure_ is display.figure_


def test_the_plot_of_a_table_of_results() -> None:
    found = search(search="de").fit(X, y)
    display = SearchDisplay.from_result(found.cv_results_)
    best, points = display.lines_
    assert points.get_ydata() == pytest.approx(found.cv_results_["mean_test_score"])
    assert (best.get_ydata()[-1], points.get_xdata()[-1]) == (pytest.approx(found.best_score_), found.n_fits_)
    with pytest.raises(ValueError, match="metric must be one of score, got 'auc'"):
        SearchDisplay.from_result(found.cv_results_, metric="auc")


def test_a_configuration_with_fewer_fits_is_not_the_best() -> None:
    results = {"mean_test_score": np.array([0.5, 0.9, 0.6]), "n_fits": np.array([4, 1, 4])}
    best, points = SearchDisplay.from_result(results).lines_
    assert best.get_ydata().tolist() == [0.5, 0.5, 0.6]
    assert points.get_xdata().tolist() == [4, 5, 9]


def test_other_searches_have_the_same_plot() -> None:
    found = RandomizedSearchCV(Counted(), {"a": uniform(0, 1)}, n_iter=5, random_state=0, cv=3).fit(X, y)
    display = SearchDisplay.from_estimator(found)
    assert display.lines_[0].get_xdata().tolist() == [3, 6, 9, 12, 15]
    assert display.ax_.get_title() == "Counted"


def test_notebooks_show_a_curve() -> None:
    found = search(search="de")
    assert "<svg" not in found._repr_html_()
    shown = found.fit(X, y)._repr_mimebundle_()["text/html"]
    assert shown.count("<svg") == 1
    assert "fits</text>" in shown
    assert "sk-top-container" in shown


def test_a_progress_bar(capsys: pytest.CaptureFixture[str]) -> None:
    search(search="de", verbose=1).fit(X, y)
    assert "69/72" in capsys.readouterr().err


def test_every_configuration_has_the_same_splits() -> None:
    search(search="de", cv=StratifiedKFold(3, shuffle=True)).fit(X, y)
    assert len({key[-2:] for key in Counted.FITS}) <= 4


def test_infinite_tails_and_expon_are_cut() -> None:
    space = ParameterSpace({"scale": expon(scale=10)})
    assert space.at(np.array([0.0])).params["scale"] == 0.0
    assert 80 < space.at(np.array([1.0])).params["scale"] < 100


class Recorder:
    """The part of MLflow's module, and of a SummaryWriter, that the loggers use."""

    def __init__(self) -> None:
        self.scalars: list[tuple[str, float, int]] = []
        self.tags: dict[str, str] = {}

    def add_scalar(self, name: str, value: float, step: int) -> None:
        self.scalars.append((name, value, step))

    def log_metric(self, name: str, value: float, step: int) -> None:
        self.scalars.append((name, value, step))

    def set_tags(self, tags: dict[str, str]) -> None:
        self.tags |= tags


def test_loggers(monkeypatch: pytest.MonkeyPatch) -> None:
    writer, mlflow = Recorder(), Recorder()
    monkeypatch.setitem(sys.modules, "mlflow", mlflow)  # type: ignore[arg-type]
    found = search(search="de", callbacks=[TensorBoardLogger(writer), MLflowLogger()]).fit(X, y)
    assert writer.scalars[-1] == ("search/best_score", found.history_["best_score"][-1], found.n_fits_)
    assert [(f"search/{name}", value, step) for name, value, step in mlflow.scalars] == writer.scalars
    assert mlflow.tags == {f"best.{name}": str(value) for name, value in found.best_params_.items()}
    with pytest.raises(TypeError, match="writer must be a SummaryWriter"):
        TensorBoardLogger("runs")


def test_the_pages_code_runs(capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "hyperparameters.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    for block in blocks:
        exec(compile(block, "hyperparameters.md", "exec"), {})
    assert len(capsys.readouterr().out.splitlines()) >= len(blocks) == 2


def test_public_names() -> None:
    for name in skde.estimators.__all__:
        assert inspect.getdoc(getattr(skde.estimators, name))
