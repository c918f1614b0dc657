"""The tables that `skde bench run`, `skde bench compare` and `skde reproduce` print."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skde.benchmark import minmax_trials
from skde.benchmark.papers import MinMaxPaper, Paper
from skde.benchmark.papers.paper import Milliseconds
from skde.benchmark.reproduction import AS_GOOD, NOISE, VERDICTS, WORSE, Row

MARKS = {AS_GOOD: " ", NOISE: "~", WORSE: "!"}
VALUES = ("best", "median", "mean", "std", "worst")
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


def reproduction_table(paper: Paper, rows: Sequence[Row]) -> str:
    """Return the rows of `reproduction.rows` as text: the paper's means and ours."""
    names = list(dict.fromkeys(row.algorithm for row in rows))
    lines = [paper.title, "Means of the best values; ! marks ours where it is worse, ~ where that may be chance"]
    for dim in dict.fromkeys(row.dim for row in rows):
        lines += ["", f"{f'D={dim}':<10}" + "".join(f"{name:>10} paper{'ours':>11} " for name in names)]
        for function in dict.fromkeys(row.function for row in rows):
            cells = {row.algorithm: row for row in rows if (row.function, row.dim) == (function, dim)}
            row_cells = (cells.get(name) for name in names)
            texts = (
                f"{row.paper[0]:>16.1e}{row.ours[0]:>11.1e}{MARKS[row.verdict]}" if row else " " * 28
                for row in row_cells
            )
            lines.append(f"{function:<10}{''.join(texts)}")
    lines.append("")
    lines += [
        f"{name:<10}{', '.join(f'{n} {verdict}' for verdict, n in counts.items())}" for name, counts in totals(rows)
    ]
    lines += [
        f"{row.function} D={row.dim} {row.algorithm}: {row.note or 'not explained'}"
        for row in rows
        if row.verdict != AS_GOOD
    ]
    return "\n".join(lines)


def coevolution_table(paper: MinMaxPaper, rows: Sequence[minmax_trials.Row]) -> str:
    """Return the rows of `minmax_trials.rows` as text: the paper's figures above ours, with notes."""
    lines = [paper.title, "Values of the runs that found a feasible point; the largest violation of all runs"]
    for function in dict.fromkeys(row.function for row in rows):
        those = [row for row in rows if row.function == function]
        head, *body = coevolution_lines(those)
        lines += ["", f"{function}, {those[0].known:.10g}"]
        lines += [
            f"{line[0]:<26}" + "".join(f"{text:>{width}}" for text, width in columns(line)) for line in (head, *body)
        ]
        lines += [note.text for note in paper.notes if note.function == function]
    return "\n".join(lines)


def columns(line: Sequence[str]) -> list[tuple[str, int]]:
    """Return the texts of a line after the first, with the widths of their columns."""
    return list(zip(line[1:], [13] * 5 + [11, 10, 18, 12], strict=True))


def coevolution_lines(rows: Sequence[minmax_trials.Row]) -> list[list[str]]:
    """Return the lines of one problem's table: the head, then the paper's figures, if any, and ours."""
    head = ["", *VALUES, "violation", "feasible", "ms, one run", f"ms, {rows[0].runs} runs"]
    lines = [head]
    for row in rows:
        name = f"{row.algorithm}, n={row.pop_size}"
        if row.paper_ms is not None:
            values = [""] * 5 if row.paper is None else [f"{value:.2f}" for value in row.paper]
            lines.append([f"{name}: paper", *values, "", "", paper_ms(row.paper_ms), ""])
        ours = ["-"] * 5
        if row.ours is not None:
            ours = [f"{value:.7g}" for value in row.ours]
            ours[VALUES.index("std")] = f"{row.ours.std:.1e}"
        rules = [f"{row.violation:.1e}", f"{row.feasible} of {row.runs}"] if row.constrained else ["", ""]
        lines.append([f"{name}: skde", *ours, *rules, milliseconds(row.alone_ms), milliseconds(row.together_ms)])
    return lines


def paper_ms(spent: Milliseconds) -> str:
    """Return the paper's times on CPU and GPU."""
    return f"{milliseconds(spent.cpu[0])} (GPU: {milliseconds(spent.gpu[0])})"


def milliseconds(spent: float) -> str:
    """Return a time with three digits, or more before the point."""
    return f"{spent:.0f}" if spent >= 100 else f"{spent:.3g}"


def totals(rows: Sequence[Row]) -> list[tuple[str, dict[str, int]]]:
    """Count the verdicts of every algorithm."""
    names = dict.fromkeys(row.algorithm for row in rows)
    verdicts = {name: [row.verdict for row in rows if row.algorithm == name] for name in names}
    return [(name, {verdict: verdicts[name].count(verdict) for verdict in VERDICTS}) for name in names]


def number_text(value: float | None, width: int = 11) -> str:
    """Return a number, or a dash for None."""
    return f"{'-':>{width}}" if value is None else f"{value:>{width}.2e}"
