"""The section of the page on speed on large populations, from benchmarks/records/large-*.json."""

from __future__ import annotations

import json
from typing import Any

from .sources import RECORDS

HEAD = """## Large populations on a GPU

    python benchmarks/studies/speed/large_populations.py --out benchmarks/records/large-NAME.json

Microseconds of a generation of Rastrigin's function. Figures next to evosax and EvoX, in one run, are above. There a
peer is faster in one setting of float32: evosax in PSO with D=10^4, NP=1000 (0.81 of our time). In float64 both are
faster in this setting (evosax 0.85, EvoX 0.76), in no other. The peers' float32 is faster than our float64 in six
more: DE with D=30, NP=10^6, with D=100, NP=10^5, and by 1 % with D=10^4, NP=1000; PSO with D=100, NP=10^5, and with
D=1000, NP=10^4 and NP=1000.
"""
LIMITS = """The limits, from hardware counters of two generations: the rate of the memory and its share of the peak;
the shares of the L2 cache, of the issue slots and of the resident warps that are used; and how long a warp waits
for memory and for barriers, in instructions that others issue. No setting is near the limit of the memory or of the
issue slots: they wait. A thread needs 80 to 255 registers, which leaves 12 to 37 % of the warps, and the steps of
an individual follow each other: its random words, its rows, its value, its survivor. More warps with fewer
registers take longer, because values go to memory and come back; with fewer warps than here fewer loads are under
way.

Near the start of a run nearly every trial leaves the box. By the samples of instructions, the pass that repaired
its components was 18 % of a generation of DE with D=100, NP=10^5 in float32, and 25 % with D=1000, NP=10^4, because
it waited for each component. Now a component is repaired before it is stored. Terms of a sum that have no branch
between them, and exchanges of lanes with a constant mask where a whole warp works together, save another 5 to 10 %.

A generation of DE needs the best value for the history. A stage that finds it, with its barrier, and the teams that
then read the bests of all pieces took 12 of 50 microseconds with NP=10^5, by the clock of the multiprocessor of the
first team. Now each team joins the best of its individuals into one word, by an atomic maximum, which takes no
stage.

JADE's family takes 3.2 to 3.5 times de's time with NP=10^5 in float64, and 3.6 to 4.0 times in float32. With NP=10^6
jade takes 3.0 times de's time in float64. By the clock
of the first team's multiprocessor the trials are 73 of 150 microseconds of a generation of jade in float64, twice
de's, because a row is found by its rank first, and a thread needs 255 registers. So few warps are there, and they wait
for one load after another: they issue an instruction in a quarter of the cycles, and the memory and the L2 cache are
nearly idle. By trials with parts left out, sorting took 30 of the other microseconds, the sums that adapt 18 and the
archive 14. The terms of a sum join one after another, so a quarter of the sums goes along with each of four stages
of sorting. It is the work of 24 warps that do not sort, which saves 8 microseconds. None of these made a generation
shorter: rows fetched up to eight individuals ahead (155 microseconds), no stage for the samples' keys (158), keys that
every lane loads instead of passing them on (176), half as many samples (161), and three or four blocks on a
multiprocessor, also where the stages are functions apart: with 168 registers the trials take 97 microseconds. Samples
from the order of the generation before would make buckets of nearly equal sizes, but where all values are new, as
after a restart, one bucket would have them all.

L-SRTDE and RDEx compete slot by slot, which one team does: half of 2000 microseconds of a generation with NP=10^5.
So the time of a generation grows with the population.

PSO with 1000 variables in float64 reads and writes five rows of 8000 bytes for a particle or more, at half of the
memory's rate: with three blocks on a multiprocessor it takes less time than with two or four. With 10^4 variables in
float32 a block has a particle: it waits for memory, of which it uses a third, in every pass over its row.

The aims were 180 microseconds for DE with D=100, NP=10^5 and 160 for PSO with D=1000, NP=10^4, both in float64:
they are reached. That of three times de for JADE's family is not; de has gained more than the family.
"""


def section() -> list[str]:
    """Return the lines of the section."""
    lines = [HEAD]
    for path in sorted(RECORDS.glob("large-*.json")):
        record = json.loads(path.read_text())
        made = f"{record['driver']['gpu']}, {record['date'][:10]}, commit {record['commit'][:10]}"
        lines += [f"{made} ([{path.name}](../benchmarks/records/{path.name})).", ""]
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
