"""Arrays of every layout and dtype from functions and from tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import joblib
import numpy as np
import pytest
from scipy.optimize import NonlinearConstraint

from skde import DE, AugmentedLagrangian, ConstrainedProblem, DeviceObjective, Minimizer, MinMaxSolver, get_problem
from skde.utils.arrays import address, contiguous, real_values

from .short_fits import BOX, f, fit

FIELDS = np.dtype([("before", "f4"), ("value", "f8")])  # packed: the values lie at odd multiples of four bytes


def column(values: Any) -> Any:
    """Return the values as a field of a table, strided and not aligned."""
    table = np.zeros(values.shape, FIELDS)
    table["value"] = values
    return table["value"]


def unaligned(values: Any) -> Any:
    """Return the values as dense memory that begins at an odd address."""
    memory = np.empty(values.nbytes + 1, np.uint8)
    array = memory[1:].view(values.dtype)
    array[...] = values.ravel()
    return array.reshape(values.shape)


# Each gives the values that it is given, in another layout or dtype. Those of the first kind work on CuPy arrays too.
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "real part of complex numbers": lambda values: (values + 0j).real,
    "reversed": lambda values: values[::-1].copy()[::-1],
    "every other": lambda values: values.repeat(2, axis=0)[::2],
    "one of two columns": lambda values: (values[..., None] * np.array([2.0, 1.0], dtype=values.dtype))[..., 1],
}
HOST_LAYOUTS: dict[str, Callable[[Any], Any]] = {
    **LAYOUTS,
    "a field of a table": column,
    "not aligned": unaligned,
    "big-endian": lambda values: values.astype(">f8"),
    "Fortran order": np.asfortranarray,
    "nothing masked": np.ma.MaskedArray,
    "a list": lambda values: values.tolist(),
    "long double": lambda values: values.astype(np.longdouble),
}
layouts = pytest.mark.parametrize("layout", HOST_LAYOUTS.values(), ids=HOST_LAYOUTS)


def same(first: Any, second: Any) -> bool:
    """Whether two fits ended with the same bits."""
    return np.array_equal(first.population_, second.population_) and np.array_equal(first.fitness_, second.fitness_)


PATHS: dict[str, dict[str, Any]] = {
    "fit": {},
    "float32": {"dtype": "float32"},
    "runs": {"n_runs": 3},
    "runs that end one after the other": {"n_runs": 3, "target": 3.0, "max_iter": 20},
    "islands": {"n_islands": 3},
    "devices": {"n_runs": 2, "device": ["cpu", "cpu"]},
    "joblib": {"n_runs": 2, "execution": "joblib", "n_jobs": 1},
    "shrinking": {"algorithm": "lshade"},
}


@layouts
@pytest.mark.parametrize("parameters", PATHS.values(), ids=PATHS)
def test_an_objective_may_return_any_layout(layout: Callable[[Any], Any], parameters: dict[str, Any]) -> None:
    assert same(fit(lambda X: layout(f(X)), **parameters), fit(f, **parameters))


def test_joblib_workers_read_any_layout() -> None:
    with joblib.parallel_config("loky", n_jobs=2):
        shared = fit(lambda X: (f(X) + 0j).real, n_runs=2, execution="joblib")
    assert same(shared, fit(f, n_runs=2))


@pytest.mark.parametrize(
    ("whole", "values"),
    [
        ("integers", lambda X: np.rint(f(X)).astype(np.int16)),
        ("booleans", lambda X: f(X) > 20.0),
        ("half precision", lambda X: f(X).astype(np.float16)),
        ("one number for all", lambda X: np.broadcast_to(np.float64(7.0), (len(X),))),
        ("read-only", lambda X: np.broadcast_to(f(X), (1, len(X)))[0]),
    ],
)
def test_an_objective_may_return_any_real_dtype(whole: str, values: Callable[[Any], Any]) -> None:
    assert same(fit(values), fit(lambda X: values(X).astype(np.float64).copy())), whole


def test_a_large_population_may_be_reversed() -> None:
    """Its memory ends where the first value lies: what is behind that is not the program's."""
    m = fit(
        lambda X: X[::-1, 0].copy()[::-1],
        algorithm=DE(pop_size=10**6),
        fit_options={"bounds": [(0.0, 1.0)]},
        max_iter=1,
    )
    assert m.fun_ == m.x_[0] < 1e-4


@layouts
@pytest.mark.parametrize("parameters", [{}, {"n_runs": 2}, {"n_islands": 2}, {"algorithm": "lshade"}], ids=str)
def test_points_and_values_may_be_told_in_any_layout(layout: Callable[[Any], Any], parameters: dict[str, Any]) -> None:
    given: dict[str, Any] = {"algorithm": "jde", "max_iter": 4, "random_state": 0, "device": "cpu", **parameters}
    plain, other = Minimizer(bounds=BOX, **given), Minimizer(bounds=BOX, **given)
    while not plain.stopped_:
        X = plain.ask()
        values = (X * X).sum(axis=-1)
        plain.tell(X, values)
        other.tell(layout(other.ask()), layout(values))
    assert same(plain, other)


@layouts
@pytest.mark.parametrize("vectorized", [True, False])
def test_constraints_may_return_any_layout(layout: Callable[[Any], Any], vectorized: bool) -> None:
    def ring(x: Any) -> Any:
        return np.stack([x[..., 0] + x[..., 1], x[..., 0] * x[..., 1]], axis=-1)

    def solved(change: Callable[[Any], Any]) -> Minimizer:
        constraints = NonlinearConstraint(lambda x: change(ring(x)), [-1.0, -2.0], [1.0, 2.0])
        objective = f if vectorized else lambda x: (x * x).sum()
        m: Minimizer = fit(objective, constraints=constraints, vectorized=vectorized)
        return m

    assert same(solved(layout), solved(lambda values: values))


def game(X: Any, Y: Any) -> Any:
    """Return the values of a game that is not symmetric."""
    return (X[:, None, 0] - 0.3) ** 2 - (Y[None, :, 0] - 0.2) ** 2 + X[:, None, 1] * Y[None, :, 1]


def play(function: Any, **parameters: Any) -> MinMaxSolver:
    """Return a short fit of a game."""
    given: dict[str, Any] = {"max_iter": 3, "gens_x": 2, "gens_y": 2, "random_state": 0, "device": "cpu", **parameters}
    return MinMaxSolver(**given).fit(function, [(-1.0, 1.0)] * 2, [(-1.0, 1.0)] * 2)


def same_game(first: MinMaxSolver, second: MinMaxSolver) -> bool:
    """Whether two fits of a game ended with the same bits."""
    pairs = zip(first.runs_, second.runs_, strict=True)
    return same(first, second) and all(np.array_equal(a.x, b.x) and a.fun == b.fun for a, b in pairs)


@layouts
@pytest.mark.parametrize("parameters", [{}, {"n_runs": 2}, {"dtype": "float32"}], ids=str)
def test_a_game_may_return_any_layout(layout: Callable[[Any], Any], parameters: dict[str, Any]) -> None:
    assert same_game(play(lambda X, Y: layout(game(X, Y)), **parameters), play(game, **parameters))


@layouts
@pytest.mark.parametrize("n_runs", [1, 2])
def test_a_game_may_be_told_in_any_layout(layout: Callable[[Any], Any], n_runs: int) -> None:
    box = [(-1.0, 1.0)] * 2
    given: dict[str, Any] = {"max_iter": 3, "gens_x": 2, "gens_y": 2, "random_state": 0, "device": "cpu"}
    plain, other = (MinMaxSolver(bounds_x=box, bounds_y=box, n_runs=n_runs, **given) for _ in range(2))
    while not plain.stopped_:
        X, Y = plain.ask()
        X3, Y3 = X.reshape(n_runs, -1, 2), Y.reshape(n_runs, -1, 2)
        F = np.stack([game(x, y) for x, y in zip(X3, Y3, strict=True)]).reshape(*X.shape[:-1], -1)
        plain.tell(X, Y, F)
        other.tell(*other.ask(), layout(F))
    assert same_game(plain, other)


def test_functions_may_return_the_same_memory_again() -> None:
    """The result of one call is read before the next one."""
    memory = np.empty((200, 200))

    def again(X: Any, Y: Any) -> Any:
        values = memory[: len(X), : len(Y)]
        values[...] = game(X, Y)
        return values

    assert same_game(play(again, n_runs=3), play(game, n_runs=3))

    def half(k: int) -> Callable[[Any], Any]:
        def constraint(x: Any) -> Any:
            values = memory[0, : len(x)]
            values[...] = x[:, k]
            return values

        return constraint

    shared, apart = (
        fit(constraints=[NonlinearConstraint(one, 0.5, 2.0) for one in functions])
        for functions in ((half(0), half(1)), (lambda x: x[:, 0], lambda x: x[:, 1]))
    )
    assert same(shared, apart)


MASKED = np.ma.MaskedArray


@pytest.mark.parametrize(
    "call",
    [
        lambda: fit(lambda X: MASKED(f(X), X[:, 0] > 0)),
        lambda: fit(constraints=NonlinearConstraint(lambda x: MASKED(x[..., 0], x[..., 0] > 0), 0.0, 1.0)),
        lambda: play(lambda X, Y: MASKED(game(X, Y), game(X, Y) > 0)),
        lambda: get_problem("sphere", dim=2)(MASKED([[1.0, 2.0]], [[False, True]])),
        lambda: told(lambda X: (X, MASKED(f(X), X[:, 0] > 0))),
        lambda: told(lambda X: (MASKED(X, X > 0), f(X))),
    ],
)
def test_masked_entries_are_no_numbers(call: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match=r"must have no masked entries, got \d+ of \d+ masked; .filled"):
        call()


def test_a_masked_value_of_one_point_is_no_number() -> None:
    with pytest.raises(TypeError, match="must return one real number, got masked"):
        fit(lambda x: np.ma.masked, vectorized=False)


def told(made: Callable[[Any], tuple[Any, Any]]) -> Any:
    """Tell a Minimizer what is made of the points that it asks for."""
    m = Minimizer("jde", bounds=BOX, random_state=0, device="cpu")
    return m.tell(*made(m.ask()))


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_a_matrix_of_one_row_is_no_vector() -> None:
    with pytest.raises(ValueError, match="the objective's return value must have shape"):
        fit(lambda X: np.matrix(f(X)))
    assert np.array_equal(fit(lambda X: np.matrix(f(X)).T).fitness_, fit().fitness_)  # a column


# -- points given as anything ------------------------------------------------------------------------------------------

POINTS = [[0.5, 3.0], [1.0, -1.0], [0.0, 3.0]]
GIVEN: dict[str, Any] = {
    "a list": POINTS,
    "integers": np.array([[1, 2], [3, 4], [5, -6]]),
    "Fortran order": np.asfortranarray(POINTS),
    "reversed": np.array(POINTS)[::-1],
    "every other column": np.array(POINTS).repeat(2, axis=1)[:, ::2],
    "big-endian": np.array(POINTS, ">f8"),
    "not aligned": unaligned(np.array(POINTS)),
}
given = pytest.mark.parametrize("X", GIVEN.values(), ids=GIVEN)


def constrained(**options: Any) -> ConstrainedProblem:
    """Return a problem of two variables, with an inequality."""
    return ConstrainedProblem(
        lambda X: X[:, 0] / 2 + X[:, 1],
        [(-3, 3)] * 2,
        NonlinearConstraint(lambda x: x[..., 0] * x[..., 1], -np.inf, 1),
        **options,
    )


PROBLEMS: dict[str, Callable[[Any], Any]] = {
    "values": constrained().values,
    "f": constrained().f,
    "constraint_values": constrained().constraint_values,
    "violation": constrained().violation,
    "a problem": get_problem("sphere", dim=2),
    "a min-max problem": lambda X: get_problem("minmax/rustem1")(X, X),
    "a Lagrangian": lambda X: AugmentedLagrangian(constrained())(X, [[0.5]]),
    "a device objective": DeviceObjective("return x[0] + 2 * x[1];"),
}


@given
@pytest.mark.parametrize("call", PROBLEMS.values(), ids=PROBLEMS)
def test_points_may_be_given_as_anything(call: Callable[[Any], Any], X: Any) -> None:
    expected = call(np.ascontiguousarray(X, np.float64))
    assert np.array_equal(call(X), expected)
    assert len(np.unique(expected)) > 1


@pytest.mark.parametrize("call", PROBLEMS.values(), ids=PROBLEMS)
@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([1.0, 2.0], r"takes X of shape \(n, .\).*, got \(2,\)"),
        (np.zeros((1, 1, 2)), r"takes X of shape \(n, .\).*, got \(1, 1, 2\)"),
        ([["a", "b"]], r"takes X of real numbers: X must hold real numbers, got dtype <U1"),
        ([[1j, 2.0]], r"X must hold real numbers, got dtype complex128; return .real"),
        ([[1.0, 2.0], [3.0]], r"X must be an array of numbers, got \[\[1.0, 2.0\], \[3.0\]\]"),
        (None, r"X must hold real numbers, got dtype object"),
    ],
)
def test_points_that_are_none(call: Callable[[Any], Any], X: Any, message: str) -> None:
    if call is PROBLEMS["a problem"] and isinstance(X, list) and X == [1.0, 2.0]:  # one point is allowed there
        assert call(X) == 5.0
        return
    with pytest.raises(ValueError, match=message):
        call(X)


def test_points_of_a_compiled_constrained_problem_may_be_a_list() -> None:
    problem = get_problem("fabris2012/p6")
    assert isinstance(problem, ConstrainedProblem)
    X = np.array([[0.1, 0.5, 8.0], [0.2, 0.4, 9.0]])
    for call in (problem.values, problem.f, problem.constraint_values, problem.violation):
        assert np.array_equal(call(X.tolist()), call(X))
        assert np.array_equal(call(np.asfortranarray(X)), call(X))
        with pytest.raises(ValueError, match=r"takes X of shape \(n, .\).*, got \(2, 2\)"):
            call(X[:, :2])


# -- the address -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros(8)[::2], r"is not in C order: shape \(4,\), strides \(16,\)"),
        (np.zeros(4)[::-1], r"is not in C order: shape \(4,\), strides \(-8,\)"),
        (np.zeros((2, 3)).T, r"is not in C order: shape \(3, 2\)"),
        (np.zeros(4, np.float32), "has dtype float32, not float64"),
        (np.zeros(4, ">f8"), "has dtype >f8, not float64"),
        (np.zeros(5), "has 5 entries, not 4"),
        (unaligned(np.zeros(4)), "is not aligned"),
    ],
)
def test_no_address_is_given_of_what_would_be_read_as_something_else(array: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"an array for compiled code {message}"):
        address(array, np.dtype(np.float64), 4)


def test_the_address_is_that_of_the_memory() -> None:
    array = np.zeros((2, 3))
    assert address(array, np.dtype(np.float64), 6) == array.ctypes.data
    assert address(array[1:], np.dtype(np.float64), 3) == array.ctypes.data + 24
    assert address(np.zeros((0, 3)), np.dtype(np.float64), 0) >= 0
    with pytest.raises(ValueError, match="is on cpu, not on cuda:0"):
        address(array, np.dtype(np.float64), 6, device=0)


def test_dense_arrays_are_not_copied() -> None:
    X = np.zeros((3, 2))
    values = np.arange(3.0)
    assert contiguous(values, np.float64) is values
    assert real_values(values, X, "f") is values
    for other in (values[::-1], values.astype(np.float32), values.astype(">f8"), unaligned(values)):
        dense = contiguous(other, np.float64)
        assert address(dense, np.dtype(np.float64), 3)
        assert np.array_equal(dense, other)


# -- on a GPU ----------------------------------------------------------------------------------------------------------

on_gpu = pytest.mark.gpu
GPU_LAYOUTS = {
    "real part of complex numbers": LAYOUTS["real part of complex numbers"],
    "reversed": LAYOUTS["reversed"],
    "every other": LAYOUTS["every other"],
    "one of two columns": lambda values: values[..., None].repeat(2, axis=-1)[..., 1],
    "half of the memory": lambda values: values.repeat(2, axis=-1)[..., ::2],
}
gpu_layouts = pytest.mark.parametrize("layout", GPU_LAYOUTS.values(), ids=GPU_LAYOUTS)


@on_gpu
@gpu_layouts
@pytest.mark.parametrize("parameters", [{}, {"n_runs": 3}, {"execution": "graph"}, {"dtype": "float32"}], ids=str)
def test_a_cupy_objective_may_return_any_layout(layout: Callable[[Any], Any], parameters: dict[str, Any]) -> None:
    options = {"device": "cuda", "max_iter": 20, **parameters}
    assert same(fit(lambda X: layout(f(X)), **options), fit(f, **options))


@on_gpu
@gpu_layouts
def test_cupy_points_and_values_may_be_told_in_any_layout(layout: Callable[[Any], Any]) -> None:
    plain, other = (Minimizer("jde", bounds=BOX, max_iter=4, random_state=0, device="cuda") for _ in range(2))
    while not plain.stopped_:
        X = plain.ask()
        plain.tell(X, f(X))
        other.tell(layout(other.ask()), layout(f(X)))
    assert same(plain, other)


@on_gpu
@gpu_layouts
def test_a_game_on_a_gpu_may_return_any_layout(layout: Callable[[Any], Any]) -> None:
    assert same_game(play(lambda X, Y: layout(game(X, Y)), device="cuda"), play(game, device="cuda"))


@on_gpu
def test_cupy_points_may_be_of_any_layout() -> None:
    import cupy

    X = cupy.array(POINTS)
    for name in ("values", "violation", "a problem", "a device objective"):
        call = PROBLEMS[name]
        for other in (cupy.asfortranarray(X), X[::-1].copy()[::-1], X.repeat(2, axis=1)[:, ::2]):
            assert bool((call(other) == call(X)).all()), name


@on_gpu
def test_arrays_of_the_other_library_are_refused() -> None:
    import cupy

    with pytest.raises(TypeError, match="must be a NumPy array for a NumPy population, got a ndarray of a GPU"):
        fit(lambda X: cupy.asarray(f(X)))
    with pytest.raises(TypeError, match="must be a CuPy array for a CuPy population, got ndarray"):
        fit(lambda X: f(X).get(), device="cuda")
    with pytest.raises(ValueError, match="is on cuda:0, not on cpu"):
        address(cupy.zeros(3), np.dtype(np.float64), 3)


@on_gpu
def test_an_array_of_another_gpu_is_refused() -> None:
    import cupy

    if cupy.cuda.runtime.getDeviceCount() < 2:
        pytest.skip("needs two GPUs")

    def moved(X: Any) -> Any:
        values = f(X).get()
        with cupy.cuda.Device(1):
            return cupy.asarray(values)

    with pytest.raises(ValueError, match=r"must be on the device of the population, cuda:0, got an array on cuda:1"):
        fit(moved, device="cuda:0")
