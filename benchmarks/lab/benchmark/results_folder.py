"""The records of a results folder, as experiments: the cells of one suite with one budget."""

from __future__ import annotations

import json
import os
import warnings
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from skde.benchmark.optimizer_base import Budget, comparable
from skde.benchmark.records import DIGITS, Cell, Record, read_runs, round_values
from skde.benchmark.statistics import errors, merge_records, natural_key, numbers
from skde.benchmark.suites import zero_of
from skde.typing import FloatArray

LONGEST_LABEL = 26
LOWEST = 1e-8
BEST_DIGITS = 6  # in which best values differ that should not have equal errors
SIZES = {"axis", "algorithm", "dtype", "dim", "pop_size", "n_runs", "us"}  # of a figure of `skde bench speed --scale`


@dataclass(frozen=True)
class SuiteResults:
    """The cells of one suite with one budget, from one or more files.

    Attributes
    ----------
    files : dict of str to dict
        The records by the names of their files.
    zero : float
        Errors up to this limit are solved.
    """

    files: dict[str, Record]
    zero: float

    @cached_property
    def record(self) -> Record:
        """The record of all cells."""
        return merge_records(self.files)

    @property
    def suite(self) -> str:
        """Name of the suite."""
        return str(self.record["settings"]["suite"])

    @property
    def budget(self) -> str:
        """Budget of a run."""
        return str(self.record["settings"]["budget"])

    @property
    def solved(self) -> str:
        """The sentence that says which errors are solved."""
        if self.zero >= 0:
            return f"Runs with an error up to {self.zero:g} are solved; smaller errors are 0."
        return "No run counts as solved, because the minima are not known."

    @property
    def has_suites_zero(self) -> bool:
        """Whether runs are solved as the suite says: the records have the times until these are solved."""
        return self.zero == zero_of(self.suite)

    @property
    def floor(self) -> float:
        """The lowest error of plots. Their axes are logarithmic."""
        return self.zero if self.zero > 0 else LOWEST

    @property
    def title(self) -> str:
        """Suite and budget."""
        return f"{self.suite}, {self.budget}"

    @cached_property
    def algorithms(self) -> list[str]:
        """The algorithms, in the order of their first cells."""
        return list(dict.fromkeys(cell["algorithm"] for cell in self.record["cells"]))

    @cached_property
    def labels(self) -> dict[str, str]:
        """The algorithms' names in tables and plots: a long one is cut, and has its number."""
        return {
            name: name if len(name) <= LONGEST_LABEL else f"{name[: LONGEST_LABEL - 6]}… [{number}]"
            for number, name in enumerate(self.algorithms, 1)
        }

    @cached_property
    def dims(self) -> list[int]:
        """The dimensions."""
        return sorted({cell["dim"] for cell in self.record["cells"]})

    def functions(self, dim: int) -> list[str]:
        """Return the functions in a dimension, in the suite's order."""
        return sorted({cell["function"] for cell in self.record["cells"] if cell["dim"] == dim}, key=natural_key)

    def algorithms_of(self, dim: int) -> list[str]:
        """Return the algorithms that have cells in a dimension."""
        present = {cell["algorithm"] for cell in self.record["cells"] if cell["dim"] == dim}
        return [name for name in self.algorithms if name in present]

    def number(self, algorithm: str) -> int:
        """Return the place of an algorithm among all, which gives its colour in every plot."""
        return self.algorithms.index(algorithm)

    @cached_property
    def _cells(self) -> dict[tuple[str, int, str], Cell]:
        return {(cell["function"], cell["dim"], cell["algorithm"]): cell for cell in self.record["cells"]}

    def cell(self, function: str, dim: int, algorithm: str) -> Cell | None:
        """Return a cell, or None."""
        return self._cells.get((function, dim, algorithm))

    def samples(self, function: str, dim: int) -> dict[str, FloatArray]:
        """Return the errors of the algorithms that have a cell."""
        cells = {name: self.cell(function, dim, name) for name in self.algorithms}
        return {name: errors(cell, self.zero) for name, cell in cells.items() if cell is not None}

    def complete(self, dim: int) -> list[str]:
        """Return the functions in a dimension that all of its algorithms have."""
        n_algorithms = len(self.algorithms_of(dim))
        return [name for name in self.functions(dim) if len(self.samples(name, dim)) == n_algorithms]

    def medians(self, dim: int) -> FloatArray:
        """Return the median errors, with a row for each complete function and a column for each algorithm of `dim`."""
        rows = [[np.median(values) for values in self.samples(name, dim).values()] for name in self.complete(dim)]
        return np.array(rows, np.float64).reshape(len(rows), len(self.algorithms_of(dim)))


@dataclass
class Folder:
    """The content of a results folder.

    Attributes
    ----------
    path : Path
        The folder.
    experiments : list of SuiteResults
        One for each suite and budget.
    scales : dict of str to dict
        Records of `skde bench speed --scale` by the names of their files.
    notes : list of str
        Remarks on files that were not read, or not completely.
    """

    path: Path
    experiments: list[SuiteResults] = field(default_factory=list)
    scales: dict[str, Record] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def read_folder(folder: str | os.PathLike[str], zero: float | None = None) -> Folder:
    """Return the records in a folder.

    Parameters
    ----------
    folder : path
        The folder; all its files `*.json` are read, its folders' are not.
    zero : float or None, default None
        Errors up to this limit are solved; None: the limit of papers on the suite.

    Returns
    -------
    folder : Folder
        A file that cannot be read is named in the notes.

    Raises
    ------
    ValueError
        If there is no record, or two files have the same cell.
    OSError
        If there is no such folder.
    """
    found = Folder(Path(folder))
    if not found.path.is_dir():
        raise NotADirectoryError(f"{os.fspath(folder)!r} is no folder: give the folder of the records")
    groups: dict[tuple[str, Budget | str], dict[str, Record]] = {}
    refused: dict[str, list[str]] = {}
    for path in sorted(found.path.glob("*.json")):
        try:
            record = read_any(path, found.notes)
        except (ValueError, OSError) as error:
            reason = str(error).partition(" is no record of skde bench run: ")[2] or str(error)
            refused.setdefault(reason, []).append(path.name)
            continue
        if "figures" in record:
            found.scales[path.name] = record
        elif not record["cells"]:
            found.notes.append(f"{path.name} has no cells yet.")
        else:
            suite, budget = record["settings"]["suite"], record["settings"]["budget"]
            groups.setdefault((suite, comparable(budget)), {})[path.name] = record
    if refused:
        reasons = "; ".join(f"{', '.join(names)} ({reason})" for reason, names in refused.items())
        found.notes.append(f"Not read, because they are no records of skde bench run: {reasons}.")
    found.experiments = [
        SuiteResults(files, zero_of(suite) if zero is None else zero) for (suite, _), files in groups.items()
    ]
    for path in sorted(one for one in found.path.glob("*.trials") if one.is_file()):  # a platform has a folder
        found.notes.append(
            f"{path.name} has finished runs of cells that are not complete, which are not in the report; the command "
            "of the record continues with them."
        )
    if not found.experiments and not found.scales:
        reasons = "".join(f"\n  {note}" for note in found.notes)
        raise ValueError(
            f"{os.fspath(folder)!r} has no record with cells; skde bench run --suite NAME ... --out "
            f"{found.path / 'NAME.json'} writes one{reasons}"
        )
    for experiment in found.experiments:
        found.notes += remarks(experiment)
    return found


def read_any(path: Path, notes: list[str]) -> Record:
    """Return a record of runs or of sizes; a file that breaks off is named in the notes."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            record = read_runs(path)
        except ValueError:
            scale = read_scale(path)
            if scale is None:
                raise
            return scale
    notes += [str(warning.message) for warning in caught]
    return record


def read_scale(path: Path) -> Record | None:
    """Return a record of `skde bench speed --scale`, or None."""
    try:
        record = json.loads(path.read_bytes())
    except ValueError:
        return None
    rows = record.get("figures") if isinstance(record, dict) else None
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) and row.keys() >= SIZES for row in rows):
        return None
    return {"figures": rows, **record}


def remarks(experiment: SuiteResults) -> list[str]:
    """Return remarks on the cells of an experiment: runs that failed, and differences between files."""
    notes = []
    for cell in experiment.record["cells"]:
        failures = cell.get("failures", [])
        if failures:
            notes.append(
                f"{experiment.title}: {len(failures)} of {len(cell['error'])} runs of {cell['algorithm']} on "
                f"{cell['function']} D={cell['dim']} failed, first run {failures[0]['run']}: {failures[0]['error']}. "
                "They count as the worst; the command that wrote the record repeats this cell."
            )
    notes += [f"{experiment.title}: {remark}" for remark in remarks_on_minima(experiment)]
    versions = list_other_values(experiment, lambda record: record.get("versions", {}).get("skde"))
    if versions:
        notes.append(f"{experiment.title}: the records are of different versions of skde: {versions}.")
    processors = sorted({str(cell["cpu"]) for cell in experiment.record["cells"] if "cpu" in cell})
    if len(processors) > 1:
        notes.append(
            f"{experiment.title}: the cells were measured on different processors, {', '.join(processors)}: "
            "their times cannot be compared."
        )
    for name in ("runs", "seed", "device"):
        found = list_other_values(experiment, lambda record, name=name: record["settings"].get(name))
        if found:
            notes.append(f"{experiment.title}: the records differ in {name}: {found}.")
    return notes


def remarks_on_minima(experiment: SuiteResults) -> list[str]:
    """Return remarks on functions whose f_opt is too high, or so low that differences of the runs are lost."""
    by_function: dict[tuple[str, int], list[Cell]] = {}
    for cell in experiment.record["cells"]:
        if "f_opt" in cell:
            by_function.setdefault((cell["function"], cell["dim"]), []).append(cell)
    notes = []
    for (function, dim), cells in by_function.items():
        f_opt = cells[0]["f_opt"]
        errors = np.concatenate([numbers(round_values(cell["error"])) for cell in cells])
        best = np.concatenate([numbers(round_values(cell["best"], BEST_DIGITS)) for cell in cells])
        rounding = abs(f_opt) * 10.0**-DIGITS
        if experiment.zero >= 0 and errors.min() < -max(experiment.zero, rounding):
            notes.append(
                f"the lowest error on {function} D={dim} is {errors.min():.3g}: f_opt = {f_opt:g} is above the "
                "minimum, and runs below it count as solved."
            )
        if len(np.unique([errors, best], axis=1).T) > len(np.unique(errors)):
            notes.append(
                f"f_opt = {f_opt:g} is so far below the values of {function} D={dim} that different ones have equal "
                f"errors, which are compared by {DIGITS} digits: give a value nearer to the minimum."
            )
    return notes


def list_other_values(experiment: SuiteResults, value: Any) -> str:
    """Return the values that differ between the files, with one file for each; empty if there is one value."""
    files: dict[Any, str] = {}
    for file, record in experiment.files.items():
        files.setdefault(value(record), file)
    return ", ".join(f"{found} in {file}" for found, file in files.items()) if len(files) > 1 else ""
