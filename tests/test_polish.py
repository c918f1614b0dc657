"""The polish at the end of a fit: by every method, under every kind of objective, within the budget."""

from __future__ import annotations

import pickle
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import Bounds, NonlinearConstraint

from skde import (
    Categorical,
    Checkpoint,
    DeviceObjective,
    Integer,
    Log,
    Minimizer,
    Ordinal,
    Progress,
    Status,
    get_problem,
    minimize,
)
from skde.benchmark.nist import Regression, load_regression
from skde.fit.phases.scipy_search import NAMES, LocalSearch, methods_of
from skde.fit.polish_budget import LEAST_SIMPLEXES, MOST_GRADIENTS, MOST_SIMPLEXES, reserve_evals
from skde.stopping import Limits

BOX = [(-5.0, 10.0)] * 4
PROBLEM = get_problem("rosenbrock", dim=4)


def valley(X: Any) -> Any:
    """Rosenbrock's function."""
    return (100 * (X[..., 1:] - X[..., :-1] ** 2) ** 2 + (1 - X[..., :-1]) ** 2).sum(-1)


def fit(objective: Any = valley, **parameters: Any) -> Minimizer:
    given: dict[str, Any] = {"max_evals": 2000, "random_state": 0, "device": "cpu", "polish": True, **parameters}
    bounds = given.pop("bounds", BOX)
    return Minimizer("jde", **given).fit(objective, bounds=bounds)


@pytest.mark.parametrize("polish", [True, *NAMES])
@pytest.mark.parametrize(
    "objective",
    [
        valley,
        PROBLEM,
        DeviceObjective(
            "return team.sum(d - 1, [&](int j) { const real a = x[j + 1] - x[j] * x[j], b = 1 - x[j];"
            " return 100 * a * a + b * b; });"
        ),
    ],
    ids=["function", "problem", "C++"],
)
def test_the_best_point_gets_better(objective: Any, polish: Any) -> None:
    before = fit(objective, polish=False, max_evals=1800)
    m = fit(objective, polish=polish)
    assert m.fun_ < before.fun_
    assert m.fun_ == pytest.approx(valley(m.x_), rel=1e-12)
    assert m.n_evals_ == before.n_evals_ + m.runs_[0].polish_evals <= 2000
    assert m.result_.polish_evals == m.runs_[0].polish_evals > 0
    assert m.message_ == f"{before.message_} A local search of {m.runs_[0].polish_evals} evaluations followed."
    assert np.array_equal(m.population_, before.population_)
    assert m.history_.n_evals[-1] == m.n_evals_
    assert m.history_.best[-1] == m.fun_


def test_a_function_of_one_point_has_the_same_bits() -> None:
    assert np.array_equal(fit(vectorized=False).x_, fit().x_)


def test_every_run_is_polished_as_alone() -> None:
    runs = fit(n_runs=3).runs_
    for run in runs:
        alone = fit(random_state=run.seed)
        assert np.array_equal(alone.x_, run.x)
        assert alone.n_evals_ == run.n_evals


def test_single_precision() -> None:
    m = fit(PROBLEM, dtype="float32")
    assert m.x_.dtype == np.float32
    assert m.fun_ < fit(PROBLEM, dtype="float32", polish=False).fun_


@pytest.mark.parametrize("parameters", [{"n_islands": 3, "max_evals": 6000}, {"device": ["cpu", "cpu"], "n_runs": 2}])
@pytest.mark.parametrize("objective", [valley, PROBLEM], ids=["function", "problem"])
def test_islands_and_devices(parameters: dict[str, Any], objective: Any) -> None:
    m = fit(objective, **parameters)
    assert all(0 < run.polish_evals <= parameters.get("max_evals", 2000) // 10 for run in m.runs_)
    assert all(run.n_evals <= parameters.get("max_evals", 2000) for run in m.runs_)
    assert m.fun_ < fit(objective, **{**parameters, "polish": False}).fun_


def test_joblib() -> None:
    same = fit()
    m = fit(execution="joblib", n_jobs=1)
    assert np.array_equal(m.x_, same.x_)
    assert m.n_evals_ == same.n_evals_


@pytest.mark.parametrize("dim", [2, 7])
@pytest.mark.parametrize("max_evals", [105, 700, 100_000])
@pytest.mark.parametrize(
    ("polish", "most"), [(True, MOST_SIMPLEXES), ("L-BFGS-B", MOST_GRADIENTS), ("Nelder-Mead", MOST_SIMPLEXES)]
)
def test_the_budget_is_kept(dim: int, max_evals: int, polish: Any, most: int) -> None:
    calls = [0]

    def counted(X: Any) -> Any:
        calls[0] += len(X)
        return valley(X)

    m = fit(counted, bounds=[(-5, 10)] * dim, max_evals=max_evals, n_runs=2, polish=polish)
    probed = 2 * 6
    assert calls[0] - sum(run.n_evals for run in m.runs_) <= probed
    assert all(run.n_evals <= max_evals for run in m.runs_)
    share = max_evals // 5 if dim == 2 and most == MOST_SIMPLEXES else max_evals // 10
    if share < LEAST_SIMPLEXES * (dim + 1):
        share, most = max_evals // 10, MOST_GRADIENTS
    assert all(run.polish_evals <= min(share, most * (dim + 1)) for run in m.runs_)


def test_nelder_mead_gets_evaluations_of_a_large_budget_only() -> None:
    assert reserve_evals(True, 4, Limits(max_evals=14_000)) == MOST_GRADIENTS * 5
    assert reserve_evals(True, 4, Limits(max_evals=15_000)) == 1500
    assert reserve_evals(True, 4, Limits()) == 4000
    assert reserve_evals(True, 4, Limits(max_time=1.0)) == MOST_SIMPLEXES * 5
    assert reserve_evals("L-BFGS-B", 4, Limits(max_evals=15_000)) == MOST_GRADIENTS * 5
    assert reserve_evals(True, 4, Limits(max_evals=10**6)) == MOST_SIMPLEXES * 5
    assert reserve_evals(True, 3, Limits(max_evals=15_000)) == 3000
    assert reserve_evals(True, 3, Limits(max_evals=5_000)) == MOST_GRADIENTS * 4


def test_the_time_is_kept() -> None:
    def slow(X: Any) -> Any:
        time.sleep(0.002)
        return valley(X)

    begin = time.perf_counter()
    m = fit(slow, max_evals=None, max_time=0.5, bounds=[(-5, 10)] * 30)
    assert time.perf_counter() - begin < 1.5
    assert m.runs_[0].polish_evals > 0
    assert "time limit" in m.message_


# -- constraints and typed variables -----------------------------------------------------------------------------------


@pytest.mark.parametrize("polish", [True, "trust-constr", "COBYQA"])
@pytest.mark.parametrize("name", ["fabris2012/p3", "fabris2012/p4"])
def test_constraints(name: str, polish: Any) -> None:
    problem = get_problem(name)
    given: dict[str, Any] = {"max_evals": 20_000, "random_state": 0, "device": "cpu"}
    before = Minimizer("jde", **{**given, "max_evals": 18_900}).fit(problem)
    m = Minimizer("jde", polish=polish, **given).fit(problem)
    assert m.fun_ < before.fun_
    assert m.max_violation_ <= 1e-6
    assert m.n_evals_ <= 20_000


@pytest.mark.parametrize("vectorized", [True, False])
def test_constraints_in_python(vectorized: bool) -> None:
    ring = NonlinearConstraint(lambda x: x[..., 0] ** 2 + x[..., 1] ** 2, 1, 1)
    parameters: dict[str, Any] = {"bounds": BOX[:2], "constraints": [ring], "vectorized": vectorized}
    m = fit(lambda X: X[..., 0] + X[..., 1], **parameters)
    assert abs(m.fun_ + np.sqrt(2)) < 1e-5
    assert m.max_violation_ <= 1e-6
    without = fit(lambda X: X[..., 0] + X[..., 1], **{**parameters, "polish": False})
    assert m.fun_ <= without.fun_ or not without.runs_[0].feasible


@pytest.mark.parametrize("polish", ["trust-constr", "COBYQA"])
def test_a_polish_at_an_active_constraint_ends(polish: Any) -> None:
    """trust-constr once made thousands of iterations that changed nothing, until the budget was spent."""
    start = np.array([0.966354571, 0.933644854])
    search = LocalSearch(
        lambda X: np.stack([valley(X), X.sum(axis=1) - 1.9], axis=1),
        start,
        float(valley(start)),
        np.zeros(2),
        np.full(2, 2.0),
        n_inequalities=1,
        max_evals=15_000,
    )
    found = search.run(polish)
    assert found.nfev < 600
    assert found.fun == pytest.approx(0.00113519, abs=2e-8)


def test_a_feasible_point_stays_feasible() -> None:
    """The local search itself leaves the feasible points, where f is smaller."""
    wall = NonlinearConstraint(lambda x: np.floor(x[..., 0] * 8), 8, 80)
    m = fit(lambda X: X[:, 0] ** 2, bounds=BOX[:1], constraints=wall, feasibility_tol=0.0)
    assert m.max_violation_ == 0
    assert m.x_[0] >= 1


def test_typed_variables() -> None:
    def g(X: Any) -> Any:
        return (X[:, 0] - 3.3) ** 2 + (np.log10(X[:, 1]) + 2.5) ** 2 + X[:, 2] + (X[:, 3] - 0.4) ** 2 + X[:, 4] ** 2

    bounds = {
        "n": Integer(1, 9),
        "rate": Log(1e-5, 1.0),
        "kind": Categorical(["a", "b", "c"]),
        "size": Ordinal([0.25, 0.5, 1.0]),
        "x": (-1.0, 2.0),
    }
    before = fit(g, bounds=bounds, max_evals=1800, polish=False)
    m = fit(g, bounds=bounds)
    steps = {"n", "kind", "size"}
    assert {name: m.params_[name] for name in steps} == {name: before.params_[name] for name in steps}
    assert m.fun_ == g(m.x_[None])[0] < before.fun_
    assert abs(np.log10(m.params_["rate"]) + 2.5) < 1e-5


# -- the end -----------------------------------------------------------------------------------------------------------


def test_noise_and_nan_never_make_it_worse() -> None:
    rng = np.random.default_rng(0)

    def rough(X: Any) -> Any:
        return np.where(X[:, 0] < 0.3, np.nan, (X**2).sum(axis=1) + rng.normal(0, 0.01, len(X)))

    m = fit(rough)
    assert m.fun_ <= m.fitness_.min()
    assert m.x_[0] >= 0.3


def test_a_run_that_reached_its_target_is_left() -> None:
    m = fit(get_problem("sphere", dim=4), target=10.0)
    assert m.runs_[0].polish_evals == 0
    assert m.runs_[0].status == Status.TARGET


@pytest.mark.parametrize("polish", [True, *NAMES])
def test_bounds_alone_are_no_constraints(polish: Any) -> None:
    m = fit(polish=polish, constraints=Bounds(-np.inf, 2.0))
    before = fit(polish=False, constraints=Bounds(-np.inf, 2.0), max_evals=1800)
    assert m.fun_ < before.fun_
    assert m.runs_[0].polish_evals > 0
    assert (m.x_ <= 2.0).all()
    if polish is True:
        assert m.fun_ == fit(bounds=[(-5.0, 2.0)] * 4).fun_


def test_a_polish_ends_at_the_target() -> None:
    m = fit(PROBLEM, target=1.0)
    assert m.runs_[0].status == Status.TARGET
    assert m.fun_ <= 1.0
    assert 0 < m.runs_[0].polish_evals < 200


def test_callbacks_see_the_polish_and_end_it() -> None:
    seen: list[tuple[bool, float, int]] = []

    def look(progress: Progress) -> bool:
        seen.append((progress.polishing, progress.fun, progress.n_evals))
        return progress.polishing

    m = fit(callbacks=look)
    assert [polishing for polishing, _, _ in seen] == [False] * (len(seen) - 1) + [True]
    assert seen[-1][2] == m.n_evals_ == 1800 + 5
    assert seen[-1][1] == m.fun_


def test_verbose_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    m = fit(verbose=1)
    said = capsys.readouterr().out
    assert "skde: a local search changed the best value from " in said
    assert f" to {m.fun_:.10g} with {m.runs_[0].polish_evals} evaluations" in said


def interrupted_after(calls: int) -> Any:
    """Return a function that Ctrl-C interrupts in that call, counted without those of the probe."""
    counter = [-2]

    def function(X: Any) -> Any:
        counter[0] += 1
        if counter[0] == calls:
            raise KeyboardInterrupt
        return valley(X)

    return function


def test_ctrl_c_keeps_what_was_found_and_resume_goes_on() -> None:
    m = Minimizer("jde", max_evals=2000, random_state=0, device="cpu", polish=True)
    with pytest.raises(KeyboardInterrupt):
        m.fit(interrupted_after(18 + 13), bounds=BOX)
    before = fit(polish=False, max_evals=1800)
    assert m.fun_ < before.fun_
    assert m.n_evals_ == 1800 + 12 * 5
    assert m.message_.endswith("A local search of 60 evaluations followed, and was cut short.")
    first = m.fun_
    m.resume(valley)
    assert m.fun_ < first
    assert m.n_evals_ <= 2000
    assert "cut short" not in m.message_


def test_files_and_pickles(tmp_path: Path) -> None:
    m = fit(n_runs=2)
    m.save(tmp_path / "fit.skde")
    for other in (Minimizer.load(tmp_path / "fit.skde"), pickle.loads(pickle.dumps(m))):
        assert np.array_equal(other.x_, m.x_)
        assert [run.n_evals for run in other.runs_] == [run.n_evals for run in m.runs_]
        assert other.message_ == m.message_
        n_evals = other.n_evals_
        assert other.resume(valley).n_evals_ == n_evals  # nothing is left to do


def test_resume_to_a_larger_budget(tmp_path: Path) -> None:
    m = fit()
    first, n_evals = m.fun_, m.n_evals_
    m.set_params(max_evals=4000).resume()
    assert n_evals < m.n_evals_ <= 4000
    assert m.fun_ <= first
    assert np.array_equal(m.population_, fit(polish=False, max_evals=3600).population_)
    assert m.set_params(polish=False, max_evals=5000).resume().fun_ <= m.fun_


@pytest.mark.parametrize("first", [{"polish": True}, {"polish": "Nelder-Mead"}, {"polish": False}, {"final_evals": 50}])
@pytest.mark.parametrize(
    "second",
    [{"polish": False}, {"polish": True}, {"polish": None, "final_evals": 50}, {"polish": True, "max_evals": 2100}],
)
def test_a_resume_keeps_the_limit_where_polish_changes(first: dict[str, Any], second: dict[str, Any]) -> None:
    m = fit(n_runs=2, **{"polish": None, **first})
    m.set_params(**{"final_evals": 0, **second}).resume()
    assert max(run.n_evals for run in m.runs_) <= m.max_evals
    assert "cut short" not in m.message_
    m.set_params(max_evals=5000, random_state=0).resume()
    assert 4000 < max(run.n_evals for run in m.runs_) <= 5000


def test_the_default_polish_follows_the_limits() -> None:
    m = Minimizer(max_evals=900, random_state=0).fit(valley, bounds=BOX[:3])
    assert m.polish_evals_ == 90
    m.set_params(max_evals=3000).resume()
    assert m.polish_evals_ == 90
    assert 2910 < m.n_evals_ <= 3000
    m.set_params(max_evals=12_000).resume()
    assert m.polish_evals_ == 400
    assert 11_600 < m.n_evals_ <= 12_000


def test_warm_start() -> None:
    m = fit(warm_start=True)
    first, n_evals = m.fun_, m.n_evals_
    m.fit(valley, bounds=BOX)
    assert m.fun_ <= first
    assert n_evals < m.n_evals_ <= 4000
    assert m.runs_[0].polish_evals > 200


def test_a_checkpoint_of_a_polish(tmp_path: Path) -> None:
    path = tmp_path / "fit.skde"
    m = fit(callbacks=Checkpoint(path, every=0))
    loaded = Minimizer.load(path)
    assert "cut short" in loaded.message_
    assert loaded.fun_ >= m.fun_
    assert loaded.resume(valley).fun_ < fit(polish=False).fun_


@pytest.mark.parametrize(
    ("column", "value", "error"),
    [(1, -1.0, "numbers >= 0"), (1, np.nan, "numbers >= 0"), (2, 0.5, "whole numbers"), (4, -2.0, "numbers >= 0")],
)
def test_a_wrong_file_is_refused(tmp_path: Path, column: int, value: float, error: str) -> None:
    from skde.utils import serialization

    path = tmp_path / "fit.skde"
    fit().save(path)
    header, arrays = serialization.load(path)
    arrays["polish"][0, column] = value
    serialization.save(path, header, arrays)
    with pytest.raises(ValueError, match=error):
        Minimizer.load(path)
    arrays["polish"][0] = [1.0, 10, 10, 0.1, 5]
    arrays["polished"][0, 0] = 11.0
    serialization.save(path, header, arrays)
    with pytest.raises(ValueError, match="inside their bounds"):
        Minimizer.load(path)


# -- parameters --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"polish": "BFGS"}, ValueError, "polish must be one of 'L-BFGS-B', .*; got 'BFGS'; did you mean"),
        ({"polish": 1}, TypeError, "polish must be True or False, got 1"),
        ({"polish": "L-BFGS-B", "constraints": NonlinearConstraint(np.sum, 0, 1)}, ValueError, "takes no constraints"),
        ({"bounds": {"n": Integer(1, 5)}}, ValueError, "polish=True needs a real variable, and n all have steps"),
    ],
)
def test_parameters_that_are_refused(given: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        fit(**given)


def test_minimize() -> None:
    result = minimize(valley, BOX, method="jde", max_evals=2000, random_state=0, polish=True)
    assert result.fun == fit().fun_
    assert result.nfev == fit().n_evals_


def test_differences_of_a_narrow_and_a_wide_box() -> None:
    """The differences are short enough for the box and long enough for the numbers."""
    lower, upper = np.array([0.0, -1e6]), np.array([1e-9, 1e6])

    def values(points: Any) -> Any:
        assert ((points >= lower) & (points <= upper)).all()
        return (((points - [4e-10, 3.0]) * [1e9, 1.0]) ** 2).sum(axis=1)[:, None]

    search = LocalSearch(values, np.array([1e-9, 5.0]), 4.4, lower, upper)
    assert search.run("L-BFGS-B").fun < 1e-12


def sums_of_squares(regression: Regression) -> Any:
    """Return the sums of squares of a regression as a column."""
    return lambda X: ((regression.model(regression.X, X.T[:, :, None]) - regression.y) ** 2).sum(axis=1)[:, None]


def test_derivatives_end_in_a_narrow_valley() -> None:
    """With differences as derivatives L-BFGS-B does not move along the valley of NIST's MGH10."""
    regression = load_regression("MGH10")
    sums = sums_of_squares(regression)
    start = np.array([0.003, 6800.0, 365.0])
    search = LocalSearch(sums, start, float(sums(start[None])[0, 0]), *regression.bounds().T, max_evals=4000)
    assert regression.digits(search.run("L-BFGS-B").x) < 1


def test_nelder_mead_has_what_derivatives_leave() -> None:
    regression = load_regression("MGH10")

    def sums(X: Any) -> Any:
        with np.errstate(over="ignore"):
            return sums_of_squares(regression)(X)[:, 0]

    m, without = (fit(sums, bounds=regression.bounds(), max_evals=30_000, polish=p) for p in (True, "L-BFGS-B"))
    assert MOST_GRADIENTS * 4 < m.runs_[0].polish_evals <= 6000
    assert m.fun_ < without.fun_


def test_many_variables_have_derivatives_only() -> None:
    assert methods_of(True, False, 10) == ("L-BFGS-B", "Nelder-Mead")
    assert methods_of(True, False, 11) == ("L-BFGS-B",)
    assert methods_of(True, True, 3) == ("SLSQP",)
    assert methods_of("COBYQA", False, 3) == ("COBYQA",)


@pytest.mark.gpu
@pytest.mark.parametrize("execution", ["step", "graph"])
def test_cupy(execution: str) -> None:
    host = fit()
    m = fit(device="cuda", execution=execution)
    assert m.fun_ < fit(polish=False).fun_
    assert m.n_evals_ <= 2000
    assert type(m.x_) is type(host.x_)
    assert fit(PROBLEM, device="cuda").fun_ == fit(PROBLEM).fun_
