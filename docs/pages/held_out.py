"""The section on suites that no choice of skde has seen, from the record held-out.json."""

from __future__ import annotations

from typing import Any

from skde.algorithms.auto import AUTO

from . import bbob
from .sources import described, link, read

NAME = "held-out"
SIGNIFICANT = 0.05


def section() -> list[str]:
    """Return the lowest mean ranks, the place of `auto`, and the ranks of all by budget."""
    record = read(NAME)
    ranks: dict[int, dict[str, dict[str, Any]]] = {}
    for row in record["rows"]:
        ranks.setdefault(row["per_variable"], {})[row["algorithm"]] = row
    suites = record["settings"]["suites"]
    some = next(iter(ranks.values()))
    functions = len(next(iter(some.values()))["medians"])
    lines = [
        "## Suites that no choice has seen",
        "",
        f"CEC 2014, 2020 and 2022, {functions} functions in {record['settings']['dim']} variables, "
        f"{record['settings']['runs']} runs of each algorithm. They were run once, after the rule of `auto` and all "
        f"defaults were settled. {described(record, NAME)}",
        "",
        "| evaluations for each variable | lowest mean ranks | lowest of skde | `auto` | `auto` by suite |",
        "|---|---|---|---|---|",
    ]
    for per_variable, found in ranks.items():
        means = {name: row["rank"] for name, row in found.items()}
        own = {name: rank for name, rank in means.items() if ":" not in name}
        place = f"{bbob.place_text(means[AUTO], list(found.values()))} of {len(found)}"
        by_suite = ", ".join(f"{suite} {found[AUTO][suite]:.1f}" for suite in suites)
        cells = (per_variable, bbob.lowest(means, 3), bbob.lowest(own, 3), f"{means[AUTO]:.1f}, {place}", by_suite)
        lines.append(f"| {' | '.join(map(str, cells))} |")
    lines += [
        "",
        "The mean ranks of all. Those in bold do not differ from the lowest in their column by Friedman's test with",
        "Holm's correction at 0.05. An empty place was not run.",
        "",
        f"| algorithm | {' | '.join(map(str, ranks))} |",
        "|---" * (len(ranks) + 1) + "|",
    ]
    names = sorted(some, key=lambda name: [found[name]["rank"] for found in reversed(ranks.values()) if name in found])
    for name in names:
        cells = [marked(found[name]) if name in found else "" for found in ranks.values()]
        lines.append(f"| {link(name)} | {' | '.join(cells)} |")
    return [*lines, ""]


def marked(row: dict[str, Any]) -> str:
    """Return a mean rank, bold where it does not differ from the lowest."""
    return f"**{row['rank']:.1f}**" if row["p"] >= SIGNIFICANT else f"{row['rank']:.1f}"
