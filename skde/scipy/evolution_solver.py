"""The iterator of differential evolution with SciPy's interface."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import joblib
import numpy as np
from scipy.optimize import Bounds, OptimizeResult

from skde.algorithms import DE
from skde.fit.phases.scipy_search import LocalSearch, find_method
from skde.minimizer import Minimizer
from skde.objectives.feasibility import feasibility_codes, values_of_codes
from skde.problems import find_forms
from skde.scipy.inputs import (
    STRATEGIES,
    Box,
    Violation,
    check_strategy,
    generator,
    initial_population,
    scale_factor,
    takes_result,
)
from skde.typing import FloatArray
from skde.utils.arrays import check_real_dtype
from skde.utils.random_state import first_seed
from skde.utils.validation import check_choice, check_int, check_real, quote

POLISH_EVALS = 15_000  # SciPy's limit of L-BFGS-B
EPSILON = float(np.finfo(np.float64).eps)
SAFE_EXPONENT = 400  # values below 2^400 have finite squares, and above 2^-400 squares that are not 0
SUCCESS = "Optimization terminated successfully."
ITERATIONS = "Maximum number of iterations has been exceeded."
CALLBACK = "callback function requested stop early"

Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


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
        stated = find_forms(func)
        if vectorized and stated.functor is not None:
            raise TypeError(f"vectorized=True is for a Python function of points in columns, got {stated!r}")
        func = stated.callable_form or func
        self.func, self.args = func, args if isinstance(args, tuple) else (args,)
        self.strategy = check_strategy(strategy)
        self.maxiter = 1000 if maxiter is None else check_int("maxiter", maxiter, 0)
        self.tol, self.atol = check_real("tol", tol), check_real("atol", atol)
        if callback is not None and not callable(callback):
            raise TypeError(f"callback must be a function or None, got {quote(callback)} ({type(callback).__name__})")
        self.callback, self.polish, self.disp = callback, polish, disp
        self.updating = check_choice("updating", updating, ("immediate", "deferred"))
        self.vectorized, self._map = self._workers(workers, vectorized)
        self._box = Box(bounds, integrality)
        listed = constraints if isinstance(constraints, Sequence) else [constraints]
        self.constraints = constraints
        self._violations = [Violation(constraint) for constraint in listed]
        first = first_seed(generator(rng, seed))
        self._rng = np.random.default_rng(first)
        start = initial_population(init, popsize, x0, strategy, self._box, self._rng)
        self._minimizer = Minimizer(
            DE(
                strategy="best/1/bin" if callable(strategy) else STRATEGIES[strategy],  # the user's replace its trials
                F=scale_factor(mutation),
                CR=check_real("recombination", recombination, 0, 1),
                pop_size=len(start),
                repair="random",
            ),
            bounds=[(0.0, 1.0)] * len(self._box.lower),
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
        best: FloatArray = self._box.points(self._unit[:1])[0]
        return best

    @property
    def population(self) -> FloatArray:
        """The points, the best first."""
        return self._box.points(self._unit)

    @property
    def population_energies(self) -> FloatArray:
        """The values of the points; infinite where a constraint is violated, and before the first evaluation."""
        return self._values_of(self._codes)

    def _values_of(self, codes: Any) -> FloatArray:
        """Return the values with these codes, which are values where there are no constraints."""
        return np.asarray(values_of_codes(codes) if self._violations else codes)

    @property
    def convergence(self) -> float:
        """The standard deviation of the values divided by the size of their mean."""
        energies = self.population_energies
        if np.isinf(energies).any():
            return np.inf
        deviation, mean = deviation_and_mean(energies)
        return float(deviation / (np.abs(mean) + EPSILON))

    def converged(self) -> bool:
        """Return whether the standard deviation is at most atol plus tol times the size of the mean.

        As in SciPy, values that were all equal from the start have converged.
        """
        energies = self.population_energies
        if np.isinf(energies).any():
            return False
        deviation, mean = deviation_and_mean(energies)
        return bool(deviation <= self.atol + self.tol * np.abs(mean))

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
        self._minimizer.tell(units, self._evaluate(self._box.points(units)))
        unit, codes = self._minimizer.population_, self._minimizer.fitness_
        # Users see the best first. The algorithm leaves it where it is; the order is its own inverse.
        best = int(np.argmin(codes))
        self._order = np.arange(len(codes))
        self._order[[0, best]] = best, 0
        self._unit, self._codes = unit[self._order], codes[self._order]

    def _custom_trials(self) -> FloatArray:
        """Return the trials of a strategy of the user, in the order of the solver's own population."""
        dim = len(self._box.lower)
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
        if self.polish and not self._box.integrality.all():
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
            if takes_result(self.callback):
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
        lower, upper = self._box.lower.copy(), self._box.upper.copy()
        lower[self._box.integrality] = upper[self._box.integrality] = result.x[self._box.integrality]
        sides = [violation.sides(result.x[None], self.vectorized) for violation in self._violations]
        method = "trust-constr" if sides else find_method(True, False)  # as SciPy
        if self._violations and any((v.of(result.x[None], self.vectorized) > 0).any() for v in self._violations):
            warnings.warn(
                "differential evolution didn't find a solution satisfying the constraints, attempting to polish from "
                "the least infeasible solution",
                UserWarning,
                stacklevel=4,
            )
        if callable(self.polish):
            bounds = Bounds(lower, upper)
            polished = self.polish(self.func, np.copy(result.x), bounds=bounds, constraints=self.constraints)
            if not isinstance(polished, OptimizeResult):
                raise ValueError("The result from a user defined polishing function should return an OptimizeResult.")
            self.nfev += polished.get("nfev", 0)
            inside = (polished.x >= lower).all() and (polished.x <= upper).all()
            better = polished.fun < result.fun and polished.success and inside
        else:
            if self.disp:
                print(f"Polishing solution with '{method}'")
            search = LocalSearch(
                self._values,
                result.x,
                float(self._codes[0]),
                lower,
                upper,
                n_inequalities=sum(len(g) for g, _ in sides) if sides else None,
                max_evals=POLISH_EVALS,
            )
            polished = search.run(method)
            better = polished.fun < self._codes[0]
            polished.fun = float(self._values_of(np.array(polished.fun)))
        result.nfev = self.nfev
        if better:
            result.fun, result.x, result.jac = polished.fun, polished.x, polished.get("jac", None)
            result.population[0], result.population_energies[0] = polished.x, polished.fun

    # -- evaluation ----------------------------------------------------------------------------------------------------

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
            energies = np.atleast_1d(np.squeeze(self.func(np.copy(points).T, *self.args)))
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
        if energies.dtype.kind == "O":  # such as of fractions
            energies = np.array([float(energy) for energy in energies])
        check_real_dtype(energies, "the values of func")
        return np.asarray(energies, np.float64)

    def _values(self, points: FloatArray) -> FloatArray:
        """Return f, g and h at points, of shape (S, 1 + m + l), for the polishing; f is NaN where it fails outside."""
        sides = [violation.sides(points, self.vectorized) for violation in self._violations]
        violated = np.zeros(len(points), bool)
        for g, h in sides:
            violated |= (g > 0).any(axis=0) | (h != 0).any(axis=0)
        energies = np.full(len(points), np.nan)
        if not violated.all():
            energies[~violated] = self._energies(points[~violated])
        if violated.any():
            with suppress(Exception):  # the function need not be defined there
                energies[violated] = self._energies(points[violated])
        columns = [energies[None], *(g for g, _ in sides), *(h for _, h in sides)]
        return np.concatenate(columns).T

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
    warnings.warn(message, UserWarning, stacklevel=6)


def deviation_and_mean(values: FloatArray) -> tuple[Any, Any]:
    """Return standard deviation and mean of finite values, also where sums overflow or squares become 0."""
    exponent = int(np.frexp(np.abs(values).max())[1])
    if abs(exponent) < SAFE_EXPONENT:
        return np.std(values), np.mean(values)
    scaled = np.ldexp(values, -exponent)
    return np.ldexp(np.std(scaled), exponent), np.ldexp(np.mean(scaled), exponent)
