"""NumPy formulas of wang2012, the functions of SOCO 2011; nothing is shared with the package."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .formulas import Vector, f0, f4, f6, f9, f12, f13, f14, shift

RANGES: dict[str, tuple[float, float]] = {
    "F1": (-100, 100),
    "F2": (-100, 0),
    "F3": (-90, 90),
    "F4": (-5, 5),
    "F5": (-600, 600),
    "F6": (-30, 30),
    "F7": (-5, 5),
    "F8": (-32, 32),
    "F9": (-50, 50),
    "F10": (-7, 7),
    "F11": (-50, 50),
    "F15": (-5, 5),
    "F19": (-5, 5),
}
BOXES = dict(
    zip(
        (f"wang2012/F{k}" for k in range(1, 20)),
        (100, 100, 100, 5, 600, 32, 10, 65.536, 100, 15, 100, 100, 100, 5, 10, 100, 100, 5, 10),
        strict=True,
    )
)
MINIMA = {f"wang2012/F{k}": f for k, f in enumerate((-450.0, -450.0, 390.0, -330.0, -180.0, -140.0), start=1)}


def soco_shift(key: str, n: int) -> Vector:
    """The generated shift of a function."""
    return shift(f"soco2010:{key}:shift", n, *RANGES[key])


def largest(Z: Vector) -> Vector:
    f: Vector = np.max(np.abs(Z), axis=1)
    return f


def f10_pairs(a: Vector, b: Vector) -> Vector:
    s = a**2 + b**2
    f: Vector = np.sum(s**0.25 * (np.sin(50 * s**0.1) ** 2 + 1), axis=1)
    return f


def extended_f10(Z: Vector) -> Vector:
    return f10_pairs(Z, np.roll(Z, -1, axis=1))


def bohachevsky(Z: Vector) -> Vector:
    a, b = Z[:, :-1], Z[:, 1:]
    terms = a**2 + 2 * b**2 - 0.3 * np.cos(3 * np.pi * a) - 0.4 * np.cos(4 * np.pi * b) + 0.7
    f: Vector = np.sum(terms, axis=1)
    return f


def schaffer(Z: Vector) -> Vector:
    return f10_pairs(Z[:, :-1], Z[:, 1:])


# Base and what is added to x - o. F1 to F6 have biases.
SHIFTED: dict[str, tuple[Callable[[Vector], Vector], float]] = {
    "F1": (f0, 0),
    "F2": (largest, 0),
    "F3": (f13, 1),
    "F4": (f9, 0),
    "F5": (f12, 0),
    "F6": (f14, 0),
    "F7": (f4, 0),
    "F8": (f6, 0),
    "F9": (extended_f10, 0),
    "F10": (bohachevsky, 0),
    "F11": (schaffer, 0),
}
# First part, function of the second part, m; None: both parts are shifted by the hybrid's vector.
HYBRIDS: dict[str, tuple[Callable[[Vector], Vector], str | None, float]] = {
    "F12": (extended_f10, "F1", 0.25),
    "F13": (extended_f10, "F3", 0.25),
    "F14": (extended_f10, "F4", 0.25),
    "F15": (bohachevsky, None, 0.25),
    "F16": (extended_f10, "F1", 0.5),
    "F17": (extended_f10, "F3", 0.75),
    "F18": (extended_f10, "F4", 0.75),
    "F19": (bohachevsky, None, 0.75),
}


def split(n: int, m: float) -> tuple[list[int], list[int]]:
    """The indices of both parts, dealt one by one."""
    each = int(n * min(m, 1 - m))
    first, second = [], []
    for j in range(n):
        if j < 2 * each:
            (second if j % 2 else first).append(j)
        else:
            (second if m <= 0.5 else first).append(j)
    return first, second


def simple(key: str) -> Callable[[Vector], Vector]:
    base, offset = SHIFTED[key]
    bias = MINIMA.get(f"wang2012/{key}", 0.0)
    return lambda X: base(X - soco_shift(key, X.shape[1]) + offset) + bias


def hybrid(key: str) -> Callable[[Vector], Vector]:
    base, other, m = HYBRIDS[key]

    def value(X: Vector) -> Vector:
        if other is None:
            X = X - soco_shift(key, X.shape[1])
        first, second = (X[:, part] for part in split(X.shape[1], m))
        total = np.zeros(len(X))
        if first.shape[1]:
            total = total + base(first)
        if second.shape[1]:
            if other is None:
                total = total + f4(second)
            else:
                part, offset = SHIFTED[other]
                total = total + part(second - soco_shift(other, second.shape[1]) + offset)
        return total

    return value


FORMULAS: dict[str, Callable[..., Vector]] = {
    **{f"wang2012/{key}": simple(key) for key in SHIFTED},
    **{f"wang2012/{key}": hybrid(key) for key in HYBRIDS},
}


def minimiser(name: str, n: int) -> Vector:
    """The minimiser as the definitions state it."""
    key: Any = name.rpartition("/")[2]
    if key in RANGES:
        return soco_shift(key, n)
    other, m = HYBRIDS[key][1:]
    x = np.zeros(n)
    second = split(n, m)[1]
    x[second] = soco_shift(str(other), len(second))
    return x
