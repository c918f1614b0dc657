"""L-SRTDE, adaptive differential evolution that follows its success rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from skde.algorithms.base import REPAIRS, Algorithm, FitSetting, StateSizes, population_reduction
from skde.algorithms.saved_state import SavedRuns
from skde.algorithms.tuning_space import SHRINKING_POPULATION, Range, TuningSpace
from skde.constants import ENUMERATIONS
from skde.utils.validation import check_int, check_real

NUMBERS = ENUMERATIONS["Lsrtde::Numbers"]  # of the last generation, which follow the memory's entries


@dataclass(repr=False, eq=False)
class LSRTDE(Algorithm):
    r"""Success rate-based adaptive differential evolution.

    There are two populations of one size: the top :math:`t` has the best points found, in order of their values; in the
    front :math:`n`, successful trials replace the members in turn. With the success rate s of the last generation (0.5
    at the start) and a uniform c,

    .. math::
        v = n_c + F (t_{pbest} - n_c) + F (n_{r1} - t_{r2}),

    where F is drawn from :math:`N(0.4 + 0.25 \tanh(5 s), 0.02)` until it is in [0, 1], pbest is one of the
    :math:`\max(2, 0.7 N e^{-7 s})` best, and r1 is drawn by its rank k with weight :math:`e^{-3 k / N}`. Crossover is
    binomial with :math:`CR \sim N(M_{CR}, 0.05)`, cut to [0, 1]. A trial succeeds when it is not worse than the member
    at the place of :math:`n_c`, which an earlier trial may have replaced. The next entry of the memory in turn moves
    half-way to the Lehmer mean of the shares of components that successful trials took from their mutants, weighted by
    the improvements. Both populations shrink linearly with the budget and lose their worst members.

    Parameters
    ----------
    memory_size : int, default 5
        Number of entries of the memory, in [1, 10000].
    CR_start : float, default 1.0
        First value of all entries, in [0, 1].
    pop_size : int or None, default None
        Size of both populations at the start, >= 4; None: 20 for every variable.
    pop_min : int, default 4
        Size of both populations at the end, at most `pop_size`, >= 4.
    repair : {"random", "midpoint", "reflect", "clip", "periodic"}, default "random"
        As in `DE`.

    Notes
    -----
    Source: V. Stanovov, E. Semenkin, Success rate-based adaptive differential evolution L-SRTDE for CEC 2024
    competition, CEC 2024. The budget is planned as in `LSHADE`. The population of the result is the top. Differences:
    trials are made from the front of the last generation, where the authors' program makes them one by one and already
    uses the successes of this one (here, too, they compete one by one); among equal values trials come first, where the
    order in the program depends on its sorting; sizes are rounded as in `LSHADE`; when the front shrinks below the next
    place to be replaced, that place is the first. When both populations shrink by m, the program leaves the last m
    members and successful trials of the generation out of the new top, however good they are; here all of them compete
    for it.

    Examples
    --------
    >>> from skde import LSRTDE, Minimizer
    >>> m = Minimizer(LSRTDE(), max_evals=20_000, random_state=0).fit("rastrigin", dim=5)
    >>> bool(m.fun_ < 1e-6)
    True
    """

    name: ClassVar[str] = "lsrtde"
    shrinks: ClassVar[bool] = True
    tuning_space: ClassVar[TuningSpace] = {
        "memory_size": Range(2, 20, log=True),
        "CR_start": Range(0.5, 1.0),
        "pop_size": SHRINKING_POPULATION,
    }
    individuals_per_variable: ClassVar[int] = 20

    memory_size: int = 5
    CR_start: float = 1.0
    pop_size: int | None = None
    pop_min: int = 4
    repair: str = "random"

    def kernel_parameters(self, setting: FitSetting) -> dict[str, float]:
        """Check the parameters and return the kernel's."""
        pop_size = self._population(4, "for its mutation", self.individuals_per_variable * setting.dim)
        return {
            "pop_size": pop_size,
            "repair": self._choice("repair", REPAIRS),
            "H": check_int(self._name("memory_size"), self.memory_size, 1, 10_000),
            "CR_start": check_real(self._name("CR_start"), self.CR_start, 0, 1),
            **population_reduction(self, setting, pop_size),
        }

    def needs(self, setting: FitSetting, parameters: dict[str, float]) -> StateSizes:
        """Return the sizes of a run's state: the memory's entries and some more numbers."""
        return StateSizes(stages=3, sorts=True, memory=int(parameters["H"]) + len(NUMBERS))

    def check_saved(self, runs: SavedRuns) -> None:
        """Check the orders of both populations, and the numbers stored from the last generation."""
        runs.check_order("extra", "the top's order", runs.extra["top"], runs.size)
        runs.check_order("order", "the front's order", runs.order, runs.next_size)
        H = int(runs.parameters["H"])
        numbers = {name: runs.memory[..., H + k] for name, k in NUMBERS.items()}
        last = np.where(runs.generation % 2 == [[0], [1]], runs.next_size, runs.size)
        runs.check_range("memory", "entries to be written next", numbers["NEXT_ENTRY"], 0, H - 1, whole=True)
        for name, rates in {"success rates": "SUCCESS_RATE", "means of F": "MEAN_F", "decays": "DECAY"}.items():
            runs.check_range("memory", name, numbers[rates], 0, 1)
        runs.check_range("memory", "slots that are next", numbers["NEXT_SLOT"], 0, last - 1, whole=True)
        runs.check_range(
            "memory", "numbers of successes", numbers["SUCCESSES"], 0, runs.parameters["pop_size"], whole=True
        )
        runs.check_range("memory", "entries of CR", runs.memory[..., :H], 0, 2)
