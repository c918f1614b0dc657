"""jDE, differential evolution with self-adapted parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from skde.algorithms.base import FitSetting
from skde.algorithms.de import TUNED_STRATEGIES, DifferentialEvolution
from skde.algorithms.saved_state import SavedRuns
from skde.algorithms.tuning_space import POPULATION, Range, TuningSpace
from skde.utils.validation import check_choice, check_real

KEEPS = ("success", "always")


@dataclass(repr=False, eq=False)
class JDE(DifferentialEvolution):
    r"""Differential evolution in which every individual adapts its own F and CR.

    Before mutation, with :math:`r_1, \ldots, r_4 \sim U[0, 1)` for every trial,

    .. math::
        F_i' = F_l + r_1 (F_u - F_l) \text{ if } r_2 < \tau_1 \text{ else } F_i, \qquad
        CR_i' = CR_l + r_3 (CR_u - CR_l) \text{ if } r_4 < \tau_2 \text{ else } CR_i,

    and the trial is made with :math:`F_i'` and :math:`CR_i'` as in `DE`. If it replaces the target, they replace the
    target's F and CR; with ``keep="always"`` they do so also if it fails.

    Parameters
    ----------
    strategy : str, default "rand/1/bin"
        As in `DE`.
    F : (float, float), default (0.1, 1.0)
        Range (F_l, F_u) of new scale factors, within [0, 2].
    CR : (float, float), default (0.0, 1.0)
        Range (CR_l, CR_u) of new crossover rates, within [0, 1].
    tau_1, tau_2 : float, default 0.1
        Probabilities, in [0, 1], of a new F and of a new CR.
    F_start : float, default 0.5
        First F of every individual, in [0, 2].
    CR_start : float, default 0.9
        First CR of every individual, in [0, 1].
    pop_size : int, default 100
        Number of individuals; at least one more than the strategy draws.
    p_best : float, default 0.1
        As in `DE`.
    repair : {"midpoint", "reflect", "clip", "random", "periodic"}, default "midpoint"
        As in `DE`.
    opposition : float, default 0.0
        Probability, in [0, 1], that a generation consists of generalised opposites, as in `GODE`.
    keep : {"success", "always"}, default "success"
        When an individual keeps the F and CR of its trial: if the trial replaces it, as the source says, or always, as
        in the program of cujDE.

    Notes
    -----
    Source: J. Brest, S. Greiner, B. Boskovic, M. Mernik, V. Zumer, Self-adapting control parameters in differential
    evolution, IEEE Trans. Evolutionary Computation 10 (2006), equations 7 and 8, with the values of section V.
    Differences: any strategy may be used; ties are accepted.

    Examples
    --------
    >>> from skde import JDE, Minimizer
    >>> m = Minimizer(JDE(pop_size=50), max_iter=300, random_state=0).fit("rastrigin", dim=5)
    >>> bool(m.fun_ < 1e-6)
    True
    """

    name: ClassVar[str] = "jde"
    kernel_name: ClassVar[str] = "jde"
    # Brest et al. (2006): the probabilities are 0.1.
    tuning_space: ClassVar[TuningSpace] = {
        "strategy": TUNED_STRATEGIES,
        "tau_1": Range(0.01, 0.5, log=True),
        "tau_2": Range(0.01, 0.5, log=True),
        "pop_size": POPULATION,
    }

    strategy: str = "rand/1/bin"
    F: tuple[float, float] = (0.1, 1.0)
    tau_1: float = 0.1
    tau_2: float = 0.1
    F_start: float = 0.5
    CR_start: float = 0.9
    pop_size: int = 100
    p_best: float = 0.1
    repair: str = "midpoint"
    opposition: float = 0.0
    CR: tuple[float, float] = (0.0, 1.0)
    keep: str = "success"

    @classmethod
    def cujde(cls, **parameters: Any) -> JDE:
        """Return the jDE of cujDE, as its program has it.

        M. Boiani, G. Dominico, R. Stubs Parpinelli, A GPU-based jDE algorithm applied to continuous unconstrained
        optimization (ISDA 2018). Its program draws the individuals by shifts and always crosses the last component
        (shifted-rand/1 of `DE`), keeps F and CR also if a trial fails, and sets components to the bound. Differences
        that remain: new F and CR come before a trial, and in the program after it, so its first trials have F_start
        and CR_start; a component is crossed where the random number is below CR, in the program also where it is
        equal; and the program computes in single precision.

        Parameters
        ----------
        **parameters
            Parameters of `JDE` that replace these.

        Returns
        -------
        algorithm : JDE

        Examples
        --------
        >>> from skde import JDE
        >>> JDE.cujde(pop_size=250).strategy
        'shifted-rand/1/bin'
        """
        return cls(**{"strategy": "shifted-rand/1/bin", "repair": "clip", "keep": "always", **parameters})

    def kernel_parameters(self, setting: FitSetting) -> dict[str, float]:
        """Check the parameters and return the kernel's."""
        F_low, F_high = self._range("F", self.F, 0, 2)
        CR_low, CR_high = self._range("CR", self.CR, 0, 1)
        shares = {
            name: check_real(self._name(name), getattr(self, name), 0, 1) for name in ("tau_1", "tau_2", "CR_start")
        }
        F_start = check_real(self._name("F_start"), self.F_start, 0, 2)
        keep_always = check_choice(self._name("keep"), self.keep, KEEPS) == "always"
        ranges = {"F_low": F_low, "F_high": F_high, "CR_low": CR_low, "CR_high": CR_high}
        return {
            **super().kernel_parameters(setting),
            **ranges,
            "F_start": F_start,
            **shares,
            "keep_always": keep_always,
        }

    def check_saved(self, runs: SavedRuns) -> None:
        """Check the F and CR of all individuals."""
        super().check_saved(runs)
        runs.check_range("extra", "F", runs.extra["F"], 0, 2)
        runs.check_range("extra", "CR", runs.extra["CR"], 0, 1)
