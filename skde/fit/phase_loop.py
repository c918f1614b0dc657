"""The loop over the phases of a fit."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np

from skde.engines.state.spec import CHUNK_SECONDS
from skde.fit.execution import StopRequest, run_search
from skde.fit.fit import Fit
from skde.fit.phases.local_search import LocalSearchPhase
from skde.fit.phases.population import Population
from skde.fit.polish_budget import search_seconds
from skde.fit.request_loop import run_requests
from skde.fit.schedule import Schedule
from skde.fit.watch import StallWatch
from skde.objectives.feasibility import values_of_codes
from skde.objectives.objective import Objective
from skde.typing import FloatArray


def run_phases(
    schedule: Schedule, objective: Objective, execution: str, stop: StopRequest | None, verbose: int = 0
) -> None:
    """Run all phases of a fit, up to its limits.

    Parameters
    ----------
    schedule : Schedule
        The fit and its plan.
    objective : Objective
        The objective.
    execution : {"run", "step", "graph", "joblib", "auto"}
        How generations are run, as in `run_search`.
    stop : StopRequest or None
        Reports progress to callbacks; true ends the fit.
    verbose : int, default 0
        Whether to print what local searches have found.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C; the results are those of all evaluations that are done, and another call continues from there.
    """
    fit, plan = schedule.fit, schedule.plan
    max_time = plan.limits.max_time
    search_time = search_seconds(plan.polish is not False or plan.final_evals > 0, max_time)
    try:
        for phase in schedule.phases():
            if isinstance(phase, Population):
                run_search(fit, objective, execution, search_time, stop, verbose, plan.limits.max_stall_time)
            else:
                local = isinstance(phase, LocalSearchPhase)
                codes = fit.best_points()[1]
                stall = StallWatch(fit, plan.limits.max_stall_time if local else None)
                watch = PhaseWatch(fit, max_time, stall, stop if local else None)
                run_requests(fit, phase, objective, watch.seconds_left, watch.ends)
                if verbose and local:
                    print_outcome(fit, codes)
    finally:
        if fit.requests is not None:
            fit.requests.pause()


class PhaseWatch:
    """What ends a phase of requests: limits of time, and the callbacks, which see it as often as a population.

    Parameters
    ----------
    fit : Fit
        The fit.
    max_time : float or None
        Its time limit.
    stall : StallWatch
        Its limit on the seconds without a better value.
    stop : callable or None
        Reports progress to callbacks; true ends the fit.
    """

    def __init__(self, fit: Fit, max_time: float | None, stall: StallWatch, stop: Callable[[], bool] | None) -> None:
        self.fit, self.max_time, self.stall, self.stop = fit, max_time, stall, stop
        self._ended, self._looked = False, -math.inf

    def seconds_left(self) -> float:
        """Return the seconds until the time limit."""
        return math.inf if self.max_time is None else self.max_time - self.fit.ledger.timer.seconds_of_limit

    def ends(self) -> bool:
        """Return whether a callback or a limit of time ends the fit."""
        if time.perf_counter() - self._looked >= CHUNK_SECONDS:
            self._looked = time.perf_counter()
            self._ended = (self.stop is not None and self.stop()) or self.stall.ends()
        return self._ended or self.seconds_left() <= 0


def print_outcome(fit: Fit, codes: FloatArray) -> None:
    """Print the best value before local searches, with these codes of all runs, and after, and the evaluations."""
    found = [float(values_of_codes(np.nanmin(each))) for each in (codes, fit.best_points()[1])]
    print(
        f"skde: a local search changed the best value from {found[0]:.10g} to {found[1]:.10g} "
        f"with {int(fit.ledger.local_spent.sum())} evaluations"
    )
