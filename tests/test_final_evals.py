"""Noisy objectives: evaluations after the last generation; and objectives that raise exceptions."""

from __future__ import annotations

import pickle
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import NonlinearConstraint

from skde import DE, LSHADE, Integer, Minimizer, Recorder, Status, minimize
from skde.fit.phases.reevaluation import halving
from skde.minimizer.objective import make_objective

BOX = [(-5.0, 5.0)] * 3


class Noisy:
    """The sphere with noise of standard deviation 0.5, which counts its points."""

    def __init__(self, seed: int = 0) -> None:
        self.rng = np.random.default_rng(seed)
        self.calls = 0

    def __call__(self, X: Any) -> Any:
        self.calls += len(X)
        return (X**2).sum(axis=-1) + self.rng.normal(0.0, 0.5, len(X))


def make(**parameters: Any) -> Minimizer:
    defaults = {"max_evals": 1500, "final_evals": 300, "random_state": 0, "device": "cpu", "n_jobs": 1}
    return Minimizer(parameters.pop("algorithm", DE(pop_size=20)), **{**defaults, **parameters})


def test_the_value_of_a_noisy_function_is_no_lucky_one() -> None:
    lucky, honest = [], []
    for seed in range(10):
        for final_evals, errors in ((0, lucky), (300, honest)):
            m = make(final_evals=final_evals, random_state=seed).fit(Noisy(seed), bounds=BOX)
            errors.append(m.fun_ - (m.x_**2).sum())
    assert np.mean(lucky) < -1.0
    assert abs(np.mean(honest)) < 0.05  # a standard deviation of 0.5 / sqrt(10 * 150)
    assert np.max(np.abs(honest)) < 0.2


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"n_runs": 3, "n_islands": 2},
        {"algorithm": LSHADE(pop_size=30)},
        {"bounds": {"n": Integer(-3, 3), "x": (-1.0, 1.0)}},
        {"constraints": NonlinearConstraint(lambda x: x[..., 0], 1.0, 3.0)},
        {"device": ["cpu", "cpu"], "n_runs": 2},
        {"dtype": "float32"},
    ],
    ids=", ".join,
)
def test_the_evaluations_are_counted_and_within_the_budget(parameters: dict[str, Any]) -> None:
    f = Noisy()
    m = make(**{"bounds": BOX, **parameters})
    make_objective(m, None, f, None, m.bounds).probe(m._begun_fit().engine, m._fit.batch.spec.dtype)
    before, f.calls = f.calls, 0
    m = make(**{"bounds": BOX, **parameters}).fit(f)
    f.calls -= before
    n_evals = sum(run.n_evals for run in m.runs_)
    assert n_evals == f.calls if m.constraints is None else n_evals / 2 < f.calls < n_evals  # the feasible points
    for run in m.runs_:
        assert 1500 - 20 * m.n_islands < run.n_evals <= 1500 or isinstance(m.algorithm, LSHADE)
        assert run.n_evals <= 1500
        assert run.history.n_evals[-1] == run.n_evals
        assert run.history.seconds[-1] == run.time > 0
        assert run.history.best[-1] == run.fun
        assert run.feasible
    points = m.population_
    assert (points == m.x_).all(axis=1).any()


def found(n: int, n_evals: int, values: Any) -> tuple[float, float, int]:
    """Return the point and the value that a search among 0 to n - 1 finds, and the number of its evaluations."""
    search, spent = halving(np.arange(n, dtype=float)[::-1, None], n_evals), 0
    X = next(search)
    while True:
        spent += len(X)
        try:
            X = search.send(values(X[:, 0]))
        except StopIteration as end:
            x, fun = end.value
            return x[0], fun, spent


def test_halving_finds_the_best_and_spends_all() -> None:
    for n, n_evals in ((1, 1), (1, 7), (10, 1), (10, 3), (10, 50), (7, 401), (64, 1000)):
        x, fun, spent = found(n, n_evals, lambda x: x)
        assert spent == n_evals
        assert fun == x
        if n_evals > 50:  # enough for all points to take part
            assert x == 0


def test_points_that_are_nan_again_are_not_chosen() -> None:
    assert found(10, 1000, lambda x: np.where(x < 3.0, np.nan, x)) == (3.0, 3.0, 1000)


def test_runs_without_a_feasible_point_stay_as_they_are() -> None:
    m = make(constraints=NonlinearConstraint(lambda x: x[..., 0], 9.0, 10.0)).fit(lambda X: X[:, 1], bounds=BOX)
    assert m.max_violation_ > 3.9
    assert m.n_evals_ == 1200


def test_final_values_are_saved_and_resumed(tmp_path: Path) -> None:
    m = make(n_runs=2).fit(Noisy(), bounds=BOX)
    m.save(tmp_path / "fit")
    for again in (Minimizer.load(tmp_path / "fit"), pickle.loads(pickle.dumps(m))):
        assert [(r.fun, r.n_evals, r.x.tolist()) for r in again.runs_] == [
            (r.fun, r.n_evals, r.x.tolist()) for r in m.runs_
        ]
        f = Noisy()
        again.resume(f)  # nothing is left to do
        assert again.fun_ == m.fun_
        again.set_params(max_evals=3000).resume(Noisy(1))
        assert again.n_evals_ == 3000
        assert again.fun_ != m.fun_
    with np.load(tmp_path / "fit") as file:
        arrays = dict(file)
    arrays["final_points"] = arrays["final_points"] + 100
    with (tmp_path / "fit").open("wb") as stream:
        np.savez(stream, **arrays)
    with pytest.raises(ValueError, match="entry 'final_points': points must be inside their bounds"):
        Minimizer.load(tmp_path / "fit")


def test_a_fit_without_them_may_have_them_later() -> None:
    m = make(final_evals=0).fit(Noisy(), bounds=BOX)
    m.set_params(final_evals=100).resume()
    assert m.n_evals_ == 1500  # none are left
    m.set_params(max_evals=1530).resume()
    assert m.n_evals_ == 1530
    m = make(final_evals=0).fit(Noisy(), bounds=BOX).set_params(final_evals=100, max_evals=1600).resume()
    assert m.n_evals_ == 1600
    assert abs(m.fun_ - (m.x_**2).sum()) < 0.4


class Breaking:
    """A noisy function of one point that depends on the number of its evaluations of it, and raises at some calls."""

    def __init__(self, breaks: Any = ()) -> None:
        self.breaks = set(breaks)
        self.calls, self.seen = 0, Counter[bytes]()

    def __call__(self, x: Any) -> float:
        self.calls += 1
        if self.calls in self.breaks:
            raise ZeroDivisionError
        self.seen[x.tobytes()] += 1
        return float((x**2).sum()) + 0.1 * np.sin(7.0 * self.seen[x.tobytes()] + x[0])


def outcome(m: Minimizer) -> list[Any]:
    return [(run.x.tolist(), run.fun, run.n_evals, run.message, run.history.best.tolist()) for run in m.runs_]


@pytest.mark.parametrize("again", ["same", "file", "pickle"])
@pytest.mark.parametrize("n_runs", [1, 2])
def test_interrupted_evaluations_are_not_repeated(n_runs: int, again: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"vectorized": False, "max_evals": 400, "final_evals": 150, "n_runs": n_runs}
    first = 240 * n_runs
    f, recorder = Breaking(range(first + 1, 5000, 37)), Recorder(tmp_path / "log.jsonl")
    whole = make(**options).fit(Breaking(), bounds=BOX)
    m = make(recorder=recorder, **options)
    with pytest.raises(ZeroDivisionError):
        m.fit(f, bounds=BOX)
    for _ in range(100):
        counted = [(run.x.tolist(), run.fun, run.n_evals) for run in m.runs_]
        assert sum(run[2] for run in counted) == sum(f.seen.values())
        if sum(run[2] for run in counted) > first:
            assert "final_evals were cut short" in m.message_
        if again == "file":
            m.save(tmp_path / "fit")
            m = Minimizer.load(tmp_path / "fit").set_params(recorder=recorder)
        elif again == "pickle":
            m = pickle.loads(pickle.dumps(m)).set_params(recorder=recorder)
        assert [(run.x.tolist(), run.fun, run.n_evals) for run in m.runs_] == counted
        try:
            m.resume(f)
            break
        except ZeroDivisionError:
            pass
    assert outcome(m) == outcome(whole)
    assert sum(f.seen.values()) == sum(run.n_evals for run in whole.runs_) == len(recorder)


def test_the_time_limit_ends_them() -> None:
    calls = []

    def slow(x: Any) -> float:
        calls.append(x)
        time.sleep(0.02)
        return float((x**2).sum())

    m, begin = make(vectorized=False, max_evals=None, max_iter=0, max_time=1.0, final_evals=1000), time.monotonic()
    m.fit(slow, bounds=BOX)
    assert time.monotonic() - begin < 1.6
    assert 20 < m.n_evals_ == len(calls) < 60
    assert "final_evals were cut short" in m.message_
    before = len(calls)
    m.set_params(max_time=None).resume(lambda x: float((x**2).sum()))
    assert m.n_evals_ == 1020
    assert len(calls) == before
    assert "cut short" not in m.message_


def test_a_slow_population_leaves_them_a_tenth_of_the_time() -> None:
    def slow(x: Any) -> float:
        time.sleep(0.005)
        return float((x**2).sum())

    m = make(vectorized=False, max_evals=None, max_time=3.0, final_evals=10).fit(slow, bounds=BOX)
    assert m.runs_[0].status == Status.TIME
    assert "cut short" not in m.message_


@pytest.mark.parametrize("again", ["same", "file", "pickle"])
def test_told_values_of_rounds_are_kept(again: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"bounds": BOX, "max_evals": 200, "final_evals": 80}
    f, fitted = Breaking(), make(vectorized=False, **options).fit(Breaking())
    m, ids_seen = make(**options), set()
    held: tuple[Any, Any] | None = None
    while not m.stopped_:
        X, ids = m.ask(7, return_ids=True)
        ids_seen |= set(ids.tolist())
        m.tell(f=[f(x) for x in X[:-1]], ids=ids[:-1])
        before = m.n_evals_
        if again == "file":
            m.save(tmp_path / "fit")
            m = Minimizer.load(tmp_path / "fit")
        elif again == "pickle":
            m = pickle.loads(pickle.dumps(m))
        assert m.n_evals_ == before
        held = X[-1:], ids[-1:]
        m.tell(f=[f(x) for x in held[0]], ids=held[1])  # without an ask after loading
    assert len(ids_seen) == sum(f.seen.values()) == m.n_evals_ == 200
    assert m.fun_ == fitted.fun_
    assert m.x_.tolist() == fitted.x_.tolist()


def test_new_generations_begin_them_again() -> None:
    options: dict[str, Any] = {"vectorized": False, "max_evals": 400, "final_evals": 150}
    f = Breaking({300})
    m = make(**options)
    with pytest.raises(ZeroDivisionError):
        m.fit(f, bounds=BOX)
    assert m.n_evals_ == 299
    m.set_params(max_evals=600).resume(f)
    assert 580 <= m.n_evals_ == sum(f.seen.values()) <= 600


@pytest.mark.parametrize("error", [KeyboardInterrupt, StopIteration])
def test_an_interruption_between_them_is_resumed(error: type[BaseException]) -> None:
    f = Noisy()

    def interrupted(X: Any) -> Any:
        if f.calls > 1300:
            raise error
        return f(X)

    m = make()
    with pytest.raises(error):
        m.fit(interrupted, bounds=BOX)
    assert 1200 < m.n_evals_ < 1500
    m.resume(Noisy(2))
    assert m.n_evals_ == 1500  # those that were lost count, too


def test_a_polish_replaces_them() -> None:
    m = make().fit(lambda X: (X**2).sum(axis=1), bounds=BOX)
    before = m.fun_
    m.set_params(final_evals=0, polish=True, max_evals=1800).resume()
    assert m.n_evals_ <= 1800
    assert m.fun_ < 1e-3 * before


@pytest.mark.parametrize("n", [None, 7])
def test_ask_and_tell_have_them(n: int | None) -> None:
    m, f = make(bounds=BOX, n_runs=2), Noisy()
    while not m.stopped_:
        X, ids = m.ask(n, return_ids=True)
        m.tell(f=f(X.reshape(-1, 3)).reshape(ids.shape), ids=ids)
    assert [run.n_evals for run in m.runs_] == [1500, 1500]
    assert abs(m.fun_ - (m.x_**2).sum()) < 0.2
    with pytest.raises(RuntimeError, match="every run has ended"):
        m.ask(n)


def test_points_of_the_end_cannot_be_replaced() -> None:
    m = make(bounds=BOX, max_evals=30, final_evals=10)
    X = m.ask()
    m.tell(X, Noisy()(X))
    X, ids = m.ask(return_ids=True)
    assert not m.stopped_
    with pytest.raises(ValueError, match="of final_evals cannot be replaced"):
        m.tell(X / 2, X[:, 0], ids=ids)
    while not m.stopped_:
        X = m.ask()
        m.tell(X, (X**2).sum(axis=1))
    assert m.n_evals_ == 30


def test_wrong_final_evals_are_refused() -> None:
    with pytest.raises(ValueError, match="final_evals must be less than max_evals=1500, got 1500"):
        make(final_evals=1500).fit(Noisy(), bounds=BOX)
    with pytest.raises(ValueError, match=r"max_evals must be at least 1510, .* plus final_evals=1490, got 1500"):
        make(final_evals=1490).fit(Noisy(), bounds=BOX)
    with pytest.raises(ValueError, match="final_evals=300 is for noisy Python functions"):
        make().fit("sphere", dim=3)
    with pytest.raises(ValueError, match="final_evals must be an integer in"):
        make(final_evals=-1).fit(Noisy(), bounds=BOX)


# -- exceptions --------------------------------------------------------------------------------------------------------


def sometimes(x: Any) -> float:
    """Raise an exception for many points."""
    if x[0] > 0.0:
        raise FloatingPointError("no mesh")
    return float((x**2).sum())


@pytest.mark.parametrize("constraints", [None, NonlinearConstraint(np.sum, -9.0, 9.0)])
def test_an_exception_is_a_nan_where_that_is_asked_for(constraints: Any) -> None:
    options = {"vectorized": False, "final_evals": 0, "max_evals": 400, "constraints": constraints}
    with pytest.raises(FloatingPointError, match="no mesh"):
        make(**options).fit(sometimes, bounds=BOX)
    with pytest.warns(RuntimeWarning, match=r"raised FloatingPointError\('no mesh'\)") as caught:
        m = make(on_error="nan", **options).fit(sometimes, bounds=BOX)
    assert len(caught) == 1
    assert m.x_[0] <= 0.0
    assert m.n_evals_ == 400

    def by_nan(x: Any) -> float:
        return sometimes(x) if x[0] <= 0.0 else np.nan

    assert make(**options).fit(by_nan, bounds=BOX).fun_ == m.fun_
    with pytest.warns(RuntimeWarning, match="no mesh"):
        again = minimize(
            sometimes,
            BOX,
            method=DE(pop_size=20),
            on_error="nan",
            max_evals=400,
            vectorized=False,
            random_state=0,
            constraints=constraints,
            device="cpu",
        )
    assert again.fun == m.fun_


def test_an_exception_in_a_worker_becomes_a_warning_of_the_caller() -> None:
    options = {"vectorized": False, "final_evals": 0, "max_evals": 100, "on_error": "nan", "n_jobs": 2}
    with pytest.warns(RuntimeWarning, match=r"raised FloatingPointError\('no mesh'\)") as caught:
        make(**options).fit(sometimes, bounds=BOX)
    assert len(caught) == 1


def test_other_errors_are_raised_all_the_same() -> None:
    options = {"vectorized": False, "final_evals": 0, "on_error": "nan"}
    with pytest.raises(TypeError, match="the objective must return one real number"):
        make(**options).fit(lambda x: "a", bounds=BOX)
    with pytest.raises(ValueError, match="on_error='nan' is for a function of one point, and the obj"):
        make(on_error="nan").fit(Noisy(), bounds=BOX)
    with pytest.raises(ValueError, match="on_error='nan' is for a Python function of one point"):
        make(**options).fit("sphere", dim=3)
    with pytest.raises(ValueError, match="on_error must be one of 'raise', 'nan'; got 'ignore'"):
        make(on_error="ignore").fit(Noisy(), bounds=BOX)


def test_ask_and_tell_end_where_no_run_has_a_feasible_point() -> None:
    m = make(bounds=BOX, constraints=NonlinearConstraint(lambda x: x[..., 0], 9.0, 10.0), max_evals=400)
    asked = 0
    while not m.stopped_:
        X = m.ask()
        asked += len(X)
        m.tell(X, f=np.zeros(len(X)))
    assert asked == m.n_evals_ == 100
    assert "No feasible point" in m.message_


def test_the_evaluations_of_every_round_are_counted_at_once() -> None:
    m, asked = make(bounds=BOX, max_evals=400), 0
    while not m.stopped_:
        X = m.ask()
        asked += len(X)
        m.tell(X, (X**2).sum(axis=1))
        assert m.n_evals_ == asked
