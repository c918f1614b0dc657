"""The regressions that NIST certifies."""

from __future__ import annotations

from statistics import mean
from typing import Any

from .records import read, source, table

NAME, WITHOUT_RESIDUALS = "nist", "nist-auto"
HEADS = ["set", "level", "parameters, linear", "digits", "of standard errors", "evaluations", "seconds"]
HEADS += ["digits, no signs", "evaluations", "seconds"]


def compare_with_certified() -> list[str]:
    """Return the digits and costs of every set, with the signs of the parameters given and without."""
    rows = read(NAME)["figures"]
    given, free = ({row["set"]: row for row in rows if row["signs"] == signs} for signs in (True, False))
    cells = []
    for name, row in given.items():
        kind = (row["level"], f"{row['parameters']}, {row['linear']}")
        digits = (min(row["digits"]), row["standard_error_digits"], *costs(row))
        cells.append((name, *kind, *digits, min(free[name]["digits"]), *costs(free[name])))
    return [*table(HEADS, cells, right=True), *source(NAME)]


def costs(row: dict[str, Any]) -> tuple[int, float]:
    """Return mean evaluations and seconds."""
    return round(mean(row["n_evals"])), row["cpu_seconds"]


def without_residuals() -> list[str]:
    """Return the digits of every seed of fits that see the sum of squares only."""
    record = read(WITHOUT_RESIDUALS)
    labels = list(record["solved"])
    cells = [
        (row["set"], *(", ".join(f"{max(digits, 0):g}" for digits in row[label]) for label in labels))
        for row in record["figures"]
    ]
    return [*table(["set", *(f"`{label}`" for label in labels)], cells), *source(WITHOUT_RESIDUALS)]
