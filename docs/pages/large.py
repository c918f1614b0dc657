"""The section of the page on speed on large populations, from docs/benchmarks/large-*.json."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[1]
HEAD = """## Large populations on a GPU

    python benchmarks/speed/large_populations.py --out docs/benchmarks/large-NAME.json

Microseconds of a generation of Rastrigin's function. Figures next to evosax and EvoX, in one run, are above. There EvoX
is faster in float32 in DE with D=100, NP=10^5 (0.97 of our time), evosax in PSO with D=100, NP=10^4 (0.93), and both in
PSO with D=10^4, NP=1000 (0.82).
"""
LIMITS = """The limits, from hardware counters of two generations: the rate of the memory and its share of the peak; the
shares of the L2 cache, of the issue slots and of the resident warps that are used; and how long a warp waits for memory
and for barriers, in instructions that others issue. No setting is near the limit of the memory or of the issue slots:
they wait. A thread needs 80 to 255 registers, which leaves 12 to 37 % of the warps, and the steps of an individual
follow each other: its random words, its rows, its value, its survivor. More warps with fewer registers take longer,
because values go to memory and come back; with fewer warps than here fewer loads are under way.

Near the start of a run nearly every trial leaves the box. By the samples of instructions, the pass that repaired its
components was 18 % of a generation of DE with D=100, NP=10^5 in float32, and 25 % with D=1000, NP=10^4, because it
waited for each component. Now a component is repaired before it is stored. Terms of a sum that have no branch between
them, and exchanges of lanes with a constant mask where a whole warp works together, save another 5 to 10 %. By the
samples, teams of DE with NP=10^5 in float64 wait at two barriers of all blocks for 12 of 51 microseconds.

JADE's family takes 3.3 to 3.8 times de's time with NP=10^5 in float64, and 3.9 to 4.3 times in float32. Its trials take
about twice de's, because a row is found by its rank first; the rest are six stages of sorting, along with which the
algorithm adapts, and one that finds the best. They end with barriers of all blocks. Before the adaptation went along
with sorting, by the clock of one multiprocessor the trials were 40 % of a generation of jade with NP=10^5, sorting
34 %, sums and archive 20 %, and the best 3 %. Half of the time of sorting is the wait for the largest bucket of values.
Samples from the sorted values of the generation before make buckets of nearly equal sizes and shorten that wait to a
seventh; but generations are only 3 % shorter in the mean, and where all values are new, as after a restart, one bucket
has them all. Sixteen or 32 keys of a bucket at a time instead of 8 take registers from the trials, which then take
longer.

L-SRTDE and RDEx compete slot by slot, which one team does, so the time of a generation grows with the population.

PSO with 1000 variables in float64 reads and writes five rows of 8000 bytes for a particle or more, at half of the
memory's rate: with three blocks on a multiprocessor it takes less time than with two or four. The counters are older
than the marks of kept points and the repair in registers: the former shorten PSO's generation with D=1000, NP=10^4 in
float64 from 199 to 188 microseconds, the latter from 184 to 158, each measured in one call on an H200.

The aims were 180 microseconds for DE with D=100, NP=10^5 and 160 for PSO with D=1000, NP=10^4, both in float64: they
are reached. That of three times de for JADE's family is not; de has gained more than the family.
"""


def section() -> list[str]:
    """Return the lines of the section."""
    lines = [HEAD]
    for path in sorted((DOCS / "benchmarks").glob("large-*.json")):
        record = json.loads(path.read_text())
        made = f"{record['driver']['gpu']}, {record['date'][:10]}, commit {record['commit'][:10]}"
        lines += [f"{made} ([{path.name}](benchmarks/{path.name})).", ""]
        lines += times(record["figures"]) + counters(record.get("counters", []))
    return lines


def times(rows: list[dict[str, Any]]) -> list[str]:
    """Return the table of times."""
    found = {(row["algorithm"], row["dim"], row["pop_size"], row["dtype"]): row["us_per_generation"] for row in rows}
    lines = ["| algorithm | D | NP | float64 | float32 |", "|---|---|---|---|---|"]
    for name, dim, pop_size in dict.fromkeys(key[:3] for key in found):
        ours = [f"{found[key]:.4g}" if (key := (name, dim, pop_size, dtype)) in found else "" for dtype in DTYPES]
        lines.append(f"| {name} | {dim} | {pop_size} | {' | '.join(ours)} |")
    return [*lines, ""]


DTYPES = ("float64", "float32")
COLUMNS = {
    **{"GB/s": "dram_gb_per_second", "of peak, %": "dram_percent", "L2, %": "l2_percent", "issue, %": "issue_percent"},
    **{"warps, %": "warps_percent", "waits, memory": "stalled_by_memory", "waits, barriers": "stalled_by_barriers"},
}


def counters(rows: list[dict[str, Any]]) -> list[str]:
    """Return the table of hardware counters."""
    if not rows:
        return []
    lines = [LIMITS, f"| setting | {' | '.join(COLUMNS)} |", "|---" * (len(COLUMNS) + 1) + "|"]
    for row in rows:
        setting = f"{row['algorithm']}, D={row['dim']}, NP={row['pop_size']}, {row['dtype']}"
        cells = ["" if row[key] is None else str(row[key]) for key in COLUMNS.values()]
        lines.append(f"| {setting} | {' | '.join(cells)} |")
    return [*lines, ""]
