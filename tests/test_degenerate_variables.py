"""Variables with one value only, which are fixed, boxes with nothing free, and values at the edge of their bounds."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from scipy.optimize import Bounds, LinearConstraint
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from skde import (
    Categorical,
    ConstrainedProblem,
    Fixed,
    Integer,
    Log,
    Minimizer,
    MinMaxSolver,
    Ordinal,
    Real,
    Variables,
    differential_evolution,
    minimize,
)
from skde.algorithms import ALGORITHMS
from skde.estimators import EvolutionSearchCV, ModelRegressor

# A variable, its number in arrays of points, and its value by name.
ONE_VALUE: dict[str, tuple[Any, float, Any]] = {
    "pair": ((3, 3), 3.0, 3.0),
    "real": (Real(2.5, 2.5), 2.5, 2.5),
    "integer": (Integer(3, 3), 3.0, 3),
    "log": (Log(2, 2), 2.0, 2.0),
    "ordinal": (Ordinal([5]), 5.0, 5),
    "categorical": (Categorical(["a"]), 0.0, "a"),
    "fixed": (Fixed(7), 7.0, 7),
}


def make(algorithm: str = "jde", **parameters: Any) -> Minimizer:
    """Return a short fit."""
    return Minimizer(algorithm, **{"max_iter": 5, "random_state": 0, "device": "cpu", **parameters})


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
@pytest.mark.parametrize("name", ONE_VALUE)
def test_a_variable_with_one_value_is_fixed(name: str, device: str, tmp_path: Path) -> None:
    one, number, value = ONE_VALUE[name]
    bounds = {"x": (-1.0, 2.0), "one": one, "n": Integer(-3, 3)}
    twin = {"x": (-1.0, 2.0), "one": Fixed(number), "n": Integer(-3, 3)}
    m = make(device=device).fit("sphere", bounds, dim=3)
    assert np.array_equal(m.population_, make(device=device).fit("sphere", twin, dim=3).population_)
    assert (m.population_[:, 1] == number).all()
    assert m.params_["one"] == value
    assert type(m.params_["one"]) is type(value)
    m.save(tmp_path / "m.skde")
    again = Minimizer.load(tmp_path / "m.skde").set_params(max_iter=8).resume()
    assert np.array_equal(again.population_, make(device=device, max_iter=8).fit("sphere", twin, dim=3).population_)
    assert pickle.loads(pickle.dumps(Variables(bounds))) == Variables(bounds)


@pytest.mark.parametrize("algorithm", ["auto", *ALGORITHMS])
def test_every_algorithm(algorithm: str) -> None:
    bounds = {name: one for name, (one, _, _) in ONE_VALUE.items()}
    m = make(algorithm, max_iter=2).fit(lambda X: (X**2).sum(axis=1), {**bounds, "x": (0.0, 1.0)})
    assert m.params_ == {**{name: value for name, (_, _, value) in ONE_VALUE.items()}, "x": m.x_[-1]}


NOTHING_FREE: dict[str, Any] = {
    "pairs": [(2, 2), (3, 3)],
    "array": np.array([[2.0, 2.0], [3.0, 3.0]]),
    "Bounds": Bounds([2, 3], [2, 3]),
    "named": {"a": Integer(2, 2), "b": Ordinal([3])},
    "fixed": [Fixed(2), Real(3, 3)],
}


@pytest.mark.parametrize("bounds", NOTHING_FREE.values(), ids=NOTHING_FREE)
@pytest.mark.parametrize("algorithm", ["auto", "jde", "cmaes", "pso", "ss"])
def test_a_box_with_nothing_free(algorithm: str, bounds: Any) -> None:
    calls: list[Any] = []

    def f(X: Any) -> Any:
        calls.append(len(X))
        return X[:, 0] + 10 * X[:, 1]

    m = make(algorithm, max_iter=None).fit(f, bounds)
    assert (m.x_.tolist(), m.fun_, m.n_evals_) == ([2.0, 3.0], 32.0, 1)
    assert m.converged_
    assert calls[2:] == [1]  # after the two of the probe
    compiled = make(algorithm, max_iter=None).fit("sphere", bounds, dim=2)
    assert (compiled.fun_, compiled.n_evals_, compiled.converged_) == (13.0, 1, True)
    result = minimize(scipy.optimize.rosen, bounds if not isinstance(bounds, dict) else NOTHING_FREE["pairs"])
    assert (result.fun, result.nfev, result.success) == (scipy.optimize.rosen([2, 3]), 1, True)


def test_nothing_free_by_ask_and_tell_and_under_constraints(tmp_path: Path) -> None:
    m = make(bounds=[(2, 2), (3, 3)])
    while not m.stopped_:
        X = m.ask()
        assert (X == [2, 3]).all()
        m.tell(X, X.sum(axis=1))
    assert m.fun_ == 5
    m.save(tmp_path / "m.skde")
    assert Minimizer.load(tmp_path / "m.skde").fun_ == 5
    for ub, feasible in ((6, True), (4, False)):
        fitted = make(constraints=LinearConstraint([[1, 1]], -np.inf, ub)).fit(lambda X: X[:, 0], [(2, 2), (3, 3)])
        assert (fitted.max_violation_ == 0) is feasible
    narrowed = ConstrainedProblem(lambda X: X[:, 0] ** 2, [(-1, 1), (0, 5)], Bounds([-1, 2], [1, 2]))
    assert make().fit(narrowed).x_[1] == 2


def test_sides_of_a_game() -> None:
    game = MinMaxSolver(max_iter=2, gens_x=2, gens_y=2, random_state=0, device="cpu")
    game.fit(lambda x, y: float(x[0] ** 2 - y[0] ** 2), [(2, 2)], [(-1, 1)])
    assert game.x_.tolist() == [2.0]
    game.fit(lambda x, y: float(x[0] ** 2 - y[0] ** 2), [(-1, 1), (3, 3)], [Integer(4, 4), Fixed(1)])
    assert game.x_[1] == 3
    assert game.y_.tolist() == [4.0, 1.0]


def test_scipys_function() -> None:
    r = differential_evolution(scipy.optimize.rosen, [(3, 3), (-5, 10)], rng=0, maxiter=200)
    assert r.x[0] == 3
    assert r.fun == pytest.approx(4, abs=1e-6)
    fixed = differential_evolution(scipy.optimize.rosen, [(3, 3), (2, 2)], rng=0)
    assert fixed.x.tolist() == [3, 2]


def test_a_search_over_estimators_and_a_model() -> None:
    X, y = load_iris(return_X_y=True)
    space = {
        "max_depth": Integer(3, 3),
        "min_samples_split": Integer(2, 20),
        "ccp_alpha": Real(0.0, 0.0),
        "criterion": Categorical(["gini"]),
        "min_samples_leaf": Ordinal([2]),
        "min_impurity_decrease": Log(1e-3, 1e-3),
    }
    search = EvolutionSearchCV(DecisionTreeClassifier(random_state=0), space, n_iter=4, random_state=0).fit(X, y)
    found = {name: value for name, value in search.best_params_.items() if name != "min_samples_split"}
    assert found == {
        "max_depth": 3,
        "ccp_alpha": 0.0,
        "criterion": "gini",
        "min_samples_leaf": 2,
        "min_impurity_decrease": 1e-3,
    }
    x = np.linspace(0, 1, 20)
    for given in ((2.0, 2.0), Real(2.0, 2.0), Log(2.0, 2.0)):
        model = ModelRegressor(lambda X, p: p[0] * np.exp(-p[1] * X[:, 0]), [given, (0.0, 9.0)], random_state=0)
        assert model.fit(x[:, None], 2 * np.exp(-3 * x)).theta_.tolist() == pytest.approx([2.0, 3.0])


# -- first points ------------------------------------------------------------------------------------------------------


def test_first_points_need_no_fixed_values() -> None:
    bounds = {"x": (-1.0, 1.0), "z": Fixed(3), "n": Integer(2, 2), "kind": Categorical(["a"])}
    for x0 in ({"x": 0.5}, {"x": 0.5, "z": 3}, {"x": 0.5, "z": 3.0, "n": 2, "kind": "a"}):
        assert make(max_iter=0).fit(lambda X: abs(X[:, 0] - 0.5), bounds, x0=x0).fun_ == 0
    for x0, message in (
        ({"x": 0.5, "z": 4}, "x0: 4.0 is no value of 'z'"),
        ({"x": 0.5, "n": 3}, "x0: 3.0 is no value of 'n'"),
        ({"x": 0.5, "kind": "b"}, r"x0\['kind'\] must be one of"),
        ({"z": 3}, "x0 must have the variables x, z, n, kind"),
        ({"x": 0.5, "y": 1}, "x0 must have the variables x, z, n, kind"),
    ):
        with pytest.raises(ValueError, match=message):
            make().fit(lambda X: X[:, 0], bounds, x0=x0)


@pytest.mark.parametrize("bounds", [[(0.1, 0.3)], {"x": (0.1, 0.3)}, {"x": Log(0.1, 0.3)}], ids=str)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_first_points_that_rounding_puts_outside(bounds: Any, dtype: str) -> None:
    for x0 in (0.1 + 0.2, np.nextafter(0.3, 1), np.nextafter(0.1, 0)):
        m = make(max_iter=0, dtype=dtype).fit(lambda X: X[:, 0], bounds, x0=[x0])
        assert 0.1 - 1e-8 <= m.fun_ <= 0.3
        assert dtype == "float32" or (m.population_ >= 0.1).all() & (m.population_ <= 0.3).all()
    for x0 in (0.3 + 1e-12, 0.1 - 1e-12):
        with pytest.raises(ValueError, match="x0"):
            make(max_iter=0, dtype=dtype).fit(lambda X: X[:, 0], bounds, x0=[x0])


def test_logarithms_of_very_small_numbers() -> None:
    r = minimize(lambda X: abs(np.log10(X[:, 0]) + 200), {"x": Log(1e-300, 1.0)}, max_iter=100, random_state=0)
    assert np.log10(r.x[0]) == pytest.approx(-200, abs=1e-3)
    edge = minimize(lambda X: X[:, 0], {"x": Log(2.3e-308, 1e300)}, max_iter=100, random_state=0)
    assert 2.3e-308 <= edge.fun < 1e-300
    with pytest.raises(ValueError, match=r"bounds\['x'\] = Log.* needs dtype='float64', got 'float32', whose least"):
        minimize(lambda X: X[:, 0], {"x": Log(1e-40, 1.0)}, dtype="float32")
    with pytest.raises(ValueError, match=r"Log.low must be at least 2.23e-308, got 5e-324"):
        Log(5e-324, 1.0)
