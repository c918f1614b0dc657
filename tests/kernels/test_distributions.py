"""The kernels' logarithm, hyperbolic tangent and quantiles: accurate, symmetric, monotone, up to their ends."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtri

import skde._cpu as _cpu

EPS = 2.0**-52
# The first and the last argument that a word of 32 bits makes.
FIRST, LAST = 0.5 * 2.0**-32, 1 - 0.5 * 2.0**-32

Function = Callable[[Any], Any]


def words() -> Any:
    """Arguments as the kernels make them, in order, the ends among them."""
    drawn = np.random.default_rng(0).integers(0, 2**32, 20_000)
    return (np.unique(np.concatenate([drawn, np.arange(100), 2**32 - 1 - np.arange(100)])) + 0.5) * 2.0**-32


def test_the_words_reach_the_ends() -> None:
    u = words()
    assert u[0] == FIRST
    assert u[-1] == LAST


def test_logarithm() -> None:
    rng = np.random.default_rng(1)
    around_1 = 1 + np.arange(-100, 101) * EPS
    x = np.concatenate([np.exp(rng.uniform(-708, 709, 20_000)), rng.uniform(0.7, 1.5, 5000), around_1, words()])
    expected = np.array([math.log(v) for v in x])
    assert (np.abs(_cpu.log(x) - expected) <= 2 * EPS * np.abs(expected)).all()


def test_logarithm_at_its_ends() -> None:
    smallest, largest = 2.0**-1022, math.nextafter(math.inf, 0)
    assert _cpu.log(np.array([1.0]))[0] == 0
    found = _cpu.log(np.array([smallest, largest]))
    assert np.allclose(found, [math.log(smallest), math.log(largest)], rtol=2 * EPS, atol=0)
    halves = 2.0 ** np.arange(-40.0, 41.0)
    assert np.allclose(_cpu.log(halves), np.arange(-40, 41) * math.log(2), rtol=2 * EPS, atol=0)


def test_hyperbolic_tangent() -> None:
    """Absolute: near 0 it is a difference of numbers near 1."""
    x = np.concatenate([np.random.default_rng(2).normal(scale=3, size=20_000), [1e-300, 1e-9, 30.0]])
    found = _cpu.tanh(x)
    assert (np.abs(found - [math.tanh(v) for v in x]) <= 2 * EPS).all()
    assert np.array_equal(_cpu.tanh(-x), -found)
    assert np.abs(found).max() <= 1
    assert np.array_equal(_cpu.tanh(np.array([0.0, 1e3, -1e3, np.inf, -np.inf])), [0, 1, -1, 1, -1])
    assert np.isnan(_cpu.tanh(np.array([np.nan])))


def test_normal_quantile() -> None:
    """Compared with the same method in Python, and with another one."""
    u = words()
    found = _cpu.normal_quantile(u)
    same = np.array([NormalDist().inv_cdf(v) for v in u])
    assert (np.abs(found - same) <= 3 * EPS * np.abs(same)).all()
    other = ndtri(u)
    assert (np.abs(found - other) <= 6 * EPS * np.abs(other)).all()


def test_normal_draw() -> None:
    """Single precision, the same on both sides, of every word: also where branches meet, and in the middle."""
    around = [np.arange(2**32 * share - 500, 2**32 * share + 500) // 1 for share in (0.075, 0.5, 0.925)]
    drawn = np.concatenate([(words() * 2.0**32 - 0.5), *around])
    found = _cpu.normal_draw(drawn)
    expected = ndtri((drawn + 0.5) * 2.0**-32)
    assert np.array_equal(found, found.astype(np.float32))
    assert (np.abs(found - expected) <= 2e-6 * np.maximum(np.abs(expected), 0.1)).all()
    assert np.array_equal(_cpu.normal_draw(2.0**32 - 1 - drawn), -found)


def test_normal_quantile_beyond_the_words() -> None:
    """The last of its three branches."""
    u = np.array([1e-300, 1e-100, 1e-20, 1e-12, 1.3e-11, 1.4e-11])
    assert np.allclose(_cpu.normal_quantile(u), ndtri(u), rtol=6 * EPS, atol=0)


def test_normal_quantile_where_branches_meet() -> None:
    for edge in (0.075, 0.925, math.exp(-25.0)):
        below, above = math.nextafter(edge, 0), math.nextafter(edge, 1)
        found = _cpu.normal_quantile(np.array([below, edge, above]))
        assert np.allclose(found, ndtri(edge), rtol=1e-14, atol=0)


def cauchy(u: Any) -> Any:
    """The quantile, from the end that is near, where the angle is not the difference of two numbers alike."""
    near = np.minimum(u, 1 - u)
    return np.where(near < 0.25, np.sign(u - 0.5) / np.tan(np.pi * near), np.tan(np.pi * (u - 0.5)))


def test_cauchy_quantile() -> None:
    """As accurate as the angle: at the ends, where all that is drawn is cut, to 1e-7."""
    u = words()
    expected = cauchy(u)
    error = np.abs(_cpu.cauchy_quantile(u) - expected)
    assert (error <= 3 * EPS * (1 + expected**2)).all()
    assert (error <= 1e-7 * np.abs(expected)).all()


@pytest.mark.parametrize("quantile", [_cpu.normal_quantile, _cpu.cauchy_quantile])
def test_quantiles_are_symmetric_and_monotone(quantile: Function) -> None:
    u = words()
    found = quantile(u)
    assert np.array_equal(quantile(1 - u), -found)
    assert (np.diff(found) > 0).all()
    assert quantile(np.array([0.5]))[0] == 0
    neighbours = (np.arange(2**31 - 1000, 2**31 + 1000) + 0.5) * 2.0**-32
    assert (np.diff(quantile(neighbours)) > 0).all()


def test_quantiles_of_the_extreme_words() -> None:
    first, last = _cpu.normal_quantile(np.array([FIRST, LAST]))
    assert math.isclose(first, -6.33, abs_tol=0.02)
    assert last == -first
    first, last = _cpu.cauchy_quantile(np.array([FIRST, LAST]))
    assert math.isclose(first, -(2.0**33) / math.pi, rel_tol=1e-7)
    assert last == -first


@pytest.mark.parametrize(
    ("quantile", "quarter"), [(_cpu.normal_quantile, 0.6744897501960817), (_cpu.cauchy_quantile, 1.0)]
)
def test_quartiles(quantile: Function, quarter: float) -> None:
    assert np.allclose(quantile(np.array([0.25, 0.75])), [-quarter, quarter], rtol=4 * EPS, atol=0)
