"""Philox4x32-10 in Python, and the addresses at which the algorithms draw."""

from __future__ import annotations

from functools import lru_cache

M0, M1 = 0xD2511F53, 0xCD9E8D57
W0, W1 = 0x9E3779B9, 0xBB67AE85
WORD = 0xFFFFFFFF

START, INDICES, CROSSOVER, CONTROL, REPAIR, COGNITIVE, SOCIAL, VELOCITY, TOPOLOGY, OPPOSITION, MIGRATION = range(11)


# Four components share a block, and ask for it one after the other.
@lru_cache(maxsize=256)
def philox(counter: tuple[int, int, int, int], key: tuple[int, int]) -> tuple[int, int, int, int]:
    """Ten rounds."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        p0, p1 = M0 * c0, M1 * c2
        c0, c1, c2, c3 = (p1 >> 32) ^ c1 ^ k0, p1 & WORD, (p0 >> 32) ^ c3 ^ k1, p0 & WORD
        k0, k1 = (k0 + W0) & WORD, (k1 + W1) & WORD
    return c0, c1, c2, c3


class Draws:
    """The draws of one individual in one generation."""

    def __init__(self, seed: int, generation: int, individual: int) -> None:
        self.seed, self.generation, self.individual = seed, generation, individual

    def block(self, purpose: int, slot: int) -> tuple[int, int, int, int]:
        """Four words."""
        who = self.individual | purpose << 24
        counter = (slot, who, self.generation & WORD, self.generation >> 32)
        return philox(counter, (self.seed & WORD, self.seed >> 32))

    def component(self, purpose: int, j: int) -> int:
        """The word of component j: thirty-two components share eight blocks."""
        return self.block(purpose, j // 32 * 8 + j % 8)[j % 32 // 8]


def unit(word: int) -> float:
    """[0, 1) from 32 bits."""
    return word * 2.0**-32


def unit53(high: int, low: int) -> float:
    """[0, 1) from 53 bits."""
    return ((high << 32 | low) >> 11) * 2.0**-53


def below(word: int, n: int) -> int:
    """{0, ..., n - 1}."""
    return word * n >> 32
