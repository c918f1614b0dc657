"""The table of the reproduced tuning of a paper, from the records benchmarks/records/table-1-*.json."""

from __future__ import annotations

from skde.tuning.comparison import read_tuning, summary

from .sources import RECORDS

HEADS = ["record", "found", "better", "equal", "worse", "a run is better with probability", "p, functions", "p, boxes"]
HEADS += ["experiments", "seconds"]


def table() -> list[str]:
    """Return the table of the parameters that each tuning found, the comparison with the paper's, and its cost."""
    lines = [f"| {' | '.join(HEADS)} |", "|---" * len(HEADS) + "|"]
    for path in sorted(RECORDS.glob("table-1-*.json")):
        record = read_tuning(path)
        for row in summary(record):
            tuned = record["tuned"][row["algorithm"]]
            found = ", ".join(f"{name} {value_text(value)}" for name, value in tuned["best"].items())
            cells = [
                f"[{path.name}](../benchmarks/records/{path.name})",
                found,
                *(row[key] for key in ("better", "equal", "worse")),
            ]
            cells += [f"{row['share']:.3f}", f"{row['p']:.2g}", f"{row['p_boxes']:.2g}"]
            cells += [tuned["n_experiments"], f"{tuned['elapsed']:.0f}"]
            lines.append(f"| {' | '.join(map(str, cells))} |")
    return lines


def value_text(value: object) -> str:
    """Return a parameter in three digits."""
    return f"{value:.3g}" if isinstance(value, float) else str(value)
