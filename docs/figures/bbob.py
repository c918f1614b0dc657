"""All algorithms on BBOB."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import mean
from typing import Any

import numpy as np
from scipy.stats import binomtest

from skde.algorithms.auto import AUTO
from skde.utils.hypothesis_tests import ALPHA, friedman_ranks

from .ranks import lowest, own, place
from .records import link, read, source, table

NAME = "bbob-comparison"
# BBOB's groups of functions, and their places in the lists of medians.
KINDS = {
    "separable (1 to 5)": slice(0, 5),
    "low or moderate conditioning (6 to 9)": slice(5, 9),
    "high conditioning, unimodal (10 to 14)": slice(9, 14),
    "multimodal with a global structure (15 to 19)": slice(14, 19),
    "multimodal with a weak structure (20 to 24)": slice(19, 24),
}
CMAES, PYCMA = "cmaes", "cma:bipop"  # both with BIPOP restarts

# The rows of one dimension and budget by algorithm, the lowest mean rank first.
Group = dict[str, dict[str, Any]]


def groups() -> Iterator[tuple[str, dict[str, Group]]]:
    """Yield each budget with its groups by dimension."""
    for share, dims in read(NAME)["rows"].items():
        yield share, {dim: {row["algorithm"]: row for row in rows} for dim, rows in dims.items()}


def ranks_of(group: Group) -> dict[str, float]:
    """Return the mean ranks of a group."""
    return {name: row["rank"] for name, row in group.items()}


def lowest_ranks() -> list[str]:
    """Return the lowest mean ranks and the place of `auto` by budget and dimension."""
    found = ((share, dim, ranks_of(group)) for share, dims in groups() for dim, group in dims.items())
    return [
        *table(
            ["evaluations for each variable", "variables", "lowest mean ranks", "lowest of skde", "`auto`"],
            ((share, dim, lowest(r, 3), lowest(own(r), 3), place(AUTO, r)) for share, dim, r in found),
        ),
        *source(NAME),
    ]


def kinds() -> list[str]:
    """Return skde's algorithms with the lowest mean ranks by kind of function."""
    cells: dict[str, list[str]] = {kind: [] for kind in KINDS}
    names = list(own(ranks_of(next(iter(next(groups())[1].values())))))
    for _, dims in groups():
        for kind, places in KINDS.items():
            parts = [[group[name]["medians"][places] for name in names] for group in dims.values()]
            ranks = friedman_ranks(np.hstack(parts).T).tolist()
            cells[kind].append(lowest(dict(zip(names, ranks, strict=True)), 3))
    heads = ["functions", *(f"{share} evaluations" for share, _ in groups())]
    return table(heads, ([kind, *texts] for kind, texts in cells.items()))


def pycma() -> list[str]:
    """Return on how many functions our CMA-ES is better than pycma's, equal and worse, and p of the sign test."""
    heads = ["evaluations for each variable", *(f"D={dim}" for dim in next(groups())[1])]
    return table(heads, ([share, *map(sign_test, dims.values())] for share, dims in groups()))


def sign_test(group: Group) -> str:
    """Return a cell of this table: the median errors are compared in two digits."""
    ours, theirs = (np.array(group[name]["medians"]) for name in (CMAES, PYCMA))
    better, worse = int((ours < theirs).sum()), int((ours > theirs).sum())
    p = binomtest(better, better + worse).pvalue if better + worse else 1.0
    return f"{better} / {len(ours) - better - worse} / {worse}, p={p:.2g}"


def ranks(share: str) -> list[str]:
    """Return the mean ranks and areas of one budget, the lowest mean over the dimensions first."""
    dims = dict(groups())[share]
    names = sorted(next(iter(dims.values())), key=lambda name: mean(group[name]["rank"] for group in dims.values()))
    rows = ([link(name), *(cell(group[name]) for group in dims.values())] for name in names)
    return table(["algorithm", *(f"D={dim}" for dim in dims)], rows)


def cell(row: dict[str, Any]) -> str:
    """Return mean rank and area; the rank is bold where it does not differ from the lowest beyond chance."""
    return f"{mark(row)}, {row['area']:.2f}"


def mark(row: dict[str, Any]) -> str:
    """Return a mean rank, bold where it does not differ from the lowest beyond chance."""
    return f"**{row['rank']:.1f}**" if row["p"] >= ALPHA else f"{row['rank']:.1f}"
