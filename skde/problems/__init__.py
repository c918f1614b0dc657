"""The registry of test problems: suites and friendly names."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any

from skde.problems import classic, nashed2012, qin2012
from skde.problems.base import Problem
from skde.validation import check_int, nearest

__all__ = ["Problem", "get_problem", "problem_names"]

DEFAULT_DIM = 30
SUITES: tuple[ModuleType, ...] = (classic, nashed2012, qin2012)
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


def problem_names() -> list[str]:
    """Return every name that `get_problem` knows, friendly ones first."""
    return [*ALIASES, *(name for suite in SUITES for name in suite.NAMES)]


def get_problem(name: str, dim: int | None = None, **options: Any) -> Problem:
    """Return a problem of the registry.

    Parameters
    ----------
    name : str
        A suite's name such as "nashed2012/f9", or a friendly one such as "rastrigin" (see `problem_names`).
    dim : int or None, default None
        Variables; None: 30.
    **options
        Of the suite; nashed2012 has as_run and index_base.

    Returns
    -------
    problem : Problem

    Raises
    ------
    ValueError, TypeError
        For an unknown name (the nearest is suggested), dimension or option.

    Examples
    --------
    >>> from skde import get_problem
    >>> get_problem("rastrigin", dim=10)
    Problem('nashed2012/f9', dim=10)
    """
    canonical = ALIASES.get(name, name)
    for suite in SUITES:
        if canonical in suite.NAMES:
            smallest = suite.smallest_dim(canonical) if hasattr(suite, "smallest_dim") else 1
            dim = check_int(f"dim of {name!r}", DEFAULT_DIM if dim is None else dim, smallest, 2**20)
            allowed = list(inspect.signature(suite.build).parameters)[2:]
            for option in options:
                if option not in allowed:
                    raise TypeError(f"{name!r} has no option {option!r}; it has {', '.join(allowed) or 'none'}")
            problem: Problem = suite.build(canonical, dim, **options)
            return problem
    raise ValueError(
        f"there is no problem named {name!r}{nearest(name, problem_names())} (skde.problem_names() lists all)"
    )
