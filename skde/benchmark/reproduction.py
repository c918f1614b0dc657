"""Reproduction of papers: experiments, their records, and tables with a paper's figures and ours.

A paper is a data file with its tables as printed, and a class that derives from `Reproduction` and says which
experiments give which cells of them.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import clone

from skde.algorithms import ALGORITHMS, Algorithm
from skde.benchmark import now
from skde.benchmark.optimizers import Budget, option_text
from skde.benchmark.paper import Paper, Table
from skde.benchmark.recording import UNRECORDED, Job, Recording
from skde.benchmark.records import Cell, Record, best_values, errors_of, or_null, round_values
from skde.benchmark.verdicts import (
    NOISE,
    SLOWER,
    VERDICTS,
    WORSE,
    judge_seconds,
    judge_share,
    judge_values,
    like,
    mean_and_std,
)
from skde.engines import choose_engine
from skde.minimizer import Minimizer
from skde.minimizer_spec import EXECUTIONS
from skde.problems import get_problem
from skde.typing import FloatArray
from skde.validation import check_choice, check_int

SOLVED = 1e-8
PROTOCOL, QUICK = "protocol", "quick"  # as budgets of a record
ON_CPU = ("serial", "threads")  # executions that are of the CPU only
CURVE = 10  # points of a curve


@dataclass(frozen=True)
class Settings:
    """Settings that all cells of a record share.

    Attributes
    ----------
    paper, suite : str
        Names of the paper, and of the suite with its functions.
    budget : str
        "protocol", the paper's budgets; "quick", a part of them; or evaluations or seconds as for `Budget`.
    runs : int
        Runs of a cell; fewer where an experiment says so.
    seed : int
        The first of the runs' seeds.
    device : str
        "cpu", "cuda" or "cuda:N".
    n_jobs : int or None
        Threads on the CPU; None: OpenMP's number.
    data : {"generated", "official"}
        Data of the functions.
    folder : str or None
        The folder with official data; None: an installed package.
    """

    paper: str
    suite: str
    budget: str
    runs: int
    seed: int = 0
    device: str = "cpu"
    n_jobs: int | None = None
    data: str = "generated"
    folder: str | None = None


class Place(NamedTuple):
    """A cell of a paper's table that an experiment gives.

    Attributes
    ----------
    table, row, column : str
        The cell.
    kind : {"value", "seconds", "success"}
        The errors of the runs, the seconds of a run, or the share of runs that reach 1e-8.
    quantity : str
        The table's name of the figures.
    label : str
        The printed name of the row, if several experiments are of one row of the paper's.
    """

    table: str
    row: str
    column: str
    kind: str = "value"
    quantity: str = "mean"
    label: str = ""


@dataclass(frozen=True)
class Experiment:
    """The runs of one algorithm on one function, a cell of a record.

    Attributes
    ----------
    part : str
        The part of the paper; experiments of one part share their protocol.
    function, dim : str, int
        The function.
    algorithm : str
        The name by which options select it.
    optimizer : Algorithm
        The algorithm with its parameters.
    limits : mapping
        max_evals, max_iter or max_time of every run.
    places : tuple of Place
        The cells of the paper's tables.
    target : float or None
        A run ends at this error.
    execution : str
        The execution model of `Minimizer`.
    alone : bool
        Whether the runs are made and timed one after another; else they are one batch.
    curve : bool
        Whether the cell has the mean of the best values at ten times of the run.
    """

    part: str
    function: str
    dim: int
    algorithm: str
    optimizer: Any
    limits: Mapping[str, Any]
    places: tuple[Place, ...] = ()
    target: float | None = None
    execution: str = "auto"
    alone: bool = False
    curve: bool = False

    @property
    def pop_size(self) -> int:
        """Number of individuals."""
        return int(self.optimizer.pop_size)

    @property
    def tables(self) -> tuple[str, ...]:
        """Numbers of the tables."""
        return tuple(dict.fromkeys(place.table for place in self.places))

    @property
    def text(self) -> str:
        """Name and parameters of the algorithm, as in records."""
        return describe(self.optimizer)

    @property
    def key(self) -> dict[str, Any]:
        """The entries that identify the cell."""
        return {"part": self.part, "function": self.function, "dim": self.dim, "algorithm": self.text}


class Line(NamedTuple):
    """A cell of a printed table: the paper's figure and ours.

    Attributes
    ----------
    row, column : str
        The cell.
    paper, ours : str
        The figures; "-" if there is none.
    verdict : str
        One of `VERDICTS`.
    note : str
        The reason, where ours is worse.
    """

    row: str
    column: str
    paper: str
    ours: str
    verdict: str
    note: str = ""


@dataclass(frozen=True)
class Comparison:
    """A table with the paper's figures and ours.

    Attributes
    ----------
    name, title : str
        The table.
    lines : tuple of Line
        Its cells.
    remark : str
        A remark on the table.
    """

    name: str
    title: str
    lines: tuple[Line, ...]
    remark: str = ""

    @property
    def counts(self) -> dict[str, int]:
        """Number of cells with each verdict that occurs."""
        found = [line.verdict for line in self.lines]
        return {verdict: found.count(verdict) for verdict in VERDICTS if verdict in found}


@dataclass(frozen=True)
class Miniature:
    """The part of a protocol that `--quick` runs.

    Attributes
    ----------
    runs : int
        Runs of a cell.
    share : float
        Share of the budgets.
    functions, dims, pop_sizes : tuple
        The values that remain; empty: all.
    """

    runs: int
    share: float
    functions: tuple[str, ...] = ()
    dims: tuple[int, ...] = ()
    pop_sizes: tuple[int, ...] = ()

    def has(self, experiment: Experiment) -> bool:
        """Return whether an experiment remains."""
        return (
            experiment.function in (self.functions or (experiment.function,))
            and experiment.dim in (self.dims or (experiment.dim,))
            and experiment.pop_size in (self.pop_sizes or (experiment.pop_size,))
        )

    def limits(self, experiment: Experiment) -> dict[str, Any]:
        """Return smaller limits; at least four generations."""
        least = {"max_evals": 4 * experiment.pop_size, "max_iter": 4, "max_time": 0.01}
        shares = {name: type(value)(value * self.share) for name, value in experiment.limits.items()}
        return {name: max(least[name], value) for name, value in shares.items()}


@dataclass(frozen=True)
class Selection:
    """The experiments that options select; None: all."""

    table: Sequence[str] | None = None
    function: Sequence[str] | None = None
    dim: Sequence[int] | None = None
    algorithm: Sequence[str] | None = None
    pop_size: Sequence[int] | None = None

    def of(self, paper: str, experiments: Sequence[Experiment]) -> list[Experiment]:
        """Return the selected experiments.

        Raises
        ------
        ValueError
            For values that no experiment of the paper has, and for an empty list.
        """
        chosen = list(experiments)
        for what, wanted in vars(self).items():
            if wanted is None:
                continue
            values = {id(one): set(map(str, values_of(one, what))) for one in experiments}
            allowed = dict.fromkeys(str(value) for one in experiments for value in values_of(one, what))
            if not wanted:
                raise ValueError(f"{what}s must be one or more, got none")
            texts = {check_choice(f"{what} of {paper!r}", str(value), allowed) for value in wanted}
            chosen = [one for one in chosen if values[id(one)] & texts]
        if not chosen:
            raise ValueError(f"no experiment of {paper!r} has all of the given options; leave one out")
        return chosen


def values_of(experiment: Experiment, what: str) -> Iterable[Any]:
    """Return the values of an experiment by which options select it."""
    return experiment.tables if what == "table" else (getattr(experiment, what),)


class Reproduction(ABC):
    """The reproduction of a paper.

    Attributes
    ----------
    paper : Paper
        The paper.
    miniature : Miniature
        The part that `--quick` runs.
    of_best : bool
        Whether the paper's values are the best values, not their errors.
    exact : bool
        Whether records have the best values exactly, or errors in ten digits.
    """

    paper: ClassVar[Paper]
    miniature: ClassVar[Miniature]
    of_best: ClassVar[bool] = False
    exact: ClassVar[bool] = False

    @abstractmethod
    def experiments(self, device: str) -> list[Experiment]:
        """Return all experiments of the paper's protocol on a device, in their order."""

    def problem(self, function: str, dim: int, settings: Settings) -> Any:
        """Return a function in the paper's form."""
        return get_problem(f"{self.paper.suite}/{function}", dim=dim, **data_options(settings))

    # -- runs ----------------------------------------------------------------------------------------------------------

    def settings(self, **given: Any) -> Settings:
        """Return the settings of a record; None is the paper's."""
        known = {name: value for name, value in given.items() if value is not None}
        quick = known.get("budget", PROTOCOL) == QUICK
        defaults = {"budget": PROTOCOL, "runs": self.miniature.runs if quick else self.paper.runs}
        return Settings(self.paper.name, self.paper.suite, **{**defaults, **known})

    def planned(self, settings: Settings, selection: Selection = Selection(), *, quick: bool = False) -> list[Any]:
        """Return the experiments to run.

        Parameters
        ----------
        settings : Settings
            Settings of the record.
        selection : Selection
            The values that options select.
        quick : bool, default False
            Whether functions, dimensions and sizes of population that are not selected are those of the miniature.

        Raises
        ------
        ValueError
            For values that the paper does not have, and for a budget that is less than a population.
        """
        chosen = selection.of(self.paper.name, self.experiments(settings.device))
        if quick:
            free = replace(
                self.miniature,
                functions=() if selection.function else self.miniature.functions,
                dims=() if selection.dim else self.miniature.dims,
                pop_sizes=() if selection.pop_size else self.miniature.pop_sizes,
            )
            chosen = [one for one in chosen if free.has(one)]
        planned = [replace(one, limits=self.limits(one, settings)) for one in chosen]
        for one in planned:
            if one.limits.get("max_evals", one.pop_size) < one.pop_size:
                raise ValueError(
                    f"budget must be at least the population of every experiment, got {settings.budget!r} and "
                    f"{one.text} with {one.pop_size} individuals; give more evaluations, or leave it out"
                )
        return planned

    def limits(self, experiment: Experiment, settings: Settings) -> Mapping[str, Any]:
        """Return the limits of an experiment in a record."""
        if settings.budget == PROTOCOL:
            return experiment.limits
        if settings.budget == QUICK:
            return self.miniature.limits(experiment)
        budget = Budget.read(settings.budget)
        seconds, evals = budget.seconds, budget.evals(experiment.dim)
        return {"max_evals": evals} if seconds is None else {"max_time": seconds}

    def run(
        self,
        settings: Settings,
        selection: Selection = Selection(),
        *,
        quick: bool = False,
        recording: Recording = UNRECORDED,
    ) -> Record:
        """Run the experiments that a record does not have yet.

        Parameters
        ----------
        settings : Settings
            Settings of the record.
        selection : Selection
            The values that options select.
        quick : bool, default False
            As in `planned`.
        recording : Recording, default UNRECORDED
            The file of the record, and the progress bar.

        Returns
        -------
        record : dict
            As that of `trials.run`; a cell also has its part of the paper and, where the paper has times, the seconds
            of every run.

        Raises
        ------
        ValueError, TypeError, RuntimeError, FileNotFoundError
            For values that the paper does not have, a device or data that do not exist, and a file with other settings.

        Examples
        --------
        >>> from skde.benchmark.papers import find_reproduction
        >>> from skde.benchmark.reproduction import Selection
        >>> qin2012 = find_reproduction("qin2012")
        >>> record = qin2012.run(qin2012.settings(budget="500", runs=2), Selection(table=["1"], pop_size=[50]))
        >>> [comparison.name for comparison in qin2012.comparisons(record)]
        ['Table 1']
        """
        check_int("runs", settings.runs, 1)
        check_int("seed", settings.seed, 0)
        choose_engine(settings.device, settings.n_jobs)
        chosen = self.planned(settings, selection, quick=quick)
        names = dict.fromkeys((one.function, one.dim) for one in chosen)
        problems = {key: self.problem(*key, settings) for key in names}  # missing data are found before the first run
        record = recording.begin(settings, {"cells": []})
        jobs = [self.job(one, problems[one.function, one.dim], settings, record) for one in chosen]
        return recording.run(record, jobs)

    def job(self, experiment: Experiment, problem: Any, settings: Settings, record: Record) -> Job:
        """Return the job of an experiment: its date, processor and commit are added to the measured values."""
        source = {"cpu": record["machine"]["cpu"], "commit": record["commit"]}
        measure = partial(self.measure, experiment, problem, settings)
        text = f"{experiment.part}: {experiment.function} D={experiment.dim} {experiment.text}"
        return Job(experiment.key, text, lambda: {**measure(), "date": now(), **source})

    def measure(self, experiment: Experiment, problem: Any, settings: Settings) -> Cell:
        """Measure one experiment."""
        return measure_cell(problem, experiment, settings, self.exact)

    # -- tables --------------------------------------------------------------------------------------------------------

    def found(self, record: Record) -> list[tuple[Any, Cell]]:
        """Return the experiments of a record with their cells, in the protocol's order."""
        cells = {identity(cell): cell for cell in record["cells"]}
        experiments = self.experiments(record["settings"].get("device", "cpu"))
        return [(one, cells[identity(one.key)]) for one in experiments if identity(one.key) in cells]

    def comparisons(self, record: Record, tables: Sequence[str] | None = None) -> list[Comparison]:
        """Return the tables of a record with the paper's figures, ours, and a verdict a cell.

        Parameters
        ----------
        record : dict
            The result of `run`.
        tables : sequence of str or None, default None
            Numbers of the tables; None: all that have a cell.
        """
        found = self.found(record)
        made = []
        for number, table in self.paper.tables.items():
            if tables is None or number in tables:
                lines = self.lines_of(table, found, record["settings"])
                if lines:
                    made.append(Comparison(table.name, table.title, tuple(lines), table.remark))
        return made

    def lines_of(self, table: Table, found: Sequence[tuple[Any, Cell]], settings: Mapping[str, Any]) -> list[Line]:
        """Return the cells of a table that experiments give."""
        places = [(one, cell, place) for one, cell in found for place in one.places if place.table == table.number]
        several = len({place.kind for *_, place in places}) > 1
        return [self.line(table, one, cell, place, settings, several) for one, cell, place in places]

    def line(
        self, table: Table, experiment: Experiment, cell: Cell, place: Place, settings: Mapping[str, Any], several: bool
    ) -> Line:
        """Return one cell of a table; `several`: the row's name has the kind of figure."""
        printed = table.text(place.quantity, place.row, place.column)
        paper = self.paper
        if place.kind == "value":
            values = best_of(cell) if self.of_best else errors(cell)
            mean, std = mean_and_std(values)
            their_std = table.text("std", place.row, place.column)
            verdict = judge_values(
                printed, float(their_std or 0), paper.runs, values, zero=paper.zero, fixed=paper.fixed
            )
            theirs = with_std(printed, their_std)
            ours = with_std(like(printed, mean, fixed=paper.fixed), like(printed, std, fixed=paper.fixed))
        elif place.kind == "seconds":
            mean, _ = mean_and_std(np.array(cell["run_seconds"]))
            same = settings["budget"] == PROTOCOL  # other budgets take other times
            verdict, theirs, ours = judge_seconds(printed if same else None, mean), printed or "-", f"{mean:.3g}"
        else:
            solved, runs = int((errors(cell) < SOLVED).sum()), len(cell["error"])
            verdict = judge_share(printed, paper.runs, solved, runs)
            theirs, ours = printed or "-", like(printed, solved / runs)
        note = ""
        if verdict in (NOISE, WORSE, SLOWER):
            data = settings.get("data", "generated")
            note = paper.note(experiment.function, experiment.dim, experiment.algorithm, data, experiment.part)
        row = place.label or place.row
        return Line(f"{row} {place.kind}" if several else row, place.column, theirs, ours, verdict, note)


# -- experiments -------------------------------------------------------------------------------------------------------


def measure_cell(problem: Any, experiment: Experiment, settings: Settings, exact: bool) -> Cell:
    """Measure one experiment; compilation for a GPU comes before."""
    on_cpu = experiment.execution in ON_CPU
    device = "cpu" if on_cpu else settings.device
    minimizer = Minimizer(
        experiment.optimizer,
        n_runs=1 if experiment.alone else settings.runs,
        target=None if experiment.target is None else problem.f_opt + experiment.target,
        device=device,
        n_jobs=1 if experiment.execution == "serial" else settings.n_jobs,
        execution=experiment.execution,
        random_state=settings.seed,
        **experiment.limits,
    )
    if device != "cpu" or experiment.alone or "max_time" in experiment.limits:
        short = dict.fromkeys(experiment.limits)
        clone(minimizer).set_params(**{**short, "max_iter": 1, "target": None}).fit(problem)
    runs, begin = [], time.perf_counter()
    if experiment.alone:
        spent = []
        for number in range(settings.runs):
            at = time.perf_counter()
            runs += clone(minimizer).set_params(random_state=settings.seed + number).fit(problem).runs_
            spent.append(time.perf_counter() - at)
    else:
        runs = minimizer.fit(problem).runs_
        spent = [run.time for run in runs] if experiment.target is not None else []
    seconds = time.perf_counter() - begin
    best = or_null([run.fun for run in runs])
    error = errors_of(best, problem.f_opt)
    if not exact:
        error = round_values(error)
        best = best_values(error, problem.f_opt)
    return {
        "f_opt": problem.f_opt,
        "best": best,
        "error": error,
        "n_evals": [run.n_evals for run in runs],
        "seconds": round(seconds, 6),
        **({"run_seconds": [round(value, 6) for value in spent]} if spent else {}),
        **({"curve": mean_curve([run.history for run in runs])} if experiment.curve else {}),
    }


def mean_curve(histories: Sequence[Any]) -> list[float | None]:
    """Return the mean of the best values of runs at each tenth of their evaluations."""
    values = []
    for history in histories:
        at = np.arange(1, CURVE + 1) / CURVE * history.n_evals[-1]
        values.append(history.best[np.searchsorted(history.n_evals, at, side="right") - 1])
    return [float(f"{value:.4g}") if np.isfinite(value) else None for value in np.mean(values, axis=0)]


def timed_models(names: Iterable[str], device: str) -> list[str]:
    """Return those of some execution models that `Minimizer` has on a device; on a GPU also those of the CPU."""
    found = [name for name in names if name in EXECUTIONS and (device != "cpu" or name in (*ON_CPU, "auto"))]
    return [name for name in found if name != "auto" or "persistent" not in found]


def preset(paper: Paper, algorithm: str, **parameters: Any) -> Algorithm:
    """Return an algorithm with the paper's parameters.

    Raises
    ------
    ValueError
        If the paper or skde has no such algorithm.
    """
    if not hasattr(ALGORITHMS.get(algorithm), paper.name):
        raise ValueError(
            f"{algorithm!r} of {paper.name!r} cannot be run: skde has no such algorithm, or no preset of it"
        )
    made: Algorithm = getattr(ALGORITHMS[algorithm], paper.name)(**parameters)
    return made


def available(paper: Paper) -> list[str]:
    """Return the algorithms that the paper tuned and of which skde has a preset with its parameters."""
    tuned = () if paper.tuning is None else paper.tuning.parameters
    return [name for name in tuned if hasattr(ALGORITHMS.get(name), paper.name)]


def describe(algorithm: Algorithm) -> str:
    """Return an algorithm's name with the parameters that differ from its defaults, as in records."""
    given, default = algorithm.get_params(), type(algorithm)().get_params()
    text = ",".join(f"{name}={option_text(value)}" for name, value in given.items() if value != default[name])
    return f"{algorithm.name}:{text}" if text else algorithm.name


def data_options(settings: Settings) -> dict[str, Any]:
    """Return the options of a suite's data that differ from the defaults."""
    data = {} if settings.data == "generated" else {"data": settings.data}
    return data if settings.folder is None else {**data, "folder": settings.folder}


# -- cells -------------------------------------------------------------------------------------------------------------


def identity(cell: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the entries that identify a cell; records of earlier versions have one part only."""
    return tuple(cell.get(name, RESULTS) for name in ("part", "function", "dim", "algorithm"))


RESULTS = "results"  # the part of papers that have one only


def errors(cell: Cell) -> FloatArray:
    """Return the errors of a cell's runs; null means infinity."""
    return finite_or_infinite(cell["error"])


def best_of(cell: Cell) -> FloatArray:
    """Return the best values of a cell's runs; null means infinity."""
    return finite_or_infinite(cell["best"])


def finite_or_infinite(values: Sequence[float | None]) -> FloatArray:
    """Return values with infinity for null."""
    return np.array([np.inf if value is None else value for value in values], np.float64)


def with_std(printed: str | None, std: str | None) -> str:
    """Return a printed mean with its standard deviation, if there is one."""
    return "-" if printed is None else printed if std is None else f"{printed} ({std})"
