"""The time limit and the callbacks of a model's fit, and the best parameters so far."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from skde.callbacks import Progress, stops
from skde.engines.state.spec import CHUNK_SECONDS
from skde.model_fitting.predictor import Predictor
from skde.typing import FloatArray
from skde.variables import Variables

LEAST_SECONDS = 1e-9  # a time limit is above 0

Complete = Callable[[FloatArray], FloatArray]  # parameters from those that a population searches


class FitWatch:
    """The time limit and the callbacks of one fit, and the best parameters so far.

    Parameters
    ----------
    model : ModelRegressor or ModelClassifier
        The estimator, for callbacks.
    predictor : Predictor
        Counts the candidates.
    variables : Variables
        The parameters.
    callbacks : sequence of callable
        Called with a `ModelProgress`.
    max_time : float or None
        Seconds from now.

    Attributes
    ----------
    theta, loss : ndarray of shape (n_parameters,), float
        The best candidate that a search has reported, and its loss; infinite before there is one.
    searching : bool
        Whether the searches continue. Candidates of a bootstrap are for other samples, and are not noted.
    stopped : bool
        Whether a callback has asked to stop.
    n_restarts, n_bootstrap : int
        Complete searches, and complete fits of a bootstrap.
    """

    def __init__(
        self,
        model: Any,
        predictor: Predictor,
        variables: Variables,
        callbacks: Sequence[Callable[[ModelProgress], Any]],
        max_time: float | None,
    ) -> None:
        self.model = model
        self.predictor = predictor
        self.variables = variables
        self.callbacks = callbacks
        self.max_time = max_time
        self.theta: FloatArray = variables.middle
        self.loss = np.inf
        self.searching = True
        self.stopped = False
        self.n_restarts = self.n_bootstrap = 0
        self._begin = self._reported = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds since the fit began."""
        return time.perf_counter() - self._begin

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the time limit, above 0; None without one."""
        return None if self.max_time is None else max(self.max_time - self.seconds, LEAST_SECONDS)

    @property
    def ended(self) -> bool:
        """Whether a callback or the time limit has ended the fit."""
        return self.stopped or (self.max_time is not None and self.seconds >= self.max_time)

    def note(self, theta: FloatArray, loss: float) -> None:
        """Keep a candidate that is better than all before."""
        if self.searching and loss < self.loss:
            self.theta, self.loss = theta, loss

    def step(self, theta: FloatArray, loss: float) -> bool:
        """Note where a local search is, and return whether it has to end; callbacks are called about every 40 ms."""
        self.note(theta, loss)
        if self.callbacks and time.perf_counter() - self._reported >= CHUNK_SECONDS:
            self.report()
        return self.ended

    def report(self, running: Progress | None = None, complete: Complete | None = None) -> bool:
        """Call the callbacks, unless one has asked to stop, and return whether one has."""
        if not self.stopped:
            progress = ModelProgress(self, running if self.searching else None, complete)
            self.stopped = stops(self.callbacks, progress)
            self._reported = time.perf_counter()
        return self.stopped

    def finish(self, theta: FloatArray, loss: float) -> None:
        """Take the result of the searches."""
        self.theta, self.loss, self.searching = theta, loss, False


class ModelProgress:
    """A fit of a model that runs, for callbacks.

    Parameters
    ----------
    watch : FitWatch
        The fit.
    running : Progress or None
        Of a population that searches.
    complete : callable or None
        Returns the parameters from those that this population searches.

    Attributes
    ----------
    model : ModelRegressor or ModelClassifier
        The estimator.
    n_evals : int
        Candidates that the model was called with.
    n_restarts, n_bootstrap : int
        Complete searches, and complete fits of a bootstrap.
    seconds : float
        Since the fit began.
    """

    def __init__(self, watch: FitWatch, running: Progress | None, complete: Complete | None) -> None:
        self._watch = watch
        self._running = running
        self._complete = complete
        self.model = watch.model
        self.n_evals = watch.predictor.n_evals
        self.n_restarts = watch.n_restarts
        self.n_bootstrap = watch.n_bootstrap
        self.seconds = watch.seconds

    @cached_property
    def _from_population(self) -> bool:
        """Whether the population has a better candidate than those before it."""
        return self._running is not None and self._running.fun < self._watch.loss

    @property
    def loss(self) -> float:
        """The best loss so far, with the penalty; infinite before there is one."""
        return self._running.fun if self._running is not None and self._from_population else self._watch.loss

    @cached_property
    def theta(self) -> FloatArray:
        """The best parameters so far; the model is called where some of them are solved for."""
        if self._running is None or self._complete is None or not self._from_population:
            return self._watch.theta
        return self._complete(self._running.x[None])

    @property
    def params(self) -> dict[str, Any]:
        """The best parameters so far, by name."""
        return self._watch.variables.params(self.theta)
