"""The sections on the two searches of algorithm="auto", from the records bbob-auto, bbob-ecdf-auto and cec2017-auto."""

from __future__ import annotations

from typing import Any

import numpy as np

from skde.algorithms.auto import AUTO, first_share
from skde.benchmark.records import read_record
from skde.benchmark.statistics import compare, merge

from .sources import RECORDS, described, link, provenance_text, read

NAME, LAST = "bbob-auto", "bbob-ecdf-auto"
CEC2017 = ("cec2017-auto.json", "peers-cec2017.json")
OTHERS = {"minionpy:JADE:population_size=100,minimum_population_size=100": "minionpy:JADE"}


def section() -> list[str]:
    """Return the section with its parts."""
    return [*bbob(read(NAME)), *last_target(read(LAST)), *cec2017()]


def bbob(record: dict[str, Any]) -> list[str]:
    """Return areas, solved runs, ranks, and where `auto` is furthest behind each other algorithm, by dimension."""
    rows = {(row["algorithm"], row["dim"]): row for row in record["rows"]}
    names, dims = (list(dict.fromkeys(key[place] for key in rows)) for place in (0, 1))
    settings = record["settings"]
    runs = settings["functions"] * len(settings["instances"])
    head = [f"D={dim}" for dim in dims]
    lines = [
        "## Two searches of `auto`",
        "",
        f"BBOB with {settings['evals']} evaluations for each variable, functions and instances as above. "
        f"{described(record, NAME)} The record has the shares of reached targets over the evaluations.",
        "",
        f"`auto` gives {first_share(dims[0]):.0%} of the evaluations to CMA-ES, and {first_share(dims[-1]):.0%} with",
        f"{dims[-1]} variables. A cell has the area, the mean rank among these {len(names)} and, of {runs} runs, those",
        "that reach the last target. The last columns have the largest difference of the shares of reached targets, at",
        "any number of evaluations, by which `auto` is below the algorithm.",
        "",
        f"| algorithm | {' | '.join(head)} | {' | '.join(f'{one}: `auto` below' for one in head)} |",
        "|---" * (2 * len(dims) + 1) + "|",
    ]
    for name in names:
        own = [rows[name, dim] for dim in dims]
        cells = [f"{row['area']:.3f}, {row['rank']:.1f}, {row['solved']}" for row in own]
        cells += ["" if name == AUTO else f"{behind(rows[AUTO, dim], rows[name, dim]):.3f}" for dim in dims]
        lines.append(f"| {link(name)} | {' | '.join(cells)} |")
    return [*lines, ""]


def last_target(record: dict[str, Any]) -> list[str]:
    """Return the share of runs that reached the last target, and that of an algorithm of BBOB-2009."""
    rows = {(row["algorithm"], row["dim"]): row for row in record["rows"] if row["targets"] == "last"}
    dims, archive = list(dict.fromkeys(dim for _, dim in rows)), record["archive"]
    pairs = [(rows[AUTO, dim], rows[archive, dim]) for dim in dims]
    lines = [
        "### Last target",
        "",
        f"The shares of runs that reached the last target, 1e-8: {record['settings']['runs']} instances of 24 "
        f"functions. Those of {archive} are from the data archive of BBOB-2009. {described(record, LAST)}",
        "",
        f"| | {' | '.join(f'D={dim}' for dim in dims)} |",
        "|---" * (len(dims) + 1) + "|",
    ]
    for name, place in ((f"`{AUTO}`", 0), (archive, 1)):
        ends = [f"{pair[place]['share'][-1]:.3f}" for pair in pairs]
        lines.append(f"| {name}, at the end | {' | '.join(ends)} |")
    below = [f"{behind(*pair):.3f}" for pair in pairs]
    lines.append(f"| `{AUTO}` below at any number of evaluations | {' | '.join(below)} |")
    return [*lines, ""]


def behind(auto: dict[str, Any], other: dict[str, Any]) -> float:
    """Return the largest difference by which a curve is above that of `auto`."""
    return float(max(np.max(np.array(other["share"]) - auto["share"]), 0.0))


def cec2017() -> list[str]:
    """Return the comparison with the algorithms of the record of peers on CEC 2017."""
    records = {name: read_record(RECORDS / name) for name in CEC2017}
    found = compare(merge(records), AUTO)
    (part,) = found["dims"]
    own = next(iter(records.values()))
    lines = [
        "### CEC 2017",
        "",
        f"The {part['ranked_functions']} functions, D={part['dim']}, {own['settings']['runs']} runs of "
        f"{found['budget'].replace('dim', 'D')} evaluations. {provenance_text(own, CEC2017[0])} The others are those "
        f"of [{CEC2017[1]}](../benchmarks/records/{CEC2017[1]}). The last columns have the numbers of functions on "
        "which `auto` is better, equal and worse, by the Mann-Whitney test on each function at 0.05.",
        "",
        "| algorithm | mean rank | better | equal | worse |",
        "|---|---|---|---|---|",
    ]
    for name, rank in sorted(part["ranks"].items(), key=lambda item: float(item[1])):
        verdicts = part["against"].get(name, {})
        cells = [str(verdicts[one]) for one in ("worse", "equal", "better")] if verdicts else [""] * 3
        lines.append(f"| {link(OTHERS.get(name, name))} | {rank:.1f} | {' | '.join(cells)} |")
    return [*lines, ""]
