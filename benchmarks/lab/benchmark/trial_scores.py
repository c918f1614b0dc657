"""Scores of algorithms from the errors and times of their runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import stats

from skde.typing import FloatArray, IntArray

SOLVED = 1e-8
# The targets of COCO's suites, from the easiest to the last.
TARGETS = tuple(10.0 ** (2 - step / 5) for step in range(51))


def rank_scores(errors: Sequence[FloatArray], seconds: Sequence[FloatArray], solved: float = SOLVED) -> FloatArray:
    r"""Return every algorithm's score on one function: its trials are ranked by error, solved ones by wall-clock time.

    The n m trials of m algorithms with n trials each are ranked together; the best has the rank n m, and ties have the
    mean of their ranks. The score is

    .. math::
        S_j = \sum_{i=1}^n r_{ij} - \frac{n (n + 1)}{2},

    from 0, all trials are worse than the others', to :math:`n^2 (m - 1)`. The score of a suite is the sum
    over its functions. For two algorithms the score is the statistic U of Mann and Whitney.

    Parameters
    ----------
    errors : sequence of ndarray of shape (n,)
        The errors of each algorithm's trials; infinite for a trial that failed.
    seconds : sequence of ndarray of shape (n,)
        The seconds after which each trial was solved; trials that are not solved do not count.
    solved : float, default 1e-8
        The largest error of a solved trial.

    Returns
    -------
    scores : ndarray of shape (m,)
        Higher is better.

    Raises
    ------
    ValueError
        If the algorithms do not all have n trials, each with its seconds.

    Notes
    -----
    Source: D. M. Janssen, W. Pullan, A. W.-C. Liew, GPU based differential evolution: new insights and comparative
    study (2024), section 7.3.5. It follows CEC 2022, which ranks solved trials by evaluations. The paper does not say
    how trials that are not solved are ranked among those with the same error; here they are ties.

    Examples
    --------
    >>> import numpy as np
    >>> from skde.benchmark.trial_scores import rank_scores
    >>> errors = [np.array([0.0, 2.0]), np.array([0.0, 3.0])]
    >>> rank_scores(errors, [np.array([1.5, 4.0]), np.array([0.5, 4.0])]).tolist()
    [2.0, 2.0]
    """
    n = len(errors[0])
    if {len(values) for values in (*errors, *seconds)} != {n} or len(errors) != len(seconds):
        raise ValueError("every algorithm needs the same number of trials, and each trial its seconds")
    error, spent = np.stack(errors), np.stack(seconds)
    is_solved = error <= solved
    # In the order of the first column, and where that is equal in the order of the second.
    keys = np.column_stack([np.where(is_solved, -np.inf, error).ravel(), np.where(is_solved, spent, 0.0).ravel()])
    order = np.unique(keys, axis=0, return_inverse=True)[1]
    ranks = stats.rankdata(-order.ravel()).reshape(error.shape)
    scores: FloatArray = ranks.sum(axis=1) - n * (n + 1) / 2
    return scores


def success_rate(errors: FloatArray, target: float = SOLVED) -> float:
    """Return the share of runs with an error of at most a target.

    Parameters
    ----------
    errors : ndarray of shape (n,)
        The errors of the runs; infinite for a run that failed.
    target : float, default 1e-8
        The error.

    Returns
    -------
    rate : float

    Examples
    --------
    >>> import numpy as np
    >>> from skde.benchmark.trial_scores import success_rate
    >>> success_rate(np.array([0.0, 1e-9, 0.5, np.inf]))
    0.5
    """
    return float((np.asarray(errors) <= target).mean())


def estimate_running_time(reached: FloatArray, n_evals: FloatArray) -> float:
    r"""Return the expected number of evaluations until a target is reached, if runs are repeated until one does.

    .. math::
        ERT = \frac{\sum_i n_i}{\#\{i : \text{run } i \text{ reaches the target}\}}

    with the evaluations :math:`n_i` of run i until it reaches the target, or all of them if it does not.

    Parameters
    ----------
    reached : ndarray of shape (n,)
        Evaluations after which each run reached the target; infinite if it did not.
    n_evals : ndarray of shape (n,)
        All evaluations of each run.

    Returns
    -------
    evaluations : float
        Infinite if no run reaches the target.

    Notes
    -----
    Source: N. Hansen, A. Auger, S. Finck, R. Ros, Real-parameter black-box optimization benchmarking 2009:
    experimental setup, INRIA research report RR-6828 (2009).

    Examples
    --------
    >>> import numpy as np
    >>> from skde.benchmark.trial_scores import estimate_running_time
    >>> estimate_running_time(np.array([100.0, np.inf, 200.0]), np.array([500.0, 500.0, 500.0]))
    400.0
    """
    reached = np.asarray(reached, np.float64)
    is_reached = np.isfinite(reached)
    if not is_reached.any():
        return float("inf")
    return float(np.where(is_reached, reached, n_evals).sum() / is_reached.sum())


def measure_solved_area(n_evals: IntArray, errors: FloatArray, dim: int, evals_per_dim: int) -> float:
    r"""Return the area under a run's share of reached targets over the logarithm of its evaluations.

    .. math::
        A = \frac{1}{51} \sum_{k} \min\left(1, \frac{\log(b D / n_k)}{\log b}\right)

    over the targets that are reached, with the evaluations :math:`n_k` until then and the budget :math:`b D`. It is 0
    where no target is reached, and 1 where all are reached in D evaluations.

    Parameters
    ----------
    n_evals : ndarray of shape (n,)
        Evaluations, in order.
    errors : ndarray of shape (n,)
        The lowest error after each of them.
    dim : int
        Number of variables.
    evals_per_dim : int
        Budget of the run in evaluations for each variable, at least 2.

    Returns
    -------
    area : float
        In [0, 1]. The mean over runs and functions is the area under their common curve.

    Examples
    --------
    >>> import numpy as np
    >>> from skde.benchmark.trial_scores import measure_solved_area
    >>> round(measure_solved_area(np.array([1, 200]), np.array([1e3, 1e-9]), dim=2, evals_per_dim=10_000), 12)
    0.5
    """
    places = np.searchsorted(-np.asarray(errors), -np.array(TARGETS))
    reached = np.append(np.asarray(n_evals, np.float64), np.inf)[places]
    shares = (np.log(evals_per_dim * dim) - np.log(reached)) / np.log(evals_per_dim)
    return float(np.clip(shares, 0.0, 1.0).mean())
