"""Official data of CEC 2005, in nashed2012's f7 and f17 and in qin2012."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skde import get_problem
from skde.problems import cec2005

FUNCTIONS = {
    "nashed2012/f7": "F5",
    "nashed2012/f17": "F12",
    "qin2012/F1": "F1",
    "qin2012/F2": "F6",
    "qin2012/F4": "F9",
}


def points(problem: Any) -> Any:
    """Five points of a problem's box."""
    low, high = problem.bounds.T
    return low + (high - low) * np.random.default_rng(0).random((5, problem.dim))


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dim", [10, 30, 100])
def test_values_are_those_of_optproblems(name: str, dim: int) -> None:
    reference = getattr(pytest.importorskip("optproblems.cec2005"), FUNCTIONS[name])(dim)
    problem = get_problem(name, dim=dim, data="official")
    X = points(problem)
    expected = np.array([reference.objective_function(list(x)) for x in X])
    assert np.allclose(problem(X), expected - getattr(reference, "bias", 0.0), rtol=1e-10)
    assert problem(problem.x_opt) == 0.0
    assert problem.options == {"data": "official"}


def test_griewank_is_shifted_by_the_official_numbers() -> None:
    """optproblems' F7 is rotated; the paper's is not."""
    reference = pytest.importorskip("optproblems.cec2005").F7
    problem = get_problem("qin2012/F3", dim=10, data="official")
    assert np.array_equal(problem.x_opt, reference.offsets[:10])


def write(folder: Path, name: str, rows: Any) -> None:
    """Write a file of the competition."""
    text = "\n".join(" ".join(repr(float(number)) for number in row) for row in np.atleast_2d(rows))
    (folder / name).write_text(text + "\n")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with files of the competition's shapes."""
    u = np.random.default_rng(1)
    for function in ("F1", "F6", "F7", "F9"):
        write(tmp_path, cec2005.FILES[function], u.uniform(-5, 5, 100).round(3))
    write(tmp_path, cec2005.FILES["F5"], u.integers(-90, 90, (101, 100)))
    angles = u.uniform(-3, 3, (1, 100)).round(3)
    write(tmp_path, cec2005.FILES["F12"], np.concatenate([u.integers(-90, 90, (200, 100)), angles]))
    return tmp_path


def test_a_folder_replaces_the_package(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cec2005, "find_spec", lambda name: None)
    for name in (*FUNCTIONS, "qin2012/F3"):
        problem = get_problem(name, dim=12, data="official", folder=folder)
        assert problem(problem.x_opt) == 0.0
        assert problem.options == {"data": "official", "folder": str(folder)}
    f7 = get_problem("nashed2012/f7", dim=12, data="official", folder=folder)
    rows = np.loadtxt(folder / cec2005.FILES["F5"])
    o = rows[0, :12].copy()
    o[:3], o[8:] = -100, 100
    assert np.array_equal(f7.x_opt, o)
    assert np.array_equal(f7.arrays[0], rows[1:13, :12].T)
    f17 = get_problem("nashed2012/f17", dim=12, data="official", folder=folder)
    rows = np.loadtxt(folder / cec2005.FILES["F12"])
    assert np.array_equal(f17.x_opt, rows[200, :12])
    assert np.array_equal(f17.arrays[1], rows[100:112, :12].T)


def test_functions_without_data_are_the_same() -> None:
    official, generated = (get_problem("nashed2012/f1", dim=5, data=data) for data in cec2005.CHOICES)
    assert np.array_equal(official.arrays[0], generated.arrays[0])


def test_official_data_that_are_missing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cec2005, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"needs optproblems, which is not installed, .*pip install optproblems"):
        get_problem("qin2012/F1", dim=5, data="official")
    (folder / cec2005.FILES["F6"]).unlink()
    with pytest.raises(FileNotFoundError, match=r"rosenbrock_func_data.txt is missing; optproblems has the data"):
        get_problem("qin2012/F2", dim=5, data="official", folder=folder)
    write(folder, cec2005.FILES["F12"], np.zeros((30, 100)))
    with pytest.raises(ValueError, match=r"must have 105 or more rows of 5 or more numbers; it has 30 rows"):
        get_problem("nashed2012/f17", dim=5, data="official", folder=folder)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"data": "offical"}, ValueError, "data must be one of 'generated', 'official'.*did you mean 'official'"),
        ({"folder": "x"}, ValueError, "folder is for data='official' only, got 'x'"),
        (
            {"data": "official", "folder": "/no/such"},
            FileNotFoundError,
            "files, but /no/such is none",
        ),
        ({"data": "official", "dim": 101}, ValueError, "dim must be at most 100 with data='official', got 101"),
    ],
)
def test_bad_input(options: dict[str, Any], error: type[Exception], message: str) -> None:
    for name in ("nashed2012/f7", "qin2012/F1"):
        with pytest.raises(error, match=message):
            get_problem(name, **{"dim": 10, **options})
