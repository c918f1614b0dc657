"""JADE, SHADE, L-SHADE and jSO in NumPy, from the equations of the papers, reading the kernels' random stream.

JADE: Zhang, Sanderson 2009. SHADE: Tanabe, Fukunaga 2013. L-SHADE: the same, 2014. jSO: Brest, Maucec, Boskovic 2017.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import skde._cpu as _cpu

from .philox import CONTROL, INDICES, REPAIR, Draws, below, unit
from .reference import crossed, first_population, repaired

Vector = Any


def ranking(f: list[float]) -> list[int]:
    """From the best to the worst; NaN is worse than any number, and the first of equals is the better one."""
    return sorted(range(len(f)), key=lambda k: (math.isnan(f[k]), 0.0 if math.isnan(f[k]) else f[k], k))


def replaces(trial: float, parent: float) -> bool:
    """Whether a trial takes its parent's place."""
    return math.isnan(parent) or trial <= parent


def improvement(trial: float, parent: float) -> float:
    """By how much; where no number tells, very much."""
    if trial < parent or (math.isnan(parent) and not math.isnan(trial)):
        gain = parent - trial
        return gain if gain < 2.0**900 else 2.0**900
    return 0.0


def folded_sum(terms: list[float]) -> float:
    """The sum in the kernels' order: 128 partial sums, then the upper half is added to the lower one, seven times."""
    partial = [0.0] * 128
    for j, term in enumerate(terms):
        partial[j % 128] += term
    while len(partial) > 1:
        half = len(partial) // 2
        partial = [partial[j] + partial[j + half] for j in range(half)]
    return partial[0]


def inner(word: int) -> Any:
    """(0, 1) from 32 bits, as the quantiles take it."""
    return np.array([(word + 0.5) * 2.0**-32])


def normal(word: int) -> float:
    """A draw from the standard normal distribution."""
    return float(_cpu.normal_quantile(inner(word))[0])


def cauchy(word: int) -> float:
    """A draw from the standard Cauchy distribution."""
    return float(_cpu.cauchy_quantile(inner(word))[0])


class SuccessHistory:
    """One run. Individuals are numbered by rank: i competes with the i-th best of the last generation."""

    deviation = 0.1  # of F and CR

    def __init__(
        self, algorithm: Any, box: Any, seed: int, x0: Any = None, max_evals: int = 0, max_iter: int = 0
    ) -> None:
        self.algorithm, self.box, self.seed = algorithm, box, seed
        self.name = algorithm.kernel
        self.shrinks = self.algorithm.shrinks
        self.max_evals, self.max_iter = max_evals, max_iter
        self.generation, self.evals = 0, 0
        self.x: list[Vector] = list(first_population(algorithm.pop_size, box, seed, x0))
        self.f: list[float] | None = None
        self.archive: list[Vector] = []
        cells = 1 if self.name == "jade" else algorithm.memory_size
        self.M_F: list[float] = [algorithm.F_start] * cells
        self.M_CR: list[float | None] = [algorithm.CR_start] * cells  # None: 0 for good
        self.cursor = 0

    @property
    def progress(self) -> float:
        """The share of the budget that is spent; only those that shrink know a budget."""
        if not self.shrinks:
            return 0.0
        return min(self.evals / self.max_evals if self.max_evals else self.generation / self.max_iter, 1.0)

    def size(self) -> int:
        """Individuals of the next generation: L-SHADE's equation 10, rounded to the nearest."""
        most = self.algorithm.pop_size
        least = self.algorithm.pop_min if self.shrinks else most
        return int(most - (most - least) * self.progress + 0.5)

    @property
    def capacity(self) -> int:
        """How many the archive holds."""
        return int(self.algorithm.archive_rate * len(self.x))

    @property
    def learned(self) -> list[float]:
        """The kernel's memory."""
        M_CR = [-1.0 if CR is None else CR for CR in self.M_CR]
        return [self.cursor, len(self.archive), *self.M_F, *M_CR]

    # -- the trials ----------------------------------------------------------------------------------------------------

    def ask(self) -> Any:
        """The trials of the next generation."""
        if self.f is None:
            return np.array(self.x)
        self.begin()
        self.tried: list[tuple[float, float]] = []
        return np.array([self.trial(i, Draws(self.seed, self.generation, i)) for i in range(len(self.x))])

    def begin(self) -> None:
        """The members of the next generation, in order; the archive shrinks with the population."""
        assert self.f is not None
        self.generation += 1
        order = ranking(self.f)[: self.size()]
        self.x, self.f = [self.x[k] for k in order], [self.f[k] for k in order]
        del self.archive[self.capacity :]

    def trial(self, i: int, draws: Draws) -> Vector:
        """current-to-pbest/1/bin."""
        cell = below(draws.block(CONTROL, 0)[0], len(self.M_F))
        F, CR = self.scale_factor(draws, cell), self.crossover_rate(draws, cell)
        self.tried.append((F, CR))
        words = draws.block(INDICES, 0)
        pbest = self.x[self.one_of_the_best(i, words)]
        # Drawn from a list of those that are left, in order.
        others = [k for k in range(len(self.x)) if k != i]
        r1 = others.pop(below(words[1], len(others)))
        candidates = [self.x[k] for k in others] + self.archive
        r2 = candidates[below(words[2], len(candidates))]
        x = self.x[i]
        v = x + self.weight() * F * (pbest - x) + F * (self.x[r1] - r2)
        u = np.where(crossed("bin", draws, CR, len(x)), v, x)
        for j, (low, high) in enumerate(self.box):
            if not low <= u[j] <= high:
                u[j] = repaired(self.algorithm.repair, u[j], x[j], low, high, draws.component(REPAIR, j))
        return u

    def scale_factor(self, draws: Draws, cell: int) -> float:
        """Cauchy, drawn again while it is not positive, cut at 1; jSO's limit in the first 60 %."""
        middle = self.M_F[cell]
        if self.name == "jso" and cell == len(self.M_F) - 1:
            middle = 0.9
        F, again = middle + self.deviation * cauchy(draws.block(CONTROL, 0)[3]), 0
        while F <= 0:
            again += 1
            F = middle + self.deviation * cauchy(draws.block(CONTROL, again)[0])
        F = min(F, 1.0)
        return min(F, 0.7) if self.name == "jso" and self.progress < 0.6 else F

    def crossover_rate(self, draws: Draws, cell: int) -> float:
        """Normal, cut to [0, 1]; jSO's limits in the first half."""
        middle = self.M_CR[cell]
        if self.name == "jso" and cell == len(self.M_CR) - 1:
            middle = 0.9
        CR = 0.0 if middle is None else middle + self.deviation * normal(draws.block(CONTROL, 0)[1])
        CR = max(min(CR, 1.0), 0.0)
        if self.name == "jso" and self.progress < 0.25:
            return max(CR, 0.7)
        if self.name == "jso" and self.progress < 0.5:
            return max(CR, 0.6)
        return CR

    def one_of_the_best(self, i: int, words: tuple[int, int, int, int]) -> int:
        """The rank of pbest."""
        n, p = len(self.x), self.algorithm.p_best
        least = 1 if self.name == "jade" else 2
        if self.name == "jso":
            p += (p / 2 - p) * self.progress
        most = p * n
        if self.name == "shade":
            most = least + (most - least) * unit(words[3])
        many = min(max(math.floor(most + 0.5), least), n)
        ranks = list(range(many))
        # In the first half of jSO's search pbest is another individual than the target.
        if self.name == "jso" and self.progress < 0.5 and i in ranks and many > 1:
            ranks.remove(i)
        return ranks[below(words[0], len(ranks))]

    def weight(self) -> float:
        """jSO's F_w / F."""
        if self.name != "jso":
            return 1.0
        return 0.7 if self.progress < 0.2 else 0.8 if self.progress < 0.4 else 1.2

    # -- learning ------------------------------------------------------------------------------------------------------

    def tell(self, trials: Any, f: Any) -> None:
        """Selection, archive, memory."""
        self.evals += len(f)
        if self.f is None:
            self.f = [float(v) for v in f]
            return
        gains = [improvement(float(v), parent) for v, parent in zip(f, self.f, strict=True)]
        before = len(self.archive)
        for i in range(len(gains)):
            if gains[i] > 0:
                self.keep(self.x[i], before, Draws(self.seed, self.generation, i).block(INDICES, 1)[0])
            if replaces(float(f[i]), self.f[i]):
                self.x[i], self.f[i] = trials[i].copy(), float(f[i])
        if any(gain > 0 for gain in gains):
            self.learn(gains)

    def keep(self, parent: Vector, before: int, word: int) -> None:
        """Put a parent into the archive. In a full archive it replaces one of an earlier generation."""
        if len(self.archive) < self.capacity:
            self.archive.append(parent)
        elif before > 0:
            self.archive[int(unit(word) * before)] = parent

    def learn(self, gains: list[float]) -> None:
        """One cell moves to the means of what succeeded."""
        shares = [float(gain > 0) for gain in gains] if self.name == "jade" else gains
        total = folded_sum(shares)
        w = shares if total >= 2.0**-900 else [share * 2.0**900 for share in shares]
        F, CR = zip(*self.tried, strict=True)
        n = range(len(w))
        sum_F, sum_FF = folded_sum([w[k] * F[k] for k in n]), folded_sum([w[k] * F[k] * F[k] for k in n])
        sum_CR, sum_CRCR = folded_sum([w[k] * CR[k] for k in n]), folded_sum([w[k] * CR[k] * CR[k] for k in n])
        rate = {"jade": getattr(self.algorithm, "c", 0.0), "jso": 0.5, "arrde": 0.5}.get(self.name, 1.0)
        k, old = self.cursor, self.M_CR[self.cursor]
        self.M_F[k] = (1 - rate) * self.M_F[k] + rate * (sum_FF / sum_F)
        if self.shrinks and (old is None or sum_CR == 0):
            self.M_CR[k] = None
        else:
            assert old is not None
            mean = sum_CRCR / sum_CR if self.shrinks else sum_CR / folded_sum(w)
            self.M_CR[k] = (1 - rate) * old + rate * mean
        self.cursor = (k + 1) % len(self.M_F)
