"""The page on the reproduction of papers, from the records reproduce-PAPER-*.json and table-1-*.json."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from skde.benchmark.papers import PAPERS, MinMaxPaper, Paper
from skde.benchmark.papers.paper import Figure
from skde.benchmark.records import Record, read_record
from skde.benchmark.reproduction import AS_GOOD, NOISE, Row, rows
from skde.benchmark.tables import totals

from . import coevolution, paper_tuning
from .which import source

DOCS = Path(__file__).resolve().parents[1]
TABLE = "TABLE 1\n"  # its line in the text


def figure(value: Figure) -> str:
    """Return mean and standard deviation in the paper's digits."""
    mean, std = (f"{number:.1e}" if number else "0" for number in value)
    return f"{mean} ({std})"


def ours(row: Row) -> str:
    """Return our figures, in italics or bold where they are not as good."""
    text = figure(row.ours)
    return text if row.verdict == AS_GOOD else f"*{text}*" if row.verdict == NOISE else f"**{text}**"


def table(found: Sequence[Row], dim: int) -> list[str]:
    """Return a table of the paper's and our figures, for every algorithm of a record."""
    names = list(dict.fromkeys(row.algorithm for row in found))
    heads = [f"{name}: {source}" for name in names for source in ("paper", "skde")]
    lines = [f"| D={dim} | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
    cells = {(row.function, row.algorithm): row for row in found if row.dim == dim}
    for function in dict.fromkeys(function for function, _ in cells):
        there = [cells.get((function, name)) for name in names]
        texts = [f"{figure(row.paper)} | {ours(row)}" if row else " | " for row in there]
        lines.append(f"| {function} | {' | '.join(texts)} |")
    return [*lines, ""]


def explanations(found: Sequence[Row]) -> list[str]:
    """Return a line for every cell that is not as good."""
    lines = []
    for row in found:
        if row.verdict != AS_GOOD:
            chance = " (the difference may be chance)" if row.verdict == NOISE else ""
            lines.append(f"- {row.function}, D={row.dim}, {row.algorithm}{chance}: {row.note or 'not explained.'}")
    return ["Cells that are not as good:", "", *lines, ""] if lines else []


def section(paper: Paper, record: Record, name: str) -> list[str]:
    """Return the section of one record."""
    found = rows(paper, record)
    lines = [f"### {', '.join(dict.fromkeys(row.algorithm for row in found))}: {record['settings']['budget']}"]
    lines += ["", *source(record, name)]
    for algorithm, counts in totals(found):
        lines.append(f"- `{algorithm}`: " + ", ".join(f"{count} {verdict}" for verdict, count in counts.items()) + ".")
    lines.append("")
    for dim in dict.fromkeys(row.dim for row in found):
        lines += table(found, dim)
    return lines + explanations(found)


def page() -> str:
    """Return the page."""
    lines = ["<!-- Made by docs/render.py from docs/texts/reproduce*.md and docs/benchmarks. -->", ""]
    lines += [(DOCS / "texts" / "reproduce.md").read_text().strip(), ""]
    for paper in PAPERS.values():
        lines += [f"## {paper.name}", "", f"{paper.title}.", ""]
        lines += [(DOCS / "texts" / f"reproduce-{paper.name}.md").read_text().strip(), ""]
        if isinstance(paper, MinMaxPaper):
            lines += coevolution.notes(paper)
        for path in sorted((DOCS / "benchmarks").glob(f"reproduce-{paper.name}-*.json")):
            record = read_record(path)
            if isinstance(paper, MinMaxPaper):
                lines += coevolution.section(paper, record, path.name)
            else:
                lines += section(paper, record, path.name)
    return "\n".join([*lines, *appendix()]).rstrip() + "\n"


def appendix() -> list[str]:
    """Return the text on the paper's tuning, with its table."""
    text = (DOCS / "texts" / "reproduce-appendix.md").read_text()
    if text.count(TABLE) != 1:
        raise ValueError(f"docs/texts/reproduce-appendix.md must have one line {TABLE.strip()!r}, for the table")
    before, behind = text.split(TABLE)
    return [before.strip(), "", *paper_tuning.table(), behind]
