"""Suites of test functions: of skde, of platforms and other packages, and of users."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import entry_points

import numpy as np

from skde.benchmark.functions import Function, Suite
from skde.benchmark.platforms import coco, ioh, minion
from skde.benchmark.user_functions import ENTRY_POINTS, user_suite
from skde.problems import Problem, get_problem, problem_names
from skde.utils.validation import check_choice


def skde_function(suite: str, name: str, dim: int) -> Function:
    """Return a function of one of skde's suites."""
    return problem_function(name, get_problem(f"{suite}/{name}", dim=dim))


def nashed2012_as_run_function(suite: str, name: str, dim: int) -> Function:
    """Return a function of nashed2012 with the weights and factors of the paper's program."""
    return problem_function(name, get_problem(f"nashed2012/{name}", dim=dim, as_run=True))


def problem_function(name: str, problem: Problem) -> Function:
    """Return one of skde's problems as a function of a suite."""

    def of_lists(points: list[list[float]]) -> list[float]:
        values: list[float] = problem(np.asarray(points)).tolist()
        return values

    return Function(name, problem, of_lists, problem.bounds, problem.f_opt)


def skde_suites() -> list[Suite]:
    """Return the suites of compiled problems."""
    names: dict[str, list[str]] = {}
    for problem in problem_names():
        suite, slash, name = problem.partition("/")
        if slash:
            names.setdefault(suite, []).append(name)
    zeros = {"nashed2012": 1e-12, "wang2012": 1e-14}
    made = [
        Suite(suite, tuple(functions), skde_function, True, zeros.get(suite, 1e-8))
        for suite, functions in names.items()
    ]
    as_run = [
        replace(suite, name="nashed2012-as-run", make=nashed2012_as_run_function)
        for suite in made
        if suite.name == "nashed2012"
    ]
    return made + as_run


def suites() -> dict[str, Suite]:
    """Return every suite by its name; suites of users by entry points are not loaded."""
    return {suite.name: suite for suite in (*skde_suites(), *minion.suites(), *coco.suites(), *ioh.suites())}


def find_suite(name: str) -> Suite:
    """Return the suite of that name; the nearest is suggested.

    Parameters
    ----------
    name : str
        A name of `suites`, the name of an entry point of the group "skde.suites", or "MODULE:NAME", which is imported
        and has one function or a mapping of names to functions.

    Raises
    ------
    ValueError, TypeError
        For a name that is not there, and for functions that cannot be used.
    """
    known = suites()
    if name not in known:
        users = {entry.name: entry for entry in entry_points(group=ENTRY_POINTS)}
        if name in users:
            return user_suite(name, users[name].load())
        if ":" in name:
            return user_suite(name)
        check_choice("suite", name, [*known, *users])
    return known[name]


def zero_of(suite: str) -> float:
    """Return the error below which papers on a suite set it to zero; 1e-8 for a suite that is not known."""
    known = suites()
    return known[suite].zero if suite in known else 1e-8
