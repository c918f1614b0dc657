"""A quasi-Newton local search from many points together: a call of the function has the points of all."""

from __future__ import annotations

from typing import Any

import numpy as np

from skde.fit.phases.joint_search import Asking, JointSearch
from skde.typing import FloatArray, IntArray

MEMORY = 10  # pairs of steps and differences of gradients
FIRST_LENGTH = 0.01  # of the first step, in widths of the box
LEAST_LENGTH = 1e-12  # of a step along the gradient, in widths of the box
GROWTH = 4.0  # of a step along the gradient while the value falls
MOST_TRIALS = 12  # of a line search
SUFFICIENT = 1e-4  # part of the decrease that the gradient promises
CURVATURE = 1e-10  # a pair with less is not kept
MOST_NUMBERS = 2**22  # of the points in one call of the function
TINY = float(np.finfo(float).tiny)  # of smaller numbers the inverse may not be finite
SAFE_EXPONENT = 300  # products of numbers from 2^-300 to 2^300 are neither 0 nor infinite
# Values may be so large that their products are not finite.
HUGE: dict[str, Any] = {"over": "ignore", "invalid": "ignore"}


class QuasiNewtonSearch(JointSearch):
    r"""The searches of a projected L-BFGS method from some points, one step at a time, in widths of the box.

    A step goes from :math:`u` along :math:`d = -H g`, where the gradient :math:`g` is made of forward differences, and
    :math:`H` by the two loops of L-BFGS of the last pairs :math:`s = u' - u, y = g' - g`. Components at a bound from
    which :math:`-g` leads out of the box stay. A line search tries the values of :math:`u + t d`, clipped to the box,
    beginning with :math:`t = 1`, until a value has fallen by a part of what the gradient promises; a parabola gives the
    next :math:`t`, at most a half and at least a tenth of the last. Without pairs, :math:`d = -g`, the first :math:`t`
    makes a short step, and t grows while the value falls. A gradient costs n evaluations, a trial of a line search one.

    A search ends where a line search along :math:`-g` finds nothing, and where its evaluations do not suffice for
    another gradient and a trial. The best of all points counts, also of the differences.

    Parameters
    ----------
    begin, max_evals, target
        Those of `JointSearch`; target : float, default -inf.
    f : ndarray of shape (n_searches,)
        The values of the first points.
    lower, width : ndarray of shape (n,) or None, default None
        The box: differences are as long as the precision of its numbers needs; None: from 0 to 1.
    dtype : dtype, default float64
        The precision of the values.

    Notes
    -----
    Source: D. C. Liu, J. Nocedal, On the limited memory BFGS method for large scale optimization, Mathematical
    Programming 45 (1989). Differences: bounds by projection, and a line search that needs no gradient.
    """

    def __init__(
        self,
        begin: FloatArray,
        f: FloatArray,
        max_evals: IntArray,
        target: float = -np.inf,
        *,
        lower: FloatArray | None = None,
        width: FloatArray | None = None,
        dtype: Any = np.float64,
    ) -> None:
        super().__init__(begin, max_evals, target)
        n_searches, n = begin.shape
        self._origin = np.zeros(n) if lower is None or width is None else lower / width
        self._one = np.ones(n) if width is None else 1 / width
        self._step = float(np.sqrt(np.finfo(dtype).eps))
        self.best_u, self.best_f = begin.copy(), np.where(np.isnan(f), np.inf, f)
        self._u, self._f = self.best_u.copy(), self.best_f.copy()  # the present points and their values
        self.active = (max_evals > n) & np.isfinite(self._f) & (self._f > target) & (n > 0)
        # Gradients are multiplied by a power of two for each search, where their products would be 0 or infinite.
        self._g, self._unit = np.zeros((n_searches, n)), np.ones(n_searches)
        # The newest pair first; those that are not there are 0, and change nothing.
        self._s, self._y = np.zeros((2, n_searches, MEMORY, n))
        self._rho = np.zeros((n_searches, MEMORY))
        self._length = np.full(n_searches, FIRST_LENGTH)

    def step(self) -> Asking[None]:
        """Make one step of all active searches; before the first, their gradients."""
        active = np.flatnonzero(self.active)
        if not self._begun:
            self._g[active] = yield from self._gradient(active)
            self._begun = True
        d = self._direction(active)
        moves = np.abs(d).max(axis=1, initial=0.0) >= TINY
        self.active[active[~moves]] = False
        active, d = active[moves], d[moves]
        u, f, found = yield from self._line_search(active, d)
        self._fail(active[~found])
        active, u, f = active[found], u[found], f[found]
        s = u - self._u[active]
        self._u[active], self._f[active] = u, f
        self._length[active] = np.maximum(np.abs(s).max(axis=1, initial=0.0), LEAST_LENGTH)
        goes_on = (self.n_evals[active] + u.shape[1] < self.max_evals[active]) & (self.best_f[active] > self.target)
        self.active[active[~goes_on]] = False
        yield from self._learn(active[goes_on], s[goes_on])
        self.active &= self.best_f > self.target

    def _gradient(self, searches: IntArray) -> Asking[FloatArray]:
        """Return the gradients at the present points by forward differences, away from a near upper bound."""
        u = self._u[searches]
        h = self._step * np.minimum(1.0, np.maximum(self._one, np.abs(u + self._origin)))
        ahead = np.where(u + h <= 1.0, u + h, u - h)
        n = u.shape[1]
        rows, columns = np.divmod(np.arange(u.size), n)
        f = np.empty(u.size)
        for begin in range(0, u.size, at_a_time := max(MOST_NUMBERS // n, 1)):
            part = slice(begin, begin + at_a_time)
            row, column = rows[part], columns[part]
            points = u[row]
            points[np.arange(len(row)), column] = ahead[row, column]
            f[part] = yield from self._evaluate(searches[row], points)
        with np.errstate(**HUGE):
            difference = f.reshape(u.shape) - self._f[searches, None]
            if not self._begun:
                self._unit[searches] = safe_units(difference)
            g = self._unit[searches, None] * difference / (ahead - u)
        return np.where(np.isfinite(g), g, 0.0)

    @np.errstate(**HUGE)
    def _direction(self, searches: IntArray) -> FloatArray:
        """Return -H g; -g, and no pairs, where this does not descend."""
        u, g = self._u[searches], self._g[searches]
        free = ~(((u <= 0.0) & (g > 0)) | ((u >= 1.0) & (g < 0)))
        s, y, rho = self._s[searches], self._y[searches], self._rho[searches]
        q, factors = np.where(free, g, 0.0), np.zeros_like(rho)
        for k in range(MEMORY):
            factors[:, k] = rho[:, k] * (s[:, k] * q).sum(axis=1)
            q -= factors[:, k, None] * y[:, k]
        curvature = rho[:, 0] * (y[:, 0] * y[:, 0]).sum(axis=1)
        q /= np.where(curvature > 0, curvature, 1.0)[:, None]
        for k in reversed(range(MEMORY)):
            q += (factors[:, k] - rho[:, k] * (y[:, k] * q).sum(axis=1))[:, None] * s[:, k]
        d = np.where(free, -q, 0.0)
        fails = ~((d * g).sum(axis=1) < 0)
        d[fails] = np.where(free, -g, 0.0)[fails]
        self._forget(searches[fails])
        return d

    def _line_search(self, searches: IntArray, d: FloatArray) -> Asking[tuple[FloatArray, FloatArray, Any]]:
        """Return the points found along d, their values, and whether they are better than the present points."""
        u, f, g = self._u[searches], self._f[searches], self._g[searches]
        alone = self._rho[searches, 0] == 0  # without pairs
        norm = np.abs(d).max(axis=1, initial=0.0)
        t = np.where(alone, self._length[searches], np.minimum(norm, 1.0)) / norm
        best_u, best_f, found = u.copy(), f.copy(), np.zeros(len(searches), bool)
        tries = np.arange(len(searches))
        for _ in range(MOST_TRIALS):
            tries = tries[self.n_evals[searches[tries]] < self.max_evals[searches[tries]]]
            if not len(tries):
                break
            tried = np.clip(u[tries] + t[tries, None] * d[tries], 0.0, 1.0)
            f_tried = yield from self._evaluate(searches[tries], tried)
            with np.errstate(**HUGE):
                promised = (g[tries] * (tried - u[tries])).sum(axis=1) / self._unit[searches[tries]]
                bend = 2 * (f_tried - f[tries] - promised)
                minimum = np.where(np.isfinite(bend) & (bend > 0), -promised / np.where(bend > 0, bend, 1.0), 0.1)
            better = (f_tried < best_f[tries]) & (f_tried <= f[tries] + SUFFICIENT * np.minimum(promised, 0.0))
            grows, shrinks = better & alone[tries], ~better & ~found[tries]
            best_u[tries[better]], best_f[tries[better]] = tried[better], f_tried[better]
            found[tries[better]] = True
            t[tries[grows]] *= GROWTH
            t[tries[shrinks]] *= np.clip(minimum, 0.1, 0.5)[shrinks]
            alone[tries[shrinks]] = False
            tries = tries[grows | shrinks]
        return best_u, best_f, found

    def _fail(self, searches: IntArray) -> None:
        """Continue along the gradient where a line search with pairs found nothing; end where one along it did not."""
        alone = self._rho[searches, 0] == 0
        self.active[searches[alone]] = False
        self._forget(searches[~alone])
        self._length[searches[~alone]] *= 0.1

    def _learn(self, searches: IntArray, s: FloatArray) -> Asking[None]:
        """Compute the gradients at new points, and keep the pairs that have a positive curvature."""
        if not len(searches):
            return
        g = yield from self._gradient(searches)
        y = g - self._g[searches]
        self._g[searches] = g
        with np.errstate(**HUGE):
            product = (s * y).sum(axis=1)
            curved = product > CURVATURE * np.sqrt((s * s).sum(axis=1) * (y * y).sum(axis=1))
        curved &= product >= TINY
        kept = searches[curved]
        for pairs, newest in ((self._s, s), (self._y, y)):
            pairs[kept, 1:] = pairs[kept, :-1]
            pairs[kept, 0] = newest[curved]
        self._rho[kept, 1:] = self._rho[kept, :-1]
        self._rho[kept, 0] = 1 / product[curved]

    def _forget(self, searches: IntArray) -> None:
        """Leave out all pairs of some searches."""
        self._s[searches], self._y[searches], self._rho[searches] = 0.0, 0.0, 0.0

    def _evaluate(self, searches: IntArray, points: FloatArray) -> Asking[FloatArray]:
        """Return the values at points of some searches, which count; keep the best."""
        f = yield searches, points
        f = np.where(np.isnan(f), np.inf, f)
        np.add.at(self.n_evals, searches, 1)
        order = np.lexsort((f, searches))
        own, begins = np.unique(searches[order], return_index=True)
        best = order[begins]
        better = f[best] < self.best_f[own]
        self.best_u[own[better]], self.best_f[own[better]] = points[best[better]], f[best[better]]
        return f


def safe_units(differences: FloatArray) -> FloatArray:
    """Return for each row of differences of values a power of two, by which the largest gets a safe size; mostly 1."""
    largest = np.abs(np.where(np.isfinite(differences), differences, 0.0)).max(axis=1, initial=0.0)
    exponent = np.frexp(largest)[1]
    units: FloatArray = np.ldexp(1.0, np.where(np.abs(exponent) > SAFE_EXPONENT, np.clip(-exponent, -1000, 1000), 0))
    return units
