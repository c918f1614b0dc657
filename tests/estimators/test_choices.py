"""Choices of EvolutionSearchCV: estimators get the objects that were given; a pair of numbers is refused."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from optuna.distributions import CategoricalDistribution
from scipy.stats import uniform
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from skde import Categorical, Fixed, Ordinal
from skde.estimators import EvolutionSearchCV
from skde.model_selection.parameter_space import ParameterSpace

from .counted import X, search, y

SEARCHES = ["racing", "jde"]


class Thing:
    """An object that no file knows."""

    def __init__(self, number: int) -> None:
        self.number = number


class Recorder(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier with the score of its parameter's place among the choices."""

    CHOICES: tuple[Any, ...] = ()

    def __init__(self, choice: Any = None, x: float = 0.0) -> None:
        self.choice, self.x = choice, x

    def fit(self, X: Any, y: Any) -> Recorder:
        self.classes_ = np.unique(y)
        return self

    def score(self, X: Any, y: Any) -> float:
        own = [k for k, one in enumerate(self.CHOICES) if type(one) is type(self.choice) and one == self.choice]
        return float(own[0] == 1) - (self.x - 0.3) ** 2 if own else -10.0


@pytest.mark.parametrize("method", SEARCHES)
def test_ordinal_depths_reach_a_tree(method: str) -> None:
    space = {"max_depth": Ordinal([2, 4, 8]), "min_samples_leaf": Fixed(2), "ccp_alpha": uniform(0, 0.05)}
    found = EvolutionSearchCV(DecisionTreeClassifier(random_state=0), space, search=method, n_iter=20, random_state=0)
    found.fit(X, y)
    for params in [found.best_params_, found.best_estimator_.get_params(), *found.cv_results_["params"]]:
        assert (type(params["max_depth"]), type(params["min_samples_leaf"])) == (int, int)
    assert found.cv_results_["param_max_depth"].dtype.kind == "i"
    assert np.isfinite(found.best_score_)


@pytest.mark.parametrize("method", SEARCHES)
@pytest.mark.parametrize(
    "choices",
    [
        Ordinal([1, 2.5, 7]),
        Ordinal([np.int64(2), np.int64(4), np.int64(8)]),
        [np.int64(2), np.float32(0.1), 4],
        np.arange(3),
        [1, True, 1.0],
        [True, 1, None],
        Categorical([1.0, True, 1, "1"]),
        Categorical([np.str_("a"), np.int64(1), None]),
        CategoricalDistribution([1, True]),
        [(1, 2), [1, 2], "12"],
        [(0.1, 0.2), (0.3,)],
        [0.1, 0.2],
    ],
    ids=repr,
)
def test_choices_reach_estimators_as_given(choices: Any, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given = getattr(choices, "values", getattr(choices, "choices", choices))
    monkeypatch.setattr(Recorder, "CHOICES", tuple(given))
    space = {"choice": choices, "x": uniform(0, 1)}
    found = EvolutionSearchCV(Recorder(), space, search=method, n_iter=24, random_state=0, cv=3).fit(X, y)
    assert type(found.best_params_["choice"]) is type(given[1])
    assert found.best_params_["choice"] == given[1]
    assert found.best_score_ > 0.5
    tried = {(type(one["choice"]), repr(one["choice"])) for one in found.cv_results_["params"]}
    assert tried == {(type(one), repr(one)) for one in given}


def test_objects_come_back_themselves() -> None:
    things = [Thing(0), Thing(1)]
    space = ParameterSpace({"thing": things, "other": [np.int64(4), 5]})
    assert space.at(np.zeros(2)).params["thing"] is things[0]
    assert space.at(np.ones(2)).params["thing"] is things[1]
    assert type(space.at(np.zeros(2)).params["other"]) is np.int64


@pytest.mark.parametrize("method", SEARCHES)
def test_a_resumed_search_has_the_choices_as_given(method: str, tmp_path: Path) -> None:
    space = {"a": Ordinal([np.float32(0.5), 1, 2]), "mode": Categorical(["x", np.str_("y")]), "b": uniform(0, 1)}
    path = tmp_path / "search.json"
    first = search(space, search=method, checkpoint=path).fit(X, y)
    assert json.loads(path.read_text())["scores"]
    resumed = search(space, search=method, checkpoint=path).resume(X, y)
    kinds = [
        [(name, type(value), value) for one in found.cv_results_["params"] for name, value in one.items()]
        for found in (first, resumed)
    ]
    assert kinds[0] == kinds[1]
    assert {kind for name, kind, _ in kinds[0] if name == "a"} == {np.float32, int}


def test_numbers_of_numpy_and_of_python_are_one_choice() -> None:
    space = ParameterSpace({"a": [np.int64(2), 2, 3]})
    assert [len(one.choices or ()) for one in space.parameters] == [2]
    other = ParameterSpace({"a": [2, 3]})
    assert space.at(np.zeros(1)).identity == other.at(np.zeros(1)).identity  # so files of one are files of the other


# -- pairs of numbers --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        ((0.001, 100.0), r"\[0\.001, 100\.0\] for two values, skde\.Real\(0\.001, 100\.0\) .*skde\.Log\(0\.001, 100"),
        ((1, 10), r"\[1, 10\] for two values, skde\.Integer\(1, 10\)"),
        ((0, 1.5), r"skde\.Real\(0, 1\.5\) for a range$"),
        ((np.int64(1), np.float64(3)), r"\[1, 3\.0\] for two values"),
        ((10, 1), r"\[1, 10\] for two values"),
        ((0.1, 100.0, "log-uniform"), r"'log-uniform'\] for values, skde\.Real\(0\.1, 100\.0\) .*skde\.Log\(0\.1, 100"),
        ((1, 8, 10, "uniform"), r"\[1, 8, 10, 'uniform'\] for values, skde\.Integer\(1, 8\)"),
    ],
)
def test_a_pair_of_numbers_is_refused(pair: Any, message: str) -> None:
    for space in ({"C": pair}, [{"kernel": ["rbf"]}, {"C": pair}]):
        with pytest.raises(ValueError, match=r"param_distributions\['C'\] must say whether .*" + message):
            EvolutionSearchCV(SVC(), space).fit(X, y)


def test_a_pair_of_numbers_is_refused_for_nested_estimators() -> None:
    with pytest.raises(ValueError, match=r"'svc__C'"):
        EvolutionSearchCV(make_pipeline(StandardScaler(), SVC()), {"svc__C": (0.001, 100.0)}).fit(X, y)


@pytest.mark.parametrize("values", [[0.001, 100.0], (1, 2, 3), (True, False), ("a", 1), np.array([1.0, 2.0])])
def test_other_sequences_are_choices(values: Any) -> None:
    assert ParameterSpace({"C": values}).parameters[0].n_values == len(values)


def test_a_typed_variable_may_have_tuples() -> None:
    space = {"hidden_layer_sizes": Categorical([(3,), (3, 2)])}
    found = EvolutionSearchCV(MLPClassifier(max_iter=500, random_state=0), space, n_iter=4, cv=2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found.fit(X[::5], y[::5])
    assert sorted(one["hidden_layer_sizes"] for one in found.cv_results_["params"]) == [(3,), (3, 2)]
