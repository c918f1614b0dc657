"""The course of runs: values at common places, their quartiles, and the targets that they reach."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from skde.result import History
from skde.typing import FloatArray

FLOOR = 1e-12  # smaller errors are drawn here
POINTS = 2000  # of a curve, at most
DECADES = 2.0  # from this range on, positive values are drawn on a logarithmic axis
HIGHEST_TARGET = 1e2
TARGETS = 51
AXES = {"n_evals": "evaluations", "seconds": "seconds"}


class Band(NamedTuple):
    """Quartiles of the runs' best values: places, and lower quartile, median and upper quartile there."""

    x: FloatArray
    low: FloatArray
    middle: FloatArray
    high: FloatArray


def values_at(x: Any, values: Any, places: Any) -> FloatArray:
    """Return the last value at or before each place, infinite before the first and for NaN."""
    last = np.searchsorted(x, places, side="right") - 1
    found = np.where(last >= 0, np.asarray(values, np.float64)[last], np.inf)
    return np.where(np.isnan(found), np.inf, found)


def quartiles(values: FloatArray) -> FloatArray:
    """Return lower quartile, median and upper quartile of the runs at every point, of shape (3, n).

    They are values of runs, so that infinite values count.
    """
    found: FloatArray = np.quantile(values, [0.25, 0.5, 0.75], axis=0, method="inverted_cdf")
    return found


def common_places(histories: Sequence[History], axis: str = "n_evals") -> FloatArray:
    """Return all places at which one of the runs has a value, or `POINTS` of them."""
    places: FloatArray = np.unique(np.concatenate([getattr(history, axis) for history in histories]))
    if len(places) > POINTS:
        places = places[np.linspace(0, len(places) - 1, POINTS).astype(int)]
    return places


def band_of(histories: Sequence[History], f_opt: float = 0.0, axis: str = "n_evals") -> Band:
    """Return the quartiles of the errors of runs; a run that has ended counts with its last value.

    Examples
    --------
    >>> import numpy as np
    >>> from skde import History
    >>> from skde.curves import band_of
    >>> runs = [History(np.array([10, 20]), np.array([0.1, 0.2]), np.array([k, k / 2])) for k in (2.0, 4.0, 6.0)]
    >>> band_of(runs).middle
    array([4., 2.])
    """
    places = common_places(histories, axis)
    errors = np.stack([values_at(getattr(history, axis), history.best - f_opt, places) for history in histories])
    return Band(places, *quartiles(errors))


def is_logarithmic(values: FloatArray) -> bool:
    """Whether values are drawn on a logarithmic axis: none is negative, and they have a range of two decades."""
    finite = values[np.isfinite(values)]
    positive = finite[finite > 0]
    if not len(positive) or (finite < 0).any():
        return False
    return bool(len(positive) < len(finite) or np.log10(positive.max() / positive.min()) >= DECADES)


def targets(lowest: float, highest: float = HIGHEST_TARGET) -> FloatArray:
    """Return errors to reach, from the highest to the lowest, on a logarithmic scale."""
    return np.geomspace(highest, lowest, TARGETS)


def evals_to_goals(n_evals: FloatArray, errors: FloatArray, goals: FloatArray) -> FloatArray:
    """Return the evaluations at which each run reaches each target, infinite where it does not."""
    is_reached = errors[:, :, None] <= goals
    first = n_evals[is_reached.argmax(axis=1)]
    return np.where(is_reached.any(axis=1), first, np.inf)
