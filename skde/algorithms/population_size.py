"""Sizes of a population over its generations, and the evaluations that they add up to."""

from __future__ import annotations

import math
from bisect import bisect_right
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

import skde._cpu as _cpu
from skde.typing import IntArray


class Regrowth(NamedTuple):
    """A population that shrinks as a power of the budget that is left, grows late, and shrinks again.

    The kernels compute its sizes by the same formula in the same arithmetic (RegrowingReduction in algorithm.cuh).

    Attributes
    ----------
    power : float
        Power of the share that is left of the budget before `refine_from`.
    late_size : float
        Size to which the population grows; from then on it shrinks with the square of the share that is left.
    refine_from : float
        Share of the budget, in (0, 1), at which it grows.
    """

    power: float
    late_size: float
    refine_from: float

    def size(self, first: float, last: float, progress: float) -> int:
        """Return the size after a share of the budget, of a population that shrinks from `first` to `last`."""
        ends = progress > self.refine_from
        begin, length = (self.refine_from, 1 - self.refine_from) if ends else (0.0, self.refine_from)
        rest = 1 - (progress - begin) / length
        if ends:
            share = rest * rest
        else:
            share = float(_cpu.exp(self.power * _cpu.log(np.array([rest])))[0]) if rest > 0 else 0.0
        return int(last + ((max(self.late_size, last) if ends else first) - last) * share + 0.5)

    def change(self, first: float, last: float, progress: float, size: int) -> float:
        """Return about the share of the budget at which the size is another one; infinity where it stays."""
        ends = progress > self.refine_from
        if size <= last:
            grows = not ends and int(self.late_size + 0.5) > last
            return self.refine_from if grows else math.inf
        power = 2.0 if ends else self.power
        share = 1 - ((size - 0.5 - last) / ((self.late_size if ends else first) - last)) ** (1 / power)
        return float(self.refine_from + (1 - self.refine_from) * share if ends else self.refine_from * share)


class PopulationSchedule:
    """Sizes of one run's population: constant, shrinking with the budget spent, or different after the first.

    The kernels compute sizes by the same formula in the same arithmetic (PopulationReduction in algorithm.cuh).

    Parameters
    ----------
    pop_size : int
        Size of the initial population.
    pop_min : int or None, default None
        Size at the end of the budget; None: `pop_size`.
    max_evals : int, default 0
        Number of evaluations after which the size is `pop_min`.
    max_iter : int, default 0
        Number of generations after which the size is `pop_min`; used where max_evals is 0.
    pool_size : int or None, default None
        Size of every generation after the initial population; None: the sizes above.
    references : int, default 0
        Number of individuals that an algorithm keeps in addition to the trials.
    regrowth : Regrowth or None, default None
        Rule of a population that grows late; None: it shrinks linearly.
    """

    def __init__(
        self,
        pop_size: int,
        pop_min: int | None = None,
        max_evals: int = 0,
        max_iter: int = 0,
        pool_size: int | None = None,
        references: int = 0,
        regrowth: Regrowth | None = None,
    ) -> None:
        self.most, self.least = int(pop_size), int(pop_size if pop_min is None else pop_min)
        self.max_evals, self.max_iter = int(max_evals), int(max_iter)
        # For every size: its first generation, the size, and the number of evaluations before it.
        self.starts, self.sizes, self.before = [0], [self.most], [0]
        self.references, self.regrowth = references, regrowth
        if pool_size is not None:
            self.starts, self.sizes, self.before = [0, 1], [self.most, pool_size], [0, self.most]
        elif self.least < self.most:
            self._fill()

    @classmethod
    def from_parameters(cls, parameters: dict[str, float]) -> PopulationSchedule:
        """Return the schedule of a population with these kernel parameters."""
        names = ("pop_size", "pop_min", "max_evals", "max_iter", "pool_size", "references")
        late = Regrowth(*(parameters[name] for name in Regrowth._fields)) if "late_size" in parameters else None
        return cls(**{name: int(parameters[name]) for name in names if name in parameters}, regrowth=late)

    @property
    def varies(self) -> bool:
        """Whether the size may change, or some rows of the population hold no trials."""
        return self.least < self.most or len(self.sizes) > 1 or self.references > 0

    @property
    def members(self) -> int:
        """Smallest number of individuals that the algorithm works with."""
        return self.references or self.least

    def _progress(self, evals: int, g: int) -> float:
        done = evals / self.max_evals if self.max_evals > 0 else g / self.max_iter if self.max_iter > 0 else 0.0
        return min(done, 1.0)

    def _plan_size(self, progress: float) -> int:
        if self.regrowth:
            return self.regrowth.size(self.most, self.least, progress)
        return int(self.most - (self.most - self.least) * progress + 0.5)

    def _change(self, progress: float, size: int) -> float:
        """Return about the share of the budget at which the size is another one; infinity where it stays."""
        if self.regrowth:
            return self.regrowth.change(self.most, self.least, progress, size)
        return (self.most + 0.5 - size) / (self.most - self.least) if size > self.least else math.inf

    def _fill(self) -> None:
        """Find the generations in which the size changes."""
        g, evals, size = 0, 0, self.most
        while max(self.max_evals, self.max_iter) > 0:
            share = self._change(self._progress(evals, g), size)
            if share == math.inf:
                break
            # Rounding may move the next change by a generation, so the last two before it are checked one by one.
            if self.max_evals > 0:
                skipped = max(int((share * self.max_evals - evals) / size) - 2, 0)
            else:
                skipped = max(int(share * self.max_iter) - g - 2, 0)
            g, evals = g + skipped + 1, evals + (skipped + 1) * size
            planned = self._plan_size(self._progress(evals, g))
            if planned != size:
                size = planned
                self.starts.append(g)
                self.sizes.append(size)
                self.before.append(evals)

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
        """The generations, sizes and evaluations of `_fill` as arrays."""
        return np.array(self.starts), np.array(self.sizes), np.array(self.before)

    def last(self, evals: int) -> int:
        """Return the last generation that is complete after a number of evaluations."""
        k = bisect_right(self.before, evals) - 1
        last = self.starts[k] - 1 + (evals - self.before[k]) // self.sizes[k]
        return min(last, self.starts[k + 1] - 1) if k + 1 < len(self.starts) else last
