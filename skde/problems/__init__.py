"""Registry of test problems: suites and aliases."""

from __future__ import annotations

import inspect
from functools import lru_cache
from importlib import import_module
from types import ModuleType
from typing import Any

from skde.problems.base import Problem
from skde.problems.constraints import ConstrainedProblem
from skde.problems.minmax import MinMaxProblem
from skde.problems.objective_forms import find_forms
from skde.problems.stated_objective import StatedObjective
from skde.utils.validation import check_choice, check_int, nearest, quote
from skde.variables import as_variables

__all__ = [
    "ConstrainedProblem",
    "MinMaxProblem",
    "Problem",
    "StatedObjective",
    "find_forms",
    "get_problem",
    "problem_names",
    "state_forms",
]

# Kinds of problems, and the modules of their suites. A module is loaded when one of its problems is asked for.
SUITES = {
    "plain": ("classic", "nashed2012", "qin2012", "janssen2024", "wang2012"),
    "constrained": ("fabris2012",),
    "minmax": ("fabris2012", "minmax"),
}
ALIASES = {
    "sphere": "nashed2012/f0",
    "elliptic": "nashed2012/f1",
    "sum_squares": "nashed2012/f2",
    "schwefel_2_22": "nashed2012/f4",
    "zakharov": "nashed2012/f5",
    "schwefel_1_2": "nashed2012/f6",
    "schwefel_2_6": "nashed2012/f7",
    "dixon_price": "nashed2012/f8",
    "rastrigin": "nashed2012/f9",
    "schwefel": "nashed2012/f10",
    "katsuura": "nashed2012/f11",
    "griewank": "nashed2012/f12",
    "rosenbrock": "nashed2012/f13",
    "ackley": "nashed2012/f14",
    "griewank_rosenbrock": "nashed2012/f15",
    "scaffer_f6": "nashed2012/f16",
    "fletcher_powell": "nashed2012/f17",
    "salomon": "nashed2012/f18",
    "levy": "nashed2012/f19",
    "shifted_sphere": "qin2012/F1",
    "shifted_rosenbrock": "qin2012/F2",
    "shifted_griewank": "qin2012/F3",
    "shifted_rastrigin": "qin2012/F4",
}


def load_suite(name: str) -> Any:
    """Return the module of a suite."""
    return import_module(f"skde.problems.{name}")


def problem_names(kind: str = "plain") -> list[str]:
    """Return the names of all problems of one kind, aliases first.

    Parameters
    ----------
    kind : {"plain", "constrained", "minmax"}, default "plain"
        Functions over a box, functions with constraints, or min-max problems.

    Returns
    -------
    names : list of str

    Examples
    --------
    >>> from skde import problem_names
    >>> problem_names("constrained")[0]
    'fabris2012/p2'
    """
    suites = SUITES[check_choice("kind", kind, SUITES)]
    names = [name for suite in suites for name in load_suite(suite).NAMES[kind]]
    return [*ALIASES, *names] if kind == "plain" else names


def get_problem(name: str, dim: int | None = None, **options: Any) -> Any:
    """Return a problem of the registry.

    Parameters
    ----------
    name : str
        Name in a suite such as "nashed2012/f9", or an alias such as "rastrigin" (see `problem_names`).
    dim : int or None, default None
        Number of variables; None: the problem's or, for any number of variables, 30
        (50 in janssen2024, 100 for "fabris2012/p1").
    **options
        Options of the suite: nashed2012, qin2012, janssen2024 and wang2012 have data and folder; nashed2012 also has
        as_run and index_base, janssen2024 and wang2012 have spec.

    Returns
    -------
    problem : Problem, ConstrainedProblem or MinMaxProblem

    Raises
    ------
    ValueError, TypeError
        For a name (the nearest one is suggested), a dimension, an option or its value that is not allowed, and for
        official data that are not installed or have a wrong shape.
    FileNotFoundError
        If the folder or a file of official data is missing.
    MemoryError
        If there is no memory for the problem's data.

    Examples
    --------
    >>> from skde import get_problem
    >>> get_problem("rastrigin", dim=10)
    Problem('nashed2012/f9', dim=10)
    >>> get_problem("fabris2012/p3")
    ConstrainedProblem('fabris2012/p3', dim=10)
    """
    if not isinstance(name, str):
        raise TypeError(f"name must name a problem, got {quote(name)} ({type(name).__name__})")
    canonical = ALIASES.get(name, name)
    suite = suite_of(canonical)
    if suite is None:
        names = [name for kind in SUITES for name in problem_names(kind)]
        raise ValueError(
            f"there is no problem named {name!r}{nearest(name, names)} (skde.problem_names(kind) lists a kind)"
        )
    allowed_dims = suite.dim_range(canonical)
    dim = check_int(
        f"dim of {name!r}", allowed_dims.default if dim is None else dim, allowed_dims.least, allowed_dims.most
    )
    allowed = option_names(suite)
    for option in options:
        if option not in allowed:
            raise TypeError(f"{name!r} has no option {option!r}; it has {', '.join(allowed) or 'none'}")
    return suite.build(canonical, dim, **options)


def state_forms(objective: Any, dim: int | None = None, bounds: Any = None) -> StatedObjective:
    """Return the statement of an objective; a name's problem has `dim` variables, or as many as the bounds.

    Raises
    ------
    TypeError
        For an object that is no objective of x.
    """
    if isinstance(objective, str):
        if dim is None and (variables := as_variables(bounds)) is not None:
            dim = len(variables)
        objective = get_problem(objective, dim=dim)
    stated = find_forms(objective)
    if stated.game is not None:
        raise TypeError(f"{stated!r} is a function of x and y; a Minimizer takes functions of x alone")
    if stated.constrained is None and stated.functor is None and stated.function is None:
        raise TypeError(
            "the objective must be a problem's name, a Problem, a ConstrainedProblem, a DeviceObjective, a function of "
            f"C or a callable, got {objective!r} ({type(objective).__name__})"
        )
    return stated


@lru_cache(maxsize=256)
def suite_of(name: str) -> ModuleType | None:
    """Return the module of the suite that has a problem; None where there is no problem with this name."""
    suite = name.partition("/")[0] if "/" in name else "classic"
    if not any(suite in suites for suites in SUITES.values()):
        return None
    module = load_suite(suite)
    return module if any(name in names for names in module.NAMES.values()) else None


@lru_cache
def option_names(suite: ModuleType) -> tuple[str, ...]:
    """Return the names of the options of a suite's problems."""
    return tuple(inspect.signature(suite.build).parameters)[2:]


def optimal_value(problem: Any) -> float:
    """Return the objective's value at the solution of a problem of the registry."""
    return float(problem.f_opt if problem.game is None else problem.value)
