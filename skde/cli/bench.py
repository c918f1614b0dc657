"""The commands `skde bench speed`, `skde bench run` and `skde bench compare`."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

from skde.benchmark import speed, statistics, tables, trials
from skde.benchmark.optimizers import get_optimizer
from skde.benchmark.records import read_record, write_figures
from skde.cli.arguments import add_command, algorithms, check_record_options, names, number, whole, wholes
from skde.cli.output import record_and_show, to_json
from skde.serialization import json_view

RUN_EXAMPLES = """examples:
  skde bench run --suite nashed2012 --algorithms de,jde --dims 10,30 --out runs.json
  skde bench run --suite nashed2012 --algorithms de:F=0.52,CR=0.879,strategy=rand/1/exp,pop_size=48,jde --dims 30
  skde bench run --suite cec2017 --algorithms jde,minionpy:LSHADE --dims 10 --functions f1,f3 --runs 51 --out cec.json
"""


def add_bench(commands: Any) -> None:
    """Add `skde bench` and its measurements."""
    bench = add_command(commands, "bench", "measurements", None, example="skde bench speed --json")
    measurements = bench.add_subparsers(metavar="MEASUREMENT", required=True)
    add_speed(measurements)
    add_run(measurements)
    add_compare(measurements)


def add_speed(commands: Any) -> None:
    """Add `skde bench speed`."""
    what = "speed next to SciPy, pygmo and minionpy where they are installed, as ratios taken in one run"
    example = "skde bench speed --device cuda --out speed.json"
    add = add_command(commands, "speed", what, bench_speed, example).add_argument
    add("--device", default="cpu", help="cpu, cuda or cuda:N (default: cpu)")
    add("--threads", type=whole, default=2, metavar="N", help="of the comparison with one thread (default: 2)")
    add("--seconds", type=number, default=0.2, help="of every repeat of a measurement on the CPU (default: 0.2)")
    add("--out", type=Path, metavar="FILE", help="also write the record, JSON, to a file")


def add_run(commands: Any) -> None:
    """Add `skde bench run`."""
    what = "many runs of several algorithms on the functions of a suite"
    add = add_command(commands, "run", what, bench_run, RUN_EXAMPLES).add_argument
    add(
        "--suite",
        required=True,
        metavar="NAME",
        help="nashed2012, nashed2012-as-run, qin2012, or cec2017 (needs minionpy)",
    )
    add(
        "--algorithms",
        type=algorithms,
        required=True,
        metavar="NAME[:PARAMETER=VALUE,...],...",
        help="see skde algorithms; also minionpy:LSHADE, pygmo:sade and others, where they are installed",
    )
    add("--dims", type=wholes, required=True, metavar="DIM,...", help="variables")
    add("--functions", type=names, metavar="NAME,...", help="of the suite (default: all)")
    add_trials(add, budget="10000*dim")


def add_trials(add: Any, budget: str, runs: str = "30") -> None:
    """Add the options of every quality experiment."""
    add("--runs", type=whole, default=30, help=f"of each algorithm on each function (default: {runs})")
    add(
        "--budget",
        default=budget,
        help="evaluations of a run, as 300000, 1e6 or 10000*dim; or seconds, as 2.5s, in which all runs of an "
        f"algorithm on a function are done side by side (default: {budget})",
    )
    add("--seed", type=whole, default=0, help="the same seed gives the same values (default: 0)")
    add("--device", default="cpu", help="of skde's algorithms: cpu, cuda or cuda:N (default: cpu)")
    add("--n-jobs", type=whole, help="threads of skde's algorithms on the CPU")
    add(
        "--out",
        type=Path,
        metavar="FILE",
        help="write the record, JSON, after every part; parts that FILE has are not run again",
    )


def add_compare(commands: Any) -> None:
    """Add `skde bench compare`."""
    what = "medians, ranks and rank-sum tests of records that skde bench run wrote"
    example = "skde bench compare runs.json --baseline jde"
    add = add_command(commands, "compare", what, bench_compare, example).add_argument
    add("files", nargs="+", type=Path, metavar="FILE", help="records of one suite and budget")
    add(
        "--baseline",
        required=True,
        metavar="ALGORITHM",
        help="the algorithm to compare the others with, by its name in the records",
    )
    add("--zero", type=number, help="errors below are zero (default: 1e-12 for nashed2012, else 1e-8)")


def bench_speed(options: Any) -> int:
    """Measure, print and write the record."""
    check_record_options(options)

    def say(text: str) -> None:
        if sys.stderr.isatty():
            print(f"measuring {text}", file=sys.stderr)

    record = speed.measure(
        options.device, threads=options.threads, seconds=options.seconds, command=options.command_line, say=say
    )
    print(to_json(record) if options.json else speed.table(record))
    if options.out is not None:
        write_figures(options.out, json_view(record, finite=True))
    return 0


def bench_run(options: Any) -> int:
    """Run, and print and write the record."""
    check_record_options(options)
    settings = trials.Settings(
        options.suite, options.budget, options.runs, options.seed, options.device, options.n_jobs
    )

    def show(record: Any) -> None:
        print(to_json(record) if options.json else tables.summary_table(statistics.summary(record)))

    return record_and_show(
        options,
        partial(
            trials.run,
            settings,
            [get_optimizer(name, **parameters) for name, parameters in options.algorithms],
            options.dims,
            options.functions,
        ),
        show,
    )


def bench_compare(options: Any) -> int:
    """Compare the algorithms of some records and print the tables."""
    record = statistics.merge({str(file): read_record(file) for file in options.files})
    comparison = statistics.compare(record, options.baseline, zero=options.zero)
    print(to_json(comparison) if options.json else tables.comparison_table(comparison))
    return 0
