"""jSO, L-SHADE with rules for the stages of a search."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from skde.algorithms.lshade import LSHADE
from skde.algorithms.success_history import SuccessHistoryDE
from skde.algorithms.tuning_space import SHRINKING_POPULATION, Range, TuningSpace
from skde.utils.validation import check_real


@dataclass(repr=False, eq=False)
class JSO(LSHADE):
    r"""L-SHADE with a weighted mutation, and limits on F and CR by the stage of the search.

    With :math:`t`, the share of the budget that is spent,

    .. math::
        v_i = x_i + F_w (x_{pbest} - x_i) + F (x_{r1} - \tilde x_{r2}), \quad
        F_w = \begin{cases} 0.7 F & t < 0.2 \\ 0.8 F & t < 0.4 \\ 1.2 F & \text{else,} \end{cases}

    F is at most 0.7 while t < 0.6. CR is at least 0.7 while t < 0.25, and at least 0.6 while t < 0.5. p falls from
    p_best to half of it; while t < 0.5, pbest is not the target. The last entry of the memory always reads 0.9. An
    update moves an entry half-way to the weighted Lehmer means.

    Parameters
    ----------
    p_best : float, default 0.25
        Share of the population, in (0, 1], from which pbest is drawn at the start; half of it at the end;
        at least two individuals.
    memory_size : int, default 5
        Number of entries of the memory, in [1, 10000].
    archive_rate : float, default 1.0
        Size of the archive as a multiple of the population's, in [0, 100]; 0: no archive.
    F_start, CR_start : float, default 0.3, 0.8
        First values of all entries, in [0, 1].
    pop_size : int or None, default None
        Number of individuals at the start, >= 4; None: 25 log(dim) sqrt(dim).
    pop_min : int, default 4
        Number of individuals at the end, at most `pop_size`, >= 4.
    repair : {"random", "midpoint", "reflect", "clip", "periodic"}, default "random"
        As in `DE`.
    opposition : float, default 0.0
        Probability, in [0, 1], that a generation consists of generalised opposites, as in `GODE`. The algorithm learns
        nothing from such a generation.

    Notes
    -----
    Source: J. Brest, M. S. Maucec, B. Boskovic, Single objective real-parameter optimization: algorithm jSO, CEC 2017.
    Differences: p follows the evaluations, not only the reductions; an entry of CR that is 0 for good stays so,
    where the authors' program averages its mark with the next mean; others as in `LSHADE`.

    Examples
    --------
    >>> from skde import JSO, Minimizer
    >>> m = Minimizer(JSO(), max_evals=20_000, random_state=0).fit("rastrigin", dim=5)
    >>> bool(m.fun_ < 1e-6)
    True
    """

    name: ClassVar[str] = "jso"
    tuning_space: ClassVar[TuningSpace] = {
        **SuccessHistoryDE.tuning_space,
        "F_start": Range(0.1, 0.9),
        "CR_start": Range(0.1, 1.0),
        "pop_size": SHRINKING_POPULATION,
    }
    rules: ClassVar[dict[str, float]] = {**LSHADE.rules, "staged": 1, "rate": 0.5}

    p_best: float = 0.25
    memory_size: int = 5
    archive_rate: float = 1.0
    F_start: float = 0.3
    CR_start: float = 0.8

    def _default_pop_size(self, dim: int) -> int:
        return max(round(25 * math.log(dim) * math.sqrt(dim)), 4)

    def _shares(self) -> tuple[float, float]:
        p_best = check_real(self._name("p_best"), self.p_best, 0, 1, low_open=True)
        return p_best, p_best / 2
