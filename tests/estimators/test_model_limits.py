"""Fits of models that time, callbacks or Ctrl-C end: the best parameters so far are the result."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from skde.estimators import ModelClassifier, ModelProgress, ModelRegressor
from skde.model_fitting import fit_watch
from skde.model_fitting.base_model import BaseModel
from skde.testing.base import PROBE_CALLS

X = np.linspace(0.0, 4.0, 30)[:, None]
y = 2.5 * np.exp(-1.3 * X[:, 0]) + 0.7 + 0.05 * np.random.default_rng(0).standard_normal(30)
CLASSES = (y > 1).astype(int)
BOX = {"a": (0, 10), "b": (0, 5), "c": (-5, 5)}


@pytest.fixture(autouse=True)
def ctrl_c() -> Iterator[None]:
    """Let Ctrl-C raise, also where the shell ignores it for its jobs, and let BLAS have one thread."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with threadpool_limits(1):
        yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)


class Decay:
    """A model that notes its candidates, and sends Ctrl-C in one of its calls."""

    def __init__(self, interrupted: float = np.inf) -> None:
        self.interrupted = interrupted
        self.calls: list[Any] = []

    def __call__(self, X: Any, theta: Any) -> Any:
        self.calls.append(np.reshape(theta, (3, -1)).T)
        if len(self.calls) == self.interrupted:
            signal.raise_signal(signal.SIGINT)
        return theta[0] * np.exp(-theta[1] * X[:, 0]) + theta[2]


def regressor(model: Any = None, **parameters: Any) -> ModelRegressor:
    """Return a regressor of few evaluations, which has callables as they are, not as clones."""
    given = {"vectorized": True, "max_evals": 400, "n_agreeing": 2, "max_restarts": 2, "random_state": 0, **parameters}
    return ModelRegressor(Decay() if model is None else model, BOX, **given)


def loss_of(fit: ModelRegressor, theta: Any) -> float:
    """Return the loss of parameters: absolute or squared."""
    residual = y - Decay()(X, theta)
    return float(np.mean(abs(residual) if fit.loss == "absolute" else residual**2))


SEARCHES: dict[str, Callable[[Any], ModelRegressor]] = {
    "population": lambda model: regressor(model, loss="absolute"),
    "local searches": lambda model: regressor(model, separate_linear=False),
    "linear parameters": lambda model: regressor(model),
    "one candidate": lambda model: regressor(model, loss="absolute", vectorized=False, max_evals=100),
}


# -- Ctrl-C ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", SEARCHES)
def test_ctrl_c_leaves_the_best_parameters_so_far(kind: str) -> None:
    whole = SEARCHES[kind](Decay()).fit(X, y)
    n_calls, losses = len(whole.model.calls), [np.inf]
    for interrupted in np.unique(np.linspace(1, n_calls, 25).astype(int)).tolist():
        fit = SEARCHES[kind](Decay(interrupted))
        with pytest.raises(KeyboardInterrupt):
            fit.fit(X, y)
        if not hasattr(fit, "theta_"):
            assert losses == [np.inf]
            continue
        assert fit.loss_ == pytest.approx(loss_of(fit, fit.theta_), rel=1e-9)
        assert fit.params_ == dict(zip("abc", fit.theta_.tolist(), strict=True))
        assert fit.loss_ <= losses[-1] * (1 + 1e-9)
        assert fit.predict(X).shape == (30,)
        assert fit.n_evals_ <= sum(len(points) for points in fit.model.calls)
        losses.append(fit.loss_)
    assert len(losses) > 12
    assert losses[-1] == pytest.approx(whole.loss_)
    assert losses[1] > whole.loss_


def test_ctrl_c_in_a_population_leaves_the_best_of_all_its_candidates() -> None:
    fit = SEARCHES["population"](Decay(PROBE_CALLS + 6))
    with pytest.raises(KeyboardInterrupt):
        fit.fit(X, y)
    evaluated = fit.model.calls[PROBE_CALLS:-1]
    assert len(evaluated) == 5
    assert fit.loss_ == min(loss_of(fit, theta) for points in evaluated for theta in points)
    assert (fit.n_restarts_, fit.n_agreeing_, fit.converged_, fit.standard_errors_) == (0, 0, False, None)


def test_ctrl_c_before_the_first_candidate_leaves_no_result() -> None:
    fit = regressor(loss="absolute").fit(X, y).set_params(model=Decay(1))
    with pytest.raises(KeyboardInterrupt):
        fit.fit(X, y)
    with pytest.raises(NotFittedError):
        check_is_fitted(fit)


def test_ctrl_c_in_a_local_search_of_classes() -> None:
    class Line(Decay):
        def __call__(self, X: Any, theta: Any) -> Any:
            super().__call__(X, theta)
            return theta[0] + theta[1] * X[:, 0] + 0 * theta[2]

    def fit(interrupted: float) -> ModelClassifier:
        return ModelClassifier(Line(interrupted), [(-9, 9)] * 3, vectorized=True, max_evals=200, random_state=0)

    with pytest.raises(KeyboardInterrupt):
        (stopped := fit(12)).fit(X, CLASSES)
    whole = fit(np.inf).fit(X, CLASSES)
    assert whole.loss_ < stopped.loss_ < np.log(2)
    assert set(stopped.predict(X)) == {0, 1}


def test_ctrl_c_in_a_bootstrap_leaves_the_result_of_the_searches() -> None:
    whole = regressor().fit(X, y)
    fit = regressor(Decay(len(whole.model.calls) + 20), standard_errors="bootstrap")
    with pytest.raises(KeyboardInterrupt):
        fit.fit(X, y)
    assert fit.theta_.tolist() == whole.theta_.tolist()
    assert fit.converged_
    assert fit.standard_errors_ is None


# -- time --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("parameters", [{"loss": "absolute"}, {"separate_linear": False}], ids=repr)
def test_a_time_limit_ends_searches(parameters: dict[str, Any]) -> None:
    def slow(X: Any, theta: Any) -> Any:
        time.sleep(0.01)
        return Decay()(X, theta)

    begin = time.monotonic()
    fit = regressor(slow, **{**parameters, "max_evals": 10**6, "max_time": 0.3}).fit(X, y)
    assert 0.3 <= time.monotonic() - begin < 5  # of hours, on a busy machine
    assert fit.loss_ == pytest.approx(loss_of(fit, fit.theta_))
    assert fit.n_restarts_ == 1
    assert not fit.converged_


def test_a_time_limit_ends_the_local_search_of_a_linear_model() -> None:
    line = ModelRegressor(loss="huber", max_time=1e-9).fit(X, y)
    assert not line.converged_
    assert line.loss_ > ModelRegressor(loss="huber").fit(X, y).loss_
    classes = ModelClassifier(max_time=1e-9).fit(X, CLASSES)
    assert not classes.converged_
    assert classes.loss_ > ModelClassifier().fit(X, CLASSES).loss_


@pytest.mark.parametrize("kind", SEARCHES)
def test_limits_that_end_nothing_change_nothing(kind: str) -> None:
    whole, limited = SEARCHES[kind](Decay()), SEARCHES[kind](Decay())
    limited.set_params(max_time=1e3, callbacks=lambda progress: False)
    assert limited.fit(X, y).theta_.tolist() == whole.fit(X, y).theta_.tolist()
    assert limited.n_evals_ == whole.n_evals_


# -- callbacks ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", SEARCHES)
def test_callbacks_see_the_best_parameters_so_far(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit_watch, "CHUNK_SECONDS", 0.0)
    seen: list[ModelProgress] = []

    def note(progress: ModelProgress) -> None:
        seen.append(progress)
        if np.isfinite(progress.loss):
            assert progress.loss == pytest.approx(loss_of(fit, progress.theta), rel=1e-9)
            assert list(progress.params.values()) == progress.theta.tolist()

    fit = SEARCHES[kind](Decay())
    fit.set_params(callbacks=[note]).fit(X, y)
    assert all(one.model is fit for one in seen)
    assert [one.n_restarts for one in seen] == sorted(one.n_restarts for one in seen)
    assert seen[-1].n_restarts == fit.n_restarts_ == 2
    for name in ("n_evals", "seconds"):
        assert (np.diff([getattr(one, name) for one in seen]) >= 0).all()
    assert seen[-1].loss == pytest.approx(fit.loss_)


@pytest.mark.parametrize("way", [bool, "StopIteration"])
def test_a_callback_ends_the_fit(way: Any) -> None:
    calls = []

    def stop(progress: ModelProgress) -> bool:
        calls.append(progress)
        if way == "StopIteration":
            raise StopIteration
        return True

    fit = regressor(loss="absolute", callbacks=[stop], standard_errors="bootstrap")
    with pytest.warns(RuntimeWarning, match="a callback ended the bootstrap after 0 of 200 fits: .* is None"):
        fit.fit(X, y)
    assert len(calls) == 1
    assert fit.n_restarts_ == 1
    assert not fit.converged_
    assert fit.loss_ == pytest.approx(loss_of(fit, fit.theta_))
    assert fit.bootstrap_thetas_.shape == (0, 3)
    assert fit.standard_errors_ is None


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_a_callback_ends_a_bootstrap(loss: str) -> None:
    fit = regressor(loss=loss, standard_errors="bootstrap", n_bootstrap=9)
    fit.set_params(callbacks=lambda progress: progress.n_bootstrap == 3)
    with pytest.warns(RuntimeWarning, match="a callback ended the bootstrap after 3 of 9 fits: .* is of these"):
        fit.fit(X, y)
    assert fit.bootstrap_thetas_.shape == (3, 3)
    np.testing.assert_allclose(fit.standard_errors_, fit.bootstrap_thetas_.std(axis=0, ddof=1))  # type: ignore[arg-type]
    assert fit.theta_.tolist() == regressor(loss=loss).fit(X, y).theta_.tolist()


@pytest.mark.parametrize("model", [ModelRegressor, ModelClassifier])
def test_wrong_limits_are_refused(model: type[BaseModel]) -> None:
    with pytest.raises(ValueError, match=r"max_time must be a number in \(0, inf\], got 0"):
        model(max_time=0).fit(X, CLASSES)
    with pytest.raises(TypeError, match="callbacks must be callables, got 3"):
        model(callbacks=[3]).fit(X, CLASSES)


@pytest.mark.gpu
def test_callbacks_and_time_limits_on_a_gpu() -> None:
    import cupy

    def model(X: Any, theta: Any) -> Any:
        return theta[0] * cupy.exp(-theta[1] * X[:, 0]) + theta[2]

    seen: list[ModelProgress] = []
    fit = regressor(model, loss="absolute", max_time=60.0, callbacks=seen.append).fit(cupy.asarray(X), cupy.asarray(y))
    assert seen[-1].loss == fit.loss_
    assert isinstance(seen[-1].theta, np.ndarray)
    fit.set_params(max_time=1e-9).fit(cupy.asarray(X), cupy.asarray(y))
    assert (fit.n_restarts_, fit.converged_) == (1, False)
    assert fit.loss_ == pytest.approx(loss_of(fit, fit.theta_))
