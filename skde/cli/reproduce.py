"""The command `skde reproduce`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any

from skde.benchmark import minmax_trials, reproduction, tables
from skde.benchmark.papers import MinMaxPaper, find_paper
from skde.benchmark.trials import Settings
from skde.cli.arguments import add_command, check_record_options, names, refuse, whole, wholes
from skde.cli.bench import add_trials
from skde.cli.extensions import find_reproduction
from skde.cli.output import record_and_show, to_json

EXAMPLES = """examples:
  skde reproduce nashed2012
  skde reproduce fabris2012 --n-jobs 1 --out fabris2012-cpu.json
  skde reproduce fabris2012 --device cuda --pop-sizes 50 --functions p5,p6 --algorithms default,best/1/bin
  skde reproduce nashed2012 --algorithms de --dims 10 --runs 10 --budget 1e5
  skde reproduce nashed2012 --device cuda --budget 1s --out nashed2012-gpu.json
the paper's tuning; the same command goes on where it was killed (FILE, FILE.log):
  skde reproduce nashed2012 --table 1 --device cuda --out table-1.json
  skde reproduce nashed2012 --table 1 --algorithms de --max-experiments 600 --budget 20000 --held-out 2 --out de.json
"""
BUDGET, RUNS = "1e6", 30
OF_TUNINGS = ("max_experiments", "held_out", "as_published")
OF_MINMAX = ("pop_sizes", "functions")


def add_reproduce(commands: Any) -> None:
    """Add `skde reproduce`."""
    what = "run a table of a paper again with the paper's parameters, and compare the figures"
    parser = add_command(commands, "reproduce", what, reproduce, EXAMPLES)
    add = parser.add_argument
    add("paper", metavar="PAPER", help="nashed2012 or fabris2012")
    add("--table", type=whole, help="1: the tuning by which the paper found its parameters (default: its results)")
    add(
        "--algorithms",
        type=names,
        metavar="NAME,...",
        help="of the paper (default: all that skde has); of fabris2012 its strategies, and default: the solver's own",
    )
    add("--pop-sizes", type=wholes, metavar="N,...", help="fabris2012: individuals on a side (default: 50,100)")
    add("--functions", type=names, metavar="NAME,...", help="fabris2012: p1 ... p6 (default: all)")
    add("--dims", type=wholes, metavar="DIM,...", help="of the paper (default: all; table 1: 30)")
    add("--max-experiments", type=whole, help="table 1: of every algorithm (default: the paper's, 30000)")
    add("--held-out", type=whole, help="table 1: boxes of every function to compare in (default: 5)")
    what = "table 1: tune by the paper's kind of race on its functions as they are (default: see docs/reproduce.md)"
    add("--as-published", action="store_true", default=None, help=what)
    add_trials(add, f"{BUDGET}; table 1: 1s, of every run; fabris2012: 200cycles", f"{RUNS}; fabris2012: 20")
    parser.set_defaults(budget=None, runs=None)


def reproduce(options: Any) -> int:
    """Run, and print and write the record."""
    paper = find_paper(options.paper)
    check_record_options(options)
    if isinstance(paper, MinMaxPaper):
        return coevolution_results(options, paper)
    refuse(options, OF_MINMAX, f"is not for {paper.name}")
    if options.table in (None, paper.table):
        return results(options, paper)
    code: int = find_reproduction("tuning")(options, paper)
    return code


def results(options: Any, paper: Any) -> int:
    """Run a paper's results again, and print both figures."""
    refuse(options, OF_TUNINGS, "is for a tuning: --table 1")
    settings = settings_of(options, paper, BUDGET, RUNS)
    run = partial(
        reproduction.run,
        paper,
        settings,
        reproduction.available(paper) if options.algorithms is None else options.algorithms,
        paper.dims if options.dims is None else options.dims,
    )
    return record_and_show(options, run, partial(show, options, paper, reproduction.rows, tables.reproduction_table))


def coevolution_results(options: Any, paper: Any) -> int:
    """Run a paper's co-evolution again, as published and by default, and print all figures."""
    refuse(options, ("table", "dims", *OF_TUNINGS), f"is not for {paper.name}")
    run = partial(
        minmax_trials.run,
        paper,
        settings_of(options, paper, paper.budget, paper.runs),
        minmax_trials.algorithms_of(paper) if options.algorithms is None else options.algorithms,
        paper.pop_sizes if options.pop_sizes is None else options.pop_sizes,
        paper.functions if options.functions is None else options.functions,
    )
    return record_and_show(options, run, partial(show, options, paper, minmax_trials.rows, tables.coevolution_table))


def show(
    options: Any, paper: Any, rows_of: Callable[[Any, Any], list[Any]], table: Callable[[Any, Any], str], record: Any
) -> None:
    """Print a record with its rows, as JSON or as a table."""
    rows = rows_of(paper, record)
    if options.json:
        print(to_json({**record, "paper": paper.name, "rows": [asdict(row) for row in rows]}))
    else:
        print(table(paper, rows))


def settings_of(options: Any, paper: Any, budget: str, runs: int) -> Any:
    """Return the settings of a record; the budget and the number of runs are defaults."""
    runs = runs if options.runs is None else options.runs
    return Settings(paper.suite, options.budget or budget, runs, options.seed, options.device, options.n_jobs)
