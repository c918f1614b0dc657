"""ARRDE, differential evolution that restarts, and refines what its restarts found."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

import skde._cpu as _cpu
from skde.algorithms.base import REPAIRS, Algorithm, FitSetting, StateSizes, population_reduction
from skde.algorithms.saved_state import SavedRuns
from skde.algorithms.success_history import MEMORY, archive_rows, check_saved_memory
from skde.algorithms.tuning_space import SHRINKING_POPULATION, Range, TuningSpace
from skde.constants import CONSTANTS, ENUMERATIONS
from skde.utils.validation import check_int, check_real

NUMBERS, PHASES = ENUMERATIONS["ArrdeRules::Numbers"], ENUMERATIONS["ArrdeRules::Phase"]
KEPT = CONSTANTS["ArrdeRules::KEPT"]
LARGEST_DEFAULT = 3000


@dataclass(repr=False, eq=False)
class ARRDE(Algorithm):
    r"""Differential evolution in phases: a first search, restarts, and refinements of the points that they found.

    The mutation, the archive and the memory are as in `LSHADE`,

    .. math::
        v_i = x_i + F (x_{pbest} - x_i) + F (x_{r1} - \tilde x_{r2}),

    with :math:`F \sim C(M_F, 0.05)` and :math:`CR \sim N(M_{CR}, 0.05)`. An update moves an entry of the memory
    half-way to the weighted Lehmer means; the last entry is 0.9 from its first turn on. In the first phase jSO's limits
    hold, where t is the share that is spent of the budget up to refine_from: F is at most 0.7 while t < 0.6, CR at
    least 0.7 while t < 0.25 and at least 0.6 while t < 0.5.

    A phase ends when the standard deviation of the population's values is at most a tolerance times the size of their
    mean. Its population then joins the records, for each component the interval mean :math:`\pm` standard deviation is
    noted, and the archive is emptied.

    - A restart follows the first phase and every refinement: a population of random points outside the noted intervals,
      with the first values of the memory. After a restart that found no value below the records', another one
      follows, until there were :math:`1 + 4 \tau`, rounded, since the last refinement; :math:`\tau` is the share of the
      whole budget that is spent.
    - A refinement follows otherwise: its population is drawn from the records without evaluating it again, and its
      memory from the entries of the first phase and of earlier refinements.

    Once the share refine_from of the budget is spent, a last refinement begins, with a larger population that has the
    best of the records; it ends only where all values are equal. Where there are too few records, the latest points
    that were the best of the first phase are taken, too. With :math:`N` the size at the start and :math:`s` the share
    that is spent of the budget before or after refine_from, the size of the population is

    .. math::
        N_{min} + (N - N_{min}) (1 - s)^{1.17 + 2.075 \exp(-0.0567 D)}, \quad\text{then}\quad
        N_{min} + (\max(2 D, N / 4) - N_{min}) (1 - s)^2.

    Parameters
    ----------
    p_best : float, default 0.11
        Share of the population, in (0, 1], from which pbest is drawn; at least two individuals.
    memory_size : int, default 6
        Number of entries of the memory, in [1, 10000].
    archive_rate : float, default 1.0
        Size of the archive as a multiple of the population's, in [0, 100]; 0: no archive.
    F_start, CR_start : float, default 0.3, 0.8
        Values of all entries at the start and after a restart, in [0, 1].
    pop_size : int or None, default None
        Number of individuals at the start, >= 4; None: for every variable :math:`2 + 5.756 \max(\log_{10}(E / D) - 2,
        0)^{1.609}` with the budget E in evaluations (10000 for every variable, where the budget is one of iterations),
        at most 3000, or 2 for every variable if that is more.
    pop_min : int or None, default None
        Number of individuals at refine_from and at the end, at most `pop_size`, >= 4; None: half of the number of
        variables, rounded up, or 4.
    refine_from : float, default 0.9
        Share of the budget, in (0, 1), at which the last refinement begins.
    tol_first, tol_restart, tol_refine : float, default 1e-8, 1e-4, 1e-6
        Tolerances that end the first phase, a restart and a refinement, >= 0.
    repair : {"random", "midpoint", "reflect", "clip", "periodic"}, default "random"
        As in `DE`.

    Notes
    -----
    Source: K. F. Muzakka, A. H. Shali, H. Suhendar, S. Möller, M. Finsterbusch, Robust differential evolution via
    nonlinear population size reduction and adaptive restart: the ARRDE algorithm, arXiv:2511.18429, 2025, in the form
    of the first author's program in the package minionpy, version 1.9. Rules and constants come from the program;
    they were not compared with the text of the paper. The first row of a fit's population is the best point found.
    Differences: The program's first population is a Latin hypercube. The program draws a component that left the box
    between the bound and the mirrored component. Its archive, when full, loses random parents, also new ones. It keeps
    all records; here a random sample of them is kept, as large as the first population. It keeps the intervals and the
    memories of all ended phases; here the last 32 are kept. Where it has too few records, parents from the archives of
    earlier phases follow the bests of the first phase; here records and bests are drawn again. It draws random points
    exactly outside the intervals; here a component inside one is drawn again, at most seven times. It draws the entries
    of the memory without replacement where the population has at most as many individuals. It does not learn from the
    generation that ends a phase. Here an entry of CR that is 0 for good stays so, as in `JSO`; values that are all 0
    end a phase; and a generation that does not fit in the budget is left out.

    Examples
    --------
    >>> from skde import ARRDE, Minimizer
    >>> m = Minimizer(ARRDE(), max_evals=20_000, random_state=0).fit("rastrigin", dim=5)
    >>> bool(m.fun_ < 1e-6)
    True
    """

    name: ClassVar[str] = "arrde"
    shrinks: ClassVar[bool] = True
    tuning_space: ClassVar[TuningSpace] = {
        "p_best": Range(0.02, 0.4),
        "memory_size": Range(2, 20, log=True),
        "archive_rate": Range(0.0, 4.0),
        "refine_from": Range(0.5, 0.99),
        "tol_first": Range(1e-12, 1e-2, log=True),
        "tol_restart": Range(1e-12, 1e-2, log=True),
        "tol_refine": Range(1e-12, 1e-2, log=True),
        "pop_size": SHRINKING_POPULATION,
    }

    p_best: float = 0.11
    memory_size: int = 6
    archive_rate: float = 1.0
    F_start: float = 0.3
    CR_start: float = 0.8
    pop_size: int | None = None
    pop_min: int | None = None
    refine_from: float = 0.9
    tol_first: float = 1e-8
    tol_restart: float = 1e-4
    tol_refine: float = 1e-6
    repair: str = "random"

    @classmethod
    def get_test_params(cls) -> dict[str, Any]:
        """Return a small instance that reaches restarts and refinements early."""
        return {"pop_size": 30, "tol_first": 0.5, "tol_restart": 0.5, "tol_refine": 0.3, "refine_from": 0.7}

    def kernel_parameters(self, setting: FitSetting) -> dict[str, float]:
        """Check the parameters and return the kernel's."""
        dim = setting.dim
        pop_size = self._population(4, "for current-to-pbest/1", default_pop_size(setting))
        pop_min = min(max((dim + 1) // 2, 4), pop_size) if self.pop_min is None else self.pop_min
        shares = {name: check_real(self._name(name), getattr(self, name), 0, 1) for name in ("F_start", "CR_start")}
        tolerances = {
            name: check_real(self._name(name), getattr(self, name), 0)
            for name in ("tol_first", "tol_restart", "tol_refine")
        }
        return {
            "pop_size": pop_size,
            "repair": self._choice("repair", REPAIRS),
            "power": 1.17 + 2.075 * float(_cpu.exp(np.array([-0.0567 * dim]))[0]),
            "late_size": min(max(2 * dim, round(pop_size / 4)), pop_size),
            "refine_from": check_real(self._name("refine_from"), self.refine_from, 0, 1, low_open=True, high_open=True),
            "p_best": check_real(self._name("p_best"), self.p_best, 0, 1, low_open=True),
            "archive_rate": check_real(self._name("archive_rate"), self.archive_rate, 0, 100),
            "H": check_int(self._name("memory_size"), self.memory_size, 1, 10_000),
            **shares,
            **tolerances,
            **population_reduction(self, setting, pop_size, pop_min),
        }

    def needs(self, setting: FitSetting, parameters: dict[str, float]) -> StateSizes:
        """Return the sizes of a run's state: the memory and its copies, and the points that are stored."""
        memory = 2 * int(parameters["H"])
        points = int(parameters["pop_size"] + parameters["late_size"])
        return StateSizes(
            stages=2,
            sorts=True,
            memory=MEMORY["ENTRIES"] + memory + len(NUMBERS) - 1 + KEPT * memory + points,
            archive=archive_rows(parameters) + 2 + 2 * KEPT + points,
        )

    def check_saved(self, runs: SavedRuns) -> None:
        """Check the order, the memory, the phase, and the numbers of points that are stored."""
        runs.check_order("order", "the order of the population", runs.order, np.maximum(runs.size, runs.next_size))
        check_saved_memory(runs)
        begin = MEMORY["ENTRIES"] + 2 * int(runs.parameters["H"])
        numbers = {name: runs.memory[0, :, begin + k] for name, k in NUMBERS.items() if name != "NUMBERS"}
        phase = numbers["PHASE"]
        runs.check_range("memory", "phases", phase, 0, len(PHASES) - 1, whole=True)
        runs.check_range("memory", "restarts since a refinement", numbers["RESTARTS"], 0, math.inf, whole=True)
        runs.check_range("memory", "new bests of the first phase", numbers["BESTS"], 0, runs.generation, whole=True)
        ended = phase != PHASES["FIRST"]
        most = runs.generation * runs.parameters["pop_size"]
        runs.check_range("memory", "records", numbers["RECORDS"], ended, most, whole=True)
        for name, what in (("BOXES", "boxes of ended phases"), ("COPIES", "copies of the memory")):
            runs.check_range("memory", what, numbers[name], ended, runs.generation, whole=True)


def default_pop_size(setting: FitSetting) -> int:
    """Return the size of the initial population by the number of variables and the budget for each of them."""
    dim = setting.dim
    budget = setting.max_evals / dim if setting.max_evals else 10_000
    per_variable = 2 + 5.756 * max(math.log10(budget) - 2, 0) ** 1.609
    return max(int(min(dim * per_variable, LARGEST_DEFAULT)), 2 * dim, 4)
