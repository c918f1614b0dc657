"""True values of callbacks, which end a fit wherever there are callbacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from scipy.optimize import rosen
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from skde import Integer, Minimizer, MinMaxSolver, differential_evolution, minimize, scipy_method
from skde.estimators import EvolutionSearchCV, ModelRegressor

from .tuning.landscape import cost, tuner

BOX = [(-2.0, 2.0)] * 3
TRUE = [True, 1, 0.5, "stop", [0], np.True_, np.int64(3), np.array(True), np.array([2.0])]
FALSE = [False, 0, 0.0, "", [], None, np.False_, np.array([0.0])]


def evals_of_fit(callback: Any) -> int:
    """Return the evaluations of a fit."""
    return Minimizer("jde", max_iter=40, callbacks=callback, random_state=0, device="cpu").fit(rosen, BOX).n_evals_


def evals_of_game(callback: Any) -> int:
    """Return the evaluations of a solver."""
    solver = MinMaxSolver(max_iter=3, callbacks=callback, random_state=0, device="cpu")
    return solver.fit(lambda x, y: float(x[0] ** 2 - y[0] ** 2), [(-1, 1)], [(-1, 1)]).n_evals_


def fits_of_search(callback: Any) -> int:
    """Return the candidates of a search."""
    X, y = load_iris(return_X_y=True)
    search = EvolutionSearchCV(
        DecisionTreeClassifier(random_state=0),
        {"max_depth": Integer(1, 9), "min_samples_split": Integer(2, 60)},
        n_iter=24,
        search="de",
        callbacks=callback,
        random_state=0,
    )
    return len(search.fit(X, y).cv_results_["params"])


def evals_of_model(callback: Any) -> int:
    """Return the evaluations of a model."""
    x = np.linspace(0, 1, 20)
    model = ModelRegressor(
        lambda X, p: p[0] * np.exp(-p[1] * X[:, 0]), [(0, 5), (0, 9)], callbacks=callback, random_state=0
    )
    return model.fit(x[:, None], 2 * np.exp(-3 * x)).n_evals_


def experiments_of_tuning(callback: Any) -> int:
    """Return the experiments of a tuning."""
    return tuner(callbacks=callback, random_state=0, max_experiments=400).fit(cost).n_experiments_


def evals_of_scipys_function(callback: Any) -> int:
    """Return the evaluations of SciPy's function by our method."""
    method = scipy_method("jde", max_iter=40, random_state=0)
    return scipy.optimize.minimize(rosen, [0.0] * 3, method=method, bounds=BOX, callback=callback).nfev


WAYS: dict[str, Callable[[Any], int]] = {
    "fit": evals_of_fit,
    "list": lambda callback: evals_of_fit([lambda p: None, callback]),
    "minimize": lambda callback: minimize(rosen, BOX, max_iter=40, callbacks=callback, random_state=0).nfev,
    "game": evals_of_game,
    "search": fits_of_search,
    "model": evals_of_model,
    "tuning": experiments_of_tuning,
    "method": evals_of_scipys_function,
    "evolution": lambda callback: (
        differential_evolution(rosen, BOX, maxiter=20, polish=False, callback=callback, rng=0).nfev
    ),
}


def whole(way: str) -> int:
    """Return the work without an answer."""
    return WAYS[way](lambda *given: None)


@pytest.mark.parametrize("way", WAYS)
def test_any_true_value_ends_a_fit(way: str) -> None:
    stopped = WAYS[way](lambda *given: True)
    assert 0 < stopped < whole(way)
    for answer in (1, np.array([2.0])) if way in ("search", "model", "tuning") else TRUE:
        evals = WAYS[way](lambda *given, answer=answer: answer)
        assert evals == stopped or (way == "model" and evals < whole(way))  # its callbacks are called by the clock


@pytest.mark.parametrize("answer", FALSE, ids=repr)
def test_false_values_end_nothing(answer: Any) -> None:
    for way in ("fit", "game", "evolution"):
        assert WAYS[way](lambda *given: answer) == whole(way)


def test_an_answer_that_is_neither() -> None:
    with pytest.raises(
        ValueError, match=r"a callback must return a value that is true or false, got array\(\[0, 1\]\)"
    ):
        evals_of_fit(lambda p: np.array([0, 1]))
