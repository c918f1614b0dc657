"""Feasibility rules (K. Deb, 2000) as numbers that a solver can compare.

A feasible point is better than an infeasible one. Of two feasible points, the one with the smaller value is better; of
two infeasible points, the one with the smaller violation, whatever the objective is there: it is not called with
infeasible points. The solver sees one number for every point, its code, and codes have this order. The kernels compute
the same codes (skde/kernels/problems/constraints.cuh).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import skde._cpu as _cpu
from skde.functions.point_workers import OutOfTime, Part, unlimited
from skde.problems.constraints import ConstrainedProblem, total_violation
from skde.typing import Array, FloatArray
from skde.utils.arrays import array_namespace, to_numpy

# Codes of feasible points are their values up to EXACT; larger ones lie closer to each other, below LARGEST. Others are
# violations times SCALE between CLOSEST and FARTHEST, and closer to each other outside. A feasible point with the value
# NaN or infinity has the code WORST, as one with an infinite violation.
LIMITS = _cpu.code_limits()
EXACT, LARGEST, CLOSEST, FARTHEST, SCALE, WORST = (
    LIMITS[name] for name in ("EXACT", "LARGEST", "CLOSEST", "FARTHEST", "SCALE", "WORST")
)
MOST = float(np.finfo(np.float64).max)
VALUE_SHIFT, FAR_SHIFT, CLOSE_SHIFT = (int(LIMITS[name]) for name in ("VALUE_SHIFT", "FAR_SHIFT", "CLOSE_SHIFT"))


def bits_of(values: Any) -> Any:
    """Return the bits of doubles as integers, which have the order of the numbers > 0."""
    return values.astype(np.float64, order="C").view(np.int64)


def shrink_bits(values: Array, begin: float, code: float, shift: int) -> Array:
    """Return numbers as far from `code` as values > 0 are from `begin`, in steps of neighbours, divided by 2**shift."""
    first, to = (int(bits_of(np.array(number))) for number in (begin, code))
    found: Array = (((bits_of(values) - first) >> shift) + to).view(np.float64)
    return found


def grow_bits(codes: Any, code: float, begin: float, shift: int) -> Any:
    """Return the values from which `shrink_bits` has made these codes."""
    first, to, most = (int(bits_of(np.array(number))) for number in (begin, code, MOST))
    steps = np.clip(bits_of(codes) - to, -(first >> shift), (most - first) >> shift)
    return ((steps << shift) + first).view(np.float64)


def feasibility_codes(f: Array, violation: Array) -> Array:
    """Return the codes of points from their values, which count at feasible points only, and violations."""
    xp = array_namespace(f)
    f, violation = xp.asarray(f, dtype=np.float64), xp.asarray(violation, dtype=np.float64)
    feasible = xp.where(f > EXACT, shrink_bits(xp.clip(f, EXACT, MOST), EXACT, EXACT, VALUE_SHIFT), f)
    codes = xp.clip(violation, CLOSEST, FARTHEST) * SCALE
    codes = xp.where(violation < CLOSEST, shrink_bits(violation, CLOSEST, CLOSEST * SCALE, CLOSE_SHIFT), codes)
    codes = xp.where(violation > FARTHEST, shrink_bits(violation, FARTHEST, FARTHEST * SCALE, FAR_SHIFT), codes)
    codes = xp.where(violation < np.inf, codes, WORST)
    return xp.where(violation > 0, codes, xp.where(f < np.inf, feasible, WORST))


def violations_of_codes(codes: Any) -> Any:
    """Return the violations with these codes; 0 for feasible points."""
    codes = np.asarray(codes, np.float64)
    known = np.clip(codes, LARGEST, WORST)
    found = np.where(known < CLOSEST * SCALE, grow_bits(known, CLOSEST * SCALE, CLOSEST, CLOSE_SHIFT), known / SCALE)
    found = np.where(known > FARTHEST * SCALE, grow_bits(known, FARTHEST * SCALE, FARTHEST, FAR_SHIFT), found)
    return np.where(codes > LARGEST, np.where(codes < WORST, found, np.inf), 0.0)


def values_of_codes(codes: Any) -> Any:
    """Return the values with these codes, rounded above EXACT; infinity for infeasible points."""
    codes = np.asarray(codes, np.float64)
    values = np.where(codes > EXACT, grow_bits(np.clip(codes, EXACT, LARGEST), EXACT, EXACT, VALUE_SHIFT), codes)
    return np.where(codes > LARGEST, np.inf, values)


class Outcome(NamedTuple):
    """Value and violations of a point.

    Attributes
    ----------
    fun : float
        Value of the objective; NaN at an infeasible point of a Python function.
    max_violation : float
        Largest violation of one constraint, max(0, g) or abs(h).
    violation : float
        Sum of violations that the rules compare; 0 for a feasible point.
    """

    fun: float
    max_violation: float = 0.0
    violation: float = 0.0


class FeasibilityRules:
    """A constrained problem as an objective that returns codes.

    Parameters
    ----------
    problem : ConstrainedProblem
        Objective, bounds and constraints.
    tolerance : float
        Tolerance of satisfied constraints, g <= tolerance and abs(h) <= tolerance, >= 0.

    Attributes
    ----------
    n_calls : int
        Points with which a Python objective has been called in this process, those for an answer not counted.
    """

    chooses_points = True  # to call the objective with feasible points only

    def __init__(self, problem: ConstrainedProblem, tolerance: float) -> None:
        self.problem = problem
        self.tolerance = tolerance
        self.n_calls = 0

    @property
    def counts(self) -> bool:
        """Whether the calls of the objective are counted; not where it is compiled."""
        return self.chooses_points and self.problem.kernel is None

    def __call__(self, X: Array) -> Array:
        """Return the codes of the rows of X; the objective is called with the feasible ones."""
        violation = self.violations(X)
        return self.codes(self.feasible_values(X, violation), violation)

    def parts(self, X: Array, seconds_left: Callable[[], float]) -> Iterator[Part]:
        """Yield the codes of the rows of X as they come, of infeasible ones first.

        They end early when no seconds are left, but not before the first one.
        """
        try:
            violation = self.violations(X, seconds_left)
        except OutOfTime:
            yield Part(np.arange(1), self(X[:1]))
            return
        outside = np.flatnonzero(to_numpy(violation) != 0)
        if len(outside):
            where = array_namespace(X).asarray(outside)
            yield Part(outside, self.codes(array_namespace(X).full(len(outside), np.nan), violation[where]))
            if seconds_left() <= 0:
                return
        feasible = np.flatnonzero(to_numpy(violation) == 0)
        if len(feasible):
            for part in self.f_parts(X[array_namespace(X).asarray(feasible)], seconds_left):
                yield Part(
                    feasible[part.rows], self.codes(part.values, array_namespace(part.values).zeros(len(part.rows)))
                )

    def f_parts(self, X: Array, seconds_left: Callable[[], float]) -> Iterator[Part]:
        """Yield the objective's values at the rows of X as they come, and count them."""
        for part in self.problem.f_parts(X, seconds_left):
            self.n_calls += len(part.rows)
            yield part

    def violations(self, X: Array, seconds_left: Callable[[], float] = unlimited) -> Array:
        """Return the violations of the rows of X, of shape (n,): 0 for a feasible one. Only constraints are called."""
        constraints = self.problem.constraint_values(X, seconds_left)
        return total_violation(constraints, self.problem.n_inequalities, self.tolerance)

    def feasible_values(self, X: Array, violation: Array) -> Array:
        """Return the objective's values at the rows of X without a violation; NaN at the others."""
        xp = array_namespace(X)
        rows = xp.flatnonzero(violation == 0)
        self.n_calls += len(rows)
        if len(rows) == len(X):
            return self.problem.f(X)
        f = xp.full(len(X), np.nan)
        if len(rows):
            f[rows] = self.problem.f(X[rows])
        return f

    def codes(self, f: Array, violation: Array) -> Array:
        """Return the codes of points from their values, which count at feasible points only, and violations."""
        return feasibility_codes(f, violation)

    def outcomes(self, x: FloatArray, codes: FloatArray, xp: Any) -> list[Outcome]:
        """Return value and violations of all runs' best points.

        A Python objective is called only for feasible points with a value that the code has rounded. Its value at an
        infeasible point, or where its call failed, is NaN.
        """
        at = np.asarray if self.problem.kernel else xp.asarray
        constraints = to_numpy(self.problem.constraint_values(at(x)))
        values = np.where(codes > LARGEST, np.nan, codes)
        # A compiled function may be evaluated everywhere.
        unknown = (values > EXACT) | ((codes > LARGEST) & (self.problem.kernel is not None))
        if unknown.any():
            values[unknown] = to_numpy(self.problem.f(at(x[unknown])))
        return outcomes_of(codes, values, constraints, self.problem.n_inequalities, self.tolerance)


def calls_of(rules: Any) -> int | None:
    """Return the points with which a Python objective was called; None where that is not counted."""
    if isinstance(rules, StoredOutcomes):
        return rules.n_calls
    return rules.n_calls if isinstance(rules, FeasibilityRules) and rules.counts else None


def carry_calls(before: Any, now: Any) -> None:
    """Let rules that replace others go on with their count of calls."""
    if isinstance(now, FeasibilityRules) and isinstance(before, FeasibilityRules | StoredOutcomes):
        now.n_calls = before.n_calls or 0


def outcomes_of(
    codes: FloatArray, values: FloatArray, constraints: FloatArray, n_inequalities: int, tolerance: float
) -> list[Outcome]:
    """Return the outcomes of points from codes, values and the constraints' values, of shape (n, m + l)."""
    g, h = constraints[:, :n_inequalities], constraints[:, n_inequalities:]
    sizes = np.concatenate([np.maximum(g, 0.0), np.abs(h)], axis=1)
    largest = np.where(np.isfinite(sizes).all(axis=1), sizes.max(axis=1, initial=0.0), np.inf)
    violation = np.where(codes > LARGEST, total_violation(constraints, n_inequalities, tolerance), 0.0)
    values = np.where(codes >= WORST, np.nan, values)  # no value, whether it was NaN or infinite
    return [Outcome(*of_run) for of_run in zip(*(v.tolist() for v in (values, largest, violation)), strict=True)]


class StoredOutcomes:
    """Outcomes of the runs of a saved fit, used until its problem is given again.

    Parameters
    ----------
    stored : ndarray of shape (n_runs, 3)
        The `Outcome` of every run's best point.
    tolerance : float
        Tolerance of the rules.
    n_calls : int or None, default None
        Points with which a Python objective was called; None: that was not counted.
    """

    def __init__(self, stored: FloatArray, tolerance: float, n_calls: int | None = None) -> None:
        self.stored = stored
        self.tolerance = tolerance
        self.n_calls = n_calls

    def outcomes(self, x: FloatArray, codes: FloatArray, xp: Any) -> list[Outcome]:
        """Return value and violations of all runs' best points."""
        return [Outcome(*of_run) for of_run in self.stored.tolist()]
