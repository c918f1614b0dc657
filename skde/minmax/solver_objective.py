"""The objective of a MinMaxSolver: as it is given to `fit`, and given or found again for `resume`."""

from __future__ import annotations

from typing import Any

from skde.engines import CoevolutionSpec
from skde.functions.forms import AUTO, CallOptions
from skde.minmax.objective import MinMaxObjective, resolve_minmax
from skde.minmax.spec import MinMaxParameters
from skde.objectives.objective import ROWS
from skde.problems import find_forms, get_problem
from skde.typing import FloatArray
from skde.variables import Variables

Space = Variables | FloatArray  # variables where they are typed, else the box


def resolve_objective(
    given: MinMaxParameters,
    f: Any,
    bounds_x: Any = None,
    bounds_y: Any = None,
    dim: int | None = None,
    takes: str | None = None,
) -> MinMaxObjective:
    """Return the objective for the arguments of `fit`; bounds of None are the solver's.

    `takes` is the form that a saved fit found, of a function that is given again.
    """
    rows = AUTO if given.pairwise == AUTO else not given.pairwise
    if rows == AUTO and takes is not None:
        rows = takes == ROWS
    return resolve_minmax(
        f,
        given.bounds_x if bounds_x is None else bounds_x,
        given.bounds_y if bounds_y is None else bounds_y,
        dim=dim,
        feasibility_tol=given.feasibility_tol,
        calls=CallOptions(rows, given.n_jobs, given.on_error, given.max_eval_time),
    )


def resolve_again(
    given: MinMaxParameters,
    f: Any,
    spec: CoevolutionSpec,
    space_x: Space,
    space_y: Space | None,
    takes: str | None = None,
) -> MinMaxObjective:
    """Return the objective for the argument of `resume`, checked for the kind and the sizes of the fit."""
    if isinstance(f, str):
        f = get_problem(f, dim=len(space_x))
    if (find_forms(f).constrained is not None) != (spec.constraints > 0):
        kind = "a constrained problem" if spec.constraints else "a function of x and y"
        raise ValueError(f"resume: the fit is of {kind}, got {f!r}")
    objective = resolve_objective(given, f, space_x, space_y, takes=takes)
    if (problem := objective.problem) is not None:
        sizes, others = (spec.inequalities, spec.equalities), (problem.n_inequalities, problem.n_equalities)
        if others != sizes:
            raise ValueError(
                f"resume: the fit has {sizes[0]} inequalities and {sizes[1]} equalities, {f!r} has {others[0]} and "
                f"{others[1]}"
            )
    return objective


def find_named_objective(given: MinMaxParameters, source: dict[str, Any]) -> MinMaxObjective:
    """Return the objective of a loaded fit, where its name is enough to find it."""
    if "problem" not in source:
        what = source.get("callable") or "given to ask and tell"
        raise ValueError(f"resume needs the function again (it was {what}): resume(f)")
    return resolve_objective(given, get_problem(source["problem"], dim=source["dim"]))
