"""The section on middle budgets of algorithm="auto", from the record auto-middle-budgets.json."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skde.benchmark.hypothesis_tests import ALPHA

from .sources import described, read

NAME = "auto-middle-budgets"
SUITES = {"ioh:bbob": "BBOB", "cec2017": "CEC 2017", "janssen2024": "`janssen2024`"}
OTHERS = {"rdex": "`rdex` with its own parameters", "cmaes": "`cmaes`"}
Rows = Mapping[tuple[str, int, int], Mapping[str, Mapping[str, Any]]]


def section() -> list[str]:
    """Return on how many functions "auto" is better and worse than other choices, by suite, dimension and budget."""
    record = read(NAME)
    settings = record["settings"]
    found: dict[tuple[str, int, int], dict[str, Mapping[str, Any]]] = {}
    for row in record["rows"]:
        found.setdefault((row["suite"], row["dim"], row["per_variable"]), {})[row["other"]] = row
    instances = ", ".join(str(one) for one in settings["instances"])
    lines = [
        "## Middle budgets of `auto`",
        "",
        "`fit` with `auto`, which is `rdex` with other parameters, in more than 30 variables `arrde`, and a",
        "quasi-Newton search, next to `rdex` with its own parameters and the same search, and to `cmaes`, which has",
        f"this search up to 500 evaluations for each variable: {settings['runs']} runs of each on every function.",
        f"Those of BBOB share the instances {instances}, and the choice has used neither these instances nor these",
        "seeds, but the same functions.",
        described(record, NAME),
        "",
        "A cell has the numbers of functions on which the errors of `auto` are better and worse by the rank-sum test",
        f"at {ALPHA:g}.",
        total(found),
        "",
        f"| suite | variables | evaluations for each | {' | '.join(OTHERS.values())} |",
        "|---" * (3 + len(OTHERS)) + "|",
    ]
    for (suite, dim, per_variable), others in found.items():
        cells = [f"{others[name]['better']}, {others[name]['worse']}" for name in OTHERS]
        lines.append(f"| {SUITES[suite]} | {dim} | {per_variable} | {' | '.join(cells)} |")
    return [*lines, ""]


def total(found: Rows) -> str:
    """Return the sums of better and worse over all rows."""
    said = []
    for name, text in OTHERS.items():
        better, worse = (sum(others[name][verdict] for others in found.values()) for verdict in ("better", "worse"))
        said.append(f"{better} times better and {worse} times worse than {text}")
    return f"In all `auto` is {' and '.join(said)}."
