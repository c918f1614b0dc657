"""Comparison of a kernel with its NumPy implementation after every ask and every tell."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from skde import Minimizer

from .pso import Swarm
from .reference import Reference
from .scatter import Scatter
from .success_history import SuccessHistory

# Widths and places of all sorts.
SEVEN = np.array([[-1.0, 2.0], [0.0, 0.25], [-3.0, -1.0], [5.0, 9.0], [-1e-3, 1e3], [-2.0, 2.0], [0.0, 1.0]])
# More than one vector of components, and more than one block of draws.
WIDE = np.tile([[-2.0, 3.0]], (75, 1))

Objective = Callable[[Any], Any]


def corner(box: Any) -> Objective:
    """Least in the corner of all lower bounds: trials leave the box there."""
    return lambda X: ((X - box[:, 0]) / (box[:, 1] - box[:, 0])).sum(axis=-1)


def bowl(box: Any) -> Objective:
    """Least inside, with equal values for near points."""
    middle = 0.4 * box[:, 0] + 0.6 * box[:, 1]
    return lambda X: np.round((((X - middle) / (box[:, 1] - box[:, 0])) ** 2).sum(axis=-1), 4)


def holes(X: Any) -> Any:
    """Numbers, some of them equal; in stripes NaN and both infinities, the lower one rarely."""
    stripe = np.floor(np.abs(X[..., 0]) * 64.0) % 8.0
    rare = np.floor(np.abs(X[..., -1]) * 256.0) % 64.0 == 5
    values = np.floor(10.0 * (X * X).sum(axis=-1))
    return np.select([rare, stripe < 2, stripe < 3], [-math.inf, math.nan, math.inf], values)


def plateau(X: Any) -> Any:
    """Nothing is better than anything."""
    return np.zeros(X.shape[:-1])


def oracle(algorithm: Any, box: Any, seed: int, limits: dict[str, int]) -> Any:
    """The plain implementation of an algorithm."""
    if algorithm.kernel in ("de", "jde"):
        return Reference(algorithm, box, seed)
    if algorithm.kernel == "pso":
        return Swarm(algorithm, box, seed)
    if algorithm.kernel == "ss":
        return Scatter(algorithm, box, seed)
    return SuccessHistory(algorithm, box, seed, **limits)


def memory(kernel: Minimizer, cells: int) -> tuple[list[float], list[float | None]]:
    """A kernel's cells of F and CR, as SuccessHistory has them."""
    batch = kernel._fit.batch
    F, CR = batch.array["memory"][0, 0, 2 : 2 + 2 * cells].reshape(2, cells).tolist()
    return F, [None if cell == -1 else cell for cell in CR]


def archive(kernel: Minimizer) -> Any:
    """A kernel's archive: the rows that it counts."""
    batch = kernel._fit.batch
    rows = int(batch.array["memory"][int(batch.array["generation"][0]) & 1, 0, 1])
    return batch.array["archive"][0, :rows]


def side_by_side(
    algorithm: Any,
    box: Any,
    objective: Objective,
    seed: int = 0,
    check: Callable[[Minimizer, Any], None] | None = None,
    **limits: int,
) -> Any:
    """Run both to the end of a budget; return the plain one."""
    kernel = Minimizer(algorithm, bounds=box, random_state=seed, device="cpu", **limits)
    plain = oracle(algorithm, box, seed, limits)
    while not kernel.stopped_:
        X, expected = kernel.ask(), plain.ask()
        assert np.array_equal(X, expected), f"trials of generation {plain.generation}"
        f = objective(X)
        kernel.tell(X, f)
        plain.tell(expected, f)
        assert np.array_equal(kernel.population_, plain.x), f"population of generation {plain.generation}"
        assert np.array_equal(kernel.fitness_, plain.f, equal_nan=True)
        if isinstance(plain, SuccessHistory):
            assert memory(kernel, len(plain.M_F)) == (plain.M_F, plain.M_CR), f"memory of generation {plain.generation}"
            assert len(archive(kernel)) == len(plain.archive)
            assert not plain.archive or np.array_equal(archive(kernel), plain.archive)
        if check is not None:
            check(kernel, plain)
    assert plain.generation == limits.get("max_iter", plain.generation)
    return plain
