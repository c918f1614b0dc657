"""The section of the page on speed on rotated functions, from benchmarks/records/rotations-*.json."""

from __future__ import annotations

import json
from statistics import mean
from typing import Any

from skde.benchmark.papers.janssen2024 import DIM, MODELS, Janssen2024

from .sources import RECORDS, joined, noted

HEAD = """## Rotated functions on a GPU

    python benchmarks/studies/speed/rotations.py --out benchmarks/records/rotations-NAME.json

Seconds of a run of DE on the functions of `janssen2024`, in float64, with the setting of the paper's Table 3: 250
individuals in {dim} variables. They are those of whole fits, of one run and of several runs together; the time of the
second is divided by the number of runs. The paper's figures are those of its fused program, {program}, on another
machine ({machine}); [Reproduction of papers](reproduce.md#janssen2024) has the same model here.

Where many runs are made together, a team of threads evaluates up to four trials of a run together, so that it loads an
element of a rotation matrix once for them. With one run of this size a team has one trial. Populations that shrink have
one trial a team, too. The product with the matrix is a function that is called, so that its sums have the registers,
and the last 4 of 100 rows have a lane for each trial, so that no lane makes a row that it has not. With both, the 30
runs of F8, F9 and F10 take 0.81 to 0.88 times as long as [before](#effects-of-changes), F1 0.98 and F4 0.90 times.

A generation of one run of F1 takes 4.0 microseconds; [one without a matrix](#gpu-float64-microseconds-a-generation)
takes 2.2. A matrix of 80 kB is read from shared memory for each individual, of which most multiprocessors have two.
By count of its cycles that memory takes 1.2 microseconds: for a column 22 cycles of 128 bytes, 14 for the matrix and
8 for z. Reading z by pairs, and reading 10, 20 or 50 columns ahead, changed less than the noise. A sum of 100 terms
in order takes 0.4 microseconds, at the 8.3 cycles of an addition.
"""
PAPER, PROGRAM = Janssen2024.paper, MODELS["fused"]
# Functions -> seconds that one run should take less than, and seconds of a run that many together should take at most.
AIMS = {("F1", "F2"): 0.11, ("F3", "F4"): 0.22, ("F5", "F6", "F7"): 0.35, ("F8", "F9", "F10"): 0.9}
AIM_TOGETHER = 0.1


def section() -> list[str]:
    """Return the lines of the section; none without a record."""
    paths = sorted(RECORDS.glob("rotations-*.json"))
    lines = [HEAD.format(dim=DIM, program=PROGRAM, machine=PAPER.machine)] if paths else []
    for path in paths:
        lines += part(json.loads(path.read_text()), path.name)
    return lines


def part(record: dict[str, Any], name: str) -> list[str]:
    """Return the figures of one record, and which aims they reach."""
    rows, settings = record["figures"], record["settings"]
    where = record["driver"]["gpu"] if record["driver"] else record["machine"]["cpu"]
    return [
        f"{where}; {record['date'][:10]}, commit {record['commit'][:10]}; {settings['evals']} evaluations of a run, "
        f"medians of {settings['repeats']} turns{noted(record)} ([{name}](../benchmarks/records/{name})).",
        "",
        *table(rows, settings["runs"]),
        finding(rows, settings["runs"]),
        "",
    ]


def table(rows: list[dict[str, Any]], runs: int) -> list[str]:
    """Return the table of seconds, with the paper's, and their ratio to those of one run."""
    names = [row["function"] for row in rows]
    columns = (
        [row["alone"] for row in rows],
        [row["together"] for row in rows],
        [PAPER.tables["3"].value("seconds", PROGRAM, name) for name in names],
    )
    lines = [f"| function | one run | {runs} together, each | paper | paper / one run |", "|---|---|---|---|---|"]
    for name, alone, together, paper in zip(
        [*names, "mean"], *([*times, mean(times)] for times in columns), strict=True
    ):
        lines.append(f"| {name} | {alone:.3f} | {together:.3f} | {paper:.2f} | {paper / alone:.2f} |")
    return [*lines, ""]


def finding(rows: list[dict[str, Any]], runs: int) -> str:
    """Return the aims, the functions on which one run reaches them, and whether the mean of runs together does."""
    aims = {name: limit for names, limit in AIMS.items() for name in names}
    ratio = {row["function"]: row["alone"] / aims[row["function"]] for row in rows}
    missed = [f"{name} ({times:.2f} times the aim)" for name, times in ratio.items() if times >= 1]
    average = mean(row["together"] for row in rows)
    verdict = "within the aim" if average <= AIM_TOGETHER else f"{average / AIM_TOGETHER:.2f} times the aim"
    limits = joined(f"{limit:g} s ({', '.join(names)})" for names, limit in AIMS.items())
    reached = [name for name, times in ratio.items() if times < 1]
    sentences = [
        f"The aim for one run was less than {limits}; for {runs} runs together at most {AIM_TOGETHER:g} s each, in the",
        "mean of the functions.",
        *([f"One run reaches it on {joined(reached) if missed else 'every function'}."] if reached else []),
        *([f"One run takes longer on {joined(missed)}."] if missed else []),
        f"With {runs} together the mean is {average:.3f} s, {verdict}.",
    ]
    return " ".join(sentences)
