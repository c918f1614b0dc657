"""RDEx, L-SRTDE with a mutation that exploits the best points late in the search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from skde.algorithms.base import FitSetting, StateSizes
from skde.algorithms.lsrtde import LSRTDE, NUMBERS
from skde.algorithms.saved_state import SavedRuns
from skde.algorithms.tuning_space import SHRINKING_POPULATION, Range, TuningSpace
from skde.constants import ENUMERATIONS
from skde.utils.validation import check_real

FURTHER = ENUMERATIONS["RdexRules::Numbers"]  # after L-SRTDE's; the last is the first of the entries of F


@dataclass(repr=False, eq=False)
class RDEX(LSRTDE):
    r"""L-SRTDE with a second mutation late in the search, and with perturbed components.

    The populations, the top :math:`t` and the front :math:`n`, and the first mutation are as in `LSRTDE`. Once
    the share exploit_from of the budget is spent, every trial draws a uniform u. Where :math:`u (1 - \tau) < \rho`,
    with the share :math:`\tau` that is spent, its mutation is

    .. math::
        v = n_c + F (a - n_c) + F (b - d),

    where a, b and d are the best, the middle and the worst of three drawn points: :math:`t_{pbest}`, one of the
    :math:`\max(2, 0.17 N (1 - \tau / 2))` best, :math:`n_{r1}` and :math:`t_{r2}`. A point of rank k is drawn with the
    weight N - k. F is drawn from a Cauchy distribution around an entry of a second memory, with the scale 0.1, again
    while it is negative, and cut at 1; CR from :math:`N(M_{CR}, 0.1)`, cut to [0, 1]. Both are of the same entry, or
    around 0.9, which is as likely as each entry. After a generation with successes an entry of F becomes the Lehmer
    mean of the F of the successful trials, weighted by the improvements. :math:`\rho` is the share of the improvements
    in the last generation that the second mutation made; exploit_rate, where one mutation made all of them.

    With probability perturbation_rate, the components of a trial that are not crossed do not come from :math:`n_c`,
    but differ from them by a Cauchy draw that is scaled with the width of the box.

    Parameters
    ----------
    memory_size : int, default 5
        Number of entries of both memories, in [1, 10000].
    CR_start : float, default 1.0
        First value of all entries of CR, in [0, 1]; the entries of F begin with 1.
    pop_size : int or None, default None
        Size of both populations at the start, >= 4; None: 18 for every variable.
    pop_min : int, default 4
        Size of both populations at the end, at most `pop_size`, >= 4.
    repair : {"random", "midpoint", "reflect", "clip", "periodic"}, default "random"
        As in `DE`.
    exploit_rate : float, default 0.7
        First :math:`\rho`, in [0, 1].
    exploit_from : float, default 0.7
        Share of the budget, in [0, 1], from which on there are trials of the second mutation.
    perturbation_rate : float, default 0.4
        Probability, in [0, 1], that the components of a trial which are not crossed are perturbed.
    perturbation_scale : float, default 0.0005
        Scale of a perturbation as a share of the box's width, in [0, 1].

    Notes
    -----
    Source: S. Tao, Y. Yang, R. Zhao, K. Wang, S. Liu, S. Gao, RDEx-SOP: Exploitation-biased reconstructed differential
    evolution for fixed-budget bound-constrained single-objective optimization, arXiv:2603.27089, 2026, and the
    authors' program of the CEC 2025 competition, which has the constants. Differences from the program: as with
    `LSRTDE`; a perturbation has the scale 0.1 there, which is 0.0005 of the width of its boxes, and may lead out of
    the box, where components are repaired here; improvements are over the rival of a trial's competition, where
    the program computes them for :math:`\rho` from the last trial of each slot and the slot's value at the start of
    the generation; limits on F and CR in the first 60 % of the budget are left out, because the second mutation begins
    later. In its rule :math:`u (1 - \tau) < \rho` the program divides whole numbers, so that :math:`\tau` is 0; here,
    as in minionpy's RDEX, it is the share, so that the second mutation makes nearly all late trials. With 0, errors on
    CEC 2017's functions 4, 11 and 13 in 10 variables are higher than minionpy's (medians of 15 runs: 0.26, 0.009 and
    5.4; 0, 0 and 0). minionpy's runs may end outside the box, which explains the two of 29 functions on which it is
    better in 10 variables (`docs/peers.md`).

    Examples
    --------
    >>> from skde import RDEX, Minimizer
    >>> m = Minimizer(RDEX(), max_evals=30_000, random_state=0).fit("rastrigin", dim=5)
    >>> bool(m.fun_ < 1e-6)
    True
    """

    name: ClassVar[str] = "rdex"
    tuning_space: ClassVar[TuningSpace] = {
        "memory_size": Range(2, 20, log=True),
        "exploit_rate": Range(0.0, 1.0),
        "exploit_from": Range(0.3, 1.0),
        "perturbation_rate": Range(0.0, 1.0),
        "pop_size": SHRINKING_POPULATION,
    }
    individuals_per_variable: ClassVar[int] = 18

    exploit_rate: float = 0.7
    exploit_from: float = 0.7
    perturbation_rate: float = 0.4
    perturbation_scale: float = 0.0005

    @classmethod
    def get_test_params(cls) -> dict[str, Any]:
        """Return a small instance that reaches both mutations and the perturbation early."""
        return {"pop_size": 30, "exploit_from": 0.2}

    def kernel_parameters(self, setting: FitSetting) -> dict[str, float]:
        """Check the parameters and return the kernel's."""
        shares = {
            name: check_real(self._name(name), getattr(self, name), 0, 1)
            for name in ("exploit_rate", "exploit_from", "perturbation_rate", "perturbation_scale")
        }
        return {**super().kernel_parameters(setting), **shares}

    def needs(self, setting: FitSetting, parameters: dict[str, float]) -> StateSizes:
        """Return the sizes of a run's state: as in `LSRTDE`, with the second memory and the rate."""
        sizes = super().needs(setting, parameters)
        return sizes._replace(memory=sizes.memory + FURTHER["MEANS_F"] + int(parameters["H"]))

    def check_saved(self, runs: SavedRuns) -> None:
        """Check what `LSRTDE` checks, the rate of the second mutation and the entries of F."""
        super().check_saved(runs)
        H = int(runs.parameters["H"])
        further = runs.memory[..., H + len(NUMBERS) :]
        runs.check_range("memory", "rates of the second mutation", further[..., FURTHER["EXPLOIT_RATE"]], 0, 1)
        runs.check_range("memory", "entries of F", further[..., FURTHER["MEANS_F"] :], 0, 2)
