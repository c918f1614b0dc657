"""The command `skde reproduce`."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from skde.benchmark.commands.bench import add_trials
from skde.benchmark.commands.experiments import record_and_show
from skde.benchmark.papers import REPRODUCTIONS, find_reproduction
from skde.benchmark.protocol import PROTOCOL, QUICK, Selection
from skde.benchmark.reproduction import Reproduction
from skde.benchmark.tables import comparison_text
from skde.cli import extensions
from skde.cli.arguments import (
    InputError,
    add_command,
    check_record_options,
    integer,
    integer_list,
    names,
    refuse_options,
)
from skde.cli.output import format_json
from skde.problems.official_data import CHOICES
from skde.utils.validation import check_choice

EXAMPLES = """examples:
  skde reproduce qin2012 --quick
  skde reproduce qin2012 --device cuda --table 1 --out qin2012.json
  skde reproduce janssen2024 --device cuda --table 3 --runs 1 --out janssen2024-times.json
  skde reproduce wang2012 --table 2 --functions F1,F4
  skde reproduce nashed2012 --algorithms de --dims 10 --runs 10 --budget 1e5
  skde reproduce nashed2012 --data official --functions f7,f17 --out official.json
  skde reproduce fabris2012 --n-jobs 1 --out fabris2012-cpu.json
the paper's tuning; the same command continues after a kill (FILE, FILE.log):
  skde reproduce nashed2012 --table 1 --device cuda --out table-1.json
  skde reproduce nashed2012 --table 1 --algorithms de --max-experiments 600 --budget 20000 --held-out 2 --out de.json
"""
RUNS = 30  # of each setting that a tuning compares
OF_TUNINGS = ("max_experiments", "held_out", "as_published")
OF_RESULTS = ("functions", "pop_sizes", "quick", "data", "folder")


def add_reproduce(commands: Any) -> None:
    """Add `skde reproduce`."""
    what = "run a paper's experiments again with the paper's parameters, and compare its tables with ours"
    parser = add_command(commands, "reproduce", what, reproduce, EXAMPLES)
    add = parser.add_argument
    add("paper", metavar="PAPER", help=", ".join(REPRODUCTIONS))
    what = "numbers of tables and figures, such as '2,fig. 3' (default: all); 1 of nashed2012: its tuning"
    add("--table", type=names, metavar="NUMBER,...", help=what)
    add("--quick", action="store_true", default=None, help="a small part of each table, in a minute or two on a CPU")
    add("--algorithms", type=names, metavar="NAME,...", help="of the paper (default: all that skde has)")
    add("--functions", type=names, metavar="NAME,...", help="of the paper (default: all)")
    add("--dims", type=integer_list, metavar="DIM,...", help="of the paper (default: all; the tuning: 30)")
    add("--pop-sizes", type=integer_list, metavar="N,...", help="of the paper (default: all)")
    add("--data", help="data of the functions: generated, or official, from a package or --folder (default: generated)")
    add("--folder", type=Path, metavar="FOLDER", help="folder with the official data (default: an installed package)")
    add("--max-experiments", type=integer, help="tuning: experiments of every algorithm (default: the paper's, 30000)")
    add("--held-out", type=integer, help="tuning: boxes of every function to compare in (default: 5)")
    what = "tuning: the paper's kind of race on its functions as they are (default: see docs/reproduce.md)"
    add("--as-published", action="store_true", default=None, help=what)
    add_trials(add, "the paper's", f"the paper's; the tuning: {RUNS}")
    parser.set_defaults(budget=None, runs=None)


def reproduce(options: Any) -> int:
    """Run, and print and write the record."""
    reproduction = find_reproduction(options.paper)
    check_record_options(options)
    tuning = reproduction.paper.tuning
    if tuning is not None and options.table == [str(tuning.table)]:
        refuse_options(options, OF_RESULTS, "is not for a tuning")
        options.table = tuning.table
        code: int = extensions.find_reproduction("tuning")(options, reproduction.paper)
        return code
    refuse_options(options, OF_TUNINGS, "is for a tuning: nashed2012 --table 1")
    return results(options, reproduction)


def results(options: Any, reproduction: Reproduction) -> int:
    """Run a paper's experiments again, and print its tables."""
    if options.data is not None:
        check_choice("data", options.data, CHOICES)
    if options.folder is not None and options.data != "official":
        raise InputError("--folder is for --data official")
    if options.table is not None:
        for number in options.table:
            check_choice(f"table of {reproduction.paper.name!r}", number, reproduction.paper.tables)
    settings = reproduction.settings(
        budget=options.budget or (QUICK if options.quick else None),
        runs=options.runs if options.runs is not None or not options.quick else reproduction.miniature.runs,
        seed=options.seed,
        device=options.device,
        n_jobs=options.n_jobs,
        data=options.data,
        folder=None if options.folder is None else str(options.folder),
    )
    selection = Selection(options.table, options.functions, options.dims, options.algorithms, options.pop_sizes)
    run = partial(reproduction.run, settings, selection, quick=bool(options.quick))
    return record_and_show(options, run, partial(show, options, reproduction))


def show(options: Any, reproduction: Reproduction, record: Any) -> None:
    """Print a record with its tables, as JSON or as text."""
    comparisons = reproduction.comparisons(record, options.table)
    if options.json:
        tables = [
            {
                "name": made.name,
                "title": made.title,
                "remark": made.remark,
                "cells": [line._asdict() for line in made.lines],
                "counts": made.counts,
            }
            for made in comparisons
        ]
        print(format_json({**record, "paper": asdict(reproduction.paper)["title"], "tables": tables}))
        return
    where = record["machine"].get("gpu") or record["machine"]["cpu"]
    print(f"{reproduction.paper.title}\npaper: {reproduction.paper.machine}; ours: {where}")
    print("~ marks ours where it is worse, but that may be chance; ! where it is worse, slower or differs")
    quick = record["settings"]["budget"] == QUICK
    if quick:
        print("a miniature: a part of the paper's functions, runs and budgets, so most values are worse")
    elif record["settings"]["budget"] != PROTOCOL:
        print("the reasons of cells that are not as good are of the budgets in docs/reproduce.md")
    for comparison in comparisons:
        print(f"\n{comparison_text(comparison, explained=not quick)}")
