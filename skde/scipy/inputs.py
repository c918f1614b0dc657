"""The inputs of differential evolution with SciPy's interface: bounds, strategies, populations, constraints."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint
from scipy.stats import qmc

from skde.typing import FloatArray
from skde.utils.validation import check_choice, check_real, nearest, quote

MUTATIONS = {
    "best1": "best/1",
    "best2": "best/2",
    "rand1": "rand/1",
    "rand2": "rand/2",
    "randtobest1": "rand-to-best/1",
    "currenttobest1": "current-to-best/1",
}
STRATEGIES = {
    f"{theirs}{crossover}": f"{ours}/{crossover}" for crossover in ("bin", "exp") for theirs, ours in MUTATIONS.items()
}
LEAST_POPULATION = 5
RAND_2_POPULATION = 6
INITS = ("latinhypercube", "sobol", "halton", "random")


class Box:
    """SciPy's bounds, and the points of the unit cube that the solver works with.

    Parameters
    ----------
    bounds : sequence of (min, max), or scipy.optimize.Bounds
        The bounds.
    integrality : array-like of bool, or None
        Which variables are whole numbers. They have the range that rounds to those between the bounds.

    Attributes
    ----------
    lower, upper : ndarray of shape (N,)
        The range of every variable.
    integrality : ndarray of bool, shape (N,)
        Which variables are whole numbers.
    """

    def __init__(self, bounds: Any, integrality: Any) -> None:
        self.lower, self.upper = parse_bounds(bounds).T.copy()
        dim = len(self.lower)
        whole = np.array(False if integrality is None else integrality, bool)
        if whole.shape not in ((), (1,), (dim,)):
            raise ValueError(
                f"integrality must have one value, or one for each of the {dim} variables, got {quote(integrality)}"
            )
        self.integrality = np.broadcast_to(whole, dim).copy()
        first, last = np.ceil(self.lower[self.integrality]), np.floor(self.upper[self.integrality])
        if (first > last).any():
            raise ValueError(
                "One of the integrality constraints does not have any possible integer values between the lower/upper "
                "bounds."
            )
        self.lower[self.integrality] = np.nextafter(first - 0.5, np.inf)
        self.upper[self.integrality] = np.nextafter(last + 0.5, -np.inf)

    @property
    def n_free(self) -> int:
        """The number of variables that are not fixed."""
        return int((self.upper > self.lower).sum())

    def points(self, units: FloatArray) -> FloatArray:
        """Return the points of rows of the unit cube; integers are rounded."""
        points = 0.5 * (self.lower + self.upper) + (units - 0.5) * (self.upper - self.lower)
        points = np.clip(points, self.lower, self.upper)
        points[:, self.integrality] = np.round(points[:, self.integrality])
        return np.asarray(points)

    def units(self, points: FloatArray) -> FloatArray:
        """Return points in the unit cube, moved into it; a variable with equal bounds is at its centre."""
        width = self.upper - self.lower
        units = (points - 0.5 * (self.lower + self.upper)) / np.where(width > 0, width, 1.0) + 0.5
        return np.asarray(np.clip(units, 0, 1))

    def contains(self, point: FloatArray) -> bool:
        """Return whether a point is inside."""
        inside = point.shape == self.lower.shape and ((point >= self.lower) & (point <= self.upper)).all()
        return bool(inside)


def parse_bounds(bounds: Any) -> FloatArray:
    """Return bounds as an array of shape (N, 2)."""
    if isinstance(bounds, Bounds):
        limits = np.stack(np.broadcast_arrays(np.atleast_1d(bounds.lb), np.atleast_1d(bounds.ub)), axis=1)
    else:
        limits = bounds
    try:
        box = np.array(limits, np.float64)
    except (TypeError, ValueError):
        box = np.empty(0)
    if box.ndim != 2 or box.shape[1] != 2 or not len(box) or not np.isfinite(box).all():
        raise ValueError(
            "bounds should be a sequence containing finite real valued (min, max) pairs for each value in x, got "
            f"{quote(bounds)}"
        )
    for j in np.flatnonzero(box[:, 0] > box[:, 1]):
        raise ValueError(f"bounds[{j}] must have min <= max, got {tuple(box[j].tolist())}")
    return box


def initial_population(
    init: Any, popsize: Any, x0: Any, strategy: Any, box: Box, rng: np.random.Generator
) -> FloatArray:
    """Return the initial population in the unit cube."""
    dim = len(box.lower)
    least = RAND_2_POPULATION if isinstance(strategy, str) and "rand2" in strategy else LEAST_POPULATION
    size = max(least, int(check_real("popsize", popsize, 0) * max(box.n_free, 1)))
    if isinstance(init, str):
        start = sample_population(check_choice("init", init, INITS), size, dim, rng)
    else:
        rows = np.array(init, np.float64)
        if rows.ndim != 2 or rows.shape[1] != dim or len(rows) < least:
            raise ValueError(
                f"The population supplied needs to have shape (S, len(x)), where S >= {least}; got {rows.shape}"
            )
        if np.isnan(rows).any():
            raise ValueError(f"init must be numbers, got NaN in row {np.argwhere(np.isnan(rows))[0, 0]}")
        start = box.units(rows)
    if x0 is not None:
        point = np.asarray(x0, np.float64)
        if not box.contains(point):
            raise ValueError(f"Some entries in x0 lay outside the specified bounds: got {quote(x0)}")
        start[0] = box.units(point)
    return np.asarray(start)


def sample_population(init: str, size: int, dim: int, rng: np.random.Generator) -> FloatArray:
    """Return the initial population of a method in the unit cube."""
    if init == "random":
        return rng.uniform(size=(size, dim))
    if init == "sobol":
        size = 2 ** int(np.ceil(np.log2(size)))
    kinds = {"latinhypercube": qmc.LatinHypercube, "sobol": qmc.Sobol, "halton": qmc.Halton}
    return np.asarray(kinds[init](d=dim, seed=rng).random(size))


def generator(rng: Any, seed: Any) -> Any:
    """Return the random state; `seed` is the older name of `rng`."""
    if rng is not None and seed is not None:
        raise TypeError("differential_evolution got both rng and seed: give one of them")
    given = seed if rng is None else rng
    return None if given is np.random else given


def check_strategy(strategy: Any) -> Any:
    """Return a strategy: a name of SciPy or a function."""
    if not callable(strategy) and not (isinstance(strategy, str) and strategy in STRATEGIES):
        raise ValueError(
            f"Please select a valid mutation strategy: {', '.join(STRATEGIES)} or a callable; got {quote(strategy)}"
            f"{nearest(strategy, STRATEGIES)}"
        )
    return strategy


def scale_factor(mutation: Any) -> float | tuple[float, float]:
    """Return mutation as F: a number, or a pair in increasing order."""
    try:
        values = np.atleast_1d(np.asarray(mutation, np.float64))
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.shape not in ((1,), (2,)) or not (
        np.isfinite(values).all() and (values >= 0).all() and (values < 2).all()
    ):
        raise ValueError(
            "The mutation constant must be a float in U[0, 2), or specified as a tuple(min, max) where min < max and "
            f"min, max are in U[0, 2); got {quote(mutation)}"
        )
    low, high = float(values.min()), float(values.max())
    return low if low == high else (low, high)


def takes_result(callback: Callable[..., Any]) -> bool:
    """Whether a callback takes an OptimizeResult, by the one name that SciPy has for it."""
    try:
        return set(signature(callback).parameters) == {"intermediate_result"}
    except ValueError:  # a function of C without a signature
        return False


class Violation:
    """The violations of one of SciPy's constraints, as its differential evolution has them.

    Parameters
    ----------
    constraint : NonlinearConstraint, LinearConstraint or Bounds
        The constraint.
    """

    def __init__(self, constraint: Any) -> None:
        if not isinstance(constraint, NonlinearConstraint | LinearConstraint | Bounds):
            raise TypeError(
                "constraints must be NonlinearConstraint, LinearConstraint or Bounds of scipy.optimize, or a sequence "
                f"of these, got {quote(constraint)}"
            )
        self.constraint = constraint
        self.lower = np.atleast_1d(np.asarray(constraint.lb, np.float64))[:, None]
        self.upper = np.atleast_1d(np.asarray(constraint.ub, np.float64))[:, None]

    def values(self, x: FloatArray) -> Any:
        """Return the values that are bounded, of shape (M,) or (M, S), for x of shape (N,) or (N, S)."""
        if isinstance(self.constraint, NonlinearConstraint):
            # The function may write to its argument.
            return np.atleast_1d(np.asarray(self.constraint.fun(np.array(x)), np.float64))
        if isinstance(self.constraint, LinearConstraint):
            A = self.constraint.A
            return A.dot(x) if hasattr(A, "tocsr") else np.atleast_2d(np.asarray(A)) @ x
        return x

    def components(self, points: FloatArray, together: bool) -> FloatArray:
        """Return the values that are bounded, of shape (M, S), for points of shape (S, N)."""
        if together or not isinstance(self.constraint, NonlinearConstraint):
            c = np.asarray(self.values(points.T))
            c = c[None, :] if c.ndim == 1 else c
        else:
            c = np.stack([np.ravel(self.values(x)) for x in points], axis=1)
        if c.ndim != 2 or c.shape[1] != len(points) or len(c) % len(self.lower):
            raise RuntimeError(
                "An array returned from a Constraint function has the wrong shape. If `vectorized is False` the "
                "Constraint should return an array of shape (M,). If `vectorized is True` then the Constraint must "
                "return an array of shape (M, S), where S is the number of solution vectors and M is the number of "
                f"constraint components in a given Constraint object; got {c.shape} for S={len(points)}."
            )
        return np.asarray(c, np.float64)

    def of(self, points: FloatArray, together: bool) -> FloatArray:
        """Return the violations of points of shape (S, N), of shape (S, M); infinite for NaN."""
        c = self.components(points, together)
        with np.errstate(invalid="ignore"):  # of an infinite c at an infinite bound, which fmax drops
            excess = np.fmax(self.lower - c, 0) + np.fmax(c - self.upper, 0)
        return np.asarray(np.where(np.isnan(c), np.inf, excess).T)

    def sides(self, points: FloatArray, together: bool) -> tuple[FloatArray, FloatArray]:
        """Return the g <= 0 and the h = 0 that say the same, of shapes (m, S) and (l, S)."""
        c = self.components(points, together)
        lower, upper = np.broadcast_to(self.lower, c.shape), np.broadcast_to(self.upper, c.shape)
        equal, low, high = self.lower[:, 0] == self.upper[:, 0], self.lower[:, 0] > -np.inf, self.upper[:, 0] < np.inf
        equal, low, high = (np.broadcast_to(rows, len(c)) for rows in (equal, low, high))
        sides = ((lower - c)[low & ~equal], (c - upper)[high & ~equal])
        return np.concatenate(sides), (c - lower)[equal]
