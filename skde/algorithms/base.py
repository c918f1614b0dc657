"""What every algorithm's parameter object is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from sklearn.base import BaseEstimator

from skde.algorithms.saved_state import SavedRuns
from skde.validation import check_choice, check_int

# Position is the number in bounds.cuh.
REPAIRS = ("reflect", "midpoint", "clip", "random", "periodic")


# Individuals have 24 bits of a draw's address.
MOST_INDIVIDUALS = 2**24 - 1


@dataclass(frozen=True)
class FitSetting:
    """What an algorithm may know of the fit that its parameters are for.

    Attributes
    ----------
    dim : int
        Variables.
    max_evals, max_iter : int or None
        The budget of one run, as far as it is known.
    """

    dim: int
    max_evals: int | None = None
    max_iter: int | None = None


@dataclass(frozen=True)
class StateSizes:
    """What an algorithm needs beside populations and values.

    Attributes
    ----------
    ranked : bool
        Whether every generation is ranked.
    stages : int
        Parts, with a barrier after each, of what is done between two generations.
    memory : int
        Numbers that a run keeps.
    archive : int
        Vectors that a run keeps.
    kept : int
        Rows of a population, behind those of the trials, for individuals that a run keeps beside them.
    """

    ranked: bool = False
    stages: int = 0
    memory: int = 0
    archive: int = 0
    kept: int = 0

    @property
    def ordered(self) -> bool:
        """Whether an order of the individuals is kept."""
        return self.ranked or self.stages > 1

    def __or__(self, other: StateSizes) -> StateSizes:
        """Return what serves both."""
        return StateSizes(
            self.ranked or other.ranked,
            max(self.stages, other.stages),
            max(self.memory, other.memory),
            max(self.archive, other.archive),
            max(self.kept, other.kept),
        )


class Algorithm(BaseEstimator, ABC):
    """The parameters of one algorithm: stored as given, checked when a fit begins.

    A subclass has a name and turns its parameters into the kernel's.

    Attributes
    ----------
    name : str
        The registry's.
    kernel : str
        The name in skde/kernels/algorithms/all.cuh, the same where a subclass says nothing else.
    constants : tuple of str
        Kernel parameters, whole numbers, that the GPU's kernels are compiled for where all runs agree on them.
    shrinks : bool
        Whether the population shrinks as the budget is spent: a fit then depends on its limits.
    """

    name: ClassVar[str]
    pop_size: int | None
    constants: ClassVar[tuple[str, ...]] = ("repair",)
    shrinks: ClassVar[bool] = False

    @property
    def kernel(self) -> str:
        """The kernel's name."""
        return self.name

    @property
    def iteration_length(self) -> int:
        """How many generations an iteration takes, at whose end the stopping rules look at the values."""
        return 1

    @abstractmethod
    def kernel_parameters(self, setting: FitSetting) -> dict[str, float]:
        """Check the parameters and return the kernel's, by the names that its header lists.

        Parameters
        ----------
        setting : FitSetting
            What defaults may depend on.

        Raises
        ------
        ValueError, TypeError
            For a parameter out of range, with its name, its value and what is allowed.
        """

    @classmethod
    def get_test_params(cls) -> dict[str, Any]:
        """Return parameters of a small instance, for the contract suite: at most 60 individuals, all rules at work."""
        return {"pop_size": 30}

    def needs(self, setting: FitSetting, parameters: dict[str, float]) -> StateSizes:
        """Return what a run needs beside populations and values.

        Parameters
        ----------
        setting : FitSetting
            What the parameters were checked for.
        parameters : dict
            What `kernel_parameters` returned.
        """
        return StateSizes()

    def check_saved(self, runs: SavedRuns) -> None:
        """Check what the kernel counts and indexes with in saved runs, which all have begun.

        Parameters
        ----------
        runs : SavedRuns
            Runs with the same parameters.

        Raises
        ------
        ValueError
            With the entry's name.
        """

    def _population(self, least: int, why: str, default: int | None = None) -> int:
        """Check pop_size."""
        given = default if self.pop_size is None else self.pop_size
        pop_size = check_int(self._name("pop_size"), given, 1, MOST_INDIVIDUALS)
        if pop_size < least:
            raise ValueError(f"{self._name('pop_size')} must be at least {least} {why}, got {pop_size}")
        return pop_size

    def _name(self, parameter: str) -> str:
        return f"{type(self).__name__}.{parameter}"

    def _choice(self, parameter: str, choices: tuple[str, ...]) -> float:
        return float(choices.index(check_choice(self._name(parameter), getattr(self, parameter), choices)))


def population_reduction(algorithm: Any, setting: FitSetting, pop_size: int) -> dict[str, float]:
    """Return how a population shrinks (see PopulationSchedule): to pop_min as the budget is spent, or not at all.

    Raises
    ------
    ValueError
        For a pop_min that is not between 4 and pop_size, or where the budget is not known.
    """
    if not algorithm.shrinks:
        return {"pop_min": pop_size, "max_evals": 0, "max_iter": 0}
    kind = type(algorithm).__name__
    pop_min = check_int(f"{kind}.pop_min", algorithm.pop_min, 4)
    if pop_min > pop_size:
        raise ValueError(f"{kind}.pop_min must be at most pop_size={pop_size}, got {pop_min}")
    if setting.max_evals is None and setting.max_iter is None:
        raise ValueError(
            f"{kind} shrinks its population as the budget is spent, so it needs max_evals or max_iter; max_time alone "
            "does not tell"
        )
    max_iter = 0 if setting.max_evals is not None else max(setting.max_iter or 0, 1)
    return {"pop_min": pop_min, "max_evals": setting.max_evals or 0, "max_iter": max_iter}


def describe(algorithm: Algorithm) -> dict[str, Any]:
    """Return the algorithm as data: its registry name and parameters."""
    return {"name": algorithm.name, "parameters": algorithm.get_params(deep=False)}
