"""Errors of "auto" with small budgets, with its quasi-Newton end and with `polish=False`, on CEC 2017 and BBOB.

The finished parts are lines of a file; the same command does not repeat them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import ioh
import numpy as np
from comparison import DIGITS, FUNCTIONS, finish_parts, parse_arguments, round_figures
from polish import fit_auto
from scipy.stats import binomtest

from skde.benchmark import provenance
from skde.benchmark.functions import Function
from skde.benchmark.platforms.ioh import make_logged_function
from skde.benchmark.records import write_figures
from skde.benchmark.statistics import rank_sum
from skde.benchmark.suites import find_suite
from skde.benchmark.trial_scores import SOLVED

CEC, BBOB = "cec2017", "ioh:bbob"
DIMS = ((CEC, 10), (BBOB, 2), (BBOB, 5), (BBOB, 10))
EVALS = (20, 50, 100, 200, 300, 500)  # for each variable
# Neither these instances nor these seeds are those on which the search was chosen. The seeds of the two sides differ,
# so that their samples are independent.
INSTANCES = (21, 22, 23, 24, 25)
RUNS = 25  # for each function: the instances share them
SEEDS = {False: 2026, True: 2027}


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the record."""
    options, command = parse_arguments(__doc__, "small_budgets.py", arguments)
    keys = [(*place, evals, polish) for place in DIMS for evals in EVALS for polish in SEEDS]
    parts = finish_parts(options.parts, ("suite", "dim", "per_variable", "polish"), keys, measure)
    settings = {"instances": INSTANCES, "runs": RUNS, "zero": SOLVED}
    write_figures(options.out, {**provenance(command), "settings": settings, "rows": list(rows(parts))})


def functions(suite: str, dim: int, instances: Sequence[int] = INSTANCES) -> Iterator[list[Function]]:
    """Yield the instances of every function."""
    if suite == BBOB:
        for number in FUNCTIONS:
            problems = [ioh.get_problem(number, one, dim, ioh.ProblemClass.BBOB) for one in instances]
            yield [make_logged_function(f"f{number}", problem) for problem in problems]
    else:
        found = find_suite(suite)
        yield from ([found.function(name, dim)] for name in found.functions)


def measure(suite: str, dim: int, per_variable: int, polish: bool) -> dict[str, Any]:
    """Return the errors of all runs by function, and their mean evaluations of the quasi-Newton search."""
    errors, polish_evals = [], []
    for instances in functions(suite, dim):
        of_function = []
        for function in instances:
            m = fit_auto(
                function.objective,
                function.bounds,
                max_evals=per_variable * dim,
                polish=polish,
                random_state=SEEDS[polish],
                n_runs=RUNS // len(instances),
            )
            of_function += [run.fun - function.f_opt for run in m.runs_]
            polish_evals += [run.polish_evals for run in m.runs_]
        errors.append(of_function)
    return {
        "suite": suite,
        "dim": dim,
        "per_variable": per_variable,
        "polish": polish,
        "errors": errors,
        "polish_evals": float(np.mean(polish_evals)),
    }


def rows(parts: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the numbers of functions on which the quasi-Newton end is better and worse.

    `lower` and `higher` count median errors, and p comes from the sign test on them. `better` and `worse` come
    from the rank-sum test on each function.
    """
    found = {(part["suite"], part["dim"], part["per_variable"], part["polish"]): part for part in parts}
    for suite, dim in DIMS:
        for per_variable in EVALS:
            part = found[suite, dim, per_variable, True]
            without, with_it = (take_medians(found[suite, dim, per_variable, one]["errors"]) for one in (False, True))
            before, now = (round_figures(np.median(errors, axis=1), DIGITS) for errors in (without, with_it))
            lower, higher = int((now < before).sum()), int((now > before).sum())
            verdicts = [rank_sum(*pair) for pair in zip(with_it, without, strict=True)]
            yield {
                "suite": suite,
                "dim": dim,
                "per_variable": per_variable,
                "functions": len(now),
                "lower": lower,
                "higher": higher,
                "p": float(f"{binomtest(lower, lower + higher).pvalue if lower + higher else 1.0:.2g}"),
                "better": verdicts.count("better"),
                "worse": verdicts.count("worse"),
                "polish_evals": round(part["polish_evals"]),
            }


def take_medians(errors: Sequence[Sequence[float]]) -> Any:
    """Return errors by function, with zero where they count as zero."""
    values = np.array(errors)
    return np.where(values < SOLVED, 0.0, values)


if __name__ == "__main__":
    main()
