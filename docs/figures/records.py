"""Records, the sources of their figures, and tables in Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from skde.algorithms import ALGORITHMS
from skde.benchmark.records import Record, read_record

RECORDS = Path(__file__).resolve().parents[2] / "benchmarks" / "records"


@cache
def read(name: str) -> dict[str, Any]:
    """Return a record."""
    record: dict[str, Any] = json.loads((RECORDS / f"{name}.json").read_text())
    return record


@cache
def read_cells(name: str) -> Record:
    """Return a record of `skde bench run` or `skde reproduce` with whole cells."""
    return read_record(RECORDS / f"{name}.json")


def names_of(pattern: str) -> list[str]:
    """Return the names of records that match a pattern."""
    return [path.stem for path in sorted(RECORDS.glob(f"{pattern}.json"))]


def table(heads: Sequence[Any], rows: Iterable[Sequence[Any]], right: bool = False) -> list[str]:
    """Return a table; `right` aligns all columns but the first to the right."""
    marks = ["---", *["---:" if right else "---"] * (len(heads) - 1)]
    return [*(f"| {' | '.join(map(str, row))} |" for row in (heads, marks, *rows)), ""]


def source(name: str) -> list[str]:
    """Return machine, day, commits, command and file of a record."""
    record = read(name)
    machine, driver = record.get("machine", {}), record.get("driver")
    # A record grows: its cells, rows and earlier commands have their processors and commits.
    parts = [*record.get("sources", record.get("earlier", [])), record]
    parts += [row for key in ("rows", "figures") for row in record.get(key, ()) if "commit" in row]
    processors = ", ".join(dict.fromkeys(part["cpu"] for part in [machine, *parts] if "cpu" in part))
    where = driver["gpu"] if driver else machine.get("gpu", f"{processors}, {machine.get('isa')}")
    commits = ", ".join(dict.fromkeys(str(part["commit"])[:10] for part in parts))
    after = f" after {record['before'][:10]}" if "before" in record else ""
    note = f"; {record['note']}" if "note" in record else ""
    made = f"{where}; {record['date'][:10]}, commit {commits}{after}, `{record['command']}`{note}"
    return [f"{made} ([{name}.json](../benchmarks/records/{name}.json)).", ""]


def link(algorithm: str) -> str:
    """Return an optimizer's name, as a link if it is an algorithm of skde."""
    name = algorithm.partition(":")[0]
    return f"[`{algorithm}`](algorithms/{name}.md)" if name in ALGORITHMS else f"`{algorithm}`"
