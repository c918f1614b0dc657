"""The evaluation of the requests of a phase: by the fit, or by a user."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from skde.fit.fit import Fit
from skde.fit.phases.requests import RequestPhase
from skde.fit.recording import record_others
from skde.fit.results import Rules
from skde.fit.search_values import engine_of_points, yield_rows
from skde.functions.point_workers import Part
from skde.objectives.feasibility import FeasibilityRules, feasibility_codes, values_of_codes
from skde.objectives.objective import Objective
from skde.objectives.told_rules import ToldRules
from skde.problems.constraints import total_violation
from skde.typing import FloatArray, IntArray
from skde.utils.arrays import to_numpy
from skde.utils.interrupts import interrupts


class Found(NamedTuple):
    """What is known of some rows of a request.

    Attributes
    ----------
    rows : ndarray of int of shape (k,)
        The rows.
    values : ndarray of shape (k, m)
        What the phase gets of them: f or, with constraints, f, g and h.
    codes : ndarray of shape (k,)
        The values as selection compares them.
    """

    rows: IntArray
    values: FloatArray
    codes: FloatArray


def run_requests(
    fit: Fit,
    phase: RequestPhase,
    objective: Objective,
    seconds_left: Callable[[], float],
    ends: Callable[[], bool],
) -> None:
    """Evaluate the requests of a phase until it is done; values that are known when something ends that are kept.

    Parameters
    ----------
    fit : Fit
        The fit.
    phase : RequestPhase
        The phase, which has begun.
    objective : Objective
        The objective.
    seconds_left : callable
        Returns the seconds until the time limit.
    ends : callable
        Returns whether a callback or the time limit ends the fit; it is called after every request.
    """
    with interrupts.fit:
        fit.ledger.timer.start()
        try:
            while not phase.done and seconds_left() > 0:
                evaluate_request(fit, phase, objective, seconds_left)
                end_request(fit, phase)
                if ends():
                    return
        finally:
            fit.ledger.timer.pause()


def end_request(fit: Fit, phase: RequestPhase) -> None:
    """Let the phase make its next request, where the present one has all of its values."""
    with interrupts.deferred:
        phase.end_request()
        phase.close(fit.ledger)
        if phase.done:
            fit.drop_requests()


def note_found(fit: Fit, phase: RequestPhase, found: Found) -> None:
    """Keep the values of some rows of the present request, count them, and record them."""
    runs, points = phase.request.runs[found.rows], phase.request.points[found.rows]
    with interrupts.deferred:
        phase.note(found.rows, found.values)
        phase.account(fit.ledger, found.rows, found.codes)
        record_others(fit, runs, points.astype(fit.batch.spec.dtype), found.codes, phase.label)


def evaluate_request(fit: Fit, phase: RequestPhase, objective: Objective, seconds_left: Callable[[], float]) -> None:
    """Evaluate what the present request lacks, until no seconds are left; values are kept as they become known."""
    batch, missing, dtype = fit.batch, phase.missing, fit.batch.spec.dtype
    at_a_time = len(missing) if phase.with_constraints else batch.n_runs * batch.pop_max
    engine = engine_of_points(fit.engine)
    with engine.device_context:
        for begin in range(0, len(missing), max(at_a_time, 1)):
            rows = missing[begin : begin + at_a_time]
            X = engine.xp.array(phase.request.points[rows], dtype=dtype)  # a copy: functions may write to it
            if phase.with_constraints:
                for part in yield_rows(objective, X, phase.everywhere, seconds_left):
                    note_found(fit, phase, Found(rows[part.rows], part.values, codes_of_rows(fit.rules, part.values)))
            else:
                # One call of a function of arrays, because a generator would change a StopIteration.
                whole = None if objective.by_rows else [Part(np.arange(len(X)), objective.values(X))]
                for part in objective.parts(X, seconds_left) if whole is None else whole:
                    codes = to_numpy(part.values).astype(np.float64)
                    values = values_of_found(fit.rules, codes)[:, None]
                    note_found(fit, phase, Found(rows[part.rows], values, codes))
            if seconds_left() <= 0:
                return


def codes_of_rows(rules: Rules | None, rows: FloatArray) -> FloatArray:
    """Return rows of f, g and h as selection compares them; where there are no constraints, f."""
    if rules is None:
        return rows[:, 0]
    codes: FloatArray = feasibility_codes(
        rows[:, 0], total_violation(rows[:, 1:], n_inequalities_of(rules) or 0, rules.tolerance)
    )
    return codes


def values_of_found(rules: Rules | None, codes: FloatArray) -> FloatArray:
    """Return the values of points that have these codes."""
    return codes if rules is None else np.asarray(values_of_codes(codes))


def n_inequalities_of(rules: Rules | None) -> int | None:
    """Return the number of constraints g <= 0; None where there are no constraints."""
    if isinstance(rules, FeasibilityRules):
        return int(rules.problem.n_inequalities)
    return rules.sizes[0] if isinstance(rules, ToldRules) and rules.sizes is not None else None
