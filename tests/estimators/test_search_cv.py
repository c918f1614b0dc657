"""EvolutionSearchCV: the interface of a search estimator, and what it adds to RandomizedSearchCV."""

from __future__ import annotations

import importlib
import inspect
import pickle
import re
import tomllib
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn
from scipy.stats import loguniform, randint, uniform
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GroupKFold, RandomizedSearchCV, StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import check_estimator

import skde.model_selection.searches
from skde import DE, Categorical, Fixed, Integer, Real, algorithm_names
from skde.estimators import EvolutionSearchCV
from skde.model_selection.cv_results import column_type, ranks
from skde.model_selection.parameter_space import ParameterSpace
from skde.model_selection.searches import variable
from skde.tuning.split_race import race_rules, race_splits

from .counted import Counted, X, search, y


class Drawn:
    """A distribution with rvs alone."""

    def rvs(self, random_state: Any = None) -> Any:
        return random_state.uniform(0, 1)


class Unscored(Counted):
    """The same with any values of a."""

    def fit(self, X: Any, y: Any, **params: Any) -> Unscored:
        self.FITS[str(type(self.a)) + repr(self.a), self.mode, float(np.sum(X))] += 1
        self.classes_ = np.unique(y)
        return self

    def score(self, X: Any, y: Any) -> float:
        return 1.0


@pytest.mark.parametrize(
    "options",
    [
        {"param_distributions": {"C": [0.1, 1.0]}, "cv": 2, "error_score": "raise", "random_state": 0},
        {"param_distributions": {"C": loguniform(0.1, 1)}, "cv": 2, "n_iter": 6},
    ],
    ids=["all", "race"],
)
def test_is_a_search_estimator_of_scikit_learn(options: dict[str, Any]) -> None:
    found = EvolutionSearchCV(LogisticRegression(), **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of checks that are left out
        checks = check_estimator(found)  # raises where one fails
    assert sum(check["status"] == "passed" for check in checks) > 40


@pytest.mark.parametrize("method", ["racing", *algorithm_names()])
def test_every_method_of_search_finds_the_best(method: str) -> None:
    found = search(search=method, n_iter=40).fit(X, y)
    assert found.n_fits_ <= 40 * 3
    assert abs(found.best_params_["a"] - 0.7) < 0.2
    assert found.best_score_ == max(found.cv_results_["mean_test_score"][found.candidate_fits_ == 3])
    assert max(Counted.FITS.values()) == 1
    assert sum(Counted.FITS.values()) == found.n_fits_ + 1  # the refit


def test_a_race_tries_more_configurations() -> None:
    found = search(n_iter=20, cv=8).fit(X, y)
    n_fits = found.candidate_fits_
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


def test_integers_beyond_64_bits_are_objects_of_the_table() -> None:
    powers = [10**k for k in range(0, 22, 3)]
    found = EvolutionSearchCV(Ridge(), {"alpha": powers}, n_iter=10).fit(X, y)
    assert found.cv_results_["param_alpha"].dtype == object
    assert found.cv_results_["param_alpha"].tolist() == powers
    assert column_type([0.5, 10**400]) is object
    assert column_type([0.5, 10**21]) == np.float64


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


@pytest.mark.parametrize("scoring", [None, "accuracy", ["accuracy", "roc_auc_ovr"], make_scorer(accuracy_score)])
def test_weights_count_in_scores_as_in_the_installed_scikit_learn(scoring: Any) -> None:
    weights = np.random.default_rng(0).random(len(y)) * (y == 0) * 5 + 0.01
    options: dict[str, Any] = {"cv": 3, "scoring": scoring, "refit": False}
    model, space = LogisticRegression(max_iter=500), {"C": [0.01]}
    own = EvolutionSearchCV(model, space, **options).fit(X, y, sample_weight=weights)
    theirs = RandomizedSearchCV(model, space, n_iter=1, **options).fit(X, y, sample_weight=weights)
    assert set(own.cv_results_) == set(theirs.cv_results_)
    for name, column in theirs.cv_results_.items():
        if "_test_" in name:
            np.testing.assert_allclose(own.cv_results_[name], column, rtol=1e-12)


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


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"param_distributions": 3}, TypeError, "param_distributions must be a mapping"),
        ({"param_distributions": {"a": 3}}, TypeError, r"param_distributions\['a'\] must be a list of values"),
        ({"param_distributions": {"a": []}}, ValueError, "at least one value"),
        ({"param_distributions": {"a": uniform}}, TypeError, "must be a frozen distribution"),
        ({"conditions": {"aa": bool}}, ValueError, "did you mean 'a'"),
        ({"conditions": {"a": 3}}, TypeError, r"conditions\['a'\] must be a function"),
        ({"conditions": {"a": lambda values: values["bb"]}}, ValueError, "'bb', which is no parameter.*mean 'b'"),
        ({"conditions": {"a": lambda values: values["a"]}}, ValueError, "in a circle: 'a' on 'a'"),
        (
            {"conditions": {"a": lambda values: values["b"], "b": lambda values: values["a"]}},
            ValueError,
            "in a circle: 'a' on 'b' on 'a'",
        ),
        ({"search": "jdee"}, ValueError, "did you mean 'jde'"),
        ({"search": 3}, TypeError, "search must be 'racing'"),
        ({"n_iter": 0}, ValueError, "n_iter must be an integer >= 1"),
        ({"search": DE(pop_size=6), "n_iter": 4}, ValueError, "at least the population size of search=DE.*, 6, got 4"),
        ({"max_time": 0}, ValueError, "max_time must be a number in"),
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
    monkeypatch.setattr(skde.model_selection.searches, "entry_points", lambda **group: [])
    with pytest.raises(ImportError, match=r"pip install 'skde\[tuning\]'"):
        search().fit(X, y)


def test_ranks_are_by_fits_then_by_means() -> None:
    means, n_fits = np.array([0.9, 0.5, np.nan, 0.8, 0.8]), np.array([2, 3, 3, 3, 3])
    assert ranks(means, n_fits).tolist() == [4, 3, 5, 1, 1]


def test_a_race_adapts_to_few_fits() -> None:
    assert (race_rules(2, 300, 5).survivors, race_rules(2, 300, 5).first_test) == (3, 3)
    assert (race_rules(2, 34, 5).survivors, race_rules(2, 34, 5).first_test) == (1, 3)
    assert (race_rules(2, 24, 5).survivors, race_rules(2, 24, 5).first_test) == (1, 2)
    with pytest.raises(ValueError, match="n_iter must be at least 5"):
        race_rules(2, 20, 5)


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"n_iter": 4}, "n_iter must be at least 7 for a race of 2 parameters over 3 splits, got 4"),
        (
            {"n_iter": 4, "cv": [(range(100), range(100, 150))]},
            "compares configurations over at least 2 splits, and cv has 1",
        ),
        ({"n_iter": 4, "search": "de"}, "n_iter must be at least the population size of search='de', 6, got 4"),
        (
            {"n_iter": 10, "space": {"a": Drawn(), "b": uniform(0, 1)}},
            "the distribution of 'a' has the method rvs alone",
        ),
        ({"n_iter": 10, "space": {"a": Drawn()}, "search": "jde"}, "the distribution of 'a' has the method rvs alone"),
    ],
)
def test_random_configurations_where_a_search_cannot_be(
    parameters: dict[str, Any], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found, again = (search(**parameters, verbose=1, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    n_iter = parameters["n_iter"]
    assert f"{reason}: {n_iter} random configurations are tried with all their splits" in found.message_
    assert "random configurations are tried with all their splits\n" in "".join(capsys.readouterr())
    assert found.candidate_fits_.tolist() == [found.n_splits_] * n_iter
    assert len({one["a"] for one in found.cv_results_["params"]}) == n_iter
    assert again.cv_results_["params"] == found.cv_results_["params"]


@pytest.mark.parametrize("method", ["racing", "jde"])
@pytest.mark.parametrize(
    ("space", "n_configurations"),
    [
        ({"a": [0.1, 0.1, 0.2, 0.1]}, 2),
        ([{"a": [0.1, 0.2]}, {"a": [0.2, 0.3]}], 3),
        ([{"a": [0.1, 0.2], "mode": ["x"]}, {"mode": ["x", "y"], "a": [0.2, 0.1]}], 4),
        ([{"a": [1, 2]}, {"a": randint(2, 4)}], 3),
        ({"a": [1, 1.0, True]}, 3),
        ({"a": [(1, 2), (1, 2), [1, 2]]}, 2),
    ],
)
def test_equal_values_are_one_configuration(method: str, space: Any, n_configurations: int) -> None:
    found = search(space, search=method, refit=False).set_params(estimator=Unscored()).fit(X, y)
    assert len(found.cv_results_["params"]) == n_configurations
    assert found.n_fits_ == 3 * n_configurations == sum(Unscored.FITS.values())


def test_the_first_of_equal_values_has_its_place() -> None:
    (parameter,) = ParameterSpace({"a": [1, 2, 1, 3]}).parameters
    assert (parameter.choices, parameter.ordered) == ((1, 2, 3), True)


def test_lists_without_an_order_are_categories_of_an_algorithm() -> None:
    space = ParameterSpace({"mode": ["z", "x", "y"], "n": [1, 5, 9], "a": uniform(0, 1), "b": ["one"]})
    assert [type(variable(one)) for one in space.parameters] == [Categorical, Integer, Real, Fixed]
    found = search({"mode": [str(k) for k in range(40)], "a": uniform(0, 1)}, search="jde", n_iter=40).fit(X, y)
    assert len({one["mode"] for one in found.cv_results_["params"]}) > 5


def test_every_configuration_has_the_same_splits() -> None:
    search(search="de", cv=StratifiedKFold(3, shuffle=True)).fit(X, y)
    assert len({key[-2:] for key in Counted.FITS}) <= 4


def test_the_pages_code_runs(capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "hyperparameters.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    for block in blocks:
        exec(compile(block, "hyperparameters.md", "exec"), {})
    assert len(capsys.readouterr().out.splitlines()) >= len(blocks) == 2


def test_public_names() -> None:
    for name in skde.estimators.__all__:
        assert inspect.getdoc(getattr(skde.estimators, name))


class Constant(Counted):
    """A classifier with the same score for all parameters but one."""

    def score(self, X: Any, y: Any) -> float:
        return 0.25 if self.a == 0.0 else 0.5


@pytest.mark.parametrize("method", ["racing", "jde"])
def test_the_best_of_equal_configurations_is_the_first(method: str) -> None:
    """In the progress of a search as in its results."""
    seen: list[Any] = []
    space = {"a": [a / 40 for a in range(40)], "mode": ["x", "y"]}
    found = EvolutionSearchCV(
        Constant(), space, search=method, n_iter=20, cv=3, random_state=0, callbacks=seen.append
    ).fit(X, y)
    complete = [
        params
        for params, fits in zip(found.cv_results_["params"], found.candidate_fits_, strict=True)
        if fits == 3 and params["a"] != 0.0
    ]
    assert len(complete) > 3
    assert found.best_params_ == complete[0]
    assert (seen[-1].best_params, seen[-1].best_score) == (complete[0], 0.5)
    assert seen[-1].best_params is not complete[0]  # a copy, which a callback may change
