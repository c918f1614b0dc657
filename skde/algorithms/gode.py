"""GODE and GOjDE, differential evolution with generalised opposition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from skde.algorithms.de import DE
from skde.algorithms.jde import JDE
from skde.algorithms.tuning_space import Range, TuningSpace

OPPOSITION = {"opposition": Range(0.01, 0.4, log=True)}  # Wang et al. (2013) take 0.05


@dataclass(repr=False, eq=False)
class GODE(DE):
    r"""Differential evolution with generalised opposition-based learning.

    With probability :math:`p_o`, a generation's trials are not `DE`'s, but the opposites of the population in
    its current range :math:`a_j = \min_i x_{ij}, b_j = \max_i x_{ij}`,

    .. math::
        x_{ij}^* = k (a_j + b_j) - x_{ij}, \qquad k \sim U[0, 1) \text{ once a generation}.

    A component outside the box is drawn uniformly from :math:`[a_j, b_j]`. The best individuals of the population and
    its opposites survive.

    Parameters
    ----------
    strategy : str, default "rand/1/exp"
        As in `DE`.
    F : float or (float, float), default 0.5
        As in `DE`.
    CR : float, default 0.9
        As in `DE`.
    pop_size : int, default 128
        As in `DE`.
    p_best : float, default 0.1
        As in `DE`.
    repair : {"midpoint", "reflect", "clip", "random", "periodic"}, default "midpoint"
        As in `DE`; opposites are repaired as described above.
    opposition : float, default 0.05
        Probability p_o of a generation of opposites, in [0, 1]. `DE` has the same parameter; this class is a preset.

    Notes
    -----
    Source: H. Wang, S. Rahnamayan, Z. Wu, Parallel differential evolution with self-adapting control parameters and
    generalized opposition-based learning for solving high-dimensional optimization problems, J. Parallel and
    Distributed Computing 73 (2013), equations 4 to 7 and algorithm 1, which compares with this algorithm. Differences:
    the initial population has no opposites; ties are accepted.

    Examples
    --------
    >>> from skde import GODE, Minimizer
    >>> m = Minimizer(GODE(pop_size=40), max_iter=500, random_state=0).fit("sphere", dim=5)
    >>> bool(m.fun_ < 1e-6)
    True
    """

    name: ClassVar[str] = "gode"
    tuning_space: ClassVar[TuningSpace] = {**DE.tuning_space, **OPPOSITION}

    strategy: str = "rand/1/exp"
    pop_size: int = 128
    opposition: float = 0.05


@dataclass(repr=False, eq=False)
class GOJDE(JDE):
    r"""Generalised opposition with self-adapted F and CR.

    As `GODE`, but the other generations are `JDE`'s with narrow ranges of F and CR:

    .. math::
        F_i' = F_l + r_1 F_u \text{ if } r_2 < \tau_1 \text{ else } F_i, \qquad
        CR_i' = CR_l + r_3 CR_u \text{ if } r_4 < \tau_2 \text{ else } CR_i,

    with :math:`F_l = F_u = 0.2` and :math:`CR_l = 0.8, CR_u = 0.2`.

    Parameters
    ----------
    strategy : str, default "rand/1/exp"
        As in `DE`.
    F : (float, float), default (0.2, 0.4)
        Range of new scale factors, within [0, 2].
    tau_1, tau_2 : float, default 0.1
        Probabilities, in [0, 1], of a new F and of a new CR.
    F_start : float, default 0.3
        First F of every individual, in [0, 2].
    CR_start : float, default 0.9
        First CR of every individual, in [0, 1].
    pop_size : int, default 128
        Number of individuals, as in `DE`; the paper also takes 60.
    p_best : float, default 0.1
        As in `DE`.
    repair : {"midpoint", "reflect", "clip", "random", "periodic"}, default "midpoint"
        As in `DE`; opposites are repaired as in `GODE`.
    opposition : float, default 0.05
        Probability p_o of a generation of opposites, in [0, 1].
    CR : (float, float), default (0.8, 1.0)
        Range of new crossover rates, within [0, 1].
    keep : {"success", "always"}, default "success"
        As in `JDE`.

    Notes
    -----
    Source: as `GODE`, equations 8 and 10 and algorithm 1. The paper prints the present F and CR instead of F_l and
    CR_l; it means the ranges [0.2, 0.4] and [0.8, 1.0], which it names. It does not say the first F and CR: here they
    are the middles of the ranges. An opposite that survives has the F and CR of its individual. Algorithm 1 prints no
    condition for keeping F and CR; the default is `JDE`'s. On F4 of the suite wang2012 with 100 variables and
    500,000 evaluations, ``keep="success"`` ends at an error of 0.23 and ``keep="always"`` at 25.1 (means of 10 runs);
    the paper prints 67.0. On F3 they end at 90.0 and 92.0; the paper prints 142.

    Examples
    --------
    >>> from skde import GOJDE, Minimizer
    >>> m = Minimizer(GOJDE(pop_size=40), max_iter=500, random_state=0).fit("rastrigin", dim=5)
    >>> bool(m.fun_ < 1e-6)
    True
    """

    name: ClassVar[str] = "gojde"
    tuning_space: ClassVar[TuningSpace] = {**JDE.tuning_space, **OPPOSITION}

    strategy: str = "rand/1/exp"
    F: tuple[float, float] = (0.2, 0.4)
    F_start: float = 0.3
    pop_size: int = 128
    opposition: float = 0.05
    CR: tuple[float, float] = (0.8, 1.0)
