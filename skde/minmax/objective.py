"""The objective of a min-max solver, from every form that a user may pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from skde.engines import Engine, Game, decode, matrix
from skde.functions.forms import AUTO, DEFAULT_CALLS, CalledFunction, CallOptions, Form, as_form, find_rows
from skde.functions.point_workers import OutOfTime, Part
from skde.functions.pointwise import NanOnError, RowByRow, one_number
from skde.minmax.partial_request import PartialRequest
from skde.objectives.feasibility import FeasibilityRules, Outcome
from skde.objectives.objective import POINT, ROWS, user_functions
from skde.objectives.probe import probe, probe_form, sample_box, sizes
from skde.problems import ConstrainedProblem, find_forms, get_problem
from skde.typing import Array, FloatArray, IntArray
from skde.utils.arrays import array_namespace, contiguous, real_array, to_numpy
from skde.utils.validation import check_bounds, list_bounds
from skde.variables import Variables, as_variables


class Side(NamedTuple):
    """One side of a game: its box, and its typed variables where it has any."""

    box: FloatArray
    variables: Variables | None


class IncumbentRules(FeasibilityRules):
    """Feasibility rules for incumbents, which are a point followed by its multipliers."""

    def outcomes(self, x: FloatArray, codes: FloatArray, xp: Any) -> list[Outcome]:
        """Return the outcomes of all runs' incumbents from their codes."""
        return super().outcomes(x[:, : self.problem.dim], codes, xp)


class MinMaxObjective:
    """A function of x and y with its boxes: a compiled game, a Python function of whole populations, or a Lagrangian.

    Parameters
    ----------
    x, y : Side
        The boxes, and typed variables, whose values game, function and problem take; y is None for the multipliers of a
        Lagrangian.
    game : Game or None
        The compiled game of the values.
    called : CalledFunction or None
        The Python function f(X, Y) -> (n, m) on NumPy or CuPy arrays, where there is no compiled game.
    problem : ConstrainedProblem or None
        The problem of a Lagrangian.
    rules : IncumbentRules or None
        The meaning of the values of incumbents.
    source : dict
        The entry of a file from which a loaded solver gets the function.
    """

    by_rows = False  # Python functions take pairs, which the solver divides itself

    def __init__(
        self,
        x: Side,
        y: Side | None,
        game: Game | None = None,
        called: CalledFunction | None = None,
        problem: ConstrainedProblem | None = None,
        rules: IncumbentRules | None = None,
        source: dict[str, Any] | None = None,
    ) -> None:
        self.box_x, self.variables_x = x
        self.box_y: FloatArray | None = None if y is None else y.box
        self.variables_y: Variables | None = None if y is None else y.variables
        self.game = game
        self.matrix: Callable[[Array, Array], Any] | None = None if called is None else called.of_rows
        self.of_pair: PairByPair | None = None if called is None else called.of_point
        self.form = Form(True) if called is None or called.form is None else called.form
        self.problem = problem
        self.rules = rules
        self._source = source or {}
        self._probed = False

    def probe(self, engine: Engine, dtype: np.dtype[Any], verbose: int = 0) -> None:
        """Probe Python functions by a few calls, once, and find their forms; see skde/objectives/probe.py."""
        if self._probed or self.game is not None:
            return
        if self.rules is not None:
            for user in user_functions(self.rules):
                probe_form(user, self._at_values_x, self.box_x, engine, dtype, verbose)
        elif self.box_y is not None and self.form.rows is None:
            self.form.rows = engine.apply(partial(self._find_form, dtype))
            if verbose:
                takes = "arrays of points" if self.form.rows else "one pair of points"
                print(f"skde: pairwise='auto' found that the function takes {takes}")
        elif self.box_y is not None and self.form.rows:
            function = partial(self._at_values, self._matrix_values)
            engine.apply(partial(probe, function, "the function", [self.box_x, self.box_y], dtype))
        self._probed = True

    def _find_form(self, dtype: np.dtype[Any], xp: Any) -> bool:
        """Return whether the function takes arrays of points."""
        assert self.box_y is not None
        assert self.of_pair is not None
        boxes = [self.box_x, self.box_y]
        given = [xp.array(sample_box(box, n, dtype)) for box, n in zip(boxes, sizes(boxes), strict=True)]
        sides = self._at_values(lambda X, Y: (to_numpy(X), to_numpy(Y)), *given)
        function = partial(self._at_values, self._matrix_values)
        shape = " and ".join(str(side.shape) for side in sides)

        def call_rows() -> None:
            probe(function, "the function", boxes, dtype, xp, hint=False)

        return find_rows(call_rows, self.of_pair, sides, "the function", shape)

    @property
    def function(self) -> Callable[[Array, Array], Any] | None:
        """The Python function of arrays: a `PairByPair` where the user's is known to take one pair."""
        return self.of_pair if self.form.rows is False else self.matrix

    @property
    def source(self) -> dict[str, Any]:
        """The entry of a file from which a loaded solver gets the function."""
        form = self.form if self.problem is None else self.problem.form
        if self.game is not None or form.rows is None or (self.matrix is None and self.problem is None):
            return self._source
        return {**self._source, "takes": ROWS if form.rows else POINT}

    def _at_values(self, function: Callable[..., Any], X: Array, Y: Array | None = None) -> Any:
        """Return a function at the values of the variables at points of the boxes."""
        sides = (X, self.variables_x), (Y, self.variables_y)
        points = [side if variables is None else decode(variables, side) for side, variables in sides]
        return function(*(side for side in points if side is not None))

    def _at_values_x(self, X: Array) -> Array:
        """Return the values of the variables at points of the box of x."""
        return X if self.variables_x is None else decode(self.variables_x, X)

    def parts(self, request: PartialRequest, seconds_left: Callable[[], float]) -> Iterator[Part]:
        """Yield the values of the rows of a request that have none, as they come.

        They end early when no seconds are left, but not before the first one.
        """
        runs = request.places_of(request.missing_rows)[0]
        for number, r in enumerate(np.unique(runs)):
            if number and seconds_left() <= 0:
                return
            begin = int(r) * request.size
            rows = np.flatnonzero(~request.has_value[begin : begin + request.size])
            for part in self._parts_of_run(request, begin, rows, seconds_left):
                yield Part(begin + part.rows, part.values)

    def _parts_of_run(
        self, request: PartialRequest, begin: int, rows: IntArray, seconds_left: Callable[[], float]
    ) -> Iterator[Part]:
        """Yield the values of some rows of a run, which begins at this row."""
        if request.Y is None:
            X = self._at_values_x(request.points(begin + rows)[0])
            for part in self._feature_parts(X, seconds_left):
                yield Part(rows[part.rows], part.values)
        elif self.game is None and self.form.rows is False:
            assert self.of_pair is not None
            pairs = self._at_values(join_on_host, *request.points(begin + rows))
            for part in self.of_pair.rows.parts(pairs, seconds_left):
                yield Part(rows[part.rows], part.values)
        else:
            r, n, xp = begin // request.size, request.n_opponents, request.xp
            for x, y in blocks(rows, n):
                found = self._at_values(self.values, request.X[r][xp.asarray(x)], request.Y[r][xp.asarray(y)])
                yield Part((x[:, None] * n + y).ravel(), found.reshape(-1))
                if seconds_left() <= 0:
                    return

    def _feature_parts(self, X: Array, seconds_left: Callable[[], float]) -> Iterator[Part]:
        """Yield the features of points, values of the variables, as they come."""
        problem = self.problem
        assert problem is not None
        if not problem.by_rows:
            yield Part(np.arange(len(X)), self.features(X))
            return
        try:
            constraints = problem.constraint_values(X, seconds_left)
        except OutOfTime:
            yield Part(np.arange(1), self.features(X[:1]))
            return
        xp = array_namespace(X)
        for part in problem.f_parts(X, seconds_left):
            columns = xp.asarray(part.values)[:, None], constraints[xp.asarray(part.rows)]
            yield Part(part.rows, xp.concatenate(columns, axis=1))

    def features_of(self, request: PartialRequest) -> Array:
        """Return the features of all points of a request, by one call."""
        return self.features(self._at_values_x(request.points(np.arange(len(request.needed)))[0]))

    @property
    def by_pairs(self) -> bool:
        """Whether a Python function of one pair or, for a constrained problem, of one point is called."""
        if self.problem is not None:
            return self.game is None and self.problem.by_rows
        return self.game is None and self.form.rows is False

    def features(self, X: Array) -> Array:
        """Return the features of points in a Lagrangian: f, g and h, of shape (n, 1 + m + l)."""
        if self.problem is None:
            raise RuntimeError("only a constrained problem has features")
        return self.problem.values(X)

    def values(self, X: Array, Y: Array) -> Array:
        """Return the values of the rows of X against the rows of Y, of shape (n, m)."""
        if self.game is not None:
            return matrix(self.game, X, Y)
        if self.function is None:
            raise RuntimeError("there is no function: its values are told")
        if self.form.rows is False:
            return self.check_matrix(self.function(X, Y), X, Y)
        return self._matrix_values(X, Y)

    def _matrix_values(self, X: Array, Y: Array) -> Array:
        """Return the values by one call of a function of arrays."""
        assert self.matrix is not None
        return self.check_matrix(self.matrix(X.copy(), Y.copy()), X, Y)  # it may write to its arguments

    def check_matrix(self, given: Any, X: Array, Y: Array) -> Array:
        """Return the function's return value as an (n, m) array of numbers, or refuse it."""
        values = real_array(given, X, "the function's return value")
        expected = (len(X), len(Y))
        if values.shape != expected:
            hint = "; a function of a single pair needs pairwise=True"
            if values.shape == expected[::-1]:
                hint = "; it is transposed: rows are points x, columns are opponents y"
            raise ValueError(
                f"f(X, Y) must return shape {expected}, the value of every row of X against every row of Y, got "
                f"{values.shape}{hint}"
            )
        return contiguous(values, X.dtype)


class PairByPair:
    """A function of one pair as a function of populations, in parallel through joblib.

    Parameters
    ----------
    function : callable
        f(x, y) -> number, for points of shape (dim x,) and (dim y,).
    n_jobs : int or None
        Number of joblib's workers.
    on_error : {"raise", "nan"}
        With "nan", the value of a pair for which the function raises an exception is NaN.
    dim_x : int
        The number of variables of x.
    variables_x, variables_y : Variables or None
        Typed variables.
    max_eval_time : float or None
        Time limit of one evaluation in workers.
    """

    def __init__(
        self,
        function: Callable[[Any, Any], Any],
        n_jobs: int | None,
        on_error: str,
        dim_x: int,
        variables_x: Variables | None = None,
        variables_y: Variables | None = None,
        max_eval_time: float | None = None,
    ) -> None:
        self.failing = NanOnError(function) if on_error == "nan" else None
        self.user = self.failing or function
        self.variables = variables_x, variables_y
        self.dim_x = dim_x
        self.rows = RowByRow(self.value_of_pair, n_jobs, self.check_pair, self.failing, max_eval_time)

    def function(self, x: FloatArray, y: FloatArray) -> Any:
        """Return the function's value at a pair; points of named variables become dicts."""
        sides = zip((x, y), self.variables, strict=True)
        # The function may write to its arguments.
        return self.user(
            *(side.copy() if given is None or not given.named else given.params(side) for side, given in sides)
        )

    def check(self, value: Any, x: FloatArray) -> float:
        """Return the value of a pair, checked to be one real number."""
        return one_number(value, "with pairwise=True the function")

    def __call__(self, X: Array, Y: Array) -> Array:
        """Return f of every row of X against every row of Y."""
        rows = np.arange(len(X) * len(Y))
        pairs = join_on_host(X[rows // len(Y)], Y[rows % len(Y)])
        return array_namespace(X).asarray(self.rows(pairs).reshape(len(X), len(Y)))

    def value_of_pair(self, pair: FloatArray) -> Any:
        """Return the value of the function at a row with both points of a pair."""
        return self.function(pair[: self.dim_x], pair[self.dim_x :])

    def check_pair(self, value: Any, pair: FloatArray) -> float:
        """Return the value of a pair, checked to be one real number."""
        return self.check(value, pair)


def join_on_host(X: Array, Y: Array) -> FloatArray:
    """Return rows with both points of pairs, on the host."""
    return np.hstack([to_numpy(X), to_numpy(Y)])


def blocks(rows: IntArray, n: int) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield these rows of pairs as blocks of places of x and of y, each x against each of n y or some of these."""
    wanted = np.zeros((int(rows.max()) // n + 1, n), bool)
    wanted[np.divmod(rows, n)] = True
    patterns, own = np.unique(wanted, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        if pattern.any():
            yield np.flatnonzero(own.reshape(-1) == number), np.flatnonzero(pattern)


def resolve_minmax(
    f: Any,
    bounds_x: Any,
    bounds_y: Any,
    *,
    dim: int | None = None,
    feasibility_tol: float = 0.0,
    calls: CallOptions = DEFAULT_CALLS,
) -> MinMaxObjective:
    """Return the objective for the arguments of MinMaxSolver.fit."""
    if isinstance(f, str):
        f = get_problem(f, dim=dim)
    elif dim is not None:
        raise ValueError(f"dim is for a problem's name; {f!r} has its own")
    stated = find_forms(f)
    if calls.on_error == "nan" and stated.game is not None:
        raise ValueError(f"on_error='nan' is for a Python function of one pair, got {f!r}")
    if stated.constrained is not None:
        if bounds_y is not None:
            raise ValueError("bounds_y: a constrained problem's multipliers have none; see multiplier_bound")
        f = f.with_jobs(calls.n_jobs, calls.max_eval_time, calls.on_error)
        own = f.bounds if f.variables is None else f.variables
        side_x = read_side("bounds_x", own if bounds_x is None else bounds_x, f.dim)
        game = None if f.kernel is None else Game(f.kernel, f.arrays, f.n_inequalities, f.n_equalities)
        rules = IncumbentRules(f, feasibility_tol)
        return MinMaxObjective(side_x, None, game, problem=f, rules=rules, source=describe_source(f, f.dim))
    if stated.game is not None:
        side_x = read_side("bounds_x", f.bounds_x if bounds_x is None else bounds_x, f.dim_x)
        side_y = read_side("bounds_y", f.bounds_y if bounds_y is None else bounds_y, f.dim_y)
        return MinMaxObjective(side_x, side_y, Game(f.kernel, f.arrays), source=describe_source(f, f.dim_x))
    if stated.functor is not None:
        raise TypeError(f"{stated!r} is a function of x alone: use Minimizer")
    if stated.function is None:
        raise TypeError(
            "the objective must be a name, a MinMaxProblem, a ConstrainedProblem or a function f(X, Y), got "
            f"{f!r} ({type(f).__name__})"
        )
    for name, bounds in (("bounds_x", bounds_x), ("bounds_y", bounds_y)):
        if bounds is None:
            raise ValueError(
                f"a function needs {name}: fit(f, bounds_x=[(low, high), ...], bounds_y=[(low, high), ...])"
            )
    side_x, side_y = read_side("bounds_x", bounds_x), read_side("bounds_y", bounds_y)
    dim_x = len(side_x.box if side_x.variables is None else side_x.variables)
    given = calls.n_jobs, calls.on_error, dim_x, side_x.variables, side_y.variables, calls.max_eval_time
    # Only evaluations of one pair can be ended, and the calls that find the form out might not end.
    form = as_form(False if calls.max_eval_time is not None and calls.rows == AUTO else calls.rows)
    source = {"callable": getattr(f, "__qualname__", type(f).__name__)}
    return MinMaxObjective(side_x, side_y, called=CalledFunction(f, PairByPair(f, *given), form), source=source)


def make_told_objective(bounds_x: Any, bounds_y: Any) -> MinMaxObjective:
    """Return the objective of a function with these bounds whose values are told."""
    return MinMaxObjective(read_side("bounds_x", bounds_x), read_side("bounds_y", bounds_y))


def read_side(name: str, given: Any, dim: int | None = None) -> Side:
    """Return one side's box and typed variables, checked; `dim` is the number of variables of a problem."""
    try:
        given = list_bounds(given)
        variables = as_variables(given)
        box = check_bounds(given) if variables is None else variables.box
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name}: {error}") from None
    size = len(box if variables is None else variables)
    if dim is not None and size != dim:
        raise ValueError(f"{name} has {size} pairs, but the problem has {dim} variables there")
    return Side(box, variables)


def describe_source(problem: Any, dim: int) -> dict[str, Any]:
    """Return the entry of a file from which a loaded solver gets the problem, or a name for errors."""
    if problem.kernel is None:
        return {"callable": problem.name}
    return {"problem": problem.name, "dim": dim}
