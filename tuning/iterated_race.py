"""Iterated race: races one after the other, as a state machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from skde.tuning.race import ALL_FAILED, Experiment, Race
from skde.tuning.rules import Rules, n_iterations, race_budget


class AllRejectedError(RuntimeError):
    """Every configuration of a race failed."""


@dataclass(frozen=True)
class RacePlan:
    """The next race.

    Attributes
    ----------
    iteration, n_iterations : int
        Number of the race, from 1, and number of planned races so far.
    budget : int
        Experiments of the race.
    n_new : int
        Configurations to add to the elites.
    elites : list of int
        The best of the last race, the best first.
    """

    iteration: int
    n_iterations: int
    budget: int
    n_new: int
    elites: list[int]


class IteratedRace:
    """Races one after the other, each with the best of the last and with new configurations.

    Parameters
    ----------
    rules : Rules
        The kind of race.
    n_parameters : int
        Parameters that are not fixed, >= 1.
    max_experiments : int
        The budget of all races.
    shuffle : callable
        shuffle(iteration, steps) returns the steps in the order in which race number `iteration` replays them.
    n_steps : int or None, default None
        Number of steps; None: not limited.
    order : callable, default Race.best_first
        order(race) returns the configurations left at the end of a race, the best first.

    Attributes
    ----------
    plan : RacePlan or None
        The next race until `begin`; None during a race and at the end.
    race : Race or None
        The running race.
    elites : list of int
        The best of the last race, the best first.
    used : int
        Experiments of the races that are over.
    """

    def __init__(
        self,
        rules: Rules,
        n_parameters: int,
        max_experiments: int,
        shuffle: Callable[[int, list[int]], list[int]],
        n_steps: int | None = None,
        order: Callable[[Race], list[int]] = Race.best_first,
    ) -> None:
        self.rules = rules
        self.n_parameters = n_parameters
        self.max_experiments = max_experiments
        self.shuffle = shuffle
        self.n_steps = n_steps
        self.order = order
        self.minimum = rules.n_survivors(n_parameters)
        self.n_iterations = n_iterations(n_parameters)
        self.iteration = 0
        self.used = 0
        self.elites: list[int] = []
        self.race: Race | None = None
        self._earlier: dict[Experiment, float] = {}
        self._seen = 0  # steps that races have used: 0, 1, ..., seen - 1
        self.plan: RacePlan | None = self._next_plan()

    @property
    def finished(self) -> bool:
        """Whether there are too few experiments for another race."""
        return self.race is None and self.plan is None

    def begin(self, new: Sequence[int]) -> Race:
        """Begin the planned race."""
        plan = self.plan
        if plan is None:
            raise RuntimeError("no race is planned: one runs, or the experiments are used up")
        self.plan, self.iteration = None, plan.iteration
        is_final = self.rules.final and plan.iteration >= plan.n_iterations
        self.race = race = Race(
            replace(self.rules, patience=None) if is_final else self.rules,
            [*self.elites, *new],
            self._order(),
            minimum=self.minimum,
            budget=plan.budget,
            limit=self.max_experiments - self.used,
            earlier=self._earlier,
        )
        self.close_ended_race()
        return race

    def add_result(self, experiment: Experiment, cost: float) -> None:
        """Add a result, and end the race if that decides it.

        Raises
        ------
        AllRejectedError
            When every configuration of the race failed.
        """
        if self.race is not None:
            self.race.add_result(experiment, cost)
            self.close_ended_race()

    def _order(self) -> Callable[[int], int | None]:
        """Return the steps of the next race: new ones, for elites the old ones, then again new ones."""
        end = self.n_steps
        replayed: list[int] = []
        first = self._seen
        if self._earlier:
            replayed = self.shuffle(self.iteration, list(range(self._seen)))
        elif end is not None:  # results are not kept, so the steps can be used again
            replayed, first = self.shuffle(self.iteration, list(range(end))), end
        ahead = first + self.rules.new_steps
        fresh = list(range(first, ahead if end is None else min(ahead, end)))
        order = [*fresh, *replayed]

        def step(position: int) -> int | None:
            if position < len(order):
                return order[position]
            later = first + len(fresh) + position - len(order)
            return later if end is None or later < end else None

        return step

    def close_ended_race(self) -> None:
        """Take the elites of a race that has ended, and plan the next one."""
        race = self.race
        if race is None or race.ended is None:
            return
        if race.ended == ALL_FAILED:
            raise AllRejectedError(ALL_FAILED)
        self.elites = self.order(race)[: self.minimum]  # first, because it takes time and may be interrupted
        self.used += race.used
        self._seen = max(self._seen, race.last_step + 1)
        if self.rules.elitist:
            elites = set(self.elites)
            self._earlier = {e: cost for e, cost in race.results().items() if e.configuration in elites}
        self.race, self.plan = None, self._next_plan()

    def _next_plan(self) -> RacePlan | None:
        """Return the next race, or None where too few experiments are left."""
        iteration = self.iteration + 1
        if self.rules.final and iteration > self.n_iterations:
            return None
        self.n_iterations = max(self.n_iterations, iteration)
        budget = race_budget(self.max_experiments - self.used, iteration, self.n_iterations)
        n_old = self._seen if self.rules.elitist else 0
        count = self.rules.configurations(budget, iteration, len(self.elites), n_old)
        if count <= self.minimum:
            return None
        return RacePlan(iteration, self.n_iterations, budget, count - len(self.elites), list(self.elites))
