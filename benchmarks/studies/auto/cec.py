"""Ranks of "auto", every algorithm of skde and other libraries on CEC 2017 and CEC 2011 by budget.

The functions come from minionpy: CEC 2017 in 10 variables, CEC 2011 in its own 1 to 240. The finished parts are
lines of a file; the same command does not repeat them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from comparison import OWN, PEERS, SLOW, finish_parts, parse_arguments
from held_out import RUNS, compare_medians, errors_of

from skde.algorithms.auto import AUTO
from skde.benchmark import provenance
from skde.benchmark.functions import Function
from skde.benchmark.records import write_figures
from skde.benchmark.suites import find_suite
from skde.utils.hypothesis_tests import friedman_holm, friedman_ranks

DIM = 10  # of CEC 2017
# Two cannot run on CEC 2011: the problems raise at points that minionpy's RDEX asks for, and pycma takes no function of
# one variable.
CEC2011 = tuple(name for name in (*OWN, *PEERS, *SLOW) if name not in ("minionpy:RDEX", "cma:bipop"))
LARGE = ("gode", "gojde", "ss")  # have more first points than 100 evaluations, those for one variable
# A run in 240 variables takes more than nine minutes with 1000 evaluations for each.
SLOWEST = "minionpy:BIPOP_aCMAES"
# With 10000 the others take nine hours of one core, and three more two hours.
NOT_RUN = (SLOWEST, "fcmaes:crfmnes", "scipy:differential_evolution", "scipy:dual_annealing")
# Suite, evaluations for each variable, algorithms.
EXPERIMENTS = (
    ("cec2017", 100, (*OWN, *PEERS, *SLOW)),
    ("cec2017", 1000, (*OWN, *PEERS, *SLOW)),
    ("cec2017", 10_000, (*OWN, *PEERS, *SLOW)),
    ("cec2011", 100, tuple(name for name in CEC2011 if name not in LARGE)),
    ("cec2011", 1000, tuple(name for name in CEC2011 if name != SLOWEST)),
    ("cec2011", 10_000, tuple(name for name in CEC2011 if name not in NOT_RUN)),
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the record."""
    options, command = parse_arguments(__doc__, "cec.py", arguments)
    keys = [(suite, per_variable, name) for suite, per_variable, names in EXPERIMENTS for name in names]
    parts = finish_parts(options.parts, ("suite", "per_variable", "algorithm"), keys, measure)
    settings = {"dim": DIM, "runs": RUNS}
    write_figures(options.out, {**provenance(command), "settings": settings, "rows": list(rows(parts))})


def measure(suite: str, per_variable: int, name: str) -> dict[str, Any]:
    """Return the errors of an algorithm's runs by function."""
    errors = errors_of(functions(suite), per_variable, name)
    return {"suite": suite, "per_variable": per_variable, "algorithm": name, "errors": errors}


def functions(suite: str) -> Iterator[Function]:
    """Yield the functions of a suite."""
    found = find_suite(suite)
    for name in found.functions:
        yield found.function(name, DIM if suite == "cec2017" else found.dims(name)[0])


def rows(parts: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the mean ranks of all algorithms by suite and budget.

    p tests "auto" against the lowest mean rank, adjusted by Holm's method for all algorithms.
    """
    found = {(part["suite"], part["per_variable"], part["algorithm"]): part["errors"] for part in parts}
    for suite, per_variable, names in EXPERIMENTS:
        # The problems of CEC 2011 have no known minima: none of their values counts as zero.
        medians = compare_medians([found[suite, per_variable, name] for name in names], find_suite(suite).zero)
        ranks = friedman_ranks(medians)
        p = friedman_holm(medians, int(ranks.argmin()))[names.index(AUTO)]
        yield {
            "suite": suite,
            "per_variable": per_variable,
            "functions": len(medians),
            "ranks": {names[k]: round(float(ranks[k]), 1) for k in ranks.argsort(kind="stable")},
            "p": round(float(p), 3),
        }


if __name__ == "__main__":
    main()
