"""Budgets, and the interface of optimisers in quality experiments."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from math import inf
from typing import ClassVar

from skde.benchmark.functions import Function
from skde.result import History


@dataclass(frozen=True)
class Budget:
    """The budget of a run.

    Attributes
    ----------
    text : str
        The budget as given. Budgets are equal where the others are: 2000 and 2e3.
    evaluations : int or None
        Evaluations of one run; a factor if `per_dim`.
    per_dim : bool
        Whether `evaluations` is multiplied by the dimension.
    seconds : float or None
        Time of all runs of a cell together, instead of evaluations.
    """

    text: str = field(compare=False)
    evaluations: int | None
    per_dim: bool = False
    seconds: float | None = None

    @classmethod
    def read(cls, text: str) -> Budget:
        """Read 300000, 10000*dim or 2.5s.

        Raises
        ------
        ValueError
            For anything else.
        """
        match = re.fullmatch(r"(\d+(?:\.\d*)?(?:[eE]\+?\d{1,2})?)\s*(\*\s*dim|s)?", text.strip())
        amount = float(match[1]) if match else 0.0
        unit = (match and match[2]) or ""
        if unit == "s" and amount > 0:
            return cls(text, None, seconds=amount)
        if unit == "s" or amount < 1 or not amount.is_integer():
            raise ValueError(
                "budget must be evaluations of a run, such as 300000 or 10000*dim, or seconds, such as 2.5s; "
                f"got {text!r}"
            )
        return cls(text, int(amount), bool(unit))

    def evals(self, dim: int) -> int | None:
        """Return the evaluations of a run, or None for a budget in seconds."""
        return self.evaluations if self.evaluations is None or not self.per_dim else self.evaluations * dim


def comparable(budget: str) -> Budget | str:
    """Return the budget of a record in a form that is equal for equal ones; papers have names for theirs."""
    try:
        return Budget.read(budget)
    except ValueError:
        return budget


@dataclass(frozen=True)
class RunsOutcome:
    """The results of runs that were done at once.

    Attributes
    ----------
    best : list of float
        The best values; infinite where a run failed.
    n_evals : list of int
        Evaluations.
    histories : list of History or None
        The best value of each run over time; None where a run failed.
    failures : dict of int to str
        The errors of the runs that failed.
    """

    best: list[float]
    n_evals: list[int]
    histories: list[History | None] = field(default_factory=list)
    failures: dict[int, str] = field(default_factory=dict)

    @classmethod
    def of_failure(cls, runs: int, error: BaseException) -> RunsOutcome:
        """Return the outcome of runs that failed together."""
        return cls([inf] * runs, [0] * runs, [None] * runs, dict.fromkeys(range(runs), describe_error(error)))


def describe_error(error: BaseException) -> str:
    """Return the first line of an error, with its type."""
    return f"{type(error).__name__}: {error}".splitlines()[0]


class Optimizer(ABC):
    """The base class of optimisers in experiments.

    Attributes
    ----------
    text : str
        Name and parameters, as in records.
    """

    text: str
    batches: ClassVar[bool] = False  # whether `run` does all runs at once
    takes_constraints: ClassVar[bool] = False

    def seeds(self, seed: int, runs: int) -> list[int]:
        """Return the seed of every run."""
        return [seed + run for run in range(runs)]

    @abstractmethod
    def minimize(self, function: Function, evals: int, seed: int, n_jobs: int | None = None) -> History:
        """Return the history of one run: its last entry has the best value and all evaluations."""

    def run(
        self, function: Function, budget: Budget, runs: int, seed: int, device: str, n_jobs: int | None
    ) -> RunsOutcome:
        """Minimise a function `runs` times at once, where the optimiser `batches`.

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C; an incomplete run gives no result.
        """
        raise NotImplementedError(f"{self.text} has one run after the other")

    def check_budget(self, budget: Budget) -> None:  # noqa: B027 - most optimisers take every budget
        """Refuse a budget that the optimiser cannot have."""
