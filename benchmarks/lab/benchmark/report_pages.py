"""Pages of a report: tables and plots as one HTML file, as Markdown, and as CSV."""

from __future__ import annotations

import csv
import html
import io
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

DIGITS = 3


@dataclass(frozen=True)
class ReportTable:
    """A table of a report.

    Attributes
    ----------
    name : str
        Name of its CSV file.
    title, note : str
        Heading, and the text below it.
    header : list of str
        Names of the columns.
    rows : list of list
        Texts, numbers, or None where there is no value. The first `n_labels` columns are labels.
    marked : set of (int, int)
        Rows and columns of the cells that are marked.
    n_labels : int
        Number of label columns.
    folded : bool
        Whether the HTML page shows the table on a click only.
    """

    name: str
    title: str
    note: str
    header: list[str]
    rows: list[list[Any]]
    marked: frozenset[tuple[int, int]] = frozenset()
    n_labels: int = 1
    folded: bool = False


@dataclass(frozen=True)
class Plot:
    """A plot of a report.

    Attributes
    ----------
    name : str
        Name of its SVG file.
    title, note : str
        Heading, and the text below it.
    svg : str
        The element, with the colours of `report.css`.
    """

    name: str
    title: str
    note: str
    svg: str


@dataclass(frozen=True)
class Section:
    """Tables and plots under a heading."""

    title: str
    parts: list[ReportTable | Plot]


@dataclass(frozen=True)
class BenchmarkReport:
    """A report.

    Attributes
    ----------
    title : str
        Heading of the page.
    notes : list of str
        Remarks on the records: failures, files that were not read, differences of machines and versions.
    sections : list of Section
        The content.
    data : list of ReportTable
        Tables that only become CSV files: the numbers of the plots.
    """

    title: str
    notes: list[str]
    sections: list[Section]
    data: list[ReportTable] = field(default_factory=list)

    def parts(self) -> Iterator[ReportTable | Plot]:
        """Give all tables and plots."""
        for section in self.sections:
            yield from section.parts


def format_number(value: Any) -> str:
    """Return a cell's text: numbers with three digits or more, a dash for None."""
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    if not math.isfinite(value):
        return "inf" if value > 0 else str(value)
    if value == 0:
        return "0"
    if 1e3 <= abs(value) < 1e5:
        return f"{value:,.0f}"
    return f"{value:#.{DIGITS}g}".rstrip(".") if 1e-2 <= abs(value) < 1e3 else f"{value:.{DIGITS - 1}e}"


# -- HTML --------------------------------------------------------------------------------------------------------------


def style() -> str:
    """Return the style sheet of the page and of the plots."""
    return files("skde.benchmark").joinpath("report.css").read_text(encoding="utf-8")


def html_page(report: BenchmarkReport) -> str:
    """Return a report as one HTML page, which loads nothing."""
    title = html.escape(report.title)
    contents = "".join(
        f'<li><a href="#{anchor(section)}">{html.escape(section.title)}</a></li>' for section in report.sections
    )
    notes = "".join(f"<li>{html.escape(note)}</li>" for note in report.notes)
    body = "\n".join(html_section(section) for section in report.sections)
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>\n{style()}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
        + (f'<ul class="notes">{notes}</ul>\n' if notes else "")
        + f"<nav><ul>{contents}</ul></nav>\n{body}\n</body>\n</html>\n"
    )


def anchor(section: Section) -> str:
    """Return the id of a section."""
    return "".join(letter if letter.isalnum() else "-" for letter in section.title.lower())


def html_section(section: Section) -> str:
    """Return a section as HTML."""
    parts = "\n".join(html_table(part) if isinstance(part, ReportTable) else html_plot(part) for part in section.parts)
    return f'<section id="{anchor(section)}">\n<h2>{html.escape(section.title)}</h2>\n{parts}\n</section>'


def html_table(table: ReportTable) -> str:
    """Return a table as HTML."""
    head = "".join(
        f'<th scope="col"{" class=label" if column < table.n_labels else ""}>{html.escape(name)}</th>'
        for column, name in enumerate(table.header)
    )
    rows = "\n".join(html_row(table, number, row) for number, row in enumerate(table.rows))
    body = (
        f'<div class="scroll" tabindex="0"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n'
        "</table></div>"
    )
    note = f"<p>{html.escape(table.note)}</p>\n" if table.note else ""
    title = html.escape(table.title)
    if table.folded:
        return f"<details><summary>{title}</summary>\n{note}{body}</details>"
    return f"<h3>{title}</h3>\n{note}{body}"


def html_row(table: ReportTable, number: int, row: list[Any]) -> str:
    """Return a row of a table as HTML."""
    cells = []
    for column, value in enumerate(row):
        text = html.escape(format_number(value))
        if column < table.n_labels:
            cells.append(f'<th scope="row">{text}</th>')
        elif (number, column) in table.marked:
            cells.append(f'<td class="best">{text}</td>')
        else:
            cells.append(f"<td>{text}</td>")
    return f"<tr>{''.join(cells)}</tr>"


def html_plot(plot: Plot) -> str:
    """Return a plot as HTML."""
    note = f"<figcaption>{html.escape(plot.note)}</figcaption>" if plot.note else ""
    return f'<h3>{html.escape(plot.title)}</h3>\n<figure><div class="scroll">{plot.svg}</div>{note}</figure>'


# -- Markdown, SVG and CSV ---------------------------------------------------------------------------------------------


def markdown_page(report: BenchmarkReport) -> str:
    """Return a report as Markdown, with the plots as links to their SVG files."""
    lines = [f"# {markdown_text(report.title)}", ""]
    lines += [f"- {markdown_text(note)}" for note in report.notes]
    for section in report.sections:
        lines += ["", f"## {markdown_text(section.title)}"]
        for part in section.parts:
            lines += ["", f"### {markdown_text(part.title)}", ""]
            if part.note:
                lines += [markdown_text(part.note), ""]
            if isinstance(part, Plot):
                lines.append(f"![{markdown_text(part.title)}]({part.name}.svg)")
            else:
                lines += markdown_table(part)
    return "\n".join(lines) + "\n"


def markdown_table(table: ReportTable) -> list[str]:
    """Return the lines of a table; marked cells are bold."""
    lines = [markdown_row([markdown_text(name) for name in table.header])]
    lines.append(markdown_row(["---"] * table.n_labels + ["---:"] * (len(table.header) - table.n_labels)))
    for number, row in enumerate(table.rows):
        texts = [markdown_text(format_number(value)) for value in row]
        lines.append(
            markdown_row([f"**{t}**" if (number, column) in table.marked else t for column, t in enumerate(texts)])
        )
    return lines


def markdown_row(cells: list[str]) -> str:
    """Return a row of a table."""
    return f"| {' | '.join(cells)} |"


def markdown_text(text: str) -> str:
    """Return text without the characters that mean something in Markdown tables."""
    for character in "\\|*_<[]":
        text = text.replace(character, f"\\{character}")
    return text


def format_csv(table: ReportTable) -> str:
    """Return a table as CSV, with all digits; a column `marked` names the marked columns of a row, if there are any."""
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow([*table.header, *(["marked"] if table.marked else [])])
    for number, row in enumerate(table.rows):
        marks = [table.header[column] for column in range(len(row)) if (number, column) in table.marked]
        writer.writerow([*("" if v is None else v for v in row), *([";".join(marks)] if table.marked else [])])
    return target.getvalue()


def svg_file(plot: Plot) -> str:
    """Return a plot as a separate file, with the colours of the page."""
    colours = style().partition("/* page */")[0]
    opening, closing, rest = plot.svg.partition(">")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{opening}{closing}<style>{colours}</style>{rest}\n'
