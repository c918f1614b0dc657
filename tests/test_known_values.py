"""Values of discrete spaces that are remembered: no point is evaluated twice, and no bit of a search changes."""

from __future__ import annotations

import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import LinearConstraint

import skde.fit.known_values
from skde import DE, Categorical, DeviceObjective, Fixed, Integer, Minimizer, Ordinal, Recorder, Status

BINARY = [Integer(0, 1)] * 3
LARGE = [Integer(0, 50), Integer(-9, 9), Categorical(["a", "b", "c"])]


class Counted:
    """A function of arrays, or of one point, that counts the calls for every point."""

    def __init__(self) -> None:
        self.seen: Counter[bytes] = Counter()

    def __call__(self, X: Any) -> Any:
        for x in np.atleast_2d(X):
            self.seen[x.tobytes()] += 1
        return value(X)


def value(X: Any) -> Any:
    """A function with several minima."""
    weights = np.arange(1, X.shape[-1] + 1)
    return np.abs((X * weights).sum(axis=-1) - 17.5) + np.cos(X).sum(axis=-1)


def make(**parameters: Any) -> Minimizer:
    defaults: dict[str, Any] = {"bounds": LARGE, "max_iter": 30, "random_state": 3, "device": "cpu"}
    return Minimizer(**{"algorithm": DE(pop_size=20), **defaults, **parameters})


def plain(monkeypatch: pytest.MonkeyPatch, **parameters: Any) -> Minimizer:
    """Return a fit that remembers nothing."""
    with monkeypatch.context() as context:
        context.setattr(Minimizer, "_begin_memory", lambda *arguments, **options: None)
        return make(**parameters).fit(value)


def results(m: Minimizer) -> list[Any]:
    return [
        (run.x.tolist(), run.fun, run.n_evals, run.status, run.history.n_evals.tolist(), run.history.best.tolist())
        for run in m.runs_
    ]


@pytest.mark.parametrize("vectorized", [True, False])
def test_a_fit_ends_when_every_point_is_known(vectorized: bool) -> None:
    f = Counted()
    m = Minimizer(bounds=BINARY, random_state=0, device="cpu", vectorized=vectorized).fit(f)
    assert sum(f.seen.values()) - (7 if vectorized else 0) <= m.n_evals_ + 7
    assert m.n_evals_ == m.result_.nfev == m.history_.n_evals[-1] == 8
    assert m.converged_
    assert m.message_.startswith("Every point of the space has been evaluated")
    assert m.fun_ == min(value(np.array(list(np.ndindex(2, 2, 2)), float)))


COMPILED: dict[str, Any] = {
    "name": "rosenbrock",
    "C++": DeviceObjective("return team.sum(d, [&](int j) { return (x[j] - 1.5) * (x[j] - 0.25); });"),
}


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("objective", COMPILED)
@pytest.mark.parametrize("parameters", [{}, {"n_runs": 3}, {"n_islands": 2}, {"dtype": "float32"}], ids=", ".join)
def test_a_compiled_fit_ends_when_every_point_is_known(parameters: Any, objective: str, device: str) -> None:
    options: dict[str, Any] = {"random_state": 0, "device": device, **parameters}
    m = Minimizer(bounds=BINARY, **options).fit(COMPILED[objective], dim=3)
    assert [(run.n_evals, run.success, run.exhausted) for run in m.runs_] == [(8, True, True)] * len(m.runs_)
    space = [Integer(0, 5)] * 3
    steps, run = (
        Minimizer(DE(pop_size=12), bounds=space, max_iter=8, execution=execution, **options).fit(
            COMPILED[objective], dim=3
        )
        for execution in ("auto", "run")
    )
    assert np.array_equal(steps.population_, run.population_)
    assert np.array_equal(steps.fitness_, run.fitness_)
    assert steps.n_evals_ < run.n_evals_


def test_a_compiled_fit_in_a_large_space_runs_in_the_engine() -> None:
    m = make(bounds=[Integer(0, 1)] * 11).fit("sphere", dim=11)
    assert m.n_evals_ == 620
    assert m._fit.known is None


@pytest.mark.parametrize("max_iter", [0, 1, None])
@pytest.mark.parametrize(
    "where",
    [
        {},
        {"execution": "joblib", "n_jobs": 2},
        {"device": ["cpu", "cpu"]},
        {"device": ["cpu", "cpu"], "n_runs": 2},
        {"execution": "step", "n_runs": 3},
    ],
    ids=str,
)
@pytest.mark.parametrize("objective", ["name", "C++", "Python"])
def test_nothing_free_is_one_evaluation_everywhere(
    objective: str, where: dict[str, Any], max_iter: int | None, tmp_path: Path
) -> None:
    f = {**COMPILED, "Python": value}[objective]
    m = Minimizer("jde", max_iter=max_iter, random_state=0, **{"device": "cpu", **where})
    m.fit(f, [(2, 2), (3, 3), (1, 1)], dim=3)
    assert [(run.n_evals, run.success, run.exhausted) for run in m.runs_] == [(1, True, True)] * len(m.runs_)
    m.save(tmp_path / "fit")
    again = Minimizer.load(tmp_path / "fit").resume(f)
    assert (again.n_evals_, again.converged_, again.fun_) == (1, True, m.fun_)


def test_nothing_free_by_an_execution_of_compiled_objectives() -> None:
    for execution in ("run", "step"):
        m = Minimizer("jde", execution=execution, device="cpu").fit("sphere", [(2, 2), (3, 3)], dim=2)
        assert (m.n_evals_, m.converged_) == (1, True)
    with pytest.raises(ValueError, match="needs a compiled objective"):
        Minimizer("jde", execution="run", device="cpu").fit(value, [(2, 2), (3, 3)])


def test_no_finite_value_is_no_success() -> None:
    with pytest.warns(RuntimeWarning):
        m = make(bounds=BINARY).fit(lambda X: np.full(len(X), np.inf))
    assert m.n_evals_ == 8
    assert not m.converged_


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"vectorized": False},
        {"n_runs": 3},
        {"n_islands": 2},
        {"dtype": "float32"},
        {"algorithm": "lshade", "max_evals": 900, "max_iter": None},
        {"algorithm": "ss", "max_evals": 900, "max_iter": None},
        {"constraints": LinearConstraint([1, 1, 0], 5, 30)},
    ],
    ids=", ".join,
)
def test_no_point_is_evaluated_twice_and_no_bit_changes(
    parameters: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = plain(monkeypatch, **parameters)
    f = Counted()
    m = make(**parameters).fit(f)
    probe = 2 if parameters.get("vectorized", True) else 0
    assert sorted(f.seen.values())[-1] <= 1 + probe
    for run, old in zip(m.runs_, before.runs_, strict=True):
        assert (run.x.tolist(), run.fun, run.n_iter) == (old.x.tolist(), old.fun, old.n_iter)
        assert run.history.best.tolist() == old.history.best.tolist()
        assert run.n_evals < old.n_evals
        assert (np.diff(run.history.n_evals) >= 0).all()
        assert run.history.n_evals[-1] == run.n_evals
    assert np.array_equal(m.population_, before.population_)


def test_a_run_of_a_batch_counts_as_it_would_alone() -> None:
    f, recorder = Counted(), Recorder()
    batch, alone = make(n_runs=3, recorder=recorder, vectorized=False).fit(f), make(vectorized=False).fit(value)
    assert results(batch)[0] == results(alone)[0]
    assert sum(f.seen.values()) == len(f.seen) == len(recorder) < sum(run.n_evals for run in batch.runs_)


def test_runs_end_alone() -> None:
    bounds = [Integer(0, 1), Ordinal([1, 5, 7]), Fixed(2)]
    options: dict[str, Any] = {"algorithm": DE(pop_size=6), "bounds": bounds, "max_iter": 500}
    batch, alone = make(n_runs=4, **options).fit(value), make(**options).fit(value)
    assert results(batch)[0] == results(alone)[0]
    assert all(run.exhausted == (run.n_evals == 6) for run in batch.runs_)
    assert {run.exhausted for run in batch.runs_} == {True, False}
    assert len({run.n_iter for run in batch.runs_}) > 1


def test_a_target_comes_first() -> None:
    best = plain_minimum = make(bounds=BINARY).fit(value).fun_
    m = make(bounds=BINARY, target=best).fit(value)
    assert m.runs_[0].status == Status.TARGET
    assert m.fun_ == plain_minimum


@pytest.mark.parametrize("parts", [False, True, 3, None])
@pytest.mark.parametrize("parameters", [{}, {"n_runs": 3}, {"bounds": BINARY}, {"n_islands": 2}], ids=", ".join)
def test_ask_hands_out_no_known_point(parameters: dict[str, Any], parts: Any) -> None:
    fitted = make(**parameters).fit(value)
    m, told = make(**parameters), Counted()
    while not m.stopped_:
        if parts:
            X, ids = m.ask(100 if parts is True else parts, return_ids=True)
            assert len(X)
            m.tell(f=told(X), ids=ids)
        elif parts is None:
            for X in m.ask().reshape(-1, len(m.bounds))[::-1]:
                m.tell(X, value(X))
        else:
            X = m.ask()
            m.tell(X, value(X))
    assert results(m) == results(fitted)
    assert sum(told.seen.values()) == len(told.seen)


def test_values_of_known_points_are_ignored() -> None:
    m, fitted = make(), make().fit(value)
    known: set[bytes] = set()
    while not m.stopped_:
        X = m.ask()
        f = value(X)
        for k, x in enumerate(X):
            if x.tobytes() in known:
                f[k] = -100.0
            known.add(x.tobytes())
        m.tell(X, f)
    assert results(m) == results(fitted)


def test_points_that_replace_others_are_remembered_by_their_own_values() -> None:
    m = make(bounds=BINARY)
    X, ids = m.ask(1, return_ids=True)
    other = np.abs(X - 1)
    m.tell(other, [5.0], ids=ids)
    left = m.ask(100)
    assert X[0].tolist() in left.tolist()
    assert other[0].tolist() not in left.tolist()


@pytest.mark.parametrize("again", ["file", "pickle"])
@pytest.mark.parametrize("n_runs", [1, 2])
def test_values_and_counts_are_saved(again: str, n_runs: int, tmp_path: Path) -> None:
    whole = make(vectorized=False, n_runs=n_runs).fit(value)
    f, calls = Counted(), [0]

    def breaks(x: Any) -> Any:
        calls[0] += 1
        if calls[0] % 41 == 0:
            raise ZeroDivisionError
        return f(x)

    m = make(vectorized=False, n_runs=n_runs)
    with pytest.raises(ZeroDivisionError):
        m.fit(breaks)
    for _ in range(1000):
        try:
            m.resume(breaks)
            break
        except ZeroDivisionError:
            counted = [run.n_evals for run in m.runs_]
            if again == "file":
                m.save(tmp_path / "fit")
                m = Minimizer.load(tmp_path / "fit")
            else:
                m = pickle.loads(pickle.dumps(m))
            assert [run.n_evals for run in m.runs_] == counted
    assert results(m) == results(whole)
    assert set(f.seen.values()) == {1}


def test_nothing_is_remembered_under_noise() -> None:
    f = Counted()
    m = make(bounds=BINARY, final_evals=50, max_iter=5, vectorized=False).fit(f)
    assert m.n_evals_ == sum(f.seen.values()) == 170
    assert make(max_iter=5, bounds={"n": Integer(0, 9), "x": (0, 1)}).fit(value).n_evals_ == 120


def test_nothing_is_remembered_where_a_check_saw_noise() -> None:
    noise = np.random.default_rng(0)
    sizes: list[int] = []

    def noisy(X: Any) -> Any:
        sizes.append(len(X))
        return X.sum(axis=1) + noise.random(len(X))

    m = make(bounds=BINARY, max_iter=5).fit(noisy)
    assert m.n_evals_ == 120
    assert sizes.count(20) == 6


def test_the_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    before = plain(monkeypatch)
    monkeypatch.setattr(skde.fit.known_values, "MOST_POINTS", 50)
    m = make().fit(value)
    assert len(m._fit.known) == 50
    assert np.array_equal(m.population_, before.population_)
    assert make(max_iter=30).fit(value).n_evals_ == m.n_evals_ < before.n_evals_


def test_the_second_search_of_auto_knows_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    bounds = [Integer(0, 30)] * 2
    options: dict[str, Any] = {"bounds": bounds, "max_evals": 20_000, "random_state": 1, "device": "cpu"}
    with monkeypatch.context() as context:
        context.setattr(Minimizer, "_begin_memory", lambda *arguments, **options: None)
        before = Minimizer(**options).fit(value)
    f = Counted()
    m = Minimizer(**options, vectorized=False).fit(f)
    assert set(f.seen.values()) == {1}
    assert m.n_evals_ == sum(f.seen.values())
    assert m.fun_ == before.fun_
