"""Interruptions at random calls within generations: a fit in such pieces equals the fit in one piece."""

from __future__ import annotations

import pickle
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import LinearConstraint

from skde import Categorical, Integer, Minimizer, MinMaxSolver, Ordinal, Real, Recorder
from skde.algorithms import ALGORITHMS

from .settings import examples
from .test_pieces import algorithm_of, rules_of, told, with_size

SPACES: dict[str, Any] = {
    "real": [(-3.0, 3.0)] * 2,
    "mixed": [Integer(-3, 3), Categorical(["a", "b", "c"]), Real(-3.0, 3.0)],
    "discrete": [Integer(-3, 3), Ordinal([-2, 0, 1, 3]), Categorical(["a", "b"])],
    "small": [Integer(0, 1)] * 2,
}


def waves(x: Any) -> float:
    """Return the value of a function of many minima at a point."""
    return float((x * x - 3 * np.cos(3 * x)).sum())


def waves_of_pair(x: Any, y: Any) -> float:
    """Return the value of a game of many saddle points at a pair, NaN for some."""
    return waves(x - 0.3) - waves(y + 0.2) + float((x * y).sum()) if x[0] < 1.8 else np.nan


class Interrupted:
    """A function of one point, or of one pair, that raises exceptions at random calls, which evaluate nothing.

    Parameters
    ----------
    draw : random.Random
        The source of the numbers of the calls.
    function : callable
        The values.
    """

    def __init__(self, draw: random.Random, function: Callable[..., float] = waves) -> None:
        self.draw, self.left, self.function = draw, draw.randint(0, 30), function
        self.seen: Counter[bytes] = Counter()

    def __call__(self, *points: Any) -> float:
        if self.left == 0:
            self.left = self.draw.choice([0, 1, self.draw.randint(2, 150)])
            raise self.draw.choice([KeyboardInterrupt, ZeroDivisionError])
        self.left -= 1
        self.seen[b"".join(x.tobytes() for x in points)] += 1
        return self.function(*points)


def parameters_of(draw: random.Random, space: str) -> dict[str, Any]:
    """Return the parameters of a fit."""
    constrained = space == "real" and draw.random() < 0.4
    return {
        "algorithm": algorithm_of(draw),
        "bounds": SPACES[space],
        "n_runs": draw.choice([1, 1, 2, 3]),
        "n_islands": draw.choice([1, 1, 2]),
        "dtype": "float64" if constrained else draw.choice(["float32", "float64"]),
        "constraints": LinearConstraint([1.0, 1.0], -1.0, 2.0) if constrained else None,
        "max_iter": draw.randint(0, 15),
        "random_state": draw.randrange(2**32),
        "vectorized": False,
        "device": "cpu",
        **rules_of(draw),
    }


def continued(draw: random.Random, m: Any, path: Path) -> Any:
    """Return the solver as it is, or from a file or a pickle."""
    before = [(run.x.tolist(), run.fun, run.n_evals) for run in m.runs_] if m.__sklearn_is_fitted__() else None
    how = draw.choice(["same", "file", "pickle"])
    if before is None or how == "same":
        return m
    kept = {name: value for name, value in m.get_params(deep=False).items() if name in ("constraints", "recorder")}
    if how == "file":
        m.save(path)
        m = type(m).load(path)
    else:
        m = pickle.loads(pickle.dumps(m))
    m.set_params(**kept)
    np.testing.assert_equal([(run.x.tolist(), run.fun, run.n_evals) for run in m.runs_], before)
    return m


def evaluate_some(draw: random.Random, m: Minimizer, f: Interrupted) -> None:
    """Evaluate some trials by ask and tell."""
    if m.__sklearn_is_fitted__() and draw.random() < 0.3 and not m.stopped_:
        X, ids = m.ask(draw.randint(1, 8), return_ids=True)
        m.tell(f=[waves(x) for x in X], ids=ids)
        f.seen.update(x.tobytes() for x in X)


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("example", range(examples(12)))
def test_interrupted_fits_evaluate_each_point_once(example: int, space: str, tmp_path: Path) -> None:
    draw = random.Random(f"{space}, {example}")
    parameters = parameters_of(draw, space)
    whole = Minimizer(**parameters).fit(waves)
    f, recorder = Interrupted(draw), draw.choice([None, Recorder(tmp_path / "log.jsonl")])
    m = Minimizer(recorder=recorder, **parameters)
    try:
        m.fit(f)
    except (KeyboardInterrupt, ZeroDivisionError):
        for _ in range(10_000):
            m = continued(draw, m, tmp_path / "fit")
            evaluate_some(draw, m, f)
            try:
                m.resume(f)
                break
            except (KeyboardInterrupt, ZeroDivisionError):
                pass
    np.testing.assert_equal(told(m), told(whole))
    n_evals, calls = sum(run.n_evals for run in m.runs_), sum(f.seen.values())
    if space in ("discrete", "small"):
        assert set(f.seen.values()) == {1}
    elif parameters["constraints"] is None:
        assert calls == n_evals
    else:
        assert calls < n_evals
    if recorder is not None:
        table = Recorder.read(recorder.path)
        assert len(np.unique(table["id"])) == len(table["id"])
        assert len(table["id"]) == (calls if parameters["constraints"] is None else n_evals)


def game_of(draw: random.Random) -> dict[str, Any]:
    """Return the parameters of a fit of a function of pairs."""
    sides = sorted(name for name, kind in ALGORITHMS.items() if kind(**kind.get_test_params()).iteration_length == 1)
    spaces = [[(-2.0, 2.0)] * draw.randint(1, 2), [Integer(-2, 2), Real(-2.0, 2.0)]]
    bounds = draw.choice(spaces)
    return {
        "algorithm_x": with_size(ALGORITHMS[draw.choice(sides)], draw.randint(6, 9)),
        "algorithm_y": with_size(ALGORITHMS[draw.choice(sides)], draw.randint(6, 9)),
        "bounds_x": bounds,
        "bounds_y": bounds,
        "max_iter": draw.randint(0, 3),
        "gens_x": draw.randint(1, 2),
        "gens_y": draw.randint(1, 2),
        "archive_size": draw.randint(0, 2),
        "renewal": draw.choice([0.0, 0.3]),
        "n_runs": draw.choice([1, 1, 2]),
        "dtype": draw.choice(["float32", "float64"]),
        "random_state": draw.randrange(2**32),
        "pairwise": True,
        "device": "cpu",
        **rules_of(draw),
    }


def tell_some(draw: random.Random, m: MinMaxSolver) -> None:
    """Evaluate some pairs by ask and tell."""
    if m.n_runs > 1 or not m.__sklearn_is_fitted__() or draw.random() < 0.5 or m.stopped_:
        return
    X, Y = m.ask(draw.randint(1, 3))
    rows = sorted(draw.sample(range(len(Y)), draw.randint(1, len(Y))))
    m.tell(X, Y[rows], [[waves_of_pair(x, y) for y in Y[rows]] for x in X])


@pytest.mark.parametrize("example", range(examples(24)))
def test_interrupted_games_evaluate_each_pair_once(example: int, tmp_path: Path) -> None:
    draw = random.Random(f"game, {example}")
    parameters = game_of(draw)
    whole = MinMaxSolver(**parameters).fit(waves_of_pair)
    f, recorder = Interrupted(draw, waves_of_pair), draw.choice([None, Recorder(tmp_path / "log.jsonl")])
    m, by_hand = MinMaxSolver(recorder=recorder, **parameters), 0
    try:
        m.fit(f)
    except (KeyboardInterrupt, ZeroDivisionError):
        for _ in range(10_000):
            m = continued(draw, m, tmp_path / "fit")
            assert evaluations(m) == sum(f.seen.values()) + by_hand
            tell_some(draw, m)
            by_hand = evaluations(m) - sum(f.seen.values())
            try:
                m.resume(f)
                break
            except (KeyboardInterrupt, ZeroDivisionError):
                pass
    np.testing.assert_equal(told(m), told(whole))
    assert evaluations(m) == sum(f.seen.values()) + by_hand
    if recorder is not None:
        ids = Recorder.read(recorder.path)["id"]
        assert len(np.unique(ids)) == len(ids) == evaluations(m)


def evaluations(solver: Any) -> int:
    """Return the evaluations of all runs."""
    return sum(run.n_evals for run in solver.runs_) if solver.__sklearn_is_fitted__() else 0
