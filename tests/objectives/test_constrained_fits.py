"""Constrained fits with ask and tell, in files, on several devices and in callbacks."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import Bounds, NonlinearConstraint
from sklearn.base import clone

from skde import Minimizer, Progress

from ..problems.disc import BOX, DISC, NOWHERE, X, make, problem, radius, total


@pytest.mark.parametrize("n_runs", [1, 3])
def test_ask_and_tell_equal_fit(n_runs: int) -> None:
    fitted = make(n_runs=n_runs).fit(total, bounds=BOX)
    m = make(n_runs=n_runs, bounds=BOX)
    while not m.stopped_:
        asked = m.ask()
        m.tell(asked, total(asked.reshape(-1, 2)).reshape(asked.shape[:-1]))
    np.testing.assert_array_equal(m.population_, fitted.population_)
    assert (m.fun_, m.max_violation_) == (fitted.fun_, fitted.max_violation_)
    np.testing.assert_array_equal(m.history_.best, fitted.history_.best)


def test_tell_with_infeasible_points() -> None:
    m = make(constraints=NOWHERE, bounds=BOX)
    asked = m.ask()
    m.tell(asked, total(asked))
    assert np.isnan(m.fun_)
    assert m.max_violation_ == pytest.approx(100 - radius(asked).max())
    with pytest.raises(ValueError, match=r"constraints\[0\] leaves nothing"):
        make(constraints=Bounds(4, 5), bounds=BOX).ask()


def test_saved_and_resumed(tmp_path: Path) -> None:
    whole = make(max_iter=60).fit(total, bounds=BOX)
    half = make(max_iter=30).fit(total, bounds=BOX)
    half.save(tmp_path / "half")
    for objective, constraints in ((total, DISC), (problem(), None)):
        m = Minimizer.load(tmp_path / "half")
        assert (m.fun_, m.max_violation_, m.constraints) == (half.fun_, half.max_violation_, None)
        np.testing.assert_array_equal(m.fitness_, half.fitness_)
        m.set_params(max_iter=60, constraints=constraints)
        with pytest.raises(ValueError, match=r"resume needs the objective again .*with constraints"):
            m.resume()
        m.resume(objective)
        np.testing.assert_array_equal(m.population_, whole.population_)
        assert (m.fun_, m.max_violation_) == (whole.fun_, whole.max_violation_)


@pytest.mark.parametrize("n_runs", [1, 3])
def test_results_need_no_call_after_the_fit(n_runs: int, tmp_path: Path) -> None:
    calls: list[int] = []
    closed: list[bool] = []

    def closing(X: Any) -> Any:
        assert not closed
        calls.append(len(X))
        return total(X)

    def closing_radius(x: Any) -> Any:
        assert not closed
        return radius(x)

    m = make(n_runs=n_runs, constraints=NonlinearConstraint(closing_radius, -np.inf, DISC.ub))
    m.fit(closing, bounds=BOX)
    closed.append(True)
    assert calls[-1] > 1  # of a generation, and not of answers
    assert m.fun_ == make(n_runs=n_runs).fit(total, bounds=BOX).fun_
    m.save(tmp_path / "fit")
    assert Minimizer.load(tmp_path / "fit").max_violation_ == m.max_violation_


def test_resume_needs_the_same_constraints(tmp_path: Path) -> None:
    half = make(max_iter=30).fit(total, bounds=BOX)
    half.save(tmp_path / "half")
    m = Minimizer.load(tmp_path / "half").set_params(max_iter=60)
    with pytest.raises(ValueError, match="began with constraints and feasibility_tol=1e-06, and now there are no con"):
        m.resume(total)
    with pytest.raises(ValueError, match=r"feasibility_tol was 1e-06 when the fit began and is 0.5 now"):
        m.set_params(constraints=DISC, feasibility_tol=0.5).resume(total)
    plain = Minimizer("jde", max_iter=3).fit("sphere", dim=2).set_params(constraints=DISC)
    plain.save(tmp_path / "plain")
    with pytest.raises(ValueError, match="began with no constraints, and now there are constraints"):
        Minimizer.load(tmp_path / "plain").set_params(constraints=DISC).resume()


def test_nothing_feasible_survives_a_file(tmp_path: Path) -> None:
    m = make(constraints=NOWHERE, n_runs=2).fit(total, bounds=BOX)
    m.save(tmp_path / "m")
    other = Minimizer.load(tmp_path / "m")
    assert np.isnan([other.fun_, m.fun_]).all()
    assert (other.max_violation_, other.message_) == (m.max_violation_, m.message_)


def test_a_named_problem_is_found_again(tmp_path: Path) -> None:
    whole = Minimizer("jde", max_iter=60, random_state=0).fit("fabris2012/p4")
    Minimizer("jde", max_iter=30, random_state=0).fit("fabris2012/p4").save(tmp_path / "half")
    m = Minimizer.load(tmp_path / "half").set_params(max_iter=60).resume()
    np.testing.assert_array_equal(m.population_, whole.population_)
    assert m.fun_ == whole.fun_


def test_ask_and_tell_after_a_file(tmp_path: Path) -> None:
    m = make(bounds=BOX)
    asked = m.ask()
    m.tell(asked, total(asked))
    m.save(tmp_path / "m")
    other = Minimizer.load(tmp_path / "m")
    asked = other.ask()
    with pytest.raises(ValueError, match=r"tell needs the constraints again: set_params\(constraints=...\)"):
        other.tell(asked, total(asked))
    other.set_params(constraints=DISC).tell(asked, total(asked))
    again = m.ask()
    np.testing.assert_array_equal(again, asked)
    m.tell(again, total(again))
    np.testing.assert_array_equal(other.population_, m.population_)


def test_pickled_and_cloned() -> None:
    m = make(max_iter=30).fit(total, bounds=BOX)
    other = pickle.loads(pickle.dumps(m))
    assert (other.fun_, other.max_violation_) == (m.fun_, m.max_violation_)
    other.set_params(max_iter=60).resume(total)
    np.testing.assert_array_equal(other.population_, make().fit(total, bounds=BOX).population_)
    np.testing.assert_array_equal(clone(m).fit(total, bounds=BOX).population_, m.population_)
    again = pickle.loads(pickle.dumps(problem()))
    np.testing.assert_array_equal(again.values(X), problem().values(X))


def test_warm_start() -> None:
    m = make(max_iter=30, warm_start=True).fit(total, bounds=BOX).fit(total, bounds=BOX)
    np.testing.assert_array_equal(m.population_, make().fit(total, bounds=BOX).population_)
    for change in ({"constraints": NOWHERE}, {"constraints": None}, {"feasibility_tol": 0.1}):
        with pytest.raises(ValueError, match="the objective differs from that of the first fit"):
            m.set_params(**{"constraints": DISC, "feasibility_tol": 1e-6, **change}).fit(total, bounds=BOX)


def test_devices_and_workers_give_the_same() -> None:
    options: dict[str, Any] = {"n_runs": 3, "n_islands": 2, "max_iter": 120}
    expected = make(**options).fit(total, bounds=BOX)
    for more in ({"device": ["cpu", "cpu"]}, {"execution": "joblib", "n_jobs": 2}):
        m = make(**options, **more).fit(total, bounds=BOX)
        np.testing.assert_array_equal(m.population_, expected.population_)
        assert [(run.fun, run.max_violation) for run in m.runs_] == [
            (run.fun, run.max_violation) for run in expected.runs_
        ]


def test_callbacks_see_values_and_violations() -> None:
    seen: list[tuple[float, float]] = []

    def look(progress: Progress) -> None:
        seen.append((progress.fun, progress.violation))
        assert progress.funs.shape == (1,)

    narrow = NonlinearConstraint(radius, -np.inf, 0.01)
    m = Minimizer("de", constraints=narrow, max_iter=100, random_state=0, callbacks=look).fit(total, bounds=BOX)
    far = [violation for fun, violation in seen if fun == np.inf]
    assert far
    assert min(far) > 0
    assert far == sorted(far, reverse=True)
    assert seen[-1] == (m.fun_, 0.0)


def test_a_progress_bar_shows_the_violation(capsys: pytest.CaptureFixture[str]) -> None:
    make(constraints=NOWHERE, verbose=1, max_iter=5).fit(total, bounds=BOX)
    assert "violation 8" in capsys.readouterr().err
