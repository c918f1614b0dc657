"""Comparison of a tuned setting with a paper's: ranks of their runs, tests, and the file with both."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from skde.algorithms import ALGORITHMS, Algorithm
from skde.benchmark.papers import Paper, find_paper
from skde.benchmark.records import Record, collapse, expand, or_null, write_figures
from skde.benchmark.statistics import errors
from skde.tuning.report import python_line
from skde.typing import FloatArray
from skde.utils.hypothesis_tests import rank_sum, stratified_t

BOTH = ("tuned", "paper")


def paper_setting(paper: Paper, name: str) -> Algorithm:
    """Return an algorithm with the paper's parameters."""
    algorithm: Algorithm = getattr(ALGORITHMS[name], paper.name)()
    return algorithm


def rank_runs(error: dict[str, list[float | None]], n_evals: dict[str, list[int]], zero: float) -> dict[str, Any]:
    """Return the part of a record on both settings' runs in one box: their ranks among each other, medians, means."""
    # Rounding can put a value below the minimum.
    values = {setting: np.maximum(errors({"error": error[setting]}, zero), 0.0) for setting in BOTH}
    ranks = stats.rankdata(np.concatenate([values[setting] for setting in BOTH])).tolist()
    n = len(values["tuned"])
    return {
        "ranks": {"tuned": ranks[:n], "paper": ranks[n:]},
        "median": dict(zip(BOTH, or_null([float(np.median(values[setting])) for setting in BOTH]), strict=True)),
        "mean_evals": {setting: round(float(np.mean(n_evals[setting]))) for setting in BOTH},
    }


def summarize_tuning(record: Record) -> list[dict[str, Any]]:
    """Return the comparison of every algorithm's tuned setting with the paper's.

    Parameters
    ----------
    record : dict
        A record of `skde.benchmark.tuning_reproduction.run_tunings`.

    Returns
    -------
    rows : list of dict
        algorithm; tuned, the setting as Python; better, equal and worse, the numbers of functions by Wilcoxon's
        rank-sum test at 0.05 on ranks within each box; share, the mean probability that a run of the tuned setting is
        better than one of the paper; p and p_boxes, see Notes.

    Notes
    -----
    p and p_boxes test, by one side, that the share is at most one half: p by Wilcoxon's signed-rank test over the
    functions, as a sample of similar functions; p_boxes by `stratified_t`, for the same functions in other boxes, None
    where a function was run in a single box.
    """
    rows = []
    for name, tuned in record["tuned"].items():
        cells = [cell for cell in record["compared"] if cell["algorithm"] == name]
        functions = list(dict.fromkeys(cell["function"] for cell in cells))
        if not functions:
            continue
        verdicts, above = [], []
        for function in functions:
            ranks = [both_ranks(cell) for cell in cells if cell["function"] == function]
            ours, theirs = (np.concatenate(half) for half in zip(*ranks, strict=True))
            verdicts.append(rank_sum(ours, theirs))
            above.append(np.array([(paper.mean() - found.mean()) / (2 * len(found)) for found, paper in ranks]))
        means = np.array([found.mean() for found in above])
        counts = {verdict: verdicts.count(verdict) for verdict in ("better", "equal", "worse")}
        p = float(stats.wilcoxon(means, alternative="greater").pvalue) if means.any() else 1.0
        p_boxes = stratified_t(above) if min(map(len, above)) > 1 else None
        chances = {"share": float(0.5 + means.mean()), "p": p, "p_boxes": p_boxes}
        rows.append({"algorithm": name, "tuned": tuned["python"], **counts, **chances})
    return rows


def both_ranks(cell: dict[str, Any]) -> tuple[FloatArray, FloatArray]:
    """Return the ranks of both settings' runs in one box."""
    ours, theirs = (np.array(cell["ranks"][setting], np.float64) for setting in BOTH)
    return ours, theirs


def format_comparison(paper: Paper, record: Record) -> str:
    """Return the comparison as text."""
    assert paper.tuning is not None
    lines = []
    for row in summarize_tuning(record):
        theirs = paper_setting(paper, row["algorithm"])
        over_boxes = "unknown" if row["p_boxes"] is None else f"{row['p_boxes']:.2g}"
        shown = {name: theirs.get_params()[name] for name in paper.tuning.parameters[row["algorithm"]]}
        lines += [
            f"{row['algorithm']}: {row['tuned']}",
            f"    paper: {python_line(theirs, shown)}",
            f"    {row['better']} functions better, {row['equal']} equal, {row['worse']} worse than with the paper's; "
            f"a run is better with probability {row['share']:.3f} (p {row['p']:.2g} over functions, "
            f"{over_boxes} over boxes)",
        ]
    return "\n".join(lines)


# -- files -------------------------------------------------------------------------------------------------------------


def read_tuning(file: str | os.PathLike[str]) -> Record:
    """Return the record in a file.

    Parameters
    ----------
    file : path
        A file of a reproduction. Files of an earlier version have the errors of all runs, which become ranks.

    Returns
    -------
    record : dict

    Raises
    ------
    ValueError
        If it is not such a file.
    """
    try:
        record: Record = json.loads(Path(file).read_bytes())
        runs, paper = record["settings"].get("runs"), find_paper(record["settings"]["paper"])
        record["tuned"].keys()
        record["compared"] = [unpack(cell, runs, paper.zero) for cell in record["compared"]]
    except (ValueError, KeyError, TypeError, AttributeError, AssertionError):
        raise ValueError(f"{file} is no record of a paper's tuning: give another file") from None
    return record


def write_tuning(file: str | os.PathLike[str], record: Record) -> None:
    """Write a record; ranks that are the same for all runs of a setting are written once."""
    runs = record["settings"]["runs"]
    cells = [
        {**cell, "ranks": {setting: collapse(cell["ranks"][setting], runs) for setting in BOTH}}
        for cell in record["compared"]
    ]
    write_figures(file, {**record, "compared": cells})


def unpack(cell: dict[str, Any], runs: Any, zero: float) -> dict[str, Any]:
    """Return a box's cell with the ranks of all runs."""
    if "ranks" in cell:
        return {**cell, "ranks": {setting: expand(cell["ranks"][setting], runs) for setting in BOTH}}
    key = {name: cell[name] for name in ("algorithm", "function", "box")}
    return {**key, **rank_runs({setting: cell[setting] for setting in BOTH}, cell["n_evals"], zero)}
