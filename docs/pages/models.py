"""The tables of certified regressions in docs/models.md, between two marks, from benchmarks/records/nist*.json."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .sources import DOCS, RECORDS, joined

RECORD, WITHOUT_RESIDUALS = RECORDS / "nist.json", RECORDS / "nist-auto.json"
BEGIN = "<!-- Made by docs/render.py from benchmarks/records/nist.json, up to the next mark. -->"
END = "<!-- The end of what is made. -->"
SOLVED = 6  # digits


def page() -> str:
    """Return the page with a new table."""
    before, rest = (DOCS / "models.md").read_text().split(BEGIN)
    records = [json.loads(path.read_text()) for path in (RECORD, WITHOUT_RESIDUALS)]
    text = "\n".join([*table(records[0]), "", *without_residuals(records[1])])
    return f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}"


def table(record: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the section."""
    rows, seeds = record["figures"], record["settings"]["seeds"]
    given, free = ({row["set"]: row for row in rows if row["signs"] == signs} for signs in (True, False))
    solved = [sum(min(row["digits"]) >= SOLVED for row in some.values()) for some in (given, free)]
    yield (
        f"NIST certifies the parameters of {len(given)} nonlinear regressions to 11 digits. `ModelRegressor` fits them "
        "with its defaults, from boxes of 0 to 10 times the largest of NIST's two starts and the certified value of "
        f"each parameter. With the signs of the parameters given, {solved[0]} of {len(given)} sets have at least "
        f"{SOLVED} digits in all parameters with each of {seeds} seeds; without them, from boxes of -10 to 10 times, "
        f"{solved[1]} of {len(free)}."
    )
    yield ""
    yield (
        "Digits are those that all parameters have in common with the certified ones, the fewest of all seeds. Terms "
        "of a sum that are alike, such as two peaks, count in any order, and so do signs without an effect. Standard "
        "errors are those of the best seed, with the signs given. Evaluations are the calls of the model in a fit, "
        "seconds those of one processor."
    )
    yield ""
    yield (
        "| set | level | parameters, linear | digits | of standard errors | evaluations | seconds | "
        "digits, no signs | evaluations | seconds |"
    )
    yield "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|"
    for name, row in given.items():
        yield (
            f"| {name} | {row['level']} | {row['parameters']}, {row['linear']} | {min(row['digits'])} | "
            f"{row['standard_error_digits']} | {figures(row)} | {min(free[name]['digits'])} | {figures(free[name])} |"
        )
    yield ""
    yield f"From [nist.json](../benchmarks/records/nist.json), on {record['machine']['cpu']}:"
    yield ""
    yield f"- {record['date'][:10]}, commit {record['commit'][:10]}: `{record['command']}`"


def without_residuals(record: dict[str, Any]) -> Iterator[str]:
    """Yield the lines on fits that see the sum of squares only."""
    rows, settings = record["figures"], record["settings"]
    labels = list(record["solved"])
    once = {label: sum(max(row[label]) >= settings["digits"] for row in rows) for label in labels}
    left = {label: [row["set"] for row in rows if min(row[label]) < settings["digits"]] for label in labels[:2]}
    counts = ", ".join(f"{record['solved'][label]} ({once[label]}) with `{label}`" for label in labels)
    by_seed = joined([str(solved) for solved in record["by_seed"]["auto"]])
    yield (
        "Residuals and linear parameters are what makes these fits easy. `Minimizer` sees the sum of squares only. "
        f"With {settings['evals']} evaluations for each parameter, and the signs given, it finds {settings['digits']} "
        f"digits with each of {settings['seeds']} seeds (in brackets: with one seed at least) on these numbers of the "
        f"{len(rows)} sets: {counts}. With one seed after the other `auto` finds them on {by_seed} sets. "
        f"{'; '.join(f'`{label}` misses {joined(names)}' for label, names in left.items())}. In the narrow valleys of "
        "Bennett5, MGH10 and the three of Lanczos `arrde` gets slow, and Nelder-Mead, with which `auto` ends, does "
        "not. On Gauss2, Gauss3 and Thurber the search often ends in another minimum."
    )
    yield ""
    yield f"| set | {' | '.join(f'`{label}`' for label in labels)} |"
    yield f"|---|{'---|' * len(labels)}"
    for row in rows:
        cells = (", ".join(f"{one:g}" if one > 0 else "0" for one in row[label]) for label in labels)
        yield f"| {row['set']} | {' | '.join(cells)} |"
    yield ""
    yield "The table has the digits of every seed; 0 means none."
    yield "From [nist-auto.json](../benchmarks/records/nist-auto.json), on"
    yield f"{record['machine']['cpu']}, {record['date'][:10]}, commit {record['commit'][:10]}: `{record['command']}`"


def figures(row: dict[str, Any]) -> str:
    """Return the cells of mean evaluations and seconds."""
    return f"{round(sum(row['n_evals']) / len(row['n_evals']))} | {row['cpu_seconds']}"
