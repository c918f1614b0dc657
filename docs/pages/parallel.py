"""The section of the page on speed on threads and on several GPUs, from benchmarks/records/parallel-*.json."""

from __future__ import annotations

import json
from typing import Any

from .sources import RECORDS

HEAD = """## Threads and several GPUs

    python benchmarks/studies/speed/parallel.py --out benchmarks/records/parallel-NAME.json

Microseconds of a generation of DE on Rastrigin's function inside a fit, without the fit's fixed cost; the median of
repeats in which all numbers of threads or GPUs take turns. On a CPU a run of fewer than 10000 components (pop_size
times dim) keeps to one thread.

Threads with different runs share nothing. Threads that share a run read rows that others have just written, from the
caches of other cores. So 16 threads make a generation of 10^5 individuals 10 to 15 times as fast as one, which has to
read them from memory, and one of 2000 or 10000 individuals, which fit into a core's cache, only 6 to 8 times.

Processes that share nothing show how much the machine can do: on one with 16 cores 16 of them make 11 to 13 times the
runs of one, in the median of the processes. With all cores at work each is slower. Threads come near it where runs are
long, 12.6 times with 64 runs of D=100, NP=1000. Those of D=30, NP=100 gain 10 times there, and 12 times with 16 threads
on a machine with 32 processors.

A cache line takes long from one core to another: a round trip of a flag between two threads is 250 to 440 ns, nearly
always about 400, on the virtual machine with the Xeon. A run that 16 threads share waits for that. By a trial no two of
the machine's 32 processors share a core: a thread on processor 0, 8, 16 or 24 keeps 0.81 to 1.09 of its speed next to
one on any other processor, nearly always 0.95 to 1.05.

On the machine with 16 cores, by the clocks of 16 threads that share a generation with D=100, NP=2000, thirteen work 1.1
to 1.3 times as long as a sixteenth of one thread's time, and three 0.8 times, but wait for the others. Of 4 threads two
are 1.4 times as fast as the others. So some of these processors share a core, although the system says that none do.

None of these made a generation with D=100, NP=2000 faster, in single trials: to fetch rows eight individuals ahead (134
us instead of 123), two individuals ahead, or into the second cache instead of the first; threads that are bound to
cores, close together or spread (130 and 165 us); and, both in one build, a barrier with a cache line for every thread
and a run's status that is written only at its end.

Two GPUs make 64 runs of D=30, NP=100 little faster than one, because these are short of individuals: 32 runs take 3.5
microseconds on one GPU, and a single run takes 2.1. A migration between GPUs takes about 0.1 ms: they wait for each
other, copy the migrants and start four kernels. So 64 islands of 1000 gain 1.8 times where they migrate every 50
generations, and 2.0 times where they do so every 500. One thread starts the work of all GPUs, which wait for each other
by events.

GPUs share runs and islands, not the population of a run. Its donors are everywhere in the population, so half of it
would cross in every generation: of 10^6 individuals in 30 variables 120 MB, which take NVLink, with 450 GB/s each way,
0.27 ms. One GPU makes the whole generation in 0.45 ms.
"""


def section() -> list[str]:
    """Return the lines of the section."""
    lines = [HEAD]
    for path in sorted(RECORDS.glob("parallel-*.json")):
        record = json.loads(path.read_text())
        for part in dict.fromkeys(row["part"] for row in record["figures"]):
            lines += table(record, path.name, part, [row for row in record["figures"] if row["part"] == part])
    return lines


def table(record: dict[str, Any], name: str, part: str, rows: list[dict[str, Any]]) -> list[str]:
    """Return the table of one part, with the ratio of the first to the last number; of processes, in runs a second."""
    machine = record["machine"]
    where = record["driver"]["gpu"] if part == "GPUs" else f"{machine['cpu']}, {machine['cores']} cores"
    numbers = list(rows[0]["us_per_generation"])
    one = {"processes": "process"}.get(part, part.removesuffix("s"))
    heads = ["setting", *(f"{number} {part if number != '1' else one}" for number in numbers)]
    ratio = "times the runs" if part == "processes" else f"{numbers[0]} / {numbers[-1]}"
    work = int(numbers[-1]) if part == "processes" else 1
    lines = [
        f"{where}; {record['date'][:10]}, commit {record['commit'][:10]} ([{name}](../benchmarks/records/{name})).",
        "",
        f"| {' | '.join([*heads, ratio])} |",
        "|---" * (len(heads) + 1) + "|",
    ]
    for row in rows:
        times = row["us_per_generation"]
        cells = [f"{times[number]:.4g}" for number in numbers]
        lines.append(f"| {setting(row)} | {' | '.join(cells)} | {work * times[numbers[0]] / times[numbers[-1]]:.2f} |")
    return [*lines, ""]


def setting(row: dict[str, Any]) -> str:
    """Return the name of a row."""
    counts = ((row["n_runs"], "runs"), (row["n_islands"], "islands"))
    batch = [f"{count} {name}" for count, name in counts if count > 1]
    if row["n_islands"] > 1:
        batch.append(f"migration every {row.get('migrate_every', 50)}")
    return ", ".join([f"D={row['dim']}, NP={row['pop_size']}", *batch])
