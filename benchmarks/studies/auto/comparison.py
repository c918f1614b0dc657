"""Comparison of "auto", every algorithm of skde and other libraries on BBOB: ranks and areas by dimension and budget.

Every run has its budget from the beginning, because some algorithms plan with it. The finished parts are lines of a
file; the same command does not repeat them.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import ioh
import numpy as np

from skde.algorithms import ALGORITHMS
from skde.algorithms.auto import AUTO
from skde.benchmark import provenance
from skde.benchmark.functions import Function
from skde.benchmark.optimizers import Optimizer, SkdeOptimizer, get_optimizer
from skde.benchmark.peer_optimizers import BudgetSpent, EvaluationCounter
from skde.benchmark.platforms.ioh import make_logged_function
from skde.benchmark.records import shorten, write_figures
from skde.benchmark.trial_scores import SOLVED, measure_solved_area
from skde.result import History
from skde.typing import FloatArray, IntArray
from skde.utils.hypothesis_tests import friedman_holm, friedman_ranks

OWN = (AUTO, *ALGORITHMS)
PEERS = (
    *(f"minionpy:{name}" for name in ("RDEX", "ARRDE", "jSO", "LSHADE", "LSRTDE", "BIPOP_aCMAES")),
    *(f"fcmaes:{name}" for name in ("bite", "de", "crfmnes")),
    *("pygmo:sade", "pygmo:de1220", "scipy:differential_evolution"),
)
# They take tens to hundreds of microseconds an evaluation, and most of the others fewer than 8.
SLOW = ("cma:bipop", "scipy:dual_annealing")
FUNCTIONS = range(1, 25)
# Not the first, on which the candidates of "auto" were compared.
INSTANCES = (2, 3, 4)
DIMS = (2, 5, 10, 20, 40)
BUDGETS = (100, 1000, 10_000)  # for each variable
# Medians that agree in these digits share their ranks: smaller differences are rounding errors at a local minimum.
DIGITS = 6


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the record."""
    options, command = parse_arguments(__doc__, "comparison.py", arguments)
    keys = product(DIMS, BUDGETS, (*OWN, *PEERS, *SLOW))
    parts = finish_parts(options.parts, ("dim", "per_variable", "algorithm"), keys, measure)
    write_figures(
        options.out,
        {
            **provenance(command),
            "settings": {"suite": "ioh:bbob", "functions": len(FUNCTIONS), "instances": INSTANCES, "zero": SOLVED},
            "rows": rows(parts),
        },
    )


def parse_arguments(text: str, script: str, arguments: Sequence[str] | None) -> tuple[argparse.Namespace, str]:
    """Return the options of a script in this folder, `parts` and `out`, and its command; `text` is its docstring."""
    parser = argparse.ArgumentParser(description=text.splitlines()[0])
    parser.add_argument("parts", type=Path, help="the file of finished parts, JSON lines")
    parser.add_argument("--out", type=Path, required=True, help="the record, JSON")
    options = parser.parse_args(arguments)
    command = ["python", f"benchmarks/studies/auto/{script}", options.parts.name, "--out", str(options.out)]
    return options, shlex.join(command)


def finish_parts(
    file: Path, names: Sequence[str], keys: Iterable[tuple[Any, ...]], measure: Callable[..., dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return all parts; the file gets the ones that it has not; `names` are the entries that make a key."""
    parts = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    done = {tuple(part[name] for name in names) for part in parts}
    with file.open("a") as stream:
        for key in keys:
            if key not in done:
                parts.append(measure(*key))
                stream.write(json.dumps(parts[-1]) + "\n")
                stream.flush()
                print(*key, file=sys.stderr, flush=True)
    return parts


def measure(dim: int, evals_per_dim: int, name: str) -> dict[str, Any]:
    """Return the errors of an algorithm's runs by function, and the mean of the runs' areas."""
    found = list(histories(dim, evals_per_dim, name))
    areas = [measure_solved_area(n_evals, errors, dim, evals_per_dim) for n_evals, errors in found]
    ends = np.reshape([errors[-1] for _, errors in found], (len(FUNCTIONS), len(INSTANCES)))
    area = float(np.mean(areas))
    return {"dim": dim, "per_variable": evals_per_dim, "algorithm": name, "area": area, "errors": ends.tolist()}


def histories(dim: int, evals_per_dim: int, name: str) -> Iterator[tuple[IntArray, FloatArray]]:
    """Yield evaluations and least errors of an algorithm's runs, by function and instance."""
    optimizer = get_optimizer(name)
    for number, instance in product(FUNCTIONS, INSTANCES):
        problem = ioh.get_problem(number, instance, dim, ioh.ProblemClass.BBOB)
        function = make_logged_function(f"f{number}", problem)
        history = run(optimizer, function, evals_per_dim * dim, instance)
        yield history.n_evals, history.best - function.f_opt


def run(optimizer: Optimizer, function: Function, evals: int, seed: int) -> History:
    """Return the history of a run by evaluations: a Minimizer's has an entry for each generation only."""
    if not isinstance(optimizer, SkdeOptimizer):
        return optimizer.minimize(function, evals, seed)
    evaluations = EvaluationCounter(function, evals)
    with suppress(BudgetSpent):
        optimizer.minimize(replace(function, objective=evaluations.of_arrays), evals, seed, n_jobs=1)
    return evaluations.history()


def rows(parts: Iterable[dict[str, Any]]) -> dict[int, dict[int, list[dict[str, Any]]]]:
    """Return the figures of each algorithm by evaluations for each variable and dimension.

    The lowest mean rank is first. p tests against it, adjusted by Holm's method for all algorithms of the
    group.
    """
    groups: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for part in parts:
        groups.setdefault((part["per_variable"], part["dim"]), []).append(part)
    found: dict[int, dict[int, list[dict[str, Any]]]] = {}
    for (evals_per_dim, dim), group in sorted(groups.items()):
        found.setdefault(evals_per_dim, {})[dim] = rank_runs(group)
    return found


def rank_runs(group: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the figures of the algorithms with the same dimension and budget."""
    medians = np.array([np.median(part["errors"], axis=1) for part in group]).T
    medians[medians < SOLVED] = 0.0
    medians = round_figures(medians, DIGITS)
    ranks = friedman_ranks(medians)
    order = np.argsort(ranks, kind="stable")
    p = friedman_holm(medians, int(order[0]))
    return [
        {
            "algorithm": group[place]["algorithm"],
            "rank": round(float(ranks[place]), 2),
            "p": round(float(p[place]), 3),
            "area": round(group[place]["area"], 3),
            "medians": [shorten(one) for one in round_figures(medians[:, place], 2).tolist()],
        }
        for place in order
    ]


def round_figures(values: Any, digits: int) -> Any:
    """Return values in some significant digits."""
    return np.vectorize(lambda value: float(f"{value:.{digits}g}"))(values)


if __name__ == "__main__":
    main()
