"""Tests that eliminate configurations by their costs on the same steps."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from skde.benchmark.hypothesis_tests import holm
from skde.typing import FloatArray

BoolArray: TypeAlias = NDArray[np.bool_]


def survivors(costs: FloatArray, test: str, alpha: float) -> BoolArray:
    """Return which configurations are not significantly worse than the best.

    Parameters
    ----------
    costs : ndarray of shape (n, k)
        Costs on n steps of k configurations; finite.
    test : {"friedman", "t", "t-holm", "t-bonferroni"}
        Which test. With two configurations left, "friedman" means: the one that is dominated is dropped, else
        Wilcoxon's signed-rank test decides.
    alpha : float
        Its level, in (0, 1).

    Returns
    -------
    kept : ndarray of shape (k,)
    """
    if costs.shape[1] < 2:
        return np.ones(costs.shape[1], bool)
    if test == "friedman":
        return friedman(costs, alpha) if costs.shape[1] > 2 else wilcoxon(costs, alpha)
    return paired_t(costs, alpha, test.removeprefix("t").removeprefix("-"))


def scores(costs: FloatArray, test: str) -> FloatArray:
    """Return the scores of configurations, lower is better: rank sums, or mean costs for the t-tests."""
    values: FloatArray = ranks(costs).sum(axis=0) if test == "friedman" else costs.mean(axis=0)
    return values


def ranks(costs: FloatArray) -> FloatArray:
    """Return every configuration's rank on every step, 1 is best; equal costs share their ranks."""
    ranked: FloatArray = stats.rankdata(costs, axis=1)
    return ranked


def friedman(costs: FloatArray, alpha: float) -> BoolArray:
    r"""Friedman's test, and the post-hoc rule by which it drops.

    With ranks :math:`r_{ij}` of k configurations on n steps and their sums :math:`R_j`, the statistic, which corrects
    for ties, is

    .. math::
        \frac{(k - 1) \sum_j (R_j - n (k + 1) / 2)^2}{\sum_{ij} r_{ij}^2 - n k (k + 1)^2 / 4} \sim \chi^2_{k - 1}.

    Where it is significant, those are kept with

    .. math::
        |R_j - R_{best}| \le t_{1 - \alpha/2, (n-1)(k-1)}
        \sqrt{\frac{2 (n \sum_{ij} r_{ij}^2 - \sum_j R_j^2)}{(n - 1)(k - 1)}}.

    Source: W. J. Conover, Practical nonparametric statistics (1999); so in irace.
    """
    n, k = costs.shape
    r = ranks(costs)
    sums = r.sum(axis=0)
    squares = (r**2).sum()
    spread = squares - n * k * (k + 1) ** 2 / 4
    everyone = np.ones(k, bool)
    if n < 2 or spread <= 0:  # all costs are equal on every step
        return everyone
    statistic = (k - 1) * ((sums - n * (k + 1) / 2) ** 2).sum() / spread
    if special.chdtrc(k - 1, statistic) >= alpha:
        return everyone
    freedom = (n - 1) * (k - 1)
    # Rounding must not make a sum of squares negative where all steps agree.
    error = max(2 * (n * squares - (sums**2).sum()) / freedom, 0.0)
    furthest = special.stdtrit(freedom, 1 - alpha / 2) * np.sqrt(error)
    kept: BoolArray = np.abs(sums - sums.min()) <= furthest
    return kept


def wilcoxon(costs: FloatArray, alpha: float) -> BoolArray:
    """Two configurations: drop the one that is nowhere better and somewhere worse, else ask Wilcoxon.

    The test is the two-sided one of signed ranks, with the normal approximation and its correction for continuity;
    pairs that are equal do not count. Two configurations that are equal everywhere are both kept.
    """
    difference = costs[:, 0] - costs[:, 1]
    difference = difference[difference != 0]
    if not len(difference):
        return np.ones(2, bool)
    if not ((difference < 0).all() or (difference > 0).all()):
        p = stats.wilcoxon(difference, correction=True, method="asymptotic").pvalue
        if p >= alpha:
            return np.ones(2, bool)
    first_is_worse = (stats.rankdata(np.abs(difference)) * np.sign(difference)).sum() > 0
    return np.array([not first_is_worse, first_is_worse])


def paired_t(costs: FloatArray, alpha: float, adjustment: str) -> BoolArray:
    """Two-sided paired t-tests of every configuration against the one with the lowest mean.

    Differences that are constant have no variance: p is 1 where they are 0, else 0.
    """
    costs = rescaled(costs)
    best = int(costs.mean(axis=0).argmin())
    others = np.flatnonzero(np.arange(costs.shape[1]) != best)
    difference = costs[:, others] - costs[:, [best]]
    n = len(difference)
    mean, error = difference.mean(axis=0), difference.std(axis=0, ddof=1) / np.sqrt(n)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2 * special.stdtr(n - 1, -np.abs(mean / error))
    p[(error == 0) & (mean == 0)] = 1.0
    kept = np.ones(costs.shape[1], bool)
    kept[others] = adjusted(p, adjustment) >= alpha
    return kept


def rescaled(costs: FloatArray) -> FloatArray:
    """Return costs times a power of two, the largest of them near 1: squares then neither overflow nor vanish."""
    largest = np.max(np.abs(costs), where=np.isfinite(costs), initial=0.0)
    scaled: FloatArray = np.ldexp(costs, -np.frexp(largest)[1])
    return scaled


def adjusted(p: FloatArray, adjustment: str) -> FloatArray:
    """Return p-values adjusted for their number.

    Parameters
    ----------
    p : ndarray of shape (m,)
        The tests' values.
    adjustment : {"", "bonferroni", "holm"}
        How: not at all, all times m, or Holm's step-down times m, m - 1, ... from the smallest.
    """
    m = len(p)
    if adjustment == "bonferroni":
        return np.minimum(p * m, 1.0)
    if adjustment == "holm":
        return holm(p)
    return p
