"""CHC, a genetic algorithm with incest prevention and restarts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from skde.algorithms.base import Algorithm, FitSetting, StateSizes
from skde.algorithms.saved_state import SavedRuns
from skde.algorithms.tuning_space import POPULATION, Range, TuningSpace
from skde.constants import ENUMERATIONS
from skde.utils.validation import check_int, check_real

MEMORY = ENUMERATIONS["Chc::Memory"]
MOST_BITS = 30


@dataclass(repr=False, eq=False)
class CHC(Algorithm):
    r"""Cross-generational elitist selection, heterogeneous recombination and cataclysmic mutation.

    Every child has two random parents. They may mate if the Gray codes of their components, of `bits` bits each, differ
    in more than 2 d bits. Component j of the child of x and y is drawn by BLX-alpha,

    .. math::
        u_j \sim U[\min(x_j, y_j) - \alpha I_j, \max(x_j, y_j) + \alpha I_j], \qquad I_j = |x_j - y_j|,

    from the part of the interval that is inside the box. The best of parents and children survive. The threshold d
    begins with a quarter of all bits, and falls by one after a generation in which no child of parents that may mate
    survives. When it is below 0, it is set to its first value, and the next generation consists of the best individual
    and of copies of it, in which every component is drawn from the box again with probability `divergence`.

    Parameters
    ----------
    alpha : float, default 0.5
        Share of the interval by which it is made longer at either end, in [0, 10].
    bits : int, default 30
        Number of bits of a component's Gray code, in [1, 30].
    divergence : float, default 0.35
        Probability, in [0, 1], that a cataclysm changes a component.
    pop_size : int, default 50
        Number of individuals, >= 2, and of children of a generation.

    Notes
    -----
    Source: L. J. Eshelman, The CHC adaptive search algorithm, Foundations of Genetic Algorithms 1 (1991); L. J.
    Eshelman, J. D. Schaffer, Real-coded genetic algorithms and interval-schemata, Foundations of Genetic Algorithms 2
    (1993). Differences: CHC pairs all individuals at random, and pairs that may not mate have no children, so that a
    generation has fewer evaluations; here every generation has `pop_size` children. Each draws its parents until they
    may mate, at most four times, and then takes the last pair all the same; such a child may survive, but the threshold
    falls as if it had not. A pair has one child, not two. Of equals, children survive before parents. CHC flips 35 % of
    the bits of the best; here components are drawn. This was written without the texts of the papers and without the
    report on the real-coded CHC of the special issue of Soft Computing on large scale optimization (F. Herrera, M.
    Lozano, D. Molina, Components and parameters of DE, real-coded CHC, and G-CMAES, 2010): its coding and its restart
    may differ.

    Examples
    --------
    >>> from skde import CHC, Minimizer
    >>> m = Minimizer(CHC(), max_iter=300, random_state=0).fit("sphere", dim=5)
    >>> bool(m.fun_ < 1e-6)
    True
    """

    name: ClassVar[str] = "chc"
    tuning_space: ClassVar[TuningSpace] = {
        "alpha": Range(0.1, 1.0),
        "bits": Range(5, 30),
        "divergence": Range(0.05, 1.0),
        "pop_size": POPULATION,
    }
    constants: ClassVar[tuple[str, ...]] = ()

    alpha: float = 0.5
    bits: int = 30
    divergence: float = 0.35
    pop_size: int = 50

    @classmethod
    def get_test_params(cls) -> dict[str, Any]:
        """Return parameters for the contract tests: few bits, so that cataclysms are not rare."""
        return {"pop_size": 30, "bits": 24}

    def kernel_parameters(self, setting: FitSetting) -> dict[str, float]:
        """Check the parameters and return the kernel's."""
        return {
            "pop_size": self._population(2, "for pairs"),
            "alpha": check_real(self._name("alpha"), self.alpha, 0, 10),
            "bits": check_int(self._name("bits"), self.bits, 1, MOST_BITS),
            "divergence": check_real(self._name("divergence"), self.divergence, 0, 1),
        }

    def needs(self, setting: FitSetting, parameters: dict[str, float]) -> StateSizes:
        """Return the sizes of a run's state: ranks, and the threshold."""
        return StateSizes(ranked=True, stages=3, memory=MEMORY["NUMBERS"])

    def check_saved(self, runs: SavedRuns) -> None:
        """Check the threshold, the mark of a cataclysm, and the marks of children."""
        most = runs.dim * int(runs.parameters["bits"]) // 4
        runs.check_range("memory", "thresholds", runs.memory[..., MEMORY["THRESHOLD"]], 0, most, whole=True)
        runs.check_range("memory", "cataclysms", runs.memory[..., MEMORY["CATACLYSM"]], 0, 1, whole=True)
        runs.check_range("extra", "allowed", runs.extra["allowed"], 0, 1, whole=True)
