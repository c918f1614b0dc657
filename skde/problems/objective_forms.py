"""The forms of any object that a user gives as an objective."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from skde.problems.c_function import find_c_function
from skde.problems.stated_objective import PythonFunction, StatedObjective

# Objects of other libraries: each function returns the statement of the objects that it knows, and None for others.
FOREIGN: tuple[Callable[[Any], StatedObjective | None], ...] = (find_c_function,)


def find_forms(objective: Any) -> StatedObjective:
    """Return the statement of an object; of one that is no objective, a statement without any form.

    The name of a problem is no object here: `state_forms` of `skde.problems` finds the problem.
    """
    if isinstance(objective, StatedObjective):
        return objective
    for find in FOREIGN:
        if (found := find(objective)) is not None:
            return found
    return PythonFunction(objective) if callable(objective) else StatedObjective()
