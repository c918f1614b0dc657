"""The tables that `skde bench run` and `skde bench compare` print."""

from __future__ import annotations

from typing import Any

LONGEST = 16  # a longer algorithm is a number in a table's head, and told above it


def summary_table(rows: list[dict[str, Any]]) -> str:
    """Return the rows of `statistics.summary` as text."""
    figures = ("median", "mean", "std", "best")
    lines = [f"{'function':<10}{'dim':>5}" + "".join(f"{name:>11}" for name in figures) + "  algorithm"]
    for row in rows:
        numbers = "".join(written(row[name]) for name in figures)
        lines.append(f"{row['function']:<10}{row['dim']:>5}{numbers}  {row['algorithm']}")
    return "\n".join(lines)


def comparison_table(found: dict[str, Any]) -> str:
    """Return what `statistics.compare` found as text."""
    algorithms = found["algorithms"]
    labels = {name: name if len(name) <= LONGEST else f"[{number}]" for number, name in enumerate(algorithms, 1)}
    lines = [f"{found['suite']}, {found['budget']}, errors below {found['zero']:g} are zero"]
    lines += [f"{label:<5}{name}" for name, label in labels.items() if label != name]
    for part in found["dims"]:
        lines += ["", f"D={part['dim']}, median errors"]
        lines.append(f"{'':<10}" + "".join(f"{labels[name]:>{LONGEST + 2}}" for name in algorithms))
        for function, medians in part["medians"].items():
            cells = "".join(written(medians.get(name), LONGEST + 2) for name in algorithms)
            lines.append(f"{function:<10}{cells}")
        if part["ranks"] is not None:
            ranks = "".join(f"{part['ranks'][name]:>{LONGEST + 2}.2f}" for name in algorithms)
            lines.append(f"{'mean rank':<10}{ranks}  of {part['ranked_functions']} functions")
        lines.append(f"better, equal, worse than {labels[found['baseline']]}, rank-sum test at {found['alpha']:g}")
        lines += [
            f"  {labels[name]:<{LONGEST + 2}}{counts['better']:>4}{counts['equal']:>4}{counts['worse']:>4}"
            for name, counts in part["against"].items()
        ]
    return "\n".join(lines)


def written(value: float | None, width: int = 11) -> str:
    """Return a number, or that there is none."""
    return f"{'-':>{width}}" if value is None else f"{value:>{width}.2e}"
