"""differential_evolution: SciPy's own tests of its public function, and those of the differences."""

from __future__ import annotations

import ast
import inspect
import re
import warnings
from multiprocessing.dummy import Pool
from pathlib import Path
from types import ModuleType
from typing import Any

import joblib
import numpy as np
import pytest
import scipy
import scipy.optimize
from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint, rosen

from skde import DifferentialEvolutionSolver, differential_evolution
from skde.scipy.inputs import STRATEGIES

THEIRS = Path(scipy.__file__).parent / "optimize/tests/test__differential_evolution.py"
BOX = [(0.0, 2.0)] * 2
CLASS = "TestDifferentialEvolutionSolver"


def public_tests() -> list[str]:
    """Return SciPy's tests that call the public function."""
    if not THEIRS.exists():
        return []
    (body,) = [node.body for node in ast.parse(THEIRS.read_text()).body if getattr(node, "name", "") == CLASS]
    functions = [node for node in body if isinstance(node, ast.FunctionDef) and node.name.startswith("test")]
    called = {
        function.name
        for function in functions
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and node.id == "differential_evolution"
    }
    return sorted(called)


@pytest.fixture(scope="module")
def theirs() -> ModuleType:
    """Return SciPy's tests with nothing changed but the import of differential_evolution, and without SciPy's marks."""
    tree = ast.parse(THEIRS.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.decorator_list = []
    module = ModuleType("scipy_tests")
    exec(compile(tree, str(THEIRS), "exec"), vars(module))
    module.differential_evolution = differential_evolution  # type: ignore[attr-defined]
    return module


@pytest.mark.skipif(not THEIRS.exists(), reason="this installation of SciPy has no tests")
@pytest.mark.parametrize("name", public_tests())
def test_of_scipy(theirs: ModuleType, name: str) -> None:
    tests = getattr(theirs, CLASS)()
    tests.setup_method()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default")  # SciPy's pytest.ini does not make them errors
            getattr(tests, name)()
    finally:
        tests.teardown_method()


def test_the_signature_is_that_of_scipy() -> None:
    own, theirs = (
        inspect.signature(f).parameters for f in (differential_evolution, scipy.optimize.differential_evolution)
    )
    # SciPy before 1.15 has seed alone, instead of rng.
    assert list(own) == (list(theirs) if "rng" in theirs else [*map({"seed": "rng"}.get, theirs, theirs), "seed"])
    for name, parameter in theirs.items():
        if name != "seed":
            assert (own[name].default, own[name].kind) == (parameter.default, parameter.kind), name


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_strategies(strategy: str) -> None:
    result = differential_evolution(rosen, BOX, strategy=strategy, rng=0, maxiter=60, polish=False)
    assert result.fun < 0.05
    assert result.fun == rosen(result.x) == result.population_energies[0] == result.population_energies.min()
    np.testing.assert_array_equal(result.x, result.population[0])
    assert result.nfev == 30 * (result.nit + 1)


def test_the_seed_by_either_name() -> None:
    one, two, other = (
        differential_evolution(rosen, BOX, maxiter=3, polish=False, **given)  # type: ignore[arg-type]
        for given in ({"rng": 1}, {"seed": 1}, {"rng": 2})
    )
    np.testing.assert_array_equal(one.population, two.population)
    assert not np.array_equal(one.population, other.population)
    with pytest.raises(TypeError, match="both rng and seed"):
        differential_evolution(rosen, BOX, rng=1, seed=1)


def test_workers_and_vectorized_change_nothing() -> None:
    options: dict[str, Any] = {"maxiter": 5, "rng": 0, "polish": False, "updating": "deferred"}
    plain = differential_evolution(rosen, BOX, **options)
    with Pool(2) as pool:
        for result in (
            differential_evolution(rosen, BOX, workers=pool.map, **options),
            differential_evolution(rosen, BOX, vectorized=True, **options),
        ):
            np.testing.assert_array_equal(result.population, plain.population)
    assert result.nfev == 6
    with joblib.parallel_config("threading"):
        parallel = differential_evolution(rosen, BOX, workers=2, **options)
    np.testing.assert_array_equal(parallel.population, plain.population)


def test_the_solver_is_an_iterator() -> None:
    with DifferentialEvolutionSolver(rosen, BOX, rng=0, polish=False) as solver:
        assert np.isinf(solver.population_energies).all()
        values = [fun for _, (_, fun) in zip(range(40), solver, strict=False)]
    assert values == sorted(values, reverse=True)
    assert values[-1] == rosen(solver.x)
    assert (solver.nfev, len(solver.population)) == (41 * 30, 30)
    assert solver.convergence > 0
    same = differential_evolution(rosen, BOX, rng=0, polish=False, maxiter=40, tol=0)
    np.testing.assert_array_equal(solver.population, same.population)
    np.testing.assert_array_equal(solver.x, same.x)
    assert not DifferentialEvolutionSolver(rosen, BOX).converged()


def test_a_strategy_of_the_user_sees_the_best_first() -> None:
    def strategy(candidate: int, population: Any, rng: Any = None) -> Any:
        point = solver._box.points(population)
        assert rosen(point[0]) == min(map(rosen, point))
        assert isinstance(rng, np.random.Generator)
        return population[0] + rng.normal(size=2) * 1e-3 * (candidate % 2) + 10.0 * (candidate == 3)

    solver = DifferentialEvolutionSolver(rosen, BOX, strategy=strategy, rng=0, polish=False, maxiter=20)
    result = solver.solve()
    assert (result.population >= 0).all()
    assert (result.population <= 2).all()
    assert result.fun < 1


def test_whole_numbers_have_the_same_range() -> None:
    solver = DifferentialEvolutionSolver(rosen, BOX, integrality=[True, False], popsize=150, rng=0)
    assert np.unique(solver.population[:, 0], return_counts=True)[1].tolist() == [100, 100, 100]


def test_integers_and_fixed_variables() -> None:
    def f(x: Any) -> float:
        return float((x[0] - 3.3) ** 2 + (x[1] - 0.4) ** 2 + x[2])

    seen: list[Any] = []
    result = differential_evolution(
        lambda x: seen.append(x) or f(x), [(0.2, 7.9), (-1, 1), (5, 5)], integrality=[True, False, False], rng=0
    )
    assert result.x[0] == 3
    np.testing.assert_allclose(result.x, [3, 0.4, 5], atol=1e-6)
    assert result.success
    assert {x[0] for x in seen} <= set(range(1, 8))
    assert {x[2] for x in seen} == {5.0}
    assert len(result.population) == 30
    whole = differential_evolution(f, [(1, 5)] * 3, integrality=True, rng=0)
    np.testing.assert_array_equal(whole.x, [3, 1, 1])


@pytest.mark.parametrize("init", ["latinhypercube", "sobol", "halton", "random", np.linspace(-1, 3, 20).reshape(10, 2)])
def test_initial_populations(init: Any) -> None:
    solver = DifferentialEvolutionSolver(rosen, BOX, init=init, x0=[0.25, 2.0], rng=0)
    assert len(solver.population) == {"sobol": 32}.get(init, 30) if isinstance(init, str) else 10
    np.testing.assert_array_equal(solver.population[0], [0.25, 2.0])
    assert (solver.population >= 0).all()
    assert (solver.population <= 2).all()


def test_infeasible_points_are_not_evaluated() -> None:
    ring = NonlinearConstraint(lambda x: x[0] ** 2 + x[1] ** 2, 0.5, 1.0)

    def f(x: Any) -> float:
        assert 0.5 <= x[0] ** 2 + x[1] ** 2 <= 1.0
        return float(-x[0] - x[1])

    result = differential_evolution(f, BOX, constraints=[ring, Bounds([0, 0], [0.8, 2])], rng=0, polish=False, tol=1e-8)
    assert result.success
    assert result.maxcv == 0
    assert [len(one) for one in result.constr] == [1, 2]
    np.testing.assert_allclose(result.x, np.sqrt(0.5), atol=1e-3)
    wrong = NonlinearConstraint(lambda x: np.ones((x.shape[1], 3)), 0, 1)
    with pytest.raises(RuntimeError, match="array returned from a Constraint function has the wrong shape"):
        differential_evolution(rosen, BOX, constraints=wrong, vectorized=True, updating="deferred")


@pytest.mark.filterwarnings("ignore:delta_grad == 0.0")  # of SciPy
@pytest.mark.parametrize(
    "constraint",
    [LinearConstraint([[1, 1]], -np.inf, 1.9), NonlinearConstraint(lambda x: x[0] + x[1], -np.inf, 1.9)],
    ids=["linear", "nonlinear"],
)
def test_the_polish_at_an_active_constraint_is_as_short_and_as_good_as_scipys(constraint: Any) -> None:
    own, theirs = (
        method(rosen, BOX, constraints=constraint, rng=1)
        for method in (differential_evolution, scipy.optimize.differential_evolution)
    )
    assert own.nfev < 2 * theirs.nfev
    assert own.fun <= theirs.fun + 1e-7
    assert own.maxcv == 0


def test_one_argument_may_be_alone() -> None:
    """This differs from SciPy; docs/scipy.md says it."""
    alone, listed = (differential_evolution(lambda x, a: rosen(x) + a, BOX, args=args, rng=0) for args in (3, (3,)))
    assert alone.fun == listed.fun == pytest.approx(3)


def test_a_constraint_that_is_nan_is_violated() -> None:
    seen = []

    def f(x: Any) -> Any:
        seen.append(x[0])
        return (x[0] - 0.5) ** 2 + x[1] ** 2

    unknown = NonlinearConstraint(lambda x: np.nan if x[0] > 0 else -1.0, -np.inf, 0.0)
    result = differential_evolution(f, [(-1, 1)] * 2, constraints=unknown, rng=0, maxiter=50, polish=False)
    assert max(seen) <= 0
    assert result.maxcv == 0
    everywhere = NonlinearConstraint(lambda x: np.nan, -np.inf, 0.0)
    result = differential_evolution(f, [(-1, 1)] * 2, constraints=everywhere, rng=0, maxiter=2, polish=False)
    assert result.maxcv == np.inf
    assert not result.success
    below = NonlinearConstraint(lambda x: -np.inf, -np.inf, 0.0)
    result = differential_evolution(f, [(-1, 1)] * 2, constraints=below, rng=0, maxiter=2, polish=False)
    assert result.maxcv == 0


@pytest.mark.parametrize("value", [1j, "a"])
def test_values_that_are_no_real_numbers_are_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="the values of func must hold real numbers, got dtype"):
        differential_evolution(lambda x: value, BOX)


def test_a_function_that_forgets_to_return_is_refused() -> None:
    with pytest.raises(TypeError, match="NoneType"):
        differential_evolution(lambda x: None if x[0] > 1 else 1.0, BOX)


def test_disp_prints_every_generation(capsys: pytest.CaptureFixture[str]) -> None:
    differential_evolution(rosen, BOX, rng=0, maxiter=2, disp=True)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("differential_evolution step 1: f(x)= ")
    assert lines[-1] == "Polishing solution with 'L-BFGS-B'"


def test_the_end() -> None:
    none = differential_evolution(rosen, BOX, maxiter=0, polish=False, rng=0)
    assert (none.nit, none.nfev, none.success) == (0, 30, False)
    assert none.message == "Maximum number of iterations has been exceeded."
    seen: list[float] = []
    done = differential_evolution(rosen, BOX, tol=0.1, rng=0, callback=lambda x, convergence: seen.append(convergence))
    assert done.success
    assert done.message == "Optimization terminated successfully."
    assert seen[-1] >= 1 > seen[0]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"bounds": [(2, 0)]}, ValueError, r"bounds\[0\] must have min <= max"),
        ({"bounds": Bounds([0, 2], [2, 0])}, ValueError, r"bounds\[1\] must have min <= max, got \(2.0, 0.0\)"),
        ({"mutation": (0.5, 3)}, ValueError, "mutation constant"),
        ({"recombination": 2}, ValueError, "recombination"),
        ({"strategy": "best1bim"}, ValueError, "did you mean 'best1bin'"),
        ({"strategy": ["best1bin"]}, ValueError, "select a valid mutation strategy"),
        ({"mutation": "a"}, ValueError, "mutation constant must be .* got 'a'"),
        ({"callback": 3}, TypeError, "callback must be a function or None, got 3"),
        ({"init": "sobel"}, ValueError, "did you mean 'sobol'"),
        ({"init": np.where(np.eye(6, 2) > 0, np.nan, 1.0)}, ValueError, "init must be numbers, got NaN in row 0"),
        ({"init": np.zeros((4, 2))}, ValueError, "S >= 5"),
        ({"updating": "later"}, ValueError, "updating must be one of"),
        ({"workers": 0, "updating": "deferred"}, ValueError, "workers must be"),
        ({"constraints": {"type": "ineq", "fun": rosen}}, TypeError, "constraints must be"),
        ({"integrality": True, "bounds": [(0.2, 0.8)]}, ValueError, "possible integer values"),
        (
            {"integrality": [True] * 3},
            ValueError,
            "integrality must have one value, or one for each of the 2 variables",
        ),
        ({"workers": lambda f, points: None, "updating": "deferred"}, RuntimeError, "map-like callable"),
        ({"polish": lambda f, x, **options: 3, "maxiter": 1}, ValueError, "OptimizeResult"),
    ],
)
def test_errors_say_what_is_allowed(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        differential_evolution(rosen, **{"bounds": BOX, **options})


def test_the_pages_code_runs(capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).resolve().parents[1] / "docs" / "scipy.md").read_text()
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(compile(block, "scipy.md", "exec"), {})
    assert capsys.readouterr().out.startswith("True Optimization terminated successfully.")
