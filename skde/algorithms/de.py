"""Differential evolution."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import skde._cpu as _cpu
from skde.algorithms.base import REPAIRS, FitSetting, StateSizes
from skde.algorithms.opposition import OppositionAlgorithm
from skde.algorithms.tuning_space import POPULATION, Range, TuningSpace
from skde.constants import choices
from skde.utils.validation import check_real, nearest, quote

# Names and numbers of the kernel's mutations: RAND_TO_BEST_1 is rand-to-best/1.
MUTATIONS = {"/".join(name.rsplit("_", 1)).replace("_", "-"): number for name, number in choices("Mutation").items()}
CROSSOVERS = choices("Crossover")
NEEDS_NO_CROSSOVER = "current-to-rand/1"
# Nashed et al. (2012) tuned three mutations and both crossovers.
TUNED_STRATEGIES = tuple(
    f"{mutation}/{crossover}" for mutation in ("rand/1", "best/1", "current-to-best/1") for crossover in ("bin", "exp")
)


@lru_cache
def strategies() -> tuple[str, ...]:
    """Return the names of all strategies."""
    names = [f"{mutation}/{crossover}" for mutation in MUTATIONS for crossover in CROSSOVERS if crossover != "none"]
    return (*names, NEEDS_NO_CROSSOVER)


class DifferentialEvolution(OppositionAlgorithm):
    """Base class of the algorithms that make trials by a strategy, MUTATION/CROSSOVER."""

    constants: ClassVar[tuple[str, ...]] = ("mutation", "crossover", "repair")

    strategy: str
    pop_size: int
    p_best: float
    repair: str

    def kernel_parameters(self, setting: FitSetting) -> dict[str, float]:
        """Check the parameters and return the kernel's."""
        if not isinstance(self.strategy, str) or self.strategy not in strategies():
            raise ValueError(
                f"{self._name('strategy')} must be MUTATION/CROSSOVER with a mutation of {', '.join(MUTATIONS)} and "
                f"crossover bin or exp, or {NEEDS_NO_CROSSOVER} alone; got {quote(self.strategy)}"
                f"{nearest(self.strategy, strategies())}"
            )
        mutation, crossover = self._split()
        needed = _cpu.indices_of(MUTATIONS[mutation]) + 1  # those that it draws, and the target
        return {
            "pop_size": self._population(needed, f"for the strategy {self.strategy!r}"),
            "mutation": MUTATIONS[mutation],
            "crossover": CROSSOVERS[crossover],
            "repair": self._choice("repair", REPAIRS),
            "p_best": check_real(self._name("p_best"), self.p_best, 0, 1, low_open=True),
            **super().kernel_parameters(setting),
        }

    def needs_without_opposition(self, parameters: dict[str, float]) -> StateSizes:
        """Return the sizes of a run's state without opposition: current-to-pbest/1 needs a ranking."""
        ranked = self._split()[0] == "current-to-pbest/1"
        return StateSizes(ranked=ranked, stages=int(ranked))

    def _split(self) -> tuple[str, str]:
        if self.strategy == NEEDS_NO_CROSSOVER:
            return self.strategy, "none"
        mutation, _, crossover = self.strategy.rpartition("/")
        return mutation, crossover


@dataclass(repr=False, eq=False)
class DE(DifferentialEvolution):
    r"""Differential evolution with fixed or dithered F and fixed CR.

    In every generation, each target :math:`x_i` gets a mutant made from distinct individuals
    :math:`r_1, r_2, \ldots \neq i`:

    ====================  ==========================================================================
    rand/1                :math:`v = x_{r1} + F (x_{r2} - x_{r3})`
    rand/2                :math:`v = x_{r1} + F (x_{r2} - x_{r3}) + F (x_{r4} - x_{r5})`
    best/1                :math:`v = x_{best} + F (x_{r1} - x_{r2})`
    best/2                :math:`v = x_{best} + F (x_{r1} - x_{r2}) + F (x_{r3} - x_{r4})`
    current-to-best/1     :math:`v = x_i + F (x_{best} - x_i) + F (x_{r1} - x_{r2})`
    current-to-rand/1     :math:`v = x_i + K (x_{r1} - x_i) + F (x_{r2} - x_{r3}),\; K \sim U[0, 1)`
    rand-to-best/1        :math:`v = x_{r1} + F (x_{best} - x_{r1}) + F (x_{r2} - x_{r3})`
    current-to-pbest/1    :math:`v = x_i + F (x_{pbest} - x_i) + F (x_{r1} - x_{r2})`
    shifted-rand/1        :math:`v = x_{r3} + F (x_{r2} - x_{r1})`
    ====================  ==========================================================================

    Crossover makes a trial of mutant and target: `bin` takes :math:`v_j` with probability CR, and always at one random
    component; `exp` takes consecutive components, cyclically, from a random one on, and continues with probability CR.
    Components outside the bounds are repaired. The trial replaces the target when it is not worse. The update is
    synchronous.

    shifted-rand/1 comes from `JDE.cujde`: :math:`r_1` is any individual, :math:`r_2` is 1 to NP / 3 places after
    :math:`r_1`, and :math:`r_3` as many after :math:`r_2`, both modulo NP; the next one is taken for the target. The
    component that is always crossed is the last one.

    Parameters
    ----------
    strategy : str, default "rand/1/bin"
        MUTATION/CROSSOVER; current-to-rand/1 alone has no crossover.
    F : float or (float, float), default 0.5
        Scale factor in [0, 2]; a pair (low, high) is dither, a uniform number for every trial.
    CR : float, default 0.9
        Crossover rate in [0, 1].
    pop_size : int, default 100
        Number of individuals; at least one more than the strategy draws (4 for rand/1, 6 for rand/2).
    p_best : float, default 0.1
        Share of the population, in (0, 1], from which current-to-pbest/1 draws pbest; at least one individual.
    repair : {"midpoint", "reflect", "clip", "random", "periodic"}, default "midpoint"
        Repair of a component outside its bounds: half-way between target and bound; mirrored at the bound; set to the
        bound; drawn uniformly between the bounds; continued at the opposite bound.
    opposition : float, default 0.0
        Probability, in [0, 1], that a generation consists of generalised opposites, as in `GODE`.

    Notes
    -----
    Source: R. Storn, K. Price, Differential evolution, J. Global Optimization 11 (1997). Differences: ties are accepted
    (f(u) <= f(x)), so plateaus are crossed; the pbest share rounds down and is at least 1; the best individual may
    also be drawn as r1, r2 and so on.

    Examples
    --------
    >>> from skde import DE, Minimizer
    >>> m = Minimizer(DE(strategy="best/1/exp", F=0.6), max_iter=200, random_state=0).fit("sphere", dim=5)
    >>> bool(m.fun_ < 1e-6)
    True
    """

    name: ClassVar[str] = "de"
    kernel_name: ClassVar[str] = "de"
    # Storn and Price (1997): F in [0, 2], and more than 1 was never reported to help; CR in [0, 1].
    tuning_space: ClassVar[TuningSpace] = {
        "strategy": TUNED_STRATEGIES,
        "F": Range(0.1, 1.0),
        "CR": Range(0.0, 1.0),
        "pop_size": POPULATION,
    }

    strategy: str = "rand/1/bin"
    F: float | tuple[float, float] = 0.5
    CR: float = 0.9
    pop_size: int = 100
    p_best: float = 0.1
    repair: str = "midpoint"
    opposition: float = 0.0

    @classmethod
    def nashed2012(cls, **parameters: Any) -> DE:
        """Return the DE that Nashed et al. (2012) tuned: rand/1/exp, 48 individuals, F = 0.520, CR = 0.879.

        The paper does not say what happens at the bounds. Here components are set to the bound: then f11, with
        minima at the ends of its box, and f7, with its minimiser in a corner, are as easy as in its Table 2.

        Parameters
        ----------
        **parameters
            Parameters of `DE` that replace the tuned ones.

        Returns
        -------
        algorithm : DE
        """
        tuned = {"strategy": "rand/1/exp", "F": 0.52, "CR": 0.879, "pop_size": 48, "repair": "clip"}
        return cls(**{**tuned, **parameters})

    def kernel_parameters(self, setting: FitSetting) -> dict[str, float]:
        """Check the parameters and return the kernel's."""
        F_low, F_high = self._range("F", self.F, 0, 2)
        CR = check_real(self._name("CR"), self.CR, 0, 1)
        return {**super().kernel_parameters(setting), "F_low": F_low, "F_high": F_high, "CR": CR}
