"""All algorithms on suites that no choice of skde has seen, and later readings of `auto`."""

from __future__ import annotations

from typing import Any

from scipy.stats import binomtest

from skde.algorithms.auto import AUTO

from .bbob import mark, ranks_of
from .ranks import lowest, own, place
from .records import link, read, source, table

NAME, SECOND = "held-out", "held-out-auto"
GROUPS = {
    "again": "the first functions",
    "at most 15": "CEC 2019 in 10 and CEC 2020 in 15 variables",
    "more": "CEC 2020 and 2022 in 20 and CEC 2014 in 30 variables",
}


def by_budget() -> dict[int, dict[str, dict[str, Any]]]:
    """Return the rows of the first reading by budget and algorithm."""
    found: dict[int, dict[str, dict[str, Any]]] = {}
    for row in read(NAME)["rows"]:
        found.setdefault(row["per_variable"], {})[row["algorithm"]] = row
    return found


def lowest_ranks() -> list[str]:
    """Return the lowest mean ranks and the place of `auto` by budget."""
    cells = []
    for share, group in by_budget().items():
        ranks = ranks_of(group)
        by_suite = ", ".join(f"{suite} {group[AUTO][suite]:.1f}" for suite in read(NAME)["settings"]["suites"])
        cells.append((share, lowest(ranks, 3), lowest(own(ranks), 3), place(AUTO, ranks), by_suite))
    heads = ["evaluations for each variable", "lowest mean ranks", "lowest of skde", "`auto`", "`auto` by suite"]
    return [*table(heads, cells), *source(NAME)]


def all_ranks() -> list[str]:
    """Return the mean ranks of all; an empty place was not run."""
    groups = list(by_budget().values())
    names = sorted(groups[0], key=lambda name: [group[name]["rank"] for group in groups[::-1] if name in group])
    rows = ([link(name), *(mark(group[name]) if name in group else "" for group in groups)] for name in names)
    return table(["algorithm", *by_budget()], rows)


def second() -> list[str]:
    """Return the second reading of `auto` with its first one, by budget."""
    cells = []
    for row in read(SECOND)["rows"]:
        lower, higher = row["lower"], row["higher"]
        p = binomtest(lower, lower + higher).pvalue if lower + higher else 1.0
        change = f"{lower} / {len(row['medians']) - lower - higher} / {higher}, p={p:.2g}"
        by_suite = ", ".join(f"{suite} {row[suite]:.1f}" for suite in read(SECOND)["settings"]["suites"])
        before = f"{by_budget()[row['per_variable']][AUTO]['rank']:.1f}"
        ranks = {**row["ranks"], AUTO: row["rank"]}
        cells.append((row["per_variable"], lowest(ranks, 3), before, place(AUTO, ranks), by_suite, change))
    heads = ["evaluations for each variable", "lowest mean ranks", "`auto` at first", "`auto` now", "by suite"]
    return [*table([*heads, "change"], cells), *source(SECOND)]


def reading(name: str) -> list[str]:
    """Return the ranks of a later reading by group of functions."""
    cells = []
    for row in read(name)["rows"]:
        by_suite = ", ".join(f"{suite} {rank:.1f}" for suite, rank in row["auto"].items())
        functions = f"{row['functions']}: {GROUPS[row['group']]}"
        cells.append((functions, lowest(row["ranks"], 4), place(AUTO, row["ranks"]), by_suite, f"{row['p']:.2g}"))
    heads = ["functions", "lowest mean ranks", "`auto`", "`auto` by suite", "p against the lowest"]
    return [*table(heads, cells), *source(name)]
