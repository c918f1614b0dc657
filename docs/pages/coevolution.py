"""The sections of papers on co-evolution, from the records docs/benchmarks/reproduce-PAPER-*.json."""

from __future__ import annotations

from skde.benchmark.minmax_trials import rows
from skde.benchmark.papers import MinMaxPaper
from skde.benchmark.records import Record
from skde.benchmark.tables import coevolution_lines

from .which import provenance_text


def section(paper: MinMaxPaper, record: Record, name: str) -> list[str]:
    """Return the section of one record."""
    settings, found = record["settings"], rows(paper, record)
    lines = [f"### {'GPU' if 'gpu' in record['machine'] else 'CPU'}", ""]
    lines += [
        f"{settings['runs']} runs of {settings['budget'].removesuffix('cycles')} cycles. "
        f"{provenance_text(record, name)}"
    ]
    for function in dict.fromkeys(row.function for row in found):
        those = [row for row in found if row.function == function]
        head, *body = coevolution_lines(those)
        lines += ["", f"#### {function}, {those[0].known:.10g}", ""]
        lines += [f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *body)]
    return [*lines, ""]


def notes(paper: MinMaxPaper) -> list[str]:
    """Return the notes on functions."""
    return ["Notes on the paper's figures:", "", *(f"- {note.function}: {note.text}." for note in paper.notes), ""]
