"""Results of runs."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.optimize import OptimizeResult

from skde.engines.state.batch import best_of
from skde.stopping import MESSAGES, Status
from skde.typing import FloatArray, IntArray


class Sample(NamedTuple):
    """A sample of a history.

    Attributes
    ----------
    n_evals : int
        Evaluations done.
    seconds : float
        Time since the fit began.
    best : float
        The best value so far.
    """

    n_evals: int
    seconds: float
    best: float


@dataclass(frozen=True)
class History:
    """The best value over time: sampled at every one of the first 128 generations, then 64 times a doubling.

    It gives its samples one after the other, so that ``pandas.DataFrame(history)`` is a table of them.

    Attributes
    ----------
    n_evals : ndarray of shape (n,)
        Evaluations done.
    seconds : ndarray of shape (n,)
        Time since the fit began, interpolated between the ends of engine calls.
    best : ndarray of shape (n,)
        The best value so far; inside an iteration of `SS` the value at its beginning. The last one is the final value.
        With constraints only feasible points count, and the value is infinite before the first of them.
    """

    n_evals: IntArray
    seconds: FloatArray
    best: FloatArray

    def __len__(self) -> int:
        return len(self.n_evals)

    def __iter__(self) -> Iterator[Sample]:
        return map(Sample, self.n_evals.tolist(), self.seconds.tolist(), self.best.tolist())

    def __repr__(self) -> str:
        ends = f"{self.best[0]:.6g} to {self.best[-1]:.6g}" if len(self) else "empty"
        return f"History({len(self)} samples, best: {ends})"


@dataclass(frozen=True)
class RunResult:
    """The result of one run.

    Attributes
    ----------
    x : ndarray of shape (dim,)
        The best point.
    fun : float
        Its value; NaN where all values were NaN, or where no point was feasible: f is not called with infeasible ones.
    n_evals, n_iter : int
        Evaluations, and generations after the initial population.
    time : float
        Seconds from the fit's beginning to this run's end.
    status : Status
        The reason for its end.
    seed : int
        A Minimizer with this random_state and n_runs=1 repeats the run alone.
    history : History
        Its best value over time.
    max_violation : float
        The largest violation of one constraint at x, max(0, g) or abs(h); 0 without constraints.
    violation : float
        The violation by which feasibility rules compare infeasible points; 0 for a feasible one.
    polish_evals : int
        The evaluations of the polish, a part of n_evals.
    polish_complete : bool
        Whether nothing cut the polish short, such as Ctrl-C.
    final_evals_complete : bool
        Whether nothing cut the evaluations short that follow the last generation of a noisy function.
    exhausted : bool
        Whether every point of a discrete space has been evaluated, so that x is its best point.
    agreeing : int
        How many independent searches ended at x, where the run ended for that reason; else 0.
    flat : bool
        Whether no two finite values of its populations differed.
    """

    x: FloatArray
    fun: float
    n_evals: int
    n_iter: int
    time: float
    status: Status
    seed: int
    history: History
    max_violation: float = 0.0
    violation: float = 0.0
    polish_evals: int = 0
    polish_complete: bool = True
    final_evals_complete: bool = True
    exhausted: bool = False
    agreeing: int = 0
    flat: bool = False

    @property
    def feasible(self) -> bool:
        """Whether x satisfies the constraints, if there are any."""
        return self.violation == 0

    @property
    def has_value(self) -> bool:
        """Whether x is feasible and has a value, other than NaN and infinity."""
        return self.feasible and self.fun < np.inf

    @property
    def has_equal_values(self) -> bool:
        """Whether its populations had one value, which is x's."""
        best = self.history.best
        return self.flat and not self.exhausted and bool((best[np.isfinite(best)] == self.fun).all())

    @property
    def success(self) -> bool:
        """Whether the run reached its target or its tolerance, at a feasible point with a value."""
        return self.has_value and self.status.success

    @property
    def message(self) -> str:
        """The status in words, and whether there is a value and the constraints are satisfied."""
        text = MESSAGES[self.status]
        if self.exhausted:
            text = "Every point of the space has been evaluated, so that the best one is the minimum."
        if self.agreeing:
            text = f"{self.agreeing} independent searches ended at this point."
        if self.polish_evals:
            text += f" A local search of {self.polish_evals} evaluations followed"
            text += "." if self.polish_complete else ", and was cut short."
        if not self.final_evals_complete:
            text += " The evaluations of final_evals were cut short, so that the value comes from one evaluation."
        if self.has_value:
            return f"All values were equal, so the minimum may be anywhere. {text}" if self.has_equal_values else text
        if self.feasible:
            return f"No value of {self.n_evals} evaluations was finite. {text}"
        return f"No feasible point was found, the least violation is {self.violation:.3g}. {text}"


def add_sample(result: RunResult, n_evals: int, seconds: float) -> RunResult:
    """Return a result with so many evaluations and so much time in all, which its history then ends with."""
    history, best = result.history, result.fun if result.feasible else np.inf
    samples = np.append(history.n_evals, n_evals), np.append(history.seconds, seconds), np.append(history.best, best)
    return replace(result, n_evals=n_evals, time=seconds, history=History(*samples))


def best_run(runs: Sequence[RunResult]) -> int:
    """Return the index of the best run: the smallest value of feasible runs or, without any, the least violation.

    A feasible run without a value is worse than every violation, as are its points.
    """
    if any(run.has_value for run in runs):
        return best_of(np.array([run.fun if run.has_value else np.inf for run in runs]))
    if any(not run.feasible for run in runs):
        return best_of(np.array([np.inf if run.feasible else run.violation for run in runs]))
    return best_of(np.array([run.fun for run in runs]))


def missing_value(runs: Sequence[RunResult]) -> str:
    """Return the text of a warning where no evaluation of any run has given a value; empty where one has."""
    best = runs[best_run(runs)]
    if best.has_value or (best.violation < np.inf and not best.feasible):
        return ""
    n_evals = sum(run.n_evals for run in runs)
    if not best.feasible:
        return (
            f"the constraints were finite at none of {n_evals} points: x is none that is known to be feasible; give "
            "bounds, or an x0, where the constraints have values"
        )
    return (
        f"no value of the objective was finite in {n_evals} evaluations: x is a point without a value; give bounds, or "
        "an x0, where the objective has values"
    )


@contextmanager
def ignore_missing_values() -> Iterator[None]:
    """Suppress the warning of `missing_value`, for callers that say themselves which fits have no value."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "no value of the objective was finite")
        yield


def optimize_result(run: RunResult, population: FloatArray, fitness: FloatArray, n_evals: int) -> OptimizeResult:
    """Return SciPy's form of a result; `nfev` counts all runs, and `success` is False where a limit ended the run."""
    return OptimizeResult(
        x=run.x,
        fun=run.fun,
        success=run.success,
        status=int(run.status),
        message=run.message,
        nfev=n_evals,
        nit=run.n_iter,
        polish_evals=run.polish_evals,
        population=population,
        population_energies=fitness,
        maxcv=run.max_violation,
        constr_violation=run.max_violation,
        history=run.history,
    )
