"""Runs of solvers of min-max problems, and statistics of their values."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from skde.benchmark.records import Cell, best_values, errors_of, or_null, round_values
from skde.benchmark.statistics import numbers
from skde.minmax import MinMaxSolver
from skde.problems import optimal_value
from skde.typing import FloatArray
from skde.utils.validation import check_int

REPEATS = 5  # of the run that is timed alone


class Values(NamedTuple):
    """Statistics of the best values of runs."""

    best: float
    median: float
    mean: float
    std: float
    worst: float


VALUES = Values._fields


def cycles(budget: str) -> int:
    """Return the number of cycles of a run from text such as 200cycles."""
    match = re.fullmatch(r"(\d+)cycles", budget)
    if not match:
        raise ValueError(f"budget must be cycles of a run, such as 200cycles, got {budget!r}")
    return check_int("budget", int(match[1]), 1)


def measure_solver(problem: Any, solver: MinMaxSolver, max_iter: int, n_runs: int) -> dict[str, Any]:
    """Measure one cell: one run alone, several times, and all runs together; compilation comes before."""

    def seconds(n_runs: int, max_iter: int) -> float:
        begin = time.perf_counter()
        solver.set_params(n_runs=n_runs, max_iter=max_iter).fit(problem)
        return time.perf_counter() - begin

    for number in (1, n_runs):
        seconds(number, 1)
    alone = [seconds(1, max_iter) for _ in range(REPEATS)]
    together = seconds(n_runs, max_iter)
    runs, f_opt = solver.runs_, optimal_value(problem)
    error = round_values(errors_of(or_null([run.fun for run in runs]), f_opt))
    return {
        "f_opt": f_opt,
        "best": best_values(error, f_opt),
        "error": error,
        "violation": round_values(or_null([run.max_violation for run in runs]), 3),
        "feasible": [run.feasible for run in runs],
        "n_evals": [run.n_evals for run in runs],
        "seconds": round(together, 6),
        "alone": [round(spent, 6) for spent in alone],
    }


def feasible_best(cell: Cell) -> FloatArray:
    """Return the best values of the runs that found a feasible point; null means infinity."""
    values: FloatArray = numbers(cell["best"])[np.array(cell["feasible"], bool)]
    return values


def describe_values(found: Sequence[float] | FloatArray) -> Values:
    """Return best, median, mean, standard deviation and worst of one or more values."""
    values = np.asarray(found, np.float64)
    spread = len(values) > 1 and bool(np.isfinite(values).all())
    std = float(values.std(ddof=1)) if spread else 0.0
    return Values(float(values.min()), float(np.median(values)), float(values.mean()), std, float(values.max()))
