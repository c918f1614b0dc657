"""SaDE (Qin, Huang, Suganthan 2009) in NumPy, reading the kernels' random stream."""

from __future__ import annotations

import bisect
import itertools
import math
from statistics import median
from typing import Any

import numpy as np

from .common import STRATEGY, inner_unit, inside, normal_quantile, replaces, taken, worth
from .philox import CONTROL, Draws, below, unit
from .reference import distinct, first_population

RAND_1, RAND_TO_BEST_2, RAND_2, CURRENT_TO_RAND_1 = range(4)


class Sade:
    """One run."""

    def __init__(self, algorithm: Any, box: Any, seed: int, x0: Any = None) -> None:
        self.algorithm, self.box, self.seed = algorithm, box, seed
        self.generation = 0
        self.x = first_population(algorithm.pop_size, box, seed, x0)
        self.f: Any = None
        self.chance = [0.25] * 4
        self.CRm = [0.5] * 3
        # Of every generation, of every trial: strategy, CR, whether it succeeded.
        self.past: list[list[tuple[int, float, bool]]] = []

    @property
    def learned(self) -> list[float]:
        """The first numbers of the kernel's memory."""
        return [*self.chance, *self.CRm]

    def ask(self) -> Any:
        """The trials of the next generation."""
        if self.f is None:
            return self.x.copy()
        self.generation += 1
        n, d = self.x.shape
        best = self.x[min(range(n), key=lambda k: worth(self.f[k]))]
        wheel = unit(Draws(self.seed, self.generation, 0).block(STRATEGY, 0)[0])
        self.used: list[tuple[int, float]] = []
        trials = np.empty_like(self.x)
        for i in range(n):
            draws = Draws(self.seed, self.generation, i)
            words = draws.block(CONTROL, 0)
            strategy = self.dealt(wheel + i / n)
            CR = 1.0 if strategy == CURRENT_TO_RAND_1 else self.crossover_rate(draws, strategy)
            self.used.append((strategy, CR))
            F = self.algorithm.F_mean + self.algorithm.F_deviation * normal_quantile(inner_unit(words[0]))
            v = self.mutant(strategy, i, best, draws, F, K=unit(words[2]))
            u = np.where(taken(draws, CR, d, below(words[3], d)), v, self.x[i])
            trials[i] = inside(self.algorithm.repair, u, self.x[i], self.box, draws)
        return trials

    def dealt(self, pointer: float) -> int:
        """Stochastic universal selection: the sector of the wheel that a pointer is in."""
        return bisect.bisect_right(list(itertools.accumulate(self.chance[:3])), pointer - math.floor(pointer))

    def crossover_rate(self, draws: Draws, strategy: int) -> float:
        """N(CRm, 0.1) in steps of 1/128, drawn again while outside [0, 1]."""
        words = itertools.chain([draws.block(CONTROL, 0)[1]], (draws.block(CONTROL, k)[0] for k in itertools.count(1)))
        for word in words:
            CR = math.floor((self.CRm[strategy] + 0.1 * normal_quantile(inner_unit(word))) * 128 + 0.5) / 128
            if 0 <= CR <= 1:
                break
        return CR

    def mutant(self, strategy: int, i: int, best: Any, draws: Draws, F: float, K: float) -> Any:
        """The paper's table of strategies."""
        x = self.x[i]
        a, b, c, d, e = (self.x[r] for r in distinct(draws, len(self.x), i, 5))
        if strategy == RAND_1:
            return a + F * (b - c)
        if strategy == RAND_TO_BEST_2:
            return x + F * (best - x) + F * (a - b) + F * (c - d)
        if strategy == RAND_2:
            return a + F * (d - e) + F * (b - c)
        return x + K * (a - x) + F * (b - c)

    def tell(self, trials: Any, f: Any) -> None:
        """Selection and, once there are enough generations to learn from, learning."""
        if self.f is None:
            self.f = f.copy()
            return
        succeeded = [replaces(*pair) for pair in zip(f, self.f, strict=True)]
        for i in np.flatnonzero(succeeded):
            self.x[i], self.f[i] = trials[i], f[i]
        self.past.append([(*used, success) for used, success in zip(self.used, succeeded, strict=True)])
        if len(self.past) >= self.algorithm.learning_period:
            self.learn()

    def learn(self) -> None:
        """Equation 14 for the chances, medians for CR."""
        seen = list(itertools.chain(*self.past[-self.algorithm.learning_period :]))
        rates = []
        for k in range(4):
            outcomes = [success for strategy, _, success in seen if strategy == k]
            rates.append((outcomes.count(True) / len(outcomes) if outcomes else 0.0) + 0.01)
        # Added up one by one: sum() compensates for rounding in later versions of Python.
        total = list(itertools.accumulate(rates))[-1]
        self.chance = [rate / total for rate in rates]
        for k in range(3):
            successful = [CR for strategy, CR, success in seen if strategy == k and success]
            if successful:
                self.CRm[k] = median(successful)
