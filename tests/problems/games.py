"""NumPy formulas of the min-max problems: f(X, Y) of all pairs, X of shape (n, dim_x), Y of shape (m, dim_y)."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


def of_pairs(formula: Callable[..., Vector]) -> Callable[[Vector, Vector], Vector]:
    """Turn f(x, y), of components that broadcast, into f(X, Y) of all pairs."""

    @wraps(formula)
    def f(X: Vector, Y: Vector) -> Vector:
        return formula(X.T[:, :, None], Y.T[:, None, :])

    return f


@of_pairs
def square_difference(x: Vector, y: Vector) -> Vector:
    value: Vector = np.sum(x**2, axis=0) - np.sum(y**2, axis=0)
    return value


@of_pairs
def parabolas(x: Vector, y: Vector) -> Vector:
    return (x[0] - 5) ** 2 - (y[0] - 5) ** 2


@of_pairs
def two_planes(x: Vector, y: Vector) -> Vector:
    return np.minimum(3 - 0.2 * x[0] + 0.3 * y[0], 3 + 0.2 * x[0] - 0.1 * y[0])


@of_pairs
def damped_sine(x: Vector, y: Vector) -> Vector:
    value: Vector = np.sin(x[0] - y[0]) / np.sqrt(x[0] ** 2 + y[0] ** 2)
    return value


@of_pairs
def damped_cosine(x: Vector, y: Vector) -> Vector:
    r = np.sqrt(x[0] ** 2 + y[0] ** 2)
    value: Vector = np.cos(r) / (r + 10)
    return value


@of_pairs
def lagrangian1(x: Vector, y: Vector) -> Vector:
    f = 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2
    return f - y[0] * (x[0] + x[1] ** 2) - y[1] * (x[0] ** 2 + x[1])


@of_pairs
def lagrangian2(x: Vector, y: Vector) -> Vector:
    f = (x[0] - 2) ** 2 + (x[1] - 1) ** 2
    return f + y[0] * (x[0] ** 2 - x[1]) + y[1] * (x[0] + x[1] - 2)


@of_pairs
def damavandi(x: Vector, y: Vector) -> Vector:
    hole = np.abs(np.sinc(x[0] - 2) * np.sinc(y[0] - 2)) ** 5
    value: Vector = (1 - hole) * (2 + (x[0] - 7) ** 2 + 2 * (y[0] - 7) ** 2)
    return value


@of_pairs
def rustem1(x: Vector, y: Vector) -> Vector:
    d = y[1] - y[0]
    return 5 * (x[0] ** 2 + x[1] ** 2) - (y[0] ** 2 + y[1] ** 2) + x[0] * (d + 5) + x[1] * (3 - d)


@of_pairs
def rustem2(x: Vector, y: Vector) -> Vector:
    return 4 * (x[0] - 2) ** 2 - 2 * y[0] ** 2 + x[0] ** 2 * y[0] - y[1] ** 2 + 2 * x[1] ** 2 * y[1]


@of_pairs
def rustem3(x: Vector, y: Vector) -> Vector:
    mixed = x[0] ** 4 * y[1] + 2 * x[0] ** 3 * y[0]
    return mixed - x[1] ** 2 * y[1] * (y[1] - 3) - 2 * x[1] * (y[0] - 3) ** 2


@of_pairs
def rustem4(x: Vector, y: Vector) -> Vector:
    squares = (x[0] - 1) ** 2 + (x[1] - 1) ** 2 - (y[0] - 1) ** 2 - (y[1] - 1) ** 2 - (y[2] - 1) ** 2
    return squares + y[2] * (x[1] - 1) + y[0] * (x[0] - 1) + y[1] * x[0] * x[1]


@of_pairs
def rustem5(x: Vector, y: Vector) -> Vector:
    squares = 2 * x[0] ** 2 + 3 * x[1] ** 2 + x[2] ** 2 - y[0] ** 2 - y[1] ** 2 - y[2] ** 2
    return squares - (x[0] - 1) * y[0] - (x[1] - 2) * y[1] - (x[2] - 1) * y[2]


@of_pairs
def rustem6(x: Vector, y: Vector) -> Vector:
    return (
        y[0] * (x[0] ** 2 - x[1] + x[2] - x[3] + 2)
        + y[1] * (-x[0] + 2 * x[1] ** 2 - x[2] ** 2 + 2 * x[3] + 1)
        + y[2] * (2 * x[0] - x[1] + 2 * x[2] - x[3] ** 2 + 5)
        + 5 * x[0] ** 2
        + 4 * x[1] ** 2
        + 3 * x[2] ** 2
        + 2 * x[3] ** 2
        - np.sum(y**2, axis=0)
    )


@of_pairs
def rustem7(x: Vector, y: Vector) -> Vector:
    d = y[3] - y[4]
    return (
        2 * x[0] * x[4]
        + 3 * x[3] * x[1]
        + x[4] * x[2]
        + 5 * x[3] ** 2
        + 5 * x[4] ** 2
        - x[3] * (d - 5)
        + x[4] * (d + 3)
        + np.sum(y[:3] * (x[:3] ** 2 - 1), axis=0)
        - np.sum(y**2, axis=0)
    )


GAMES = {
    "fabris2012/p1": square_difference,
    "minmax/parabolas": parabolas,
    "minmax/two_planes": two_planes,
    "minmax/damped_sine": damped_sine,
    "minmax/damped_cosine": damped_cosine,
    "minmax/lagrangian1": lagrangian1,
    "minmax/lagrangian2": lagrangian2,
    "minmax/damavandi": damavandi,
    "minmax/rustem1": rustem1,
    "minmax/rustem2": rustem2,
    "minmax/rustem3": rustem3,
    "minmax/rustem4": rustem4,
    "minmax/rustem5": rustem5,
    "minmax/rustem6": rustem6,
    "minmax/rustem7": rustem7,
}
