"""The nonlinear regressions of NIST's Statistical Reference Datasets, with certified results."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

import numpy as np

from skde.typing import Array, FloatArray

MOST_DIGITS = 11.0  # of the certified values
BOX = 10.0  # times the largest of starts and certified values


def bennett5(X: Array, b: Array) -> Array:
    """Return b1 (b2 + x) ** (-1 / b3)."""
    return b[0] * (b[1] + X[:, 0]) ** (-1.0 / b[2])


def saturation(X: Array, b: Array) -> Array:
    """Return b1 (1 - exp(-b2 x))."""
    return b[0] * (1.0 - np.exp(-b[1] * X[:, 0]))


def chwirut(X: Array, b: Array) -> Array:
    """Return exp(-b1 x) / (b2 + b3 x)."""
    return np.exp(-b[0] * X[:, 0]) / (b[1] + b[2] * X[:, 0])


def dan_wood(X: Array, b: Array) -> Array:
    """Return b1 x ** b2."""
    return b[0] * X[:, 0] ** b[1]


def enso(X: Array, b: Array) -> Array:
    """Return a constant and three cycles: of 12 months, b4 and b7."""
    angle = 2.0 * np.pi * X[:, 0]
    year = b[1] * np.cos(angle / 12.0) + b[2] * np.sin(angle / 12.0)
    second = b[4] * np.cos(angle / b[3]) + b[5] * np.sin(angle / b[3])
    third = b[7] * np.cos(angle / b[6]) + b[8] * np.sin(angle / b[6])
    return b[0] + year + second + third


def eckerle4(X: Array, b: Array) -> Array:
    """Return b1 / b2 exp(-((x - b3) / b2)**2 / 2)."""
    return b[0] / b[1] * np.exp(-0.5 * ((X[:, 0] - b[2]) / b[1]) ** 2)


def gauss(X: Array, b: Array) -> Array:
    """Return an exponential decay and two Gaussian peaks."""
    x = X[:, 0]
    first = b[2] * np.exp(-(((x - b[3]) / b[4]) ** 2))
    return b[0] * np.exp(-b[1] * x) + first + b[5] * np.exp(-(((x - b[6]) / b[7]) ** 2))


def cubics(X: Array, b: Array) -> Array:
    """Return the quotient of two cubic polynomials."""
    x = X[:, 0]
    return (b[0] + x * (b[1] + x * (b[2] + x * b[3]))) / (1.0 + x * (b[4] + x * (b[5] + x * b[6])))


def kirby2(X: Array, b: Array) -> Array:
    """Return the quotient of two quadratic polynomials."""
    x = X[:, 0]
    return (b[0] + x * (b[1] + x * b[2])) / (1.0 + x * (b[3] + x * b[4]))


def lanczos(X: Array, b: Array) -> Array:
    """Return three exponential decays."""
    x = X[:, 0]
    return b[0] * np.exp(-b[1] * x) + b[2] * np.exp(-b[3] * x) + b[4] * np.exp(-b[5] * x)


def mgh09(X: Array, b: Array) -> Array:
    """Return b1 (x**2 + x b2) / (x**2 + x b3 + b4)."""
    x = X[:, 0]
    return b[0] * (x**2 + x * b[1]) / (x**2 + x * b[2] + b[3])


def mgh10(X: Array, b: Array) -> Array:
    """Return b1 exp(b2 / (x + b3))."""
    return b[0] * np.exp(b[1] / (X[:, 0] + b[2]))


def mgh17(X: Array, b: Array) -> Array:
    """Return a constant and two exponential decays."""
    return b[0] + b[1] * np.exp(-X[:, 0] * b[3]) + b[2] * np.exp(-X[:, 0] * b[4])


def misra1b(X: Array, b: Array) -> Array:
    """Return b1 (1 - (1 + b2 x / 2)**-2)."""
    return b[0] * (1.0 - (1.0 + b[1] * X[:, 0] / 2.0) ** -2)


def misra1c(X: Array, b: Array) -> Array:
    """Return b1 (1 - (1 + 2 b2 x)**-0.5)."""
    return b[0] * (1.0 - (1.0 + 2.0 * b[1] * X[:, 0]) ** -0.5)


def misra1d(X: Array, b: Array) -> Array:
    """Return b1 b2 x / (1 + b2 x)."""
    return b[0] * b[1] * X[:, 0] / (1.0 + b[1] * X[:, 0])


def nelson(X: Array, b: Array) -> Array:
    """Return b1 - b2 x1 exp(-b3 x2); its target is the logarithm of y."""
    return b[0] - b[1] * X[:, 0] * np.exp(-b[2] * X[:, 1])


def rat42(X: Array, b: Array) -> Array:
    """Return b1 / (1 + exp(b2 - b3 x))."""
    return b[0] / (1.0 + np.exp(b[1] - b[2] * X[:, 0]))


def rat43(X: Array, b: Array) -> Array:
    """Return b1 / (1 + exp(b2 - b3 x)) ** (1 / b4)."""
    return b[0] / (1.0 + np.exp(b[1] - b[2] * X[:, 0])) ** (1.0 / b[3])


def roszman1(X: Array, b: Array) -> Array:
    """Return b1 - b2 x - arctan(b3 / (x - b4)) / pi."""
    return b[0] - b[1] * X[:, 0] - np.arctan(b[2] / (X[:, 0] - b[3])) / np.pi


MODELS: dict[str, Callable[[Array, Array], Array]] = {
    "Bennett5": bennett5,
    "BoxBOD": saturation,
    "Chwirut1": chwirut,
    "Chwirut2": chwirut,
    "DanWood": dan_wood,
    "ENSO": enso,
    "Eckerle4": eckerle4,
    "Gauss1": gauss,
    "Gauss2": gauss,
    "Gauss3": gauss,
    "Hahn1": cubics,
    "Kirby2": kirby2,
    "Lanczos1": lanczos,
    "Lanczos2": lanczos,
    "Lanczos3": lanczos,
    "MGH09": mgh09,
    "MGH10": mgh10,
    "MGH17": mgh17,
    "Misra1a": saturation,
    "Misra1b": misra1b,
    "Misra1c": misra1c,
    "Misra1d": misra1d,
    "Nelson": nelson,
    "Rat42": rat42,
    "Rat43": rat43,
    "Roszman1": roszman1,
    "Thurber": cubics,
}

# Orders of the parameters that give the same predictions: equal terms of a sum can change places.
ORDERS: dict[str, list[list[int]]] = {
    "ENSO": [[0, 1, 2, 6, 7, 8, 3, 4, 5]],
    **{name: [[0, 1, 5, 6, 7, 2, 3, 4]] for name in ("Gauss1", "Gauss2", "Gauss3")},
    **{
        name: [[0, 1, 4, 5, 2, 3], [2, 3, 0, 1, 4, 5], [2, 3, 4, 5, 0, 1], [4, 5, 0, 1, 2, 3], [4, 5, 2, 3, 0, 1]]
        for name in ("Lanczos1", "Lanczos2", "Lanczos3")
    },
    "MGH17": [[0, 2, 1, 4, 3]],
}
# Parameters that can change their signs together.
SIGNS: dict[str, list[list[int]]] = {
    "ENSO": [[3, 5], [6, 8]],
    "Eckerle4": [[0, 1]],
    **{name: [[4], [7]] for name in ("Gauss1", "Gauss2", "Gauss3")},
}


@dataclass(frozen=True)
class Regression:
    """A data set with its model and its certified results.

    Attributes
    ----------
    name, level : str
        Its name, and its difficulty as NIST gives it: "lower", "average" or "higher".
    X, y : ndarray of shape (n_samples, n_features), (n_samples,)
        Predictors and response; of Nelson the response's logarithm.
    starts : ndarray of shape (2, n_parameters)
        NIST's two starting points.
    certified, standard_errors : ndarray of shape (n_parameters,)
        The certified parameters, and their standard deviations.
    residual_sum_of_squares : float
        Likewise certified.
    """

    name: str
    level: str
    X: FloatArray
    y: FloatArray
    starts: FloatArray
    certified: FloatArray
    standard_errors: FloatArray
    residual_sum_of_squares: float

    @property
    def model(self) -> Callable[[Array, Array], Array]:
        """The model, of one candidate or many: model(X, theta)."""
        return MODELS[self.name]

    def bounds(self, signs: bool = True) -> FloatArray:
        """Return a box of 0 to 10 times the largest of starts and certified values.

        Parameters
        ----------
        signs : bool, default True
            Whether the signs of the parameters are given; False: from -10 to 10 times.
        """
        size = BOX * abs(np.vstack([self.starts, self.certified])).max(axis=0)
        if not signs:
            return np.stack([-size, size], axis=1)
        return np.stack([np.where(self.certified > 0, 0.0, -size), np.where(self.certified < 0, 0.0, size)], axis=1)

    @cached_property
    def forms(self) -> list[tuple[list[int], FloatArray]]:
        """Orders and signs that give the same predictions."""
        count = len(self.certified)
        signs = [np.ones(count)]
        for some in SIGNS.get(self.name, []):
            flipped = np.ones(count)
            flipped[some] = -1.0
            signs += [one * flipped for one in signs]
        return [(order, sign) for order in [list(range(count)), *ORDERS.get(self.name, [])] for sign in signs]

    def digits(self, theta: FloatArray) -> float:
        """Return the number of digits that all parameters have in common with the certified ones, at most 11.

        It is the smallest of -log10(abs(theta - certified) / abs(certified)). Of parameters that can change places
        or signs without a change of the predictions, the best form counts.
        """
        return max(agreement(theta[order] * sign, self.certified) for order, sign in self.forms)


def agreement(values: FloatArray, certified: FloatArray) -> float:
    """Return the number of digits that all values have in common with the certified ones, at most 11."""
    errors = abs(values - certified) / abs(certified)
    return float(-np.log10(np.maximum(errors.max(), 10.0**-MOST_DIGITS)))


@cache
def load_records() -> dict[str, Any]:
    """Return the data by name."""
    found: dict[str, Any] = json.loads(files("skde.benchmark").joinpath("nist.json").read_text())
    return found


def load_regression(name: str) -> Regression:
    """Return a data set.

    Parameters
    ----------
    name : str
        Its name, such as "Thurber".

    Returns
    -------
    regression : Regression

    Raises
    ------
    KeyError
        For a name that NIST does not have.

    Examples
    --------
    >>> from skde.benchmark.nist import load_regression
    >>> load_regression("Thurber").y.shape
    (37,)
    """
    data = load_records()[name]
    X, y = np.array(data["x"], np.float64).T, np.array(data["y"], np.float64)
    return Regression(
        name=name,
        level=data["level"],
        X=np.ascontiguousarray(X),
        y=np.log(y) if name == "Nelson" else y,
        starts=np.array([data["start_1"], data["start_2"]], np.float64),
        certified=np.array(data["certified"], np.float64),
        standard_errors=np.array(data["standard_errors"], np.float64),
        residual_sum_of_squares=float(data["residual_sum_of_squares"]),
    )
