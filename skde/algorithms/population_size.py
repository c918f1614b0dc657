"""How large a population is in which generation, and how many evaluations that makes."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import numpy as np

from skde.typing import IntArray


class PopulationSchedule:
    """The sizes of one run's population: constant, falling linearly with the budget spent, or one size after another.

    The kernels count with the same formula (Shrinking in task.cuh) in the same arithmetic.

    Parameters
    ----------
    pop_size, pop_min : int
        The first and the last size.
    max_evals, max_iter : int
        When the last size is reached: after so many evaluations, or, where these are 0, generations.
    pool_size : int or None
        The size of every generation but the first.
    references : int
        Individuals that an algorithm keeps beside them.
    """

    def __init__(
        self,
        pop_size: int,
        pop_min: int | None = None,
        max_evals: int = 0,
        max_iter: int = 0,
        pool_size: int | None = None,
        references: int = 0,
    ) -> None:
        self.most, self.least = int(pop_size), int(pop_size if pop_min is None else pop_min)
        self.max_evals, self.max_iter = int(max_evals), int(max_iter)
        # Where a size begins, the size, and the evaluations before.
        self.starts, self.sizes, self.before = [0], [self.most], [0]
        self.references = references
        if pool_size is not None:
            self.starts, self.sizes, self.before = [0, 1], [self.most, pool_size], [0, self.most]
        elif self.least < self.most:
            self._fill()

    @classmethod
    def from_parameters(cls, parameters: dict[str, float]) -> PopulationSchedule:
        """Return the sizes of a population with these kernel parameters."""
        known = ("pop_size", "pop_min", "max_evals", "max_iter", "pool_size", "references")
        return cls(**{name: int(parameters[name]) for name in known if name in parameters})

    @property
    def varies(self) -> bool:
        """Whether the size may change, or rows of the population hold no trials."""
        return self.least < self.most or len(self.sizes) > 1 or self.references > 0

    @property
    def members(self) -> int:
        """The fewest individuals that the algorithm ever works with."""
        return self.references or self.least

    def _planned(self, evals: int, g: int) -> int:
        done = evals / self.max_evals if self.max_evals > 0 else g / self.max_iter if self.max_iter > 0 else 0.0
        return int(self.most - (self.most - self.least) * min(done, 1.0) + 0.5)

    def _fill(self) -> None:
        """Go from one change of size to the next; the generations between are skipped."""
        g, evals, size = 0, 0, self.most
        while size > self.least and max(self.max_evals, self.max_iter) > 0:
            share = (self.most + 0.5 - size) / (self.most - self.least)
            # Generations that certainly keep this size.
            if self.max_evals > 0:
                skipped = max(int((share * self.max_evals - evals) / size) - 2, 0)
            else:
                skipped = max(int(share * self.max_iter) - g - 2, 0)
            g, evals = g + skipped, evals + skipped * size
            g, evals = g + 1, evals + size
            planned = self._planned(evals, g)
            if planned < size:
                size = planned
                self.starts.append(g)
                self.sizes.append(size)
                self.before.append(evals)

    def size(self, g: int) -> int:
        """Return the size of generation g."""
        return self.sizes[max(bisect_right(self.starts, g) - 1, 0)]

    def evals(self, g: int) -> int:
        """Return the evaluations up to the end of generation g; before generation 0 there are none."""
        if g < 0:
            return 0
        k = bisect_right(self.starts, g) - 1
        return self.before[k] + (g - self.starts[k] + 1) * self.sizes[k]

    def evals_at(self, generations: Any) -> IntArray:
        """Return the evaluations up to the end of every one of an array of generations."""
        k = np.searchsorted(self.starts, generations, side="right") - 1
        before, starts, sizes = (np.array(values) for values in (self.before, self.starts, self.sizes))
        return np.asarray(before[k] + (generations - starts[k] + 1) * sizes[k])

    def last(self, evals: int) -> int:
        """Return the last generation that is complete within so many evaluations."""
        k = bisect_right(self.before, evals) - 1
        last = self.starts[k] - 1 + (evals - self.before[k]) // self.sizes[k]
        return min(last, self.starts[k + 1] - 1) if k + 1 < len(self.starts) else last
