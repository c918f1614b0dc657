"""Objectives that return (f, g) or (f, g, h), and constraints that are told."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import NonlinearConstraint

from skde import JDE, Integer, Minimizer, Recorder, array_namespace, minimize
from skde.algorithms import algorithm_names
from skde.utils.arrays import to_numpy

BOX = [(0.0, 2.0)] * 3
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


def f(X: Any) -> Any:
    """Sum of squares."""
    return ((X - 1.5) ** 2).sum(axis=-1)


def g(X: Any) -> Any:
    """A limit of the sum."""
    return X.sum(axis=-1) - 3.0


def both(X: Any) -> Any:
    return f(X), g(X)


def of_point(x: Any) -> Any:
    return float(f(x)), g(x)


def three(X: Any) -> Any:
    """f, two g and one h."""
    xp = array_namespace(X)
    return f(X), xp.stack([g(X), X[:, 0] - 1.2], axis=1), (X[:, 1] - X[:, 2])[:, None]


class Counted:
    """A function of points, with the number of its points."""

    def __init__(self, function: Any) -> None:
        self.function, self.points = function, 0

    def __call__(self, X: Any) -> Any:
        """Return the outputs."""
        self.points += len(X) if X.ndim == 2 else 1
        return self.function(X)


SUM = NonlinearConstraint(lambda x: x.sum(axis=-1), -np.inf, 3.0)


def make(**parameters: Any) -> Minimizer:
    return Minimizer(**{"algorithm": "jde", "max_evals": 2000, "random_state": 0, **parameters})


def plain(**parameters: Any) -> Minimizer:
    """Return the fit with constraints of SciPy."""
    return make(constraints=SUM, vectorized=True, **parameters).fit(f, BOX)


def results(m: Minimizer) -> list[Any]:
    """Return the results of all runs."""
    return [
        (to_numpy(run.x).tolist(), run.fun, run.max_violation, run.violation, run.n_evals, run.history.best.tolist())
        for run in m.runs_
    ]


def same(first: Minimizer, second: Minimizer) -> bool:
    """Whether two fits have the same results."""
    found, expected = (
        [
            (
                to_numpy(run.x).tolist(),
                run.fun,
                run.max_violation,
                run.violation,
                run.n_evals,
                run.history.best.tolist(),
            )
            for run in m.runs_
        ]
        for m in (first, second)
    )
    return repr(found) == repr(expected)


# -- fits --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("parameters", [{}, {"vectorized": True}, {"n_runs": 3}, {"n_islands": 2}], ids=str)
def test_returned_constraints_equal_given_ones(parameters: dict[str, Any], device: str) -> None:
    m = make(device=device, **parameters).fit(both, BOX)
    assert same(m, plain(**{name: value for name, value in parameters.items() if name != "vectorized"}))
    assert m.max_violation_ <= 1e-6
    assert m.runs_[0].feasible


@pytest.mark.parametrize("parameters", [{}, {"vectorized": False}, {"vectorized": False, "n_jobs": 2}], ids=str)
def test_of_one_point(parameters: dict[str, Any]) -> None:
    assert same(make(**parameters).fit(of_point, BOX), plain())


@pytest.mark.parametrize("name", algorithm_names())
def test_one_call_is_one_evaluation(name: str) -> None:
    """Of one point no call is made before the fit, and none after it for the answer."""
    counted = Counted(of_point)
    m = make(algorithm=name, max_evals=500, vectorized=False).fit(counted, BOX)
    assert counted.points == m.n_evals_
    assert m.max_violation_ == max(g(m.x_), 0.0)
    counted = Counted(both)
    m = make(algorithm=name, max_evals=500, vectorized=True).fit(counted, BOX)
    before = counted.points - m.n_evals_
    assert 0 < before <= 5 + 1 + 5
    assert m.fun_ == f(m.x_)


@pytest.mark.parametrize("device", DEVICES)
def test_inequalities_and_equalities(device: str) -> None:
    m = make(max_evals=20000, feasibility_tol=1e-3, device=device).fit(three, BOX)
    x = to_numpy(m.x_)
    assert abs(x[1] - x[2]) <= 1e-3
    assert x.sum() <= 3 + 1e-3
    assert m.fun_ == pytest.approx(0.75, abs=0.01)
    assert m.max_violation_ == max(x.sum() - 3, x[0] - 1.2, abs(x[1] - x[2]), 0)


@pytest.mark.parametrize("polish", [True, None, "COBYQA"])
def test_a_polish_makes_use_of_all_outputs(polish: Any) -> None:
    counted = Counted(both)
    m = make(algorithm="auto", max_evals=3000, polish=polish).fit(counted, BOX)
    assert m.fun_ == pytest.approx(0.75, abs=1e-4)
    assert counted.points <= m.n_evals_ + 11
    assert m.max_violation_ <= 1e-6


def test_failures_and_what_is_infeasible() -> None:
    """An infeasible point is ranked by its violation, and a simulation that fails by nothing."""

    def fails(x: Any) -> Any:
        if x[0] < 0.3:
            raise ArithmeticError("no mesh")
        value = f(x) if g(x) <= 0 else np.nan
        return value, g(x)

    with pytest.warns(RuntimeWarning, match="ArithmeticError"):
        m = make(vectorized=False, on_error="nan").fit(fails, BOX)
    assert m.fun_ == pytest.approx(0.75, abs=0.05)
    nowhere = make(max_evals=300).fit(lambda X: (f(X), X[:, 0] + 1.0), BOX)
    assert not nowhere.converged_
    assert nowhere.message_.startswith("No feasible point was found, the least violation is 1")
    with pytest.warns(RuntimeWarning, match="no value"):
        blind = make(max_evals=300).fit(lambda X: (f(X) * np.nan, X[:, 0] - 3.0), BOX)
    assert blind.message_.startswith("No value of 300 evaluations was finite.")


def test_named_variables_and_recorders() -> None:
    recorder = Recorder()
    m = make(recorder=recorder, max_evals=300).fit(
        lambda n, x: ((x - n) ** 2, x - 1.5), {"n": Integer(0, 4), "x": (0, 4)}
    )
    assert m.max_violation_ <= 1e-6
    assert m.fun_ < 1e-2
    table = recorder.table
    assert len(table["fun"]) == m.n_evals_
    assert (table["violation"] > 0).any()


def test_minimize_counts_simulations() -> None:
    found = minimize(of_point, BOX, max_evals=600, random_state=0)
    assert found.fun == pytest.approx(0.75, abs=0.1)
    assert found.maxcv == max(g(found.x), 0)


def test_saved_and_resumed(tmp_path: Path) -> None:
    whole, half = make().fit(three, BOX), make(max_evals=1000).fit(three, BOX)
    half.save(tmp_path / "half")
    m = Minimizer.load(tmp_path / "half")
    assert (m.fun_, m.max_violation_) == (half.fun_, half.max_violation_) or np.isnan(m.fun_)
    assert same(m.set_params(max_evals=2000).resume(three), whole)
    assert same(half.set_params(max_evals=2000).resume(), whole)
    other = Minimizer.load(tmp_path / "half").set_params(max_evals=2000)
    with pytest.raises(ValueError, match=r"there must be as many g and h as before, 2 and 1, got 1 and 0"):
        other.resume(both)
    again = pickle.loads(pickle.dumps(half))
    assert again.max_violation_ == half.max_violation_


def test_warm_start() -> None:
    m = make(warm_start=True, max_evals=1000).fit(both, BOX)
    before = m.fun_
    assert m.fit(both, BOX).fun_ <= before
    assert m.n_evals_ > 1000


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            lambda X: (f(X), g(X)[:2]),
            r"g must have shape \(5, m\) or \(5,\), one row a point, got \(2,\)",
        ),
        (lambda X: (f(X), X[:, None]), r"the objective's g must have shape"),
        (lambda X: (f(X), g(X) + 1j), r"the objective's g must hold real numbers"),
        (lambda X: (f(X).mean() + f(X), g(X)), "from that row alone"),
        (lambda X: (f(X), g(X) - g(X).mean()), "from that row alone"),
    ],
)
def test_wrong_outputs_are_refused(function: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        make(vectorized=True).fit(function, BOX)


def test_constraints_in_two_ways_and_single_precision_are_refused() -> None:
    for vectorized in (True, "auto", False):
        with pytest.raises(ValueError, match=r"returns constraints, \(f, g\) or .* and there are others"):
            make(constraints=SUM, vectorized=vectorized).fit(of_point if vectorized is False else both, BOX)
    with pytest.raises(ValueError, match="dtype must be 'float64' where there are constraints"):
        make(dtype="float32").fit(both, BOX)


def test_a_tuple_of_numbers_is_still_an_array() -> None:
    """As many numbers as points are values, whatever their sequence is."""
    m = make(algorithm=JDE(pop_size=10), max_evals=60, vectorized=True).fit(lambda X: tuple(f(X).tolist()), BOX)
    assert same(m, make(algorithm=JDE(pop_size=10), max_evals=60).fit(f, BOX))


# -- ask and tell ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("n_runs", [1, 3])
def test_told_constraints_equal_returned_ones(n_runs: int, device: str) -> None:
    m = make(bounds=BOX, n_runs=n_runs, device=device)
    while not m.stopped_:
        X = m.ask()
        m.tell(X, f(X), g=g(X))
    assert same(m, make(n_runs=n_runs).fit(both, BOX))


def test_told_in_parts() -> None:
    m, rng = make(bounds=BOX), np.random.default_rng(0)
    waiting: list[tuple[Any, int]] = []
    while not m.stopped_:
        waiting += zip(*m.ask(8, return_ids=True), strict=True)
        some = [waiting.pop(int(rng.integers(len(waiting)))) for _ in range(int(rng.integers(1, len(waiting) + 1)))]
        if len(some) == 1:  # one id, with numbers
            m.tell(f=f(some[0][0]), ids=some[0][1], g=g(some[0][0]))
            continue
        X = np.array([x for x, _ in some])
        m.tell(f=f(X), ids=[i for _, i in some], g=g(X)[:, None], h=np.zeros((len(X), 0)))
    assert same(m, make().fit(both, BOX))


def test_told_constraints_in_files(tmp_path: Path) -> None:
    whole = make().fit(three, BOX)
    m = make(bounds=BOX)
    for _ in range(5):
        X = m.ask()
        values, inequalities, equalities = three(X)
        m.tell(X, values, g=inequalities, h=equalities)
    m.save(tmp_path / "m")
    other = Minimizer.load(tmp_path / "m")
    assert (other.max_violation_, other.message_) == (m.max_violation_, m.message_)
    X = other.ask()
    with pytest.raises(ValueError, match="g and h must be told, as before"):
        other.tell(X, f(X))
    with pytest.raises(ValueError, match="as many g and h as before, 2 and 1, got 1 and 0"):
        other.tell(X, f(X), g=g(X))
    values, inequalities, equalities = three(X)
    other.tell(X, values, g=inequalities, h=equalities)
    assert same(other.resume(three), whole)


def test_wrong_constraints_are_refused_and_change_nothing() -> None:
    m = make(bounds=BOX)
    X = m.ask()
    for wrong, message in (
        ({"g": np.zeros(3)}, r"g must have the shape of f, \(100,\), or one axis more, got \(3,\)"),
        ({"h": np.zeros((100, 2, 2))}, r"h must have the shape of f"),
        ({"g": ["a"] * 100}, "g must"),
        ({"g": np.zeros((100, 0))}, "g or h must have a value for every point"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            m.tell(X, f(X), **wrong)
    m.tell(X, f(X))  # without constraints
    with pytest.raises(ValueError, match="g and h must be told from the first tell on"):
        m.tell(m.ask(), f(X), g=g(X))
    given = make(bounds=BOX, constraints=SUM, vectorized=True)
    X = given.ask()
    with pytest.raises(ValueError, match="g and h are told where the constraints are not given"):
        given.tell(X, f(X), g=g(X))
    single = make(bounds=BOX, dtype="float32")
    X = single.ask()
    with pytest.raises(ValueError, match="dtype must be 'float64' where there are constraints"):
        single.tell(X, f(X), g=g(X))


LISTS = {
    "f, g of a point": lambda x: [float(f(x)), g(x)],
    "f, g of points": lambda X: [f(X), g(X)],
    "vectors": lambda x: [float(f(x)), np.array([g(x), x[0] - 1.2])],
    "f, g, h of points": lambda X: [*three(X)],
    "f, g, h of a point": lambda x: [float(f(x)), g(x), x[1] - x[2]],
}


@pytest.mark.parametrize("returned", LISTS)
def test_a_list_of_f_and_constraints_is_refused_with_the_form_that_is_meant(returned: str) -> None:
    with pytest.raises(TypeError, match=r"must return a tuple, \(f, g\) or \(f, g, h\), got a list of [23]"):
        minimize(LISTS[returned], BOX, max_evals=200)


def test_a_list_of_one_number_or_of_one_value_a_point_is_an_objective() -> None:
    for function in (lambda x: [float(f(x))], lambda X: [f(row) for row in X]):
        assert minimize(function, BOX[:2], max_evals=500, random_state=0).fun < 0.1
