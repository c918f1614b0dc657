"""Algorithms on suites of CEC's competitions and on skde's."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import mannwhitneyu

from skde.algorithms import ALGORITHMS
from skde.algorithms.auto import AUTO
from skde.benchmark.statistics import compare, errors, merge_records, natural_key
from skde.typing import FloatArray
from skde.utils.hypothesis_tests import friedman_ranks, vargha_delaney

from .ranks import lowest, own, place
from .records import link, read, read_cells, source, table

BASELINE, COMPARISON = "jde", "cec-comparison"
TITLES = {"cec2017": "CEC 2017", "cec2011": "CEC 2011"}
# Records of `auto` and of other algorithms on CEC 2017, and short names of these.
OWN, PEERS = "cec2017-auto", "peers-cec2017"
OTHERS = {"minionpy:JADE:population_size=100,minimum_population_size=100": "minionpy:JADE"}


def cec2011() -> list[str]:
    """Return the comparison of `auto` with jde on every problem of CEC 2011."""
    samples: dict[tuple[str, int], dict[str, FloatArray]] = {}
    for cell in read_cells("cec2011")["cells"]:
        # The problems have no known minima: none of their values counts as zero.
        samples.setdefault((cell["function"], cell["dim"]), {})[cell["algorithm"]] = errors(cell, -np.inf)
    cells = []
    for name, dim in sorted(samples, key=lambda key: natural_key(key[0])):
        pair = [samples[name, dim][algorithm] for algorithm in (AUTO, BASELINE)]
        p = 1.0 if len(np.unique(np.concatenate(pair))) == 1 else mannwhitneyu(*pair).pvalue
        medians = (f"{np.median(sample):.6g}" for sample in pair)
        cells.append((name, dim, *medians, f"{p:.2g}", f"{vargha_delaney(*pair):.2f}"))
    heads = ["problem", "variables", f"`{AUTO}`, median", f"`{BASELINE}`, median", "p", "share"]
    return [*table(heads, cells), *source("cec2011")]


def lowest_ranks() -> list[str]:
    """Return the lowest mean ranks and the place of `auto` by suite and budget."""
    heads = ["suite", "evaluations for each variable", "lowest mean ranks", "lowest of skde", "`auto`", "p"]
    cells = []
    for row in read(COMPARISON)["rows"]:
        found = row["ranks"]
        places = (lowest(found, 3), lowest(own(found), 3), place(AUTO, found))
        cells.append((TITLES[row["suite"]], row["per_variable"], *places, row["p"]))
    return [*table(heads, cells), *source(COMPARISON)]


def all_ranks() -> list[str]:
    """Return the mean ranks of all by suite and budget; an empty place was not run."""
    rows = read(COMPARISON)["rows"]
    heads = ["algorithm", *(f"{TITLES[row['suite']]}, {row['per_variable']}" for row in rows)]
    ranks = [row["ranks"] for row in rows]
    return table(heads, ([link(name), *(f"{r[name]:.1f}" if name in r else "" for r in ranks)] for name in ranks[0]))


def cec2017() -> list[str]:
    """Return the comparison of `auto` with the algorithms of the record of peers on CEC 2017."""
    found = compare(merge_records({f"{name}.json": read_cells(name) for name in (OWN, PEERS)}), AUTO)
    (part,) = found["dims"]
    cells = []
    for name, rank in sorted(part["ranks"].items(), key=lambda item: float(item[1])):
        verdicts = part["against"].get(name, {})  # of the other algorithm
        counts = (verdicts.get(one, "") for one in ("worse", "equal", "better"))
        cells.append((link(OTHERS.get(name, name)), f"{rank:.1f}", *counts))
    return [*table(["algorithm", "mean rank", "better", "equal", "worse"], cells), *source(OWN)]


def ranks(name: str) -> list[str]:
    """Return mean ranks, solved functions and tests of a record, ordered by the ranks in the last dimension."""
    found = compare(read_cells(name), BASELINE)
    parts = [with_rounded_medians(part, found["algorithms"]) for part in found["dims"]]
    heads = [f"D={part['dim']}: {what}" for part in parts for what in ("mean rank", "solved", f"to {BASELINE}")]
    cells = []
    for algorithm in sorted(found["algorithms"], key=lambda one: float(parts[-1]["ranks"][one])):
        row = [link(algorithm)]
        for part in parts:
            solved = sum(medians.get(algorithm) == 0 for medians in part["medians"].values())
            verdicts = " / ".join(map(str, part["against"].get(algorithm, {}).values()))
            row += [f"{part['ranks'][algorithm]:.2f}", f"{solved} of {len(part['medians'])}", verdicts]
        shrinks = (kind := algorithm.partition(":")[0]) in ALGORITHMS and ALGORITHMS[kind].shrinks
        cells.append([*row, "budget" if shrinks else ""])
    return [*table(["algorithm", *heads, "needs"], cells), *source(name)]


def with_rounded_medians(part: dict[str, Any], algorithms: list[str]) -> dict[str, Any]:
    """Return a dimension with ranks of six digits: smaller differences are rounding errors at a minimum of all."""
    complete = [row for row in part["medians"].values() if len(row) == len(algorithms)]
    if not complete:
        raise ValueError(f"no function in {part['dim']} variables was run with all algorithms")
    medians = np.array([[float(f"{row[name]:.5e}") for name in algorithms] for row in complete])
    return part | {"ranks": dict(zip(algorithms, friedman_ranks(medians).tolist(), strict=True))}
