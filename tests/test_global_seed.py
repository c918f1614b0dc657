"""Seeds of NumPy's global state, where random_state is None."""

# ruff: noqa: NPY002
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import optuna
import pytest
from scipy.optimize import rosen
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from skde import Integer, Minimizer, MinMaxSolver, differential_evolution, minimize
from skde.estimators import EvolutionSearchCV, ModelRegressor
from skde.optuna import EvolutionSampler
from skde.utils.random_state import run_seeds

from .tuning.landscape import cost, tuner

BOX = [(-2.0, 2.0)] * 3


def minimized() -> Any:
    """Return the point of a fit."""
    return Minimizer("jde", max_iter=3, device="cpu").fit("sphere", dim=3).x_


def by_generations() -> Any:
    """Return the points that a solver asks for."""
    return Minimizer("jde", bounds=BOX, device="cpu").ask()


def played() -> Any:
    """Return the point of a game."""
    return MinMaxSolver(max_iter=2, device="cpu").fit("minmax/rustem1").x_


def searched() -> Any:
    """Return the candidates of a search."""
    X, y = load_iris(return_X_y=True)
    tree = DecisionTreeClassifier(random_state=0)
    search = EvolutionSearchCV(tree, {"min_samples_split": Integer(2, 60), "max_depth": Integer(1, 9)}, n_iter=6)
    return search.fit(X, y).cv_results_["param_min_samples_split"].tolist()


def modelled() -> Any:
    """Return the parameters of a model."""
    x = np.linspace(0, 1, 20)
    model = ModelRegressor(lambda X, p: p[0] * np.exp(-p[1] * X[:, 0]), [(0, 5), (0, 9)], polish=False, max_evals=200)
    return model.fit(x[:, None], 2 * np.exp(-3 * x)).theta_


def sampled() -> Any:
    """Return the values of a study."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(sampler=EvolutionSampler("de"))
    study.optimize(lambda trial: trial.suggest_float("x", -1, 1) ** 2, n_trials=5)
    return [trial.value for trial in study.trials]


def tuned() -> Any:
    """Return the costs of a tuning."""
    return [result.cost for result in tuner(random_state=None, max_experiments=200).fit(cost).results_]


WAYS: dict[str, Callable[[], Any]] = {
    "fit": minimized,
    "ask": by_generations,
    "minimize": lambda: minimize(rosen, BOX, max_iter=3).x,
    "min-max": played,
    "SciPy": lambda: differential_evolution(rosen, BOX, maxiter=3, polish=False).x,
    "search": searched,
    "model": modelled,
    "study": sampled,
    "tuning": tuned,
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_the_global_seed_makes_results_repeatable(way: Callable[[], Any]) -> None:
    state = np.random.get_state()
    try:
        np.random.seed(42)
        first, second = way(), way()
        np.random.seed(42)
        assert np.array_equal(first, way())
        assert not np.array_equal(first, second)
        np.random.seed(43)
        assert not np.array_equal(first, way())
    finally:
        np.random.set_state(state)


def test_the_module_of_numpy_is_its_global_state() -> None:
    state = np.random.get_state()
    try:
        np.random.seed(42)
        first = run_seeds(None, 2)
        np.random.seed(42)
        assert run_seeds(np.random, 2).tolist() == first.tolist()
    finally:
        np.random.set_state(state)


def test_a_seed_that_is_given_leaves_the_global_state() -> None:
    before = np.random.get_state()[1].tolist()
    Minimizer("jde", max_iter=1, random_state=0, device="cpu").fit("sphere", dim=3)
    assert np.random.get_state()[1].tolist() == before
