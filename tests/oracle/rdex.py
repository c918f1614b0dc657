"""RDEx (Tao, Yang, Zhao, Wang, Liu, Gao 2025) in NumPy, reading the kernels' random stream."""

from __future__ import annotations

import itertools
import math
from typing import Any
from unittest.mock import ANY

import numpy as np

import skde._cpu as _cpu

from .common import PERTURBATION, cauchy_quantile, inner_unit, normal_quantile
from .folded import folded_sum
from .lsrtde import Lsrtde, lehmer_mean
from .philox import CONTROL, INDICES, Draws, below


class Rdex(Lsrtde):
    """One run."""

    individuals_per_variable = 18

    def __init__(self, algorithm: Any, *args: Any, **parameters: Any) -> None:
        super().__init__(algorithm, *args, **parameters)
        self.rate = algorithm.exploit_rate
        self.M_F = [1.0] * algorithm.memory_size

    @property
    def learned(self) -> list[Any]:
        """The kernel's memory; four numbers in it follow from the others."""
        return [*super().learned, *[ANY] * 4, self.rate, *self.M_F]

    @property
    def spent(self) -> float:
        """The share of the budget that was spent before this generation."""
        share = self.evals / self.max_evals if self.max_evals else self.generation / self.max_iter
        return min(share, 1.0)

    def ask(self) -> Any:
        """The trials of the next generation."""
        self.F: list[float] = []
        self.exploits: list[bool] = []
        return super().ask()

    def step(self, draws: Draws, c: int, many: int, mean_F: float, by_rank: list[int]) -> tuple[Any, ...]:
        """That of L-SRTDE, or from three points in their order."""
        uniform = draws.block(INDICES, 1)[1] * 2.0**-32
        exploits = self.spent >= self.algorithm.exploit_from and uniform * (1 - self.spent) < self.rate
        step = self.ordered_step(draws, c, by_rank) if exploits else super().step(draws, c, many, mean_F, by_rank)
        self.exploits.append(exploits)
        self.F.append(step[3])
        return step

    def ordered_step(self, draws: Draws, c: int, by_rank: list[int]) -> tuple[Any, ...]:
        """The second mutation."""
        n, words, control = len(self.front), draws.block(INDICES, 0), draws.block(CONTROL, 0)
        few = max(2, int(n * 0.17 * (1 - 0.5 * self.spent)))
        pbest = next(k for k in self.ranks(draws, words[1], 0, few) if k != c)
        second = draws.block(INDICES, 1)[0]
        r1 = next(by_rank[k] for k in self.ranks(draws, second, 1, n) if by_rank[k] != pbest)
        r2 = next(k for k in self.ranks(draws, words[3], 2, n) if k not in (pbest, r1))
        points = [self.top[pbest], self.front[r1], self.top[r2]]
        best, middle, worst = sorted(points, key=lambda point: (math.isnan(point.f), point.f))

        H = len(self.M)
        entry = below(control[1], H + 1)
        mean_F, mean_CR = (self.M_F[entry], self.M[entry]) if entry < H else (0.9, 0.9)
        first = itertools.chain([control[0]], (draws.block(CONTROL, 1 + k)[0] for k in itertools.count()))
        F = next(F for F in (mean_F + 0.1 * cauchy_quantile(inner_unit(word)) for word in first) if F >= 0)
        CR = mean_CR + 0.1 * normal_quantile(inner_unit(control[2]))
        return best.x, middle.x, worst.x, min(F, 1.0), min(max(CR, 0.0), 1.0)

    def ranks(self, draws: Draws, word: int, w: int, many: int) -> Any:
        """Ranks below `many`, drawn with the weights N - k."""
        a = len(self.front) + 0.5
        for again in itertools.count(2):
            t = a - math.sqrt(a * a - inner_unit(word) * many * (2 * a - many))
            yield min(int(t), many - 1)
            word = draws.block(INDICES, again)[w]

    def kept(self, draws: Draws, x: Any) -> Any:
        """Those of the member, or perturbed ones."""
        if not draws.block(INDICES, 1)[2] * 2.0**-32 < self.algorithm.perturbation_rate:
            return x
        words = np.array([float(draws.component(PERTURBATION, j)) for j in range(len(x))])
        return x + self.algorithm.perturbation_scale * (self.box[:, 1] - self.box[:, 0]) * _cpu.cauchy_draw(words)

    def learn(self, succeeded: bool, gains: list[float]) -> None:
        """An entry of each memory, and the probability of the second mutation."""
        super().learn(succeeded, gains)
        if succeeded:
            self.M_F[self.cell] = lehmer_mean(gains, self.F)
        every = folded_sum(gains)
        exploited = folded_sum([g * exploits for g, exploits in zip(gains, self.exploits, strict=True)])
        self.rate = exploited / every if 0 < exploited < every else self.algorithm.exploit_rate
