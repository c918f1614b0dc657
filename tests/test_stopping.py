"""Stopping rules and limits in the same generation: the rule wins, also in a fit of several pieces."""

from __future__ import annotations

from typing import Any

import joblib
import numpy as np
import pytest

from skde import DE, SS, DeviceObjective, Migration, Minimizer, MinMaxSolver, Status, get_problem
from skde.functions.pointwise import array_namespace

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
PROBLEM = get_problem("rastrigin", dim=3)
RULES: dict[Status, dict[str, Any]] = {
    Status.TARGET: {"target": 15.0},
    Status.CONVERGED: {"tol": 0.2},
    Status.STAGNATED: {"stagnation": 4},
}
WAYS: dict[str, dict[str, Any]] = {
    "run": {},
    "step": {"execution": "step"},
    "islands": {"n_islands": 2, "migration": Migration(every=2, n_migrants=1)},
    "devices": {"devices": 3},
    "devices by step": {"devices": 3, "execution": "step"},
    "joblib": {"execution": "joblib", "n_jobs": 2},
}
LENGTH = 6  # of an iteration


def rastrigin(X: Any) -> Any:
    """The problem as a function of arrays of either library."""
    xp = array_namespace(X)
    return (X * X - 10 * xp.cos(2 * xp.pi * X) + 10).sum(axis=1)


def constant(X: Any) -> Any:
    """Return ones."""
    return X[:, 0] * 0 + 1


def make(device: str, algorithm: Any = None, devices: int = 1, **parameters: Any) -> Minimizer:
    """Return a small Minimizer of three runs, on this device or on it several times."""
    where = [device] * devices if devices > 1 else device
    given = {"n_runs": 3, "n_jobs": 1, "random_state": 7, "bounds": PROBLEM.bounds, "max_iter": 200, **parameters}
    return Minimizer(algorithm or DE(pop_size=8), device=where, **given)


def told(solver: Any) -> list[Any]:
    """Return the results of all runs without their times."""
    return [
        (run.x.tolist(), run.fun, run.n_iter, run.n_evals, run.status, run.history.best.tolist())
        for run in solver.runs_
    ]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("status", RULES)
@pytest.mark.parametrize("way", WAYS)
def test_the_rule_wins(way: str, status: Status, device: str) -> None:
    parameters = WAYS[way] | RULES[status]
    with joblib.parallel_config("threading"):
        whole = make(device, **parameters).fit(PROBLEM)
        last = min(run.n_iter for run in whole.runs_)
        part = make(device, **parameters, max_iter=last).fit(PROBLEM)
        assert 0 < last < 200
        assert {run.status for run in part.runs_ if run.n_iter == last} >= {status}
        assert told(part.set_params(max_iter=200).resume()) == told(whole)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    ("rules", "status"),
    [
        ({"target": 0.5}, Status.TARGET),
        ({"tol": 1e-3}, Status.CONVERGED),
        ({"stagnation": 3}, Status.STAGNATED),
        ({"tol": 1e9, "stagnation": 1}, Status.CONVERGED),
    ],
)
def test_the_rule_wins_over_the_last_cycle(rules: dict[str, Any], status: Status, device: str) -> None:
    parameters: dict[str, Any] = {"gens_x": 3, "gens_y": 4, "random_state": 3, "device": device, **rules}
    whole = MinMaxSolver(max_iter=100, **parameters).fit("minmax/rustem4")
    assert whole.runs_[0].status == status
    part = MinMaxSolver(max_iter=whole.n_iter_, **parameters).fit("minmax/rustem4")
    assert part.runs_[0].status == status
    assert told(part.set_params(max_iter=100).resume()) == told(whole)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("status", RULES)
def test_the_last_values_that_are_told_are_judged(status: Status, device: str) -> None:
    """When results are read, saved or continued from, even if `ask` is not called again."""
    parameters = {"n_runs": 1, **RULES[status]}
    whole = make(device, **parameters).fit(PROBLEM)
    for limit in (whole.n_iter_, 200):
        m = make(device, max_iter=limit, **parameters)
        for _ in range(whole.n_iter_ + 1):
            X = m.ask()
            m.tell(X, rastrigin(X))
        assert m.runs_[0].status == status


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("status", RULES)
def test_a_fit_continues_from_values_of_tell(status: Status, device: str) -> None:
    parameters = {"n_runs": 1, "algorithm": DE(pop_size=8), **RULES[status]}
    whole = make(device, **parameters).fit(PROBLEM)
    for generations in range(1, whole.n_iter_ + 2):
        m = make(device, **parameters)
        for _ in range(generations):
            X = m.ask()
            m.tell(X, PROBLEM(X))
        assert told(m.resume(PROBLEM)) == told(whole)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("way", WAYS)
def test_a_history_goes_on_inside_an_iteration(way: str, device: str) -> None:
    """Samples are those of the fit in one piece, wherever a limit cuts an iteration short."""
    algorithm = SS(pop_size=10, n_best=2, n_diverse=1, n_local=LENGTH - 1)
    with joblib.parallel_config("threading"):
        whole = make(device, algorithm, max_iter=20, **WAYS[way]).fit(PROBLEM)
        for last in (0, 1, 7, 8, 11, 12):
            part = make(device, algorithm, max_iter=last, **WAYS[way]).fit(PROBLEM)
            begun = last // LENGTH * LENGTH
            for run, other in zip(part.runs_, whole.runs_, strict=True):
                assert np.array_equal(run.history.best[:-1], other.history.best[:last])
                assert np.array_equal(run.history.n_evals, other.history.n_evals[: last + 1])
                assert run.history.best[-1] == run.fun <= other.history.best[begun]
            assert told(part.set_params(max_iter=20).resume()) == told(whole)


def test_a_history_goes_on_after_a_file(tmp_path: Any) -> None:
    """Far out, too, where not every generation is sampled."""
    algorithm = SS(pop_size=10, n_best=2, n_diverse=1, n_local=39)
    whole = make("cpu", algorithm, max_iter=400).fit(PROBLEM)
    make("cpu", algorithm, max_iter=285).fit(PROBLEM).save(tmp_path / "part.skde")
    assert told(Minimizer.load(tmp_path / "part.skde").set_params(max_iter=400).resume()) == told(whole)


@pytest.mark.parametrize("device", DEVICES)
def test_functions_are_never_called_without_points(device: str) -> None:
    """Where runs of several sizes go on, those behind may end while the others wait for them."""

    def counted(X: Any) -> Any:
        assert len(X)
        return rastrigin(X)

    def sizes(max_evals: int) -> Minimizer:
        algorithms = [DE(pop_size=size) for size in (8, 30)]
        return make(device, algorithms, n_runs=2, max_iter=None, max_evals=max_evals, target=6.0)

    part = sizes(240).fit(counted)
    assert [run.n_iter for run in part.runs_] == [29, 7]
    assert told(part.set_params(max_evals=4000).resume()) == told(sizes(4000).fit(counted))


@pytest.mark.parametrize("device", DEVICES)
def test_a_new_target_judges_the_last_generation(device: str) -> None:
    """Also where a GPU has not stored the best of a large population, because nothing needed it."""
    m = Minimizer(DE(pop_size=2100), bounds=[(-5, 5)] * 3, max_iter=200, random_state=0, device=device)
    for _ in range(130):
        X = m.ask()
        m.tell(X, rastrigin(X))
    assert m.n_iter_ == 129
    m.set_params(target=m.fun_).resume(rastrigin)
    assert (m.runs_[0].status, m.n_iter_) == (Status.TARGET, 129)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("status", RULES)
@pytest.mark.parametrize("way", WAYS)
def test_a_run_goes_on_where_the_rule_that_ended_it_has_changed(way: str, status: Status, device: str) -> None:
    """Without islands as if the new rule had been there from the beginning."""
    (name, value), way_of_fit = next(iter(RULES[status].items())), WAYS[way]
    later = {"target": 8.0, "tol": 0.1, "stagnation": 6}[name]
    with joblib.parallel_config("threading"):
        for new in (later, None):
            m = make(device, **way_of_fit, **RULES[status]).fit(PROBLEM)
            assert {run.status for run in m.runs_} == {status}
            before = told(m)
            assert told(m.set_params(max_iter=150).resume()) == before  # its rule has not changed
            m.set_params(**{name: new}).resume()
            if "n_islands" not in way_of_fit:
                assert told(m) == told(make(device, **way_of_fit, **{name: new}, max_iter=150).fit(PROBLEM))
            assert {run.status for run in m.runs_} == {status if new else Status.LIMIT}
            assert told(m.set_params(**{name: value}).resume())


@pytest.mark.parametrize("way", ["run", "step", "devices", "joblib"])
def test_a_count_of_stagnation_begins_with_the_rule(way: str) -> None:
    flat = DeviceObjective("return 1.0;") if way == "run" else constant
    with joblib.parallel_config("threading"):
        m = make("cpu", max_iter=30, warm_start=True, **WAYS[way]).fit(flat)
        m.set_params(stagnation=25, max_iter=400).resume()
        assert {(run.status, run.n_iter) for run in m.runs_} == {(Status.STAGNATED, 55)}
        m.set_params(stagnation=None, max_iter=70).resume()
        m.set_params(stagnation=20, max_iter=400).fit(flat)
        assert {(run.status, run.n_iter) for run in m.runs_} == {(Status.STAGNATED, 90)}


def test_a_new_target_that_is_reached_ends_the_run_without_evaluations() -> None:
    for rules in (
        {},
        {"target": 15.0},
        {"stagnation": 4},
        {"polish": "Nelder-Mead", "max_iter": None, "max_evals": 2000},
    ):
        m = make("cpu", **rules).fit(PROBLEM)
        target, before = max(run.fun for run in m.runs_), [run.n_evals for run in m.runs_]
        m.set_params(target=target, max_iter=300, max_evals=None).resume()
        assert [run.n_evals for run in m.runs_] == before
        assert {run.status for run in m.runs_} == {Status.TARGET}


def test_a_co_evolution_goes_on_where_its_target_has_changed() -> None:
    parameters: dict[str, Any] = {"gens_x": 3, "gens_y": 4, "max_iter": 60, "random_state": 3}
    m = MinMaxSolver(target=0.5, **parameters).fit("minmax/rustem4")
    assert m.runs_[0].status == Status.TARGET
    assert told(m.set_params(target=None).resume()) == told(MinMaxSolver(**parameters).fit("minmax/rustem4"))
