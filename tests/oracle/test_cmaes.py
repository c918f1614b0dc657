"""CMA-ES and the NumPy implementation: matrices, weights, bounds, restarts; and the tutorial's covariance matrix."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import skde._cpu as _cpu
from skde import CMAES, Minimizer
from skde.algorithms.base import REPAIRS, FitSetting
from skde.algorithms.cmaes import NUMBERS, ROWS
from skde.testing.base import same

from .cmaes import Cmaes, Rates
from .side_by_side import SEVEN, corner, plateau

THREE = SEVEN[:3]


def ellipsoid(box: Any) -> Any:
    """Least inside, of condition 1e4, and different for all points."""
    middle, width = 0.4 * box[:, 0] + 0.6 * box[:, 1], box[:, 1] - box[:, 0]
    scales = 10.0 ** (4 * np.arange(len(box)) / max(len(box) - 1, 1))
    return lambda X: (scales * ((X - middle) / width) ** 2).sum(axis=-1) + ((X - middle) / width).prod(axis=-1)


def waves(box: Any) -> Any:
    """Many minima."""
    low, width = box[:, 0], box[:, 1] - box[:, 0]
    return lambda X: ((X - low) / width + 0.3 * np.sin(40 * (X - low) / width)).sum(axis=-1)


def side_by_side(algorithm: CMAES, box: Any, objective: Any, max_iter: int, seed: int = 3) -> Cmaes:
    """Ask and tell both; trials are the same to rounding, which selection makes larger in time."""
    kernel = Minimizer(algorithm, bounds=box, max_iter=max_iter, random_state=seed, device="cpu")
    plain = Cmaes(algorithm, box, seed, algorithm.kernel_parameters(FitSetting(len(box))))
    width = box[:, 1] - box[:, 0]
    while not kernel.stopped_:
        X, expected = kernel.ask(), plain.ask()
        assert np.abs((X - expected) / width).max() < 1e-6, f"trials of generation {plain.generation}"
        f = objective(X)
        kernel.tell(X, f)
        plain.tell(X, f)
        assert np.array_equal(kernel.population_, plain.x)
        assert np.array_equal(kernel.fitness_, plain.f, equal_nan=True)
    return plain


def search(kernel: Minimizer) -> tuple[dict[str, float], Any, Any]:
    """The numbers of a kernel's run, and its vectors and matrices by row."""
    batch = kernel._fit.batch
    g = int(batch.host("generation")[0])
    numbers = batch.host("memory")[g & 1, 0]
    rows = batch.host("archive")[0]
    n, first = rows.shape[1], ROWS["MATRICES"]
    which = int(numbers[NUMBERS["FACTOR"]])
    A = rows[first + which * n : first + (which + 1) * n].T
    return {name: float(numbers[k]) for name, k in NUMBERS.items() if k < len(numbers)}, rows, A


@pytest.mark.parametrize("active", [True, False])
@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_matrices(covariance: str, active: bool) -> None:
    algorithm = CMAES(covariance=covariance, active=active)
    plain = side_by_side(algorithm, SEVEN, ellipsoid(SEVEN), 60, seed=2**50 + 1)
    assert np.count_nonzero(plain.A) == (49 if covariance == "full" else 7)


@pytest.mark.parametrize("penalty", [0.0, 2.0])
@pytest.mark.parametrize("repair", REPAIRS)
def test_trials_that_leave_the_box(repair: str, penalty: float) -> None:
    plain = side_by_side(CMAES(repair=repair, penalty=penalty), SEVEN, corner(SEVEN), 25)
    assert max(plain.outside) > 0


def test_large_populations_change_the_matrix_far() -> None:
    """The root takes its steps, and 600 trials are ordered by merging."""
    for pop_size in (100, 600):
        side_by_side(CMAES(pop_size=pop_size), THREE, ellipsoid(THREE), 8)


def test_many_components() -> None:
    """S accumulates over generations."""
    box = np.tile([[-2.0, 3.0]], (40, 1))
    rates = Rates(40, 4, diagonal=False, active=True)
    assert 1 / (400 * (rates.c_1 + rates.c_mu)) > 1
    side_by_side(CMAES(pop_size=4), box, ellipsoid(box), 12)


@pytest.mark.parametrize("pop_size", [4, 5, 7])
def test_small_populations(pop_size: int) -> None:
    side_by_side(CMAES(pop_size=pop_size), THREE, ellipsoid(THREE), 40)


@pytest.mark.parametrize("restarts", ["ipop", "bipop"])
def test_restarts(restarts: str) -> None:
    plain = side_by_side(CMAES(restarts=restarts, tol_fun=1e-2, max_doublings=3), THREE, waves(THREE), 1500)
    if restarts == "ipop":
        assert plain.restarts[:4] == [2, 4, 8, 8]
    else:
        assert plain.restarts[0] == 2
        assert {1, 2, 4, 8} <= set(plain.restarts)
        assert plain.restarts.count(1) > 1


def test_a_plateau_is_left() -> None:
    assert len(side_by_side(CMAES(), THREE, plateau, 150).restarts) > 1


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("objective", [plateau, ellipsoid(THREE), corner(THREE), lambda X: -ellipsoid(THREE)(X)])
def test_without_restarts_a_search_goes_on(objective: Any, dtype: str) -> None:
    kernel = Minimizer(CMAES(restarts=None), max_iter=3000, random_state=0, device="cpu", dtype=dtype)
    kernel.fit(objective, bounds=THREE)
    numbers, rows, _ = search(kernel)
    assert numbers["PARTS"] == 1
    assert np.isfinite(rows).all()


RESTARTING: dict[str, Any] = {"max_iter": 700, "n_runs": 3, "random_state": 2}


@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_restarts_do_not_depend_on_how_they_are_run(covariance: str, tmp_path: Path) -> None:
    """Whole generations or steps, in one piece or saved within a generation of several parts and resumed."""
    algorithm = CMAES(covariance=covariance, tol_fun=1e-2, max_doublings=3)
    run, step = (
        Minimizer(algorithm, execution=execution, device="cpu", **RESTARTING).fit("rastrigin", dim=3)
        for execution in ("run", "step")
    )
    assert same(run, step)
    part = Minimizer(algorithm, execution="step", device="cpu", **RESTARTING)
    part.set_params(callbacks=lambda progress: progress.n_iter >= 333).fit("rastrigin", dim=3).save(tmp_path / "part")
    parts = part._fit.batch.host("memory")[part.n_iter_ & 1, :, NUMBERS["PARTS"]]
    assert parts.max() > 1
    assert same(run, Minimizer.load(tmp_path / "part").set_params(execution="run").resume())


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("covariance", "dim"), [("full", 3), ("full", 40), ("diagonal", 3)])
def test_restarts_on_a_gpu(covariance: str, dim: int, dtype: str) -> None:
    """The bits of the CPU, with populations of many parts, roots that take steps, and estimates of the condition."""
    algorithm = CMAES(covariance=covariance, tol_fun=1e-2)
    cpu, gpu = (
        Minimizer(algorithm, device=device, dtype=dtype, **RESTARTING).fit("rastrigin", dim=dim)
        for device in ("cpu", "cuda")
    )
    assert same(cpu, gpu)


def test_the_matrix_is_the_covariance_matrix_of_the_tutorial() -> None:
    """C' = (1 - c_1 - c_mu sum w) C + c_1 p_c p_c^T + c_mu sum w y y^T, but for the error of the root's series."""
    n, box = 5, np.tile([[-1.0, 1.0]], (5, 1))
    kernel = Minimizer(CMAES(restarts=None, penalty=0), bounds=box, max_iter=80, random_state=1, device="cpu")
    objective, p_c, errors = ellipsoid(box), np.zeros(n), []
    kernel.tell(kernel.ask(), objective(kernel.ask()))
    r = Rates(n, len(kernel.population_), diagonal=False, active=True)
    while not kernel.stopped_:
        X = kernel.ask()
        before, _, A = search(kernel)
        kernel.tell(X, objective(X))
        _, rows, B = search(kernel)
        Y = kernel._fit.batch.host("vectors")[1, kernel.n_iter_ & 1, 0][np.argsort(objective(X))]
        expected = np.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n))
        size = np.linalg.norm(rows[ROWS["PATH"]]) / np.sqrt(1 - (1 - r.c_s) ** (2 * (before["LENGTH"] + 1)))
        h = size < (1.4 + 2 / (n + 1)) * expected
        p_c = (1 - r.c_c) * p_c + h * np.sqrt(r.c_c * (2 - r.c_c) * r.mu_w) * r.w[: r.mu] @ Y[: r.mu]
        w = np.where(r.w < 0, r.w * n / (np.linalg.solve(A, Y.T) ** 2).sum(axis=0), r.w)
        decay = 1 + (1 - h) * r.c_1 * r.c_c * (2 - r.c_c) - r.c_1 - r.c_mu * r.w.sum()
        C = decay * A @ A.T + r.c_1 * np.outer(p_c, p_c) + r.c_mu * (w * Y.T) @ Y
        ratio = np.linalg.solve(np.linalg.cholesky(C), B)
        errors.append(np.linalg.norm(ratio @ ratio.T - np.eye(n), 2))
    assert len(errors) == 80
    assert np.median(errors) < 0.006
    assert max(errors) < 0.03


def test_rates_are_those_of_the_tutorial() -> None:
    """Table 1 at n = 10: mu_w of the default population is 3.17 (Hansen 2016, figure 1)."""
    rates = Rates(10, 10, diagonal=False, active=True)
    assert rates.mu_w == pytest.approx(3.167, abs=1e-3)
    assert rates.w[:5].sum() == pytest.approx(1)
    assert rates.w[5:].sum() == pytest.approx(-(1 + rates.c_1 / rates.c_mu), abs=1)
    assert abs(_cpu.normal_draw(np.array([2.0**31]))[0]) < 1e-9


@pytest.mark.parametrize(("pop_size", "parts"), [(4, 2**20), (2048, 2**12), (2**24 - 1, 1)])
def test_a_population_doubles_up_to_the_trials_that_the_kernel_counts(pop_size: int, parts: int) -> None:
    given = CMAES(pop_size=pop_size, max_doublings=20).kernel_parameters(FitSetting(10))
    assert (given["pop_size"], given["most_parts"]) == (pop_size, parts)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"sigma0": 0}, r"CMAES\.sigma0 must be"),
        ({"covariance": "none"}, r"CMAES\.covariance must be"),
        ({"restarts": "none"}, r"CMAES\.restarts must be"),
        ({"max_doublings": 21}, r"CMAES\.max_doublings must be"),
        ({"penalty": -1}, r"CMAES\.penalty must be"),
        ({"pop_size": 3}, r"CMAES\.pop_size must be at least 4 for two parents, got 3"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Minimizer(CMAES(**parameters), max_iter=1).fit("sphere", dim=2)


def test_the_covariance_follows_the_dimension() -> None:
    assert [CMAES().kernel_parameters(FitSetting(dim))["diagonal"] for dim in (256, 257)] == [False, True]
    with pytest.raises(
        ValueError, match=r"CMAES\.covariance must be 'auto' or 'diagonal' for more than 32768 variables"
    ):
        CMAES(covariance="full").kernel_parameters(FitSetting(32769))


def test_names() -> None:
    assert Minimizer("cmaes", max_iter=1, random_state=0).fit("sphere", dim=2).population_.shape == (6, 2)
