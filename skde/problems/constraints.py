"""Constrained problems: a function, its box and constraints g(x) <= 0 and h(x) = 0."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from typing import Any, Self

import numpy as np

from skde.engines import PYTHON_ON_CPU, Compiled
from skde.functions.forms import AUTO, Form, as_form, check_form, find_at
from skde.functions.named_point import rows_of_point
from skde.functions.point_workers import Part, unlimited
from skde.functions.pointwise import NanOnError, read_point_value
from skde.problems.objective_forms import find_forms
from skde.problems.scipy_constraints import (
    Constraint,
    Nonlinear,
    constraint_list,
    intersect_box,
    parse_constraint,
    refuse_bounds,
)
from skde.problems.stated_objective import StatedObjective
from skde.typing import Array, FloatArray
from skde.utils.arrays import array_namespace, points, real_values
from skde.utils.validation import check_bounds, check_real, list_bounds, quote
from skde.variables import Variables, as_variables


class ConstrainedProblem(StatedObjective):
    """A function to be minimised over a box under constraints.

    Parameters
    ----------
    objective : callable
        f(X) of shape (n,) for X of shape (n, dim), NumPy or CuPy.
    bounds : array-like of shape (dim, 2), scipy.optimize.Bounds, mapping or list of Variable
        Lower and upper bounds, or `Variables`. Objective and constraints get the values of typed variables.
    constraints : LinearConstraint, NonlinearConstraint or Bounds of scipy.optimize, or a list of these
        Constraints lb <= c(x) <= ub: an equality where lb equals ub, else one inequality for every finite bound. Bounds
        narrow the box. SciPy's dictionaries {"type": "ineq" or "eq", "fun": c} are also allowed, for c(x) >= 0 or
        c(x) = 0. docs/constraints.md has the forms of functions.
    name : str, default "user"
        Name in messages.
    vectorized : {"auto"} or bool, default "auto"
        Whether the functions take arrays of points; False: one point x of shape (dim,). "auto": the
        first calls find it out for each, by one call with an array and one with a point.

    Attributes
    ----------
    bounds : ndarray of shape (dim, 2)
        Lower and upper bounds, narrowed by Bounds among the constraints.
    variables : Variables or None
        Typed variables; None where all are real.
    has_constraints : bool
        Whether there are constraints other than Bounds.
    dim : int
        Number of variables.
    n_inequalities, n_equalities : int
        Numbers of constraints g(x) <= 0 and h(x) = 0. To find them, the constraints' functions may be called.
    x_opt, f_opt, multipliers_opt : ndarray of shape (dim,), float, ndarray or None
        Minimiser, minimum, and multipliers of g and then of h; None if they are not known.

    Raises
    ------
    ValueError, TypeError
        For other types than these, another dimension, or bounds that no point satisfies (lb > ub).

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.optimize import NonlinearConstraint
    >>> from skde import ConstrainedProblem, Minimizer
    >>> ring = NonlinearConstraint(lambda X: X[:, 0] ** 2 + X[:, 1] ** 2, 1, 4)
    >>> problem = ConstrainedProblem(lambda X: X[:, 0] + X[:, 1], [(-3, 3)] * 2, ring)
    >>> problem.values(np.array([[0.0, 0.5]])).tolist()
    [[0.5, 0.75, -3.75]]
    >>> m = Minimizer(max_iter=200, random_state=0).fit(problem)
    >>> bool(abs(m.fun_ + np.sqrt(8)) < 1e-6)
    True
    """

    x_opt: FloatArray | None = None
    f_opt: float | None = None
    multipliers_opt: FloatArray | None = None
    variables: Variables | None = None
    kernel: str | None = None  # the name of the compiled functor
    arrays: tuple[FloatArray, ...] = ()  # its data
    compiled = False  # whether f alone is; it takes arrays even if the constraints' functions take one point
    cpu_only: str | None = None  # the reason why no GPU and no other process can call f

    def __init__(
        self,
        objective: Callable[[Array], Any],
        bounds: Any,
        constraints: Any,
        *,
        name: str = "user",
        vectorized: bool | str = AUTO,
    ) -> None:
        forms = find_forms(objective)
        if (called := forms.callable_form) is None:
            got = f"{objective!r} ({type(objective).__name__})"
            raise TypeError(f"objective must be a function of arrays of shape (n, dim), got {got}")
        if not isinstance(name, str):
            raise TypeError(f"name must be a string, got {quote(name)} ({type(name).__name__})")
        self.name = name
        self.vectorized = check_form("vectorized", vectorized)
        self._n_jobs: int | None = 1
        self._f, self.compiled = called, forms.functor is not None
        self.cpu_only = None if forms.functor is None else forms.functor.cpu_only
        self.form = as_form(True if self.compiled else self.vectorized)
        given, bounds = constraint_list(constraints), list_bounds(bounds)
        self.variables = as_variables(bounds)
        self.of_point = rows_of_point(called, self.variables, 1, value_alone)
        if self.variables is None:
            self.bounds = intersect_box(check_bounds(bounds), given)
            self.variables = as_variables(self.bounds)  # where the constraints fix one
        else:
            self.bounds = self.variables.limits
            refuse_bounds(given)
        self._constraints = [
            constraint
            for k, entry in enumerate(given)
            if (constraint := parse_constraint(f"constraints[{k}]", entry, self.dim, self.vectorized, self.variables))
            is not None
        ]

    @property
    def dim(self) -> int:
        """Number of variables."""
        return len(self.bounds)

    @property
    def constrained(self) -> Self:
        """The problem itself, which has constraints."""
        return self

    @property
    def space(self) -> Variables | FloatArray:
        """The variables where they are typed, else the box."""
        return self.bounds if self.variables is None else self.variables

    @property
    def cpu_reason(self) -> str | None:
        """The reason why device="auto" is the CPU; None where the kernels have the functions."""
        return PYTHON_ON_CPU if self.kernel is None else None

    @property
    def file_entry(self) -> dict[str, Any]:
        """The name of the problem, for errors."""
        return {"callable": repr(self)}

    @property
    def has_constraints(self) -> bool:
        """Whether there are constraints other than Bounds, which only narrow the box."""
        return bool(self._constraints)

    @property
    def n_inequalities(self) -> int:
        """Number of constraints g(x) <= 0."""
        return sum(len(constraint.inequalities) for constraint in self._find_sizes())

    @property
    def n_equalities(self) -> int:
        """Number of constraints h(x) = 0."""
        return sum(len(constraint.equalities) for constraint in self._find_sizes())

    @property
    def linear_slopes(self) -> FloatArray:
        """Derivatives of g and h, of shape (m + l, dim); NaN for nonlinear constraints."""
        sides = [(one.slopes(self.dim), one) for one in self._find_sizes()]
        rows = [sign * A[k] for A, one in sides for k, sign, _ in one.inequalities]
        rows += [sign * A[k] for A, one in sides for k, sign, _ in one.equalities]
        return np.array(rows, np.float64).reshape(-1, self.dim)

    def f(self, X: Array) -> Array:
        """Return the objective's values at the rows of X, of shape (n,); X as in `values`."""
        X = points(X, self.dim, self)
        # Functions of users may write to their argument, which is the next function's, or the caller's array.
        return self.values_of_rows(X) if self._takes_rows(X) else self._check_values(self.of_point(X.copy()), X)

    def _takes_rows(self, X: Array) -> bool:
        if self.form.rows is None:
            self.form.rows = find_at(self.values_of_rows, self.of_point, X, "the objective")
        return self.form.rows

    def values_of_rows(self, X: Array) -> Array:
        """Return the objective's values at the rows of X, by one call of a function of arrays."""
        return self._check_values(self._f(X if self.compiled else X.copy()), X)

    def _check_values(self, values: Any, X: Array) -> Array:
        refuse_outputs(values, (len(X),))
        return real_values(values, X, "the objective's return value")

    @property
    def returned_sizes(self) -> tuple[int, int] | None:
        """The numbers of g and h that f returns together with its value; None where it does not."""
        return None

    @property
    def by_rows(self) -> bool:
        """Whether a Python function takes one point."""
        return self.form.rows is False or any(one.form.rows is False for one in self.nonlinear)

    @property
    def nonlinear(self) -> list[Nonlinear]:
        """The constraints with a function of the user's."""
        return [one for one in self._constraints if isinstance(one, Nonlinear)]

    def f_parts(self, X: Array, seconds_left: Callable[[], float]) -> Iterator[Part]:
        """Yield the objective's values as they come, as `RowByRow.parts` does."""
        if self._takes_rows(X):
            yield Part(np.arange(len(X)), self.f(X))
        else:
            yield from self.of_point.parts(X.copy(), seconds_left)

    def constraint_values(self, X: Array, seconds_left: Callable[[], float] = unlimited) -> Array:
        """Return the constraints' values, g and then h, at the rows of X, of shape (n, m + l); X as in `values`.

        `OutOfTime` is raised where the time ends between the points of a function of one point.
        """
        X = points(X, self.dim, self)
        inequalities: list[Array] = []
        equalities: list[Array] = []
        for constraint in self._constraints:
            c = constraint.values(X, self._n_jobs, seconds_left)
            # Copied before the next call, because functions may return the same memory every time.
            inequalities += constraint.inequalities.values(c)
            equalities += constraint.equalities.values(c)
        xp, columns = array_namespace(X), inequalities + equalities
        return xp.stack(columns, axis=1) if columns else xp.zeros((len(X), 0))

    def values(self, X: Array) -> Array:
        """Return the values of f, g and h at points.

        Parameters
        ----------
        X : array-like of shape (n, dim), NumPy or CuPy
            Points; float32 is kept, other types become float64.

        Returns
        -------
        values : ndarray of shape (n, 1 + m + l)
            Values, in the library of X.

        Raises
        ------
        ValueError
            For an array of another shape, or of other than real numbers.
        """
        X = points(X, self.dim, self)
        xp = array_namespace(X)
        return xp.concatenate([self.f(X)[:, None], self.constraint_values(X)], axis=1)

    def violation(self, X: Array, tol: float = 1e-6) -> Array:
        """Return how much points violate the constraints.

        Parameters
        ----------
        X : array-like of shape (n, dim), NumPy or CuPy
            Points.
        tol : float, default 1e-6
            Tolerance of satisfied constraints, g <= tol and abs(h) <= tol, >= 0.

        Returns
        -------
        v : ndarray of shape (n,)
            Sum of the g above tol and of the excesses abs(h) - tol; infinite where a constraint is not finite. The
            objective is not called.
        """
        return total_violation(self.constraint_values(X), self.n_inequalities, check_real("tol", tol, 0))

    @property
    def identity(self) -> Any:
        """Key that is equal for equal problems."""
        return self

    def with_jobs(self, n_jobs: int | None, max_eval_time: float | None = None, on_error: str = "raise") -> Self:
        """Return the problem with other joblib workers for functions of one point, and other rules for calls of f.

        Parameters
        ----------
        n_jobs : int or None
            Number of joblib workers.
        max_eval_time : float or None, default None
            Time limit of one call of f in workers.
        on_error : {"raise", "nan"}, default "raise"
            With "nan", the value of f is NaN at a point at which it raises an exception.
        """
        other = copy(self)
        other._n_jobs = n_jobs
        if on_error == "nan":
            if self.kernel is not None or self.compiled or self.vectorized is True:
                raise ValueError(
                    f"on_error='nan' is for a Python function of one point (vectorized=False), got {self!r}: an "
                    "exception of f(X) does not say which rows failed"
                )
            other._f, other.form = NanOnError(self._f), as_form(self.vectorized)
        if self.kernel is None:
            other.of_point = rows_of_point(other._f, self.variables, n_jobs, value_alone, max_eval_time)
        if other.form.rows is None and max_eval_time is not None:
            other.form = Form(False)  # only evaluations of one point can be ended
        return other

    def feasibility_objective(self, tolerance: float) -> Compiled | None:
        """Return the compiled objective with the codes of feasibility rules as values; None for Python functions."""
        return None

    def _find_sizes(self) -> list[Constraint]:
        """Return the constraints after a call at the box's centre of those with an unknown number of components."""
        middle = (self.bounds.mean(axis=1) if self.variables is None else self.variables.middle)[None]
        for constraint in self._constraints:
            if constraint.size is None:
                constraint.values(middle, self._n_jobs)
        return self._constraints

    def __repr__(self) -> str:
        return f"ConstrainedProblem({self.name!r}, dim={self.dim})"


def refuse_outputs(value: Any, shape: tuple[int, ...]) -> None:
    """Refuse (f, g) and (f, g, h), with f of this shape, from an objective that has constraints already."""
    if isinstance(value, tuple | list) and len(value) in (2, 3) and np.shape(value[0]) == shape:
        raise ValueError(
            "the objective returns constraints, (f, g) or (f, g, h), and there are others; give all of them in one "
            "way: leave out the parameter constraints, or let the objective return f alone"
        )


def value_alone(value: Any, x: FloatArray) -> float:
    """Return the value of an objective at one point, which has no constraints with it."""
    refuse_outputs(value, ())
    return read_point_value(value, x)


def total_violation(constraints: Array, n_inequalities: int, tol: float) -> Array:
    """Return the sum of the g above tol and of the excesses abs(h) - tol, of shape (n,), at most the largest number.

    It is infinite where a constraint is not finite. The additions have the order of the kernels.
    """
    xp = array_namespace(constraints)
    total, finite = xp.zeros(len(constraints)), xp.ones(len(constraints), bool)
    for k in range(constraints.shape[1]):
        value = constraints[:, k]
        excess = value if k < n_inequalities else abs(value) - tol
        with np.errstate(over="ignore"):
            total = total + xp.where(excess > (tol if k < n_inequalities else 0.0), excess, 0.0)
        finite = finite & xp.isfinite(value)
    return xp.where(finite, xp.minimum(total, np.finfo(np.float64).max), xp.inf)
