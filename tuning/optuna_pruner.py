"""Friedman's test as a pruner, for studies that run each trial on many instances."""

from __future__ import annotations

import numpy as np
from optuna.pruners import BasePruner
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial

from skde.tuning.statistical_tests import survivors
from skde.utils.validation import check_int, check_real


class FriedmanPruner(BasePruner):
    """Prune a trial that is significantly worse than the best of those that have reported on the same steps.

    The steps are instances, and the intermediate values costs on them. The trial is compared with all others, pruned or
    not, that have a value at each of its steps, by Friedman's test and its post-hoc rule; with one other, by Wilcoxon's
    signed-rank test.

    This is not iterated racing: trials come one after the other, a good one never has to defend itself against later
    ones on new instances, and how soon a bad one is pruned depends on the trials before it. `RacingTuner` races.

    Parameters
    ----------
    p_threshold : float, default 0.05
        Level of the test, in (0, 1).
    n_startup_steps : int, default 5
        Steps of a trial before the first test, >= 2.

    Examples
    --------
    >>> import optuna
    >>> from skde.tuning import FriedmanPruner
    >>> optuna.logging.set_verbosity(optuna.logging.WARNING)
    >>> def objective(trial):
    ...     x = trial.suggest_float("x", -1, 1)
    ...     for step, size in enumerate([1, 10, 100, 1, 10, 100, 1, 10]):
    ...         trial.report(size * x**2, step)
    ...         if trial.should_prune():
    ...             raise optuna.TrialPruned
    ...     return abs(x)
    >>> study = optuna.create_study(sampler=optuna.samplers.RandomSampler(0), pruner=FriedmanPruner())
    >>> study.optimize(objective, n_trials=30)
    >>> sum(trial.state == optuna.trial.TrialState.PRUNED for trial in study.trials) > 10
    True
    """

    def __init__(self, *, p_threshold: float = 0.05, n_startup_steps: int = 5) -> None:
        self.p_threshold = check_real("p_threshold", p_threshold, 0, 1, low_open=True, high_open=True)
        self.n_startup_steps = check_int("n_startup_steps", n_startup_steps, 2)

    def prune(self, study: Study, trial: FrozenTrial) -> bool:
        """Return whether the trial is to be pruned.

        Parameters
        ----------
        study : Study
            A study with one objective.
        trial : FrozenTrial
            A trial that has reported values.
        """
        steps = list(trial.intermediate_values)
        if len(steps) < self.n_startup_steps:
            return False
        others = [
            other.intermediate_values
            for other in study.get_trials(deepcopy=False)
            if other.number != trial.number and all(step in other.intermediate_values for step in steps)
        ]
        values = np.array([[of[step] for of in (trial.intermediate_values, *others)] for step in steps])
        costs = -values if study.direction == StudyDirection.MAXIMIZE else values
        costs = np.where(np.isnan(costs), np.inf, costs)
        # Others that failed somewhere cannot be the best, and infinities have no differences.
        costs = costs[:, [True, *np.isfinite(costs[:, 1:]).all(axis=0)]]
        if np.isposinf(costs[:, 0]).any():
            return True
        return not survivors(costs, "friedman", self.p_threshold)[0]
