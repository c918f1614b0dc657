"""A fit: the phases of all runs on one engine, with one ledger."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from skde.engines import Engine, Runs, Spec
from skde.fit.known_values import KnownValues
from skde.fit.ledger import Ledger
from skde.fit.partial_generation import PartialGeneration
from skde.fit.past_phases import PastPhases, stack_populations
from skde.fit.phases.local_search import LocalSearchPhase
from skde.fit.phases.population import Population
from skde.fit.phases.reevaluation import Reevaluation
from skde.fit.phases.requests import RequestPhase
from skde.fit.plan import FitPlan
from skde.fit.results import Rules, find_best_points, make_results
from skde.recorder import Recorder
from skde.result import RunResult, missing_value
from skde.stopping import LIMIT, Status, StoppingRules
from skde.typing import FloatArray, IntArray

TARGET = int(Status.TARGET)


class Fit:
    """The phases of all runs, one after the other, and what they have in common.

    Parameters
    ----------
    population : Population
        The populations of the first search.

    Attributes
    ----------
    population : Population
        Those of the present search, or of the last one.
    plan : FitPlan or None
        What a Minimizer plans.
    requests : RequestPhase or None
        The phase that follows them, where it has begun.
    ledger : Ledger
        The account of all phases.
    rules : FeasibilityRules, ToldRules, StoredOutcomes or None
        The meaning of the values, where there are constraints.
    known : KnownValues or None
        The values of a discrete space.
    remembers : bool
        Whether they are used: they are not for a noisy function.
    recorder : Recorder or None
        Is told all evaluations.
    """

    def __init__(self, population: Population) -> None:
        self.population = population
        self.plan: FitPlan | None = None
        self.requests: RequestPhase | None = None
        self.ledger = Ledger(population.n_runs)
        self.ledger.seeds = population.batch.spec.seeds
        self.rules: Rules | None = None
        self.known: KnownValues | None = None
        self.remembers = False
        self.recorder: Recorder | None = None
        self._warned = False
        self._results: tuple[Any, list[RunResult]] | None = None

    @property
    def engine(self) -> Engine:
        """The engine of the populations."""
        return self.population.engine

    def require_plan(self) -> FitPlan:
        """Return the plan of a Minimizer."""
        assert self.plan is not None
        return self.plan

    @property
    def batch(self) -> Runs:
        """The batch of the populations."""
        return self.population.batch

    @property
    def partial(self) -> PartialGeneration | None:
        """The points that wait for values of a user's."""
        requested = None if self.requests is None else self.requests.partial
        return self.population.partial if requested is None else requested

    @property
    def n_runs(self) -> int:
        """The runs."""
        return len(self.ledger.before)

    @property
    def seconds(self) -> float:
        """Running time so far."""
        return self.ledger.timer.seconds

    # -- rules and limits ----------------------------------------------------------------------------------------------

    def set_rules(self, rules: StoppingRules) -> None:
        """Set the stopping rules. Runs that only a rule ended that has changed continue."""
        population = self.population
        changed = population.replace_rules(rules)
        if not changed:
            return
        if self.ledger.past is not None:
            self.ledger.past.reopen(changed)
        population.judge_again(changed)
        if TARGET in changed and rules.target is not None:
            self.end_at_target(rules.target)

    def end_at_target(self, target: float) -> None:
        """End the runs that have reached the target, perhaps in another phase than the present search."""
        status = self.population.status
        status[np.repeat(self.best_points()[1] <= target, self.population.batch.n_islands)] = TARGET
        self.population.put_status(status)

    def restart(self, limits: IntArray) -> None:
        """Let all runs continue from their last generations, with new limits and a new count of max_time."""
        self.ledger.begin_limits(self.own_evals)
        self.population.restart(limits)

    def end_exhausted(self) -> None:
        """End the runs that know every point of the space."""
        if self.known is not None and self.remembers and (ended := self.known.exhausted).any():
            self.population.end(ended)

    # -- phases --------------------------------------------------------------------------------------------------------

    def begin_search(self, spec: Spec, made: int) -> None:
        """Let another search follow: the runs that have used their evaluations continue, with the same seeds.

        `made` are the trials of such a run so far.
        """
        past, first_id = self._close_phases(), self.first_id
        self.population = Population(self.engine, spec)
        self.population.leave_out(past.ended, past.status, past.points)
        spent = (*self.ledger.spent, made - sum(self.ledger.spent))
        self.ledger = self.ledger.following(past, spent, first_id)
        self.requests = None
        if self.known is not None:
            self.known.follow()

    def _close_phases(self) -> PastPhases:
        """Return the results of all runs so far, with the populations of those that ended for good."""
        results = self.results()
        points, codes = self.best_points()
        status = np.array([int(run.status) for run in results])
        ended = np.flatnonzero(status != LIMIT).tolist()
        x, f = stack_populations([self.members(run) for run in ended], points.shape[1])
        return PastPhases(
            points=points.astype(np.float64),
            codes=codes,
            n_evals=np.array([run.n_evals for run in results]),
            n_trials=self.n_trials,
            n_iter=np.array([run.n_iter for run in results]),
            seconds=np.array([run.time for run in results]),
            status=status,
            polish_evals=np.array([run.polish_evals for run in results]),
            histories=[run.history for run in results],
            x=x,
            f=f,
        )

    def evals_at_limit(self) -> int | None:
        """Return the trials of a run that has used those of its search; None where there is no such run.

        There is none, either, where the host ended the search: by time, by a callback or by Ctrl-C.
        """
        if self.population.ending != Status.RUNNING or not self.population.done:
            return None
        trials = self.n_trials
        return max((int(trials[k]) for k, run in enumerate(self.results()) if run.status == LIMIT), default=None)

    def drop_requests(self) -> None:
        """Forget the phase after the last generation; its ids are not used again."""
        if self.requests is not None:
            self.ledger.n_ids += self.requests.n_ids
            self.requests = None

    @property
    def first_id(self) -> int:
        """The id of the first trial of the next generation."""
        batch = self.population.batch
        return self.ledger.n_ids + (self.population.generation + 1) * batch.n_runs * batch.pop_max

    # -- account -------------------------------------------------------------------------------------------------------

    @property
    def n_iter(self) -> IntArray:
        """The last generation of every run, those of the searches before it included; -1: none."""
        return self.population.last_generations + self.ledger.n_iter

    @property
    def own_evals(self) -> IntArray:
        """Evaluations of every run in the generations of this search, one that is not complete included."""
        evals = self.population.evals + self.incomplete_evals
        return evals if self.known is None else evals - self.known.repeated

    @property
    def n_evals(self) -> IntArray:
        """Evaluations of every run in all searches, of populations and local ones."""
        return self.own_evals + self.ledger.search_evals

    @property
    def limited_evals(self) -> IntArray:
        """Evaluations of every run within the present limits, all of them together."""
        return self.own_evals + self.ledger.n_evals - self.ledger.before

    @property
    def n_trials(self) -> IntArray:
        """Trials of every run: evaluations, and points of a discrete space that had been evaluated before."""
        trials: IntArray = np.array([run.n_evals for run in self.results()])
        return trials if self.known is None else trials + self.known.repeated

    @property
    def incomplete(self) -> list[Any]:
        """The values of generations that are not complete."""
        return self.population.incomplete

    @property
    def incomplete_evals(self) -> IntArray:
        """Evaluations of every run in a generation that is not complete."""
        evals = np.zeros_like(self.ledger.before)
        for one in self.incomplete:
            evals += self.population.by_run(one.evals).sum(axis=1)
        return evals

    # -- results -------------------------------------------------------------------------------------------------------

    @property
    def has_results(self) -> bool:
        """Whether a point has been evaluated."""
        return self.population.generation >= 0 or self.ledger.past is not None or bool(self.incomplete)

    def results(self) -> list[RunResult]:
        """Return every run's result so far."""
        population, final = self.population, self.ledger.final
        counts = population.n_changes, int(final.n_evals.sum()) + int(self.incomplete_evals.sum())
        state = (population, population.generation, population.ending, self.seconds, final.values is None, counts)
        unfinished = isinstance(self.requests, Reevaluation) and np.array_equal(self.requests.n_iter, self.n_iter)
        if self._results is None or self._results[0] != (*state, unfinished):
            found = self.ledger, self.incomplete, self.known
            progress = population.progress
            results = make_results(self.engine, population.batch, self.rules, progress, population.ending, *found)
            if unfinished and final.values is None:
                results = [replace(result, final_evals_complete=False) for result in results]
            self._results = (*state, unfinished), results
        return self._results[1]

    def runs(self) -> list[RunResult]:
        """Return every run's result as users see it: of a plan by time, a search at its limit has used the time."""
        results = self.results()
        if self.plan is None or not self.plan.timed:
            return results
        return [replace(run, status=Status.TIME) if run.status == LIMIT else run for run in results]

    def warn_without_value(self) -> None:
        """Warn, once, where no evaluation of any run has given a value.

        Results under constraints are made here: the constraints' functions may not work any more when they are read.
        """
        results = self.results()
        if not self._warned and (text := missing_value(results)):
            self._warned = True
            warnings.warn(text, RuntimeWarning, stacklevel=4)

    def best_points(self) -> tuple[FloatArray, FloatArray]:
        """Return every run's best point of the box in all phases, and its value."""
        batch = self.population.batch
        generation, found = batch.host("generation"), (self.ledger.past, *self.incomplete, self.ledger.local)
        index, value = batch.best(generation)
        _, points, codes = find_best_points(batch, generation, index, value, found)
        return points, codes

    def own_best_points(self) -> tuple[FloatArray, FloatArray]:
        """Return every run's best point of the box in the present search and the local search after it."""
        batch = self.batch
        generation = batch.host("generation")
        index, value = batch.best(generation)
        _, points, codes = find_best_points(batch, generation, index, value, (*self.incomplete, self.ledger.local))
        return points, codes

    def members(self, run: int) -> tuple[FloatArray, FloatArray]:
        """Return the last population of a run as points of the box, that of all its islands, and its values."""
        past, dtype = self.ledger.past, self.population.batch.spec.dtype
        if past is not None and past.ended[run]:
            points, values = past.population(run)
            return points.astype(dtype), values.astype(dtype)
        return self.population.members(run)

    def outcomes(self) -> FloatArray:
        """Return value, largest violation and violation of every run's best point, as `StoredOutcomes` takes them."""
        if not self.has_results:
            return np.full((self.n_runs, 3), np.inf)
        return np.array([(run.fun, run.max_violation, run.violation) for run in self.results()])

    # -- saved state ---------------------------------------------------------------------------------------------------

    def state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return time, ending and ids for a file's header; seeds, limits, marks and the state of all phases as arrays.

        The values of an incomplete generation are in `begun_generations.pack_told`.
        """
        population, ledger = self.population, self.ledger
        arrays = {**population.state(), **ledger.state(), "seeds": ledger.seeds}
        if self.known is not None:
            arrays |= self.known.state(population.batch.spec.dtype)
        if self.requests is not None:
            arrays |= self.requests.state()
        return {"seconds": self.seconds, "ending": int(population.ending), "n_ids": ledger.n_ids}, arrays

    def restore(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Continue from what `state` returned, checked by `check_fit_state`."""
        self.ledger.restore(float(header["seconds"]), arrays)
        self.ledger.n_ids, self.ledger.seeds = header["n_ids"], arrays["seeds"]
        self.known = KnownValues.from_state(self.population.batch.spec.variables, self.n_runs, arrays)
        self.remembers = self.known is not None
        self.population.restore(Status(header["ending"]), arrays)
        dtype = self.population.batch.spec.dtype
        for phase in (LocalSearchPhase, Reevaluation):
            self.requests = phase.from_state(self.n_runs, arrays, dtype) or self.requests
