"""The function minimize, and methods for scipy.optimize.minimize."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult
from sklearn.base import clone

from skde.algorithms import Algorithm
from skde.callbacks import Progress
from skde.minimizer import Minimizer
from skde.problems import find_forms
from skde.scipy.inputs import takes_result
from skde.utils.validation import check_names, quote

OWN_PARAMETERS = ("bounds", "args", "method", "x0", "dim")
PARAMETERS = tuple(name for name in Minimizer().get_params(deep=False) if name not in ("algorithm", "bounds"))


def minimize(
    fun: Any,
    bounds: Any = None,
    args: tuple[Any, ...] = (),
    method: str | Algorithm = "auto",
    *,
    x0: Any = None,
    dim: int | None = None,
    **parameters: Any,
) -> OptimizeResult:
    """Minimise in one call.

    Parameters
    ----------
    fun : str, Problem, ConstrainedProblem, DeviceObjective, function of C or callable
        As in `Minimizer.fit`; a callable is ``f(X, *args)``, of arrays of points or of one point.
    bounds : array-like of shape (dim, 2), scipy.optimize.Bounds, mapping, list of Variable or None, default None
        The box, or typed variables, as in `Minimizer`.
    args : tuple, default ()
        Further arguments of a callable.
    method : str or Algorithm, default "auto"
        The algorithm; "auto": a choice by dimension and budget.
    x0, dim : default None
        As in `Minimizer.fit`.
    **parameters
        Other parameters of `Minimizer`.

    Returns
    -------
    result : scipy.optimize.OptimizeResult
        x, fun, success, status, message, nfev, nit, population, population_energies, maxcv, constr_violation, and
        history, a `History`. As elsewhere in SciPy, success means that a target or a tolerance was reached, not that
        the budget was spent.

    Raises
    ------
    ValueError, TypeError
        As `Minimizer.fit`, and for a parameter that Minimizer does not have.
    KeyboardInterrupt
        After Ctrl-C, without a result. A `Minimizer` keeps its results, and a callback that returns a true value ends
        this call with a result.

    Examples
    --------
    >>> from skde import minimize
    >>> bool(minimize("sphere", dim=5, max_evals=20_000, random_state=0).fun < 1e-6)
    True
    """
    check_names("minimize", parameters, (*OWN_PARAMETERS, *PARAMETERS))
    if not isinstance(args, tuple):
        raise TypeError(f"args must be a tuple, such as (value,), got {quote(args)} ({type(args).__name__})")
    if args and find_forms(fun).function is None:
        raise TypeError(
            f"args are passed on to a Python function, so fun must be one, got {quote(fun)}; leave args out"
        )
    objective = (lambda X, /: fun(X, *args)) if args else fun
    return Minimizer(clone_of(method), **parameters).fit(objective, dim=dim, bounds=bounds, x0=x0).result_


def clone_of(method: Any) -> Any:
    """Return a copy of a parameter object; a name is itself."""
    return clone(method) if isinstance(method, Algorithm) else method


def scipy_method(algorithm: str | Algorithm = "auto", **parameters: Any) -> Callable[..., OptimizeResult]:
    """Return a ``method`` for `scipy.optimize.minimize`.

    Parameters
    ----------
    algorithm : str or Algorithm, default "auto"
        The algorithm; "auto": a choice by dimension and budget.
    **parameters
        Of `Minimizer`; SciPy's ``options`` are added to them. SciPy's functions take one point, so vectorized is False.

    Returns
    -------
    method : callable
        Called by SciPy. It needs bounds; x0 joins the initial population. Ctrl-C raises KeyboardInterrupt, as in
        `minimize`.

    Examples
    --------
    >>> from scipy.optimize import minimize, rosen
    >>> from skde import scipy_method
    >>> r = minimize(rosen, [0.0, 0.0], method=scipy_method(max_iter=200, random_state=0), bounds=[(-2, 2)] * 2)
    >>> bool(r.fun < 1e-6)
    True
    """
    check_names("minimize", parameters, PARAMETERS)

    def method(fun: Callable[..., Any], x0: Any, args: tuple[Any, ...] = (), **options: Any) -> OptimizeResult:
        bounds = options.pop("bounds", None)
        if bounds is None:
            raise ValueError("skde's methods for scipy.optimize.minimize need bounds")
        for derivative in ("jac", "hess", "hessp"):
            options.pop(derivative, None)
        callback = options.pop("callback", None)
        if callback is not None:
            options["callbacks"] = [partial(call_back, callback)]
        given = {"vectorized": False, "dim": np.size(x0), **parameters, **options}
        return minimize(fun, bounds, args, algorithm, x0=x0, **given)

    return method


def call_back(callback: Callable[..., Any], progress: Progress) -> Any:
    """Call SciPy's callback in the form that it takes, and return its answer."""
    if takes_result(callback):
        return callback(intermediate_result=OptimizeResult(x=progress.x, fun=progress.fun))
    return callback(progress.x)
