"""GaDE (Yang, Tang, Yao 2011, as far as `skde.GADE` says) in NumPy, reading the kernels' random stream."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from .common import inner_unit, inside, normal_quantile, replaces, taken, worth
from .folded import folded_sum
from .philox import CONTROL, INDICES, Draws, below, unit
from .reference import distinct, first_population
from .success_history import cauchy, improvement


class Gade:
    """One run."""

    def __init__(self, algorithm: Any, box: Any, seed: int, x0: Any = None) -> None:
        self.algorithm, self.box, self.seed = algorithm, box, seed
        self.generation = 0
        self.x = first_population(algorithm.pop_size, box, seed, x0)
        self.f: Any = None
        self.F_m, self.CR_m = algorithm.F_start, algorithm.CR_start
        self.generations = 0  # of the period
        self.means: list[tuple[float, float]] = []  # of F and CR, in those with an improvement

    @property
    def learned(self) -> list[float]:
        """The kernel's memory."""
        sums = [list(itertools.accumulate(column))[-1] if column else 0.0 for column in self.columns]
        return [self.F_m, self.CR_m, self.generations, len(self.means), *sums]

    @property
    def columns(self) -> list[list[float]]:
        """The means of F, and those of CR."""
        return [[mean[k] for mean in self.means] for k in (0, 1)]

    def ask(self) -> Any:
        """The trials of the next generation."""
        if self.f is None:
            return self.x.copy()
        self.generation += 1
        n, d = self.x.shape
        order = sorted(range(n), key=lambda k: worth(self.f[k]))
        best = order[: max(int(self.algorithm.p_best * n), 1)]
        self.used: list[tuple[float, float]] = []
        trials = np.empty_like(self.x)
        for i in range(n):
            draws = Draws(self.seed, self.generation, i)
            words = draws.block(CONTROL, 0)
            F = self.scale_factor(draws)
            CR = min(max(self.CR_m + 0.1 * normal_quantile(inner_unit(words[1])), 0.0), 1.0)
            self.used.append((F, CR))
            x, (a, b, c) = self.x[i], (self.x[r] for r in distinct(draws, n, i, 3))
            pbest = self.x[best[below(draws.block(INDICES, 1)[1], len(best))]]
            pulled = unit(words[0]) < self.algorithm.pbest_rate
            v = x + F * (pbest - x) + F * (a - b) if pulled else a + F * (b - c)
            u = np.where(taken(draws, CR, d, below(words[2], d)), v, x)
            trials[i] = inside(self.algorithm.repair, u, x, self.box, draws)
        return trials

    def scale_factor(self, draws: Draws) -> float:
        """Cauchy(F_m, 0.1), drawn again while it is not above the least, cut at 1."""
        words = itertools.chain([draws.block(CONTROL, 0)[3]], (draws.block(CONTROL, k)[0] for k in itertools.count(1)))
        F = next(F for F in (self.F_m + 0.1 * cauchy(word) for word in words) if self.algorithm.F_least < F)
        return float(min(F, 1.0))

    def tell(self, trials: Any, f: Any) -> None:
        """Selection, and learning at the end of a period."""
        if self.f is None:
            self.f = f.copy()
            return
        gains = [improvement(float(new), float(old)) for new, old in zip(f, self.f, strict=True)]
        for i in range(len(f)):
            if replaces(f[i], self.f[i]):
                self.x[i], self.f[i] = trials[i], f[i]
        if any(gain > 0 for gain in gains):
            self.means.append(self.mean_of(gains))
        self.generations += 1
        if self.generations < self.algorithm.learning_period:
            return
        if self.means:
            self.F_m, self.CR_m = (list(itertools.accumulate(column))[-1] / len(column) for column in self.columns)
        self.generations, self.means = 0, []

    def mean_of(self, gains: list[float]) -> tuple[float, float]:
        """The means of F and CR, weighted by improvements."""
        w = gains if folded_sum(gains) >= 2.0**-900 else [gain * 2.0**900 for gain in gains]
        F, CR = zip(*self.used, strict=True)
        n = range(len(w))
        mean_F = folded_sum([w[k] * F[k] * F[k] for k in n]) / folded_sum([w[k] * F[k] for k in n])
        return mean_F, folded_sum([w[k] * CR[k] for k in n]) / folded_sum(w)
