"""Callbacks, and what the progress bar of a fit shows."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from skde.algorithms import ALGORITHMS
from skde.engines.state.algorithm_kernels import algorithm_entry
from skde.engines.state.batch import best_of, member_rows
from skde.engines.state.runs import ADAPTED
from skde.fit.fit import Fit
from skde.fit.phases.local_search import LocalSearchPhase
from skde.fit.results import values_of_points
from skde.functions.named_point import find_refused_signature
from skde.objectives.feasibility import values_of_codes, violations_of_codes
from skde.stopping import UNLIMITED
from skde.typing import FloatArray, IntArray
from skde.utils.progress_bar import ProgressBar
from skde.utils.validation import check_int, check_path, check_real, quote

Callback = Callable[["Progress"], Any]


class Progress:
    """A read-only view of a running fit for callbacks; the best point is fetched from the device on first use.

    Parameters
    ----------
    fit : Fit
        The state of the fit.
    minimizer : Minimizer or MinMaxSolver
        The solver, which is also an attribute.

    Attributes
    ----------
    n_iter, n_evals : int
        Generations of the furthest run; evaluations of all runs together, with the polish.
    n_evals_of_runs : ndarray of shape (n_runs,)
        Evaluations of every run, with the polish.
    polishing : bool
        Whether the generations are over, and the best points are polished.
    seconds : float
        Since the fit began.
    """

    def __init__(self, fit: Fit, minimizer: Any) -> None:
        self._fit = fit
        self.minimizer = minimizer
        self.seconds = fit.seconds
        self._generation = fit.batch.host("generation")
        self.n_iter = int(max(fit.n_iter.max(), 0))
        self.n_evals_of_runs = fit.n_evals
        self.polishing = isinstance(fit.requests, LocalSearchPhase) and fit.requests.begun
        self.n_evals = int(self.n_evals_of_runs.sum())

    def _quote_values(self, values: FloatArray) -> FloatArray:
        shown: FloatArray = values if self._fit.rules is None else values_of_codes(values)
        return shown

    @cached_property
    def _best(self) -> tuple[IntArray, IntArray, FloatArray]:
        """The generations of all populations, their best individuals, and the values of these."""
        generation = self._fit.batch.host("generation")
        return generation, *self._fit.batch.best(generation)

    @cached_property
    def _codes(self) -> FloatArray:
        """The best value of every run, as selection compares it."""
        fit = self._fit
        codes = np.asarray(np.fmin.reduce(fit.population.by_run(self._best[2]), axis=1))
        for incomplete in fit.incomplete:
            codes = incomplete.replace_worse(np.zeros((len(codes), fit.batch.dim)), codes)[1]
        return fit.ledger.lower_codes(codes)

    @property
    def funs(self) -> FloatArray:
        """The best value of every run, of shape (n_runs,); infinite where it has no feasible point."""
        return np.array(self._quote_values(self._codes))

    @property
    def fun(self) -> float:
        """The best value of all runs; infinite where there is no feasible point."""
        values = self._quote_values(self._codes)
        return float("nan") if np.isnan(values).all() else float(np.nanmin(values))

    @cached_property
    def parameters(self) -> dict[str, list[FloatArray]]:
        """F and CR of the individuals of every run, where the algorithm adapts them: one array for each run."""
        batch, generation = self._fit.batch, self._generation
        members = member_rows(batch.spec, generation).reshape(-1, batch.n_islands * batch.pop_max)
        found = {}
        for name in batch.adapted:
            rows = batch.parameter_values(name, generation).reshape(members.shape)
            found[name] = [values[own].astype(np.float64) for values, own in zip(rows, members, strict=True)]
        return found

    @property
    def violation(self) -> float:
        """The violation of the constraints at the best point of all runs; 0 for a feasible one."""
        least = np.fmin.reduce(self._codes)
        return 0.0 if self._fit.rules is None else float(violations_of_codes(least))

    @property
    def x(self) -> FloatArray:
        """The best point of all runs, of shape (dim,)."""
        generation, index, values = self._best
        batch = self._fit.batch
        fit = self._fit
        if not fit.ledger.has_points and not fit.incomplete:
            run = np.array([best_of(values)])
            points = batch.points(generation, run, index[run])
        else:
            points, codes = fit.best_points()
            points = points[[best_of(codes)]]
        position: FloatArray = values_of_points(batch, points)[0]
        return position


class Checkpoint:
    """A callback that saves the fit at intervals, so that a killed fit can be resumed.

    Parameters
    ----------
    path : str or path-like
        The file; each save is one atomic write.
    every : float, default 60.0
        Seconds between two saves, >= 0.

    Examples
    --------
    >>> from skde import Checkpoint, Minimizer
    >>> m = Minimizer(max_iter=10, callbacks=[Checkpoint("run.skde", every=30.0)])
    """

    def __init__(self, path: str | os.PathLike[str], every: float = 60.0) -> None:
        self.path = check_path("path", path)
        self.every = check_real("every", every, 0)
        self._last = time.monotonic()

    def __call__(self, progress: Progress) -> None:
        """Save where the interval is over."""
        if time.monotonic() - self._last >= self.every:
            progress.minimizer.save(self.path)
            self._last = time.monotonic()


class ParameterTrace:
    """A callback that records F and CR of the individuals over a fit, for `ParameterTrajectoryDisplay`.

    It reads them from the device every few generations, which costs time: leave it out of fits that are to be fast.

    Parameters
    ----------
    every : int, default 10
        Generations between two records, >= 1. A Python function on a GPU is interrupted every few milliseconds only,
        and has a record at the next chance.

    Attributes
    ----------
    n_iter, n_evals : ndarray of shape (n,), ndarray of shape (n, n_runs)
        Generations of the furthest run, and evaluations of every run, at the records of the last fit.
    quartiles : dict of str to ndarray of shape (n, n_runs, 3)
        Lower quartile, median and upper quartile of "F" and, where the algorithm adapts it, of "CR".

    Notes
    -----
    A fit refuses the trace before its first generation where the algorithm adapts neither F nor CR, in a
    `MinMaxSolver`, and where the fit has at most `every` generations. `ask` and `tell` call no callbacks.

    Examples
    --------
    >>> from skde import Minimizer, ParameterTrace
    >>> trace = ParameterTrace(every=10)
    >>> m = Minimizer("jde", max_iter=100, callbacks=[trace], random_state=0).fit("sphere", dim=5)
    >>> trace.quartiles["F"].shape
    (9, 1, 3)
    """

    def __init__(self, every: int = 10) -> None:
        self.every = check_int("every", every, 1)
        self._records: list[tuple[int, IntArray, dict[str, FloatArray]]] = []

    def __call__(self, progress: Progress) -> None:
        """Record, where enough generations have passed; a new fit clears the records of the one before."""
        if progress.n_iter == 0:  # individuals have no parameters before their first trial
            self._records = []
        elif progress.n_iter // self.every > (self._records[-1][0] // self.every if self._records else 0):
            found = {
                name: np.array([np.percentile(own, [25, 50, 75]) for own in runs])
                for name, runs in progress.parameters.items()
            }
            self._records.append((progress.n_iter, progress.n_evals_of_runs, found))

    @property
    def n_iter(self) -> IntArray:
        """Generations at the records."""
        return np.array([record[0] for record in self._records], np.int64)

    @property
    def n_evals(self) -> IntArray:
        """Evaluations of every run at the records."""
        return np.array([record[1] for record in self._records], np.int64)

    @property
    def quartiles(self) -> dict[str, FloatArray]:
        """Quartiles of the parameters at the records."""
        names = self._records[0][2] if self._records else {}
        return {name: np.stack([record[2][name] for record in self._records]) for name in names}


@dataclass(repr=False, eq=False)
class Report:
    """A `StopRequest` that calls the callbacks and moves the progress bar.

    Attributes
    ----------
    fit : Fit
        The fit of the solver.
    total : int or None
        Number of evaluations at the end; None: unlimited.
    every : int or None
        Generations between two calls, for callbacks that record; None: any number.
    """

    solver: Any
    fit: Fit
    callbacks: Sequence[Callback]
    total: int | None

    def __post_init__(self) -> None:
        self.every = min((trace.every for trace in traces_of(self.callbacks)), default=None)
        self.bar = ProgressBar(self.describe, self.total, "eval", scaled=True) if self.solver.verbose else None

    def __call__(self) -> bool:
        """Return whether a callback asks to stop."""
        if self.bar is not None:
            self.bar.move()
        return stops(self.callbacks, Progress(self.fit, self.solver))

    def describe(self) -> tuple[int, str]:
        """Return the number of evaluations, and the best value or, without a feasible point, its violation."""
        progress = Progress(self.fit, self.solver)
        far = progress.violation
        return progress.n_evals, f"violation {far:.3g}" if far else f"best {progress.fun:.6g}"


@contextmanager
def stop_request(solver: Any, fit: Fit, later_evals: int | None = 0) -> Iterator[Report | None]:
    """Give the function that a fit calls after each engine call; None without callbacks and progress bar.

    The function calls the callbacks and moves the progress bar. It returns whether a callback asked to stop.
    `later_evals` are the evaluations of all runs after the present search; None: nobody knows.
    """
    callbacks = callback_list(solver.callbacks)
    for trace in traces_of(callbacks):
        check_trace(trace, solver, fit)
    report = Report(solver, fit, callbacks, total_evals(fit, later_evals))
    try:
        yield report if callbacks or report.bar is not None else None
    finally:
        if report.bar is not None:
            report.bar.close()


def total_evals(fit: Fit, later_evals: int | None) -> int | None:
    """Return the largest number of evaluations of all runs, later phases included, or None without a limit."""
    spec = fit.batch.spec
    if later_evals is None or spec.limits.max() >= UNLIMITED:
        return None
    past = fit.ledger.past
    before = 0 if past is None else int(past.n_evals.sum())
    schedules = zip(spec.limits, spec.schedules, strict=True)
    return before + sum(schedule.evals(int(limit)) for limit, schedule in schedules) + later_evals


def callback_list(callbacks: Any) -> Sequence[Callable[[Any], Any]]:
    """Return the parameter `callbacks` as a sequence of callables."""
    if callbacks is None:
        return []
    given = callbacks if isinstance(callbacks, Sequence) else [callbacks]
    for callback in given:
        if not callable(callback):
            raise TypeError(f"callbacks must be callables, got {callback!r} ({type(callback).__name__})")
        if signature := find_refused_signature(callback, 1):
            raise TypeError(
                "a callback must take one argument, a view of the fit that runs, such as Progress; got "
                f"{quote(callback)}, with {signature}"
            )
    return given


def traces_of(callbacks: Any) -> list[ParameterTrace]:
    """Return the traces among the parameter `callbacks`."""
    return [one for one in callback_list(callbacks) if isinstance(one, ParameterTrace)]


def check_trace(trace: ParameterTrace, solver: Any, fit: Fit) -> None:
    """Refuse a trace before the first generation of a fit that has nothing to record."""
    if not fit.batch.adapted:
        raise ValueError(
            f"ParameterTrace records F and CR of the individuals, which {text_of(solver)} does not have: leave it out "
            f"of the callbacks; Minimizer has them with {', '.join(adapting_algorithms())}"
        )
    last = fit.population.last
    if last <= trace.every:
        raise ValueError(
            f"ParameterTrace.every must be less than the generations of the fit, {last}, got {trace.every}"
        )


def adapting_algorithms() -> list[str]:
    """Return the names of the algorithms that adapt F or CR of each individual."""
    return [name for name, kind in ALGORITHMS.items() if {*ADAPTED} & {*algorithm_entry(kind().kernel).arrays}]


def text_of(solver: Any) -> str:
    """Return the name of the algorithm that runs, or of a solver with two."""
    algorithm = getattr(solver, "algorithm_", None)
    first = algorithm[0] if isinstance(algorithm, Sequence) else algorithm
    return type(solver).__name__ if first is None else repr(first.name)


def stops(callbacks: Sequence[Callable[[Any], Any]], progress: Any) -> bool:
    """Call the callbacks, and return whether one has asked to stop: by a true value, or by StopIteration."""
    try:
        return any([is_true(callback(progress)) for callback in callbacks])
    except StopIteration:
        return True


def is_true(answer: Any) -> bool:
    """Return whether a callback's answer is true, as `if` has it."""
    try:
        return bool(answer)
    except ValueError as error:  # of an array with several elements
        raise ValueError(f"a callback must return a value that is true or false, got {quote(answer)}") from error
