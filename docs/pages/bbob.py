"""The section on BBOB of the page on the choice of an algorithm, from the record bbob-comparison.json."""

from __future__ import annotations

from statistics import mean
from typing import Any

import numpy as np
from scipy.stats import binomtest

from skde.algorithms.auto import AUTO
from skde.benchmark.hypothesis_tests import ALPHA
from skde.benchmark.statistics import friedman_ranks

from .sources import described, link, read

# The rows of one dimension and budget, the lowest mean rank first; and all groups by budget and dimension.
Group = list[dict[str, Any]]
Groups = dict[int, dict[int, Group]]
# BBOB's groups of functions, and their places in the lists of medians.
KINDS = {
    "separable (1 to 5)": slice(0, 5),
    "low or moderate conditioning (6 to 9)": slice(5, 9),
    "high conditioning, unimodal (10 to 14)": slice(9, 14),
    "multimodal with a global structure (15 to 19)": slice(14, 19),
    "multimodal with a weak structure (20 to 24)": slice(19, 24),
}


# Ours and pycma's, both with BIPOP restarts.
CMAES, PYCMA = "cmaes", "cma:bipop"


def section() -> list[str]:
    """Return the section on BBOB."""
    record = read("bbob-comparison")
    groups: Groups = {
        int(share): {int(dim): group for dim, group in dims.items()} for share, dims in record["rows"].items()
    }
    settings = record["settings"]
    instances = ", ".join(map(str, settings["instances"]))
    lines = [
        "## BBOB",
        "",
        f"The {settings['functions']} functions of BBOB, one run on each of the instances {instances}. "
        f"{described(record, 'bbob-comparison')} The record has the median errors of each function.",
        "",
        "`auto` runs by `ask` and `tell` here, therefore without the polish and the quasi-Newton search of `fit`.",
        "Figures of [its two searches](#two-searches-of-auto) and [middle budgets](#middle-budgets-of-auto) are below.",
        "",
        "| evaluations for each variable | variables | lowest mean ranks | lowest of skde | `auto` |",
        "|---|---|---|---|---|",
    ]
    for share, dims in groups.items():
        for dim, group in dims.items():
            own = [of_name(group, name) for name in own_names(group)]
            rank = of_name(group, AUTO)["rank"]
            auto = f"{rank:.1f}, {place_text(rank, group)} of {len(group)}"
            lines.append(f"| {share} | {dim} | {first(group, 3)} | {first(own, 3)} | {auto} |")
    lines += [
        "",
        *kinds(groups),
        *against_pycma(groups),
        "### Ranks and areas",
        "",
        "The tables below have the mean rank and the area. Ranks in bold do not differ from the lowest in their column",
        f"by Friedman's test with Holm's correction at {ALPHA:g}.",
        "",
    ]
    for share, dims in groups.items():
        lines += table(dims, share)
    return lines


def place_text(rank: float, group: Group) -> str:
    """Return the place of a mean rank in a group; algorithms with the same mean rank share their places."""
    before = sum(row["rank"] < rank for row in group)
    last = sum(row["rank"] <= rank for row in group)
    return f"place {last}" if last == before + 1 else f"places {before + 1} to {last}"


def kinds(groups: Groups) -> list[str]:
    """Return the table of skde's algorithms with the lowest mean ranks by kind of function."""
    lines = [
        f"| functions | {' | '.join(f'{share} evaluations' for share in groups)} |",
        "|---" * (len(groups) + 1) + "|",
    ]
    names = next(own_names(group) for dims in groups.values() for group in dims.values())
    for kind, places in KINDS.items():
        cells = []
        for dims in groups.values():
            parts = [[of_name(group, name)["medians"][places] for name in names] for group in dims.values()]
            ranks = friedman_ranks(np.hstack(parts).T)
            cells.append(lowest(dict(zip(names, ranks.tolist(), strict=True)), 3))
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    about = "The mean ranks among skde's algorithms alone, over all numbers of variables:"
    return [about, "", *lines, ""]


def against_pycma(groups: Groups) -> list[str]:
    """Return the comparison of our CMA-ES with pycma's by the median errors in two digits."""
    dims = next(iter(groups.values()))
    lines = [
        "### `cmaes` and pycma",
        "",
        f"`{CMAES}` against `{PYCMA}`, both with BIPOP restarts: the numbers of functions on which our median error",
        "is lower, equal in two digits, and higher, and p of the two-sided sign test on those that are not equal.",
        "",
        f"| evaluations for each variable | {' | '.join(f'D={dim}' for dim in dims)} |",
        "|---" * (len(dims) + 1) + "|",
    ]
    for share, by_dim in groups.items():
        lines.append(f"| {share} | {' | '.join(map(sign_test, by_dim.values()))} |")
    return [*lines, ""]


def sign_test(group: Group) -> str:
    """Return on how many functions our CMA-ES is better, equal and worse, and p of the sign test."""
    ours, theirs = (np.array(of_name(group, name)["medians"]) for name in (CMAES, PYCMA))
    better, worse = int((ours < theirs).sum()), int((ours > theirs).sum())
    p = binomtest(better, better + worse).pvalue if better + worse else 1.0
    return f"{better} / {len(ours) - better - worse} / {worse}, p={p:.2g}"


def own_names(group: Group) -> list[str]:
    """Return skde's algorithms in a group."""
    return [row["algorithm"] for row in group if ":" not in row["algorithm"]]


def of_name(group: Group, name: str) -> dict[str, Any]:
    """Return the row of an algorithm."""
    return next(row for row in group if row["algorithm"] == name)


def first(group: Group, count: int) -> str:
    """Return the algorithms with the lowest mean ranks, and these."""
    return lowest({row["algorithm"]: row["rank"] for row in group}, count)


def lowest(ranks: dict[str, float], count: int) -> str:
    """Return the names with the lowest ranks, and these; those that share the last rank are counted."""
    names = sorted(ranks, key=lambda name: ranks[name])
    last = ranks[names[count - 1]]
    more = sum(ranks[name] == last for name in names[count:])
    text = ", ".join(f"`{name}` {ranks[name]:.1f}" for name in names[:count])
    return f"{text} and {more} equal" if more else text


def table(dims: dict[int, Group], share: int) -> list[str]:
    """Return the mean ranks and areas of one budget by dimension, the lowest mean over the dimensions first."""
    lines = [f"#### {share} evaluations for each variable", ""]
    lines += [f"| algorithm | {' | '.join(f'D={dim}' for dim in dims)} |", "|---" * (len(dims) + 1) + "|"]
    found = {
        row["algorithm"]: [of_name(group, row["algorithm"]) for group in dims.values()]
        for row in next(iter(dims.values()))
    }
    for name, rows in sorted(found.items(), key=lambda item: mean(row["rank"] for row in item[1])):
        lines.append(f"| {link(name)} | {' | '.join(map(cell, rows))} |")
    return [*lines, ""]


def cell(row: dict[str, Any]) -> str:
    """Return mean rank and area; the rank is bold where it does not differ from the lowest beyond chance."""
    rank = f"{row['rank']:.1f}"
    return f"{f'**{rank}**' if row['p'] >= ALPHA else rank}, {row['area']:.2f}"
