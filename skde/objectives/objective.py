"""The common form of all objectives that a user may pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from skde.engines import PYTHON_ON_CPU, Compiled, DecodedObjective, Engine, decode
from skde.functions.forms import (
    AUTO,
    DEFAULT_CALLS,
    CalledFunction,
    CallOptions,
    ConstraintsReturned,
    Form,
    as_form,
    find_at,
)
from skde.functions.named_point import rows_of_point
from skde.functions.point_workers import Part
from skde.functions.pointwise import NanOnError, RowByRow
from skde.objectives.feasibility import FeasibilityRules
from skde.objectives.probe import UserFunction, probe_form
from skde.objectives.simulation_rules import SimulationRules
from skde.problems import ConstrainedProblem, StatedObjective, state_forms
from skde.problems.scipy_constraints import constraint_list
from skde.problems.simulation import Simulation, has_outputs, number_or_outputs, refuse_list
from skde.typing import Array, FloatArray
from skde.utils.arrays import real_values
from skde.utils.validation import check_bounds, check_int, check_real
from skde.variables import Variables, as_variables

ROWS, POINT = "rows", "point"  # the forms of a Python function in a checkpoint


class Objective:
    """An objective with its bounds: compiled, or a Python function of arrays of points.

    Parameters
    ----------
    box : ndarray of shape (dim, 2)
        Lower and upper bounds.
    compiled : Compiled or None
        Objective that the kernels call; None for a Python function.
    called : CalledFunction or None
        The Python function f(X) -> (n,) of NumPy or CuPy arrays; None for a compiled objective.
    source : dict or None
        Description of the objective in a checkpoint.
    identity : object
        Key that is equal for equal functions.
    rules : FeasibilityRules or None
        Feasibility rules of a problem with constraints. The values are then the codes of these rules.
    variables : Variables or None
        Typed variables, which have the box `box`. Compiled objective, function and rules take their values.
    """

    def __init__(
        self,
        box: FloatArray,
        compiled: Compiled | None = None,
        called: CalledFunction | None = None,
        source: dict[str, Any] | None = None,
        identity: Any = None,
        rules: FeasibilityRules | None = None,
        variables: Variables | None = None,
    ) -> None:
        self.box = box
        self.compiled = compiled if compiled is None or variables is None else DecodedObjective(compiled, variables)
        self.of_rows: Callable[[Array], Any] | None = None if called is None else called.of_rows
        self.of_point: RowByRow | None = None if called is None else called.of_point
        self.form = Form(True) if called is None or called.form is None else called.form
        self._source = source or {}
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
        if self.of_rows is None:
            raise RuntimeError("a compiled objective is evaluated by the engine")
        points = self.decode(X)
        if self.form.rows is None:
            assert self.of_point is not None
            self.form.rows = find_at(self.values_of_rows, self.of_point, points, "the objective")
        assert self.function is not None
        return self._check_values(self.function(points), X)

    def values_of_rows(self, X: Array) -> Array:
        """Return the values at the rows of X, values of the variables, by one call of a function of arrays."""
        assert self.of_rows is not None
        return self._check_values(self.of_rows(X), X)

    def _check_values(self, values: Any, X: Array) -> Array:
        if has_outputs(values, len(X)):
            raise ConstraintsReturned
        refuse_list(values, (len(X),))
        return real_values(values, X, "the objective's return value")

    @property
    def function(self) -> Callable[[Array], Any] | None:
        """The Python function of arrays: a `RowByRow` where the user's is known to take one point."""
        return self.of_point if self.form.rows is False else self.of_rows

    @property
    def source(self) -> dict[str, Any]:
        """Description of the objective in a checkpoint."""
        form = self.form if self.rules is None else self.rules.problem.form
        if self.compiled is not None or form.rows is None:
            return self._source
        return {**self._source, "takes": ROWS if form.rows else POINT, **self._returns}

    @property
    def _returns(self) -> dict[str, Any]:
        """The numbers of constraints that the function returns, for a checkpoint."""
        sizes = None if self.rules is None else self.rules.problem.returned_sizes
        return {"returns": list(sizes)} if sizes else {}

    def parts(self, X: Array, seconds_left: Callable[[], float]) -> Iterator[Part]:
        """Yield the values at points of the box as they come: of a function of one point some at a time.

        They end early when no seconds are left, but not before the first one.
        """
        if self.of_point is not None and self.form.rows is False:
            yield from self.of_point.parts(self.decode(X), seconds_left)
        elif self.rules is not None and self.by_rows:
            yield from self.rules.parts(self.decode(X), seconds_left)
        else:
            yield Part(np.arange(len(X)), self.values(X))

    def decode(self, X: Array) -> Array:
        """Return the values of the variables at points of the box."""
        return X if self.variables is None else decode(self.variables, X)

    @property
    def constrained(self) -> bool:
        """Whether there are constraints other than Bounds, which only narrow the box."""
        return self.rules is not None and self.rules.problem.has_constraints

    @property
    def noisy(self) -> bool:
        """Whether the check before the fit saw other values at the same points."""
        return self.form.noisy if self.rules is None else self.rules.problem.form.noisy

    @property
    def by_rows(self) -> bool:
        """Whether a Python function of one point is called for every row."""
        if self.rules is not None:
            return self.compiled is None and self.rules.problem.by_rows
        return self.of_point is not None and self.form.rows is False

    @property
    def cpu_reason(self) -> str | None:
        """The reason why device="auto" is the CPU; None where it may be a GPU."""
        return self.cpu_only or (PYTHON_ON_CPU if self.compiled is None else None)

    @property
    def cpu_only(self) -> str | None:
        """The reason why only the CPU, in this process, can call the function; None where others can."""
        if self.rules is not None:
            return self.rules.problem.cpu_only
        return None if self.compiled is None else self.compiled.cpu_only

    @property
    def host_work(self) -> str | None:
        """The work of the host in every evaluation, as a sentence; None where there is none."""
        if self.by_rows:
            return "the host calls the function of one point"
        if self.rules is not None and self.rules.chooses_points and self.compiled is None:
            return "the host chooses the feasible points, with which alone the objective is called"
        return None

    def probe(self, engine: Engine, dtype: np.dtype[Any], verbose: int = 0) -> None:
        """Check a Python function by a few calls, the first time, and find its form; see skde/objectives/probe.py."""
        if self._probed:
            return
        for function in self._functions:
            probe_form(function, self.decode, self.box, engine, dtype, verbose)
        self._probed = True

    @property
    def _functions(self) -> list[UserFunction]:
        """The user's Python functions."""
        if self.compiled is not None:
            return []
        if self.rules is not None:
            return user_functions(self.rules)
        return [UserFunction(self.values_of_rows, "the objective", self.form, self.of_point)]


def as_objective(
    objective: Any,
    dim: int | None,
    bounds: Any,
    *,
    calls: CallOptions = DEFAULT_CALLS,
    constraints: Any = None,
    feasibility_tol: float = 1e-6,
    returned: ConstraintsReturned | None = None,
) -> Objective:
    """Return any form of objective as an `Objective`.

    Parameters
    ----------
    objective : str, Problem, ConstrainedProblem, DeviceObjective, function of C or callable
        The user's objective.
    dim : int or None
        Number of variables; None: the problem's or the bounds'.
    bounds : array-like, Variables, mapping or None
        Lower and upper bounds, or typed variables; None: the problem's.
    calls : CallOptions, optional
        The way in which a callable is called.
    constraints : optional
        As in `ConstrainedProblem`.
    feasibility_tol : float, default 1e-6
        Tolerance of satisfied constraints, >= 0.
    returned : ConstraintsReturned or None, default None
        A call of a callable that has shown that it returns constraints too.

    Returns
    -------
    objective : Objective

    Raises
    ------
    ValueError, TypeError
        For other objectives, and for bounds, dimensions or constraints that do not fit the objective.
    """
    stated, limits = state_forms(objective, dim, bounds), (calls.n_jobs, calls.max_eval_time)
    if dim is not None:
        dim = check_int("dim", dim, 1)
    if calls.on_error == "nan" and stated.functor is not None:
        raise ValueError(f"on_error='nan' is for a Python function of one point, got {stated!r}")
    constraints = constraint_list(constraints)
    if stated.constrained is not None:
        if constraints:
            raise ValueError(f"{stated!r} has constraints, so the parameter constraints must be None")
        box, variables = problem_box(stated, dim, bounds)
        problem = stated.constrained.with_jobs(*limits, calls.on_error)
        return make_constrained_objective(problem, box, feasibility_tol, stated.identity, variables)
    if constraints and returned is not None:
        raise ValueError("the objective returns constraints, so the parameter constraints must be None")
    if constraints:
        problem, identity = add_constraints(stated, dim, bounds, constraints, calls.rows)
        box, variables = problem_box(problem, None, None)
        return make_constrained_objective(
            problem.with_jobs(*limits, calls.on_error), box, feasibility_tol, identity, variables
        )
    box, variables = problem_box(stated, dim, bounds)
    if stated.functor is not None:
        entry, key = stated.file_entry, stated.identity
        return Objective(box, compiled=stated.functor, source=entry, identity=key, variables=variables)
    function = stated.function
    assert function is not None
    given, entry = NanOnError(function) if calls.on_error == "nan" else function, stated.file_entry
    if returned is not None:
        simulation = Simulation(
            given,
            variables or box,
            name=entry["callable"],
            vectorized=calls.rows,
            n_jobs=calls.n_jobs,
            max_eval_time=calls.max_eval_time,
            found=returned,
        )
        return make_constrained_objective(
            simulation, box, feasibility_tol, simulation.identity, variables, SimulationRules
        )
    one = rows_of_point(given, variables, calls.n_jobs, number_or_outputs, calls.max_eval_time)
    # Only evaluations of one point can be ended, and the calls that find the form out might not end.
    form = as_form(False if calls.max_eval_time is not None and calls.rows == AUTO else calls.rows)
    called = CalledFunction(function, one, form)
    return Objective(box, called=called, source=entry, identity=stated.identity, variables=variables)


def add_constraints(
    stated: StatedObjective, dim: int | None, bounds: Any, constraints: list[Any], vectorized: bool | str
) -> tuple[ConstrainedProblem, Any]:
    """Return an objective with constraints of the user's as a problem, and its identity."""
    box, variables = problem_box(stated, dim, bounds)
    name = stated.file_entry.get("callable", str(stated))
    f = stated.callable_form
    assert f is not None
    problem = ConstrainedProblem(f, variables or box, constraints, name=name, vectorized=vectorized)
    return problem, ((stated.identity, variables), tuple(constraints))


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


def user_functions(rules: FeasibilityRules) -> list[UserFunction]:
    """Return the Python functions of a problem: the constraints', and then the objective."""
    problem = rules.problem
    if problem.kernel is not None:
        return []
    functions = [
        UserFunction(one.values_of_rows, "the constraints' function", one.form, one.of_point(1))
        for one in problem.nonlinear
    ]
    own = problem.values_of_rows, "the objective", problem.form, problem.of_point
    feasible = (lambda X: rules.violations(X) == 0) if rules.chooses_points else None
    return [*functions, UserFunction(*own, feasible)]


def problem_box(stated: StatedObjective, dim: int | None, bounds: Any) -> tuple[FloatArray, Variables | None]:
    """Return box and variables of the given bounds or, where they are None, of the objective's own."""
    space = stated.space
    if space is None and bounds is None:
        raise ValueError("bounds must be given, in fit or to the constructor: one pair (low, high) for every variable")
    if space is None:
        return search_box(bounds, dim)
    if dim not in (None, len(space)):
        raise ValueError(f"dim={dim} was given, but {stated!r} has dim={len(space)}")
    if bounds is not None:
        return search_box(bounds, len(space))
    return (space.box, space) if isinstance(space, Variables) else (space, None)


def make_constrained_objective(
    problem: ConstrainedProblem,
    box: FloatArray,
    feasibility_tol: Any,
    identity: Any,
    variables: Variables | None = None,
    kind: Callable[[Any, float], FeasibilityRules] = FeasibilityRules,
) -> Objective:
    """Return a constrained problem as an objective with the codes of feasibility rules, of this kind, as values."""
    rules = kind(problem, check_real("feasibility_tol", feasibility_tol, 0))
    compiled = problem.feasibility_objective(rules.tolerance)
    return Objective(
        box,
        compiled=compiled,
        called=None if compiled is not None else CalledFunction(rules),
        source=problem.file_entry,
        identity=(identity, rules.tolerance),
        rules=rules,
        variables=variables,
    )


def make_ask_tell_objective(
    bounds: Any, constraints: Any, vectorized: bool | str, n_jobs: int | None, feasibility_tol: float
) -> Objective:
    """Return the objective of ask and tell under constraints: the user evaluates f, the solver the constraints."""
    problem = ConstrainedProblem(nan_values, bounds, constraints, name="told", vectorized=vectorized)
    box, variables = problem_box(problem, None, None)
    return make_constrained_objective(problem.with_jobs(n_jobs), box, feasibility_tol, None, variables)


def nan_values(X: Array) -> Array:
    """Return NaN for every row of X, or for one point."""
    return X[..., 0] * np.nan
