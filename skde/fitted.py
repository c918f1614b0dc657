"""What a fitted solver can be asked: read from its runner, so it also holds after a fit that broke off."""

from __future__ import annotations

import numpy as np
from scipy.optimize import OptimizeResult
from sklearn.exceptions import NotFittedError

from skde.objectives.feasibility import readable
from skde.result import History, RunResult, best_run, optimize_result
from skde.runner import Runner
from skde.typing import FloatArray


class Fitted:
    """The attributes that end with an underscore."""

    _runner: Runner

    def __sklearn_is_fitted__(self) -> bool:
        """Whether there is a best point to read."""
        return hasattr(self, "_runner") and self._runner.generation >= 0

    def _fitted(self, allowed: str = "") -> Runner:
        if not self.__sklearn_is_fitted__() and not (allowed and hasattr(self, "_runner")):
            raise NotFittedError(f"this {type(self).__name__} has evaluated nothing yet: call fit, or ask and tell")
        return self._runner

    @property
    def runs_(self) -> list[RunResult]:
        """Every run's result."""
        return self._fitted().results()

    @property
    def _best_run(self) -> int:
        return best_run(self.runs_)

    @property
    def _best(self) -> RunResult:
        return self.runs_[self._best_run]

    @property
    def x_(self) -> FloatArray:
        """The best point of all runs, of shape (dim,)."""
        return self._best.x

    @property
    def fun_(self) -> float:
        """The best point's value."""
        return self._best.fun

    @property
    def max_violation_(self) -> float:
        """The largest violation of one constraint at the best point; 0.0 without constraints."""
        return self._best.max_violation

    @property
    def n_evals_(self) -> int:
        """Evaluations of the best run."""
        return self._best.n_evals

    @property
    def n_iter_(self) -> int:
        """Generations of the best run, after the initial population."""
        return self._best.n_iter

    @property
    def time_(self) -> float:
        """Seconds that the best run took."""
        return self._best.time

    @property
    def converged_(self) -> bool:
        """Whether the best run reached its target or its tolerance, at a feasible point."""
        return self._best.success

    @property
    def message_(self) -> str:
        """Why the best run ended."""
        return self._best.message

    @property
    def history_(self) -> History:
        """How the best run's best value fell."""
        return self._best.history

    @property
    def population_(self) -> FloatArray:
        """The best run's population, of shape (pop_size, dim); of all its islands, one after the other."""
        return self._populations(self._best_run)[0]

    @property
    def fitness_(self) -> FloatArray:
        """The values of the best run's population, of shape (pop_size,); infinite where a point is not feasible."""
        return self._populations(self._best_run)[1]

    def _populations(self, run: int) -> tuple[FloatArray, FloatArray]:
        runner = self._fitted()
        batch = runner.batch
        islands = range(run * batch.n_islands, (run + 1) * batch.n_islands)
        x, f = zip(*(batch.population(island) for island in islands), strict=True)
        fitness = np.concatenate(f)
        return np.concatenate(x), fitness if runner.rules is None else readable(fitness)

    @property
    def result_(self) -> OptimizeResult:
        """The best run in SciPy's form."""
        runs = self.runs_
        best = self._best_run
        population, fitness = self._populations(best)
        return optimize_result(runs[best], population, fitness, sum(run.n_evals for run in runs))
