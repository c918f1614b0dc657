"""Optimisers of quality experiments: skde's algorithms, and those of other libraries that are installed."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from importlib.util import find_spec
from math import inf
from typing import Any

from sklearn.base import clone

from skde.algorithms import ALGORITHMS, Algorithm, FitSetting, get_algorithm
from skde.benchmark.curves import WatchedFunction
from skde.benchmark.suites import Function
from skde.minimizer import Minimizer
from skde.result import History, RunResult
from skde.typing import FloatArray
from skde.validation import check_choice, check_int, check_real

# Type or choices of each option of other libraries' optimisers. They are checked here because minionpy ignores unknown
# options and invalid values.
OptionType = type[int] | type[float] | tuple[str, ...]
OptionTypes = dict[str, OptionType]

MINIONPY_SHARED: OptionTypes = {
    "population_size": int,
    "bound_strategy": ("random", "reflect-random", "clip"),
    "x_tol": float,
    "f_tol": float,
}
MINIONPY_REDUCED: OptionTypes = {
    **MINIONPY_SHARED,
    "archive_size_ratio": float,
    "minimum_population_size": int,
    "reduction_strategy": ("linear", "exponential", "agsk"),
}
MINIONPY: dict[str, OptionTypes] = {
    "JADE": {**MINIONPY_REDUCED, "c": float},
    "LSHADE": {**MINIONPY_REDUCED, "memory_size": int},
    "jSO": {**MINIONPY_REDUCED, "memory_size": int},
    "LSRTDE": {**MINIONPY_SHARED, "memory_size": int, "success_rate": float},
}
PYGMO: dict[str, OptionTypes] = {"sade": {"pop_size": int, "variant": int, "variant_adptv": int}}


@dataclass(frozen=True)
class Budget:
    """The budget of a run.

    Attributes
    ----------
    text : str
        The budget as given.
    evaluations : int or None
        Evaluations of one run; a factor if `per_dim`.
    per_dim : bool
        Whether `evaluations` is multiplied by the dimension.
    seconds : float or None
        Time of all runs of a cell together, instead of evaluations.
    """

    text: str
    evaluations: int | None
    per_dim: bool = False
    seconds: float | None = None

    @classmethod
    def read(cls, text: str) -> Budget:
        """Read 300000, 10000*dim or 2.5s.

        Raises
        ------
        ValueError
            For anything else.
        """
        match = re.fullmatch(r"(\d+(?:\.\d*)?(?:[eE]\+?\d{1,2})?)\s*(\*\s*dim|s)?", text.strip())
        amount = float(match[1]) if match else 0.0
        unit = (match and match[2]) or ""
        if unit == "s" and amount > 0:
            return cls(text, None, seconds=amount)
        if unit == "s" or amount < 1 or not amount.is_integer():
            raise ValueError(
                "budget must be evaluations of a run, such as 300000 or 10000*dim, or seconds, such as 2.5s; "
                f"got {text!r}"
            )
        return cls(text, int(amount), bool(unit))

    def evals(self, dim: int) -> int | None:
        """Return the evaluations of a run, or None for a budget in seconds."""
        return self.evaluations if self.evaluations is None or not self.per_dim else self.evaluations * dim


@dataclass(frozen=True)
class Outcome:
    """The results of a cell's runs.

    Attributes
    ----------
    best : list of float
        The best values; infinite where a run failed.
    n_evals : list of int
        Evaluations.
    histories : list of History or None
        The best value of each run over time; None where a run failed. Empty for an optimiser without histories.
    failures : dict of int to str
        The errors of the runs that failed.
    """

    best: list[float]
    n_evals: list[int]
    histories: list[History | None] = field(default_factory=list)
    failures: dict[int, str] = field(default_factory=dict)

    @classmethod
    def failed(cls, runs: int, error: Exception) -> Outcome:
        """Return the outcome of runs that failed together."""
        return cls([inf] * runs, [0] * runs, [None] * runs, dict.fromkeys(range(runs), describe(error)))


def describe(error: Exception) -> str:
    """Return the first line of an error, with its type."""
    return f"{type(error).__name__}: {error}".splitlines()[0]


class Optimizer(ABC):
    """The base class of optimisers in experiments.

    Attributes
    ----------
    text : str
        Name and parameters, as in records.
    """

    text: str

    @abstractmethod
    def run(self, function: Function, budget: Budget, runs: int, seed: int, device: str, n_jobs: int | None) -> Outcome:
        """Minimise a function `runs` times.

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C; an incomplete run gives no result.
        """

    def check_budget(self, budget: Budget) -> None:  # noqa: B027 - most optimisers take every budget
        """Refuse a budget that the optimiser cannot have."""


class SkdeOptimizer(Optimizer):
    """An algorithm of skde: all runs in one batch."""

    def __init__(self, text: str, algorithm: Algorithm) -> None:
        self.text = text
        self.algorithm = algorithm
        # To refuse a wrong parameter now, and not after the cells before it.
        algorithm.kernel_parameters(FitSetting(dim=10, max_evals=1))

    def check_budget(self, budget: Budget) -> None:
        """Refuse seconds if the population shrinks with the evaluations."""
        if self.algorithm.shrinks and budget.seconds is not None:
            raise ValueError(f"{self.text} needs a budget of evaluations, such as 10000*dim; got {budget.text!r}")

    def run(self, function: Function, budget: Budget, runs: int, seed: int, device: str, n_jobs: int | None) -> Outcome:
        """Minimise a function `runs` times."""
        minimizer = Minimizer(
            self.algorithm,
            max_evals=budget.evals(function.dim),
            max_time=budget.seconds,
            n_runs=runs,
            device=device,
            n_jobs=n_jobs,
            random_state=seed,
        )
        if budget.seconds is not None:
            # A short fit first, because compilation for a GPU would use up the time.
            self.fit(clone(minimizer).set_params(max_time=None, max_iter=1), function)
        runs_done = self.fit(minimizer, function)
        return Outcome(
            [run.fun for run in runs_done], [run.n_evals for run in runs_done], [run.history for run in runs_done]
        )

    def fit(self, minimizer: Minimizer, function: Function) -> list[RunResult]:
        """Return the runs of one fit."""
        return minimizer.fit(function.objective, bounds=function.bounds).runs_


class ExternalOptimizer(Optimizer):
    """An optimiser of another library: one run after the other, with the seeds seed, seed + 1, ..., on the CPU."""

    def __init__(self, text: str, algorithm: str, options: dict[str, Any]) -> None:
        self.text = text
        self.algorithm = algorithm
        self.options = options

    def check_budget(self, budget: Budget) -> None:
        """Refuse seconds: the schedules of these optimisers are made from evaluations."""
        if budget.seconds is not None:
            raise ValueError(f"{self.text} needs a budget of evaluations, such as 10000*dim; got {budget.text!r}")

    def run(self, function: Function, budget: Budget, runs: int, seed: int, device: str, n_jobs: int | None) -> Outcome:
        """Minimise a function `runs` times."""
        evals = budget.evals(function.dim)
        assert evals is not None
        outcome = Outcome([], [])
        for run in range(runs):
            watched = WatchedFunction(function)
            try:
                best, n_evals = self.minimize(watched.function, evals, seed + run)
                history: History | None = watched.history()
            except Exception as error:  # another library may raise anything; the other runs go on
                best, n_evals, history = inf, 0, None
                outcome.failures[run] = describe(error)
            outcome.best.append(best)
            outcome.n_evals.append(n_evals)
            outcome.histories.append(history)
        return outcome

    @abstractmethod
    def minimize(self, function: Function, evals: int, seed: int) -> tuple[float, int]:
        """Return the best value of one run, and its evaluations."""


class MinionpyOptimizer(ExternalOptimizer):
    """An optimiser of minionpy; like skde, it uses the whole budget, even after convergence."""

    def minimize(self, function: Function, evals: int, seed: int) -> tuple[float, int]:
        """Return the best value of one run, and its evaluations."""
        import minionpy

        bounds = [(float(low), float(high)) for low, high in function.bounds]
        # Not minionpy's classes of algorithms, because minionpy.JADE of version 1.9.1 runs LSHADE.
        optimiser = minionpy.Minimizer(
            function.of_lists,
            bounds,
            algo=self.algorithm,
            maxevals=evals,
            seed=seed,
            options={"x_tol": -1.0, "f_tol": -1.0, **self.options},
        )
        try:
            result = optimiser.optimize()
        except RuntimeError as error:
            if str(error).startswith("KeyboardInterrupt"):  # minionpy turns every exception into a RuntimeError
                raise KeyboardInterrupt from None
            raise
        return float(result.fun), int(result.nfev)


class PygmoOptimizer(ExternalOptimizer):
    """An algorithm of pygmo; like skde, it uses the whole budget, even after convergence."""

    def minimize(self, function: Function, evals: int, seed: int) -> tuple[float, int]:
        """Return the best value of one run, and its evaluations."""
        import pygmo

        class Udp:
            """A problem in pygmo's form."""

            def fitness(self, x: FloatArray) -> list[float]:
                return function.of_lists([x.tolist()])

            def get_bounds(self) -> tuple[FloatArray, FloatArray]:
                return function.bounds[:, 0], function.bounds[:, 1]

        options = {"pop_size": 100, **self.options}
        pop_size = options.pop("pop_size")
        if evals < pop_size:
            raise ValueError(f"{self.text} has a population of {pop_size}, more than the budget's {evals} evaluations")
        population = pygmo.population(pygmo.problem(Udp()), pop_size, seed=seed)
        make = getattr(pygmo, self.algorithm)
        algorithm = pygmo.algorithm(make(gen=evals // pop_size - 1, ftol=0, xtol=0, seed=seed, **options))
        population = algorithm.evolve(population)
        return float(population.champion_f[0]), int(population.problem.get_fevals())


LIBRARIES: dict[str, tuple[type[ExternalOptimizer], dict[str, OptionTypes]]] = {
    "minionpy": (MinionpyOptimizer, MINIONPY),
    "pygmo": (PygmoOptimizer, PYGMO),
}


def optimizer_names() -> list[str]:
    """Return every name that `get_optimizer` knows."""
    peers = [f"{package}:{optimiser}" for package, (_, known) in LIBRARIES.items() for optimiser in known]
    return [*ALGORITHMS, *peers]


def get_optimizer(name: str, **parameters: Any) -> Optimizer:
    """Return the optimiser of a name.

    Parameters
    ----------
    name : str
        A name of skde's registry, or "minionpy:LSHADE", "pygmo:sade" and the like.
    **parameters
        Parameters of the algorithm; for another library, the options that it documents.

    Returns
    -------
    optimizer : Optimizer

    Raises
    ------
    ValueError, TypeError
        For an unknown name (the nearest is suggested), a parameter that is not allowed, or a library that is missing.

    Examples
    --------
    >>> from skde.benchmark.optimizers import get_optimizer
    >>> get_optimizer("de", F=0.52, pop_size=48).text
    'de:F=0.52,pop_size=48'
    """
    check_choice("algorithm", name, optimizer_names())
    text = ",".join(f"{key}={option_text(value)}" for key, value in parameters.items())
    text = f"{name}:{text}" if text else name
    package, _, optimiser = name.partition(":")
    if not optimiser:
        return SkdeOptimizer(text, get_algorithm(name, **parameters))
    make, known = LIBRARIES[package]
    if find_spec(package) is None:
        raise ValueError(f"{name!r} needs {package}, which is not installed: pip install {package}")
    options = {key: check_option(name, key, value, known[optimiser]) for key, value in parameters.items()}
    return make(text, optimiser, options)


def check_option(name: str, key: str, value: Any, kinds: OptionTypes) -> Any:
    """Check an option of another library's optimiser and return it."""
    kind = kinds[check_choice(f"parameter of {name!r}", key, kinds)]
    what = f"{key} of {name!r}"
    if isinstance(kind, tuple):
        return check_choice(what, value, kind)
    return check_int(what, value, 0) if kind is int else check_real(what, value)


def option_text(value: Any) -> str:
    """Return a value in the command line's form."""
    return ",".join(map(option_text, value)) if isinstance(value, tuple | list) else str(value)
