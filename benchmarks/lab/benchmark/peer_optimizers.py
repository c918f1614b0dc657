"""Optimisers of other libraries in quality experiments, all of them optional, behind one interface.

Each ends with its budget: a call beyond it evaluates the points that are left and ends the run. Libraries that stop by
themselves, such as a local search that has converged, use less.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from skde.benchmark.functions import Function, Package
from skde.benchmark.optimizer_base import Budget, Optimizer
from skde.benchmark.peer_options import CMA, EVOSAX, EVOX, FCMAES, MINIONPY, PYGMO, SCIPY, OptionTypes
from skde.result import History
from skde.typing import FloatArray
from skde.utils.arrays import real_values
from skde.utils.validation import check_choice, check_int, check_real


class BudgetSpent(Exception):
    """The end of a run: its evaluations are used up, or it has reached the last target of its platform."""


class EvaluationCounter:
    """The evaluations of one run: counted, and limited to the budget.

    Parameters
    ----------
    function : Function
        The function.
    limit : int
        Evaluations of the run.

    Attributes
    ----------
    count : int
        Evaluations so far.
    best : float
        The best value so far.
    """

    def __init__(self, function: Function, limit: int) -> None:
        self.function, self.limit = function, limit
        self.count, self.best = 0, np.inf
        self._begin = time.perf_counter()
        self._improvements: list[tuple[int, float, float]] = []

    def of_arrays(self, X: FloatArray) -> FloatArray:
        """Return the values of the rows of X.

        Raises
        ------
        BudgetSpent
            When not all rows can be evaluated; those that can have been.
        """
        return self._values(X, self._objective)

    def of_points(self, points: list[list[float]]) -> list[float]:
        """Return the values of a list of points, as `of_arrays` does."""
        values: list[float] = self._values(points, self.function.of_lists).tolist()
        return values

    def of_point(self, x: Any) -> float:
        """Return the value of one point."""
        return float(self.of_arrays(np.array(x, float, ndmin=2))[0])

    def history(self) -> History:
        """Return the improvements, and the number of evaluations as the last entry."""
        rows = [*self._improvements, (self.count, time.perf_counter() - self._begin, self.best)]
        n_evals, seconds, best = zip(*rows, strict=True)
        return History(np.array(n_evals, np.int64), np.array(seconds), np.array(best, np.float64))

    def _objective(self, rows: Any) -> FloatArray:
        """Return the function's values, which are checked as those for skde's algorithms are."""
        X = np.asarray(rows, float)
        values: FloatArray = real_values(self.function.objective(X), X, "the function's return value")
        return values

    def _values(self, points: Any, function: Callable[[Any], Any]) -> FloatArray:
        """Evaluate the points that the budget allows."""
        rows = points[: self.limit - self.count]
        values = np.asarray(function(rows), float) if len(rows) else np.empty(0)
        self._note(values)
        self.count += len(rows)
        if len(rows) < len(points) or self.function.solved():
            raise BudgetSpent
        return values

    def _note(self, values: FloatArray) -> None:
        """Note the evaluations that improved the best value."""
        if not (values < self.best).any():
            return
        lowest = np.fmin.accumulate(np.r_[self.best, values])
        better = np.flatnonzero(lowest[1:] < lowest[:-1])
        seconds = time.perf_counter() - self._begin
        self._improvements += [(self.count + row + 1, seconds, lowest[row + 1]) for row in better.tolist()]
        self.best = float(lowest[-1])


class PeerOptimizer(Optimizer):
    """An optimiser of another library: one run after the other, with the seeds seed, seed + 1, ...

    Parameters
    ----------
    text : str
        Name and options, as in records.
    algorithm : str
        Name in its library.
    options : dict
        Its options.
    """

    def __init__(self, text: str, algorithm: str, options: dict[str, Any]) -> None:
        self.text, self.algorithm, self.options = text, algorithm, options

    def check_budget(self, budget: Budget) -> None:
        """Refuse seconds: the schedules of these optimisers are made from evaluations."""
        if budget.seconds is not None:
            raise ValueError(f"{self.text} needs a budget of evaluations, such as 10000*dim; got {budget.text!r}")

    def minimize(self, function: Function, evals: int, seed: int, n_jobs: int | None = None) -> History:
        """Return the history of one run."""
        evaluations = EvaluationCounter(function, evals)
        with suppress(BudgetSpent):
            self.search(evaluations, function.bounds, seed)
        return evaluations.history()

    @abstractmethod
    def search(self, evaluations: EvaluationCounter, bounds: FloatArray, seed: int) -> None:
        """Search until the evaluations are used up, or the library stops."""


class ScipyOptimizer(PeerOptimizer):
    """SciPy's differential_evolution (synchronous, without polishing), dual_annealing or direct."""

    def search(self, evaluations: EvaluationCounter, bounds: FloatArray, seed: int) -> None:
        """Search until the evaluations are used up, or the library stops."""
        from scipy import optimize

        limit = evaluations.limit
        box = optimize.Bounds(bounds[:, 0], bounds[:, 1])
        if self.algorithm == "differential_evolution":
            fixed = {"updating": "deferred", "vectorized": True, "polish": False, "tol": 0, "atol": 0}
            options = {"maxiter": limit, "seed": seed, **fixed, **self.options}
            optimize.differential_evolution(lambda X: evaluations.of_arrays(np.atleast_2d(X.T)), box, **options)
        elif self.algorithm == "dual_annealing":
            options = {"maxiter": limit, "maxfun": limit, "seed": seed, **self.options}
            optimize.dual_annealing(evaluations.of_point, box, **options)
        else:
            options = {"maxiter": limit, "maxfun": limit, "vol_tol": 0.0, "len_tol": 0.0, **self.options}
            optimize.direct(evaluations.of_point, box, **options)


class PygmoOptimizer(PeerOptimizer):
    """An algorithm of pygmo; like skde, it uses the whole budget, even after convergence."""

    # Those with these stopping rules.
    TOLERANCES = ("sade", "de", "de1220", "cmaes", "xnes")

    def search(self, evaluations: EvaluationCounter, bounds: FloatArray, seed: int) -> None:
        """Search until the evaluations are used up, or the library stops."""
        import pygmo

        class Udp:
            """A problem in pygmo's form."""

            def fitness(self, x: FloatArray) -> list[float]:
                return [evaluations.of_point(x)]

            def get_bounds(self) -> tuple[FloatArray, FloatArray]:
                return bounds[:, 0], bounds[:, 1]

            def __deepcopy__(self, memo: Any) -> Udp:
                return self  # pygmo copies its problems, and the copies have to count together

        options = {"pop_size": 100, **self.options}
        pop_size = options.pop("pop_size")
        if self.algorithm in self.TOLERANCES:
            options |= {"ftol": 0, "xtol": 0}
        if self.algorithm in ("cmaes", "xnes"):
            options["force_bounds"] = True
        make = getattr(pygmo, self.algorithm)
        population = pygmo.population(pygmo.problem(Udp()), pop_size, seed=seed)
        pygmo.algorithm(make(gen=evaluations.limit, seed=seed, **options)).evolve(population)


class MinionpyOptimizer(PeerOptimizer):
    """An optimiser of minionpy; its tolerances are off, so that it uses the whole budget, even after convergence."""

    # These begin at a point, which is drawn from the box.
    STARTED = ("NelderMead", "DA", "L_BFGS", "L_BFGS_B", "GradientDescent")

    def search(self, evaluations: EvaluationCounter, bounds: FloatArray, seed: int) -> None:
        """Search until the evaluations are used up, or the library stops."""
        import minionpy

        options = {"x_tol": -1.0, "f_tol": -1.0, **self.options}
        start = None
        if self.algorithm in self.STARTED:
            start = [np.random.default_rng(seed).uniform(bounds[:, 0], bounds[:, 1]).tolist()]
        # Not minionpy's classes of algorithms, because minionpy.JADE of version 1.9.1 runs LSHADE.
        optimiser = minionpy.Minimizer(
            evaluations.of_points,
            [(float(low), float(high)) for low, high in bounds],
            x0=start,
            algo=self.algorithm,
            maxevals=evaluations.limit,
            seed=seed,
            options=options,
        )
        try:
            optimiser.optimize()
        except RuntimeError as error:  # minionpy turns every exception into a RuntimeError
            raised = str(error).split(":")[0].split(".")[-1]
            if raised == "KeyboardInterrupt":
                raise KeyboardInterrupt from None
            if raised == BudgetSpent.__name__:
                raise BudgetSpent from None
            raise


class CmaOptimizer(PeerOptimizer):
    """CMA-ES of the package cma, by its author: alone, or with restarts (IPOP and BIPOP)."""

    RESTARTS = {"cmaes": 0, "ipop": 9, "bipop": 9}  # noqa: RUF012 - not changed

    def search(self, evaluations: EvaluationCounter, bounds: FloatArray, seed: int) -> None:
        """Search until the evaluations are used up, or the library stops."""
        import cma

        low, width = bounds[:, 0], bounds[:, 1] - bounds[:, 0]
        rng = np.random.default_rng(seed)
        options = {"sigma0": 0.2, **self.options}
        step = options.pop("sigma0")
        fixed = {"bounds": [0, 1], "verbose": -9, "maxfevals": evaluations.limit, "seed": seed + 1}  # 0: the clock

        def values(points: list[FloatArray]) -> list[float]:
            found: list[float] = evaluations.of_arrays(low + width * np.array(points)).tolist()
            return found

        cma.fmin(
            None,
            lambda: rng.random(len(bounds)),
            step,
            {**fixed, **options},
            parallel_objective=values,
            restarts=self.RESTARTS[self.algorithm],
            bipop=self.algorithm == "bipop",
            eval_initial_x=False,
        )


class FcmaesOptimizer(PeerOptimizer):
    """A compiled algorithm of fcmaes."""

    MODULES = {"de": "decpp", "cmaes": "cmaescpp", "bite": "bitecpp", "crfmnes": "crfmnescpp", "da": "dacpp"}  # noqa: RUF012

    def search(self, evaluations: EvaluationCounter, bounds: FloatArray, seed: int) -> None:
        """Search until the evaluations are used up, or the library stops."""
        from importlib import import_module

        from scipy.optimize import Bounds

        stopped: list[BaseException] = []

        def value(x: FloatArray) -> float:
            # An exception cannot pass through fcmaes' compiled code: the run continues without evaluations.
            if stopped:
                return np.inf
            try:
                return evaluations.of_point(x)
            except BaseException as error:
                stopped.append(error)
                return np.inf

        module = import_module(f"fcmaes.{self.MODULES[self.algorithm]}")
        box, rng, options = Bounds(bounds[:, 0], bounds[:, 1]), np.random.default_rng(seed), dict(self.options)
        if self.algorithm in ("cmaes", "crfmnes"):  # without x0 their first mean is not drawn from rg
            options |= {"x0": rng.uniform(box.lb, box.ub), "normalize": True}
        module.minimize(value, bounds=box, max_evaluations=evaluations.limit, rg=rng, **options)
        if stopped:
            raise stopped[0]


class EvosaxOptimizer(PeerOptimizer):
    """An algorithm of evosax, on JAX's default device; points are moved into the box before they are evaluated."""

    def __init__(self, text: str, algorithm: str, options: dict[str, Any]) -> None:
        super().__init__(text, algorithm, options)
        self.compiled: dict[int, tuple[Any, Any, Any]] = {}  # by dimension

    def search(self, evaluations: EvaluationCounter, bounds: FloatArray, seed: int) -> None:
        """Search until the evaluations are used up, or the library stops."""
        import jax
        from evosax.algorithms import distribution_based, population_based

        low, high = bounds[:, 0], bounds[:, 1]
        rng = np.random.default_rng(seed)
        options = {"pop_size": 100, **self.options}
        pop_size = options.pop("pop_size")
        in_population = hasattr(population_based, self.algorithm)
        with jax.enable_x64(True):
            if len(bounds) not in self.compiled:  # compilation takes seconds
                make = getattr(population_based if in_population else distribution_based, self.algorithm)
                made = make(pop_size, np.zeros(len(bounds)))
                self.compiled[len(bounds)] = made, jax.jit(made.ask), jax.jit(made.tell)
            strategy, ask, tell = self.compiled[len(bounds)]
            parameters = strategy.default_params.replace(**options)
            key = jax.random.key(seed)
            if in_population:
                start = rng.uniform(low, high, (pop_size, len(bounds)))
                state = strategy.init(key, start, evaluations.of_arrays(start), parameters)
            else:
                # Its distribution begins with its own step size, so it searches the box scaled to [0, 1].
                state = strategy.init(key, rng.random(len(bounds)), parameters)
            while True:
                key, for_ask, for_tell = jax.random.split(key, 3)
                X, state = ask(for_ask, state, parameters)
                points = np.asarray(X, float) if in_population else low + (high - low) * np.asarray(X, float)
                values = evaluations.of_arrays(np.clip(points, low, high))
                state, _ = tell(for_tell, X, jax.numpy.asarray(values), state, parameters)


class EvoxOptimizer(PeerOptimizer):
    """An algorithm of EvoX, on PyTorch's GPU where there is one."""

    def search(self, evaluations: EvaluationCounter, bounds: FloatArray, seed: int) -> None:
        """Search until the evaluations are used up, or the library stops."""
        import torch
        from evox import algorithms
        from evox.core import Problem
        from evox.workflows import StdWorkflow

        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

        class Evaluated(Problem):  # type: ignore[misc]
            """The function in EvoX's form."""

            def evaluate(self, X: Any) -> Any:
                return torch.as_tensor(evaluations.of_arrays(X.cpu().numpy().astype(float)), device=device)

        before = torch.get_default_dtype()  # EvoX has no other parameter for the precision
        torch.set_default_dtype(torch.float64)
        try:
            torch.manual_seed(seed)
            options = {"pop_size": 100, **self.options}
            low, high = (torch.tensor(bound.tolist(), device=device) for bound in bounds.T)
            strategy = getattr(algorithms, self.algorithm)(options.pop("pop_size"), low, high, device=device, **options)
            workflow = StdWorkflow(strategy, Evaluated(), device=device)
            workflow.init_step()
            while True:
                workflow.step()
        finally:
            torch.set_default_dtype(before)


@dataclass(frozen=True)
class Library:
    """A library of optimisers.

    Attributes
    ----------
    package : Package
        The package.
    make : callable
        (text, algorithm, options) -> PeerOptimizer.
    algorithms : dict
        The options of each algorithm.
    """

    package: Package
    make: Callable[[str, str, dict[str, Any]], PeerOptimizer]
    algorithms: dict[str, OptionTypes]


LIBRARIES: dict[str, Library] = {
    "scipy": Library(Package("scipy", "scipy"), ScipyOptimizer, SCIPY),
    "pygmo": Library(Package("pygmo", "pygmo"), PygmoOptimizer, PYGMO),
    "minionpy": Library(Package("minionpy", "minionpy"), MinionpyOptimizer, MINIONPY),
    "cma": Library(Package("cma", "cma"), CmaOptimizer, CMA),
    "fcmaes": Library(Package("fcmaes", "fcmaes"), FcmaesOptimizer, FCMAES),
    "evosax": Library(Package("evosax", "evosax"), EvosaxOptimizer, EVOSAX),
    "evox": Library(Package("evox", "evox"), EvoxOptimizer, EVOX),
}


def make_peer(text: str, library: str, algorithm: str, parameters: dict[str, Any]) -> Optimizer:
    """Return an optimiser of another library.

    Parameters
    ----------
    text : str
        Name and options, as in records.
    library, algorithm : str
        The two parts of a name, such as "minionpy" and "LSHADE".
    parameters : dict
        Options as the library documents them.

    Raises
    ------
    ValueError, TypeError
        For an unknown name (the nearest is suggested), a library that is missing, and options that are not allowed.
    """
    found = LIBRARIES[check_choice("library of an algorithm", library, LIBRARIES)]
    name = f"{library}:{check_choice(f'algorithm of {library!r}', algorithm, found.algorithms)}"
    found.package.require(repr(name))
    known = found.algorithms[algorithm]
    options = {key: check_option(name, key, value, known) for key, value in parameters.items()}
    return found.make(text, algorithm, options)


def check_option(name: str, key: str, value: Any, kinds: OptionTypes) -> Any:
    """Check an option of another library's optimiser and return it."""
    kind = kinds[check_choice(f"parameter of {name!r}", key, kinds)]
    what = f"{key} of {name!r}"
    if isinstance(kind, tuple):
        return check_choice(what, value, kind)
    return check_int(what, value, 0) if kind is int else check_real(what, value)
