"""Names, titles and minima of fitted solvers, as plots need them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skde.algorithms import Algorithm, describe, get_algorithm
from skde.algorithms.auto import AUTO
from skde.algorithms.sequence import AlgorithmSequence
from skde.base import BaseSolver, source_of
from skde.problems import ALIASES, get_problem, optimal_value
from skde.result import History, RunResult


def check_solver(estimator: Any) -> None:
    """Refuse an estimator without the runs of a solver.

    Raises
    ------
    TypeError
        With the solvers that have them.
    """
    if not isinstance(estimator, BaseSolver):
        raise TypeError(
            f"estimator must be a fitted Minimizer or MinMaxSolver, which have runs and a population, got "
            f"{type(estimator).__name__}"
        )


def problem_of(solver: BaseSolver) -> Any:
    """Return the registry's problem that was solved, or None."""
    source = source_of(solver)
    if "problem" not in source:
        return None
    return get_problem(source["problem"], dim=source["dim"], **source.get("options", {}))


def minimum_of(solver: BaseSolver) -> float | None:
    """Return the minimum of the problem that was solved, where it is known."""
    problem = problem_of(solver)
    return None if problem is None else optimal_value(problem)


def name_objective(solver: BaseSolver) -> str | None:
    """Return the name of the objective, with the number of variables of a problem; None for a lambda."""
    source = source_of(solver)
    if "problem" in source:
        # Problems have the names of their suites; an alias says more.
        aliases = {name: alias for alias, name in ALIASES.items()}
        return f"{aliases.get(source['problem'], source['problem'])}, D = {source['dim']}"
    name = str(source.get("device_objective") or source.get("callable") or "").rpartition(":")[2].rpartition(".")[2]
    return None if not name or name.startswith("<") else name


def name_of(solver: Any) -> str | None:
    """Return the name of a solver's algorithm, as it was given; its class's for other solvers."""
    if getattr(solver, "algorithm", None) == AUTO:
        return AUTO
    algorithm = getattr(solver, "algorithm_", getattr(solver, "algorithm", None))
    if isinstance(algorithm, AlgorithmSequence):
        return algorithm.name
    if isinstance(algorithm, str | Algorithm):
        return str(describe(get_algorithm(algorithm))["name"])
    return None if isinstance(algorithm, list | tuple) else type(solver).__name__


def histories_of(result: Any) -> list[History]:
    """Return the histories of a result, or of several runs.

    Parameters
    ----------
    result : History, RunResult, OptimizeResult with `history`, or list of these
        A result.

    Raises
    ------
    TypeError
        For an object without a history.
    """
    if isinstance(result, Sequence):
        return [history for one in result for history in histories_of(one)]
    if isinstance(result, History):
        return [result]
    history = result.history if isinstance(result, RunResult) else getattr(result, "history", None)
    if not isinstance(history, History):
        raise TypeError(
            "result must be a RunResult, a list of these such as runs_, or a result of skde.minimize, which has a "
            f"history; got {type(result).__name__}"
        )
    return [history]
