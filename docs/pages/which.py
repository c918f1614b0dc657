"""The page on the choice of an algorithm, from the records docs/benchmarks/quality-*.json of skde bench run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from skde import get_problem
from skde.algorithms import ALGORITHMS
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


def medians(part: dict[str, Any], algorithms: list[str]) -> list[str]:
    """Return the median errors; the lowest of every function, as printed, are bold."""
    lines = [f"### Median errors, D={part['dim']}", "", f"| function | {' | '.join(algorithms)} |"]
    lines.append("|---" * (len(algorithms) + 1) + "|")
    for function, found in part["medians"].items():
        least = number_text(min(found.values()))
        texts = [number_text(found[name]) if name in found else "" for name in algorithms]
        cells = [f"**{text}**" if text == least else text for text in texts]
        lines.append(f"| {function} | {' | '.join(cells)} |")
    return [*lines, ""]


def number_text(value: float) -> str:
    """Return a number with two digits."""
    return "0" if value == 0 else f"{value:.1e}"


def centred(found: dict[str, Any]) -> str:
    """Count the minima in the middle of the box, where a search that contracts would find them."""
    functions = list(found["dims"][0]["medians"])
    problems = [get_problem(f"{found['suite']}/{name}", dim=found["dims"][0]["dim"]) for name in functions]
    count = sum(np.allclose(problem.x_opt, problem.bounds.mean(axis=1)) for problem in problems)
    return f"The minimum lies in the middle of the box in {count} of the {len(functions)} functions."


def page() -> str:
    """Return the page."""
    lines = ["<!-- Made by docs/render.py from docs/texts/which.md and docs/benchmarks/quality-*.json. -->", ""]
    lines += [(DOCS / "texts" / "which.md").read_text().strip(), ""]
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
        lines += advice(found) + ranks(found)
        for part in found["dims"]:
            lines += medians(part, found["algorithms"])
    return "\n".join(lines).rstrip() + "\n"
