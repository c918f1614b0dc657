"""DE and jDE in NumPy, from the papers' equations; one run, reading the kernels' random stream."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .philox import CONTROL, CROSSOVER, INDICES, REPAIR, START, Draws, below, unit, unit53

Vector = Any


def distinct(draws: Draws, n: int, target: int, wanted: int) -> list[int]:
    """Draw from a list of those that are left, in order: what the kernel does without a list."""
    left = [i for i in range(n) if i != target]
    words = [*draws.block(INDICES, 0), *draws.block(INDICES, 1)]
    return [left.pop(below(words[m], len(left))) for m in range(wanted)]


def shifted(draws: Draws, n: int, target: int) -> list[int]:
    """The individuals of cujDE's program: any, then twice one at most n // 3 places after the one before."""
    words = draws.block(INDICES, 0)
    at, found = 0, []
    for shift in (below(words[0], n), 1 + below(words[1], n // 3), 1 + below(words[2], n // 3)):
        at = (at + shift) % n
        if at == target:
            at = (at + 1) % n
        found.append(at)
    return found


def mutant(mutation: str, x: Any, f: Any, i: int, draws: Draws, F: float, p_best: float) -> Vector:
    """Storn and Price's mutations."""
    n = len(x)
    order = sorted(range(n), key=lambda k: (f[k], k))
    best = x[order[0]]
    if mutation == "rand/1":
        a, b, c = (x[r] for r in distinct(draws, n, i, 3))
        return a + F * (b - c)
    if mutation == "shifted-rand/1":
        a, b, c = (x[r] for r in shifted(draws, n, i))
        return c + F * (b - a)
    if mutation == "rand/2":
        a, b, c, d, e = (x[r] for r in distinct(draws, n, i, 5))
        return a + F * (d - e) + F * (b - c)
    if mutation == "best/1":
        a, b = (x[r] for r in distinct(draws, n, i, 2))
        return best + F * (a - b)
    if mutation == "best/2":
        a, b, c, d = (x[r] for r in distinct(draws, n, i, 4))
        return best + F * (c - d) + F * (a - b)
    if mutation == "current-to-best/1":
        a, b = (x[r] for r in distinct(draws, n, i, 2))
        return x[i] + F * (best - x[i]) + F * (a - b)
    if mutation == "current-to-rand/1":
        a, b, c = (x[r] for r in distinct(draws, n, i, 3))
        K = unit(draws.block(CONTROL, 0)[1])
        return x[i] + K * (a - x[i]) + F * (b - c)
    if mutation == "rand-to-best/1":
        a, b, c = (x[r] for r in distinct(draws, n, i, 3))
        return a + F * (best - a) + F * (b - c)
    a, b = (x[r] for r in distinct(draws, n, i, 2))
    many = max(int(p_best * n), 1)
    pbest = x[order[below(draws.block(INDICES, 1)[1], many)]]
    return x[i] + F * (pbest - x[i]) + F * (a - b)


def crossed(crossover: str, draws: Draws, CR: float, d: int, *, last: bool = False) -> list[bool]:
    """Which components come from the mutant; last: whether the last one always does, and not a random one."""
    one = d - 1 if last else below(draws.block(CONTROL, 0)[2], d)
    if crossover == "none":
        return [True] * d
    if crossover == "bin":
        # u < CR with u = word / 2^32, decided on its upper 31 bits.
        threshold = min(int(CR * 2**31 + 0.5), 2**31 - 1)
        return [CR >= 1 or draws.component(CROSSOVER, j) >> 1 < threshold or j == one for j in range(d)]
    length = 1
    while length < d and unit(draws.block(CROSSOVER, (length - 1) // 4)[(length - 1) % 4]) < CR:
        length += 1
    return [(j - one) % d < length for j in range(d)]


def repaired(rule: str, v: float, parent: float, low: float, high: float, word: int) -> float:
    """The repaired value of a component outside [low, high]."""
    bound = low if v < low else high
    if rule == "reflect":
        once = low + (low - v) if v < low else high - (v - high)
        if low <= once <= high:
            return once
        turns = (v - low) / (2.0 * (high - low))
        turns -= math.floor(turns)
        v = low + (high - low) * (2.0 * turns if turns <= 0.5 else 2.0 - 2.0 * turns)
    elif rule == "midpoint":
        v = parent + 0.5 * (bound - parent)
    elif rule == "random":
        v = low + (high - low) * unit(word)
    elif rule == "periodic":
        turns = (v - low) / (high - low)
        v = low + (high - low) * (turns - math.floor(turns))
    return min(max(v, low), high)


def first_population(n: int, box: Any, seed: int, x0: Any = None) -> Any:
    """The rows of x0, then uniform in the box."""
    x = np.empty((n, len(box)))
    for i in range(n):
        draws = Draws(seed, 0, i)
        for j, (low, high) in enumerate(box):
            words = draws.block(START, j // 2)
            u = unit53(words[2], words[3]) if j % 2 else unit53(words[0], words[1])
            x[i, j] = min(low + (high - low) * u, high)
    if x0 is not None:
        x[: len(x0)] = x0
    return x


class Reference:
    """One run of an algorithm of the family."""

    def __init__(self, algorithm: Any, box: Any, seed: int) -> None:
        self.algorithm, self.box, self.seed = algorithm, box, seed
        self.generation = 0
        n = algorithm.pop_size
        self.x = first_population(n, box, seed)
        self.f: Any = None
        if algorithm.kernel == "jde":
            self.F = np.full(n, algorithm.F_start)
            self.CR = np.full(n, algorithm.CR_start)

    def control(self, draws: Draws, i: int) -> tuple[float, float]:
        """F and CR of a trial: dither, or jDE's equations 7 and 8."""
        a = self.algorithm
        if a.kernel == "jde":
            r1, r2, r3, r4 = (unit(word) for word in draws.block(CONTROL, 1))
            low, high = a.F
            return (low + r1 * (high - low) if r2 < a.tau_1 else self.F[i]), (r3 if r4 < a.tau_2 else self.CR[i])
        low, high = a.F if isinstance(a.F, tuple) else (a.F, a.F)
        return low + (high - low) * unit(draws.block(CONTROL, 0)[0]), a.CR

    def ask(self) -> Any:
        """The trials of the next generation."""
        if self.f is None:
            return self.x.copy()
        self.generation += 1
        a = self.algorithm
        mutation, _, crossover = a.strategy.rpartition("/")
        if a.strategy == "current-to-rand/1":
            mutation, crossover = a.strategy, "none"
        trials = np.empty_like(self.x)
        self.tried = []
        for i in range(len(self.x)):
            draws = Draws(self.seed, self.generation, i)
            F, CR = self.control(draws, i)
            self.tried.append((F, CR))
            v = mutant(mutation, self.x, self.f, i, draws, F, a.p_best)
            last = mutation == "shifted-rand/1"
            u = np.where(crossed(crossover, draws, CR, len(v), last=last), v, self.x[i])
            for j, (low, high) in enumerate(self.box):
                if not low <= u[j] <= high:
                    word = draws.component(REPAIR, j)
                    u[j] = repaired(a.repair, u[j], self.x[i, j], low, high, word)
            trials[i] = u
        return trials

    def tell(self, trials: Any, f: Any) -> None:
        """Selection; jDE's F and CR go with the trial."""
        if self.f is None:
            self.f = f.copy()
            return
        better = f <= self.f
        if self.algorithm.kernel == "jde":
            for i in np.flatnonzero(better | (self.algorithm.keep == "always")):
                self.F[i], self.CR[i] = self.tried[i]
        for i in np.flatnonzero(better):
            self.x[i], self.f[i] = trials[i], f[i]
