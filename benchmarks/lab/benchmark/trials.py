"""Quality experiments: many runs of several algorithms on the functions of a suite."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from math import inf
from typing import Any

from skde.benchmark import today
from skde.benchmark.curves import CURVES, curve_entries
from skde.benchmark.functions import Function, Suite
from skde.benchmark.growing_record import UNRECORDED, CellJob, GrowingRecording, describe_origin
from skde.benchmark.journal import CellKey, Journal, Trial
from skde.benchmark.optimizer_base import describe_error
from skde.benchmark.optimizers import Budget, Optimizer, RunsOutcome
from skde.benchmark.records import Cell, Record, errors_of, or_null
from skde.benchmark.suites import find_suite
from skde.benchmark.trial_logs import TrialLogs
from skde.engines import choose_engine
from skde.problems import find_forms
from skde.result import History
from skde.utils.validation import check_int, check_jobs

# The failure of a run that a fit of skde would call solved: a record cannot rank it among errors.
UNBOUNDED = "ValueError: the function returned -inf, which has no error"


@dataclass(frozen=True)
class TrialSettings:
    """Settings that all cells of a record share.

    Attributes
    ----------
    suite : str
        Name of the suite.
    budget : str
        Evaluations of a run, such as "300000" or "10000*dim", or seconds of all runs of a cell, such as "2.5s".
    runs : int
        Runs of every algorithm on every function; on a platform, run k is on instance k.
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


@dataclass(frozen=True)
class PlatformSettings(TrialSettings):
    """Settings of a record of a platform's suite.

    Attributes
    ----------
    platform : str
        Name and version of its package.
    """

    platform: str = ""


@dataclass(frozen=True)
class TrialPart:
    """One algorithm on one function in one dimension, which a cell of a record measures.

    Attributes
    ----------
    function : str
        Name of the function.
    dim : int
        Its dimension.
    optimizer : Optimizer
        The algorithm.
    problem : Function or None
        The function; None on a platform, which opens one for each trial.
    """

    function: str
    dim: int
    optimizer: Optimizer
    problem: Function | None = field(repr=False)

    @property
    def key(self) -> CellKey:
        """The names that identify the cell."""
        return self.function, self.dim, self.optimizer.text


def run_trials(
    settings: TrialSettings,
    optimizers: Sequence[Optimizer],
    dims: Sequence[int] | None,
    functions: Sequence[str] | None = None,
    *,
    curves: bool = False,
    recording: GrowingRecording = UNRECORDED,
    logs: TrialLogs | None = None,
) -> Record:
    """Run every algorithm on every function in every dimension.

    Parameters
    ----------
    settings : TrialSettings
        Settings of all cells.
    optimizers : sequence of Optimizer
        The algorithms.
    dims : sequence of int or None
        The dimensions; None: all that the suite's functions have.
    functions : sequence of str or None, default None
        The suite's functions; None: all.
    curves : bool, default False
        Whether cells have convergence curves, which take more space: see `curve_entries`.
    recording : GrowingRecording, default UNRECORDED
        The file of the record, and the progress bar.
    logs : TrialLogs or None, default None
        The folder of the files of a platform's logger; needed for a suite of a platform.

    Returns
    -------
    record : dict
        Ready for JSON: the provenance, the settings, and for every cell the function's minimum f_opt (not on platforms,
        where every instance has another one), the best value, the error and the evaluations of each run, and the
        seconds of all runs. Cells with runs that failed have the list failures, of objects with run and error.

    Raises
    ------
    ValueError, TypeError
        For unknown names, values that are not allowed, and a file with other settings.
    RuntimeError
        For missing devices, and after all cells if runs have failed.
    OSError
        When a file cannot be written. Finished trials are in the files, and the same call continues after them.
    """
    suite = find_suite(settings.suite)
    parts = plan_parts(suite, settings, optimizers, dims, functions)
    if suite.platform is not None:
        if logs is None:
            raise ValueError(f"the suite {suite.name!r} needs a folder for the files of its platform (--data FOLDER)")
        settings = PlatformSettings(**asdict(settings), platform=suite.platform.package.text)
        logs.check_names([part.optimizer.text for part in parts])
    budget = Budget.read(settings.budget)
    journal = Journal(recording.out, asdict(settings))
    record = recording.begin(settings, {"cells": []})
    check_minima(recording.out, record, parts)
    jobs = []
    for part in parts:
        measure = Measurement(settings, budget, part, journal, suite, logs)
        cell = partial(cell_entries, partial(measure_cell, measure), curves)
        jobs.append(quality_job(record, *part.key, cell, measure.forget))
    recording.run(record, jobs)
    check_failures(record)
    return record


def check_minima(out: Any, record: Record, parts: Sequence[TrialPart]) -> None:
    """Refuse to continue a record with functions that have other minima now."""
    found = {(cell["function"], cell["dim"]): cell["f_opt"] for cell in record["cells"] if "f_opt" in cell}
    for part in parts:
        there = found.get((part.function, part.dim))
        if part.problem is not None and there is not None and part.problem.f_opt != there:
            raise ValueError(
                f"{out} has {part.function} D={part.dim} with f_opt={there!r}, and the function has "
                f"{part.problem.f_opt!r} now; give another file"
            )


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


def quality_job(
    record: Record,
    function: str,
    dim: int,
    algorithm: str,
    measure: Callable[[], Cell],
    saved: Callable[[], object] = lambda: None,
) -> CellJob:
    """Return the job of a cell of a record: its day and its source are added to the measured values.

    A record may grow over days, versions and machines.
    """
    source = describe_origin(record)
    key = {"function": function, "dim": dim, "algorithm": algorithm}
    return CellJob(key, f"{function} D={dim} {algorithm}", lambda: {**measure(), "date": today(), **source}, saved)


def plan_parts(
    suite: Suite,
    settings: TrialSettings,
    optimizers: Sequence[Optimizer],
    dims: Sequence[int] | None,
    functions: Sequence[str] | None,
) -> list[TrialPart]:
    """Check all arguments before the first run, and return the parts in order."""
    budget = Budget.read(settings.budget)
    check_int("runs", settings.runs, 1)
    check_int("seed", settings.seed, 0)
    check_jobs(settings.n_jobs)
    engine, _ = choose_engine(settings.device, settings.n_jobs)
    if not suite.compiled and engine.name != "cpu":
        raise ValueError(
            f"device must be 'cpu' for {suite.name!r}: its functions take NumPy arrays; got {engine.name!r}"
        )
    if suite.platform is not None and budget.seconds is not None:
        raise ValueError(f"{suite.name!r} needs a budget of evaluations, such as 10000*dim; got {budget.text!r}")
    for optimizer in optimizers:
        optimizer.check_budget(budget)
        if suite.constrained and not optimizer.takes_constraints:
            raise ValueError(f"{optimizer.text} takes no constraints, which {suite.name!r} has: use skde's algorithms")
    names = suite.functions if functions is None else functions
    every = dims is None
    dims = suite.all_dims() if dims is None else dims
    for what, given in (("algorithms", [c.text for c in optimizers]), ("dims", list(dims)), ("functions", list(names))):
        if not given:
            raise ValueError(f"{what} must be one or more, got none")
        if len(set(given)) < len(given):
            raise ValueError(f"{what} must differ from one another, got {', '.join(map(str, given))}")
    parts = []
    for dim in dims:
        for name in names:
            if every and suite.dims is not None and name in suite.functions and dim not in suite.dims(name):
                continue  # CEC 2011's and 2019's functions have one dimension each
            suite.check(name, dim)
            problem = None if suite.make is None else suite.function(name, dim)
            parts += [TrialPart(name, dim, optimizer, problem) for optimizer in optimizers]
    return parts


# -- trials ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Measurement:
    """All that one cell is measured with.

    Attributes
    ----------
    settings : TrialSettings
        Settings of all cells.
    budget : Budget
        The budget of a run.
    part : TrialPart
        Algorithm, function and dimension.
    journal : Journal
        The finished trials.
    suite : Suite
        The suite.
    logs : TrialLogs or None
        The files of a platform's logger.
    """

    settings: TrialSettings
    budget: Budget
    part: TrialPart
    journal: Journal
    suite: Suite
    logs: TrialLogs | None = None

    def forget(self) -> None:
        """Remove the trials of a cell that the record has."""
        self.journal.drop(self.part.key)
        if self.logs is not None:
            self.logs.drop(*self.part.key)


def measure_cell(measurement: Measurement) -> Cell:
    """Measure one cell."""
    part, settings = measurement.part, measurement.settings
    if part.problem is not None and part.optimizer.batches and not measurement.journal.of(part.key):
        begin = time.perf_counter()
        outcome = run_batch(measurement, part.problem)
        if outcome is not None:
            best = or_null(outcome.best)
            error = errors_of(best, part.problem.f_opt)
            failures = [{"run": run, "error": message} for run, message in outcome.failures.items()]
            curves = shift_histories(outcome.histories, [part.problem.f_opt] * settings.runs)
            return make_cell(measurement, best, error, outcome.n_evals, time.perf_counter() - begin, failures, curves)
    trials = [trial_of(measurement, run) for run in range(settings.runs)]
    if measurement.logs is not None:
        measurement.logs.merge(*part.key, settings.runs)
    failures = [{"run": run, "error": trial.failure} for run, trial in enumerate(trials) if trial.failure]
    best, error = [trial.best for trial in trials], [trial.error for trial in trials]
    seconds = sum(trial.seconds for trial in trials)
    if part.problem is not None:
        minima = [part.problem.f_opt] * settings.runs
    else:
        minima = [0.0 if one is None or other is None else one - other for one, other in zip(best, error, strict=True)]
    curves = shift_histories([trial.history for trial in trials], minima)
    return make_cell(measurement, best, error, [trial.n_evals for trial in trials], seconds, failures, curves)


def run_batch(measurement: Measurement, problem: Function) -> RunsOutcome | None:
    """Run all trials at once; None where one of them raised, and the others have to be done without it."""
    settings, budget = measurement.settings, measurement.budget
    try:
        outcome = measurement.part.optimizer.run(
            problem, budget, settings.runs, settings.seed, settings.device, settings.n_jobs
        )
    except (Exception, SystemExit) as error:  # functions of users may raise anything; the other runs and cells continue
        # A compiled problem raises only for reasons that all runs share.
        if find_forms(problem.objective).functor is not None or budget.seconds is not None:
            return RunsOutcome.of_failure(settings.runs, error)
        return None
    unbounded = {run: UNBOUNDED for run, best in enumerate(outcome.best) if best == -inf}
    histories = [None if run in unbounded else history for run, history in enumerate(outcome.histories)]
    return replace(outcome, histories=histories, failures={**outcome.failures, **unbounded})


def shift_histories(histories: Sequence[History | None], minima: Sequence[float]) -> list[History | None]:
    """Return histories of errors from histories of values."""
    return [
        None if history is None else replace(history, best=history.best - f_opt)
        for history, f_opt in zip(histories, minima, strict=True)
    ]


def make_cell(
    measurement: Measurement,
    best: list[float | None],
    error: list[float | None],
    n_evals: list[int],
    seconds: float,
    failures: list[dict[str, Any]],
    curves: list[History | None],
) -> Cell:
    """Return the values of a cell; the curves are histories of errors."""
    problem = measurement.part.problem
    return {
        **({} if problem is None else {"f_opt": problem.f_opt}),
        "best": best,
        "error": error,
        "n_evals": n_evals,
        "seconds": round(seconds, 6),
        **({"failures": failures} if failures else {}),
        **(curve_entries(curves, 0.0, measurement.suite.zero) if curves else {}),
    }


def trial_of(measurement: Measurement, run: int) -> Trial:
    """Return a trial from the journal, or run it and add it."""
    part, journal = measurement.part, measurement.journal
    if run in journal.of(part.key) and (measurement.logs is None or measurement.logs.has(*part.key, run)):
        return journal.of(part.key)[run]
    seed = part.optimizer.seeds(measurement.settings.seed, measurement.settings.runs)[run]
    with open_function(measurement, run) as function:
        trial = run_trial(part.optimizer, function, measurement.budget, seed, measurement.settings.n_jobs)
    if measurement.logs is not None:
        trial = read_log(measurement.logs, part, run, trial)
    journal.add(part.key, run, trial)
    return trial


def read_log(logs: TrialLogs, part: TrialPart, run: int, trial: Trial) -> Trial:
    """Return a trial with the evaluations, and the error, in the files of its logger."""
    try:
        error, n_evals = logs.finish(*part.key, run)
    except OSError:
        if not trial.failure:
            raise
        return trial  # it raised before the first evaluation, so that the logger has written nothing
    # COCO publishes no minimum: its logger knows the error.
    return replace(trial, n_evals=n_evals, error=trial.error if error is None or trial.failure else error)


@contextmanager
def open_function(measurement: Measurement, run: int) -> Iterator[Function]:
    """Return the function of a trial; on a platform with a logger."""
    part = measurement.part
    if part.problem is not None:
        yield part.problem
        return
    assert measurement.logs is not None
    with measurement.logs.open(*part.key, run) as function:
        yield function


class Count:
    """The evaluations of a run, which a run that raises does not return."""

    def __init__(self) -> None:
        self.n_evals = 0

    def of(self, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Return a function of points that counts those it returns values of."""

        def count_points(points: Any) -> Any:
            values = function(points)
            self.n_evals += len(points)
            return values

        return count_points


def run_trial(optimizer: Optimizer, function: Function, budget: Budget, seed: int, n_jobs: int | None) -> Trial:
    """Run one trial; an exception of the algorithm or of the function is its result, and the other runs continue."""
    evals = budget.evals(function.dim)
    assert evals is not None  # plan_parts and the optimisers refuse seconds for single runs
    count = Count()
    counted = replace(function, objective=count.of(function.objective), of_lists=count.of(function.of_lists))
    begin = time.perf_counter()
    try:
        history = optimizer.minimize(counted, evals, seed, n_jobs)
    except (Exception, SystemExit) as error:  # other libraries and functions of users may raise anything
        return Trial(None, None, count.n_evals, round(time.perf_counter() - begin, 6), failure=describe_error(error))
    seconds = round(time.perf_counter() - begin, 6)
    if history.best[-1] == -inf:
        return Trial(None, None, int(history.n_evals[-1]), seconds, failure=UNBOUNDED)
    best = or_null([float(history.best[-1])])
    return Trial(best[0], errors_of(best, function.f_opt)[0], int(history.n_evals[-1]), seconds, history)
