"""The kernels' sine, cosine and exponential: accurate, bounded, and the same bits from every build."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from skde import Minimizer, _cpu

EPS = 2.0**-52


def worst(function: Callable[[Any], Any], exact: Callable[[float], float], x: Any, floor: float) -> float:
    """The largest error in units of the last place, absolute below `floor`."""
    found = function(x)
    expected = np.array([exact(v) for v in x])
    return float((np.abs(found - expected) / (EPS * np.maximum(np.abs(expected), floor))).max())


def test_sine_and_cosine() -> None:
    rng = np.random.default_rng(0)
    for size, floor in ((4.0, 2.0**-10), (1e3, 0.5), (1e6, 0.5)):
        x = rng.uniform(-size, size, 20_000)
        assert worst(_cpu.sin, math.sin, x, floor) < 2
        assert worst(_cpu.cos, math.cos, x, floor) < 2


def test_sine_and_cosine_stay_in_range() -> None:
    x = np.concatenate([np.linspace(-50, 50, 200_001), np.arange(-400, 400) * math.pi / 2])
    assert np.abs(_cpu.sin(x)).max() <= 1
    assert np.abs(_cpu.cos(x)).max() <= 1
    assert _cpu.cos(np.array([0.0]))[0] == 1
    assert np.isnan(_cpu.sin(np.array([np.nan, np.inf]))).all()


def test_exponential() -> None:
    x = np.random.default_rng(0).uniform(-700, 709, 20_000)
    assert worst(_cpu.exp, math.exp, x, 0.0) < 2
    edges = np.array([0.0, -746.0, -740.0, 709.7, 710.0, np.inf, -np.inf, np.nan])
    found = _cpu.exp(edges)
    assert found[0] == 1
    assert found[1] == found[6] == 0
    assert abs(found[2] - math.exp(-740.0)) <= 2 * 5e-324
    assert math.isclose(found[3], math.exp(709.7), rel_tol=1e-15)
    assert found[4] == found[5] == np.inf
    assert np.isnan(found[7])


def test_exponential_at_its_ends() -> None:
    """Where the spacing is that of the smallest numbers; and at the other end."""
    x = np.random.default_rng(1).uniform(-745.2, -700.0, 20_000)
    expected = np.array([math.exp(v) for v in x])
    found = _cpu.exp(x)
    assert (np.abs(found - expected) <= np.maximum(2 * EPS * expected, 5e-324)).all()
    assert (found[expected < 2.0**-1022] > 0).any()
    largest = 709.782712893384  # the last argument whose exponential is a number
    assert math.isclose(_cpu.exp(np.array([largest]))[0], math.exp(largest), rel_tol=1e-15)
    assert np.isinf(_cpu.exp(np.array([709.7827128933842, 709.79]))).all()


def test_symmetry() -> None:
    """Sine is odd and cosine even, to the last bit."""
    x = np.random.default_rng(2).uniform(0, 1e6, 20_000)
    assert np.array_equal(_cpu.sin(-x), -_cpu.sin(x))
    assert np.allclose(_cpu.cos(-x), _cpu.cos(x), rtol=0, atol=2 * EPS)


@pytest.fixture
def any_build() -> Iterator[None]:
    """Put the processor's own build back afterwards."""
    chosen = _cpu.isa()
    yield
    _cpu.select_isa(chosen)


@pytest.mark.usefixtures("any_build")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    "problem", ["rastrigin", "ackley", "katsuura", "griewank", "schwefel_2_6", "rotated_rastrigin"]
)
def test_every_build_gives_the_same_bits(problem: str, dtype: str) -> None:
    results = []
    for isa in _cpu.isas():
        _cpu.select_isa(isa)
        m = Minimizer("jde", max_iter=60, random_state=0, dtype=dtype, device="cpu").fit(problem, dim=37)
        results.append((m.population_, m.fitness_))
    for population, fitness in results[1:]:
        assert np.array_equal(population, results[0][0])
        assert np.array_equal(fitness, results[0][1])


def test_an_unknown_build_is_refused() -> None:
    with pytest.raises(ValueError, match="no build for x86-64-v9"):
        _cpu.select_isa("x86-64-v9")
