"""Shares of reached targets over evaluations of "auto" and others on BBOB, with 10000 evaluations a variable.

Functions, instances and targets are comparison.py's. The finished parts are lines of a file; the same command
does not repeat them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
from comparison import DIGITS, FUNCTIONS, INSTANCES, finish_parts, histories, parse_arguments, round_figures

from skde.algorithms.auto import AUTO
from skde.benchmark import provenance
from skde.benchmark.records import write_figures
from skde.benchmark.trial_scores import SOLVED, TARGETS, measure_solved_area
from skde.utils.hypothesis_tests import friedman_ranks

ALGORITHMS = (AUTO, "cmaes", "arrde", "rdex", "lshade", "minionpy:BIPOP_aCMAES", "minionpy:RDEX")
DIMS = (2, 5, 10, 20, 40)
EVALS = 10_000  # for each variable
PER_DECADE = 8
GRID = np.geomspace(1, EVALS, 4 * PER_DECADE + 1)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the record."""
    options, command = parse_arguments(__doc__, "curves.py", arguments)
    parts = finish_parts(options.parts, ("dim", "algorithm"), product(DIMS, ALGORITHMS), measure)
    settings = {"suite": "ioh:bbob", "functions": len(FUNCTIONS), "instances": INSTANCES, "evals": EVALS}
    write_figures(
        options.out,
        {
            **provenance(command),
            "settings": {**settings, "zero": SOLVED, "targets": len(TARGETS)},
            "evaluations_per_variable": round_figures(GRID, 3).tolist(),
            "rows": list(rows(parts)),
        },
    )


def measure(dim: int, name: str) -> dict[str, Any]:
    """Return the errors of an algorithm's runs, the mean of their areas, and the targets that they had reached."""
    errors, areas, shares = [], [], []
    for n_evals, found in histories(dim, EVALS, name):
        errors.append(float(found[-1]))
        areas.append(measure_solved_area(n_evals, found, dim, EVALS))
        before = np.searchsorted(n_evals, GRID * dim, side="right")
        least = np.concatenate([[np.inf], found])[before]
        shares.append((least[:, None] <= np.array(TARGETS)).mean(axis=1))
    return {
        "dim": dim,
        "algorithm": name,
        "area": float(np.mean(areas)),
        "errors": errors,
        "share": np.mean(shares, axis=0).tolist(),
    }


def rows(parts: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the figures of each algorithm by dimension: mean rank of the medians, area, solved runs, shares."""
    for dim in DIMS:
        group = [part for part in parts if part["dim"] == dim]
        errors = np.array([part["errors"] for part in group]).reshape(len(group), len(FUNCTIONS), -1)
        errors[errors < SOLVED] = 0.0
        ranks = friedman_ranks(round_figures(np.median(errors, axis=2).T, DIGITS))
        for part, rank, own in zip(group, ranks, errors, strict=True):
            yield {
                "dim": dim,
                "algorithm": part["algorithm"],
                "rank": round(float(rank), 2),
                "area": round(part["area"], 3),
                "solved": int((own == 0).sum()),
                "share": [round(share, 3) for share in part["share"]],
            }


if __name__ == "__main__":
    main()
