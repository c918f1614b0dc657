"""Values that are infinite, NaN, very large, very small or all equal: decisions by rank stay the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import differential_evolution as of_scipy

from skde import (
    CMAES,
    DE,
    DifferentialEvolutionSolver,
    Minimizer,
    MinMaxSolver,
    Status,
    differential_evolution,
    minimize,
)
from skde.algorithms import ALGORITHMS
from skde.cli.main import main
from skde.constants import ENUMERATIONS
from skde.fit.phases.quasi_newton_search import QuasiNewtonSearch
from skde.utils.arrays import array_namespace

from .joint_searches import finish

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
BOX = [(-1.0, 1.0)] * 3
EVERY = sorted(ALGORITHMS)
LARGE = [1e300, 1e308, np.inf]  # penalties


def waves(X: Any) -> Any:
    xp = array_namespace(X)
    return (X**2 - 0.1 * xp.cos(10 * X)).sum(axis=1)


def behind_a_penalty(penalty: float) -> Any:
    """Return waves in a part of the box, with this value elsewhere."""

    def f(X: Any) -> Any:
        return array_namespace(X).where(X[:, 0] + X[:, 1] > 0.8, waves(X), penalty)

    return f


def basin(penalty: float) -> Any:
    """Return a bowl in 1 / 4000 of the box, with this value elsewhere."""

    def f(X: Any) -> Any:
        inside = (X[:, 0] > 0.9) & (X[:, 1] > 0.9) & (X[:, 2] > 0.8)
        return array_namespace(X).where(inside, ((X - 0.95) ** 2).sum(axis=1), penalty)

    return f


def points(algorithm: Any, f: Any, device: str = "cpu", **parameters: Any) -> Any:
    """Return the best points of four runs."""
    given = {"max_evals": 3000, "n_runs": 4, "random_state": 3, "device": device, **parameters}
    return np.array([run.x for run in Minimizer(algorithm, **given).fit(f, bounds=BOX).runs_])


# -- penalties ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("algorithm", EVERY)
def test_a_search_is_the_same_with_any_large_penalty(algorithm: str, device: str) -> None:
    first, *others = (points(algorithm, behind_a_penalty(penalty), device) for penalty in LARGE)
    for other in others:
        if algorithm == "cmaes":  # its penalty for trials outside the box has the unit of the values
            assert np.median(waves(other)) < np.median(waves(first)) + 1e-6
        else:
            assert np.array_equal(first, other)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("algorithm", EVERY)
def test_values_behind_nan_are_found(algorithm: str, device: str) -> None:
    ends = [np.median(waves(points(algorithm, behind_a_penalty(penalty), device))) for penalty in (1e6, float("nan"))]
    assert ends[1] < ends[0] + 0.05


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("penalty", [1e6, *LARGE])
def test_restarts_find_a_small_basin_behind_a_penalty(penalty: float, device: str) -> None:
    m = Minimizer("arrde", max_evals=20_000, n_runs=10, random_state=3, device=device).fit(basin(penalty), bounds=BOX)
    assert [run.fun < 1 for run in m.runs_] == [True] * 10


def test_a_run_of_nan_only_restarts() -> None:
    """Run 2 begins with NaN alone."""
    m = Minimizer("arrde", max_evals=4000, n_runs=4, random_state=3).fit(behind_a_penalty(float("nan")), bounds=BOX)
    assert all(run.fun < 0.24 for run in m.runs_)


@pytest.mark.parametrize("device", DEVICES)
def test_cmaes_keeps_its_penalty_where_a_quartile_is_infinite(device: str) -> None:
    """Without one, the mean leaves the box, and every trial is clipped."""
    for penalty in (1e308, np.inf):
        m = Minimizer(CMAES(restarts=None), max_iter=40, random_state=1, device=device)
        m.fit(behind_a_penalty(penalty), bounds=BOX)
        memory = m._fit.batch.host("memory")[m.n_iter_ & 1, 0]
        assert memory[ENUMERATIONS["Cmaes::Numbers"]["GAMMA"]] > 0


# -- units of values ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("algorithm", EVERY)
def test_a_search_does_not_depend_on_the_unit_of_values(algorithm: str, device: str) -> None:
    first = points(algorithm, lambda X: waves(X) + 1, device)
    for exponent in (43, -43, 600, -600, 900, -900):
        factor = 2.0**exponent
        assert np.array_equal(points(algorithm, lambda X: factor * (waves(X) + 1), device), first), exponent  # noqa: B023


@pytest.mark.parametrize("factor", [1.0, 1e-13, 1e13, 1e-200, 1e200])
def test_cmaes_is_as_accurate_in_any_unit(factor: float) -> None:
    m = Minimizer("cmaes", max_evals=20_000, random_state=0).fit(
        lambda X: factor * ((X - 0.3) ** 2 * [1.0, 10.0, 100.0]).sum(axis=1), bounds=BOX
    )
    assert m.fun_ < 1e-14 * factor


def test_cmaes_is_limited_by_rounding_where_a_constant_is_added() -> None:
    m = Minimizer("cmaes", max_evals=20_000, random_state=0)
    m.fit(lambda X: 1e6 + ((X - 0.3) ** 2).sum(axis=1), bounds=BOX)
    assert m.fun_ - 1e6 < 1e-8


@pytest.mark.parametrize("exponent", [900, 1000, -900, -1010])
def test_a_quasi_newton_search_is_the_same_in_any_unit(exponent: int) -> None:
    def searched(factor: float) -> Any:
        def f(u: Any) -> Any:
            return factor * ((u - 0.3) ** 2 * [1.0, 100.0, 1e4]).sum(axis=1)

        begin = np.random.default_rng(0).uniform(size=(5, 3))
        search = QuasiNewtonSearch(begin, f(begin), np.full(5, 300))
        finish(search, f)
        return search.best_f / factor

    assert searched(1.0).max() < 1e-12
    assert searched(2.0**exponent).max() < 1e-9


# -- the rule by tol ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("algorithm", [DE(pop_size=20), DE(pop_size=4000), "ss"], ids=str)
@pytest.mark.parametrize(("dtype", "exponents"), [("float64", (1000, 600, -600, -900)), ("float32", (90, -90, -110))])
def test_tol_does_not_depend_on_the_unit_of_values(dtype: str, exponents: Any, algorithm: Any, device: str) -> None:
    def ended(factor: float) -> tuple[int, Status]:
        m = Minimizer(algorithm, max_iter=400, tol=0.01, random_state=0, dtype=dtype, device=device)
        m.fit(lambda X: factor * ((X**2).sum(axis=1) + 1), bounds=BOX)
        return m.n_iter_, m.runs_[0].status

    first = ended(1.0)
    assert first[1] == Status.CONVERGED
    assert [ended(2.0**exponent) for exponent in exponents] == [first] * len(exponents)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("algorithm", EVERY)
@pytest.mark.parametrize("value", [5.0, 0.0, 1e308, -1e308, 5e-324])
def test_a_constant_does_not_converge(value: float, algorithm: str, device: str) -> None:
    m = Minimizer(algorithm, max_evals=3000, tol=0, random_state=0, device=device)
    m.fit(lambda X: X[:, 0] * 0 + value, bounds=BOX)
    assert m.fun_ == value
    assert m.n_evals_ > 2000
    assert not m.converged_
    assert "All values were equal" in m.message_


@pytest.mark.parametrize("device", DEVICES)
def test_a_plateau_does_not_converge_and_a_basin_in_it_does(device: str) -> None:
    """Values that were equal at first are no reason to end; later ones may be."""
    m = Minimizer("soupde", tol=1e-2, max_evals=20_000, n_runs=10, random_state=3, device=device)
    runs = m.fit(lambda X: basin(1e6)(X) + 1, bounds=BOX).runs_
    assert all(run.fun < 2 for run in runs if run.success)
    assert {run.success for run in runs} == {True, False}


@pytest.mark.parametrize("penalty", [np.inf, float("nan")])
def test_one_finite_value_and_infinite_ones_do_not_converge(penalty: float) -> None:
    """All finite values were equal."""
    m = Minimizer("de", max_evals=5000, tol=0.1, random_state=0)
    m.fit(lambda X: np.where(X[:, 0] > 0.3, 5.0, penalty), bounds=BOX)
    assert (m.fitness_ == 5).all()
    assert not m.converged_
    assert "All values were equal" in m.message_


def test_a_flat_minimum_converges() -> None:
    """Its values were not the only ones."""
    m = Minimizer("de", max_evals=20_000, tol=0, random_state=0).fit(
        lambda X: np.maximum(np.abs(X).max(axis=1) - 0.1, 0) + 1, bounds=BOX
    )
    assert (m.fitness_ == 1).all()
    assert m.converged_
    assert "All values" not in m.message_


def test_the_plateau_of_a_fit_that_is_resumed(tmp_path: Path) -> None:
    """Whether values differed is in the file; a tolerance may be new."""
    for f, converges in ((lambda X: X[:, 0] * 0 + 5, False), (lambda X: np.maximum(np.abs(X[:, 0]), 0.3), True)):
        for tol in (0.0, None):
            first = Minimizer("de", max_iter=3, random_state=0, bounds=BOX, tol=tol, max_evals=100_000).fit(f)
            first.save(tmp_path / "fit.skde")
            m = Minimizer.load(tmp_path / "fit.skde").set_params(max_iter=300, tol=0.0).resume(f)
            assert m.converged_ == converges


def test_minimize_does_not_say_that_a_plateau_is_a_minimum() -> None:
    r = minimize(
        lambda X: np.where((X > 0.9).all(axis=1), ((X - 0.95) ** 2).sum(axis=1), 1e6), BOX, tol=0, random_state=0
    )
    assert r.fun < 1 or not r.success
    assert r.nfev > 5000
    constant = minimize(lambda X: X[:, 0] * 0 + 5.0, BOX, max_evals=2000, random_state=0)
    assert not constant.success
    assert constant.message.startswith("All values were equal")


def test_a_game_of_equal_values_does_not_converge() -> None:
    """Nor does one of other values end later than before."""
    flat = MinMaxSolver(tol=0.1, max_iter=8, random_state=0).fit(
        lambda X, Y: 5.0 + 0 * (X[:, :1] + Y[:, 0]), bounds_x=BOX, bounds_y=BOX
    )
    assert flat.n_iter_ == 8
    assert not flat.converged_


# -- atol --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("pop_size", [20, 4000])
def test_the_absolute_tolerance_is_that_of_scipy(pop_size: int, device: str) -> None:
    """The standard deviation is at most atol + tol times the size of the mean."""
    free = Minimizer(DE(pop_size=pop_size), bounds=BOX, random_state=0, max_iter=1000, device=device)
    spread: list[float] = []
    mean = 0.0
    while not spread or spread[-1] > 0.001 + 0.1 * mean:
        X = free.ask()
        free.tell(X, (X**2).sum(axis=1))
        spread.append(float(free.fitness_.std()))
        mean = float(abs(free.fitness_.mean()))
    same = 1.000001 * spread[-1]
    for given in ({"tol": 0.1, "atol": 0.001}, {"tol": 0.0, "atol": same}, {"atol": same}):
        m = Minimizer(DE(pop_size=pop_size), random_state=0, max_iter=1000, device=device, **given)
        m.fit(lambda X: (X**2).sum(axis=1), bounds=BOX)
        assert (m.n_iter_, m.converged_) == (len(spread) - 1, True)


def test_an_absolute_tolerance_ends_at_a_minimum_of_zero() -> None:
    def ended(**tolerances: float) -> int:
        m = Minimizer("jde", max_evals=50_000, random_state=0, **tolerances)
        m.fit(lambda X: (X**2).sum(axis=1), bounds=BOX)
        assert m.converged_ == bool(tolerances)
        return m.n_evals_

    assert ended(tol=1e-6, atol=1e-6) < 0.2 * ended()
    assert minimize(lambda X: (X**2).sum(axis=1), BOX, atol=1e-6, random_state=0).success


@pytest.mark.parametrize("atol", [-1, np.nan, "x"])
def test_an_absolute_tolerance_is_checked(atol: Any) -> None:
    for solver in (Minimizer(atol=atol), MinMaxSolver(atol=atol)):
        sides = {"bounds": BOX} if isinstance(solver, Minimizer) else {"bounds_x": BOX, "bounds_y": BOX}
        with pytest.raises((ValueError, TypeError), match="atol must be"):
            solver.fit(lambda X, Y=None: X[:, 0], **sides)


def test_an_absolute_tolerance_may_change_between_fits(tmp_path: Path) -> None:
    def f(X: Any) -> Any:
        return (X**2).sum(axis=1)

    m = Minimizer("jde", max_iter=400, random_state=0, atol=1e-2).fit(f, bounds=BOX)
    whole = Minimizer("jde", max_iter=400, random_state=0, atol=1e-6).fit(f, bounds=BOX)
    m.save(tmp_path / "fit.skde")
    again = Minimizer.load(tmp_path / "fit.skde").set_params(atol=1e-6).resume(f)
    assert m.n_iter_ < again.n_iter_ == whole.n_iter_
    assert np.array_equal(again.x_, whole.x_)


def test_the_absolute_tolerance_of_a_game() -> None:
    def ended(**tolerances: float) -> MinMaxSolver:
        solver = MinMaxSolver(max_iter=100, random_state=0, **tolerances)
        return solver.fit(lambda X, Y: (X**2).sum(axis=1)[:, None] - (Y**2).sum(axis=1), bounds_x=BOX, bounds_y=BOX)

    assert ended(atol=1e-3).converged_
    assert ended(atol=1e-3).n_iter_ < ended(tol=1e-3).n_iter_


def test_the_absolute_tolerance_of_the_command_line(capsys: Any) -> None:
    assert main(["minimize", "sphere", "--dim", "3", "--atol", "1e-3", "--seed", "0", "--algorithm", "de"]) == 0
    assert "converged to within tol" in capsys.readouterr().out
    assert main(["minmax", "minmax/rustem4", "--atol", "1e-2", "--seed", "0"]) == 0
    assert "converged to within tol" in capsys.readouterr().out


# -- SciPy's interface -------------------------------------------------------------------------------------------------


def test_differential_evolution_of_huge_values() -> None:
    """Their sum is not finite: SciPy takes that for convergence."""
    solver = DifferentialEvolutionSolver(lambda x: 1e308 * (0.5 + 0.5 * x[0] ** 2), BOX, rng=0, polish=False)
    next(solver)
    assert not solver.converged()
    assert np.isfinite(solver.convergence)
    result = differential_evolution(lambda x: 1e308 * (0.5 + 0.5 * x[0] ** 2), BOX, rng=0)
    assert result.success
    assert result.x[0] ** 2 < 0.1
    assert result.fun == pytest.approx(5e307, rel=0.1)
    assert np.isfinite(result.population_energies).all()


def test_differential_evolution_of_a_constant_is_that_of_scipy() -> None:
    ours, theirs = (
        evolution(lambda x: 5.0, BOX, rng=0, polish=False) for evolution in (differential_evolution, of_scipy)
    )
    assert (ours.success, ours.nit) == (theirs.success, theirs.nit) == (True, 1)
