"""Every form of objective that a user may pass, made into one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from skde.device_objective import DeviceObjective
from skde.engines import Compiled
from skde.problems import Problem, get_problem
from skde.returned import RowByRow, real_values
from skde.typing import Array, FloatArray
from skde.validation import check_bounds, check_int


class Objective:
    """An objective with its box: compiled, or a Python function of whole populations.

    Parameters
    ----------
    box : ndarray of shape (dim, 2)
        The bounds.
    compiled : Compiled or None
        What the kernels call.
    function : callable or None
        f(X) -> (n,) on NumPy or CuPy arrays, where there is no compiled form.
    source : dict
        What a checkpoint notes down to find the objective again.
    """

    def __init__(
        self,
        box: FloatArray,
        compiled: Compiled | None = None,
        function: Callable[[Array], Any] | None = None,
        source: dict[str, Any] | None = None,
        origin: Any = None,
    ) -> None:
        self.box = box
        self.compiled = compiled
        self.function = function
        self.source = source or {}
        self.origin = origin  # equal for what is the same function

    def values(self, X: Array, xp: Any) -> Array:
        """Return f of the rows of X as an (n,) array of X's library and dtype.

        Raises
        ------
        ValueError, TypeError
            When the user's function returns anything else than n real numbers.
        """
        if self.function is None:
            raise RuntimeError("a compiled objective is evaluated by the engine")
        return real_values(self.function(X), len(X), X.dtype, xp, "the objective's return value")


def resolve(
    objective: Any,
    dim: int | None,
    bounds: Any,
    *,
    vectorized: bool = True,
    n_jobs: int | None = None,
    dtype: Any = np.float64,
) -> Objective:
    """Return the objective in the one form that the drivers use.

    Parameters
    ----------
    objective : str, Problem, DeviceObjective or callable
        What the user passed.
    dim : int or None
        The dimension asked for.
    bounds : array-like or None
        The box; a problem brings its own.
    vectorized : bool
        Whether a callable takes whole populations.
    n_jobs : int or None
        joblib workers of a scalar callable.
    """
    if isinstance(objective, str):
        objective = get_problem(objective, dim=dim)
    if isinstance(objective, Problem):
        if dim is not None and dim != objective.dim:
            raise ValueError(f"dim={dim} was given, but {objective!r} has dim={objective.dim}")
        box = objective.bounds if bounds is None else check_bounds(bounds, objective.dim)
        source = {"problem": objective.name, "dim": objective.dim, "options": objective.options}
        return Objective(box, compiled=objective, source=source, origin=source)
    if dim is not None:
        dim = check_int("dim", dim, 1)
    if not isinstance(objective, DeviceObjective) and not callable(objective):
        raise TypeError(
            "the objective must be a problem's name, a Problem, a DeviceObjective or a callable, "
            f"got {objective!r} ({type(objective).__name__})"
        )
    if bounds is None:
        raise ValueError("bounds must be given, in fit or to the constructor: pairs (low, high), one a variable")
    box = check_bounds(bounds, dim)
    if isinstance(objective, DeviceObjective):
        return Objective(box, compiled=objective, source={"device_objective": objective.name}, origin=objective)
    source = {
        "callable": f"{getattr(objective, '__module__', '?')}:{getattr(objective, '__qualname__', repr(objective))}"
    }
    function = objective if vectorized else RowByRow(objective, n_jobs)
    return Objective(box, function=function, source=source, origin=objective)
