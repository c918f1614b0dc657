"""Hypothesis tests and effect sizes, on published examples and their published results."""

import json
import subprocess
import sys
from importlib.resources import files

import numpy as np
import pytest
import scikit_posthocs
from scipy import stats

from skde.utils import hypothesis_tests
from skde.utils.hypothesis_tests import (
    bonferroni,
    conover,
    critical_difference,
    friedman,
    friedman_holm,
    friedman_ranks,
    holm,
    kruskal_wallis,
    nemenyi,
    paired_t,
    rank_biserial,
    rank_sum,
    rescale,
    stratified_t,
    vargha_delaney,
    wilcoxon_signed_rank,
)

# Demsar 2006, Table 6: areas under the ROC curve of C4.5, C4.5+m, C4.5+cf and C4.5+m+cf on 14 sets of data. The last
# two have the ranks 2 and 3 on the one before the last, where both areas are printed as 0.975.
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)
# Hollander and Wolfe 1973: half-time of mucociliary clearance, as in R's help of kruskal.test.
CLEARANCE = {
    "normal": np.array([2.9, 3.0, 2.5, 2.6, 3.2]),
    "obstructed": np.array([3.8, 2.7, 4.0, 2.4]),
    "asbestosis": np.array([2.8, 3.4, 3.7, 2.2, 2.0]),
}
# Hollander and Wolfe 1973: depression before and after a treatment, as in R's help of wilcox.test.
BEFORE = np.array([1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30])
AFTER = np.array([0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29])
WANG = json.loads(files("skde.benchmark.papers").joinpath("wang2012.json").read_text())


def wang_means(table):
    """The mean errors of a table of Wang 2012, without the two functions that overflow, and its algorithms."""
    values = np.array([list(map(float, row)) for row in WANG[table]["mean"].values()])
    return values[np.isfinite(values).all(axis=1)], WANG[table]["algorithms"]


def wang_p_values():
    """Printed and computed p-values of Table 7 of Wang 2012, by dimension and algorithm."""
    for table, column in zip("2345", range(4), strict=True):
        values, names = wang_means(table)
        ours = values[:, names.index("GOjDE")]
        for name, printed in WANG["7"]["p"].items():
            if printed[column] is not None:
                p = wilcoxon_signed_rank(ours, values[:, names.index(name)])
                yield (WANG["7"]["dims"][column], name), printed[column], f"{p:.2E}"


@pytest.mark.parametrize(("table", "column"), [("2", 0), ("3", 1), ("4", 2), ("5", 3)])
def test_the_ranks_of_wang2012_follow_from_its_means(table, column):
    values, names = wang_means(table)
    ranks = friedman_ranks(-values)  # the paper gives the best algorithm the highest rank
    for name, rank in zip(names, ranks, strict=True):
        # D=500, DE: 3.0263 is printed as 3.02; D=1000, DE: 2.1471 as 2.15.
        assert rank == pytest.approx(float(WANG["6"]["rank"][name][column]), abs=0.0065)


def test_all_p_values_of_wang2012_but_one_follow_from_its_means():
    found = list(wang_p_values())
    assert len(found) == 15
    wrong = {cell: (printed, p) for cell, printed, p in found if printed != p}
    assert wrong == {(500, "G-CMA-ES"): ("1.74E-02", "5.68E-03")}


def test_friedman_of_demsar():
    found = friedman(-DEMSAR)
    assert found.ranks.round(3).tolist() == [3.143, 2.0, 2.893, 1.964]
    n, k = DEMSAR.shape
    without_ties = 12 * n / (k * (k + 1)) * ((found.ranks - (k + 1) / 2) ** 2).sum()
    assert without_ties == pytest.approx(9.28, abs=0.01)  # as printed
    assert found.statistic == pytest.approx(stats.friedmanchisquare(*DEMSAR.T).statistic)
    assert found.p == pytest.approx(stats.chi2.sf(found.statistic, 3))


def test_nemenyi_of_demsar():
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=0.005)
    assert critical_difference(4, 14, 0.10) == pytest.approx(1.12, abs=0.005)
    # At 0.05 no pair differs; at 0.10 C4.5 is worse than C4.5+m and C4.5+m+cf.
    p = nemenyi(-DEMSAR)
    ranks = friedman_ranks(-DEMSAR)
    apart = np.abs(ranks[:, None] - ranks)
    for alpha in (0.05, 0.10):
        assert ((p < alpha) == (apart > critical_difference(4, 14, alpha))).all()
    assert (p < 0.05).sum() == 0
    assert np.argwhere(p < 0.10).tolist() == [[0, 1], [0, 3], [1, 0], [3, 0]]


def test_holm_of_demsar():
    # z = 2.342, 0.512, 2.416; p = 0.019, 0.607, 0.016, which Holm compares with 0.025, 0.05, 0.017. The adjusted value
    # of the second smallest is at least that of the smallest.
    p = friedman_holm(-DEMSAR, 0)
    assert p[0] == 1
    assert p[1:] == pytest.approx([3 * 0.0157, 0.607, 3 * 0.0157], abs=0.002)


def test_wilcoxon_of_demsar():
    # C4.5 against C4.5+m: the sums of ranks are 93 and 12, of which two pairs that are equal have 1.5 each, and they
    # shift the ranks of the two negative differences by 2 each.
    negative = 12 - 1.5 - 2 * 2
    assert rank_biserial(DEMSAR[:, 1], DEMSAR[:, 0]) == pytest.approx(-(78 - 2 * negative) / 78)
    assert 0.005 < wilcoxon_signed_rank(DEMSAR[:, 0], DEMSAR[:, 1]) < 0.02  # p of the printed z = -2.54 is 0.011


def test_wilcoxon_of_hollander_and_wolfe():
    assert wilcoxon_signed_rank(BEFORE, AFTER, "exact") == pytest.approx(0.0390625)
    assert rank_biserial(AFTER, BEFORE) == pytest.approx((40 - 5) / 45)  # R prints V = 40
    assert rank_biserial(BEFORE, AFTER) == pytest.approx(-(40 - 5) / 45)


def test_pairs_of_infinities_are_equal():
    a, b = np.array([1.0, 2.0, np.inf, np.inf]), np.array([2.0, 1.0, np.inf, 3.0])
    assert wilcoxon_signed_rank(a, b) == wilcoxon_signed_rank(np.array([1.0, 2.0, 9.0]), np.array([2.0, 1.0, 3.0]))
    assert wilcoxon_signed_rank(a, a) == 1
    assert rank_biserial(a, a) == 0
    with pytest.raises(ValueError, match="a and b must be pairs, got 4 and 3 values"):
        wilcoxon_signed_rank(a, b[:3])


def test_kruskal_wallis_of_hollander_and_wolfe():
    found = kruskal_wallis(CLEARANCE)
    assert found.statistic == pytest.approx(0.77143, abs=1e-5)
    assert found.p == pytest.approx(0.68, abs=0.001)
    assert found.best == tuple(CLEARANCE)


def test_the_best_group():
    low = np.arange(30.0)
    samples = {"worst": low + 200, "good": low + 0.5, "best": low, "failed": np.full(30, np.inf)}
    assert kruskal_wallis(samples).best == ("good", "best")
    assert kruskal_wallis(samples, alpha=1e-12).best == ("worst", "good", "best")
    equal = kruskal_wallis({"a": np.zeros(5), "b": np.zeros(4)})
    assert (equal.statistic, equal.p, equal.best) == (0, 1, ("a", "b"))
    with pytest.raises(ValueError, match="two or more samples, got 1"):
        kruskal_wallis({"a": low})
    with pytest.raises(ValueError, match=r"alpha must be a number in \(0, 1\), got 1"):
        kruskal_wallis(samples, alpha=1)


def test_dunns_pairs_by_hand():
    # Without ties: z = difference of mean ranks / sqrt(N (N + 1) / 12 (1 / n + 1 / m)).
    groups = {"a": np.arange(4.0), "b": np.arange(4.0, 7), "c": np.arange(7.0, 12)}
    z = np.array([3.5 / (4 + 3) ** 0.5 * 12**0.5, 7.5 / (4 + 5) ** 0.5 * 20**0.5, 4 / (3 + 5) ** 0.5 * 15**0.5])
    p = holm(2 * stats.norm.sf(z / (12 * 13 / 12) ** 0.5))
    assert kruskal_wallis(groups).pairs[[0, 0, 1], [1, 2, 2]] == pytest.approx(p)


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setattr(hypothesis_tests, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"need scikit-posthocs, .*: pip install 'skde\[bench\]'"):
        nemenyi(DEMSAR)


@pytest.mark.parametrize("shape", [(1, 3), (5, 2)])
def test_friedman_needs_three_algorithms_and_two_functions(shape):
    with pytest.raises(ValueError, match="3 or more algorithms and 2 or more functions"):
        friedman(np.zeros(shape))


def test_friedman_of_equal_values():
    assert friedman(np.ones((4, 3)))[:2] == (0, 1)


def test_vargha_delaney():
    a, b = np.array([1.0, 4.0, 4.0, np.inf]), np.array([2.0, 4.0, np.inf])
    assert vargha_delaney(a, b) == (3 + (0.5 + 1) * 2 + 0.5) / 12
    assert vargha_delaney(a, b) + vargha_delaney(b, a) == 1
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=20), rng.normal(0.5, 1, 30)
    assert vargha_delaney(x, y) == pytest.approx(1 - stats.mannwhitneyu(x, y).statistic / 600)


def test_friedman_ranks():
    assert friedman_ranks(np.array([[1.0, 2.0, 3.0], [5.0, 5.0, 1.0]])).tolist() == [1.75, 2.25, 2.0]
    values = np.random.default_rng(1).normal(size=(9, 4))
    # Friedman's own statistic follows from the mean ranks.
    n, k = values.shape
    ranks = friedman_ranks(values)
    expected = 12 * n / (k * (k + 1)) * ((ranks - (k + 1) / 2) ** 2).sum()
    assert stats.friedmanchisquare(*values.T).statistic == pytest.approx(expected)


@pytest.mark.parametrize(
    "test",
    [
        lambda bad: friedman_ranks(bad.reshape(-1, 1)),
        lambda bad: friedman_holm(bad.reshape(-1, 1), 0),
        lambda bad: nemenyi(bad.reshape(-1, 1)),
        lambda bad: kruskal_wallis({"de": np.ones(3), "jde": bad}),
        lambda bad: rank_sum(np.ones(3), bad),
        lambda bad: vargha_delaney(bad, np.ones(3)),
        lambda bad: wilcoxon_signed_rank(bad, bad),
        lambda bad: rank_biserial(bad, bad),
    ],
)
@pytest.mark.parametrize(
    ("bad", "told"), [([], "must have one value or more, got none"), ([1.0, np.nan], "must have no NaN, got 1")]
)
def test_samples_without_values_and_nan_are_refused(test, bad, told):
    with pytest.raises(ValueError, match=rf"^(values|a|b|the sample 'jde') {told}"):
        test(np.array(bad))


def test_nan_is_refused_by_friedmans_test():
    with pytest.raises(ValueError, match="values must have no NaN, got 1"):
        friedman(np.array([[1.0, 2.0, np.nan], [1.0, 2.0, 3.0]]))


def test_the_exact_test_allows_no_ties():
    a = np.array([1.0, 2.0, 4.0, 5.0])
    with pytest.raises(ValueError, match=r'method="exact" allows no ties, got 1 of 3 pairs'):
        wilcoxon_signed_rank(a, a - [1, -1, 2, 0], "exact")
    assert wilcoxon_signed_rank(a, a - [1, -1, 2, 0]) < 1
    assert wilcoxon_signed_rank(a, a - [1, np.inf, 2, 0], "exact") == 0.25


LOWER, HIGHER = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [11.0, 12.0, 13.0, 14.0, 15.0, 16.0]


def test_rank_sum():
    assert rank_sum(np.array(LOWER), np.array(HIGHER)) == "better"
    assert rank_sum(np.array(HIGHER), np.array(LOWER)) == "worse"
    assert rank_sum(np.array(LOWER), np.array(LOWER) + 0.5) == "equal"
    assert rank_sum(np.zeros(30), np.zeros(30)) == "equal"
    assert rank_sum(np.array(LOWER), np.full(6, np.inf)) == "better"
    assert rank_sum(np.array(LOWER), np.array(HIGHER), alpha=1e-6) == "equal"


def test_rank_sum_has_its_stated_level():
    rng = np.random.default_rng(0)
    wrong = sum(rank_sum(rng.normal(size=20), rng.normal(size=20)) != "equal" for _ in range(1000))
    assert 30 <= wrong <= 70


def test_of_one_stratum_it_is_the_t_test():
    values = np.array([0.3, -0.1, 0.4, 0.2, 0.25])
    expected = stats.ttest_1samp(values, 0, alternative="greater").pvalue
    assert stratified_t([values]) == pytest.approx(expected)
    assert stratified_t([-values]) == pytest.approx(1 - expected)


def test_of_two_strata_it_is_welchs_test_of_one_against_the_others_negative():
    rng = np.random.default_rng(0)
    one, other = rng.normal(0.3, 1, 6), rng.normal(0.5, 3, 4)
    expected = stats.ttest_ind(one, -other, equal_var=False, alternative="greater").pvalue
    assert stratified_t([one, other]) == pytest.approx(expected)


def test_levels_of_strata_do_not_count_as_noise_and_nothing_is_found_where_there_is_nothing():
    rng = np.random.default_rng(1)
    levels = rng.normal(size=20)
    levels -= levels.mean()
    spreads = rng.uniform(0.01, 0.2, 20)[:, None]
    found = np.array([stratified_t([*(levels[:, None] + spreads * rng.normal(size=(20, 3)))]) for _ in range(1000)])
    assert 0.03 < (found < 0.05).mean() < 0.07
    shifted = [stratified_t([*(0.05 + levels[:, None] + spreads * rng.normal(size=(20, 3)))]) for _ in range(100)]
    assert np.median(shifted) < 0.01


@pytest.mark.parametrize(("strata", "p"), [([[0.0, 0.0]] * 3, 1.0), ([[0.1, 0.1], [0.0, 0.0]], 0.0)])
def test_strata_without_variance(strata, p):
    assert stratified_t([np.array(values) for values in strata]) == p


@pytest.mark.parametrize("strata", [[[1.0], [1.0, 2.0]], [[]], []])
def test_a_stratum_needs_two_values(strata):
    with pytest.raises(ValueError, match="at least 2 values"):
        stratified_t([np.array(values) for values in strata])


# -- a race's tests ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(30))
def test_conover_decides_as_scikit_posthocs(seed):
    rng = np.random.default_rng(seed)
    n, k = rng.integers(2, 15), rng.integers(3, 9)
    values = rng.integers(0, 6, (n, k)) + np.arange(k) * rng.uniform(0, 2)
    if friedman(values).p >= 0.05:
        assert conover(values).all()
        return
    pairs = scikit_posthocs.posthoc_conover_friedman(values).to_numpy()
    best = int(friedman_ranks(values).argmin())
    assert conover(values).tolist() == [j == best or pairs[best, j] >= 0.05 for j in range(k)]


def test_conover_with_functions_that_all_agree():
    assert conover(np.tile([1.0, 2.0, 3.0], (6, 1))).tolist() == [True, False, False]
    assert conover(np.tile([1.0, 1.0, 3.0], (6, 1))).tolist() == [True, True, False]
    assert conover(np.ones((6, 3))).all()


def test_a_correction_for_continuity_as_in_r():
    # R: wilcox.test(BEFORE, AFTER, paired = TRUE, exact = FALSE): V = 40, p-value = 0.04401
    assert wilcoxon_signed_rank(BEFORE, AFTER, correction=True) == pytest.approx(0.04401, abs=5e-6)
    assert wilcoxon_signed_rank(BEFORE, AFTER) < 0.04


@pytest.mark.parametrize("seed", range(10))
def test_paired_t_is_scipys(seed):
    values = np.random.default_rng(seed).normal(size=(8, 5)) + np.arange(5) * 0.3
    best = int(values.mean(axis=0).argmin())
    expected = [1.0 if j == best else stats.ttest_rel(values[:, best], values[:, j]).pvalue for j in range(5)]
    assert paired_t(values) == pytest.approx(expected)
    assert paired_t(values * 1e300) == pytest.approx(expected)


def test_bonferroni():
    assert bonferroni(np.array([0.01, 0.4, 0.2])) == pytest.approx([0.03, 1.0, 0.6])


def test_values_are_rescaled_without_rounding():
    values = np.array([[1e300, -3e300], [7e299, np.inf]])
    scaled = rescale(values)
    assert (np.frexp(scaled[np.isfinite(values)])[0] == np.frexp(values[np.isfinite(values)])[0]).all()
    assert 0.5 <= np.abs(scaled[np.isfinite(scaled)]).max() < 1


def test_a_tuner_needs_no_laboratory():
    """The tests are below both."""
    program = "import sys; sys.modules['skde.benchmark'] = None; import skde.tuning"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
