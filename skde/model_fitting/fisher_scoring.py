"""Local search for the parameters of a model of classes, by Fisher's scoring."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import lsq_linear

from skde.model_fitting.least_squares_polish import Step, jacobian
from skde.typing import FloatArray, IntArray

SMALLEST = 1e-10  # a variance
HALVINGS = 30
LEVEL = 3  # steps without a decrease; the first ones are still more precise
PRECISION = 1e-14  # of a value, relative to it
RANK = 1e-9  # of singular values, relative to the largest: smaller ones are errors of differences
TINY = 1e-9  # a step, relative to the parameters: another one of Newton's kind ends at rounding

Function = Callable[[FloatArray], FloatArray]


class ScoringTask(NamedTuple):
    """A model of classes for Fisher's scoring.

    Attributes
    ----------
    scores, values : callable
        Functions of candidates of shape (n, n_parameters): log-odds of shape (n, m), or scores of classes of shape
        (n, m, n_classes), and the log losses with penalties, of shape (n,).
    targets : ndarray of shape (m,) or (m, n_classes)
        1 for the class of the sample, else 0.
    weights : ndarray of shape (m,)
        Weights.
    ridge : ndarray of shape (n_parameters,)
        Penalties on the squares of parameters.
    """

    scores: Function
    values: Function
    targets: FloatArray
    weights: FloatArray
    ridge: FloatArray


def search_by_scoring(
    task: ScoringTask, theta: FloatArray, limits: FloatArray, free: IntArray, max_steps: int, step: Step
) -> FloatArray:
    """Return the end of a local search from a point: each step is a least squares problem of Pearson's residuals.

    Parameters
    ----------
    task : ScoringTask
        The model.
    theta, limits, free, max_steps
        As in `polish_squares`.
    step : callable
        step(theta, value) is called before every step; true ends the search.
    """
    scores, values, targets, weights, ridge = task
    value = values(theta[None])[0]
    several = targets.ndim == 2
    root = np.sqrt(weights)[:, None] if several else np.sqrt(weights)
    level = 0
    for _ in range(max_steps if len(free) and np.isfinite(value) else 0):
        if step(theta, float(value)):
            break
        here = scores(theta[None])[0]
        slopes = jacobian(lambda points: scores(points).reshape(len(points), -1), theta, limits, free)
        shares, rows = probabilities(here), slopes.reshape(*here.shape, len(free))
        variances = np.maximum(shares if several else shares * (1.0 - shares), SMALLEST)
        if several:
            rows = rows - (shares[..., None] * rows).sum(axis=1, keepdims=True)
        matrix = (rows * (root * np.sqrt(variances))[..., None]).reshape(-1, len(free))
        right = (root * (targets - shares) / np.sqrt(variances)).ravel()
        if ridge.any():
            matrix = np.concatenate([matrix, np.diag(np.sqrt(2.0 * ridge[free]))])
            right = np.concatenate([right, -np.sqrt(2.0 * ridge[free]) * theta[free]])
        low, high = limits[free].T
        still = unseen(matrix)
        matrix, right = np.concatenate([matrix, still]), np.concatenate([right, np.zeros(len(still))])
        move = lsq_linear(matrix, right, (low - theta[free], high - theta[free]), method="bvls").x
        for halving in range(HALVINGS):
            trial = theta.copy()
            trial[free] = np.clip(theta[free] + move / 2**halving, low, high)
            after = values(trial[None])[0]
            if after <= value * (1.0 + PRECISION):
                break
        else:
            return theta
        moved = abs(trial - theta).max() > TINY * (1.0 + abs(theta).max())
        level = 0 if after < value * (1.0 - PRECISION) else level + 1
        theta, value = trial, min(after, value)
        if not moved or level == LEVEL:
            break
    return theta


def unseen(matrix: FloatArray) -> FloatArray:
    """Return rows for the directions that a matrix maps to 0, up to the errors of differences.

    A least squares problem with these rows, and 0 on their right, has no step in such a direction. Else rounding would
    choose it: as a common shift of the scores of all classes, which can lead to the bounds.
    """
    length = np.sqrt((matrix * matrix).sum(axis=0))
    length[length == 0.0] = 1.0
    _, sizes, axes = np.linalg.svd(np.linalg.qr(matrix / length, mode="r"))
    largest = sizes.max(initial=0.0)
    seen = int((sizes > RANK * largest).sum())
    rows: FloatArray = (largest or 1.0) * axes[seen:] * length
    return rows


def probabilities(scores: FloatArray) -> FloatArray:
    """Return probabilities from log-odds, or from scores of classes on the second axis."""
    if scores.ndim == 1:
        small = np.exp(-abs(scores))
        return np.where(scores > 0, 1.0, small) / (1.0 + small)
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: FloatArray = powers / powers.sum(axis=1, keepdims=True)
    return shares
