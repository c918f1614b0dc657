"""NumPy and Python formulas of the test problems, with which the compiled ones are compared.

Nothing here is shared with the package. The data are made number by number with Python's integers and floats.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
WORD = 2**64


# ---- data ------------------------------------------------------------------------------------------------------------


def hash_name(name: str) -> int:
    """FNV-1a, 64 bits."""
    value = 14695981039346656037
    for byte in name.encode("utf-8"):
        value = (value ^ byte) * 1099511628211 % WORD
    return value


def words(key: int) -> Iterator[int]:
    """SplitMix64 started at `key`."""
    state = key
    while True:
        state = (state + 0x9E3779B97F4A7C15) % WORD
        z = state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % WORD
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % WORD
        yield z ^ (z >> 31)


def uniforms(name: str) -> Iterator[float]:
    """Numbers in [0, 1) with 53 bits."""
    return ((word >> 11) / 2**53 for word in words(hash_name(name)))


def shift(name: str, n: int, low: float, high: float) -> Vector:
    """n numbers in [low, high)."""
    return np.array([low + (high - low) * u for u in islice(uniforms(name), n)])


@lru_cache
def integers(name: str, n: int, low: int, high: int) -> Vector:
    """An (n, n) matrix of whole numbers in [low, high], filled row by row."""
    stream = uniforms(name)
    return np.array([[math.floor(next(stream) * (high - low + 1)) + low for _ in range(n)] for _ in range(n)], float)


def permutation(name: str, n: int) -> list[int]:
    """An order of 0 ... n - 1."""
    stream = uniforms(name)
    p = list(range(n))
    i = n - 1
    while i >= 1:
        j = math.floor(next(stream) * (i + 1))
        p[i], p[j] = p[j], p[i]
        i -= 1
    return p


@lru_cache
def rotation(name: str, n: int) -> Vector:
    """An orthogonal (n, n) matrix."""
    stream = uniforms(name)
    u = [[[next(stream) for _ in range(n)] for _ in range(n)] for _ in range(12)]
    rows: list[list[float]] = []
    for i in range(n):
        row = []
        for j in range(n):
            g = u[0][i][j]
            for k in range(1, 12):
                g += u[k][i][j]
            row.append(g - 6)
        for q in rows + rows:
            c = math.fsum(a * b for a, b in zip(row, q, strict=True))
            row = [a - c * b for a, b in zip(row, q, strict=True)]
        norm = math.sqrt(math.fsum(a * a for a in row))
        rows.append([a / norm for a in row])
    return np.array(rows)


# ---- nashed2012; X has shape (m, n), i counts from 0 -----------------------------------------------------------------


def f0(X: Vector) -> Vector:
    f: Vector = np.sum(X**2, axis=1)
    return f


def f1(X: Vector, index_base: int = 0) -> Vector:
    n = X.shape[1]
    i = np.arange(n) - index_base
    f: Vector = X**2 @ 1e6 ** (i / (n - 1))
    return f


def f2(X: Vector, index_base: int = 0) -> Vector:
    return X**2 @ (np.arange(X.shape[1]) + 1.0 - index_base)


def f3(X: Vector, index_base: int = 0) -> Vector:
    return X**2 @ (np.arange(X.shape[1]) + 1.0 - index_base) ** 2


def f4(X: Vector) -> Vector:
    f: Vector = np.abs(X).sum(axis=1) + np.abs(X).prod(axis=1)
    return f


def f5(X: Vector, index_base: int = 0) -> Vector:
    s = 0.5 * X @ (np.arange(X.shape[1]) + 1.0 - index_base)
    f: Vector = np.sum(X**2, axis=1) + s**2 + s**4
    return f


def f6(X: Vector) -> Vector:
    f: Vector = np.sum(np.cumsum(X, axis=1) ** 2, axis=1)
    return f


def f7_minimiser(n: int) -> Vector:
    o = shift("nashed2012:f7:o", n, -100, 100)
    for i in range(1, n + 1):
        if i <= math.ceil(n / 4):
            o[i - 1] = -100
        elif i >= math.floor(3 * n / 4):
            o[i - 1] = 100
    return o


def f7(X: Vector) -> Vector:
    n = X.shape[1]
    A = integers(f"nashed2012:f7:A:D{n}", n, -500, 500)
    f: Vector = np.max(np.abs((X - f7_minimiser(n)) @ A.T), axis=1)
    return f


def f8(X: Vector, as_run: bool = False) -> Vector:
    i = np.arange(1, X.shape[1])
    w = i if as_run else i + 1
    f: Vector = (X[:, 0] - 1) ** 2 + np.sum(w * (2 * X[:, 1:] ** 2 - X[:, :-1]) ** 2, axis=1)
    return f


def f9(X: Vector) -> Vector:
    f: Vector = np.sum(X**2 - 10 * np.cos(2 * np.pi * X) + 10, axis=1)
    return f


def f10(X: Vector) -> Vector:
    f: Vector = 418.9829 * X.shape[1] + np.sum(X * np.sin(np.sqrt(np.abs(X))), axis=1)
    return f


def f11(X: Vector) -> Vector:
    powers = 2.0 ** np.arange(1, 33)
    distance = np.abs(powers * X[..., None] - np.round(powers * X[..., None]))
    f: Vector = np.prod(1 + np.arange(1, X.shape[1] + 1) * np.sum(distance / powers, axis=-1), axis=1) - 1
    return f


def f12(X: Vector) -> Vector:
    root = np.sqrt(np.arange(1, X.shape[1] + 1))
    f: Vector = np.sum(X**2, axis=1) / 4000 - np.prod(np.cos(X / root), axis=1) + 1
    return f


def f13(X: Vector) -> Vector:
    f: Vector = np.sum(100 * (X[:, 1:] - X[:, :-1] ** 2) ** 2 + (1 - X[:, :-1]) ** 2, axis=1)
    return f


def f14(X: Vector) -> Vector:
    f: Vector = (
        -20 * np.exp(-0.2 * np.sqrt(np.mean(X**2, axis=1)))
        - np.exp(np.mean(np.cos(2 * np.pi * X), axis=1))
        + 20
        + math.e
    )
    return f


def f15(X: Vector) -> Vector:
    Y = np.roll(X, -1, axis=1)
    t = 100 * (X**2 - Y) ** 2 + (X - 1) ** 2
    f: Vector = np.sum(t**2 / 4000 - np.cos(t) + 1, axis=1)
    return f


def f16(X: Vector) -> Vector:
    s = X**2 + np.roll(X, -1, axis=1) ** 2
    f: Vector = np.sum(0.5 + (np.sin(np.sqrt(s)) ** 2 - 0.5) / (1 + 0.001 * s) ** 2, axis=1)
    return f


def f17_minimiser(n: int) -> Vector:
    return shift("nashed2012:f17:alpha", n, -math.pi, math.pi)


def f17(X: Vector) -> Vector:
    n = X.shape[1]
    a = integers(f"nashed2012:f17:a:D{n}", n, -100, 100)
    b = integers(f"nashed2012:f17:b:D{n}", n, -100, 100)
    alpha = f17_minimiser(n)
    A = a @ np.sin(alpha) + b @ np.cos(alpha)
    f: Vector = np.sum((A - (np.sin(X) @ a.T + np.cos(X) @ b.T)) ** 2, axis=1)
    return f


def f18(X: Vector) -> Vector:
    r = np.sqrt(np.sum(X**2, axis=1))
    f: Vector = 1 - np.cos(2 * np.pi * r) + 0.1 * r
    return f


def f19(X: Vector, as_run: bool = False) -> Vector:
    y = 1 + (X - 1) / 4
    inner, last = y[:, :-1], y[:, -1]
    c = 10 if as_run else 1
    f: Vector = (
        np.sin(np.pi * y[:, 0]) ** 2
        + np.sum((inner - 1) ** 2 * (1 + 10 * np.sin(np.pi * inner + 1) ** 2), axis=1)
        + (last - 1) ** 2 * (1 + c * np.sin(2 * np.pi * last) ** 2)
    )
    return f


# ---- qin2012 and the classics ----------------------------------------------------------------------------------------

QIN_SHIFTS = {"F1": (-100, 100), "F2": (-90, 90), "F3": (-600, 0), "F4": (-5, 5)}


def qin_minimiser(key: str, n: int) -> Vector:
    return shift(f"qin2012:{key}:shift", n, *QIN_SHIFTS[key])


def shifted(key: str, base: Callable[[Vector], Vector], offset: float = 0) -> Callable[[Vector], Vector]:
    return lambda X: base(X - qin_minimiser(key, X.shape[1]) + offset)


def rotated_rastrigin(X: Vector) -> Vector:
    n = X.shape[1]
    return f9(X @ rotation(f"skde:rotated_rastrigin:M:D{n}", n).T)


FORMULAS: dict[str, Callable[..., Vector]] = {
    **{f"nashed2012/f{k}": f for k, f in enumerate([f0, f1, f2, f3, f4, f5, f6, f7, f8, f9])},
    **{f"nashed2012/f{k}": f for k, f in enumerate([f10, f11, f12, f13, f14, f15, f16, f17, f18, f19], start=10)},
    "qin2012/F1": shifted("F1", f0),
    "qin2012/F2": shifted("F2", f13, 1),
    "qin2012/F3": shifted("F3", f12),
    "qin2012/F4": shifted("F4", f9),
    "rotated_rastrigin": rotated_rastrigin,
}

BOXES = {
    **dict(zip(
        (f"nashed2012/f{k}" for k in range(20)),
        (100, 100, 1, 1, 10, 10, 100, 100, 10, 5.12, 500, 1000, 600, 100, 32, 5.12, 100, math.pi, 10, 10),
        strict=True,
    )),
    "qin2012/F1": 100,
    "qin2012/F2": 100,
    "qin2012/F3": 600,
    "qin2012/F4": 5,
    "rotated_rastrigin": 5.12,
}  # fmt: skip


def minimiser(name: str, n: int) -> Vector:
    """The minimiser as the definitions state it."""
    suite, _, key = name.partition("/")
    if suite == "qin2012":
        return qin_minimiser(key, n)
    special: dict[str, Callable[[int], Any]] = {
        "f7": f7_minimiser,
        "f8": lambda n: 2.0 ** -(1 - 2.0 ** -np.arange(n)),
        "f10": lambda n: np.full(n, -420.9687463599820),
        "f13": np.ones,
        "f15": np.ones,
        "f17": f17_minimiser,
        "f19": np.ones,
    }
    x: Vector = special.get(key, np.zeros)(n)
    return x


def minimum(name: str, n: int) -> float:
    """The minimum as the definitions state it."""
    return 1.272756629372526e-5 * n if name == "nashed2012/f10" else 0.0
