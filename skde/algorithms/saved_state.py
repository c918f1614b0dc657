"""Saved runs of one algorithm, and checks of their arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skde.typing import FloatArray, IntArray


@dataclass(repr=False, eq=False)
class StateChecks:
    """Checks of the values in a file's entries.

    Attributes
    ----------
    prefix : str
        The prefix of the entries' names.
    """

    prefix: str

    def check(self, name: str, what: str, holds: Any) -> None:
        """Refuse the file unless something holds for all values of an entry."""
        if not np.all(holds):
            raise ValueError(f"entry {self.prefix + name!r}: {what}")

    def check_range(self, name: str, what: str, values: Any, low: Any, high: Any, whole: bool = False) -> None:
        """Refuse the file unless values are in [low, high], and whole numbers where they have to be."""
        inside = (values >= low) & (values <= high)  # NaN is not
        if whole:
            inside = inside & (np.floor(values) == values)
        kind = "whole numbers" if whole else "numbers"
        self.check(name, f"{what} must be {kind} in [{np.min(low)}, {np.max(high)}]", inside)

    def check_order(self, name: str, what: str, values: Any, size: IntArray) -> None:
        """Refuse the file unless the first `size` values of every run are the numbers 0 ... size - 1."""
        places = np.arange(values.shape[1])
        counted = np.where(places < size[:, None], values, places)
        same = np.sort(counted, axis=1) == places
        self.check(name, f"{what} must be a permutation of the individuals' numbers", same)


@dataclass(repr=False, eq=False)
class SavedRuns(StateChecks):
    """Runs of one algorithm with equal parameters, as read from a file, for the algorithm to check.

    Attributes
    ----------
    parameters : dict of str to float
        The kernel's parameters.
    dim : int
        Number of variables.
    lower, upper : ndarray of shape (dim,)
        The box, in the precision of the runs.
    generation, size, next_size : ndarray of shape (n,)
        The last generation, its individuals, and the individuals of the next one.
    memory : ndarray of shape (2, n, M)
        The runs' memory, of even and of odd generations.
    extra : dict of str to ndarray of shape (n, P)
        Numbers of individuals by name.
    order : ndarray of shape (n, P)
        The ranks; (n, 0) where there are none.
    """

    parameters: dict[str, float]
    lower: FloatArray
    upper: FloatArray
    generation: IntArray
    size: IntArray
    next_size: IntArray
    memory: FloatArray
    extra: dict[str, FloatArray]
    order: IntArray

    @property
    def dim(self) -> int:
        """Number of variables."""
        return len(self.lower)
