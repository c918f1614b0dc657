"""Local search under constraints that calls the objective at feasible points only."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import Bounds, lsq_linear, minimize, nnls

from skde.fit.phases.scipy_search import HUGE, LEAST_SLOPE, METHODS, LocalSearch, LocalSearchEnd
from skde.typing import FloatArray

MOST_CORRECTIONS = 8  # of a point that violates constraints, by tangents
MOST_APPROACHES = 100  # steps from an infeasible point to a feasible one
SHORTEST = 1e-6  # of such a step
SLACK = 0.1  # the part of the tolerance that stays for differences along active constraints
LEAST_SQUARE = 1e-300
PRECISION = 1e-6  # of the shortest step to tangents, relative to the largest distance from one
DEPTHS = (1e-6, 1e-4, 1e-3, 0.01, 0.03, 0.1, 0.3)  # of points with a value of f, in widths of the box
MOST_SEARCHES = 20
LEAST_GAIN = 1e-10  # of a search that another one follows, relative to f


class NoFeasiblePoint(LocalSearchEnd):
    """The end of a search that finds no feasible point near one that SLSQP asks for."""


class FeasibleSearch(LocalSearch):
    """SLSQP with values of f at feasible points only.

    SLSQP needs f also where constraints are violated a little. There it is given f, and all derivatives, at a feasible
    point nearby, to which steps by the tangents of the constraints lead. From an infeasible point the search first goes
    to a feasible one by steps of the same kind.
    """

    def _search(self, begin: FloatArray, method: str) -> str:
        """Run SLSQP from one best point after the other, while they get better, and return its last message."""
        if not len(self.free):
            raise LocalSearchEnd("every variable is fixed")
        begin = self._approach(begin)
        message = ""
        for _ in range(MOST_SEARCHES):
            before = self.code
            try:
                message = self._run_slsqp(begin, method)
            except NoFeasiblePoint as end:
                message = str(end)
            if not self.code < before - LEAST_GAIN * abs(before):
                break
            begin = self._begin()
        return message

    def _run_slsqp(self, begin: FloatArray, method: str) -> str:
        """Run SLSQP from a feasible point, and return its message."""
        assert self.n_inequalities is not None
        self._lifted: tuple[bytes, FloatArray] | None = None
        self._jacobian = self._slopes(begin)
        self._set_limits()
        size = np.maximum(np.abs(self._jacobian).max(axis=1), LEAST_SLOPE)
        self.scale = np.append(METHODS[method].unit, np.ones(len(size) - 1)) / size
        m, n = 1 + self.n_inequalities, len(begin)
        common: dict[str, Any] = {"bounds": Bounds(np.zeros(n), np.ones(n)), "options": METHODS[method].options}
        # SLSQP's inequalities are c(u) >= 0.
        parts = [("ineq", -1.0, slice(1, m)), ("eq", 1.0, slice(m, None))]
        common["constraints"] = [self._part(*part) for part in parts if len(size[part[2]])]
        return str(minimize(self.value, begin, jac=self.slope, method=method, **common).message)

    def _part(self, kind: str, sign: float, some: slice) -> dict[str, Any]:
        """Return some constraints for SLSQP."""
        scale = sign * self.scale[some]
        return {
            "type": kind,
            "fun": lambda u: (self._at(u)[some] - self._limits[some]) * scale,
            "jac": lambda u: self._feasible_slopes(u)[some] * scale[:, None],
        }

    def value(self, u: FloatArray) -> float:
        """Return f at a point, or at a feasible one nearby; a huge number where there is none."""
        row = self._at(self._lift(u))
        return float(row[0] * self.scale[0]) if self._feasible(row) else HUGE

    def slope(self, u: FloatArray) -> FloatArray:
        """Return the gradient of f there."""
        gradient: FloatArray = self._feasible_slopes(u)[0] * self.scale[0]
        return gradient

    def _feasible_slopes(self, u: FloatArray) -> FloatArray:
        """Return all derivatives at a feasible point."""
        point = self._lift(u)
        if not self._feasible(self._at(point)):
            raise NoFeasiblePoint("no feasible point is near")
        self._jacobian = self._slopes(point)
        return self._jacobian

    # -- feasible points -----------------------------------------------------------------------------------------------

    def _feasible(self, row: FloatArray) -> bool:
        """Whether values belong to a feasible point at which f has a value."""
        return abs(row[0]) < HUGE and not self._violations(row[None])[0] > 0

    def _set_limits(self) -> None:
        """Set what f and each constraint may be: differences of f need a little room at an inequality's limit."""
        assert self.n_inequalities is not None
        lengths = 2.0 * self._lengths(self._points(self._begin()[None])[0, self.free])
        longest = (np.abs(self._jacobian[1:]) * lengths / self.width).max(axis=1)
        inequality = np.arange(len(longest)) < self.n_inequalities
        room = self.tolerance - np.maximum(SLACK * self.tolerance, longest)
        self._limits = np.append(0.0, np.where(inequality, room, 0.0))

    def _lift(self, u: FloatArray) -> FloatArray:
        """Return a point, or a feasible one nearby that is found by the tangents of the constraints."""
        if self._lifted is not None and self._lifted[0] == u.tobytes():
            return self._lifted[1]
        point, row, jacobian, least = u, self._at(u), self._jacobian, np.inf
        for _ in range(MOST_CORRECTIONS):
            violation = self._violations(row[None])[0]
            if not 0 < violation < least:
                break
            step = self._tangent_step(point, row, jacobian)
            if step is None:
                break
            trial = np.clip(point + step, 0.0, 1.0)
            step, change = trial - point, self._at(trial) - row
            # C. G. Broyden, 1965: derivatives that explain the change.
            jacobian = jacobian + np.outer(change - jacobian @ step, step) / max(float(step @ step), LEAST_SQUARE)
            point, row, least = trial, row + change, violation
        self._lifted = u.tobytes(), point
        return point

    def _tangent_step(self, u: FloatArray, row: FloatArray, jacobian: FloatArray) -> FloatArray | None:
        """Return the shortest step to where the constraints' tangents are feasible; None where there is none."""
        assert self.n_inequalities is not None
        slopes, rest = jacobian[1:], (self._limits - row)[1:]
        equal = np.arange(len(rest)) >= self.n_inequalities
        rows = np.concatenate([-slopes, slopes[equal], np.eye(len(u)), -np.eye(len(u))])
        return shortest_step(rows, np.concatenate([-rest, rest[equal], -u, u - 1.0]))

    def _approach(self, u: FloatArray) -> FloatArray:
        """Return a feasible point, to which steps from an infeasible one lead.

        Raises
        ------
        NoFeasiblePoint
            Where the violation gets no smaller.
        """
        for _ in range(MOST_APPROACHES):
            row = self._at(u)
            violation = self._violations(row[None])[0]
            if not violation > 0:
                return u if self._feasible(row) else self._move_inwards(u)
            self._jacobian = self._slopes(u)
            self._set_limits()
            step = self._tangent_step(u, row, self._jacobian)
            if step is None:
                step = self._least_squares_step(u, row)
            length = 1.0
            while True:
                trial = np.clip(u + length * step, 0.0, 1.0)
                if self._violations(self._at(trial)[None])[0] < violation:
                    break
                length /= 4.0
                if length < SHORTEST:
                    raise NoFeasiblePoint("no feasible point is near")
            u = trial
        raise NoFeasiblePoint("no feasible point is near")

    def _move_inwards(self, u: FloatArray) -> FloatArray:
        """Return a point further from the limits of constraints, where f has a value: it may have none at them.

        Raises
        ------
        NoFeasiblePoint
            Where f has no value there either.
        """
        assert self.n_inequalities is not None
        self._jacobian = self._slopes(u)
        self._set_limits()
        inequality = np.arange(1, len(self._limits)) <= self.n_inequalities
        size, limits = np.abs(self._jacobian[1:]).max(axis=1), self._limits.copy()
        for depth in DEPTHS:
            self._limits = limits - np.append(0.0, np.where(inequality, depth * size, 0.0))
            step = self._tangent_step(u, self._at(u), self._jacobian)
            if step is not None and self._feasible(self._at(point := np.clip(u + step, 0.0, 1.0))):
                return point
        raise NoFeasiblePoint("f has no value at the feasible points that were found")

    def _least_squares_step(self, u: FloatArray, row: FloatArray) -> FloatArray:
        """Return the step with the least violations of tangents."""
        assert self.n_inequalities is not None
        rest = (self._limits - row)[1:]
        violated = (rest < 0) | (np.arange(len(rest)) >= self.n_inequalities)
        slopes = self._jacobian[1:][violated]
        size = np.maximum(np.linalg.norm(slopes, axis=1), LEAST_SLOPE)
        low, high = np.minimum(-u, -1e-12), np.maximum(1.0 - u, 1e-12)
        found: FloatArray = lsq_linear(slopes / size[:, None], rest[violated] / size, (low, high)).x
        return found


def shortest_step(rows: FloatArray, least: FloatArray) -> FloatArray | None:
    """Return the shortest d with rows @ d >= least; None where there is none.

    C. L. Lawson, R. J. Hanson: Solving least squares problems, 1974, chapter 23: least distance programming.
    """
    sizes = np.linalg.norm(rows, axis=1)
    kept = sizes > 0
    rows, least = rows[kept] / sizes[kept, None], least[kept] / sizes[kept]
    unit = float(np.abs(least).max(initial=0.0))
    if not unit > 0:
        return np.zeros(rows.shape[1])
    matrix = np.concatenate([rows.T, least[None] / unit])
    target = np.append(np.zeros(len(matrix) - 1), 1.0)
    try:
        weights, _ = nnls(matrix, target)
    except RuntimeError:  # too many iterations
        return None
    rest = matrix @ weights - target
    with np.errstate(all="ignore"):
        step: FloatArray = -unit * rest[:-1] / rest[-1]
        return step if (rows @ step >= least - PRECISION * unit).all() else None
