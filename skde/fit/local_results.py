"""What local searches have found after a population's last generation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from skde.engines.state.task import NUMBER
from skde.result import RunResult, add_sample
from skde.stopping import Status
from skde.typing import FloatArray, IntArray
from skde.utils.serialization import Layout, entry
from skde.utils.validation import check_points_inside

COLUMNS = ("code", "n_evals", "spent", "seconds", "generation")


class LocalResults:
    """The best point of every run's local searches, and what they took.

    Parameters
    ----------
    n_runs, dim : int
        Runs, and variables of the box.

    Attributes
    ----------
    x : ndarray of shape (n_runs, dim)
        Points of the box.
    code, seconds : ndarray of shape (n_runs,)
        Their values or, with constraints, their codes of the feasibility rules; the time that the searches took.
    n_evals, spent : ndarray of shape (n_runs,)
        Evaluations of all searches, and of those within the present limits.
    generation : ndarray of shape (n_runs,)
        The last generation before the last search; -1: there was none, or it was cut short.
    """

    def __init__(self, n_runs: int, dim: int) -> None:
        self.x = np.zeros((n_runs, dim))
        self.code, self.seconds = np.full(n_runs, np.inf), np.zeros(n_runs)
        self.n_evals, self.spent = np.zeros(n_runs, np.int64), np.zeros(n_runs, np.int64)
        self.generation = np.full(n_runs, -1)

    def note(self, runs: IntArray, points: FloatArray, codes: FloatArray, seconds: float) -> None:
        """Count points of some runs that were evaluated, and keep the best of every run."""
        if not len(runs):
            return
        codes = np.where(np.isnan(codes), np.inf, codes)
        if len(runs) == 1 or (runs == runs[0]).all():  # most often, and faster
            own, rows, counts = runs[:1], np.array([codes.argmin()]), np.array([len(runs)])
        else:
            order = np.lexsort((codes, runs))
            own, first, counts = np.unique(runs[order], return_index=True, return_counts=True)
            rows = order[first]
        better = codes[rows] < self.code[own]
        self.x[own[better]], self.code[own[better]] = points[rows[better]], codes[rows[better]]
        self.n_evals[own] += counts
        self.spent[own] += counts
        self.seconds[own] += seconds

    def replace_worse(self, points: FloatArray, codes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return points and codes, of every run, with those found here where they are better."""
        better = (self.n_evals > 0) & ~np.isnan(self.code) & ~(self.code >= codes)
        return np.where(better[:, None], self.x, points), np.where(better, self.code, codes)

    def extend(self, result: RunResult, run: int, code: float, target: float | None) -> RunResult:
        """Return the result of a run with its polish; `code` is the best value, as selection compares it."""
        n_evals, seconds, status = int(self.n_evals[run]), float(self.seconds[run]), result.status
        if n_evals:
            result = add_sample(result, result.n_evals + n_evals, result.time + seconds)
            status = Status.TARGET if target is not None and code <= target else status
        return replace(
            result,
            time=result.time if n_evals else result.time + seconds,
            status=status,
            polish_evals=result.polish_evals + n_evals,
            polish_complete=bool(self.generation[run] >= 0),
        )

    def state(self) -> dict[str, Any]:
        """Return the arrays of a file."""
        numbers = np.stack([np.asarray(getattr(self, name), np.float64) for name in COLUMNS], axis=1)
        return {"polished": self.x, "polish": numbers}

    @classmethod
    def from_state(cls, arrays: dict[str, Any]) -> LocalResults | None:
        """Return what `state` described, after a check; None where a file has no polished points."""
        if "polished" not in arrays:
            return None
        points = cls(*arrays["polished"].shape)
        points.x = arrays["polished"].astype(np.float64)
        with entry("polish"):
            counts = arrays["polish"][:, 1:]
            if not (np.isfinite(counts) & (counts >= [0, 0, 0, -1]) & (counts < 2**53)).all():
                raise ValueError("evaluations, seconds and generations must be numbers >= 0")
            if not np.array_equal(counts[:, [0, 1, 3]], np.floor(counts[:, [0, 1, 3]])):
                raise ValueError("evaluations and generations must be whole numbers")
            for name, column in zip(COLUMNS, arrays["polish"].T, strict=True):
                setattr(points, name, column.astype(getattr(points, name).dtype))
        return points

    @staticmethod
    def layout(n_runs: int, arrays: dict[str, Any]) -> dict[str, Layout]:
        """Return the layout of the arrays of a file, which has them where runs were polished."""
        if not {"polished", "polish"} & set(arrays):
            return {}
        return {"polished": Layout((n_runs, None), NUMBER), "polish": Layout((n_runs, len(COLUMNS)), NUMBER)}


def check_local_results(points: LocalResults | None, box: FloatArray, dtype: Any) -> None:
    """Check that saved points are inside the bounds, to the precision of the fit."""
    with entry("polished"):
        if points is None:
            return
        if points.x.shape[1] != len(box):
            raise ValueError(f"points must have {len(box)} variables, got {points.x.shape[1]}")
        check_points_inside(points.x[points.n_evals > 0], box, dtype)
