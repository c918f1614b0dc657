"""Base class of JADE, SHADE, L-SHADE and jSO, which are settings of one kernel."""

from __future__ import annotations

from typing import ClassVar

from skde.algorithms.base import REPAIRS, FitSetting, StateSizes, population_reduction
from skde.algorithms.opposition import OppositionAlgorithm
from skde.algorithms.saved_state import SavedRuns
from skde.algorithms.tuning_space import Range, TuningSpace
from skde.constants import CONSTANTS, ENUMERATIONS
from skde.utils.validation import check_int, check_real

MEMORY = ENUMERATIONS["SuccessHistory::Memory"]
TERMINAL = CONSTANTS["TERMINAL"]


def archive_rows(parameters: dict[str, float]) -> int:
    """Return the largest number of parents in the archive of a run with these kernel parameters."""
    return int(parameters["archive_rate"] * parameters["pop_size"])


def check_saved_memory(runs: SavedRuns) -> None:
    """Check the position in the memory, the archive's size, and the entries of the memory."""
    H = int(runs.parameters["H"])
    next_entry, archived = runs.memory[..., MEMORY["NEXT_ENTRY"]], runs.memory[..., MEMORY["ARCHIVED"]]
    runs.check_range("memory", "entries to be written next", next_entry, 0, H - 1, whole=True)
    runs.check_range("memory", "rows in the archive", archived, 0, archive_rows(runs.parameters), whole=True)
    # Entries are means of numbers in [0, 1], which rounding may exceed; TERMINAL marks an entry of CR that stays 0.
    begin = MEMORY["ENTRIES"]
    runs.check_range("memory", "entries of F", runs.memory[0, :, begin : begin + H], 0, 2)
    runs.check_range("memory", "entries of CR", runs.memory[0, :, begin + H : begin + 2 * H], TERMINAL, 2)


class SuccessHistoryDE(OppositionAlgorithm):
    """Differential evolution current-to-pbest/1/bin with an archive and a memory of successful F and CR."""

    # The kernel parameters in which the algorithms differ; names as in success_history.cuh.
    rules: ClassVar[dict[str, float]]
    # Tanabe and Fukunaga (2014) tuned these.
    tuning_space: ClassVar[TuningSpace] = {
        "p_best": Range(0.05, 0.3),
        "memory_size": Range(2, 100, log=True),
        "archive_rate": Range(0.5, 3.0),
    }
    constants: ClassVar[tuple[str, ...]] = ("repair", "p_drawn", "weighted", "lehmer_CR", "staged")

    p_best: float
    archive_rate: float
    F_start: float
    CR_start: float
    repair: str

    def kernel_parameters(self, setting: FitSetting) -> dict[str, float]:
        """Check the parameters and return the kernel's."""
        pop_size = self._population(4, "for current-to-pbest/1", self._default_pop_size(setting.dim))
        p_first, p_last = self._shares()
        return {
            "pop_size": pop_size,
            "repair": self._choice("repair", REPAIRS),
            "p_first": p_first,
            "p_last": p_last,
            "archive_rate": check_real(self._name("archive_rate"), self.archive_rate, 0, 100),
            "H": self._memory_size(),
            "F_start": check_real(self._name("F_start"), self.F_start, 0, 1),
            "CR_start": check_real(self._name("CR_start"), self.CR_start, 0, 1),
            **self.rules,
            **super().kernel_parameters(setting),
            **population_reduction(self, setting, pop_size),
        }

    def needs_without_opposition(self, parameters: dict[str, float]) -> StateSizes:
        """Return the sizes of a run's state without opposition: ranks, F and CR, two counters, an archive."""
        memory = 2 * int(parameters["H"]) + MEMORY["ENTRIES"]
        return StateSizes(ranked=True, stages=1, memory=memory, archive=archive_rows(parameters))

    def check_saved(self, runs: SavedRuns) -> None:
        """Check the position in the memory, the archive's size, and the entries of the memory."""
        super().check_saved(runs)
        check_saved_memory(runs)

    def _default_pop_size(self, dim: int) -> int:
        return 100

    def _memory_size(self) -> int:
        return check_int(self._name("memory_size"), getattr(self, "memory_size", 1), 1, 10_000)

    def _shares(self) -> tuple[float, float]:
        p_best = check_real(self._name("p_best"), self.p_best, 0, 1, low_open=True)
        return p_best, p_best
