"""Papers' tables and our figures, from the records reproduce-PAPER-*.json and table-1-*.json."""

from __future__ import annotations

from collections import Counter
from functools import cache
from statistics import median

from skde.benchmark.comparison import Comparison, Line
from skde.benchmark.minmax_trials import VALUES, describe_values, feasible_best
from skde.benchmark.papers import REPRODUCTIONS
from skde.benchmark.protocol import PROTOCOL
from skde.benchmark.records import Cell
from skde.benchmark.reproduction import Reproduction
from skde.benchmark.tables import counts_text, reasons
from skde.benchmark.tuning_comparison import read_tuning
from skde.benchmark.tuning_comparison import summarize_tuning as summary_of
from skde.benchmark.verdicts import DIFFERS, INCOMPARABLE, NOISE, NONE, SLOWER, VERDICTS, WORSE

from . import official_data
from .records import RECORDS, names_of, read_cells, source, table

PREFIX = "reproduce-"
BOLD = (WORSE, SLOWER, DIFFERS)
MINMAX = ["", "individuals", *VALUES, "largest violation", "feasible", "ms, one run", "ms, all runs"]
TUNING = ["record", "found", "better", "equal", "worse", "a run is better with probability", "p, functions", "p, boxes"]
TUNING += ["experiments", "seconds"]


def titles(paper: str) -> list[str]:
    """Return the titles of a paper's records, which are headings of the page."""
    return [name.removeprefix(PREFIX) for name in names_of(f"{PREFIX}{paper}-*")]


def reproduction_of(title: str) -> Reproduction:
    """Return the reproduction that a record is of."""
    return REPRODUCTIONS[title.partition("-")[0]]


@cache
def comparisons(title: str) -> dict[str, Comparison]:
    """Return the paper's tables with a record's figures by their names."""
    found = reproduction_of(title).comparisons(read_cells(PREFIX + title))
    return {comparison.name: comparison for comparison in found}


def verdicts(title: str) -> Counter[str]:
    """Return the numbers of verdicts in a record."""
    return sum((Counter(comparison.counts) for comparison in comparisons(title).values()), Counter())


def summary() -> list[str]:
    """Return the numbers of verdicts in every record."""
    heads = [verdict for verdict in VERDICTS if verdict not in (INCOMPARABLE, NONE)]
    cells = []
    for paper in REPRODUCTIONS:
        for title in titles(paper):
            cells.append((f"[{title}](#{title})", *(verdicts(title)[verdict] or "" for verdict in heads)))
    return table(["record", *heads], cells)


def tables(title: str) -> list[str]:
    """Return the paper's tables with a record's figures, and the reasons of cells that are not as good."""
    record, paper = read_cells(PREFIX + title), reproduction_of(title).paper
    others = [(other, read_cells(PREFIX + other)) for other in titles(paper.name)]
    counterpart = official_data.counterpart(record, others)
    lines = [f"{protocol(title)}. {source(PREFIX + title)[0]}", ""]
    for number, comparison in comparisons(title).items():
        official = comparisons(counterpart[0]).get(number) if counterpart else None
        if counterpart and official:
            explained = official_data.explain(comparison, official, counterpart[0], paper)
            lines += format_comparison(explained) + official_data.agreement(explained, official, counterpart[0])
        else:
            lines += format_comparison(comparison)
    return [*lines, *(minmax(record["cells"]) if "violation" in record["cells"][0] else [])]


def protocol(title: str) -> str:
    """Return runs, budget and data of a record."""
    settings = read_cells(PREFIX + title)["settings"]
    budget, runs = settings["budget"], settings["runs"]
    if budget == PROTOCOL:
        spent = "the paper's budget"
    elif budget.endswith("cycles"):
        spent = f"{budget.removesuffix('cycles')} cycles each"
    else:
        spent = f"{budget} together" if budget.endswith("s") else f"{budget} evaluations each"
    data = ", official data" if settings.get("data") == official_data.OFFICIAL else ""
    return f"{runs} run{'s' if runs > 1 else ''}, {spent}{data}"


def format_comparison(comparison: Comparison) -> list[str]:
    """Return a paper's table: for every column the paper's figures, if there are any, and ours; then the reasons."""
    cells = {(line.row, line.column): line for line in comparison.lines}
    printed = {line.column for line in comparison.lines if line.paper != "-"}
    heads: dict[str, list[str]] = {}
    for line in comparison.lines:
        heads[line.column] = [f"{line.column}: paper"] * (line.column in printed) + [f"{line.column}: skde"]
    rows = []
    for name in dict.fromkeys(line.row for line in comparison.lines):
        texts = [name]
        for column, own in heads.items():
            cell = cells.get((name, column))
            texts += [cell.paper, ours(cell)][-len(own) :] if cell else [""] * len(own)
        rows.append(texts)
    counts, worse = counts_text(comparison), reasons(comparison)
    return [
        *(f"**{comparison.name}.** {comparison.title}.", ""),
        *table(["", *(head for own in heads.values() for head in own)], rows),
        *([f"{counts}.", ""] if counts else []),
        *([comparison.remark, ""] if comparison.remark else []),
        *(["Cells that are not as good:", "", *(f"- {reason}" for reason in worse), ""] if worse else []),
    ]


def ours(line: Line) -> str:
    """Return our figures, in italics or bold where they are not as good."""
    text = line.ours.replace("*", r"\*")
    return f"*{text}*" if line.verdict == NOISE else f"**{text}**" if line.verdict in BOLD else text


def minmax(cells: list[Cell]) -> list[str]:
    """Return values, violations and times of solvers of min-max problems."""
    rows = sorted(cells, key=lambda cell: (cell["function"], pop_size_of(cell)))
    about = "All cells; values are of the runs that found a feasible point."
    return [about, "", *table(MINMAX, map(minmax_row, rows))]


def pop_size_of(cell: Cell) -> int:
    """Return the number of individuals on a side."""
    return int(cell["algorithm"].partition(":pop_size=")[2])


def minmax_row(cell: Cell) -> list[str]:
    """Return the line of one cell."""
    best = feasible_best(cell)
    values = [f"{value:.7g}" for value in describe_values(best)] if len(best) else ["-"] * len(VALUES)
    violations = [value for value in cell["violation"] if value is not None]
    worst = f"{max(violations):.1e}" if len(violations) == len(cell["violation"]) else "inf"
    times = (1e3 * median(cell["alone"]), 1e3 * cell["seconds"])
    return [
        f"{cell['function']} {cell['algorithm'].partition(':')[0]}",
        *(str(pop_size_of(cell)), *values, worst, f"{len(best)} of {len(cell['best'])}"),
        *(f"{spent:.0f}" if spent >= 100 else f"{spent:.3g}" for spent in times),
    ]


def tuning() -> list[str]:
    """Return the parameters that each tuning found, the comparison with the paper's, and its cost."""
    cells = []
    for name in names_of("table-1-*"):
        record = read_tuning(RECORDS / f"{name}.json")
        for row in summary_of(record):
            tuned = record["tuned"][row["algorithm"]]
            found = ", ".join(
                f"{key} {value:.3g}" if isinstance(value, float) else f"{key} {value}"
                for key, value in tuned["best"].items()
            )
            link = f"[{name}.json](../benchmarks/records/{name}.json)"
            share = (f"{row['share']:.3f}", *(f"{row[key]:.2g}" for key in ("p", "p_boxes")))
            counts = (row[key] for key in ("better", "equal", "worse"))
            cells.append((link, found, *counts, *share, tuned["n_experiments"], f"{tuned['elapsed']:.0f}"))
    return table(TUNING, cells)
