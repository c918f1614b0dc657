"""Spaces as functions and as mappings, their rules, and spaces that are refused."""

from __future__ import annotations

import json
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

from skde.tuning import Space
from skde.tuning.parameter_scale import uniform
from skde.tuning.space import as_space


def svm(trial: Any) -> None:
    kernel = trial.suggest_categorical("kernel", ["linear", "rbf"])
    trial.suggest_float("C", 1e-3, 1e3, log=True)
    if kernel == "rbf":
        trial.suggest_float("gamma", 1e-4, 10.0, log=True)
    n = trial.suggest_int("n", 2, 10)
    trial.suggest_int("k", 1, n - 1)
    trial.suggest_int("fixed", 3, 3)


MAPPING = {
    "kernel": CategoricalDistribution(["linear", "rbf"]),
    "C": FloatDistribution(1e-3, 1e3, log=True),
    "gamma": FloatDistribution(1e-4, 10.0, log=True),
    "n": IntDistribution(2, 10),
    "k": lambda values: IntDistribution(1, values["n"] - 1),
    "fixed": IntDistribution(3, 3),
}


def mapping(**options: Any) -> Space:
    return Space(MAPPING, conditions={"gamma": lambda values: values["kernel"] == "rbf"}, **options)


def draws(space: Space, count: int = 300) -> list[dict[str, Any]]:
    rng = np.random.default_rng(5)
    return [space.draw(lambda name, distribution: uniform(distribution, rng)).params for _ in range(count)]


@pytest.mark.parametrize("space", [Space(svm), mapping()], ids=["function", "mapping"])
def test_conditions_and_dependent_bounds(space: Space) -> None:
    assert space.n_parameters == 5
    found = draws(space)
    for values in found:
        assert ("gamma" in values) == (values["kernel"] == "rbf")
        assert 1 <= values["k"] < values["n"] <= 10
        assert values["fixed"] == 3
    assert {values["n"] for values in found} == set(range(2, 11))


def test_the_two_forms_are_the_same_space() -> None:
    assert draws(Space(svm)) == draws(mapping())


def test_a_function_works_on_real_trials_too() -> None:
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(0))
    trial = study.ask()
    svm(trial)
    Space(svm).read(trial.params)


def test_a_repeated_suggestion_has_one_value() -> None:
    answers: list[float] = []
    space = Space(lambda trial: answers.extend(trial.suggest_float("x", 0, 1) for _ in range(2)))
    answers.clear()
    draws(space, 1)
    assert answers[0] == answers[1]


def test_forbidden_combinations_are_not_drawn() -> None:
    space = mapping(forbidden=[lambda values: values["kernel"] == "linear" and values["C"] > 1])
    found = draws(space)
    assert not any(values["kernel"] == "linear" and values["C"] > 1 for values in found)
    assert any(values["kernel"] == "linear" for values in found)


LATE = {"gamma": FloatDistribution(0.1, 1.0), "kernel": CategoricalDistribution(["linear", "rbf"])}


def with_rbf(values: Any) -> bool:
    return bool(values["kernel"] == "rbf")


def test_a_conditional_parameter_may_come_first() -> None:
    """It is then what it is after the other one."""
    sorted_space = Space(dict(reversed(LATE.items())), conditions={"gamma": with_rbf})
    space = Space(LATE, conditions={"gamma": with_rbf})
    assert draws(space) == draws(sorted_space)
    assert all(("gamma" in values) == (values["kernel"] == "rbf") for values in draws(space))
    assert list(space.read({"kernel": "rbf", "gamma": 0.5}).params) == ["gamma", "kernel"]


@pytest.mark.parametrize(
    "condition",
    [
        lambda values: values.get("kernel") == "rbf",
        lambda values: "kernel" in values and values["kernel"] == "rbf",
        lambda values: {**values}["kernel"] == "rbf",
        lambda values: dict(values)["kernel"] == "rbf",
        lambda values: dict(values.items()) == {"kernel": "rbf"},
        lambda values: list(values) == ["kernel"] and list(values.values()) == ["rbf"],
        lambda values: (lambda kernel, **_: kernel == "rbf")(**values),
    ],
)
def test_conditions_read_their_values_as_a_dict(condition: Any) -> None:
    space = Space(LATE, conditions={"gamma": condition})
    assert all(("gamma" in values) == (values["kernel"] == "rbf") for values in draws(space))


def test_an_error_of_a_condition_is_not_taken_for_a_missing_parameter() -> None:
    with pytest.raises(KeyError, match="kernel"):
        Space(LATE, conditions={"gamma": lambda values: {}["kernel"]})


def test_a_chain_of_conditions_in_any_order() -> None:
    names = ["a", "b", "c", "d"]
    chain: dict[str, Any] = {
        name: lambda values, before=before: values[before] == 1 for before, name in pairwise(names)
    }
    for order in permutations(names):
        space = Space({name: IntDistribution(0, 1) for name in order}, conditions=chain)
        for values in draws(space, 40):
            length = next((k + 1 for k, name in enumerate(names) if values.get(name) == 0), 4)
            assert set(values) == set(names[:length])


def test_bounds_may_depend_on_later_parameters() -> None:
    space = Space({"low": lambda values: IntDistribution(0, values["high"]), "high": IntDistribution(1, 9)})
    assert all(values["low"] <= values["high"] for values in draws(space))


def test_circles_are_refused_by_name() -> None:
    conditions = {"a": lambda values: values["b"], "b": lambda values: values["c"], "c": lambda values: values["a"]}
    with pytest.raises(ValueError, match="in a circle: 'a' on 'b' on 'c' on 'a'"):
        Space(dict.fromkeys("abc", IntDistribution(0, 1)), conditions=conditions)
    with pytest.raises(ValueError, match="in a circle: 'a' on 'a'"):
        Space(dict.fromkeys("ab", lambda values: IntDistribution(0, values["a"] + values["b"])))


def test_rules_see_none_where_a_parameter_does_not_apply() -> None:
    space = mapping(forbidden=[lambda values: values["gamma"] is None])
    assert all("gamma" in values for values in draws(space, 50))


def test_contradictory_rules() -> None:
    with pytest.raises(ValueError, match="contradictory"):
        mapping(forbidden=[lambda values: True])


@pytest.mark.parametrize("parameters", [{}, lambda trial: None, {"a": IntDistribution(1, 1)}])
def test_empty_spaces(parameters: Any) -> None:
    with pytest.raises(ValueError, match="the space is empty"):
        Space(parameters)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Space(3), TypeError, "a space must be a function"),
        (lambda: Space({"a": [1, 2]}), TypeError, "'a' must be an Optuna distribution"),
        (lambda: Space(svm, conditions={"C": bool}), ValueError, "in a function, write if"),
        (lambda: Space(MAPPING, conditions={"c": bool}), ValueError, "a condition for 'c'"),
        (lambda: Space(MAPPING, conditions=bool), TypeError, "conditions must be a mapping of names to functions"),
        (
            lambda: mapping(forbidden=bool),
            TypeError,
            r"forbidden must be a list of functions, got a function; write \[function\]",
        ),
        (lambda: mapping(forbidden=None), TypeError, "forbidden must be a list of functions, got None"),
        (lambda: mapping(forbidden=[3]), TypeError, "forbidden must be a list of functions, got 3 in it"),
        (
            lambda: mapping(ordinal="kernel"),
            TypeError,
            r"ordinal must be a list of names, got a name; write \[name\]",
        ),
        (
            lambda: mapping(initial=GOOD),
            TypeError,
            r"initial must be a list of mappings, got a mapping; write \[mapping\]",
        ),
        (lambda: mapping(initial="C"), TypeError, "initial must be a list of mappings, got 'C'"),
        (lambda: mapping(initial=["C"]), TypeError, "initial must be a list of mappings, got 'C' in it"),
        (lambda: Space(svm, ordinal=["n"]), ValueError, "ordinal names 'n'"),
        (
            lambda: Space(MAPPING, conditions={"kernel": lambda values: values["c"] > 1}),
            ValueError,
            "'kernel' depends on 'c', which is no parameter of the space; did you mean 'C'",
        ),
        (
            lambda: Space({"C": (0.001, 100.0)}),
            TypeError,
            r"Categorical\w+\(\[0.001, 100.0\]\) for two values, FloatDistribution\(0.001, 100.0\) for a range",
        ),
        (
            lambda: Space({"n": CategoricalDistribution([2, 1, True])}),
            ValueError,
            "choices of 'n' must be unequal, got 1 and True",
        ),
        (lambda: Space({"n": [1, 10]}), TypeError, r"IntDistribution\(1, 10\) for a range"),
        (
            lambda: Space(MAPPING, conditions={"kernel": lambda values: values["kernel"] == "rbf"}),
            ValueError,
            "parameters depend on each other in a circle: 'kernel' on 'kernel'",
        ),
    ],
)
def test_bad_spaces(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


GOOD = {"kernel": "linear", "C": 1.0, "n": 5, "k": 4, "fixed": 3}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"C": 1e4}, "'C' must be of FloatDistribution"),
        ({"C": float("nan")}, "'C' must be of"),
        ({"n": 5.5}, "'n' must be of"),
        ({"n": True}, "'n' must be of"),
        ({"k": 5}, "'k' must be of"),
        ({"gamma": 1.0}, "has 'gamma', which does not apply"),
        ({"kernel": "rbf"}, "has no value of 'gamma'"),
        ({"kernel": "poly"}, "'kernel' must be of"),
        ({"fixed": 4}, "'fixed' must be of"),
    ],
)
def test_initial_configurations_are_checked(changes: dict[str, Any], message: str) -> None:
    assert mapping(initial=[GOOD]).initial[0].params == GOOD
    with pytest.raises(ValueError, match=message):
        mapping(initial=[{**GOOD, **changes}])


def test_initial_configurations_may_not_be_forbidden() -> None:
    with pytest.raises(ValueError, match="is forbidden"):
        mapping(initial=[GOOD], forbidden=[lambda values: values["n"] == 5])


@pytest.mark.parametrize("space", [Space(svm), mapping()], ids=["function", "mapping"])
def test_numpy_scalars_become_pythons(space: Space) -> None:
    given = {"kernel": np.str_("linear"), "C": np.float64(1), "n": np.int64(5), "k": np.int8(4), "fixed": np.uint8(3)}
    found = space.read(given).params
    assert json.loads(json.dumps(found)) == GOOD
    assert not any(isinstance(value, np.generic) for value in found.values())


def test_iterables_are_lists() -> None:
    space = mapping(initial=iter([GOOD]), ordinal=("kernel",), forbidden=(rule for rule in [lambda values: False]))
    assert (len(space.initial), space.ordinal, len(space.forbidden)) == (1, {"kernel"}, 1)


def test_steps_of_floats() -> None:
    space = Space({"x": FloatDistribution(0.0, 1.0, step=0.1)})
    assert space.read({"x": 0.30000000000000004}).params == {"x": 0.30000000000000004}
    with pytest.raises(ValueError, match="'x' must be of"):
        space.read({"x": 0.35})


def test_as_space() -> None:
    space = mapping()
    assert as_space(space) is space
    assert as_space(svm).describe() == space.describe() | as_space(svm).describe()
    assert set(as_space(MAPPING).describe()) == set(MAPPING)
