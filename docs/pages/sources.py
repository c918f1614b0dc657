"""The sources of figures: machine, date, commits and command of a record."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from skde.algorithms import ALGORITHMS
from skde.benchmark.records import Record

DOCS = Path(__file__).resolve().parents[1]
RECORDS = DOCS.parent / "benchmarks" / "records"


def joined(parts: Iterable[Any]) -> str:
    """Return the parts of a list in a sentence."""
    *first, last = map(str, parts)
    return f"{', '.join(first)} and {last}" if first else last


def noted(record: Record) -> str:
    """Return a record's note, behind a semicolon; nothing where it has none."""
    return f"; {record['note']}" if "note" in record else ""


def link(algorithm: str) -> str:
    """Return an optimizer's name, as a link if it is an algorithm of skde."""
    name = algorithm.partition(":")[0]
    return f"[`{algorithm}`](algorithms/{name}.md)" if name in ALGORITHMS else f"`{algorithm}`"


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
    made = f"{where}; {record['date'][:10]}, commit {commits}, `{record['command']}`"
    return f"{made} ([{name}](../benchmarks/records/{name}))."


def read(name: str) -> dict[str, Any]:
    """Return a record that is not one of `skde bench run`."""
    record: dict[str, Any] = json.loads((RECORDS / f"{name}.json").read_text())
    return record


def described(record: dict[str, Any], name: str) -> str:
    """Return machine, date, commit and command of such a record."""
    machine = record["machine"]
    # A record grows: rows that were added later have their commits.
    given = [record["commit"], *(row["commit"] for row in record["rows"] if "commit" in row)]
    commits = ", ".join(dict.fromkeys((commit or "none")[:10] for commit in given))
    return (
        f"{machine['cpu']}, {machine['isa']}; {record['date'][:10]}, commit {commits}, `{record['command']}` "
        f"([{name}.json](../benchmarks/records/{name}.json))."
    )
