"""Feasibility rules where a user tells the values of the constraints."""

from __future__ import annotations

from typing import Any

import numpy as np

from skde.objectives.feasibility import (
    EXACT,
    LARGEST,
    Outcome,
    StoredOutcomes,
    feasibility_codes,
    outcomes_of,
    values_of_codes,
    violations_of_codes,
)
from skde.problems.constraints import total_violation
from skde.problems.simulation import check_sizes, make_point_key
from skde.typing import Array, FloatArray
from skde.utils.arrays import array_namespace, contiguous, move_to, to_numpy

# Points whose constraints are kept for the answer; the best point of a run is nearly always one of them.
KEPT = 100_000


class ToldRules:
    """Feasibility rules of points that a user evaluates, with their constraints.

    Parameters
    ----------
    tolerance : float
        Tolerance of satisfied constraints.
    sizes : (int, int) or None, default None
        The numbers of g and h; None: the first ones count.
    stored : StoredOutcomes or None, default None
        A loaded fit's.
    """

    def __init__(
        self, tolerance: float, sizes: tuple[int, int] | None = None, stored: StoredOutcomes | None = None
    ) -> None:
        self.tolerance, self.sizes, self.stored = tolerance, sizes, stored
        self.kept: dict[bytes, FloatArray] = {}

    def rows(self, f: Array, g: Any, h: Any, shape: tuple[int, ...]) -> Array:
        """Return the f, g and h of points as rows, of shape (n, 1 + m + l), after a check."""
        sides = [read_told(name, side, shape, f) for name, side in (("g", g), ("h", h))]
        sizes = sides[0].shape[1], sides[1].shape[1]
        if self.sizes is not None:
            check_sizes(sizes, self.sizes)
        if not sum(sizes):
            raise ValueError("g or h must have a value for every point, got none")
        self.sizes = sizes
        return array_namespace(f).concatenate([f[:, None], *sides], axis=1)

    def codes(self, X: Array, rows: Array) -> Array:
        """Return the codes of points from rows of f, g and h, and keep these."""
        assert self.sizes is not None
        for x, row in zip(to_numpy(X), to_numpy(rows), strict=True):
            self.kept[make_point_key(x)] = row
        while len(self.kept) > KEPT + len(X):
            del self.kept[next(iter(self.kept))]
        return feasibility_codes(rows[:, 0], total_violation(rows[:, 1:], self.sizes[0], self.tolerance))

    def outcomes(self, x: FloatArray, codes: FloatArray, xp: Any) -> list[Outcome]:
        """Return value and violations of all runs' best points."""
        return [self._outcome(run, *best) for run, best in enumerate(zip(x, codes, strict=True))]

    def _outcome(self, run: int, x: FloatArray, code: float) -> Outcome:
        row = self.kept.get(make_point_key(x))
        if row is not None and self.sizes is not None:
            value = code if code <= EXACT else row[0]
            return outcomes_of(np.array([code]), np.array([value]), row[None, 1:], self.sizes[0], self.tolerance)[0]
        violation = float(violations_of_codes(code))
        value = np.nan if code > LARGEST else float(values_of_codes(code))
        if self.stored is not None and np.isclose(self.stored.stored[run, 2], violation, rtol=1e-9, equal_nan=True):
            return Outcome(*self.stored.stored[run].tolist())
        return Outcome(float(value), violation, violation)


def read_told(name: str, given: Any, shape: tuple[int, ...], like: Array) -> Array:
    """Return one kind of constraints as an array of shape (n, m) in the library of `like`."""
    xp, n = array_namespace(like), len(like)
    if given is None:
        return xp.zeros((n, 0))
    found = np.shape(given)
    if found != shape and (len(found) != len(shape) + 1 or found[:-1] != shape):
        raise ValueError(f"{name} must have the shape of f, {shape}, or one axis more, got {found}")
    size = 1 if found == shape else found[-1]
    return contiguous(move_to(given, like, name), np.float64).reshape(n, size)
