"""Constrained problems: SciPy's constraints in the form g(x) <= 0 and h(x) = 0."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint

from skde.arrays import array_namespace, contiguous, points, real_array, real_values
from skde.engines import Compiled
from skde.forms import AUTO, Form, as_form, check_form, find_at
from skde.named_point import rows_of_point
from skde.point_workers import Part, unlimited
from skde.pointwise import RowByRow, scalar
from skde.typing import Array, FloatArray
from skde.validation import check_bounds, check_real, listed, shown
from skde.variables import Variables, as_variables

ALLOWED = "LinearConstraint, NonlinearConstraint or Bounds of scipy.optimize"


class ConstrainedProblem:
    """A function to be minimised over a box under constraints.

    Parameters
    ----------
    f : callable
        Objective: f(X) of shape (n,) for X of shape (n, dim), NumPy or CuPy.
    bounds : array-like of shape (dim, 2), scipy.optimize.Bounds, mapping or list of Variable
        Lower and upper bounds, or `Variables`. Objective and constraints get the values of typed variables.
    constraints : LinearConstraint, NonlinearConstraint or Bounds of scipy.optimize, or a list of these
        Constraints lb <= c(x) <= ub: an equality where lb equals ub, else one inequality for every finite bound. The
        function of a NonlinearConstraint is called with x of shape (dim, n) and returns (m, n) or (n,), as in SciPy's
        differential_evolution with vectorized=True. Bounds narrow the box. The dictionaries of SciPy's older methods
        are also allowed: {"type": "ineq" or "eq", "fun": c} for c(x) >= 0 or c(x) = 0.
    name : str, default "user"
        Name in messages.
    vectorized : {"auto"} or bool, default "auto"
        Whether f and the constraints' functions take arrays of points; False: one point x of shape (dim,). "auto": the
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
        For other types than these, an empty list, another dimension, or bounds that no point satisfies (lb > ub).

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.optimize import NonlinearConstraint
    >>> from skde import ConstrainedProblem, Minimizer
    >>> ring = NonlinearConstraint(lambda x: x[0] ** 2 + x[1] ** 2, 1, 4)
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

    def __init__(
        self,
        f: Callable[[Array], Any],
        bounds: Any,
        constraints: Any,
        *,
        name: str = "user",
        vectorized: bool | str = AUTO,
    ) -> None:
        if not callable(f):
            raise TypeError(f"f must be a function of arrays of shape (n, dim), got {f!r} ({type(f).__name__})")
        if not isinstance(name, str):
            raise TypeError(f"name must be a string, got {shown(name)} ({type(name).__name__})")
        self.name = name
        self.vectorized = check_form("vectorized", vectorized)
        self._n_jobs: int | None = 1
        self._f = f
        self.form = as_form(True if self.compiled else self.vectorized)
        given, bounds = constraint_list(constraints), listed(bounds)
        self.variables = as_variables(bounds)
        self.of_point = rows_of_point(f, self.variables, 1, value_alone)
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
    def has_constraints(self) -> bool:
        """Whether there are constraints other than Bounds, which only narrow the box."""
        return bool(self._constraints)

    @property
    def n_inequalities(self) -> int:
        """Number of constraints g(x) <= 0."""
        return sum(len(constraint.inequalities) for constraint in self._sized())

    @property
    def n_equalities(self) -> int:
        """Number of constraints h(x) = 0."""
        return sum(len(constraint.equalities) for constraint in self._sized())

    @property
    def linear_slopes(self) -> FloatArray:
        """Derivatives of g and h, of shape (m + l, dim); NaN for those of nonlinear constraints."""
        sides = [(one.slopes(self.dim), one) for one in self._sized()]
        rows = [sign * A[k] for A, one in sides for k, sign, _ in one.inequalities]
        rows += [sign * A[k] for A, one in sides for k, sign, _ in one.equalities]
        return np.array(rows, np.float64).reshape(-1, self.dim)

    def f(self, X: Array) -> Array:
        """Return the objective's values at the rows of X, of shape (n,); X as in `values`."""
        X = points(X, self.dim, self)
        # Functions of users may write to their argument, which is the next function's, or the caller's array.
        return self.values_of_rows(X) if self._takes_rows(X) else self._checked(self.of_point(X.copy()), X)

    def _takes_rows(self, X: Array) -> bool:
        if self.form.rows is None:
            self.form.rows = find_at(self.values_of_rows, self.of_point, X, "the objective")
        return self.form.rows

    def values_of_rows(self, X: Array) -> Array:
        """Return the objective's values at the rows of X, by one call of a function of arrays."""
        return self._checked(self._f(X if self.compiled else X.copy()), X)

    def _checked(self, values: Any, X: Array) -> Array:
        refuse_outputs(values, (len(X),))
        return real_values(values, X, "the objective's return value")

    @property
    def compiled(self) -> bool:
        """Whether the objective is compiled; it takes arrays even if the constraints' functions take one point."""
        return hasattr(self._f, "cpp_type")

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

    def with_jobs(self, n_jobs: int | None, max_eval_time: float | None = None) -> Self:
        """Return the problem with other joblib workers for functions of one point, and a time limit of calls of f."""
        other = copy(self)
        other._n_jobs = n_jobs
        if self.kernel is None:
            other.of_point = rows_of_point(self._f, self.variables, n_jobs, value_alone, max_eval_time)
        if self.form.rows is None and max_eval_time is not None:
            other.form = Form(False)  # only evaluations of one point can be ended
        return other

    def feasibility_objective(self, tolerance: float) -> Compiled | None:
        """Return the compiled objective with the codes of feasibility rules as values; None for Python functions."""
        return None

    def _sized(self) -> list[Constraint]:
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
    if isinstance(value, tuple) and len(value) in (2, 3) and np.shape(value[0]) == shape:
        raise ValueError(
            "the objective returns constraints, (f, g) or (f, g, h), and there are others; give all of them in one "
            "way: leave out the parameter constraints, or let the objective return f alone"
        )


def value_alone(value: Any, x: FloatArray) -> float:
    """Return the value of an objective at one point, which has no constraints with it."""
    refuse_outputs(value, ())
    return scalar(value, x)


def total_violation(constraints: Array, n_inequalities: int, tol: float) -> Array:
    """Return the sum of the g above tol and of the excesses abs(h) - tol, of shape (n,).

    It is infinite where a constraint is not finite. The order of the additions is that of the kernels.

    Parameters
    ----------
    constraints : ndarray of shape (n, m + l)
        Values of g and h.
    n_inequalities : int
        The number of g.
    tol : float
        Tolerance of satisfied constraints.
    """
    xp = array_namespace(constraints)
    total, finite = xp.zeros(len(constraints)), xp.ones(len(constraints), bool)
    for k in range(constraints.shape[1]):
        value = constraints[:, k]
        excess = value if k < n_inequalities else abs(value) - tol
        total = total + xp.where(excess > (tol if k < n_inequalities else 0.0), excess, 0.0)
        finite = finite & xp.isfinite(value)
    return xp.where(finite, total, xp.inf)


# -- SciPy's objects ---------------------------------------------------------------------------------------------------


class OneSidedBounds(list[tuple[int, float, float]]):
    """Bounds of components of c(x), each as (component, sign, bound) for the function sign * (c - bound)."""

    def values(self, c: Array) -> list[Array]:
        """Return the values of these functions for c of shape (n, components)."""
        return [sign * (c[:, k] - bound) for k, sign, bound in self]


class Constraint(ABC):
    """One of SciPy's constraints: lb <= c(x) <= ub.

    Parameters
    ----------
    what : str
        Name of the constraint in messages.
    lower, upper : array-like
        Bounds: one number, or one for every component.
    """

    def __init__(self, what: str, lower: Any, upper: Any) -> None:
        self.what = what
        self.lower, self.upper = (bound_array(f"{what}.{name}", b) for name, b in (("lb", lower), ("ub", upper)))
        sizes = {len(bound) for bound in (self.lower, self.upper) if len(bound) > 1}
        if len(sizes) > 1:
            raise ValueError(
                f"{what}: lb and ub must have the same length, got {len(self.lower)} and {len(self.upper)}"
            )
        self.size: int | None = sizes.pop() if sizes else None  # None before the first call, if the bounds do not tell
        lower, upper = np.broadcast_arrays(self.lower, self.upper)
        for k in np.flatnonzero((lower > upper) | (lower == np.inf) | (upper == -np.inf)):
            raise ValueError(f"{what} must have lb <= ub, got lb[{k}] = {lower[k]:g} and ub[{k}] = {upper[k]:g}")

    @abstractmethod
    def values(self, X: Array, n_jobs: int | None, seconds_left: Callable[[], float] = unlimited) -> Array:
        """Return c at the rows of X, of shape (n, components)."""

    def slopes(self, dim: int) -> FloatArray:
        """Return the derivatives of c by dim variables where they are constant, else NaN."""
        return np.full((self.size or 1, dim), np.nan)

    @cached_property
    def inequalities(self) -> OneSidedBounds:
        """Inequalities, one for every finite bound."""
        return OneSidedBounds(
            (k, sign, bound)
            for k, low, high in self._bounds
            for sign, bound in ((-1.0, low), (1.0, high))
            if low < high and abs(bound) < np.inf
        )

    @cached_property
    def equalities(self) -> OneSidedBounds:
        """Equalities, where both bounds are equal."""
        return OneSidedBounds((k, 1.0, low) for k, low, high in self._bounds if low == high)

    @property
    def _bounds(self) -> Iterator[tuple[int, float, float]]:
        lower, upper = (np.broadcast_to(bound, self.size or 1).tolist() for bound in (self.lower, self.upper))
        return zip(range(len(lower)), lower, upper, strict=True)


class Linear(Constraint):
    """The constraint lb <= A x <= ub.

    Parameters
    ----------
    what : str
        Name of the constraint in messages.
    A : array-like or sparse matrix of shape (m, dim)
        The coefficients.
    lower, upper : array-like
        Bounds: one number, or one for every row of A.
    dim : int
        Number of variables.
    """

    def __init__(self, what: str, A: Any, lower: Any, upper: Any, dim: int) -> None:
        super().__init__(what, lower, upper)
        self.A: FloatArray = A.toarray() if hasattr(A, "toarray") else A
        if self.A.shape[1] != dim or not np.isfinite(self.A).all():
            raise ValueError(f"{what}.A must be finite and of shape (m, {dim}), got shape {self.A.shape}")
        self.size = len(self.A)
        self._uploaded: dict[int, Array] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the copies of A on GPUs."""
        return {**vars(self), "_uploaded": {}}

    def slopes(self, dim: int) -> FloatArray:
        """Return A."""
        return self.A

    def _columns(self, X: Array) -> Array:
        """Return the columns of A on the device of X. They are copied once: CUDA graphs need a fixed address."""
        if isinstance(X, np.ndarray):
            return self.A.T
        number = X.data.device_id
        if number not in self._uploaded:
            self._uploaded[number] = array_namespace(X).asarray(self.A.T)
        return self._uploaded[number]

    def values(self, X: Array, n_jobs: int | None, seconds_left: Callable[[], float] = unlimited) -> Array:
        """Return A x for the rows x of X; products are added in the order of the columns."""
        columns = self._columns(X)
        total = array_namespace(X).zeros((len(X), len(self.A)))
        for j in range(X.shape[1]):
            total += X[:, j : j + 1] * columns[j]
        return total


class Nonlinear(Constraint):
    """The constraint lb <= fun(x) <= ub.

    Parameters
    ----------
    what : str
        Name of the constraint in messages.
    function : callable
        fun of SciPy's NonlinearConstraint.
    lower, upper : array-like
        Bounds: one number, or one for every component.
    form : Form
        Whether the function takes arrays, with the points as columns.
    variables : Variables or None, default None
        Typed variables.
    """

    def __init__(
        self,
        what: str,
        function: Callable[..., Any],
        lower: Any,
        upper: Any,
        form: Form,
        variables: Variables | None = None,
    ) -> None:
        super().__init__(what, lower, upper)
        if not callable(function):
            raise TypeError(f"{what}.fun must be callable, got {function!r} ({type(function).__name__})")
        self.function = function
        self.form, self.variables = form, variables

    def values(self, X: Array, n_jobs: int | None, seconds_left: Callable[[], float] = unlimited) -> Array:
        """Return the function's components at the rows of X after checking them."""
        if self.form.rows is None:
            self.form.rows = find_at(self.values_of_columns, self.of_point(n_jobs), X, f"{self.what}'s function")
        if self.form.rows:
            values = self.values_of_columns(X)
        else:
            values = self._components(self.of_point(n_jobs)(X.copy(), seconds_left))
        self.size = values.shape[1]
        return values

    def values_of_columns(self, X: Array) -> Array:
        """Return the function's components at the rows of X by one call with the points as columns."""
        given = self.function(X.copy().T)  # the function may write to it
        values = real_array(given, X, f"{self.what}'s return value")
        values = values[None] if values.ndim == 1 else values
        if values.ndim != 2 or values.shape[1] != len(X):
            raise ValueError(
                f"{self.what}'s function must return shape (m, {len(X)}) or ({len(X)},) for x of shape "
                f"{X.T.shape}, got {np.shape(given)}; a function of a single point needs vectorized=False"
            )
        return self._components(values.T)

    def of_point(self, n_jobs: int | None) -> RowByRow:
        """Return the function as one of one point."""
        return rows_of_point(self.function, self.variables, n_jobs, self._point_values)

    def _components(self, values: Array) -> Array:
        if values.shape[1] == 0 or self.size not in (None, values.shape[1]):
            raise ValueError(
                f"{self.what}'s function must return {self.size or 'at least 1'} components, as many as before or as "
                f"its bounds, got {values.shape[1]}"
            )
        return contiguous(values, np.float64)

    def _point_values(self, value: Any, row: FloatArray) -> FloatArray:
        values: FloatArray = real_array(value, row, f"{self.what}'s return value")
        if values.ndim > 1:
            raise ValueError(
                f"{self.what}'s function must return (m,) or a number for one point, got shape {values.shape}"
            )
        return np.atleast_1d(values)


def bound_array(what: str, given: Any) -> FloatArray:
    """Return lower or upper bounds as an array of shape (1,) or (m,); NaN is not allowed."""
    try:
        bounds = np.atleast_1d(np.array(given, np.float64))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what} must be numbers, got {given!r}") from error
    if bounds.ndim != 1 or len(bounds) == 0 or np.isnan(bounds).any():
        raise ValueError(f"{what} must be a number or a vector of numbers, got {given!r}")
    return bounds


def constraint_list(given: Any) -> list[Any]:
    """Return the given constraints as a list of at least one."""
    single = isinstance(given, LinearConstraint | NonlinearConstraint | Bounds | Mapping)
    if not single and not isinstance(given, Sequence):
        raise TypeError(f"constraints must be {ALLOWED}, or a list of these; got {given!r} ({type(given).__name__})")
    constraints = [given] if single else list(given)
    if not constraints:
        raise ValueError(
            f"constraints must be one or more of {ALLOWED}; got {given!r}, and None says that there are none"
        )
    return constraints


def parse_constraint(
    what: str, given: Any, dim: int, vectorized: bool | str, variables: Variables | None
) -> Constraint | None:
    """Return a constraint after checking it; None for Bounds, which only narrow the box."""
    if isinstance(given, Bounds):
        return None
    if isinstance(given, LinearConstraint):
        return Linear(what, given.A, given.lb, given.ub, dim)
    if isinstance(given, NonlinearConstraint):
        return Nonlinear(what, given.fun, given.lb, given.ub, as_form(vectorized), variables)
    if isinstance(given, Mapping) and callable(given.get("fun")) and given.get("type") in ("ineq", "eq"):
        function, args = given["fun"], given.get("args", ())
        if not isinstance(args, tuple | list):
            raise TypeError(f"{what}['args'] must be a tuple, such as (value,), got {shown(args)}")
        upper = 0.0 if given["type"] == "eq" else np.inf
        own = (lambda x, /: function(x, *args)) if args else function
        return Nonlinear(what, own, 0.0, upper, as_form(vectorized), variables)
    raise TypeError(f"{what} must be {ALLOWED}; got {given!r} ({type(given).__name__})")


def refuse_bounds(constraints: Sequence[Any]) -> None:
    """Refuse Bounds among the constraints of typed variables."""
    for k, given in enumerate(constraints):
        if isinstance(given, Bounds):
            raise ValueError(f"constraints[{k}] must not be Bounds where variables are typed: give these other bounds")


def intersect_box(box: FloatArray, constraints: Sequence[Any]) -> FloatArray:
    """Return the intersection of a box with the Bounds among the constraints."""
    for k, given in enumerate(constraints):
        if not isinstance(given, Bounds):
            continue
        what = f"constraints[{k}]"
        lower, upper = (bound_array(f"{what}.{name}", b) for name, b in (("lb", given.lb), ("ub", given.ub)))
        for bound in (lower, upper):
            if len(bound) not in (1, len(box)):
                raise ValueError(f"{what} must have one bound for each of {len(box)} variables, got {len(bound)}")
        box = np.stack([np.maximum(box[:, 0], lower), np.minimum(box[:, 1], upper)], axis=1)
        for j in np.flatnonzero(~(box[:, 0] <= box[:, 1])):
            raise ValueError(f"{what} leaves nothing of bounds[{j}]: from {box[j, 0]:g} to {box[j, 1]:g}")
    return box
