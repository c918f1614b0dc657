"""The section on small budgets of algorithm="auto", from the record auto-small-budgets.json."""

from __future__ import annotations

from typing import Any

from skde.benchmark.hypothesis_tests import ALPHA

from .sources import described, read

NAME = "auto-small-budgets"
SUITES = {"cec2017": "CEC 2017", "ioh:bbob": "BBOB"}


def section() -> list[str]:
    """Return on how many functions the quasi-Newton end is better and worse, by suite, dimension and budget."""
    record = read(NAME)
    rows, settings = record["rows"], record["settings"]
    lines = [
        "## Small budgets of `auto`",
        "",
        f"`fit` with the quasi-Newton end and with `polish=False`, {settings['runs']} runs of each on every function. "
        f"Those of BBOB share the instances {', '.join(str(one) for one in settings['instances'])}, and no choice has "
        f"used these instances or seeds, but the same functions. {described(record, NAME)}",
        "",
        "The table has the numbers of functions on which the median error is lower and higher with it, p of the sign",
        "test on them, and the numbers on which the errors are better and worse by the rank-sum test at "
        f"{ALPHA:g}. Chance",
        f"alone gives {by_chance(rows)} in each direction. {finding(rows)}",
        "The last column has the mean evaluations of the quasi-Newton search.",
        "",
        "| suite | variables | evaluations for each | functions | lower | higher | p | better | worse | evaluations |",
        "|" + "---|" * 10,
    ]
    for row in rows:
        cells = [row[name] for name in ("dim", "per_variable", "functions", "lower", "higher")]
        cells += [f"{row['p']:.2g}", row["better"], row["worse"], row["polish_evals"]]
        lines.append(f"| {SUITES[row['suite']]} | {' | '.join(map(str, cells))} |")
    return [*lines, ""]


def by_chance(rows: list[dict[str, Any]]) -> str:
    """Return the numbers of functions that the test finds where there is no difference."""
    numbers = sorted({row["functions"] * ALPHA / 2 for row in rows})
    return f"{numbers[0]:.1f} to {numbers[-1]:.1f}" if len(numbers) > 1 else f"{numbers[0]:.1f}"


def finding(rows: list[dict[str, Any]]) -> str:
    """Return in how many cases more functions are worse than better by the rank-sum test."""
    cases = sum(row["worse"] > row["better"] for row in rows)
    if not cases:
        return "In no case are more functions worse than better."
    return f"In {cases} of {len(rows)} cases more functions are worse than better."
