"""Compiled problems, compared with formulas.py and with their known minima; the registry of problems."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from decimal import Decimal, getcontext, localcontext
from functools import lru_cache
from typing import Any

import numpy as np
import pytest

from skde import Problem, get_problem, problem_names

from . import formulas, soco
from .formulas import Vector

FORMULAS = {**formulas.FORMULAS, **soco.FORMULAS}
BOXES = {**formulas.BOXES, **soco.BOXES}
ALL = sorted(FORMULAS)
DIMS = [2, 10, 30, 131]  # 131 takes a second pass over the 128 partial sums

# |f(x_opt) - f_opt| as far as rounding leaves it; 0 where not named.
RESIDUES: dict[str, Callable[[int], float]] = {
    "nashed2012/f8": lambda n: 1e-29 * n,  # x_opt is irrational
    "nashed2012/f10": lambda n: 2 * n * np.spacing(418.9829),  # 418.9829 n cancels
    "nashed2012/f14": lambda n: 5e-16,  # 20 + e is not a float
    "nashed2012/f19": lambda n: 1e-31,  # nor is pi
}
ALIASES = {
    "sphere": "nashed2012/f0",
    "elliptic": "nashed2012/f1",
    "sum_squares": "nashed2012/f2",
    "schwefel_2_22": "nashed2012/f4",
    "zakharov": "nashed2012/f5",
    "schwefel_1_2": "nashed2012/f6",
    "schwefel_2_6": "nashed2012/f7",
    "dixon_price": "nashed2012/f8",
    "rastrigin": "nashed2012/f9",
    "schwefel": "nashed2012/f10",
    "katsuura": "nashed2012/f11",
    "griewank": "nashed2012/f12",
    "rosenbrock": "nashed2012/f13",
    "ackley": "nashed2012/f14",
    "griewank_rosenbrock": "nashed2012/f15",
    "scaffer_f6": "nashed2012/f16",
    "fletcher_powell": "nashed2012/f17",
    "salomon": "nashed2012/f18",
    "levy": "nashed2012/f19",
    "shifted_sphere": "qin2012/F1",
    "shifted_rosenbrock": "qin2012/F2",
    "shifted_griewank": "qin2012/F3",
    "shifted_rastrigin": "qin2012/F4",
}


@lru_cache
def problem_of(name: str, dim: int) -> Problem:
    return get_problem(name, dim=dim)


def random_points(problem: Problem, n: int, seed: int = 0) -> Vector:
    low, high = problem.bounds.T
    return np.random.default_rng(seed).uniform(low, high, (n, problem.dim))


def residue(name: str, dim: int) -> float:
    return float(RESIDUES[name](dim)) if name in RESIDUES else 0.0


# ---- values ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("name", ALL)
def test_minimum(name: str, dim: int) -> None:
    problem = problem_of(name, dim)
    assert problem.f_opt == pytest.approx(soco.MINIMA.get(name, formulas.minimum(name, dim)), rel=1e-15, abs=0)
    definitions = soco if name in soco.FORMULAS else formulas
    np.testing.assert_allclose(problem.x_opt, definitions.minimiser(name, dim), rtol=4e-16, atol=0)
    assert abs(problem(problem.x_opt) - problem.f_opt) <= residue(name, dim)


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("name", ALL)
def test_values(name: str, dim: int) -> None:
    problem = problem_of(name, dim)
    X = random_points(problem, 64)
    np.testing.assert_allclose(problem(X), FORMULAS[name](X), rtol=1e-12, atol=0)


@pytest.mark.parametrize("dim", [2, 10, 131])
@pytest.mark.parametrize("name", ALL)
def test_nothing_near_the_minimiser_is_lower(name: str, dim: int) -> None:
    problem = problem_of(name, dim)
    low, high = problem.bounds.T
    rng = np.random.default_rng(1)
    reach = 10.0 ** rng.uniform(-9, -0.5, (200, 1)) * (high - low)
    X = np.clip(problem.x_opt + reach * rng.uniform(-1, 1, (200, dim)), low, high)
    f = problem(X)
    assert f.min() >= problem.f_opt - residue(name, dim)
    assert f.max() > problem.f_opt + 1e-3


@pytest.mark.parametrize("name", ALL)
def test_box(name: str) -> None:
    problem = problem_of(name, 10)
    np.testing.assert_array_equal(problem.bounds, [[-BOXES[name], BOXES[name]]] * 10)
    assert (problem.x_opt >= problem.bounds[:, 0]).all()
    assert (problem.x_opt <= problem.bounds[:, 1]).all()


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("nashed2012/f1", {"index_base": 1}),
        ("nashed2012/f2", {"index_base": 1}),
        ("nashed2012/f3", {"index_base": 1}),
        ("nashed2012/f5", {"index_base": 1}),
        ("nashed2012/f8", {"as_run": True}),
        ("nashed2012/f19", {"as_run": True}),
    ],
)
def test_options_change_the_function(name: str, options: dict[str, Any]) -> None:
    problem, usual = get_problem(name, dim=10, **options), problem_of(name, 10)
    X = random_points(problem, 64)
    np.testing.assert_allclose(problem(X), FORMULAS[name](X, **options), rtol=1e-12)
    assert (problem(X) != usual(X)).all()
    assert abs(problem(problem.x_opt) - problem.f_opt) <= residue(name, 10)
    assert get_problem(name, dim=10, **problem.options).options == problem.options
    assert next(iter(options)) in repr(problem)


def test_dixon_price_local_minima() -> None:
    # w_1 / (1 + w_1) at x_0 = 1 / (1 + w_1): 1/2 with the paper's weights, 2/3 with the usual ones.
    x = np.zeros(10)
    x[0] = 1 / 2
    assert get_problem("dixon_price", dim=10, as_run=True)(x) == 0.5
    x[0] = 1 / 3
    assert get_problem("dixon_price", dim=10)(x) == pytest.approx(2 / 3, rel=1e-15)


def test_katsuura_is_zero_at_every_half_integer() -> None:
    problem = problem_of("katsuura", 30)
    assert (problem(np.round(2 * random_points(problem, 20)) / 2) == 0).all()


@pytest.mark.parametrize("dim", [2, 30, 131])
@pytest.mark.parametrize("index_base", [0, 1])
def test_elliptic_weights_are_rounded_correctly(dim: int, index_base: int) -> None:
    (weights,) = get_problem("elliptic", dim=dim, index_base=index_base).arrays
    with localcontext() as context:
        context.prec = 60
        for i, weight in enumerate(weights):
            exact = (Decimal(6) * (i - index_base) / (dim - 1) * Decimal(10).ln()).exp()
            error = abs(Decimal(float(weight)) - exact)
            assert error <= Decimal(float(np.spacing(weight))) / 2
    assert getcontext().prec < 60


# ---- calls -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", [2, 30])
@pytest.mark.parametrize("name", sorted(formulas.FORMULAS))  # those of soco.py round x - o: test_wang2012.py
def test_float32_stays_float32(name: str, dim: int) -> None:
    problem = problem_of(name, dim)
    X = random_points(problem, 64).astype(np.float32)
    f = problem(X)
    assert f.dtype == np.float32
    np.testing.assert_allclose(f, problem(X.astype(np.float64)), rtol=2e-5)


@pytest.mark.parametrize("name", sorted(formulas.FORMULAS))  # those of soco.py round x - o: test_wang2012.py
def test_float32_near_the_minimum(name: str) -> None:
    # At the minimiser rounded to float32, both precisions must agree on how far above the minimum that is.
    problem = problem_of(name, 10)
    x = problem.x_opt.astype(np.float32)
    typical = float(np.median(problem(random_points(problem, 64))))
    assert abs(float(problem(x)) - float(problem(x.astype(np.float64)))) <= 1e-5 * typical


@pytest.mark.parametrize("name", ALL)
def test_points_do_not_depend_on_their_company(name: str) -> None:
    problem = problem_of(name, 131)
    X = random_points(problem, 5)
    f = problem(X)
    assert f.shape == (5,)
    assert f.dtype == np.float64
    assert [float(problem(x)) for x in X] == f.tolist()
    assert np.shape(problem(X[0])) == ()


def test_strided_and_integer_and_listed_points() -> None:
    problem = problem_of("rosenbrock", 10)
    X = np.random.default_rng(2).integers(-5, 5, (7, 10))
    expected = FORMULAS["nashed2012/f13"](X.astype(float))
    for same in (X, X.tolist(), X.astype(np.int8), np.asfortranarray(X, float), np.repeat(X, 2, axis=0)[::2]):
        f = problem(same)
        assert f.dtype == np.float64
        np.testing.assert_allclose(f, expected, rtol=1e-14)


def test_no_points() -> None:
    assert problem_of("sphere", 10)(np.zeros((0, 10))).shape == (0,)


def test_nan_stays_nan() -> None:
    X = np.ones((1, 10))
    X[0, 3] = np.nan
    assert np.isnan(problem_of("rastrigin", 10)(X)).all()


@pytest.mark.parametrize("shape", [(), (9,), (11,), (4, 9), (10, 4), (2, 3, 10)])
def test_wrong_shapes(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"nashed2012/f9.*\(n, 10\)") as caught:
        problem_of("rastrigin", 10)(np.zeros(shape))
    assert str(shape) in str(caught.value)


@pytest.mark.parametrize("X", [np.zeros(10, complex), np.array(["a"] * 10)])
def test_wrong_types(X: Any) -> None:
    with pytest.raises(ValueError, match="real numbers"):
        problem_of("rastrigin", 10)(X)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda problem: pickle.loads(pickle.dumps(problem))])
def test_copies(name: str, duplicate: Any) -> None:
    problem = problem_of(name, 10)
    other = duplicate(problem)
    X = random_points(problem, 5)
    np.testing.assert_array_equal(other(X), problem(X))
    assert repr(other) == repr(problem)
    assert vars(other).keys() == vars(problem).keys()


def test_parts_cannot_be_changed() -> None:
    problem = problem_of("shifted_sphere", 10)
    for array in (problem.bounds, problem.x_opt, *problem.arrays):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 1


def test_made_by_hand() -> None:
    box = np.array([[-1.0, 2.0]] * 3)
    weights = np.array([1.0, 2.0, 4.0])
    problem = Problem("mine", "nashed2012_f1", box, np.zeros(3), 0.0, (weights,))
    assert problem([1.0, 1.0, 1.0]) == 7
    assert (problem.dim, problem.options) == (3, {})
    box[:], weights[:] = 9, 9
    assert problem([1.0, 1.0, 1.0]) == 7
    assert problem.bounds.tolist() == [[-1, 2]] * 3


# ---- registry --------------------------------------------------------------------------------------------------------


def test_names() -> None:
    tested_elsewhere = [f"janssen2024/F{k}" for k in range(1, 11)]
    assert sorted(problem_names()) == sorted([*ALIASES, *FORMULAS, *tested_elsewhere])
    for name in problem_names():
        problem = get_problem(name, dim=10)
        assert problem.name == ALIASES.get(name, name)
        assert problem.dim == 10


def test_default_dimension_and_repr() -> None:
    assert repr(get_problem("rastrigin")) == "Problem('nashed2012/f9', dim=30)"
    assert get_problem("rastrigin").options == {}


def test_dimensions_are_numpy_friendly() -> None:
    dim: Any = np.int32(4)
    assert get_problem("sphere", dim=dim).dim == 4


@pytest.mark.parametrize("name", ALL)
def test_smallest_dimension(name: str) -> None:
    pairs = {"nashed2012/f13", "nashed2012/f15", "nashed2012/f16", "qin2012/F2", "wang2012/F3"}
    if name in pairs | {f"wang2012/F{k}" for k in range(9, 20)}:
        with pytest.raises(ValueError, match=r"dim.*\[2, .*got 1"):
            get_problem(name, dim=1)
    else:
        problem = get_problem(name, dim=1)
        assert abs(problem(problem.x_opt) - problem.f_opt) <= residue(name, 1)


@pytest.mark.parametrize("name", ["rastrign", "nashed2012/f99", "Rastrigin"])
def test_unknown_name(name: str) -> None:
    with pytest.raises(ValueError, match=rf"no problem named '{name}'; did you mean '.*problem_names"):
        get_problem(name)


def test_unknown_name_that_resembles_none() -> None:
    with pytest.raises(ValueError, match=r"no problem named '#' \(skde.problem_names"):
        get_problem("#")


@pytest.mark.parametrize("dim", [0, -1])
def test_dimension_out_of_range(dim: int) -> None:
    with pytest.raises(ValueError, match=rf"dim of 'sphere'.*got {dim}"):
        get_problem("sphere", dim=dim)


@pytest.mark.parametrize("dim", [2.0, "2", True])
def test_dimension_of_another_type(dim: Any) -> None:
    with pytest.raises(TypeError, match=r"dim of 'sphere' must be an integer"):
        get_problem("sphere", dim=dim)


def test_unknown_option() -> None:
    with pytest.raises(TypeError, match="no option 'index'; it has as_run, index_base"):
        get_problem("sphere", index=1)
    with pytest.raises(TypeError, match="no option 'as_run'; it has data, folder"):
        get_problem("shifted_sphere", as_run=True)
    with pytest.raises(TypeError, match="no option 'data'; it has none"):
        get_problem("fabris2012/p3", data="official")


def test_option_values() -> None:
    with pytest.raises(ValueError, match=r"index_base.*got 2"):
        get_problem("elliptic", index_base=2)
    with pytest.raises(TypeError, match=r"as_run.*got 'no'"):
        get_problem("dixon_price", as_run="no")


# ---- GPU -------------------------------------------------------------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("name", ALL)
def test_gpu_has_the_same_bits(name: str, dim: int, dtype: Any) -> None:
    import cupy

    problem = problem_of(name, dim)
    X = np.vstack([random_points(problem, 64), problem.x_opt]).astype(dtype)
    f = problem(cupy.asarray(X))
    assert isinstance(f, cupy.ndarray)
    assert f.dtype == dtype
    np.testing.assert_array_equal(f.get(), problem(X))
