"""Constraints between the parameters of a model, and the local search that keeps them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import NonlinearConstraint

from skde.fit.phases.feasible_search import FeasibleSearch
from skde.fit.phases.scipy_search import FEASIBLE
from skde.model_fitting.least_squares_polish import Step
from skde.objectives.feasibility import feasibility_codes
from skde.problems import ConstrainedProblem
from skde.problems.constraints import total_violation
from skde.problems.scipy_constraints import constraint_list, refuse_bounds
from skde.typing import Array, FloatArray, IntArray
from skde.utils.arrays import to_numpy
from skde.variables import Log, Variables

TOLERANCE = 1e-6  # of a constraint, as in Minimizer
ACTIVE = 1e-5  # the distance from the limit of a constraint that holds as an equality, relative to its largest slope
DECADE = 10.0  # a local search sees a logarithmic parameter in this range around its value
STEP = float(np.finfo(np.float64).eps ** (1 / 3))
RANK = 1e-10


class ParameterConstraints:
    """Constraints of SciPy on the vector of parameters.

    Parameters
    ----------
    constraints : object
        As for `Minimizer`, in the order of the parameters' names.
    variables : Variables
        The parameters.
    vectorized : bool
        Whether functions take many candidates, of shape (n, n_parameters).
    """

    def __init__(self, constraints: Any, variables: Variables, vectorized: bool) -> None:
        self.variables = variables
        refuse_bounds(constraint_list(constraints))
        # Functions take the vector of parameters, as the model does, and not their names.
        low, high = variables.limits.T
        box = np.stack([low, np.where(high > low, high, low + 1.0)], axis=1)
        self.problem = ConstrainedProblem(lambda X: X[:, 0], box, constraints, vectorized=vectorized)

    def values(self, theta: Array) -> Array:
        """Return g and h of candidates of shape (n, n_parameters)."""
        return self.problem.constraint_values(theta)

    def violations(self, theta: Array) -> Array:
        """Return by how much candidates violate the constraints; 0 where they do not."""
        return total_violation(self.values(theta), self.problem.n_inequalities, TOLERANCE)

    def allow(self, theta: FloatArray) -> bool:
        """Whether one candidate satisfies the constraints."""
        return not self.violations(theta[None])[0] > 0

    def of_searched(self, complete: Callable[[Array], Array]) -> NonlinearConstraint:
        """Return the constraints as one of the parameters that are searched, for a `Minimizer`."""
        m, equalities = self.problem.n_inequalities, self.problem.n_equalities

        def values(searched: Array) -> Array:
            found = self.values(complete(searched[None] if searched.ndim == 1 else searched))
            return found[0] if searched.ndim == 1 else found

        return NonlinearConstraint(values, np.repeat([-np.inf, 0.0], [m, equalities]), 0.0)

    def polish(
        self,
        values: Callable[[FloatArray], Array],
        theta: FloatArray,
        free: IntArray,
        max_steps: int,
        step: Step,
    ) -> FloatArray:
        """Return the end of a local search that keeps the constraints.

        Parameters
        ----------
        values : callable
            Losses of candidates; called for those that the constraints allow.
        theta : ndarray of shape (n_parameters,)
            The first candidate.
        free : ndarray of int
            The parameters that change.
        max_steps : int
            The largest number of gradients.
        step : callable
            step(theta, value) is called for the best candidate so far; true ends the search.
        """
        low, high = theta.copy(), theta.copy()
        low[free], high[free] = self.variables.limits[free].T
        for j in free:
            if isinstance(self.variables.members[j], Log):
                low[j], high[j] = max(low[j], theta[j] / DECADE), min(high[j], theta[j] * DECADE)

        def rows(points: FloatArray) -> FloatArray:
            constraints = to_numpy(self.values(points))
            allowed = ~(total_violation(constraints, self.problem.n_inequalities, TOLERANCE) > 0)
            f = np.full(len(points), np.nan)
            if allowed.any():
                f[allowed] = to_numpy(values(points[allowed]))
            return np.concatenate([f[:, None], constraints], axis=1)

        violation = to_numpy(self.violations(theta[None]))
        first = values(theta[None]) if not violation[0] > 0 else np.zeros(1)
        search = FeasibleSearch(
            rows,
            theta,
            float(feasibility_codes(to_numpy(first), violation)[0]),
            low,
            high,
            n_inequalities=self.problem.n_inequalities,
            tolerance=TOLERANCE,
            linear=self.problem.linear_slopes,
            max_evals=max_steps * (len(free) + 1),
            stops=lambda: step(search.x, search.code if self.allow(search.x) else np.inf),
        )
        search.run(FEASIBLE)
        return search.x

    def bind(self, theta: FloatArray, free: IntArray) -> bool:
        """Whether a constraint holds as an equality, or does not hold."""
        return bool(len(self.active_slopes(theta, free)))

    def active_slopes(self, theta: FloatArray, free: IntArray) -> FloatArray:
        """Return the derivatives of the constraints that hold as equalities, in widths of the bounds of parameters."""
        low, high = self.variables.limits[free].T
        count, step = np.arange(len(free)), STEP * np.maximum(np.abs(theta[free]), STEP * (high - low))
        ends = np.minimum(theta[free] + step, high), np.maximum(theta[free] - step, low)
        points = np.tile(theta, (2 * len(free), 1))
        for part, end in enumerate(ends):
            points[part * len(free) + count, free] = end
        ahead, behind = np.split(to_numpy(self.values(points)), 2)
        slopes = ((ahead - behind) / (ends[0] - ends[1])[:, None]).T * (high - low)
        largest = np.abs(slopes).max(axis=1, initial=0.0)
        at, equal = to_numpy(self.values(theta[None]))[0], np.arange(len(slopes)) >= self.problem.n_inequalities
        active = (equal | (at > -ACTIVE * largest)) & (largest > 0)
        found: FloatArray = slopes[active] / largest[active, None]
        return found

    def directions(self, theta: FloatArray, free: IntArray) -> FloatArray | None:
        """Return directions of some parameters along the constraints that hold as equalities, as columns.

        None: there is no such constraint, and every direction is allowed.
        """
        slopes = self.active_slopes(theta, free)
        if not len(slopes):
            return None
        _, sizes, axes = np.linalg.svd(slopes, full_matrices=True)
        width = np.ptp(self.variables.limits[free], axis=1)
        found: FloatArray = width[:, None] * axes[int((sizes > RANK).sum()) :].T
        return found
