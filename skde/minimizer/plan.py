"""The plan of a fit, made from a Minimizer's parameters and what is known of the objective."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from skde.algorithms import ALGORITHMS, Algorithm, get_algorithm
from skde.algorithms.auto import AUTO, Choice, FitProperties, rule
from skde.algorithms.base import MOST_INDIVIDUALS
from skde.algorithms.restarts import LEAST_AGREEING, list_restarts
from skde.algorithms.sequence import AlgorithmSequence
from skde.fit.phases.scipy_search import QUASI_NEWTON, SIMPLEX
from skde.fit.plan import FitPlan, Search, limits_before_end, list_searches, most_choices, plan_searches
from skde.fit.polish_budget import check_polish, default_evals, reserve_evals
from skde.islands import Migration
from skde.minimizer.parameters import LARGEST_FINAL, MinimizerParameters
from skde.objectives.feasibility import LARGEST, feasibility_codes
from skde.objectives.objective import Objective
from skde.stopping import Limits, StoppingRules, check_limits, check_stopping
from skde.utils.random_state import first_seed
from skde.utils.validation import check_choice, check_dtype, check_int, check_start

PROBE = 50  # evaluations for every variable of the search that shows how many a time limit allows


def make_plan(given: MinimizerParameters, objective: Objective, x0: Any, asked: bool) -> FitPlan:
    """Return the plan of a new fit.

    Parameters
    ----------
    given : MinimizerParameters
        The parameters.
    objective : Objective
        The objective, of which box, variables and rules count.
    x0 : array-like or None
        The first points of every initial population, as points of the box.
    asked : bool
        Whether a user evaluates the points, so that nobody knows how long this takes.
    """
    n_runs, n_islands = check_int("n_runs", given.n_runs, 1, 2**20), check_int("n_islands", given.n_islands, 1, 2**16)
    limits, final_evals, dim = limits_of(given), check_final_evals(given), len(objective.box)
    polish = check_polish(given.polish)
    default, n_restarts, timed = False, 0, False
    if isinstance(given.algorithm, str) and given.algorithm == AUTO:
        restarts = make_restarts(given, objective, limits, n_islands)
        choice = choose(given, objective, x0, limits, n_islands)
        left = limits.without(choice.polish_evals, dim).evals(dim) if restarts else None
        searches, n_restarts = (*restarts, *list_searches(choice.algorithm, left)), len(restarts)
        by_time = limits.max_time is not None and not asked
        timed = by_time and leaves_all(given, replace(limits, max_time=None), n_islands)
        if given.verbose:
            print_choice(choice, n_restarts, timed)
        if timed:
            searches = plan_searches(dim, objective.rules is not None, objective.variables, PROBE * dim)
        if polish is None and choice.polish_evals:
            polish, default = SIMPLEX if isinstance(choice.algorithm, AlgorithmSequence) else QUASI_NEWTON, True
    else:
        searches = (Search(list_algorithms(given, n_runs)),)
    polish = False if polish is None else polish
    return FitPlan(
        box=objective.box,
        variables=objective.variables,
        start=x0,
        constrained=objective.rules is not None,
        searches=searches,
        n_restarts=n_restarts,
        timed=timed,
        polish=polish,
        polish_is_default=default,
        final_evals=final_evals,
        limits=limits,
        planned=limits_before_end(limits, final_evals).without(reserve_evals(polish, dim, limits), dim),
        rules=rules_of(given, objective.rules is not None),
        n_runs=n_runs,
        n_islands=n_islands,
        migration=check_migration(given.migration, n_islands),
        dtype=choose_dtype(given, objective.rules is not None),
        seed=first_seed(given.random_state),
    )


def renew_plan(given: MinimizerParameters, plan: FitPlan) -> FitPlan:
    """Return the plan of a fit that continues, with the limits and the rules that are set now."""
    limits, final_evals = limits_of(given), check_final_evals(given)
    polish = check_polish(given.polish)
    default = polish is None and plan.polish_is_default and plan.polish_evals > 0
    return replace(
        plan,
        limits=limits,
        final_evals=final_evals,
        polish=plan.polish if default else False if polish is None else polish,
        polish_is_default=default,
        rules=rules_of(given, plan.constrained),
    )


def warm_plan(given: MinimizerParameters, plan: FitPlan, place: int) -> FitPlan:
    """Return the plan of a second fit from the populations of the first: the search at `place` is its only one."""
    plan = renew_plan(given, plan)
    if place + 1 == len(plan.searches):
        return plan
    alone = Search(plan.searches[place].algorithms)
    return replace(
        plan,
        searches=(*plan.searches[:place], alone),
        n_restarts=min(place, plan.n_restarts),
        polish=False if plan.polish_is_default else plan.polish,
        polish_is_default=False,
    )


def limits_of(given: MinimizerParameters) -> Limits:
    """Return the limits that are set now."""
    return check_limits(given.max_iter, given.max_evals, given.max_time, given.max_stall_time)


def check_final_evals(given: MinimizerParameters) -> int:
    """Return the evaluations of a run at its end, which must leave others, and no polish beside them."""
    final_evals = check_int("final_evals", given.final_evals, 0, LARGEST_FINAL)
    if final_evals and given.polish not in (None, False):
        raise ValueError(
            f"final_evals={final_evals} is for noisy functions, where a local search follows the noise: leave out "
            f"final_evals or polish={given.polish!r}"
        )
    if given.max_evals is not None and final_evals and check_int("max_evals", given.max_evals, 1) <= final_evals:
        raise ValueError(f"final_evals must be less than max_evals={given.max_evals}, got {final_evals}")
    return final_evals


def rules_of(given: MinimizerParameters, constrained: bool) -> StoppingRules:
    """Return the checked rules for stopping; with constraints, only feasible points reach a target."""
    rules = check_stopping(given.target, given.tol, given.atol, given.stagnation)
    if constrained and rules.target is not None:
        rules = rules._replace(target=min(float(feasibility_codes(np.array(rules.target), np.zeros(()))), LARGEST))
    return rules


def choose_dtype(given: MinimizerParameters, constrained: bool) -> np.dtype[Any]:
    """Return the precision of a fit."""
    dtype = check_dtype(given.dtype)
    if constrained:
        check_constrained_dtype(dtype)
    return np.dtype(dtype)


def check_constrained_dtype(dtype: str) -> None:
    """Refuse single precision where there are constraints: the codes of feasibility rules need more."""
    if dtype != "float64":
        raise ValueError(f"dtype must be 'float64' where there are constraints, got {dtype!r}")


def check_migration(migration: Any, n_islands: int) -> Migration | None:
    """Return the exchange of individuals, which needs islands."""
    if migration is not None and not isinstance(migration, Migration):
        raise TypeError(f"migration must be a Migration or None, got {migration!r} ({type(migration).__name__})")
    if migration is not None and n_islands == 1:
        raise ValueError("migration needs islands to go to: n_islands must be at least 2, got 1")
    return migration


# -- algorithms --------------------------------------------------------------------------------------------------------


def list_algorithms(given: MinimizerParameters, n_runs: int) -> tuple[Algorithm, ...]:
    """Return one parameter object, or one for each run."""
    if not isinstance(given.algorithm, Sequence) or isinstance(given.algorithm, str):
        return (resolve_algorithm(given.algorithm),)
    algorithms = tuple(get_algorithm(algorithm) for algorithm in given.algorithm)
    if len(algorithms) != n_runs:
        raise ValueError(f"algorithm has {len(algorithms)} entries, but n_runs={n_runs}; give one a run")
    if len({type(algorithm) for algorithm in algorithms}) != 1:
        raise ValueError("algorithm: all entries must be of one class")
    return algorithms


def resolve_algorithm(given: Any) -> Algorithm:
    """Return the parameter object of a name; one that is given is returned unchanged."""
    if not isinstance(given, Algorithm):
        check_choice("algorithm", given, (AUTO, *ALGORITHMS))
    return get_algorithm(given)


def make_restarts(
    given: MinimizerParameters, objective: Objective, limits: Limits, n_islands: int
) -> tuple[Search, ...]:
    """Return the independent restarts of a fit without limits; none where something else says when it is to end."""
    if not leaves_all(given, limits, n_islands) or objective.rules is not None or is_discrete(objective):
        return ()
    return tuple(Search((algorithm,), evals) for algorithm, evals in list_restarts(len(objective.box)))


def leaves_all(given: MinimizerParameters, limits: Limits, n_islands: int) -> bool:
    """Return whether a user leaves to the fit how it searches and when it ends."""
    rules = given.tol, given.stagnation, given.polish
    unlimited = limits == Limits() and rules == (None, None, None) and not (given.atol or given.final_evals)
    return unlimited and n_islands == 1


def is_discrete(objective: Objective) -> bool:
    """Return whether some variables have steps."""
    return objective.variables is not None and objective.variables.discrete


def running_algorithm(plan: FitPlan, spent: tuple[int, ...]) -> Algorithm | AlgorithmSequence | list[Algorithm]:
    """Return what runs, in the form of `Minimizer.algorithm_`; `spent` are evaluations of the searches before.

    Restarts that have not begun are left out: the fit may end before them.
    """
    return combine_searches(plan.searches[: len(spent) + 1] if len(spent) < plan.n_restarts else plan.searches, spent)


def combine_searches(
    searches: Sequence[Search], spent: tuple[int, ...]
) -> Algorithm | AlgorithmSequence | list[Algorithm]:
    """Return the algorithms of some searches in one object."""
    if len(searches) == 1:
        algorithms = searches[0].algorithms
        return algorithms[0] if len(algorithms) == 1 else list(algorithms)
    algorithms, evals = zip(*((search.algorithms[0], search.evals or 0) for search in searches), strict=True)
    return AlgorithmSequence(algorithms, evals, spent)


def choose(given: MinimizerParameters, objective: Objective, x0: Any, limits: Limits, n_islands: int) -> Choice:
    """Return the choice of "auto" for a fit."""
    dim, polish = len(objective.box), check_polish(given.polish)
    searching = limits_before_end(limits, check_final_evals(given))
    kept = 0 if polish is None else reserve_evals(polish, dim, limits)
    setting = searching.without(kept, dim).to_setting(dim, n_islands)
    several = given.final_evals or given.tol is not None or given.atol or given.stagnation is not None
    choice = rule(
        FitProperties(
            dim=dim,
            max_evals=setting.max_evals,
            max_iter=setting.max_iter,
            constrained=objective.rules is not None,
            discrete=is_discrete(objective),
            n_choices=most_choices(objective.variables),
            n_start=len(check_start(x0, objective.box, MOST_INDIVIDUALS)),
            n_islands=n_islands,
            one_search=bool(several),
            polish=default_evals(dim, None if polish is not None else limits.evals(dim)),
        )
    )
    return choice


def print_choice(choice: Choice, n_restarts: int, timed: bool) -> None:
    """Print what "auto" chose, and why."""
    if timed:
        print("skde: algorithm='auto' searches a little, and plans by the time that is left then")
        return
    if n_restarts:
        print(f"skde: algorithm='auto' makes up to {n_restarts} searches, and ends when {LEAST_AGREEING} of them agree")
    text = str(choice.algorithm)
    if choice.polish_evals:
        method = SIMPLEX if isinstance(choice.algorithm, AlgorithmSequence) else QUASI_NEWTON
        text += f", then {method} for at most {choice.polish_evals}"
    print(f"skde: algorithm='auto' chose {text}: {choice.reason}")
