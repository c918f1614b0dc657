"""What a fitted MinMaxSolver can be asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.optimize import OptimizeResult

from skde.algorithms import JDE
from skde.arrays import array_namespace, to_numpy
from skde.base import BaseSolver
from skde.engines import Coevolution, Engine
from skde.engines.batch import best_of
from skde.minimizer import Minimizer
from skde.minmax.multi_device import SplitCoevolution
from skde.minmax.objective import Pairs
from skde.result import RunResult, best_run
from skde.typing import Array, FloatArray

# How far either side can get from the answer alone is estimated by a search.
SEARCH = {"pop_size": 50, "generations": 200}


class Results(BaseSolver):
    """The attributes that end with an underscore."""

    _objective: Pairs | None  # None: its values are told, or it has to be given again after loading
    _boxes: tuple[FloatArray, FloatArray | None]  # of x and, where y is no vector of multipliers, of y
    _searched: tuple[RunResult, tuple[float, float]] | None = None
    _compared: tuple[list[RunResult], int, RunResult] | None = None

    @property
    def _best_run(self) -> int:
        return self._compare()[0]

    @property
    def _best(self) -> RunResult:
        return self._compare()[1]

    def _compare(self) -> tuple[int, RunResult]:
        """Return the place of the best run, and that run as it stands against the opponents of all runs."""
        runs, pairs = self.runs_, self._objective
        if self._compared is None or self._compared[0] is not runs:
            if pairs is None or pairs.problem is not None or len(runs) == 1:
                best = best_run(runs)
                self._compared = runs, best, runs[best]
            else:
                self._compared = runs, *compared(runs, pairs, self._pair.x.dim, self._fitted().engine)
        return self._compared[1:]

    @property
    def _pair(self) -> Coevolution | SplitCoevolution:
        batch = self._fitted("ask").batch
        assert isinstance(batch, Coevolution | SplitCoevolution)
        return batch

    @property
    def x_(self) -> FloatArray:
        """The best answer of all runs, of shape (dim x,)."""
        return self._best.x[: self._pair.x.dim]

    @property
    def y_(self) -> FloatArray:
        """The strongest opponent that x_ has met, of shape (dim y,)."""
        return self._best.x[self._pair.x.dim :]

    @property
    def multipliers_(self) -> FloatArray:
        """Of a constrained problem: y_, of shape (m + l,)."""
        self._fitted()
        if self._objective is None or self._objective.problem is None:
            raise AttributeError("multipliers_ are of constrained problems only")
        return self.y_

    @property
    def worst_case_(self) -> float:
        """An estimate of max over y of f(x_, y)."""
        return self._levels("worst_case_")[0]

    @property
    def saddle_gap_(self) -> float:
        """An estimate of max over y of f(x_, y) minus min over x of f(x, y_)."""
        highest, lowest = self._levels("saddle_gap_")
        return highest - lowest

    def _levels(self, what: str) -> tuple[float, float]:
        """Return the largest f(x_, y) and the smallest f(x, y_) that searches find, for the attribute `what`."""
        runner, pairs = self._fitted(), self._objective
        box_x, box_y = self._boxes
        if pairs is None:
            raise AttributeError(f"{what} needs the function, which neither ask and tell nor a file give: resume(f)")
        if box_y is None:
            raise AttributeError(f"{what} is of min-max problems only; a constrained one has max_violation_")
        if self._searched is None or self._searched[0] is not self._best:
            # What is compiled is quicker on the CPU: searches are short.
            device = runner.engine.name.split(", ")[0] if pairs.game is None else "cpu"
            self._searched = self._best, levels(pairs.values, self.x_, self.y_, box_x, box_y, device)
        return self._searched[1]

    @property
    def population_x_(self) -> FloatArray:
        """The best run's population of x."""
        return self._pair.x.population(self._best_run)[0]

    @property
    def population_y_(self) -> FloatArray:
        """The best run's population of y; of multipliers that are corrected, them alone."""
        pair = self._pair
        return self.y_[None] if pair.rounds.updates else pair.y.population(self._best_run)[0]

    @property
    def population_(self) -> FloatArray:
        """The best run's population of x."""
        return self.population_x_

    @property
    def fitness_(self) -> FloatArray:
        """What every x of the best run's population is worth against the opponents of the last cycle."""
        return self._pair.x.population(self._best_run)[1]

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


def compared(runs: list[RunResult], pairs: Pairs, dim: int, engine: Engine) -> tuple[int, RunResult]:
    """Return the run whose answer's worst value against the opponents of all runs is smallest, with that opponent."""
    answers, opponents = np.split(np.array([run.x for run in runs]), [dim], axis=1)
    xp = engine.xp if pairs.game is None else np
    with engine.here:
        values = to_numpy(pairs.values(xp.asarray(answers), xp.asarray(opponents))).astype(np.float64)
    values[np.isnan(values)] = np.inf
    own = np.array([np.inf if np.isnan(run.fun) else run.fun for run in runs])
    best = best_of(np.maximum(values.max(axis=1), own))
    strongest = int(values[best].argmax())
    if not values[best, strongest] > own[best]:
        return best, runs[best]
    x = np.concatenate([answers[best], opponents[strongest]])
    return best, replace(runs[best], x=x, fun=float(values[best, strongest]))


def levels(
    values: Callable[[Array, Array], Array],
    x: FloatArray,
    y: FloatArray,
    box_x: FloatArray,
    box_y: FloatArray,
    device: str,
) -> tuple[float, float]:
    """Return max over y of f(x, y) and min over x of f(x, y), each by a search that begins with the point itself."""
    algorithm = JDE(pop_size=SEARCH["pop_size"])
    search = Minimizer(algorithm, max_iter=SEARCH["generations"], device=device, random_state=0)

    def loss_of_y(Y: Array) -> Array:
        return -values(array_namespace(Y).asarray(x)[None], Y)[0]

    def loss_of_x(X: Array) -> Array:
        return values(X, array_namespace(X).asarray(y)[None])[:, 0]

    highest = -search.fit(loss_of_y, bounds=box_y, x0=y).fun_
    return highest, search.fit(loss_of_x, bounds=box_x, x0=x).fun_
