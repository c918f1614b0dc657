"""The common part of local searches from many points together: a call of the function has the points of all."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from skde.typing import FloatArray, IntArray


class JointSearch:
    """Local searches from some points, one step at a time, in widths of the box.

    A search depends on no other: its points have the same bits alone.

    Parameters
    ----------
    values : callable
        Takes the numbers of searches, of shape (k,), and points in widths of the box, of shape (k, n); returns k
        values, of which NaN is the worst.
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
    active: IntArray

    def __init__(
        self,
        values: Callable[[IntArray, FloatArray], FloatArray],
        begin: FloatArray,
        max_evals: IntArray,
        target: float,
    ) -> None:
        self.values, self.max_evals, self.target = values, max_evals, target
        self.n_evals = np.zeros(len(begin), np.int64)
        self._begun = False

    def step(self) -> None:
        """Make one step of all active searches."""
        raise NotImplementedError
