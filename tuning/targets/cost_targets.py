"""Targets that run one experiment at a time: functions, programs, estimators of scikit-learn."""

from __future__ import annotations

import math
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import train_test_split
from sklearn.utils import check_consistent_length

from skde.tuning.targets.base import Target, TargetJob, TargetLimits, TargetOutcome
from skde.utils.validation import quote


class Cost(ABC):
    """The cost of one experiment."""

    @abstractmethod
    def __call__(self, job: TargetJob) -> float:
        """Return the cost; exceptions are failures."""

    @abstractmethod
    def describe(self) -> str:
        """Return a reproducible text on the target."""

    def configure(self, params: dict[str, Any]) -> Any:
        """Return the target with the values of a configuration, where it has such a form."""
        raise AttributeError("only an algorithm of skde and a scikit-learn estimator have a best_estimator_")

    def check(self, instances: Sequence[Any]) -> None:  # noqa: B027 - most targets take every instance
        """Refuse instances that the target cannot take."""

    @property
    def parameter_names(self) -> set[str] | None:
        """Names of the parameters that the target has; None where it takes any."""
        return None


class SequentialTarget(Target):
    """A target that runs experiments one after the other, or in processes of joblib.

    Parameters
    ----------
    cost : Cost
        The cost of one experiment.
    n_jobs : int or None
        Number of joblib's processes.
    """

    def __init__(self, cost: Cost, n_jobs: int | None) -> None:
        import joblib

        self.cost = cost
        self.n_jobs = n_jobs
        self.batched = joblib.effective_n_jobs(n_jobs) > 1

    def run(self, jobs: Sequence[TargetJob]) -> Generator[TargetOutcome]:
        """Yield the outcomes in the order of the jobs; `close` ends joblib's workers."""
        if not self.batched:
            for job in jobs:
                yield measure_cost(self.cost, job)
            return
        import joblib

        parallel = joblib.Parallel(n_jobs=self.n_jobs, return_as="generator")
        outcomes = parallel(joblib.delayed(measure_cost)(self.cost, job) for job in jobs)
        try:
            for outcome in outcomes:  # noqa: UP028 - yield from would close them outside the filter below
                yield outcome
        finally:
            with warnings.catch_warnings():  # joblib's, of jobs that were begun and not used
                warnings.simplefilter("ignore", UserWarning)
                outcomes.close()

    def describe(self) -> str:
        """Return a reproducible text on the target."""
        return self.cost.describe()

    def configure(self, params: dict[str, Any]) -> Any:
        """Return the object given to `as_target`, with the values of a configuration."""
        return self.cost.configure(params)

    def check(self, instances: Sequence[Any]) -> None:
        """Refuse instances that the target cannot take."""
        self.cost.check(instances)

    @property
    def parameter_names(self) -> set[str] | None:
        """Names of the parameters that the target has; None where it takes any."""
        return self.cost.parameter_names


def measure_cost(cost: Cost, job: TargetJob) -> TargetOutcome:
    """Return the outcome of one experiment; an exception, but for several costs, is its configuration's failure."""
    begin = time.perf_counter()
    try:
        value = check_cost(cost(job))
    except CostShapeError:
        raise
    except Exception as error:
        return TargetOutcome.of_error(error, time.perf_counter() - begin)
    reason = "the cost is inf" if value == math.inf else None
    return TargetOutcome(value, time.perf_counter() - begin, error=reason)


class CostShapeError(TypeError):
    """A target that returns several costs. No other configuration would do better, so that it ends the tuning."""


def single_number(cost: Any) -> Any:
    """Return the number of an array or a list that has one; anything else as it is.

    Raises
    ------
    CostShapeError
        For any other number of elements.
    """
    if isinstance(cost, list | tuple):
        cost = np.asarray(cost)
    shape = getattr(cost, "shape", None)
    if not isinstance(shape, tuple):
        return cost
    if math.prod(shape) != 1:
        raise CostShapeError(
            f"the target must return one number as the cost, or an array with one element, got shape {shape}: "
            f"{quote(cost)}"
        )
    return cost.item() if hasattr(cost, "item") else np.asarray(cost).item()


def check_cost(cost: Any) -> float:
    """Return a cost as a float; inf rejects the configuration."""
    number = single_number(cost)
    try:
        value = float(number)
    except (TypeError, ValueError):
        raise TypeError(
            f"the target must return one number as the cost, got {quote(number)} ({type(number).__name__})"
        ) from None
    if math.isnan(value):
        raise ValueError("the cost is NaN")
    if value == -math.inf:  # means, tests and models need finite costs
        raise ValueError("the cost is -inf; take the logarithm of max(error, 1e-12), say")
    return value


class FunctionCost(Cost):
    """A Python function of configuration, instance and seed.

    Parameters
    ----------
    function : callable
        function(config, instance, seed) -> cost, where config is a dict.
    """

    def __init__(self, function: Callable[[dict[str, Any], Any, int], Any]) -> None:
        self.function = function

    def __call__(self, job: TargetJob) -> float:
        """Return the cost."""
        return check_cost(self.function(dict(job.params), job.instance, job.seed))

    def describe(self) -> str:
        """Return the function's name."""
        return getattr(self.function, "__qualname__", type(self.function).__qualname__)


class EstimatorCost(Cost):
    """A scikit-learn estimator on data sets: 1 - score on a quarter of the data, which the seed chooses.

    Parameters
    ----------
    estimator : estimator
        The estimator, with the values of the parameters that are not tuned.
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def __call__(self, job: TargetJob) -> float:
        """Return the cost."""
        X, y = read_data(job.instance)
        estimator = self.configure(job.params)
        estimator.set_params(**seeds_of(estimator, job.seed))
        stratify = y if is_classifier(estimator) else None
        X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, random_state=job.seed, stratify=stratify)
        return 1 - float(single_number(estimator.fit(X, y).score(X_test, y_test)))

    def describe(self) -> str:
        """Return the estimator with its parameters, without the addresses of functions among them."""
        return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(self.estimator))

    def configure(self, params: dict[str, Any]) -> Any:
        """Return a clone of the estimator with the values of a configuration."""
        return clone(self.estimator).set_params(**params)

    @property
    def parameter_names(self) -> set[str]:
        """Names of the parameters of the estimator and of the estimators in it."""
        return set(self.estimator.get_params(deep=True))

    def check(self, instances: Sequence[Any]) -> None:
        """Refuse instances that are no data sets."""
        for number, instance in enumerate(instances):
            try:
                X, y = read_data(instance)
                check_consistent_length(X, y)  # a sparse X has no len()
                fits = y is not None
            except (TypeError, ValueError):
                fits = False
            if not fits:
                raise ValueError(f"instances[{number}] must be a data set: (X, y) of the same length, or a Bunch")


def read_data(instance: Any) -> tuple[Any, Any]:
    """Return X and y of a pair, or of one of scikit-learn's data sets."""
    if hasattr(instance, "data") and hasattr(instance, "target"):
        return instance.data, instance.target
    X, y = instance
    return X, y


def seeds_of(estimator: Any, seed: int) -> dict[str, int]:
    """Return the values of random_state of an estimator and of the estimators in it."""
    names = sorted(estimator.get_params(deep=True))
    rng = np.random.default_rng(seed)
    inner = {name: int(rng.integers(2**31)) for name in names if name.endswith("__random_state")}
    return {"random_state": seed, **inner} if "random_state" in names else inner


class CommandCost(Cost):
    """A program by irace's convention, which prints its cost.

    It is called with the numbers of configuration and instance (from 1), the seed, the instance, and then --NAME VALUE
    for every parameter. The first word of the last line that it prints is the cost.

    Parameters
    ----------
    words : list of str
        The program and its first arguments.
    limits : TargetLimits
        Limits of one experiment, after which the program is killed.
    hint : str, default ""
        Advice in the error for a program that is not found.
    """

    def __init__(self, words: list[str], limits: TargetLimits, hint: str = "") -> None:
        self.words = words
        self.limits = limits
        self.hint = hint

    def __call__(self, job: TargetJob) -> float:
        """Return the cost."""
        command = [*self.words, str(job.configuration + 1), str(job.index + 1), str(job.seed), str(job.instance)]
        for name, value in job.params.items():
            command += [f"--{name}", str(value)]
        timeout = self.limits.timeout
        try:
            done = run_program(command, timeout)
        except subprocess.TimeoutExpired:
            raise RuntimeError(f"no end after {timeout:g} s; killed: {shlex.join(command)}") from None
        except OSError as error:
            raise RuntimeError(f"cannot run {shlex.join(command)}: {error}{self.hint}") from None
        if done.returncode:
            raise RuntimeError(f"exit status {done.returncode} of {shlex.join(command)}: {done.stderr.strip()[-500:]}")
        words = (done.stdout.strip().splitlines() or [""])[-1].split()
        try:
            value = float(words[0])
        except (IndexError, ValueError):
            raise RuntimeError(
                f"the last line printed must begin with the cost, got {' '.join(words)!r} of {shlex.join(command)}"
            ) from None
        return check_cost(value)

    def describe(self) -> str:
        """Return the command line."""
        return shlex.join(self.words)


def run_program(command: list[str], timeout: float | None) -> subprocess.CompletedProcess[str]:
    """Run a program to its end; after a timeout, kill it with all processes that it has started."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True) as process:
        try:
            stdout, stderr = process.communicate(timeout=timeout)
        except BaseException:  # also Ctrl-C, which does not reach the program in its new session
            kill(process)
            raise
    return subprocess.CompletedProcess(command, process.returncode, stdout, stderr)


def kill(process: subprocess.Popen[str]) -> None:
    """End a program and, but on Windows, the processes of its session."""
    if sys.platform == "win32":
        process.kill()
    else:
        with suppress(ProcessLookupError, PermissionError):  # macOS refuses where all of them have ended
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
