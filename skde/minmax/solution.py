"""The results of a min-max solver."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import OptimizeResult

from skde.base import BaseSolver, params_of
from skde.engines import Coevolution, SplitCoevolution
from skde.fit.results import values_of_points
from skde.minmax.objective import MinMaxObjective
from skde.minmax.results import best_against_all, best_response_values
from skde.result import RunResult, best_run
from skde.typing import FloatArray
from skde.utils.arrays import to_numpy
from skde.variables import Variables


class MinMaxSolution(BaseSolver):
    """The results that MinMaxSolver adds to every solver's, or defines in another way."""

    NOT_PICKLED: ClassVar[tuple[str, ...]] = (*BaseSolver.NOT_PICKLED, "_compared", "_searched")

    _objective: MinMaxObjective | None = None  # None in ask and tell, and after loading a fit of a Python function
    _boxes: tuple[FloatArray, FloatArray | None]  # of x, and of y where y is not a vector of multipliers
    _compared: tuple[list[RunResult], int, RunResult] | None = None
    _searched: tuple[RunResult, tuple[float, float]] | None = None

    @property
    def _coevolution(self) -> Coevolution | SplitCoevolution:
        batch = self._require_fit("ask").batch
        assert isinstance(batch, Coevolution | SplitCoevolution)
        return batch

    @property
    def _variables(self) -> Variables | None:
        return self._coevolution.x.spec.variables

    @property
    def _dim_x(self) -> int:
        """Number of variables of x."""
        return self._coevolution.x.dim if self._variables is None else len(self._variables)

    @property
    def _spaces(self) -> tuple[Variables | FloatArray, Variables | FloatArray | None]:
        """The variables of both sides where they are typed, else the boxes."""
        batch, (box_x, box_y) = self._coevolution, self._boxes
        x, y = batch.x.spec.variables, batch.y.spec.variables
        return (box_x if x is None else x), (box_y if y is None else y)

    @property
    def _limits(self) -> FloatArray:
        """The smallest and the largest value of every variable of x."""
        return limits_of_space(self._spaces[0])

    @property
    def _best_run(self) -> int:
        return self._compare()[0]

    @property
    def _best(self) -> RunResult:
        return self._compare()[1]

    def _compare(self) -> tuple[int, RunResult]:
        """Return the number of the best run, and its result against the opponents of all runs.

        Before all runs have ended, their own opponents alone count where others need calls of a Python function.
        """
        runs, objective = self.runs_, self._objective
        if self._compared is None or self._compared[0] is not runs:
            known = objective is not None and (objective.game is not None or self._require_fit().population.done)
            if objective is None or not known or objective.problem is not None or len(runs) == 1:
                best = best_run(runs)
                self._compared = runs, best, runs[best]
            else:
                self._compared = (
                    runs,
                    *best_against_all(runs, objective, self._dim_x, self._require_fit().engine),
                )
        return self._compared[1:]

    @property
    def x_(self) -> FloatArray:
        """The best incumbent of all runs, of shape (dim x,)."""
        return self._best.x[: self._dim_x]

    @property
    def y_(self) -> FloatArray:
        """The strongest opponent of x_ so far, of shape (dim y,)."""
        return self._best.x[self._dim_x :]

    @property
    def params_y_(self) -> dict[str, Any]:
        """y_ by the names of its variables; only where bounds_y are typed."""
        return params_of(self._coevolution.y.spec.variables, self.y_)

    @property
    def multipliers_(self) -> FloatArray:
        """y_ of a constrained problem, of shape (m + l,)."""
        self._require_fit()
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
        fit, objective = self._require_fit(), self._objective
        space_x, space_y = self._spaces
        if objective is None:
            raise AttributeError(
                f"{attribute} needs the function, which neither ask and tell nor a file give: resume(f)"
            )
        if space_y is None:
            raise AttributeError(f"{attribute} is of min-max problems only; a constrained one has max_violation_")
        if self._searched is None or self._searched[0] is not self._best:
            # Searches are short, so the CPU is faster for compiled functions.
            device = fit.engine.name.split(", ")[0] if objective.game is None else "cpu"
            self._searched = (
                self._best,
                best_response_values(objective.values, self.x_, self.y_, space_x, space_y, device),
            )
        return self._searched[1]

    @property
    def population_x_(self) -> FloatArray:
        """The best run's population of x."""
        side = self._coevolution.x
        population: FloatArray = values_of_points(side, side.population(self._best_run)[0])
        return population

    @property
    def population_y_(self) -> FloatArray:
        """The best run's population of y; multipliers that are updated are one row."""
        batch = self._coevolution
        if batch.coevolution_spec.updates:
            return self.y_[None]
        population: FloatArray = values_of_points(batch.y, batch.y.population(self._best_run)[0])
        return population

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
        """The best run in SciPy's form, with populations and history; nfev counts all runs."""
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
            population_x=self.population_x_,
            population_y=self.population_y_,
            history=best.history,
        )


def limits_of_space(space: Variables | FloatArray) -> FloatArray:
    """Return the smallest and the largest value of every variable, of shape (dim, 2)."""
    return space.limits if isinstance(space, Variables) else space


def spaces_of(solver: MinMaxSolution) -> tuple[Variables | FloatArray, Variables | FloatArray | None]:
    """Return the variables of x and of y where they are typed, else their boxes; None for a vector of multipliers."""
    return solver._spaces


def make_array_function(solver: MinMaxSolution) -> Callable[[FloatArray, FloatArray], FloatArray] | None:
    """Return f(X, Y) of a fit for NumPy arrays; None after ask and tell, after loading and for constrained problems."""
    engine, objective = solver._require_fit().engine, solver._objective
    if objective is None or (objective.game is None and objective.function is None):
        return None
    xp = engine.xp if objective.game is None else np  # compiled functions are computed on the CPU
    values = objective.values

    def function(X: FloatArray, Y: FloatArray) -> FloatArray:
        with engine.device_context:
            return np.asarray(to_numpy(values(xp.asarray(X), xp.asarray(Y))), np.float64)

    return function
