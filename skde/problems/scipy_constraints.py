"""SciPy's constraints in the form g(x) <= 0 and h(x) = 0."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint

from skde.functions.forms import Form, as_form, find_at
from skde.functions.named_point import rows_of_point
from skde.functions.point_workers import unlimited
from skde.functions.pointwise import RowByRow
from skde.typing import Array, FloatArray
from skde.utils.arrays import array_namespace, contiguous, real_array
from skde.utils.validation import quote
from skde.variables import Variables

ALLOWED = "LinearConstraint, NonlinearConstraint or Bounds of scipy.optimize"


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
        self.lower, self.upper = (read_bound(f"{what}.{name}", b) for name, b in (("lb", lower), ("ub", upper)))
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
        Whether the function takes arrays of points, a point a row.
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
            self.form.rows = find_at(self.values_of_rows, self.of_point(n_jobs), X, f"{self.what}'s function")
        if self.form.rows:
            values = self.values_of_rows(X)
        else:
            values = self._components(self.of_point(n_jobs)(X.copy(), seconds_left))
        self.size = values.shape[1]
        return values

    def values_of_rows(self, X: Array) -> Array:
        """Return the function's components at the rows of X by one call."""
        given = self.function(X.copy())  # the function may write to it
        values = real_array(given, X, f"{self.what}'s return value")
        values = values[:, None] if values.ndim == 1 else values
        if values.ndim != 2 or len(values) != len(X):
            raise ValueError(
                f"{self.what}'s function must return shape ({len(X)}, m) or ({len(X)},) for X of shape "
                f"{X.shape}, got {np.shape(given)}; a function of a single point needs vectorized=False"
            )
        return self._components(values)

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


def read_bound(what: str, given: Any) -> FloatArray:
    """Return lower or upper bounds as an array of shape (1,) or (m,); NaN is not allowed."""
    try:
        if has_dates(given):  # NumPy would make days or nanoseconds of them
            raise TypeError("dates and times are no numbers")
        bounds = np.atleast_1d(np.array(given, np.float64))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what} must be numbers, got {given!r}") from error
    if bounds.ndim != 1 or len(bounds) == 0 or np.isnan(bounds).any():
        raise ValueError(f"{what} must be a number or a vector of numbers, got {given!r}")
    return bounds


def has_dates(given: Any) -> bool:
    """Return whether there are dates or times of NumPy among some numbers."""
    values = np.asarray(given)
    members = values.ravel().tolist() if values.dtype == object else []
    return values.dtype.kind in "mM" or any(isinstance(one, np.datetime64 | np.timedelta64) for one in members)


def constraint_list(given: Any) -> list[Any]:
    """Return the given constraints as a list; None and an empty list say that there are none."""
    if given is None:
        return []
    if isinstance(given, LinearConstraint | NonlinearConstraint | Bounds | Mapping):
        return [given]
    if not isinstance(given, Sequence) or given in ("", b""):
        raise TypeError(f"constraints must be {ALLOWED}, or a list of these; got {given!r} ({type(given).__name__})")
    return list(given)


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
    kind = str(given.get("type")).lower() if isinstance(given, Mapping) else ""  # SciPy does not look at the case
    if isinstance(given, Mapping) and callable(given.get("fun")) and kind in ("ineq", "eq"):
        function, args = given["fun"], given.get("args", ())
        if not isinstance(args, tuple | list):
            raise TypeError(f"{what}['args'] must be a tuple, such as (value,), got {quote(args)}")
        upper = 0.0 if kind == "eq" else np.inf
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
        lower, upper = (read_bound(f"{what}.{name}", b) for name, b in (("lb", given.lb), ("ub", given.ub)))
        for bound in (lower, upper):
            if len(bound) not in (1, len(box)):
                raise ValueError(f"{what} must have one bound for each of {len(box)} variables, got {len(bound)}")
        box = np.stack([np.maximum(box[:, 0], lower), np.minimum(box[:, 1], upper)], axis=1)
        for j in np.flatnonzero(~(box[:, 0] <= box[:, 1])):
            raise ValueError(f"{what} leaves nothing of bounds[{j}]: from {box[j, 0]:g} to {box[j, 1]:g}")
    return box
