"""Reproduction of a paper's tables of co-evolution, as published and with the solver's defaults, in the same budget."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from skde.algorithms import get_algorithm
from skde.benchmark import trials
from skde.benchmark.papers import MinMaxPaper
from skde.benchmark.papers.paper import Milliseconds, Values
from skde.benchmark.recording import UNRECORDED, Recording
from skde.benchmark.records import Cell, Record, errors_of, or_null
from skde.engines import choose_engine
from skde.minmax import MinMaxSolver
from skde.problems import ConstrainedProblem, get_problem, optimal_value
from skde.validation import check_choice, check_int

DEFAULT = "default"  # the algorithm that is not the paper's
REPEATS = 5  # of the run that is timed alone


@dataclass(frozen=True)
class Row:
    """A cell of the tables: the paper's figures and ours.

    Attributes
    ----------
    function, algorithm, pop_size : str, str, int
        Names of the cell; the algorithm is a strategy of the paper's, or "default".
    known : float
        The optimum.
    constrained : bool
        Whether the problem has constraints.
    paper : Values or None
        The paper's values, if it has any.
    paper_ms : Milliseconds or None
        The paper's times, if it has any.
    ours : Values or None
        Our values, from the runs with a feasible point; None if there is no such run.
    feasible, runs : int
        Number of these runs, and of all runs.
    violation : float
        The largest violation of a constraint in all runs.
    alone_ms, together_ms : float
        Milliseconds of one run, the median of several, and of all runs together.
    """

    function: str
    algorithm: str
    pop_size: int
    known: float
    constrained: bool
    paper: Values | None
    paper_ms: Milliseconds | None
    ours: Values | None
    feasible: int
    runs: int
    violation: float
    alone_ms: float
    together_ms: float


def algorithms_of(paper: MinMaxPaper) -> list[str]:
    """Return the paper's strategies and the default solver."""
    return [*paper.strategies, DEFAULT]


def run(
    paper: MinMaxPaper,
    settings: trials.Settings,
    algorithms: Sequence[str],
    pop_sizes: Sequence[int],
    functions: Sequence[str],
    *,
    recording: Recording = UNRECORDED,
) -> Record:
    """Run a paper's strategies and the default solver on its problems.

    Parameters
    ----------
    paper : MinMaxPaper
        The paper.
    settings : Settings
        The suite is the paper's, the budget cycles of a run, such as "200cycles".
    algorithms : sequence of str
        The paper's strategies, which run as published, and "default", the solver with its own parameters.
    pop_sizes : sequence of int
        Individuals on each side; a subset of the paper's.
    functions : sequence of str
        A subset of the paper's.
    recording : Recording, default UNRECORDED
        The file of the record, and the progress bar.

    Returns
    -------
    record : dict
        As that of `trials.run`; a cell also has violation and feasibility of every run, and the seconds of several
        repeats of one run alone. Its `seconds` are those of all runs together. Times do not include compilation.

    Raises
    ------
    ValueError, TypeError, RuntimeError
        For names that the paper does not have, a device that does not exist, and a file with other settings.

    Examples
    --------
    >>> from skde.benchmark import minmax_trials, papers, trials
    >>> paper = papers.find_paper("fabris2012")
    >>> record = minmax_trials.run(paper, trials.Settings(paper.suite, "2cycles", 3), ["default"], [50], ["p2", "p6"])
    >>> [(row.function, row.runs) for row in minmax_trials.rows(paper, record)]
    [('p2', 3), ('p6', 3)]
    """
    n_cycles = cycles(settings.budget)
    check_int("runs", settings.runs, 1)
    check_int("seed", settings.seed, 0)
    choose_engine(settings.device, settings.n_jobs)
    for what, given, allowed in (
        ("algorithm", algorithms, algorithms_of(paper)),
        ("pop_size", pop_sizes, paper.pop_sizes),
        ("function", functions, paper.functions),
    ):
        if not given:
            raise ValueError(f"{what}s must be one or more, got none")
        for one in given:
            check_choice(f"{what} of {paper.name!r}", str(one), map(str, allowed))
    record, jobs = recording.begin(settings, {"cells": []}), []
    for function in functions:
        problem = get_problem(f"{paper.suite}/{function}")
        dim = len(problem.x_opt)
        for pop_size in pop_sizes:
            for algorithm in algorithms:
                text = f"{algorithm}:pop_size={pop_size}"
                solver = make_solver(paper, algorithm, pop_size)
                solver.set_params(random_state=settings.seed, device=settings.device, n_jobs=settings.n_jobs)
                measure = partial(measure_cell, problem, solver, n_cycles, settings.runs)
                jobs.append(trials.quality_job(record, function, dim, text, measure))
    return recording.run(record, jobs)


def cycles(budget: str) -> int:
    """Return the number of cycles of a run from text such as 200cycles."""
    match = re.fullmatch(r"(\d+)cycles", budget)
    if not match:
        raise ValueError(f"budget must be cycles of a run, such as 200cycles, got {budget!r}")
    return check_int("budget", int(match[1]), 1)


def make_solver(paper: MinMaxPaper, algorithm: str, pop_size: int) -> MinMaxSolver:
    """Return the paper's solver with a strategy, or the default one."""
    if algorithm == DEFAULT:
        return MinMaxSolver(get_algorithm(MinMaxSolver().algorithm_x, pop_size=pop_size))
    made: MinMaxSolver = getattr(MinMaxSolver, paper.name)(algorithm, pop_size)
    return made


def measure_cell(problem: Any, solver: MinMaxSolver, n_cycles: int, n_runs: int) -> dict[str, Any]:
    """Measure one cell: one run alone, several times, and all runs together; compilation comes before."""

    def seconds(n_runs: int, n_cycles: int) -> float:
        begin = time.perf_counter()
        solver.set_params(n_runs=n_runs, n_cycles=n_cycles).fit(problem)
        return time.perf_counter() - begin

    for number in (1, n_runs):
        seconds(number, 1)
    alone = [seconds(1, n_cycles) for _ in range(REPEATS)]
    together = seconds(n_runs, n_cycles)
    runs, f_opt = solver.runs_, optimal_value(problem)
    best = or_null([run.fun for run in runs])
    return {
        "f_opt": f_opt,
        "best": best,
        "error": errors_of(best, f_opt),
        "violation": or_null([run.max_violation for run in runs]),
        "feasible": [run.feasible for run in runs],
        "n_evals": [run.n_evals for run in runs],
        "seconds": round(together, 6),
        "alone": [round(spent, 6) for spent in alone],
    }


def rows(paper: MinMaxPaper, record: Record) -> list[Row]:
    """Return the cells of a record with the paper's figures, by problem, size of population and algorithm."""

    def place(row: Row) -> tuple[int, int, int]:
        return paper.functions.index(row.function), row.pop_size, algorithms_of(paper).index(row.algorithm)

    return sorted((row(paper, cell) for cell in record["cells"]), key=place)


def row(paper: MinMaxPaper, cell: Cell) -> Row:
    """Return one cell with the paper's figures."""
    function = cell["function"]
    algorithm, _, size = cell["algorithm"].partition(":pop_size=")
    problem = get_problem(f"{paper.suite}/{function}")
    feasible_best = [best for best, feasible in zip(cell["best"], cell["feasible"], strict=True) if feasible]
    violations = [np.inf if value is None else value for value in cell["violation"]]
    return Row(
        function=function,
        algorithm=algorithm,
        pop_size=int(size),
        known=optimal_value(problem),
        constrained=isinstance(problem, ConstrainedProblem),
        paper=paper.values.get((algorithm, int(size)), {}).get(function),
        paper_ms=paper.milliseconds.get((algorithm, int(size)), {}).get(function),
        ours=describe(feasible_best) if feasible_best else None,
        feasible=len(feasible_best),
        runs=len(cell["best"]),
        violation=max(violations),
        alone_ms=1e3 * median(cell["alone"]),
        together_ms=1e3 * cell["seconds"],
    )


def describe(best: Sequence[float | None]) -> Values:
    """Return best, median, mean, standard deviation and worst; null means infinity."""
    found = np.array([np.inf if value is None else value for value in best])
    spread = len(found) > 1 and bool(np.isfinite(found).all())
    std = float(found.std(ddof=1)) if spread else 0.0
    return Values(float(found.min()), float(np.median(found)), float(found.mean()), std, float(found.max()))
