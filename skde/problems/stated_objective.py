"""The base class of objectives that state their forms, and the statement of a Python function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from skde.engines import PYTHON_ON_CPU, Compiled
from skde.typing import FloatArray
from skde.variables import Variables


class StatedObjective:
    """An objective that states its forms; a solver or an engine takes the one that it can use.

    A kind of objective derives from this class and sets the forms and facts that it has; this class itself has none.

    Attributes
    ----------
    function : callable or None
        Python function, of arrays of points or of one point.
    f_opt : float or None
        The minimum, where it is known.
    """

    function: Callable[..., Any] | None = None
    f_opt: float | None = None

    @property
    def functor(self) -> Compiled | None:
        """The compiled function, which kernels call."""
        return None

    @property
    def constrained(self) -> Any:
        """The function with constraints, a ConstrainedProblem."""
        return None

    @property
    def game(self) -> Any:
        """The compiled function of x and y, a MinMaxProblem."""
        return None

    @property
    def callable_form(self) -> Callable[..., Any] | None:
        """The form that Python calls: the function, or the compiled one, which takes arrays of points."""
        return self.function or cast(Callable[..., Any] | None, self.functor)

    @property
    def space(self) -> Variables | FloatArray | None:
        """Its own variables where they are typed, else its box; None: the caller has to give bounds."""
        return None

    @property
    def cpu_reason(self) -> str | None:
        """The reason why device="auto" is the CPU; None where it may be a GPU."""
        return PYTHON_ON_CPU if self.functor is None else self.functor.cpu_only

    @property
    def file_entry(self) -> dict[str, Any]:
        """Its entry in a file: what finds it again, or its name for errors."""
        return {}

    @property
    def identity(self) -> Any:
        """Key that is equal for equal functions."""
        return self


class PythonFunction(StatedObjective):
    """The statement of a Python function.

    Parameters
    ----------
    function : callable
        The function.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    @property
    def file_entry(self) -> dict[str, Any]:
        """The name of the function, for errors."""
        module = getattr(self.function, "__module__", "?")
        return {"callable": f"{module}:{getattr(self.function, '__qualname__', repr(self.function))}"}

    @property
    def identity(self) -> Any:
        """The function itself."""
        return self.function
