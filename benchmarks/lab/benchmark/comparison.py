"""Tables with the figures of a paper and ours, and the values of cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from skde.benchmark.records import Cell
from skde.benchmark.statistics import numbers
from skde.benchmark.verdicts import INCOMPARABLE, NONE, VERDICTS
from skde.typing import FloatArray


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

    @property
    def incomparable(self) -> Line:
        """The line of runs that had not the paper's budget: a printed figure has no other verdict."""
        return self if self.verdict == NONE else self._replace(verdict=INCOMPARABLE, note="")


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


def read_errors(cell: Cell) -> FloatArray:
    """Return the errors of a cell's runs; null means infinity."""
    return numbers(cell["error"])


def read_best_values(cell: Cell) -> FloatArray:
    """Return the best values of a cell's runs; null means infinity."""
    return numbers(cell["best"])


def with_std(printed: str | None, std: str | None) -> str:
    """Return a printed mean with its standard deviation, if there is one."""
    return "-" if printed is None else printed if std is None else f"{printed} ({std})"
