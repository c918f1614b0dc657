"""Reproduction of papers: experiments, their records, and tables with a paper's figures and ours.

A paper is a data file with its tables as printed, and a class that derives from `Reproduction` and says which
experiments give which cells of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from skde.algorithms import ALGORITHMS, Algorithm
from skde.benchmark import today
from skde.benchmark.comparison import Comparison, Line, read_best_values, read_errors, with_std
from skde.benchmark.growing_record import UNRECORDED, CellJob, GrowingRecording, describe_origin
from skde.benchmark.optimizers import Budget
from skde.benchmark.protocol import (
    ALL,
    PROTOCOL,
    QUICK,
    SOLVED,
    Miniature,
    PaperExperiment,
    Place,
    ProtocolSettings,
    Selection,
    data_options,
    measure_paper_cell,
)
from skde.benchmark.published_tables import Paper, PublishedTable
from skde.benchmark.records import Cell, Record
from skde.benchmark.verdicts import (
    NOISE,
    SLOWER,
    WORSE,
    format_mean_and_std,
    judge_seconds,
    judge_share,
    judge_values,
    like,
)
from skde.engines import choose_engine
from skde.problems import get_problem
from skde.utils.validation import check_int


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
    """

    paper: ClassVar[Paper]
    miniature: ClassVar[Miniature]
    of_best: ClassVar[bool] = False

    @abstractmethod
    def experiments(self, device: str) -> list[PaperExperiment]:
        """Return all experiments of the paper's protocol on a device, in their order."""

    def problem(self, function: str, dim: int, settings: ProtocolSettings) -> Any:
        """Return a function in the paper's form."""
        return get_problem(f"{self.paper.suite}/{function}", dim=dim, **data_options(settings))

    # -- runs ----------------------------------------------------------------------------------------------------------

    def settings(self, **given: Any) -> ProtocolSettings:
        """Return the settings of a record; None is the paper's."""
        known = {name: value for name, value in given.items() if value is not None}
        quick = known.get("budget", PROTOCOL) == QUICK
        defaults = {"budget": PROTOCOL, "runs": self.miniature.runs if quick else self.paper.runs}
        return ProtocolSettings(self.paper.name, self.paper.suite, **{**defaults, **known})

    def plan(self, settings: ProtocolSettings, selection: Selection = ALL, *, quick: bool = False) -> list[Any]:
        """Return the experiments to run.

        Parameters
        ----------
        settings : ProtocolSettings
            Settings of the record.
        selection : Selection
            The values that options select.
        quick : bool, default False
            Whether functions, dimensions and sizes of population that are not selected are the miniature's.

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
        planned = [replace(one, limits=self.limits(one, settings.budget)) for one in chosen]
        for one in planned:
            if one.limits.get("max_evals", one.pop_size) < one.pop_size:
                raise ValueError(
                    f"budget must be at least the population of every experiment, got {settings.budget!r} and "
                    f"{one.text} with {one.pop_size} individuals; give more evaluations, or leave it out"
                )
        return planned

    def limits(self, experiment: PaperExperiment, budget: str) -> Mapping[str, Any]:
        """Return the limits of an experiment with the budget of a record."""
        if budget == PROTOCOL:
            return experiment.limits
        if budget == QUICK:
            return self.miniature.limits(experiment)
        given = Budget.read(budget)
        seconds, evals = given.seconds, given.evals(experiment.dim)
        return {"max_evals": evals} if seconds is None else {"max_time": seconds}

    def is_whole(self, experiment: PaperExperiment, settings: Mapping[str, Any]) -> bool:
        """Return whether runs had at least the paper's budget, so that their errors can be compared."""
        given = self.limits(experiment, settings["budget"])
        return all(given.get(name, 0) >= limit for name, limit in experiment.limits.items())

    def is_same(self, experiment: PaperExperiment, settings: Mapping[str, Any]) -> bool:
        """Return whether runs had the paper's budget, so that their times can be compared."""
        return dict(self.limits(experiment, settings["budget"])) == dict(experiment.limits)

    def run(
        self,
        settings: ProtocolSettings,
        selection: Selection = ALL,
        *,
        quick: bool = False,
        recording: GrowingRecording = UNRECORDED,
    ) -> Record:
        """Run the experiments that a record does not have yet.

        Parameters
        ----------
        settings : ProtocolSettings
            Settings of the record.
        selection : Selection
            The values that options select.
        quick : bool, default False
            As in `planned`.
        recording : GrowingRecording, default UNRECORDED
            The file of the record, and the progress bar.

        Returns
        -------
        record : dict
            As `trials.run_trials` returns it; a cell also has its part of the paper and, where the paper has times, the
            seconds of every run.

        Raises
        ------
        ValueError, TypeError, RuntimeError, FileNotFoundError
            For values that the paper does not have, a device or data that do not exist, and a file with other settings.

        Examples
        --------
        >>> from skde.benchmark.papers import find_reproduction
        >>> from skde.benchmark.protocol import Selection
        >>> qin2012 = find_reproduction("qin2012")
        >>> record = qin2012.run(qin2012.settings(budget="500", runs=2), Selection(table=["1"], pop_size=[50]))
        >>> [comparison.name for comparison in qin2012.comparisons(record)]
        ['Table 1']
        """
        check_int("runs", settings.runs, 1)
        check_int("seed", settings.seed, 0)
        choose_engine(settings.device, settings.n_jobs)
        chosen = self.plan(settings, selection, quick=quick)
        names = dict.fromkeys((one.function, one.dim) for one in chosen)
        problems = {key: self.problem(*key, settings) for key in names}  # missing data are found before the first run
        record = recording.begin(settings, {"cells": []})
        jobs = [self.job(one, problems[one.function, one.dim], settings, record) for one in chosen]
        return recording.run(record, jobs)

    def job(self, experiment: PaperExperiment, problem: Any, settings: ProtocolSettings, record: Record) -> CellJob:
        """Return the job of an experiment: its day and its source are added to the measured values."""
        source = describe_origin(record)
        measure = partial(self.measure, experiment, problem, settings)
        text = f"{experiment.part}: {experiment.function} D={experiment.dim} {experiment.text}"
        return CellJob(experiment.key, text, lambda: {**measure(), "date": today(), **source})

    def measure(self, experiment: PaperExperiment, problem: Any, settings: ProtocolSettings) -> Cell:
        """Measure one experiment."""
        return measure_paper_cell(problem, experiment, settings)

    # -- tables --------------------------------------------------------------------------------------------------------

    def find_experiments(self, record: Record) -> list[tuple[Any, Cell]]:
        """Return the experiments of a record with their cells, in the protocol's order."""
        cells = {identity(cell): cell for cell in record["cells"]}
        experiments = self.experiments(record["settings"].get("device", "cpu"))
        return [(one, cells[identity(one.key)]) for one in experiments if identity(one.key) in cells]

    def comparisons(self, record: Record, tables: Sequence[str] | None = None) -> list[Comparison]:
        """Return the tables of a record with the paper's figures, ours, and a verdict a cell."""
        found = self.find_experiments(record)
        made = []
        for number, table in self.paper.tables.items():
            if tables is None or number in tables:
                lines = self.lines_of(table, found, record["settings"])
                if lines:
                    made.append(Comparison(table.name, table.title, tuple(lines), table.remark))
        return made

    def lines_of(
        self, table: PublishedTable, found: Sequence[tuple[Any, Cell]], settings: Mapping[str, Any]
    ) -> list[Line]:
        """Return the cells of a table that experiments give."""
        places = [(one, cell, place) for one, cell in found for place in one.places if place.table == table.number]
        several = len({place.kind for *_, place in places}) > 1
        return [self.line(table, one, cell, place, settings, several) for one, cell, place in places]

    def line(
        self,
        table: PublishedTable,
        experiment: PaperExperiment,
        cell: Cell,
        place: Place,
        settings: Mapping[str, Any],
        several: bool,
    ) -> Line:
        """Return one cell of a table; `several`: the row's name has the kind of figure."""
        comparable = self.is_same if place.kind == "seconds" else self.is_whole
        printed = table.text(place.quantity, place.row, place.column)
        paper = self.paper
        if place.kind == "value":
            values = read_best_values(cell) if self.of_best else read_errors(cell)
            mean, std = format_mean_and_std(values)
            their_std = table.text("std", place.row, place.column)
            verdict = judge_values(
                printed, float(their_std or 0), paper.runs, values, zero=paper.zero, fixed=paper.fixed
            )
            theirs = with_std(printed, their_std)
            ours = with_std(like(printed, mean, fixed=paper.fixed), like(printed, std, fixed=paper.fixed))
        elif place.kind == "seconds":
            mean, _ = format_mean_and_std(np.array(cell["run_seconds"]))
            verdict, theirs, ours = judge_seconds(printed, mean), printed or "-", f"{mean:.3g}"
        else:
            solved, runs = int((read_errors(cell) < SOLVED).sum()), len(cell["error"])
            verdict = judge_share(printed, paper.runs, solved, runs)
            theirs, ours = printed or "-", like(printed, solved / runs)
        note = ""
        if verdict in (NOISE, WORSE, SLOWER):
            data = settings.get("data", "generated")
            note = paper.note(experiment.function, experiment.dim, experiment.algorithm, data, experiment.part)
        row = place.label or place.row
        line = Line(f"{row} {place.kind}" if several else row, place.column, theirs, ours, verdict, note)
        return line if comparable(experiment, settings) else line.incomparable


# -- presets -----------------------------------------------------------------------------------------------------------


def find_preset_of(paper: Paper, algorithm: str, **parameters: Any) -> Algorithm:
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
    """Return the algorithms that the paper tuned and that have a preset with its parameters."""
    tuned = () if paper.tuning is None else paper.tuning.parameters
    return [name for name in tuned if hasattr(ALGORITHMS.get(name), paper.name)]


# -- cells -------------------------------------------------------------------------------------------------------------


def identity(cell: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the entries that identify a cell; records of earlier versions have one part only."""
    return tuple(cell.get(name, RESULTS) for name in ("part", "function", "dim", "algorithm"))


RESULTS = "results"  # the part of papers that have one only
