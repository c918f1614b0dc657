"""The evaluations and the time that a fit keeps for its polish."""

from __future__ import annotations

import math
from typing import Any

from skde.algorithms.auto import MIDDLE_DIM, MIDDLE_EVALS, MIDDLE_EVALS_OF_MANY, DefaultPolish
from skde.fit.phases.scipy_search import MOST_VARIABLES, QUASI_NEWTON, SIMPLEX, find_method, methods_of
from skde.objectives.objective import Objective
from skde.stopping import Limits
from skde.utils.validation import check_bool

# The part of a limit that is kept for the polish; of evaluations at most those of MOST_GRADIENTS gradients or, with
# Nelder-Mead, those of MOST_SIMPLEXES simplexes. With less than LEAST_SIMPLEXES it does not get far, and has the rest.
# In FEW variables, where a population needs a small part of a large budget, Nelder-Mead has a larger one.
SHARE, SHARE_OF_FEW, FEW = 0.1, 0.2, 3
MOST_GRADIENTS = 100
LEAST_SIMPLEXES = 300
MOST_SIMPLEXES = 2000
# "auto" keeps a part of a small budget, or of a middle one for DE, for the quasi-Newton search, but not more than it
# makes use of in each variable: that is more in more than MIDDLE_DIM variables. CMA-ES with a middle budget finds as
# much by itself.
SHARE_OF_MIDDLE, MOST_EVALS_PER_DIM, MOST_EVALS_OF_MANY = 0.2, 30, 60
LEAST_GRADIENTS = 2
LARGEST_LIMIT = 2**63  # a larger int may be too large for a float


def check_polish(polish: Any) -> bool | str | None:
    """Return the parameter `polish`: None, False, True or the name of a method."""
    if polish is None:
        return None
    return find_method(polish, constrained=False) if isinstance(polish, str) else check_bool("polish", polish)


def reserve_evals(polish: bool | str, dim: int, limits: Limits) -> int:
    """Return the evaluations of one run that its limits keep for the polish.

    Parameters
    ----------
    polish : bool or str
        False, True or the name of a method.
    dim : int
        Variables.
    limits : Limits
        The limits of a run.
    """
    if polish is False:
        return 0
    allowed = limits.evals(dim)
    max_evals = math.inf if allowed is None else allowed
    methods = methods_of(polish, False, dim)
    if SIMPLEX in methods and (found := simplex_evals(dim, max_evals)):
        return found
    if QUASI_NEWTON in methods and (found := quasi_newton_evals(dim, max_evals)):
        return found
    return int(min(SHARE * min(max_evals, LARGEST_LIMIT), MOST_GRADIENTS * (dim + 1)))


def simplex_evals(dim: int, max_evals: float) -> int:
    """Return the evaluations of one run that are kept for Nelder-Mead; 0 where it would not get far."""
    share = (SHARE_OF_FEW if dim <= FEW else SHARE) * min(max_evals, LARGEST_LIMIT)
    return int(min(share, MOST_SIMPLEXES * (dim + 1))) if share >= LEAST_SIMPLEXES * (dim + 1) else 0


def quasi_newton_evals(dim: int, max_evals: float) -> int:
    """Return the evaluations of one run that are kept of its budget; 0 where the population makes better use."""
    many = dim > MIDDLE_DIM
    if max_evals > (MIDDLE_EVALS_OF_MANY if many else MIDDLE_EVALS) * dim:
        return 0
    evals = int(min(SHARE_OF_MIDDLE * max_evals, (MOST_EVALS_OF_MANY if many else MOST_EVALS_PER_DIM) * dim))
    return evals if evals >= LEAST_GRADIENTS * (dim + 1) else 0


def default_evals(dim: int, max_evals: int | None) -> DefaultPolish:
    """Return the evaluations of one run that "auto" keeps for a polish, 0 where there is none."""
    if max_evals is None:
        return DefaultPolish()
    simplex = simplex_evals(dim, max_evals) if dim <= MOST_VARIABLES else 0
    return DefaultPolish(quasi_newton_evals(dim, max_evals), simplex)


def search_seconds(reserves: bool, max_time: float | None) -> float | None:
    """Return the part of a time limit that is left to the population, where a polish or final_evals follow."""
    return (1 - SHARE) * max_time if reserves and max_time is not None else max_time


def check_polishable(polish: Any, objective: Objective) -> None:
    """Refuse a method that takes no constraints where there are some, and variables that are all stepped."""
    if check_polish(polish) in (None, False):
        return
    find_method(polish, objective.constrained)
    variables = objective.variables
    if variables is not None and not variables.real_components.any():
        raise ValueError(f"polish={polish!r} needs a real variable, and {', '.join(variables.names)} all have steps")
