"""SaDE, differential evolution that learns which strategy to use."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from skde.algorithms.base import REPAIRS, FitSetting, StateSizes
from skde.algorithms.opposition import OppositionAlgorithm
from skde.algorithms.saved_state import SavedRuns
from skde.algorithms.tuning_space import POPULATION, Range, TuningSpace
from skde.constants import CONSTANTS
from skde.utils.validation import check_int, check_real

# Strategies, how many have crossover, and steps of CR.
STRATEGIES, CROSSED, STEPS = (CONSTANTS[f"Sade::{name}"] for name in ("STRATEGIES", "CROSSED", "STEPS"))
BINS = STEPS + 1
# The begin of each part of a run's memory: statistics, and from RING on the codes of trials.
PARTS = tuple(CONSTANTS[f"Sade::{name}"] for name in ("CHANCE", "MEDIAN", "TALLY", "WON", "GENERATIONS", "RING"))
RING = PARTS[-1]
NO_TRIAL = CONSTANTS["Sade::NO_TRIAL"]  # the code before the first trial
# All codes: of no trial, of failures by strategy, of successes by strategy and CR, and of those without crossover.
CODES = np.concatenate(
    [
        np.arange(NO_TRIAL, 0),
        *(2 * strategy + np.arange(BINS) / STEPS for strategy in range(CROSSED)),
        2 * np.arange(CROSSED, STRATEGIES) + 1,
    ]
)


@dataclass(repr=False, eq=False)
class SADE(OppositionAlgorithm):
    r"""Differential evolution that learns its strategies and crossover rates.

    Stochastic universal selection assigns each target one of four strategies, strategy k with probability :math:`p_k`:

    ====================  ==========================================================================
    rand/1/bin            :math:`v = x_{r1} + F (x_{r2} - x_{r3})`
    rand-to-best/2/bin    :math:`v = x_i + F (x_{best} - x_i) + F (x_{r1} - x_{r2}) + F (x_{r3} - x_{r4})`
    rand/2/bin            :math:`v = x_{r1} + F (x_{r2} - x_{r3}) + F (x_{r4} - x_{r5})`
    current-to-rand/1     :math:`v = x_i + K (x_{r1} - x_i) + F (x_{r2} - x_{r3})`
    ====================  ==========================================================================

    with :math:`F \sim N(0.5, 0.3)` and :math:`CR \sim N(CR_{m,k}, 0.1)`. Only CR is drawn again while it is outside
    [0, 1]. After LP generations, from the numbers of successes ns and failures nf in the last LP generations,

    .. math::
        p_k = \frac{S_k}{\sum_l S_l}, \quad S_k = \frac{ns_k}{ns_k + nf_k} + 0.01, \qquad
        CR_{m,k} = \text{median of the successful } CR.

    Parameters
    ----------
    learning_period : int, default 50
        Number of generations LP to learn from, in [1, 1000].
    F_mean : float, default 0.5
        Mean of F, in [0, 2].
    F_deviation : float, default 0.3
        Standard deviation of F, in [0, 1].
    pop_size : int, default 50
        Number of individuals, >= 6.
    repair : {"random", "midpoint", "reflect", "clip", "periodic"}, default "random"
        As in `DE`.
    opposition : float, default 0.0
        Probability, in [0, 1], that a generation consists of generalised opposites, as in `GODE`. The algorithm learns
        nothing from such a generation.

    Notes
    -----
    Source: A. K. Qin, V. L. Huang, P. N. Suganthan, Differential evolution algorithm with strategy adaptation for
    global numerical optimization, IEEE Trans. Evolutionary Computation 13 (2009). Differences: CR is drawn in steps of
    1/128, so that counts give the medians; the selection has a random offset in every generation; a strategy without a
    success keeps its median; only the component outside the box is drawn again, where the paper draws the whole trial
    again.

    Examples
    --------
    >>> from skde import SADE, Minimizer
    >>> m = Minimizer(SADE(), max_iter=300, random_state=0).fit("rastrigin", dim=5)
    >>> bool(m.fun_ < 1e-6)
    True
    """

    name: ClassVar[str] = "sade"
    # Qin et al. (2009): learning periods of 20 to 60 made no difference.
    tuning_space: ClassVar[TuningSpace] = {
        "learning_period": Range(10, 100, log=True),
        "F_mean": Range(0.3, 0.8),
        "F_deviation": Range(0.05, 0.5),
        "pop_size": POPULATION,
    }

    learning_period: int = 50
    F_mean: float = 0.5
    F_deviation: float = 0.3
    pop_size: int = 50
    repair: str = "random"
    opposition: float = 0.0

    def kernel_parameters(self, setting: FitSetting) -> dict[str, float]:
        """Check the parameters and return the kernel's."""
        return {
            "pop_size": self._population(6, "for rand/2"),
            "repair": self._choice("repair", REPAIRS),
            "learning_period": check_int(self._name("learning_period"), self.learning_period, 1, 1000),
            "F_mean": check_real(self._name("F_mean"), self.F_mean, 0, 2),
            "F_deviation": check_real(self._name("F_deviation"), self.F_deviation, 0, 1),
            **super().kernel_parameters(setting),
        }

    def needs_without_opposition(self, parameters: dict[str, float]) -> StateSizes:
        """Return the sizes of a run's state without opposition: statistics, and a row of codes for every generation."""
        remembered = (int(parameters["learning_period"]) + 1) * int(parameters["pop_size"])
        return StateSizes(stages=1, memory=RING + remembered)

    def check_saved(self, runs: SavedRuns) -> None:
        """Check the statistics, and that the counts agree with the codes of the trials."""
        super().check_saved(runs)
        pop_size, rows = int(runs.parameters["pop_size"]), int(runs.parameters["learning_period"]) + 1
        parts = [runs.memory[0, :, begin:end] for begin, end in pairwise((*PARTS, RING + rows * pop_size))]
        chances, medians, tallies, outcomes, learned, codes = parts
        runs.check_range("memory", "chances of strategies", chances, 0, 1)
        runs.check_range("memory", "medians of CR", medians, 0, 1)
        runs.check_range("memory", "generations learned from", learned[:, 0], 0, runs.generation, whole=True)
        runs.check("memory", "codes of trials must be numbers of a strategy and a CR", np.isin(codes, CODES))
        # The row to be overwritten next no longer counts.
        counted = codes.reshape(-1, rows, pop_size).copy()
        counted[np.arange(len(counted)), (learned[:, 0].astype(np.int64) + 1) % rows] = NO_TRIAL
        for of_run, tally, outcome in zip(counted, tallies, outcomes, strict=True):
            won = of_run[of_run >= 0]
            strategy = (won / 2).astype(np.int64)
            crossed = strategy < CROSSED
            bins = strategy * BINS + np.round((won - 2 * strategy) * STEPS).astype(np.int64)
            lost = (-1 - of_run[(of_run < 0) & (of_run > NO_TRIAL)]).astype(np.int64)
            counts = [np.bincount(strategy, minlength=STRATEGIES), np.bincount(lost, minlength=STRATEGIES)]
            same = np.array_equal(np.bincount(bins[crossed], minlength=CROSSED * BINS), tally)
            same = same and np.array_equal(np.concatenate(counts), outcome)
            runs.check("memory", "tallies must count the trials that are remembered", same)
