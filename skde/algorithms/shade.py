"""SHADE, differential evolution with a history of successful parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from skde.algorithms.success_history import SuccessHistoryDE
from skde.algorithms.tuning_space import POPULATION, TuningSpace


@dataclass(repr=False, eq=False)
class SHADE(SuccessHistoryDE):
    r"""Success-history based adaptive differential evolution.

    As `JADE`, but with a memory of H entries :math:`M_F, M_{CR}`. For every trial, :math:`F_i` and :math:`CR_i` are
    drawn around a random entry, and :math:`p_i \sim U[2/N, p]`. After a generation with successes, the next entry in
    turn is replaced, with weights :math:`w_k` proportional to the improvements :math:`f(x_k) - f(u_k)`, by

    .. math::
        M_F = \frac{\sum w_k F_k^2}{\sum w_k F_k}, \qquad M_{CR} = \sum w_k CR_k.

    Parameters
    ----------
    p_best : float, default 0.2
        Largest share of the population, in (0, 1], from which pbest is drawn; at least two individuals.
    memory_size : int, default 100
        Number of entries H of the memory, in [1, 10000].
    archive_rate : float, default 1.0
        Size of the archive as a multiple of the population's, in [0, 100]; 0: no archive.
    F_start, CR_start : float, default 0.5
        First values of all entries, in [0, 1].
    pop_size : int, default 100
        Number of individuals, >= 4.
    repair : {"midpoint", "reflect", "clip", "random", "periodic"}, default "midpoint"
        As in `DE`.
    opposition : float, default 0.0
        Probability, in [0, 1], that a generation consists of generalised opposites, as in `GODE`. The algorithm learns
        nothing from such a generation.

    Notes
    -----
    Source: R. Tanabe, A. Fukunaga, Success-history based parameter adaptation for differential evolution, CEC 2013,
    equations 6 to 15. Differences: an improvement from NaN or infinity has a very large, finite weight; the archive as
    in `JADE`.

    Examples
    --------
    >>> from skde import SHADE, Minimizer
    >>> m = Minimizer(SHADE(pop_size=30), max_iter=200, random_state=0).fit("sphere", dim=5)
    >>> bool(m.fun_ < 1e-10)
    True
    """

    name: ClassVar[str] = "shade"
    tuning_space: ClassVar[TuningSpace] = {**SuccessHistoryDE.tuning_space, "pop_size": POPULATION}
    rules: ClassVar[dict[str, float]] = {
        "p_drawn": 1,
        "p_least": 2,
        "weighted": 1,
        "lehmer_CR": 0,
        "staged": 0,
        "rate": 1,
    }

    p_best: float = 0.2
    memory_size: int = 100
    archive_rate: float = 1.0
    F_start: float = 0.5
    CR_start: float = 0.5
    pop_size: int = 100
    repair: str = "midpoint"
    opposition: float = 0.0
