"""Microseconds of a point of composition functions in 100 variables: skde's kernels and minionpy's C++, one thread.

python benchmarks/studies/speed/compositions.py --out benchmarks/records/compositions-cpu.json

F8 to F10 of janssen2024 with official data are functions 22, 24 and 26 of CEC 2017; the values agree to 1e-10. The two
programs take turns; times are of the processor, so that other programs on the machine hardly count. Ours get an array,
minionpy's the same points as lists, which are made before.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import minionpy
import numpy as np

from skde import get_problem
from skde.benchmark import provenance
from skde.benchmark.records import write_figures

NUMBERS = {"F8": 22, "F9": 24, "F10": 26}  # of the functions in CEC 2017


def microseconds(call: Callable[[], Any], points: int) -> float:
    """Return the processor's time of a point."""
    begin = time.process_time()
    call()
    return 1e6 * (time.process_time() - begin) / points


def compare(name: str, dim: int, points: int, repeats: int) -> dict[str, Any]:
    """Return the medians of one function, and of the ratios of each turn."""
    ours, theirs = get_problem(f"janssen2024/{name}", dim=dim, data="official"), minionpy.CEC2017Functions
    function = theirs(NUMBERS[name], dim)
    X = np.random.default_rng(0).uniform(-100.0, 100.0, (points, dim))
    lists = X.tolist()
    np.testing.assert_allclose(ours(X), np.array(function(lists)) - 100 * NUMBERS[name], rtol=1e-10)
    turns = [
        (microseconds(lambda: ours(X), points), microseconds(lambda: function(lists), points)) for _ in range(repeats)
    ]
    return {
        "function": name,
        "cec2017": NUMBERS[name],
        "dim": dim,
        "skde": round(median(one for one, _ in turns), 3),
        "minionpy": round(median(other for _, other in turns), 3),
        "minionpy / skde": round(median(other / one for one, other in turns), 3),
    }


def main(arguments: list[str]) -> list[dict[str, Any]]:
    """Measure, print, and write a record if --out names a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dim", type=int, default=100, help="variables (100)")
    parser.add_argument("--points", type=int, default=2000, help="points of a call (2000)")
    parser.add_argument("--repeats", type=int, default=11, help="turns (11)")
    parser.add_argument("--out", help="a file for the record, in JSON")
    options = parser.parse_args(arguments)
    here = provenance(shlex.join(["python", "benchmarks/studies/speed/compositions.py", *arguments]))
    rows = [compare(name, options.dim, options.points, options.repeats) for name in NUMBERS]
    for row in rows:
        print(row)
    if options.out:
        settings = {"points": options.points, "repeats": options.repeats}
        write_figures(options.out, {**here, "settings": settings, "figures": rows})
    return rows


if __name__ == "__main__":
    main(sys.argv[1:])
