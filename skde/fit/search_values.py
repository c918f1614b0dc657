"""The values of points of local searches: rows of f or, with constraints, of f, g and h."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

import numpy as np

from skde.engines import Engine, JoblibEngine, choose_device, evaluate
from skde.functions.point_workers import OutOfTime, Part, unlimited
from skde.objectives.feasibility import FeasibilityRules
from skde.objectives.objective import Objective
from skde.objectives.simulation_rules import SimulationRules
from skde.problems.constraints import total_violation
from skde.typing import Array
from skde.utils.arrays import array_namespace, to_numpy


def engine_of_points(engine: Engine) -> Engine:
    """Return the engine for single points: the parts of a batch in joblib's workers are done by then."""
    return choose_device(engine.device, 1)[0] if isinstance(engine, JoblibEngine) else engine


def yield_rows(objective: Objective, X: Array, everywhere: bool, seconds_left: Callable[[], float]) -> Iterator[Part]:
    """Yield rows of f, g and h at points of the box as they come, on the host; those are missing that time cut off.

    Parameters
    ----------
    objective : Objective
        The objective.
    X : ndarray of shape (n, dim)
        The points, which its functions may write to.
    everywhere : bool
        Whether f is called at infeasible points too, where it may fail.
    seconds_left : callable
        Returns the seconds until the time limit.
    """
    rules = objective.rules
    if rules is None and objective.compiled is not None:
        parts: Iterator[Part] = iter([Part(np.arange(len(X)), evaluate(objective.compiled, X)[:, None])])
    elif rules is None:
        parts = (Part(part.rows, part.values[:, None]) for part in objective.parts(X, seconds_left))
    elif rules.problem.kernel:
        at = to_numpy(objective.decode(X))
        parts = iter([Part(np.arange(len(X)), rules.problem.values(at))])
    else:
        parts = evaluate_constrained(rules, objective.decode(X), everywhere, seconds_left)
    for part in parts:
        yield Part(part.rows, np.asarray(to_numpy(part.values), np.float64))


def evaluate_constrained(
    rules: FeasibilityRules, X: Array, everywhere: bool, seconds_left: Callable[[], float]
) -> Iterator[Part]:
    """Yield f, g and h at the rows of X: f is NaN at infeasible ones or, `everywhere`, only where it fails there."""
    xp, problem = array_namespace(X), rules.problem
    if isinstance(rules, SimulationRules):
        yield from rules.problem.parts(X, seconds_left)
        return
    try:
        constraints = problem.constraint_values(X, seconds_left)
    except OutOfTime:
        return
    violation = to_numpy(total_violation(constraints, problem.n_inequalities, rules.tolerance))
    feasible, outside = np.flatnonzero(violation == 0), np.flatnonzero(violation > 0)
    if everywhere and len(outside):
        f = np.full(len(X), np.nan)
        with suppress(Exception):  # f need not be defined there
            for part in rules.f_parts(X[xp.asarray(outside)], seconds_left):
                f[outside[part.rows]] = to_numpy(part.values)
        yield Part(outside, xp.concatenate([xp.asarray(f[outside])[:, None], constraints[xp.asarray(outside)]], axis=1))
    elif len(outside):
        where = xp.asarray(outside)
        yield Part(outside, xp.concatenate([xp.full((len(outside), 1), np.nan), constraints[where]], axis=1))
    if len(feasible) and (seconds_left() > 0 or not len(outside)):
        for part in rules.f_parts(X[xp.asarray(feasible)], seconds_left):
            rows = feasible[part.rows]
            f_rows = xp.asarray(part.values, dtype=np.float64)[:, None]
            yield Part(rows, xp.concatenate([f_rows, constraints[xp.asarray(rows)]], axis=1))


def rows_of(rules: FeasibilityRules, X: Array, everywhere: bool) -> Array:
    """Return f, g and h at the rows of X, as `evaluate_constrained` yields them."""
    parts = list(evaluate_constrained(rules, X, everywhere, unlimited))
    rows = np.concatenate([part.rows for part in parts])
    xp = array_namespace(X)
    return xp.concatenate([part.values for part in parts])[xp.asarray(np.argsort(rows))]
