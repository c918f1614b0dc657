"""CMA-ES, the evolution strategy with covariance matrix adaptation."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log, log2
from typing import Any, ClassVar

import numpy as np

from skde.algorithms.base import MOST_INDIVIDUALS, REPAIRS, Algorithm, FitSetting, StateSizes
from skde.algorithms.saved_state import SavedRuns
from skde.algorithms.tuning_space import POPULATION, Range, TuningSpace
from skde.constants import ENUMERATIONS, choices
from skde.utils.validation import check_bool, check_choice, check_int, check_real

NUMBERS, ROWS = ENUMERATIONS["Cmaes::Numbers"], ENUMERATIONS["Cmaes::Rows"]
RESTARTS = choices("Restarts")
COVARIANCES = ("auto", "full", "diagonal")
MOST_FULL = 256  # variables that "auto" gives a full matrix
MOST_INDEXED = 2**15  # variables of a full matrix: the kernel counts its elements in 32 bits
MOST_DOUBLINGS, MOST_TRIALS = 9, 2**14  # of a population by default


@dataclass(repr=False, eq=False)
class CMAES(Algorithm):
    r"""CMA-ES: normal steps; their covariance matrix, size and mean adapt to the best; with restarts.

    A generation has :math:`\lambda` trials. With a factor :math:`A` of the covariance matrix :math:`C = A A^T` and the
    weights :math:`w_1 > \dots > w_\mu > 0 > \dots > w_\lambda` of the ranks,

    .. math::
        x_k &= m + \sigma A z_k, \quad z_k \sim N(0, I), \qquad
        z_w = \sum_{k \le \mu} w_k z_{k:\lambda}, \qquad m' = m + \sigma A z_w, \\
        p_\sigma' &= (1 - c_\sigma) p_\sigma + \sqrt{c_\sigma (2 - c_\sigma) \mu_w} \; z_w, \qquad
        \sigma' = \sigma \exp \min \left( 1, \frac{c_\sigma}{d_\sigma} \left( \frac{\|p_\sigma'\|}{E \|N(0, I)\|} - 1
        \right) \right), \\
        v' &= (1 - c_c) v + h \sqrt{c_c (2 - c_c) \mu_w} \; z_w, \\
        S &= (1 + c_1 (1 - h) c_c (2 - c_c) - c_1 - c_\mu \sum w_k) I + c_1 v' v'^T
        + c_\mu \sum w_k^\circ z_{k:\lambda} z_{k:\lambda}^T, \\
        A' &= A S^{1/2}, \qquad v \leftarrow S^{-1/2} v',

    where :math:`z_{k:\lambda}` belongs to the k-th best trial, :math:`\mu_w = 1 / \sum_{k \le \mu} w_k^2`,
    :math:`w_k^\circ = w_k`, but :math:`w_k D / \|z_{k:\lambda}\|^2` for negative weights, and :math:`h` is 0 while
    :math:`p_\sigma'` is long, else 1. :math:`A S A^T` is the C of the covariance matrix adaptation, and :math:`A v'`
    its path :math:`p_c`. The matrix :math:`A` changes every :math:`1 / (10 D (c_1 + c_\mu))` generations, between which
    :math:`S` accumulates. With ``covariance="diagonal"``, A and S are diagonal, and :math:`c_1` and :math:`c_\mu` are
    :math:`(D + 2) / 3` times as large.

    The search begins at the best point of the initial population, with :math:`A` the widths of the box. It starts again
    at a random point of the box after a generation in which

    - the best values of the last :math:`10 + \lceil 30 D / \lambda \rceil` generations differ by at most `tol_fun` /
      10 times the size of the smallest, or by at most `tol_fun` times this, as do the values of the generation;
    - all standard deviations are below `tol_x`, in widths of the box, or one is above 1000 times the step at the start;
    - a fifth of a standard deviation does not change a component of the mean;
    - the condition number of C is above 1e14;
    - neither the best value nor the median had a new minimum for :math:`100 + 100 D^{3/2} / \lambda` generations, and
      for a fifth of all since the last start.

    With ``restarts="ipop"`` every restart doubles :math:`\lambda`. With ``restarts="bipop"`` a restart doubles the
    largest :math:`\lambda_l` so far, or has a small one, whichever has had fewer evaluations: :math:`\lambda_0 \lfloor
    (\lambda_l / 2 \lambda_0)^{u^2} \rfloor`, with a step of :math:`10^{-2 u'}` `sigma0` and at most half of the
    evaluations of the last large one; :math:`u, u' \sim U[0, 1)`.

    Trials outside the box are ranked by :math:`f(\text{repaired } x) + \gamma d^2`, with the distance :math:`d` of
    :math:`x` from the box in widths of the box. :math:`\gamma` is the smallest so far of `penalty` times the
    interquartile range of the values of a generation, up to the largest finite one, divided by the mean of its
    variances. It rises to the last of these while the mean is far from the box.

    Parameters
    ----------
    pop_size : int or None, default None
        Number of trials :math:`\lambda_0` of a generation before restarts, >= 4; None: :math:`4 + \lfloor 3 \ln D
        \rfloor`.
    sigma0 : float, default 0.2
        First step :math:`\sigma`, in widths of the box, in (0, 10].
    covariance : {"auto", "full", "diagonal"}, default "auto"
        All covariances, or variances only; "auto": "full" up to 256 variables.
    restarts : {"bipop", "ipop"} or None, default "bipop"
        Population of a restart, as above; None: no restarts.
    active : bool, default True
        Whether there are negative weights.
    max_doublings : int or None, default None
        Number of times that a population doubles, in [0, 20], as far as it has less than 2^24 trials; later ones are as
        large. A run stores two or three numbers for every trial of the largest population. None: 9, but at most up to
        16384 trials.
    tol_x : float, default 1e-12
        Tolerance of the standard deviations, >= 0.
    tol_fun : float, default 1e-14
        Tolerance of the values, relative to the smallest, >= 0; 0: they must be equal. So a search does not depend on
        the unit of the values.
    repair : {"clip", "reflect", "midpoint", "random", "periodic"}, default "clip"
        Repair of a component outside its bounds, as in `DE`; the parent is the mean.
    penalty : float, default 2.0
        Weight of the distance of trials from the box, >= 0; see above.

    Notes
    -----
    Source: N. Hansen, A. Ostermeier, Completely derandomized self-adaptation in evolution strategies, Evolutionary
    Computation 9 (2001), in the form of N. Hansen, The CMA evolution strategy: a tutorial, arXiv 1604.00772, with its
    weights and learning rates; the factor: H.-G. Beyer, B. Sendhoff, Simplify your covariance matrix adaptation
    evolution strategy, IEEE Transactions on Evolutionary Computation 21 (2017); ``covariance="diagonal"``: R. Ros, N.
    Hansen, A simple modification in CMA-ES achieving linear time and space complexity, PPSN X (2008);
    ``restarts="ipop"``: A. Auger, N. Hansen, A restart CMA evolution strategy with increasing population size, CEC
    (2005); "bipop": N. Hansen, Benchmarking a BI-population CMA-ES on the BBOB-2009 function testbed, GECCO (2009).
    Differences: the tutorial decomposes C into eigenvectors, and Beyer and Sendhoff have :math:`A' = A (I + S) / 2` and
    :math:`p_\sigma` instead of :math:`v`; here :math:`S^{1/2}` is made of products of matrices, by three terms of its
    series and an iteration where these are not enough, so that A has the same bits on every device. :math:`c_\sigma =
    (\mu_w + 2) / (D + \mu_w + 3)`, as in the package pycma. Small populations of "bipop" are multiples of `pop_size`.
    The criteria of a restart are close to pycma's, but simpler: the tolerance of values is relative, no
    eigenvectors are tested, the condition number is an estimate from a QR decomposition, and stagnation compares
    minima. pycma's penalty has a weight for each
    component. A generation of k `pop_size` trials takes k generations of the fit, so limits and callbacks count
    generations of `pop_size` evaluations. The population of a fit has, for each of its rows, the best point that was a
    trial of this row: a migrant from another island enters it and does not move the mean. Values that `tell` gets for
    other points than those asked count for the steps that were asked.

    Examples
    --------
    >>> from skde import CMAES, Minimizer
    >>> m = Minimizer(CMAES(), max_evals=20_000, random_state=0).fit("rosenbrock", dim=10)
    >>> bool(m.fun_ < 1e-8)
    True
    """

    name: ClassVar[str] = "cmaes"
    tuning_space: ClassVar[TuningSpace] = {
        "sigma0": Range(0.05, 0.5, log=True),
        "restarts": ("ipop", "bipop"),
        "active": (True, False),
        "pop_size": POPULATION,
    }
    vectors_per_trial: ClassVar[int] = 2  # a trial is written, and read for the mean

    pop_size: int | None = None
    sigma0: float = 0.2
    covariance: str = "auto"
    restarts: str | None = "bipop"
    active: bool = True
    max_doublings: int | None = None
    tol_x: float = 1e-12
    tol_fun: float = 1e-14
    repair: str = "clip"
    penalty: float = 2.0

    def kernel_parameters(self, setting: FitSetting) -> dict[str, float]:
        """Check the parameters and return the kernel's."""
        pop_size = self._population(4, "for two parents", 4 + int(3 * log(setting.dim)))
        covariance = check_choice(self._name("covariance"), self.covariance, COVARIANCES)
        diagonal = covariance == "diagonal" or (covariance == "auto" and setting.dim > MOST_FULL)
        if not diagonal and setting.dim > MOST_INDEXED:
            raise ValueError(
                f"{self._name('covariance')} must be 'auto' or 'diagonal' for more than {MOST_INDEXED} variables, got "
                f"'full' for {setting.dim}"
            )
        kinds = [name for name in RESTARTS if name != "none"]
        restarts = "none" if self.restarts is None else check_choice(self._name("restarts"), self.restarts, kinds)
        return {
            "pop_size": pop_size,
            "repair": self._choice("repair", REPAIRS),
            "sigma0": check_real(self._name("sigma0"), self.sigma0, 0, 10, low_open=True),
            "diagonal": diagonal,
            "active": check_bool(self._name("active"), self.active),
            "restarts": RESTARTS[restarts],
            "most_parts": 2 ** self._doublings(pop_size),
            "tol_x": check_real(self._name("tol_x"), self.tol_x, 0),
            "tol_fun": check_real(self._name("tol_fun"), self.tol_fun, 0),
            "penalty": check_real(self._name("penalty"), self.penalty, 0),
        }

    def needs(self, setting: FitSetting, parameters: dict[str, float]) -> StateSizes:
        """Return the sizes of a run's state: matrices, vectors, and the values of the largest population."""
        trials = int(parameters["pop_size"] * parameters["most_parts"])
        window = 10 + ceil(30 * setting.dim / parameters["pop_size"])
        matrices = 2 if parameters["diagonal"] else 4 * setting.dim
        return StateSizes(
            stages=1,
            memory=NUMBERS["NUMBERS"] + trials + max(trials, window),
            archive=ROWS["MATRICES"] + matrices,
        )

    def check_saved(self, runs: SavedRuns) -> None:
        """Check the populations, the generations and the step."""
        now = runs.memory[runs.generation & 1, np.arange(len(runs.generation))]
        most = runs.parameters["most_parts"]

        def check(what: str, name: str, low: Any, high: Any, whole: bool = True) -> None:
            runs.check_range("memory", what, now[:, NUMBERS[name]], low, high, whole)

        check("parts of a population", "PARTS", 1, most)
        check("parts that were evaluated", "PART", 0, now[:, NUMBERS["PARTS"]] - 1)
        check("parts of the largest population", "LARGE", 1, most)
        check("numbers of the factor", "FACTOR", 0, 1)
        check("generations since a restart", "LENGTH", 0, runs.generation)
        check("generations of a factor", "AGE", 0, runs.generation)
        check("steps", "SIGMA", 0, 1e10, whole=False)

    def _doublings(self, pop_size: int) -> int:
        if self.max_doublings is not None:
            chosen = check_int(self._name("max_doublings"), self.max_doublings, 0, 20)
            chosen = min(chosen, int(log2(MOST_INDIVIDUALS / pop_size)))  # the kernel counts the trials in 32 bits
        else:
            chosen = min(MOST_DOUBLINGS, max(int(log2(MOST_TRIALS / pop_size)), 0))
        return 0 if self.restarts is None else chosen
