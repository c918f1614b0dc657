"""Saving and resuming of fits after changes of parameters."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from skde import DE, JDE, LSHADE, Migration, Minimizer, MinMaxSolver

from .short_fits import BOX, f, fit

MINIMIZER = [
    ({"algorithm": "de"}, "algorithm was DE(.*) when the fit began and is 'de' now: set it back, or call fit"),
    ({"algorithm": JDE()}, "algorithm was DE(.*) when the fit began and is JDE"),
    ({"algorithm__F": 0.9}, "algorithm__F was 0.5 when the fit began and is 0.9 now"),
    ({"algorithm__pop_size": 20}, "algorithm__pop_size was 10 .* is 20 now"),
    ({"n_runs": 5}, "n_runs was 2 when the fit began and is 5 now"),
    ({"n_islands": 3}, "n_islands was 2 .* is 3 now"),
    ({"migration": None}, "migration was Migration(.*) .* is None now"),
    ({"migration__every": 7}, "migration__every was 50 .* is 7 now"),
    ({"dtype": "float32"}, "dtype was 'float64' .* is 'float32' now"),
    ({"device": ["cpu", "cpu"]}, r"device was 'cpu' .* is \['cpu', 'cpu'\] now"),
    ({"bounds": [(-1, 1)] * 3}, "bounds was None .* now"),
    ({"feasibility_tol": 0.5}, "feasibility_tol was 1e-06 .* is 0.5 now"),
    ({"random_state": 1}, "random_state was 0 .* is 1 now"),
]
GAMES = [
    ({"algorithm_x": "de"}, "algorithm_x was DE"),
    ({"algorithm_x__F": 0.9}, "algorithm_x__F was 0.5 .* is 0.9 now"),
    ({"algorithm_y": "pso"}, "algorithm_y was None .* is 'pso' now"),
    ({"bounds_x": [(-1, 1)] * 3}, "bounds_x was None"),
    ({"bounds_y": [(-1, 1)] * 3}, "bounds_y was None"),
    ({"gens_x": 9}, "gens_x was 3 .* is 9 now"),
    ({"gens_y": 9}, "gens_y was 3 .* is 9 now"),
    ({"archive_size": 4}, "archive_size was 10 .* is 4 now"),
    ({"renewal": 0.5}, "renewal was 0.2 .* is 0.5 now"),
    ({"multipliers": "evolve"}, "multipliers was 'update' .* is 'evolve' now"),
    ({"penalty": 5.0}, "penalty was None .* is 5.0 now"),
    ({"multiplier_bound": 5.0}, "multiplier_bound was 10000.0 .* is 5.0 now"),
    ({"feasibility_tol": 0.5}, "feasibility_tol was 1e-06 .* is 0.5 now"),
    ({"n_runs": 5}, "n_runs was 2 .* is 5 now"),
    ({"dtype": "float32"}, "dtype was 'float64' .* is 'float32' now"),
    ({"device": ["cpu", "cpu"]}, "device was 'cpu'"),
    ({"random_state": 1}, "random_state was 0 .* is 1 now"),
]


def minimizer() -> Any:
    return fit(algorithm=DE(pop_size=10), n_runs=2, n_islands=2, migration=Migration(every=50))


def g(X: Any, Y: Any) -> Any:
    return (X[:, :1] - 2) ** 2 - (Y[:, 0] - 2) ** 2 + X[:, :1] * Y[:, 0]


def game() -> Any:
    solver = MinMaxSolver(DE(pop_size=8), max_iter=2, gens_x=3, gens_y=3, n_runs=2, random_state=0, device="cpu")
    return solver.fit(g, bounds_x=BOX, bounds_y=BOX)


CASES = [(minimizer, *case) for case in MINIMIZER] + [(game, *case) for case in GAMES]


@pytest.mark.parametrize(("fitted", "change", "message"), CASES)
def test_changed_parameters_are_refused_by_name(fitted: Any, change: Any, message: str, tmp_path: Path) -> None:
    solver = fitted()
    before = solver.x_
    solver.set_params(**change)
    for use in (lambda: solver.save(tmp_path / "fit"), solver.resume, lambda: pickle.dumps(solver)):
        with pytest.raises(ValueError, match=message):
            use()
    assert not list(tmp_path.iterdir())
    assert np.array_equal(solver.x_, before)
    assert repr(clone(solver)) == repr(solver)


@pytest.mark.parametrize(("fitted", "change", "message"), CASES)
def test_changed_parameters_of_a_loaded_fit(fitted: Any, change: Any, message: str, tmp_path: Path) -> None:
    fitted().save(tmp_path / "fit")
    loaded = type(fitted()).load(tmp_path / "fit").set_params(**change)
    with pytest.raises(ValueError, match=next(iter(change)) + " was "):
        loaded.resume(f if fitted is minimizer else g)


def test_parameters_that_are_set_back(tmp_path: Path) -> None:
    whole = fit(max_iter=20)
    m = fit().set_params(n_runs=4)
    m.set_params(n_runs=1, max_iter=20, stagnation=50, n_jobs=1, verbose=0, callbacks=[], max_time=60.0)
    m.save(tmp_path / "fit")
    loaded = Minimizer.load(tmp_path / "fit")
    assert loaded.max_iter == 20
    for solver in (m, loaded, copy.deepcopy(m)):
        assert np.array_equal(solver.resume(f).population_, whole.population_)


def test_a_parameter_object_that_is_changed_in_place() -> None:
    m = fit(algorithm=DE(pop_size=10))
    m.algorithm.CR = 0.1
    with pytest.raises(ValueError, match=r"algorithm__CR was 0.9 when the fit began and is 0.1 now"):
        m.resume()
    several = fit(algorithm=[DE(pop_size=10), DE(pop_size=12)], n_runs=2)
    several.algorithm[1].F = 0.1
    with pytest.raises(ValueError, match=r"algorithm\[1\]__F was 0.5 when the fit began and is 0.1 now"):
        several.resume()


def test_a_warm_start_refuses_them_too() -> None:
    for change, message in (({"random_state": 1}, "random_state was 0"), ({"migration__every": 7}, "migration__every")):
        m = fit(n_islands=2, migration=Migration(), warm_start=True)
        with pytest.raises(ValueError, match=message):
            m.set_params(**change).fit(f, bounds=BOX)


@pytest.mark.parametrize("limits", [{"max_evals": 4000}, {"max_evals": 300}, {"max_evals": None, "max_iter": 40}])
def test_a_shrinking_population_goes_on_as_it_was_planned(limits: Any, tmp_path: Path) -> None:
    """Limits may change before a fit is saved; the populations have the sizes that they had."""

    def half() -> Any:
        return fit(algorithm=LSHADE(pop_size=20), max_iter=None, max_evals=1000)

    half().set_params(**limits).save(tmp_path / "fit")
    loaded, whole = Minimizer.load(tmp_path / "fit"), half().set_params(**limits).resume()
    for m in (loaded.resume(f), pickle.loads(pickle.dumps(half().set_params(**limits))).resume(f)):
        assert np.array_equal(m.population_, whole.population_)
        assert m.n_evals_ == whole.n_evals_


def test_a_lower_limit_does_not_cut_the_history(tmp_path: Path) -> None:
    m = fit(max_iter=60)
    m.set_params(max_iter=5).save(tmp_path / "fit")
    assert np.array_equal(Minimizer.load(tmp_path / "fit").history_.best, m.history_.best)


def test_a_file_that_could_not_be_loaded_is_not_written(tmp_path: Path) -> None:
    for change, message in (({"target": "low"}, "target must be"), ({"n_jobs": 0}, "n_jobs must be")):
        for solver in (fit(), game()):
            with pytest.raises((TypeError, ValueError), match=message):
                solver.set_params(**change).save(tmp_path / "fit")
    assert not list(tmp_path.iterdir())
