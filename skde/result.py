"""What a fit leaves behind."""

from __future__ import annotations

from dataclasses import dataclass

from scipy.optimize import OptimizeResult

from skde.stopping import MESSAGES, Status
from skde.typing import FloatArray, IntArray


@dataclass(frozen=True)
class History:
    """How the best value fell: sampled at every one of the first 128 generations, then 64 times a doubling.

    Attributes
    ----------
    n_evals : ndarray of shape (n,)
        Evaluations done.
    seconds : ndarray of shape (n,)
        Time since the fit began, interpolated between the moments at which the engine came back.
    best : ndarray of shape (n,)
        The best value so far.
    """

    n_evals: IntArray
    seconds: FloatArray
    best: FloatArray

    def __len__(self) -> int:
        return len(self.n_evals)


@dataclass(frozen=True)
class RunResult:
    """One run.

    Attributes
    ----------
    x : ndarray of shape (dim,)
        The best point.
    fun : float
        Its value; NaN where the run saw nothing but NaN.
    n_evals, n_iter : int
        Evaluations, and generations after the initial population.
    time : float
        Seconds from the fit's beginning to this run's end.
    status : Status
        Why it ended.
    seed : int
        A Minimizer with this random_state and n_runs=1 repeats the run alone.
    history : History
        How its best value fell.
    """

    x: FloatArray
    fun: float
    n_evals: int
    n_iter: int
    time: float
    status: Status
    seed: int
    history: History

    @property
    def message(self) -> str:
        """The status in words."""
        return MESSAGES[self.status]


def optimize_result(run: RunResult, population: FloatArray, fitness: FloatArray, n_evals: int) -> OptimizeResult:
    """Return SciPy's form of a result; `nfev` counts all runs."""
    return OptimizeResult(
        x=run.x,
        fun=run.fun,
        success=run.status.success or run.status == Status.LIMIT,
        status=int(run.status),
        message=run.message,
        nfev=n_evals,
        nit=run.n_iter,
        population=population,
        population_energies=fitness,
    )
