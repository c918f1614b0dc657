"""Scatter search."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from skde.algorithms.base import MOST_INDIVIDUALS, REPAIRS, Algorithm, FitSetting, StateSizes
from skde.algorithms.saved_state import SavedRuns
from skde.algorithms.tuning_space import Range, TuningSpace
from skde.constants import CONSTANTS
from skde.utils.validation import check_bool, check_choice, check_int, check_real

STEP_UNITS = ("parents", "bounds")
UPDATES = ("quality", "quality_and_diversity")
MOST_REFERENCES = 2**11  # of each kind


@dataclass(repr=False, eq=False)
class SS(Algorithm):
    r"""Scatter search: all pairs of a small reference set are combined, and a local search improves their children.

    The initial population has :math:`P` random points. The reference set :math:`R` has the `n_best` best of them and,
    chosen one after the other, the `n_diverse` points that are farthest from :math:`R`. An iteration combines every
    pair :math:`a, b \in R` into two children by BLX-:math:`\alpha`, with :math:`u \sim U[0, 1)` for every component,

    .. math::
        c_j = \min(a_j, b_j) - \alpha I_j + (1 + 2 \alpha) I_j u, \quad I_j = |a_j - b_j|, \quad
        \alpha = 0.5 \pm \lambda,

    and improves every child :math:`x` by `n_local` evaluations of the local search of Solis and Wets with a bias
    :math:`b`,

    .. math::
        d_j \sim N(b_j, \rho^2 s_j^2), \qquad (x, b) \leftarrow \begin{cases}
        (x + d,\; 0.2 b + 0.4 d) & \text{if } f(x + d) < f(x), \\
        (x - d,\; b - 0.4 d) & \text{else if } f(x - d) < f(x), \\
        (x,\; 0.5 b) & \text{otherwise,} \end{cases}

    where :math:`\rho` doubles after more than 5 successes in a row and halves after more than 3 failures in a row. The
    unit :math:`s_j` of the steps of a pair's first child (:math:`\alpha = 0.5 + \lambda`) is :math:`I_j`; the
    second's is :math:`w_j \sqrt r` with the bounds' widths :math:`w_j`, and :math:`r^2` the mean of :math:`(I_j /
    w_j)^2`.

    The best of :math:`R` and the children are the next :math:`R`. If no child enters :math:`R`, the next iteration has
    random points instead of children, with :math:`s_j = w_j`, and :math:`R` is chosen from these points and its best
    member.

    A generation is one evaluation of every child, so an iteration has 1 + `n_local` generations. Targets and tolerances
    are checked at the end of an iteration.

    Parameters
    ----------
    pop_size : int, default 140
        Number of points P of the initial population, at least `n_best` + `n_diverse`.
    n_best : int, default 9
        Number of references chosen by value, in [1, 2048]; together with `n_diverse`, at least 2.
    n_diverse : int, default 1
        Number of references chosen by distance, in [0, 2048].
    lambda_ : float, default 0.22
        Distance of the two children's alpha from 0.5, in [0, 0.5].
    n_local : int, default 85
        Number of evaluations of every child's local search, >= 0.
    step : float, default 0.5
        First value of :math:`\rho`, > 0.
    update : {"quality", "quality_and_diversity"}, default "quality"
        Choice of references after the first: all by value, or `n_diverse` of them by distance again.
    repair : {"clip", "reflect", "midpoint", "random", "periodic"}, default "clip"
        Repair of a component outside its bounds, as in `DE`.
    restart : bool, default True
        Whether an iteration of random points follows one that left :math:`R` as it was.
    step_unit : {"parents", "bounds"}, default "parents"
        Unit of the steps: as above, or :math:`s_j = w_j` for all children.

    Notes
    -----
    Source: Y. S. G. Nashed, P. Mesejo, R. Ugolotti, J. Dubois-Lacoste, S. Cagnoni, A comparative study of three
    GPU-based metaheuristics (PPSN XII, 2012), section 2.3, with the tuned parameters of its table 1 as defaults; the
    local search: F. J. Solis, R. J-B. Wets, Minimization by random search techniques, Mathematics of Operations
    Research 6 (1981), algorithm 1. The first does not say, and we chose: the limit of the local search in evaluations
    (a step and its opposite take two); the units of its steps; no lower limit of :math:`\rho`; distances between
    points in widths of the bounds; the renewal of :math:`R` when it stagnates. ``restart=False, step_unit="bounds"`` is
    the search as the paper prints it: without the renewal, and with one :math:`\rho` for all components of a box with
    equal sides.

    Examples
    --------
    >>> from skde import SS, Minimizer
    >>> m = Minimizer(SS(n_local=20), max_evals=50_000, random_state=0).fit("sphere", dim=5)
    >>> bool(m.fun_ < 1e-6)
    True
    """

    name: ClassVar[str] = "ss"
    # The five that Nashed et al. (2012) tuned, and the update.
    tuning_space: ClassVar[TuningSpace] = {
        "n_best": Range(2, 12),
        "n_diverse": Range(0, 8),
        "lambda_": Range(0.0, 0.5),
        "n_local": Range(1, 200, log=True),
        "update": UPDATES,
        "pop_size": Range(20, 256, log=True),
    }
    small_parameters: ClassVar[Mapping[str, Any]] = {"n_best": 3, "n_diverse": 1, "n_local": 1}
    vectors_per_trial: ClassVar[int] = 4
    most_trials: ClassVar[int] = MOST_REFERENCES * (MOST_REFERENCES + 1)

    pop_size: int = 140
    n_best: int = 9
    n_diverse: int = 1
    lambda_: float = 0.22
    n_local: int = 85
    step: float = 0.5
    update: str = "quality"
    repair: str = "clip"
    restart: bool = True
    step_unit: str = "parents"

    @classmethod
    def with_trials(cls, trials: int, **parameters: Any) -> Self:
        """Return a search with about this number of children: r references have r (r - 1)."""
        references = max(round(0.5 + math.sqrt(0.25 + trials)), 2)
        return cls(**{"pop_size": references, "n_best": references - 1, "n_diverse": 1, **parameters})

    @classmethod
    def nashed2012(cls, **parameters: Any) -> SS:
        """Return the search that Nashed et al. (2012) tuned: P = 140, 9 + 1 references, lambda = 0.22, n_local = 85.

        ``SS.nashed2012(restart=False, step_unit="bounds")`` is the search as the paper prints it.

        Parameters
        ----------
        **parameters
            Parameters of `SS` that replace the tuned ones.

        Returns
        -------
        algorithm : SS
        """
        return cls(**{"pop_size": 140, "n_best": 9, "n_diverse": 1, "lambda_": 0.22, "n_local": 85, **parameters})

    @property
    def iteration_length(self) -> int:
        """Number of generations in an iteration: one of children, the others of their local search."""
        return 1 + check_int(self._name("n_local"), self.n_local, 0, MOST_INDIVIDUALS)

    @classmethod
    def get_test_params(cls) -> dict[str, Any]:
        """Return parameters of a small search, so that a short fit has several iterations."""
        return {"pop_size": 30, "n_best": 4, "n_diverse": 1, "n_local": 3}

    def kernel_parameters(self, setting: FitSetting) -> dict[str, float]:
        """Check the parameters and return the kernel's."""
        n_best = check_int(self._name("n_best"), self.n_best, 1, MOST_REFERENCES)
        n_diverse = check_int(self._name("n_diverse"), self.n_diverse, 0, MOST_REFERENCES)
        references = n_best + n_diverse
        if references < 2:
            raise ValueError(
                f"{self._name('n_best')} + {self._name('n_diverse')} must be at least 2, for a pair; got {references}"
            )
        pop_size = self._population(references, "for a reference set of n_best + n_diverse")
        return {
            "pop_size": pop_size,
            "pool_size": references * (references - 1),
            "references": references,
            "n_best": n_best,
            "lambda": check_real(self._name("lambda_"), self.lambda_, 0, 0.5),
            "n_local": check_int(self._name("n_local"), self.n_local, 0, MOST_INDIVIDUALS),
            "step": check_real(self._name("step"), self.step, 0, low_open=True),
            "diverse_update": check_choice(self._name("update"), self.update, UPDATES) == UPDATES[1],
            "repair": self._choice("repair", REPAIRS),
            "restart": check_bool(self._name("restart"), self.restart),
            "box_steps": check_choice(self._name("step_unit"), self.step_unit, STEP_UNITS) == STEP_UNITS[1],
        }

    def needs(self, setting: FitSetting, parameters: dict[str, float]) -> StateSizes:
        """Return the sizes of a run's state: its references, and the stages in which they are chosen."""
        references, n_best = int(parameters["references"]), int(parameters["n_best"])
        # In a large population each of the farthest takes two stages.
        trials = max(parameters["pop_size"], parameters["pool_size"])
        stages_each = 2 if trials > CONSTANTS["COUNTED_BY_GPU"] else 1
        stages = 2 + (references - n_best) * stages_each
        return StateSizes(stages=stages, sorts=True, memory=CONSTANTS["STAGNATED_PLACES"], references=references)

    def check_saved(self, runs: SavedRuns) -> None:
        """Check the two flags that say whether the pool is drawn again."""
        runs.check_range("memory", "notes", runs.memory[..., : CONSTANTS["STAGNATED_PLACES"]], 0, 1, whole=True)
