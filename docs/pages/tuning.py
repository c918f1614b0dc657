"""The tables of tuners in docs/tuning.md, between two marks, from the records benchmarks/records/tuners*.json."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .sources import RECORDS

DOCS = Path(__file__).resolve().parents[1]
# The first table has all records but those of earlier tasks and of repeated comparisons. The second has the comparisons
# that were repeated with other seeds. The third, of presets and the irace that they follow, has earlier tasks too.
EARLIER, AGAIN = "tuners-irace", "-again"
BEGIN = "<!-- Made by docs/render.py from benchmarks/records/tuners*.json, up to the next mark. -->"
END = "<!-- The end of what is made. -->"

# Rows by task and tuner, in the order of the records.
Rows = dict[str, dict[str, dict[str, Any]]]


def page() -> str:
    """Return the page with new tables."""
    before, rest = (DOCS / "tuning.md").read_text().split(BEGIN)
    text = "\n".join(tables())
    return f"{before}{BEGIN}\n\n{text}\n{END}{rest.split(END)[1]}"


def tables() -> Iterator[str]:
    """Yield the lines of the tables and their sources."""
    files = sorted(RECORDS.glob("tuners*.json"))
    records = {file.stem: json.loads(file.read_text()) for file in files}
    again = {name: record for name, record in records.items() if name.endswith(AGAIN)}
    once = {name: record for name, record in records.items() if name not in again}
    yield from all_tuners(rows_of({name: record for name, record in once.items() if not name.startswith(EARLIER)}))
    yield ""
    yield from all_tuners(rows_of(again))
    yield ""
    yield from presets_and_irace(rows_of(once))
    yield ""
    yield from sources(records)


def rows_of(records: dict[str, dict[str, Any]]) -> Rows:
    """Return the rows of records; of the same tuner on the same task, that of the last record."""
    rows: Rows = {}
    for record in records.values():
        for row in record["figures"]:
            rows.setdefault(row["task"], {})[row["tuner"]] = row
    return rows


def sources(records: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Yield the list of records."""
    yield "From these records, which have the commands that made them:"
    yield ""
    for name, record in records.items():
        where = f"{record['machine']['cpu']}, {record['date'][:10]}, commit {record['commit'][:10]}"
        yield f"- [{name}.json](../benchmarks/records/{name}.json): {where}"
    yield ""


def all_tuners(rows: Rows) -> Iterator[str]:
    """Yield the medians, and p of the test that the first tuner is better."""
    first = next(iter(next(iter(rows.values()))))
    times = {task: len(found[first]["values"]) for task, found in rows.items()}
    yield "| tuner | " + " | ".join(f"{task}, {n} times" for task, n in times.items()) + " |"
    yield "|---|" + "---|" * len(rows)
    for tuner in dict.fromkeys(tuner for found in rows.values() for tuner in found):
        cells = [cell_text(found.get(tuner), tuner != first, times[task]) for task, found in rows.items()]
        yield f"| {tuner} | {' | '.join(cells)} |"


def cell_text(row: dict[str, Any] | None, compared: bool, times: int) -> str:
    """Return a table cell: median, p, and the number of repetitions if it differs from the others."""
    if row is None:
        return "-"
    n = len(row["values"])
    notes = [f"{row['p']:.2g}"] * compared + [f"{n} times"] * (n != times)
    return f"{row['median']:.3f}" + (f" ({', '.join(notes)})" if notes else "")


def presets_and_irace(rows: Rows) -> Iterator[str]:
    """Yield the comparison of each preset with the irace that it follows."""
    yield "| task | preset | irace | preset better | p, better | p, worse |"
    yield "|---|---|---|---|---|---|"
    for task, found in rows.items():
        for tuner, row in found.items():
            if "against" not in row:
                continue
            comparison = row["against"]
            rival = found[comparison["tuner"]]
            pairs = list(zip(row["values"], rival["values"], strict=False))
            better = f"{sum(own < theirs for own, theirs in pairs)} of {len(pairs)}"
            medians = f"{tuner}, {row['median']:.3f} | {rival['tuner']}, {rival['median']:.3f}"
            yield f"| {task} | {medians} | {better} | {comparison['p']:.2g} | {comparison['p_worse']:.2g} |"
