"""What is to be known of a tuning that has run, or runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from optuna.study import Study
from sklearn.exceptions import NotFittedError

from skde.tuning.loop import Result, Session
from skde.tuning.targets.target import Target


@dataclass(frozen=True)
class Elite:
    """One of the best configurations.

    Attributes
    ----------
    number : int
        Of the configuration, which is that of its trial.
    params : dict
        Its values.
    """

    number: int
    params: dict[str, Any]


class TunerResults:
    """What RacingTuner has after a fit: the attributes that end with an underscore."""

    _session: Session
    _target: Target

    @property
    def elites_(self) -> list[Elite]:
        """The best configurations, the best first."""
        session = self._fitted()
        return [Elite(number, dict(session.configuration(number).params)) for number in session.elites]

    @property
    def best_params_(self) -> dict[str, Any]:
        """The best configuration."""
        return self.elites_[0].params

    @property
    def best_estimator_(self) -> Any:
        """The algorithm or estimator with the best configuration."""
        self._fitted()
        return self._target.configured(self.best_params_)

    def configured(self, params: dict[str, Any]) -> Any:
        """Return the algorithm or estimator with a configuration's values; None for functions and programs."""
        self._fitted()
        try:
            return self._target.configured(params)
        except AttributeError:
            return None

    @property
    def target_(self) -> str:
        """What is configured, as text."""
        self._fitted()
        return self._target.describe()

    @property
    def results_(self) -> list[Result]:
        """Every experiment."""
        return list(self._fitted().results)

    @property
    def races_(self) -> list[dict[str, Any]]:
        """What is to be known of the races that are over."""
        return list(self._fitted().races)

    @property
    def finished_(self) -> bool:
        """Whether the experiments are used up."""
        return self._fitted().machine.finished

    @property
    def n_experiments_(self) -> int:
        """Experiments that count."""
        machine = self._fitted().machine
        return machine.used + (machine.race.used if machine.race is not None else 0)

    @property
    def study_(self) -> Study:
        """The study."""
        return self._fitted().record.study

    def _fitted(self) -> Session:
        if not hasattr(self, "_session") or not self._session.elites:
            raise NotFittedError(f"this {type(self).__name__} has no results yet: fit(target)")
        return self._session
