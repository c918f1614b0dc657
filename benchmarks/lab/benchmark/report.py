"""Reports of results folders: one HTML page, the same as Markdown, and CSV and SVG files."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

from skde.benchmark import report_plots as plots
from skde.benchmark import report_tables as tables
from skde.benchmark.records import replace_text
from skde.benchmark.report_pages import (
    BenchmarkReport,
    Plot,
    ReportTable,
    Section,
    format_csv,
    html_page,
    markdown_page,
    svg_file,
)
from skde.benchmark.results_folder import Folder, SuiteResults, read_folder
from skde.utils.hypothesis_tests import friedman_ranks
from skde.utils.validation import check_choice, check_real

FEWEST_ALGORITHMS, FEWEST_FUNCTIONS = 3, 2  # of Friedman's test


def make_report(
    folder: str | os.PathLike[str],
    *,
    baseline: str | None = None,
    zero: float | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> BenchmarkReport:
    """Return the report of a results folder.

    Parameters
    ----------
    folder : path
        The folder with records of `skde bench run` and `skde bench speed --scale`.
    baseline : str or None, default None
        The algorithm that the others are compared with; None: the one with the lowest mean rank, in each dimension.
    zero : float or None, default None
        Errors up to this limit are solved; None: the limit of papers on the suite.
    say : callable
        Called with the name of the next part.

    Returns
    -------
    report : BenchmarkReport

    Raises
    ------
    ValueError
        If the folder has no record, two files have the same cell, no record has the baseline, or a library is missing.
    OSError
        If there is no such folder.

    Examples
    --------
    >>> import tempfile
    >>> from skde.benchmark import report, trials
    >>> from skde.benchmark.optimizers import get_optimizer
    >>> from skde.benchmark.growing_record import GrowingRecording
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     settings = trials.TrialSettings("qin2012", "500", 5)
    ...     optimizers = [get_optimizer("de"), get_optimizer("jde")]
    ...     _ = trials.run_trials(settings, optimizers, [2], recording=GrowingRecording(f"{folder}/runs.json"))
    ...     made = report.make_report(folder)
    >>> [section.title for section in made.sections]
    ['Algorithms', 'D = 2', 'Time']
    """
    if zero is not None:
        check_real("zero", zero, high_open=True)  # below 0, no run is solved
    found = read_folder(folder, zero)
    if baseline is not None:
        check_choice("baseline", baseline, dict.fromkeys(name for e in found.experiments for name in e.algorithms))
    report = BenchmarkReport(title_of(found), list(found.notes), [], [])
    several = len(found.experiments) > 1
    for experiment in found.experiments:
        prefix = name_part(f"{experiment.suite}-{experiment.budget}-") if several else ""
        add_experiment(report, experiment, baseline, prefix, say)
    for file, record in found.scales.items():
        parts = plots.scale_plots(record, name_part(f"{Path(file).stem}-"))
        if parts:
            report.sections.append(Section(f"Speed, {file}", [*parts]))
    return report


def name_part(text: str) -> str:
    """Return text without the characters that mean something in links, SVG and names of files."""
    return re.sub(r"\W+", "-", text)


def title_of(folder: Folder) -> str:
    """Return the title of a report."""
    titles = "; ".join(experiment.title for experiment in folder.experiments)
    return (
        f"Results in {folder.path.resolve().name}: {titles}" if titles else f"Results in {folder.path.resolve().name}"
    )


def add_experiment(
    report: BenchmarkReport, experiment: SuiteResults, baseline: str | None, prefix: str, say: Callable[[str], None]
) -> None:
    """Add the sections of an experiment to a report."""
    ahead = f"{experiment.title}: " if prefix else ""
    report.sections.append(Section(f"{ahead}Algorithms", [tables.algorithms_table(experiment, prefix)]))
    for dim in experiment.dims:
        say(f"{ahead}D = {dim}")
        report.sections.append(Section(f"{ahead}D = {dim}", dim_parts(report, experiment, dim, baseline, prefix)))
    drawn = plots.times_plot(experiment, prefix)
    if drawn is not None:
        report.sections.append(Section(f"{ahead}Time", [drawn[0]]))
        report.data.append(drawn[1])


def dim_parts(
    report: BenchmarkReport, experiment: SuiteResults, dim: int, baseline: str | None, prefix: str
) -> list[ReportTable | Plot]:
    """Return the tables and plots of one dimension, and add the numbers of the plots to the report."""
    groups = tables.best_groups(experiment, dim)
    names = experiment.algorithms_of(dim)
    parts: list[ReportTable | Plot] = [tables.medians_table(experiment, dim, groups, prefix)]
    functions = len(experiment.complete(dim))
    best = baseline if baseline in names else names[0]
    if functions and len(names) > 1:
        if baseline not in names:
            best = names[int(np.argmin(friedman_ranks(experiment.medians(dim))))]
        parts.append(tables.ranks_table(experiment, dim, best, groups, prefix))
    if functions >= FEWEST_FUNCTIONS and len(names) >= FEWEST_ALGORITHMS:
        parts += [plots.difference_plot(experiment, dim, prefix), tables.pairs_table(experiment, dim, prefix)]
    for drawn in (plots.ecdf_plot(experiment, dim, prefix), plots.convergence_plot(experiment, dim, prefix)):
        if drawn is not None:
            parts.append(drawn[0])
            report.data.append(drawn[1])
    running_times = plots.running_times_table(experiment, dim, prefix)
    return [
        *parts,
        *([] if running_times is None else [running_times]),
        tables.details_table(experiment, dim, best, prefix),
    ]


def write_pages(report: BenchmarkReport, out: str | os.PathLike[str]) -> list[Path]:
    """Write a report's files into a folder, and return them.

    Parameters
    ----------
    report : BenchmarkReport
        The report.
    out : path
        The folder; it is made if its parent exists.

    Returns
    -------
    files : list of Path
        report.html, which needs none of the others, report.md with the plots NAME.svg, and NAME.csv for every table and
        plot. Each is written under a temporary name and renamed.

    Raises
    ------
    OSError
        If a file cannot be written; the records and the files of an earlier report stay as they are.
    """
    folder = Path(out)
    texts = {"report.html": html_page(report), "report.md": markdown_page(report)}
    for part in report.parts():
        if isinstance(part, Plot):
            texts[f"{part.name}.svg"] = svg_file(part)
        else:
            texts[f"{part.name}.csv"] = format_csv(part)
    texts |= {f"{table.name}.csv": format_csv(table) for table in report.data}
    try:
        folder.mkdir(exist_ok=True)
        for name, text in texts.items():
            replace_text(folder / name, text)
    except OSError as error:
        raise OSError(
            f"the report cannot be written to {os.fspath(out)!r} ({error}); the records are as they were: make room or "
            "give another folder with --out, and repeat the command"
        ) from error
    return [folder / name for name in texts]
