"""The spaces of EvolutionSearchCV: distributions, typed variables, conditions."""

from __future__ import annotations

import numpy as np
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from scipy.stats import expon, loguniform, norm, poisson, randint, uniform
from sklearn.linear_model import Ridge

from skde import Categorical, Fixed, Integer, Log, Ordinal, Real
from skde.estimators import EvolutionSearchCV
from skde.model_selection.parameter_space import ParameterSpace

from .counted import X, search, y


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
@pytest.mark.parametrize("several", [False, True])
def test_a_conditional_parameter_may_come_first(method: str, several: bool) -> None:
    space = {"fails": uniform(2, 1), "b": uniform(0, 1), "a": [0.1, 0.2, 0.3], "mode": ["x", "y"]}
    conditions = {
        "fails": lambda values: values["b"] is not None and values["b"] > 0.3,
        "b": lambda values: values["mode"] == "y",
    }
    found = search([space, {"a": [0.5]}] if several else space, search=method, conditions=conditions).fit(X, y)
    params = [one for one in found.cv_results_["params"] if "mode" in one]
    assert any("fails" in one for one in params)
    assert all(("b" in one) == (one["mode"] == "y") for one in params)
    assert all(("fails" in one) == (one.get("b", 0.0) > 0.3) for one in params)


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


def test_infinite_tails_and_expon_are_cut() -> None:
    space = ParameterSpace({"scale": expon(scale=10)})
    assert space.at(np.array([0.0])).params["scale"] == 0.0
    assert 80 < space.at(np.array([1.0])).params["scale"] < 100
