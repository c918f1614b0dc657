"""The common form of all objectives that a user may pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from skde.arrays import real_values
from skde.engines import Compiled, DecodedObjective, Engine, decode
from skde.objectives.device import DeviceObjective
from skde.objectives.feasibility import FeasibilityRules
from skde.objectives.probe import probe
from skde.point_workers import Part
from skde.pointwise import NanOnError, RowByRow
from skde.problems import MinMaxProblem, Problem, get_problem
from skde.problems.compiled_constrained import CompiledConstrainedProblem
from skde.problems.constraints import ConstrainedProblem, constraint_list
from skde.typing import Array, FloatArray
from skde.validation import check_bounds, check_int, check_real
from skde.variables import Variables, as_variables


class Objective:
    """An objective with its bounds: compiled, or a Python function of arrays of points.

    Parameters
    ----------
    box : ndarray of shape (dim, 2)
        Lower and upper bounds.
    compiled : Compiled or None
        Objective that the kernels call; None for a Python function.
    function : callable or None
        Python function f(X) -> (n,) of NumPy or CuPy arrays; None for a compiled objective.
    source : dict or None
        Description of the objective in a checkpoint.
    identity : object
        Key that is equal for equal functions.
    rules : FeasibilityRules or None
        Feasibility rules of a problem with constraints. The values are then the codes of these rules.
    variables : Variables or None
        Typed variables, of which `box` is the box. Compiled objective, function and rules take their values.
    """

    def __init__(
        self,
        box: FloatArray,
        compiled: Compiled | None = None,
        function: Callable[[Array], Any] | None = None,
        source: dict[str, Any] | None = None,
        identity: Any = None,
        rules: FeasibilityRules | None = None,
        variables: Variables | None = None,
    ) -> None:
        self.box = box
        self.compiled = compiled if compiled is None or variables is None else DecodedObjective(compiled, variables)
        self.function = function
        self.source = source or {}
        self.identity = identity, variables
        self.rules = rules
        self.variables = variables
        self._probed = False

    def values(self, X: Array) -> Array:
        """Return the values at points of the box, (n,) in C order, of the library, device and dtype of X.

        Raises
        ------
        ValueError, TypeError
            When the user's function does not return n real numbers.
        """
        if self.function is None:
            raise RuntimeError("a compiled objective is evaluated by the engine")
        return real_values(self.function(self.decoded(X)), X, "the objective's return value")

    def parts(self, X: Array, seconds_left: Callable[[], float]) -> Iterator[Part]:
        """Yield the values at points of the box as they come: of a function of one point those of some at a time.

        They end early when no seconds are left, but not before the first one.
        """
        if isinstance(self.function, RowByRow):
            yield from self.function.parts(self.decoded(X), seconds_left)
        elif self.rules is not None and self.by_rows:
            yield from self.rules.parts(self.decoded(X), seconds_left)
        else:
            yield Part(np.arange(len(X)), self.values(X))

    def decoded(self, X: Array) -> Array:
        """Return the values of the variables at points of the box."""
        return X if self.variables is None else decode(self.variables, X)

    @property
    def constrained(self) -> bool:
        """Whether there are constraints other than Bounds, which only narrow the box."""
        return self.rules is not None and self.rules.problem.has_constraints

    @property
    def by_rows(self) -> bool:
        """Whether a Python function of one point is called for every row."""
        constraints_by_rows = self.rules is not None and not self.rules.problem.vectorized
        return isinstance(self.function, RowByRow) or (self.compiled is None and constraints_by_rows)

    @property
    def host_work(self) -> str | None:
        """The work of the host in every evaluation, as a sentence; None where there is none."""
        if self.by_rows:
            return "the host calls the function of one point"
        if self.rules is not None and self.compiled is None:
            return "the host chooses the feasible points, with which alone the objective is called"
        return None

    def probe(self, engine: Engine, dtype: np.dtype[Any]) -> None:
        """Check a Python function of arrays by a few calls, the first time; see skde/objectives/probe.py."""
        if self._probed or self.by_rows:
            return
        for function, what, feasible in self._functions:
            engine.apply(partial(probe, function, what, [self.box], dtype, feasible=feasible))
        self._probed = True

    @property
    def _functions(self) -> list[UserFunction]:
        """The user's Python functions of points of the box."""
        if self.compiled is not None:
            return []
        if self.rules is None:
            return [UserFunction(self.values, "the objective")]
        return [function.after(self.decoded) for function in user_functions(self.rules)]


def as_objective(
    objective: Any,
    dim: int | None,
    bounds: Any,
    *,
    vectorized: bool = True,
    n_jobs: int | None = None,
    constraints: Any = None,
    feasibility_tol: float = 1e-6,
    on_error: str = "raise",
    max_eval_time: float | None = None,
) -> Objective:
    """Return any form of objective as an `Objective`.

    Parameters
    ----------
    objective : str, Problem, ConstrainedProblem, DeviceObjective or callable
        The user's objective.
    dim : int or None
        Number of variables; None: that of the problem or of the bounds.
    bounds : array-like, Variables, mapping or None
        Lower and upper bounds, or typed variables; None: those of the problem.
    vectorized : bool, default True
        Whether a callable takes arrays of points; False: one point.
    n_jobs : int or None, default None
        Number of joblib workers for a callable of one point.
    constraints : optional
        As in `ConstrainedProblem`.
    feasibility_tol : float, default 1e-6
        Tolerance of satisfied constraints, >= 0.
    on_error : {"raise", "nan"}, default "raise"
        With "nan", the value of a callable of one point that raises an exception is NaN.
    max_eval_time : float or None, default None
        Time limit of one evaluation in workers.

    Returns
    -------
    objective : Objective

    Raises
    ------
    ValueError, TypeError
        For other objectives, and for bounds, dimensions or constraints that do not fit the objective.
    """
    if isinstance(objective, str):
        variables = as_variables(bounds)
        objective = get_problem(objective, dim=len(variables) if dim is None and variables is not None else dim)
    if dim is not None:
        dim = check_int("dim", dim, 1)
    if isinstance(objective, MinMaxProblem):
        raise TypeError(f"{objective!r} is a function of x and y; a Minimizer takes functions of x alone")
    if on_error == "nan" and isinstance(objective, ConstrainedProblem | Problem | DeviceObjective):
        raise ValueError(f"on_error='nan' is for a Python function of one point, got {objective!r}")
    if isinstance(objective, ConstrainedProblem):
        if constraints is not None:
            raise ValueError(f"{objective!r} has constraints, so the parameter constraints must be None")
        box, variables = problem_box(objective, dim, bounds)
        return constrained_objective(
            objective.with_jobs(n_jobs, max_eval_time), box, feasibility_tol, objective.identity, variables
        )
    if constraints is not None:
        unconstrained = as_objective(objective, dim, bounds, vectorized=vectorized, n_jobs=n_jobs)
        name = unconstrained.source.get("callable", str(objective))
        own = unconstrained.variables or unconstrained.box
        function = NanOnError(objective) if on_error == "nan" else objective
        problem = ConstrainedProblem(function, own, constraints, name=name, vectorized=vectorized)
        identity = unconstrained.identity, tuple(constraint_list(constraints))
        box, variables = problem_box(problem, None, None)
        return constrained_objective(
            problem.with_jobs(n_jobs, max_eval_time), box, feasibility_tol, identity, variables
        )
    if isinstance(objective, Problem):
        (box, variables), source = problem_box(objective, dim, bounds), problem_source(objective)
        return Objective(box, compiled=objective, source=source, identity=source, variables=variables)
    if not isinstance(objective, DeviceObjective) and not callable(objective):
        raise TypeError(
            "the objective must be a problem's name, a Problem, a ConstrainedProblem, a DeviceObjective or a callable, "
            f"got {objective!r} ({type(objective).__name__})"
        )
    if bounds is None:
        raise ValueError("bounds must be given, in fit or to the constructor: one pair (low, high) for every variable")
    box, variables = search_box(bounds, dim)
    if isinstance(objective, DeviceObjective):
        source = {"device_objective": objective.name}
        return Objective(box, compiled=objective, source=source, identity=objective, variables=variables)
    source = {
        "callable": f"{getattr(objective, '__module__', '?')}:{getattr(objective, '__qualname__', repr(objective))}"
    }
    of_point = NanOnError(objective) if on_error == "nan" else objective
    function = objective if vectorized else RowByRow(of_point, n_jobs, max_eval_time=max_eval_time)
    return Objective(box, function=function, source=source, identity=objective, variables=variables)


def search_box(bounds: Any, dim: int | None = None) -> tuple[FloatArray, Variables | None]:
    """Return the box that an algorithm searches, and the typed variables, if there are any."""
    variables = as_variables(bounds)
    if variables is None:
        return check_bounds(bounds, dim), None
    if dim not in (None, len(variables)):
        raise ValueError(
            f"bounds has {len(variables)} variables, but the objective has dim={dim} variables; give as many, or the "
            f"objective dim={len(variables)}"
        )
    return variables.box, variables


class UserFunction(NamedTuple):
    """A user's Python function of arrays, with checked return values.

    Attributes
    ----------
    function : callable
        The function.
    name : str
        Its name in messages.
    feasible : callable or None
        feasible(X) says which rows of X it may be called with; None: with all.
    """

    function: Callable[[Array], Array]
    name: str
    feasible: Callable[[Array], Array] | None = None

    def after(self, change: Callable[[Array], Array]) -> UserFunction:
        """Return this function of `change(X)` as a function of X."""
        feasible = None if self.feasible is None else partial(call_after, self.feasible, change)
        return UserFunction(partial(call_after, self.function, change), self.name, feasible)


def call_after(function: Callable[[Array], Array], change: Callable[[Array], Array], X: Array) -> Array:
    """Return function(change(X))."""
    return function(change(X))


def user_functions(rules: FeasibilityRules) -> list[UserFunction]:
    """Return the Python functions of arrays of a constrained problem."""
    if not rules.problem.vectorized:
        return []
    return [
        UserFunction(rules.problem.constraint_values, "the constraints' function"),
        UserFunction(rules.problem.f, "the objective", lambda X: rules.violations(X) == 0),
    ]


def problem_box(
    problem: Problem | ConstrainedProblem, dim: int | None, bounds: Any
) -> tuple[FloatArray, Variables | None]:
    """Return box and variables of the given bounds or, where they are None, of the problem's own."""
    if dim is not None and dim != problem.dim:
        raise ValueError(f"dim={dim} was given, but {problem!r} has dim={problem.dim}")
    if bounds is not None:
        return search_box(bounds, problem.dim)
    if isinstance(problem, ConstrainedProblem) and problem.variables is not None:
        return problem.variables.box, problem.variables
    return problem.bounds, None


def problem_source(problem: Problem | CompiledConstrainedProblem) -> dict[str, Any]:
    """Return the description of a registry's problem in a checkpoint."""
    return {"problem": problem.name, "dim": problem.dim, "options": problem.options}


def constrained_objective(
    problem: ConstrainedProblem,
    box: FloatArray,
    feasibility_tol: Any,
    identity: Any,
    variables: Variables | None = None,
) -> Objective:
    """Return a constrained problem as an objective with the codes of feasibility rules as values."""
    rules = FeasibilityRules(problem, check_real("feasibility_tol", feasibility_tol, 0))
    compiled = problem.feasibility_objective(rules.tolerance)
    source = problem_source(problem) if isinstance(problem, CompiledConstrainedProblem) else {"callable": repr(problem)}
    return Objective(
        box,
        compiled=compiled,
        function=None if compiled is not None else rules,
        source=source,
        identity=(identity, rules.tolerance),
        rules=rules,
        variables=variables,
    )


def ask_tell_objective(
    bounds: Any, constraints: Any, vectorized: bool, n_jobs: int | None, feasibility_tol: float
) -> Objective:
    """Return the objective of ask and tell under constraints: the user evaluates f, the solver the constraints."""
    problem = ConstrainedProblem(nan_values, bounds, constraints, name="told", vectorized=vectorized)
    box, variables = problem_box(problem, None, None)
    return constrained_objective(problem.with_jobs(n_jobs), box, feasibility_tol, None, variables)


def nan_values(X: Array) -> Array:
    """Return NaN for every row of X, or for one point."""
    return X[..., 0] * np.nan
