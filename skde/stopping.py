"""When a run ends, and what is said of it."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np

from skde.typing import IntArray
from skde.validation import check_int, check_real

# A fit without any limit ends after this many evaluations per variable, the budget of the CEC competitions.
DEFAULT_EVALS_PER_DIM = 10_000
UNLIMITED = 2**62


class Status(IntEnum):
    """Why a run ended; the first five are those of task.cuh."""

    RUNNING = 0
    LIMIT = 1
    TARGET = 2
    CONVERGED = 3
    STAGNATED = 4
    TIME = 5
    CALLBACK = 6
    INTERRUPTED = 7
    HELD = 8  # between two generations only: waits for runs that are behind

    @property
    def success(self) -> bool:
        """Whether the run reached what was asked, rather than ran out of something."""
        return self in (Status.TARGET, Status.CONVERGED)


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
    pops: IntArray, dim: int, max_iter: Any, max_evals: Any, max_time: Any, done: IntArray | None = None
) -> IntArray:
    """Return, for every run, the number of the last generation that its limits allow.

    Generation 0 is the initial population; an evaluation limit is never exceeded.

    Parameters
    ----------
    pops : ndarray of shape (R,)
        Population sizes.
    dim : int
        Variables.
    max_iter, max_evals, max_time
        The limits as the user gave them.
    done : ndarray of shape (R,), optional
        Generations that came before these limits (warm start); they are not counted.
    """
    base = np.full(len(pops), -1) if done is None else done
    if max_iter is None and max_evals is None and max_time is None:
        max_evals = max(DEFAULT_EVALS_PER_DIM * dim, int(pops.max()))
    limits = np.full(len(pops), UNLIMITED)
    if max_iter is not None:
        # The initial population is generation 0 and no iteration; a warm start has it behind it.
        limits = base + min(check_int("max_iter", max_iter, 0), UNLIMITED) + (done is None)
    if max_evals is not None:
        evals = check_int("max_evals", max_evals, 1)
        if evals < pops.max():
            raise ValueError(f"max_evals must be at least the population size, {pops.max()}, got {evals}")
        limits = np.minimum(limits, base + min(evals, UNLIMITED) // pops)
    return limits


def check_stopping(target: Any, tol: Any, stagnation: Any, max_time: Any) -> dict[str, Any]:
    """Return the checked rules that need no arithmetic."""
    return {
        "target": None if target is None else check_real("target", target),
        "tol": None if tol is None else check_real("tol", tol, 0),
        "stagnation": None if stagnation is None else check_int("stagnation", stagnation, 1),
        "max_time": None if max_time is None else check_real("max_time", max_time, 0, low_open=True),
    }
