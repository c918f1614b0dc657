"""Every form of objective that a user may pass, made into one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from skde.arrays import real_values
from skde.engines import Compiled, Engine
from skde.objectives.device import DeviceObjective
from skde.objectives.feasibility import FeasibilityRules
from skde.objectives.probe import probe
from skde.pointwise import RowByRow
from skde.problems import MinMaxProblem, Problem, get_problem
from skde.problems.compiled_constrained import CompiledConstrainedProblem
from skde.problems.constraints import ConstrainedProblem, constraint_list
from skde.typing import Array, FloatArray
from skde.validation import check_bounds, check_int, check_real


class Objective:
    """An objective with its box: compiled, or a Python function of whole populations.

    Parameters
    ----------
    box : ndarray of shape (dim, 2)
        The bounds.
    compiled : Compiled or None
        What the kernels call.
    function : callable or None
        f(X) -> (n,) on NumPy or CuPy arrays, where there is no compiled form.
    source : dict
        What a checkpoint notes down to find the objective again.
    identity : object
        Equal for what is the same function.
    rules : FeasibilityRules or None
        Where there are constraints: what the values mean, which then are the rules' codes.
    """

    def __init__(
        self,
        box: FloatArray,
        compiled: Compiled | None = None,
        function: Callable[[Array], Any] | None = None,
        source: dict[str, Any] | None = None,
        identity: Any = None,
        rules: FeasibilityRules | None = None,
    ) -> None:
        self.box = box
        self.compiled = compiled
        self.function = function
        self.source = source or {}
        self.identity = identity
        self.rules = rules
        self._probed = False

    def values(self, X: Array) -> Array:
        """Return f of the rows of X as an (n,) array of X's library, device and dtype, in C order.

        Raises
        ------
        ValueError, TypeError
            When the user's function returns anything else than n real numbers.
        """
        if self.function is None:
            raise RuntimeError("a compiled objective is evaluated by the engine")
        return real_values(self.function(X), X, "the objective's return value")

    def probe(self, engine: Engine, dtype: np.dtype[Any]) -> None:
        """Call a Python function of whole populations with a few points, once; see skde/objectives/probe.py."""
        if self._probed or isinstance(self.function, RowByRow):
            return
        for function, what in self._functions:
            engine.apply(partial(probe, function, what, [self.box], dtype))
        self._probed = True

    @property
    def _functions(self) -> list[tuple[Callable[[Array], Array], str]]:
        """What the user wrote in Python, checked for what it returns, with its name in messages."""
        if self.compiled is not None:
            return []
        if self.rules is None:
            return [(self.values, "the objective")]
        return user_functions(self.rules.problem)


def as_objective(
    objective: Any,
    dim: int | None,
    bounds: Any,
    *,
    vectorized: bool = True,
    n_jobs: int | None = None,
    constraints: Any = None,
    feasibility_tol: float = 1e-6,
) -> Objective:
    """Return the objective in the one form that the drivers use.

    Parameters
    ----------
    objective : str, Problem, ConstrainedProblem, DeviceObjective or callable
        What the user passed.
    dim : int or None
        The dimension asked for.
    bounds : array-like or None
        The box; a problem brings its own.
    vectorized : bool
        Whether a callable takes whole populations.
    n_jobs : int or None
        joblib workers of a scalar callable.
    constraints
        As in `ConstrainedProblem`, or None.
    feasibility_tol : float
        What counts as satisfied.
    """
    if isinstance(objective, str):
        objective = get_problem(objective, dim=dim)
    if dim is not None:
        dim = check_int("dim", dim, 1)
    if isinstance(objective, MinMaxProblem):
        raise TypeError(f"{objective!r} has two sides; a Minimizer takes functions of one")
    if isinstance(objective, ConstrainedProblem):
        if constraints is not None:
            raise ValueError(f"{objective!r} has its constraints; constraints must be None beside it")
        box = problem_bounds(objective, dim, bounds)
        return constrained_objective(objective.with_jobs(n_jobs), box, feasibility_tol, objective.identity)
    if constraints is not None:
        plain = as_objective(objective, dim, bounds, vectorized=vectorized, n_jobs=n_jobs)
        name = plain.source.get("callable", str(objective))
        problem = ConstrainedProblem(objective, plain.box, constraints, name=name, vectorized=vectorized)
        identity = plain.identity, tuple(constraint_list(constraints))
        return constrained_objective(problem.with_jobs(n_jobs), problem.bounds, feasibility_tol, identity)
    if isinstance(objective, Problem):
        box, source = problem_bounds(objective, dim, bounds), problem_source(objective)
        return Objective(box, compiled=objective, source=source, identity=source)
    if not isinstance(objective, DeviceObjective) and not callable(objective):
        raise TypeError(
            "the objective must be a problem's name, a Problem, a ConstrainedProblem, a DeviceObjective or a callable, "
            f"got {objective!r} ({type(objective).__name__})"
        )
    if bounds is None:
        raise ValueError("bounds must be given, in fit or to the constructor: pairs (low, high), one a variable")
    box = check_bounds(bounds, dim)
    if isinstance(objective, DeviceObjective):
        return Objective(box, compiled=objective, source={"device_objective": objective.name}, identity=objective)
    source = {
        "callable": f"{getattr(objective, '__module__', '?')}:{getattr(objective, '__qualname__', repr(objective))}"
    }
    function = objective if vectorized else RowByRow(objective, n_jobs)
    return Objective(box, function=function, source=source, identity=objective)


def user_functions(problem: ConstrainedProblem) -> list[tuple[Callable[[Array], Array], str]]:
    """Return a problem's Python functions of whole populations, checked for what they return, with their names."""
    if not problem.vectorized:
        return []
    return [(problem.f, "the objective"), (problem.constraint_values, "the constraints' function")]


def problem_bounds(problem: Problem | ConstrainedProblem, dim: int | None, bounds: Any) -> FloatArray:
    """Return the box of a problem, which brings its own; bounds that are given take its place."""
    if dim is not None and dim != problem.dim:
        raise ValueError(f"dim={dim} was given, but {problem!r} has dim={problem.dim}")
    return problem.bounds if bounds is None else check_bounds(bounds, problem.dim)


def problem_source(problem: Problem | CompiledConstrainedProblem) -> dict[str, Any]:
    """Return what a checkpoint notes down of a problem of the registry."""
    return {"problem": problem.name, "dim": problem.dim, "options": problem.options}


def constrained_objective(
    problem: ConstrainedProblem, box: FloatArray, feasibility_tol: Any, identity: Any
) -> Objective:
    """Return a constrained problem as an objective: its values are the codes of feasibility rules."""
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
    )


def ask_tell_objective(
    bounds: Any, constraints: Any, vectorized: bool, n_jobs: int | None, feasibility_tol: float
) -> Objective:
    """Return an objective whose values are told, and whose constraints are known."""
    problem = ConstrainedProblem(nan_values, bounds, constraints, name="told", vectorized=vectorized)
    return constrained_objective(problem.with_jobs(n_jobs), problem.bounds, feasibility_tol, None)


def nan_values(X: Array) -> Array:
    """Return NaN for every row of X, or for one point."""
    return X[..., 0] * np.nan
