"""Data of test problems, with the same bits on every machine: integers, IEEE arithmetic and exactly rounded sums only.

A stream has a name. Its key is the name's FNV-1a hash, its word k the SplitMix64 finaliser of
key + (k + 1) * 2^64 / phi, and its uniform k the 53 high bits of that word as a number in [0, 1).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from skde.typing import FloatArray
from skde.utils.memory import check_memory

COPIES = 5  # the most copies of a stream's numbers at a time
MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def fnv1a(name: str) -> int:
    """Return the 64-bit FNV-1a hash of a name's UTF-8 bytes."""
    key = 0xCBF29CE484222325
    for byte in name.encode():
        key = ((key ^ byte) * 0x100000001B3) & MASK
    return key


def uniforms(name: str, count: int) -> FloatArray:
    """Return the first `count` uniforms of a stream.

    Raises
    ------
    MemoryError
        If there is no memory for the numbers and for the copies that a problem makes of them.
    """
    check_memory(f"data of the problem, {count} numbers in {name!r},", COPIES * 8 * count, "take fewer dimensions")
    z = np.uint64(fnv1a(name)) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(GOLDEN)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)).astype(np.float64) * 2.0**-53


def shift(name: str, n: int, low: float, high: float) -> FloatArray:
    """Return n numbers in [low, high); a shorter vector is a prefix of a longer one."""
    return low + (high - low) * uniforms(name, n)


def integers(name: str, shape: tuple[int, ...], low: int, high: int) -> FloatArray:
    """Return whole numbers in [low, high], row-major, as floats."""
    u = uniforms(name, math.prod(shape))
    return (np.floor(u * (high - low + 1)) + low).reshape(shape)


def permutation(name: str, n: int) -> NDArray[np.int64]:
    """Return a permutation of 0 ... n - 1, by exchanges from the end."""
    u = uniforms(name, max(n - 1, 0))
    p = np.arange(n)
    for t, i in enumerate(range(n - 1, 0, -1)):
        j = int(u[t] * (i + 1))
        p[i], p[j] = p[j], p[i]
    return p


def exact_sum(terms: FloatArray) -> float:
    """Return the exactly rounded sum, which no order of addition changes."""
    return math.fsum(terms.tolist())


def rotation(name: str, n: int) -> FloatArray:
    """Return an orthogonal (n, n) matrix: nearly normal numbers, rows orthonormalised by Gram-Schmidt done twice."""
    u = uniforms(name, 12 * n * n).reshape(12, n, n)
    g = u[0]
    for k in range(1, 12):
        g = g + u[k]
    rows: list[FloatArray] = []
    for v in g - 6.0:
        for _ in range(2):
            for q in rows:
                v = v - exact_sum(v * q) * q
        rows.append(v / math.sqrt(exact_sum(v * v)))
    return np.array(rows)
