"""Quality experiments: many runs of several algorithms on the functions of a suite."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from skde.benchmark import gpu_descriptions, now, provenance
from skde.benchmark.optimizers import Budget, Optimizer
from skde.benchmark.records import Cell, Record, best_values, errors_of, key_of, read_record, round_values, write_record
from skde.benchmark.suites import Function, find_suite
from skde.engines import choose_engine
from skde.validation import check_int

Measure = Callable[[], dict[str, Any]]  # measures a cell


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
    out: str | os.PathLike[str] | None = None,
    command: str = "",
    verbose: bool = False,
    started: Callable[[Record], None] | None = None,
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
    out : path or None, default None
        A file that is written after every cell. The cells of an existing file are kept and not run again.
    command : str, default ""
        The command to store in the record.
    verbose : bool, default False
        Whether to draw a progress bar.
    started : callable or None, default None
        Called with the record before the first cell. The record then grows, and keeps the finished cells if the rest is
        interrupted or fails.

    Returns
    -------
    record : dict
        Ready for JSON: the provenance, the settings, and for every cell the function's minimum f_opt, the best value,
        the error and the evaluations of each run, and the seconds of all runs.

    Raises
    ------
    ValueError, TypeError, RuntimeError
        For unknown names, values that are not allowed, missing devices, and a file with other settings.
    """
    cells = plan_cells(settings, optimizers, dims, functions)
    budget = Budget.read(settings.budget)
    jobs: list[tuple[tuple[str, int, str], Measure]] = [
        (
            (function.name, function.dim, optimizer.text),
            partial(measure_cell, settings, budget, function, optimizer, exact),
        )
        for function, optimizer in cells
    ]
    return run_jobs(open_record(settings, out, command), jobs, out, verbose, started)


def run_jobs(
    record: Record,
    jobs: Sequence[tuple[tuple[str, int, str], Measure]],
    out: str | os.PathLike[str] | None,
    verbose: bool,
    started: Callable[[Record], None] | None = None,
) -> Record:
    """Add the cells that a record does not have yet, and write the record after each.

    Parameters
    ----------
    record : dict
        Result of `open_record`.
    jobs : sequence of ((str, int, str), callable)
        Function, dimension and algorithm of every cell, and the function that measures the rest of the cell.
    out, verbose, started
        As for `run`.

    Returns
    -------
    record : dict
        The same object.
    """
    from tqdm.auto import tqdm

    if started is not None:
        started(record)
    done = {key_of(cell) for cell in record["cells"]}
    # A record may grow over days, versions and machines, so every cell has its date, processor and commit.
    source = {"cpu": record["machine"]["cpu"], "commit": record["commit"]}
    with tqdm(total=len(jobs), unit="cell", dynamic_ncols=True, disable=not verbose) as bar:
        for (function, dim, algorithm), measure in jobs:
            bar.set_postfix_str(f"{function} D={dim} {algorithm}")
            if (function, dim, algorithm) not in done:
                key = {"function": function, "dim": dim, "algorithm": algorithm}
                record["cells"].append({**key, **measure(), "date": now(), **source})
                if out is not None:
                    write_record(out, record)
            bar.update()
    return record


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


def open_record(settings: Settings, out: str | os.PathLike[str] | None, command: str) -> Record:
    """Return a new record, or that of an existing file with the same settings."""
    cells: list[Cell] = []
    wanted = asdict(settings)
    if out is not None and os.path.exists(out):
        found = read_record(out)
        for name, value in wanted.items():
            if name not in found["settings"] or found["settings"][name] != value:
                raise ValueError(
                    f"{out} has {name}={found['settings'].get(name)!r}, not {value!r}; "
                    "use the same settings, or another file"
                )
        cells = found["cells"]
    here = provenance(command)
    here["machine"] |= gpu_of(settings.device)
    return {**here, "device": settings.device, "settings": wanted, "cells": cells}


def gpu_of(device: str) -> dict[str, str]:
    """Return the name of a device's GPU, or an empty dict for the CPU."""
    name = choose_engine(device)[0].name
    return {} if name == "cpu" else {"gpu": next(gpu["name"] for gpu in gpu_descriptions()[0] if gpu["device"] == name)}


def measure_cell(
    settings: Settings, budget: Budget, function: Function, optimizer: Optimizer, exact: bool = False
) -> dict[str, Any]:
    """Measure one cell."""
    begin = time.perf_counter()
    found = optimizer.run(function, budget, settings.runs, settings.seed, settings.device, settings.n_jobs)
    seconds = time.perf_counter() - begin
    best = or_null(found.best)
    error = errors_of(best, function.f_opt)
    if not exact:
        error = round_values(error)
        best = best_values(error, function.f_opt)
    return {
        "f_opt": function.f_opt,
        "best": best,
        "error": error,
        "n_evals": found.n_evals,
        "seconds": round(seconds, 6),
    }


def or_null(values: list[float]) -> list[float | None]:
    """Return the values, with None for those that are not finite, because JSON has no such numbers."""
    return [value if math.isfinite(value) else None for value in values]
