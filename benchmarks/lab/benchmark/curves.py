"""Convergence curves of the runs of a cell: the error at evaluations on a logarithmic grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skde.result import History
from skde.typing import FloatArray, IntArray

# The entries of `curve_entries`.
CURVES = ("solved_at", "run_seconds", "curves")
PER_DECADE = 20
DIGITS = 4


def grid(n_evals: int) -> IntArray:
    """Return the evaluations at which curves have values: 1, ..., n_evals, twenty a decade.

    Examples
    --------
    >>> from skde.benchmark.curves import grid
    >>> grid(30).tolist()
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 15, 17, 19, 21, 24, 27, 30]
    """
    points = np.geomspace(1, n_evals, 1 + int(np.ceil(PER_DECADE * np.log10(max(n_evals, 1)))))
    return np.unique(np.rint(points).astype(np.int64))


def curve_entries(histories: Sequence[History | None], f_opt: float, zero: float) -> dict[str, Any]:
    """Return the entries of a cell on the course of its runs.

    Parameters
    ----------
    histories : sequence of History or None
        The best values of each run; None for a run that failed.
    f_opt : float
        The minimum.
    zero : float
        The largest error of a solved run.

    Returns
    -------
    entries : dict
        solved_at, the evaluations after which each run was solved, or None; run_seconds, the seconds until then, or of
        the whole run; and curves, with the grid n_evals and the error of each run at its points, which is None before
        the first value and where it is not finite. Errors have four digits.
    """
    most = max((int(history.n_evals[-1]) for history in histories if history is not None), default=0)
    points = grid(most) if most else np.empty(0, np.int64)
    solved_at: list[int | None] = []
    run_seconds: list[float | None] = []
    curves: list[list[float | None]] = []
    for history in histories:
        if history is None:
            solved_at.append(None)
            run_seconds.append(None)
            curves.append([None] * len(points))
            continue
        error = history.best - f_opt
        solved = np.flatnonzero(error <= zero)
        end = int(solved[0]) if len(solved) else -1
        solved_at.append(int(history.n_evals[end]) if len(solved) else None)
        run_seconds.append(round_value(float(history.seconds[end])))
        curves.append(errors_at(points, history.n_evals, error))
    return {
        "solved_at": solved_at,
        "run_seconds": run_seconds,
        "curves": {"n_evals": points.tolist(), "error": curves},
    }


def errors_at(points: IntArray, n_evals: IntArray, error: FloatArray) -> list[float | None]:
    """Return the error of a run at some evaluations: the last value's before, None if there is none."""
    places = np.searchsorted(n_evals, points, side="right") - 1
    return [round_value(float(error[place])) if place >= 0 else None for place in places]


def round_value(value: float) -> float | None:
    """Return a value in the digits of curves, None if it is not finite."""
    return float(f"{value:.{DIGITS}g}") if np.isfinite(value) else None
