"""Every algorithm has a space, and accepts the configurations of it."""

from __future__ import annotations

import numpy as np
import pytest

from skde import DE, LSHADE
from skde.algorithms import ALGORITHMS, FitSetting, get_algorithm
from skde.tuning import space_of
from skde.tuning.configuration_sampling import first_configurations
from skde.tuning.default_spaces import SPACES


def test_every_algorithm_has_a_space() -> None:
    assert set(SPACES) == set(ALGORITHMS)


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
