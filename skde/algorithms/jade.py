"""JADE, adaptive differential evolution with an archive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from skde.algorithms.base import FitSetting
from skde.algorithms.success_history import SuccessHistoryDE
from skde.algorithms.tuning_space import POPULATION, Range, TuningSpace
from skde.utils.validation import check_real


@dataclass(repr=False, eq=False)
class JADE(SuccessHistoryDE):
    r"""Adaptive differential evolution with current-to-pbest/1 and an archive.

    For every trial, :math:`F_i \sim \text{Cauchy}(\mu_F, 0.1)` is drawn until it is positive, and cut at 1;
    :math:`CR_i \sim N(\mu_{CR}, 0.1)` is cut to [0, 1]:

    .. math::
        v_i = x_i + F_i (x_{pbest} - x_i) + F_i (x_{r1} - \tilde x_{r2}),

    where :math:`\tilde x_{r2}` is drawn from the population and the archive of replaced parents. After a generation
    with successes, from the sets :math:`S_F, S_{CR}` of successful parameters,

    .. math::
        \mu_F \leftarrow (1 - c) \mu_F + c \frac{\sum_{S_F} F^2}{\sum_{S_F} F}, \qquad
        \mu_{CR} \leftarrow (1 - c) \mu_{CR} + c \; \text{mean}(S_{CR}).

    Parameters
    ----------
    p_best : float, default 0.05
        Share of the population, in (0, 1], from which pbest is drawn; at least one individual.
    c : float, default 0.1
        Learning rate of the means, in (0, 1].
    archive_rate : float, default 1.0
        Size of the archive as a multiple of the population's, in [0, 100]; 0: no archive.
    F_start, CR_start : float, default 0.5
        First values of the means, in [0, 1].
    pop_size : int, default 100
        Number of individuals, >= 4.
    repair : {"midpoint", "reflect", "clip", "random", "periodic"}, default "midpoint"
        As in `DE`.
    opposition : float, default 0.0
        Probability, in [0, 1], that a generation consists of generalised opposites, as in `GODE`. The algorithm learns
        nothing from such a generation.

    Notes
    -----
    Source: J. Zhang, A. C. Sanderson, JADE: adaptive differential evolution with optional external archive, IEEE Trans.
    Evolutionary Computation 13 (2009), equations 6 to 12. Differences: ties are accepted, but do not count as
    successes; a full archive replaces random members, where the paper removes random ones afterwards.

    Examples
    --------
    >>> from skde import JADE, Minimizer
    >>> m = Minimizer(JADE(pop_size=30), max_iter=200, random_state=0).fit("sphere", dim=5)
    >>> bool(m.fun_ < 1e-10)
    True
    """

    name: ClassVar[str] = "jade"
    # Zhang and Sanderson (2009): 1/c in [5, 20] and p in [5 %, 20 %].
    tuning_space: ClassVar[TuningSpace] = {
        "p_best": Range(0.05, 0.2),
        "c": Range(0.05, 0.2),
        "archive_rate": Range(0.0, 2.0),
        "pop_size": POPULATION,
    }
    rules: ClassVar[dict[str, float]] = {"p_drawn": 0, "p_least": 1, "weighted": 0, "lehmer_CR": 0, "staged": 0}

    p_best: float = 0.05
    c: float = 0.1
    archive_rate: float = 1.0
    F_start: float = 0.5
    CR_start: float = 0.5
    pop_size: int = 100
    repair: str = "midpoint"
    opposition: float = 0.0

    def kernel_parameters(self, setting: FitSetting) -> dict[str, float]:
        """Check the parameters and return the kernel's."""
        return {**super().kernel_parameters(setting), "rate": check_real(self._name("c"), self.c, 0, 1, low_open=True)}
