"""Feasibility rules (K. Deb, 2000), as numbers that a solver can compare.

A feasible point is better than one that is not; of two feasible ones, that with the smaller value; of two others, that
with the smaller violation. A solver sees one number a point that has this order, the point's code; the kernels make the
same codes (skde/kernels/problems/constraints.cuh).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from skde.arrays import array_namespace
from skde.problems.constraints import ConstrainedProblem, total_violation
from skde.typing import Array, FloatArray

# Codes: values, at most LARGEST in size, then violations times SCALE, within CLOSEST and FARTHEST.
LARGEST, SCALE = 2.0**200, 2.0**600
CLOSEST, FARTHEST = 2.0**-390, 2.0**390
WORST = FARTHEST * SCALE


def feasibility_codes(f: Array, violation: Array) -> Array:
    """Return the codes of points with the values f and violations given."""
    xp = array_namespace(f)
    return xp.where(violation > 0, xp.clip(violation, CLOSEST, FARTHEST) * SCALE, xp.clip(f, -LARGEST, LARGEST))


def violation_of_code(code: float) -> float:
    """Return the violation that a code stands for; 0 for a feasible point."""
    if code >= WORST:
        return np.inf
    return code / SCALE if code > LARGEST else 0.0


def values_of_codes(codes: Any) -> Any:
    """Return the values that codes stand for; infinity for points that are not feasible."""
    return np.where(codes > LARGEST, np.inf, codes)


class Outcome(NamedTuple):
    """What is known of a point.

    fun: its value. max_violation: the largest violation of one constraint, max(0, g) or abs(h). violation: the sum that
    the rules go by, 0 for a feasible point.
    """

    fun: float
    max_violation: float = 0.0
    violation: float = 0.0


class FeasibilityRules:
    """A constrained problem by feasibility rules: an objective that returns codes.

    Parameters
    ----------
    problem : ConstrainedProblem
        The problem.
    tolerance : float
        What counts as satisfied, g <= tolerance and abs(h) <= tolerance, >= 0.
    """

    def __init__(self, problem: ConstrainedProblem, tolerance: float) -> None:
        self.problem = problem
        self.tolerance = tolerance

    def __call__(self, X: Array) -> Array:
        """Return the codes of the rows of X."""
        return self.codes(X, self.problem.f(X))

    def codes(self, X: Array, f: Array) -> Array:
        """Return the codes of the rows of X with values f."""
        violation = total_violation(f, self.problem.constraint_values(X), self.problem.n_inequalities, self.tolerance)
        return feasibility_codes(f, violation)

    def outcome(self, run: int, x: FloatArray, code: float, xp: Any) -> Outcome:
        """Return what is known of a run's best point, from its code; xp: the library that the functions know."""
        X = np.asarray(x)[None] if self.problem.kernel else xp.asarray(x)[None]
        values = self.problem.values(X)
        f, constraints = (part.get() if hasattr(part, "get") else part for part in (values[0, :1], values[0, 1:]))
        m = self.problem.n_inequalities
        sizes = np.concatenate([np.maximum(constraints[:m], 0.0), np.abs(constraints[m:])])
        largest = float(sizes.max(initial=0.0)) if np.isfinite(sizes).all() else np.inf
        return Outcome(code if abs(code) < LARGEST else float(f[0]), largest, violation_of_code(code))


class StoredOutcomes:
    """What was known of every run's best point when a fit was saved, for as long as its problem is not there.

    Parameters
    ----------
    outcomes : ndarray of shape (n_runs, 3)
        What was known.
    tolerance : float
        That of the rules.
    """

    def __init__(self, outcomes: FloatArray, tolerance: float) -> None:
        self.outcomes = outcomes
        self.tolerance = tolerance

    def outcome(self, run: int, x: FloatArray, code: float, xp: Any) -> Outcome:
        """Return what was known of a run's best point."""
        return Outcome(*self.outcomes[run].tolist())
