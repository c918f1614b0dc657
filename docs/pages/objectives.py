"""The table of forms in docs/objectives.md, between two marks, from the record benchmarks/records/objectives.json."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from .sources import RECORDS

DOCS = Path(__file__).resolve().parents[1]
RECORD = RECORDS / "objectives.json"
BEGIN = "<!-- Made by docs/render.py from benchmarks/records/objectives.json, up to the next mark. -->"
END = "<!-- The end of what is made. -->"
MEANINGS = {
    "name": '`fit("rastrigin")`',
    "DeviceObjective": "`DeviceObjective`, its compilation not counted",
    "f(X)": "`f(X)` of NumPy arrays",
    "f(X), ask and tell": "`f(X)` of NumPy arrays, with `ask` and `tell`",
    "f(x)": "`f(x)` of one point",
    "SciPy, vectorized": "SciPy's `differential_evolution`, `vectorized=True`",
    "SciPy": "SciPy's `differential_evolution`, one point a call",
    "f(x), 1 ms": "`f(x)` that waits 1 ms",
}


def page() -> str:
    """Return the page with a new table."""
    before, rest = (DOCS / "objectives.md").read_text().split(BEGIN)
    text = "\n".join(table(json.loads(RECORD.read_text())))
    return f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}"


def table(record: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the table."""
    spent = {row["form"]: median(row["us"]) for row in record["figures"]}
    jobs = record["settings"]["jobs"]
    meanings = {**MEANINGS, f"f(x), 1 ms, n_jobs={jobs}": f"the same with `n_jobs={jobs}`"}
    yield "| form | microseconds an evaluation | ratio |"
    yield "|---|---:|---:|"
    for form, time in spent.items():
        ratio = "" if "1 ms" in form else f"{time / spent['name']:.1f}"  # of another function
        yield f"| {meanings[form]} | {time:.{2 if time < 10 else 1 if time < 100 else 0}f} | {ratio} |"
    yield ""
    yield (
        f"Medians of {record['settings']['repeats']} repeats in turn; {record['machine']['cpu']}, "
        f"{record['date'][:10]}, commit {record['commit'][:10]}, `{record['command']}` "
        "([objectives.json](../benchmarks/records/objectives.json))."
    )
