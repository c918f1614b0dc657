"""Status, limits and stopping rules of runs."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

import numpy as np

from skde.algorithms.population_size import PopulationSchedule
from skde.constants import ENUMERATIONS
from skde.typing import IntArray
from skde.validation import check_int, check_real

# A fit without any limit ends after this many evaluations per variable, the budget of the CEC competitions.
DEFAULT_EVALS_PER_DIM = 10_000
UNLIMITED = 2**62


class Status(IntEnum):
    """The reason for the end of a run."""

    RUNNING = ENUMERATIONS["Status"]["RUNNING"]
    LIMIT = ENUMERATIONS["Status"]["LIMIT"]
    TARGET = ENUMERATIONS["Status"]["TARGET"]
    CONVERGED = ENUMERATIONS["Status"]["CONVERGED"]
    STAGNATED = ENUMERATIONS["Status"]["STAGNATED"]
    TIME = ENUMERATIONS["Status"]["TIME"]
    CALLBACK = ENUMERATIONS["Status"]["CALLBACK"]
    INTERRUPTED = ENUMERATIONS["Status"]["INTERRUPTED"]
    HELD = ENUMERATIONS["Status"]["HELD"]  # only between two generations: waits for runs at a lower generation

    @property
    def success(self) -> bool:
        """Whether the run reached its target or its tolerance, and not a limit."""
        return self in (Status.TARGET, Status.CONVERGED)


# For arrays, plain integers. NumPy looks for attributes on the class of a member of an enumeration, which runs Python
# code, and drops an exception from there, such as that of Ctrl-C.
RUNNING, LIMIT, HELD = int(Status.RUNNING), int(Status.LIMIT), int(Status.HELD)

MESSAGES = {
    Status.RUNNING: "The run has not ended.",
    Status.LIMIT: "The limit of generations or evaluations was reached.",
    Status.TARGET: "The target was reached.",
    Status.CONVERGED: "The population converged to within tol.",
    Status.STAGNATED: "The best value did not improve for as many generations as allowed.",
    Status.TIME: "The time limit was reached.",
    Status.CALLBACK: "A callback asked to stop.",
    Status.INTERRUPTED: "Interrupted by the user; the best so far is kept.",
    Status.HELD: "The run has not ended.",
}


def last_generations(
    schedules: Sequence[PopulationSchedule],
    dim: int,
    max_iter: Any,
    max_evals: Any,
    max_time: Any,
    done: IntArray | None = None,
    n_islands: int = 1,
    reserved: int = 0,
) -> IntArray:
    """Return, for every run, the number of the last generation that its limits allow.

    Generation 0 is the initial population; an evaluation limit is never exceeded.

    Parameters
    ----------
    schedules : sequence of PopulationSchedule
        Every run's population sizes.
    dim : int
        Variables.
    max_iter, max_evals, max_time
        The limits as the user gave them.
    done : ndarray of shape (R,), optional
        Generations that came before these limits (warm start); they are not counted.
    n_islands : int, default 1
        Islands that share the evaluations of one run.
    reserved : int, default 0
        Evaluations of one run that are kept for what follows, as far as the initial population leaves them.
    """
    # The initial population is generation 0 and not counted as an iteration; a warm start has it already.
    begin = [0] * len(schedules) if done is None else done.tolist()
    generations = None if max_iter is None else check_int("max_iter", max_iter, 0)
    evals = evals_allowed(schedules, dim, max_iter, max_evals, max_time, n_islands, reserved)
    limits = []
    for schedule, first in zip(schedules, begin, strict=True):
        last = UNLIMITED if generations is None else first + min(generations, UNLIMITED)
        if evals is not None:
            last = min(last, schedule.last((0 if done is None else schedule.evals(first)) + evals))
        limits.append(last)
    return np.array(limits, np.int64)


def planned_budget(dim: int, max_iter: Any, max_evals: Any, max_time: Any, n_islands: int = 1) -> dict[str, int | None]:
    """Return the limits that an algorithm may plan with, as far as they are known, for one population."""
    if max_iter is None and max_evals is None and max_time is None:
        max_evals = DEFAULT_EVALS_PER_DIM * dim
    evals = None if max_evals is None else max(check_int("max_evals", max_evals, 1) // n_islands, 1)
    generations = None if max_iter is None else check_int("max_iter", max_iter, 0)
    # The sizes of a shrinking population are computed in doubles, which do not represent larger integers exactly.
    return {
        "max_evals": None if evals is None else min(evals, UNLIMITED),
        "max_iter": None if generations is None else min(generations, UNLIMITED),
    }


def evals_allowed(
    schedules: Sequence[PopulationSchedule],
    dim: int,
    max_iter: Any,
    max_evals: Any,
    max_time: Any,
    n_islands: int,
    reserved: int = 0,
) -> int | None:
    """Return the evaluations that one island may make; None: no limit."""
    largest = max(schedule.most for schedule in schedules)
    if max_evals is None:
        free = max_iter is not None or max_time is not None
        return None if free else max((DEFAULT_EVALS_PER_DIM * dim - reserved) // n_islands, largest)
    evals = check_int("max_evals", max_evals, 1)
    if evals < largest * n_islands:
        what = "the population size" if n_islands == 1 else f"the population size times n_islands={n_islands}"
        raise ValueError(f"max_evals must be at least {what}, {largest * n_islands}, got {evals}")
    return max(evals - reserved, largest * n_islands) // n_islands


def check_stopping(target: Any, tol: Any, atol: Any, stagnation: Any, max_time: Any) -> dict[str, Any]:
    """Return the checked stopping rules and the time limit. With an absolute tolerance alone, the relative one is 0."""
    absolute = check_real("atol", atol, 0)
    if tol is None and absolute > 0:
        tol = 0.0
    return {
        "target": None if target is None else check_real("target", target),
        "tol": None if tol is None else check_real("tol", tol, 0),
        "atol": absolute,
        "stagnation": None if stagnation is None else min(check_int("stagnation", stagnation, 1), UNLIMITED),
        "max_time": None if max_time is None else check_real("max_time", max_time, 0, low_open=True),
    }
