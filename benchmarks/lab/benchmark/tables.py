"""The tables that `skde bench run`, `skde bench compare` and `skde reproduce` print."""

from __future__ import annotations

from typing import Any

from skde.benchmark.comparison import Comparison, Line
from skde.benchmark.verdicts import DIFFERS, INCOMPARABLE, NOISE, NONE, SLOWER, WORSE

MARKS = {NOISE: "~", WORSE: "!", SLOWER: "!", DIFFERS: "!"}  # of cells that are not as good
WIDTH = 150
LONGEST_LABEL = 16  # a longer name becomes a number in the table's head, with the name above the table


def summary_table(rows: list[dict[str, Any]]) -> str:
    """Return the rows of `statistics.summary` as text."""
    figures = ("median", "mean", "std", "best")
    lines = [f"{'function':<10}{'dim':>5}" + "".join(f"{name:>11}" for name in figures) + "  algorithm"]
    for row in rows:
        numbers = "".join(number_text(row[name]) for name in figures)
        lines.append(f"{row['function']:<10}{row['dim']:>5}{numbers}  {row['algorithm']}")
    return "\n".join(lines)


def comparison_table(comparison: dict[str, Any]) -> str:
    """Return the result of `statistics.compare` as text."""
    algorithms = comparison["algorithms"]
    labels = {name: name if len(name) <= LONGEST_LABEL else f"[{number}]" for number, name in enumerate(algorithms, 1)}
    lines = [f"{comparison['suite']}, {comparison['budget']}, errors below {comparison['zero']:g} are zero"]
    lines += [f"{label:<5}{name}" for name, label in labels.items() if label != name]
    for part in comparison["dims"]:
        lines += ["", f"D={part['dim']}, median errors"]
        lines.append(f"{'':<10}" + "".join(f"{labels[name]:>{LONGEST_LABEL + 2}}" for name in algorithms))
        for function, medians in part["medians"].items():
            cells = "".join(number_text(medians.get(name), LONGEST_LABEL + 2) for name in algorithms)
            lines.append(f"{function:<10}{cells}")
        if part["ranks"] is not None:
            ranks = "".join(f"{part['ranks'][name]:>{LONGEST_LABEL + 2}.2f}" for name in algorithms)
            lines.append(f"{'mean rank':<10}{ranks}  of {part['ranked_functions']} functions")
        lines.append(
            f"better, equal, worse than {labels[comparison['baseline']]}, rank-sum test at {comparison['alpha']:g}"
        )
        lines += [
            f"  {labels[name]:<{LONGEST_LABEL + 2}}{counts['better']:>4}{counts['equal']:>4}{counts['worse']:>4}"
            for name, counts in part["against"].items()
        ]
    return "\n".join(lines)


def comparison_text(comparison: Comparison, *, explained: bool = True) -> str:
    """Return a paper's table as text: the paper's figures with ours, and the reasons of cells that are not as good."""
    lines = [f"{comparison.name}. {comparison.title}"]
    cells = {(line.row, line.column): line for line in comparison.lines}
    names = list(dict.fromkeys(line.row for line in comparison.lines))
    heads = list(dict.fromkeys(line.column for line in comparison.lines))
    label = max(map(len, names)) + 2
    theirs = max(map(len, ["paper", *(line.paper for line in comparison.lines)])) + 2
    own = max(map(len, ["ours", *(line.ours for line in comparison.lines)])) + 2
    width = max([theirs, *(len(head) + 9 for head in heads)]) + own + 1
    fit = max(1, (WIDTH - label) // width)
    for first in range(0, len(heads), fit):
        part = heads[first : first + fit]
        lines.append(" " * label + "".join(f"{head + ': paper':>{width - own - 1}}{'ours':>{own}} " for head in part))
        for name in names:
            there = [cells.get((name, head)) for head in part]
            if any(there):
                texts = (cell_text(line, width - own - 1, own) if line else " " * width for line in there)
                lines.append(f"{name:<{label}}{''.join(texts)}".rstrip())
    if counts := counts_text(comparison):
        lines.append(counts)
    if comparison.remark:
        lines.append(comparison.remark)
    return "\n".join([*lines, *(reasons(comparison) if explained else [])])


def cell_text(line: Line, theirs: int, own: int) -> str:
    """Return a cell of a paper's table in columns of these widths, with its mark."""
    return f"{line.paper:>{theirs}}{line.ours:>{own}}{MARKS.get(line.verdict, ' ')}"


def counts_text(comparison: Comparison) -> str:
    """Return the numbers of the verdicts on a table's cells."""
    remarks = {INCOMPARABLE: " (not the paper's budget)"}
    counts = {verdict: count for verdict, count in comparison.counts.items() if verdict != NONE}
    return ", ".join(f"{count} {verdict}{remarks.get(verdict, '')}" for verdict, count in counts.items())


def reasons(comparison: Comparison) -> list[str]:
    """Return a line for each reason why cells are not as good, with the cells."""
    notes: dict[str, dict[str, list[str]]] = {}
    for line in comparison.lines:
        if line.verdict in MARKS:
            chance = " (may be chance)" if line.verdict == NOISE else ""
            notes.setdefault(line.note or "not explained", {}).setdefault(line.row, []).append(line.column + chance)
    return [
        "; ".join(f"{row}: {', '.join(columns)}" for row, columns in rows.items()) + f": {note}"
        for note, rows in notes.items()
    ]


def number_text(value: float | None, width: int = 11) -> str:
    """Return a number, or a dash for None."""
    return f"{'-':>{width}}" if value is None else f"{value:>{width}.2e}"
