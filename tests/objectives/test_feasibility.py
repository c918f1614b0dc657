"""Minimisation by feasibility rules."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint

import skde
from skde import Minimizer, get_problem
from skde.objectives.feasibility import FeasibilityRules

from ..problems.disc import BOX, DISC, NOWHERE, bowl, make, problem, radius, total


@pytest.mark.parametrize("algorithm", [name for name in skde.algorithm_names() if name != "gode"])
def test_every_algorithm_finds_the_edge(algorithm: str) -> None:
    m = Minimizer(algorithm, constraints=DISC, max_evals=6000, random_state=1).fit(total, bounds=BOX)
    assert m.fun_ == pytest.approx(-2, abs=1e-3)
    assert m.fun_ == total(m.x_[None])[0]
    assert m.max_violation_ <= 1e-6
    assert m.max_violation_ == max(radius(m.x_) - 2, 0)
    assert m.runs_[0].max_violation == m.max_violation_


def test_ways_to_say_the_same() -> None:
    """A problem, a parameter, one point at a time, a name with constraints: the same trials, the same result."""
    expected = make().fit(total, bounds=BOX)
    others = [
        make(constraints=None).fit(problem()),
        make(constraints=NonlinearConstraint(lambda x: radius(x), -np.inf, 2.0), vectorized=False).fit(
            lambda x: x[0] + x[1], bounds=BOX
        ),
        make(bounds=Bounds([-3, -3], [3, 3]), constraints=[DISC]).fit(total),
    ]
    for other in others:
        np.testing.assert_array_equal(other.population_, expected.population_)
        np.testing.assert_array_equal(other.fitness_, expected.fitness_)
    by_name = make(constraints=NonlinearConstraint(radius, 1.0, np.inf)).fit("sphere", dim=2, bounds=BOX)
    assert by_name.fun_ == pytest.approx(1, abs=1e-3)
    assert by_name.fun_ >= 1 - 1e-6


def test_equalities_only() -> None:
    m = make(constraints=LinearConstraint([[1, 1]], 1, 1), max_iter=300).fit(bowl, bounds=BOX)
    assert m.fun_ == pytest.approx(0.5, abs=1e-5)
    assert 0 < m.max_violation_ <= 1e-6


@pytest.mark.parametrize("name", ["fabris2012/p2", "fabris2012/p4", "fabris2012/p6"])
def test_compiled_problems_run_whole(name: str) -> None:
    """The same bits in the engine, generation by generation, and in Python."""
    compiled = get_problem(name)
    whole = Minimizer("jde", max_iter=300, random_state=3, n_runs=2).fit(name)
    steps = Minimizer("jde", max_iter=300, random_state=3, n_runs=2, execution="step").fit(compiled)
    plain = Minimizer("jde", max_iter=300, random_state=3, n_runs=2).fit(
        FeasibilityRules(compiled, 1e-6), bounds=compiled.bounds
    )
    for run, other, code in zip(whole.runs_, steps.runs_, plain.runs_, strict=True):
        np.testing.assert_array_equal(run.x, other.x)
        np.testing.assert_array_equal(run.x, code.x)
        assert (run.fun, run.max_violation) == (other.fun, other.max_violation)
    assert whole.max_violation_ <= 1e-6
    assert whole.fun_ == compiled.f(whole.x_[None])[0]
    assert abs(whole.fun_ - compiled.f_opt) < 0.02 * max(1, abs(compiled.f_opt))


def test_history_and_fitness_are_in_terms_of_f() -> None:
    narrow = NonlinearConstraint(radius, -np.inf, 0.01)
    m = Minimizer("de", constraints=narrow, max_iter=100, random_state=0).fit(total, bounds=BOX)
    best = m.history_.best
    assert best[0] == np.inf
    first = int(np.flatnonzero(np.isfinite(best))[0])
    assert np.isinf(best[:first]).all()
    assert (np.diff(best[first:]) <= 0).all()
    assert best[-1] == m.fun_
    feasible = radius(m.population_) <= 0.01 + 1e-6
    np.testing.assert_array_equal(m.fitness_, np.where(feasible, total(m.population_), np.inf))
    start = Minimizer("de", constraints=narrow, max_iter=0, random_state=0).fit(total, bounds=BOX)
    assert np.isinf(start.fitness_).all()
    assert np.isnan(start.fun_)


def test_nothing_is_feasible() -> None:
    m = make(constraints=NOWHERE, n_runs=2, target=1e300, tol=1e3, max_iter=200).fit(total, bounds=BOX)
    assert m.max_violation_ == pytest.approx(82)
    assert np.isnan(m.fun_)
    assert not m.converged_
    assert m.message_.startswith("No feasible point was found, the least violation is 82.")
    assert not m.result_.success
    assert (m.result_.maxcv, m.result_.constr_violation) == (m.max_violation_, m.max_violation_)
    assert np.isinf(m.fitness_).all()
    assert m.max_violation_ == min(run.max_violation for run in m.runs_)


def test_runs_with_nan_only() -> None:
    c = NonlinearConstraint(lambda x: np.where(x[..., 0] > 2.9, 0.0, np.nan), -1, 1)
    m = Minimizer(skde.DE(pop_size=10), constraints=c, n_runs=20, max_iter=0, random_state=0).fit(total, bounds=BOX)
    blind = [run for run in m.runs_ if not run.feasible]
    assert 0 < len(blind) < 20
    assert {run.max_violation for run in blind} == {np.inf}
    assert m.max_violation_ == 0
    assert m.x_[0] > 2.9


def test_the_best_run_is_a_feasible_one() -> None:
    ring = NonlinearConstraint(radius, -np.inf, 1e-3)
    m = Minimizer("de", constraints=ring, max_iter=2, n_runs=40, random_state=0).fit(total, bounds=BOX)
    feasible = [run.fun for run in m.runs_ if run.feasible]
    assert 0 < len(feasible) < 40
    assert m.fun_ == min(feasible)
    assert all(np.isnan(run.fun) for run in m.runs_ if not run.feasible)


def test_no_constraints_no_violation() -> None:
    m = Minimizer("jde", max_iter=3, random_state=0).fit("sphere", dim=2)
    assert m.max_violation_ == 0.0
    assert m.result_.maxcv == 0.0
    assert m.runs_[0].feasible


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_no_numbers(bad: float) -> None:
    with pytest.warns(RuntimeWarning, match="the constraints were finite at none of 6100 points"):
        blind = make(constraints=NonlinearConstraint(lambda x: x[..., 0] * 0 + bad, 0, 1)).fit(total, bounds=BOX)
    assert not blind.converged_
    assert blind.message_.startswith("No feasible point was found, the least violation is inf.")
    half = make().fit(lambda X: np.where(X[:, 0] < -0.5, bad, total(X)), bounds=BOX)
    assert half.x_[0] == pytest.approx(-0.5, abs=1e-3)


def test_stopping() -> None:
    m = make(target=-1.9, max_iter=1000).fit(total, bounds=BOX)
    assert m.runs_[0].status == skde.Status.TARGET
    assert m.converged_
    assert m.fun_ <= -1.9
    assert make(target=1e300, max_iter=1000).fit(total, bounds=BOX).max_violation_ == 0.0
    converged = make(tol=1e-6, max_iter=5000).fit(total, bounds=BOX)
    assert converged.runs_[0].status == skde.Status.CONVERGED
    assert converged.fun_ == pytest.approx(-2, abs=1e-4)
    stagnated = make(constraints=NOWHERE, stagnation=30, max_iter=5000).fit(total, bounds=BOX)
    assert stagnated.runs_[0].status == skde.Status.STAGNATED
    assert stagnated.max_violation_ == pytest.approx(82)


def test_float32_is_refused() -> None:
    with pytest.raises(ValueError, match="dtype must be 'float64' where there are constraints, got 'float32'"):
        make(dtype="float32").fit(total, bounds=BOX)
    with pytest.raises(ValueError, match="dtype must be 'float64' where there are constraints, got 'float32'"):
        Minimizer("jde", dtype="float32").fit("fabris2012/p2")


@pytest.mark.parametrize("tolerance", [-1.0, np.nan])
def test_tolerances_that_are_none(tolerance: float) -> None:
    with pytest.raises(ValueError, match=r"feasibility_tol must be a number in \[0, inf\]"):
        make(feasibility_tol=tolerance).fit(total, bounds=BOX)


def test_the_tolerance_counts() -> None:
    loose = make(feasibility_tol=0.5, max_iter=200).fit(total, bounds=BOX)
    assert loose.max_violation_ == pytest.approx(0.5, abs=1e-4)
    assert loose.fun_ == pytest.approx(-np.sqrt(5), abs=1e-4)
    exact = make(feasibility_tol=0.0, max_iter=200).fit(total, bounds=BOX)
    assert exact.max_violation_ == 0.0


def test_constraints_given_twice() -> None:
    with pytest.raises(ValueError, match="has constraints, so the parameter constraints must be None"):
        make().fit(problem())


def test_min_max_problems_are_refused() -> None:
    with pytest.raises(
        TypeError, match=r"MinMaxProblem.* is a function of x and y; a Minimizer takes functions of x alone"
    ):
        Minimizer().fit("minmax/rustem1")


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["fabris2012/p2", "fabris2012/p5", "fabris2012/p6"])
def test_gpu_runs_whole_with_the_same_bits(name: str) -> None:
    found = [
        Minimizer("jde", max_iter=300, random_state=3, n_runs=3, device=device).fit(name) for device in ("cpu", "cuda")
    ]
    for ours, theirs in zip(*(m.runs_ for m in found), strict=True):
        np.testing.assert_array_equal(ours.x, theirs.x)
        assert (ours.fun, ours.max_violation) == (theirs.fun, theirs.max_violation)


@pytest.mark.gpu
@pytest.mark.parametrize("execution", ["step", "auto"])
def test_gpu_python_functions(execution: str) -> None:
    constraints = [DISC, LinearConstraint([[1, -1]], 0.5, 1)]
    expected = make(constraints=constraints).fit(total, bounds=BOX)
    m = make(constraints=constraints, device="cuda", execution=execution).fit(total, bounds=BOX)
    np.testing.assert_array_equal(m.population_, expected.population_)
    assert (m.fun_, m.max_violation_) == (expected.fun_, expected.max_violation_)


@pytest.mark.gpu
def test_gpu_ask_and_tell() -> None:
    m, other = make(bounds=BOX, device="cuda"), make(bounds=BOX)
    while not other.stopped_:
        for one in (m, other):
            asked = one.ask()
            one.tell(asked, total(asked))
    np.testing.assert_array_equal(m.population_, other.population_)
    assert m.max_violation_ == other.max_violation_
