"""The quasi-Newton search that follows algorithm="auto" with a small budget by default."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import LinearConstraint

from skde import Checkpoint, Integer, Minimizer
from skde.cli.main import main
from skde.stopping import Status

from .polished_fits import assert_same

EVALS = 1000
BOX = [(-4.0, 5.0)] * 10


def f(X: Any) -> Any:
    """Rosenbrock's function."""
    return (100 * (X[..., 1:] - X[..., :-1] ** 2) ** 2 + (1 - X[..., :-1]) ** 2).sum(-1)


def solver(**parameters: Any) -> Minimizer:
    return Minimizer(**{"max_evals": EVALS, "random_state": 0, "device": "cpu", "bounds": BOX, **parameters})


def fit(objective: Any = f, **parameters: Any) -> Minimizer:
    return solver(**parameters).fit(objective)


def test_it_follows_the_search() -> None:
    m = fit()
    search = fit(algorithm=m.algorithm_, max_evals=EVALS - 200)
    assert np.array_equal(m.population_, search.population_)
    run = m.runs_[0]
    assert m.polish_evals_ == 200
    assert 100 < run.polish_evals <= 200
    assert m.n_evals_ == search.n_evals_ + run.polish_evals <= EVALS
    assert m.fun_ == f(m.x_) < search.fun_
    assert run.polish_complete
    assert m.message_.endswith(f"A local search of {run.polish_evals} evaluations followed.")
    assert (m.history_.n_evals[-1], m.history_.best[-1]) == (m.n_evals_, m.fun_)


def test_it_pays() -> None:
    """The median of 30 runs gets better by more than their spread."""
    with_it, without = (fit(n_runs=30, polish=polish) for polish in (None, False))
    pairs = [(a.fun, b.fun) for a, b in zip(with_it.runs_, without.runs_, strict=True)]
    assert sum(a < b for a, b in pairs) >= 25


@pytest.mark.parametrize(
    "parameters",
    [
        {"polish": False},
        {"algorithm": "jde"},
        {"max_evals": 30_001},
        {"max_evals": 46_501, "bounds": [(-1.0, 2.0)] * 31},
        {"max_evals": 100},
        {"max_iter": 20},
        {"tol": 1e-3},
        {"stagnation": 10_000},
        {"final_evals": 30},
        {"bounds": {"n": Integer(1, 9)} | {f"x{i}": (-1.0, 2.0) for i in range(9)}},
        {"constraints": LinearConstraint([[1.0] + [0.0] * 9], -np.inf, 1.0)},
    ],
)
def test_fits_without_it(parameters: dict[str, Any]) -> None:
    m = fit(**parameters)
    assert m.polish_evals_ == 0
    assert [run.polish_evals for run in m.runs_] == [0]


def test_every_point_counts_and_none_is_outside() -> None:
    seen: list[Any] = []

    def recorded(X: Any) -> Any:
        seen.append(X.copy())
        return f(X)

    m = fit(recorded)
    made = np.concatenate(seen)[-m.n_evals_ :]
    assert m.fun_ == f(made).min()
    assert (made >= -4.0).all()
    assert (made <= 5.0).all()
    lengths = [len(X) for X in seen]
    assert lengths.count(10) > 80  # a generation, or all differences of a gradient, in one call
    assert set(lengths[-20:]) == {1, 10}


def test_ask_has_it_too() -> None:
    m = solver()
    while not m.stopped_:
        m.tell(X := m.ask(), f(X))
    assert m.polish_evals_ == 200
    assert_same(m, fit())
    assert_same(m.resume(f), fit())


def test_a_run_in_a_batch_is_the_run_alone() -> None:
    batch = fit(n_runs=6, target=5.0)
    assert len({run.status for run in batch.runs_}) > 1
    for run in batch.runs_:
        alone = fit(random_state=run.seed, target=5.0)
        assert (alone.fun_, alone.n_evals_, alone.runs_[0].status) == (run.fun, run.n_evals, run.status)
        assert np.array_equal(alone.x_, run.x)


@pytest.mark.parametrize(
    "parameters", [{"device": ["cpu", "cpu"]}, {"execution": "joblib", "n_jobs": 1}, {"vectorized": False}]
)
def test_forms_of_execution_have_the_same_bits(parameters: dict[str, Any]) -> None:
    assert_same(fit(n_runs=2, **parameters), fit(n_runs=2))


def test_islands_and_compiled_objectives() -> None:
    m = fit(n_islands=2, n_runs=2, max_evals=2 * EVALS)
    assert m.polish_evals_ == 300
    assert all(run.polish_evals > 0 and run.n_evals <= 2 * EVALS for run in m.runs_)
    for dtype in ("float64", "float32"):
        m, without = (
            solver(bounds=None, dtype=dtype, polish=polish).fit("rosenbrock", dim=10) for polish in (None, False)
        )
        assert m.runs_[0].polish_evals > 0
        assert m.x_.dtype == np.dtype(dtype)
        assert m.fun_ < without.fun_


def test_nan_never_wins() -> None:
    m = fit(lambda X: np.where(X[:, 0] > 0.9, np.nan, f(X)))
    assert m.runs_[0].polish_evals > 0
    assert m.fun_ == f(m.x_)


@pytest.mark.parametrize("n_iter", [10, 70])
def test_files_pickles_and_resume(tmp_path: Path, n_iter: int) -> None:
    whole = fit(n_runs=2)
    m = fit(n_runs=2, callbacks=lambda progress: progress.n_iter >= n_iter).set_params(callbacks=None)
    m.save(tmp_path / "fit.skde")
    loaded = Minimizer.load(tmp_path / "fit.skde")
    assert (loaded.polish, loaded.polish_evals_) == (None, 200)
    for other in (loaded, pickle.loads(pickle.dumps(m)), m):
        assert_same(other.resume(f), whole)
    loaded.save(tmp_path / "again.skde")
    assert_same(Minimizer.load(tmp_path / "again.skde"), whole)
    assert_same(Minimizer.load(tmp_path / "again.skde").resume(f), whole)  # nothing is left to do


def test_ctrl_c_keeps_what_was_found_and_resume_continues() -> None:
    made = [0]

    def interrupted(X: Any) -> Any:
        made[0] += len(X)
        if made[0] > 950:
            raise KeyboardInterrupt
        return f(X)

    m = solver()
    with pytest.raises(KeyboardInterrupt):
        m.fit(interrupted)
    assert m.runs_[0].polish_evals > 50
    assert m.message_.endswith("and was cut short.")
    fun = m.fun_
    m.resume(f)
    assert m.fun_ <= fun
    assert m.n_evals_ <= EVALS
    assert m.runs_[0].polish_complete


def test_callbacks_see_it_and_end_it(tmp_path: Path) -> None:
    seen: list[bool] = []

    def look(progress: Any) -> bool:
        assert f(progress.x) == progress.fun
        seen.append(progress.polishing)
        return bool(progress.polishing)

    m = fit(callbacks=[Checkpoint(tmp_path / "fit.skde", every=0.0), look])
    assert seen == [False] * (len(seen) - 1) + [True]
    assert not m.runs_[0].polish_complete
    assert Minimizer.load(tmp_path / "fit.skde").resume(f).runs_[0].polish_complete


def test_targets_end_it() -> None:
    target = (fit(polish=False).fun_ + fit().fun_) / 2
    m = fit(target=target)
    assert m.runs_[0].status == Status.TARGET
    assert m.converged_
    assert m.fun_ <= target


def test_a_larger_budget_and_a_warm_start() -> None:
    for m in (fit().set_params(max_evals=2 * EVALS).resume(), fit(warm_start=True).fit(f)):
        assert EVALS < m.n_evals_ <= 2 * EVALS
        assert m.runs_[0].polish_evals > 200


def test_verbose_and_the_command_line_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    fit(verbose=1)
    assert "then quasi-Newton for at most 200: 100 evaluations for each of 10 variables" in capsys.readouterr().out
    command = ["minimize", "rosenbrock", "--dim", "10", "--max-evals", "1000", "--seed", "0", "--json"]
    for options, evals in (([], 200), (["--polish", "none"], 0)):
        assert main([*command, *options]) == 0
        assert json.loads(capsys.readouterr().out)["polish_evals"] == evals


@pytest.mark.gpu
def test_a_gpu_has_the_same_bits() -> None:
    host, device = (solver(bounds=None, n_runs=3, device=one).fit("rosenbrock", dim=10) for one in ("cpu", "cuda"))
    assert_same(host, device)
