"""Which phase of a fit comes next, by its plan."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from skde.algorithms.restarts import MOST_LOCAL, local_evals
from skde.engines import Spec
from skde.fit.agreement import count_agreeing
from skde.fit.fit import TARGET, Fit
from skde.fit.ledger import Ends
from skde.fit.phases.local_search import LocalSearchPhase, SearchSpace
from skde.fit.phases.population import Population
from skde.fit.phases.reevaluation import Reevaluation
from skde.fit.phases.requests import RequestPhase
from skde.fit.phases.scipy_search import MOST_VARIABLES, QUASI_NEWTON, SIMPLEX
from skde.fit.plan import FitPlan
from skde.fit.request_loop import end_request, n_inequalities_of
from skde.fit.results import values_of_points
from skde.objectives.feasibility import LARGEST, WORST, FeasibilityRules, StoredOutcomes
from skde.result import History
from skde.stopping import Status
from skde.typing import FloatArray, IntArray

TIME_SHARE = 0.9  # of the time that is left, which the next searches plan with
SHORTEST = 1e-6  # of a search, in seconds
LEAST_EVALS = 8  # of further searches, for every variable
MOST_EVALS = 2**40


class Schedule:
    """The phases of a fit: the searches of its plan, and then local searches or further evaluations.

    Parameters
    ----------
    fit : Fit
        The fit, with its plan.
    customize : callable
        Changes the Spec of a search before it begins.
    announce : callable or None, default None
        Is told in words which search begins.
    """

    def __init__(
        self,
        fit: Fit,
        customize: Callable[[Spec], Spec],
        announce: Callable[[str], None] | None = None,
    ) -> None:
        self.fit, self.customize, self.announce = fit, customize, announce

    @property
    def plan(self) -> FitPlan:
        """The plan, with the limits that are set now."""
        return self.fit.require_plan()

    def phases(self) -> Iterator[Population | RequestPhase]:
        """Yield the phases that are not over, one after the other; the one before must have ended, or be interrupted.

        What comes next depends on the fit alone, so that this may begin anew at any time.
        """
        yield self.fit.population
        while True:
            restarts, place = self.plan.n_restarts, len(self.fit.ledger.spent)
            if (place < restarts or self.plan.timed) and (restart := self.begin_local_search(alone=True)) is not None:
                yield restart
            if restarts and place + 1 < len(self.plan.searches):
                self.compare_ends()
                if (last := self.begin_last_local_search()) is not None:
                    yield last
            if not self.begin_next_search():
                break
            yield self.fit.population
        for begin in (self.begin_local_search, self.begin_reevaluation):
            if (phase := begin()) is not None:
                yield phase
        if self.plan.n_restarts:
            self.compare_ends()

    # -- searches ------------------------------------------------------------------------------------------------------

    def begin_next_search(self) -> bool:
        """Begin the next search where the present one has used its evaluations, and return whether it did."""
        fit, place = self.fit, len(self.fit.ledger.spent) + 1
        if (place == len(self.plan.searches) and not self.plan.timed) or (made := fit.evals_at_limit()) is None:
            return False
        if place == len(self.plan.searches) and not self.plan_by_time(made):
            return False
        plan = self.plan
        if not plan.leaves_room(place, made, int(fit.n_iter.max())):
            return False
        spec, times = plan.populations(place, spent=made)
        fit.engine.check_memory(spec, times)
        limits = limits_after(fit.n_iter, np.repeat(spec.limits, times), plan.limits.max_iter)
        seeds = plan.seeds_at(place, fit.ledger.seeds)
        fit.begin_search(self.customize(spec.repeat(times, seeds, limits)), made)
        if self.announce is not None:
            self.announce(f"after {made} evaluations of a run {plan.searches[place].algorithms[0]} begins")
        return True

    def plan_by_time(self, made: int) -> bool:
        """Plan further searches with the evaluations that the time limit will allow; return whether there are any.

        The rate is that of the last search. `made` are the evaluations of a run so far.
        """
        fit, ledger, plan = self.fit, self.fit.ledger, self.plan
        began = 0.0 if ledger.past is None else float(ledger.past.seconds.max())
        rate = (made - sum(ledger.spent)) / max(fit.seconds - began, SHORTEST)
        left = (plan.limits.max_time or 0.0) - ledger.timer.seconds_of_limit
        evals = int(min(TIME_SHARE * left * rate, MOST_EVALS))
        if evals < LEAST_EVALS * plan.dim:
            return False
        fit.plan = replace(plan, searches=(*plan.searches, *plan.choose(evals)))
        return True

    def last_generations(self) -> IntArray:
        """Return the last generations of the present search that the limits allow which are set now."""
        fit, ledger = self.fit, self.fit.ledger
        limits = self.plan.last_generations(
            len(ledger.spent),
            fit.batch.spec.schedules,
            spent=sum(ledger.spent),
            others=int(ledger.other_evals.max()),
            polished=int(ledger.local_spent.max()),
        )
        return limits if ledger.past is None else limits_after(ledger.past.n_iter, limits, self.plan.limits.max_iter)

    def compare_ends(self) -> None:
        """End the runs whose independent searches agree, after one of these."""
        fit, ledger = self.fit, self.fit.ledger
        place = len(ledger.spent)
        if len(ledger.ends) > place or fit.population.ending != Status.RUNNING or not fit.population.done:
            return
        left_out = np.zeros(fit.n_runs, bool) if ledger.past is None else ledger.past.ended
        points, codes = fit.own_best_points()
        ledger.ends.append(Ends(points.astype(np.float64), np.where(left_out, np.nan, codes).astype(np.float64)))
        low, high = self.plan.box.T
        u = np.stack([(end.points - low) / np.where(high > low, high - low, 1.0) for end in ledger.ends])
        values = np.stack([end.codes for end in ledger.ends])
        gains = np.array([gain_of(run.history) for run in fit.results()])
        kinds = [search.algorithms[0].name for search in self.plan.searches[: place + 1]]
        counts = np.where(left_out, 0, count_agreeing(u, values, gains, kinds, self.plan.n_restarts))
        ledger.agreeing = np.maximum(ledger.agreeing, counts)
        fit.population.end(counts > 0)

    # -- local searches ------------------------------------------------------------------------------------------------

    def begin_local_search(self, alone: bool = False) -> LocalSearchPhase | None:
        """Return the local searches from the best points; None where there are none to make.

        With `alone` they are those after a restart, from its own best points.
        """
        fit, rules = self.fit, self.fit.rules
        bounds_alone = isinstance(rules, FeasibilityRules) and not rules.problem.has_constraints
        constrained = rules is not None and not bounds_alone
        if constrained and self.plan.polish_is_default:  # these constraints were told
            return None
        if alone and (constrained or not self.search_space().real.any()):
            return None
        methods = (QUASI_NEWTON,) if alone else self.plan.methods(constrained)
        if not methods or fit.population.ending == Status.CALLBACK:
            return None
        if isinstance(rules, StoredOutcomes):
            raise ValueError("a local search needs the constraints again: set_params(constraints=...)")
        phase = fit.requests
        goes_on = isinstance(phase, LocalSearchPhase) and phase.methods == methods and not phase.last
        if not isinstance(phase, LocalSearchPhase) or not (goes_on and same(phase, fit)):
            phase = self._new_local_search(methods, alone)
        if phase is not None and not phase.begun:
            local = fit.ledger.open_local(fit.batch.dim)
            before = local.spent - np.minimum(phase.counts, local.spent)
            most = self.restart_evals() if alone else self.local_evals()
            phase.begin_searches(self.search_space(), most - before, fit.seconds)
            end_request(fit, phase)
        return None if phase is None or phase.done else phase

    def begin_last_local_search(self) -> LocalSearchPhase | None:
        """Return local searches for the last digits of the runs that have just agreed; None where there are none."""
        fit, ledger = self.fit, self.fit.ledger
        runs = np.flatnonzero((ledger.agreeing > 0) & ~ledger.finished)
        if not len(runs) or fit.population.ending != Status.RUNNING:
            return None
        phase = fit.requests
        if not (isinstance(phase, LocalSearchPhase) and phase.last and same(phase, fit)):
            fit.drop_requests()
            method = SIMPLEX if self.plan.dim <= MOST_VARIABLES else QUASI_NEWTON
            fit.requests = phase = LocalSearchPhase((method,), *fit.best_points(), runs, fit.n_iter, last=True)
        if not phase.begun:
            most = np.full(fit.n_runs, MOST_LOCAL * (self.plan.dim + 1))
            phase.begin_searches(self.search_space(), most, fit.seconds)
            end_request(fit, phase)
        return None if phase.done else phase

    def _new_local_search(self, methods: tuple[str, ...], alone: bool) -> LocalSearchPhase | None:
        """Return searches of the runs that have not reached their target; None where there is no such run."""
        fit, population = self.fit, self.fit.population
        n_iter, local = fit.n_iter, fit.ledger.open_local(population.batch.dim)
        reached = (population.by_run(population.status) == TARGET).any(axis=1)
        points, codes = fit.own_best_points() if alone else fit.best_points()
        local.generation = np.where(fit.ledger.agreeing > 0, n_iter, local.generation)  # their searches are over
        open_runs = ~reached & (local.generation != n_iter)
        local.generation[open_runs] = -1
        open_runs &= codes < (np.inf if fit.rules is None else WORST)  # else there is nothing to improve
        order = np.array([run for run in np.argsort(codes, kind="stable").tolist() if open_runs[run]], np.int64)
        if not len(order):
            return None
        fit.drop_requests()
        fit.requests = phase = LocalSearchPhase(methods, points, codes, order, n_iter)
        return phase

    def search_space(self) -> SearchSpace:
        """Return what local searches know of the function."""
        spec, rules = self.fit.batch.spec, self.fit.rules
        variables = spec.variables
        slopes = rules.problem.linear_slopes if isinstance(rules, FeasibilityRules) and variables is None else None
        return SearchSpace(
            lower=spec.lower,
            upper=spec.upper,
            real=np.ones(len(spec.lower), bool) if variables is None else variables.real_components,
            target=-math.inf if spec.target is None else float(spec.target),
            dtype=spec.dtype,
            n_inequalities=n_inequalities_of(rules),
            tolerance=0.0 if rules is None else rules.tolerance,
            linear=slopes,
        )

    def restart_evals(self) -> IntArray:
        """Return the evaluations that the local search of every run may make after a restart."""
        evals = self.plan.searches[len(self.fit.ledger.spent)].evals or 0
        return np.full(self.fit.n_runs, local_evals(evals, self.plan.dim))

    def local_evals(self) -> IntArray:
        """Return the evaluations that the local searches of every run may make within the limits."""
        kept, limit = self.plan.polish_evals, self.plan.evals_allowed
        others = self.fit.limited_evals - self.fit.ledger.local_spent
        return np.full(len(others), kept) if limit is None else np.clip(limit - others, 0, kept)

    # -- further evaluations -------------------------------------------------------------------------------------------

    def begin_reevaluation(self) -> Reevaluation | None:
        """Return the evaluations after the last generation; None where there are none to make."""
        fit = self.fit
        if not self.plan.final_evals or fit.ledger.final.values is not None:
            return None
        phase = fit.requests
        if not isinstance(phase, Reevaluation) or not same(phase, fit) or self._needs_new_plan(phase):
            fit.drop_requests()
            planned = self.final_evals(fit.limited_evals)
            fit.requests = phase = Reevaluation(planned, fit.n_iter) if planned.any() else None
        if phase is not None and not phase.begun:
            phase.begin_rounds([self._candidates(run) for run in range(fit.n_runs)])
            end_request(fit, phase)
        return None if phase is None or phase.done else phase

    def _needs_new_plan(self, phase: Reevaluation) -> bool:
        """Return whether the limits that are set now leave another number of evaluations."""
        return bool((self.final_evals(self.fit.limited_evals - phase.counts) != phase.planned).any())

    def final_evals(self, made: IntArray) -> IntArray:
        """Return the evaluations of every run after its last generation; `made` are those that it has made."""
        kept, limit = self.plan.final_evals, self.plan.limits.max_evals
        return np.full(len(made), kept) if limit is None else np.clip(limit - made, 0, kept)

    def _candidates(self, run: int) -> FloatArray:
        """Return the different feasible members of a run's populations, as points of the box, the best first."""
        batch = self.fit.batch
        points, values = self.fit.population.members(run)
        values = values.astype(np.float64)
        usable = np.flatnonzero(values < np.inf if self.fit.rules is None else values <= LARGEST)
        points = points[usable[np.argsort(values[usable], kind="stable")]]
        _, firsts = np.unique(values_of_points(batch, points), axis=0, return_index=True)
        different: FloatArray = points[np.sort(firsts)]
        return different


def gain_of(history: History) -> float:
    """Return by how much the first finite best value has been improved; 0 where there is none."""
    finite = history.best[np.isfinite(history.best)]
    return float(finite[0] - finite[-1]) if len(finite) else 0.0


def same(phase: RequestPhase, fit: Fit) -> bool:
    """Return whether a phase follows the generations that the fit has made."""
    return np.array_equal(phase.n_iter, fit.n_iter)


def limits_after(n_iter: IntArray, limits: IntArray, max_iter: int | None) -> IntArray:
    """Return the last generations of a search: max_iter counts those of the searches before, of every run, too."""
    if max_iter is None:
        return limits
    left = np.maximum(max_iter - n_iter - 1, 0)
    fewer: IntArray = np.minimum(limits, np.repeat(left, len(limits) // len(left)))
    return fewer
