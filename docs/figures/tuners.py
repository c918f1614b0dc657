"""The comparison of tuners."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .records import names_of, read, source, table

# The first table has all records but earlier tasks and repeated comparisons. The second has the comparisons
# that were repeated with other seeds. The third, of presets and the irace that they follow, has earlier tasks too.
EARLIER, AGAIN = "tuners-irace", "-again"
NAMES = names_of("tuners*")
ONCE = [name for name in NAMES if not name.endswith(AGAIN)]

# Rows by task and tuner, in the order of the records.
Rows = dict[str, dict[str, dict[str, Any]]]


def rows_of(names: Iterable[str]) -> Rows:
    """Return the rows of records; of the same tuner on the same task, the last one."""
    rows: Rows = {}
    for name in names:
        for row in read(name)["figures"]:
            rows.setdefault(row["task"], {})[row["tuner"]] = row
    return rows


def medians() -> list[str]:
    """Return the table of all tuners."""
    return table_of(rows_of(name for name in ONCE if not name.startswith(EARLIER)))


def medians_again() -> list[str]:
    """Return the table of the comparisons that were repeated."""
    return table_of(rows_of(name for name in NAMES if name not in ONCE))


def table_of(rows: Rows) -> list[str]:
    """Return the medians, and p of the test that the first tuner is better."""
    first = next(iter(next(iter(rows.values()))))
    times = {task: len(found[first]["values"]) for task, found in rows.items()}
    tuners = dict.fromkeys(tuner for found in rows.values() for tuner in found)
    return table(
        ["tuner", *(f"{task}, {n} times" for task, n in times.items())],
        ([tuner, *(cell(rows[task].get(tuner), tuner != first, times[task]) for task in rows)] for tuner in tuners),
    )


def cell(row: dict[str, Any] | None, compared: bool, times: int) -> str:
    """Return a table cell: median, p, and the number of repetitions if it differs from the others."""
    if row is None:
        return "-"
    n = len(row["values"])
    notes = [f"{row['p']:.2g}"] * compared + [f"{n} times"] * (n != times)
    return f"{row['median']:.3f}" + (f" ({', '.join(notes)})" if notes else "")


def presets() -> list[str]:
    """Return the comparison of each preset with the irace that it follows."""
    lines = []
    for task, found in rows_of(ONCE).items():
        for tuner, row in found.items():
            if "against" in row:
                test, rival = row["against"], found[row["against"]["tuner"]]
                pairs = list(zip(row["values"], rival["values"], strict=False))
                better = f"{sum(own < theirs for own, theirs in pairs)} of {len(pairs)}"
                medians = (f"{one}, {figures['median']:.3f}" for one, figures in ((tuner, row), (test["tuner"], rival)))
                lines.append((task, *medians, better, f"{test['p']:.2g}", f"{test['p_worse']:.2g}"))
    heads = ["task", "preset", "irace", "preset better", "p, better", "p, worse"]
    return [*table(heads, lines), *(line for name in NAMES for line in source(name))]
