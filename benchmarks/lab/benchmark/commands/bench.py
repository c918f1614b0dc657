"""The commands `skde bench speed`, `run`, `compare` and `report`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from skde.algorithms import ALGORITHMS
from skde.benchmark import report, scale, scale_sizes, scale_table, speed, statistics, tables, trials
from skde.benchmark.commands.experiments import record_and_show
from skde.benchmark.functions import Suite
from skde.benchmark.optimizers import get_optimizer
from skde.benchmark.records import read_runs, write_figures
from skde.benchmark.suites import find_suite
from skde.benchmark.trial_logs import RECORD, TrialLogs
from skde.cli.arguments import (
    InputError,
    add_command,
    algorithms,
    check_record_options,
    integer,
    integer_list,
    names,
    read_number,
    refuse_options,
)
from skde.cli.output import format_json, run_and_show
from skde.engines import choose_device
from skde.utils.serialization import json_view
from skde.utils.validation import DTYPES, check_real

SPEED_EXAMPLES = """examples:
  skde bench speed --device cuda --out speed.json
  skde bench speed --scale --axis population --algorithms de,pso --out scale.json
"""
RUN_EXAMPLES = """examples:
  skde bench run --suite nashed2012 --algorithms de,jde --dims 10,30 --out runs.json
  skde bench run --suite nashed2012 --algorithms de:F=0.52,CR=0.879,strategy=rand/1/exp,pop_size=48,jde --dims 30
  skde bench run --suite cec2017 --algorithms jde,minionpy:LSHADE --dims 10 --functions f1,f3 --runs 51 --out cec.json
  skde bench run --suite bbob --algorithms jde,lshade --dims 2,3,5,10,20 --runs 15 --data coco
  skde bench run --suite ioh:bbob --algorithms jde --dims 5 --runs 10 --data ioh
  skde bench run --suite mymodule:function --algorithms jde,cma:bipop --dims 10 --out mine.json
"""
REPORT_EXAMPLES = """examples:
  mkdir results
  skde bench run --suite qin2012 --algorithms de,jde,shade --dims 10,30 --runs 15 --out results/runs.json
  skde bench report results
"""


def add_bench(commands: Any) -> None:
    """Add `skde bench` and its measurements."""
    bench = add_command(commands, "bench", "measurements", None, example="skde bench speed --json")
    measurements = bench.add_subparsers(metavar="MEASUREMENT", required=True)
    add_speed(measurements)
    add_run(measurements)
    add_compare(measurements)
    add_report(measurements)


def add_speed(commands: Any) -> None:
    """Add `skde bench speed`."""
    what = "speed next to other libraries where they are installed, as ratios taken in one run"
    add = add_command(commands, "speed", what, bench_speed, SPEED_EXAMPLES).add_argument
    add("--device", default="cpu", help="cpu, cuda or cuda:N (default: cpu)")
    add("--threads", type=integer, metavar="N", help="of the comparison with one thread (default: 2); not with --scale")
    add(
        "--seconds",
        type=read_number,
        help="of every repeat of a measurement on the CPU, and with --scale on a GPU too (default: 0.2; --quick: 0.05)",
    )
    add("--out", type=Path, metavar="FILE", help="also write the record, JSON, to a file")
    add("--scale", action="store_true", help="measure over populations, dimensions and runs instead; on one CPU thread")
    add("--algorithms", type=names, metavar="NAME,...", help="of --scale (default: all)")
    add("--dtype", type=names, metavar="NAME,...", help="of --scale: float32, float64 (default: both)")
    add("--axis", type=names, metavar="NAME,...", help=f"of --scale: {', '.join(scale_sizes.AXES)} (default: all)")
    add(
        "--limit",
        type=read_number,
        help="of --scale: longest time of one figure in seconds; it is left out beyond (default: 60)",
    )
    add("--quick", action="store_true", default=None, help="of --scale: sizes up to a million components, 3 repeats")


def add_run(commands: Any) -> None:
    """Add `skde bench run`."""
    what = "many runs of several algorithms on the functions of a suite"
    add = add_command(commands, "run", what, bench_run, RUN_EXAMPLES).add_argument
    add(
        "--suite",
        required=True,
        metavar="NAME",
        help="nashed2012, nashed2012-as-run, qin2012, janssen2024, wang2012; with coco-experiment: bbob, "
        "bbob-constrained, bbob-mixint, bbob-largescale; with ioh: ioh:bbob, ioh:sbox, ioh:cec2022; with minionpy: "
        "cec2011, cec2014, cec2017, cec2019, cec2020, cec2022, bbob2009; or MODULE:NAME of your functions",
    )
    add(
        "--algorithms",
        type=algorithms,
        required=True,
        metavar="NAME[:PARAMETER=VALUE,...],...",
        help="see skde algorithms; also algorithms of scipy, pygmo, minionpy, cma, fcmaes, evosax and evox, such as "
        "minionpy:LSHADE, where they are installed",
    )
    add(
        "--dims",
        type=integer_list,
        metavar="DIM,...",
        help="variables (default: all of the suite, where it has a list)",
    )
    add("--functions", type=names, metavar="NAME,...", help="of the suite (default: all)")
    add(
        "--no-curves",
        action="store_true",
        help="no convergence curves in the record: it is smaller, and skde bench report has no such plots",
    )
    add_trials(add, budget="10000*dim")
    add(
        "--data",
        type=Path,
        metavar="FOLDER",
        help="bbob... and ioh:...: the folder of the platform's files, which cocopp or IOHanalyzer reads, and of the "
        "record, runs.json; run k is on instance k",
    )


def add_trials(add: Any, budget: str, runs: str = "30") -> None:
    """Add the options of every quality experiment."""
    add("--runs", type=integer, default=30, help=f"of each algorithm on each function (default: {runs})")
    add(
        "--budget",
        default=budget,
        help="evaluations of a run, as 300000, 1e6 or 10000*dim; or seconds, as 2.5s, in which all runs of an "
        f"algorithm on a function are done side by side (default: {budget})",
    )
    add("--seed", type=integer, default=0, help="the same seed gives the same values (default: 0)")
    add("--device", default="cpu", help="of skde's algorithms: cpu, cuda or cuda:N (default: cpu)")
    add("--n-jobs", type=integer, help="threads of skde's algorithms on the CPU")
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
    add(
        "--zero",
        type=read_number,
        help="errors below are zero (default: 1e-12 for nashed2012, 1e-14 for wang2012, else 1e-8)",
    )


def add_report(commands: Any) -> None:
    """Add `skde bench report`."""
    what = "one HTML page of a folder of records, with tables, tests and plots; the same as Markdown and CSV"
    add = add_command(commands, "report", what, bench_report, REPORT_EXAMPLES).add_argument
    add("folder", type=Path, metavar="DIR", help="a folder with records, *.json, of skde bench run and speed --scale")
    add("--out", type=Path, metavar="DIR", help="the folder of the report's files (default: DIR/report)")
    add(
        "--baseline",
        metavar="ALGORITHM",
        help="the algorithm to compare the others with, by its name in the records (default: the best, by mean rank)",
    )
    add(
        "--zero",
        type=read_number,
        help="errors up to this are solved (default: 1e-12 for nashed2012, 1e-14 for wang2012, else 1e-8)",
    )


def say(text: str) -> None:
    """Print the name of the next measurement on a terminal."""
    if sys.stderr.isatty():
        print(f"measuring {text}", file=sys.stderr)


def bench_speed(options: Any) -> int:
    """Measure, print and write the record."""
    check_record_options(options)
    if options.scale:
        return bench_scale(options)
    refuse_options(options, ("algorithms", "dtype", "axis", "limit", "quick"), "needs --scale")
    record = speed.measure_speed(
        options.device,
        threads=2 if options.threads is None else options.threads,
        seconds=0.2 if options.seconds is None else options.seconds,
        command=options.command_line,
        say=say,
    )
    show_figures(options, record, speed.format_speed)
    return 0


def bench_scale(options: Any) -> int:
    """Measure over sizes, and print and write the record; after an interruption, of the finished part."""
    refuse_options(options, ("threads",), "has no effect with --scale, which uses one thread of the CPU")
    settings = scale_sizes.ScaleSettings(
        options.algorithms or tuple(ALGORITHMS),
        options.dtype or DTYPES,
        options.axis or tuple(scale_sizes.AXES),
        quick=bool(options.quick),
        repeats=3 if options.quick else 5,
        seconds=options.seconds if options.seconds is not None else 0.05 if options.quick else 0.2,
        limit=60.0 if options.limit is None else options.limit,
    )
    measurement = scale.ScaleMeasurement(choose_device(options.device, 1)[0], settings, say)
    run_and_show(
        measurement.run,
        lambda: show_figures(options, measurement.record(options.command_line), scale_table.format_scale),
    )
    return 0


def show_figures(options: Any, record: dict[str, Any], table: Callable[[dict[str, Any]], str]) -> None:
    """Print a record, as JSON or a table, and write it."""
    print(format_json(record) if options.json else table(record))
    if options.out is not None:
        write_figures(options.out, json_view(record, finite=True))


def bench_run(options: Any) -> int:
    """Run, and print and write the record."""
    check_record_options(options)
    settings = trials.TrialSettings(
        options.suite, options.budget, options.runs, options.seed, options.device, options.n_jobs
    )
    optimizers = [get_optimizer(name, **parameters) for name, parameters in options.algorithms]
    suite = find_suite(options.suite)
    run = partial(
        trials.run_trials, settings, optimizers, options.dims, options.functions, curves=not options.no_curves
    )
    if suite.platform is None:
        refuse_options(options, ("data",), f"is for suites of platforms, such as bbob; {suite.name!r} has no logger")
    else:
        trials.plan_parts(suite, settings, optimizers, options.dims, options.functions)  # before a folder is made
        run = partial(run, logs=prepare_logs(options, suite))

    def show(record: Any) -> None:
        print(format_json(record) if options.json else tables.summary_table(statistics.summary(record)))

    return record_and_show(options, run, show)


def prepare_logs(options: Any, suite: Suite) -> TrialLogs:
    """Return the folder of a platform's files, in which the record is too."""
    assert suite.platform is not None
    if options.data is None:
        raise InputError(f"--suite {suite.name} needs --data FOLDER, for the files that {suite.platform.reader} reads")
    refuse_options(options, ("out",), f"has no effect with --data: the record is {options.data / RECORD}")
    logs = TrialLogs(options.data, suite.name, suite.platform)
    options.out = logs.folder / RECORD
    return logs


def bench_compare(options: Any) -> int:
    """Compare the algorithms of some records and print the tables."""
    record = statistics.merge_records({str(file): read_runs(file) for file in options.files})
    comparison = statistics.compare(record, options.baseline, zero=options.zero)
    print(format_json(comparison) if options.json else tables.comparison_table(comparison))
    return 0


def bench_report(options: Any) -> int:
    """Write the report of a folder, and print its files and its remarks."""
    if options.zero is not None:
        check_real("--zero", options.zero, 0, high_open=True)
    out = options.folder / "report" if options.out is None else options.out
    made = report.make_report(options.folder, baseline=options.baseline, zero=options.zero, say=say)
    files = [str(file) for file in report.write_pages(made, out)]
    if options.json:
        print(format_json({"files": files, "notes": made.notes}))
        return 0
    for note in made.notes:
        print(note)
    print(f"wrote {files[0]} and {len(files) - 1} more files in {out}")
    return 0
