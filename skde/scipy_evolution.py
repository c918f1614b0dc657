"""Differential evolution with the interface of scipy.optimize.differential_evolution."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from inspect import signature
from typing import Any

import joblib
import numpy as np
from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint, OptimizeResult, minimize
from scipy.stats import qmc

from skde.algorithms import DE
from skde.minimizer import Minimizer
from skde.objectives.feasibility import feasibility_codes, values_of_codes
from skde.random_state import run_seeds
from skde.typing import FloatArray
from skde.validation import check_choice, check_int, check_real, nearest, shown

MUTATIONS = {
    "best1": "best/1",
    "best2": "best/2",
    "rand1": "rand/1",
    "rand2": "rand/2",
    "randtobest1": "rand-to-best/1",
    "currenttobest1": "current-to-best/1",
}
STRATEGIES = {
    f"{theirs}{crossover}": f"{ours}/{crossover}" for crossover in ("bin", "exp") for theirs, ours in MUTATIONS.items()
}
LEAST_POPULATION = 5
RAND_2_POPULATION = 6
EPSILON = float(np.finfo(np.float64).eps)
INITS = ("latinhypercube", "sobol", "halton", "random")
SUCCESS = "Optimization terminated successfully."
ITERATIONS = "Maximum number of iterations has been exceeded."
CALLBACK = "callback function requested stop early"

Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


class Violation:
    """The violations of one of SciPy's constraints, as its differential evolution has them.

    Parameters
    ----------
    constraint : NonlinearConstraint, LinearConstraint or Bounds
        The constraint.
    """

    def __init__(self, constraint: Any) -> None:
        if not isinstance(constraint, NonlinearConstraint | LinearConstraint | Bounds):
            raise TypeError(
                "constraints must be NonlinearConstraint, LinearConstraint or Bounds of scipy.optimize, or a sequence "
                f"of these, got {shown(constraint)}"
            )
        self.constraint = constraint
        self.lower = np.atleast_1d(np.asarray(constraint.lb, np.float64))[:, None]
        self.upper = np.atleast_1d(np.asarray(constraint.ub, np.float64))[:, None]

    def values(self, x: FloatArray) -> Any:
        """Return the values that are bounded, of shape (M,) or (M, S), for x of shape (N,) or (N, S)."""
        if isinstance(self.constraint, NonlinearConstraint):
            return np.atleast_1d(np.asarray(self.constraint.fun(x), np.float64))
        if isinstance(self.constraint, LinearConstraint):
            A = self.constraint.A
            return A.dot(x) if hasattr(A, "tocsr") else np.atleast_2d(np.asarray(A)) @ x
        return x

    def of(self, points: FloatArray, together: bool) -> FloatArray:
        """Return the violations of points of shape (S, N), of shape (S, M)."""
        if together or not isinstance(self.constraint, NonlinearConstraint):
            c = np.asarray(self.values(points.T))
            c = c[None, :] if c.ndim == 1 else c
        else:
            c = np.stack([np.ravel(self.values(x)) for x in points], axis=1)
        if c.ndim != 2 or c.shape[1] != len(points) or len(c) % len(self.lower):
            raise RuntimeError(
                "An array returned from a Constraint function has the wrong shape. If `vectorized is False` the "
                "Constraint should return an array of shape (M,). If `vectorized is True` then the Constraint must "
                "return an array of shape (M, S), where S is the number of solution vectors and M is the number of "
                f"constraint components in a given Constraint object; got {c.shape} for S={len(points)}."
            )
        return np.asarray((np.maximum(self.lower - c, 0) + np.maximum(c - self.upper, 0)).T)


class DifferentialEvolutionSolver:
    """Differential evolution as an iterator: every step is one generation.

    Parameters
    ----------
    func, bounds, args, strategy, maxiter, popsize, tol, mutation, recombination, rng, callback, disp, polish, init
        As in `differential_evolution`.
    atol, updating, workers, constraints, x0, integrality, vectorized, seed
        As in `differential_evolution`.

    Attributes
    ----------
    x : ndarray of shape (N,)
        The best point.
    population, population_energies : ndarray of shape (S, N), (S,)
        The points, the best first, and their values; infinite where a constraint is violated.
    convergence : float
        The standard deviation of the values divided by the size of their mean.
    nfev : int
        Evaluations; calls of a vectorized function.

    Examples
    --------
    >>> from scipy.optimize import rosen
    >>> from skde import DifferentialEvolutionSolver
    >>> solver = DifferentialEvolutionSolver(rosen, [(0, 2), (0, 2)], rng=0)
    >>> x, fun = next(solver)
    >>> all(value <= fun for _, (_, value) in zip(range(20), solver, strict=False))
    True
    """

    def __init__(
        self,
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
    ) -> None:
        self.func, self.args = func, args if isinstance(args, tuple) else (args,)
        self.strategy = check_strategy(strategy)
        self.maxiter = 1000 if maxiter is None else check_int("maxiter", maxiter, 0)
        self.tol, self.atol = check_real("tol", tol), check_real("atol", atol)
        self.callback, self.polish, self.disp = callback, polish, disp
        self.updating = check_choice("updating", updating, ("immediate", "deferred"))
        self.vectorized, self._map = self._workers(workers, vectorized)
        self._limits(bounds, integrality)
        listed = constraints if isinstance(constraints, Sequence) else [constraints]
        self.constraints = constraints
        self._violations = [Violation(constraint) for constraint in listed]
        first = int(run_seeds(generator(rng, seed), 1)[0])
        self._rng = np.random.default_rng(first)
        start = self._start(init, popsize, x0)
        self._minimizer = Minimizer(
            DE(
                strategy="best/1/bin" if callable(strategy) else STRATEGIES[strategy],  # the user's replace its trials
                F=scale_factor(mutation),
                CR=check_real("recombination", recombination, 0, 1),
                pop_size=len(start),
                repair="random",
            ),
            bounds=[(0.0, 1.0)] * len(self.lower),
            max_iter=2**31,
            random_state=first,
            device="cpu",
        )
        self._unit, self._codes = start, np.full(len(start), np.inf)
        self._begun = False
        self.nfev = 0

    # -- results -------------------------------------------------------------------------------------------------------

    @property
    def x(self) -> FloatArray:
        """The best point."""
        best: FloatArray = self._points(self._unit[:1])[0]
        return best

    @property
    def population(self) -> FloatArray:
        """The points, the best first."""
        return self._points(self._unit)

    @property
    def population_energies(self) -> FloatArray:
        """The values of the points; infinite where a constraint is violated, and before the first evaluation."""
        return np.asarray(values_of_codes(self._codes))

    @property
    def convergence(self) -> float:
        """The standard deviation of the values divided by the size of their mean."""
        energies = self.population_energies
        if np.isinf(energies).any():
            return np.inf
        return float(np.std(energies) / (np.abs(np.mean(energies)) + EPSILON))

    def converged(self) -> bool:
        """Return whether the standard deviation is at most atol plus tol times the size of the mean."""
        energies = self.population_energies
        if np.isinf(energies).any():
            return False
        return bool(np.std(energies) <= self.atol + self.tol * np.abs(np.mean(energies)))

    # -- iteration -----------------------------------------------------------------------------------------------------

    def __enter__(self) -> DifferentialEvolutionSolver:
        return self

    def __exit__(self, *info: Any) -> None:
        pass

    def __iter__(self) -> Iterator[tuple[FloatArray, float]]:
        return self

    def __next__(self) -> tuple[FloatArray, float]:
        """Make one generation; the first one is after the initial population.

        Returns
        -------
        x, fun : ndarray of shape (N,), float
            The best point and its value.
        """
        if not self._begun:
            self._begin()
        trials = self._minimizer.ask()
        if callable(self.strategy):
            trials = self._custom_trials()
        self._tell(trials)
        return self.x, float(self.population_energies[0])

    def _begin(self) -> None:
        """Evaluate the initial population."""
        self._begun = True
        self._minimizer.ask()
        self._tell(self._unit)

    def _tell(self, units: FloatArray) -> None:
        """Evaluate points, let them compete, and bring the best to the front."""
        self._minimizer.tell(units, self._evaluate(self._points(units)))
        unit, codes = self._minimizer.population_, self._minimizer.fitness_
        # Users see the best first. The algorithm leaves it where it is; the order is its own inverse.
        best = int(np.argmin(codes))
        self._order = np.arange(len(codes))
        self._order[[0, best]] = best, 0
        self._unit, self._codes = unit[self._order], codes[self._order]

    def _custom_trials(self) -> FloatArray:
        """Return the trials of a strategy of the user, in the order of the solver's own population."""
        dim = len(self.lower)
        trials = np.empty_like(self._unit)
        for candidate in range(len(trials)):
            trial = np.asarray(self.strategy(candidate, self._unit.copy(), rng=self._rng))
            if trial.shape != (dim,):
                raise RuntimeError(
                    "strategy must have signature f(candidate: int, population: np.ndarray, rng=None) returning an "
                    f"array of shape (N,), got {trial.shape} for N={dim}"
                )
            trials[candidate] = trial
        outside = ~((trials >= 0) & (trials <= 1))
        trials[outside] = self._rng.uniform(size=np.count_nonzero(outside))
        return trials[self._order]

    # -- solve ---------------------------------------------------------------------------------------------------------

    def solve(self) -> OptimizeResult:
        """Iterate to the end, and polish.

        Returns
        -------
        result : scipy.optimize.OptimizeResult
        """
        message, success, nit = SUCCESS, True, 0
        if not self._begun:
            self._begin()
        while True:
            if nit >= self.maxiter:
                message, success = ITERATIONS, False
                break
            nit += 1
            next(self)
            if self.disp:
                print(f"differential_evolution step {nit}: f(x)= {self.population_energies[0]}")
            if self.callback is not None and self._stops(nit):
                message, success = CALLBACK, False
                break
            if self.converged():
                break
        result = self._result(nit, message, success)
        if self.polish and not self.integrality.all():
            self._polish(result)
        self._add_constraints(result)
        if result.get("maxcv", 0) > 0:
            result.message = f"The solution does not satisfy the constraints, MAXCV = {result.maxcv}"
        return result

    def _stops(self, nit: int) -> bool:
        """Return whether the callback, in either of its forms, asks to stop."""
        assert self.callback is not None
        result = self._result(nit, "in progress", True)
        self._add_constraints(result)
        result.convergence = self.tol / (self.convergence + EPSILON)
        try:
            if set(signature(self.callback).parameters) == {"intermediate_result"}:
                return bool(self.callback(intermediate_result=result))
            return bool(self.callback(np.copy(result.x), result.convergence))
        except StopIteration:
            return True

    def _result(self, nit: int, message: str, success: bool) -> OptimizeResult:
        energies = self.population_energies
        return OptimizeResult(
            x=self.x,
            fun=energies[0],
            nfev=self.nfev,
            nit=nit,
            message=message,
            success=success,
            population=self.population,
            population_energies=energies,
        )

    def _add_constraints(self, result: OptimizeResult) -> None:
        """Add the violations of the constraints at a result; success needs that there are none."""
        if self._violations:
            result.constr = [violation.of(result.x[None], self.vectorized)[0] for violation in self._violations]
            result.constr_violation = result.maxcv = np.max(np.concatenate(result.constr))
            if result.maxcv > 0:
                result.success = False

    def _polish(self, result: OptimizeResult) -> None:
        """Improve the best point by a local method, with the integers fixed."""
        lower, upper = self.lower.copy(), self.upper.copy()
        lower[self.integrality] = upper[self.integrality] = result.x[self.integrality]
        method = "trust-constr" if self._violations else "L-BFGS-B"
        if self._violations and any((v.of(result.x[None], self.vectorized) > 0).any() for v in self._violations):
            warnings.warn(
                "differential evolution didn't find a solution satisfying the constraints, attempting to polish from "
                "the least infeasible solution",
                UserWarning,
                stacklevel=4,
            )
        if callable(self.polish):
            polish, function = self.polish, self.func
        else:
            if self.disp:
                print(f"Polishing solution with '{method}'")
            polish, function = partial(minimize, method=method), self._value
        polished = polish(function, np.copy(result.x), bounds=Bounds(lower, upper), constraints=self.constraints)
        if not isinstance(polished, OptimizeResult):
            raise ValueError("The result from a user defined polishing function should return an OptimizeResult.")
        self.nfev += polished.get("nfev", 0)
        result.nfev = self.nfev
        inside = (polished.x >= lower).all() and (polished.x <= upper).all()
        if polished.fun < result.fun and polished.success and inside:
            result.fun, result.x, result.jac = polished.fun, polished.x, polished.get("jac", None)
            result.population[0], result.population_energies[0] = polished.x, polished.fun

    # -- evaluation ----------------------------------------------------------------------------------------------------

    def _points(self, units: FloatArray) -> FloatArray:
        """Return the points of rows of the unit cube; integers are rounded."""
        points = 0.5 * (self.lower + self.upper) + (units - 0.5) * (self.upper - self.lower)
        points = np.clip(points, self.lower, self.upper)
        points[:, self.integrality] = np.round(points[:, self.integrality])
        return np.asarray(points)

    def _evaluate(self, points: FloatArray) -> FloatArray:
        """Return the values by which points compete; the function is called at feasible points only."""
        violation = np.zeros(len(points))
        for constraint in self._violations:
            violation += constraint.of(points, self.vectorized).sum(axis=1)
        feasible = ~(violation > 0)
        energies = np.zeros(len(points))
        if feasible.any():
            energies[feasible] = self._energies(points[feasible])
        return np.asarray(feasibility_codes(energies, violation)) if self._violations else energies

    def _energies(self, points: FloatArray) -> FloatArray:
        """Return the function's values."""
        if self.vectorized:
            energies = np.atleast_1d(np.squeeze(self.func(points.T, *self.args)))
            self.nfev += 1
        else:
            try:
                energies = np.atleast_1d(np.squeeze(list(self._map(RowFunction(self.func, self.args), points))))
            except (TypeError, ValueError) as error:
                raise RuntimeError(
                    "The map-like callable must be of the form f(func, iterable), returning a sequence of numbers the "
                    "same length as 'iterable'"
                ) from error
            self.nfev += len(points)
        if energies.shape != (len(points),):
            raise RuntimeError(
                "The vectorized function must return an array of shape (S,) when given an array of shape (len(x), S)"
                if self.vectorized
                else "func(x, *args) must return a scalar value"
            )
        return np.asarray(energies, np.float64)

    def _value(self, x: FloatArray) -> Any:
        """Return the function's value at one point, for the polishing."""
        value = self.func(x[:, None], *self.args) if self.vectorized else self.func(x, *self.args)
        return np.squeeze(value)[()]

    # -- inputs --------------------------------------------------------------------------------------------------------

    def _workers(self, workers: Any, vectorized: bool) -> tuple[bool, Map]:
        """Return whether the function takes all points, and the map over points."""
        if workers != 1 and self.updating == "immediate":
            warn(
                "differential_evolution: the 'workers' keyword has overridden updating='immediate' to "
                "updating='deferred'"
            )
            self.updating = "deferred"
        if vectorized and workers != 1:
            warn("differential_evolution: the 'workers' keyword overrides the 'vectorized' keyword")
            vectorized = False
        if vectorized and self.updating == "immediate":
            warn(
                "differential_evolution: the 'vectorized' keyword has overridden updating='immediate' to "
                "updating='deferred'"
            )
            self.updating = "deferred"
        if callable(workers):
            return vectorized, workers
        if check_int("workers", workers, -1) == 0:
            raise ValueError("workers must be -1, an integer >= 1, or a map-like callable, got 0")
        return vectorized, map if workers == 1 else partial(parallel_map, workers)

    def _limits(self, bounds: Any, integrality: Any) -> None:
        """Check the box; integers have the range that rounds to those between the bounds."""
        if isinstance(bounds, Bounds):
            limits = np.stack(np.broadcast_arrays(np.atleast_1d(bounds.lb), np.atleast_1d(bounds.ub)), axis=1)
        else:
            limits = bounds
        try:
            box = np.array(limits, np.float64)
        except (TypeError, ValueError):
            box = np.empty(0)
        if box.ndim != 2 or box.shape[1] != 2 or not len(box) or not np.isfinite(box).all():
            raise ValueError(
                "bounds should be a sequence containing finite real valued (min, max) pairs for each value in x, got "
                f"{shown(bounds)}"
            )
        for j in np.flatnonzero(box[:, 0] > box[:, 1]):
            raise ValueError(f"bounds[{j}] must have min <= max, got {shown(bounds[j])}")
        self.lower, self.upper = box.T.copy()
        whole = np.array(False if integrality is None else integrality, bool)
        if whole.shape not in ((), (1,), (len(box),)):
            raise ValueError(
                f"integrality must have one value, or one for each of the {len(box)} variables, got "
                f"{shown(integrality)}"
            )
        self.integrality = np.broadcast_to(whole, len(box)).copy()
        first, last = np.ceil(self.lower[self.integrality]), np.floor(self.upper[self.integrality])
        if (first > last).any():
            raise ValueError(
                "One of the integrality constraints does not have any possible integer values between the lower/upper "
                "bounds."
            )
        self.lower[self.integrality] = np.nextafter(first - 0.5, np.inf)
        self.upper[self.integrality] = np.nextafter(last + 0.5, -np.inf)

    def _start(self, init: Any, popsize: int, x0: Any) -> FloatArray:
        """Return the initial population in the unit cube."""
        dim = len(self.lower)
        least = RAND_2_POPULATION if isinstance(self.strategy, str) and "rand2" in self.strategy else LEAST_POPULATION
        free = max(int((self.upper > self.lower).sum()), 1)
        size = max(least, int(check_real("popsize", popsize, 0) * free))
        if isinstance(init, str):
            start = sample(check_choice("init", init, INITS), size, dim, self._rng)
        else:
            rows = np.array(init, np.float64)
            if rows.ndim != 2 or rows.shape[1] != dim or len(rows) < least:
                raise ValueError(
                    f"The population supplied needs to have shape (S, len(x)), where S >= {least}; got {rows.shape}"
                )
            start = np.clip(self._unscaled(rows), 0, 1)
        if x0 is not None:
            point = np.asarray(x0, np.float64)
            if point.shape != (dim,) or not ((point >= self.lower) & (point <= self.upper)).all():
                raise ValueError(f"Some entries in x0 lay outside the specified bounds: got {shown(x0)}")
            start[0] = np.clip(self._unscaled(point), 0, 1)
        return np.asarray(start)

    def _unscaled(self, points: FloatArray) -> FloatArray:
        """Return points in the unit cube; a variable with equal bounds is at its centre."""
        width = self.upper - self.lower
        free = width > 0
        units = (points - 0.5 * (self.lower + self.upper)) / np.where(free, width, 1.0) + 0.5
        return np.asarray(units)


class RowFunction:
    """A function of one point with its further arguments, which can be pickled."""

    def __init__(self, func: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self.func, self.args = func, args

    def __call__(self, x: FloatArray) -> Any:
        """Return the value at a point."""
        return self.func(np.copy(x), *self.args)


def parallel_map(n_jobs: int, function: Callable[[Any], Any], points: Iterable[Any]) -> list[Any]:
    """Return the values at points, from joblib's workers."""
    return list(joblib.Parallel(n_jobs=n_jobs)(joblib.delayed(function)(x) for x in points))


def warn(message: str) -> None:
    """Warn the caller of differential_evolution."""
    warnings.warn(message, UserWarning, stacklevel=5)


def generator(rng: Any, seed: Any) -> Any:
    """Return the random state; `seed` is the older name of `rng`."""
    if rng is not None and seed is not None:
        raise TypeError("differential_evolution got both rng and seed: give one of them")
    given = seed if rng is None else rng
    return None if given is np.random else given


def check_strategy(strategy: Any) -> Any:
    """Return a strategy: a name of SciPy or a function."""
    if not callable(strategy) and strategy not in STRATEGIES:
        raise ValueError(
            f"Please select a valid mutation strategy: {', '.join(STRATEGIES)} or a callable; got {shown(strategy)}"
            f"{nearest(strategy, STRATEGIES)}"
        )
    return strategy


def scale_factor(mutation: Any) -> float | tuple[float, float]:
    """Return mutation as F: a number, or a pair in increasing order."""
    values = np.atleast_1d(np.asarray(mutation, np.float64))
    if values.shape not in ((1,), (2,)) or not (
        np.isfinite(values).all() and (values >= 0).all() and (values < 2).all()
    ):
        raise ValueError(
            "The mutation constant must be a float in U[0, 2), or specified as a tuple(min, max) where min < max and "
            f"min, max are in U[0, 2); got {shown(mutation)}"
        )
    low, high = float(values.min()), float(values.max())
    return low if low == high else (low, high)


def sample(init: str, size: int, dim: int, rng: np.random.Generator) -> FloatArray:
    """Return the initial population of a method in the unit cube."""
    if init == "random":
        return rng.uniform(size=(size, dim))
    if init == "sobol":
        size = 2 ** int(np.ceil(np.log2(size)))
    kinds = {"latinhypercube": qmc.LatinHypercube, "sobol": qmc.Sobol, "halton": qmc.Halton}
    return np.asarray(kinds[init](d=dim, seed=rng).random(size))


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
        func(x, *args) -> float; with vectorized=True, x has shape (N, S), and S values are returned.
    bounds : sequence of (min, max), or scipy.optimize.Bounds
        The box. Bounds may be equal: the variable is then fixed.
    args : tuple, default ()
        Further arguments of func.
    strategy : str or callable, default "best1bin"
        best1, best2, rand1, rand2, randtobest1 or currenttobest1 with bin or exp; or strategy(candidate, population,
        rng=...) -> trial, of points in the unit cube, the best first.
    maxiter : int or None, default 1000
        Generations after the initial population; None: 1000.
    popsize : int, default 15
        The population has popsize times the number of variables that are not fixed.
    tol, atol : float, default 0.01, 0
        The end: the standard deviation of the values is at most atol + tol * abs(mean).
    mutation : float or (float, float), default (0.5, 1)
        F in [0, 2); a pair is dither.
    recombination : float, default 0.7
        CR in [0, 1].
    rng, seed : None, int, Generator or RandomState
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
        For parameters that are not allowed.
    RuntimeError
        For a function, a constraint or a strategy that returns an array of a wrong shape.

    Notes
    -----
    Differences from SciPy: generations are always updated at once, as with updating="deferred"; a pair of mutation is
    drawn from for every trial, not for every generation; with constraints, the sum of violations decides between two
    infeasible points, not every one of them; populations have at least six points for rand2; min > max is an error; the
    numbers of one seed are others.

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
