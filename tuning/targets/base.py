"""Target, the base class of everything that can be tuned: jobs in, outcomes out."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, Self

# An experiment is ended after this many times its time limit, and these seconds for starting and ending.
HANGS_AFTER = 3.0
GRACE_SECONDS = 10.0


@dataclass(frozen=True)
class TargetJob:
    """One experiment, for a target.

    Attributes
    ----------
    configuration : int
        Number of the configuration.
    params : dict
        Values of the configuration.
    index : int
        Number of the instance.
    instance : object
        The instance.
    seed : int
        Seed of the experiment, in [0, 2**31).
    """

    configuration: int
    params: dict[str, Any]
    index: int
    instance: Any
    seed: int


@dataclass(frozen=True)
class TargetOutcome:
    """The outcome of an experiment.

    Attributes
    ----------
    cost : float
        Lower is better; inf for a failure.
    seconds : float
        Seconds of the experiment; in a batch, an equal share of the batch's time.
    n_evals : int or None
        Evaluations, if the target counts them.
    error : str or None
        The reason of a failure.
    """

    cost: float
    seconds: float
    n_evals: int | None = None
    error: str | None = None

    @classmethod
    def of_error(cls, error: Exception, seconds: float) -> Self:
        """Return the outcome of an experiment that raised: the reason is the error with its notes."""
        lines = [f"{type(error).__name__}: {error}", *getattr(error, "__notes__", ())]
        return cls(math.inf, seconds, error="; ".join(lines))


@dataclass(frozen=True)
class TargetLimits:
    """Limits of one experiment: evaluations if they are given, else seconds.

    Attributes
    ----------
    seconds : float or None
        Time limit in seconds; None: unlimited.
    evals : int or None
        Limit of the evaluations.
    """

    seconds: float | None
    evals: int | None = None

    @property
    def timeout(self) -> float | None:
        """Seconds after which an experiment is ended."""
        return None if self.seconds is None else HANGS_AFTER * self.seconds + GRACE_SECONDS


class Target(ABC):
    """An object with parameters to tune."""

    batched = False  # whether many jobs together are faster than one after the other

    @abstractmethod
    def run(self, jobs: Sequence[TargetJob]) -> Generator[TargetOutcome]:
        """Yield the outcomes in the order of the jobs; `close` ends the jobs that have begun."""

    def batch_size(self, instance: Any, seed: int) -> int:
        """Return the number of jobs on one step that a worker should take together, because they run in parallel."""
        return 1

    def configure(self, params: dict[str, Any]) -> Any:
        """Return the object given to `as_target`, with the values of a configuration."""
        raise AttributeError("only an algorithm of skde and a scikit-learn estimator have a best_estimator_")

    def finish(self) -> None:  # noqa: B027 - most targets have nothing to end
        """End the workers: no more jobs will come."""

    @abstractmethod
    def describe(self) -> str:
        """Return a reproducible text on the target."""

    def check(self, instances: Sequence[Any]) -> None:  # noqa: B027 - most targets take every instance
        """Refuse instances that the target cannot take."""

    @property
    def parameter_names(self) -> set[str] | None:
        """Names of the parameters that the target has; None where it takes any."""
        return None

    def longest(self, instances: Sequence[Any], n_experiments: int) -> float | None:
        """Return the seconds that experiments take at most, where a limit says so."""
        return None

    @property
    def local(self) -> Target:
        """The target that runs experiments in this process, without workers."""
        return self
