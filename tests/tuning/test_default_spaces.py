"""Every algorithm has a space, and accepts the configurations of it."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution

from skde import DE, LSHADE
from skde.algorithms import ALGORITHMS, Algorithm, FitSetting, get_algorithm
from skde.algorithms.tuning_space import Range, TuningSpace
from skde.tuning import space_of
from skde.tuning.configuration_sampling import first_configurations
from skde.tuning.default_spaces import distribution


@pytest.mark.parametrize("kind", ALGORITHMS.values())
def test_every_algorithm_has_a_space_of_its_parameters(kind: type[Algorithm]) -> None:
    assert "pop_size" in kind.tuning_space
    assert set(kind.tuning_space) <= set(kind().get_params())


def test_an_algorithm_without_a_space_needs_one() -> None:
    class Bare(DE):
        tuning_space: ClassVar[TuningSpace] = {}

    with pytest.raises(ValueError, match="Bare has no tuning_space: give the tuner a Space of its parameters"):
        space_of(Bare())


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (Range(8, 256, log=True), IntDistribution(8, 256, log=True)),
        (Range(1, 6), IntDistribution(1, 6)),
        (Range(0.0, 1), FloatDistribution(0.0, 1.0)),
        (Range(1e-3, 0.5, log=True), FloatDistribution(1e-3, 0.5, log=True)),
        ((True, False), CategoricalDistribution([True, False])),
    ],
)
def test_ranges_become_distributions(given: Any, meant: BaseDistribution) -> None:
    assert distribution(given) == meant


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_algorithms_accept_their_configurations(name: str) -> None:
    for configuration in first_configurations(space_of(name), 64, np.random.default_rng(0), sobol=True):
        algorithm = get_algorithm(name, **configuration.params)
        assert algorithm.kernel_parameters(FitSetting(dim=10, max_evals=20_000))["pop_size"] >= 8


def test_the_algorithm_as_given_comes_first() -> None:
    (first,) = space_of(DE(F=0.7)).initial
    assert first.params == {"strategy": "rand/1/bin", "F": 0.7, "CR": 0.9, "pop_size": 100}


@pytest.mark.parametrize("algorithm", [DE(F=(0.2, 0.8)), LSHADE()])
def test_an_algorithm_outside_its_space_is_no_first_configuration(algorithm: object) -> None:
    assert space_of(algorithm).initial == []
