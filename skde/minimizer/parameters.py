"""The parameters of a Minimizer: stored as they are given, and checked when a fit begins."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from skde.algorithms import Algorithm
from skde.base import BaseSolver
from skde.callbacks import Callback
from skde.fit.polish_budget import check_polish
from skde.functions.forms import check_form
from skde.functions.pointwise import ON_ERROR, check_processes
from skde.islands import Migration
from skde.recorder import Recorder
from skde.utils.validation import (
    check_bool,
    check_choice,
    check_dtype,
    check_int,
    check_jobs,
    check_real,
    check_verbose,
    refuse_iterator,
    suggest_names,
)

EXECUTIONS = ("auto", "run", "step", "graph", "joblib")
LARGEST_FINAL = 2**20


class MinimizerParameters(BaseSolver):
    """The parameters of `Minimizer`, where they are described."""

    @suggest_names
    def __init__(
        self,
        algorithm: str | Algorithm | Sequence[Algorithm] = "auto",
        *,
        bounds: Any = None,
        max_iter: int | None = None,
        max_evals: int | None = None,
        max_time: float | None = None,
        max_stall_time: float | None = None,
        max_eval_time: float | None = None,
        target: float | None = None,
        tol: float | None = None,
        atol: float = 0.0,
        stagnation: int | None = None,
        constraints: Any = None,
        feasibility_tol: float = 1e-6,
        n_runs: int = 1,
        n_islands: int = 1,
        migration: Migration | None = None,
        device: str | Sequence[str] = "auto",
        execution: str = "auto",
        dtype: str = "float64",
        vectorized: bool | str = "auto",
        n_jobs: int | None = None,
        polish: bool | str | None = None,
        callbacks: Callback | Sequence[Callback] | None = None,
        verbose: int = 0,
        random_state: Any = None,
        warm_start: bool = False,
        final_evals: int = 0,
        on_error: str = "raise",
        recorder: Recorder | str | os.PathLike[str] | None = None,
    ) -> None:
        self.algorithm = algorithm
        self.bounds = bounds
        self.max_iter = max_iter
        self.max_evals = max_evals
        self.max_time = max_time
        self.max_stall_time = max_stall_time
        self.max_eval_time = max_eval_time
        self.target = target
        self.tol = tol
        self.atol = atol
        self.stagnation = stagnation
        self.constraints = constraints
        self.feasibility_tol = feasibility_tol
        self.n_runs = n_runs
        self.n_islands = n_islands
        self.migration = migration
        self.device = device
        self.execution = execution
        self.dtype = dtype
        self.vectorized = vectorized
        self.n_jobs = n_jobs
        self.polish = polish
        self.callbacks = callbacks
        self.verbose = verbose
        self.random_state = random_state
        self.warm_start = warm_start
        self.final_evals = final_evals
        self.on_error = on_error
        self.recorder = recorder


def check_parameters(given: MinimizerParameters) -> None:
    """Refuse values of a wrong type or out of range by the parameter's name, whether or not this fit uses it."""
    refuse_iterator("bounds", given.bounds)
    check_choice("execution", given.execution, EXECUTIONS)
    check_dtype(given.dtype)
    vectorized = check_form("vectorized", given.vectorized)
    check_bool("warm_start", given.warm_start)
    check_polish(given.polish)
    check_verbose(given.verbose)
    check_jobs(given.n_jobs)
    check_real("feasibility_tol", given.feasibility_tol, 0)
    check_int("final_evals", given.final_evals, 0, LARGEST_FINAL)
    if given.max_eval_time is not None:
        check_eval_processes(given)
    if check_choice("on_error", given.on_error, ON_ERROR) == "nan" and vectorized is True:
        raise ValueError(
            "on_error='nan' needs vectorized=False: an exception of f(X) does not say which rows failed; let f return "
            "NaN for these, or take one point"
        )


def check_eval_processes(given: MinimizerParameters) -> None:
    """Refuse a time limit of one evaluation where no other process makes it, which could be ended."""
    got = f"n_jobs={given.n_jobs!r} and execution={given.execution!r}"
    check_processes(given.max_eval_time, row_jobs(given), got)


def row_jobs(given: MinimizerParameters) -> int | None:
    """Return the joblib workers of a function of one point: one, where joblib's workers call it."""
    return 1 if given.execution == "joblib" else given.n_jobs
