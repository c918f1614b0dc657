"""Parameters in which a model is linear: how they are found, and solved for by least squares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from skde.typing import Array, FloatArray, IntArray
from skde.utils.arrays import array_namespace, to_numpy

Predictions = Callable[[FloatArray], Array]
TRIES, ENOUGH = 60, 4  # random lines at most, and those with an effect that have to be straight
PART = 0.37  # of a line, where it has to be straight
STRAIGHT = 1e-10  # relative to the largest prediction
EFFECT = 1e-6  # likewise
RANK = 1e-12  # of singular values, relative to the largest: smaller ones are 0
LARGEST = 1e150  # of a number with a finite square


def linear_parameters(
    predictions: Predictions,
    limits: FloatArray,
    eligible: IntArray,
    seed: int,
    ended: Callable[[], bool] = lambda: False,
) -> list[int]:
    """Return parameters in which the predictions are linear, all together.

    Parameters
    ----------
    predictions : callable
        predictions(theta) of candidates of shape (n, n_parameters).
    limits : ndarray of shape (n_parameters, 2)
        Their bounds.
    eligible : ndarray of int
        The parameters in question.
    seed : int
        Of the random points of the box, at which this is found out.
    ended : callable, default never
        Whether there is no time left: the other parameters are not linear then.
    """
    random = np.random.default_rng(seed)
    found: list[int] = []
    for j in eligible:
        if is_linear(predictions, limits, [*found, int(j)], random, ended):
            found.append(int(j))
    return found


def is_linear(
    predictions: Predictions,
    limits: FloatArray,
    some: list[int],
    random: np.random.Generator,
    ended: Callable[[], bool],
) -> bool:
    """Return whether predictions are straight along random lines in some parameters, and depend on the last of them.

    They have to be finite for the same samples all along a line and at the bounds, from which `LinearSolver` solves.
    """
    low, width = limits[:, 0], limits[:, 1] - limits[:, 0]
    begins: list[FloatArray] = []
    for _ in range(TRIES):
        if ended():
            return False
        theta = np.tile(low + width * random.random(len(low)), (4, 1))
        theta[1, some] = low[some] + width[some] * random.random(len(some))
        theta[2, some] = theta[0, some] + PART * (theta[1, some] - theta[0, some])
        theta[3, some[-1]] = theta[1, some[-1]]
        out = to_numpy(predictions(theta))
        finite = np.isfinite(out)
        if (finite != finite[0]).any():
            return False
        begin, end, between, last = out[:, finite[0]]
        largest = np.maximum(abs(begin), abs(end)).max(initial=0.0)
        with np.errstate(all="ignore"):
            bend, effect = abs(between - begin - PART * (end - begin)), abs(last - begin)
        if not bend.max(initial=0.0) <= STRAIGHT * largest:
            return False
        if effect.max(initial=0.0) > EFFECT * largest:
            begins.append(theta[0])
        if len(begins) == ENOUGH:
            return keeps_samples(predictions, np.array(begins), limits, some)
    return False


def keeps_samples(predictions: Predictions, theta: FloatArray, limits: FloatArray, some: list[int]) -> bool:
    """Return whether predictions are finite for the same samples at candidates and where some parameters are bounds."""
    lowest, highest = theta.copy(), theta.copy()
    lowest[:, some] = highest[:, some] = limits[some, 0]
    highest[:, some[-1]] = limits[some[-1], 1]
    at_theta, *at_bounds = np.isfinite(to_numpy(predictions(np.concatenate([theta, lowest, highest])))).reshape(
        3, len(theta), -1
    )
    return all((finite == at_theta).all() for finite in at_bounds)


@dataclass(frozen=True)
class LinearSolver:
    """The best values of linear parameters for given values of the others, by weighted least squares.

    Parameters
    ----------
    predictions : callable
        predictions(theta) of candidates of shape (n, n_parameters).
    y, weights : ndarray of shape (n_samples,)
        Targets and weights.
    limits : ndarray of shape (n_parameters, 2)
        Bounds. Values beyond them are set to the bound, so that a candidate may not be the best one.
    linear : list of int
        The linear parameters.
    ridge : ndarray of shape (len(linear),)
        Penalties on their squares.
    """

    predictions: Predictions
    y: Array
    weights: Array
    limits: FloatArray
    linear: list[int]
    ridge: FloatArray

    def complete(self, theta: Array) -> Array:
        """Return candidates with the best values of the linear parameters."""
        xp = array_namespace(theta)
        n, count = len(theta), len(self.linear)
        low, high = (xp.asarray(self.limits[self.linear, side]) for side in (0, 1))
        trials = xp.repeat(theta[:, None], count + 1, axis=1)
        for k, j in enumerate(self.linear):
            trials[:, :, j], trials[:, k + 1, j] = low[k], high[k]
        out = self.predictions(trials.reshape(n * (count + 1), -1)).reshape(n, count + 1, -1)
        complete = theta.copy()
        with np.errstate(all="ignore"):
            values = (low + high) / 2 + (high - low) * self._solve(out[:, 1:] - out[:, :1], out[:, 0], low, high)
        for k, j in enumerate(self.linear):
            complete[:, j] = xp.clip(values[:, k], low[k], high[k])
        return complete

    def _solve(self, columns: Array, base: Array, low: Array, high: Array) -> Array:
        """Return the solution with the smallest length, as distances from the middle in units of the bounds' width."""
        xp = array_namespace(columns)
        columns, root, unit = as_finite(columns), xp.sqrt(self.weights), xp.sqrt(xp.asarray(self.ridge))
        rest = as_finite(self.y - base) - columns.sum(axis=1) / 2
        middle = xp.broadcast_to(-unit * (low + high) / 2, (len(columns), len(low)))
        rows = xp.broadcast_to(xp.diag(unit * (high - low)), (len(columns), len(low), len(low)))
        columns, rest = xp.concatenate([columns * root, rows], axis=2), xp.concatenate([rest * root, middle], axis=1)
        length = xp.sqrt((columns * columns).sum(axis=2))
        length = xp.where((length > 0) & xp.isfinite(length), length, 1.0)
        q, r = xp.linalg.qr(as_finite(columns / length[:, :, None]).transpose(0, 2, 1))
        u, sizes, axes = xp.linalg.svd(r, full_matrices=False)
        inverse = xp.where(sizes > RANK * sizes[:, :1], 1.0 / sizes, 0.0)
        right = u.transpose(0, 2, 1) @ (q.transpose(0, 2, 1) @ rest[:, :, None])
        return (axes.transpose(0, 2, 1) @ (inverse[:, :, None] * right))[:, :, 0] / length


def as_finite(array: Array) -> Array:
    """Return an array with 0 for what is not finite, or has a square that is not."""
    xp = array_namespace(array)
    return xp.where(abs(array) < LARGEST, array, 0.0)
