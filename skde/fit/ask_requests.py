"""The requests of a phase that a user evaluates: local searches, and further evaluations at the end."""

from __future__ import annotations

from typing import Any

import numpy as np

from skde.fit.ask_tell import Constraints, codes, part_values, read_told_ids, read_told_points, with_constraints
from skde.fit.fit import Fit
from skde.fit.partial_generation import PartialGeneration
from skde.fit.phases.requests import RequestPhase
from skde.fit.request_loop import Found, codes_of_rows, end_request, note_found, values_of_found
from skde.fit.results import values_of_points
from skde.objectives.feasibility import FeasibilityRules
from skde.objectives.told_rules import ToldRules
from skde.problems.constraints import total_violation
from skde.typing import Array, FloatArray, IntArray
from skde.utils.arrays import to_numpy


def ask_request(fit: Fit, phase: RequestPhase, n: int | None) -> tuple[Array | None, IntArray | None]:
    """Return the points of the present request, or up to n that were not handed out, with ids; None after the last."""
    partial = open_request(fit, phase)
    if partial is None:
        return None, None
    phase.asked = True
    rows = partial.hand_out(len(partial.asked) if n is None else n)
    if n is None:
        rows = np.flatnonzero(partial.needed)
    with fit.engine.device_context:
        return partial.asked[fit.batch.xp.asarray(rows)], partial.first + rows


def open_request(fit: Fit, phase: RequestPhase) -> PartialGeneration | None:
    """Return the present request as a user evaluates it; None where no point needs a value any more."""
    while not phase.done:
        if phase.partial is None:
            phase.partial = begin_request(fit, phase)
        if len(phase.missing):
            return phase.partial
        end_request(fit, phase)
    return None


def begin_request(fit: Fit, phase: RequestPhase) -> PartialGeneration:
    """Return the present request, with a value of every point that has one or that violates constraints."""
    rules, xp, needed = fit.rules, fit.batch.xp, np.ones(len(phase.request.runs), bool)
    with fit.engine.device_context:
        points = xp.asarray(phase.request.points, dtype=fit.batch.spec.dtype)
        asked = values_of_points(fit.batch, points)
        if phase.with_constraints and isinstance(rules, FeasibilityRules):
            rows = phase.missing
            found = constraint_rows(rules, asked[xp.asarray(rows)], np.nan)
            outside = total_violation(found[:, 1:], rules.problem.n_inequalities, rules.tolerance) != 0
            known = found[outside]
            note_found(fit, phase, Found(rows[outside], known, codes_of_rows(rules, known)))
            needed[rows[outside]] = False
        partial = PartialGeneration(fit.first_id + phase.n_asked, asked, points, needed, xp)
        partial.note(np.setdiff1d(np.flatnonzero(needed), phase.missing))
        return partial


def constraint_rows(rules: FeasibilityRules, X: Array, f: Any) -> FloatArray:
    """Return rows of f, g and h at points, with these values of f."""
    constraints = to_numpy(rules.problem.constraint_values(X)).astype(np.float64)
    return np.column_stack([np.broadcast_to(f, len(X)), constraints])


def tell_request(fit: Fit, phase: RequestPhase, X: Array | None, f: Any, ids: Any, constraints: Constraints) -> None:
    """Note the values of points of the present request, by their points or their ids; the last one ends it."""
    partial = open_request(fit, phase)
    if partial is None:
        raise RuntimeError("every run has ended, so that no point waits for a value")
    with fit.engine.device_context:
        rows, shape = find_rows(fit, partial, X, ids)
        values = with_constraints(fit, part_values(f, shape, partial.points), constraints, shape)
        where = fit.batch.xp.asarray(rows)
        told, waiting = partial.asked[where], ~partial.has_value[rows]
        found = read_found(fit, phase, rows, told, values)
        note_found(fit, phase, Found(rows[waiting], found.values[waiting], found.codes[waiting]))
        partial.note(rows)
    if not len(phase.missing):
        end_request(fit, phase)


def find_rows(fit: Fit, partial: PartialGeneration, X: Array | None, ids: Any) -> tuple[IntArray, tuple[int, ...]]:
    """Return the rows of points that are told, and the shape of their values."""
    if ids is None:
        if X is None:
            raise TypeError("tell needs X or ids: tell(X, f) or tell(f=f, ids=ids)")
        return partial.rows_of_points(read_told_points(fit, X, partial)), np.shape(X)[:-1]
    given = read_told_ids(ids)
    rows = partial.rows_of_ids(given.reshape(-1))
    if X is not None:
        points = read_told_points(fit, X, partial)
        if len(points) != len(rows):
            raise ValueError(f"X must have a row for each of the {len(rows)} ids, got {len(points)}")
        if not bool((points == partial.asked[fit.batch.xp.asarray(rows)]).all()):
            raise ValueError(
                "X must be the points that ask returned: those of local searches and of final_evals cannot be "
                "replaced by others"
            )
    return rows, given.shape


def read_found(fit: Fit, phase: RequestPhase, rows: IntArray, X: Array, values: Array) -> Found:
    """Return what the values of a user mean for a phase."""
    rules, known = fit.rules, to_numpy(values).astype(np.float64)
    if not phase.with_constraints:
        own = to_numpy(codes(fit, X, values)).astype(np.float64)
        return Found(rows, values_of_found(rules, own)[:, None], own)
    if isinstance(rules, ToldRules):
        return Found(rows, known, to_numpy(rules.codes(X, values)))
    if isinstance(rules, FeasibilityRules):
        rules.n_calls += len(rows)
        known = constraint_rows(rules, X, known)
    else:
        known = known[:, None]
    return Found(rows, known, codes_of_rows(rules, known))
