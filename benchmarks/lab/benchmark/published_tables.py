"""Papers: their tables as printed, from data files, and their conditions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

# Of a quantity: every row's printed figures; None is a figure that cannot be read or is not printed.
Figures = Mapping[str, tuple[str | None, ...]]


@dataclass(frozen=True)
class PublishedTable:
    """A table or figure of a paper, with the numbers as printed.

    Attributes
    ----------
    number : str
        Its number, such as "2" or "fig. 3".
    title : str
        A short title.
    columns : tuple of str
        Heads of the columns.
    figures : mapping of str to mapping of str to tuple
        For a quantity, such as "mean" or "seconds": row -> the printed figures of all columns; None where there is
        none, or where the text of the paper has lost it.
    remark : str
        A remark on what cannot be read, or is not said.
    """

    number: str
    title: str
    columns: tuple[str, ...] = ()
    figures: Mapping[str, Figures] = field(default_factory=dict)
    remark: str = ""

    @classmethod
    def read(cls, number: str, entry: Mapping[str, Any]) -> PublishedTable:
        """Return a table of a data file: its objects are quantities, its list of texts the heads of the columns."""
        columns = next((value for value in entry.values() if isinstance(value, list)), [])
        figures = {
            quantity: {row: tuple(printed) for row, printed in value.items()}
            for quantity, value in entry.items()
            if isinstance(value, dict)
        }
        return cls(number, entry["title"], tuple(map(str, columns)), figures, entry.get("remark", ""))

    @property
    def name(self) -> str:
        """Its name in text."""
        return f"Table {self.number}" if self.number[0].isdigit() else self.number.capitalize()

    def text(self, quantity: str, row: str, column: str) -> str | None:
        """Return a figure as printed, or None if there is none."""
        printed = self.figures.get(quantity, {}).get(row)
        return printed[self.columns.index(column)] if printed is not None and column in self.columns else None

    def value(self, quantity: str, row: str, column: str) -> float | None:
        """Return a figure as a number, or None if there is none."""
        text = self.text(quantity, row, column)
        return None if text is None else float(text)


@cache
def read_tables(name: str) -> dict[str, PublishedTable]:
    """Return the tables of a paper, in papers/NAME*.json, by their numbers, in the order of numbers.

    A data file is JSON: for every number a title, one list with the heads of the columns, and an object for each
    quantity, with the list of a row's figures as printed.
    """
    tables: dict[str, PublishedTable] = {}
    for file in files("skde.benchmark.papers").iterdir():
        if file.name.startswith(name) and file.name.endswith(".json"):
            entries = json.loads(file.read_text("utf-8"))
            tables |= {number: PublishedTable.read(number, entry) for number, entry in entries.items()}

    def place(number: str) -> tuple[bool, int, str]:
        digits = "".join(filter(str.isdigit, number))
        return number.startswith("fig"), int(digits), number

    return {number: tables[number] for number in sorted(tables, key=place)}


@dataclass(frozen=True)
class Note:
    """The reason why some cells of a table may differ from ours.

    Attributes
    ----------
    text : str
        One sentence.
    function : str
        Name of the function; empty: all.
    algorithms, dims, data, parts : tuple
        The algorithms by which options select, dimensions, data, and parts of the protocol; empty: all.
    of_data : bool
        Whether the reason is that the data are generated, which a record of official data can disprove.
    """

    text: str
    function: str = ""
    algorithms: tuple[str, ...] = ()
    dims: tuple[int, ...] = ()
    data: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    of_data: bool = False

    def is_of(self, function: str, dim: int, algorithm: str, data: str, part: str) -> bool:
        """Return whether the note is about a cell."""
        return self.function in ("", function) and all(
            not named or given in named
            for named, given in (
                (self.algorithms, algorithm),
                (self.dims, dim),
                (self.data, data),
                (self.parts, part),
            )
        )


@dataclass(frozen=True)
class Tuning:
    """A paper's tuning of its algorithms by iterated racing on its functions.

    Attributes
    ----------
    table : int
        Number of the table with the parameters.
    dim : int
        Number of variables of the functions.
    max_experiments : int
        Experiments of every algorithm.
    budget : str
        Budget of an experiment.
    parameters : mapping of str to tuple of str
        The tuned parameters by algorithm; the others are in the algorithm's preset of the paper.
    preset, test : str
        Rules and test of the races, as for `RacingTuner`.
    """

    table: int
    dim: int
    max_experiments: int
    budget: str
    parameters: Mapping[str, tuple[str, ...]]
    preset: str = "irace-2011"
    test: str = "friedman"


@dataclass(frozen=True)
class Paper:
    """A paper.

    Attributes
    ----------
    name : str
        Name of the paper in the command and in the algorithms' presets.
    title : str
        Authors, title and place.
    machine : str
        The machine of the paper's times.
    suite : str
        The suite of `skde bench run` with the functions in the paper's form.
    runs : int
        Number of runs of a mean.
    zero : float
        Means below this limit are zero.
    fixed : bool
        Whether values are printed with a fixed number of decimals, so that a printed zero is anything that rounds to 0.
    notes : tuple of Note
        Explanations of cells; the first note on a cell counts.
    tuning : Tuning or None
        The paper's tuning of the parameters.
    """

    name: str
    title: str
    machine: str
    suite: str
    runs: int
    zero: float = 0.0
    fixed: bool = False
    notes: tuple[Note, ...] = ()
    tuning: Tuning | None = None

    @property
    def tables(self) -> Mapping[str, PublishedTable]:
        """The paper's tables and figures by number, from its data files."""
        return read_tables(self.name)

    def note(self, function: str, dim: int, algorithm: str, data: str, part: str) -> str:
        """Return the note on a cell, or an empty string."""
        return next((note.text for note in self.notes if note.is_of(function, dim, algorithm, data, part)), "")
