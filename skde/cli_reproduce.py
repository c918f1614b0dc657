"""The command `skde reproduce`: a paper's table, run again."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Any

from skde.cli_arguments import add_command, names, wholes
from skde.cli_bench import add_trials, check_device
from skde.cli_minimize import check_writable, to_json

EXAMPLES = """examples:
  skde reproduce nashed2012
  skde reproduce nashed2012 --algorithms de --dims 10 --runs 10 --budget 1e5
  skde reproduce nashed2012 --device cuda --budget 1s --out nashed2012-gpu.json
"""


def add_reproduce(commands: Any) -> None:
    """Add `skde reproduce`."""
    what = "a table of a paper, run again with the paper's parameters, beside the paper's figures"
    add = add_command(commands, "reproduce", what, reproduce, EXAMPLES).add_argument
    add("paper", metavar="PAPER", help="nashed2012")
    add("--algorithms", type=names, metavar="NAME,...", help="of the paper (default: all that skde has)")
    add("--dims", type=wholes, metavar="DIM,...", help="of the paper (default: all)")
    add_trials(add, budget="1e6")


def reproduce(options: Any) -> int:
    """Run, keep, and print the paper's figures beside ours."""
    from skde.benchmark import reproduction, tables, trials
    from skde.benchmark.papers import find_paper

    paper = find_paper(options.paper)
    check_device(options.device)
    if options.out is not None:
        check_writable("--out", options.out)
    settings = trials.Settings(paper.suite, options.budget, options.runs, options.seed, options.device, options.n_jobs)
    record = reproduction.run(
        paper,
        settings,
        reproduction.available(paper) if options.algorithms is None else options.algorithms,
        paper.dims if options.dims is None else options.dims,
        out=options.out,
        command=options.command_line,
        verbose=sys.stderr.isatty() and not options.json,
    )
    rows = reproduction.rows(paper, record)
    if options.json:
        print(to_json({**record, "paper": paper.name, "rows": [asdict(row) for row in rows]}))
    else:
        print(tables.reproduction_table(paper, rows))
    return 0
