"""Choices of typed variables: `params_` has the objects that were given, also after a file."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from skde import Categorical, Fixed, Log, Minimizer, MinMaxSolver, Ordinal, Variables
from skde.cli.arguments import parse_variable

ORDINALS = [
    [2, 4, 8],
    [1, 2.5, 4],
    [0.1, 0.2],
    [False, True],
    [-(2**53), 0, 2**60],
    [np.int64(2), np.int64(4)],
    [np.float32(0.1), 0.5, np.int8(7)],
]


def nearest_to(number: float) -> Any:
    return lambda X: np.abs(X[:, 0] - number)


def kinds(values: Any) -> list[tuple[Any, Any]]:
    return [(type(value), value) for value in values]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("values", ORDINALS, ids=str)
def test_ordinal_values_come_back_as_given(values: list[Any], dtype: str, tmp_path: Path) -> None:
    for value in values:
        m = Minimizer("de", max_iter=20, dtype=dtype, random_state=0)
        m.fit(nearest_to(value), bounds={"v": Ordinal(values)})
        assert kinds(m.params_.values()) == kinds([value])
        m.save(tmp_path / "fit.npz")
        assert kinds(Minimizer.load(tmp_path / "fit.npz").params_.values()) == kinds([value])


def test_ordinals_are_as_given_in_arrays_and_other_sequences() -> None:
    assert kinds(Ordinal(np.arange(3)).values) == kinds(np.arange(3))
    assert kinds(Ordinal(range(3)).values) == kinds([0, 1, 2])
    assert kinds(Ordinal([Fraction(1, 4), 1]).values) == kinds([0.25, 1])  # which files cannot say


def test_numbers_next_to_each_other_are_told_apart() -> None:
    values = [0.0, 5e-324, 1.0, np.nextafter(1.0, 2.0), 1e308]
    space = Variables({"v": Ordinal(values)})
    for value in values:
        assert space.params([value]) == {"v": value}
        np.testing.assert_array_equal(space.encode(np.array([[value]])).round(), [[values.index(value)]])
    with pytest.raises(ValueError, match=r"x: 0.5 is no value of 'v'"):
        space.params([0.5])


def test_starts_are_ordinals_of_any_type() -> None:
    space = Variables({"v": Ordinal([2, 4, 8]), "w": Categorical([np.int64(1), "a"])})
    for v in (4, 4.0, np.int64(4), np.float32(4)):
        assert space.points({"v": v, "w": np.int64(1)}).tolist() == space.points({"v": v, "w": 1}).tolist() == [[4, 0]]


@pytest.mark.parametrize("choices", [[1, True, 1.0, None, "1"], [np.int64(3), np.str_("a"), np.bool_(False), 2.0]])
def test_categories_come_back_as_given(choices: list[Any], tmp_path: Path) -> None:
    for number, choice in enumerate(choices):
        m = Minimizer("de", max_iter=20, random_state=0).fit(nearest_to(number), bounds={"v": Categorical(choices)})
        assert kinds(m.params_.values()) == kinds([choice])
        assert Variables({"v": Categorical(choices)}).points({"v": choice}).tolist() == [[number]]
        m.save(tmp_path / "fit.npz")
        assert kinds(Minimizer.load(tmp_path / "fit.npz").params_.values()) == kinds([choice])
    with pytest.raises(ValueError, match="one or more different ones"):
        Categorical([1, np.int64(1)])


@pytest.mark.parametrize("value", [3, 2.5, np.int64(3), np.float32(0.1)])
def test_fixed_values_come_back_as_given(value: Any, tmp_path: Path) -> None:
    m = Minimizer("de", max_iter=5, random_state=0).fit(nearest_to(0), bounds={"x": (-1, 1), "v": Fixed(value)})
    m.save(tmp_path / "fit.npz")
    for one in (m, Minimizer.load(tmp_path / "fit.npz")):
        assert kinds([one.params_["v"]]) == kinds([value])


def test_choices_of_both_players() -> None:
    box = {"n": Ordinal([1, 2, 4])}
    solver = MinMaxSolver(max_iter=12, gens_x=6, gens_y=6, random_state=0, device="cpu").fit(
        lambda X, Y: (X[:, :1] - 2.0) ** 2 - (Y[:, 0] - 4.0) ** 2, box, box
    )
    assert kinds([solver.params_["n"], solver.params_y_["n"]]) == kinds([2, 4])


@pytest.mark.parametrize(("text", "values"), [("2,4,8", [2, 4, 8]), ("1, 2.5", [1, 2.5]), ("1e0,-0,3", None)])
def test_choices_of_the_command_line(text: str, values: list[Any] | None) -> None:
    if values is None:
        with pytest.raises(Exception, match="increasing"):
            parse_variable(f"v:ordinal:{text}")
        return
    _, ordinal = parse_variable(f"v:ordinal:{text}")
    assert isinstance(ordinal, Ordinal)
    assert kinds(ordinal.values) == kinds(values)
    assert kinds([parse_variable("v:fixed:3")[1].value, parse_variable("v:fixed:3.0")[1].value]) == kinds([3, 3.0])


def test_descriptions_are_json() -> None:
    space = Variables({"a": Ordinal([np.int64(2), np.float32(2.5)]), "b": Categorical([np.str_("x"), None])})
    read = Variables.from_description(json.loads(json.dumps(space.describe())))
    assert [kinds(read.members[0].values), kinds(read.members[1].choices)] == [
        kinds([np.int64(2), np.float32(2.5)]),
        kinds([np.str_("x"), None]),
    ]


@pytest.mark.parametrize(
    "choice", [{"numpy": "save", "value": 2}, {"numpy": "int64"}, {"numpy": "int64", "value": 2, "more": 1}, {"a": 1}]
)
def test_foreign_descriptions_are_refused(choice: Any) -> None:
    described = [{"kind": "ORDINAL", "name": "v", "values": [1, choice]}]
    with pytest.raises(ValueError, match="a choice must be a value, a tuple, or a scalar of NumPy"):
        Variables.from_description(described)


def test_a_choice_may_be_a_tuple(tmp_path: Path) -> None:
    sizes: list[Any] = [(50,), (100, np.int64(50)), (), (None, ("a", 0.5))]
    variables = Variables({"sizes": Categorical(sizes)})
    assert [variables.points({"sizes": one}).item() for one in sizes] == [0, 1, 2, 3]
    read = Variables.from_description(json.loads(json.dumps(variables.describe())))
    assert read.members[0].choices == tuple(sizes)
    assert type(read.members[0].choices[1][1]) is np.int64
    m = Minimizer("jde", max_iter=5, random_state=0).fit(lambda sizes: len(sizes), bounds=variables)
    m.save(tmp_path / "fit.npz")
    assert m.params_["sizes"] is sizes[2]
    assert Minimizer.load(tmp_path / "fit.npz").params_ == {"sizes": ()}


def test_tables_of_pandas_are_points() -> None:
    variables = Variables({"a": (0, 1), "k": Categorical(["u", "v"]), "c": Fixed(3)})
    table = pd.DataFrame({"k": ["v", "u"], "a": [0.5, 0.25]})
    assert variables.points(table).tolist() == [[0.5, 1, 3], [0.25, 0, 3]]
    assert Variables([(0, 1), (0, 1)]).points(pd.DataFrame({"p": [0.5], "q": [0.25]})).tolist() == [[0.5, 0.25]]


def test_the_middle_of_a_logarithm_is_the_geometric_mean() -> None:
    assert Log(1e-4, 1.0).middle == pytest.approx(1e-2, rel=1e-12)
    assert Log(1e-30, 1e30).middle == pytest.approx(1.0, rel=1e-12)
    space = Variables({"a": Log(1e-4, 1.0), "b": Ordinal([1, 2, 50]), "c": (0, 4)})
    np.testing.assert_allclose(space.middle, [1e-2, 2, 2])


@pytest.mark.parametrize("n_choices", [40, 300])
def test_a_population_has_a_member_for_every_choice(n_choices: int) -> None:
    """A smaller one leaves some choices untried."""
    costs = np.random.default_rng(0).permutation(n_choices).astype(float)
    bounds = {"kind": Categorical(list(range(n_choices)))}
    m = Minimizer(bounds=bounds, max_evals=20 * n_choices, random_state=0, device="cpu", vectorized=False)
    m.fit(lambda kind: costs[kind])
    assert m.algorithm_.pop_size >= n_choices
    assert m.fun_ == 0
