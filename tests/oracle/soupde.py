"""SOUPDE (Weber, Neri, Tirronen 2011, as far as `skde.SOUPDE` says) in NumPy, reading the kernels' random stream."""

from __future__ import annotations

from typing import Any

import numpy as np

from .common import STRATEGY, inside, replaces
from .philox import CONTROL, TOPOLOGY, WORD, Draws, unit
from .reference import crossed, distinct, first_population


def mixed(half: int, key: int) -> int:
    """The finalizer of MurmurHash3."""
    word = (half + key) & WORD
    word = (word ^ word >> 16) * 0x85EBCA6B & WORD
    word = (word ^ word >> 13) * 0xC2B2AE35 & WORD
    return word ^ word >> 16


def permutation(draws: Draws, n: int, purpose: int = TOPOLOGY) -> list[int]:
    """A Feistel network, applied until the number is below n."""
    keys = [*draws.block(purpose, 0), *draws.block(purpose, 1)]
    bits = max((n - 1).bit_length(), 2)
    low_bits, high_bits = bits // 2, bits - bits // 2

    def network(number: int) -> int:
        low, high = number % 2**low_bits, number >> low_bits
        for first, second in zip(keys[::2], keys[1::2], strict=True):
            high ^= mixed(low, first) >> 32 - high_bits
            low ^= mixed(high, second) >> 32 - low_bits
        return high << low_bits | low

    images = []
    for i in range(n):
        number = network(i)
        while number >= n:
            number = network(number)
        images.append(number)
    return images


class Soupde:
    """One run."""

    def __init__(self, algorithm: Any, box: Any, seed: int, x0: Any = None) -> None:
        self.algorithm, self.box, self.seed = algorithm, box, seed
        self.generation = 0
        self.x = first_population(algorithm.pop_size, box, seed, x0)
        self.f: Any = None
        n, m = algorithm.pop_size, algorithm.subpopulations
        self.members = [range(s * n // m, (s + 1) * n // m) for s in range(m)]
        self.F = self.new_F()
        self.shuffles = self.updates = 0

    @property
    def learned(self) -> list[float]:
        """Nothing, for a whole run."""
        return []

    def new_F(self) -> list[float]:
        """The F of every subpopulation."""
        low, high = self.algorithm.F
        draws = [Draws(self.seed, self.generation, members[0]) for members in self.members]
        return [low + unit(one.block(CONTROL, 1)[0]) * (high - low) for one in draws]

    def ask(self) -> Any:
        """The trials of the next generation, after a shuffle and an update."""
        if self.f is None:
            return self.x.copy()
        self.generation += 1
        shuffle, update = (unit(word) for word in Draws(self.seed, self.generation, 0).block(STRATEGY, 0)[:2])
        if shuffle < self.algorithm.shuffle:
            rows = permutation(Draws(self.seed, self.generation, 0), len(self.x))
            self.x, self.f = self.x[rows], self.f[rows]
            self.shuffles += 1
        if update < self.algorithm.update:
            self.F = self.new_F()
            self.updates += 1
        trials = np.empty_like(self.x)
        for s, members in enumerate(self.members):
            for i in members:
                draws = Draws(self.seed, self.generation, i)
                a, b, c = (self.x[members[r]] for r in distinct(draws, len(members), i - members[0], 3))
                v = a + self.F[s] * (b - c)
                u = np.where(crossed("exp", draws, self.algorithm.CR, len(v)), v, self.x[i])
                trials[i] = inside(self.algorithm.repair, u, self.x[i], self.box, draws)
        return trials

    def tell(self, trials: Any, f: Any) -> None:
        """Selection."""
        if self.f is None:
            self.f = f.copy()
            return
        for i in range(len(f)):
            if replaces(f[i], self.f[i]):
                self.x[i], self.f[i] = trials[i], f[i]
