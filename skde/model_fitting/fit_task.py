"""The function that a fit minimises: a loss with its penalty, of a model's parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from skde.functions.pointwise import one_number
from skde.model_fitting.class_losses import PROBABILITY, LogLoss
from skde.model_fitting.fisher_scoring import ScoringTask, search_by_scoring
from skde.model_fitting.least_squares_polish import Residuals, Step, polish_squares
from skde.model_fitting.losses import Loss
from skde.model_fitting.parameter_constraints import ParameterConstraints
from skde.model_fitting.predictor import LinearModel, Predictor
from skde.typing import Array, FloatArray, IntArray
from skde.utils.arrays import array_namespace, to_numpy
from skde.variables import Real, Variables


@dataclass
class FitTask:
    """A loss with its penalty as a function of the parameters.

    Attributes
    ----------
    predictor : Predictor
        The model with the samples.
    loss : Loss
        The loss of predictions.
    variables : Variables
        The parameters.
    penalty : {"l1", "l2"}, callable or None
        The penalty of a candidate.
    alpha : float
        Its factor.
    penalized : ndarray of bool, of shape (n_parameters,)
        The parameters that "l1" and "l2" count.
    y, weights : ndarray of shape (n_samples,)
        Targets, and weights with the sum 1.
    constraints : ParameterConstraints or None, default None
        Constraints between the parameters.
    """

    predictor: Predictor
    loss: Loss
    variables: Variables
    penalty: str | Callable[[Array], Any] | None
    alpha: float
    penalized: IntArray
    y: Array
    weights: Array
    constraints: ParameterConstraints | None = None

    @property
    def smooth(self) -> bool:
        """Whether there is a local search for loss and penalty."""
        return (self.loss.smooth or isinstance(self.loss, LogLoss)) and self.penalty in (None, "l2")

    @property
    def convex(self) -> bool:
        """Whether one local search is enough."""
        if self.constraints is not None:
            return False
        probabilities = isinstance(self.loss, LogLoss) and self.loss.responses.output == PROBABILITY
        return self.smooth and isinstance(self.predictor.model, LinearModel) and not probabilities

    @property
    def limits(self) -> FloatArray:
        """Bounds of the parameters."""
        return self.variables.limits

    @property
    def real(self) -> IntArray:
        """The parameters that a local search can change."""
        return np.flatnonzero([isinstance(one, Real) and not one.fixed for one in self.variables.members])

    def values(self, theta: Array) -> Array:
        """Return the losses with penalties of candidates of shape (n, n_parameters)."""
        with np.errstate(all="ignore"):
            values = self.loss.of_valid(self.predictor(theta))
        return values if self.penalty is None else values + self.alpha * self.penalties(theta)

    def penalties(self, theta: Array) -> Array:
        """Return the penalties of candidates, in the library of the samples."""
        xp = array_namespace(self.predictor.X)
        if callable(self.penalty):
            rows = array_namespace(theta).array(theta)  # a copy, because a penalty may change it
            return xp.asarray([one_number(self.penalty(row), "the penalty") for row in rows])
        size = abs(xp.asarray(theta) * xp.asarray(self.penalized))
        return size.sum(axis=1) if self.penalty == "l1" else (size * size).sum(axis=1)

    def residuals(self, theta: FloatArray) -> FloatArray:
        """Return residuals with the value as their sum of squares, on the host."""
        with np.errstate(all="ignore"):
            out: FloatArray = to_numpy(self.loss.residuals(self.predictor(theta)))
        if self.penalty is None:
            return out
        return np.concatenate([out, np.sqrt(self.alpha) * theta[:, self.penalized]], axis=1)

    def polish(self, theta: FloatArray, max_steps: int, step: Step) -> FloatArray:
        """Return the end of a local search; step(theta, value) is called in each step, and true ends it."""
        if self.constraints is None:
            return self._polish_unconstrained(theta, max_steps, step)
        # Least squares is more precise than a search along constraints, where they hold by themselves.
        ends = [theta]
        if self.loss.smooth:
            ends.append(polish_squares(self._restrict_residuals(), theta, self.limits, self.real, max_steps, step))
        if not self.loss.smooth or self.constraints.bind(ends[-1], self.real):
            ends.append(self.constraints.polish(self.values, ends[-1], self.real, max_steps, step))
            if self.loss.smooth:
                ends.append(
                    polish_squares(self._restrict_residuals(), ends[-1], self.limits, self.real, max_steps, step)
                )
        return min(ends, key=self.value)

    def _restrict_residuals(self) -> Residuals:
        """Return the function of residuals that has NaN, without a call of the model, where constraints say so."""
        size = 1

        def residuals(theta: FloatArray) -> FloatArray:
            nonlocal size
            assert self.constraints is not None
            allowed = ~(to_numpy(self.constraints.violations(theta)) > 0)
            rows = self.residuals(theta[allowed]) if allowed.any() else np.empty((0, size))
            size = rows.shape[1]
            found = np.full((len(theta), size), np.nan)
            found[allowed] = rows
            return found

        return residuals

    def _polish_unconstrained(self, theta: FloatArray, max_steps: int, step: Step) -> FloatArray:
        """Return the end of a local search without constraints."""
        if isinstance(self.loss, LogLoss):
            return self._polish_by_scoring(self.loss, theta, max_steps, step)
        return polish_squares(self.residuals, theta, self.limits, self.real, max_steps, step)

    def _polish_by_scoring(self, loss: LogLoss, theta: FloatArray, max_steps: int, step: Step) -> FloatArray:
        """Return the end of a local search for classes."""
        codes, n_classes = to_numpy(loss.codes), loss.responses.n_classes
        targets = np.eye(n_classes)[codes] if n_classes > 2 else (codes == 1).astype(np.float64)

        def scores(points: FloatArray) -> FloatArray:
            with np.errstate(all="ignore"):
                found: FloatArray = to_numpy(loss.responses.scores(self.predictor(points)))
            return np.nan_to_num(found)

        def values(points: FloatArray) -> FloatArray:
            found: FloatArray = to_numpy(self.values(points))
            return found

        ridge = (self.alpha if self.penalty is not None else 0.0) * self.penalized
        weights = to_numpy(self.weights)
        task = ScoringTask(scores, values, targets, weights, ridge)
        return search_by_scoring(task, theta, self.limits, self.real, max_steps, step)

    def value(self, theta: FloatArray) -> float:
        """Return the value of one candidate; infinity where the constraints do not allow it."""
        if self.constraints is not None and not self.constraints.allow(theta):
            return np.inf
        return float(self.values(theta[None])[0])
