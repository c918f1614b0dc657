"""The sampling of iterated races for any Optuna study."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from skde.tuning.configuration_sampling import (
    SAME,
    Parent,
    RaceStage,
    SamplingModel,
    parent_weights,
    update_model,
    value_near,
)
from skde.tuning.parameter_scale import uniform
from skde.tuning.rules import n_iterations, n_survivors
from skde.tuning.space import Configuration
from skde.utils.random_state import first_seed
from skde.utils.validation import check_int


class IteratedRacingSampler(BaseSampler):
    r"""Draw around the best of earlier trials, closer from iteration to iteration, as iterated racing does.

    The trials of a study are cut into iterations. In the first one they are uniform. In a later one, each trial has a
    parent among the best of all completed trials before the iteration, with weights that fall linearly with their rank.
    Numbers come from a normal distribution around the parent's, truncated to the range, with
    :math:`\sigma_1` half the range and :math:`\sigma_j = \sigma_{j-1} (1 / n)^{1/N}` for n trials an iteration and N
    parameters; choices keep the parent's with a probability that grows with j. Parameters that the parent lacks are
    uniform.

    A trial has one value, so there are no races. `RacingTuner` races over instances.

    Parameters
    ----------
    n_trials : int, default 100
        Trials that the study is planned for, >= 1; more are drawn as the last iterations of a longer plan, with
        :math:`\sigma_j` no lower than 1e-4.
    seed : int or None, default None
        Makes the draws repeatable, >= 0: a trial's depend on the seed, its number, the trials before its iteration, and
        the number of parameters so far.

    Notes
    -----
    Source: M. Lopez-Ibanez et al., The irace package: iterated racing for automatic algorithm configuration, Operations
    Research Perspectives 3 (2016). Differences: trials are compared by their values alone; the probabilities of choices
    belong to a lineage that always had the parent's choice; there is no soft restart.

    Examples
    --------
    >>> import optuna
    >>> from skde.tuning import IteratedRacingSampler
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> study = optuna.create_study(sampler=IteratedRacingSampler(n_trials=60, seed=0))
    >>> study.optimize(lambda trial: trial.suggest_float("x", -10, 10) ** 2, n_trials=60)
    >>> study.best_value < 0.1
    True
    """

    def __init__(self, n_trials: int = 100, *, seed: int | None = None) -> None:
        self.n_trials = check_int("n_trials", n_trials, 1)
        if seed is not None:
            check_int("seed", seed, 0)
        self._seed = first_seed(None) if seed is None else int(seed)
        self._parents: WeakKeyDictionary[Study, dict[int, Parent | None]] = WeakKeyDictionary()

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to pickle; the parents of running trials are found again."""
        return {**self.__dict__, "_parents": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Set the state of a pickled sampler."""
        self.__dict__.update(state, _parents=WeakKeyDictionary())

    def reseed_rng(self) -> None:
        """Do nothing: a trial's draws depend on its number, so trials that run side by side differ."""

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """Return nothing: parameters are drawn one by one, around the trial's parent.

        Raises
        ------
        ValueError
            In a study of several objectives.
        """
        check_single(study)
        return {}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Return nothing."""
        return {}

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """Draw a parameter's value.

        Raises
        ------
        ValueError
            In a study of several objectives.
        """
        check_single(study)
        parents = self._parents.setdefault(study, {})
        if trial.number not in parents:
            parents[trial.number] = self._parent(study, trial.number)
        parent = parents[trial.number]
        rng = self._rng(trial.number, *param_name.encode())
        if parent is None:
            return uniform(param_distribution, rng)
        return value_near(parent, param_name, param_distribution, False, rng)

    def after_trial(self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None) -> None:
        """Forget the trial's parent."""
        self._parents.get(study, {}).pop(trial.number, None)

    def _rng(self, *address: int) -> np.random.Generator:
        return np.random.default_rng([self._seed, *address])

    def _parent(self, study: Study, number: int) -> Parent | None:
        """Return the parent of a trial, with the model of its iteration; None in the first one."""
        trials = study.get_trials(deepcopy=False)
        varied = {name for t in trials for name, distribution in t.distributions.items() if not distribution.single()}
        n_parameters = max(len(varied), 1)
        size = max(self.n_trials // n_iterations(n_parameters), 1)
        iteration = 1 + number // size
        elites = self._elites(study, trials, (iteration - 1) * size, n_survivors(n_parameters))
        if not elites:
            return None
        elite = elites[int(self._rng(number).choice(len(elites), p=parent_weights(len(elites))))]
        parent = Parent(Configuration(elite.params, elite.distributions), SamplingModel())
        for j in range(2, iteration + 1):
            parent = update_model(
                parent, RaceStage(j, max(n_iterations(n_parameters), j), size, n_parameters, capped=True)
            )
        return replace(parent, model=replace(parent.model, sigma=max(parent.model.sigma, SAME)))

    def _elites(self, study: Study, trials: list[FrozenTrial], before: int, count: int) -> list[FrozenTrial]:
        """Return the best of the trials that came before the iteration."""
        sign = -1 if study.direction == StudyDirection.MAXIMIZE else 1

        def cost(trial: FrozenTrial) -> float:
            value = trial.value
            return math.inf if value is None or math.isnan(value) else sign * value

        complete = [trial for trial in trials if trial.state == TrialState.COMPLETE and trial.number < before]
        return sorted(complete, key=cost)[:count]


def check_single(study: Study) -> None:
    """Refuse a study of several objectives."""
    if len(study.directions) > 1:
        raise ValueError("IteratedRacingSampler is for one objective; the study has several")
