"""Feasibility and times of solvers of min-max problems, from the records reproduce-fabris2012-*.json."""

from __future__ import annotations

from statistics import median

from skde.benchmark.minmax_trials import VALUES, describe, feasible_best
from skde.benchmark.records import Cell, Record

HEADS = ["", "individuals", *VALUES, "largest violation", "feasible", "ms, one run", "ms, all runs"]


def details(record: Record) -> list[str]:
    """Return a table of all cells of a record."""
    lines = ["All cells; values are of the runs that found a feasible point.", ""]
    lines += [f"| {' | '.join(HEADS)} |", "|---" * len(HEADS) + "|"]
    cells = sorted(record["cells"], key=lambda cell: (cell["function"], pop_size_of(cell)))
    lines += [f"| {' | '.join(row(cell))} |" for cell in cells]
    return [*lines, ""]


def pop_size_of(cell: Cell) -> int:
    """Return the number of individuals on a side."""
    return int(cell["algorithm"].partition(":pop_size=")[2])


def row(cell: Cell) -> list[str]:
    """Return the line of one cell."""
    algorithm = cell["algorithm"].partition(":")[0]
    best = feasible_best(cell)
    values = [f"{value:.7g}" for value in describe(best)] if len(best) else ["-"] * len(VALUES)
    violations = [value for value in cell["violation"] if value is not None]
    worst = f"{max(violations):.1e}" if len(violations) == len(cell["violation"]) else "inf"
    return [
        f"{cell['function']} {algorithm}",
        str(pop_size_of(cell)),
        *values,
        worst,
        f"{len(best)} of {len(cell['best'])}",
        milliseconds(1e3 * median(cell["alone"])),
        milliseconds(1e3 * cell["seconds"]),
    ]


def milliseconds(spent: float) -> str:
    """Return a time with three digits, or more before the point."""
    return f"{spent:.0f}" if spent >= 100 else f"{spent:.3g}"
