"""The functions of Janssen and others, compared with NumPy formulas and with the competitions' programs in minionpy."""

from __future__ import annotations

import importlib.util
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from skde import DE, Minimizer, Problem, get_problem
from skde.problems import data

Vector = NDArray[np.float64]
KEYS = [f"F{k}" for k in range(1, 11)]
HYBRIDS = {"F5", "F6", "F7"}
# The year and the number of the function in the competition.
OFFICIAL = {
    "F1": (2017, 3), "F2": (2017, 4), "F3": (2017, 5), "F4": (2017, 10), "F5": (2014, 18), "F6": (2017, 16),
    "F7": (2014, 22), "F8": (2017, 22), "F9": (2017, 24), "F10": (2017, 26),
}  # fmt: skip


# ---- formulas; Z has shape (m, n) ------------------------------------------------------------------------------------


def zakharov(Z: Vector) -> Vector:
    s = 0.5 * Z @ np.arange(1, Z.shape[1] + 1)
    return (Z**2).sum(1) + s**2 + s**4


def rosenbrock(Z: Vector) -> Vector:
    Z = Z * 2.048 / 100 + 1
    return (100 * (Z[:, :-1] ** 2 - Z[:, 1:]) ** 2 + (Z[:, :-1] - 1) ** 2).sum(1)


def rastrigin(Z: Vector) -> Vector:
    Z = Z * 5.12 / 100
    return (Z**2 - 10 * np.cos(2 * np.pi * Z) + 10).sum(1)


def schwefel(Z: Vector) -> Vector:
    n = Z.shape[1]
    T = Z * 1000 / 100 + 420.9687462275036
    A = np.abs(T)
    M = 500 - np.fmod(A, 500)
    far = np.sign(T) * M * np.sin(np.sqrt(M)) - ((A - 500) / 100) ** 2 / n
    return 418.9828872724338 * n - np.where(A <= 500, T * np.sin(np.sqrt(A)), far).sum(1)


def bent_cigar(Z: Vector) -> Vector:
    return Z[:, 0] ** 2 + 1e6 * (Z[:, 1:] ** 2).sum(1)


def tail(W: Vector) -> Vector:
    return (0.5 * (W**2).sum(1) + W.sum(1)) / W.shape[1] + 0.5


def hgbat(Z: Vector) -> Vector:
    W = Z * 5 / 100 - 1
    return np.sqrt(np.abs((W**2).sum(1) ** 2 - W.sum(1) ** 2)) + tail(W)


def happycat(Z: Vector) -> Vector:
    W = Z * 5 / 100 - 1
    return np.abs((W**2).sum(1) - W.shape[1]) ** 0.25 + tail(W)


def scaffer(Z: Vector) -> Vector:
    S = Z**2 + np.roll(Z, -1, axis=1) ** 2
    return (0.5 + (np.sin(np.sqrt(S)) ** 2 - 0.5) / (1 + 0.001 * S) ** 2).sum(1)


def katsuura(Z: Vector) -> Vector:
    n = Z.shape[1]
    powers = 2.0 ** np.arange(1, 33)
    V = (Z * 5 / 100)[:, :, None] * powers
    distance = (np.abs(V - np.floor(V + 0.5)) / powers).sum(2)
    return 10 / n**2 * ((1 + np.arange(1, n + 1) * distance) ** (10 / n**1.2)).prod(1) - 10 / n**2


def griewank_rosenbrock(Z: Vector) -> Vector:
    Z = Z * 5 / 100 + 1
    T = 100 * (Z**2 - np.roll(Z, -1, axis=1)) ** 2 + (Z - 1) ** 2
    return (T**2 / 4000 - np.cos(T) + 1).sum(1)


def ackley(Z: Vector) -> Vector:
    spread, waves = np.sqrt((Z**2).mean(1)), np.cos(2 * np.pi * Z).mean(1)
    return -20 * np.exp(-0.2 * spread) - np.exp(waves) + 20 + np.e


def griewank(Z: Vector) -> Vector:
    Z = Z * 600 / 100
    return (Z**2).sum(1) / 4000 - np.cos(Z / np.sqrt(np.arange(1, Z.shape[1] + 1))).prod(1) + 1


def elliptic(Z: Vector) -> Vector:
    return Z**2 @ 1e6 ** (np.arange(Z.shape[1]) / (Z.shape[1] - 1))


BASES = {
    "F1": (zakharov,),
    "F2": (rosenbrock,),
    "F3": (rastrigin,),
    "F4": (schwefel,),
    "F5": (bent_cigar, hgbat, rastrigin),
    "F6": (scaffer, hgbat, rosenbrock, schwefel),
    "F7": (katsuura, happycat, griewank_rosenbrock, schwefel, ackley),
    "F8": (rastrigin, griewank, schwefel),
    "F9": (ackley, elliptic, griewank, rastrigin),
    "F10": (scaffer, schwefel, griewank, rosenbrock, rastrigin),
}
# Lengths of the parts with 10, 50 and 100 variables.
LENGTHS = {
    "F5": {10: (3, 3, 4), 50: (15, 15, 20), 100: (30, 30, 40)},
    "F6": {10: (2, 2, 3, 3), 50: (10, 10, 15, 15), 100: (20, 20, 30, 30)},
    "F7": {10: (1, 2, 2, 2, 3), 50: (5, 10, 10, 10, 15), 100: (10, 20, 20, 20, 30)},
}
PAPER_LENGTHS = {10: (3, 2, 2, 1, 2), 50: (15, 10, 10, 5, 10), 100: (30, 20, 20, 10, 20)}
SIGMA = {"F8": (10, 20, 30), "F9": (10, 20, 30, 40), "F10": (10, 20, 20, 30, 40)}
LAMBDA = {"F8": (1, 10, 1), "F9": (10, 1e-6, 10, 1), "F10": (5e-4, 1, 10, 1, 10)}


def tag(key: str) -> str:
    year, number = OFFICIAL[key]
    return f"janssen2024:cec{year}:F{number}"


def shift(key: str, dim: int, k: int = 0) -> Vector:
    return data.shift(f"{tag(key)}:shift{k}", dim, -80, 80)


@lru_cache
def matrix(key: str, dim: int, k: int = 0) -> Vector:
    return data.rotation(f"{tag(key)}:M{k}:D{dim}", dim)


def formula(key: str, X: Vector, spec: str = "cec") -> Vector:
    dim, bases = X.shape[1], BASES[key]
    if key in SIGMA:
        heights = (0.005, *LAMBDA[key][1:]) if (key, spec) == ("F10", "paper") else LAMBDA[key]
        parts, weights = [], []
        for k, g in enumerate(bases):
            Y = X - shift(key, dim, k)
            squares = (Y**2).sum(1)
            with np.errstate(divide="ignore"):
                weight = np.exp(-squares / (2 * dim * SIGMA[key][k] ** 2)) / np.sqrt(squares)
            weights.append(np.where(squares == 0, 1e99, weight))
            parts.append(heights[k] * g(Y @ matrix(key, dim, k).T) + 100 * k)
        return (np.array(weights) / np.sum(weights, axis=0) * parts).sum(0)
    Z = (X - shift(key, dim)) @ matrix(key, dim).T
    if key not in HYBRIDS:
        return bases[0](Z)
    Z = Z[:, data.permutation(f"{tag(key)}:perm:D{dim}", dim)]
    lengths = PAPER_LENGTHS[dim] if (key, spec) == ("F7", "paper") else LENGTHS[key][dim]
    ends = np.cumsum([0, *lengths])
    return np.sum([g(Z[:, a:b]) for g, (a, b) in zip(bases, pairwise(ends), strict=True)], axis=0)


# ---- values ----------------------------------------------------------------------------------------------------------

CASES = [(key, dim) for key in KEYS for dim in (2, 10, 50, 100) if dim > 2 or key not in HYBRIDS]


@lru_cache
def problem_of(key: str, dim: int, **options: Any) -> Problem:
    problem: Problem = get_problem(f"janssen2024/{key}", dim=dim, **options)
    return problem


def points(key: str, dim: int) -> Vector:
    """Points of the whole box, its corners, points near every component's centre, and the centres but the minimiser."""
    rng = np.random.default_rng(dim)
    centres = np.array([shift(key, dim, k) for k in range(len(SIGMA.get(key, "1")))])
    near = [o + rng.normal(0, spread, (2, dim)) for o in centres for spread in (0.01, 1, 20)]
    return np.vstack([rng.uniform(-100, 100, (32, dim)), rng.choice([-100.0, 100.0], (4, dim)), *near, centres[1:]])


@pytest.mark.parametrize(("key", "dim"), CASES)
def test_values(key: str, dim: int) -> None:
    X = points(key, dim)
    np.testing.assert_allclose(problem_of(key, dim)(X), formula(key, X), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(("key", "dim"), CASES)
def test_float32_values(key: str, dim: int) -> None:
    X = np.random.default_rng(0).uniform(-100, 100, (32, dim)).astype(np.float32)
    f = problem_of(key, dim)(X)
    assert f.dtype == np.float32
    np.testing.assert_allclose(f, formula(key, X.astype(float)), rtol=2e-4)


@pytest.mark.parametrize("dim", [10, 50, 100])
@pytest.mark.parametrize("key", ["F7", "F10"])
def test_values_as_printed_in_the_paper(key: str, dim: int) -> None:
    problem = problem_of(key, dim, spec="paper")
    X = points(key, dim)
    np.testing.assert_allclose(problem(X), formula(key, X, "paper"), rtol=1e-10)
    assert (problem(X) != problem_of(key, dim)(X)).mean() > 0.5
    assert abs(problem(problem.x_opt)) < 1e-11


@pytest.mark.parametrize(("key", "dim"), CASES)
def test_minimum(key: str, dim: int) -> None:
    problem = problem_of(key, dim)
    np.testing.assert_array_equal(problem.x_opt, shift(key, dim))
    np.testing.assert_array_equal(problem.bounds, [[-100, 100]] * dim)
    assert problem.f_opt == 0
    assert abs(problem(problem.x_opt)) < 1e-11
    rng = np.random.default_rng(1)
    X = problem.x_opt + 10.0 ** rng.uniform(-6, 0, (100, 1)) * rng.uniform(-1, 1, (100, dim))
    assert problem(X).min() > -1e-11


@pytest.mark.parametrize("key", list(SIGMA))
def test_a_composition_is_its_component_at_the_centre_of_that(key: str) -> None:
    for k in range(1, len(SIGMA[key])):
        o = shift(key, 50, k)
        height = LAMBDA[key][k] * BASES[key][k](np.zeros((1, 50)))[0]
        for dtype in (np.float32, np.float64):
            x = o.astype(dtype)
            assert problem_of(key, 50)(x) == pytest.approx(100 * k + height, abs=1e-3)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_fit(key: str, dtype: Any) -> None:
    problem = problem_of(key, 10)
    result = Minimizer(DE(pop_size=20), max_evals=400, random_state=1, dtype=dtype, device="cpu").fit(problem)
    assert float(problem(result.x_.astype(dtype))) == result.fun_


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("key", "dim"), CASES)
def test_gpu_has_the_same_bits(key: str, dim: int, dtype: Any) -> None:
    import cupy

    problem = problem_of(key, dim)
    X = np.vstack([points(key, dim), problem.x_opt]).astype(dtype)
    np.testing.assert_array_equal(problem(cupy.asarray(X)).get(), problem(X))


# ---- official data ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", [10, 50, 100])
@pytest.mark.parametrize("key", KEYS)
def test_official_values_are_those_of_minionpy(key: str, dim: int) -> None:
    minionpy = pytest.importorskip("minionpy")
    year, number = OFFICIAL[key]
    theirs = {2014: minionpy.CEC2014Functions, 2017: minionpy.CEC2017Functions}[year](number, dim)
    problem = problem_of(key, dim, data="official")
    rng = np.random.default_rng(dim)
    X = np.vstack([rng.uniform(-100, 100, (40, dim)), problem.x_opt + rng.normal(0, 1, (10, dim))])
    np.testing.assert_allclose(problem(X), np.array(theirs(X.tolist())) - 100 * number, rtol=1e-10)
    assert abs(problem(problem.x_opt)) < 1e-11


def write_files(folder: Path, key: str, dim: int) -> Path:
    """Write the generated data in the form of the official ones; return their folder."""
    year, number = OFFICIAL[key]
    files = folder / f"input_data_{year}"
    files.mkdir()
    matrices = np.vstack([matrix(key, dim, k) for k in range(10)])
    np.savetxt(files / f"M_{number}_D{dim}.txt", matrices, fmt="%.17g")
    np.savetxt(files / f"shift_data_{number}.txt", [shift(key, 100, k) for k in range(10)], fmt="%.17g")
    order = data.permutation(f"{tag(key)}:perm:D{dim}", dim) + 1
    (files / f"shuffle_data_{number}_D{dim}.txt").write_text("\t".join(map(str, order)) + "\n\n")
    return files


@pytest.mark.parametrize("key", KEYS)
def test_a_users_folder(key: str, tmp_path: Path) -> None:
    write_files(tmp_path, key, 10)
    problem = get_problem(f"janssen2024/{key}", dim=10, data="official", folder=tmp_path)
    for ours, theirs in zip(problem.arrays, problem_of(key, 10).arrays, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert problem.options == {"data": "official", "folder": str(tmp_path)}
    assert get_problem(problem.name, dim=10, **problem.options).options == problem.options
    assert problem_of(key, 10).options == {}


def wrong(files: Path, name: str, text: str | bytes | None) -> None:
    """Replace a file's content, or remove the file."""
    path = files / name
    if text is None:
        path.unlink()
    else:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())


ROW = " ".join(["1"] * 10) + "\n"


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("M_18_D10.txt", None, r"official file .*M_18_D10\.txt is missing; minionpy has .*pip install minionpy"),
        ("M_18_D10.txt", 9 * ROW, "10 or more rows of 10 numbers; it has 9 rows of 10"),
        ("M_18_D10.txt", 10 * ("1 " + ROW), "10 or more rows of 10 numbers; it has 10 rows of 11"),
        ("M_18_D10.txt", 9 * ROW + "1 2\n", "it has 10 rows of 2, 10"),
        ("M_18_D10.txt", 9 * ROW + ROW.replace("1", "nan"), "finite numbers only"),
        ("M_18_D10.txt", "one two", r"M_18_D10\.txt must be a text of numbers: .*'one'"),
        ("M_18_D10.txt", b"\xff\xfe", "must be a text of numbers"),
        ("shift_data_18.txt", "", "1 or more rows of 10 or more numbers; it has 0 rows of no"),
        ("shift_data_18.txt", "1 2 3", "it has 1 rows of 3"),
        ("shuffle_data_18_D10.txt", ROW, r"every whole number of 1 \.\.\. 10 once"),
        ("shuffle_data_18_D10.txt", "0 1 2 3 4 5 6 7 8 9", r"every whole number of 1 \.\.\. 10 once"),
        ("shuffle_data_18_D10.txt", "1.5 2 3 4 5 6 7 8 9 10", r"every whole number of 1 \.\.\. 10 once"),
    ],
)
def test_wrong_files(name: str, text: str | bytes | None, words: str, tmp_path: Path) -> None:
    wrong(write_files(tmp_path, "F5", 10), name, text)
    with pytest.raises(FileNotFoundError if text is None else ValueError, match=words):
        get_problem("janssen2024/F5", dim=10, data="official", folder=str(tmp_path))


def test_more_variables_than_the_files_have(tmp_path: Path) -> None:
    write_files(tmp_path, "F1", 10)
    with pytest.raises(FileNotFoundError, match=r"M_3_D11\.txt is missing.*10, 30, 50 and 100"):
        get_problem("janssen2024/F1", dim=11, data="official", folder=tmp_path)


def test_without_minionpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skde.problems.official_data.find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"minionpy, which is not installed, or folder.*pip install minionpy"):
        get_problem("janssen2024/F1", dim=10, data="official")


def test_the_package_is_not_imported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    write_files((tmp_path / "cec_input_data").absolute().parent, "F1", 10)
    (tmp_path / "cec_input_data").mkdir()
    (tmp_path / "input_data_2017").rename(tmp_path / "cec_input_data" / "input_data_2017")
    (tmp_path / "__init__.py").write_text("raise AssertionError")
    spec = importlib.util.spec_from_file_location("minionpy", tmp_path / "__init__.py")
    monkeypatch.setattr("skde.problems.official_data.find_spec", {"minionpy": spec}.get)
    problem = get_problem("janssen2024/F1", dim=10, data="official")
    np.testing.assert_array_equal(problem.arrays[1], problem_of("F1", 10).arrays[1])


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"data": "offical"}, ValueError, "data must be one of 'generated', 'official'.*did you mean 'official'"),
        ({"data": None}, ValueError, "data must be one of"),
        ({"spec": "papr"}, ValueError, "spec must be one of 'cec', 'paper'.*did you mean 'paper'"),
        ({"folder": "x"}, ValueError, "folder is for data='official' only, got 'x'"),
        ({"data": "official", "folder": 3}, TypeError, "folder must be .* a path, got 3"),
        (
            {"data": "official", "folder": "/no/such"},
            FileNotFoundError,
            "files, but /no/such is none",
        ),
        ({"shift": 1}, TypeError, "no option 'shift'; it has data, folder, spec"),
    ],
)
def test_wrong_options(options: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        get_problem("janssen2024/F1", dim=10, **options)


@pytest.mark.parametrize(("key", "dim"), [("F1", 1), ("F8", 1), ("F5", 4), ("F6", 4), ("F7", 4)])
def test_too_few_variables(key: str, dim: int) -> None:
    with pytest.raises(ValueError, match=rf"dim of 'janssen2024/{key}' must be an integer in .*got {dim}"):
        get_problem(f"janssen2024/{key}", dim=dim)


@pytest.mark.parametrize(
    ("key", "dim", "others"), [("F6", 6, r"2 \+ 2 \+ 2"), ("F6", 7, r"2 \+ 2 \+ 3"), ("F7", 11, r"2 \+ 3 \+ 3 \+ 3")]
)
def test_numbers_of_variables_that_leave_none_for_the_last_part(key: str, dim: int, others: str) -> None:
    with pytest.raises(ValueError, match=rf"last of its . parts, got {dim}: the others take {others}$"):
        get_problem(f"janssen2024/{key}", dim=dim)


def test_the_default_is_the_papers_smaller_dimension() -> None:
    assert repr(get_problem("janssen2024/F8")) == "Problem('janssen2024/F8', dim=50)"
    assert repr(problem_of("F8", 10, spec="paper")) == "Problem('janssen2024/F8', dim=10, spec='paper')"
