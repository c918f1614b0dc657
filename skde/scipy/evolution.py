"""The function differential_evolution, with the interface of SciPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scipy.optimize import OptimizeResult

from skde.scipy.evolution_solver import DifferentialEvolutionSolver
from skde.utils.validation import suggest_names


@suggest_names
def differential_evolution(
    func: Callable[..., Any],
    bounds: Any,
    args: tuple[Any, ...] = (),
    strategy: Any = "best1bin",
    maxiter: int | None = 1000,
    popsize: int = 15,
    tol: float = 0.01,
    mutation: Any = (0.5, 1),
    recombination: float = 0.7,
    rng: Any = None,
    callback: Callable[..., Any] | None = None,
    disp: bool = False,
    polish: Any = True,
    init: Any = "latinhypercube",
    atol: float = 0,
    updating: str = "immediate",
    workers: Any = 1,
    constraints: Any = (),
    x0: Any = None,
    *,
    integrality: Any = None,
    vectorized: bool = False,
    seed: Any = None,
) -> OptimizeResult:
    """Minimise with the parameters and the result of `scipy.optimize.differential_evolution`.

    Parameters
    ----------
    func : callable
        ``func(x, *args)`` -> float; with vectorized=True, x has shape (N, S), and S values are returned.
    bounds : sequence of (min, max), or scipy.optimize.Bounds
        The box. Bounds may be equal: the variable is then fixed.
    args : tuple, default ()
        Further arguments of func.
    strategy : str or callable, default "best1bin"
        best1, best2, rand1, rand2, randtobest1 or currenttobest1 with bin or exp; or strategy(candidate, population,
        rng=...) -> trial, of points in the unit cube, the best first.
    maxiter : int or None, default 1000
        Generations after the initial population, >= 0; None: 1000.
    popsize : int, default 15
        The population is this number, >= 0, times the number of variables that are not fixed.
    tol, atol : float, default 0.01, 0
        The end: the standard deviation of the values is at most atol + tol * abs(mean).
    mutation : float or (float, float), default (0.5, 1)
        F in [0, 2); a pair is dither.
    recombination : float, default 0.7
        CR in [0, 1].
    rng, seed : None, int, Generator or RandomState, default None
        The random state, by either name.
    callback : callable or None, default None
        callback(intermediate_result=OptimizeResult), by this name, or callback(x, convergence), after every generation;
        a true value or StopIteration ends the search.
    disp : bool, default False
        Whether to print the best value of every generation.
    polish : bool or callable, default True
        Whether to improve the best point by L-BFGS-B, with constraints by trust-constr; or a function like
        scipy.optimize.minimize that does it.
    init : {"latinhypercube", "sobol", "halton", "random"} or array-like of shape (S, N), default "latinhypercube"
        The initial population.
    updating : {"immediate", "deferred"}, default "immediate"
        Accepted; all updates are deferred.
    workers : int or map-like callable, default 1
        joblib's workers, -1 for all processors; or map(func, points).
    constraints : NonlinearConstraint, LinearConstraint or Bounds, or a sequence of these, default ()
        Constraints on the points.
    x0 : array-like of shape (N,) or None, default None
        A first point.
    integrality : array-like of bool, or None, default None
        Which variables are whole numbers.
    vectorized : bool, default False
        Whether func and the constraints take all points at once.

    Returns
    -------
    result : scipy.optimize.OptimizeResult
        x, fun, success, message, nfev, nit, population, with the best point first, population_energies; after a
        polishing that helped, jac; with constraints, constr, constr_violation, maxcv. success is False where maxiter or
        the callback ended the search, and where a constraint is violated.

    Raises
    ------
    ValueError, TypeError
        For parameters that are not allowed, and for values of func that are no real numbers.
    RuntimeError
        For a function, a constraint or a strategy that returns an array of a wrong shape.

    Notes
    -----
    Differences from SciPy: generations are always updated at once, as with updating="deferred"; a pair of mutation is
    drawn from for every trial, not for every generation; with constraints, the sum of violations decides between two
    infeasible points, not every one of them, and a constraint that is NaN is violated; populations have at least six
    points for rand2; min > max is an error; the numbers of one seed are others.

    Examples
    --------
    >>> from scipy.optimize import rosen
    >>> from skde import differential_evolution
    >>> result = differential_evolution(rosen, [(0, 2)] * 4, rng=0)
    >>> result.success, bool(result.fun < 1e-10)
    (True, True)
    """
    return DifferentialEvolutionSolver(
        func,
        bounds,
        args,
        strategy,
        maxiter,
        popsize,
        tol,
        mutation,
        recombination,
        rng,
        callback,
        disp,
        polish,
        init,
        atol,
        updating,
        workers,
        constraints,
        x0,
        integrality=integrality,
        vectorized=vectorized,
        seed=seed,
    ).solve()
