"""Ask and tell with rows that need no value, and with functions that raise StopIteration."""

from __future__ import annotations

from typing import Any

import joblib
import numpy as np
import pytest
from scipy.optimize import NonlinearConstraint

from skde import DE, LSHADE, SS, Integer, Migration, Minimizer, Status
from skde.engines import single_generations
from skde.functions.pointwise import array_namespace
from skde.utils.arrays import to_numpy

LOW, HIGH = 1.0, 5.0
BOX = [(LOW, HIGH)] * 2
DEVICES = [
    "cpu",
    ["cpu", "cpu"],
    pytest.param("cuda", marks=pytest.mark.gpu),
    pytest.param(["cuda:0", "cuda:0"], marks=pytest.mark.gpu),
]
# With this target some runs end with their initial population, which leaves the other half of their rows unwritten.
RUNS: dict[str, Any] = {"n_runs": 5, "target": 0.3, "max_iter": 30}
CASES: list[tuple[Any, dict[str, Any]]] = [
    (DE(pop_size=8), RUNS),
    (DE(pop_size=8), {**RUNS, "dtype": "float32"}),
    (DE(pop_size=8), {"n_runs": 2, "n_islands": 3, "target": 0.3, "max_iter": 30, "migration": Migration(every=40)}),
    ([DE(pop_size=n) for n in (8, 12, 30, 9, 10)], RUNS),
    (LSHADE(pop_size=12), {**RUNS, "max_iter": None, "max_evals": 200}),
    (SS(pop_size=10, n_best=6, n_diverse=2, n_local=2), RUNS),  # of 56 children
]


def bowl(X: Any) -> Any:
    """Squared distance to a point of the box."""
    return ((X - 2.0) ** 2).sum(axis=-1)


def inside(X: Any) -> bool:
    return bool(((X >= LOW) & (X <= HIGH)).all())


def make(algorithm: Any, **parameters: Any) -> Minimizer:
    return Minimizer(algorithm, bounds=BOX, **{"random_state": 1, "device": "cpu", "n_jobs": 1, **parameters})


def fit_by_tell(m: Minimizer) -> Minimizer:
    """Fit with ask and tell; runs that have ended are given NaN."""
    while not m.stopped_:
        X = m.ask()
        assert inside(X)
        f = bowl(X)
        running = array_namespace(X).asarray(m._fit.batch.host("status") == Status.RUNNING)
        f.reshape(len(running), -1)[~running] = np.nan
        m.tell(X, f)
    return m


def results(m: Minimizer) -> list[Any]:
    return [(run.x.tolist(), run.fun, run.n_iter, run.status, run.history.best.tolist()) for run in m.runs_]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("algorithm", "parameters"), CASES)
def test_values_of_ended_runs_are_ignored(algorithm: Any, parameters: dict[str, Any], device: Any) -> None:
    fitted = make(algorithm, device=device, **parameters).fit(bowl)
    assert len(set(fitted._fit.batch.host("generation"))) > 1
    assert results(fit_by_tell(make(algorithm, device=device, **parameters))) == results(fitted)


@pytest.mark.parametrize("device", DEVICES)
def test_ended_runs_return_their_last_population(device: Any) -> None:
    m = make(DE(pop_size=8), device=device, **RUNS)
    while not m.stopped_:
        X = m.ask()
        batch = m._fit.batch
        for run in np.flatnonzero(batch.host("status") != Status.RUNNING):
            assert np.array_equal(to_numpy(X[run]), batch.population(run)[0])
        m.tell(X, bowl(X))


def test_rows_behind_a_small_population_repeat_its_trials() -> None:
    X = make([DE(pop_size=8), DE(pop_size=20)], n_runs=2, max_iter=3).ask()
    assert np.array_equal(X[0, 8:16], X[0, :8])
    assert np.array_equal(X[0, 16:], X[0, :4])


def test_the_loop_of_the_guide() -> None:
    for seed in range(10):
        m = make(DE(pop_size=8), n_runs=3, target=1.0, max_iter=20, random_state=seed)
        while not m.stopped_:
            X = m.ask()
            m.tell(X, bowl(X))
        assert {run.status for run in m.runs_} == {Status.TARGET}


def test_constraints_are_asked_inside_the_bounds() -> None:
    def inequality(x: Any) -> Any:
        assert inside(x)
        return x[..., 0]

    m = make(DE(pop_size=8), constraints=NonlinearConstraint(inequality, 0, 3), **RUNS)
    assert results(fit_by_tell(m)) == results(make(DE(pop_size=8), constraints=m.constraints, **RUNS).fit(bowl))


@pytest.mark.parametrize("device", DEVICES)
def test_a_function_is_asked_inside_the_bounds(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the host polls the status seldom, as that of a GPU."""

    class Late(single_generations.StatusPoll):
        def poll(self, force: bool = False) -> bool:
            self.exact = False
            return super().poll(force)

    expected = [results(make(algorithm, device=device, **parameters).fit(bowl)) for algorithm, parameters in CASES]
    monkeypatch.setattr(single_generations, "POLL_SECONDS", 1e9)
    monkeypatch.setattr(single_generations, "StatusPoll", Late)
    monkeypatch.setattr("skde.fit.phases.population.StatusPoll", Late)
    for (algorithm, parameters), wanted in zip(CASES, expected, strict=True):
        seen: list[bool] = []

        def watched(X: Any, seen: list[bool] = seen) -> Any:
            seen.append(inside(X))
            return bowl(X)

        m = make(algorithm, device=device, **parameters).fit(watched)
        assert all(seen)
        assert results(m) == wanted


@pytest.mark.gpu
def test_a_recorded_function_is_asked_inside_the_bounds() -> None:
    import cupy

    outside = cupy.zeros(1, cupy.int64)

    def watched(X: Any) -> Any:
        outside[...] += ((X < LOW) | (X > HIGH)).any()
        return bowl(X)

    graph = make(DE(pop_size=8), device="cuda", execution="graph", **RUNS).fit(watched)
    assert int(outside[0]) == 0
    assert results(graph) == results(make(DE(pop_size=8), device="cuda", **RUNS).fit(bowl))


# -- StopIteration -----------------------------------------------------------------------------------------------------


class Ends:
    """An objective, of one point or of many, that raises StopIteration once, after so many calls."""

    def __init__(self, calls: int) -> None:
        self.left = calls

    def __call__(self, X: Any) -> Any:
        self.left -= 1
        if self.left == -1:
            next(iter(()))
        return bowl(X)


@pytest.mark.parametrize(
    ("calls", "parameters"),
    [
        (10, {}),
        (80, {"vectorized": False}),
        (80, {"vectorized": False, "n_jobs": 2}),
        (10, {"n_runs": 3}),
        (20, {"n_runs": 3, "device": ["cpu", "cpu"]}),
        (20, {"n_runs": 3, "execution": "joblib", "n_jobs": 2}),
    ],
)
def test_the_stop_iteration_of_an_objective_is_an_error(calls: int, parameters: dict[str, Any]) -> None:
    m = make(DE(pop_size=8), max_iter=50, **parameters)
    with joblib.parallel_config("threading"), pytest.raises((StopIteration, RuntimeError)) as caught:
        m.fit(Ends(calls))
    assert isinstance(caught.value, StopIteration) or "StopIteration" in str(caught.value)
    assert np.isfinite(m.fun_)
    # A device may have finished its runs before another one meets the end.
    assert Status.RUNNING in {run.status for run in m.runs_}


def test_the_stop_iteration_of_a_constraint_is_an_error() -> None:
    ends = Ends(20)
    m = make(DE(pop_size=8), max_iter=50, constraints=NonlinearConstraint(ends, 0, 30))
    with pytest.raises((StopIteration, RuntimeError)):
        m.fit(bowl)
    assert np.isfinite(m.fun_)


@pytest.mark.parametrize("bounds", [[(-5.0, 5.0)] * 2, {"n": Integer(-5, 5), "x": (-5.0, 5.0)}])
def test_the_array_of_ask_may_be_changed_in_place(bounds: Any) -> None:
    m = Minimizer("de", bounds=bounds, random_state=0, device="cpu")
    X = m.ask()
    X[:] = 1.0
    m.tell(X, np.zeros(len(X)))
    assert (m.population_ == 1.0).all()
