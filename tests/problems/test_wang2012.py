"""wang2012 at its papers' dimensions: values, minima, overflow, the paper's form, official data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skde import JDE, Minimizer, get_problem

from .soco import BOXES, FORMULAS, MINIMA, minimiser

ALL = sorted(FORMULAS)
DIMS = [2, 3, 7, 10, 100, 1000]
OVERFLOW = ("wang2012/F7", "wang2012/F15")


def points(name: str, dim: int, n: int = 16) -> Any:
    """Random points of the box, of which half are close to the minimiser."""
    rng = np.random.default_rng(dim)
    X = rng.uniform(-BOXES[name], BOXES[name], (n, dim))
    X[::2] = 0.99 * minimiser(name, dim) + 0.01 * X[::2]
    return X


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("name", ALL)
def test_values(name: str, dim: int) -> None:
    problem, X = get_problem(name, dim=dim), points(name, dim)
    with np.errstate(over="ignore"):
        expected = FORMULAS[name](X)
    np.testing.assert_allclose(problem(X), expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("name", ALL)
def test_float32(name: str, dim: int) -> None:
    """The minimum counts too: biases are larger than what is added to them, near the minimiser."""
    problem, X = get_problem(name, dim=dim), points(name, dim).astype(np.float32)
    f = problem(X)
    assert f.dtype == np.float32
    with np.errstate(over="ignore"):
        expected = problem(X.astype(np.float64)).astype(np.float32).astype(np.float64)
    finite = np.isfinite(expected)
    assert np.array_equal(np.isinf(f), ~finite)
    f, expected = f[finite], expected[finite]
    assert (np.abs(f - expected) <= 4e-5 * (expected - problem.f_opt + abs(problem.f_opt))).all()


@pytest.mark.parametrize("dim", DIMS)
@pytest.mark.parametrize("name", ALL)
def test_minimum(name: str, dim: int) -> None:
    problem = get_problem(name, dim=dim)
    np.testing.assert_array_equal(problem.x_opt, minimiser(name, dim))
    assert problem.f_opt == MINIMA.get(name, 0.0)
    assert problem(problem.x_opt) == problem.f_opt
    assert (np.abs(problem.x_opt) <= BOXES[name]).all()


@pytest.mark.parametrize("name", OVERFLOW)
def test_products_overflow(name: str) -> None:
    """Uniform points of 1000 variables have no finite value, and a run begins with infinities that tie."""
    problem = get_problem(name, dim=1000)
    X = np.random.default_rng(0).uniform(-10, 10, (20, 1000))
    assert (problem(X) == np.inf).all()
    assert np.isfinite(problem(0.9 * problem.x_opt + 0.1 * X)).all()
    assert np.isfinite(get_problem(name, dim=200)(X[:, :200])).all()
    with pytest.warns(RuntimeWarning, match="no value of the objective was finite in 32 evaluations"):
        fitted = Minimizer(JDE(pop_size=8), max_iter=3, random_state=0).fit(problem)
    assert fitted.fun_ == np.inf
    assert fitted.n_iter_ == 3


def test_the_paper_s_form() -> None:
    """The published program takes F2's first variable unshifted, and nothing else differs."""
    problem = get_problem("wang2012/F2", dim=3, spec="paper")
    o = minimiser("wang2012/F2", 3)
    assert problem.x_opt.tolist() == [0.0, *o[1:]]
    assert problem(problem.x_opt) == problem.f_opt == -450
    assert problem([2.0, *o[1:]]) == -448
    assert problem.options == {"spec": "paper"}
    X = points("wang2012/F13", 10)
    same = get_problem("wang2012/F13", dim=10, spec="paper")
    np.testing.assert_array_equal(same(X), get_problem("wang2012/F13", dim=10)(X))


@pytest.mark.parametrize(("name", "shift"), [("F4", "F4"), ("F5", "F5"), ("F15", "F15"), ("F17", "F3")])
def test_official_data(name: str, shift: str, tmp_path: Path) -> None:
    values = np.linspace(-4, 4, 1000)
    (tmp_path / f"{shift}.txt").write_text(" ".join(map(str, values)) + "\n")
    problem = get_problem(f"wang2012/{name}", dim=12, data="official", folder=tmp_path)
    expected = np.zeros(12)
    if name == "F17":
        expected[[1, 3, 5]] = values[:3]
    else:
        expected[:] = values[:12]
    np.testing.assert_array_equal(problem.x_opt, expected)
    assert problem(expected) == problem.f_opt
    assert problem.options == {"data": "official", "folder": str(tmp_path)}
    assert get_problem(problem.name, dim=12, **problem.options)(expected) == problem.f_opt


def test_options_name_the_folder_of_a_path(tmp_path: Path) -> None:
    class Folder:
        def __fspath__(self) -> str:
            return str(tmp_path)

    (tmp_path / "F1.txt").write_text("1 2 3\n")
    problem = get_problem("wang2012/F1", dim=3, data="official", folder=Folder())
    assert problem.options == {"data": "official", "folder": str(tmp_path)}


def test_official_data_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"data='official' needs your copy of the files or folder=.*F1.txt"):
        get_problem("wang2012/F1", dim=10, data="official")
    with pytest.raises(FileNotFoundError, match=r"F1.txt is missing; write the 1000 numbers"):
        get_problem("wang2012/F16", dim=10, data="official", folder=tmp_path)
    (tmp_path / "F1.txt").write_text("1 2 3\n")
    with pytest.raises(ValueError, match=r"F1.txt must have 1 or more rows of 10 or more numbers"):
        get_problem("wang2012/F1", dim=10, data="official", folder=tmp_path)


def test_options_are_checked() -> None:
    with pytest.raises(ValueError, match=r"spec must be one of .*got 'granada'"):
        get_problem("wang2012/F2", spec="granada")
    with pytest.raises(ValueError, match=r"dim.*\[2, .*got 1"):
        get_problem("wang2012/F12", dim=1)
