"""CMA-ES, the evolution strategy with covariance matrix adaptation."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log, log2
from typing import Any, ClassVar

from skde.algorithms.base import MOST_INDIVIDUALS, REPAIRS, Algorithm, FitSetting, StateSizes
from skde.algorithms.saved_state import SavedRuns
from skde.constants import ENUMERATIONS, choices
from skde.validation import check_bool, check_choice, check_int, check_real, refuse

NUMBERS, ROWS = ENUMERATIONS["Cmaes::Numbers"], ENUMERATIONS["Cmaes::Rows"]
RESTARTS = choices("Restarts")
COVARIANCES = ("auto", "full", "diagonal")
MOST_FULL = 256  # variables that "auto" gives a full matrix
MOST_DOUBLINGS, MOST_TRIALS = 9, 2**14  # of a population by default


@dataclass(repr=False, eq=False)
class CMAES(Algorithm):
    name: ClassVar[str] = "cmaes"

    pop_size: int | None = None
    sigma0: float = 0.3
    covariance: str = "auto"
    restarts: str | None = "bipop"
    active: bool = True
    max_doublings: int | None = None
    tol_x: float = 1e-12
    tol_fun: float = 1e-11
    repair: str = "reflect"
    penalty: float = 2.0

    def kernel_parameters(self, setting: FitSetting) -> dict[str, float]:
        """Check the parameters and return those of the kernel."""
        pop_size = self._population(4, "for two parents", 4 + int(3 * log(setting.dim)))
        covariance = check_choice(self._name("covariance"), self.covariance, COVARIANCES)
        restarts = "none" if self.restarts is None else self.restarts
        return {
            "pop_size": pop_size,
            "repair": self._choice("repair", REPAIRS),
            "sigma0": check_real(self._name("sigma0"), self.sigma0, 0, 10, low_open=True),
            "diagonal": covariance == "diagonal" or (covariance == "auto" and setting.dim > MOST_FULL),
            "active": check_bool(self._name("active"), self.active),
            "restarts": RESTARTS[restarts],
            "most_parts": 2 ** self._doublings(pop_size),
            "tol_x": check_real(self._name("tol_x"), self.tol_x, 0),
            "penalty": check_real(self._name("penalty"), self.penalty, 0),
            "tol_fun": check_real(self._name("tol_fun"), self.tol_fun, 0),
        }

    def _doublings(self, pop_size: int) -> int:
        if self.restarts is None:
            return 0
        if self.max_doublings is not None:
            return check_int(self._name("max_doublings"), self.max_doublings, 0, 20)
        return min(MOST_DOUBLINGS, max(int(log2(MOST_TRIALS / pop_size)), 0))

    def needs(self, setting: FitSetting, parameters: dict[str, float]) -> StateSizes:
        """Return the sizes of a run's state: matrices, vectors, and the values of the largest population."""
        dim, pop_size = setting.dim, int(parameters["pop_size"])
        trials = pop_size * int(parameters["most_parts"])
        window = 10 + ceil(30 * dim / pop_size)
        matrices = 2 if parameters["diagonal"] else 4 * dim
        return StateSizes(
            stages=1,
            memory=NUMBERS["NUMBERS"] + trials + max(trials, window),
            archive=ROWS["MATRICES"] + matrices,
        )
