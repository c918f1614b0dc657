"""Tests that eliminate configurations by their costs on the same steps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import stats

from skde.typing import BoolArray, FloatArray
from skde.utils.hypothesis_tests import (
    bonferroni,
    conover,
    holm,
    paired_t,
    rank_biserial,
    rescale,
    wilcoxon_signed_rank,
)


def as_they_are(p: FloatArray) -> FloatArray:
    """Return p-values unadjusted for their number."""
    return p


ADJUSTMENTS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "t": as_they_are,
    "t-holm": holm,
    "t-bonferroni": bonferroni,
}
TESTS = ("friedman", *ADJUSTMENTS)


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
    n, k = costs.shape
    if k < 2:
        return np.ones(k, bool)
    if test != "friedman":
        return survivors_of_t(costs, test, alpha)
    if k == 2:
        return survivors_of_two(costs[:, 0], costs[:, 1], alpha)
    return conover(costs, alpha) if n > 1 else np.ones(k, bool)


def scores(costs: FloatArray, test: str) -> FloatArray:
    """Return the scores of configurations, lower is better: rank sums, or mean costs for the t-tests."""
    values: FloatArray = stats.rankdata(costs, axis=1).sum(axis=0) if test == "friedman" else costs.mean(axis=0)
    return values


def survivors_of_two(first: FloatArray, second: FloatArray, alpha: float) -> BoolArray:
    """Drop the configuration that is nowhere better and somewhere worse, else ask Wilcoxon.

    Steps with equal costs do not count. Two configurations that are equal on all steps are both kept.
    """
    effect = rank_biserial(first, second)  # 1: the first is nowhere worse and somewhere better, -1: the second
    if abs(effect) < 1 and wilcoxon_signed_rank(first, second, correction=True) >= alpha:
        return np.ones(2, bool)
    return np.array([effect >= 0, effect < 0])


def survivors_of_t(costs: FloatArray, test: str, alpha: float) -> BoolArray:
    """Drop the configurations that paired t-tests find worse than the lowest mean."""
    costs = rescale(costs)
    others = np.arange(costs.shape[1]) != costs.mean(axis=0).argmin()
    kept = np.ones(costs.shape[1], bool)
    kept[others] = ADJUSTMENTS[test](paired_t(costs)[others]) >= alpha
    return kept
