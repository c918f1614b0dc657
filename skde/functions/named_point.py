"""Functions of one point of named variables."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from skde.functions.pointwise import NanOnError, RowByRow, read_point_value
from skde.typing import FloatArray
from skde.variables import Variables


class NamedPoint:
    """A function of the values of named variables as one of their numbers.

    The function gets a dict, or the values as keywords where the names of its parameters are the variables'. A
    function of one parameter with the name of the only variable gets the value, unless it raises and takes a dict.

    Parameters
    ----------
    function : callable
        The user's function.
    variables : Variables
        The variables.
    """

    def __init__(self, function: Callable[..., Any], variables: Variables) -> None:
        self.function = function
        self.variables = variables
        self._keywords = takes_names(function, variables.names)
        self._certain = not self._keywords or not binds(function, {}, None)

    def __call__(self, x: FloatArray) -> Any:
        """Return the function's value at a point."""
        values = self.variables.params(x)
        if not self._keywords:
            return self._at_dict(values)
        if self._certain:
            return self.function(**values)
        try:
            answer = self.function(**values)
        except Exception:
            try:
                answer = self.function(values)
            except Exception:
                answer = None
            if answer is None:
                raise
            self._keywords = False
        self._certain = True
        return answer

    def _at_dict(self, values: dict[str, Any]) -> Any:
        try:
            return self.function(values)
        except Exception as error:
            names = ", ".join(values)
            error.add_note(
                f"with named variables a function of one point gets a dict, here {values!r}, or keywords where its "
                f"parameters are {names}; a function of arrays of points gets their numbers"
            )
            raise


def rows_of_point(
    function: Callable[..., Any],
    variables: Variables | None,
    n_jobs: int | None,
    check: Callable[..., Any] = read_point_value,
    max_eval_time: float | None = None,
) -> RowByRow:
    """Return a user's function of one point, of numbers or of named variables, as a function of points."""
    failing = function if isinstance(function, NanOnError) else None
    if variables is not None and variables.named:
        function = NamedPoint(function, variables)
    return RowByRow(function, n_jobs, check, failing, max_eval_time)


def takes_names(function: Callable[..., Any], names: tuple[str, ...]) -> bool:
    """Return whether a function's parameters are these names: it takes them as keywords, and no single point."""
    values = dict.fromkeys(names)
    if not binds(function, values):
        return False
    return not binds(function, {}, None) or set(names) <= parameter_names(function)


def binds(function: Callable[..., Any], keywords: dict[str, Any], *given: Any) -> bool:
    """Return whether a function can be called with these arguments, as far as its signature is known."""
    try:
        inspect.signature(original(function)).bind(*given, **keywords)
    except (TypeError, ValueError):
        return False
    return True


def find_refused_signature(function: Callable[..., Any], count: int) -> str:
    """Return the signature of a function that cannot take this number of arguments; empty: it can, or is not known."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return ""
    return "" if binds(function, {}, *[None] * count) else str(signature)


def parameter_names(function: Callable[..., Any]) -> set[str]:
    """Return the names of a function's parameters that may be keywords."""
    kinds = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    parameters = inspect.signature(original(function)).parameters
    return {name for name, parameter in parameters.items() if parameter.kind in kinds}


def original(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the user's function in one whose exceptions become NaN."""
    return function.function if isinstance(function, NanOnError) else function
