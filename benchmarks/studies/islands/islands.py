"""Islands compared with one population: differential evolution with equal evaluations on functions of 100 variables.

python benchmarks/studies/islands/islands.py --runs 15 --evals 1000000
"""

from __future__ import annotations

import argparse
import statistics
import sys
from typing import Any

from skde import DE, Migration, Minimizer
from skde.benchmark import provenance
from skde.benchmark.records import write_figures

PROBLEMS = ("rotated_rastrigin", "zakharov")
SETTINGS: dict[str, dict[str, Any]] = {
    "one population of 250": {"algorithm": DE(pop_size=250)},
    "16 islands of 16": {"algorithm": DE(pop_size=16), "n_islands": 16, "migration": Migration()},
}


def compare(dim: int, evals: int, runs: int, device: str | list[str]) -> list[dict[str, Any]]:
    """Return the best value of every run, for each function and setting."""
    rows = []
    for problem in PROBLEMS:
        for name, setting in SETTINGS.items():
            minimizer = Minimizer(**setting, max_evals=evals, n_runs=runs, device=device, random_state=0)
            found = minimizer.fit(problem, dim=dim).runs_
            best = [run.fun for run in found]
            rows.append({"problem": problem, "setting": name, "median": statistics.median(best), "best": best})
    return rows


def main(arguments: list[str]) -> list[dict[str, Any]]:
    """Compare, print, and write a record if --out names a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dim", type=int, default=100, help="variables (100)")
    parser.add_argument("--evals", type=int, default=1_000_000, help="evaluations of a run (1000000)")
    parser.add_argument("--runs", type=int, default=15, help="runs (15)")
    parser.add_argument("--device", default="auto", help="device (auto), or GPUs that share the runs: cuda:0,cuda:1")
    parser.add_argument("--out", help="a file for the record, in JSON")
    options = parser.parse_args(arguments)
    devices = options.device.split(",")
    rows = compare(options.dim, options.evals, options.runs, devices if len(devices) > 1 else options.device)
    for row in rows:
        print(f"{row['problem']:<20}{row['setting']:<24}median {row['median']:.4g}")
    if options.out:
        settings = {"dim": options.dim, "evals": options.evals, "runs": options.runs, "device": options.device}
        head = provenance(" ".join(["python benchmarks/studies/islands/islands.py", *arguments]))
        write_figures(options.out, {**head, "settings": settings, "figures": rows})
    return rows


if __name__ == "__main__":
    main(sys.argv[1:])
