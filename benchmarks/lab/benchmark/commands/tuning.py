"""The reproduction of a paper's tuning, a table of `skde reproduce`."""

from __future__ import annotations

from functools import partial
from typing import Any

from skde.benchmark import tuning_comparison as comparison
from skde.benchmark import tuning_reproduction as reproduction
from skde.benchmark.commands.experiments import record_and_show
from skde.benchmark.commands.reproduce import RUNS
from skde.benchmark.reproduction import available
from skde.cli.arguments import InputError
from skde.cli.output import format_json
from skde.tuning.cli import silence_optuna


def reproduce_tuning(options: Any, paper: Any) -> int:
    """Do a paper's tuning again, and compare its result with the paper's parameters."""
    silence_optuna()
    theirs = reproduction.tuning_of(paper, options.table)
    dims = [theirs.dim] if options.dims is None else options.dims
    if len(dims) != 1:
        raise InputError(f"--dims must be one number for a tuning, got {dims}")
    settings = reproduction.TuningSettings(
        paper.name,
        dims[0],
        theirs.max_experiments if options.max_experiments is None else options.max_experiments,
        options.budget or theirs.budget,
        5 if options.held_out is None else options.held_out,
        RUNS if options.runs is None else options.runs,
        options.seed,
        options.device,
        options.n_jobs,
        bool(options.as_published),
    )
    algorithms = available(paper) if options.algorithms is None else options.algorithms

    def show(record: Any) -> None:
        if options.json:
            print(format_json({**record, "summary": comparison.summarize_tuning(record)}))
        else:
            print(comparison.format_comparison(paper, record))

    return record_and_show(options, partial(reproduction.run_tunings, paper, settings, algorithms), show)
