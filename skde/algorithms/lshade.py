"""L-SHADE, SHADE with a population that shrinks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

from skde.algorithms.success_history import SuccessHistoryDE
from skde.algorithms.tuning_space import SHRINKING_POPULATION, TuningSpace


@dataclass(repr=False, eq=False)
class LSHADE(SuccessHistoryDE):
    r"""SHADE with linear population size reduction.

    As `SHADE`, with a fixed p and a weighted Lehmer mean also for CR. An entry of CR stays 0 once all successes of a
    generation had CR = 0. The worst individuals are removed before every generation, so that after :math:`e` of
    :math:`E` evaluations

    .. math::
        N = \text{round}\left(N_{init} - (N_{init} - N_{min}) \, e / E\right).

    Parameters
    ----------
    p_best : float, default 0.11
        Share of the population, in (0, 1], from which pbest is drawn; at least two individuals.
    memory_size : int, default 6
        Number of entries of the memory, in [1, 10000].
    archive_rate : float, default 2.6
        Size of the archive as a multiple of the population's, in [0, 100]; 0: no archive.
    F_start, CR_start : float, default 0.5
        First values of all entries, in [0, 1].
    pop_size : int or None, default None
        Number of individuals at the start, >= 4; None: 18 for every variable.
    pop_min : int, default 4
        Number of individuals at the end, at most `pop_size`, >= 4.
    repair : {"random", "midpoint", "reflect", "clip", "periodic"}, default "random"
        As in `DE`.
    opposition : float, default 0.0
        Probability, in [0, 1], that a generation consists of generalised opposites, as in `GODE`. The algorithm learns
        nothing from such a generation.

    Notes
    -----
    Source: R. Tanabe, A. Fukunaga, Improving the search performance of SHADE using linear population size reduction,
    CEC 2014. The budget E is the Minimizer's max_evals, else its max_iter, counted in generations (without
    a limit: 10000 evaluations for every variable). It is planned when a fit begins; a fit that is resumed beyond it
    stays at pop_min. Differences: the last generation is left out if it does not fit in the budget; an archive that
    shrinks loses its last rows, as in the authors' program, where the paper says random ones; components that left
    their bounds are drawn from the whole range, where the paper takes the middle between parent and bound (`published`
    does). Of CEC 2017's 29 functions in 10 variables, the errors with the paper's repair are lower on 3 and higher on 7
    (`JSO`: 1 and 8), in 30 variables on 6 and 5 (7 and 6); others as in `SHADE`.

    Examples
    --------
    >>> from skde import LSHADE, Minimizer
    >>> m = Minimizer(LSHADE(), max_evals=20_000, random_state=0).fit("rastrigin", dim=5)
    >>> bool(m.fun_ < 1e-6)
    True
    """

    name: ClassVar[str] = "lshade"
    shrinks: ClassVar[bool] = True
    tuning_space: ClassVar[TuningSpace] = {**SuccessHistoryDE.tuning_space, "pop_size": SHRINKING_POPULATION}
    rules: ClassVar[dict[str, float]] = {
        "p_drawn": 0,
        "p_least": 2,
        "weighted": 1,
        "lehmer_CR": 1,
        "staged": 0,
        "rate": 1,
    }

    p_best: float = 0.11
    memory_size: int = 6
    archive_rate: float = 2.6
    F_start: float = 0.5
    CR_start: float = 0.5
    pop_size: int | None = None
    pop_min: int = 4
    repair: str = "random"
    opposition: float = 0.0

    @classmethod
    def published(cls, **parameters: Any) -> Self:
        """Return the algorithm with the paper's repair: half-way between parent and bound.

        Parameters
        ----------
        **parameters
            Parameters that replace the others.

        Returns
        -------
        algorithm : LSHADE or JSO

        Examples
        --------
        >>> from skde import JSO
        >>> JSO.published(pop_size=100).repair
        'midpoint'
        """
        return cls(**{"repair": "midpoint", **parameters})

    def _default_pop_size(self, dim: int) -> int:
        return max(18 * dim, 4)
