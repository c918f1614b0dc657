"""Hypothesis tests of several algorithms or configurations: paired over functions, or between runs on one function.

SciPy and scikit-posthocs do the tests; a race of `skde.tuning` and the tables of `skde.benchmark` take them from here.
Lower values are better. In rank tests they may be infinite, for runs that failed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from scipy import special, stats

from skde.typing import BoolArray, FloatArray
from skde.utils.validation import check_real

ALPHA = 0.05


class Friedman(NamedTuple):
    """The result of Friedman's test.

    Attributes
    ----------
    statistic, p : float
        The statistic and its p-value.
    ranks : ndarray of shape (k,)
        Mean ranks of the algorithms; 1 is best.
    """

    statistic: float
    p: float
    ranks: FloatArray


class KruskalWallis(NamedTuple):
    """The result of the Kruskal-Wallis test and of the tests of pairs after it.

    Attributes
    ----------
    statistic, p : float
        The statistic and its p-value.
    pairs : ndarray of shape (k, k)
        Adjusted p-values of Dunn's tests of all pairs.
    best : tuple of str
        The algorithms that are not significantly worse than the one with the lowest mean rank.
    """

    statistic: float
    p: float
    pairs: FloatArray
    best: tuple[str, ...]


def sample(name: str, values: Any) -> FloatArray:
    """Return the values of an argument as an array.

    Raises
    ------
    ValueError
        For no values, and for NaN, which no rank test can order.
    """
    array: FloatArray = np.asarray(values, np.float64)
    if not array.size:
        raise ValueError(f"{name} must have one value or more, got none")
    if np.isnan(array).any():
        raise ValueError(f"{name} must have no NaN, got {int(np.isnan(array).sum())}; a run that failed is infinite")
    return array


def friedman_ranks(values: FloatArray) -> FloatArray:
    """Return the mean rank of every algorithm.

    Parameters
    ----------
    values : ndarray of shape (functions, algorithms)
        For example median errors; equal ones share their ranks.

    Returns
    -------
    ranks : ndarray of shape (algorithms,)
        1 is best.

    Raises
    ------
    ValueError
        For no values, and for NaN.
    """
    ranks: FloatArray = stats.rankdata(sample("values", values), axis=1).mean(axis=0)
    return ranks


def friedman(values: FloatArray) -> Friedman:
    r"""Test that k algorithms are equally good on n functions.

    With the ranks :math:`r_{ij}` and their sums :math:`R_j`, the statistic, which corrects for ties, is

    .. math::
        \chi^2_F = \frac{(k - 1) \sum_j (R_j - n (k + 1) / 2)^2}{\sum_{ij} r_{ij}^2 - n k (k + 1)^2 / 4}
        \sim \chi^2_{k - 1}.

    Parameters
    ----------
    values : ndarray of shape (functions, algorithms)
        One value of every algorithm on every function, such as its median error.

    Returns
    -------
    result : Friedman
        With statistic 0 and p 1 where all values of every function are equal.

    Raises
    ------
    ValueError
        For fewer than three algorithms or two functions, and for NaN.

    Notes
    -----
    As `scipy.stats.friedmanchisquare`, which takes 3 to 11 ms, too long for the many tests of a race.

    Source: M. Friedman, The use of ranks to avoid the assumption of normality implicit in the analysis of variance,
    Journal of the American Statistical Association 32 (1937).

    Examples
    --------
    >>> import numpy as np
    >>> from skde.utils.hypothesis_tests import friedman
    >>> result = friedman(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]))
    >>> result.statistic, result.ranks.tolist()
    (6.0, [1.0, 2.0, 3.0])
    """
    n, k = values.shape
    if k < 3 or n < 2:
        raise ValueError(f"Friedman's test needs 3 or more algorithms and 2 or more functions, got {k} and {n}")
    ranks = stats.rankdata(sample("values", values), axis=1)
    spread = (ranks**2).sum() - n * k * (k + 1) ** 2 / 4
    if spread <= 0:
        return Friedman(0.0, 1.0, ranks.mean(axis=0))
    statistic = (k - 1) * ((ranks.sum(axis=0) - n * (k + 1) / 2) ** 2).sum() / spread
    return Friedman(float(statistic), float(special.chdtrc(k - 1, statistic)), ranks.mean(axis=0))


def conover(values: FloatArray, alpha: float = ALPHA) -> BoolArray:
    r"""Return which algorithms Friedman's test, and Conover's test of pairs after it, do not find worse than the best.

    With the ranks :math:`r_{ij}` of k algorithms on n functions and their sums :math:`R_j`, Conover keeps those with

    .. math::
        |R_j - R_{best}| \le t_{1 - \alpha/2, (n-1)(k-1)}
        \sqrt{\frac{2 (n \sum_{ij} r_{ij}^2 - \sum_j R_j^2)}{(n - 1)(k - 1)}}.

    Parameters
    ----------
    values : ndarray of shape (functions, algorithms)
        As for `friedman`.
    alpha : float, default 0.05
        The level of both tests, in (0, 1).

    Returns
    -------
    kept : ndarray of shape (algorithms,)
        All of them where Friedman's test is not significant.

    Raises
    ------
    ValueError
        As `friedman`.

    Notes
    -----
    Source: W. J. Conover, Practical nonparametric statistics (1999); so in irace. `posthoc_conover_friedman` of
    scikit-posthocs has the p-values of all pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from skde.utils.hypothesis_tests import conover
    >>> conover(np.array([[1.0, 2.0, 3.0]] * 5 + [[2.0, 1.0, 3.0]] * 4)).tolist()
    [True, True, False]
    """
    n, k = values.shape
    if friedman(values).p >= alpha:
        return np.ones(k, bool)
    ranks = stats.rankdata(values, axis=1)
    sums, freedom = ranks.sum(axis=0), (n - 1) * (k - 1)
    # Rounding must not make a sum of squares negative where all functions agree.
    error = max(2 * (n * (ranks**2).sum() - (sums**2).sum()) / freedom, 0.0)
    kept: BoolArray = np.abs(sums - sums.min()) <= special.stdtrit(freedom, 1 - alpha / 2) * np.sqrt(error)
    return kept


def critical_difference(k: int, n: int, alpha: float = ALPHA) -> float:
    r"""Return the difference of mean ranks from which Nemenyi's test finds two algorithms different.

    .. math::
        CD = \frac{q_\alpha}{\sqrt 2} \sqrt{\frac{k (k + 1)}{6 n}}

    with the quantile :math:`q_\alpha` of the studentized range of k groups and infinite degrees of freedom.

    Parameters
    ----------
    k, n : int
        Numbers of algorithms and of functions.
    alpha : float, default 0.05
        The level, in (0, 1).

    Returns
    -------
    difference : float

    Notes
    -----
    Source: J. Demsar, Statistical comparisons of classifiers over multiple data sets, Journal of Machine Learning
    Research 7 (2006).

    Examples
    --------
    >>> from skde.utils.hypothesis_tests import critical_difference
    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    check_real("alpha", alpha, 0, 1, low_open=True, high_open=True)
    quantile = stats.studentized_range.ppf(1 - alpha, k, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(k * (k + 1) / (6 * n)))


def nemenyi(values: FloatArray) -> FloatArray:
    """Return the p-values of Nemenyi's test of all pairs of algorithms after Friedman's test.

    Parameters
    ----------
    values : ndarray of shape (functions, algorithms)
        As for `friedman`.

    Returns
    -------
    p : ndarray of shape (algorithms, algorithms)
        1 on the diagonal.

    Raises
    ------
    ValueError
        For no values, for NaN, and if scikit-posthocs is not installed.

    Notes
    -----
    Source: P. Nemenyi, Distribution-free multiple comparisons, PhD thesis, Princeton University (1963).
    """
    ranks = stats.rankdata(sample("values", values), axis=1)
    p: FloatArray = posthocs().posthoc_nemenyi_friedman(ranks).to_numpy(np.float64)
    return p


def friedman_holm(values: FloatArray, control: int) -> FloatArray:
    r"""Return Holm's adjusted p-values of the tests of all algorithms against a control, after Friedman's test.

    .. math::
        z_j = (R_j - R_{control}) \Big/ \sqrt{\frac{k (k + 1)}{6 n}}, \qquad p_j = 2 \Phi(-|z_j|)

    Parameters
    ----------
    values : ndarray of shape (functions, algorithms)
        As for `friedman`.
    control : int
        The control's column.

    Returns
    -------
    p : ndarray of shape (algorithms,)
        1 for the control, which is not tested.

    Raises
    ------
    ValueError
        For no values, and for NaN.

    Notes
    -----
    Source: J. Demsar, Statistical comparisons of classifiers over multiple data sets, Journal of Machine Learning
    Research 7 (2006).
    """
    n, k = values.shape
    ranks = friedman_ranks(values)
    z = (ranks - ranks[control]) / np.sqrt(k * (k + 1) / (6 * n))
    others = np.arange(k) != control
    p = np.ones(k)
    p[others] = holm(2 * stats.norm.sf(np.abs(z[others])))
    return p


def holm(p: FloatArray) -> FloatArray:
    r"""Return p-values adjusted by Holm's step-down method.

    .. math::
        \tilde p_{(i)} = \max_{j \le i} \min\bigl(1, (m - j + 1)\, p_{(j)}\bigr)

    Parameters
    ----------
    p : ndarray of shape (m,)
        The p-values.

    Returns
    -------
    adjusted : ndarray of shape (m,)

    Notes
    -----
    Source: S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6
    (1979).

    Examples
    --------
    >>> import numpy as np
    >>> from skde.utils.hypothesis_tests import holm
    >>> holm(np.array([0.01, 0.04, 0.03, 0.005])).tolist()
    [0.03, 0.06, 0.06, 0.02]
    """
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    return adjusted


def bonferroni(p: FloatArray) -> FloatArray:
    """Return p-values times their number, at most 1.

    Parameters
    ----------
    p : ndarray of shape (m,)
        The p-values.

    Returns
    -------
    adjusted : ndarray of shape (m,)

    Notes
    -----
    Source: C. E. Bonferroni, Teoria statistica delle classi e calcolo delle probabilita (1936).

    Examples
    --------
    >>> import numpy as np
    >>> from skde.utils.hypothesis_tests import bonferroni
    >>> bonferroni(np.array([0.25, 0.75])).tolist()
    [0.5, 1.0]
    """
    return np.minimum(p * len(p), 1.0)


def differences(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return a - b of pairs, and 0 where both are the same infinity."""
    a, b = sample("a", a), sample("b", b)
    if a.shape != b.shape:
        raise ValueError(f"a and b must be pairs, got {a.size} and {b.size} values")
    equal = a == b
    return np.where(equal, 0.0, a - np.where(equal, 0.0, b))


def wilcoxon_signed_rank(
    a: FloatArray, b: FloatArray, method: str = "asymptotic", *, correction: bool = False
) -> float:
    """Return p of the two-sided Wilcoxon signed-rank test of pairs.

    Pairs that are equal do not count.

    Parameters
    ----------
    a, b : ndarray of shape (n,)
        Pairs of values, such as the mean errors of two algorithms on n functions.
    method : {"asymptotic", "exact"}
        The distribution of the statistic: normal; or exact, which allows no ties.
    correction : bool, default False
        Whether the normal distribution is corrected for continuity, as in R; SPSS does not.

    Returns
    -------
    p : float
        1 if all pairs are equal.

    Raises
    ------
    ValueError
        For no values, for NaN, if there are not as many values in a as in b, and for method="exact" if two pairs
        have differences of the same size.

    Notes
    -----
    Source: F. Wilcoxon, Individual comparisons by ranking methods, Biometrics Bulletin 1 (1945).

    Examples
    --------
    >>> import numpy as np
    >>> from skde.utils.hypothesis_tests import wilcoxon_signed_rank
    >>> wilcoxon_signed_rank(np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([2.0, 4.0, 6.0, 8.0, 10.0]), "exact")
    0.0625
    """
    difference = differences(a, b)
    difference = difference[difference != 0]
    if not len(difference):
        return 1.0
    ties = len(difference) - len(np.unique(np.abs(difference)))
    if method == "exact" and ties:
        raise ValueError(f'method="exact" allows no ties, got {ties} of {len(difference)} pairs; take "asymptotic"')
    return float(stats.wilcoxon(difference, zero_method="wilcox", correction=correction, method=method).pvalue)


def rank_sum(a: FloatArray, b: FloatArray, alpha: float = ALPHA) -> str:
    """Return whether the values a are better (lower), equal or worse than b.

    Parameters
    ----------
    a, b : ndarray of shape (n,), (m,)
        Independent samples.
    alpha : float, default 0.05
        The level of the two-sided Wilcoxon rank-sum test.

    Returns
    -------
    verdict : {"better", "equal", "worse"}

    Raises
    ------
    ValueError
        For no values, and for NaN.
    """
    a, b = sample("a", a), sample("b", b)
    if len(np.unique(np.concatenate([a, b]))) == 1:  # the test needs values that differ
        return "equal"
    statistic, p = stats.mannwhitneyu(a, b, alternative="two-sided")
    if p >= alpha:
        return "equal"
    return "better" if statistic < len(a) * len(b) / 2 else "worse"


def stratified_t(strata: Sequence[FloatArray]) -> float:
    r"""Return p of the one-sided test that the mean of the strata's expectations is not above zero.

    .. math::
        t = \sum_s \bar x_s \Big/ \sqrt{\sum_s v_s}, \qquad v_s = s_s^2 / n_s

    with Satterthwaite's degrees of freedom :math:`(\sum v_s)^2 / \sum v_s^2 / (n_s - 1)`: strata are fixed, and their
    variances may differ. With one stratum it is the t-test.

    Parameters
    ----------
    strata : sequence of ndarray of shape (n,)
        The sample of each stratum.

    Returns
    -------
    p : float
        0 or 1 if no stratum varies.

    Raises
    ------
    ValueError
        For a stratum of fewer than two values, which has no variance.

    Notes
    -----
    Source: F. E. Satterthwaite, An approximate distribution of estimates of variance components, Biometrics Bulletin 2
    (1946).
    """
    if min(map(len, strata), default=0) < 2:
        raise ValueError(f"every stratum needs at least 2 values, got {[len(values) for values in strata]}")
    total = sum(float(values.mean()) for values in strata)
    variances = np.array([values.var(ddof=1) / len(values) for values in strata])
    if not variances.any():
        return 0.0 if total > 0 else 1.0
    freedom = variances.sum() ** 2 / sum(v**2 / (len(x) - 1) for v, x in zip(variances, strata, strict=True))
    return float(stats.t.sf(total / np.sqrt(variances.sum()), freedom))


def paired_t(values: FloatArray) -> FloatArray:
    """Return p of the two-sided paired t-tests of all algorithms against the one with the lowest mean.

    Parameters
    ----------
    values : ndarray of shape (functions, algorithms)
        Finite values.

    Returns
    -------
    p : ndarray of shape (algorithms,)
        1 for the lowest mean, which is not tested. Differences that are constant have no variance: p is 1 where they
        are 0, else 0.

    Notes
    -----
    As `scipy.stats.ttest_rel`, which warns of differences that are nearly constant. Source: Student, The probable
    error of a mean, Biometrika 6 (1908).

    Examples
    --------
    >>> import numpy as np
    >>> from skde.utils.hypothesis_tests import paired_t
    >>> paired_t(np.array([[1.0, 2.0, 1.0], [5.0, 6.0, 5.0]])).tolist()
    [1.0, 0.0, 1.0]
    """
    values = rescale(values)
    best = int(values.mean(axis=0).argmin())
    others = np.flatnonzero(np.arange(values.shape[1]) != best)
    difference = values[:, others] - values[:, [best]]
    n = len(difference)
    mean, error = difference.mean(axis=0), difference.std(axis=0, ddof=1) / np.sqrt(n)
    p = np.ones(values.shape[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        p[others] = 2 * special.stdtr(n - 1, -np.abs(mean / error))
    p[others[(error == 0) & (mean == 0)]] = 1.0
    return p


def rescale(values: FloatArray) -> FloatArray:
    """Return values times a power of two, the largest of them near 1: squares then neither overflow nor vanish."""
    largest = np.max(np.abs(values), where=np.isfinite(values), initial=0.0)
    scaled: FloatArray = np.ldexp(values, -np.frexp(largest)[1])
    return scaled


def kruskal_wallis(samples: Mapping[str, FloatArray], alpha: float = 0.01) -> KruskalWallis:
    r"""Test that the runs of k algorithms on one function are equally good, and find the group of the best.

    With the mean ranks :math:`\bar R_j` of all N values, and without ties, the statistic is

    .. math::
        H = \frac{12}{N (N + 1)} \sum_j n_j \left(\bar R_j - \frac{N + 1}{2}\right)^2 \sim \chi^2_{k - 1},

    and it is corrected for ties. Where it is significant, Dunn's tests of pairs, adjusted by Holm's method at the same
    level, decide which algorithms are as good as the one with the lowest mean rank.

    Parameters
    ----------
    samples : mapping of str to ndarray of shape (n,)
        The values of each algorithm's runs; lower is better.
    alpha : float, default 0.01
        The level, in (0, 1).

    Returns
    -------
    result : KruskalWallis
        The best are all algorithms where the test finds no difference.

    Raises
    ------
    ValueError
        For fewer than two samples, one without values or with NaN, or if scikit-posthocs is not installed.

    Notes
    -----
    Sources: W. H. Kruskal, W. A. Wallis, Use of ranks in one-criterion variance analysis, Journal of the American
    Statistical Association 47 (1952); O. J. Dunn, Multiple comparisons using rank sums, Technometrics 6 (1964).
    Y. S. G. Nashed et al., A comparative study of three GPU-based metaheuristics (2012), mark the best of their
    Table 2 by the Kruskal-Wallis test at 0.01; they do not say which tests of pairs follow it.

    Examples
    --------
    >>> import numpy as np
    >>> from skde.utils.hypothesis_tests import kruskal_wallis
    >>> low, high = np.arange(10.0), np.arange(20.0, 30.0)
    >>> kruskal_wallis({"de": low, "jde": low + 0.5, "pso": high}).best
    ('de', 'jde')
    """
    check_real("alpha", alpha, 0, 1, low_open=True, high_open=True)
    names = list(samples)
    if len(names) < 2:
        raise ValueError(f"the Kruskal-Wallis test needs two or more samples, got {len(names)}")
    values = np.concatenate([sample(f"the sample {name!r}", samples[name]) for name in names])
    if (values == values[0]).all():
        return KruskalWallis(0.0, 1.0, np.ones((len(names),) * 2), tuple(names))
    # The ranks, because the values may be infinite.
    groups = np.split(stats.rankdata(values), np.cumsum([len(samples[name]) for name in names])[:-1])
    statistic, p = stats.kruskal(*groups)
    pairs = np.array(posthocs().posthoc_dunn(groups, p_adjust="holm"), np.float64)
    first = int(np.argmin([group.mean() for group in groups]))
    best = tuple(name for name, same in zip(names, pairs[first] >= alpha, strict=True) if p >= alpha or same)
    return KruskalWallis(float(statistic), float(p), pairs, best)


def vargha_delaney(a: FloatArray, b: FloatArray) -> float:
    r"""Return the probability that a run of a is better (lower) than one of b.

    .. math::
        \hat A_{12} = \frac{\#\{a_i < b_j\} + \frac12 \#\{a_i = b_j\}}{n m}

    Parameters
    ----------
    a, b : ndarray of shape (n,), (m,)
        Independent samples.

    Returns
    -------
    effect : float
        0.5 for no effect; 0.56, 0.64 and 0.71 are a small, medium and large advantage of a.

    Raises
    ------
    ValueError
        For no values, and for NaN.

    Notes
    -----
    Source: A. Vargha, H. D. Delaney, A critique and improvement of the CL common language effect size statistics of
    McGraw and Wong, Journal of Educational and Behavioral Statistics 25 (2000). Difference: their larger value is the
    better one.

    Examples
    --------
    >>> import numpy as np
    >>> from skde.utils.hypothesis_tests import vargha_delaney
    >>> vargha_delaney(np.array([1.0, 2.0]), np.array([2.0, 3.0]))
    0.875
    """
    a, b = sample("a", a)[:, None], sample("b", b)
    return float(((a < b) + 0.5 * (a == b)).mean())


def rank_biserial(a: FloatArray, b: FloatArray) -> float:
    r"""Return the matched-pairs rank-biserial correlation, the effect size of `wilcoxon_signed_rank`.

    .. math::
        r = \frac{W_{a < b} - W_{a > b}}{W_{a < b} + W_{a > b}}

    with the sums W of the ranks of :math:`|a_i - b_i|`. Pairs that are equal do not count.

    Parameters
    ----------
    a, b : ndarray of shape (n,)
        Pairs of values.

    Returns
    -------
    effect : float
        From -1, b is better (lower) everywhere, to 1, a is; 0 if all pairs are equal.

    Raises
    ------
    ValueError
        For no values, for NaN, and if there are not as many values in a as in b.

    Notes
    -----
    Source: D. S. Kerby, The simple difference formula: an approach to teaching nonparametric correlation, Comprehensive
    Psychology 3 (2014).

    Examples
    --------
    >>> import numpy as np
    >>> from skde.utils.hypothesis_tests import rank_biserial
    >>> rank_biserial(np.array([1.0, 5.0, 1.0]), np.array([4.0, 4.0, 3.0]))
    0.6666666666666666
    """
    difference = differences(a, b)
    difference = difference[difference != 0]
    if not len(difference):
        return 0.0
    ranks = stats.rankdata(np.abs(difference))
    return float((ranks * -np.sign(difference)).sum() / ranks.sum())


def posthocs() -> Any:
    """Return scikit-posthocs, which is optional."""
    if find_spec("scikit_posthocs") is None:
        raise ValueError("tests of pairs need scikit-posthocs, which is not installed: pip install 'skde[bench]'")
    import scikit_posthocs

    return scikit_posthocs
