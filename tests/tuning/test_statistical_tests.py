"""Eliminated configurations, against SciPy's tests and against formulas in plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from skde.tuning.statistical_tests import TESTS, scores, survivors
from skde.utils.hypothesis_tests import conover

ALPHA = 0.05


def plain_friedman(costs: np.ndarray) -> list[bool]:
    """Decide by SciPy's statistic and the post-hoc rule in loops."""
    n, k = costs.shape
    if stats.friedmanchisquare(*costs.T).pvalue >= ALPHA:
        return [True] * k
    r = [[sum(b < a for b in row) + (sum(b == a for b in row) + 1) / 2 for a in row] for row in costs.tolist()]
    sums = [sum(row[j] for row in r) for j in range(k)]
    squares = sum(value**2 for row in r for value in row)
    freedom = (n - 1) * (k - 1)
    width = stats.t.ppf(1 - ALPHA / 2, freedom) * (2 * (n * squares - sum(s**2 for s in sums)) / freedom) ** 0.5
    return [abs(s - min(sums)) <= width for s in sums]


@given(
    st.integers(2, 15).flatmap(
        lambda n: st.integers(3, 9).flatmap(lambda k: arrays(np.float64, (n, k), elements=st.integers(0, 5)))
    )
)
def test_friedman_with_ties(costs: np.ndarray) -> None:
    if all(len(set(row)) == 1 for row in costs.tolist()):
        assert conover(costs, ALPHA).all()
    else:
        assert conover(costs, ALPHA).tolist() == plain_friedman(costs)


@pytest.mark.parametrize("seed", range(20))
def test_friedman_without_ties(seed: int) -> None:
    rng = np.random.default_rng(seed)
    costs = rng.normal(size=(12, 7)) + np.arange(7) * rng.uniform(0, 0.6)
    assert conover(costs, ALPHA).tolist() == plain_friedman(costs)


def test_friedman_by_hand() -> None:
    """Three configurations on six steps that all agree: R = 6, 12, 18; the statistic is 12; the error is 0."""
    costs = np.tile([1.0, 2.0, 3.0], (6, 1))
    assert stats.friedmanchisquare(*costs.T).statistic == pytest.approx(12)
    assert survivors(costs, "friedman", ALPHA).tolist() == [True, False, False]


def test_friedman_by_hand_with_disagreement() -> None:
    """R = 7, 11, 18, sum of squares 84; (18 - 7) exceeds 2.228 sqrt(2 (504 - 494) / 10) = 3.15, so does 11 - 7."""
    costs = np.array([[1, 2, 3.0]] * 5 + [[2, 1, 3.0]])
    assert conover(costs, ALPHA).tolist() == [True, False, False]
    # With three more steps the other way round the two lower ones cannot be told apart: R = 13, 14, 27.
    costs = np.vstack([costs, [[2, 1, 3.0]] * 3])
    assert conover(costs, ALPHA).tolist() == [True, True, False]


def test_two_left_dominated() -> None:
    costs = np.array([[1.0, 1.0], [1.0, 2.0], [3.0, 3.0]])
    assert survivors(costs, "friedman", ALPHA).tolist() == [True, False]
    assert survivors(costs[:, ::-1], "friedman", ALPHA).tolist() == [False, True]


def test_two_left_equal() -> None:
    assert survivors(np.ones((9, 2)), "friedman", ALPHA).all()


@given(arrays(np.float64, (12, 2), elements=st.integers(-9, 9)))
def test_two_left_wilcoxon(costs: np.ndarray) -> None:
    difference = costs[:, 0] - costs[:, 1]
    if (difference >= 0).all() or (difference <= 0).all():
        return
    found = survivors(costs, "friedman", ALPHA)
    p = stats.wilcoxon(costs[:, 0], costs[:, 1], zero_method="wilcox", correction=True, method="approx").pvalue
    assert found.all() == (p >= ALPHA)
    less = stats.wilcoxon(costs[:, 0], costs[:, 1], alternative="less", method="approx").pvalue
    assert found[0] or less > 0.5
    assert found[1] or less < 0.5


@pytest.mark.parametrize(("test", "adjustment"), [("t", 1), ("t-bonferroni", 5)])
@pytest.mark.parametrize("seed", range(20))
def test_paired_t(test: str, adjustment: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    costs = rng.normal(size=(8, 6)) + np.arange(6) * rng.uniform(0, 1) + rng.normal(size=(8, 1)) * 10
    best = int(costs.mean(axis=0).argmin())
    expected = [
        j == best or min(1, stats.ttest_rel(costs[:, best], costs[:, j]).pvalue * adjustment) >= ALPHA for j in range(6)
    ]
    assert survivors(costs, test, ALPHA).tolist() == expected


def test_holm_is_between_the_others() -> None:
    rng = np.random.default_rng(0)
    counts = np.zeros(3, int)
    for _ in range(50):
        costs = rng.normal(size=(10, 8)) + np.arange(8) * 0.2
        kept = [survivors(costs, test, ALPHA) for test in ("t", "t-holm", "t-bonferroni")]
        assert (kept[0] <= kept[1]).all()
        assert (kept[1] <= kept[2]).all()
        counts += [k.sum() for k in kept]
    assert counts[0] < counts[1] < counts[2]


def test_constant_differences() -> None:
    costs = np.array([[1.0, 2.0, 1.0], [5.0, 6.0, 5.0]])
    assert survivors(costs, "t", ALPHA).tolist() == [True, False, True]


@given(
    arrays(np.float64, st.tuples(st.integers(2, 8), st.integers(1, 6)), elements=st.floats(-1e6, 1e6)),
    st.sampled_from(TESTS),
)
def test_the_best_is_kept_and_order_does_not_matter(costs: np.ndarray, test: str) -> None:
    kept = survivors(costs, test, ALPHA)
    assert kept.any()
    if costs.shape[1] > 2 or test != "friedman":
        assert kept[scores(costs, test).argmin()]
    order = np.random.default_rng(0).permutation(costs.shape[1])
    if len(set(scores(costs, test))) == costs.shape[1]:
        assert survivors(costs[:, order], test, ALPHA).tolist() == kept[order].tolist()


@given(arrays(np.float64, (5, 4), elements=st.floats(-10, 10)))
def test_friedman_ignores_monotone_changes(costs: np.ndarray) -> None:
    cubed = np.sign(costs) * np.abs(np.round(costs, 3)) ** 3
    assert np.array_equal(scores(np.round(costs, 3), "friedman"), scores(cubed, "friedman"))
    assert np.array_equal(survivors(np.round(costs, 3), "friedman", ALPHA), survivors(cubed, "friedman", ALPHA))


def test_one_step_eliminates_nothing() -> None:
    assert survivors(np.array([[1.0, 2.0, 3.0]]), "friedman", ALPHA).all()


def test_costs_of_every_size() -> None:
    """Sums and squares of these overflow, or vanish."""
    costs = np.array([[1.0, 3.0, 2.0], [2.0, 5.0, 2.5], [1.5, 4.0, 3.0], [1.0, 3.5, 2.0]])
    for test in TESTS:
        for size in (2.0**-1000, 2.0**1000, 2.0**1021):
            assert np.array_equal(survivors(costs * size, test, ALPHA), survivors(costs, test, ALPHA))
