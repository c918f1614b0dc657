"""The polish at the end of a fit: a local search from the best point of every run."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skde.engines.state.batch import best_of
from skde.engines.state.spec import CHUNK_SECONDS
from skde.fit.feasible_search import FeasibleSearch
from skde.fit.joint_search import JointSearch
from skde.fit.local_search import (
    FEASIBLE,
    SIMPLEX,
    TOGETHER,
    LocalSearch,
    LocalSearchEnd,
)
from skde.fit.polish_budget import MOST_GRADIENTS
from skde.fit.polished_points import PolishedPoints
from skde.fit.quasi_newton_search import QuasiNewtonSearch
from skde.fit.runner import Runner
from skde.fit.search_values import SearchValues
from skde.fit.simplex_search import SimplexSearch
from skde.objectives.feasibility import WORST, values_of_codes
from skde.objectives.objective import Objective
from skde.stopping import Status
from skde.typing import FloatArray, IntArray
from skde.utils.interrupts import interrupts

TARGET, CALLBACK = int(Status.TARGET), int(Status.CALLBACK)


@dataclass(repr=False, eq=False)
class Polish:
    """The polish of all runs of a fit.

    Attributes
    ----------
    runner : Runner
        The fit.
    objective : Objective
        Its objective.
    methods : tuple of str
        A method of SciPy, SIMPLEX, or both in this order.
    max_evals : ndarray of int of shape (n_runs,)
        Limits on the evaluations of the polish of every run, with those that it has made within the present limits.
    max_time : float or None
        The time limit of the fit.
    stop : callable or None
        Reports progress to callbacks; true ends the polish.
    verbose : int
        Whether to print the outcome.
    """

    runner: Runner
    objective: Objective
    methods: tuple[str, ...]
    max_evals: IntArray
    max_time: float | None
    stop: Callable[[], bool] | None
    verbose: int
    asked_to_stop: bool = field(default=False, init=False)
    reported: float = field(default=-math.inf, init=False)

    def run(self) -> None:
        """Polish the runs that have ended and have not reached their target, the best first.

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C; the results are those so far, and another call continues.
        """
        runner = self.runner
        if runner.ending == CALLBACK:
            return
        generation = runner.n_iter
        reached = (runner.by_run(runner.status) == TARGET).any(axis=1)
        polished = runner.ledger.begin_polish(runner.batch.dim)
        open_runs = ~reached & (polished.generation != generation)
        polished.generation[open_runs] = -1
        codes = runner.best_points()[1]
        open_runs &= codes < (np.inf if self.objective.rules is None else WORST)  # else there is nothing to polish
        with interrupts.fit:
            runner.ledger.timer.start()
            polished.under_way = True
            try:
                self.polish_runs([run for run in np.argsort(codes, kind="stable").tolist() if open_runs[run]])
            finally:
                polished.under_way = False
                runner.ledger.timer.pause()
        if self.verbose and open_runs.any():
            self.print_outcome(float(codes[best_of(codes)]))

    def polish_runs(self, runs: list[int]) -> None:
        """Search from the best points of some runs: by SciPy's methods one by one, then by one of TOGETHER."""
        together = self.methods[-1] in TOGETHER
        if self.methods[0] not in TOGETHER:
            starts, codes = self.runner.best_points()
            for run in runs:
                if not self.ends():
                    self.polish_run(run, starts[run], float(codes[run]))
                    if not together:
                        self.points.generation[run] = self.runner.n_iter[run]
        if together and runs:
            self.polish_together(np.array(runs))

    def polish_run(self, run: int, start: FloatArray, code: float) -> None:
        """Search from the best point of a run by a method of SciPy, and store the best point found."""
        runner, rules, points = self.runner, self.objective.rules, self.points
        lower, upper = self.runner.batch.spec.lower, self.runner.batch.spec.upper
        real = self.real
        counted, clock = 0, runner.seconds

        def stops() -> bool:
            nonlocal counted, clock
            points.store(run, search.x, search.code, search.n_evals - counted, runner.seconds - clock)
            counted, clock = search.n_evals, runner.seconds
            self.report()
            return self.ends() or search.code <= self.target

        most = max(int(self.max_evals[run] - points.spent[run]), 0)
        method = self.methods[0]
        feasible = rules is not None and method == FEASIBLE
        values = SearchValues(runner, self.objective, self.seconds_left, everywhere=not feasible)
        search = (FeasibleSearch if feasible else LocalSearch)(
            lambda points: values(np.full(len(points), run), points),
            start,
            code,
            np.where(real, lower, start),
            np.where(real, upper, start),
            n_inequalities=None if rules is None else rules.problem.n_inequalities,
            tolerance=0.0 if rules is None else rules.tolerance,
            linear=None if rules is None or self.objective.variables is not None else rules.problem.linear_slopes,
            max_evals=min(most, MOST_GRADIENTS * (len(start) + 1)) if SIMPLEX in self.methods else most,
            stops=stops,
            dtype=runner.batch.spec.dtype,
        )
        search.run(method)

    def polish_together(self, runs: IntArray) -> None:
        """Search from the best points of some runs together by a method of TOGETHER, and store what is found."""
        runner, points = self.runner, self.points
        lower, upper = self.runner.batch.spec.lower, self.runner.batch.spec.upper
        free = np.flatnonzero(self.real & (upper > lower))
        low, width = lower[free], (upper - lower)[free]
        starts, codes = (found[runs] for found in runner.best_points())
        codes = np.where(np.isnan(codes), np.inf, codes)
        function = SearchValues(runner, self.objective, self.seconds_left)
        counted, clock = np.zeros(len(runs), np.int64), runner.seconds

        def at(searches: Any, u: FloatArray) -> FloatArray:
            x: FloatArray = starts[searches].astype(np.float64)
            x[:, free] = np.clip(low + u * width, low, upper[free])
            return x

        def values(searches: IntArray, u: FloatArray) -> FloatArray:
            if self.ends():
                raise LocalSearchEnd
            found: FloatArray = function(runs[searches], at(searches, u))[:, 0]
            return found

        def keep() -> None:
            nonlocal counted, clock
            took, clock = runner.seconds - clock, runner.seconds
            better, made = search.best_f < codes, search.n_evals - counted
            found = np.where(better[:, None], at(slice(None), search.best_u), starts)
            points.store(runs, found, np.where(better, search.best_f, codes), made, np.where(made > 0, took, 0.0))
            counted = search.n_evals.copy()

        begin = np.clip((starts[:, free] - low) / width, 0.0, 1.0)
        most = np.maximum(self.max_evals[runs] - points.spent[runs], 0)
        search: JointSearch
        if self.methods[-1] == SIMPLEX:
            search = SimplexSearch(values, begin, codes, most, self.target)
        else:
            dtype = runner.batch.spec.dtype
            search = QuasiNewtonSearch(values, begin, codes, most, self.target, lower=low, width=width, dtype=dtype)
        with suppress(LocalSearchEnd):
            try:
                while search.active.any():
                    search.step()
                    if self.report_is_due:
                        keep()
                        self.report()
            finally:
                keep()
                function.store_best()
        ended = runs[~search.active]
        points.generation[ended] = runner.n_iter[ended]

    @property
    def points(self) -> PolishedPoints:
        """The points found so far."""
        assert self.runner.ledger.polish is not None
        return self.runner.ledger.polish

    @property
    def real(self) -> Any:
        """Which variables have no steps."""
        variables = self.objective.variables
        return np.ones(len(self.objective.box), bool) if variables is None else variables.real_components

    @property
    def target(self) -> float:
        """The value at which a search ends."""
        target = self.runner.batch.spec.target
        return -math.inf if target is None else float(target)

    @property
    def report_is_due(self) -> bool:
        """Whether callbacks and progress bar have not seen the search for as long as a chunk of generations takes."""
        return self.stop is not None and time.perf_counter() - self.reported >= CHUNK_SECONDS

    def report(self) -> None:
        """Let callbacks and progress bar see the search, about as often as the engine's generations."""
        if self.stop is not None and self.report_is_due:
            self.reported, self.asked_to_stop = time.perf_counter(), self.stop()

    def ends(self) -> bool:
        """Return whether a callback or the time limit ends the polish."""
        return self.asked_to_stop or self.seconds_left() <= 0

    def seconds_left(self) -> float:
        """Return the seconds until the time limit."""
        return math.inf if self.max_time is None else self.max_time - self.runner.ledger.timer.seconds_of_limit

    def print_outcome(self, before: float) -> None:
        """Print the best value before and after, and the evaluations."""
        shown = [float(values_of_codes(np.array(code))) for code in (before, np.nanmin(self.runner.best_points()[1]))]
        print(
            f"skde: polish={', '.join(self.methods)!r} changed the best value from {shown[0]:.10g} to {shown[1]:.10g} "
            f"with {int(self.points.spent.sum())} evaluations"
        )
