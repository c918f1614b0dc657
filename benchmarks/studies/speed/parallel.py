"""Fits on several threads and on several GPUs, next to one, as JSON.

    python benchmarks/studies/speed/parallel.py --out benchmarks/records/parallel-NAME.json

A figure is the time of a generation in a fit of DE on Rastrigin's function, without the fixed cost of a fit: the
difference of a long and a short fit, the median of repeats in which all numbers of threads or GPUs take turns. As many
processes as threads, with one thread each, which share nothing, show how much faster the machine can be.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from multiprocessing import get_context
from statistics import median
from typing import Any, NamedTuple

from skde import Minimizer, find_gpus, get_problem
from skde.algorithms import DE
from skde.benchmark import provenance
from skde.benchmark.records import write_figures
from skde.benchmark.speed import driver
from skde.engines import choose_device
from skde.islands import Migration

REPEATS = 5
SHORT = 20  # generations
ONE_THREAD = {"device": "cpu", "n_jobs": 1}


class Setting(NamedTuple):
    """A batch, and the generations of its long fit on the CPU and on GPUs."""

    dim: int
    pop_size: int
    n_runs: int
    n_islands: int
    cpu: int
    gpu: int
    migrate_every: int = 50


SETTINGS = (
    Setting(30, 100, 64, 1, 300, 20_000),
    Setting(100, 1000, 64, 1, 20, 2000),
    Setting(30, 1000, 1, 64, 30, 4000),
    Setting(30, 1000, 1, 64, 0, 8000, 500),
    Setting(30, 100_000, 2, 1, 20, 2000),
    Setting(100, 2000, 1, 1, 300, 0),
    Setting(30, 50, 1, 1, 10_000, 0),
    Setting(30, 100, 1, 1, 10_000, 0),
    Setting(30, 1000, 1, 1, 1000, 0),
    Setting(30, 10_000, 1, 1, 100, 0),
    Setting(30, 100_000, 1, 1, 15, 0),
    Setting(1000, 1000, 1, 1, 30, 0),
)


# The batch of a process; several processes run at the same time.
ALONE = (
    Setting(30, 100, 4, 1, 5000, 0),
    Setting(100, 2000, 1, 1, 300, 0),
    Setting(30, 100_000, 1, 1, 15, 0),
)


def fit_seconds(setting: Setting, generations: int, **where: Any) -> float:
    """Return the seconds of a fit."""
    minimizer = Minimizer(
        DE(pop_size=setting.pop_size),
        n_runs=setting.n_runs,
        n_islands=setting.n_islands,
        migration=Migration(every=setting.migrate_every) if setting.n_islands > 1 else None,
        max_iter=generations,
        random_state=0,
        **where,
    )
    begin = time.perf_counter()
    minimizer.fit(get_problem("rastrigin", dim=setting.dim))
    return time.perf_counter() - begin


def measure(setting: Setting, generations: int, places: dict[int, dict[str, Any]]) -> dict[str, Any]:
    """Return one row: the setting, and microseconds a generation on each number of threads or GPUs."""
    for where in places.values():
        fit_seconds(setting, SHORT, **where)
    spent: dict[int, list[float]] = {number: [] for number in places}
    for _ in range(REPEATS):
        for number, where in places.items():
            spent[number].append(generation_us(setting, generations, **where))
    return row(setting, {number: median(times) for number, times in spent.items()})


def generation_us(setting: Setting, generations: int, **where: Any) -> float:
    """Return the microseconds of a generation."""
    long, short = (fit_seconds(setting, SHORT + more, **where) for more in (generations, 0))
    return (long - short) / generations * 1e6


def row(setting: Setting, us: dict[int, float]) -> dict[str, Any]:
    """Return a row of the record."""
    return {
        **{"dim": setting.dim, "pop_size": setting.pop_size, "n_runs": setting.n_runs, "n_islands": setting.n_islands},
        **({"migrate_every": setting.migrate_every} if setting.n_islands > 1 else {}),
        "us_per_generation": {str(number): round(time, 3) for number, time in us.items()},
    }


def measure_processes(setting: Setting, number: int) -> dict[str, Any]:
    """Return one row: the time in one process, and in each of several at once, which share nothing but the machine."""
    context, us = get_context("spawn"), {}
    for many in (1, number):
        barrier, times = context.Barrier(many), context.Queue()
        processes = [
            context.Process(target=time_process, args=(setting, barrier, times), daemon=True) for _ in range(many)
        ]
        for process in processes:
            process.start()
        us[many] = median(times.get(timeout=600) for _ in processes)
        for process in processes:
            process.join()
    return row(setting, us)


def time_process(setting: Setting, barrier: Any, times: Any) -> None:
    """Put the time of a generation on one thread into a queue, after all processes have arrived at a barrier."""
    fit_seconds(setting, SHORT, **ONE_THREAD)
    barrier.wait()
    times.put(median(generation_us(setting, setting.cpu, **ONE_THREAD) for _ in range(REPEATS)))


def main(arguments: list[str]) -> None:
    """Measure all settings."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", help="a file for the record, in JSON")
    parser.add_argument("--threads", default="1,2,4,8,16", help="numbers of threads; empty: none")
    given = parser.parse_args(arguments)
    here = provenance(shlex.join(["python", "benchmarks/studies/speed/parallel.py", *arguments]))
    numbers = [int(number) for number in given.threads.split(",") if number]
    threads = {number: {"device": "cpu", "n_jobs": number} for number in numbers}
    gpus, _ = find_gpus()
    names = [f"cuda:{number}" for number in range(gpus)]
    devices = {number: {"device": names[:number]} for number in range(1, gpus + 1)}
    rows: list[dict[str, Any]] = []
    for setting in SETTINGS:
        for part, generations, places in (("threads", setting.cpu, threads), ("GPUs", setting.gpu, devices)):
            if places and generations:
                rows.append({"part": part, **measure(setting, generations, places)})
                print(json.dumps(rows[-1]), flush=True)
    for setting in ALONE if numbers and numbers[-1] > 1 else ():
        rows.append({"part": "processes", **measure_processes(setting, numbers[-1])})
        print(json.dumps(rows[-1]), flush=True)
    if given.out:
        gpu = {"driver": driver(choose_device("cuda")[0])} if gpus else {}
        write_figures(given.out, {**here, **gpu, "figures": rows})


if __name__ == "__main__":
    main(sys.argv[1:])
