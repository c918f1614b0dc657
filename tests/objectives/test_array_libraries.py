"""Objectives of other array libraries: PyTorch, JAX, and any with DLPack."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import NonlinearConstraint

from skde import DE, Minimizer, MinMaxSolver, from_jax, from_torch
from skde.objectives.array_libraries import writable
from skde.utils.arrays import share_array

from ..short_fits import BOX, f, fit

DLPACK_CPU = (1, 0)


class Foreign:
    """An array of a library that has DLPack and nothing else."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()  # type: ignore[no-any-return]  # NumPy's stubs differ by version


def same(first: Minimizer, second: Minimizer) -> bool:
    """Whether two fits ended with the same bits."""
    return np.array_equal(first.population_, second.population_) and np.array_equal(first.fitness_, second.fitness_)


# -- any library -------------------------------------------------------------------------------------------------------


def test_values_of_another_library_are_shared() -> None:
    array = np.arange(3.0)
    shared = share_array(Foreign(array), np)
    assert isinstance(shared, np.ndarray)
    assert np.shares_memory(shared, array)
    for given in (array, [1.0], 3.0, None):
        assert share_array(given, np) is given


@pytest.mark.parametrize("parameters", [{}, {"dtype": "float32"}, {"n_runs": 2, "device": ["cpu", "cpu"]}], ids=str)
def test_an_objective_may_return_an_array_of_any_library(parameters: dict[str, Any]) -> None:
    assert same(fit(lambda X: Foreign(f(X)), **parameters), fit(f, **parameters))


def test_constraints_and_games_may_too() -> None:
    def ring(wrapped: Callable[[Any], Any]) -> NonlinearConstraint:
        return NonlinearConstraint(lambda x: wrapped(x[..., 0] + x[..., 1]), 1.0, 3.0)

    assert same(fit(constraints=ring(Foreign)), fit(constraints=ring(lambda c: c)))
    plain, foreign = (
        MinMaxSolver(max_iter=2, random_state=0, device="cpu").fit(
            lambda X, Y, wrapped=wrapped: wrapped((X - 0.3) ** 2 - (Y[:, 0] - 0.2) ** 2), [(-1, 1)], [(-1, 1)]
        )
        for wrapped in (lambda F: F, Foreign)
    )
    assert plain.fun_ == foreign.fun_


def test_values_on_a_gpu_are_refused_for_a_numpy_population() -> None:
    class OnGpu(Foreign):
        def __dlpack_device__(self) -> tuple[int, int]:
            return (2, 0)

    with pytest.raises(TypeError, match="the objective's return value"):
        fit(lambda X: OnGpu(f(X)))


def test_wrapped_functions_are_equal_where_their_functions_are() -> None:
    for wrap in (from_torch, from_jax):
        assert wrap(f) == wrap(f) == pickle.loads(pickle.dumps(wrap(f)))
        assert hash(wrap(f)) == hash(wrap(f))
        assert wrap(f) != wrap(abs)
    assert from_torch(f) != from_jax(f)


# -- PyTorch -----------------------------------------------------------------------------------------------------------


def test_a_torch_function_on_the_cpu() -> None:
    torch = pytest.importorskip("torch")
    weights = torch.ones(3, dtype=torch.float64, requires_grad=True)
    kinds = set()

    def squares(X: Any) -> Any:
        kinds.add((type(X), X.dtype))
        return (X * X * weights).sum(dim=1)

    assert same(fit(from_torch(squares)), fit(f))
    assert kinds == {(torch.Tensor, torch.float64)}
    assert same(fit(lambda X: (torch.from_dlpack(X) ** 2).sum(dim=1)), fit(lambda X: (X**2).sum(axis=1)))
    X = np.zeros((4, 2))
    assert np.shares_memory(np.asarray(from_torch(lambda X: X)(X)), X)
    constraint = NonlinearConstraint(from_torch(lambda x: x[0] + x[1]), 1.0, 3.0)
    assert same(
        fit(constraints=constraint), fit(constraints=NonlinearConstraint(lambda x: x[..., 0] + x[..., 1], 1.0, 3.0))
    )


def test_read_only_arrays_are_copied_for_dlpack() -> None:
    X, read_only = np.zeros((4, 2)), np.zeros((4, 2))
    read_only.flags.writeable = False
    assert writable(X) is X
    assert writable(read_only).flags.writeable


# -- JAX ---------------------------------------------------------------------------------------------------------------


def test_large_populations_begin_where_jax_takes_them_without_a_copy() -> None:
    begins: list[int] = []

    def sphere(X: Any) -> Any:
        begins.append(X.ctypes.data % 64)
        return (X * X).sum(axis=1)

    Minimizer(DE(pop_size=1000), max_iter=20, device="cpu").fit(sphere, bounds=[(-5, 5)] * 9)
    assert not any(begins[-20:])
    assert len(begins) >= 21


def test_jax_shares_the_memory_of_large_populations() -> None:
    pytest.importorskip("jax")
    shared: list[bool] = []

    def sphere(X: Any) -> Any:
        shared.append(X.unsafe_buffer_pointer() in given)
        return (X * X).sum(axis=1)

    given: list[int] = []
    values = from_jax(sphere)

    def watched(X: Any) -> Any:
        given.append(X.ctypes.data)
        return values(X)

    Minimizer(DE(pop_size=2000), dtype="float32", max_iter=20, device="cpu").fit(watched, bounds=[(-5, 5)] * 9)
    assert all(shared[-20:])


def test_a_jax_function_on_the_cpu() -> None:
    jax = pytest.importorskip("jax")
    squares = jax.jit(lambda X: (X * X).sum(axis=1))
    m = fit(from_jax(squares), dtype="float32", max_iter=50)
    assert 0 <= m.fun_ < 1e-3
    assert same(m, fit(lambda X: squares(X), dtype="float32", max_iter=50))
    X = np.zeros((4, 2), np.float32)
    assert isinstance(from_jax(lambda X: X)(X), jax.Array)
    X.flags.writeable = False
    assert isinstance(from_jax(lambda X: X)(X), jax.Array)


# -- on a GPU ----------------------------------------------------------------------------------------------------------

LONG: dict[str, Any] = {"device": "cuda", "max_iter": 300, "random_state": 0}


@pytest.mark.gpu
def test_a_torch_function_is_recorded_on_a_gpu(capsys: Any, without_jax: None) -> None:
    torch = pytest.importorskip("torch")
    for parameters in ({}, {"n_runs": 3}, {"dtype": "float32"}):
        dtype = getattr(torch, str(parameters.get("dtype", "float64")))
        matrix = torch.linspace(-1.0, 1.0, 900, dtype=dtype, device="cuda").reshape(30, 30)
        quadratic = from_torch(lambda X, matrix=matrix: ((X @ matrix) ** 2).sum(dim=1))
        step, graph, auto = (
            Minimizer("jde", execution=execution, verbose=int(execution == "auto"), **LONG, **parameters).fit(
                quadratic, bounds=[(-5.0, 5.0)] * 30
            )
            for execution in ("step", "graph", "auto")
        )
        assert same(auto, step)
        assert same(graph, step)
        assert "execution='auto' chose 'graph'" in capsys.readouterr().out


@pytest.mark.gpu
def test_the_memory_of_a_recorded_torch_function_stays_its_own(without_jax: None) -> None:
    torch = pytest.importorskip("torch")
    taken: list[Any] = []

    def squares(X: Any) -> Any:
        return (X.sin() ** 2 + X.cos() ** 2 * X * X).sum(dim=1)

    def takes_memory(progress: Any) -> None:
        taken.clear()
        torch.cuda.empty_cache()
        taken.extend(torch.full((1 << 16,), float("nan"), device="cuda", dtype=torch.float64) for _ in range(20))

    step = Minimizer("jde", execution="step", **LONG).fit(from_torch(squares), bounds=BOX)
    graph = Minimizer("jde", execution="graph", callbacks=takes_memory, **LONG).fit(from_torch(squares), bounds=BOX)
    assert same(graph, step)
    assert taken


@pytest.mark.gpu
@pytest.mark.parametrize(
    "values",
    [
        lambda torch, X: (X * X).sum(dim=1) + torch.rand(len(X), device="cuda"),
        lambda torch, X: (X * X).sum(dim=1) * float(X.max() > -99.0),
    ],
    ids=["random numbers", "a copy to the host"],
)
def test_torch_functions_that_cannot_be_recorded_go_by_steps(values: Any, capsys: Any, without_jax: None) -> None:
    torch = pytest.importorskip("torch")
    m = Minimizer("jde", verbose=1, **LONG).fit(from_torch(lambda X: values(torch, X)), bounds=BOX)
    assert m.n_iter_ == 300
    assert "execution='auto' chose 'step'" in capsys.readouterr().out
    assert bool((torch.ones(3, device="cuda") * 2 == 2).all())  # PyTorch works as before


@pytest.mark.gpu
def test_torch_functions_share_the_points_and_may_return_a_tensor_themselves() -> None:
    torch = pytest.importorskip("torch")
    import cupy

    X = cupy.zeros((4, 2))
    assert from_torch(lambda X: X)(X).data.ptr == X.data.ptr
    raw = Minimizer("jde", execution="step", **LONG).fit(lambda X: (torch.from_dlpack(X) ** 2).sum(dim=1), bounds=BOX)
    assert same(
        raw, Minimizer("jde", execution="step", **LONG).fit(from_torch(lambda X: (X**2).sum(dim=1)), bounds=BOX)
    )


@pytest.mark.gpu
def test_a_torch_function_on_streams_of_its_devices() -> None:
    torch = pytest.importorskip("torch")
    one, several = (
        Minimizer("jde", n_runs=4, **{**LONG, "device": device}).fit(
            from_torch(lambda X: X[:, 0] * torch.sin(X[:, 1]) + X[:, 2] * X[:, 2]), bounds=BOX
        )
        for device in ("cuda", ["cuda:0", "cuda:0"])
    )
    assert same(one, several)


@pytest.mark.gpu
def test_a_jax_function_on_a_gpu_goes_by_steps(capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    jax = pytest.importorskip("jax")
    squares = jax.jit(lambda X: (X * X).sum(axis=1))
    bounds = [(-5.0, 5.0)] * 30
    m = Minimizer("jde", verbose=1, dtype="float32", **LONG).fit(from_jax(squares), bounds=bounds)
    assert "execution='auto' chose 'step': JAX is loaded" in capsys.readouterr().out
    returned = Minimizer("jde", execution="step", dtype="float32", **LONG).fit(
        lambda X: squares(jax.numpy.from_dlpack(X)), bounds=bounds
    )
    assert same(m, returned)
    with pytest.raises(RuntimeError, match=r"cannot be recorded as a CUDA graph \(RuntimeError: JAX launches its work"):
        Minimizer("jde", execution="graph", dtype="float32", **LONG).fit(from_jax(squares), bounds=bounds)
    assert m.n_iter_ == 300
