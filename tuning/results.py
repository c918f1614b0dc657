"""Results of a tuning, as the fitted attributes of RacingTuner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from optuna.study import Study
from sklearn.exceptions import NotFittedError

from skde.tuning.loop import Result, TuningLoop
from skde.tuning.targets.base import Target


@dataclass(frozen=True)
class EliteConfiguration:
    """One of the best configurations.

    Attributes
    ----------
    number : int
        Number of the configuration and of its trial.
    params : dict
        Values of the parameters.
    """

    number: int
    params: dict[str, Any]


class TunerResults:
    """The attributes of a fitted RacingTuner, which end with an underscore."""

    _loop: TuningLoop
    _target: Target

    @property
    def elites_(self) -> list[EliteConfiguration]:
        """The best configurations, the best first."""
        loop = self._require_fit()
        return [EliteConfiguration(number, dict(loop.configuration(number).params)) for number in loop.elites]

    @property
    def best_params_(self) -> dict[str, Any]:
        """The best configuration."""
        return self.elites_[0].params

    @property
    def best_estimator_(self) -> Any:
        """The algorithm or estimator with the best configuration."""
        self._require_fit()
        return self._target.configure(self.best_params_)

    def configure(self, params: dict[str, Any]) -> Any:
        """Return the algorithm or estimator with a configuration's values; None for functions and programs."""
        self._require_fit()
        try:
            return self._target.configure(params)
        except AttributeError:
            return None

    @property
    def target_(self) -> str:
        """The target, as text."""
        self._require_fit()
        return self._target.describe()

    @property
    def results_(self) -> list[Result]:
        """Every experiment."""
        return list(self._require_fit().results)

    @property
    def races_(self) -> list[dict[str, Any]]:
        """Summaries of the races that are over."""
        return list(self._require_fit().races)

    @property
    def finished_(self) -> bool:
        """Whether the experiments are used up."""
        return self._require_fit().iterated_race.finished

    @property
    def n_experiments_(self) -> int:
        """Experiments that count."""
        iterated_race = self._require_fit().iterated_race
        return iterated_race.used + (iterated_race.race.used if iterated_race.race is not None else 0)

    @property
    def study_(self) -> Study:
        """The study."""
        return self._require_fit().record.study

    def _require_fit(self) -> TuningLoop:
        if not hasattr(self, "_loop") or not self._loop.elites:
            raise NotFittedError(f"this {type(self).__name__} has no results yet: fit(target)")
        return self._loop
