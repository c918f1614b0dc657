"""Scatter search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from skde.algorithms.base import MOST_INDIVIDUALS, REPAIRS, Algorithm, FitSetting, StateSizes
from skde.algorithms.saved_state import SavedRuns
from skde.validation import check_choice, check_int, check_real

UPDATES = ("quality", "quality_and_diversity")


@dataclass(repr=False, eq=False)
class SS(Algorithm):
    r"""Scatter search: all pairs of a small reference set are combined, and their children search locally.

    Generation 0 is a population of :math:`P` random points. The reference set :math:`R` is made of its `n_best` best
    and, one by one, the `n_diverse` points that are farthest from :math:`R`. An iteration then combines every pair
    :math:`a, b \in R` to two children by BLX-:math:`\alpha`, component by component with :math:`u \sim U[0, 1)`,

    .. math::
        c_j = \min(a_j, b_j) - \alpha I_j + (1 + 2 \alpha) I_j u, \quad I_j = |a_j - b_j|, \quad
        \alpha = 0.5 \pm \lambda,

    improves every child :math:`x` by `n_local` evaluations of Solis' and Wets' search with a bias :math:`b`,

    .. math::
        d_j \sim N(b_j, \rho^2 s_j^2), \qquad (x, b) \leftarrow \begin{cases}
        (x + d,\; 0.2 b + 0.4 d) & \text{if } f(x + d) < f(x), \\
        (x - d,\; b - 0.4 d) & \text{else if } f(x - d) < f(x), \\
        (x,\; 0.5 b) & \text{otherwise,} \end{cases}

    whose :math:`\rho` doubles after more than 5 successes on end and halves after more than 3 failures. The unit
    :math:`s_j` of the steps of a pair's first child (:math:`\alpha = 0.5 + \lambda`) is :math:`I_j`; that of the second
    is :math:`w_j \sqrt r` with the bounds' widths :math:`w_j` and :math:`r^2` the mean of :math:`(I_j / w_j)^2`.

    The best of :math:`R` and the children are the next :math:`R`. Where no child gets into :math:`R`, the next
    iteration has random points instead of children, with :math:`s_j = w_j`, and :math:`R` is made anew of these and its
    best member.

    A generation is one evaluation of every child, so an iteration takes 1 + `n_local` generations. Whether a target or
    a tolerance is reached is looked at when an iteration ends.

    Parameters
    ----------
    pop_size : int, default 140
        Points of generation 0, P, at least `n_best` + `n_diverse`.
    n_best : int, default 9
        References chosen by value, >= 1; with `n_diverse`, at least 2.
    n_diverse : int, default 1
        References chosen by distance, >= 0.
    lambda_ : float, default 0.22
        How far the two children's alpha lie from 0.5, in [0, 0.5].
    n_local : int, default 85
        Evaluations of every child's local search, >= 0.
    step : float, default 0.5
        The first :math:`\rho`, > 0.
    update : {"quality", "quality_and_diversity"}, default "quality"
        Whether all references are chosen by value after the first time, or `n_diverse` of them by distance again.
    repair : {"clip", "reflect", "midpoint", "random", "periodic"}, default "clip"
        What happens to a component outside its bounds, as in `DE`.

    Notes
    -----
    Source: Y. S. G. Nashed, R. Ugolotti, P. Mesejo, S. Cagnoni, libCudaOptimize (2012), section 2.3, whose tuned
    parameters are the defaults; the local search: F. J. Solis, R. J-B. Wets, Minimization by random search techniques,
    Mathematics of Operations Research 6 (1981), algorithm 1. The first leaves open, and we chose: the local search is
    limited by evaluations, of which an iteration that tries the opposite step has two; the units of its
    steps, and that :math:`\rho` knows no lower limit; distances between points are
    measured in widths of the bounds; what happens when :math:`R` stagnates.

    Examples
    --------
    >>> from skde import SS, Minimizer
    >>> m = Minimizer(SS(n_local=20), max_evals=50_000, random_state=0).fit("sphere", dim=5)
    >>> bool(m.fun_ < 1e-6)
    True
    """

    name: ClassVar[str] = "ss"

    pop_size: int = 140
    n_best: int = 9
    n_diverse: int = 1
    lambda_: float = 0.22
    n_local: int = 85
    step: float = 0.5
    update: str = "quality"
    repair: str = "clip"

    @classmethod
    def nashed2012(cls, **parameters: Any) -> SS:
        """Return what Nashed et al. (2012) tuned: P = 140, 9 + 1 references, lambda = 0.22, 85 local evaluations."""
        return cls(**{"pop_size": 140, "n_best": 9, "n_diverse": 1, "lambda_": 0.22, "n_local": 85, **parameters})

    @property
    def iteration_length(self) -> int:
        """Children, then their local search."""
        return 1 + check_int(self._name("n_local"), self.n_local, 0, MOST_INDIVIDUALS)

    @classmethod
    def get_test_params(cls) -> dict[str, Any]:
        """Return parameters of a small search, with several iterations in a short fit."""
        return {"pop_size": 30, "n_best": 4, "n_diverse": 1, "n_local": 3}

    def kernel_parameters(self, setting: FitSetting) -> dict[str, float]:
        """Check the parameters and return the kernel's."""
        n_best = check_int(self._name("n_best"), self.n_best, 1, 2**11)
        n_diverse = check_int(self._name("n_diverse"), self.n_diverse, 0, 2**11)
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
            "diverse_update": UPDATES.index(check_choice(self._name("update"), self.update, UPDATES)),
            "repair": self._choice("repair", REPAIRS),
        }

    def needs(self, setting: FitSetting, parameters: dict[str, float]) -> StateSizes:
        """Return what a run needs: its references, and in parts with a barrier after each how they are chosen."""
        references, n_best = int(parameters["references"]), int(parameters["n_best"])
        return StateSizes(stages=2 + references - n_best, memory=2, kept=references)

    def check_saved(self, runs: SavedRuns) -> None:
        """Check the notes of whether a pool is drawn again."""
        runs.check_range("memory", "notes", runs.memory[..., :2], 0, 1, whole=True)
