"""NL-SHADE-RSP, L-SHADE with an archive that is used as often as it helps, and with two crossovers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from skde.algorithms.base import REPAIRS, Algorithm, FitSetting, StateSizes, population_reduction
from skde.algorithms.saved_state import SavedRuns
from skde.algorithms.success_history import MEMORY, archive_rows, check_saved_memory
from skde.algorithms.tuning_space import SHRINKING_POPULATION, Range, TuningSpace
from skde.utils.validation import check_int, check_real

ENTRIES_PER_VARIABLE = 20  # of the memory
MOST_ENTRIES = 10_000
INDIVIDUALS_PER_VARIABLE = 30


@dataclass(repr=False, eq=False)
class NLSHADERSP(Algorithm):
    r"""L-SHADE with an archive that is used as often as it helps, rank-based selective pressure, and two crossovers.

    The mutation, the archive and the memory are as in `LSHADE`,

    .. math::
        v_i = x_i + F (x_{pbest} - x_i) + F (x_{r1} - \tilde x_{r2}),

    with :math:`F \sim C(M_F, 0.1)` and a p that falls linearly from p_best to p_best_end. With probability
    :math:`p_A` :math:`\tilde x_{r2}` is from the archive, else from the population, where the k-th best has a weight
    proportional to :math:`\exp(-k / N)`. After a generation in which :math:`n_A` trials used the archive and
    :math:`n_P` did not, and in sum improved by :math:`\Delta_A` and :math:`\Delta_P`,

    .. math::
        p_A = \min\left(0.9, \max\left(0.1, \frac{\Delta_A / n_A}{\Delta_A / n_A + \Delta_P / n_P}\right)\right).

    It is 0.5 at the start, and where nothing improved or all trials did alike. A trial has exponential crossover with
    probability exponential_rate, else binomial crossover. The rates of exponential crossover are the N numbers
    :math:`CR \sim N(M_{CR}, 0.1)`; the i-th best individual has the i-th smallest. The rate of binomial
    crossover is 0, so that one component changes, while at most half of the budget is spent, and then
    :math:`2 t - 1`, where t is the share that is spent. The memory learns from the rates of exponential crossover of
    all successful trials: an entry becomes the weighted Lehmer means of F and of CR, or 0.5 where nothing succeeded or
    all CR were 0. The size of the population is

    .. math::
        N = \text{round}\left(N_{init} - (N_{init} - N_{min}) \, t^{1 - t}\right).

    Parameters
    ----------
    p_best, p_best_end : float, default 0.4, 0.2
        Share of the population, in (0, 1], from which pbest is drawn, at the start and at the end; at least two
        individuals.
    memory_size : int or None, default None
        Number of entries of the memory, in [1, 10000]; None: 20 for every variable, at most 10000.
    archive_rate : float, default 2.1
        Size of the archive as a multiple of the population's, in [0, 100]; 0: no archive.
    F_start, CR_start : float, default 0.2
        First values of all entries, in [0, 1].
    exponential_rate : float, default 0.5
        Probability of exponential crossover, in [0, 1].
    pop_size : int or None, default None
        Number of individuals at the start, >= 4; None: 30 for every variable.
    pop_min : int, default 4
        Number of individuals at the end, at most `pop_size`, >= 4.
    repair : {"random", "midpoint", "reflect", "clip", "periodic"}, default "random"
        As in `DE`.

    Notes
    -----
    Source: V. Stanovov, S. Akhmedova, E. Semenkin, NL-SHADE-RSP algorithm with adaptive archive and selective pressure
    for CEC 2021 numerical optimization, CEC 2021, and the authors' program where the paper is silent: an entry of the
    memory becomes 0.5 in a generation without successes and is in turn again; exponential crossover ends at the last
    component. Where the two differ, the paper is followed, except in the memory: it averages an entry and the new
    mean, where the program and `LSHADE` replace the entry. In the program p rises from 0.2 to 0.4 (p_best=0.2,
    p_best_end=0.4), all trials of a generation have one crossover, the archive's probability follows relative
    improvements and counts successful trials only, and the memory learns from the last F of the generation.
    Differences: a parent that is equal to its trial does not enter the archive; an archive that shrinks loses its last
    rows, as in the program, where the paper says random ones; others as in `LSHADE`.

    Examples
    --------
    >>> from skde import NLSHADERSP, Minimizer
    >>> m = Minimizer(NLSHADERSP(), max_evals=20_000, random_state=0).fit("rastrigin", dim=5)
    >>> bool(m.fun_ < 1e-6)
    True
    """

    name: ClassVar[str] = "nlshadersp"
    shrinks: ClassVar[bool] = True
    tuning_space: ClassVar[TuningSpace] = {
        "p_best": Range(0.05, 0.5),
        "p_best_end": Range(0.05, 0.5),
        "memory_size": Range(2, 1000, log=True),
        "archive_rate": Range(0.0, 4.0),
        "exponential_rate": Range(0.0, 1.0),
        "pop_size": SHRINKING_POPULATION,
    }

    p_best: float = 0.4
    p_best_end: float = 0.2
    memory_size: int | None = None
    archive_rate: float = 2.1
    F_start: float = 0.2
    CR_start: float = 0.2
    exponential_rate: float = 0.5
    pop_size: int | None = None
    pop_min: int = 4
    repair: str = "random"

    def kernel_parameters(self, setting: FitSetting) -> dict[str, float]:
        """Check the parameters and return the kernel's."""
        dim = setting.dim
        pop_size = self._population(4, "for current-to-pbest/1", max(INDIVIDUALS_PER_VARIABLE * dim, 4))
        entries = min(ENTRIES_PER_VARIABLE * dim, MOST_ENTRIES) if self.memory_size is None else self.memory_size
        shares = {
            name: check_real(self._name(name), getattr(self, name), 0, 1)
            for name in ("F_start", "CR_start", "exponential_rate")
        }
        return {
            "pop_size": pop_size,
            "repair": self._choice("repair", REPAIRS),
            "p_first": check_real(self._name("p_best"), self.p_best, 0, 1, low_open=True),
            "p_last": check_real(self._name("p_best_end"), self.p_best_end, 0, 1, low_open=True),
            "archive_rate": check_real(self._name("archive_rate"), self.archive_rate, 0, 100),
            "H": check_int(self._name("memory_size"), entries, 1, MOST_ENTRIES),
            **shares,
            **population_reduction(self, setting, pop_size),
        }

    def needs(self, setting: FitSetting, parameters: dict[str, float]) -> StateSizes:
        """Return the sizes of a run's state: ranks, the memory and the archive's probability, an archive."""
        memory = MEMORY["ENTRIES"] + 2 * int(parameters["H"]) + 1
        return StateSizes(ranked=True, stages=3, memory=memory, archive=archive_rows(parameters))

    def check_saved(self, runs: SavedRuns) -> None:
        """Check the memory, the archive's size and its probability, and the crossover rates."""
        check_saved_memory(runs)
        share = runs.memory[0, :, MEMORY["ENTRIES"] + 2 * int(runs.parameters["H"])]
        runs.check_range("memory", "probabilities of the archive", share, 0.1, 0.9)
        rates = runs.extra["next_CR"]
        follows = np.arange(rates.shape[1]) < runs.next_size[:, None]
        runs.check_range("extra", "crossover rates", np.where(follows, rates, 0), 0, 1)
