"""A population that learns from the finished trials of a study, and proposes the points of new ones."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState

from skde.algorithms import Algorithm, FitSetting
from skde.minimizer import Minimizer
from skde.objectives.feasibility import feasibility_codes
from skde.optuna.search_space import Key, StudySpace

UNLIMITED = 2**53  # evaluations
# Of a space of levels alone: a population that proposes known points for ever begins again.
MOST_GENERATIONS = 1000
SEEDS = 2**64


class TrialPopulation:
    """The population of an algorithm, a function of a seed and of a study's trials in the order of their ends.

    Every finished trial counts as the trial vector of one individual: of the one that it was proposed for or, if it
    comes from elsewhere (an earlier sampler, `enqueue_trial`, a process with another seed), of the last one without a
    value. When all have a value, the next generation begins. The second trial of a point is ignored.

    Parameters
    ----------
    algorithm : Algorithm
        The algorithm.
    seed : int
        Seed of its draws.
    n_trials : int
        Evaluations after which an algorithm with a shrinking population begins again.
    space : SearchSpace
        The parameters.
    direction : StudyDirection
        The study's direction.
    """

    def __init__(
        self, algorithm: Algorithm, seed: int, n_trials: int, space: StudySpace, direction: StudyDirection
    ) -> None:
        check_population(algorithm, n_trials, len(space.variables.box))
        self.space = space
        self.algorithm = algorithm
        self.max_evals = n_trials if algorithm.shrinks else UNLIMITED
        self.direction = direction
        self._seed = seed
        self._n_read = 0  # of the study's trials
        self._unfinished: list[int] = []  # places of those among them that had not finished
        self._evaluated: set[Key] = set()
        self._proposed: dict[int, Key] = {}  # points of running trials, by the numbers of these
        self._begin()

    def _begin(self) -> None:
        """Begin with a new population."""
        levels_alone = not self.space.variables.real_components.any()
        self._minimizer = Minimizer(
            self.algorithm,
            bounds=self.space.variables,
            max_evals=self.max_evals,
            max_iter=MOST_GENERATIONS if levels_alone and not self.algorithm.shrinks else None,
            random_state=self._seed,
            device="cpu",
            n_jobs=1,
        )
        self._seed = (self._seed + 1) % SEEDS
        self._next_generation()

    def _next_generation(self) -> None:
        """Make the trial vectors of the next generation."""
        self._points = self._asked = self._minimizer.ask()
        self._costs = np.full(len(self._asked), math.inf)
        self._waiting = dict(enumerate(map(self.space.key_of_point, self._asked)))  # keys of individuals without a cost

    # -- finished trials -----------------------------------------------------------------------------------------------

    def learn(self, trials: Sequence[FrozenTrial]) -> None:
        """Count the trials that have finished since the last call; `trials` are all of the study, in their order."""
        places = [*self._unfinished, *range(self._n_read, len(trials))]
        self._n_read = len(trials)
        self._unfinished = [place for place in places if not trials[place].state.is_finished()]
        finished = [trials[place] for place in places if trials[place].state.is_finished()]
        for trial in sorted(finished, key=lambda trial: (trial.datetime_complete, trial.number)):
            self._proposed.pop(trial.number, None)
            key = self.space.key(trial.params)
            if key is not None:
                self._count(key, self._cost(trial))

    def _count(self, key: Key, cost: float) -> None:
        """Let a point be the trial vector of an individual."""
        individual = next((one for one, waiting in self._waiting.items() if waiting == key), None)
        if individual is None:
            if key in self._evaluated:
                return
            individual = next(reversed(self._waiting))
            if self._points is self._asked:
                self._points = self._asked.copy()
            self._points[individual] = key
        del self._waiting[individual]
        self._evaluated.add(key)
        self._costs[individual] = cost
        if not self._waiting:
            self._minimizer.tell(self._points, self._costs)
            if self._minimizer.stopped_:
                self._begin()
            else:
                self._next_generation()

    def _cost(self, trial: FrozenTrial) -> float:
        """Return a trial's cost; infinite where it failed or was pruned."""
        if trial.state != TrialState.COMPLETE or trial.value is None:
            return math.inf
        cost = -trial.value if self.direction == StudyDirection.MAXIMIZE else trial.value
        constraints = getattr(trial, "constraints", {})  # since Optuna 5
        violation = sum(math.inf if math.isnan(value) else max(value, 0.0) for value in constraints.values())
        return float(feasibility_codes(np.array(cost), np.array(violation))) if constraints else cost

    # -- new trials ----------------------------------------------------------------------------------------------------

    def propose(self, number: int, trials: Sequence[FrozenTrial]) -> dict[str, Any]:
        """Return the parameters of trial `number`: an individual that no running trial evaluates.

        Where all are being evaluated, there are none: the trial has parameters of elsewhere, and takes the place of
        an individual if it ends first. So a process that ends within a trial delays no generation.
        """
        running = [trials[place] for place in self._unfinished if trials[place].state == TrialState.RUNNING]
        others = [trial for trial in running if trial.number != number]
        keys = [self._proposed.get(trial.number) or self.space.key(trial.params) for trial in others]
        # Trials of other processes that have no parameters yet are about to take the first free individuals.
        ahead = sum(key is None and trial.number < number for key, trial in zip(keys, others, strict=True))
        taken = Counter(keys)
        free = []
        for individual, key in self._waiting.items():
            if taken[key]:
                taken[key] -= 1
            else:
                free.append(individual)
        if ahead >= len(free):
            return {}
        individual = free[ahead]
        self._proposed[number] = self._waiting[individual]
        return self.space.params(self._asked[individual])


def check_population(algorithm: Algorithm, n_trials: int, dim: int) -> None:
    """Check an algorithm's parameters, and that a population that shrinks is not larger than the number of trials."""
    pop_size = int(algorithm.kernel_parameters(FitSetting(dim, n_trials))["pop_size"])
    if algorithm.shrinks and pop_size > n_trials:
        raise ValueError(
            f"n_trials must be at least the population size of {algorithm!r}, {pop_size}, got {n_trials}: the "
            "population shrinks until n_trials are done; raise n_trials or lower pop_size"
        )
