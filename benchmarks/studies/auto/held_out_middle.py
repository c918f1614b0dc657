"""Ranks of "auto" with middle budgets on the suites of held_out.py, after its choice for them changed.

The functions are held_out.py's, and such as no record had before: CEC 2019, and more variables. The finished
parts are lines of a file; the same command does not repeat them.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from comparison import OWN, PEERS, SLOW, finish_parts, parse_arguments
from held_out import RUNS, compare_medians, errors_of

from skde.algorithms.auto import AUTO
from skde.benchmark import provenance
from skde.benchmark.functions import Function
from skde.benchmark.records import write_figures
from skde.benchmark.suites import find_suite
from skde.benchmark.trial_scores import SOLVED
from skde.utils.hypothesis_tests import friedman_holm, friedman_ranks

PER_VARIABLE = 1000
FIRST_OF_TEN = 3  # the functions of CEC 2019 before this one have 9, 16 and 18 variables
# Suites and variables, and the algorithms that run there.
Groups = Mapping[str, tuple[Sequence[tuple[str, int]], Sequence[str]]]
GROUPS: Groups = {
    "again": ((("cec2014", 10), ("cec2020", 10), ("cec2022", 10)), (*OWN, *PEERS, *SLOW)),
    "at most 15": ((("cec2019", 10), ("cec2020", 15)), (*OWN, *PEERS)),
    "more": ((("cec2020", 20), ("cec2022", 20), ("cec2014", 30)), (*OWN, *PEERS)),
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the record."""
    write_reading(*parse_arguments(__doc__, "held_out_middle.py", arguments), PER_VARIABLE, GROUPS)


def write_reading(options: Namespace, command: str, per_variable: int, groups: Groups) -> None:
    """Write the record of groups with a budget."""
    keys = [(*place, per_variable, name) for places, names in groups.values() for name in names for place in places]
    parts = finish_parts(options.parts, ("suite", "dim", "per_variable", "algorithm"), keys, measure)
    settings = {"per_variable": per_variable, "runs": RUNS, "zero": SOLVED}
    write_figures(options.out, {**provenance(command), "settings": settings, "rows": list(rows(parts, groups))})


def measure(suite: str, dim: int, per_variable: int, name: str) -> dict[str, Any]:
    """Return the errors of an algorithm's runs by function."""
    errors = errors_of(functions(suite, dim), per_variable, name)
    return {"suite": suite, "dim": dim, "per_variable": per_variable, "algorithm": name, "errors": errors}


def functions(suite: str, dim: int) -> Iterator[Function]:
    """Yield the functions of a suite that have so many variables."""
    found = find_suite(suite)
    numbers = found.functions[FIRST_OF_TEN:] if suite == "cec2019" else found.functions
    yield from (found.function(number, dim) for number in numbers)


def rows(parts: Sequence[dict[str, Any]], groups: Groups) -> Iterator[dict[str, Any]]:
    """Yield the mean ranks of all algorithms by group, and of "auto" by suite.

    p tests "auto" against the lowest mean rank, adjusted by Holm's method for all algorithms.
    """
    found = {(part["suite"], part["dim"], part["algorithm"]): part["errors"] for part in parts}
    for group, (places, names) in groups.items():
        medians = {place: compare_medians([found[*place, name] for name in names]) for place in places}
        together = np.concatenate(list(medians.values()))
        ranks, auto = friedman_ranks(together), names.index(AUTO)
        p = friedman_holm(together, int(np.argmin(ranks)))[auto]
        yield {
            "group": group,
            "functions": len(together),
            "ranks": {names[k]: round(float(ranks[k]), 2) for k in np.argsort(ranks, kind="stable")},
            "p": round(float(p), 3),
            "auto": {
                f"{suite}, D={dim}": round(float(friedman_ranks(one)[auto]), 2) for (suite, dim), one in medians.items()
            },
        }


if __name__ == "__main__":
    main()
