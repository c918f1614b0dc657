"""Sizes of a population over its generations, and the evaluations that they add up to."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from operator import mul
from typing import Any

import numpy as np

import skde._cpu as _cpu
from skde.typing import IntArray


class PopulationSchedule:
    """Sizes of one run's population over its generations.

    Parameters
    ----------
    starts : sequence of int
        The first generation of every size.
    sizes : sequence of int
        The sizes.
    references : int, default 0
        Number of individuals that an algorithm keeps in addition to the trials.
    """

    def __init__(self, starts: Sequence[int], sizes: Sequence[int], references: int = 0) -> None:
        self.starts, self.sizes, self.references = list(starts), list(sizes), references
        lengths = (later - start for start, later in pairwise(self.starts))
        # The evaluations before every size.
        self.before: list[int] = list(accumulate(map(mul, lengths, self.sizes), initial=0))

    @classmethod
    def from_parameters(cls, kernel: str, parameters: dict[str, float]) -> PopulationSchedule:
        """Return the schedule of a population with these parameters of a kernel, which knows the formula."""
        return cls(*_cpu.population_sizes(kernel, parameters))

    @property
    def most(self) -> int:
        """Size of the initial population."""
        return self.sizes[0]

    @property
    def varies(self) -> bool:
        """Whether the size may change, or some rows of the population hold no trials."""
        return len(self.sizes) > 1 or self.references > 0

    @property
    def members(self) -> int:
        """Smallest number of individuals that the algorithm works with."""
        return self.references or min(self.sizes)

    def size(self, g: int) -> int:
        """Return the size of generation g."""
        return self.sizes[max(bisect_right(self.starts, g) - 1, 0)]

    def evals(self, g: int) -> int:
        """Return the number of evaluations up to the end of generation g; 0 for negative g."""
        if g < 0:
            return 0
        k = bisect_right(self.starts, g) - 1
        return self.before[k] + (g - self.starts[k] + 1) * self.sizes[k]

    def evals_at(self, generations: Any) -> IntArray:
        """Return the number of evaluations up to the end of each of several generations."""
        starts, sizes, before = self._tables
        k = np.searchsorted(starts, generations, side="right") - 1
        return np.asarray(before[k] + (generations - starts[k] + 1) * sizes[k])

    @cached_property
    def _tables(self) -> tuple[IntArray, IntArray, IntArray]:
        """The generations, the sizes, and the evaluations before them, as arrays."""
        return np.array(self.starts), np.array(self.sizes), np.array(self.before)

    def last(self, evals: int) -> int:
        """Return the last generation that is complete after a number of evaluations."""
        k = bisect_right(self.before, evals) - 1
        last = self.starts[k] - 1 + (evals - self.before[k]) // self.sizes[k]
        return min(last, self.starts[k + 1] - 1) if k + 1 < len(self.starts) else last
