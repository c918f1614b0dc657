"""What every algorithm's parameter object is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from sklearn.base import BaseEstimator

from skde.validation import check_choice

# Position is the number in bounds.cuh.
REPAIRS = ("reflect", "midpoint", "clip", "random", "periodic")


class Algorithm(BaseEstimator, ABC):
    """The parameters of one algorithm: stored as given, checked when a fit begins.

    A subclass names its kernel and turns its parameters into the kernel's.

    Attributes
    ----------
    kernel : str
        The name in skde/kernels/algorithms.cuh; also the registry's.
    constants : tuple of str
        Kernel parameters, whole numbers, that the GPU's kernels are compiled for where all runs agree on them.
    """

    kernel: ClassVar[str]
    constants: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def kernel_parameters(self) -> dict[str, float]:
        """Check the parameters and return the kernel's, by the names that its header lists.

        Raises
        ------
        ValueError, TypeError
            For a parameter out of range, with its name, its value and what is allowed.
        """

    @property
    def ranked(self) -> bool:
        """Whether the population must be ranked in every generation."""
        return False

    def _name(self, parameter: str) -> str:
        return f"{type(self).__name__}.{parameter}"

    def _choice(self, parameter: str, choices: tuple[str, ...]) -> float:
        return float(choices.index(check_choice(self._name(parameter), getattr(self, parameter), choices)))


def describe(algorithm: Algorithm) -> dict[str, Any]:
    """Return the algorithm as data: its registry name and parameters."""
    return {"name": algorithm.kernel, "parameters": algorithm.get_params(deep=False)}
