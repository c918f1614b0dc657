"""Optimisers of quality experiments: skde's algorithms, and other libraries' by their names."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from skde.algorithms import ALGORITHMS, Algorithm, FitSetting, get_algorithm
from skde.algorithms.auto import AUTO
from skde.benchmark.functions import Function
from skde.benchmark.optimizer_base import Budget, Optimizer, RunsOutcome
from skde.benchmark.peer_optimizers import make_peer
from skde.minimizer import Minimizer
from skde.result import History, RunResult, ignore_missing_values
from skde.utils.random_state import run_seeds
from skde.utils.validation import check_choice

__all__ = ["Budget", "Optimizer", "RunsOutcome", "SkdeOptimizer", "get_optimizer"]


class SkdeOptimizer(Optimizer):
    """An algorithm of skde: all runs in one batch, or one run alone with the seed that it has in the batch."""

    batches = True
    takes_constraints = True

    def __init__(self, text: str, algorithm: str | Algorithm) -> None:
        self.text = text
        self.algorithm = algorithm
        if isinstance(algorithm, Algorithm):
            # To refuse a wrong parameter now, and not after the cells before it.
            algorithm.kernel_parameters(FitSetting(dim=10, max_evals=1))

    def check_budget(self, budget: Budget) -> None:
        """Refuse seconds if the population shrinks with the evaluations."""
        if isinstance(self.algorithm, Algorithm) and self.algorithm.shrinks and budget.seconds is not None:
            raise ValueError(f"{self.text} needs a budget of evaluations, such as 10000*dim; got {budget.text!r}")

    def seeds(self, seed: int, runs: int) -> list[int]:
        """Return the seed of every run of a batch."""
        return [int(one) for one in run_seeds(seed, runs)]

    def minimize(self, function: Function, evals: int, seed: int, n_jobs: int | None = None) -> History:
        """Return the history of one run.

        The points are asked and told, so that the function is called for them alone: `fit` calls it for others too,
        which a platform would count. The history of an ask/tell minimizer has no seconds: they are clocked here, when
        the values of a generation are there, as for other libraries.
        """
        minimizer = Minimizer(
            self.algorithm,
            bounds=function.bounds,
            constraints=function.constraints,
            feasibility_tol=0.0,
            max_evals=evals,
            device="cpu",
            n_jobs=n_jobs,
            random_state=seed,
        )
        begin, n_evals, seconds = time.perf_counter(), [0], [0.0]
        while not (minimizer.stopped_ or function.solved()):
            X = minimizer.ask()
            values = function.objective(X)
            n_evals.append(n_evals[-1] + len(X))
            seconds.append(time.perf_counter() - begin)
            minimizer.tell(X, values)
        history = minimizer.runs_[0].history
        return replace(history, seconds=np.array(seconds)[np.searchsorted(n_evals, history.n_evals)])

    def run(
        self, function: Function, budget: Budget, runs: int, seed: int, device: str, n_jobs: int | None
    ) -> RunsOutcome:
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
        return RunsOutcome(
            [run.fun for run in runs_done], [run.n_evals for run in runs_done], [run.history for run in runs_done]
        )

    def fit(self, minimizer: Minimizer, function: Function) -> list[RunResult]:
        """Return the runs of one fit; a record says itself which of them have no value."""
        with ignore_missing_values():
            return minimizer.fit(function.objective, bounds=function.bounds).runs_


def get_optimizer(name: str, **parameters: Any) -> Optimizer:
    """Return the optimiser of a name.

    Parameters
    ----------
    name : str
        A name of skde's registry, "auto", or "minionpy:LSHADE", "pygmo:sade" and the like.
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
    library, colon, algorithm = name.partition(":")
    if not colon:
        check_choice("algorithm", name, (AUTO, *ALGORITHMS))
        if name == AUTO and parameters:
            raise ValueError(f"algorithm='auto' has no parameters, got {next(iter(parameters))!r}")
    text = ",".join(f"{key}={option_text(value)}" for key, value in parameters.items())
    text = f"{name}:{text}" if text else name
    if not colon:
        return SkdeOptimizer(text, name if name == AUTO else get_algorithm(name, **parameters))
    return make_peer(text, library, algorithm, parameters)


def option_text(value: Any) -> str:
    """Return a value in the command line's form."""
    return ",".join(map(option_text, value)) if isinstance(value, tuple | list) else str(value)
