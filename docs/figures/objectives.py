"""The times of the forms of an objective."""

from __future__ import annotations

from statistics import median

from .records import read, source, table

NAME = "objectives"
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


def costs() -> list[str]:
    """Return the table of times."""
    record = read(NAME)
    spent = {row["form"]: median(row["us"]) for row in record["figures"]}
    jobs = record["settings"]["jobs"]
    meanings = {**MEANINGS, f"f(x), 1 ms, n_jobs={jobs}": f"the same with `n_jobs={jobs}`"}
    rows = [
        # A function that waits is another one: its time has no ratio.
        (meanings[form], digits(time), "" if "1 ms" in form else f"{time / spent['name']:.1f}")
        for form, time in spent.items()
    ]
    about = f"Medians of {record['settings']['repeats']} repeats in turn. {source(NAME)[0]}"
    return [*table(["form", "microseconds an evaluation", "ratio"], rows, right=True), about]


def digits(time: float) -> str:
    """Return a time with three digits, or more before the point."""
    return f"{time:.{2 if time < 10 else 1 if time < 100 else 0}f}"
