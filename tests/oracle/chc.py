"""CHC with real numbers (Eshelman 1991; Eshelman, Schaffer 1993) in NumPy, reading the kernels' random stream."""

from __future__ import annotations

from typing import Any

import numpy as np

from .common import COMBINATION, RENEWAL, worth
from .philox import INDICES, Draws, below, unit, unit53
from .reference import first_population


def gray(share: float, bits: int) -> int:
    """The Gray code of a share in [0, 1]."""
    number = int(share * (2**bits - 1))
    return number ^ number >> 1


class Chc:
    """One run. Its population is in the order of its values after every generation but the first."""

    def __init__(self, algorithm: Any, box: Any, seed: int, x0: Any = None) -> None:
        self.algorithm, self.box, self.seed = algorithm, box, seed
        self.generation = 0
        self.x = first_population(algorithm.pop_size, box, seed, x0)
        self.f: Any = None
        self.threshold = self.first_threshold
        self.cataclysm = False
        self.cataclysms = 0

    @property
    def first_threshold(self) -> int:
        """A quarter of all bits."""
        return len(self.box) * self.algorithm.bits // 4

    @property
    def learned(self) -> list[float]:
        """The kernel's memory."""
        return [self.threshold, self.cataclysm]

    def ask(self) -> Any:
        """The children of the next generation."""
        if self.f is None:
            return self.x.copy()
        self.generation += 1
        best = self.x[min(range(len(self.x)), key=lambda k: worth(self.f[k]))]
        self.allowed: list[bool] = []
        children = np.empty_like(self.x)
        for i in range(len(self.x)):
            draws = Draws(self.seed, self.generation, i)
            u = [unit(draws.component(COMBINATION, j)) for j in range(len(self.box))]
            children[i] = self.mutated(best, u, draws) if self.cataclysm else self.child(u, draws)
        return children

    def child(self, u: list[float], draws: Draws) -> Any:
        """BLX-alpha of a pair that differs enough, if one of four does."""
        low, high = self.box.T
        for attempt in range(4):
            words = draws.block(INDICES, attempt)
            others = list(range(len(self.x)))
            x = self.x[others.pop(below(words[0], len(others)))]
            y = self.x[others[below(words[1], len(others))]]
            bits = self.algorithm.bits
            shares = zip((x - low) / (high - low), (y - low) / (high - low), strict=True)
            far = sum((gray(a, bits) ^ gray(b, bits)).bit_count() for a, b in shares) > 2 * self.threshold
            if far:
                break
        self.allowed.append(far)
        more = self.algorithm.alpha * np.abs(x - y)
        begin, end = np.maximum(np.minimum(x, y) - more, low), np.minimum(np.maximum(x, y) + more, high)
        return np.minimum(begin + (end - begin) * u, end)

    def mutated(self, best: Any, u: list[float], draws: Draws) -> Any:
        """A copy of the best with components drawn from the box."""
        self.allowed.append(True)
        child = best.copy()
        for j, (low, high) in enumerate(self.box):
            if u[j] < self.algorithm.divergence:
                words = draws.block(RENEWAL, j // 2)
                share = unit53(words[2], words[3]) if j % 2 else unit53(words[0], words[1])
                child[j] = min(low + (high - low) * share, high)
        return child

    def tell(self, children: Any, f: Any) -> None:
        """The best of both, and the threshold."""
        if self.f is None:
            self.f = f.copy()
            return
        n = len(f)
        parents = sorted(range(n), key=lambda k: worth(self.f[k]))[: 1 if self.cataclysm else n]
        self.cataclysms += self.cataclysm
        both_x, both_f = np.concatenate([self.x, children]), np.concatenate([self.f, f])
        # sorted() is stable: among equal values the children come first.
        best = sorted([*range(n, 2 * n), *parents], key=lambda k: worth(both_f[k]))[:n]
        self.x, self.f = both_x[best], both_f[best]
        entered = any(self.allowed[k - n] for k in best if k >= n)
        self.threshold -= not entered
        self.cataclysm = self.threshold < 0
        if self.cataclysm:
            self.threshold = self.first_threshold
