"""The objective of a Minimizer: as it is given, found again after loading, or without a function for ask and tell."""

from __future__ import annotations

from typing import Any

from skde.fit.results import Rules
from skde.functions.forms import AUTO, CallOptions, ConstraintsReturned
from skde.minimizer.parameters import MinimizerParameters, check_parameters, row_jobs
from skde.objectives.caller_library import CallerLibrary, move_to_host
from skde.objectives.objective import ROWS, Objective, as_objective, make_ask_tell_objective, search_box
from skde.problems import find_forms, get_problem
from skde.problems.scipy_constraints import constraint_list
from skde.typing import FloatArray
from skde.variables import Variables


def make_objective(
    given: MinimizerParameters,
    library: CallerLibrary | None,
    objective: Any,
    dim: int | None,
    bounds: Any,
    takes: str | None = None,
    returned: ConstraintsReturned | None = None,
) -> Objective:
    """Return the objective for the arguments of `fit`; a Python function takes the arrays of the caller's library.

    `takes` is the form that a saved fit found, of a function that is given again; `returned` is a call in which it has
    returned constraints.
    """
    vectorized = given.vectorized
    if vectorized == AUTO and takes is not None:
        vectorized = takes == ROWS
    plain = library is not None and find_forms(objective).function is not None
    return as_objective(
        library.wrap(objective) if library is not None and plain else objective,
        dim,
        bounds,
        calls=CallOptions(vectorized, row_jobs(given), given.on_error, given.max_eval_time),
        constraints=given.constraints,
        feasibility_tol=given.feasibility_tol,
        returned=returned,
    )


def find_saved_objective(
    given: MinimizerParameters, source: dict[str, Any], space: Variables | FloatArray, rules: Rules | None
) -> Objective:
    """Return the objective of a loaded fit, where its name is enough to find it.

    Parameters
    ----------
    given : MinimizerParameters
        Those of the Minimizer.
    source : dict
        The file's entry on the objective.
    space : Variables or ndarray of shape (dim, 2)
        The variables of the fit where they are typed, else the box.
    rules : FeasibilityRules, StoredOutcomes or None
        Those of the fit.
    """
    if "problem" not in source:
        what = source.get("callable") or source.get("device_objective") or "given to ask and tell"
        what += ", with constraints" if rules is not None else ""
        raise ValueError(f"resume needs the objective again (it was {what}): resume(objective)")
    problem = get_problem(source["problem"], dim=source["dim"], **source["options"])
    objective = make_objective(given, None, problem, None, space)
    check_rules(rules, objective.rules)
    return objective


def make_objective_to_ask(given: MinimizerParameters) -> Objective:
    """Check the parameters for ask, and return an objective without a function: the user evaluates it."""
    if given.bounds is None:
        raise ValueError("ask needs bounds: Minimizer(bounds=[(low, high), ...])")
    check_parameters(given)
    objective = constraints_alone(given)
    if objective is None:
        box, variables = search_box(move_to_host(given.bounds))
        objective = Objective(box, variables=variables)
    return objective


def constraints_alone(given: MinimizerParameters) -> Objective | None:
    """Return an objective with the constraints alone, for ask and tell; None without constraints."""
    if not constraint_list(given.constraints):
        return None
    bounds, tolerance = move_to_host(given.bounds), given.feasibility_tol
    return make_ask_tell_objective(bounds, given.constraints, given.vectorized, row_jobs(given), tolerance)


def check_eval_time(given: MinimizerParameters, objective: Objective) -> None:
    """Refuse a time limit of one evaluation for other functions than those of one point."""
    if given.max_eval_time is not None and not objective.by_rows:
        raise ValueError(
            f"max_eval_time={given.max_eval_time} is for a Python function of one point (vectorized=False); the "
            "evaluations of one call cannot be ended one by one"
        )


def check_noise(given: MinimizerParameters, objective: Objective) -> None:
    """Refuse evaluations for a noisy function, where the objective has no noise."""
    if given.final_evals and objective.compiled is not None:
        raise ValueError(
            f"final_evals={given.final_evals} is for noisy Python functions; a compiled objective has no noise, "
            "so final_evals must be 0"
        )


def check_rules(before: Rules | None, now: Rules | None) -> None:
    """Check that an objective given again has constraints if the first one had, and the same tolerance."""
    first, given = (
        "no constraints" if rules is None else f"constraints and feasibility_tol={rules.tolerance!r}"
        for rules in (before, now)
    )
    if first != given:
        raise ValueError(
            f"resume: the fit began with {first}, and now there are {given}; constraints are given by "
            "set_params(constraints=...) or as a ConstrainedProblem"
        )
