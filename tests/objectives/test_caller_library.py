"""Results in the array library of the bounds, where scikit-learn's array_api_dispatch is on."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import NonlinearConstraint
from sklearn import config_context

from skde import DE, Minimizer, from_torch, get_problem, minimize
from skde.engines import engine_for
from skde.minimizer.execution import check_device_of_library
from skde.objectives.caller_library import CallerLibrary

from ..short_fits import BOX


class Foreign:
    """An array of a small library with an array API namespace."""

    device = "cpu"

    def __init__(self, array: Any) -> None:
        self.array = np.asarray(array)

    def __array_namespace__(self) -> Any:
        return NAMESPACE

    def __array__(self, *options: Any, **named: Any) -> Any:
        return np.asarray(self.array, *options)

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape  # type: ignore[no-any-return]


NAMESPACE = SimpleNamespace(__name__="foreign", from_dlpack=lambda array: Foreign(np.from_dlpack(array)))


@pytest.fixture
def dispatch(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    with config_context(array_api_dispatch=True):
        yield


def make(**parameters: Any) -> Minimizer:
    return Minimizer(DE(pop_size=8), **{"max_iter": 5, "random_state": 0, "device": "cpu", **parameters})


def squares(X: Any) -> Any:
    """Sum of squares of rows, by an operation that all libraries have, in one order."""
    return X[..., 0] * X[..., 0] + X[..., 1] * X[..., 1] + X[..., 2] * X[..., 2]


@pytest.fixture(params=["foreign", "torch", "array_api_strict", "jax"])
def library(request: pytest.FixtureRequest) -> Any:
    """Return the type of a library's arrays and a function that makes one."""
    if request.param == "foreign":
        return Foreign, Foreign
    # array_api_strict is of the extra "test"; the others are large.
    strict = request.param == "array_api_strict"
    module = import_module(request.param) if strict else pytest.importorskip(request.param)
    if request.param == "jax":
        return module.Array, module.numpy.asarray
    if request.param == "torch":
        return module.Tensor, lambda values: module.tensor(values, dtype=module.float64)
    return type(module.asarray(1.0)), module.asarray


def test_results_are_in_the_library_of_the_bounds(library: Any, dispatch: None, tmp_path: Path) -> None:
    kind, asarray = library
    seen = set()

    def f(X: Any) -> Any:
        seen.add(type(X))
        values = squares(X.array if kind is Foreign else X)
        return Foreign(values) if kind is Foreign else values

    dtype = "float32" if kind.__module__.startswith("jax") else "float64"  # what JAX has by default
    plain = make(dtype=dtype).fit(squares, bounds=BOX)
    for given in ({"bounds": asarray(BOX)}, {"bounds": BOX, "x0": asarray([[1.0, 2.0, 3.0]])}):
        m = make(dtype=dtype).fit(f, **given)
        for found in (
            m.x_,
            m.population_,
            m.fitness_,
            m.result_.x,
            m.result_.population,
            m.result_.population_energies,
        ):
            assert isinstance(found, kind)
        assert all(issubclass(one, kind) for one in seen)
        assert isinstance(m.fun_, float)
        assert isinstance(m.runs_[0].x, np.ndarray)
        if "x0" not in given:
            assert np.array_equal(np.asarray(m.population_), plain.population_)
    assert isinstance(minimize(f, asarray(BOX), max_iter=2, device="cpu", dtype=dtype).x, kind)

    asked = make(dtype=dtype, bounds=asarray(BOX))
    while not asked.stopped_:
        X = asked.ask(5)
        assert isinstance(X, kind)
        asked.tell(X, squares(np.asarray(X)))
    assert np.array_equal(np.asarray(asked.population_), plain.population_)
    asked.save(tmp_path / "fit")
    for again in (Minimizer.load(tmp_path / "fit"), pickle.loads(pickle.dumps(asked))):
        assert np.array_equal(again.population_, plain.population_)
        assert isinstance(again.x_, np.ndarray)


def test_without_dispatch_results_are_numpy(library: Any) -> None:
    _, asarray = library
    seen = set()

    def f(X: Any) -> Any:
        seen.add(type(X))
        return squares(X)

    m = make().fit(f, bounds=asarray(BOX))
    assert seen == {np.ndarray}
    assert isinstance(m.x_, np.ndarray)


def test_problems_and_constraints(dispatch: None) -> None:
    bounds = Foreign(BOX)
    m = make().fit(get_problem("sphere", dim=3), bounds=bounds)
    assert isinstance(m.x_, Foreign)
    assert make().fit(get_problem("sphere", dim=3), bounds=BOX).x_.tolist() == m.x_.array.tolist()

    def inequality(x: Any) -> Any:
        assert isinstance(x, np.ndarray)
        return x[..., 0]

    constrained = make(constraints=NonlinearConstraint(inequality, 1.0, 3.0))
    assert constrained.fit(lambda X: Foreign(squares(X.array)), bounds=bounds).x_.array[0] >= 1.0 - 1e-6
    point = make(vectorized=False).fit(lambda x: squares(x.array), bounds=bounds)
    assert np.array_equal(point.population_.array, make().fit(squares, bounds=BOX).population_)


def test_wrapped_functions_stay_and_results_are_shared(dispatch: None) -> None:
    torch = pytest.importorskip("torch")
    bounds = torch.tensor(BOX, dtype=torch.float64)
    m = make().fit(from_torch(squares), bounds=bounds)
    assert isinstance(m.x_, torch.Tensor)
    assert m.x_.data_ptr() == m.runs_[0].x.ctypes.data


def test_arrays_that_do_not_fit_are_refused(dispatch: None) -> None:
    library = CallerLibrary(NAMESPACE, "gpu", on_gpu=True)
    with pytest.raises(ValueError, match="bounds and x0 are arrays of foreign on gpu, and device is 'cpu'"):
        check_device_of_library(library, engine_for("cpu", 1, True, 0))
    other = SimpleNamespace(__name__="other", from_dlpack=NAMESPACE.from_dlpack)

    class Other(Foreign):
        def __array_namespace__(self) -> Any:
            return other

    with pytest.raises(ValueError, match="arrays of one library and device, got foreign on cpu and other on cpu"):
        make().fit(squares, bounds=Foreign(BOX), x0=Other([[1.0, 2.0, 3.0]]))


@pytest.mark.gpu
def test_results_on_a_gpu(dispatch: None) -> None:
    torch = pytest.importorskip("torch")
    bounds = torch.tensor(BOX, dtype=torch.float64, device="cuda")
    m = make(device="cuda").fit(squares, bounds=bounds)
    assert m.x_.device == bounds.device
    assert np.array_equal(m.population_.cpu().numpy(), make(device="cuda").fit(squares, bounds=BOX).population_)
    asked = make(device="cuda", bounds=bounds)
    X = asked.ask()
    assert X.device == bounds.device
    assert asked.tell(X, squares(X)).x_.device == bounds.device
