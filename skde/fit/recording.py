"""The record of evaluations in a Recorder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from skde.fit.fit import Fit
from skde.fit.results import values_of_points
from skde.objectives.feasibility import LARGEST, values_of_codes, violations_of_codes
from skde.recorder import NO_ID
from skde.typing import Array, FloatArray, IntArray
from skde.utils.arrays import to_numpy


def values_and_violations(codes: Array) -> tuple[FloatArray, FloatArray]:
    """Return values, NaN where a point is not feasible, and violations of points with these codes."""
    known = to_numpy(codes).astype(np.float64)
    return np.where(known > LARGEST, np.nan, values_of_codes(known)), violations_of_codes(known)


def record_trials(fit: Fit, rows: Any, X: Array, values: Array) -> Callable[[], None]:
    """Return a function that records trials of the next generation, also after that has become the last one.

    Parameters
    ----------
    fit : Fit
        The fit.
    rows : ndarray of int of shape (n,)
        The rows of the trials, as `ask` has them.
    X : ndarray of shape (n, number of variables)
        The trials as the objective gets them.
    values : ndarray of shape (n,)
        Their values, as selection compares them.
    """
    recorder = fit.recorder
    if recorder is None:
        return nothing
    size = fit.population.rows_per_population
    runs = to_numpy(rows) // size // fit.batch.n_islands
    numbers = fit.first_id + to_numpy(rows), runs, fit.ledger.n_iter[runs] + fit.population.generation + 1
    points, known, seconds = to_numpy(X), of_rules(fit, values), fit.seconds
    return lambda: recorder.add(*numbers, "search", seconds, known, points, fit.batch.spec.variables)


def record_others(fit: Fit, runs: IntArray, points: Array, values: Array, phase: str) -> None:
    """Record points of the box of some runs that are evaluated after the last generation.

    Parameters
    ----------
    fit : Fit
        The fit.
    runs : ndarray of int of shape (n,)
        The runs.
    points : ndarray of shape (n, dim)
        The points.
    values : ndarray of shape (n,)
        Their values, as selection compares them.
    phase : str
        The part of the fit.
    """
    if fit.recorder is not None:
        numbers = NO_ID, runs, np.maximum(fit.n_iter, 0)[runs]
        X = to_numpy(values_of_points(fit.batch, points))
        known = of_rules(fit, values)
        fit.recorder.add(*numbers, phase, fit.seconds, known, X, fit.batch.spec.variables)


def of_rules(fit: Fit, values: Array) -> tuple[FloatArray, FloatArray]:
    """Return values and violations of points with these values, which with constraints are codes."""
    if fit.rules is not None:
        return values_and_violations(values)
    return to_numpy(values).astype(np.float64), np.zeros(len(values))


def nothing() -> None:
    """Record nothing."""
