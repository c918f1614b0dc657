"""Conversion of SciPy's constraints, and minimisation by feasibility rules."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint
from scipy.sparse import csr_array
from sklearn.base import clone

import skde
from skde import ConstrainedProblem, Minimizer, Progress, get_problem
from skde.objectives.feasibility import FeasibilityRules

Vector = NDArray[np.float64]
BOX = [(-3.0, 3.0)] * 2
X = np.array([[0.0, 0.5], [1.0, 1.0], [-2.0, 0.25]])


def total(X: Vector) -> Vector:
    f: Vector = X[:, 0] + X[:, 1]
    return f


def bowl(X: Vector) -> Vector:
    f: Vector = (X**2).sum(axis=1)
    return f


def radius(x: Vector) -> Vector:
    r: Vector = x[0] ** 2 + x[1] ** 2
    return r


DISC = NonlinearConstraint(radius, -np.inf, 2.0)  # the least sum is -2, at (-1, -1)
NOWHERE = NonlinearConstraint(radius, 100.0, np.inf)  # the box's corners have 18


def problem(constraints: Any = DISC, **options: Any) -> ConstrainedProblem:
    return ConstrainedProblem(total, BOX, constraints, **options)


def make(**options: Any) -> Minimizer:
    return Minimizer("jde", **{"max_iter": 60, "random_state": 0, "constraints": DISC, **options})


# ---- SciPy's objects -------------------------------------------------------------------------------------------------


def test_one_sided_bounds_of_a_constraint() -> None:
    """Two bounds, one, none, and an equality; h comes after all g."""
    lower, upper = [1.0, -np.inf, -np.inf, 0.5, 2.0], [4.0, 3.0, np.inf, np.inf, 2.0]
    c = NonlinearConstraint(lambda x: np.stack([x[0], x[1], x[0], x[0] * x[1], x[0] - x[1]]), lower, upper)
    found = problem(c)
    assert (found.n_inequalities, found.n_equalities) == (4, 1)
    a, b = X.T
    expected = np.stack([a + b, 1 - a, a - 4, b - 3, 0.5 - a * b, a - b - 2], axis=1)
    np.testing.assert_allclose(found.values(X), expected, rtol=1e-15)


def test_linear_constraints() -> None:
    A = np.array([[1.0, 2.0], [0.0, 3.0]])
    for matrix in (A, A.tolist(), csr_array(A)):
        found = problem(LinearConstraint(matrix, -1, [2, -1]))
        assert (found.n_inequalities, found.n_equalities) == (2, 1)
        c = X @ A.T
        expected = np.stack([-1 - c[:, 0], c[:, 0] - 2, c[:, 1] + 1], axis=1)
        np.testing.assert_allclose(found.constraint_values(X), expected, rtol=1e-15)


def test_bounds_narrow_the_box() -> None:
    found = problem([Bounds([-1, -np.inf], [np.inf, 2]), Bounds(-2, 1.5)])
    assert found.bounds.tolist() == [[-1, 1.5], [-2, 1.5]]
    assert (found.n_inequalities, found.n_equalities) == (0, 0)
    m = Minimizer("jde", max_iter=200, random_state=0).fit(found)
    assert m.x_ == pytest.approx([-1, -2], abs=1e-6)
    assert m.max_violation_ == 0


def test_several_constraints_keep_their_order() -> None:
    equal = LinearConstraint([[1, -1]], 0, 0)
    found = problem([equal, DISC, {"type": "ineq", "fun": lambda x, a: x[0] - a, "args": (0.25,)}])
    np.testing.assert_allclose(found.values(X)[1], [2, 0, -0.75, 0], rtol=1e-15)
    assert (found.n_inequalities, found.n_equalities) == (2, 1)


def test_functions_of_one_point() -> None:
    one = ConstrainedProblem(
        lambda x: x[0] + x[1],
        BOX,
        [NonlinearConstraint(lambda x: x @ x, -np.inf, 2.0), NonlinearConstraint(lambda x: [x[0], 1.0], 0, 1)],
        vectorized=False,
    )
    many = problem([DISC, NonlinearConstraint(lambda x: np.stack([x[0], 1 + 0 * x[1]]), 0, 1)])
    np.testing.assert_array_equal(one.values(X), many.values(X))
    np.testing.assert_array_equal(one.with_jobs(2).values(X), many.values(X))


def test_violation() -> None:
    found = problem([DISC, LinearConstraint([[1, 0]], 0.5, 0.5)])
    np.testing.assert_allclose(found.violation(X, 0.0), [0.5, 0.5, 2.0625 + 2.5], rtol=1e-15)
    np.testing.assert_allclose(found.violation(X, 0.25), [0.25, 0.25, 2.0625 + 2.25], rtol=1e-15)
    with pytest.raises(ValueError, match=r"tol must be a number in \[0, inf\], got -1"):
        found.violation(X, -1)


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        ([], r"constraints must be one or more of LinearConstraint.*got \[\]"),
        (
            LinearConstraint([[1, 1, 1]], 0, 1),
            r"constraints\[0\].A must be finite and of shape \(m, 2\), got shape \(1, 3\)",
        ),
        (LinearConstraint([[1, np.nan]], 0, 1), r"constraints\[0\].A must be finite"),
        (
            [DISC, NonlinearConstraint(radius, 2, 1)],
            r"constraints\[1\] must have lb <= ub, got lb\[0\] = 2 and ub\[0\] = 1",
        ),
        (NonlinearConstraint(radius, np.inf, np.inf), r"must have lb <= ub, got lb\[0\] = inf"),
        (
            NonlinearConstraint(radius, np.nan, 1),
            r"constraints\[0\].lb must be a number or a vector of numbers, got nan",
        ),
        (NonlinearConstraint(radius, "a", 1), r"constraints\[0\].lb must be numbers, got 'a'"),
        (NonlinearConstraint(radius, [0, 1], [1, 2, 3]), "lb and ub must have the same length, got 2 and 3"),
        (Bounds(4, 5), r"constraints\[0\] leaves nothing of bounds\[0\]: from 4 to 3"),
        (Bounds([0, 0, 0], 5), r"constraints\[0\] must have one bound for each of 2 variables, got 3"),
    ],
)
def test_constraints_that_say_nothing_sensible(constraints: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        problem(constraints)
    with pytest.raises(ValueError, match=message):
        make(constraints=constraints).fit(total, bounds=BOX)


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        (radius, r"constraints must be LinearConstraint, NonlinearConstraint or Bounds of scipy.optimize, or a list"),
        ([DISC, 3], r"constraints\[1\] must be LinearConstraint, .* got 3 \(int\)"),
        ({"type": "less", "fun": radius}, r"constraints\[0\] must be LinearConstraint"),
        ({"type": "eq", "fun": radius, "args": 3}, r"constraints\[0\]\['args'\] must be a tuple, .* got 3"),
        (NonlinearConstraint("radius", 0, 1), r"constraints\[0\].fun must be callable, got 'radius'"),
    ],
)
def test_constraints_of_another_kind(constraints: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        problem(constraints)


@pytest.mark.parametrize(
    ("function", "bound", "message"),
    [
        (
            lambda x: x[0][:-1],
            1,
            r"constraints\[0\]'s function must return shape \(m, \d+\) or \(\d+,\) for x of shape",
        ),
        (lambda x: 1.0, 1, "a function of a single point needs vectorized=False"),
        (lambda x: x, [1, 2, 3], r"must return 3 components, as many as before or as its bounds, got 2"),
        (lambda x: x[:0], 1, r"must return at least 1 components"),
    ],
)
def test_constraints_that_return_another_shape(function: Any, bound: Any, message: str) -> None:
    constraint = NonlinearConstraint(function, -np.inf, bound)
    found = problem(constraint)
    with pytest.raises(ValueError, match=message):
        found.n_inequalities, found.values(np.ones((5, 2)))
    with pytest.raises(ValueError, match=message):
        make(constraints=constraint).fit(total, bounds=BOX)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_constraint_has_as_many_components_for_every_point(n_jobs: int) -> None:
    varying = NonlinearConstraint(lambda x: x[: 1 + (x[0] > 0)], -1, 1)
    wrong = ConstrainedProblem(lambda x: x @ x, [(-1, 1)] * 2, varying, vectorized=False).with_jobs(n_jobs)
    with pytest.raises(ValueError, match=r"as many numbers for every point, got shapes \(1,\) and \(2,\)|\(1, 1\)"):
        wrong.constraint_values(np.array([[-0.5, 0.0], [0.5, 0.0]]))


def test_a_constraint_keeps_its_number_of_components() -> None:
    found = problem(NonlinearConstraint(lambda x: x if x.shape[1] == 1 else x[0], 0, 1))
    assert found.n_inequalities == 4
    with pytest.raises(ValueError, match="must return 2 components, as many as before or as its bounds, got 1"):
        found.values(X)


def test_constraints_that_return_no_numbers() -> None:
    for function in (lambda x: x[0] + 1j, lambda x: None):
        with pytest.raises(TypeError, match=r"constraints\[0\]'s return value must"):
            make(constraints=NonlinearConstraint(function, 0, 1)).fit(total, bounds=BOX)
    with pytest.raises(ValueError, match=r"must return \(m,\) or a number for one point, got shape \(1, 2\)"):
        problem(NonlinearConstraint(lambda x: x[None], 0, 1), vectorized=False).constraint_values(X)


def test_a_function_that_is_none() -> None:
    not_a_function: Any = 3
    with pytest.raises(TypeError, match=r"f must be a function of arrays of shape \(n, dim\), got 3"):
        ConstrainedProblem(not_a_function, BOX, DISC)


# ---- minimising ------------------------------------------------------------------------------------------------------


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
    feasible = radius(m.population_.T) <= 0.01 + 1e-6
    np.testing.assert_array_equal(m.fitness_, np.where(feasible, total(m.population_), np.inf))
    start = Minimizer("de", constraints=narrow, max_iter=0, random_state=0).fit(total, bounds=BOX)
    assert np.isinf(start.fitness_).all()
    assert start.fun_ == total(start.x_[None])[0]


def test_nothing_is_feasible() -> None:
    m = make(constraints=NOWHERE, n_runs=2, target=1e300, tol=1e3, max_iter=200).fit(total, bounds=BOX)
    assert m.max_violation_ == pytest.approx(82)
    assert m.fun_ == total(m.x_[None])[0]
    assert not m.converged_
    assert m.message_.startswith("No feasible point was found, the least violation is 82.")
    assert not m.result_.success
    assert (m.result_.maxcv, m.result_.constr_violation) == (m.max_violation_, m.max_violation_)
    assert np.isinf(m.fitness_).all()
    assert m.max_violation_ == min(run.max_violation for run in m.runs_)


def test_runs_with_nan_only() -> None:
    c = NonlinearConstraint(lambda x: np.where(x[0] > 2.9, 0.0, np.nan), -1, 1)
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
    assert min(run.fun for run in m.runs_) < m.fun_


def test_no_constraints_no_violation() -> None:
    m = Minimizer("jde", max_iter=3, random_state=0).fit("sphere", dim=2)
    assert m.max_violation_ == 0.0
    assert m.result_.maxcv == 0.0
    assert m.runs_[0].feasible


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_no_numbers(bad: float) -> None:
    with pytest.raises(
        ValueError, match="or a constraint is NaN or infinite for every point of the initial population"
    ):
        make(constraints=NonlinearConstraint(lambda x: x[0] * 0 + bad, 0, 1)).fit(total, bounds=BOX)
    with pytest.raises(
        ValueError, match="or a constraint is NaN or infinite for every point of the initial population"
    ):
        make().fit(lambda X: X[:, 0] * 0 + bad, bounds=BOX)
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


# ---- ask and tell, files, machines -----------------------------------------------------------------------------------


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
    assert m.max_violation_ == pytest.approx(100 - radius(asked.T).max())
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
    assert (other.fun_, other.max_violation_, other.message_) == (m.fun_, m.max_violation_, m.message_)


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


# ---- SciPy's side ----------------------------------------------------------------------------------------------------


def test_minimize() -> None:
    r = skde.minimize(total, BOX, constraints=DISC, max_iter=100, random_state=0)
    assert not r.success  # the budget was spent
    assert r.fun == pytest.approx(-2, abs=1e-4)
    assert r.maxcv <= 1e-6
    assert skde.minimize(problem(), max_iter=100, random_state=0).fun == r.fun


@pytest.mark.parametrize(
    "constraints",
    [
        NonlinearConstraint(lambda x: x @ x, -np.inf, 2.0),
        [{"type": "ineq", "fun": lambda x: 2.0 - x @ x}],
        [LinearConstraint([[1, 1]], -2, np.inf), {"type": "eq", "fun": lambda x: x[0] - x[1]}],
    ],
)
def test_as_scipys_method(constraints: Any) -> None:
    method = skde.scipy_method(max_iter=300, random_state=0)
    r = scipy.optimize.minimize(np.sum, [0.0, 0.0], method=method, bounds=BOX, constraints=constraints)
    assert r.fun == pytest.approx(-2, abs=1e-4)
    assert r.x == pytest.approx([-1, -1], abs=0.02)
    assert r.maxcv <= 1e-6


def test_like_scipys_own() -> None:
    """The same constraints, in the convention of differential_evolution with vectorized=True."""
    disc = NonlinearConstraint(lambda x: radius(x)[None], -np.inf, 2.0)
    constraints = [disc, LinearConstraint([[1, -1]], 0.5, 1)]
    theirs = scipy.optimize.differential_evolution(
        lambda x: x[0] + x[1],
        BOX,
        constraints=constraints,
        vectorized=True,
        updating="deferred",
        rng=0,
        polish=False,
        maxiter=100,
        tol=0,
    )
    ours = make(constraints=constraints, max_iter=300).fit(total, bounds=BOX)
    assert ours.fun_ == pytest.approx(theirs.fun, abs=1e-4)


# ---- GPU -------------------------------------------------------------------------------------------------------------


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
@pytest.mark.parametrize("execution", ["step", "graph"])
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
