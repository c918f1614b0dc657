"""The page on the choice of an algorithm, from the records that have its figures."""

from __future__ import annotations

from typing import Any

import numpy as np

from skde import get_problem
from skde.algorithms import ALGORITHMS
from skde.benchmark.records import read_record
from skde.benchmark.statistics import compare, friedman_ranks

from . import auto_polish, bbob, cec2011, cec_comparison, held_out, middle_budgets, small_budgets, two_searches
from .sources import DOCS, RECORDS, described, joined, link, read, source

BASELINE = "jde"


def plans(algorithm: str) -> bool:
    """Return whether an algorithm needs its budget."""
    name = algorithm.partition(":")[0]
    return name in ALGORITHMS and ALGORITHMS[name].shrinks


def round_medians(part: dict[str, Any], algorithms: list[str]) -> None:
    """Rank again with medians of six digits: smaller differences are rounding errors at a minimum that all found."""
    complete = [row for row in part["medians"].values() if len(row) == len(algorithms)]
    medians = np.array([[float(f"{row[name]:.5e}") for name in algorithms] for row in complete])
    part["ranks"] = dict(zip(algorithms, friedman_ranks(medians).tolist(), strict=True))


def ranks(found: dict[str, Any]) -> list[str]:
    """Return mean ranks, solved functions and tests, ordered by the ranks in the last dimension."""
    parts = found["dims"]
    heads = [f"D={part['dim']}: {what}" for part in parts for what in ("mean rank", "solved", f"to {BASELINE}")]
    lines = [f"| algorithm | {' | '.join(heads)} | needs |", "|---" * (len(heads) + 2) + "|"]
    for algorithm in sorted(found["algorithms"], key=lambda name: float(parts[-1]["ranks"][name])):
        cells = [link(algorithm)]
        for part in parts:
            solved = sum(medians.get(algorithm) == 0 for medians in part["medians"].values())
            verdicts = part["against"].get(algorithm)
            cells += [f"{part['ranks'][algorithm]:.2f}", f"{solved} of {len(part['medians'])}"]
            cells.append(" / ".join(str(count) for count in verdicts.values()) if verdicts else "")
        cells.append("budget" if plans(algorithm) else "")
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def advice(found: dict[str, Any]) -> list[str]:
    """Return the two lowest mean ranks in every dimension, of all algorithms and of those that need no budget."""
    lines = []
    for words, some in (
        ("Of all", found["algorithms"]),
        ("Of those that need no budget", [name for name in found["algorithms"] if not plans(name)]),
    ):
        for part in found["dims"]:
            low, *others = sorted(set(part["ranks"][name] for name in some))
            first, then = ([link(name) for name in some if part["ranks"][name] == rank] for rank in (low, others[0]))
            have = "has" if len(first) == 1 else "have"
            lines.append(
                f"- {words}, D={part['dim']}: {joined(first)} {have} the lowest mean rank ({low:.2f}), "
                f"then {joined(then)} ({others[0]:.2f})."
            )
    return [*lines, ""]


def centred(found: dict[str, Any]) -> str:
    """Count the minima in the middle of the box, where a search that contracts would find them."""
    functions = list(found["dims"][0]["medians"])
    problems = [get_problem(f"{found['suite']}/{name}", dim=found["dims"][0]["dim"]) for name in functions]
    count = sum(np.allclose(problem.x_opt, problem.bounds.mean(axis=1)) for problem in problems)
    return f"The minimum lies in the middle of the box in {count} of the {len(functions)} functions."


# -- the candidates of "auto" ------------------------------------------------------------------------------------------

OTHERS = {
    "janssen2024": "`janssen2024`, functions of skde",
    "cec2017": "CEC 2017",
    "generations": "generations, functions of skde",
    "no budget": "algorithms that need no budget, functions of skde",
    "integers": "integers within the bounds of functions of skde",
    "constraints": "constraints, `fabris2012`",
}


def candidates() -> list[str]:
    """Return the section on other suites, from the candidates of algorithm="auto"."""
    record = read("auto")
    rows = [row for row in record["rows"] if row["suite"] in OTHERS]
    counts = [len(row["ranks"]) for row in rows]
    lines = [
        "## Other suites",
        "",
        f"The lowest mean ranks among {min(counts)} to {max(counts)} candidates of `auto`: algorithms of skde with "
        f"several sizes of their populations. {described(record, 'auto')}",
        "",
        "| suite | variables | evaluations for each variable | lowest mean ranks |",
        "|---|---|---|---|",
    ]
    for row in rows:
        best = bbob.lowest({name: rank for name, (rank, _) in row["ranks"].items()}, 3)
        budget = f"{row['per_variable']} generations" if row["suite"] == "generations" else row["per_variable"]
        lines.append(f"| {OTHERS[row['suite']]} | {row['dim'] or '3 to 13'} | {budget} | {best} |")
    return [*lines, ""]


# -- the page ----------------------------------------------------------------------------------------------------------


def page() -> str:
    """Return the page."""
    lines = ["<!-- Made by docs/render.py from docs/texts/which.md and benchmarks/records/. -->", ""]
    lines += [(DOCS / "texts" / "which.md").read_text().strip(), "", *bbob.section(), *two_searches.section()]
    lines += [
        *auto_polish.section(),
        *small_budgets.section(),
        *middle_budgets.section(),
        *held_out.section(),
        *held_out.second_section(),
        *held_out.third_section(),
        *held_out.fourth_section(),
        *held_out.fifth_section(),
        *cec2011.section(),
        *cec_comparison.section(),
        *candidates(),
    ]
    for path in sorted(RECORDS.glob("quality-*.json")):
        record = read_record(path)
        found = compare(record, BASELINE)
        if any(part["ranks"] is None for part in found["dims"]):
            raise ValueError(f"{path.name} has a dimension in which no function was run with all its algorithms")
        for part in found["dims"]:
            round_medians(part, found["algorithms"])
        own = found["suite"] != "cec2017"
        lines += [f"## {found['suite']}", "", *source(record, path.name)]
        lines += [f"Errors below {found['zero']:g} are zero.{' ' + centred(found) if own else ''}", ""]
        lines += [f"`skde bench compare benchmarks/records/{path.name} --baseline {BASELINE}` prints the medians.", ""]
        lines += advice(found) + ranks(found)
    return "\n".join(lines).rstrip() + "\n"
