"""Problems with one function that returns the objective and the constraints together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from skde.functions.forms import ConstraintsReturned, ListReturned, as_form, find_at
from skde.functions.named_point import rows_of_point
from skde.functions.point_workers import Part, unlimited
from skde.functions.pointwise import NanOnError, one_number, read_point_value
from skde.problems.constraints import ConstrainedProblem
from skde.problems.scipy_constraints import Nonlinear
from skde.typing import Array, FloatArray
from skde.utils.arrays import array_namespace, points, real_array, real_values, to_numpy
from skde.variables import Variables

# Outputs that are kept for the answer, by their points: the best point of a run is nearly always one of them.
KEPT = 10_000
WHAT = "the objective's return value"
NAMES = "fgh"


class Simulation(ConstrainedProblem):
    """A function that returns (f, g) or (f, g, h), to be minimised over a box with g(x) <= 0 and h(x) = 0.

    Parameters
    ----------
    function : callable
        function(X) of arrays of points: f of shape (n,), g of shape (n, m), or (n,) for one, and h likewise; None for
        none. Or function(x) of one point: a number, and numbers or vectors.
    space : ndarray of shape (dim, 2) or Variables
        The box, or typed variables.
    name : str
        Name in messages.
    vectorized : {"auto"} or bool
        Whether the function takes arrays; "auto": that is to be found out.
    n_jobs : int or None
        Number of joblib workers for a function of one point.
    max_eval_time : float or None
        Time limit of one evaluation in workers.
    found : ConstraintsReturned
        The call that has shown the constraints; of a function of one point its outputs are used.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        space: FloatArray | Variables,
        *,
        name: str,
        vectorized: bool | str,
        n_jobs: int | None,
        max_eval_time: float | None,
        found: ConstraintsReturned,
    ) -> None:
        self.name, self.vectorized, self._n_jobs = name, vectorized, n_jobs
        self._f = function.function if isinstance(function, NanOnError) else function
        self.variables = space if isinstance(space, Variables) else None
        self.bounds = space.limits if isinstance(space, Variables) else space
        self.form = as_form(vectorized if found.x is None else False)
        self.sizes = found.sizes
        checked = PointOutputs(found.sizes)
        self.of_point = rows_of_point(function, self.variables, n_jobs, checked, max_eval_time)
        self.waiting = {} if found.x is None else {make_point_key(found.x): found.outputs}
        self.kept: dict[bytes, FloatArray] = {}

    @property
    def has_constraints(self) -> bool:
        """Whether there are constraints: always."""
        return True

    @property
    def n_inequalities(self) -> int:
        """Number of constraints g(x) <= 0."""
        return self._known_sizes[0]

    @property
    def n_equalities(self) -> int:
        """Number of constraints h(x) = 0."""
        return self._known_sizes[1]

    @property
    def _known_sizes(self) -> tuple[int, int]:
        if self.sizes is None:
            raise RuntimeError("the numbers of constraints are known after the first evaluation")
        return self.sizes

    @property
    def returned_sizes(self) -> tuple[int, int] | None:
        """The numbers of g and h, as soon as they are known."""
        return self.sizes

    @property
    def nonlinear(self) -> list[Nonlinear]:
        """The constraints with another function: none."""
        return []

    @property
    def linear_slopes(self) -> FloatArray:
        """Derivatives of linear constraints: NaN, because none is known to be linear."""
        return np.full((sum(self._known_sizes), self.dim), np.nan)

    def f(self, X: Array) -> Array:
        """Return the objective's values at the rows of X, of shape (n,)."""
        return self.values(X)[:, 0]

    def constraint_values(self, X: Array, seconds_left: Callable[[], float] = unlimited) -> Array:
        """Return the constraints' values, g and then h, at the rows of X, of shape (n, m + l)."""
        return self.values(X)[:, 1:]

    def values(self, X: Array) -> Array:
        """Return f, g and h at the rows of X, of shape (n, 1 + m + l)."""
        parts = list(self.parts(X, unlimited))
        if len(parts) == 1:
            return parts[0].values
        rows = np.empty((len(X), parts[0].values.shape[1]))
        for part in parts:
            rows[part.rows] = part.values
        return array_namespace(X).asarray(rows)

    def parts(self, X: Array, seconds_left: Callable[[], float]) -> Iterator[Part]:
        """Yield f, g and h at the rows of X as they come, as `RowByRow.parts` does."""
        X = points(X, self.dim, self)
        if self.form.rows is None:
            self.form.rows = find_at(self.values_of_rows, self.of_point, X, "the objective")
        found = iter([self._all_rows(X)]) if self.form.rows else self._point_parts(X, seconds_left)
        for part in found:
            self._keep(X, part)
            yield part

    def _all_rows(self, X: Array) -> Part:
        rows, self.sizes = outputs_of_rows(self._f(X.copy()), X, self.sizes)
        return Part(np.arange(len(X)), rows)

    def _point_parts(self, X: Array, seconds_left: Callable[[], float]) -> Iterator[Part]:
        """Yield the outputs of a function of one point, also of the call that has shown the constraints."""
        known = np.array([bool(self.waiting) and make_point_key(x) in self.waiting for x in to_numpy(X)])
        for row in np.flatnonzero(known):
            outputs = self.waiting.pop(make_point_key(to_numpy(X[row])), None)
            if outputs is None:  # an equal point
                known[row] = False
                continue
            yield Part(np.array([row]), outputs[None])
        rest = np.flatnonzero(~known)
        if len(rest):
            for part in self.of_point.parts(X[array_namespace(X).asarray(rest)], seconds_left):
                yield Part(rest[part.rows], part.values)

    def values_of_rows(self, X: Array) -> Array:
        """Return f, g and h at the rows of X by one call of a function of arrays, which may be of the wrong form."""
        return outputs_of_rows(self._f(X.copy()), X, self.sizes)[0]

    def _keep(self, X: Array, part: Part) -> None:
        """Keep the outputs of points on the host."""
        if not isinstance(X, np.ndarray):
            return
        for row, outputs in zip(part.rows.tolist(), part.values, strict=True):
            self.kept[make_point_key(X[row])] = outputs.copy()
        while len(self.kept) > KEPT + len(X):
            del self.kept[next(iter(self.kept))]

    def recall_values(self, X: Array) -> FloatArray:
        """Return f, g and h at points that have been evaluated, on the host; those that are not kept once more."""
        keys = [make_point_key(x) for x in to_numpy(X)]
        missing = [row for row, key in enumerate(keys) if key not in self.kept]
        found = {key: self.kept[key] for key in keys if key in self.kept}
        if missing:
            again = to_numpy(self.values(X[array_namespace(X).asarray(missing)]))
            found |= {keys[row]: outputs for row, outputs in zip(missing, again, strict=True)}
        return np.array([found[key] for key in keys], np.float64)

    @property
    def identity(self) -> Any:
        """Key that is equal for equal problems."""
        return self._f

    def __repr__(self) -> str:
        return f"Simulation({self.name!r}, dim={self.dim})"


class PointOutputs:
    """The check of what a function of one point returns: (f, g) or (f, g, h) as one row of numbers.

    Parameters
    ----------
    sizes : (int, int) or None
        The numbers of g and h; None: they are to be found.
    """

    def __init__(self, sizes: tuple[int, int] | None) -> None:
        self.sizes = sizes

    def __call__(self, value: Any, x: FloatArray) -> FloatArray:
        """Return f, g and h of a point, of shape (1 + m + l,); NaN for an evaluation that failed."""
        if self.sizes is None:
            find_outputs(value, x)
            raise ValueError(f"the objective must return (f, g) or (f, g, h), got {value!r}")
        if not has_outputs(value):
            number = one_number(value, "the objective, which returned constraints before,")
            if not np.isnan(number):
                raise ValueError(f"the objective returned constraints before, and now the number {number}")
            return np.full(1 + sum(self.sizes), np.nan)
        outputs, sizes = outputs_of_point(value, x)
        check_sizes(sizes, self.sizes)
        return outputs


def number_or_outputs(value: Any, x: FloatArray) -> float:
    """Return the number that a function of one point has returned; raise `ConstraintsReturned` for (f, g, h)."""
    find_outputs(value, x)
    return read_point_value(value, x)


def find_outputs(value: Any, x: FloatArray) -> None:
    """Raise `ConstraintsReturned` where a function of one point has returned (f, g) or (f, g, h)."""
    refuse_list(value, ())
    if has_outputs(value):
        raise ConstraintsReturned(np.array(x), *outputs_of_point(value, x))


def has_outputs(value: Any, n: int | None = None) -> bool:
    """Whether a function has returned (f, g) or (f, g, h): of n points, where the first is f at these."""
    if not isinstance(value, tuple) or len(value) not in (2, 3):
        return False
    return n is None or np.shape(value[0]) in ((n,), (n, 1))


def refuse_list(value: Any, shape: tuple[int, ...]) -> None:
    """Refuse the list [f, g] or [f, g, h], with f of this shape: a list may as well be several objectives."""
    if not isinstance(value, list) or len(value) not in (2, 3):
        return
    if np.shape(value[0]) == shape and not isinstance(value[0], str):
        raise ListReturned(
            f"an objective with constraints must return a tuple, (f, g) or (f, g, h), got a list of {len(value)}; an "
            "objective without constraints returns f alone"
        )


def outputs_of_point(value: tuple[Any, ...], x: FloatArray) -> tuple[FloatArray, tuple[int, int]]:
    """Return the outputs of a point as one row, and the numbers of g and h."""
    f = one_number(value[0], "the objective's f")
    columns = [np.zeros(0)]
    for name, part in zip(NAMES[1:], value[1:], strict=False):
        vector = np.zeros(0) if part is None else np.atleast_1d(real_array(part, x, f"the objective's {name}"))
        if vector.ndim != 1:
            raise ValueError(f"the objective's {name} must be a number or a vector for one point, got {vector.shape}")
        columns.append(vector.astype(np.float64))
    sizes = len(columns[1]), len(columns[2]) if len(columns) > 2 else 0
    return np.concatenate([[f], *columns]), sizes


def outputs_of_rows(value: Any, X: Array, known: tuple[int, int] | None) -> tuple[Array, tuple[int, int]]:
    """Return the outputs of points, of shape (n, 1 + m + l), and the numbers of g and h."""
    if not has_outputs(value, len(X)):
        raise ValueError(
            f"the objective must return (f, g) or (f, g, h) with f of shape ({len(X)},), g of shape ({len(X)}, m) and "
            f"h of shape ({len(X)}, l), got {type(value).__name__} with shapes {shapes_of(value)}"
        )
    f, *constraints = value
    columns = [real_values(f, X, WHAT)[:, None]]
    for name, part in zip(NAMES[1:], constraints, strict=False):
        columns.append(read_columns(part, X, f"the objective's {name}"))
    sizes = columns[1].shape[1], columns[2].shape[1] if len(columns) > 2 else 0
    if known is not None:
        check_sizes(sizes, known)
    return array_namespace(X).concatenate(columns, axis=1).astype(np.float64, copy=False), sizes


def read_columns(part: Any, X: Array, what: str) -> Array:
    """Return constraints at points as an array of shape (n, m)."""
    n = len(X)
    if part is None:
        return array_namespace(X).zeros((n, 0))
    array = real_array(part, X, what)
    if array.ndim not in (1, 2) or len(array) != n:
        raise ValueError(f"{what} must have shape ({n}, m) or ({n},), one row a point, got {array.shape}")
    return array.reshape(n, -1) if array.size else array_namespace(X).zeros((n, 0))


def read_sizes(given: Any) -> tuple[int, int]:
    """Return the numbers of g and h of a file, or refuse them."""
    if len(given) != 2 or not all(type(size) is int and size >= 0 for size in given):
        raise ValueError(f"returns must be the numbers of g and h, got {given!r}")
    return given[0], given[1]


def check_sizes(sizes: tuple[int, int], known: tuple[int, int]) -> None:
    """Refuse other numbers of constraints than before."""
    if sizes != known:
        raise ValueError(
            f"there must be as many g and h as before, {known[0]} and {known[1]}, got {sizes[0]} and {sizes[1]}"
        )


def shapes_of(value: Any) -> Any:
    """Return the shapes of the parts of a return value, for messages."""
    return [np.shape(part) for part in value] if isinstance(value, tuple) else np.shape(value)


def make_point_key(x: FloatArray) -> bytes:
    """Return the key of a point; -0.0 counts as 0.0, which it equals."""
    return (np.asarray(x, np.float64) + 0.0).tobytes()
