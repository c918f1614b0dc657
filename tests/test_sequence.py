"""The two searches of algorithm="auto": bits, limits, files, callbacks and batches.

They are without the polish that follows them by default: tests/test_auto_polish.py has it.
"""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import LinearConstraint

from skde import Checkpoint, Integer, Log, Minimizer, ParameterTrace, Real
from skde.algorithms.sequence import AlgorithmSequence
from skde.cli.main import main
from skde.stopping import Status

EVALS = 10_500  # 1050 for the first search, which are 150 generations of 7
BOX = [(-4.0, 5.0)] * 3


def f(X: Any) -> Any:
    """Rastrigin's function."""
    return (X * X - 10 * np.cos(2 * np.pi * X) + 10).sum(axis=1)


def solver(**parameters: Any) -> Minimizer:
    given = {"max_evals": EVALS, "random_state": 0, "device": "cpu", "bounds": BOX, "polish": False}
    return Minimizer(**{**given, **parameters})


def fit(objective: Any = f, **parameters: Any) -> Minimizer:
    return solver(**parameters).fit(objective)


def sequence_of(m: Minimizer) -> AlgorithmSequence:
    assert isinstance(m.algorithm_, AlgorithmSequence)
    return m.algorithm_


def assert_same(one: Minimizer, other: Minimizer) -> None:
    assert repr(one.algorithm_) == repr(other.algorithm_)
    assert np.array_equal(one.population_, other.population_)
    assert len(one.runs_) == len(other.runs_)
    for a, b in zip(one.runs_, other.runs_, strict=True):
        assert (a.fun, a.n_evals, a.n_iter, a.status, a.seed) == (b.fun, b.n_evals, b.n_iter, b.status, b.seed)
        assert np.array_equal(a.x, b.x)
        assert np.array_equal(a.history.n_evals, b.history.n_evals)
        assert np.array_equal(a.history.best, b.history.best)


def test_it_is_the_two_fits_one_after_the_other() -> None:
    m = fit()
    sequence = sequence_of(m)
    first = fit(algorithm=sequence.algorithms[0], max_evals=sequence.evals[0])
    second = fit(algorithm=sequence.algorithms[1], max_evals=sequence.evals[1])
    assert (sequence.algorithms[0].name, sequence.algorithms[1].name) == ("cmaes", "arrde")
    assert sequence.spent == (first.n_evals_,) == (1050,)
    assert m.n_evals_ == 1050 + second.n_evals_ <= EVALS
    assert m.n_iter_ == first.n_iter_ + second.n_iter_ + 1
    assert m.fun_ == min(first.fun_, second.fun_)
    assert np.array_equal(m.x_, (first if first.fun_ <= second.fun_ else second).x_)
    assert np.array_equal(m.population_, second.population_)
    assert m.result_.nfev == m.n_evals_
    history = m.history_
    before, after = first.history_, second.history_
    assert np.array_equal(history.n_evals, [*before.n_evals, *(1050 + after.n_evals)])
    assert np.array_equal(history.best, np.minimum.accumulate([*before.best, *after.best]))
    assert (np.diff(history.seconds) >= 0).all()
    assert m.runs_[0].status == Status.LIMIT


def test_the_best_point_of_the_first_search_stays() -> None:
    centres, heights = np.random.default_rng(0).uniform(-4, 4, (60, 6)), np.linspace(10, 1, 60)

    def peaks(X: Any) -> Any:
        return 10 - (heights * np.exp(-((X[:, None] - centres) ** 2).sum(axis=2) / 4)).max(axis=1)

    given: dict[str, Any] = {"bounds": [(-5, 5)] * 6, "n_runs": 20}
    m = fit(peaks, max_evals=18_006, **given)
    sequence = sequence_of(m)
    first = fit(peaks, algorithm=sequence.algorithms[0], max_evals=sequence.evals[0], **given)
    second = fit(peaks, algorithm=sequence.algorithms[1], max_evals=sequence.evals[1], **given)
    pairs = [(one, other) for one, other in zip(first.runs_, second.runs_, strict=True)]
    assert [run.fun for run in m.runs_] == [min(one.fun, other.fun) for one, other in pairs]
    kept = [k for k, (one, other) in enumerate(pairs) if one.fun < other.fun - 0.1]
    assert kept
    for k in kept:
        assert np.array_equal(m.runs_[k].x, first.runs_[k].x)
        assert m.runs_[k].history.best[-1] == first.runs_[k].fun


@pytest.mark.parametrize(
    "parameters",
    [
        {"tol": 1e-3},
        {"stagnation": 10_000},
        {"final_evals": 30},
        {"max_iter": 20},
        {"bounds": {"n": Integer(1, 9), "x": (-1.0, 2.0)}},
        {"constraints": LinearConstraint([[1.0, 0, 0]], -np.inf, 1.0)},
        {"max_evals": 9000},
    ],
)
def test_fits_with_one_search(parameters: dict[str, Any]) -> None:
    assert not isinstance(fit(**parameters).algorithm_, AlgorithmSequence)


def test_many_first_points_leave_no_room_for_two() -> None:
    x0 = np.random.default_rng(0).uniform(-4, 5, (500, 3))
    assert not isinstance(solver().fit(f, x0=x0).algorithm_, AlgorithmSequence)
    m = solver().fit(f, x0=[1e-3, 0.0, 0.0])
    assert sequence_of(m).algorithms[0].name == "cmaes"
    assert m.history_.best[0] <= f(np.array([[1e-3, 0, 0]]))[0]


def test_a_run_in_a_batch_is_the_run_alone() -> None:
    batch = fit(n_runs=3)
    for run in batch.runs_:
        alone = fit(random_state=run.seed)
        assert (alone.fun_, alone.n_evals_, alone.n_iter_) == (run.fun, run.n_evals, run.n_iter)
        assert np.array_equal(alone.x_, run.x)
        assert np.array_equal(alone.history_.best, run.history.best)


@pytest.mark.parametrize("n", [None, 5])
def test_ask_and_tell_equal_fit(n: int | None) -> None:
    m, seen = solver(), []
    while not m.stopped_:
        X, ids = m.ask(n, return_ids=True)
        seen += list(ids)
        m.tell(f=f(X), ids=ids)
    assert len(set(seen)) == len(seen) == m.n_evals_
    assert_same(m, fit())
    with pytest.raises(RuntimeError, match="every run has ended"):
        m.ask()


@pytest.mark.parametrize("n_iter", [10, 149, 150, 151, 170])
def test_files_pickles_and_resume(tmp_path: Path, n_iter: int) -> None:
    whole = fit(n_runs=2)
    m = solver(n_runs=2)
    while not hasattr(m, "_fit") or m._fit.n_iter.max() < n_iter:
        m.tell(X := m.ask(), f(X.reshape(-1, 3)).reshape(X.shape[:-1]))
    m.save(tmp_path / "fit.skde")
    loaded = Minimizer.load(tmp_path / "fit.skde")
    for other in (loaded, pickle.loads(pickle.dumps(m)), m):
        assert other.n_iter_ == n_iter
        assert other.algorithm == "auto"
        assert other.n_evals_ == m.n_evals_
        assert other.fun_ == m.fun_
        assert_same(other.resume(f), whole)
    loaded.save(tmp_path / "again.skde")
    assert_same(Minimizer.load(tmp_path / "again.skde"), whole)


def test_a_file_of_the_second_search_before_its_first_population(tmp_path: Path) -> None:
    m, whole = solver(n_runs=2), fit(n_runs=2)
    while not hasattr(m, "_fit") or m._fit.ledger.past is None:
        if not m.stopped_ and m._fit.ledger.past is None:
            m.tell(X := m.ask(), f(X.reshape(-1, 3)).reshape(X.shape[:-1]))
    assert (m.n_evals_, m.n_iter_) == (1050, 149)
    assert m.fun_ == min(run.fun for run in m.runs_)
    m.save(tmp_path / "fit.skde")
    assert_same(Minimizer.load(tmp_path / "fit.skde").resume(f), whole)
    X, ids = m.ask(3, return_ids=True)
    m.tell(f=f(X), ids=ids)
    m.save(tmp_path / "told.skde")
    loaded = Minimizer.load(tmp_path / "told.skde")
    assert np.array_equal(loaded.ask(2, return_ids=True)[1], ids[-1] + [1, 2])
    assert_same(loaded.resume(f), whole)


def test_an_error_in_either_search_leaves_the_best_so_far() -> None:
    for limit in (100, 1050, 1051, 4000):
        calls = 0

        def counted(X: Any, limit: int = limit) -> Any:
            nonlocal calls
            calls += len(X)
            if calls > limit + 40:  # the checks before a fit call it, too
                raise ArithmeticError
            return f(X)

        m = solver()
        with pytest.raises(ArithmeticError):
            m.fit(counted)
        assert 0 < m.n_evals_ <= limit + 40
        assert f(m.x_[None])[0] == m.fun_
        assert_same(m.resume(f), fit())


def test_time_and_callbacks_end_either_search() -> None:
    for n_iter in (100, 149, 155):
        m = fit(callbacks=lambda progress, n=n_iter: progress.n_iter >= n)
        assert m.n_iter_ == n_iter if n_iter != 149 else m.n_iter_ in (149, 150)
        assert m.runs_[0].status == Status.CALLBACK
        assert_same(m.set_params(callbacks=None).resume(), fit())
    m = fit(max_evals=10**9, max_time=0.05)
    assert m.runs_[0].status == Status.TIME
    assert m.time_ < 5


def test_progress_counts_both_searches(tmp_path: Path) -> None:
    seen: list[tuple[int, int, float, float, float]] = []

    def note(progress: Any) -> None:
        assert f(progress.x[None])[0] == progress.fun == min(progress.funs)
        assert progress.violation == 0
        seen.append(
            (progress.n_iter, progress.n_evals, progress.n_evals_of_runs.sum(), -progress.fun, progress.seconds)
        )

    m = fit(callbacks=[note, Checkpoint(tmp_path / "fit.skde", every=0.0)], n_runs=2)
    rises = np.diff(np.array(seen), axis=0)
    assert (rises >= 0).all()
    assert (rises[:, :2] > 0).all()
    assert seen[-1][0] > 150
    assert_same(Minimizer.load(tmp_path / "fit.skde").resume(f), m)


def test_a_trace_of_parameters_needs_a_name() -> None:
    with pytest.raises(ValueError, match="'cmaes, arrde' does not have"):
        fit(callbacks=ParameterTrace())


def test_no_search_follows_where_all_runs_have_ended() -> None:
    m = fit(n_runs=3, target=50.0)
    assert sequence_of(m).spent == ()
    assert [run.status for run in m.runs_] == [Status.TARGET] * 3
    assert all(run.n_evals < 1050 for run in m.runs_)


def test_runs_that_reach_the_target_in_the_first_search_end(tmp_path: Path) -> None:
    parameters: dict[str, Any] = {"n_runs": 6, "target": 1.0, "bounds": [(1.0, 5.0)] * 3, "max_evals": EVALS}

    def g(X: Any) -> Any:
        return f(X - 3.1)

    m = fit(g, **parameters)
    early = [run for run in m.runs_ if run.n_evals <= 1050]
    assert 0 < len(early) < 6
    for run in m.runs_:
        alone = fit(g, **{**parameters, "n_runs": 1, "random_state": run.seed})
        assert (alone.fun_, alone.n_evals_, alone.n_iter_) == (run.fun, run.n_evals, run.n_iter)
        assert alone.runs_[0].status == run.status
        assert np.array_equal(alone.history_.best, run.history.best)
    best = m._best_run
    alone = fit(g, **{**parameters, "n_runs": 1, "random_state": m.runs_[best].seed})
    assert np.array_equal(alone.population_, m.population_)
    asked = solver(**parameters)
    while not asked.stopped_:
        X = asked.ask()
        assert ((X >= 1) & (X <= 5)).all()
        asked.tell(X, g(X.reshape(-1, 3)).reshape(X.shape[:-1]))
        if asked._fit.n_iter.max() == 155:
            asked.save(tmp_path / "fit.skde")
    assert_same(asked, m)
    assert_same(Minimizer.load(tmp_path / "fit.skde").resume(g), m)
    polished = fit(g, **{**parameters, "target": None, "polish": True})
    assert polished.fun_ <= m.fun_
    assert polished.n_evals_ <= EVALS


def test_runs_of_either_search_go_on_where_their_target_has_changed(tmp_path: Path) -> None:
    def g(X: Any) -> Any:
        return f(X - 3.1)

    given: dict[str, Any] = {"bounds": [(1.0, 5.0)] * 3}
    m = fit(g, n_runs=6, target=1.0, **given)
    early = [run for run in m.runs_ if run.n_evals <= 1050]
    first = fit(g, target=30.0, **given)
    assert sequence_of(first).spent == ()
    assert_same(first.set_params(target=None).resume(), fit(g, **given))
    assert 0 < len(early) < 6
    m.save(tmp_path / "fit.skde")
    m.set_params(target=None).resume()
    for before, run in zip(fit(g, n_runs=6, target=1.0, **given).runs_, m.runs_, strict=True):
        assert run.status == Status.LIMIT
        assert before.n_evals < run.n_evals <= EVALS
        assert run.fun <= before.fun
    assert_same(Minimizer.load(tmp_path / "fit.skde").set_params(target=None).resume(g), m)


def test_the_polish_begins_at_the_best_of_both() -> None:
    given: dict[str, Any] = {"polish": True, "max_evals": 14_000}
    m = fit(n_runs=2, **given)
    sequence = sequence_of(m)
    assert sequence.evals[0] + sequence.evals[1] == 14_000 - 2800
    for run in m.runs_:
        assert run.n_evals <= 14_000
        assert run.polish_evals > 0
        assert run.polish_complete
        alone = fit(random_state=run.seed, **given)
        assert (alone.fun_, alone.n_evals_) == (run.fun, run.n_evals)


def test_islands() -> None:
    m = fit(n_islands=2, n_runs=2, max_evals=2 * EVALS)
    sequence = sequence_of(m)
    assert sequence.spent == (sequence.evals[0],) == (2100,)
    assert all(2100 < run.n_evals <= 2 * EVALS for run in m.runs_)
    alone = fit(n_islands=2, max_evals=2 * EVALS, random_state=m.runs_[1].seed)
    assert (alone.fun_, alone.n_evals_) == (m.runs_[1].fun, m.runs_[1].n_evals)
    assert len(alone.population_) == 2 * len(fit().population_)


@pytest.mark.parametrize("parameters", [{"execution": "joblib", "n_jobs": 2}, {"device": ["cpu", "cpu"]}])
def test_parts_of_a_batch_have_the_same_bits(parameters: dict[str, Any]) -> None:
    given: dict[str, Any] = {"n_runs": 4, "target": 0.5}
    assert_same(fit(**given, **parameters), fit(**given))


def test_compiled_objectives_and_float32() -> None:
    for dtype in ("float64", "float32"):
        m = solver(bounds=None, dtype=dtype).fit("rastrigin", dim=3)
        assert isinstance(m.algorithm_, AlgorithmSequence)
        assert m.population_.dtype == m.x_.dtype == np.dtype(dtype)
        assert_same(m, solver(bounds=None, dtype=dtype, execution="step").fit("rastrigin", dim=3))


def test_typed_variables() -> None:
    m = fit(
        lambda X: np.log(X[:, 0]) ** 2 + (X[:, 1] - 1) ** 2 + X[:, 2] ** 2,
        bounds={"a": Log(1e-3, 1e3), "b": Real(-1, 2), "c": (-3.0, 3.0)},
    )
    assert isinstance(m.algorithm_, AlgorithmSequence)
    assert m.params_["a"] == pytest.approx(1)
    assert m.fun_ < 1e-8


def test_a_larger_and_a_smaller_budget() -> None:
    m = fit()
    before = m.n_evals_
    m.set_params(max_evals=2 * EVALS).resume()
    assert before <= EVALS < m.n_evals_ <= 2 * EVALS
    m = fit(callbacks=lambda progress: progress.n_iter == 10).set_params(max_evals=1070, callbacks=None).resume()
    assert m.n_evals_ == 1050  # no room for the second search
    assert_same(m.set_params(max_evals=EVALS).resume(), fit())
    m = fit(callbacks=lambda progress: progress.n_iter == 10).set_params(max_evals=1000, callbacks=None).resume()
    assert m.n_evals_ == 994


@pytest.mark.parametrize(("called", "max_iter"), [(10, 30), (10, 200), (170, 180), (170, 250)])
def test_generations_of_both_searches_are_limited_together(called: int, max_iter: int) -> None:
    m = fit(callbacks=lambda progress: progress.n_iter == called)
    assert m.n_iter_ == called
    m.set_params(callbacks=None, max_evals=None, max_iter=max_iter).resume()
    assert m.n_iter_ == max_iter
    assert m.runs_[0].status == Status.LIMIT


def test_a_warm_start_goes_on_with_the_last_search() -> None:
    m = fit(warm_start=True)
    before, fun = m.n_evals_, m.fun_
    m.fit(f)
    assert before + EVALS - 1200 < m.n_evals_
    assert m.fun_ <= fun
    m = fit(warm_start=True, callbacks=lambda progress: progress.n_iter == 10).set_params(callbacks=None).fit(f)
    assert m.algorithm_.name == "cmaes"


def test_a_second_fit_begins_again() -> None:
    m = fit()
    assert_same(m.fit(f), fit())
    assert m.set_params(max_evals=600).fit(f).algorithm_.name == "jso"


def test_a_fit_that_cannot_begin_leaves_the_earlier_one() -> None:
    m = fit(callbacks=lambda progress: progress.n_iter == 10).set_params(callbacks=None)
    with pytest.raises(ValueError, match="x0"):
        m.fit(f, x0=[100.0, 0.0, 0.0])
    with pytest.raises(MemoryError):
        m.set_params(n_runs=2**20, bounds=None).fit("sphere", dim=200)
    assert_same(m.set_params(n_runs=1, bounds=BOX).resume(), fit())


def test_wrong_files(tmp_path: Path) -> None:
    header, arrays = fit()._state()
    for changed in (
        {"sequence": {**header["sequence"], "spent": []}},
        {"sequence": {**header["sequence"], "spent": [-3]}},
        {"algorithms": header["algorithms"][:1]},
        {"automatic": False},
    ):
        m = solver()
        with pytest.raises(ValueError, match=r"entry|sequence|algorithms"):
            m._restore({**header, **changed}, arrays)
    for name, value in (
        ("past_points", arrays["past_points"] + 100),
        ("past_numbers", arrays["past_numbers"] - 5000),
        ("past_history", arrays["past_history"][:-1]),
        ("past_f", np.zeros((1, 7))),
    ):
        m = solver()
        with pytest.raises(ValueError, match="past"):
            m._restore(header, {**arrays, name: value})


def test_verbose_says_both(capsys: pytest.CaptureFixture[str]) -> None:
    fit(verbose=1)
    said = capsys.readouterr()
    assert "chose CMAES(pop_size=7, tol_fun=0.0) for 1050 evaluations, then ARRDE(pop_size=" in said.out
    assert "after 1050 evaluations of a run ARRDE(pop_size=" in said.out
    assert "10.5k" in said.err.replace("/", " ")  # the bar has the evaluations of both


def test_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["minimize", "sphere", "--dim", "2", "--max-evals", "8000"]
    assert main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["algorithm"]
    assert [one["name"] for one in found["searches"]] == ["cmaes", "arrde"]
    assert main(command) == 0
    assert "then ARRDE(pop_size=" in capsys.readouterr().out


@pytest.mark.gpu
def test_a_gpu_has_the_same_bits() -> None:
    given: dict[str, Any] = {"bounds": None, "n_runs": 3}
    host, device = (solver(**given, device=one).fit("rastrigin", dim=3) for one in ("cpu", "cuda"))
    assert_same(host, device)

    def on_device(X: Any) -> Any:
        return (X * X).sum(axis=1)

    by_step, by_graph = (solver(device="cuda", execution=one).fit(on_device) for one in ("step", "auto"))
    assert isinstance(by_graph.algorithm_, AlgorithmSequence)
    assert_same(by_step, by_graph)
