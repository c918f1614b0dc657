"""Generated data, compared with published vectors and with a slow implementation that shares no code with skde."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from skde.problems import data

from . import formulas as slow

NAMES = ["t", "", "nashed2012:f7:o", "Größe:π"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", 0xCBF29CE484222325), ("a", 0xAF63DC4C8601EC8C), ("foobar", 0x85944171F73967E8)],
)
def test_hash_of_published_vectors(text: str, expected: int) -> None:
    assert data.fnv1a(text) == expected
    assert slow.hash_name(text) == expected


def test_slow_words_of_published_vectors() -> None:
    assert list(islice(slow.words(0), 3)) == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert list(islice(slow.words(1234567), 3)) == [6457827717110365317, 3203168211198807973, 9817491932198370423]


def test_check_value() -> None:
    expected = ["0x1.f13bda32bbb78p-4", "0x1.e8f35d975f3b8p-4", "0x1.cc0d32e873c70p-2"]
    assert [float(u).hex() for u in data.uniforms("t", 3)] == expected


@pytest.mark.parametrize("name", NAMES)
def test_uniforms_equal_the_slow_ones(name: str) -> None:
    u = data.uniforms(name, 5000)
    assert u.tolist() == list(islice(slow.uniforms(name), 5000))
    assert u.min() >= 0
    assert u.max() < 1
    assert abs(u.mean() - 0.5) < 5 / np.sqrt(12 * 5000)


def test_streams_differ() -> None:
    assert not np.isin(data.uniforms("a", 1000), data.uniforms("b", 1000)).any()


def test_shift_is_a_prefix_of_a_longer_one() -> None:
    long = data.shift("s", 1000, -90, 90)
    for n in (0, 1, 2, 131, 999):
        np.testing.assert_array_equal(data.shift("s", n, -90, 90), long[:n])
    assert -90 <= long.min() < -89
    assert 89 < long.max() < 90
    np.testing.assert_array_equal(long, slow.shift("s", 1000, -90, 90))


def test_integers_are_row_major_and_reach_both_ends() -> None:
    matrix = data.integers("m", (100, 100), -5, 5)
    np.testing.assert_array_equal(matrix, slow.integers("m", 100, -5, 5))
    np.testing.assert_array_equal(np.unique(matrix), np.arange(-5, 6))
    np.testing.assert_array_equal(data.integers("m", (10_000,), -5, 5), matrix.ravel())


@pytest.mark.parametrize("n", [0, 1, 2, 10, 131])
def test_permutation(n: int) -> None:
    p = data.permutation("p", n)
    assert p.tolist() == slow.permutation("p", n)
    assert sorted(p.tolist()) == list(range(n))


def test_permutation_moves_things() -> None:
    assert (data.permutation("p", 131) != np.arange(131)).sum() > 100


@pytest.mark.parametrize("n", [1, 2, 10, 30, 131])
def test_rotation_is_orthonormal(n: int) -> None:
    M = data.rotation("r", n)
    assert np.abs(M @ M.T - np.eye(n)).max() < 1e-14
    assert np.abs(M.T @ M - np.eye(n)).max() < 1e-14


@pytest.mark.parametrize("n", [1, 2, 10, 40])
def test_rotation_equals_the_slow_one(n: int) -> None:
    np.testing.assert_array_equal(data.rotation("r", n), slow.rotation("r", n))


def test_rotation_mixes_every_variable() -> None:
    # Entries of a random orthogonal matrix have variance 1 / n.
    entries = data.rotation("r", 60).ravel() * np.sqrt(60)
    assert abs(entries.mean()) < 0.1
    assert 2.5 < np.mean(entries**4) < 3.5
