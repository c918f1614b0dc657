"""Quality experiments: many runs of several algorithms on the functions of a suite."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from skde.benchmark import now
from skde.benchmark.curves import CURVES, curve_entries
from skde.benchmark.optimizers import Budget, Optimizer, Outcome
from skde.benchmark.recording import UNRECORDED, Job, Recording
from skde.benchmark.records import Cell, Record, best_values, errors_of, or_null, round_values
from skde.benchmark.suites import Function, find_suite, zero_of
from skde.engines import choose_engine
from skde.validation import check_int


@dataclass(frozen=True)
class Settings:
    """Settings that all cells of a record share.

    Attributes
    ----------
    suite : str
        Name of the suite.
    budget : str
        Evaluations of a run, such as "300000" or "10000*dim", or seconds of all runs of a cell, such as "2.5s".
    runs : int
        Runs of every algorithm on every function.
    seed : int
        The first of the runs' seeds.
    device : str
        Device of skde's algorithms: "cpu", "cuda" or "cuda:N".
    n_jobs : int or None
        Threads of skde's algorithms on the CPU; None: OpenMP's number.
    """

    suite: str
    budget: str
    runs: int
    seed: int = 0
    device: str = "cpu"
    n_jobs: int | None = None


def run(
    settings: Settings,
    optimizers: Sequence[Optimizer],
    dims: Sequence[int],
    functions: Sequence[str] | None = None,
    *,
    exact: bool = False,
    curves: bool = False,
    recording: Recording = UNRECORDED,
) -> Record:
    """Run every algorithm on every function in every dimension.

    Parameters
    ----------
    settings : Settings
        Settings of all cells.
    optimizers : sequence of Optimizer
        The algorithms.
    dims : sequence of int
        The dimensions.
    functions : sequence of str or None, default None
        The suite's functions; None: all.
    exact : bool, default False
        Whether the best values are stored exactly, which takes more space. Otherwise the errors have ten significant
        digits, as the statistics do, and the best values are the sums of minimum and error.
    curves : bool, default False
        Whether cells have convergence curves, which take more space: see `curve_entries`.
    recording : Recording, default UNRECORDED
        The file of the record, and the progress bar.

    Returns
    -------
    record : dict
        Ready for JSON: the provenance, the settings, and for every cell the function's minimum f_opt, the best value,
        the error and the evaluations of each run, and the seconds of all runs. Cells with runs that failed also have
        the list failures, of objects with run and error.

    Raises
    ------
    ValueError, TypeError
        For unknown names, values that are not allowed, and a file with other settings.
    RuntimeError
        For missing devices, and after all cells if runs have failed.
    """
    cells = plan_cells(settings, optimizers, dims, functions)
    budget = Budget.read(settings.budget)
    record = recording.begin(settings, {"cells": []})
    jobs = [
        quality_job(
            record,
            function.name,
            function.dim,
            optimizer.text,
            partial(cell_entries, partial(measure_cell, settings, budget, function, optimizer, exact), curves),
        )
        for function, optimizer in cells
    ]
    recording.run(record, jobs)
    check_failures(record)
    return record


def cell_entries(measure: Callable[[], Cell], curves: bool) -> Cell:
    """Return the entries of a measured cell, without its curves where they are not wanted."""
    return {name: value for name, value in measure().items() if curves or name not in CURVES}


def check_failures(record: Record) -> None:
    """Raise if runs of the record have failed, after all cells are done.

    Raises
    ------
    RuntimeError
        With the first error.
    """
    failed = [cell for cell in record["cells"] if cell.get("failures")]
    if failed:
        cell, first = failed[0], failed[0]["failures"][0]
        raise RuntimeError(
            f"runs of {len(failed)} of {len(record['cells'])} cells failed, first run {first['run']} of "
            f"{cell['algorithm']} on {cell['function']} D={cell['dim']}: {first['error']}; the other runs are done, "
            "and the same command with --out repeats only the cells with failures"
        )


def quality_job(record: Record, function: str, dim: int, algorithm: str, measure: Callable[[], Cell]) -> Job:
    """Return the job of a cell of a record: its date, processor and commit are added to the measured values.

    A record may grow over days, versions and machines.
    """
    source = {"cpu": record["machine"]["cpu"], "commit": record["commit"]}
    key = {"function": function, "dim": dim, "algorithm": algorithm}
    return Job(key, f"{function} D={dim} {algorithm}", lambda: {**measure(), "date": now(), **source})


def plan_cells(
    settings: Settings, optimizers: Sequence[Optimizer], dims: Sequence[int], functions: Sequence[str] | None
) -> list[tuple[Function, Optimizer]]:
    """Check all arguments before the first run, and return the cells in order."""
    suite = find_suite(settings.suite)
    budget = Budget.read(settings.budget)
    check_int("runs", settings.runs, 1)
    check_int("seed", settings.seed, 0)
    engine, _ = choose_engine(settings.device, settings.n_jobs)
    if not suite.compiled and engine.name != "cpu":
        raise ValueError(
            f"device must be 'cpu' for {suite.name!r}, whose functions take NumPy arrays; got {engine.name!r}"
        )
    for optimizer in optimizers:
        optimizer.check_budget(budget)
    names = suite.functions if functions is None else functions
    for what, given in (("algorithms", [c.text for c in optimizers]), ("dims", list(dims)), ("functions", list(names))):
        if not given:
            raise ValueError(f"{what} must be one or more, got none")
        if len(set(given)) < len(given):
            raise ValueError(f"{what} must differ from one another, got {', '.join(map(str, given))}")
    made = [suite.function(name, check_int("dims", dim, 1)) for dim in dims for name in names]
    return [(function, optimizer) for function in made for optimizer in optimizers]


def measure_cell(
    settings: Settings, budget: Budget, function: Function, optimizer: Optimizer, exact: bool = False
) -> dict[str, Any]:
    """Measure one cell."""
    begin = time.perf_counter()
    try:
        outcome = optimizer.run(function, budget, settings.runs, settings.seed, settings.device, settings.n_jobs)
    except Exception as raised:  # functions and libraries of users may raise anything; the other cells go on
        outcome = Outcome.failed(settings.runs, raised)
    seconds = time.perf_counter() - begin
    best = or_null(outcome.best)
    error = errors_of(best, function.f_opt)
    if not exact:
        error = round_values(error)
        best = best_values(error, function.f_opt)
    failures = [{"run": run, "error": message} for run, message in outcome.failures.items()]
    return {
        "f_opt": function.f_opt,
        "best": best,
        "error": error,
        "n_evals": outcome.n_evals,
        "seconds": round(seconds, 6),
        **({"failures": failures} if failures else {}),
        **(curve_entries(outcome.histories, function.f_opt, zero_of(settings.suite)) if outcome.histories else {}),
    }
