"""Nelder and Mead's local search from many points together: a call of the function has the points of all."""

from __future__ import annotations

import numpy as np

from skde.fit.phases.joint_search import Asking, JointSearch
from skde.typing import FloatArray, IntArray

SIDE = 0.01  # of the first simplexes, in widths of the box
LEAST_SIZE = 1e-15  # of a simplex, in widths of the box
FLAT_SIZE = 1e-6  # of one with equal values: those of a larger one may be equal by symmetry
PATIENCE = 100  # a search ends after this many evaluations a vertex without a better point; it shrinks in the first 50


class SimplexSearch(JointSearch):
    r"""The searches of Nelder and Mead from some points, one step at a time, in widths of the box.

    A simplex has vertices :math:`u_0, \dots, u_n` with values :math:`f_0 \le \dots \le f_n`. With the center
    :math:`c` of all but the last, a step tries the reflection :math:`u_r = c + (c - u_n)` and, where :math:`f_r < f_0`,
    the expansion :math:`c + \chi (c - u_n)`; where :math:`f_r \ge f_{n-1}`, the contraction :math:`c \pm \psi
    (c - u_n)`, outside if :math:`f_r < f_n`. The better one replaces :math:`u_n`. Where the contraction fails, the
    simplex shrinks: :math:`u_i \leftarrow u_0 + \sigma (u_i - u_0)`. The coefficients are those for :math:`n`
    variables, :math:`\chi = 1 + 2 / n`, :math:`\psi = 3 / 4 - 1 / (2 n)`, :math:`\sigma = 1 - 1 / n`, with
    :math:`n \ge 2`. All points are clipped to the box.

    A search ends where its simplex is a point, or is small and has equal values, after many evaluations without a
    better point, or before a step might exceed its evaluations.

    Parameters
    ----------
    begin, max_evals, target
        Those of `JointSearch`; target : float, default -inf.
    f : ndarray of shape (n_searches,)
        The values of the first points.

    Attributes
    ----------
    u, f : ndarray of shape (n_searches, n + 1, n), (n_searches, n + 1)
        The simplexes, the best vertices first, and their values.

    Notes
    -----
    Source: J. A. Nelder, R. Mead, A simplex method for function minimization, The Computer Journal 7 (1965); F. Gao,
    L. Han, Implementing the Nelder-Mead simplex algorithm with adaptive parameters, Computational Optimization and
    Applications 51 (2012), for the coefficients. Differences: the first simplex has sides of a hundredth of the box.
    """

    def __init__(
        self,
        begin: FloatArray,
        f: FloatArray,
        max_evals: IntArray,
        target: float = -np.inf,
    ) -> None:
        super().__init__(begin, max_evals, target)
        n_searches, n = begin.shape
        self.u = np.repeat(begin[:, None], n + 1, axis=1)
        self.f = np.full((n_searches, n + 1), np.inf)
        self.f[:, 0] = np.where(np.isnan(f), np.inf, f)
        self._improved_at = np.zeros(n_searches, np.int64)
        n_rule = max(n, 2)
        self._expansion, self._contraction, self._shrinkage = 1 + 2 / n_rule, 0.75 - 0.5 / n_rule, 1 - 1 / n_rule
        self.active = (max_evals >= n) & (self.f[:, 0] > target) & (n > 0)

    @property
    def best_u(self) -> FloatArray:  # type: ignore[override]
        """The best points."""
        return self.u[:, 0]

    @property
    def best_f(self) -> FloatArray:  # type: ignore[override]
        """Their values."""
        return self.f[:, 0]

    def step(self) -> Asking[None]:
        """Make one step of all active searches; the first makes their simplexes."""
        active = np.flatnonzero(self.active)
        if self._begun:
            yield from self._move(active)
        else:
            yield from self._begin(active)
        self._end(active)

    def _begin(self, active: IntArray) -> Asking[None]:
        """Evaluate the vertices of the first simplexes, which differ from the first points in one variable each."""
        side = np.where(self.u[:, 0] + SIDE <= 1.0, SIDE, -SIDE)
        for j in range(self.u.shape[2]):
            self.u[:, j + 1, j] += side[:, j]
            self.f[active, j + 1] = yield from self._evaluate(active, self.u[active, j + 1])
        self._sort(active)
        self._begun = True

    def _move(self, active: IntArray) -> Asking[None]:
        """Replace the worst vertices, or shrink the simplexes."""
        u, f = self.u[active], self.f[active]
        center = u[:, :-1].sum(axis=1) / u.shape[2]
        away = center - u[:, -1]
        new = np.clip(center + away, 0.0, 1.0)
        f_new = yield from self._evaluate(active, new)
        expands, outside = f_new < f[:, 0], f_new < f[:, -1]
        second = np.flatnonzero(expands | ~(f_new < f[:, -2]))
        expands, outside = expands[second], outside[second]
        factor = np.where(expands, self._expansion, np.where(outside, self._contraction, -self._contraction))
        tried = np.clip(center[second] + factor[:, None] * away[second], 0.0, 1.0)
        f_tried = yield from self._evaluate(active[second], tried)
        better = np.where(outside & ~expands, f_tried <= f_new[second], f_tried < np.fmin(f_new, f[:, -1])[second])
        new[second[better]], f_new[second[better]] = tried[better], f_tried[better]
        shrinks = np.zeros(len(active), bool)
        shrinks[second] = ~better & ~expands
        moves = active[~shrinks]
        self.u[moves, -1], self.f[moves, -1] = new[~shrinks], f_new[~shrinks]
        yield from self._shrink(active[shrinks])
        self._sort(active)

    def _shrink(self, searches: IntArray) -> Asking[None]:
        """Move all vertices of some simplexes towards their best."""
        if not len(searches):
            return
        best = self.u[searches, 0]
        for i in range(1, self.u.shape[1]):
            self.u[searches, i] = best + self._shrinkage * (self.u[searches, i] - best)
            self.f[searches, i] = yield from self._evaluate(searches, self.u[searches, i])

    def _end(self, active: IntArray) -> None:
        """End the searches of which nothing more is expected, and those without evaluations for another step."""
        u, f = self.u[active], self.f[active]
        vertices = u.shape[1]
        size = np.abs(u[:, 1:] - u[:, :1]).max(axis=(1, 2))
        done = (size <= np.where(f[:, -1] == f[:, 0], FLAT_SIZE, LEAST_SIZE)) | (f[:, 0] <= self.target)
        done |= self.n_evals[active] - self._improved_at[active] > PATIENCE * vertices
        done |= self.n_evals[active] + vertices + 1 > self.max_evals[active]
        self.active[active[done]] = False

    def _sort(self, searches: IntArray) -> None:
        """Order the vertices of some simplexes by their values, and note which have a better best one."""
        before = self.f[searches, 0]
        rows, order = searches[:, None], np.argsort(self.f[searches], axis=1, kind="stable")
        self.f[searches], self.u[searches] = self.f[rows, order], self.u[rows, order]
        improved = searches[self.f[searches, 0] < before]
        self._improved_at[improved] = self.n_evals[improved]

    def _evaluate(self, searches: IntArray, points: FloatArray) -> Asking[FloatArray]:
        """Return the values at one point of each of some searches, which count."""
        if not len(searches):
            return np.empty(0)
        f = yield searches, points
        self.n_evals[searches] += 1
        return np.where(np.isnan(f), np.inf, f)
