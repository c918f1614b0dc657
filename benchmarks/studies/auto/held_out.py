"""Ranks of "auto", every algorithm of skde and other libraries on suites that no choice of skde has seen.

These are CEC 2014, 2020 and 2022, through minionpy. Every run has its budget from the beginning. The finished parts are
lines of a file; the same command does not repeat them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from comparison import DIGITS, OWN, PEERS, SLOW, finish_parts, parse_arguments, round_figures

from skde.benchmark import provenance
from skde.benchmark.functions import Function
from skde.benchmark.optimizers import Budget, get_optimizer
from skde.benchmark.records import shorten, write_figures
from skde.benchmark.suites import find_suite
from skde.benchmark.trial_scores import SOLVED
from skde.typing import FloatArray
from skde.utils.hypothesis_tests import friedman_holm, friedman_ranks

SUITES = ("cec2014", "cec2020", "cec2022")
DIM, RUNS = 10, 5
SETTINGS = {"suites": SUITES, "dim": DIM, "runs": RUNS, "zero": SOLVED}
# Evaluations for each variable, and algorithms.
EXPERIMENTS = ((100, (*OWN, *PEERS, *SLOW)), (1000, (*OWN, *PEERS, *SLOW)), (10_000, (*OWN, *PEERS)))


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the record."""
    options, command = parse_arguments(__doc__, "held_out.py", arguments)
    write_figures(
        options.out, {**provenance(command), "settings": SETTINGS, "rows": list(rows(measure_parts(options.parts)))}
    )


def measure_parts(file: Path) -> list[dict[str, Any]]:
    """Return all parts; the file gets the ones that it has not."""
    return finish_parts(file, ("suite", "per_variable", "algorithm"), plan_parts(), measure)


def plan_parts() -> Iterator[tuple[str, int, str]]:
    """Yield suite, evaluations for each variable and algorithm of every part."""
    for per_variable, names in EXPERIMENTS:
        for name in names:
            for suite in SUITES:
                yield suite, per_variable, name


def measure(suite: str, per_variable: int, name: str) -> dict[str, Any]:
    """Return the errors of an algorithm's runs by function."""
    found = find_suite(suite)
    errors = errors_of((found.function(number, DIM) for number in found.functions), per_variable, name)
    return {"suite": suite, "per_variable": per_variable, "algorithm": name, "errors": errors}


def errors_of(functions: Iterable[Function], per_variable: int, name: str) -> list[list[float]]:
    """Return the errors of an algorithm's runs by function."""
    optimizer, budget, errors = get_optimizer(name), Budget.read(f"{per_variable}*dim"), []
    for function in functions:
        if optimizer.batches:
            best = optimizer.run(function, budget, RUNS, 0, "cpu", 1).best
        else:
            seeds = optimizer.seeds(0, RUNS)
            best = [float(optimizer.minimize(function, per_variable * function.dim, seed).best[-1]) for seed in seeds]
        errors.append((np.array(best) - function.f_opt).tolist())
    return errors


def rows(parts: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the figures of each algorithm by budget, the lowest mean rank over all functions first.

    p tests against the lowest mean rank, adjusted by Holm's method for all algorithms.
    """
    for per_variable, names in EXPERIMENTS:
        medians = {suite: median_errors(parts, suite, per_variable, names) for suite in SUITES}
        together = np.concatenate(list(medians.values()))
        ranks, by_suite = friedman_ranks(together), {suite: friedman_ranks(medians[suite]) for suite in SUITES}
        order = np.argsort(ranks, kind="stable")
        p = friedman_holm(together, int(order[0]))
        for place in order:
            yield {
                "per_variable": per_variable,
                "algorithm": names[place],
                "rank": round(float(ranks[place]), 2),
                "p": round(float(p[place]), 3),
                **{suite: round(float(by_suite[suite][place]), 2) for suite in SUITES},
                "medians": [shorten(one) for one in round_figures(together[:, place], 2).tolist()],
            }


def median_errors(parts: Sequence[dict[str, Any]], suite: str, per_variable: int, names: Sequence[str]) -> FloatArray:
    """Return the medians that are compared, by function and algorithm."""
    errors = {(part["suite"], part["per_variable"], part["algorithm"]): part["errors"] for part in parts}
    return compare_medians([errors[suite, per_variable, name] for name in names])


def compare_medians(errors: Sequence[Sequence[Sequence[float]]], zero: float = SOLVED) -> FloatArray:
    """Return the medians of algorithms that are compared, by function and algorithm; those below `zero` are equal."""
    medians: FloatArray = round_figures(np.array([np.median(one, axis=1) for one in errors]).T, DIGITS)
    return np.where(medians < zero, 0.0, medians)


if __name__ == "__main__":
    main()
