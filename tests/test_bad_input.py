"""Errors for wrong input: each names the parameter and the value."""

from __future__ import annotations

import inspect
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skde import (
    DE,
    JADE,
    JDE,
    PSO,
    DeviceObjective,
    Migration,
    Minimizer,
    MinMaxSolver,
    Status,
    differential_evolution,
    get_problem,
    minimize,
    scipy_method,
)
from skde.engines import find_gpus
from skde.estimators import EvolutionSearchCV, ModelClassifier, ModelRegressor
from skde.optuna import EvolutionSampler
from skde.tuning import RacingTuner

from .short_fits import BOX, f, fit


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ([(5, -5)] * 3, r"bounds\[0\] must have low < high, got \(5.0, -5.0\)"),
        ([(-1, 1), (2, 1)], r"bounds\[1\] must have low < high"),
        ([(np.nan, 1)], r"bounds\[0\] must be finite, got \(nan"),
        ([(0, np.inf)], r"bounds\[0\] must be finite"),
        ([(-1e308, 1e308)], r"bounds\[0\] is too wide"),
        ([(0, 1), (0, None)], r"bounds\[1\] must be two finite numbers, got \(0, None\): the first points are drawn"),
        (zip([0], [None], strict=True), r"bounds\[0\] must be two finite numbers, got \(0, None\)"),
        ([1, 2, 3], r"bounds must have shape \(dim, 2\).*got shape \(3,\)"),
        ([], r"bounds must have shape \(dim, 2\)"),
        ("abc", r"bounds must be pairs.*'abc'"),
        ([(0, 1), (0,)], r"bounds must be pairs"),
        (None, r"bounds must be given"),
    ],
)
def test_bounds(bounds: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit(fit_options={"bounds": bounds})


def test_bounds_of_the_wrong_length() -> None:
    with pytest.raises(ValueError, match="bounds has 3 pairs, but the objective has dim=4"):
        fit("sphere", fit_options={"dim": 4, "bounds": BOX})
    with pytest.raises(ValueError, match=r"dim=5 was given, but Problem\('nashed2012/f0', dim=4\)"):
        fit(get_problem("sphere", dim=4), fit_options={"dim": 5})


@pytest.mark.parametrize(
    ("x0", "message"),
    [
        ([9, 0, 0], r"x0\[0, 0\] = 9.0 is outside its bounds \[-5.0, 5.0\]"),
        ([0, np.nan, 0], r"x0\[0, 1\] = nan is outside"),
        ([0, 0], r"x0 must have shape \(3,\) or \(n, 3\), got \(2,\)"),
        (np.zeros((101, 3)), r"x0 has 101 rows, more than the population's 100"),
        ("abc", r"x0 must be numbers"),
    ],
)
def test_x0(x0: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit(fit_options={"bounds": BOX, "x0": x0})


@pytest.mark.parametrize(
    ("algorithm", "error", "message"),
    [
        (DE(pop_size=3), ValueError, r"DE.pop_size must be at least 4 for the strategy 'rand/1/bin', got 3"),
        (DE("rand/2/exp", pop_size=5), ValueError, r"at least 6 for the strategy 'rand/2/exp', got 5"),
        (DE(pop_size=3.5), TypeError, r"DE.pop_size must be an integer.*3.5"),
        (DE(F=-1), ValueError, r"DE.F must be a number in \[0, 2\], got -1"),
        (DE(F=np.nan), ValueError, r"DE.F must be.*got nan"),
        (DE(F=(0.9, 0.1)), ValueError, r"DE.F must have low <= high, got \(0.9, 0.1\)"),
        (DE(F=(0.1, 0.2, 0.3)), ValueError, r"DE.F must be a number or a pair"),
        (DE(F="0.5"), TypeError, r"DE.F must be a number.*'0.5'"),
        (DE(CR=1.5), ValueError, r"DE.CR must be a number in \[0, 1\], got 1.5"),
        (DE(p_best=0), ValueError, r"DE.p_best must be a number in \(0, 1\], got 0"),
        (DE("rnd/1/bin"), ValueError, r"DE.strategy must be.*got 'rnd/1/bin'; did you mean 'rand/1/bin'"),
        (DE("rand/1"), ValueError, r"DE.strategy must be MUTATION/CROSSOVER.*got 'rand/1'"),
        (DE(repair="reflct"), ValueError, r"DE.repair.*got 'reflct'; did you mean 'reflect'"),
        (JDE(tau_1=-0.1), ValueError, r"JDE.tau_1 must be.*got -0.1"),
        (JDE(F=(0.1, 3.0)), ValueError, r"JDE.F\[1\] must be.*got 3.0"),
        ("jda", ValueError, r"algorithm must be one of.*got 'jda'; did you mean 'jde'"),
        ([DE(), JDE()], ValueError, r"algorithm has 2 entries, but n_runs=1"),
    ],
)
def test_algorithms(algorithm: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        fit(algorithm=algorithm)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"max_iter": -1}, ValueError, r"max_iter must be an integer >= 0, got -1"),
        ({"max_iter": 1.5}, TypeError, r"max_iter must be an integer"),
        ({"max_evals": 10}, ValueError, r"max_evals must be at least the population size, 100, got 10"),
        ({"max_time": 0}, ValueError, r"max_time must be a number in \(0, inf\], got 0"),
        ({"tol": -1.0}, ValueError, r"tol must be.*got -1.0"),
        ({"tol": np.nan}, ValueError, r"tol must be.*got nan"),
        ({"target": "low"}, TypeError, r"target must be.*'low'"),
        ({"stagnation": 0}, ValueError, r"stagnation must be an integer >= 1, got 0"),
        ({"n_runs": 0}, ValueError, r"n_runs must be.*got 0"),
        ({"n_runs": 2.0}, TypeError, r"n_runs must be an integer.*got 2.0 \(float\)"),
        ({"max_iter": True}, TypeError, r"max_iter must be an integer.*got True \(bool\)"),
        ({"max_evals": 0}, ValueError, r"max_evals must be an integer >= 1, got 0"),
        ({"max_time": np.nan}, ValueError, r"max_time must be.*got nan"),
        ({"max_time": "1s"}, TypeError, r"max_time must be.*'1s'"),
        ({"target": np.nan}, ValueError, r"target must be.*got nan"),
        ({"random_state": 2**64}, ValueError, r"random_state must be.*got 18446744073709551616"),
        ({"callbacks": [print, "no"]}, TypeError, r"callbacks must be callables, got 'no'"),
        ({"random_state": -1}, ValueError, r"random_state must be.*got -1"),
        ({"random_state": True}, TypeError, r"random_state must be.*got True \(bool\)"),
        ({"random_state": 1.5}, TypeError, r"random_state must be.*got 1.5 \(float\)"),
        ({"random_state": "a"}, TypeError, r"random_state must be.*got 'a' \(str\)"),
        ({"n_jobs": "2"}, TypeError, r"n_jobs must be an integer.*'2'"),
        ({"n_jobs": 1.5}, TypeError, r"n_jobs must be an integer.*1.5"),
        ({"n_jobs": True}, TypeError, r"n_jobs must be an integer.*True"),
        ({"n_jobs": 0}, ValueError, r"n_jobs must be None or an integer other than 0, got 0"),
        ({"dtype": "float16"}, ValueError, r"dtype must be one of 'float32', 'float64'; got 'float16'"),
        ({"execution": "ste"}, ValueError, r"execution.*got 'ste'; did you mean 'step'"),
        ({"execution": "run"}, ValueError, r"execution='run' needs a compiled objective"),
        ({"execution": "graph"}, ValueError, r"execution='graph' needs a GPU"),
        ({"callbacks": 3}, TypeError, r"callbacks must be callables, got 3"),
        ({"callbacks": lambda xk, convergence: 0}, TypeError, r"must take one argument.*with \(xk, convergence\)$"),
        ({"callbacks": lambda: 0}, TypeError, r"must take one argument.*with \(\)$"),
        ({"vectorized": "False"}, TypeError, r"vectorized must be 'auto', True or False, got 'False' \(str\)"),
        ({"warm_start": 1}, TypeError, r"warm_start must be True or False, got 1 \(int\)"),
        ({"verbose": "False"}, TypeError, r"verbose must be an integer >= 0, got 'False'"),
        ({"feasibility_tol": -1}, ValueError, r"feasibility_tol must be a number in \[0, inf\], got -1"),
        ({"algorithm": PSO(topology="global", n_neighbors=0)}, ValueError, r"PSO.n_neighbors must be an integer >= 1"),
        ({"algorithm": "DE"}, ValueError, r"algorithm must be one of.*got 'DE'; did you mean 'de'"),
        ({"algorithm": DE(strategy=np.array([1, 2]))}, ValueError, r"DE.strategy must be.*got array\(\[1, 2\]\)"),
        ({"algorithm": DE(F=np.array([0.5]))}, ValueError, r"DE.F must be a number or a pair.*got array\(\[0.5\]\)"),
        ({"algorithm": DE(CR=10**400)}, ValueError, r"DE.CR must be a number in \[0, 1\].*too large for a float"),
        ({"dtype": 3}, ValueError, r"dtype must be one of 'float32', 'float64'; got 3"),
        ({"dtype": None}, ValueError, r"dtype must be one of 'float32', 'float64'; got None"),
        ({"device": np.array(["cpu", "cpu"])}, ValueError, r"device must be 'auto', 'cpu'.*got array"),
        ({"execution": np.array(["run"])}, ValueError, r"execution must be one of.*got array"),
        ({"target": 10**400}, ValueError, r"target must be a number.*too large for a float"),
        ({"n_jobs": 100_000}, ValueError, r"n_jobs must be at most \d+, got 100000"),
        (
            {"device": "gpu"},
            ValueError,
            r"device must be 'auto', 'cpu', 'cuda', 'cuda:N' or a list of devices, got 'gpu'; did you mean 'cuda'\?",
        ),
        ({"device": f"cuda:{find_gpus()[0]}"}, RuntimeError, r"device='cuda:\d+' was asked for, but"),
        ({"algorithm": [DE(), JDE()], "n_runs": 2}, ValueError, r"algorithm: all entries must be of one class"),
    ],
)
def test_parameters(parameters: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        fit(**parameters)


@pytest.mark.parametrize(
    ("called", "parameters", "hint"),
    [
        (Minimizer, {"max_eval": 9}, "Minimizer .*'max_eval'; did you mean 'max_evals'"),
        (Minimizer, {"popsize": 9}, r"a parameter of the algorithm: Minimizer\(DE\(pop_size=...\)\)"),
        (MinMaxSolver, {"CR": 0.9}, r"a parameter of the algorithm: MinMaxSolver\(DE\(CR=...\)\)"),
        (RacingTuner, {"max_experiment": 9}, "RacingTuner .*; did you mean 'max_experiments'"),
        (EvolutionSearchCV, {"n_iters": 9}, "EvolutionSearchCV .*; did you mean 'n_iter'"),
        (ModelRegressor, {"los": "huber"}, "ModelRegressor .*; did you mean 'loss'"),
        (ModelClassifier, {"strategy": 0.9}, r"ModelClassifier got an unexpected keyword argument 'strategy'$"),
        (EvolutionSampler, {"algoritm": "de"}, "EvolutionSampler .*; did you mean 'algorithm'"),
        (differential_evolution, {"max_iter": 9}, "differential_evolution .*; did you mean 'maxiter'"),
    ],
)
def test_unknown_parameters_have_a_hint(called: Any, parameters: dict[str, Any], hint: str) -> None:
    with pytest.raises(TypeError, match=hint):
        called(**parameters)


def test_classes_are_no_parameter_objects() -> None:
    with pytest.raises(ValueError, match=r"a class is no parameter object, DE\(\) is one"):
        Minimizer(DE).fit("sphere", dim=2)


def test_parameters_that_are_none() -> None:
    with pytest.raises(ValueError, match="got 'algorithm'; did you mean 'method'"):
        minimize(f, bounds=BOX, algorithm="de")
    with pytest.raises(
        ValueError, match=r"a parameter of minimize must be one of.*got 'max_iters'; did you mean 'max_iter'"
    ):
        minimize(f, bounds=BOX, max_iters=3)
    for m, name in ((Minimizer("jde"), "algorithm__F"), (Minimizer(JDE()).set_params(algorithm="de"), "algorithm__CR")):
        with pytest.raises(ValueError, match=rf"{name} needs a parameter object, such as algorithm=JDE\(\); got '"):
            m.set_params(**{name: 0.5})
    assert Minimizer("jde").set_params(algorithm=DE(), algorithm__F=0.3).algorithm.F == 0.3
    with pytest.raises(ValueError, match="migration__every needs a parameter object; got None"):
        Minimizer().set_params(migration__every=3)
    with pytest.raises(
        ValueError, match=r"algorithm_x__F needs a parameter object, such as algorithm_x=JDE\(\); got 'jde'"
    ):
        MinMaxSolver().set_params(algorithm_x__F=0.5)


@pytest.mark.parametrize(
    ("objective", "error", "message"),
    [
        (lambda X: X, ValueError, r"must have shape \(5,\).*got shape \(5, 3\)"),
        (lambda X: f(X)[:50], ValueError, r"got shape \(50,\)"),
        (lambda X: f(X)[None], ValueError, r"must have shape \(5,\).*got shape \(1, 5\)"),
        (lambda X: [], ValueError, r"got shape \(0,\)"),
        (lambda X: f(X).astype("datetime64[s]"), TypeError, r"real numbers, got dtype datetime64"),
        (lambda X: f(X) + 1j, TypeError, r"real numbers, got dtype complex128; return .real"),
        (lambda X: ["a"] * len(X), TypeError, r"real numbers, got dtype <U1"),
        (lambda X: None, TypeError, r"real numbers, got dtype object"),
        (lambda X: [1, [2]], TypeError, r"must return a tuple, \(f, g\)"),
        (3, TypeError, r"the objective must be a problem's name.*got 3 \(int\)"),
        ("rastrigan", ValueError, r"no problem named 'rastrigan'; did you mean 'rastrigin'"),
    ],
)
def test_objectives(objective: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        fit(objective)


def test_an_objective_of_one_point_that_is_said_to_take_arrays() -> None:
    with pytest.raises(ValueError, match=r"got shape \(\).*vectorized=False"):
        fit(lambda X: 1.0, vectorized=True)


def test_objectives_of_one_point() -> None:
    for value, message in ((np.zeros(3), r"must return one real number"), ("a", r"'a' \(str\)"), (1j, "complex")):
        with pytest.raises(TypeError, match=message):
            fit(lambda x, value=value: value, vectorized=False)


@pytest.mark.parametrize("dim", [0, -1, "3", 2.5, True, 2**40])
def test_dimensions(dim: Any) -> None:
    with pytest.raises((ValueError, TypeError), match=rf"dim of 'sphere' must be an integer.*got {dim!r}"):
        fit("sphere", fit_options={"dim": dim})


def test_names_that_others_give_to_parameters() -> None:
    suggestion = r"'seed'.*did you mean 'random_state'"
    with pytest.raises(TypeError, match=suggestion):
        Minimizer("jde", seed=1)
    with pytest.raises(TypeError, match=suggestion):
        MinMaxSolver(seed=1)
    for call in (
        lambda: minimize(f, bounds=BOX, seed=1),
        lambda: scipy_method(seed=1),
        lambda: Minimizer().set_params(seed=1),
        lambda: MinMaxSolver().set_params(seed=1),
    ):
        with pytest.raises(ValueError, match=suggestion):
            call()


def test_constructors_keep_their_signatures() -> None:
    assert set(inspect.signature(Minimizer).parameters) == set(Minimizer().get_params(deep=False))
    assert clone(MinMaxSolver(max_iter=3)).max_iter == 3


def test_arrays_of_no_dimension_are_numbers() -> None:
    m = Minimizer(clone(DE(F=np.array(0.6), pop_size=np.array(20))), max_iter=np.array(5), random_state=0, device="cpu")
    m.fit(f, bounds=BOX)
    assert m.fun_ == fit(algorithm=DE(F=0.6, pop_size=20)).fun_


def test_limits_beyond_any_integer_are_none() -> None:
    fit("sphere", fit_options={"dim": 3}, stagnation=2**70, n_islands=2, migration=Migration(every=2**70))
    for rule in ({"max_iter": 2**70}, {"max_iter": None, "max_evals": 2**70}):
        m = fit("sphere", fit_options={"dim": 3}, target=1e-3, **rule)
        assert m.runs_[0].status == Status.TARGET


def test_infinite_values_are_values() -> None:
    """A wall of inf is no error, and is left behind."""
    m = fit(lambda X: np.where(X[:, 0] > 0, np.inf, f(X)), max_iter=60)
    assert m.fun_ < 1
    assert np.isfinite(m.fitness_).all()
    assert fit(lambda X: -np.inf * np.ones(len(X))).fun_ == -np.inf


def test_progress_never_shows_what_is_nan() -> None:
    """Of two runs one is NaN everywhere, the other infinite."""
    seen: list[Any] = []

    def look(progress: Any) -> None:
        seen.append((progress.fun, progress.x, progress.minimizer.runs_[1].x))

    def one_is_nan(X: Any) -> Any:
        return np.where(np.arange(len(X)) < len(X) // 2, np.nan, np.inf)

    with pytest.warns(RuntimeWarning, match="no value of the objective was finite"):
        fit(one_is_nan, n_runs=2, callbacks=look)
    assert len(seen) == 5
    for fun, x, expected in seen:
        assert fun == np.inf
        assert np.array_equal(x, expected)


def test_an_objective_slower_than_the_time_limit() -> None:
    def sleeps(X: Any) -> Any:
        time.sleep(0.15)
        return f(X)

    m = fit(sleeps, max_iter=None, max_time=0.1)
    assert m.runs_[0].status == Status.TIME
    assert m.n_evals_ == 100


def test_results_before_a_fit() -> None:
    for name in ("x_", "fun_", "runs_", "history_", "result_", "population_"):
        with pytest.raises(NotFittedError, match="call fit"):
            getattr(Minimizer(), name)
        assert not hasattr(Minimizer(), name)
    with pytest.raises(NotFittedError, match="call fit"):
        Minimizer().save("never")


def test_tell() -> None:
    m = Minimizer("jde", bounds=BOX, max_iter=3, random_state=0, device="cpu")
    with pytest.raises(RuntimeError, match=r"tell needs an ask before it: X = ask\(\), and then tell\(X, f\(X\)\)"):
        m.tell(np.zeros((5, 3)), np.zeros(5))
    X = m.ask()
    for points, values, message in (
        (X[:5], f(X), r"f must have shape \(5,\), got \(100,\)"),
        (X[:, :2], f(X), r"X must be rows of what ask returned, of 3 variables, got shape \(100, 2\)"),
        (X, f(X)[:5], r"f must have shape \(100,\), got \(5,\)"),
        (X + 100, f(X), r"X must be inside the bounds, got .* in row 0 for variable 0, which has the bounds \["),
        (X * np.nan, f(X), r"X must be inside the bounds, got nan in row 0 for variable 0"),
    ):
        with pytest.raises(ValueError, match=message):
            m.tell(points, values)
    with pytest.raises(TypeError, match="f must hold real numbers, got dtype complex128"):
        m.tell(X, f(X) * 1j)
    assert m.tell(X, f(X)).fun_ == f(X).min()
    with pytest.raises(RuntimeError, match="tell needs an ask"):
        m.tell(X, f(X))
    while not m.stopped_:
        X = m.ask()
        m.tell(X, f(X))
    with pytest.raises(RuntimeError, match="every run has ended"):
        m.ask()
    with pytest.raises(ValueError, match="ask needs bounds"):
        Minimizer().ask()


def test_device_objectives(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SKDE_CACHE_DIR", str(tmp_path))
    for body, arrays, message in (
        ("x[0];", None, "body must be C\\+\\+ text with a return"),
        ("return 0;", {"x": [1.0]}, "names must be C.. identifiers.*; got 'x'"),
        ("return 0;", {"a b": [1.0]}, "names must be C.. identifiers.*; got 'a b'"),
        ("return 0;", {"a": ["b"]}, r"arrays\['a'\] must hold numbers"),
        ("return 0;", {"a": []}, r"arrays\['a'\] must not be empty"),
        ("return 0;", {f"a{k}": [1.0] for k in range(9)}, "at most 8 entries, got 9"),
    ):
        with pytest.raises(ValueError, match=message):
            DeviceObjective(body, arrays)
    with pytest.raises(RuntimeError, match=r"does not compile with[\s\S]*undefined_name"):
        fit(DeviceObjective("return undefined_name;"))
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(RuntimeError, match="needs a C\\+\\+ compiler, and CXX='no-such-compiler' is not one"):
        fit(DeviceObjective("return x[0] + 1;"))


def test_a_warm_start_refuses_what_it_would_ignore() -> None:
    def warm() -> Minimizer:
        return Minimizer(DE(), max_iter=5, random_state=0, device="cpu", warm_start=True).fit(f, bounds=BOX)

    with pytest.raises(ValueError, match="the objective differs"):
        warm().fit(lambda X: f(X) + 2.0, bounds=BOX)
    with pytest.raises(ValueError, match="x0 cannot be given"):
        warm().fit(f, bounds=BOX, x0=[0, 0, 0])
    for changed in ({"algorithm__pop_size": 50}, {"algorithm__F": 0.9}, {"n_runs": 2}, {"dtype": "float32"}):
        with pytest.raises(ValueError, match=r"must be those of the first fit|when the fit began"):
            warm().set_params(**changed).fit(f, bounds=BOX)


def test_a_warm_start_has_its_own_time() -> None:
    m = Minimizer("jde", max_time=0.15, random_state=0, device="cpu", warm_start=True).fit("rastrigin", dim=20)
    first = m.n_iter_
    m.fit("rastrigin", dim=20)
    assert m.n_iter_ > 1.3 * first


def test_bounds_that_single_precision_cannot_hold() -> None:
    for bounds in ([(1.0, 1.0 + 1e-9)], [(-1e300, 1e300)], [(1e-46, 2e-46)]):
        with pytest.raises(ValueError, match=r"bounds\[0\].*dtype='float32'"):
            fit(fit_options={"bounds": bounds}, dtype="float32")


def test_an_archive_that_single_precision_cannot_number() -> None:
    with pytest.raises(ValueError, match=r"an archive of 20000000 points needs dtype='float64'.*archive_rate"):
        fit(algorithm=JADE(pop_size=200_000, archive_rate=100.0), dtype="float32", max_iter=1)
