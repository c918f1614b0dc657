"""Min-max problems: functors compared with formulas, and solutions with the results of searches."""

from __future__ import annotations

import ctypes
import subprocess

import numpy as np
import pytest
from scipy.optimize import minimize

from skde import MinMaxProblem, get_problem, problem_names
from skde.objectives.device import KERNELS, find_compiler

from .games import GAMES, Vector

ALL = sorted(GAMES)
SOURCE = """
#include "problems/all.cuh"
#define SKDE_CASE(name, Game)                                                                        \\
  extern "C" double name(const double* x, const double* y, int dx, int dy) {                         \\
    const auto component = [](const double* v) { return [v](int j) { return v[j]; }; };              \\
    return skde::Game::value(component(x), component(y), dx, dy, skde::Data<double>{});              \\
  }
SKDE_GAMES(SKDE_CASE)
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """Return the functors as functions of one pair."""
    folder = tmp_path_factory.mktemp("games")
    (folder / "games.cpp").write_text(SOURCE)
    options = ["-std=c++17", "-O1", "-fopenmp-simd", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off"]
    command = [*find_compiler(), *options, "-fPIC", "-shared", f"-I{KERNELS}", "games.cpp", "-o", "games.so"]
    subprocess.run(command, cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "games.so"))


def points(box: Vector, n: int, seed: int) -> Vector:
    return np.random.default_rng(seed).uniform(*box.T, (n, len(box)))


def worst(problem: MinMaxProblem, x: Vector, seed: int = 0) -> float:
    """Return the largest f(x, y) that searches from many y find."""
    f = GAMES[problem.name]
    Y = np.vstack([points(problem.bounds_y, 500, seed), problem.bounds_y.T])
    starts = Y[np.argsort(-f(x[None], Y)[0])[:5]]
    found = [minimize(lambda y: -f(x[None], y[None])[0, 0], y, bounds=problem.bounds_y).fun for y in starts]
    return -min(found)


def test_names() -> None:
    assert sorted(problem_names("minmax")) == ALL
    for name in ALL:
        problem = get_problem(name)
        assert isinstance(problem, MinMaxProblem)
        assert problem.source
        assert (len(problem.x_opt), len(problem.y_opt)) == (problem.dim_x, problem.dim_y)


@pytest.mark.parametrize("name", ALL)
def test_functors(name: str, compiled: ctypes.CDLL) -> None:
    problem = get_problem(name)
    function = getattr(compiled, problem.kernel)
    function.restype = ctypes.c_double
    X, Y = points(problem.bounds_x, 30, 0), points(problem.bounds_y, 30, 1)
    X[0], Y[0] = problem.x_opt, problem.y_opt
    found = [
        [function(x.ctypes.data_as(ctypes.c_void_p), y.ctypes.data_as(ctypes.c_void_p), len(x), len(y)) for y in Y]
        for x in X
    ]
    np.testing.assert_allclose(found, GAMES[name](X, Y), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ALL)
def test_value(name: str) -> None:
    problem = get_problem(name)
    assert GAMES[name](problem.x_opt[None], problem.y_opt[None])[0, 0] == pytest.approx(
        problem.value, rel=1e-14, abs=1e-14
    )
    for point, box in ((problem.x_opt, problem.bounds_x), (problem.y_opt, problem.bounds_y)):
        assert (point >= box[:, 0]).all()
        assert (point <= box[:, 1]).all()


@pytest.mark.parametrize("name", ALL)
def test_no_y_is_worse_for_the_best_x(name: str) -> None:
    problem = get_problem(name)
    assert worst(problem, problem.x_opt) <= problem.value + 1e-9 * max(1, abs(problem.value))


@pytest.mark.parametrize("name", ALL)
def test_no_x_is_better_in_the_worst_case(name: str) -> None:
    """Among random points, and points near the best one."""
    problem = get_problem(name)
    low, high = problem.bounds_x.T
    rng = np.random.default_rng(3)
    near = np.clip(problem.x_opt + rng.normal(0, 1e-2, (15, problem.dim_x)) * (high - low), low, high)
    for x in np.vstack([points(problem.bounds_x, 15, 2), near]):
        assert worst(problem, x) >= problem.value - 1e-9 * max(1, abs(problem.value))


@pytest.mark.parametrize("name", ALL)
def test_saddle_points_are_those_where_x_cannot_gain(name: str) -> None:
    problem = get_problem(name)
    f, y = GAMES[name], problem.y_opt
    starts = np.vstack([points(problem.bounds_x, 20, 4), problem.bounds_x.T])
    found = [minimize(lambda x: f(x[None], y[None])[0, 0], x, bounds=problem.bounds_x).fun for x in starts]
    gain = problem.value - min(found)
    assert (gain < 1e-7 * max(1, abs(problem.value))) == problem.saddle


def test_dimensions() -> None:
    assert repr(get_problem("fabris2012/p1")) == "MinMaxProblem('fabris2012/p1', dim_x=100, dim_y=100)"
    assert get_problem("fabris2012/p1", dim=3).dim_y == 3
    with pytest.raises(ValueError, match=r"dim of 'minmax/rustem4'.*\[2, 2\], got 3"):
        get_problem("minmax/rustem4", dim=3)


def test_a_name_that_is_nearly_right() -> None:
    with pytest.raises(ValueError, match="no problem named 'minmax/rustem9'; did you mean 'minmax/rustem"):
        get_problem("minmax/rustem9")
