"""Base class of the algorithms' parameter objects."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator

from skde.algorithms.saved_state import SavedRuns
from skde.algorithms.tuning_space import TuningSpace
from skde.constants import CONSTANTS, choices
from skde.utils.validation import check_choice, check_int, check_real, quote, unwrap_scalar

REPAIRS = choices("Repair")
MOST_INDIVIDUALS = 2 ** CONSTANTS["INDIVIDUAL_BITS"] - 1  # the address of a random draw has INDIVIDUAL_BITS for it


class FitSetting(NamedTuple):
    """Properties of a fit that an algorithm's defaults and checks may depend on.

    Attributes
    ----------
    dim : int
        Number of variables.
    max_evals, max_iter : int or None
        Budget of one run in evaluations and in iterations; None where it is not limited.
    """

    dim: int
    max_evals: int | None = None
    max_iter: int | None = None


class StateSizes(NamedTuple):
    """Sizes of a run's state, apart from its populations and values.

    Attributes
    ----------
    ranked : bool
        Whether the individuals of every generation are ranked by their values.
    stages : int
        Number of stages of the work between two generations; all threads wait for each other after every stage.
    sorts : bool
        Whether values are sorted between two generations, which takes stages in a large population, though the
        individuals are not ranked.
    memory : int
        Number of scalars in a run's memory.
    archive : int
        Number of vectors in a run's archive.
    references : int
        Size of a reference set, which survives an iteration. Its rows follow the trials'.
    opposition : bool
        Whether the state has the opposites of the individuals.
    """

    ranked: bool = False
    stages: int = 0
    sorts: bool = False
    memory: int = 0
    archive: int = 0
    references: int = 0
    opposition: bool = False

    @property
    def ordered(self) -> bool:
        """Whether the state has the order of the individuals."""
        return self.ranked or self.stages > 1

    def __or__(self, other: StateSizes) -> StateSizes:
        """Return the sizes of a state that has room for both."""
        return StateSizes(
            self.ranked or other.ranked,
            max(self.stages, other.stages),
            self.sorts or other.sorts,
            max(self.memory, other.memory),
            max(self.archive, other.archive),
            max(self.references, other.references),
            self.opposition or other.opposition,
        )


class Algorithm(BaseEstimator, ABC):
    """Base class of all algorithms: a scikit-learn-style object that holds an algorithm's parameters.

    Parameters are stored as they are given, and checked when a fit begins. A subclass is a dataclass with the
    parameters as fields; it has a name and translates the parameters into its kernel's.

    Attributes
    ----------
    name : str
        Name in the registry.
    kernel_name : str
        Name of the kernel in skde/kernels/algorithms/all.cuh; empty: the algorithm's name.
    constants : tuple of str
        Integer kernel parameters that become compile-time constants on the GPU if all runs have the same value.
    shrinks : bool
        Whether the population shrinks as the budget is spent. The result of a fit then depends on its limits.
    tuning_space : mapping of str to Range or tuple
        The parameters that a tuning configures, with their ranges or choices; empty: a tuning needs a space of the
        user's.
    small_parameters : mapping of str to object
        Parameters that leave room for a population of 6 individuals.
    vectors_per_trial : int
        Vectors of dim components that a generation reads and writes for a trial, by the equations; those that all
        trials share do not count. DE reads the target and three donors, and writes the survivor.
    most_trials : int
        Largest number of trials of a generation.
    """

    name: ClassVar[str]
    kernel_name: ClassVar[str] = ""
    pop_size: int | None
    constants: ClassVar[tuple[str, ...]] = ("repair",)
    shrinks: ClassVar[bool] = False
    tuning_space: ClassVar[TuningSpace] = MappingProxyType({})
    small_parameters: ClassVar[Mapping[str, Any]] = MappingProxyType({})
    vectors_per_trial: ClassVar[int] = 5
    most_trials: ClassVar[int] = MOST_INDIVIDUALS

    @classmethod
    def with_trials(cls, trials: int, **parameters: Any) -> Self:
        """Return an instance that makes about this number of trials in every generation.

        Parameters
        ----------
        trials : int
            The number.
        **parameters
            Other parameters.

        Returns
        -------
        algorithm : Algorithm
        """
        constant = {"pop_min": trials} if cls.shrinks else {}
        return cls(**{"pop_size": trials, **constant, **parameters})

    @property
    def kernel(self) -> str:
        """Name of the kernel."""
        return self.kernel_name or self.name

    @property
    def iteration_length(self) -> int:
        """Number of generations in an iteration; stopping rules compare values at the end of an iteration."""
        return 1

    @abstractmethod
    def kernel_parameters(self, setting: FitSetting) -> dict[str, float]:
        """Check the parameters and return the kernel's.

        Parameters
        ----------
        setting : FitSetting
            Properties of the fit.

        Returns
        -------
        parameters : dict of str to float
            Values by the names in the kernel's header.

        Raises
        ------
        ValueError, TypeError
            For a parameter out of range. The message has its name, its value and the allowed range.
        """

    @classmethod
    def get_test_params(cls) -> dict[str, Any]:
        """Return parameters for the contract tests: at most 60 individuals, and every rule of the algorithm in use."""
        return {"pop_size": 30}

    def needs(self, setting: FitSetting, parameters: dict[str, float]) -> StateSizes:
        """Return the sizes of a run's state.

        Parameters
        ----------
        setting : FitSetting
            Properties of the fit.
        parameters : dict of str to float
            The result of `kernel_parameters` for this setting.

        Returns
        -------
        sizes : StateSizes
        """
        return StateSizes()

    def check_saved(self, runs: SavedRuns) -> None:
        """Check the counters and indices that a kernel reads from saved runs.

        Parameters
        ----------
        runs : SavedRuns
            Runs with the same parameters, each past its initial population.

        Raises
        ------
        ValueError
            For a number that the kernel cannot have written. The message has the entry's name.
        """

    def _population(self, least: int, why: str, default: int | None = None) -> int:
        """Return pop_size, or the default where it is None, after checking it."""
        given = default if self.pop_size is None else self.pop_size
        pop_size = check_int(self._name("pop_size"), given, 1, MOST_INDIVIDUALS)
        if pop_size < least:
            raise ValueError(f"{self._name('pop_size')} must be at least {least} {why}, got {pop_size}")
        return pop_size

    def _name(self, parameter: str) -> str:
        return f"{type(self).__name__}.{parameter}"

    def _range(self, parameter: str, value: Any, low: float, high: float) -> tuple[float, float]:
        """Return a parameter's range (low, high) from a number or from a pair of numbers."""
        name = self._name(parameter)
        value = unwrap_scalar(value)
        if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes):
            if len(value) != 2:
                raise ValueError(f"{name} must be a number or a pair (low, high), got {quote(value)}")
            first = check_real(f"{name}[0]", value[0], low, high)
            second = check_real(f"{name}[1]", value[1], low, high)
            if first > second:
                raise ValueError(f"{name} must have low <= high, got {quote(value)}")
            return first, second
        number = check_real(name, value, low, high)
        return number, number

    def _choice(self, parameter: str, numbers: dict[str, int]) -> float:
        """Return the kernels' number of a choice that the user makes by name."""
        return float(numbers[check_choice(self._name(parameter), getattr(self, parameter), numbers)])


def population_reduction(
    algorithm: Any, setting: FitSetting, pop_size: int, pop_min: int | None = None
) -> dict[str, float]:
    """Return the kernel parameters for the size of a population that may shrink (see `PopulationSchedule`).

    Parameters
    ----------
    algorithm : Algorithm
        With `shrinks`, its population shrinks to `pop_min` as the budget is spent.
    setting : FitSetting
        Properties of the fit.
    pop_size : int
        Size of the initial population.
    pop_min : int or None, default None
        Size at the end; None: the algorithm's.

    Returns
    -------
    parameters : dict of str to int
        pop_min, max_evals and max_iter. At most one of the limits is not 0.

    Raises
    ------
    ValueError
        For a pop_min that is not in [4, pop_size], and for a fit without max_evals and max_iter.
    """
    if not algorithm.shrinks:
        return {"pop_min": pop_size, "max_evals": 0, "max_iter": 0}
    kind = type(algorithm).__name__
    pop_min = check_int(f"{kind}.pop_min", algorithm.pop_min if pop_min is None else pop_min, 4)
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
    """Return an algorithm as a dictionary of its registry name and its parameters."""
    return {"name": algorithm.name, "parameters": algorithm.get_params(deep=False)}
