"""The common part of local searches from many points together: a request has the points of all."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

import numpy as np

from skde.typing import FloatArray, IntArray

T = TypeVar("T")
# Yields the numbers of searches, of shape (k,), and points in widths of the box, of shape (k, n); receives k values.
Asking = Generator[tuple[IntArray, FloatArray], FloatArray, T]


class JointSearch:
    """Local searches from some points, one step at a time, in widths of the box.

    A search depends on no other: its points have the same bits alone. A value that is NaN is the worst.

    Parameters
    ----------
    begin : ndarray of shape (n_searches, n)
        The first points, in [0, 1].
    max_evals : ndarray of int of shape (n_searches,)
        Limits on the evaluations, never exceeded.
    target : float
        A search ends where its best value is this or less.

    Attributes
    ----------
    best_u, best_f : ndarray of shape (n_searches, n), (n_searches,)
        The best points and their values.
    n_evals : ndarray of int of shape (n_searches,)
        Evaluations so far.
    active : ndarray of bool of shape (n_searches,)
        Which searches have not ended.
    """

    best_u: FloatArray
    best_f: FloatArray
    active: Any

    def __init__(self, begin: FloatArray, max_evals: IntArray, target: float) -> None:
        self.max_evals, self.target = max_evals, target
        self.n_evals = np.zeros(len(begin), np.int64)
        self._begun = False

    def step(self) -> Asking[None]:
        """Make one step of all active searches."""
        raise NotImplementedError
