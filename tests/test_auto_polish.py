"""The polish that follows the searches of algorithm="auto" by default."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import LinearConstraint

from skde import Checkpoint, Integer, Log, Minimizer, Real
from skde.algorithms.sequence import AlgorithmSequence
from skde.benchmark.nist import load_regression
from skde.cli.main import main
from skde.stopping import Status

from .polished_fits import assert_same

EVALS = 10_500
BOX = [(-4.0, 5.0)] * 3


def f(X: Any) -> Any:
    """Rosenbrock's function with a narrower valley."""
    return (1e6 * (X[..., 1:] - X[..., :-1] ** 2) ** 2 + (1 - X[..., :-1]) ** 2).sum(-1)


def solver(**parameters: Any) -> Minimizer:
    return Minimizer(**{"max_evals": EVALS, "random_state": 0, "device": "cpu", "bounds": BOX, **parameters})


def fit(objective: Any = f, **parameters: Any) -> Minimizer:
    return solver(**parameters).fit(objective)


def test_it_follows_the_two_searches() -> None:
    m = fit()
    sequence = m.algorithm_
    assert isinstance(sequence, AlgorithmSequence)
    assert (sequence.evals[0], sequence.evals[1], m.polish_evals_) == (1050, 7350, 2100)
    first = fit(algorithm=sequence.algorithms[0], max_evals=1050)
    second = fit(algorithm=sequence.algorithms[1], max_evals=7350)
    assert np.array_equal(m.population_, second.population_)
    run = m.runs_[0]
    assert m.n_evals_ == first.n_evals_ + second.n_evals_ + run.polish_evals <= EVALS
    assert 0 < run.polish_evals <= 2100
    assert m.fun_ == f(m.x_) < min(first.fun_, second.fun_)
    assert run.polish_complete
    assert m.message_.endswith(f"A local search of {run.polish_evals} evaluations followed.")
    assert (m.history_.n_evals[-1], m.history_.best[-1]) == (m.n_evals_, m.fun_)


@pytest.mark.parametrize(
    ("dim", "max_evals", "evals"),
    [
        *[(2, 8000, 1600), (4, 40_000, 4000), (10, 100_000, 10_000), (10, 10**6, 22_000)],
        *[(10, 32_000, 0), (11, 10**6, 0), (31, 46_501, 0)],
        *[(10, 5001, 300), (15, 45_000, 450), (10, 1000, 200), (2, 30, 6), (10, 109, 0), (40, 4000, 800)],
        *[(30, 90_000, 900), (31, 12_000, 1860), (31, 46_500, 1860)],
    ],
)
def test_its_share(dim: int, max_evals: int, evals: int) -> None:
    assert fit(bounds=[(-4, 5)] * dim, max_evals=max_evals, target=1e9).polish_evals_ == evals


def test_the_default_budget_has_it() -> None:
    assert fit(max_evals=None, target=1e9).polish_evals_ == 6000


@pytest.mark.parametrize(
    "parameters",
    [
        {"polish": False},
        {"algorithm": "jde"},
        {"max_evals": 46_501, "bounds": [(-1.0, 2.0)] * 31},
        {"max_iter": 20},
        {"tol": 1e-3},
        {"stagnation": 10_000},
        {"final_evals": 30},
        {"bounds": {"n": Integer(1, 9), "x": (-1.0, 2.0), "y": (-1.0, 2.0)}},
        {"constraints": LinearConstraint([[1.0, 0, 0]], -np.inf, 1.0)},
    ],
)
def test_fits_without_it(parameters: dict[str, Any]) -> None:
    m = fit(**parameters)
    assert m.polish_evals_ == 0
    assert [run.polish_evals for run in m.runs_] == [0]


def test_ask_has_it_too(tmp_path: Path) -> None:
    m, fitted = solver(), fit()
    while not m.stopped_:
        m.tell(X := m.ask(), f(X))
        if m._fit.n_iter.max() == 155:
            m.save(tmp_path / "fit.skde")
    assert m.polish_evals_ == fitted.polish_evals_ > 0
    for other in (m, m.resume(f), Minimizer.load(tmp_path / "fit.skde").resume(f)):
        assert_same(other, fitted)


def test_a_run_in_a_batch_is_the_run_alone() -> None:
    batch = fit(n_runs=6, target=1e-12)
    assert len({run.status for run in batch.runs_}) > 1
    assert len({run.polish_evals for run in batch.runs_}) > 2
    for run in batch.runs_:
        alone = fit(random_state=run.seed, target=1e-12)
        assert (alone.fun_, alone.n_evals_, alone.runs_[0].status) == (run.fun, run.n_evals, run.status)
        assert np.array_equal(alone.x_, run.x)


@pytest.mark.parametrize(
    "parameters",
    [
        {"device": ["cpu", "cpu"]},
        {"execution": "joblib", "n_jobs": 1},
        {"vectorized": False},
    ],
)
def test_forms_of_execution_have_the_same_bits(parameters: dict[str, Any]) -> None:
    assert_same(fit(n_runs=2, **parameters), fit(n_runs=2))


def test_islands_and_compiled_objectives() -> None:
    m = fit(n_islands=2, n_runs=2, max_evals=2 * EVALS)
    assert m.polish_evals_ == 4200
    assert all(run.polish_evals > 0 and run.n_evals <= 2 * EVALS for run in m.runs_)
    for dtype in ("float64", "float32"):
        given: dict[str, Any] = {"bounds": None, "dtype": dtype}
        m, without = (solver(**given, polish=one).fit("rosenbrock", dim=3) for one in (None, False))
        assert m.runs_[0].polish_evals > 0
        assert m.x_.dtype == np.dtype(dtype)
        assert m.fun_ <= without.fun_


def test_continuous_typed_variables_have_it() -> None:
    m = fit(
        lambda X: np.log(X[:, 0]) ** 2 + (X[:, 1] - 1) ** 2 + X[:, 2] ** 2,
        bounds={"a": Log(1e-3, 1e3), "b": Real(-1, 2), "c": (-3.0, 3.0)},
    )
    assert m.runs_[0].polish_evals > 0
    assert m.params_["a"] == pytest.approx(1)


@pytest.mark.parametrize("n_iter", [10, 149, 155, 200])
def test_files_pickles_and_resume(tmp_path: Path, n_iter: int) -> None:
    whole = fit(n_runs=2)
    m = fit(n_runs=2, callbacks=lambda progress: progress.n_iter >= n_iter).set_params(callbacks=None)
    assert not any(run.polish_evals for run in m.runs_)
    m.save(tmp_path / "fit.skde")
    loaded = Minimizer.load(tmp_path / "fit.skde")
    assert loaded.polish is None
    for other in (loaded, pickle.loads(pickle.dumps(m)), m):
        assert_same(other.resume(f), whole)
    loaded.save(tmp_path / "again.skde")
    assert_same(Minimizer.load(tmp_path / "again.skde"), whole)
    assert_same(Minimizer.load(tmp_path / "again.skde").resume(f), whole)  # nothing is left to do


def test_files_from_before_it(tmp_path: Path) -> None:
    header, arrays = fit(polish=False)._state()
    assert "polish_evals" not in header
    m = solver()
    m._restore(header, arrays)
    assert m.polish_evals_ == 0
    with pytest.raises(ValueError, match="polish_evals"):
        solver()._restore({**header, "polish_evals": -1}, arrays)


def interrupted_after(evals: int) -> Any:
    """Return a function that Ctrl-C interrupts after as many evaluations."""
    made = [0]

    def function(X: Any) -> Any:
        made[0] += len(X)
        if made[0] > evals:
            raise KeyboardInterrupt
        return f(X)

    return function


def test_ctrl_c_keeps_what_was_found_and_resume_goes_on() -> None:
    m, without = solver(), fit(max_evals=8400, polish=False)
    with pytest.raises(KeyboardInterrupt):
        m.fit(interrupted_after(8700))
    run = m.runs_[0]
    assert run.polish_evals > 200
    assert m.fun_ == f(m.x_) <= without.fun_
    assert m.message_.endswith("and was cut short.")
    fun = m.fun_
    m.resume(f)
    assert m.fun_ <= fun
    assert m.n_evals_ <= EVALS
    assert m.runs_[0].polish_complete


def test_callbacks_see_it_and_end_it(tmp_path: Path) -> None:
    seen: list[tuple[bool, int]] = []

    def look(progress: Any) -> bool:
        assert f(progress.x) == progress.fun
        seen.append((progress.polishing, progress.n_evals))
        return bool(progress.polishing)

    m = fit(callbacks=[Checkpoint(tmp_path / "fit.skde", every=0.0), look])
    assert [polishing for polishing, _ in seen] == [False] * (len(seen) - 1) + [True]
    assert seen[-1][1] == m.n_evals_
    assert not m.runs_[0].polish_complete
    loaded = Minimizer.load(tmp_path / "fit.skde").resume(f)
    assert loaded.fun_ <= m.fun_
    assert loaded.runs_[0].polish_complete


def test_the_time_limit_leaves_a_tenth() -> None:
    m = fit(max_evals=10**9, max_time=0.3)
    assert m.runs_[0].status == Status.TIME
    assert m.runs_[0].polish_evals > 0
    assert m.time_ < 5


def test_a_larger_budget_and_a_warm_start() -> None:
    m = fit()
    evals, fun = m.n_evals_, m.fun_
    m.set_params(max_evals=2 * EVALS).resume()
    assert evals < m.n_evals_ <= 2 * EVALS
    assert m.fun_ <= fun
    m = fit(warm_start=True)
    evals, polished = m.n_evals_, m.runs_[0].polish_evals
    m.fit(f)
    assert m.runs_[0].polish_evals > polished
    assert evals < m.n_evals_ <= 2 * EVALS


def test_verbose_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    m = fit(verbose=1)
    said = capsys.readouterr()
    assert "then Nelder-Mead for at most 2100: 3500 evaluations for each of 3 variables" in said.out
    assert f" to {m.fun_:.10g} with {m.runs_[0].polish_evals} evaluations" in said.out
    assert "10.5k" in said.err.replace("/", " ")  # the bar has the evaluations of all


def test_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["minimize", "rosenbrock", "--dim", "3", "--max-evals", "10500", "--seed", "0", "--json"]
    for options, message in (([], "A local search of"), (["--polish", "none"], "reached.")):
        assert main([*command, *options]) == 0
        found = json.loads(capsys.readouterr().out)
        assert message in found["message"]
        assert (found["polish_evals"] > 0) == (not options)


def test_it_finds_the_ends_of_narrow_valleys() -> None:
    """`arrde` gets slow in the valley of NIST's MGH10."""
    regression = load_regression("MGH10")

    def sums(X: Any) -> Any:
        with np.errstate(over="ignore"):
            return ((regression.model(regression.X, X.T[:, :, None]) - regression.y) ** 2).sum(axis=1)

    given: dict[str, Any] = {"bounds": regression.bounds(), "max_evals": 30_000}
    assert regression.digits(fit(sums, **given).x_) > 6
    assert regression.digits(fit(sums, polish=False, **given).x_) < 1


@pytest.mark.gpu
def test_a_gpu_has_the_same_bits() -> None:
    host, device = (solver(bounds=None, n_runs=3, device=one).fit("rosenbrock", dim=3) for one in ("cpu", "cuda"))
    assert_same(host, device)
