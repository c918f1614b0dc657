"""The fit of a model: searches by populations, local searches, and restarts until several agree."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from skde.algorithms import Algorithm
from skde.callbacks import Progress
from skde.engines import decode
from skde.minimizer import Minimizer
from skde.model_fitting.fit_task import FitTask
from skde.model_fitting.fit_watch import FitWatch
from skde.model_fitting.linear_parameters import LinearSolver, linear_parameters
from skde.model_fitting.predictor import ON_ERROR_NAN, ON_ERROR_RAISE
from skde.typing import Array, FloatArray
from skde.utils.arrays import array_namespace, to_numpy
from skde.variables import Real, Variables, nameless

EVALS_PER_PARAMETER = 3000  # of one search
REFIT_EVALS = 300  # of one parameter, for samples of a bootstrap
TOL = 1e-10  # of a population: the local search does the rest
LOCAL_STARTS = 3  # ends of local searches in the first population of each search
START_STEPS, MOST_STEPS = 100, 4000  # of a local search for a start, and of the last one
ROUNDING = (100 * float(np.finfo(np.float64).eps)) ** 2  # squared residuals up to this are 0, relative to y's squares


@dataclass(frozen=True)
class SearchPlan:
    """The parameters of the searches.

    Attributes
    ----------
    algorithm : str or Algorithm
        The algorithm.
    max_evals : int or None
        The evaluations of one search.
    polish : bool
        Whether local searches are done, where the loss is smooth.
    separate : bool
        Whether linear parameters are looked for.
    agreeing, max_restarts : int
        The searches that have to agree, and the largest number of searches.
    tolerance : float
        The relative difference of losses that agree.
    device : str
        The device of the population.
    n_jobs : int or None
        Workers for a model of one candidate.
    max_time : float or None
        Time limit of the fit in seconds.
    """

    algorithm: str | Algorithm
    max_evals: int | None
    polish: bool
    separate: bool
    agreeing: int
    max_restarts: int
    tolerance: float
    device: str
    n_jobs: int | None
    max_time: float | None


@dataclass
class FittedParameters:
    """The result of a fit.

    Attributes
    ----------
    theta : ndarray of shape (n_parameters,)
        The best candidate.
    loss : float
        Its loss with the penalty.
    linear : list of int
        The parameters that were solved for.
    losses : list of float
        The best loss of each search.
    agreeing : int
        The searches that agree with the best.
    exact : bool
        Whether a local search was enough.
    """

    theta: FloatArray
    loss: float = np.inf
    linear: list[int] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    agreeing: int = 0
    exact: bool = False

    def count_agreeing(self, tolerance: float, zero: float) -> None:
        """Count the searches that agree with the best, up to a relative difference of losses and an absolute one."""
        self.agreeing = sum(loss - self.loss <= tolerance * abs(self.loss) + zero for loss in self.losses)


class ParameterSearch:
    """Searches for the parameters that no linear system gives.

    Parameters
    ----------
    task : FitTask
        The function.
    plan : SearchPlan
        The parameters of the searches.
    seed : int
        Of the points at which linear parameters are looked for.
    watch : FitWatch
        The time limit and the callbacks.
    """

    def __init__(self, task: FitTask, plan: SearchPlan, seed: int, watch: FitWatch) -> None:
        self.task = task
        self.plan = plan
        self.watch = watch
        self.polish = plan.polish and task.smooth
        members = task.variables.members
        squares = plan.separate and task.constraints is None and task.loss.squared and task.smooth
        eligible = np.flatnonzero([squares and type(one) is Real and not one.fixed for one in members])
        self.linear = linear_parameters(self.predictions, task.limits, eligible, seed, lambda: watch.ended)
        constant = {j for j, one in enumerate(members) if one.fixed}
        self.searched = [j for j in range(len(members)) if j not in constant and j not in self.linear]
        self.exact = (plan.polish and task.convex) or not self.searched  # a local search is enough
        ridge = task.alpha * task.penalized[self.linear] if task.penalty == "l2" else np.zeros(len(self.linear))
        self.solver = LinearSolver(self.predictions, task.y, task.weights, task.limits, self.linear, ridge)
        self._evals_before = 0  # of the model, before the population

    def predictions(self, theta: Array) -> Array:
        """Return the predictions for candidates."""
        return self.task.predictor(theta)

    @property
    def bounds(self) -> Any:
        """Bounds of the parameters that are searched."""
        variables = self.task.variables
        if all(type(one) is Real for one in variables.members):
            return self.task.limits[self.searched]
        return Variables([nameless(variables.members[j]) for j in self.searched])  # the model gets arrays

    def complete(self, searched: Array) -> Array:
        """Return candidates from the values of the parameters that are searched, of shape (n, ...)."""
        xp = array_namespace(searched)
        theta: Array = xp.tile(xp.asarray(self.task.variables.middle), (len(searched), 1))
        for k, j in enumerate(self.searched):
            theta[:, j] = searched[:, k]
        return self.solver.complete(theta) if self.linear else theta

    def values(self, searched: Array) -> Array:
        """Return the values at the parameters that are searched."""
        return self.task.values(self.complete(searched))

    def value(self, searched: FloatArray) -> float:
        """Return the value at one point."""
        return float(self.values(searched[None])[0])

    def starts(self, seed: int, count: int) -> FloatArray:
        """Return ends of local searches from random points, as values of the parameters that are searched."""
        variables = self.task.variables
        low, high = variables.box.T
        random = np.random.default_rng(seed)
        points = decode(variables, low + (high - low) * random.random((count, len(low))))
        ends = [self.task.polish(point, START_STEPS, self.watch.step) for point in points]
        first: FloatArray = np.clip(ends, *self.task.limits.T)[:, self.searched]
        return first

    def best(self, seed: int, x0: FloatArray | None, max_evals: int) -> FloatArray:
        """Return the best candidate of one search, with these first points."""
        if self.exact:
            return self.complete_on_host(self.task.variables.middle[None, self.searched])
        plan, vectorized = self.plan, self.task.predictor.vectorized
        workers = 1 if vectorized or plan.n_jobs is None else plan.n_jobs  # one thread: the model takes the time
        objective, on_error = (self.values if vectorized else self.value), ON_ERROR_RAISE
        if workers != 1 and self.task.predictor.on_error == ON_ERROR_NAN:
            # The minimizer warns here of failures in workers.
            objective, on_error = self.raising().value, ON_ERROR_NAN
        minimizer = Minimizer(
            plan.algorithm,
            bounds=self.bounds,
            max_evals=max_evals,
            max_time=self.watch.seconds_left,
            tol=TOL,
            vectorized=vectorized,
            device=plan.device,
            constraints=None if self.task.constraints is None else self.task.constraints.of_searched(self.complete),
            n_jobs=workers,
            on_error=on_error,
            callbacks=self.report if self.watch.callbacks else None,
            random_state=seed,
        )
        self._evals_before = self.task.predictor.n_evals
        try:
            with warnings.catch_warnings():
                # `fit_model` says so where no search has found a finite loss.
                warnings.filterwarnings("ignore", "no value of the objective was finite")
                minimizer.fit(objective, x0=x0)
            return self.note(minimizer)
        except KeyboardInterrupt:
            if hasattr(minimizer, "x_"):
                self.note(minimizer)
            raise

    def raising(self) -> ParameterSearch:
        """Return the search with a model whose failures are exceptions."""
        other, predictor = copy(self), copy(self.task.predictor)
        predictor.on_error = ON_ERROR_RAISE
        other.task = replace(self.task, predictor=predictor)
        other.solver = replace(self.solver, predictions=other.predictions)
        return other

    def note(self, minimizer: Minimizer) -> FloatArray:
        """Note the best candidate of a population, and return it."""
        self.count(minimizer.n_evals_)
        theta = self.complete_on_host(minimizer.x_[None])
        self.watch.note(theta, minimizer.fun_)
        return theta

    def count(self, n_evals: int) -> None:
        """Count the candidates of a population's evaluations, which joblib's workers count in copies of the model."""
        calls = 1 + (len(self.linear) + 1 if self.linear else 0)  # the linear parameters take a candidate each, and one
        predictor = self.task.predictor
        predictor.n_evals = max(predictor.n_evals, self._evals_before + calls * n_evals)

    def report(self, progress: Progress) -> bool:
        """Call the callbacks of the fit."""
        self.count(progress.n_evals)
        return self.watch.report(progress, self.complete_on_host)

    def complete_on_host(self, searched: FloatArray) -> FloatArray:
        """Return the candidate with these values, of shape (1, ...), on the host."""
        theta: FloatArray = to_numpy(self.complete(array_namespace(self.task.predictor.X).asarray(searched)))[0]
        return theta


def fit_model(task: FitTask, plan: SearchPlan, seeds: Sequence[int], found: FittedParameters, watch: FitWatch) -> None:
    """Search until several searches agree, or the time or a callback ends the fit; the best candidate is in `found`.

    Raises
    ------
    ValueError
        Where no candidate has a finite loss.
    KeyboardInterrupt
        After Ctrl-C; `found` has the best candidate so far.
    """
    try:
        run_searches(task, plan, seeds, found, watch)
    except KeyboardInterrupt:
        if watch.loss < found.loss:
            found.theta, found.loss = watch.theta, watch.loss
            found.count_agreeing(plan.tolerance, rounding_loss(task))
        raise
    if not np.isfinite(found.loss):
        reason = f", and the first failure is {error}" if (error := task.predictor.first_error) else ""
        allowed = "" if task.constraints is None else ", or the constraints do not allow them"
        raise ValueError(
            f"the loss of all {task.predictor.n_evals} candidates is infinite or NaN{allowed}: check the model and "
            f"the bounds{reason}"
        )
    watch.finish(found.theta, found.loss)


def run_searches(
    task: FitTask, plan: SearchPlan, seeds: Sequence[int], found: FittedParameters, watch: FitWatch
) -> None:
    """Search from one seed after the other, and store the best candidate."""
    search = ParameterSearch(task, plan, seeds[0], watch)
    found.linear = search.linear
    max_evals = plan.max_evals or EVALS_PER_PARAMETER * len(search.searched)
    zero = rounding_loss(task)
    for seed in seeds:
        begins = search.polish and not search.exact
        theta = search.best(seed, search.starts(seed, LOCAL_STARTS) if begins else None, max_evals)
        value = task.value(theta)
        watch.note(theta, value)
        if search.polish:
            end = task.polish(theta, MOST_STEPS, watch.step)
            if not task.value(end) > value:
                theta, value = end, task.value(end)
                watch.note(theta, value)
        found.losses.append(value)
        if value < found.loss:
            found.theta, found.loss = theta, value
        found.count_agreeing(plan.tolerance, zero)
        found.exact = search.exact and not watch.ended
        watch.n_restarts += 1
        watch.report()
        nothing = not np.isfinite(found.loss) and len(found.losses) >= plan.agreeing
        if found.agreeing >= plan.agreeing or search.exact or watch.ended or nothing:
            break


def refit(task: FitTask, plan: SearchPlan, found: FittedParameters, seed: int, watch: FitWatch) -> FloatArray:
    """Return the parameters of a fit to other samples, from a fit's parameters: a bootstrap."""
    if plan.polish and task.smooth:
        return task.polish(found.theta, MOST_STEPS, watch.step)
    search = ParameterSearch(task, replace(plan, separate=False), seed, watch)
    return search.best(seed, found.theta[None, search.searched], REFIT_EVALS * max(len(search.searched), 1))


def rounding_loss(task: FitTask) -> float:
    """Return the loss that rounding alone makes."""
    return ROUNDING * float((task.weights * task.y**2).sum()) if task.loss.smooth else 0.0
