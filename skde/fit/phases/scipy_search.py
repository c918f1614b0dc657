"""Local search from a point of a box: a method of SciPy, with differences as derivatives."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import scipy
from scipy.optimize import Bounds, NonlinearConstraint, OptimizeResult, minimize

from skde.objectives.feasibility import feasibility_codes
from skde.problems.constraints import total_violation
from skde.typing import FloatArray, IntArray
from skde.utils.validation import check_choice

# Returns f, g and h at points (n, dim), of shape (n, 1 + m + l), on the host; f may be NaN at infeasible points.
Values = Callable[[FloatArray], FloatArray]

UNLIMITED = 2**31 - 1  # iterations: the evaluations are limited
LEAST_SLOPE = 1e-8
SIMPLEX = "Nelder-Mead"  # the method of simplex_search.py
QUASI_NEWTON = "quasi-Newton"  # the method of quasi_newton_search.py
FEASIBLE = "SLSQP"  # under constraints the method of feasible_search.py
TOGETHER = (SIMPLEX, QUASI_NEWTON)  # those that search from all runs' points together
MOST_VARIABLES = 10  # of a polish that Nelder-Mead ends; on BBOB in 20 variables it solved no more runs
# A search ends after the evaluations of this many gradients without a better point: near an active constraint,
# trust-constr can make thousands of iterations that change nothing.
PATIENCE = 50
SHORT = 0.5  # of the way to the next constraint: a difference where longer ones are not feasible
MEMORY = 8  # points with known values
HUGE = 1e100  # replaces values that are not finite: the methods need finite ones
ORDINARY = 2.0**-40, 2.0**200  # sizes of f that the methods take as they are


class Method(NamedTuple):
    """A method of `scipy.optimize.minimize`.

    Attributes
    ----------
    constrained : bool
        Whether it takes constraints.
    slopes : bool
        Whether it takes derivatives.
    options : dict
        Its options: tolerances near the precision, because the evaluations are limited.
    unit : float
        f and the constraints are scaled, so that their largest derivatives at the first point are this. In runs on
        fabris2012 with 1, trust-constr's barrier moved good points away from active constraints; with 1e4, its steps
        along active constraints became too short.
    """

    constrained: bool
    slopes: bool
    options: dict[str, Any]
    unit: float = 1e4


METHODS = {
    "L-BFGS-B": Method(
        False, True, {"maxiter": UNLIMITED, "maxfun": UNLIMITED, "ftol": float(np.finfo(np.float64).eps), "gtol": 0.0}
    ),
    "trust-constr": Method(True, True, {"maxiter": UNLIMITED, "xtol": 1e-12, "gtol": 1e-12}, unit=100.0),
    FEASIBLE: Method(True, True, {"maxiter": UNLIMITED, "ftol": 1e-12}, unit=1.0),
    "COBYQA": Method(True, False, {"maxiter": UNLIMITED, "initial_tr_radius": 0.01, "final_tr_radius": 1e-10}),
}
NAMES = (*METHODS, *TOGETHER)


def find_method(polish: Any, constrained: bool) -> str:
    """Return the name of a method: that of `polish` or, where it is True, the default."""
    if polish is True:
        return FEASIBLE if constrained else "L-BFGS-B"
    name = check_choice("polish", polish, NAMES)
    if name == "COBYQA" and tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 14):
        raise ValueError(f"polish='COBYQA' needs SciPy 1.14, and {scipy.__version__} is installed; allowed is True")
    if constrained and (name in TOGETHER or not METHODS[name].constrained):
        others = ", ".join(repr(name) for name, method in METHODS.items() if method.constrained)
        raise ValueError(f"polish={name!r} takes no constraints, and there are some; allowed are True, {others}")
    return name


def methods_of(polish: Any, constrained: bool, dim: int) -> tuple[str, ...]:
    """Return the methods of a polish: after L-BFGS-B by default Nelder-Mead, for valleys that differences miss."""
    name = find_method(polish, constrained)
    return (name, SIMPLEX) if polish is True and not constrained and dim <= MOST_VARIABLES else (name,)


class LocalSearchEnd(Exception):
    """The end of the evaluations or of the time, or a callback that asked to stop."""


class LocalSearch:
    """A local search that keeps the best of all points that it evaluates.

    The variables that are not fixed are measured in the width of their bounds, f and every constraint by the largest
    derivative at the first point: the methods assume numbers of one size. Every point is inside the bounds. The search
    also ends where the best point has not become better for long. Another call of `run` begins at the best point.

    Parameters
    ----------
    values : callable
        f, g and h at the rows of an array.
    x : ndarray of shape (dim,)
        The first point.
    code : float
        Its value or, with constraints, its code of the feasibility rules. Only a better point replaces it.
    lower, upper : ndarray of shape (dim,)
        Bounds; a variable with equal bounds is fixed.
    n_inequalities : int or None, default None
        Number of the g among the constraints; None: there are no constraints.
    tolerance : float, default 0.0
        A point is feasible where g <= tolerance and abs(h) <= tolerance.
    linear : ndarray of shape (m + l, dim) or None, default None
        The derivatives of those g and h that are linear; NaN for the others.
    max_evals : int or None, default None
        Limit on the evaluations, never exceeded.
    stops : callable or None, default None
        Called after every call of `values`; true ends the search.
    dtype : dtype, default float64
        The precision of `values`, which the length of the differences depends on.

    Attributes
    ----------
    x, code : ndarray of shape (dim,), float
        The best point so far.
    n_evals : int
        Evaluations so far.
    """

    def __init__(
        self,
        values: Values,
        x: FloatArray,
        code: float,
        lower: FloatArray,
        upper: FloatArray,
        *,
        n_inequalities: int | None = None,
        tolerance: float = 0.0,
        linear: FloatArray | None = None,
        max_evals: int | None = None,
        stops: Callable[[], bool] | None = None,
        dtype: Any = np.float64,
    ) -> None:
        self.values, self.x, self.code = values, np.array(x, np.float64), code
        self.free = np.flatnonzero(upper > lower)
        self.lower, self.width = lower[self.free], (upper - lower)[self.free]
        self.upper = upper[self.free]
        self.n_inequalities, self.tolerance = n_inequalities, tolerance
        self.linear = None if linear is None else linear[:, self.free] * self.width
        self.max_evals, self.stops, self.n_evals = max_evals, stops, 0
        self.step = float(np.sqrt(np.finfo(dtype).eps))
        self._first, self._improved_at = self.x.copy(), 0
        self._worst = -HUGE  # value of f that the method was given
        self._unit: float | None = None  # f times this is what the methods get; None before the first value
        self._seen: dict[bytes, tuple[FloatArray, FloatArray | None]] = {}

    def run(self, method: str) -> OptimizeResult:
        """Search, and return the best point in SciPy's form; `fun` is its code.

        Raises
        ------
        Exception
            Those of `values` and `stops`; the best point so far stays in `x`.
        """
        begin = self._begin()
        self._improved_at, self._patience = self.n_evals, PATIENCE * (len(self.free) + 1)
        try:
            with quiet_scipy():
                message, finished = self._search(begin, method), True
        except LocalSearchEnd as end:
            message, finished = str(end), False
        slopes = next(reversed(self._seen.values()))[1] if self._seen else None
        gradient = np.full(len(self.x), np.nan)  # of fixed variables, as SciPy's
        if slopes is not None:
            gradient[self.free] = slopes[0] / self.width / (self._unit or 1.0)
        return OptimizeResult(
            x=self.x,
            fun=self.code,
            nfev=self.n_evals,
            message=message,
            success=finished,
            jac=None if slopes is None else gradient,
        )

    def _begin(self) -> FloatArray:
        """Return the best point so far in widths of the bounds."""
        return np.clip((self.x[self.free] - self.lower) / self.width, 0.0, 1.0)

    def _search(self, begin: FloatArray, method: str) -> str:
        """Run a method to its end, and return its message."""
        if not len(self.free):
            raise LocalSearchEnd("every variable is fixed")
        kind, n = METHODS[method], len(begin)
        self.scale = kind.unit / np.maximum(np.abs(self._slopes(begin)).max(axis=1), LEAST_SLOPE)
        keep_feasible = {"keep_feasible": True} if method == "trust-constr" else {}
        bounds = Bounds(np.zeros(n), np.ones(n), **keep_feasible)
        common: dict[str, Any] = {"method": method, "bounds": bounds, "options": kind.options}
        if kind.slopes and not kind.constrained:
            return str(minimize(self.value_and_slope, begin, jac=True, **common).message)
        slope = {"jac": self.slope} if kind.slopes else {}
        if kind.constrained:
            common["constraints"] = self._constraints(kind.slopes)
        return str(minimize(self.value, begin, **slope, **common).message)

    def _constraints(self, with_slopes: bool) -> NonlinearConstraint | tuple[()]:
        """Return g <= 0 and h = 0 for SciPy."""
        if self.n_inequalities is None or len(self.scale) == 1:
            return ()
        lower = np.where(np.arange(len(self.scale) - 1) < self.n_inequalities, -np.inf, 0.0)
        scale = self.scale[1:]
        slope = {"jac": lambda u: self._slopes(u)[1:] * scale[:, None]} if with_slopes else {}
        return NonlinearConstraint(lambda u: self._at(u)[1:] * scale, lower, 0.0, **slope)

    # -- functions of a method -----------------------------------------------------------------------------------------

    def value(self, u: FloatArray) -> float:
        """Return f at a point in widths of the bounds, in the unit of its first derivatives."""
        value = float(self._at(u)[0])
        if self.n_inequalities is not None:
            # A model of f with a huge number in it is of no use.
            self._worst = value if abs(value) < HUGE and not value < self._worst else self._worst
            value = value if abs(value) < HUGE else abs(self._worst) if self._worst == -HUGE else self._worst
        return value * float(self.scale[0])

    def slope(self, u: FloatArray) -> FloatArray:
        """Return the gradient of f, by differences."""
        gradient: FloatArray = self._slopes(u)[0] * self.scale[0]
        return gradient

    def value_and_slope(self, u: FloatArray) -> tuple[float, FloatArray]:
        """Return f and its gradient from one call of the function."""
        slope = self.slope(u)
        return self.value(u), slope

    def _at(self, u: FloatArray) -> FloatArray:
        """Return f, g and h at a point."""
        if u.tobytes() not in self._seen:
            self._remember(u, usable(self._evaluate(self._points(u[None])))[0], None)
        return self._seen[u.tobytes()][0]

    def _remember(self, u: FloatArray, row: FloatArray, slopes: FloatArray | None) -> None:
        """Keep the values and derivatives at a point; methods ask for those of the last points again."""
        self._seen.pop(u.tobytes(), None)
        self._seen[u.tobytes()] = row, slopes
        if len(self._seen) > MEMORY:
            del self._seen[next(iter(self._seen))]

    def _slopes(self, u: FloatArray) -> FloatArray:
        """Return the derivatives of f, g and h, of shape (1 + m + l, number of free variables)."""
        row, found = self._seen.get(u.tobytes(), (None, None))
        if found is not None:
            return found
        center = self._points(u[None])[0, self.free]
        length = self._lengths(center)
        ahead = np.where(center + length <= self.upper, center + length, center - length)
        points = self._neighbours(u, np.arange(len(u)), ahead)
        known = row is not None
        rows = usable(self._evaluate(points if known else np.concatenate([self._points(u[None]), points])))
        at = rows[0] if row is None else row
        slopes: FloatArray = ((rows[-len(u) :] - at) / ((ahead - center) / self.width)[:, None]).T
        if self.linear is not None:
            slopes[1:] = np.where(np.isnan(self.linear), slopes[1:], self.linear)
        lost = np.flatnonzero(abs(rows[-len(u) :, 0]) >= HUGE)
        if abs(at[0]) < HUGE and len(lost):
            slopes[0, lost] = self._slopes_behind(u, at, center, ahead, slopes, lost)
        self._remember(u, at, slopes)
        return slopes

    def _lengths(self, center: FloatArray) -> FloatArray:
        """Return the lengths of differences: enough for numbers of the size of x, but a part of the box."""
        return self.step * np.minimum(self.width, np.maximum(1.0, np.abs(center)))

    def _neighbours(self, u: FloatArray, some: IntArray, values: FloatArray) -> FloatArray:
        """Return a point for each of some free variables, which has another value there."""
        points = self._points(np.repeat(u[None], len(some), axis=0))
        points[np.arange(len(some)), self.free[some]] = values
        return points

    def _slopes_behind(
        self,
        u: FloatArray,
        at: FloatArray,
        center: FloatArray,
        ahead: FloatArray,
        slopes: FloatArray,
        some: IntArray,
    ) -> FloatArray:
        """Return derivatives of f by some variables, where f has no value ahead.

        They are differences behind or, where constraints leave no room there, shorter ones; 0 without a value of f.
        """
        found = np.zeros(len(some))
        missing = np.arange(len(some))
        room = self.tolerance - np.where(np.arange(len(at) - 1) < (self.n_inequalities or 0), at[1:], np.abs(at[1:]))
        with np.errstate(divide="ignore", invalid="ignore"):
            ways = np.nan_to_num(room[:, None] / np.abs(slopes[1:, some] / self.width[some]))
        short = np.minimum(SHORT * ways.min(axis=0, initial=np.inf), np.abs(ahead - center)[some])
        for step in (center - ahead)[some], short, -short:
            values = (center[some] + step)[missing]
            inside = (values >= self.lower[some[missing]]) & (values <= self.upper[some[missing]])
            inside &= values != center[some[missing]]
            tried = missing[inside]
            if not len(tried):
                continue
            rows = usable(self._evaluate(self._neighbours(u, some[tried], values[inside])))
            good = abs(rows[:, 0]) < HUGE
            width = (values[inside] - center[some[tried]]) / self.width[some[tried]]
            found[tried[good]] = ((rows[:, 0] - at[0]) / width)[good]
            missing = np.setdiff1d(missing, tried[good])
        return found

    def _points(self, units: FloatArray) -> FloatArray:
        """Return the points of rows in widths of the bounds, inside the bounds."""
        points = np.repeat(self._first[None], len(units), axis=0)
        points[:, self.free] = np.clip(self.lower + units * self.width, self.lower, self.upper)
        return points

    def _evaluate(self, points: FloatArray) -> FloatArray:
        """Return f, g and h at points, which count; keep the best of them."""
        left = None if self.max_evals is None else self.max_evals - self.n_evals
        if left is not None and len(points) > left:
            raise LocalSearchEnd("the evaluations are spent")
        if not np.isfinite(points).all():
            raise LocalSearchEnd("the method proposed a point that is not finite")
        rows = self.values(points)
        self.n_evals += len(points)
        codes = rows[:, 0]
        if self.n_inequalities is not None:
            codes = feasibility_codes(codes, self._violations(rows))
        if not np.isnan(codes).all():
            best = int(np.nanargmin(codes))
            if not codes[best] >= self.code:  # also where the first value is NaN
                self.x, self.code = points[best].copy(), float(codes[best])
                self._improved_at = self.n_evals
        if self.stops is not None and self.stops():
            raise LocalSearchEnd("it was asked to stop")
        if self.n_evals - self._improved_at > self._patience:
            raise LocalSearchEnd("the best point has not become better for long")
        return self._in_units(rows)

    def _in_units(self, rows: FloatArray) -> FloatArray:
        """Return rows of values with f in a size that the methods can work with, by a power of two."""
        if self._unit is None:
            self._unit = unit_of(rows[:, 0])
        if self._unit in (None, 1.0):
            return rows
        return np.concatenate([rows[:, :1] * self._unit, rows[:, 1:]], axis=1)

    def _violations(self, rows: FloatArray) -> FloatArray:
        """Return the violations of rows of values."""
        assert self.n_inequalities is not None
        total: FloatArray = total_violation(rows[:, 1:], self.n_inequalities, self.tolerance)
        return total


@contextmanager
def quiet_scipy() -> Iterator[None]:
    """Show no warnings of SciPy's methods: of values that are constant in some direction, or not finite."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"scipy\.optimize")
        yield


def unit_of(f: FloatArray) -> float | None:
    """Return the power of two with which the first finite value becomes ordinary; None where there is none."""
    finite = f[np.isfinite(f)]
    if not len(finite):
        return None
    size, (least, most) = abs(float(finite[0])), ORDINARY
    return 1.0 if size == 0 or least <= size <= most else math.ldexp(1.0, min(-math.frexp(size)[1], 1023))


def usable(rows: FloatArray) -> FloatArray:
    """Return values with large numbers in place of those that are not finite."""
    finite: FloatArray = np.clip(np.nan_to_num(rows, nan=HUGE), -HUGE, HUGE)
    return finite
