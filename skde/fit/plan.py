"""The plan of a fit: made once, from parameters and objective, and read by everything below."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from skde.algorithms import Algorithm
from skde.algorithms.auto import FitProperties, rule
from skde.algorithms.base import FitSetting
from skde.algorithms.population_size import PopulationSchedule
from skde.algorithms.restarts import local_evals
from skde.algorithms.sequence import AlgorithmSequence
from skde.engines import Spec
from skde.engines.state.spec_builder import build_spec
from skde.fit.phases.scipy_search import methods_of
from skde.fit.polish_budget import reserve_evals
from skde.islands import Archipelago, Migration
from skde.objectives.feasibility import LARGEST
from skde.stopping import Limits, StoppingRules, last_generations
from skde.typing import FloatArray, IntArray
from skde.utils.random_state import island_seeds, restart_seeds, run_seeds
from skde.utils.validation import check_start, round_inwards
from skde.variables import Categorical, Variables, check_variables


class SavedPopulations(NamedTuple):
    """Seeds and last generations of all populations of a saved fit."""

    seeds: IntArray
    limits: IntArray


@dataclass(frozen=True)
class Search:
    """A search with a population.

    Attributes
    ----------
    algorithms : tuple of Algorithm
        One, or one for each run.
    evals : int or None
        Evaluations of a run that it plans with; None: those that the limits leave.
    """

    algorithms: tuple[Algorithm, ...]
    evals: int | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class FitPlan:
    """The searches of a fit, one after the other, and what follows them: a polish, or evaluations at its end.

    Attributes
    ----------
    box : ndarray of shape (dim, 2)
        The bounds.
    variables : Variables or None
        The typed variables.
    start : array-like of shape (n, dim) or None
        The first points of every initial population.
    constrained : bool
        Whether there are constraints.
    searches : tuple of Search
        At least one.
    n_restarts : int
        How many of them are independent restarts, each with a local search after it; they end where they agree.
    timed : bool
        Whether further searches are planned while the fit runs, by the time that is left. A local search follows each.
    polish : bool or str
        False, True or the name of a method.
    polish_is_default : bool
        Whether "auto" chose the polish.
    final_evals : int
        Evaluations of a run after its last generation, for a noisy function.
    limits : Limits
        Those of a run that are set now.
    planned : Limits
        Those that the fit began with, without the evaluations of polish and end: some algorithms plan with them.
    rules : StoppingRules
        The rules that the kernels check.
    n_runs, n_islands : int
        Runs, and populations of each.
    migration : Migration or None
        The exchange of individuals between islands.
    dtype : dtype
        The precision.
    seed : int
        The seed of the first run, from which the others follow.
    """

    box: FloatArray
    variables: Variables | None
    start: Any
    constrained: bool
    searches: tuple[Search, ...]
    n_restarts: int
    timed: bool
    polish: bool | str
    polish_is_default: bool
    final_evals: int
    limits: Limits
    planned: Limits
    rules: StoppingRules
    n_runs: int
    n_islands: int
    migration: Migration | None
    dtype: np.dtype[Any]
    seed: int

    @property
    def dim(self) -> int:
        """Variables of the box."""
        return len(self.box)

    @property
    def polish_evals(self) -> int:
        """Evaluations of a run that are kept for the polish."""
        return reserve_evals(self.polish, self.dim, self.limits)

    def methods(self, constrained: bool) -> tuple[str, ...]:
        """Return the methods of the polish, one after the other; bounds alone are no constraints for them."""
        return () if self.polish is False else methods_of(self.polish, constrained, self.dim)

    @property
    def search_limits(self) -> Limits:
        """The limits of a run without the evaluations at its end."""
        return limits_before_end(self.limits, self.final_evals)

    @property
    def evals_allowed(self) -> int | None:
        """The evaluations of a run without those at its end; None: any number. Restarts come on top of the default."""
        evals, limits = self.search_limits.evals(self.dim), self.limits
        if evals is None or limits.max_evals is not None:
            return evals
        restarts = [search.evals or 0 for search in self.searches[: self.n_restarts]]
        return evals + sum(each + local_evals(each, self.dim) for each in restarts)

    def evals_after(self, place: int) -> int:
        """Return the evaluations of a run that are planned after one of the searches."""
        return sum(search.evals or 0 for search in self.searches[place + 1 :]) + self.polish_evals

    def setting(self, place: int) -> FitSetting:
        """Return the properties that the algorithm of a search may plan with."""
        evals = self.searches[place].evals
        limits = self.planned if evals is None else Limits(max_evals=evals)
        return limits.to_setting(self.dim, self.n_islands)

    def last_generations(
        self,
        place: int,
        schedules: Sequence[PopulationSchedule],
        *,
        spent: int = 0,
        others: int = 0,
        polished: int = 0,
        done: IntArray | None = None,
    ) -> IntArray:
        """Return the last generation of every population of a search.

        Parameters
        ----------
        place : int
            The search.
        schedules : sequence of PopulationSchedule
            Every population's sizes.
        spent : int, default 0
            Evaluations of a run in the searches before.
        others : int, default 0
            Evaluations of a run that belong to no generation.
        polished : int, default 0
            Evaluations of a run that its polish has made of those that are kept for it.
        done : ndarray or None, default None
            The generations before a warm start.
        """
        limits, least = self.search_limits, max(schedule.most for schedule in schedules) * self.n_islands
        if limits.max_evals is not None and self.final_evals and limits.max_evals < least:
            raise ValueError(
                f"max_evals must be at least {least + self.final_evals}, the individuals of a run plus "
                f"final_evals={self.final_evals}, got {self.limits.max_evals}"
            )
        reserved = max(self.polish_evals, polished) + others
        own = self.searches[place].evals
        if own is not None and done is None:
            evals = self.evals_allowed
            left = None if evals is None else evals - reserved
            if left is not None and place:
                left = max(left - spent, least)
            # Of restarts even the last does not depend on what others have left: a run in a batch is the run alone.
            if place + 1 < len(self.searches) or self.n_restarts or self.timed:
                left = own if left is None else min(own, left)
            limits, reserved = replace(limits, max_evals=left), 0
        return last_generations(schedules, self.dim, limits, done, self.n_islands, reserved)

    def leaves_room(self, place: int, spent: int, n_iter: int) -> bool:
        """Return whether the limits leave evaluations to a search, after those of a run and its generations."""
        if self.limits.max_iter is not None and n_iter >= self.limits.max_iter:
            return False
        evals = self.evals_allowed
        least = int(self.searches[place].algorithms[0].pop_size or 0) * self.n_islands
        return evals is None or evals - self.polish_evals - spent >= least

    def populations(self, place: int, limits: IntArray | None = None, **counts: Any) -> tuple[Spec, int]:
        """Return a Spec with one population for each algorithm of a search, and how often it is to be repeated.

        It is small, so that the memory of the whole batch can be checked before it is made. `limits` are the last
        generations of a saved fit; `counts` are the arguments of `last_generations`.
        """
        algorithms, setting = self.searches[place].algorithms, self.setting(place)
        given = [algorithm.kernel_parameters(setting) for algorithm in algorithms]
        schedules = [PopulationSchedule.from_parameters(algorithms[0].kernel, values) for values in given]
        inside = round_inwards(self.box, self.dtype.name)
        independent = place < self.n_restarts or self.timed
        start = None if place and independent else self.start
        last = self.last_generations(place, schedules, **counts) if limits is None else limits
        spec = build_spec(
            algorithms,
            given,
            schedules,
            setting,
            inside,
            seeds=np.zeros(len(algorithms), np.uint64),
            limits=last if limits is None else np.full(len(algorithms), limits.max()),
            start=check_start(start, self.box, min(schedule.most for schedule in schedules)).clip(*inside.T),
            islands=self._archipelago(min(schedule.members for schedule in schedules)),
            target=self.rules.target,
            tol=self.rules.tol,
            atol=self.rules.atol,
            converging=LARGEST if self.constrained else np.inf,
            stagnation=self.rules.stagnation,
            dtype=self.dtype,
            variables=check_variables(self.variables, self.dtype),
        )
        return spec, self.n_runs * self.n_islands // len(algorithms)

    def batch(
        self,
        place: int,
        check_memory: Callable[[Spec, int], None] | None = None,
        saved: SavedPopulations | None = None,
        **counts: Any,
    ) -> Spec:
        """Return the Spec of all populations of a search, after a check of the memory that they take.

        Parameters
        ----------
        place : int
            The search.
        check_memory : callable or None, default None
            The function of the engine.
        saved : SavedPopulations or None, default None
            Those of a file.
        **counts
            The arguments of `last_generations`, of a fit that has begun.
        """
        spec, times = self.populations(place, None if saved is None else saved.limits, **counts)
        if saved is not None:
            return spec.repeat(times, self.seeds_at(place, saved.seeds), saved.limits)
        if times > 1 and check_memory is not None:  # else the batch is as small as the spec, and checks itself
            check_memory(spec, times * len(spec.seeds))
        seeds = island_seeds(run_seeds(self.seed, self.n_runs), self.n_islands)
        return spec.repeat(times, seeds, spec.limits if times == 1 else np.repeat(spec.limits, times))

    def choose(self, evals: int) -> tuple[Search, ...]:
        """Return the searches of "auto" for so many evaluations of a run."""
        return plan_searches(self.dim, self.constrained, self.variables, evals)

    def seeds_at(self, place: int, seeds: IntArray) -> IntArray:
        """Return the seeds of all populations of a search from those of the first one."""
        return restart_seeds(seeds, place) if self.n_restarts or self.timed else seeds

    def _archipelago(self, pop_size: int) -> Archipelago:
        """Return the islands' topology and migration."""
        if self.n_islands > 1:
            return (Migration() if self.migration is None else self.migration).archipelago(self.n_islands, pop_size)
        return Archipelago()


def plan_searches(dim: int, constrained: bool, variables: Variables | None, evals: int) -> tuple[Search, ...]:
    """Return the searches of "auto" for so many evaluations of a run."""
    given = FitProperties(
        dim=dim,
        max_evals=evals,
        constrained=constrained,
        discrete=variables is not None and variables.discrete,
        n_choices=most_choices(variables),
    )
    return list_searches(rule(given).algorithm, evals)


def most_choices(variables: Variables | None) -> int:
    """Return the largest number of choices of a category; 0 without categories."""
    members = () if variables is None else variables.members
    return max((len(member.choices) for member in members if isinstance(member, Categorical)), default=0)


def list_searches(algorithm: Algorithm | AlgorithmSequence, evals: int | None = None) -> tuple[Search, ...]:
    """Return the searches of a choice of "auto"; one alone plans with these evaluations."""
    if isinstance(algorithm, Algorithm):
        return (Search((algorithm,), evals),)
    parts = zip(algorithm.algorithms, algorithm.evals, strict=True)
    return tuple(Search((one,), each) for one, each in parts)


def limits_before_end(limits: Limits, final_evals: int) -> Limits:
    """Return limits without the evaluations at the end of a run, which are part of a given number only."""
    evals = limits.max_evals
    return replace(limits, max_evals=evals - final_evals) if evals is not None and final_evals else limits
