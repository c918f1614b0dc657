"""Errors of MinMaxSolver for bad input: each names the parameter and the given value."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import Bounds, NonlinearConstraint
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skde import DE, AugmentedLagrangian, ConstrainedProblem, Minimizer, MinMaxSolver, Status
from skde.engines import Game

BOX = [(-2.0, 2.0)] * 2
RING = NonlinearConstraint(lambda x: x[..., 0] ** 2 + x[..., 1] ** 2, 1, 1)


def f(X: Any, Y: Any) -> Any:
    return ((X[:, None] - 0.5) ** 2 - (Y[None] + 0.5) ** 2).sum(axis=2)


def make(**parameters: Any) -> MinMaxSolver:
    return MinMaxSolver(**{"max_iter": 4, "gens_x": 3, "gens_y": 3, "random_state": 0, "device": "cpu", **parameters})


def problem(*constraints: Any, objective: Any = None) -> ConstrainedProblem:
    return ConstrainedProblem(objective or (lambda X: X[:, 0] + X[:, 1]), BOX, list(constraints))


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("algorithm_x", "jed", "algorithm_x: .* got 'jed'; did you mean 'jde'"),
        ("algorithm_x", DE, "algorithm_x: algorithm must be one of"),
        ("algorithm_y", 3, "algorithm_y: .* got 3"),
        ("algorithm_x", "ss", "algorithm_x must be any algorithm but 'ss', got SS"),
        ("algorithm_y", "ss", "algorithm_y must be any algorithm but 'ss', got SS"),
        ("algorithm_x", DE(F=9), "DE.F must be a number in"),
        ("max_iter", -1, r"max_iter must be an integer in \[0, .* got -1"),
        ("gens_x", 0, r"gens_x must be an integer in \[1, .* got 0"),
        ("gens_y", 1.0, r"gens_y must be an integer in .* got 1.0 \(float\)"),
        ("archive_size", -1, "archive_size must be an integer"),
        ("renewal", 1, r"renewal must be a number in \[0, 1\), got 1"),
        ("renewal", np.nan, "renewal must be a number"),
        ("multipliers", "evolv", "multipliers must be one of .* did you mean 'evolve'"),
        ("penalty", 0, r"penalty must be a number in \(0, 1e\+300\], got 0"),
        ("multiplier_bound", np.inf, r"multiplier_bound must be a number in \(0, 1e\+300\], got inf"),
        ("feasibility_tol", -1, "feasibility_tol must be"),
        ("max_evals", 2499, "max_evals must be at least 2500, the evaluations of the initial populations, got 2499"),
        ("max_time", 0, "max_time must be"),
        ("target", np.nan, "target must be"),
        ("tol", -1, "tol must be"),
        ("stagnation", 0, "stagnation must be"),
        ("n_runs", 0, "n_runs must be"),
        ("device", ["cpu", "cuda"], "device, where it is a list, must name 'cpu' once or more, or GPUs"),
        ("device", ["cpu", "cpu"], "device has 2 entries, more than n_runs=1"),
        ("dtype", "float16", "dtype must be one of 'float32', 'float64'"),
        ("pairwise", "False", r"pairwise must be 'auto', True or False, got 'False'"),
        ("verbose", "False", r"verbose must be an integer"),
        ("dtype", 3, r"dtype must be one of"),
        ("stagnation", 10.5, r"stagnation must be an integer"),
        ("n_jobs", 0, "n_jobs must be None or an integer other than 0"),
        ("callbacks", [1], "callbacks must be callables, got 1"),
        ("random_state", "a", "random_state must be"),
    ],
)
def test_parameters(parameter: str, value: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        make(**{parameter: value}).fit(f, BOX, BOX)


def test_names_of_parameters() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'n_cycle'"):
        MinMaxSolver(n_cycle=3)
    with pytest.raises(ValueError, match="Invalid parameter 'n_cycle'"):
        make().set_params(n_cycle=3)
    solver = make(algorithm_x=DE()).set_params(algorithm_x__F=0.3)
    assert clone(solver).get_params()["algorithm_x__F"] == 0.3
    assert not hasattr(clone(solver.fit(f, BOX, BOX)), "x_")


@pytest.mark.parametrize(
    ("bounds_x", "bounds_y", "message"),
    [
        (BOX, None, "a function needs bounds_y"),
        (None, BOX, "a function needs bounds_x"),
        (BOX, [], r"bounds_y: bounds must have shape \(dim, 2\)"),
        (BOX, [(1, 0)], r"bounds_y: bounds\[0\] must have low < high"),
        ([(0, np.inf)], BOX, r"bounds_x: bounds\[0\] must be finite"),
        ("ab", BOX, "bounds_x: bounds must be pairs"),
    ],
)
def test_boxes(bounds_x: Any, bounds_y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make().fit(f, bounds_x, bounds_y)


def test_boxes_of_the_wrong_length() -> None:
    """The kernels would read outside the arrays."""
    for name, options, message in (
        ("minmax/rustem1", {"bounds_x": [(0, 1)] * 3}, "bounds_x has 3 pairs, but the problem has 2 variables"),
        ("minmax/rustem1", {"bounds_y": [(0, 1)]}, "bounds_y has 1 pairs, but the problem has 2 variables"),
        ("fabris2012/p6", {"bounds_x": [(0.05, 1)] * 2}, "bounds_x has 2 pairs, but the problem has 3 variables"),
        ("fabris2012/p6", {"bounds_y": BOX}, "bounds_y: a constrained problem's multipliers have none"),
    ):
        with pytest.raises(ValueError, match=message):
            make().fit(name, **options)


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (lambda X, Y: f(X, Y).T, ValueError, r"must return shape \(5, 6\).*got \(6, 5\); it is transposed"),
        (lambda X, Y: f(X, Y)[:, 0], ValueError, r"must return shape \(5, 6\).*got \(5,\)"),
        (lambda X, Y: None, TypeError, "must hold real numbers, got dtype object"),
        (lambda X, Y: f(X, Y).astype(object), TypeError, "got dtype object"),
        (lambda X, Y: f(X, Y) + 0j, TypeError, "got dtype complex128; return .real or an absolute value"),
        (lambda X, Y: [[1], [1, 2]], TypeError, "must be an array of numbers"),
        (3, TypeError, "the objective must be a name, a MinMaxProblem, a ConstrainedProblem or a function"),
        ("minmax/nope", ValueError, "there is no problem named 'minmax/nope'"),
        ("rastrigin", TypeError, "is a function of x alone: use Minimizer"),
    ],
)
def test_functions(function: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make().fit(function, BOX, BOX)


@pytest.mark.parametrize(
    "function",
    [lambda X, Y: np.where(Y[:, 0] > 0, np.nan, f(X, Y)), lambda X, Y: np.full((len(X), len(Y)), np.inf)],
    ids=["NaN", "infinite"],
)
def test_a_worst_case_without_a_value_ends_no_fit(function: Any) -> None:
    with pytest.warns(RuntimeWarning, match="no value of the objective was finite"):
        solver = make().fit(function, BOX, BOX)
    assert not solver.converged_
    assert solver.n_iter_ == make().fit(f, BOX, BOX).n_iter_
    assert "finite" in solver.message_


def test_a_function_of_pairs_that_is_said_to_take_arrays() -> None:
    with pytest.raises(ValueError, match="a function of a single pair needs pairwise=True"):
        make(pairwise=False).fit(lambda X, Y: 1.0, BOX, BOX)


def test_functions_of_pairs() -> None:
    for value in (np.zeros(2), 1j, None, "a"):
        with pytest.raises(TypeError, match="with pairwise=True the function must return one real number, got"):
            make(pairwise=True).fit(lambda x, y, value=value: value, BOX, BOX)


def test_allowed_values() -> None:
    whole = make().fit(f, BOX, BOX)
    lists = make().fit(lambda X, Y: f(X, Y).tolist(), Bounds([-2, -2], [2, 2]), np.array(BOX))
    assert np.array_equal(lists.x_, whole.x_)
    assert make(max_iter=0).fit(f, BOX, BOX).n_evals_ == 2500
    assert abs(make(archive_size=0, renewal=0.999).fit(f, BOX, BOX).fun_) < 0.1
    huge = make().fit(lambda X, Y: 1e300 * f(X, Y), BOX, BOX)
    assert np.allclose(huge.x_, whole.x_)
    assert np.isfinite(huge.saddle_gap_)


def test_constraints() -> None:
    for constraint, message in (
        (NonlinearConstraint(lambda x: x[:3, :1], 0, 1), r"constraints\[0\]'s function must return shape"),
        (NonlinearConstraint(lambda x: x, [0, 0, 0], 1), "must return 3 components"),
        (NonlinearConstraint(lambda x: x[..., 0], -np.inf, np.inf), "has no constraints but its box: use Minimizer"),
        (Bounds([-1, -1], [1, 1]), "has no constraints but its box: use Minimizer"),
    ):
        with pytest.raises(ValueError, match=message):
            make().fit(problem(constraint))
    with pytest.raises(ValueError, match="multipliers='evolve' needs a penalty"):
        make(multipliers="evolve").fit("fabris2012/p6")
    with pytest.raises(ValueError, match="dtype must be 'float64' for a constrained problem"):
        make(dtype="float32").fit("fabris2012/p6")


def test_constraints_that_are_nan_in_places() -> None:
    partly = NonlinearConstraint(lambda x: np.where(x[..., 0] < 0, np.nan, x[..., 0] + x[..., 1]), 0, 1)
    solver = make(max_iter=30).fit(problem(partly))
    assert solver.runs_[0].feasible
    assert solver.x_[0] >= 0
    assert abs(solver.fun_) < 1e-5


@pytest.mark.parametrize("options", [{}, {"multipliers": "evolve", "penalty": 1e3}])
@pytest.mark.parametrize("upper", [np.inf, 100])
def test_infeasible_problems(upper: float, options: dict[str, Any]) -> None:
    far = NonlinearConstraint(lambda x: x[..., 0] ** 2 + x[..., 1] ** 2, 100, upper)
    solver = make(max_iter=30, **options).fit(problem(far))
    assert not solver.runs_[0].feasible
    assert not solver.converged_
    assert not solver.result_.success
    assert solver.message_.startswith("No feasible point was found, the least violation is 92")
    assert solver.max_violation_ == pytest.approx(92, rel=1e-5)


def test_missing_attributes() -> None:
    for read in ("x_", "fun_", "worst_case_", "saddle_gap_", "multipliers_", "result_", "population_x_"):
        with pytest.raises(NotFittedError, match="this MinMaxSolver has evaluated nothing yet"):
            getattr(make(), read)
    with pytest.raises(NotFittedError):
        make().resume()
    with pytest.raises(AttributeError, match="of constrained problems only"):
        _ = make().fit(f, BOX, BOX).multipliers_
    with pytest.raises(AttributeError, match="of min-max problems only; a constrained one has max_violation_"):
        _ = make().fit("fabris2012/p6").saddle_gap_


def test_files(tmp_path: Path) -> None:
    ours, others = tmp_path / "ours.skde", tmp_path / "others.skde"
    make().fit(f, BOX, BOX).save(ours)
    Minimizer("jde", max_iter=3, device="cpu").fit("sphere", dim=3).save(others)
    with pytest.raises(ValueError, match="holds a MinMaxSolver: load it with"):
        Minimizer.load(ours)
    with pytest.raises(ValueError, match="holds a Minimizer: load it with"):
        MinMaxSolver.load(others)
    loaded = MinMaxSolver.load(ours)
    with pytest.raises(ValueError, match=r"resume needs the function again \(it was f\)"):
        loaded.resume()
    with pytest.raises(AttributeError, match="saddle_gap_ needs the function"):
        _ = loaded.saddle_gap_
    assert loaded.set_params(max_iter=6).resume(f).n_iter_ == 6
    assert np.isfinite(loaded.saddle_gap_)
    fitted = make().fit(f, BOX, BOX)
    assert np.array_equal(pickle.loads(pickle.dumps(fitted)).x_, fitted.x_)


def test_a_constrained_fit_of_functions_is_not_stored(tmp_path: Path) -> None:
    fitted = make().fit(problem(RING))
    with pytest.raises(ValueError, match="constraints of Python functions cannot be in a file or a pickle"):
        fitted.save(tmp_path / "fit.skde")
    with pytest.raises(ValueError, match="constraints of Python functions cannot be in a file or a pickle"):
        pickle.dumps(fitted)
    assert not list(tmp_path.iterdir())


def test_resuming_another_objective() -> None:
    """The kernels would read outside the populations."""
    game, constrained = make().fit(f, BOX, BOX), make().fit("fabris2012/p6")
    for solver, other, message in (
        (game, "minmax/rustem4", "bounds_y has 2 pairs, but the problem has 3 variables"),
        (game, problem(RING), "the fit is of a function of x and y, got ConstrainedProblem"),
        (constrained, f, "the fit is of a constrained problem, got <function"),
        (constrained, "fabris2012/p5", "dim of 'fabris2012/p5' must be"),
        (constrained, problem(RING), "bounds_x has 3 pairs, but the problem has 2 variables"),
        (
            make().fit(problem(RING)),
            problem(NonlinearConstraint(RING.fun, 1, 2)),
            "the fit has 0 inequalities and 1 equalities, .* has 2 and 0",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            solver.set_params(max_iter=9).resume(other)


def test_ask_and_tell() -> None:
    for parameters, missing in (({}, "bounds_x"), ({"bounds_x": BOX}, "bounds_y")):
        with pytest.raises(ValueError, match=f"ask needs {missing}"):
            make(**parameters).ask()
    solver = make(bounds_x=BOX, bounds_y=BOX)
    with pytest.raises(RuntimeError, match="tell needs an ask before it"):
        solver.tell(BOX, BOX, 1.0)
    X, Y = solver.ask()
    solver.tell(X, Y, f(X, Y))
    X, Y = solver.ask()
    F = f(X, Y)
    for told, error, message in (
        ((X, Y, F.T), ValueError, r"F must have shape \(50, 51\).*transposed"),
        ((X, Y, F[:, 0]), ValueError, r"F must have shape \(50, 51\), a row for every x, got \(50,\)"),
        ((Y, X, F), ValueError, r"X must be what ask returned, of shape \(50, 2\), or some of its rows, got \(51, 2\)"),
        ((X + 1, Y, F), ValueError, "X must be what ask returned"),
        ((X, Y, F + 0j), TypeError, "F must hold real numbers, got dtype complex128"),
    ):
        with pytest.raises(error, match=message):
            solver.tell(*told)
    while not solver.stopped_:
        X, Y = solver.ask()
        solver.tell(X, Y, f(X, Y))
    assert np.array_equal(solver.x_, make().fit(f, BOX, BOX).x_)
    with pytest.raises(RuntimeError, match="every run has ended"):
        solver.ask()
    with pytest.raises(ValueError, match="it was given to ask and tell"):
        solver.resume()


def test_errors_during_a_fit() -> None:
    whole = make().fit(f, BOX, BOX)
    calls = []

    def breaks(X: Any, Y: Any) -> Any:
        calls.append(len(X))
        if len(calls) == 9:
            raise OSError("the instrument is gone")
        return f(X, Y)

    solver = make()
    with pytest.raises(OSError, match="the instrument is gone"):
        solver.fit(breaks, BOX, BOX)
    assert solver.runs_[0].status == Status.RUNNING
    assert np.array_equal(solver.resume(f).x_, whole.x_)

    def fails(progress: Any) -> None:
        raise ZeroDivisionError("the plot is broken")

    solver = make(callbacks=fails)
    with pytest.raises(ZeroDivisionError):
        solver.fit(f, BOX, BOX)
    assert np.array_equal(solver.set_params(callbacks=None).resume(f).x_, whole.x_)


def test_verbose(capsys: pytest.CaptureFixture[str]) -> None:
    make(verbose=1, device="auto").fit(f, BOX, BOX)
    shown = capsys.readouterr()
    assert "device='auto' chose cpu: a Python function may only know NumPy" in shown.out
    assert "100%" in shown.err


def test_lagrangians() -> None:
    with pytest.raises(TypeError, match="problem must be a ConstrainedProblem, got"):
        AugmentedLagrangian(f)
    wrong = (([1, 2], "one for each of 1 constraints"), (0, "penalty must be"), (np.inf, "penalty"))
    for penalty, message in (*wrong, (["a"], "penalty must be positive numbers"), ([1j], "penalty must be positive")):
        with pytest.raises(ValueError, match=message):
            AugmentedLagrangian(problem(RING), penalty=penalty)
    L = AugmentedLagrangian(problem(RING))
    assert L([[0.0, 1.0]], [[0.0]]).tolist() == [[1.0]]
    with pytest.raises(ValueError, match=r"takes X of shape \(n, 2\), got \(1, 3\)"):
        L(np.zeros((1, 3)), np.zeros((1, 1)))
    with pytest.raises(ValueError, match=r"takes multipliers Y of shape \(n, 1\)"):
        L(np.zeros((1, 2)), np.zeros((1, 2)))


@pytest.mark.parametrize(("inequalities", "most"), [(0, 5), (2, 4)])
def test_a_game_that_reads_too_much(inequalities: int, most: int) -> None:
    arrays = (np.zeros(3),) * (most + 1)
    Game("bilinear", arrays[:most], inequalities)
    with pytest.raises(ValueError, match=f"the game 'bilinear' reads {most + 1} arrays, at most {most} have room"):
        Game("bilinear", arrays, inequalities)
