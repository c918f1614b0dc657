"""The sampler that lets an algorithm of skde search in a study of Optuna."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from threading import RLock
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.search_space import IntersectionSearchSpace
from optuna.study import Study
from optuna.trial import FrozenTrial, TrialState

from skde.algorithms import ALGORITHMS, Algorithm, small_population
from skde.algorithms.auto import AUTO, FitProperties, rule
from skde.optuna.population import SEEDS, TrialPopulation, check_population
from skde.optuna.search_space import StudySpace
from skde.utils.random_state import first_seed
from skde.utils.validation import check_choice, check_int, quote, suggest_names

logger = logging.getLogger(__name__)

# With 100 to 1000 trials of 3 or 8 variables, populations of 6 to 10 individuals did best.
GENERATIONS, LEAST_POPULATION, MOST_POPULATION = 100, 8, 100
PLANNED_TRIALS = 100  # where they are not known
# The choice of "auto" where the trials are not known, whose population does not shrink, or are less than these.
UNPLANNED, LEAST_TRIALS = "shade", 20


class StudyState:
    """The state of a sampler for one study.

    Attributes
    ----------
    intersection : IntersectionSearchSpace
        Finds the parameters that all complete trials have, with the same range.
    population : Population or None
        The population for these parameters.
    independent : set of str
        Parameters that were drawn independently, and named in a message.
    """

    def __init__(self) -> None:
        self.intersection = IntersectionSearchSpace()
        self.population: TrialPopulation | None = None
        self.independent: set[str] = set()


class EvolutionSampler(BaseSampler):
    """Sampler of Optuna that searches with the population of an algorithm of skde, in studies of one objective.

    A trial evaluates one individual of a generation. All parameters that every complete trial has, with the same range,
    are searched together, on their own scales: floats and integers, linear, logarithmic or with a step, and choices.
    Other parameters, such as those under a condition, are drawn by `independent_sampler`, as are all parameters until
    the first trial is complete.

    Parameters
    ----------
    algorithm : str or Algorithm, default "shade"
        A registry name; a parameter object, such as ``JDE(pop_size=30)``; or "auto", a choice by the number and kinds
        of the parameters and by n_trials.
    n_trials : int or None, default None
        Trials that the study is planned for, >= 1; None: not known, and 100 where an algorithm needs them. The
        population of a named algorithm is a hundredth of them, at least 8 and at most 100 individuals; one that shrinks
        begins again after n_trials.
    seed : int or None, default None
        Makes the draws repeatable, in [0, 2**64). Processes with the same seed share one population; without a seed
        each has its own, of NumPy's global state, and learns from the trials of all.
    independent_sampler : BaseSampler or None, default None
        Draws the other parameters; None: uniformly, by the seed and the number of the trial.

    Attributes
    ----------
    algorithm_ : Algorithm
        The algorithm that has proposed the last trial, once one has; for "auto" its choice.
    reason_ : str
        The reason for it; empty where it is given. The logger of the module says both when it is chosen.

    Notes
    -----
    The population is a function of the seed and of the study's trials in the order in which they finished. So a study
    that is loaded from a storage continues where it was, if the seed is the same, and trials that were made before,
    enqueued, or made by another sampler, count too.

    A generation ends when all its individuals have a value. With several workers (n_jobs, processes) or a batch of
    trials, one for which no individual is left gets parameters of `independent_sampler`, and the first values count. So
    take a population of several times as many individuals as there are workers or trials in a batch.

    Failed and pruned trials count as worse than all others. With Optuna 5, trials that violate constraints
    (`Trial.set_constraint`) come after those that do not, ordered by the sum of their violations.

    Examples
    --------
    >>> import optuna
    >>> from skde.optuna import EvolutionSampler
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> study = optuna.create_study(sampler=EvolutionSampler("jade", n_trials=200, seed=0))
    >>> study.optimize(lambda trial: (trial.suggest_float("x", -10, 10) - 2) ** 2, n_trials=200)
    >>> abs(study.best_params["x"] - 2) < 0.01
    True
    """

    @suggest_names
    def __init__(
        self,
        algorithm: str | Algorithm = "shade",
        *,
        n_trials: int | None = None,
        seed: int | None = None,
        independent_sampler: BaseSampler | None = None,
    ) -> None:
        self.n_trials = PLANNED_TRIALS if n_trials is None else check_int("n_trials", n_trials, 1)
        self._known = n_trials is not None
        self.algorithm: str | Algorithm = AUTO
        if algorithm != AUTO:
            if not isinstance(algorithm, Algorithm):
                check_choice("algorithm", algorithm, (AUTO, *ALGORITHMS))
            self.algorithm = self._small(algorithm) if isinstance(algorithm, str) else algorithm
            check_population(self.algorithm, self.n_trials, 1)
        if independent_sampler is not None and not isinstance(independent_sampler, BaseSampler):
            raise TypeError(
                f"independent_sampler must be None or a sampler of Optuna, got {quote(independent_sampler)}"
            )
        self.independent_sampler = independent_sampler
        if seed is not None:
            seed = check_int("seed", seed, 0, SEEDS - 1)
        self._seed = first_seed(None) if seed is None else seed
        self._lock = RLock()
        self._states: WeakKeyDictionary[Study, StudyState] = WeakKeyDictionary()

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to pickle; populations are made again from their studies."""
        return {**self.__dict__, "_lock": None, "_states": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Set the state of a pickled sampler."""
        self.__dict__.update(state, _lock=RLock(), _states=WeakKeyDictionary())

    def reseed_rng(self) -> None:
        """Reseed the independent sampler; other draws depend on the number of the trial, so that workers differ."""
        if self.independent_sampler is not None:
            self.independent_sampler.reseed_rng()

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """Return the parameters with more than one value that all complete trials have, with the same range.

        Raises
        ------
        ValueError
            In a study of several objectives.
        """
        check_one_objective(study)
        with self._lock:
            found = self._state(study).intersection.calculate(study)
        return {name: distribution for name, distribution in found.items() if not distribution.single()}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Return the parameters of an individual that has no value yet, or independent ones where none is left.

        Raises
        ------
        ValueError
            In a study of several objectives.
        """
        check_one_objective(study)
        if not search_space:
            return {}
        with self._lock:
            state = self._state(study)
            population = state.population
            if population is None or population.space.distributions != search_space:
                space = StudySpace(search_space)
                algorithm = self._choose(space)
                population = TrialPopulation(algorithm, self._seed, self.n_trials, space, study.direction)
                state.population = population
            trials = study.get_trials(deepcopy=False)
            population.learn(trials)
            proposed = population.propose(trial.number, trials)
        return proposed or {
            name: self._draw(study, trial, name, distribution) for name, distribution in search_space.items()
        }

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """Draw a parameter's value.

        Raises
        ------
        ValueError
            In a study of several objectives.
        """
        check_one_objective(study)
        self._tell_of(study, param_name)
        return self._draw(study, trial, param_name, param_distribution)

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """Prepare the independent sampler."""
        if self.independent_sampler is not None:
            self.independent_sampler.before_trial(study, trial)

    def after_trial(self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None) -> None:
        """Tell the independent sampler."""
        if self.independent_sampler is not None:
            self.independent_sampler.after_trial(study, trial, state, values)

    def _draw(self, study: Study, trial: FrozenTrial, name: str, distribution: BaseDistribution) -> Any:
        """Return a parameter's value of the independent sampler."""
        sampler = self.independent_sampler
        if sampler is None:
            address = [self._seed, trial.number, *name.encode()]
            sampler = RandomSampler(int(np.random.SeedSequence(address).generate_state(1)[0]))
        return sampler.sample_independent(study, trial, name, distribution)

    def _small(self, name: str) -> Algorithm:
        """Return an algorithm of the registry with a population for the number of trials."""
        size = min(max(self.n_trials // GENERATIONS, LEAST_POPULATION), MOST_POPULATION)
        return small_population(name, size)

    def _choose(self, space: StudySpace) -> Algorithm:
        """Return the algorithm for a search space, and note it with the reason."""
        if isinstance(self.algorithm, Algorithm):
            self.algorithm_, self.reason_ = self.algorithm, ""
            return self.algorithm
        dim, discrete = len(space.variables.box), space.variables.discrete
        if not self._known:
            self.algorithm_, self.reason_ = self._small(UNPLANNED), "the number of trials is not known"
        elif self.n_trials < LEAST_TRIALS:
            self.algorithm_, self.reason_ = self._small(UNPLANNED), f"{self.n_trials} trials are too few for another"
        else:
            choice = rule(FitProperties(dim, self.n_trials, discrete=discrete, one_search=True))
            assert isinstance(choice.algorithm, Algorithm)  # with one_search
            self.algorithm_, self.reason_ = choice.algorithm, choice.reason
        logger.info("%s is %r: %s", AUTO, self.algorithm_, self.reason_)
        return self.algorithm_

    def _state(self, study: Study) -> StudyState:
        return self._states.setdefault(study, StudyState())

    def _tell_of(self, study: Study, name: str) -> None:
        """Log that a parameter is not searched by the algorithm, once."""
        with self._lock:
            state = self._state(study)
            if state.population is not None and name not in state.independent:
                state.independent.add(name)
                logger.info("%r is drawn by the independent sampler: not every trial has it with the same range", name)


def check_one_objective(study: Study) -> None:
    """Refuse a study of several objectives."""
    if len(study.directions) > 1:
        raise ValueError(f"EvolutionSampler is for one objective; the study has {len(study.directions)}")
