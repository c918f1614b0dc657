"""Scores of trials, on small examples that can be checked by hand."""

import numpy as np
import pytest
from scipy import stats

from skde.benchmark.trial_scores import TARGETS, estimate_running_time, measure_solved_area, rank_scores, success_rate


def test_solved_trials_are_ranked_by_time_and_the_others_by_error():
    # From the best: b0 (solved, 1 s), a0 (solved, 2 s), c0 (solved, 3 s), then the errors 1, 2, 2, 5, 7, inf.
    errors = [np.array([0.0, 2.0, 5.0]), np.array([1e-9, 1.0, np.inf]), np.array([1e-8, 2.0, 7.0])]
    seconds = [np.array([2.0, 0.1, 0.1]), np.array([1.0, 9.0, np.nan]), np.array([3.0, 9.0, 9.0])]
    scores = rank_scores(errors, seconds)
    assert scores.tolist() == [8 + 4.5 + 3 - 6, 9 + 6 + 1 - 6, 7 + 4.5 + 2 - 6]
    assert scores.sum() == 9 * 10 / 2 - 3 * 6
    assert rank_scores(errors, seconds, solved=0.0)[0] > rank_scores(errors, seconds, solved=0.0)[1]


def test_trials_with_equal_times_are_ties():
    errors, seconds = [np.zeros(2), np.zeros(2)], [np.array([1.0, 2.0]), np.array([1.0, 3.0])]
    assert rank_scores(errors, seconds).tolist() == [3.5 + 2 - 3, 3.5 + 1 - 3]


def test_of_two_algorithms_the_score_is_the_statistic_of_mann_and_whitney():
    rng = np.random.default_rng(3)
    a, b = rng.integers(1, 9, (2, 30)).astype(float)  # with ties
    scores = rank_scores([a, b], [np.ones(30), np.ones(30)])
    assert scores == pytest.approx([stats.mannwhitneyu(-a, -b).statistic, stats.mannwhitneyu(-b, -a).statistic])


def test_the_best_has_the_highest_score():
    trials = [np.full(30, level) for level in (1.0, 2.0, 3.0)]
    assert rank_scores(trials, trials).tolist() == [2 * 30**2, 30**2, 0]


def test_every_algorithm_has_as_many_trials():
    with pytest.raises(ValueError, match="the same number of trials"):
        rank_scores([np.zeros(3), np.zeros(2)], [np.zeros(3), np.zeros(2)])
    with pytest.raises(ValueError, match="each trial its seconds"):
        rank_scores([np.zeros(3), np.zeros(3)], [np.zeros(3)])


def test_success_rate():
    assert success_rate(np.array([1e-8, 2e-8, np.inf, 0.0])) == 0.5
    assert success_rate(np.array([1e-8, 2e-8, np.inf, 0.0]), 1.0) == 0.75


def test_expected_running_time():
    assert estimate_running_time(np.array([100.0, np.inf, 200.0]), np.array([500, 300, 500])) == 300
    assert estimate_running_time(np.array([np.inf]), np.array([5])) == np.inf


def test_the_area_is_that_under_the_curve_of_reached_targets():
    n_evals, errors = np.array([5, 30, 700, 4000, 9000]), np.array([2e3, 50.0, 1.0, 1e-3, 1e-5])
    dim, evals_per_dim = 10, 1000
    grid = np.geomspace(dim, evals_per_dim * dim, 100_001)
    best = errors[np.searchsorted(n_evals, grid, side="right") - 1]
    shares = (best[:, None] <= np.array(TARGETS)).mean(axis=1)
    assert measure_solved_area(n_evals, errors, dim, evals_per_dim) == pytest.approx(shares.mean(), abs=1e-4)


def test_the_area_is_from_zero_to_one():
    assert measure_solved_area(np.array([1, 100]), np.array([1e5, 101.0]), 10, 10) == 0.0
    assert measure_solved_area(np.array([1, 10]), np.array([1e5, 1e-9]), 10, 10) == 1.0
