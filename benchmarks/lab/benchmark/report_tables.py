"""Tables of a report: errors, ranks, tests, scores and times."""

from __future__ import annotations

from typing import Any

import numpy as np

from skde.benchmark.records import Cell
from skde.benchmark.report_pages import ReportTable
from skde.benchmark.report_plots import curves_of
from skde.benchmark.results_folder import SuiteResults
from skde.benchmark.statistics import numbers
from skde.benchmark.trial_scores import estimate_running_time, rank_scores, success_rate
from skde.curves import evals_to_goals
from skde.utils.hypothesis_tests import (
    ALPHA,
    critical_difference,
    friedman,
    friedman_holm,
    friedman_ranks,
    kruskal_wallis,
    nemenyi,
    rank_biserial,
    rank_sum,
    vargha_delaney,
    wilcoxon_signed_rank,
)

GROUP_ALPHA = 0.01  # of the best group, as in the table of Nashed et al., 2012


def best_groups(experiment: SuiteResults, dim: int) -> dict[str, tuple[str, ...]]:
    """Return the best group of algorithms on every function; all on a function that has one algorithm only."""
    groups = {}
    for function in experiment.functions(dim):
        samples = experiment.samples(function, dim)
        groups[function] = kruskal_wallis(samples, GROUP_ALPHA).best if len(samples) > 1 else tuple(samples)
    return groups


def algorithms_table(experiment: SuiteResults, prefix: str) -> ReportTable:
    """Return the table of the algorithms, their labels, and the numbers of their cells."""
    cells = [cell["algorithm"] for cell in experiment.record["cells"]]
    rows = [[experiment.labels[name], name, cells.count(name)] for name in experiment.algorithms]
    return ReportTable(f"{prefix}algorithms", "Algorithms", "", ["label", "algorithm", "cells"], rows, n_labels=2)


def medians_table(experiment: SuiteResults, dim: int, groups: dict[str, tuple[str, ...]], prefix: str) -> ReportTable:
    """Return the median errors in one dimension, with the best groups marked."""
    rows: list[list[Any]] = []
    marked = set()
    names = experiment.algorithms_of(dim)
    for number, (function, best) in enumerate(groups.items()):
        samples = experiment.samples(function, dim)
        rows.append([function, *(float(np.median(samples[n])) if n in samples else None for n in names)])
        if len(best) < len(samples):
            marked |= {(number, 1 + names.index(name)) for name in best}
    note = (
        f"{experiment.solved} Marked: the best group, where not all algorithms are in it. It has "
        "the algorithm with the lowest mean rank and those that are not significantly worse (Kruskal-Wallis, then "
        f"Dunn's tests with Holm's adjustment, at {GROUP_ALPHA:g})."
    )
    header = ["function", *(experiment.labels[name] for name in names)]
    return ReportTable(f"{prefix}medians-d{dim}", f"Median errors, D = {dim}", note, header, rows, frozenset(marked))


def details_table(experiment: SuiteResults, dim: int, baseline: str, prefix: str) -> ReportTable:
    """Return all statistics of every cell in one dimension."""
    header = [
        *("function", "algorithm", "runs", "failed", "best", "median", "mean", "std", "worst", "success rate"),
        *("expected running time", "A12 against the baseline", "seconds of all runs"),
    ]
    rows: list[list[Any]] = []
    for function in experiment.functions(dim):
        samples = experiment.samples(function, dim)
        for name, values in samples.items():
            cell = experiment.cell(function, dim, name)
            assert cell is not None
            solved = [float(values.min()), float(np.median(values)), float(values.mean())]
            spread = float(values.std(ddof=1)) if len(values) > 1 and np.isfinite(values).all() else None
            effect = vargha_delaney(values, samples[baseline]) if baseline in samples and name != baseline else None
            ert = running_time(experiment, cell)
            rows.append(
                [
                    *(function, experiment.labels[name], len(values), len(cell.get("failures", []))),
                    *(*solved, spread, float(values.max()), success_rate(values, experiment.zero), ert, effect),
                    float(cell["seconds"]),
                ]
            )
    source = "" if experiment.has_suites_zero else ", from the curves, with points 12 % apart"
    note = (
        f"{experiment.solved} Expected running time: the evaluations of all runs until they are solved, divided by the "
        f"number of solved runs{source}. A12 of Vargha and Delaney: the probability that a run is better than one of "
        f"the baseline, {baseline}; 0.5 is no effect."
    )
    title = f"All statistics, D = {dim}"
    return ReportTable(f"{prefix}cells-d{dim}", title, note, header, rows, n_labels=2, folded=True)


def running_time(experiment: SuiteResults, cell: Cell) -> float | None:
    """Return the expected running time until a run is solved; None where the record does not have it."""
    n_evals = numbers(cell["n_evals"])
    if experiment.has_suites_zero:
        return estimate_running_time(numbers(cell["solved_at"]), n_evals) if "solved_at" in cell else None
    curves = curves_of(cell)
    if curves is None:
        return None
    return estimate_running_time(evals_to_goals(*curves, np.array([experiment.zero]))[:, 0], n_evals)


def ranks_table(
    experiment: SuiteResults, dim: int, baseline: str, groups: dict[str, tuple[str, ...]], prefix: str
) -> ReportTable:
    """Return ranks, tests against the baseline, and scores of the algorithms in one dimension."""
    names, functions = experiment.algorithms_of(dim), experiment.complete(dim)
    values = experiment.medians(dim)
    control = names.index(baseline)
    ranks = friedman_ranks(values)
    adjusted = friedman_holm(values, control)
    scores = total_scores(experiment, dim)
    rows: list[list[Any]] = []
    for column, name in enumerate(names):
        verdicts = [
            rank_sum(experiment.samples(function, dim)[name], experiment.samples(function, dim)[baseline])
            for function in functions
        ]
        is_other = column != control
        solved = [success_rate(experiment.samples(function, dim)[name], experiment.zero) for function in functions]
        rows.append(
            [
                *(experiment.labels[name], float(ranks[column])),
                float(adjusted[column]) if is_other else None,
                wilcoxon_signed_rank(values[:, column], values[:, control]) if is_other else None,
                rank_biserial(values[:, column], values[:, control]) if is_other else None,
                *(verdicts.count(v) if is_other else None for v in ("better", "equal", "worse")),
                sum(name in groups[function] for function in functions),
                float(np.mean(solved)),
                *([] if scores is None else [float(scores[column])]),
            ]
        )
    order = np.argsort(ranks, kind="stable")
    header = [
        *("algorithm", "mean rank", "p, Holm", "p, Wilcoxon", "rank-biserial", "better", "equal", "worse"),
        *("in the best group", "success rate", *([] if scores is None else ["rank score"])),
    ]
    note = " ".join(ranks_note(experiment, dim, baseline, values, scores is not None))
    title = f"Ranks and tests, D = {dim}, {len(functions)} functions"
    return ReportTable(f"{prefix}ranks-d{dim}", title, note, header, [rows[row] for row in order])


def ranks_note(experiment: SuiteResults, dim: int, baseline: str, values: Any, has_scores: bool) -> list[str]:
    """Return the sentences below the table of ranks."""
    n, k = values.shape
    notes = [f"Of median errors, on the functions that all algorithms have; the baseline is {baseline}."]
    if k > 2 and n > 1:
        found = friedman(values)
        notes.append(
            f"Friedman's test: chi-squared {found.statistic:.3g}, p {found.p:.2g}; critical difference of Nemenyi's "
            f"test at {ALPHA:g}: {critical_difference(k, n):.3g}."
        )
    notes.append(
        "p, Holm: the difference of mean ranks to the baseline, adjusted for the number of algorithms; p, Wilcoxon: "
        "the signed-rank test against it, not adjusted, with the rank-biserial correlation, which is 1 where the "
        "algorithm is better everywhere. Better, equal, worse: functions, by the rank-sum test of the runs at "
        f"{ALPHA:g}."
    )
    if has_scores:
        notes.append(
            "Rank score of Janssen et al., 2024: trials of all algorithms are ranked by error, solved ones by "
            "wall-clock time; higher is better. Runs of skde that were done in a batch share its time."
        )
    elif not experiment.has_suites_zero:
        notes.append(f"No rank score: the records do not have the seconds until errors of {experiment.zero:g}.")
    return notes


def total_scores(experiment: SuiteResults, dim: int) -> Any:
    """Return the rank scores, summed over the functions that all algorithms have; None without the runs' seconds."""
    if not experiment.has_suites_zero:
        return None
    names = experiment.algorithms_of(dim)
    total: Any = np.zeros(len(names))
    for function in experiment.complete(dim):
        cells = [experiment.cell(function, dim, name) for name in names]
        seconds = [numbers(cell["run_seconds"]) for cell in cells if cell is not None and "run_seconds" in cell]
        samples = list(experiment.samples(function, dim).values())
        if len(seconds) < len(cells) or len({len(values) for values in samples}) > 1:
            return None
        total = total + rank_scores(samples, seconds, experiment.zero)
    return total


def pairs_table(experiment: SuiteResults, dim: int, prefix: str) -> ReportTable:
    """Return the p-values of Nemenyi's test of all pairs in one dimension."""
    p = nemenyi(experiment.medians(dim))
    labels = [experiment.labels[name] for name in experiment.algorithms_of(dim)]
    rows = [[label, *map(float, values)] for label, values in zip(labels, p, strict=True)]
    marked = frozenset((row, 1 + column) for row, column in np.argwhere(p < ALPHA).tolist())
    title = f"Nemenyi's test of all pairs, D = {dim}"
    note = f"p-values; those below {ALPHA:g} are marked."
    return ReportTable(f"{prefix}pairs-d{dim}", title, note, ["algorithm", *labels], rows, marked, folded=True)
