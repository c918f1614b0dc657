"""Target, the base class of everything that can be tuned: jobs in, outcomes out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

# An experiment is given up after this many times its time limit, and these seconds for starting and ending.
HANGS_AFTER = 3.0
GRACE_SECONDS = 10.0


@dataclass(frozen=True)
class Job:
    """One experiment, for a target.

    Attributes
    ----------
    configuration : int
        Its number.
    params : dict
        Its values.
    index : int
        The instance's number.
    instance : object
        The instance.
    seed : int
        In [0, 2**31).
    """

    configuration: int
    params: dict[str, Any]
    index: int
    instance: Any
    seed: int


@dataclass(frozen=True)
class Outcome:
    """The outcome of an experiment.

    Attributes
    ----------
    cost : float
        Lower is better; inf for a failure.
    seconds : float
        Its time; in a batch, an equal share of the batch's time.
    n_evals : int or None
        Evaluations, where the target counts them.
    error : str or None
        Why it failed.
    """

    cost: float
    seconds: float
    n_evals: int | None = None
    error: str | None = None


@dataclass(frozen=True)
class Limits:
    """Limits of one experiment: evaluations if they are given, else seconds."""

    seconds: float | None
    evals: int | None = None

    @property
    def timeout(self) -> float | None:
        """Seconds after which an experiment is given up."""
        return None if self.seconds is None else HANGS_AFTER * self.seconds + GRACE_SECONDS


class Target(ABC):
    """Something that can be configured."""

    batched = False  # whether many jobs at a time are done faster than one after the other

    @abstractmethod
    def run(self, jobs: Sequence[Job]) -> Generator[Outcome]:
        """Return the jobs' outcomes, in their order, as they come; `close` ends what has begun of them."""

    def batch_size(self, instance: Any, seed: int) -> int:
        """Return how many jobs on one step a worker should take together: those that run side by side."""
        return 1

    def configured(self, params: dict[str, Any]) -> Any:
        """Return the object given to `as_target`, with the values of a configuration."""
        raise AttributeError("only an algorithm of skde and a scikit-learn estimator have a best_estimator_")

    def finish(self) -> None:  # noqa: B027 - most targets have nothing to end
        """End the workers: no more jobs will come."""

    @abstractmethod
    def describe(self) -> str:
        """Return a reproducible text on the target."""

    def check(self, instances: Sequence[Any]) -> None:  # noqa: B027 - most targets take every instance
        """Refuse instances that the target cannot take."""
