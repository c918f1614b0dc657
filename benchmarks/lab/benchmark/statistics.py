"""Statistics of quality experiments: merged records, medians, comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from skde.benchmark.optimizer_base import comparable
from skde.benchmark.records import Cell, Record, key_of, round_values
from skde.benchmark.suites import zero_of
from skde.typing import FloatArray
from skde.utils.hypothesis_tests import ALPHA, friedman_ranks, rank_sum
from skde.utils.validation import check_choice, check_real


def merge_records(records: Mapping[str, Record]) -> Record:
    """Return the cells of several records as one record.

    Parameters
    ----------
    records : mapping of str to dict
        The records by the names of their files.

    Returns
    -------
    record : dict
        The record, with the settings of the first one.

    Raises
    ------
    ValueError
        If suites, budgets or minima of a function differ, or two records have the same cell.
    """
    (first, record), *_ = records.items()
    cells: dict[tuple[str, int, str], Cell] = {}
    owners: dict[tuple[str, int, str], str] = {}
    minima: dict[tuple[str, int], tuple[Any, str]] = {}
    for file, part in records.items():
        for name in ("suite", "budget"):
            here, there = part["settings"][name], record["settings"][name]
            if comparable(here) != comparable(there):
                raise ValueError(f"{file} has {name}={here!r}, but {first} has {there!r}; they cannot be compared")
        for cell in part["cells"]:
            key = key_of(cell)
            if key in cells:
                raise ValueError(
                    f"{file} has {key[0]} D={key[1]} {key[2]}, which {owners[key]} has too; leave one of them out"
                )
            f_opt = cell.get("f_opt")
            there, owner = minima.setdefault(key[:2], (f_opt, file))
            if f_opt != there:
                raise ValueError(
                    f"{file} has {key[0]} D={key[1]} {key[2]} with f_opt={f_opt!r}, but {owner} has {there!r} for "
                    "another algorithm; their errors cannot be compared: measure one of them again"
                )
            cells[key], owners[key] = cell, file
    return {**record, "cells": list(cells.values())}


def numbers(values: Sequence[float | None]) -> FloatArray:
    """Return values of a record as numbers; null means infinity."""
    return np.array([np.inf if value is None else value for value in values], np.float64)


def errors(cell: Cell, zero: float = 1e-8) -> FloatArray:
    """Return a cell's errors.

    Parameters
    ----------
    cell : dict
        A cell of a record.
    zero : float, default 1e-8
        Smaller errors become 0.

    Returns
    -------
    errors : ndarray of shape (runs,)
        Values that were not finite are infinite. The others have ten digits, so that two runs at the same local minimum
        have equal errors although their values may be rounded differently.
    """
    values = numbers(round_values(cell["error"]))
    values[np.abs(values) < zero] = 0.0
    return values


def summary(record: Record, zero: float | None = None) -> list[dict[str, Any]]:
    """Return statistics of the errors of every cell.

    Parameters
    ----------
    record : dict
        Record of `skde bench run`.
    zero : float or None, default None
        Smaller errors become 0; None: the limit of papers on the suite.

    Returns
    -------
    rows : list of dict
        function, dim, algorithm, and median, mean, std (with runs - 1) and best of the errors.
    """
    zero = zero_of(record["settings"]["suite"]) if zero is None else zero
    rows = []
    for cell in record["cells"]:
        values = errors(cell, zero)
        # Infinities have a median, but no standard deviation.
        spread = float(values.std(ddof=1)) if len(values) > 1 and np.isfinite(values).all() else None
        rows.append(
            {
                "function": cell["function"],
                "dim": cell["dim"],
                "algorithm": cell["algorithm"],
                "median": float(np.median(values)),
                "mean": float(values.mean()),
                "std": 0.0 if len(values) == 1 else spread,
                "best": float(values.min()),
            }
        )
    return rows


def natural_key(function: str) -> tuple[str, int]:
    """Return a sort key by which f2 comes before f10."""
    prefix = function.rstrip("0123456789")
    return prefix, int(function[len(prefix) :] or 0)


def compare(record: Record, baseline: str, *, zero: float | None = None, alpha: float = ALPHA) -> dict[str, Any]:
    """Compare the algorithms of a record.

    Parameters
    ----------
    record : dict
        Record of `skde bench run`.
    baseline : str
        The algorithm that the others are tested against.
    zero : float or None, default None
        Smaller errors become 0; None: the limit of papers on the suite.
    alpha : float, default 0.05
        The tests' level.

    Returns
    -------
    comparison : dict
        For every dimension the median errors, the mean Friedman ranks of the medians over the functions that all
        algorithms have, and the number of functions on which each algorithm is better than, equal to or worse than
        the baseline by `rank_sum`.

    Raises
    ------
    ValueError
        For a record without cells, and for a baseline that the record does not have.
    """
    zero = zero_of(record["settings"]["suite"]) if zero is None else check_real("zero", zero, 0, high_open=True)
    algorithms = list(dict.fromkeys(cell["algorithm"] for cell in record["cells"]))
    if not algorithms:
        raise ValueError("the record has no cells yet")
    check_choice("baseline", baseline, algorithms)
    dims = sorted({cell["dim"] for cell in record["cells"]})
    return {
        "suite": record["settings"]["suite"],
        "budget": record["settings"]["budget"],
        "baseline": baseline,
        "zero": zero,
        "alpha": alpha,
        "algorithms": algorithms,
        "dims": [compare_dim(record, dim, algorithms, baseline, zero, alpha) for dim in dims],
    }


def compare_dim(
    record: Record, dim: int, algorithms: list[str], baseline: str, zero: float, alpha: float
) -> dict[str, Any]:
    """Return the comparison in one dimension."""
    table: dict[str, dict[str, FloatArray]] = {}
    for cell in record["cells"]:
        if cell["dim"] == dim:
            table.setdefault(cell["function"], {})[cell["algorithm"]] = errors(cell, zero)
    # In the suite's order, which the cells of a record may not have.
    table = {function: table[function] for function in sorted(table, key=natural_key)}
    complete = [row for row in table.values() if len(row) == len(algorithms)]
    medians = np.array([[np.median(row[name]) for name in algorithms] for row in complete])
    against: dict[str, dict[str, int]] = {}
    for name in algorithms:
        if name != baseline:
            verdicts = [
                rank_sum(row[name], row[baseline], alpha) for row in table.values() if {name, baseline} <= set(row)
            ]
            against[name] = {verdict: verdicts.count(verdict) for verdict in ("better", "equal", "worse")}
    return {
        "dim": dim,
        "medians": {
            function: {name: float(np.median(values)) for name, values in row.items()}
            for function, row in table.items()
        },
        "ranked_functions": len(complete),
        "ranks": dict(zip(algorithms, friedman_ranks(medians).tolist(), strict=True)) if complete else None,
        "against": against,
    }
