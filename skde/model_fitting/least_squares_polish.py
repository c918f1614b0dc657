"""Local search by SciPy's least squares, and the Jacobian of residuals."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import least_squares

from skde.fit.phases.scipy_search import LocalSearchEnd
from skde.typing import FloatArray, IntArray

Residuals = Callable[[FloatArray], FloatArray]
Step = Callable[[FloatArray, float], bool]
STEP = float(np.finfo(np.float64).eps ** (1 / 3))  # of central differences
LEAST = 1e-10  # of a bound's width: the size of a parameter that is 0
TOLERANCE = 1e-15


def jacobian(residuals: Residuals, theta: FloatArray, limits: FloatArray, free: IntArray) -> FloatArray:
    """Return the derivatives of residuals by some of the parameters, by differences inside the bounds.

    Parameters
    ----------
    residuals : callable
        residuals(theta) of candidates of shape (n, n_parameters), of shape (n, m).
    theta : ndarray of shape (n_parameters,)
        The point.
    limits : ndarray of shape (n_parameters, 2)
        Bounds.
    free : ndarray of int
        The parameters.

    Returns
    -------
    jacobian : ndarray of shape (m, len(free))
        Derivatives that are not finite are 0.
    """
    low, high = limits[free].T
    step = STEP * np.maximum(abs(theta[free]), LEAST * (high - low))
    ends = np.minimum(theta[free] + step, high), np.maximum(theta[free] - step, low)
    points, count = np.tile(theta, (2 * len(free), 1)), np.arange(len(free))
    for part, end in enumerate(ends):
        points[part * len(free) + count, free] = end
    upper, lower = np.split(residuals(points), 2)
    with np.errstate(all="ignore"):
        slopes = (upper - lower) / (ends[0] - ends[1])[:, None]
    return np.where(np.isfinite(slopes), slopes, 0.0).T


def slopes_along(
    residuals: Residuals, theta: FloatArray, limits: FloatArray, free: IntArray, ways: FloatArray
) -> FloatArray:
    """Return the derivatives of residuals along directions, the columns of `ways`, by differences inside the bounds."""
    low, high = limits[free].T
    step = STEP * np.maximum(abs(theta[free]), LEAST * (high - low))
    room = np.minimum(step, np.minimum(high - theta[free], theta[free] - low))
    with np.errstate(divide="ignore"):
        length = (room[:, None] / abs(ways)).min(axis=0)
    points = np.tile(theta, (2 * ways.shape[1], 1))
    points[:, free] += np.concatenate([length * ways, -length * ways], axis=1).T
    ahead, behind = np.split(residuals(points), 2)
    slopes: FloatArray = (ahead - behind).T / (2 * length)
    return slopes


def polish_squares(
    residuals: Residuals, theta: FloatArray, limits: FloatArray, free: IntArray, max_steps: int, step: Step
) -> FloatArray:
    """Return the end of a local search from a point, by least squares; the point where its residuals are not finite.

    Parameters
    ----------
    residuals, theta, limits, free
        As in `jacobian`; parameters that are not free stay.
    max_steps : int
        The largest number of steps.
    step : callable
        step(theta, value) is called with every point and its sum of squares, but not for differences; true
        ends the search at its best point.
    """
    low, high = limits[free].T
    best, least = theta, np.inf

    def full(values: FloatArray) -> FloatArray:
        point = theta.copy()
        point[free] = values
        return point

    def at(values: FloatArray) -> FloatArray:
        nonlocal best, least
        point = full(values)
        rest: FloatArray = residuals(point[None])[0]
        value = float(rest @ rest)
        if value < least:
            best, least = point, value
        if step(point, value):
            raise LocalSearchEnd
        return rest

    if not len(free) or not np.isfinite(residuals(theta[None])).all():
        return theta
    with np.errstate(all="ignore"):  # of steps to points without a value
        try:
            end = least_squares(
                at,
                np.clip(theta[free], low, high),
                lambda values: jacobian(residuals, full(values), limits, free),
                bounds=(low, high),
                x_scale="jac",
                ftol=TOLERANCE,
                xtol=TOLERANCE,
                gtol=TOLERANCE,
                max_nfev=max_steps,
            )
        except LocalSearchEnd:
            return best
    return full(end.x)
