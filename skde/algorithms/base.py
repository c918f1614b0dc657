"""What every algorithm's parameter object is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from sklearn.base import BaseEstimator

from skde.engines.batch import Needs
from skde.validation import check_choice, check_int

# Position is the number in bounds.cuh.
REPAIRS = ("reflect", "midpoint", "clip", "random", "periodic")


# Individuals have 24 bits of a draw's address.
MOST_INDIVIDUALS = 2**24 - 1


@dataclass(frozen=True)
class Setting:
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


class Algorithm(BaseEstimator, ABC):
    """The parameters of one algorithm: stored as given, checked when a fit begins.

    A subclass names its kernel and turns its parameters into the kernel's.

    Attributes
    ----------
    kernel : str
        The name in skde/kernels/algorithms.cuh; also the registry's.
    constants : tuple of str
        Kernel parameters, whole numbers, that the GPU's kernels are compiled for where all runs agree on them.
    shrinks : bool
        Whether the population shrinks as the budget is spent: a fit then depends on its limits.
    """

    kernel: ClassVar[str]
    pop_size: int | None
    constants: ClassVar[tuple[str, ...]] = ("repair",)
    shrinks: ClassVar[bool] = False

    @abstractmethod
    def kernel_parameters(self, setting: Setting) -> dict[str, float]:
        """Check the parameters and return the kernel's, by the names that its header lists.

        Parameters
        ----------
        setting : Setting
            What defaults may depend on.

        Raises
        ------
        ValueError, TypeError
            For a parameter out of range, with its name, its value and what is allowed.
        """

    def needs(self, parameters: dict[str, float]) -> Needs:
        """Return what a run needs beside populations and values.

        Parameters
        ----------
        parameters : dict
            What `kernel_parameters` returned.
        """
        return Needs()

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


def describe(algorithm: Algorithm) -> dict[str, Any]:
    """Return the algorithm as data: its registry name and parameters."""
    return {"name": algorithm.kernel, "parameters": algorithm.get_params(deep=False)}
