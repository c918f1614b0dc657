"""Errors of "auto" with middle budgets next to other choices, on BBOB, CEC 2017 and janssen2024.

The finished parts are lines of a file; the same command does not repeat them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from comparison import finish_parts, parse_arguments
from small_budgets import BBOB, CEC, functions, take_medians

from skde import Minimizer
from skde.algorithms.auto import AUTO
from skde.benchmark import provenance
from skde.benchmark.records import write_figures
from skde.benchmark.statistics import rank_sum
from skde.benchmark.trial_scores import SOLVED

JANSSEN = "janssen2024"
DIMS = (
    *((BBOB, dim) for dim in (2, 3, 5, 10, 15, 20)),
    *((CEC, dim) for dim in (10, 30)),
    *((JANSSEN, dim) for dim in (10, 15, 20)),
)
EVALS = (400, 1000, 3000)  # for each variable
MANY_DIMS = ((BBOB, 40), (CEC, 50), (JANSSEN, 50))
CASES = (*product(DIMS, EVALS), *product(MANY_DIMS, EVALS[:2]))
# Neither these instances nor these seeds are those on which the choice was made.
INSTANCES = (61, 62, 63, 64, 65)
RUNS = 15  # for each function: the instances share them
# rdex with its own parameters and the same quasi-Newton search, and CMA-ES.
OTHERS = ("rdex", "cmaes")
SEEDS = {AUTO: 4001, **{name: 4002 + k for k, name in enumerate(OTHERS)}}


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the record."""
    options, command = parse_arguments(__doc__, "middle_budgets.py", arguments)
    keys = [(*place, evals, name) for (place, evals), name in product(CASES, SEEDS)]
    parts = finish_parts(options.parts, ("suite", "dim", "per_variable", "choice"), keys, measure)
    settings = {"instances": INSTANCES, "runs": RUNS, "zero": SOLVED}
    write_figures(options.out, {**provenance(command), "settings": settings, "rows": list(rows(parts))})


def parameters_of(choice: str, dim: int, max_evals: int) -> dict[str, Any]:
    """Return the parameters of a Minimizer that has a choice: its algorithm, and its polish."""
    if choice == AUTO:
        return {"algorithm": AUTO}
    # After CMA-ES the quasi-Newton search is worth its evaluations with small budgets only.
    polish = "quasi-Newton" if choice == "rdex" or max_evals <= 500 * dim else False
    return {"algorithm": choice, "polish": polish}


def measure(suite: str, dim: int, per_variable: int, choice: str) -> dict[str, Any]:
    """Return the errors of all runs by function."""
    errors = []
    for instances in functions(suite, dim, INSTANCES):
        of_function = []
        for function in instances:
            m = Minimizer(
                **parameters_of(choice, dim, per_variable * dim),
                max_evals=per_variable * dim,
                n_runs=RUNS // len(instances),
                device="cpu",
                n_jobs=1,
                random_state=SEEDS[choice],
            ).fit(function.objective, bounds=function.bounds)
            of_function += [run.fun - function.f_opt for run in m.runs_]
        errors.append(of_function)
    return {"suite": suite, "dim": dim, "per_variable": per_variable, "choice": choice, "errors": errors}


def rows(parts: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield on how many functions "auto" is better and worse than each other choice by the rank-sum test."""
    found = {(*(part[key] for key in ("suite", "dim", "per_variable", "choice")),): part["errors"] for part in parts}
    for ((suite, dim), per_variable), other in product(CASES, OTHERS):
        ours, theirs = (take_medians(found[suite, dim, per_variable, name]) for name in (AUTO, other))
        verdicts = [rank_sum(*pair) for pair in zip(ours, theirs, strict=True)]
        yield {
            "suite": suite,
            "dim": dim,
            "per_variable": per_variable,
            "other": other,
            "better": verdicts.count("better"),
            "worse": verdicts.count("worse"),
        }


if __name__ == "__main__":
    main()
