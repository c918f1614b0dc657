"""NL-SHADE-RSP (Stanovov, Akhmedova, Semenkin 2021) in NumPy, from the paper, reading the kernels' random stream."""

from __future__ import annotations

from typing import Any

import numpy as np

from .common import exp, inner_unit, inside, log, taken
from .philox import CONTROL, CROSSOVER, INDICES, Draws, below, unit
from .success_history import SuccessHistory, Vector, folded_sum, improvement, normal


class NlShadeRsp(SuccessHistory):
    """One run. Individuals are numbered by rank, as in L-SHADE."""

    def __init__(self, algorithm: Any, box: Any, seed: int, x0: Any = None, **limits: int) -> None:
        super().__init__(algorithm, box, seed, x0, **limits)
        entries = algorithm.memory_size
        self.M_F, self.M_CR = [algorithm.F_start] * entries, [algorithm.CR_start] * entries
        self.p_A = 0.5
        self.used: list[bool] = []
        self.failures = self.zeros = 0  # generations without a mean of F, and of CR

    @property
    def learned(self) -> list[float]:
        """The kernel's memory."""
        return [*super().learned, self.p_A]

    def size(self) -> int:
        """Equation 13."""
        most, least, t = self.algorithm.pop_size, self.algorithm.pop_min, self.progress
        share = exp((1 - t) * log(t)) if t > 0 else 0.0
        return int(most - (most - least) * share + 0.5)

    def begin(self) -> None:
        """Lines 8 to 17 of the algorithm: the crossover rates, the smallest for the best."""
        super().begin()
        rates = []
        for i in range(len(self.x)):
            words = Draws(self.seed, self.generation, i).block(CONTROL, 0)
            middle = self.M_CR[below(words[0], len(self.M_CR))]
            assert middle is not None
            rates.append(max(min(middle + 0.1 * normal(words[1]), 1.0), 0.0))
        self.rates, self.used = sorted(rates), []

    def trial(self, i: int, draws: Draws) -> Vector:
        """Lines 18 to 36."""
        algorithm, n, words = self.algorithm, len(self.x), draws.block(INDICES, 0)
        p = algorithm.p_best + (algorithm.p_best_end - algorithm.p_best) * self.progress
        best = [k for k in range(min(max(int(p * n), 2), n)) if k != i]
        pbest = best[below(words[0], len(best))]
        others = [k for k in range(n) if k not in (i, pbest)]
        r1 = others[below(words[1], len(others))]
        self.used.append(bool(self.archive) and unit(words[3]) < self.p_A)
        if self.used[-1]:
            r2 = self.archive[below(words[2], len(self.archive))]
        else:
            r2 = self.x[self.ranked(draws, words[2], n, (i, pbest, r1))]
        F = self.scale_factor(draws, below(draws.block(CONTROL, 0)[0], len(self.M_F)))
        self.tried.append((F, self.rates[i]))
        x = self.x[i]
        v = x + F * (self.x[pbest] - x) + F * (self.x[r1] - r2)
        return inside(algorithm.repair, np.where(self.crossed(i, draws), v, x), x, self.box, draws)

    def ranked(self, draws: Draws, word: int, n: int, excluded: tuple[int, ...]) -> int:
        """Equation 11: the k-th best with a probability proportional to exp(-k / n), again where it is excluded."""
        again = 2
        while (k := min(int(-log(1 - inner_unit(word) * (1 - exp(-1.0))) * n), n - 1)) in excluded:
            word = draws.block(INDICES, again)[0]
            again += 1
        return k

    def crossed(self, i: int, draws: Draws) -> list[bool]:
        """Exponential crossover without a wrap (equation 3), or binomial crossover (equations 2 and 15)."""
        d = len(self.box)
        one = below(draws.block(CONTROL, 0)[2], d)
        if unit(draws.block(INDICES, 1)[1]) >= self.algorithm.exponential_rate:
            return taken(draws, max(2 * self.progress - 1, 0.0), d, one)
        length = 1
        while length < d and unit(draws.block(CROSSOVER, (length - 1) // 4)[(length - 1) % 4]) < self.rates[i]:
            length += 1
        return [one <= j < one + length for j in range(d)]

    def tell(self, trials: Any, f: Any) -> None:
        """Selection, archive and memory; then the archive's probability."""
        parents, cell = list(self.f or []), self.cursor
        super().tell(trials, f)
        if not parents:
            return
        gains = [improvement(float(v), parent) for v, parent in zip(f, parents, strict=True)]
        if not any(gain > 0 for gain in gains):
            self.M_F[cell] = self.M_CR[cell] = 0.5
            self.failures += 1
        self.p_A = self.share(weights(gains))

    def learn(self, gains: list[float]) -> None:
        """Equation 7; a mean that does not exist is 0.5."""
        w, k = weights(gains), self.cursor
        memories: list[list[Any]] = [self.M_F, self.M_CR]
        for memory, values in zip(memories, zip(*self.tried, strict=True), strict=True):
            terms = [gain * value for gain, value in zip(w, values, strict=True)]
            total = folded_sum(terms)
            squares = folded_sum([term * value for term, value in zip(terms, values, strict=True)])
            memory[k] = squares / total if total > 0 else 0.5
            self.zeros += total == 0
        self.cursor = (k + 1) % len(self.M_F)

    def share(self, w: list[float]) -> float:
        """Equation 14."""
        n_A, gain = sum(self.used), folded_sum(w)
        n_P = len(w) - n_A
        if n_A == 0 or n_P == 0 or gain == 0:
            return 0.5
        gain_A = folded_sum([one * used for one, used in zip(w, self.used, strict=True)])
        mean_A, mean_P = gain_A / n_A, (gain - gain_A) / n_P
        return min(max(mean_A / (mean_A + mean_P), 0.1), 0.9)


def weights(gains: list[float]) -> list[float]:
    """Gains whose products with F and CR are not lost."""
    return gains if folded_sum(gains) >= 2.0**-900 else [gain * 2.0**900 for gain in gains]
