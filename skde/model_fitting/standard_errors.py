"""The covariance of fitted parameters, by the Jacobian or by a bootstrap."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

import numpy as np

from skde.model_fitting.fit_task import FitTask
from skde.model_fitting.fit_watch import FitWatch
from skde.model_fitting.least_squares_polish import jacobian, slopes_along
from skde.model_fitting.model_fit import FittedParameters, SearchPlan, refit
from skde.typing import FloatArray
from skde.utils.arrays import to_numpy

AT_BOUND = 1e-10  # of a bound's width


def jacobian_covariance(task: FitTask, theta: FloatArray, variance: float | None = None) -> FloatArray:
    """Return the covariance of least squares: the variance of residuals times the inverse of the squared Jacobian.

    Constraints that hold as equalities leave parameters along them only.

    Parameters
    ----------
    task : FitTask
        A task with squared residuals.
    theta : ndarray of shape (n_parameters,)
        The minimum.
    variance : float or None, default None
        The variance of the task's residuals, times the sum of their weights, where it is known; None: it is estimated.

    Returns
    -------
    covariance : ndarray of shape (n_parameters, n_parameters)
        NaN for parameters at a bound, and for those that are not real; infinite where the Jacobian has not full rank.
    """
    low, high = task.limits.T
    width = AT_BOUND * (high - low)
    real = task.real
    free = real[(theta[real] > (low + width)[real]) & (theta[real] < (high - width)[real])]
    covariance = np.full((len(theta), len(theta)), np.nan)
    if not len(free):
        return covariance
    ways = None if task.constraints is None else task.constraints.directions(theta, free)
    n_ways = len(free) if ways is None else ways.shape[1]
    freedom = int(to_numpy(task.weights > 0).sum()) - n_ways
    if variance is None and freedom < 1:
        return covariance
    if not n_ways:
        covariance[np.ix_(free, free)] = 0.0
        return covariance
    if ways is None:
        slopes = jacobian(task.residuals, theta, task.limits, free)
    else:
        slopes = slopes_along(task.residuals, theta, task.limits, free, ways)
    lengths = np.linalg.norm(slopes, axis=0)
    _, sizes, axes = np.linalg.svd(slopes / np.where(lengths > 0, lengths, 1.0), full_matrices=False)
    if sizes[-1] <= np.finfo(np.float64).eps * max(slopes.shape) * sizes[0]:
        inverse = np.full((len(free), len(free)), np.inf)
    else:
        root = axes.T / sizes / lengths[:, None]
        if variance is None:
            variance = (task.residuals(theta[None]) ** 2).sum() / freedom
        root = root if ways is None else ways @ root
        inverse = root @ root.T * variance
    covariance[np.ix_(free, free)] = inverse
    return covariance


def bootstrap_thetas(
    tasks: Iterable[FitTask], plan: SearchPlan, found: FittedParameters, n_bootstrap: int, seed: int, watch: FitWatch
) -> FloatArray:
    """Return the parameters of fits to samples that are drawn with replacement, of shape (n, n_parameters).

    Parameters
    ----------
    tasks : iterable of FitTask
        The fits.
    plan, found : SearchPlan, Found
        The searches, and their result, from which the fits begin.
    n_bootstrap : int
        The number of fits.
    seed : int
        Of the searches, where losses have no local search.
    watch : FitWatch
        Its time limit and callbacks end the bootstrap; then there are fewer fits, and a RuntimeWarning says how many.
    """
    thetas: list[FloatArray] = []
    for task in tasks:
        theta = found.theta if watch.ended else refit(task, plan, found, seed, watch)
        watch.predictor.n_evals += task.predictor.n_evals
        if watch.ended:  # the last fit is not complete
            reason = "a callback" if watch.stopped else f"max_time={watch.max_time}"
            effect = "standard_errors_ is of these" if len(thetas) > 1 else "standard_errors_ is None"
            message = f"{reason} ended the bootstrap after {len(thetas)} of {n_bootstrap} fits: {effect}"
            warnings.warn(message, RuntimeWarning, stacklevel=4)
            break
        thetas.append(theta)
        watch.n_bootstrap += 1
        watch.report()
    return np.array(thetas).reshape(len(thetas), len(found.theta))
