"""The page on the choice of an algorithm, from the records bbob-comparison.json, auto.json and quality-*.json."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

from skde import get_problem
from skde.algorithms import ALGORITHMS
from skde.algorithms.auto import AUTO
from skde.benchmark.hypothesis_tests import ALPHA
from skde.benchmark.records import Record, read_record
from skde.benchmark.statistics import compare, friedman_ranks

DOCS = Path(__file__).resolve().parents[1]
BASELINE = "jde"


def link(algorithm: str) -> str:
    """Return an optimizer's name, as a link if it is an algorithm of skde."""
    name = algorithm.partition(":")[0]
    return f"[`{algorithm}`](algorithms/{name}.md)" if name in ALGORITHMS else f"`{algorithm}`"


def plans(algorithm: str) -> bool:
    """Return whether an algorithm needs its budget."""
    name = algorithm.partition(":")[0]
    return name in ALGORITHMS and ALGORITHMS[name].shrinks


def source(record: Record, name: str) -> list[str]:
    """Return the source of the figures."""
    settings = record["settings"]
    budget, runs = settings["budget"].replace("dim", "D"), settings["runs"]
    given = (
        f"{runs} runs in one batch, {budget} together"
        if budget.endswith("s")
        else f"{runs} runs of {budget} evaluations"
    )
    return [f"{given}. {provenance_text(record, name)}", ""]


def provenance_text(record: Record, name: str) -> str:
    """Return machine, date, commits and command of a record."""
    machine = record["machine"]
    # A record grows: each cell has its processor and its commit.
    given = (cell.get("cpu", machine["cpu"]) for cell in record["cells"])
    processors = ", ".join(dict.fromkeys(cpu for text in given for cpu in text.split("; ")))
    where = machine.get("gpu") or f"{processors}, {machine['isa']}"
    commits = ", ".join(dict.fromkeys(str(cell.get("commit"))[:10] for cell in record["cells"]))
    return f"{where}; {record['date'][:10]}, commit {commits}, `{record['command']}` ([{name}](benchmarks/{name}))."


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
            low, next_low, *_ = sorted((part["ranks"][name], link(name)) for name in some)
            lines.append(
                f"- {words}, D={part['dim']}: {low[1]} has the lowest mean rank ({low[0]:.2f}), then {next_low[1]} "
                f"({next_low[0]:.2f})."
            )
    return [*lines, ""]


def centred(found: dict[str, Any]) -> str:
    """Count the minima in the middle of the box, where a search that contracts would find them."""
    functions = list(found["dims"][0]["medians"])
    problems = [get_problem(f"{found['suite']}/{name}", dim=found["dims"][0]["dim"]) for name in functions]
    count = sum(np.allclose(problem.x_opt, problem.bounds.mean(axis=1)) for problem in problems)
    return f"The minimum lies in the middle of the box in {count} of the {len(functions)} functions."


# -- the comparison on BBOB --------------------------------------------------------------------------------------------

Group = list[dict[str, Any]]
# BBOB's groups of functions, and their places in the lists of medians.
KINDS = {
    "separable (1 to 5)": slice(0, 5),
    "low or moderate conditioning (6 to 9)": slice(5, 9),
    "high conditioning, unimodal (10 to 14)": slice(9, 14),
    "multimodal with a global structure (15 to 19)": slice(14, 19),
    "multimodal with a weak structure (20 to 24)": slice(19, 24),
}


def read(name: str) -> dict[str, Any]:
    """Return a record that is not one of `skde bench run`."""
    record: dict[str, Any] = json.loads((DOCS / "benchmarks" / f"{name}.json").read_text())
    return record


def described(record: dict[str, Any], name: str) -> str:
    """Return machine, date, commit and command of such a record."""
    machine = record["machine"]
    # A record grows: rows that were added later have their commits.
    given = [record["commit"], *(row["commit"] for row in record["rows"] if "commit" in row)]
    commits = ", ".join(dict.fromkeys((commit or "none")[:10] for commit in given))
    return (
        f"{machine['cpu']}, {machine['isa']}; {record['date'][:10]}, commit {commits}, `{record['command']}` "
        f"([{name}.json](benchmarks/{name}.json))."
    )


def bbob() -> list[str]:
    """Return the section on BBOB."""
    record = read("bbob-comparison")
    groups: dict[tuple[int, int], Group] = {}
    for row in record["rows"]:
        groups.setdefault((row["per_variable"], row["dim"]), []).append(row)
    settings = record["settings"]
    instances = ", ".join(map(str, settings["instances"]))
    lines = [
        "## BBOB",
        "",
        f"The {settings['functions']} functions of BBOB, one run on each of the instances {instances}. "
        f"{described(record, 'bbob-comparison')} The record has the median errors of each function.",
        "",
        "| evaluations for each variable | variables | lowest mean ranks | lowest of skde | `auto` |",
        "|---|---|---|---|---|",
    ]
    for (share, dim), group in sorted(groups.items()):
        own = [of_name(group, name) for name in own_names(group)]
        found = of_name(group, AUTO)
        auto = f"{found['rank']:.1f}, place {group.index(found) + 1} of {len(group)}"
        lines.append(f"| {share} | {dim} | {first(group, 3)} | {first(own, 3)} | {auto} |")
    lines += [
        "",
        *kinds(groups),
        "The tables below have the mean rank and the area. Ranks in bold do not differ from the lowest in their column",
        f"by Friedman's test with Holm's correction at {ALPHA:g}. An empty place was not run.",
        "",
    ]
    for share in dict.fromkeys(share for share, _ in sorted(groups)):
        lines += table({dim: group for (one, dim), group in sorted(groups.items()) if one == share}, share)
    return lines


def kinds(groups: dict[tuple[int, int], Group]) -> list[str]:
    """Return the table of skde's algorithms with the lowest mean ranks by kind of function."""
    names = max((own_names(group) for group in groups.values()), key=len)
    shares = sorted({share for share, _ in groups})
    lines = [
        f"| functions | {' | '.join(f'{share} evaluations' for share in shares)} |",
        "|---" * (len(shares) + 1) + "|",
    ]
    for kind, places in KINDS.items():
        cells = []
        for share in shares:
            parts = [
                group for (one, _), group in groups.items() if one == share and set(own_names(group)) == set(names)
            ]
            medians = np.hstack([[of_name(group, name)["medians"][places] for name in names] for group in parts]).T
            ranks = friedman_ranks(medians)
            cells.append(", ".join(f"`{names[place]}` {ranks[place]:.1f}" for place in np.argsort(ranks)[:3]))
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    about = "The mean ranks among skde's algorithms alone, over all numbers of variables for which each has been run:"
    return [about, "", *lines, ""]


def own_names(group: Group) -> list[str]:
    """Return skde's algorithms in a group."""
    return [row["algorithm"] for row in group if ":" not in row["algorithm"]]


def of_name(group: Group, name: str) -> dict[str, Any]:
    """Return the row of an algorithm."""
    return next(row for row in group if row["algorithm"] == name)


def first(group: Group, count: int) -> str:
    """Return the algorithms with the lowest mean ranks, and these."""
    return ", ".join(f"`{row['algorithm']}` {row['rank']:.1f}" for row in group[:count])


def table(groups: dict[int, Group], share: int) -> list[str]:
    """Return the mean ranks and areas of one budget by dimension; those with all dimensions come first."""
    found: dict[str, dict[int, dict[str, Any]]] = {}
    for dim, group in groups.items():
        for row in group:
            found.setdefault(row["algorithm"], {})[dim] = row
    lines = [f"### {share} evaluations for each variable", ""]
    lines += [f"| algorithm | {' | '.join(f'D={dim}' for dim in groups)} |", "|---" * (len(groups) + 1) + "|"]
    order = sorted(found, key=lambda name: (-len(found[name]), mean(row["rank"] for row in found[name].values())))
    for name in order:
        cells = [cell(found[name][dim]) if dim in found[name] else "" for dim in groups]
        lines.append(f"| {link(name)} | {' | '.join(cells)} |")
    return [*lines, ""]


def cell(row: dict[str, Any]) -> str:
    """Return mean rank and area; the rank is bold where it does not differ from the lowest beyond chance."""
    rank = f"{row['rank']:.1f}"
    return f"{f'**{rank}**' if row['p'] >= ALPHA else rank}, {row['area']:.2f}"


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
        best = ", ".join(f"`{name}` {rank:.1f}" for name, (rank, _) in list(row["ranks"].items())[:3])
        budget = f"{row['per_variable']} generations" if row["suite"] == "generations" else row["per_variable"]
        lines.append(f"| {OTHERS[row['suite']]} | {row['dim'] or '3 to 13'} | {budget} | {best} |")
    return [*lines, ""]


# -- the page ----------------------------------------------------------------------------------------------------------


def page() -> str:
    """Return the page."""
    lines = ["<!-- Made by docs/render.py from docs/texts/which.md and docs/benchmarks/. -->", ""]
    lines += [(DOCS / "texts" / "which.md").read_text().strip(), "", *bbob(), *candidates()]
    for path in sorted((DOCS / "benchmarks").glob("quality-*.json")):
        record = read_record(path)
        found = compare(record, BASELINE)
        if any(part["ranks"] is None for part in found["dims"]):
            raise ValueError(f"{path.name} has a dimension in which no function was run with all its algorithms")
        for part in found["dims"]:
            round_medians(part, found["algorithms"])
        own = found["suite"] != "cec2017"
        lines += [f"## {found['suite']}", "", *source(record, path.name)]
        lines += [f"Errors below {found['zero']:g} are zero.{' ' + centred(found) if own else ''}", ""]
        lines += [f"`skde bench compare docs/benchmarks/{path.name} --baseline {BASELINE}` prints the medians.", ""]
        lines += advice(found) + ranks(found)
    return "\n".join(lines).rstrip() + "\n"
