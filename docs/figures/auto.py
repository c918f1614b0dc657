"""The choices of algorithm="auto", its searches and its polish."""

from __future__ import annotations

from typing import Any

import numpy as np

from skde.algorithms.auto import AUTO

from .ranks import lowest
from .records import link, read, source, table

SUITES = {"ioh:bbob": "BBOB", "cec2017": "CEC 2017", "janssen2024": "`janssen2024`"}
CHOSEN_ON = {
    "janssen2024": "`janssen2024`, functions of skde",
    "cec2017": "CEC 2017",
    "generations": "generations, functions of skde",
    "no budget": "algorithms that need no budget, functions of skde",
    "integers": "integers within the bounds of functions of skde",
    "constraints": "constraints, `fabris2012`",
}
OTHERS = {"rdex": "`rdex` with its own parameters", "cmaes": "`cmaes`"}


def areas() -> list[str]:
    """Return areas, ranks, solved runs, and where `auto` is furthest behind each other algorithm, by dimension."""
    rows = {(row["algorithm"], row["dim"]): row for row in read("bbob-auto")["rows"]}
    names, dims = (list(dict.fromkeys(key[place] for key in rows)) for place in (0, 1))
    cells = []
    for name in names:
        own = (rows[name, dim] for dim in dims)
        found = (f"{row['area']:.3f}, {row['rank']:.1f}, {row['solved']}" for row in own)
        below = ("" if name == AUTO else f"{behind(rows[AUTO, dim], rows[name, dim]):.3f}" for dim in dims)
        cells.append([link(name), *found, *below])
    heads = ["algorithm", *(f"D={dim}" for dim in dims), *(f"D={dim}: `auto` below" for dim in dims)]
    return [*table(heads, cells), *source("bbob-auto")]


def last_target() -> list[str]:
    """Return the share of runs that reached the last target, and of an algorithm of BBOB-2009."""
    record = read("bbob-ecdf-auto")
    rows = {(row["algorithm"], row["dim"]): row for row in record["rows"] if row["targets"] == "last"}
    dims, archive = list(dict.fromkeys(dim for _, dim in rows)), record["archive"]
    cells = [
        [f"{link(name)}, at the end", *(f"{rows[name, dim]['share'][-1]:.3f}" for dim in dims)]
        for name in (AUTO, archive)
    ]
    below = (f"{behind(rows[AUTO, dim], rows[archive, dim]):.3f}" for dim in dims)
    cells.append([f"`{AUTO}` below at any number of evaluations", *below])
    return [*table(["", *(f"D={dim}" for dim in dims)], cells), *source("bbob-ecdf-auto")]


def behind(auto: dict[str, Any], other: dict[str, Any]) -> float:
    """Return the largest difference by which a curve is above the one of `auto`."""
    return float(max(np.max(np.array(other["share"]) - auto["share"]), 0.0))


def polish() -> list[str]:
    """Return the numbers of solved runs with and without the polish, by dimension and budget."""
    keys = ("dim", "per_variable", "runs", "without", "with", "lost", "won", "p", "polish_evals")
    heads = ["variables", "evaluations for each", "runs", "without", "with", "only without", "only with", "p"]
    return [*table([*heads, "evaluations"], rows_of("auto-polish", keys)), *source("auto-polish")]


def small_budgets() -> list[str]:
    """Return on how many functions the quasi-Newton end is better and worse, by suite, dimension and budget."""
    keys = ("suite", "dim", "per_variable", "functions", "lower", "higher", "p", "better", "worse", "polish_evals")
    heads = ["suite", "variables", "evaluations for each", "functions", "lower", "higher", "p", "better", "worse"]
    return [*table([*heads, "evaluations"], rows_of("auto-small-budgets", keys)), *source("auto-small-budgets")]


def rows_of(name: str, keys: tuple[str, ...]) -> list[list[Any]]:
    """Return some entries of all rows of a record."""
    texts = ({**row, "p": f"{row['p']:.2g}", "suite": SUITES.get(row.get("suite"))} for row in read(name)["rows"])
    return [[row[key] for key in keys] for row in texts]


def middle_budgets() -> list[str]:
    """Return on how many functions `auto` is better and worse than other choices, by suite, dimension and budget."""
    found: dict[tuple[str, int, int], dict[str, str]] = {}
    for row in read("auto-middle-budgets")["rows"]:
        key = SUITES[row["suite"]], row["dim"], row["per_variable"]
        found.setdefault(key, {})[row["other"]] = f"{row['better']}, {row['worse']}"
    heads = ["suite", "variables", "evaluations for each", *OTHERS.values()]
    cells = ([*key, *(others[name] for name in OTHERS)] for key, others in found.items())
    return [*table(heads, cells), *source("auto-middle-budgets")]


def suites() -> list[str]:
    """Return the lowest mean ranks among the candidates of `auto` on suites that are not BBOB."""
    cells = []
    for row in read("auto")["rows"]:
        if row["suite"] in CHOSEN_ON:
            best = lowest({name: rank for name, (rank, _) in row["ranks"].items()}, 3)
            budget = f"{row['per_variable']} generations" if row["suite"] == "generations" else row["per_variable"]
            cells.append((CHOSEN_ON[row["suite"]], row["dim"] or "3 to 13", budget, best))
    heads = ["suite", "variables", "evaluations for each variable", "lowest mean ranks"]
    return [*table(heads, cells), *source("auto")]
