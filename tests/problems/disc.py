"""A sum on a disc: the function, the constraint and the solver that tests share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import NonlinearConstraint

from skde import ConstrainedProblem, Minimizer

Vector = NDArray[np.float64]
BOX = [(-3.0, 3.0)] * 2
X = np.array([[0.0, 0.5], [1.0, 1.0], [-2.0, 0.25]])


def total(X: Vector) -> Vector:
    f: Vector = X[:, 0] + X[:, 1]
    return f


def bowl(X: Vector) -> Vector:
    f: Vector = (X**2).sum(axis=1)
    return f


def radius(x: Vector) -> Vector:
    r: Vector = x[..., 0] ** 2 + x[..., 1] ** 2
    return r


DISC = NonlinearConstraint(radius, -np.inf, 2.0)  # the least sum is -2, at (-1, -1)
NOWHERE = NonlinearConstraint(radius, 100.0, np.inf)  # the box's corners have 18


def problem(constraints: Any = DISC, **options: Any) -> ConstrainedProblem:
    return ConstrainedProblem(total, BOX, constraints, **options)


def make(**options: Any) -> Minimizer:
    return Minimizer("jde", **{"max_iter": 60, "random_state": 0, "constraints": DISC, **options})
