"""Seconds of the trials of janssen2024, functions with rotations, as JSON: one run, and several runs together.

    python benchmarks/studies/speed/rotations.py --out benchmarks/records/rotations-NAME.json

The setting is from Table 3: 250 individuals of DE in 100 variables, 10,000,000 evaluations. A figure is the median
of whole fits after a short one; fits of one run and of several take turns.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from functools import partial
from statistics import median
from typing import Any

from skde import Minimizer, get_problem
from skde.benchmark import provenance
from skde.benchmark.papers.janssen2024 import DIM, EVALS, FUNCTIONS, optimizer
from skde.benchmark.records import write_figures
from skde.benchmark.speed import driver
from skde.engines import choose_device
from skde.utils.validation import check_choice

POP_SIZE = 250


def fit_seconds(problem: Any, evals: int, n_runs: int, seed: int, device: str) -> float:
    """Return the seconds of a fit."""
    minimizer = Minimizer(optimizer("de", POP_SIZE), n_runs=n_runs, max_evals=evals, device=device, random_state=seed)
    begin = time.perf_counter()
    minimizer.fit(problem)
    return time.perf_counter() - begin


def measure(function: str, evals: int, runs: int, repeats: int, device: str) -> dict[str, Any]:
    """Return one row: the seconds of a fit of one run, and of a run where `runs` are made together."""
    seconds = partial(fit_seconds, get_problem(f"janssen2024/{function}", dim=DIM), device=device)
    for n_runs in (1, runs):
        seconds(2 * POP_SIZE, n_runs, 0)  # compiles
    turns = [(seconds(evals, 1, seed), seconds(evals, runs, seed)) for seed in range(repeats)]
    return {
        "function": function,
        "alone": round(median(alone for alone, _ in turns), 6),
        "together": round(median(together for _, together in turns) / runs, 6),
    }


def main(arguments: list[str]) -> list[dict[str, Any]]:
    """Measure, print, and write a record if --out names a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", help="a file for the record, in JSON")
    parser.add_argument("--device", default="cuda", help="such as cpu (cuda)")
    parser.add_argument("--evals", type=int, default=EVALS, help=f"evaluations of a run ({EVALS})")
    parser.add_argument("--runs", type=int, default=30, help="runs that are made together (30)")
    parser.add_argument("--repeats", type=int, default=3, help="turns (3)")
    parser.add_argument("--functions", default=",".join(FUNCTIONS), help="only these, such as F1,F2")
    options = parser.parse_args(arguments)
    functions = [check_choice("each of --functions", name, FUNCTIONS) for name in options.functions.split(",")]
    engine = choose_device(options.device)[0]
    here = provenance(shlex.join(["python", "benchmarks/studies/speed/rotations.py", *arguments]))
    rows = []
    for function in functions:
        rows.append(measure(function, options.evals, options.runs, options.repeats, options.device))
        print(json.dumps(rows[-1]), flush=True)
    if options.out:
        settings = {name: getattr(options, name) for name in ("evals", "runs", "repeats")}
        gpu = None if options.device == "cpu" else driver(engine)
        record = {**here, "device": options.device, "driver": gpu, "settings": settings, "figures": rows}
        write_figures(options.out, record)
    return rows


if __name__ == "__main__":
    main(sys.argv[1:])
