"""How configurations are drawn, against the formulas and by the distributions of many draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from scipy import stats

from skde.tuning import Space
from skde.tuning.configuration_sampling import (
    FIRST_SIGMA,
    MIN_CANDIDATES,
    Parent,
    RaceStage,
    SamplingModel,
    children,
    draw_truncated_normal,
    first_configurations,
    next_configurations,
    restart_model,
    too_similar,
    update_model,
)
from skde.tuning.parameter_scale import ParameterScale
from skde.tuning.space import Configuration

SPACE = Space(
    {
        "c": CategoricalDistribution(["a", "b", "c"]),
        "o": CategoricalDistribution(["low", "middle", "high"]),
        "x": FloatDistribution(-1.0, 3.0),
        "y": FloatDistribution(1e-4, 1.0, log=True),
        "i": IntDistribution(1, 5),
        "z": FloatDistribution(0.0, 1.0),
    },
    conditions={"z": lambda values: values["c"] == "a"},
    ordinal=["o"],
)
CENTRE = {"c": "b", "o": "middle", "x": 1.0, "y": 1e-2, "i": 3}


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def stage(**changes: Any) -> RaceStage:
    return RaceStage(**{"iteration": 2, "n_iterations": 4, "n_new": 16, "n_parameters": 2, "capped": False, **changes})


def parent(sigma: float = 0.1, **changes: Any) -> Parent:
    return Parent(SPACE.read({**CENTRE, **changes}), SamplingModel(sigma))


# -- scales ------------------------------------------------------------------------------------------------------------

LEVELS: list[BaseDistribution] = [
    IntDistribution(1, 5),
    IntDistribution(-4, 12, step=4),
    FloatDistribution(0.0, 1.0, step=0.25),
    FloatDistribution(-10.2, 10.2, step=0.1),
    CategoricalDistribution(["low", "middle", "high"]),
]


@pytest.mark.parametrize("distribution", LEVELS, ids=str)
def test_levels_have_equal_intervals(distribution: BaseDistribution) -> None:
    scale = ParameterScale(distribution)
    n = scale.levels
    assert n is not None
    places = (np.arange(10 * n) + 0.5) / (10 * n)
    values = [scale.value(place) for place in places]
    assert [values.count(value) for value in dict.fromkeys(values)] == [10] * n
    assert [scale.unit(value) for value in dict.fromkeys(values)] == pytest.approx((np.arange(n) + 0.5) / n)


@pytest.mark.parametrize(
    "distribution",
    [*LEVELS, FloatDistribution(-1, 3), FloatDistribution(1e-7, 10, log=True), IntDistribution(1, 100, log=True)],
    ids=str,
)
@given(place=st.floats(0, 1))
def test_values_are_inside_and_come_back(distribution: BaseDistribution, place: float) -> None:
    scale = ParameterScale(distribution)
    value = scale.value(place)
    assert distribution._contains(distribution.to_internal_repr(value))
    assert not isinstance(value, np.generic)
    again = scale.value(scale.unit(value))
    assert again == (pytest.approx(value) if isinstance(value, float) else value)


def test_logarithmic_places() -> None:
    assert ParameterScale(FloatDistribution(1e-4, 1.0, log=True)).unit(1e-2) == pytest.approx(0.5)
    assert ParameterScale(FloatDistribution(1e-4, 1.0, log=True)).value(0.75) == pytest.approx(0.1)
    scale = ParameterScale(IntDistribution(1, 100, log=True))
    assert [scale.value(place) for place in (0.0, 1.0)] == [1, 100]


def test_integers_on_a_logarithmic_scale_have_their_shares_in_irace() -> None:
    """Level k of 1, ..., n has log((k + 1) / k) / log(n + 1)."""
    scale = ParameterScale(IntDistribution(1, 7, log=True))
    n = 10_000
    shares = np.bincount([scale.value((i + 0.5) / n) for i in range(n)], minlength=8)[1:] / n
    assert shares == pytest.approx(np.log1p(1 / np.arange(1, 8)) / np.log(8), abs=2 / n)
    assert ParameterScale(IntDistribution(1, 60, log=True)).unit(60) < 1.0


@pytest.mark.parametrize("step", [1, 5])
def test_integers_beyond_the_floats_are_told_apart(step: int) -> None:
    low = 10**18
    scale = ParameterScale(IntDistribution(low, low + 10, step=step))
    values = range(low, low + 11, step)
    assert scale.levels == len(values)
    assert [scale.value(scale.unit(value)) for value in values] == list(values)


@pytest.mark.parametrize("low", [1, 10**17 + 1])
@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("high", [2**63, 2**62 + 12345])
def test_large_integers_reach_their_bounds(low: int, high: int, log: bool) -> None:
    scale = ParameterScale(IntDistribution(low, high, log=log))
    assert [scale.value(place) for place in (0.0, 1.0)] == [low, high]


def test_places_outside_are_the_nearer_end() -> None:
    assert ParameterScale(IntDistribution(1, 3)).unit(7) == 1.0
    assert ParameterScale(FloatDistribution(1, 3)).unit(-7) == 0.0


# -- the first race ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sobol", [False, True])
def test_first_configurations_are_spread(sobol: bool) -> None:
    found = first_configurations(SPACE, 500, rng(), sobol)
    assert len(found) == 500
    x = [(configuration.params["x"] + 1) / 4 for configuration in found]
    distance = stats.kstest(x, "uniform").statistic
    assert distance < (0.01 if sobol else 0.08)
    assert stats.kstest([np.log10(c.params["y"]) / 4 + 1 for c in found], "uniform").statistic < 0.08
    for name, n in (("c", 3), ("o", 3), ("i", 5)):
        counts = np.unique([c.params[name] for c in found], return_counts=True)[1]
        assert len(counts) == n
        assert (np.abs(counts - 500 / n) < 70 / (1 + 9 * sobol)).all()


def test_first_configurations_keep_the_rules() -> None:
    space = Space({"x": FloatDistribution(0, 1)}, forbidden=[lambda values: values["x"] < 0.5])
    found = first_configurations(space, 64, rng(), sobol=True)
    assert len(found) == 64
    assert min(c.params["x"] for c in found) >= 0.5


def test_parameters_that_first_configurations_did_not_have() -> None:
    """A function of a trial may ask for something new at any time."""
    asked = []

    def space(trial: Any) -> None:
        trial.suggest_float("x", 0, 1)
        asked.append(0)
        if len(asked) > 300:
            trial.suggest_float("late", 0, 1)

    found = first_configurations(Space(space), 256, rng(), sobol=True)
    assert "late" in found[-1].params


# -- models ------------------------------------------------------------------------------------------------------------


def test_sigma_shrinks() -> None:
    first = update_model(parent(FIRST_SIGMA), stage(), ["o"])
    assert first.model.sigma == pytest.approx(0.5 * (1 / 16) ** 0.5)
    second = update_model(first, stage(iteration=3, n_new=100, n_parameters=4), ["o"])
    assert second.model.sigma == pytest.approx(0.125 * 0.01**0.25)


def test_probabilities_follow_the_parent() -> None:
    first = update_model(parent(), stage(), ["o"])
    assert set(first.model.probabilities) == {"c"}  # ordered choices are like numbers
    assert first.model.probabilities["c"] == pytest.approx([0.25, 0.5, 0.25])
    second = update_model(first, stage(iteration=3), ["o"])
    assert second.model.probabilities["c"] == pytest.approx([0.125, 0.75, 0.125])


def test_probabilities_are_capped() -> None:
    """The cap is 0.2 ** (1 / 2) = 0.447, and then 0.25, 0.447 and 0.25 are scaled."""
    first = update_model(parent(), stage(capped=True), ["o"])
    assert first.model.probabilities["c"] == pytest.approx(np.array([0.25, 0.2**0.5, 0.25]) / (0.5 + 0.2**0.5))


def test_a_soft_restart_goes_two_races_back() -> None:
    shrunk = parent(0.001)
    assert restart_model(shrunk, stage()).model.sigma == pytest.approx(0.001 * 16)
    assert restart_model(parent(0.1), stage()).model.sigma == pytest.approx(0.5 / 4)
    model = SamplingModel(0.1, {"c": np.array([0.0, 1.0, 0.0])})
    wider = restart_model(Parent(shrunk.configuration, model), stage()).model.probabilities["c"]
    assert wider == pytest.approx(np.array([0.1, 1.0, 0.1]) / 1.2)


# -- children ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mean", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("sigma", [0.01, 0.2, 0.5])
def test_truncated_normal(mean: float, sigma: float) -> None:
    generator = rng()
    found = [draw_truncated_normal(mean, sigma, generator) for _ in range(2000)]
    expected = stats.truncnorm(-mean / sigma, (1 - mean) / sigma, mean, sigma)
    assert stats.kstest(found, expected.cdf).pvalue > 0.01


def test_tiny_deviations_stay_at_the_mean() -> None:
    assert draw_truncated_normal(0.25, 1e-300, rng()) == pytest.approx(0.25)


def test_parents_are_weighted_by_rank() -> None:
    parents = [parent(1e-9, x=x) for x in (0.0, 1.0, 2.0)]
    numbers = [number for number, _ in children(parents, SPACE, 6000, rng())]
    assert np.bincount(numbers) / 6000 == pytest.approx([3 / 6, 2 / 6, 1 / 6], abs=0.02)


def test_children_are_near_their_parent() -> None:
    found = [configuration.params for _, configuration in children([parent(0.05)], SPACE, 500, rng())]
    x = np.array([params["x"] for params in found])
    assert x.mean() == pytest.approx(1.0, abs=0.03)
    assert x.std() == pytest.approx(0.05 * 4, rel=0.1)
    logs = np.log10([params["y"] for params in found])
    assert logs.mean() == pytest.approx(-2, abs=0.03)
    assert logs.std() == pytest.approx(0.05 * 4, rel=0.1)


@pytest.mark.parametrize("name", ["i", "o"])
@pytest.mark.parametrize("end", [0, -1])
def test_the_first_and_last_levels_are_reached_alike(name: str, end: int) -> None:
    """Around an end, and around the middle, both ends come as often as the normal distribution says."""
    levels = [1, 2, 3, 4, 5] if name == "i" else ["low", "middle", "high"]
    n = len(levels)
    for value, mean in ((levels[end], (end % n + 0.5) / n), (levels[n // 2], 0.5)):
        found = [c.params[name] for _, c in children([parent(0.3, **{name: value})], SPACE, 3000, rng())]
        law = stats.truncnorm(-mean / 0.3, (1 - mean) / 0.3, mean, 0.3)
        expected = np.diff(law.cdf(np.arange(n + 1) / n))
        assert [found.count(level) / 3000 for level in levels] == pytest.approx(expected, abs=0.03)


def test_choices_follow_their_probabilities() -> None:
    model = SamplingModel(0.1, {"c": np.array([0.7, 0.3, 0.0])})
    centre = Parent(SPACE.read(CENTRE), model)
    found = [c.params["c"] for _, c in children([centre], SPACE, 2000, rng())]
    assert [found.count(choice) / 2000 for choice in "abc"] == pytest.approx([0.7, 0.3, 0], abs=0.03)


def test_parameters_that_the_parent_lacks_are_drawn_uniformly() -> None:
    found = [c.params for _, c in children([parent(0.01)], SPACE, 900, rng())]
    z = [params["z"] for params in found if params["c"] == "a"]
    assert len(z) > 200
    assert stats.kstest(z, "uniform").pvalue > 0.01


def test_children_keep_dependent_bounds_and_rules() -> None:
    space = Space(
        {"n": IntDistribution(2, 20), "k": lambda values: IntDistribution(1, values["n"])},
        forbidden=[lambda values: values["n"] == values["k"]],
    )
    centre = Parent(space.read({"n": 20, "k": 19}), SamplingModel(0.3))
    found = [c.params for _, c in children([centre], space, 300, rng())]
    assert all(params["k"] < params["n"] for params in found)
    assert min(params["n"] for params in found) < 10


@pytest.mark.parametrize("count", [3, MIN_CANDIDATES])
def test_a_model_chooses_from_candidates(count: int) -> None:
    seen: list[Configuration] = []

    def highest(configurations: Sequence[Configuration], wanted: int, generator: np.random.Generator) -> list[int]:
        seen[:] = configurations
        return sorted(range(len(configurations)), key=lambda i: -configurations[i].params["x"])[:wanted]

    parents = [parent(0.01, x=x) for x in (0.0, 1.0, 2.0)]
    found = children(parents, SPACE, count, rng(), highest)
    assert len(seen) == max(MIN_CANDIDATES, 2 * count)
    xs = [configuration.params["x"] for _, configuration in found]
    assert xs == sorted((c.params["x"] for c in seen), reverse=True)[:count]
    assert all(abs(parents[number].configuration.params["x"] - c.params["x"]) < 0.3 for number, c in found)


def test_a_parents_ordered_choice_may_not_apply() -> None:
    """As a number beyond the bounds that depend on others, which is put inside; a choice is drawn again."""
    space = Space(
        {
            "big": CategoricalDistribution([True, False]),
            "size": lambda values: CategoricalDistribution(["s", "m", "l", "xl"] if values["big"] else ["s", "m"]),
        },
        ordinal=["size"],
    )
    found = children([Parent(space.read({"big": True, "size": "xl"}), SamplingModel(0.1))], space, 200, rng())
    sizes = {big: {c.params["size"] for _, c in found if c.params["big"] == big} for big in (True, False)}
    assert sizes[False] == {"s", "m"}
    assert "xl" in sizes[True]


# -- soft restarts -----------------------------------------------------------------------------------------------------


def test_similar_configurations_are_found() -> None:
    def at(**changes: Any) -> Configuration:
        return SPACE.read({**CENTRE, **changes})

    configurations = [at(), at(x=1.0 + 4 * 0.9e-4), at(x=1.2), at(x=1.2 + 4 * 1.1e-4), at(o="low"), at(c="c")]
    assert too_similar(configurations, SPACE) == {0, 1}
    assert too_similar([at(c="a", z=0.5), at(c="a", z=0.6)], SPACE) == set()
    assert too_similar([at(c="a", z=0.5), at(c="a", z=0.5)], SPACE) == {0, 1}


def test_a_pool_that_is_all_the_same_restarts() -> None:
    pool = next_configurations([parent(1e-12)], SPACE, stage(iteration=3), rng())
    assert pool.restarted
    assert pool.parents[0].model.sigma > 1e-12 / 4
    assert all(child.model == pool.parents[0].model for child in pool.children)


def test_a_pool_that_is_not_the_same_does_not() -> None:
    pool = next_configurations([parent(0.5), parent(0.5, c="c")], SPACE, stage(), rng())
    assert not pool.restarted
    assert len(pool.children) == 16
    assert {id(child.model) for child in pool.children} <= {id(found.model) for found in pool.parents}


@given(st.integers(0, 2**32 - 1))
def test_pools_are_in_the_space(seed: int) -> None:
    firsts = first_configurations(SPACE, 8, rng(seed), sobol=True)
    pool = next_configurations([Parent(c, SamplingModel()) for c in firsts[:3]], SPACE, stage(), rng(seed))
    for child in pool.children:
        assert SPACE.read(child.configuration.params).params == child.configuration.params
