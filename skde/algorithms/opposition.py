"""Base class of the algorithms with generalised opposition."""

from __future__ import annotations

from abc import abstractmethod

from skde.algorithms.base import Algorithm, FitSetting, StateSizes
from skde.algorithms.saved_state import SavedRuns
from skde.utils.validation import check_real


class OppositionAlgorithm(Algorithm):
    """An algorithm with the parameter `opposition`, the probability that a generation consists of opposites."""

    opposition: float

    @property
    def _opposition(self) -> float:
        return check_real(self._name("opposition"), self.opposition, 0, 1)

    def kernel_parameters(self, setting: FitSetting) -> dict[str, float]:
        """Check the parameters and return the kernel's."""
        return {"opposition": self._opposition}

    def needs(self, setting: FitSetting, parameters: dict[str, float]) -> StateSizes:
        """Return the sizes of a run's state. Opposition adds a stage and the population's range."""
        own = self.needs_without_opposition(parameters)
        if not self._opposition:
            return own
        memory = own.memory + 2 * setting.dim
        return own._replace(stages=max(own.stages, 1) + 1, memory=memory, opposition=True)

    def check_saved(self, runs: SavedRuns) -> None:
        """Check the population's range, from which opposites are computed; it is 0 before it is first measured."""
        if runs.parameters["opposition"]:
            ends = runs.memory[..., -2 * runs.dim :].reshape(2, -1, 2, runs.dim)
            inside = (ends >= runs.lower) & (ends <= runs.upper)
            runs.check("memory", "the population's range must be inside the bounds", inside | (ends == 0))

    @abstractmethod
    def needs_without_opposition(self, parameters: dict[str, float]) -> StateSizes:
        """Return the sizes of a run's state without opposition."""
