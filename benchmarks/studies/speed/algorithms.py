"""Microseconds of a generation of every algorithm inside the engine of the CPU, one thread, and the ratio to de's.

python benchmarks/studies/speed/algorithms.py --out benchmarks/records/algorithms-cpu.json

It is the part of `skde bench speed` that needs no other library: Rastrigin's function in 30 variables, 100 individuals
throughout, 2000 generations after 100; the algorithms take turns.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from typing import Any

from skde.benchmark import provenance
from skde.benchmark.generations import measure_generations
from skde.benchmark.records import write_figures
from skde.engines.cpu import CpuEngine


def main(arguments: list[str]) -> list[dict[str, Any]]:
    """Measure, print, and write a record if --out names a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", help="a file for the record, in JSON")
    options = parser.parse_args(arguments)
    here = provenance(shlex.join(["python", "benchmarks/studies/speed/algorithms.py", *arguments]))
    rows = measure_generations(CpuEngine(1), print)
    for row in rows:
        print(f"{row['algorithm']:<22}{row['median']:10.2f} us{row['ratio to de']:8.2f}")
    if options.out:
        rows = [{**row, "repeats": [round(one, 2) for one in row["repeats"]]} for row in rows]
        write_figures(options.out, {**here, "figures": rows})
    return rows


if __name__ == "__main__":
    main(sys.argv[1:])
