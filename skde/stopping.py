"""Status, limits and stopping rules of runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from skde.algorithms.base import FitSetting
from skde.algorithms.population_size import PopulationSchedule
from skde.constants import ENUMERATIONS
from skde.typing import IntArray
from skde.utils.validation import check_int, check_real

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
    STALLED = ENUMERATIONS["Status"]["STALLED"]

    @property
    def success(self) -> bool:
        """Whether the run reached its target or its tolerance, and not a limit."""
        return self in (Status.TARGET, Status.CONVERGED)


# For arrays, plain integers. NumPy looks for attributes on the class of a member of an enumeration, which runs Python
# code, and drops an exception from there, such as Ctrl-C's.
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
    Status.STALLED: "No run found a better value for max_stall_time seconds.",
}


class StoppingRules(NamedTuple):
    """The rules that end a run at a good point; None: there is no such rule."""

    target: float | None = None
    tol: float | None = None
    atol: float = 0.0
    stagnation: int | None = None


@dataclass(frozen=True)
class Limits:
    """The limits of one run; None: it has none. A run without any has the default number of evaluations.

    Parameters
    ----------
    max_iter : int or None, default None
        Generations after the initial population, >= 0.
    max_evals : int or None, default None
        Evaluations, >= 1.
    max_time : float or None, default None
        Seconds, > 0.
    max_stall_time : float or None, default None
        Seconds without a better best value of any run, > 0.
    """

    max_iter: int | None = None
    max_evals: int | None = None
    max_time: float | None = None
    max_stall_time: float | None = None

    def evals(self, dim: int) -> int | None:
        """Return the evaluations that a run may make; None: any number."""
        return DEFAULT_EVALS_PER_DIM * dim if self == Limits() else self.max_evals

    def without(self, kept: int, dim: int) -> Limits:
        """Return the limits of a part of a fit that leaves some evaluations to the others."""
        evals = self.evals(dim) if kept else None
        return self if evals is None else replace(self, max_evals=evals - kept)

    def to_setting(self, dim: int, n_islands: int = 1) -> FitSetting:
        """Return what an algorithm may plan with: the limits of one population as far as they are known."""
        evals = self.evals(dim)
        # The sizes of a shrinking population are computed in doubles, which do not represent larger integers exactly.
        return FitSetting(
            dim,
            None if evals is None else min(max(evals // n_islands, 1), UNLIMITED),
            None if self.max_iter is None else min(self.max_iter, UNLIMITED),
        )


def check_limits(max_iter: Any, max_evals: Any, max_time: Any, max_stall_time: Any = None) -> Limits:
    """Return the checked limits of a run."""
    return Limits(
        None if max_iter is None else check_int("max_iter", max_iter, 0),
        None if max_evals is None else check_int("max_evals", max_evals, 1),
        *(
            None if given is None else check_real(name, given, 0, low_open=True)
            for name, given in (("max_time", max_time), ("max_stall_time", max_stall_time))
        ),
    )


def check_stopping(target: Any, tol: Any, atol: Any, stagnation: Any) -> StoppingRules:
    """Return the checked stopping rules. With an absolute tolerance alone, the relative one is 0."""
    absolute = check_real("atol", atol, 0)
    if tol is None and absolute > 0:
        tol = 0.0
    return StoppingRules(
        None if target is None else check_real("target", target),
        None if tol is None else check_real("tol", tol, 0),
        absolute,
        None if stagnation is None else min(check_int("stagnation", stagnation, 1), UNLIMITED),
    )


def last_generations(
    schedules: Sequence[PopulationSchedule],
    dim: int,
    limits: Limits,
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
    limits : Limits
        The limits of a run.
    done : ndarray of shape (R,), optional
        Generations that came before these limits (warm start); they are not counted.
    n_islands : int, default 1
        Islands that share the evaluations of one run.
    reserved : int, default 0
        Evaluations of one run that are kept for what follows, as far as the initial population leaves them.
    """
    # The initial population is generation 0 and not counted as an iteration; a warm start has it already.
    begin = [0] * len(schedules) if done is None else done.tolist()
    evals = evals_allowed(schedules, dim, limits, n_islands, reserved)
    last_ones = []
    for schedule, first in zip(schedules, begin, strict=True):
        last = UNLIMITED if limits.max_iter is None else first + min(limits.max_iter, UNLIMITED)
        if evals is not None:
            last = min(last, schedule.last((0 if done is None else schedule.evals(first)) + evals))
        last_ones.append(last)
    return np.array(last_ones, np.int64)


def evals_allowed(
    schedules: Sequence[PopulationSchedule], dim: int, limits: Limits, n_islands: int, reserved: int = 0
) -> int | None:
    """Return the evaluations that one island may make; None: no limit."""
    largest = max(schedule.most for schedule in schedules)
    evals = limits.evals(dim)
    if limits.max_evals is None:
        return None if evals is None else max((evals - reserved) // n_islands, largest)
    if limits.max_evals < largest * n_islands:
        what = "the population size" if n_islands == 1 else f"the population size times n_islands={n_islands}"
        raise ValueError(f"max_evals must be at least {what}, {largest * n_islands}, got {limits.max_evals}")
    return max(limits.max_evals - reserved, largest * n_islands) // n_islands
