"""Functions of C as objectives: numba's cfunc and SciPy's LowLevelCallable."""

from __future__ import annotations

import copy
import ctypes
import json
import pickle
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.special.cython_special
from scipy import LowLevelCallable
from scipy.optimize import LinearConstraint, NonlinearConstraint

from skde import DE, ConstrainedProblem, Minimizer, MinMaxSolver, differential_evolution, minimize, scipy_method
from skde.cli.main import main
from skde.engines import CpuEngine
from skde.objectives.device import find_compiler
from skde.problems import find_forms
from skde.tuning.targets.algorithm_target import AlgorithmTarget, has_clocks
from skde.tuning.targets.base import TargetJob, TargetLimits
from skde.variables import Categorical, Integer, Log
from tests.shared_builds import built_once

SOURCE = """
#include <atomic>
static std::atomic<long> calls{0};
static double values(long n, double* x, const double* shift) {
  double sum = 0;
  for (long j = 0; j < n; ++j) {
    const double v = x[j] - (shift ? shift[j] : 0.1);
    sum += v * v * (1 + 0.3 * j) + 0.01 * v;
    x[j] = 1e300;  // it may write to its argument
  }
  ++calls;
  return sum;
}
extern "C" {
long count() { return calls; }
double int_x(int n, double* x) { return values(n, x, nullptr); }
double int_x_data(int n, double* x, void* shift) { return values(n, x, static_cast<double*>(shift)); }
double x_int(double* x, int n) { return values(n, x, nullptr); }
double x_int_data(double* x, int n, void* shift) { return values(n, x, static_cast<double*>(shift)); }
double long_x(long n, double* x) { return values(n, x, nullptr); }
double long_x_data(long n, double* x, void* shift) { return values(n, x, static_cast<double*>(shift)); }
double x_long(double* x, long n) { return values(n, x, nullptr); }
double x_long_data(double* x, long n, void* shift) { return values(n, x, static_cast<double*>(shift)); }
}
"""
POINTER = ctypes.POINTER(ctypes.c_double)
TYPES = {"int": ctypes.c_int, "long": ctypes.c_long, "x": POINTER, "data": ctypes.c_void_p}
NAMES = [f"{order}{end}" for order in ("int_x", "x_int", "long_x", "x_long") for end in ("", "_data")]
SHIFT = (ctypes.c_double * 3)(0.5, -0.25, 1.0)
BOX = [(-2.0, 3.0)] * 3
X = np.random.default_rng(0).uniform(-2, 3, (50, 3))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """Return the functions of C, with their types."""

    def build(path: Path) -> None:
        source = path.with_suffix(".cpp")
        source.write_text(SOURCE)
        options = ["-std=c++17", "-O2", "-ffp-contract=off", "-fPIC", "-shared"]
        subprocess.run([*find_compiler(), *options, str(source), "-o", str(path)], check=True)

    loaded = ctypes.CDLL(str(built_once("c_functions.so", build, tmp_path_factory)))
    for name in NAMES:
        function = getattr(loaded, name)
        function.restype, function.argtypes = ctypes.c_double, [TYPES[part] for part in name.split("_")]
    loaded.count.restype = ctypes.c_long
    return loaded


@pytest.fixture
def function(library: ctypes.CDLL) -> Any:
    return LowLevelCallable(library.int_x)


def value(x: Any, shift: Any = (0.1,) * 10) -> float:
    """Return the value of the functions, with their operations."""
    total = 0.0
    for j in range(len(x)):
        v = float(x[j]) - shift[j]
        total += v * v * (1 + 0.3 * j) + 0.01 * v
    return total


def values(X: Any) -> Any:
    return np.array([value(x) for x in X])


def outcome(m: Any) -> tuple[Any, ...]:
    return m.fun_, m.x_.tolist(), m.n_evals_, m.n_iter_


class Cfunc:
    """An object with the public attributes of numba's cfunc."""

    def __init__(self, function: Any, name: str = "own") -> None:
        self.ctypes, self.__name__ = function, name
        self.address = ctypes.cast(function, ctypes.c_void_p).value

    def __call__(self, *given: Any) -> Any:
        raise AssertionError("Python must not call it")


@pytest.mark.parametrize("name", NAMES)
def test_every_order_of_arguments(name: str, library: ctypes.CDLL) -> None:
    shifted = name.endswith("data")
    function = getattr(library, name)
    given = LowLevelCallable(function, ctypes.cast(SHIFT, ctypes.c_void_p) if shifted else None)
    expected = [value(x, SHIFT if shifted else (0.1,) * 3) for x in X]
    assert find_forms(given).functor(X).tolist() == expected  # type: ignore[union-attr, operator]
    if shifted:  # without data it gets a null pointer
        assert find_forms(Cfunc(function)).functor(X).tolist() == values(X).tolist()  # type: ignore[union-attr, operator]


@pytest.mark.parametrize("settings", [{}, {"n_runs": 5, "n_jobs": 2}, {"dtype": "float32"}, {"polish": True}])
def test_a_fit_has_the_bits_of_the_same_function_of_python(function: Any, settings: dict[str, Any]) -> None:
    def fit(objective: Any, **more: Any) -> Any:
        return Minimizer("jde", max_iter=40, random_state=3, device="cpu", **settings, **more).fit(objective, BOX)

    expected = outcome(fit(function))
    assert outcome(fit(value, vectorized=False)) == expected
    assert outcome(fit(values)) == expected
    if "polish" not in settings:
        assert outcome(fit(function, execution="run")) == outcome(fit(function, execution="step")) == expected


def test_threads_share_large_populations(function: Any, library: ctypes.CDLL) -> None:
    m = Minimizer(DE(pop_size=20_000), max_iter=3, random_state=0, n_jobs=1)
    before = library.count()
    one = outcome(m.fit(function, BOX))
    assert library.count() - before == m.n_evals_ == 80_000
    assert outcome(m.set_params(n_jobs=2).fit(function, BOX)) == one


def test_typed_variables_reach_it_decoded(function: Any) -> None:
    variables = [Integer(-3, 9), Log(0.01, 1.0), Categorical(("a", "b", "c"))]
    for dtype in ("float64", "float32"):
        m = Minimizer("de", max_iter=30, random_state=0, dtype=dtype)
        m.fit(function, variables)
        assert m.fun_ == np.dtype(dtype).type(value(m.x_))
        same = Minimizer("de", max_iter=30, random_state=0, dtype=dtype).fit(values, variables)
        assert outcome(m) == outcome(same)


def test_constraints_of_python_decide_where_it_is_called(function: Any, library: ctypes.CDLL) -> None:
    ring = NonlinearConstraint(lambda x: x[0] ** 2 + x[1] ** 2, 1, 4)
    before = library.count()
    m = Minimizer("de", max_iter=60, random_state=0, constraints=ring, polish=False).fit(function, BOX)
    assert 0 <= library.count() - before - m.n_fun_evals_ <= 6  # the check before the fit
    assert m.n_fun_evals_ < m.n_evals_
    same = Minimizer("de", max_iter=60, random_state=0, constraints=ring, polish=False).fit(values, BOX)
    assert outcome(m) == outcome(same)
    problem = ConstrainedProblem(function, BOX, LinearConstraint([[1.0, 1.0, 1.0]], 2, 9))
    assert problem.f(X).tolist() == values(X).tolist()
    assert Minimizer("de", max_iter=60, random_state=0).fit(problem).x_.sum() >= 2 - 1e-6


def test_scipys_interfaces(function: Any) -> None:
    from scipy.optimize import minimize as scipy_minimize

    expected = minimize(function, BOX, method="de", max_iter=30, random_state=0).fun
    own = scipy_method("de", max_iter=30, random_state=0)
    assert minimize(values, BOX, method="de", max_iter=30, random_state=0).fun == expected
    assert scipy_minimize(function, [0.0] * 3, method=own, bounds=BOX).fun <= value([0.0] * 3)
    for polish in (False, True):
        found = [differential_evolution(f, BOX, maxiter=5, rng=0, polish=polish) for f in (function, value)]
        assert found[0].fun == found[1].fun
    with pytest.raises(TypeError, match="vectorized=True is for a Python function of points in columns"):
        differential_evolution(function, BOX, vectorized=True, updating="deferred")
    with pytest.raises(TypeError, match="args are passed on to a Python function"):
        minimize(function, BOX, args=(1,))


def test_the_command_line(library: ctypes.CDLL, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    (tmp_path / "own_c.py").write_text(
        f"import ctypes\nfrom scipy import LowLevelCallable\nlibrary = ctypes.CDLL({library._name!r})\n"
        "library.int_x.restype = ctypes.c_double\n"
        "library.int_x.argtypes = [ctypes.c_int, ctypes.POINTER(ctypes.c_double)]\n"
        "loss = LowLevelCallable(library.int_x)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    options = ["--bounds", "-2", "3", "--dim", "3", "--algorithm", "de", "--max-iter", "40", "--seed", "3", "--json"]
    assert main(["minimize", "own_c:loss", *options]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["fun"] == Minimizer("de", max_iter=40, random_state=3).fit(values, BOX).fun_
    assert report["device"] == "cpu"


def test_a_tuning_runs_it_in_batches(function: Any) -> None:
    assert not has_clocks((values, BOX), on_gpu=False)
    assert has_clocks((function, BOX), on_gpu=False)
    target = AlgorithmTarget(DE(pop_size=10), TargetLimits(None, 200), 1, "cpu")

    def costs(objective: Any) -> list[float]:
        jobs = [TargetJob(number, {"F": F}, 0, (objective, BOX), 7) for number, F in enumerate((0.4, 0.8))]
        return [one.cost for one in target.run(jobs)]

    assert costs(function) == costs(values)
    clocked = AlgorithmTarget(DE(pop_size=10), TargetLimits(0.1), 2, "cpu")
    (one,) = clocked.run([TargetJob(0, {}, 0, (function, BOX), 7)])
    assert one.cost < 1e-3


@pytest.mark.parametrize("device", ["cuda", "cuda:1", ["cuda:0", "cuda:1"]])
def test_a_gpu_is_refused(function: Any, device: Any) -> None:
    ring = LinearConstraint([[1.0, 1.0, 1.0]], 2, 9)
    for constraints in (None, ring):
        with pytest.raises(ValueError, match=r"device must be 'cpu' or 'auto', got .*a function of C has an address"):
            Minimizer("de", max_iter=1, device=device, constraints=constraints).fit(function, BOX)


def test_processes_are_refused(function: Any) -> None:
    with pytest.raises(ValueError, match="execution='joblib' needs an objective that other processes can call"):
        Minimizer("de", max_iter=1, execution="joblib", n_jobs=2).fit(function, BOX)
    own = find_forms(function)
    with pytest.raises(TypeError, match="cannot be pickled: its address is one of this process alone"):
        pickle.dumps(own)
    assert copy.copy(own) is copy.deepcopy(own) is own


def test_a_file_needs_the_function_again(function: Any, tmp_path: Path) -> None:
    def fit() -> Any:
        return Minimizer("jde", max_iter=10, random_state=0).fit(function, BOX)

    fit().save(tmp_path / "fit.npz")
    with pytest.raises(ValueError, match=r"it was CFunction\('int_x', 'double \(int, double \*\)'\)"):
        Minimizer.load(tmp_path / "fit.npz").resume()
    whole = Minimizer("jde", max_iter=20, random_state=0).fit(function, BOX)
    for loaded in (Minimizer.load(tmp_path / "fit.npz"), pickle.loads(pickle.dumps(fit()))):
        assert outcome(loaded.set_params(max_iter=20).resume(function)) == outcome(whole)
    assert outcome(fit().set_params(max_iter=20).resume()) == outcome(whole)


def test_equal_functions_let_a_fit_go_on(library: ctypes.CDLL) -> None:
    m = Minimizer("de", max_iter=5, random_state=0, warm_start=True)
    m.fit(LowLevelCallable(library.int_x), BOX).fit(LowLevelCallable(library.int_x), BOX)
    assert m.n_iter_ == 10
    with pytest.raises(ValueError, match="objective"):
        m.fit(LowLevelCallable(library.x_int), BOX)


@pytest.mark.parametrize(
    "types",
    [
        [],
        [POINTER],
        [ctypes.c_double],
        [ctypes.c_int, ctypes.POINTER(ctypes.c_float)],
        [ctypes.c_uint, POINTER],
        [ctypes.c_int, POINTER, ctypes.c_int],
        [ctypes.c_int, POINTER, ctypes.c_void_p, ctypes.c_void_p],
        [ctypes.c_void_p, ctypes.c_int, POINTER],
    ],
)
def test_another_signature_is_refused(types: list[Any]) -> None:
    function = ctypes.CFUNCTYPE(ctypes.c_double, *types)(lambda *given: 0.0)
    for given in (LowLevelCallable(function), Cfunc(function)):
        with pytest.raises(ValueError, match=r"must have the signature double \(int, double \*\), .* got 'double"):
            Minimizer("de", max_iter=1).fit(given, BOX)


def test_other_types_of_value_are_refused() -> None:
    for result in (ctypes.c_float, ctypes.c_int, None):
        function = ctypes.CFUNCTYPE(result, ctypes.c_int, POINTER)(lambda n, x: 0)
        with pytest.raises(ValueError, match="must have the signature"):
            Minimizer("de", max_iter=1).fit(LowLevelCallable(function), BOX)


def test_a_capsule(library: ctypes.CDLL) -> None:
    wrong = LowLevelCallable.from_cython(scipy.special.cython_special, "voigt_profile")
    with pytest.raises(ValueError, match=r"got 'double \(double, double, double"):
        minimize(wrong, BOX)
    new, set_context = ctypes.pythonapi.PyCapsule_New, ctypes.pythonapi.PyCapsule_SetContext
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    set_context.argtypes = [ctypes.py_object, ctypes.c_void_p]
    address = ctypes.cast(library.int_x_data, ctypes.c_void_p)
    capsule = new(address, b"double (int, double *, void *)", None)
    data = new(ctypes.cast(SHIFT, ctypes.c_void_p), b"shift", None)
    expected = [value(x, SHIFT) for x in X]
    assert find_forms(LowLevelCallable(capsule, data)).functor(X).tolist() == expected  # type: ignore[union-attr, operator]
    set_context(capsule, ctypes.cast(SHIFT, ctypes.c_void_p))
    assert find_forms(LowLevelCallable(capsule)).functor(X).tolist() == expected  # type: ignore[union-attr, operator]


def test_a_pointer_of_cffi(library: ctypes.CDLL) -> None:
    ffi = pytest.importorskip("cffi").FFI()
    given = ffi.cast("double (*)(int, double *, void *)", ctypes.cast(library.int_x_data, ctypes.c_void_p).value)
    shift = ffi.new("double[3]", list(SHIFT))
    form = find_forms(LowLevelCallable(given, ffi.cast("void *", shift)))
    assert form.functor(X).tolist() == [value(x, SHIFT) for x in X]  # type: ignore[union-attr, operator]


def test_user_data_that_nobody_takes(library: ctypes.CDLL) -> None:
    with pytest.raises(ValueError, match=r"user_data is for a function with a last void \*"):
        minimize(LowLevelCallable(library.int_x, ctypes.cast(SHIFT, ctypes.c_void_p)), BOX)


def test_parameters_of_python_functions_are_refused(function: Any) -> None:
    with pytest.raises(ValueError, match=r"on_error='nan' is for a Python function of one point, got CFunction"):
        Minimizer("de", on_error="nan").fit(function, BOX)
    with pytest.raises(ValueError, match=r"max_eval_time=1\.0 is for a Python function of one point"):
        Minimizer("de", max_iter=1, max_eval_time=1.0, n_jobs=2).fit(function, BOX)
    with pytest.raises(ValueError, match="final_evals=10 is for noisy Python functions"):
        Minimizer("de", max_evals=1000, final_evals=10).fit(function, BOX)
    with pytest.raises(ValueError, match="bounds must be given"):
        Minimizer("de").fit(function)
    with pytest.raises(TypeError, match="is a function of x alone: use Minimizer"):
        MinMaxSolver(max_iter=1).fit(function, bounds_x=BOX, bounds_y=BOX)


def test_a_function_of_python_behind_a_pointer(function: Any) -> None:
    """Threads that hold no lock call it, and it takes the lock itself."""
    behind = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int, POINTER)(lambda n, x: value(x[:n]))
    for settings in ({}, {"n_jobs": 2, "n_runs": 4}):
        m = Minimizer("de", max_iter=5, random_state=0, **settings)  # type: ignore[arg-type]
        assert outcome(m.fit(LowLevelCallable(behind), BOX)) == outcome(m.fit(function, BOX))


def test_nan_and_infinity_lose() -> None:
    @ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int, POINTER)
    def half(n: int, x: Any) -> float:
        return float("nan") if x[0] > 0 else float("inf") if x[1] > 0 else x[0] ** 2 + x[1] ** 2

    m = Minimizer("de", max_iter=60, random_state=0).fit(LowLevelCallable(half), [(-1, 1)] * 2)
    assert m.fun_ < 1e-3
    assert (m.x_ <= 0).all()


def test_objects_that_only_look_like_it() -> None:
    class Other:
        address, ctypes = "a street", None

        def __call__(self, X: Any) -> Any:
            return values(X)

    assert Minimizer("de", max_iter=3, random_state=0).fit(Other(), BOX).n_evals_ > 0


@pytest.mark.parametrize("signature", ["float64(CPointer(float64), int64)", "float64(intc, CPointer(float64))"])
def test_numbas_cfunc(signature: str) -> None:
    numba = pytest.importorskip("numba")

    def of_pointer(x: Any, n: Any) -> float:
        total = 0.0
        for j in range(n):
            v = x[j] - 0.1
            total += v * v * (1 + 0.3 * j) + 0.01 * v
        return total

    def of_size(n: Any, x: Any) -> float:
        total = 0.0
        for j in range(n):
            v = x[j] - 0.1
            total += v * v * (1 + 0.3 * j) + 0.01 * v
        return total

    source: Callable[..., float] = of_size if signature.startswith("float64(intc") else of_pointer
    given = numba.cfunc(signature)(source)
    m = Minimizer("jde", max_iter=100, random_state=0, execution="run", device="cpu").fit(given, BOX)
    assert outcome(m) == outcome(Minimizer("jde", max_iter=100, random_state=0, device="cpu").fit(value, BOX))
    with pytest.raises(ValueError, match=r"the function of C 'of_\w+' must have the signature .* got 'float \("):
        minimize(numba.cfunc("float32(intc, CPointer(float64))")(of_size), BOX)


def test_words_keep_their_bits_in_either_precision(function: Any) -> None:
    engine = CpuEngine(1)
    functor = find_forms(function).functor
    assert functor is not None
    assert engine.evaluate(functor, X[:0]).shape == (0,)
    assert engine.evaluate(functor, X.astype(np.float32)).tolist() == values(X.astype(np.float32)).astype("f").tolist()


@pytest.mark.gpu
def test_where_there_is_a_gpu(function: Any) -> None:
    import cupy

    m = Minimizer("de", max_iter=5, random_state=0).fit(function, BOX)
    assert m.x_.tolist() == Minimizer("de", max_iter=5, random_state=0, device="cpu").fit(function, BOX).x_.tolist()
    with pytest.raises(ValueError, match="runs on the CPU alone"):
        find_forms(function).functor(cupy.asarray(X))  # type: ignore[union-attr, operator]
    resumed = Minimizer("de", max_iter=5, random_state=0, device="cuda").fit("sphere", BOX, dim=3)
    with pytest.raises(ValueError, match="runs on the CPU alone"):
        resumed.set_params(max_iter=9).resume(function)
