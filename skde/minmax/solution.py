"""The results of a min-max solver."""

from __future__ import annotations

from typing import ClassVar

from scipy.optimize import OptimizeResult

from skde.base import BaseSolver
from skde.engines import Coevolution, SplitCoevolution
from skde.minmax.objective import MinMaxObjective
from skde.minmax.results import best_against_all, best_response_values
from skde.result import RunResult, best_run
from skde.typing import FloatArray


class MinMaxSolution(BaseSolver):
    """The results that MinMaxSolver adds to those of every solver, or defines in another way."""

    NOT_PICKLED: ClassVar[tuple[str, ...]] = (*BaseSolver.NOT_PICKLED, "_compared", "_searched")

    _objective: MinMaxObjective | None  # None in ask and tell, and after loading a fit of a Python function
    _boxes: tuple[FloatArray, FloatArray | None]  # of x, and of y where y is not a vector of multipliers
    _compared: tuple[list[RunResult], int, RunResult] | None = None
    _searched: tuple[RunResult, tuple[float, float]] | None = None

    @property
    def _coevolution(self) -> Coevolution | SplitCoevolution:
        batch = self._fitted("ask").batch
        assert isinstance(batch, Coevolution | SplitCoevolution)
        return batch

    @property
    def _best_run(self) -> int:
        return self._compare()[0]

    @property
    def _best(self) -> RunResult:
        return self._compare()[1]

    def _compare(self) -> tuple[int, RunResult]:
        """Return the number of the best run, and its result against the opponents of all runs."""
        runs, objective = self.runs_, self._objective
        if self._compared is None or self._compared[0] is not runs:
            if objective is None or objective.problem is not None or len(runs) == 1:
                best = best_run(runs)
                self._compared = runs, best, runs[best]
            else:
                self._compared = (
                    runs,
                    *best_against_all(runs, objective, self._coevolution.x.dim, self._fitted().engine),
                )
        return self._compared[1:]

    @property
    def x_(self) -> FloatArray:
        """The best incumbent of all runs, of shape (dim x,)."""
        return self._best.x[: self._coevolution.x.dim]

    @property
    def y_(self) -> FloatArray:
        """The strongest opponent of x_ so far, of shape (dim y,)."""
        return self._best.x[self._coevolution.x.dim :]

    @property
    def multipliers_(self) -> FloatArray:
        """y_ of a constrained problem, of shape (m + l,)."""
        self._fitted()
        if self._objective is None or self._objective.problem is None:
            raise AttributeError("multipliers_ are of constrained problems only")
        return self.y_

    @property
    def worst_case_(self) -> float:
        """An estimate of max over y of f(x_, y)."""
        return self._best_responses("worst_case_")[0]

    @property
    def saddle_gap_(self) -> float:
        """An estimate of max over y of f(x_, y) minus min over x of f(x, y_)."""
        highest, lowest = self._best_responses("saddle_gap_")
        return highest - lowest

    def _best_responses(self, attribute: str) -> tuple[float, float]:
        """Return the largest f(x_, y) and the smallest f(x, y_) that searches find; errors name the attribute."""
        runner, objective = self._fitted(), self._objective
        box_x, box_y = self._boxes
        if objective is None:
            raise AttributeError(
                f"{attribute} needs the function, which neither ask and tell nor a file give: resume(f)"
            )
        if box_y is None:
            raise AttributeError(f"{attribute} is of min-max problems only; a constrained one has max_violation_")
        if self._searched is None or self._searched[0] is not self._best:
            # Searches are short, so the CPU is faster for compiled functions.
            device = runner.engine.name.split(", ")[0] if objective.game is None else "cpu"
            self._searched = self._best, best_response_values(objective.values, self.x_, self.y_, box_x, box_y, device)
        return self._searched[1]

    @property
    def population_x_(self) -> FloatArray:
        """The best run's population of x."""
        return self._coevolution.x.population(self._best_run)[0]

    @property
    def population_y_(self) -> FloatArray:
        """The best run's population of y; multipliers that are updated are one row."""
        batch = self._coevolution
        return self.y_[None] if batch.coevolution_spec.updates else batch.y.population(self._best_run)[0]

    @property
    def population_(self) -> FloatArray:
        """The best run's population of x."""
        return self.population_x_

    @property
    def fitness_(self) -> FloatArray:
        """The worst value of every x of the best run's population against the opponents of the last cycle."""
        return self._coevolution.x.population(self._best_run)[1]

    @property
    def result_(self) -> OptimizeResult:
        """The best run in SciPy's form; nfev counts all runs."""
        best = self._best
        return OptimizeResult(
            x=self.x_,
            y=self.y_,
            fun=best.fun,
            success=best.success,
            status=int(best.status),
            message=best.message,
            nfev=sum(run.n_evals for run in self.runs_),
            nit=best.n_iter,
            maxcv=best.max_violation,
            constr_violation=best.max_violation,
        )
