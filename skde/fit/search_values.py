"""The values of points of local searches: f, g and h, within the time limit, and what is kept of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

import numpy as np

from skde.engines import JoblibEngine, choose_device, evaluate
from skde.fit.local_search import LocalSearchEnd
from skde.fit.recording import record_others
from skde.fit.runner import Runner
from skde.functions.point_workers import OutOfTime, Part, unlimited
from skde.objectives.feasibility import FeasibilityRules, feasibility_codes
from skde.objectives.objective import Objective
from skde.objectives.simulation_rules import SimulationRules
from skde.problems.constraints import total_violation
from skde.typing import Array, FloatArray, IntArray
from skde.utils.arrays import array_namespace, to_numpy


class SearchValues:
    """The function of local searches that gives f, g and h at points of the box.

    Values that are known when an exception or the time limit comes count in the runner's polished points.

    Parameters
    ----------
    runner : Runner
        The fit, with polished points.
    objective : Objective
        Its objective.
    seconds_left : callable
        Returns the seconds until the time limit.
    everywhere : bool, default False
        Whether f is called at infeasible points too, where it may fail.
    """

    def __init__(
        self, runner: Runner, objective: Objective, seconds_left: Callable[[], float], everywhere: bool = False
    ) -> None:
        self.runner, self.objective, self.everywhere = runner, objective, everywhere
        self.seconds_left = seconds_left
        # The parts of a batch in joblib's workers are done; a local search is one process.
        engine = runner.engine
        self.engine = choose_device(engine.device, 1)[0] if isinstance(engine, JoblibEngine) else engine
        self.polished = runner.ledger.begin_polish(runner.batch.dim)
        self.best, self.best_codes = self.polished.x.copy(), np.full(len(self.polished.x), np.inf)

    def __call__(self, runs: IntArray, points: FloatArray) -> FloatArray:
        """Return the values at points of some runs, of shape (n, 1 + m + l), on the host.

        Raises
        ------
        LocalSearchEnd
            Where the time limit comes before all are known.
        """
        known = np.zeros(len(points), bool)
        found = np.empty((len(points), 1))
        try:
            for part in self._parts(points):
                if part.values.shape[1] != found.shape[1]:
                    found = np.empty((len(points), part.values.shape[1]))
                found[part.rows], known[part.rows] = part.values, True
                codes = self._codes(found[part.rows])
                self._note(runs[part.rows], points[part.rows], codes)
                record_others(self.runner, runs[part.rows], self._round(points[part.rows]), codes, "polish")
            if not known.all():
                raise LocalSearchEnd("the time is over")
        except BaseException:
            self._count(runs[known])
            raise
        return found

    def _round(self, points: FloatArray) -> Array:
        return self.engine.xp.array(points, dtype=self.runner.batch.spec.dtype)

    def _codes(self, rows: FloatArray) -> FloatArray:
        rules = self.objective.rules
        if rules is None:
            return rows[:, 0]
        violation = total_violation(rows[:, 1:], rules.problem.n_inequalities, rules.tolerance)
        codes: FloatArray = feasibility_codes(rows[:, 0], violation)
        return codes

    def _note(self, runs: IntArray, points: FloatArray, codes: FloatArray) -> None:
        """Remember the best point of every run."""
        codes = np.where(np.isnan(codes), np.inf, codes)
        order = np.lexsort((codes, runs))
        own, first = np.unique(runs[order], return_index=True)
        rows = order[first]
        better = codes[rows] < self.best_codes[own]
        self.best_codes[own[better]], self.best[own[better]] = codes[rows[better]], points[rows[better]]

    def store_best(self) -> None:
        """Store the best points of all runs, where they are better than what is stored."""
        runs = np.flatnonzero(self.best_codes < np.inf)
        self.polished.store(runs, self.best[runs], self.best_codes[runs], 0, 0.0)

    def _count(self, runs: IntArray) -> None:
        """Count values that the search does not receive."""
        self.store_best()
        own, counts = np.unique(runs, return_counts=True)
        self.polished.store(own, self.polished.x[own], self.polished.code[own], counts, 0.0)

    def _parts(self, points: FloatArray) -> Iterator[Part]:
        """Yield rows of f, g and h as they come."""
        objective, rules = self.objective, self.objective.rules
        with self.engine.device_context:
            X = self._round(points)  # a copy, because functions may write to it
            if rules is None and objective.compiled is not None:
                parts: Iterator[Part] = iter([Part(np.arange(len(X)), evaluate(objective.compiled, X)[:, None])])
            elif rules is None:
                parts = (Part(part.rows, part.values[:, None]) for part in objective.parts(X, self.seconds_left))
            elif rules.problem.kernel:
                at = to_numpy(objective.decode(X))
                parts = iter([Part(np.arange(len(X)), rules.problem.values(at))])
            else:
                parts = evaluate_constrained(rules, objective.decode(X), self.everywhere, self.seconds_left)
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
