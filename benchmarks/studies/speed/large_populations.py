"""Time of a generation of large populations on a GPU, as a table and as JSON.

    python benchmarks/studies/speed/large_populations.py --out large.json

Each figure is the median of some fits of Rastrigin's function, by events, after some generations.
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from skde.benchmark import provenance
from skde.benchmark.generations import constant_size, generation_us, new_batch
from skde.benchmark.speed import driver
from skde.engines import choose_device
from skde.problems import get_problem
from skde.utils.validation import check_choice

SETTINGS = [
    *((name, 30, 10**5) for name in ("de", "pso", "jade", "lshade", "sade", "gade", "gode", "lsrtde")),
    *((name, 30, 10**4) for name in ("de", "pso", "jade", "sade", "lsrtde")),
    *((name, dim, pop_size) for name in ("de", "pso") for dim, pop_size in ((100, 10**5), (1000, 10**4), (30, 10**6))),
    ("jade", 30, 10**6),
]
COMPONENTS = 5e7  # of all individuals in all generations of a figure
LEAST = 40  # generations of a figure, so that the start of the kernel is a small part of it
REPEATS = 3


def measure(engine: Any, name: str, dim: int, pop_size: int, dtype: str) -> dict[str, Any]:
    """Return one row: the setting, the team of an individual, and microseconds a generation."""
    problem = get_problem("rastrigin", dim=dim)
    generations = max(LEAST, min(600, int(COMPONENTS / (dim * pop_size))))
    make = partial(new_batch, engine, constant_size(name, pop_size), problem, 1, dtype=dtype)
    times = [generation_us(engine, make, generations, generations // 4) for _ in range(REPEATS)]
    team = make(1).program.plan.team
    return {
        **{"algorithm": name, "dim": dim, "pop_size": pop_size, "dtype": dtype},
        **{"us_per_generation": round(median(times), 2), "team": team},
    }


def main() -> None:
    """Measure all settings."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="also write the record, JSON, to a file")
    parser.add_argument("--algorithms", default="", help="only these, such as de,pso")
    given = parser.parse_args()
    wanted = [name for name in given.algorithms.split(",") if name]
    for name in wanted:
        check_choice("each of --algorithms", name, dict.fromkeys(name for name, _, _ in SETTINGS))
    engine = choose_device("cuda")[0]
    rows = []
    for name, dim, pop_size in SETTINGS:
        for dtype in ("float64", "float32") if not wanted or name in wanted else ():
            rows.append(measure(engine, name, dim, pop_size, dtype))
            print(*rows[-1].values(), flush=True)
    if given.out:
        command = f"python benchmarks/studies/speed/large_populations.py --out {given.out}"
        record = provenance(command) | {"device": engine.name, "driver": driver(engine), "figures": rows}
        given.out.write_text(json.dumps(record, indent=1))


if __name__ == "__main__":
    main()
