"""The section on suites that no choice of skde has seen, from the records held-out.json and those after it."""

from __future__ import annotations

from typing import Any

from scipy.stats import binomtest

from skde.algorithms.auto import AUTO

from . import bbob
from .sources import described, joined, link, read

NAME, SECOND, THIRD, FOURTH, FIFTH = "held-out", "held-out-auto", "held-out-middle", "held-out-sizes", "held-out-large"
SIGNIFICANT = 0.05


def section() -> list[str]:
    """Return the lowest mean ranks, the place of `auto`, and the ranks of all by budget."""
    record = read(NAME)
    ranks: dict[int, dict[str, dict[str, Any]]] = {}
    for row in record["rows"]:
        ranks.setdefault(row["per_variable"], {})[row["algorithm"]] = row
    suites = record["settings"]["suites"]
    some = next(iter(ranks.values()))
    functions = len(next(iter(some.values()))["medians"])
    lines = [
        "## Suites that no choice has seen",
        "",
        f"CEC 2014, 2020 and 2022, {functions} functions in {record['settings']['dim']} variables, "
        f"{record['settings']['runs']} runs of each algorithm. They were run once, after the rule of `auto` and all "
        f"defaults were settled. {described(record, NAME)}",
        "",
        "| evaluations for each variable | lowest mean ranks | lowest of skde | `auto` | `auto` by suite |",
        "|---|---|---|---|---|",
    ]
    for per_variable, found in ranks.items():
        means = {name: row["rank"] for name, row in found.items()}
        own = {name: rank for name, rank in means.items() if ":" not in name}
        place = f"{bbob.place_text(means[AUTO], list(found.values()))} of {len(found)}"
        by_suite = ", ".join(f"{suite} {found[AUTO][suite]:.1f}" for suite in suites)
        cells = (per_variable, bbob.lowest(means, 3), bbob.lowest(own, 3), f"{means[AUTO]:.1f}, {place}", by_suite)
        lines.append(f"| {' | '.join(map(str, cells))} |")
    lines += [
        "",
        "The mean ranks of all. Those in bold do not differ from the lowest in their column by Friedman's test with",
        "Holm's correction at 0.05. An empty place was not run.",
        "",
        f"| algorithm | {' | '.join(map(str, ranks))} |",
        "|---" * (len(ranks) + 1) + "|",
    ]
    names = sorted(some, key=lambda name: [found[name]["rank"] for found in reversed(ranks.values()) if name in found])
    for name in names:
        cells = [marked(found[name]) if name in found else "" for found in ranks.values()]
        lines.append(f"| {link(name)} | {' | '.join(cells)} |")
    return [*lines, ""]


def second_section() -> list[str]:
    """Return the second reading of `auto` with its first one, by budget."""
    record = read(SECOND)
    rows, suites = record["rows"], record["settings"]["suites"]
    first = {row["per_variable"]: row for row in read(NAME)["rows"] if row["algorithm"] == AUTO}
    lines = [
        "### Second reading of `auto`",
        "",
        "After the record above `auto` was given local searches at the end of a fit ([Polish](#polish)). They were",
        "chosen on CEC 2017, BBOB and NIST's regressions alone, but the figures above were known then: this is a",
        "second look, and the first one stays as it is. `auto` alone ran again, on the same functions with the",
        f"same seeds. It is ranked among the others' runs of the first look. {described(record, SECOND)}",
        "",
        finding(rows),
        "The last column has the numbers of functions on which the median error of `auto` is lower, equal and",
        "higher than at first, and p of the sign test.",
        "",
        "| evaluations for each variable | lowest mean ranks | `auto` at first | `auto` now | by suite | change |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        rank, lower, higher = row["rank"], row["lower"], row["higher"]
        place = bbob.place_text(rank, [{"rank": one} for one in row["ranks"].values()])
        p = binomtest(lower, lower + higher).pvalue if lower + higher else 1.0
        cells = (
            row["per_variable"],
            bbob.lowest(row["ranks"], 3),
            f"{first[row['per_variable']]['rank']:.1f}",
            f"{rank:.1f}, {place} of {len(row['ranks'])}",
            ", ".join(f"{suite} {row[suite]:.1f}" for suite in suites),
            f"{lower} / {len(row['medians']) - lower - higher} / {higher}, p={p:.2g}",
        )
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return [*lines, ""]


GROUPS = {
    "again": "those above",
    "at most 15": "CEC 2019 in 10 and CEC 2020 in 15 variables",
    "more": "CEC 2020 and 2022 in 20 and CEC 2014 in 30 variables",
}


def third_section() -> list[str]:
    """Return the ranks of `auto` with middle budgets, after its choice for them changed."""
    return reading(
        "Third",
        THIRD,
        "Then `auto` took `rdex` with its own parameters and a quasi-Newton search for middle budgets in at most 15",
        "variables. That was chosen on BBOB, CEC 2017 and `janssen2024` alone, but the figures above were known. All",
        "algorithms ran again, and for the first time on CEC 2019, and on CEC 2014, 2020 and 2022 in more variables.",
        "With more than 15 variables `auto` was `cmaes`.",
    )


def fourth_section() -> list[str]:
    """Return the ranks of `auto` with middle budgets, after the sizes of its populations changed."""
    return reading(
        "Fourth",
        FOURTH,
        "Then `rdex` got the sizes and the perturbation of the present rule, in at most 30 variables",
        "([figures](#middle-budgets-of-auto)), chosen on BBOB, CEC 2017, `janssen2024` and CEC 2011; the figures above",
        "were known again. Functions and seeds are those of the third reading, and all algorithms ran again.",
    )


def fifth_section() -> list[str]:
    """Return the ranks of `auto` with large budgets, after its second search changed."""
    return reading(
        "Fifth",
        FIFTH,
        "Then `auto` took `rdex` instead of `arrde` with large budgets in 10 to 15 variables",
        "([trials](#middle-dimensions)). That was chosen on BBOB, CEC 2017 and `janssen2024`, but the figures above",
        "were known. All algorithms ran again, for the first time with so many evaluations on CEC 2019 and on CEC 2020",
        "in 15 variables.",
    )


def reading(number: str, name: str, *text: str) -> list[str]:
    """Return the section on a reading by groups of functions, from the record of this name."""
    record = read(name)
    budget = f"Each run has {record['settings']['per_variable']} evaluations for each variable."
    head = f"### {number} reading of `auto`"
    return [head, "", *text, f"{budget} {described(record, name)}", "", *table(record)]


def table(record: dict[str, Any]) -> list[str]:
    """Return the ranks of a reading by group of functions."""
    lines = [
        "| functions | lowest mean ranks | `auto` | `auto` by suite | p against the lowest |",
        "|---|---|---|---|---|",
    ]
    for row in record["rows"]:
        ranks, others = row["ranks"], [{"rank": rank} for rank in row["ranks"].values()]
        cells = (
            f"{row['functions']}: {GROUPS[row['group']]}",
            bbob.lowest(ranks, 4),
            f"{ranks[AUTO]:.1f}, {bbob.place_text(ranks[AUTO], others)} of {len(ranks)}",
            ", ".join(f"{place} {rank:.1f}" for place, rank in row["auto"].items()),
            f"{row['p']:.2g}",
        )
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return [*lines, ""]


def finding(rows: list[dict[str, Any]]) -> str:
    """Return with which budgets another algorithm has a lower mean rank than `auto`, and whether beyond chance."""
    behind = [row for row in rows if row["rank"] > min(row["ranks"].values())]
    if not behind:
        return "`auto` has the lowest mean rank with each budget."
    others = joined(f"{row['per_variable']} (`{min(row['ranks'], key=row['ranks'].get)}`)" for row in behind)
    beyond = [row["per_variable"] for row in behind if row["p"] < SIGNIFICANT]
    chance = f"With {joined(beyond)} `auto` is worse" if beyond else "With none is `auto` worse"
    return (
        f"Another algorithm has the lowest mean rank with {others} evaluations for each variable. {chance} "
        "than this beyond chance, by the test above."
    )


def marked(row: dict[str, Any]) -> str:
    """Return a mean rank, bold where it does not differ from the lowest."""
    return f"**{row['rank']:.1f}**" if row["p"] >= SIGNIFICANT else f"{row['rank']:.1f}"
