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
from skde.benchmark.statistics import errors, rank_sum, stratified_t
from skde.tuning.report import python_line
from skde.typing import FloatArray

# The two settings.
BOTH = ("tuned", "paper")


def paper_setting(paper: Paper, name: str) -> Algorithm:
    """Return an algorithm with the paper's parameters."""
    algorithm: Algorithm = getattr(ALGORITHMS[name], paper.name)()
    return algorithm


def ranked(error: dict[str, list[float | None]], n_evals: dict[str, list[int]], zero: float) -> dict[str, Any]:
    """Return the part of a record on both settings' runs in one box: their ranks among each other, medians, means.

    Parameters
    ----------
    error : dict of list of float or None
        Of the runs of both settings.
    n_evals : dict of list of int
        Their evaluations.
    zero : float
        Errors below are 0.
    """
    # Rounding can put a value below the minimum.
    values = {who: np.maximum(errors({"error": error[who]}, zero), 0.0) for who in BOTH}
    ranks = stats.rankdata(np.concatenate([values[who] for who in BOTH])).tolist()
    n = len(values["tuned"])
    return {
        "ranks": {"tuned": ranks[:n], "paper": ranks[n:]},
        "median": dict(zip(BOTH, or_null([float(np.median(values[who])) for who in BOTH]), strict=True)),
        "mean_evals": {who: round(float(np.mean(n_evals[who]))) for who in BOTH},
    }


def summary(record: Record) -> list[dict[str, Any]]:
    """Return, for every algorithm, how what was found compares with the paper's parameters.

    Parameters
    ----------
    record : dict
        Of `run`.

    Returns
    -------
    rows : list of dict
        algorithm; tuned, as Python; better, equal, worse: functions on which the tuned setting is so, by Wilcoxon's
        rank-sum test at 0.05 on ranks within each box; share, the mean probability that a run of it is better than one
        of the paper's; and p of one-sided tests of that not being above one half: p of Wilcoxon's signed-rank test over
        the functions, as if they were drawn from others of their kind; p_boxes of `stratified_t`, on these functions in
        other boxes; None where one has been run in a single box.
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
    ours, theirs = (np.array(cell["ranks"][who], np.float64) for who in BOTH)
    return ours, theirs


def table(paper: Paper, record: Record) -> str:
    """Return what was found, for people."""
    assert paper.tuning is not None
    lines = []
    for row in summary(record):
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
        Written by `run`, or by an earlier version, which kept the errors of all runs; ranks are made of these.

    Returns
    -------
    record : dict

    Raises
    ------
    ValueError
        Where it holds something else.
    """
    try:
        record: Record = json.loads(Path(file).read_bytes())
        runs, paper = record["settings"].get("runs"), find_paper(record["settings"]["paper"])
        assert isinstance(paper, Paper)
        record["tuned"].keys()
        record["compared"] = [unpacked(cell, runs, paper.zero) for cell in record["compared"]]
    except (ValueError, KeyError, TypeError, AttributeError, AssertionError):
        raise ValueError(f"{file} is no record of a paper's tuning: give another file") from None
    return record


def write_tuning(file: str | os.PathLike[str], record: Record) -> None:
    """Write a record; ranks that are the same for all runs of a setting are written once."""
    runs = record["settings"]["runs"]
    cells = [
        {**cell, "ranks": {who: collapse(cell["ranks"][who], runs) for who in BOTH}} for cell in record["compared"]
    ]
    write_figures(file, {**record, "compared": cells})


def unpacked(cell: dict[str, Any], runs: Any, zero: float) -> dict[str, Any]:
    """Return a box's cell with the ranks of all runs."""
    if "ranks" in cell:
        return {**cell, "ranks": {who: expand(cell["ranks"][who], runs) for who in BOTH}}
    key = {name: cell[name] for name in ("algorithm", "function", "box")}
    return {**key, **ranked({who: cell[who] for who in BOTH}, cell["n_evals"], zero)}
