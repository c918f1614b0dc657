"""The polish at the end of a fit: a local search from the best point of every run."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skde.arrays import to_numpy
from skde.engines import Engine, JoblibEngine, choose_device, evaluate
from skde.engines.batch import best_of
from skde.engines.spec import CHUNK_SECONDS
from skde.fit.local_search import LocalSearch, find_method, methods_of
from skde.fit.polished_points import PolishedPoints
from skde.fit.runner import Runner
from skde.interrupts import interrupts
from skde.objectives.feasibility import values_of_codes
from skde.objectives.objective import Objective
from skde.stopping import DEFAULT_EVALS_PER_DIM, Status
from skde.typing import FloatArray
from skde.validation import check_bool, check_int
from skde.variables import Variables

# The part of a limit that is kept for the polish; of evaluations at most those of MOST_GRADIENTS gradients or, with
# Nelder-Mead, those of MOST_SIMPLEXES simplexes. With less than LEAST_SIMPLEXES it does not get far, and has the rest.
SHARE = 0.1
MOST_GRADIENTS = 100
LEAST_SIMPLEXES = 300
MOST_SIMPLEXES = 1000
TARGET, CALLBACK = int(Status.TARGET), int(Status.CALLBACK)


def check_polish(polish: Any) -> bool | str:
    """Return the parameter `polish`: False, True or the name of a method."""
    return find_method(polish, constrained=False) if isinstance(polish, str) else check_bool("polish", polish)


def reserved_evals(polish: Any, dim: int, max_iter: Any, max_evals: Any, max_time: Any) -> int:
    """Return the evaluations of one run that its limits keep for the polish."""
    if check_polish(polish) is False:
        return 0
    if max_iter is None and max_evals is None and max_time is None:
        max_evals = DEFAULT_EVALS_PER_DIM * dim
    share = math.inf if max_evals is None else int(SHARE * check_int("max_evals", max_evals, 1))
    simplexes = "Nelder-Mead" in methods_of(polish, False, dim) and share >= LEAST_SIMPLEXES * (dim + 1)
    return int(min(share, (MOST_SIMPLEXES if simplexes else MOST_GRADIENTS) * (dim + 1)))


def search_seconds(polish: Any, max_time: float | None) -> float | None:
    """Return the part of a time limit that is left to the population."""
    return max_time if max_time is None or check_polish(polish) is False else (1 - SHARE) * max_time


def check_polishable(polish: Any, constrained: bool, variables: Variables | None) -> None:
    """Refuse a method that takes no constraints where there are some, and variables that are all stepped."""
    if check_polish(polish) is False:
        return
    find_method(polish, constrained)
    if variables is not None and not variables.real_components.any():
        raise ValueError(f"polish={polish!r} needs a real variable, and {', '.join(variables.names)} all have steps")


def evaluator(engine: Engine, objective: Objective, dtype: Any) -> Callable[[FloatArray], FloatArray]:
    """Return the function that gives f, g and h at points of the box, of shape (n, 1 + m + l), on the host."""
    # The parts of a batch in joblib's workers are done; a local search is one process.
    engine = choose_device(engine.device, 1)[0] if isinstance(engine, JoblibEngine) else engine
    rules = objective.rules

    def values(points: FloatArray) -> FloatArray:
        with engine.device_context:
            X = engine.xp.asarray(points, dtype=dtype)
            if rules is not None:
                at = objective.decoded(X)
                found = rules.problem.values(to_numpy(at) if rules.problem.kernel else at)
            elif objective.compiled is not None:
                found = evaluate(objective.compiled, X)[:, None]
            else:
                found = objective.values(X)[:, None]
            return np.asarray(to_numpy(found), np.float64)

    return values


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
        Keys of METHODS, one after the other.
    max_evals : int
        Limit on the evaluations of one run's polish.
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
    max_evals: int
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
        if runner.polished is None:
            runner.polished = PolishedPoints(len(generation), runner.batch.dim)
        open_runs = ~reached & (runner.polished.generation != generation)
        starts, codes = runner.best_points()
        with interrupts.fit:
            runner.timer.start()
            runner.polishing = True
            try:
                for run in np.argsort(codes, kind="stable").tolist():
                    if open_runs[run] and not self.ends():
                        self.polish_run(run, starts[run], float(codes[run]), int(generation[run]))
            finally:
                runner.polishing = False
                runner.timer.pause()
        if self.verbose and open_runs.any():
            self.print_outcome(float(codes[best_of(codes)]))

    def polish_run(self, run: int, start: FloatArray, code: float, generation: int) -> None:
        """Search from the best point of a run, and store the best point found."""
        runner, rules = self.runner, self.objective.rules
        points = runner.polished
        assert points is not None
        lower, upper = self.objective.box.T
        variables = self.objective.variables
        real = np.ones(len(lower), bool) if variables is None else variables.real_components
        most = max(self.max_evals - int(points.spent[run]), 0)
        target, counted, clock = runner.batch.spec.target, 0, runner.seconds

        def stops() -> bool:
            nonlocal counted, clock
            points.store(run, search.x, search.code, search.n_evals - counted, runner.seconds - clock)
            counted, clock = search.n_evals, runner.seconds
            self.report()
            return self.ends() or reached()

        def reached() -> bool:
            return target is not None and search.code <= target

        search = LocalSearch(
            evaluator(runner.engine, self.objective, runner.batch.spec.dtype),
            start,
            code,
            np.where(real, lower, start),
            np.where(real, upper, start),
            n_inequalities=None if rules is None else rules.problem.n_inequalities,
            tolerance=0.0 if rules is None else rules.tolerance,
            max_evals=most,
            stops=stops,
            dtype=runner.batch.spec.dtype,
        )
        for method in self.methods:
            if not (self.ends() or reached()):
                last = method == self.methods[-1]
                search.max_evals = most if last else min(most, MOST_GRADIENTS * (len(start) + 1))
                search.run(method)
        points.generation[run] = generation

    def report(self) -> None:
        """Let callbacks and progress bar see the search, about as often as the engine's generations."""
        now = time.perf_counter()
        if self.stop is not None and now - self.reported >= CHUNK_SECONDS:
            self.reported, self.asked_to_stop = now, self.stop()

    def ends(self) -> bool:
        """Return whether a callback or the time limit ends the polish."""
        late = self.max_time is not None and self.runner.timer.seconds_of_limit >= self.max_time
        return self.asked_to_stop or late

    def print_outcome(self, before: float) -> None:
        """Print the best value before and after, and the evaluations."""
        points = self.runner.polished
        assert points is not None
        shown = [float(values_of_codes(np.array(code))) for code in (before, np.nanmin(self.runner.best_points()[1]))]
        print(
            f"skde: polish={', '.join(self.methods)!r} changed the best value from {shown[0]:.10g} to {shown[1]:.10g} "
            f"with {int(points.spent.sum())} evaluations"
        )
