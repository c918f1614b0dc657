"""Everyday functions of 2 to 30 variables, on which the restarts of a fit without limits were chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Function(NamedTuple):
    """A function of rows of points, its box, and its least value."""

    values: Callable[[Any], Any]
    bounds: list[tuple[float, float]]
    least: float


def move(name: str, dim: int, scale: float) -> Any:
    """Return the place of a minimum, which depends on the name and the number of variables."""
    return np.random.default_rng(sum(map(ord, name)) + dim).uniform(-scale, scale, dim)


def sphere(X: Any) -> Any:
    return ((X - move("sphere", X.shape[-1], 3)) ** 2).sum(-1)


def ellipsoid(X: Any) -> Any:
    d = X.shape[-1]
    return (10 ** (6 * np.arange(d) / (d - 1)) * (X - move("ell", d, 3)) ** 2).sum(-1)


def zakharov(X: Any) -> Any:
    d = X.shape[-1]
    Z = X - move("zak", d, 2)
    s = (0.5 * np.arange(1, d + 1) * Z).sum(-1)
    return (Z**2).sum(-1) + s**2 + s**4


def dixon_price(X: Any) -> Any:
    i = np.arange(2, X.shape[-1] + 1)
    return (X[..., 0] - 1) ** 2 + (i * (2 * X[..., 1:] ** 2 - X[..., :-1]) ** 2).sum(-1)


def styblinski_tang(X: Any) -> Any:
    return 0.5 * (X**4 - 16 * X**2 + 5 * X).sum(-1)


def griewank(X: Any) -> Any:
    d = X.shape[-1]
    Z = X - move("gr", d, 200)
    return 1 + (Z**2).sum(-1) / 4000 - np.cos(Z / np.sqrt(np.arange(1, d + 1))).prod(-1)


def michalewicz(X: Any) -> Any:
    return -(np.sin(X) * np.sin(np.arange(1, X.shape[-1] + 1) * X**2 / np.pi) ** 20).sum(-1)


def camel(X: Any) -> Any:
    x, y = X[..., 0], X[..., 1]
    return (4 - 2.1 * x**2 + x**4 / 3) * x**2 + x * y + (-4 + 4 * y**2) * y**2


def goldstein_price(X: Any) -> Any:
    x, y = X[..., 0], X[..., 1]
    first = 1 + (x + y + 1) ** 2 * (19 - 14 * x + 3 * x * x - 14 * y + 6 * x * y + 3 * y * y)
    return first * (30 + (2 * x - 3 * y) ** 2 * (18 - 32 * x + 12 * x * x + 48 * y - 36 * x * y + 27 * y * y))


def beale(X: Any) -> Any:
    x, y = X[..., 0], X[..., 1]
    return (1.5 - x + x * y) ** 2 + (2.25 - x + x * y**2) ** 2 + (2.625 - x + x * y**3) ** 2


def easom(X: Any) -> Any:
    x, y = X[..., 0], X[..., 1]
    return -np.cos(x) * np.cos(y) * np.exp(-((x - np.pi) ** 2) - (y - np.pi) ** 2)


def holder_table(X: Any) -> Any:
    x, y = X[..., 0], X[..., 1]
    return -abs(np.sin(x) * np.cos(y) * np.exp(abs(1 - np.sqrt(x * x + y * y) / np.pi)))


def drop_wave(X: Any) -> Any:
    r = (X**2).sum(-1)
    return -(1 + np.cos(12 * np.sqrt(r))) / (0.5 * r + 2)


def powell(X: Any) -> Any:
    a, b, c, d = (X[..., k::4] for k in range(4))
    return ((a + 10 * b) ** 2 + 5 * (c - d) ** 2 + (b - 2 * c) ** 4 + 10 * (a - d) ** 4).sum(-1)


def salomon(X: Any) -> Any:
    r = np.sqrt(((X - move("sal", X.shape[-1], 40)) ** 2).sum(-1))
    return 1 - np.cos(2 * np.pi * r) + 0.1 * r


def alpine(X: Any) -> Any:
    Z = X - move("alp", X.shape[-1], 4)
    return abs(Z * np.sin(Z) + 0.1 * Z).sum(-1)


def levy_13(X: Any) -> Any:
    x, y = X[..., 0], X[..., 1]
    waves = (x - 1) ** 2 * (1 + np.sin(3 * np.pi * y) ** 2) + (y - 1) ** 2 * (1 + np.sin(2 * np.pi * y) ** 2)
    return np.sin(3 * np.pi * x) ** 2 + waves


def rastrigin(X: Any) -> Any:
    d = X.shape[-1]
    Z = (X - move("rr", d, 2)) @ np.linalg.qr(np.random.default_rng(d).normal(size=(d, d)))[0]
    return 10 * d + (Z**2 - 10 * np.cos(2 * np.pi * Z)).sum(-1)


def schwefel_222(X: Any) -> Any:
    Z = abs(X - move("s222", X.shape[-1], 5))
    return Z.sum(-1) + Z.prod(-1)


def rosenbrock(X: Any) -> Any:
    Z = X - move("rs", X.shape[-1], 1.5) + 1
    return (100 * (Z[..., 1:] - Z[..., :-1] ** 2) ** 2 + (1 - Z[..., :-1]) ** 2).sum(-1)


def weierstrass(X: Any) -> Any:
    d, k = X.shape[-1], np.arange(21)
    a, b, Z = 0.5**k, 3.0**k, X - move("w", X.shape[-1], 0.3)
    waves = (a * np.cos(2 * np.pi * b * (Z[..., None] + 0.5))).sum((-1, -2))
    return waves - d * (a * np.cos(np.pi * b)).sum()


def peaks(X: Any) -> Any:
    d = X.shape[-1]
    rng = np.random.default_rng(77 + d)
    centers, heights = rng.uniform(0, 10, (12, d)), np.sort(rng.uniform(1, 5, 12))
    heights[-1] = 6.0
    widths = rng.uniform(0.8, 2.5, 12)
    return -(heights * np.exp(-((X[..., None, :] - centers) ** 2).sum(-1) / (2 * widths**2))).max(-1)


MICHALEWICZ = {2: -1.8013034100985537, 5: -4.687658179088148, 10: -9.660151715641349}
TABLE: list[tuple[Callable[[Any], Any], list[int], Any, Any, Callable[[int], float]]] = [
    (sphere, [2, 5, 10, 30], -5, 5, lambda d: 0.0),
    (ellipsoid, [2, 5, 10, 30], -5, 5, lambda d: 0.0),
    (zakharov, [2, 5, 10], -5, 10, lambda d: 0.0),
    (dixon_price, [2, 5, 10], -10, 10, lambda d: 0.0),
    (styblinski_tang, [2, 5, 10], -5, 5, lambda d: -39.16616570377142 * d),
    (griewank, [2, 5, 10], -600, 600, lambda d: 0.0),
    (michalewicz, [2, 5, 10], 0, np.pi, lambda d: MICHALEWICZ[d]),
    (camel, [2], [-3, -2], [3, 2], lambda d: -1.031628453489877),
    (goldstein_price, [2], -2, 2, lambda d: 3.0),
    (beale, [2], -4.5, 4.5, lambda d: 0.0),
    (easom, [2], -100, 100, lambda d: -1.0),
    (holder_table, [2], -10, 10, lambda d: -19.208502567767606),
    (drop_wave, [2], -5.12, 5.12, lambda d: -1.0),
    (powell, [4, 8], -4, 5, lambda d: 0.0),
    (salomon, [2, 5], -100, 100, lambda d: 0.0),
    (alpine, [2, 5, 10], -10, 10, lambda d: 0.0),
    (levy_13, [2], -10, 10, lambda d: 0.0),
    (rastrigin, [2, 5, 10], -5, 5, lambda d: 0.0),
    (schwefel_222, [5, 10], -10, 10, lambda d: 0.0),
    (rosenbrock, [3, 6, 10], -5, 5, lambda d: 0.0),
    (weierstrass, [2, 5], -0.5, 0.5, lambda d: 0.0),
    (peaks, [2, 4, 6], 0, 10, lambda d: -6.0),
]


def list_functions() -> dict[str, Function]:
    """Return all functions by name and number of variables."""
    found = {}
    for values, dims, low, high, least in TABLE:
        for dim in dims:
            box = np.broadcast_arrays(np.broadcast_to(low, dim), np.broadcast_to(high, dim))
            bounds = [(float(a), float(b)) for a, b in zip(*box, strict=True)]
            found[f"{values.__name__} {dim}"] = Function(values, bounds, least(dim))
    return found
