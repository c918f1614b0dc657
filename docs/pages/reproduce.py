"""The page on the reproduction of papers, from the records reproduce-PAPER-*.json and table-1-*.json."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from skde.benchmark.comparison import Comparison, Line
from skde.benchmark.papers import REPRODUCTIONS
from skde.benchmark.protocol import PROTOCOL
from skde.benchmark.records import Record, read_record
from skde.benchmark.reproduction import Reproduction
from skde.benchmark.tables import counts_text, reasons
from skde.benchmark.verdicts import DIFFERS, INCOMPARABLE, NOISE, NONE, SLOWER, VERDICTS, WORSE

from . import coevolution, official_data, paper_tuning
from .sources import RECORDS, provenance_text

DOCS = Path(__file__).resolve().parents[1]
SUMMARY, TABLE = "SUMMARY\n", "TABLE 1\n"  # their lines in the texts
BOLD = (WORSE, SLOWER, DIFFERS)


def ours(line: Line) -> str:
    """Return our figures, in italics or bold where they are not as good."""
    text = line.ours.replace("*", r"\*")
    return f"*{text}*" if line.verdict == NOISE else f"**{text}**" if line.verdict in BOLD else text


def table(comparison: Comparison) -> list[str]:
    """Return a paper's table: for every column the paper's figures, if there are any, and ours."""
    cells = {(line.row, line.column): line for line in comparison.lines}
    names = dict.fromkeys(line.row for line in comparison.lines)
    heads = list(dict.fromkeys(line.column for line in comparison.lines))
    printed = {head for head in heads if any(line.column == head and line.paper != "-" for line in comparison.lines)}
    titles = [title for head in heads for title in ([f"{head}: paper"] if head in printed else []) + [f"{head}: skde"]]
    lines = [f"| | {' | '.join(titles)} |", "|---" * (len(titles) + 1) + "|"]
    for name in names:
        texts = []
        for head in heads:
            line = cells.get((name, head))
            texts += [line.paper if line else ""] if head in printed else []
            texts.append(ours(line) if line else "")
        lines.append(f"| {name} | {' | '.join(texts)} |")
    return [*lines, ""]


def source(record: Record, name: str) -> str:
    """Return the source of the figures."""
    settings = record["settings"]
    budget = settings["budget"]
    if budget == PROTOCOL:
        spent = "the paper's budget"
    elif budget.endswith("cycles"):
        spent = f"{budget.removesuffix('cycles')} cycles each"
    else:
        spent = f"{budget} together" if budget.endswith("s") else f"{budget} evaluations each"
    data = ", official data" if settings.get("data") == "official" else ""
    runs = settings["runs"]
    return f"{runs} run{'s' if runs > 1 else ''}, {spent}{data}. {provenance_text(record, name)}"


def section(reproduction: Reproduction, record: Record, name: str, others: Sequence[tuple[str, Record]]) -> list[str]:
    """Return the section of one record; `others`: all titles and records of the paper."""
    lines = [f"### {section_title(name)}", "", source(record, name), ""]
    found = official_data.counterpart(record, others)
    title, official = ("", {}) if found is None else (found[0], tables(reproduction, found[1]))
    for number, comparison in tables(reproduction, record).items():
        both = official.get(number)
        if both is not None:
            comparison = official_data.explained(comparison, both, title, reproduction.paper)
        lines += [f"**{comparison.name}.** {comparison.title}.", "", *table(comparison)]
        if counts := counts_text(comparison):
            lines += [f"{counts}.", ""]
        if comparison.remark:
            lines += [comparison.remark, ""]
        if worse := reasons(comparison):
            lines += ["Cells that are not as good:", "", *(f"- {reason}" for reason in worse), ""]
        lines += [] if both is None else official_data.agreement(comparison, both, title)
    return lines


def tables(reproduction: Reproduction, record: Record) -> dict[str, Comparison]:
    """Return the tables of a record by their names."""
    return {comparison.name: comparison for comparison in reproduction.comparisons(record)}


def records(name: str) -> list[Path]:
    """Return the files of a paper's records."""
    return sorted(RECORDS.glob(f"reproduce-{name}-*.json"))


def summary() -> list[str]:
    """Return the table of the numbers of verdicts in every record."""
    shown = [verdict for verdict in VERDICTS if verdict not in (INCOMPARABLE, NONE)]
    lines = [f"| record | {' | '.join(shown)} |", "|---" * (len(shown) + 1) + "|"]
    for reproduction in REPRODUCTIONS.values():
        for path in records(reproduction.paper.name):
            found: Counter[str] = Counter()
            for comparison in reproduction.comparisons(read_record(path)):
                found.update(comparison.counts)
            title = section_title(path.name)
            lines.append(f"| [{title}](#{title}) | {' | '.join(str(found[verdict] or '') for verdict in shown)} |")
    return lines


def section_title(name: str) -> str:
    """Return the heading of a record's section."""
    return name.removesuffix(".json").removeprefix("reproduce-")


def page() -> str:
    """Return the page."""
    text = (DOCS / "texts" / "reproduce.md").read_text()
    if text.count(SUMMARY) != 1:
        raise ValueError(f"docs/texts/reproduce.md must have one line {SUMMARY.strip()!r}, for the table")
    lines = ["<!-- Made by docs/render.py from docs/texts/reproduce*.md and benchmarks/records. -->", ""]
    lines += [text.strip().replace(SUMMARY, "\n".join([*summary(), ""])), ""]
    for reproduction in REPRODUCTIONS.values():
        paper = reproduction.paper
        lines += [f"## {paper.name}", "", f"{paper.title}. The paper's machine: {paper.machine}.", ""]
        lines += [(DOCS / "texts" / f"reproduce-{paper.name}.md").read_text().strip(), ""]
        paths = records(paper.name)
        read = [(section_title(path.name), read_record(path)) for path in paths]
        for path, (_, record) in zip(paths, read, strict=True):
            lines += section(reproduction, record, path.name, read)
            if "violation" in record["cells"][0]:
                lines += coevolution.details(record)
    return "\n".join([*lines, *appendix()]).rstrip() + "\n"


def appendix() -> list[str]:
    """Return the text on the paper's tuning, with its table."""
    text = (DOCS / "texts" / "reproduce-appendix.md").read_text()
    if text.count(TABLE) != 1:
        raise ValueError(f"docs/texts/reproduce-appendix.md must have one line {TABLE.strip()!r}, for the table")
    before, behind = text.split(TABLE)
    return [before.strip(), "", *paper_tuning.table(), behind]
