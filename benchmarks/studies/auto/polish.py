"""Runs of "auto" on BBOB that reach 1e-8 with and without its polish, which `fit` has and `ask` has not.

The finished parts are lines of a file; the same command does not repeat them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import ioh
import numpy as np
from comparison import FUNCTIONS, finish_parts, parse_arguments
from scipy.stats import binomtest

from skde import Minimizer
from skde.algorithms.auto import AUTO
from skde.benchmark import provenance
from skde.benchmark.records import write_figures
from skde.benchmark.trial_scores import SOLVED

DIMS, EVALS = (2, 3, 5, 10), (4000, 10_000)  # evaluations for each variable
INSTANCES = (2, 3, 4, 5, 6)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the record."""
    options, command = parse_arguments(__doc__, "polish.py", arguments)
    keys = product(DIMS, EVALS, (False, True))
    parts = finish_parts(options.parts, ("dim", "per_variable", "polish"), keys, measure)
    settings = {"suite": "ioh:bbob", "functions": len(FUNCTIONS), "instances": INSTANCES, "zero": SOLVED}
    write_figures(options.out, {**provenance(command), "settings": settings, "rows": list(rows(parts))})


def measure(dim: int, per_variable: int, polish: bool) -> dict[str, Any]:
    """Return the errors of all runs, by function and instance, and their mean evaluations of the polish."""
    errors, polish_evals = [], []
    for number, instance in product(FUNCTIONS, INSTANCES):
        problem = ioh.get_problem(number, instance, dim, ioh.ProblemClass.BBOB)
        m = fit_auto(
            lambda X, problem=problem: np.array(problem(X)),
            [(-5, 5)] * dim,
            max_evals=per_variable * dim,
            polish=polish,
            random_state=instance,
        )
        errors.append(m.fun_ - problem.optimum.y)
        polish_evals.append(m.runs_[0].polish_evals)
    mean = float(np.mean(polish_evals))
    return {"dim": dim, "per_variable": per_variable, "polish": polish, "errors": errors, "polish_evals": mean}


def fit_auto(objective: Any, bounds: Any, *, polish: bool, **parameters: Any) -> Minimizer:
    """Return a fit of "auto", with its polish or without it."""
    m = Minimizer(AUTO, polish=None if polish else False, device="cpu", n_jobs=1, **parameters)
    return m.fit(objective, bounds=bounds)


def rows(parts: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the numbers of runs that are solved without and with the polish, without it only and with it only.

    p comes from the sign test on the runs that one of the two solves.
    """
    found = {(part["dim"], part["per_variable"], part["polish"]): part for part in parts}
    for dim, per_variable in product(DIMS, EVALS):
        part = found[dim, per_variable, True]
        without, solved = (np.array(found[dim, per_variable, one]["errors"]) < SOLVED for one in (False, True))
        lost, won = int((without & ~solved).sum()), int((solved & ~without).sum())
        yield {
            "dim": dim,
            "per_variable": per_variable,
            "runs": len(solved),
            "without": int(without.sum()),
            "with": int(solved.sum()),
            "lost": lost,
            "won": won,
            "p": round(float(binomtest(won, lost + won).pvalue), 4) if lost + won else 1.0,
            "polish_evals": round(part["polish_evals"]),
        }


if __name__ == "__main__":
    main()
