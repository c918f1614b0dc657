"""The comparison of a record of generated data with one of official data, where a paper has both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from skde.benchmark.comparison import Comparison, Line
from skde.benchmark.published_tables import Paper
from skde.benchmark.records import Record
from skde.benchmark.tables import MARKS
from skde.benchmark.verdicts import AGREES, AS_GOOD, DIFFERS

from .records import table

GENERATED, OFFICIAL = "generated", "official"
GOOD = (AS_GOOD, AGREES)


def data_of(record: Record) -> str:
    """Return which data a record is of; records of earlier versions do not say it."""
    return str(record["settings"].get("data", GENERATED))


def conditions(record: Record) -> dict[str, object]:
    """Return the settings of a record but for its data."""
    return {name: value for name, value in record["settings"].items() if name not in ("paper", "data", "folder")}


def counterpart(record: Record, others: Sequence[tuple[str, Record]]) -> tuple[str, Record] | None:
    """Return the title and the record of official data that has a record's other settings and some of its cells."""
    if data_of(record) != GENERATED:
        return None
    for title, other in others:
        if data_of(other) == OFFICIAL and conditions(other) == conditions(record):
            return title, other
    return None


def explain(comparison: Comparison, official: Comparison, title: str, paper: Paper) -> Comparison:
    """Return a table of generated data with the reasons that official data give, and without those they disprove.

    A cell that is not as good here and is with official data has that as its reason. Where it is not as good with
    either, the data are no reason, and the cell with official data gives one.
    """
    theirs = {(line.row, line.column): line for line in official.lines}
    of_data = {note.text for note in paper.notes if note.of_data}

    def settle(line: Line) -> Line:
        other = theirs.get((line.row, line.column))
        if line.verdict not in MARKS or other is None:
            return line
        there = f"{other.verdict} with the official data"
        if other.verdict in GOOD:
            return line._replace(note=f"{there} ([{title}](#{title}))")
        if other.verdict in MARKS and line.note in of_data:
            return line._replace(note=f"{there} too ([{title}](#{title})): {other.note or 'not explained'}")
        return line

    return replace(comparison, lines=tuple(map(settle, comparison.lines)))


def agreement(comparison: Comparison, official: Comparison, title: str) -> list[str]:
    """Return the numbers of ranks that agree with both data, in each column; nothing for other tables."""
    judged = [line for line in comparison.lines if line.verdict in (AGREES, DIFFERS)]
    verdicts = {(line.row, line.column): line.verdict for line in official.lines}
    if not judged or any(verdicts.get((line.row, line.column)) not in (AGREES, DIFFERS) for line in judged):
        return []
    heads = list(dict.fromkeys(line.column for line in judged))

    own = [line.column for line in judged if line.verdict == AGREES]
    theirs = [line.column for line in judged if verdicts[line.row, line.column] == AGREES]
    rows = (
        (data, *(agrees.count(head) for head in heads), f"{len(agrees)} of {len(judged)}")
        for data, agrees in ((GENERATED, own), (f"[{OFFICIAL}](#{title})", theirs))
    )
    return ["Ranks that agree with the paper's:", "", *table(["data", *heads, "together"], rows)]
