"""Bounds in single precision: every point is inside the bounds as they were given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skde import DE, Integer, Log, Migration, Minimizer, MinMaxSolver, Real, minimize
from skde.algorithms import ALGORITHMS
from skde.algorithms.base import REPAIRS
from skde.utils.arrays import array_namespace, to_numpy
from skde.utils.validation import round_inwards

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
EVERY = sorted(ALGORITHMS)
# Of most, single precision rounds a bound outwards.
PAIRS = [(0.1, 0.3), (1 / 3, 2 / 3), (-0.1, 0.7), (1e-9, 3e-9), (16777217.0, 16777221.0), (-2 / 3, -0.1), (0.7, 1e9)]
BOX = np.array(PAIRS)


class Watch:
    """A function that leads to a corner, and notes points that are outside of the box."""

    def __init__(self, box: Any, sign: float) -> None:
        self.box, self.sign, self.calls = box, sign, 0
        self.least, self.most = np.full(len(box), np.inf), np.full(len(box), -np.inf)

    def __call__(self, X: Any) -> Any:
        xp = array_namespace(X)
        points = to_numpy(X).astype(np.float64)
        self.calls += 1
        self.least, self.most = np.minimum(self.least, points.min(axis=0)), np.maximum(self.most, points.max(axis=0))
        lower, width = xp.asarray(self.box[:, 0]), xp.asarray(self.box[:, 1] - self.box[:, 0])
        return self.sign * ((X - lower) / width).sum(axis=1)

    def check(self, *points: Any) -> None:
        assert self.calls
        for x in (self.least, self.most, *(np.asarray(x, np.float64) for x in points)):
            assert ((x >= self.box[:, 0]) & (x <= self.box[:, 1])).all(), x


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("algorithm", EVERY)
def test_every_trial_is_inside(algorithm: str, sign: float, dtype: str, device: str) -> None:
    watch = Watch(BOX, sign)
    m = Minimizer(algorithm, max_evals=6000, n_runs=2, random_state=0, dtype=dtype, device=device).fit(
        watch, bounds=BOX
    )
    watch.check(m.x_, *m.population_, *(run.x for run in m.runs_))


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("algorithm", ["de", "pso", "cmaes", "chc", "ss"])
def test_every_trial_of_a_pair_is_inside(algorithm: str, pair: Any) -> None:
    for sign in (1.0, -1.0):
        watch = Watch(np.array([pair] * 2), sign)
        watch.check(
            Minimizer(algorithm, max_evals=1500, random_state=1, dtype="float32").fit(watch, bounds=[pair] * 2).x_
        )


@pytest.mark.parametrize("rule", REPAIRS)
def test_every_repair_is_inside(rule: str) -> None:
    for sign in (1.0, -1.0):
        watch = Watch(BOX, sign)
        m = Minimizer(ALGORITHMS["de"](repair=rule, F=0.9), max_evals=4000, random_state=0, dtype="float32")
        watch.check(m.fit(watch, bounds=BOX).x_)


@pytest.mark.parametrize("device", DEVICES)
def test_islands_files_and_points_that_are_told(device: str, tmp_path: Path) -> None:
    watch = Watch(BOX, -1.0)
    given: dict[str, Any] = {"random_state": 0, "dtype": "float32", "device": device}
    m = Minimizer("de", max_iter=20, n_islands=3, migration=Migration(every=2), **given).fit(watch, bounds=BOX)
    m.save(tmp_path / "fit.skde")
    watch.check(m.x_, Minimizer.load(tmp_path / "fit.skde").set_params(max_iter=40).resume(watch).x_)
    m = Minimizer("de", max_iter=20, bounds=BOX, **given)
    while not m.stopped_:
        X = m.ask()
        other = array_namespace(X).asarray(BOX[:, 1].copy())
        m.tell(array_namespace(X).where(watch(X)[:, None] < -3.5, other, X), watch(X))
    watch.check(m.x_, *m.population_)


def test_first_points_at_the_bounds() -> None:
    for corner in BOX.T:
        watch = Watch(BOX, 1.0)
        m = Minimizer("jde", max_iter=5, random_state=0, dtype="float32").fit(watch, bounds=BOX, x0=corner)
        watch.check(m.x_)
    m = Minimizer("jde", max_iter=0, bounds=BOX, random_state=0, dtype="float32")
    m.ask()
    with pytest.raises(ValueError, match="X must be inside the bounds"):
        m.tell(np.full((len(m.ask()), len(BOX)), 1e12), np.zeros(len(m.ask())))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("polish", ["quasi-Newton", "L-BFGS-B", "Nelder-Mead"])
def test_a_polish_is_inside(polish: str, device: str) -> None:
    for sign in (1.0, -1.0):
        watch = Watch(BOX, sign)
        m = Minimizer("de", max_evals=3000, random_state=0, dtype="float32", polish=polish, device=device)
        watch.check(m.fit(watch, bounds=BOX).x_)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_typed_variables_are_inside(dtype: str, device: str) -> None:
    limits = np.array([(0.1, 0.3), (1e-9, 0.3), (1 / 3, 2 / 3), (-3, 5)])
    variables = {"a": Real(*limits[0]), "b": Log(*limits[1]), "c": Log(*limits[2]), "n": Integer(-3, 5)}
    for sign in (1.0, -1.0):
        watch = Watch(limits, sign)
        m = Minimizer(DE(repair="clip"), max_evals=4000, random_state=0, dtype=dtype, device=device)
        m.fit(watch, bounds=variables)
        watch.check(m.x_, *m.population_)


def test_both_sides_of_a_game_are_inside() -> None:
    x, y = Watch(BOX, 1.0), Watch(BOX, -1.0)
    solver = MinMaxSolver(max_iter=10, random_state=0, dtype="float32")
    solver.fit(lambda X, Y: x(X)[:, None] + y(Y), bounds_x=BOX, bounds_y=BOX)
    x.check(solver.x_)
    y.check(solver.y_)


def test_one_call() -> None:
    watch = Watch(BOX, -1.0)
    watch.check(minimize(watch, BOX, max_evals=3000, random_state=0, dtype="float32").x)


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        ((1.0, 1.0 + 1e-9), "fewer than two numbers inside"),
        ((16777217.0, 16777217.5), "fewer than two numbers inside"),
        ((0.1, 0.10000000149), "fewer than two numbers inside"),
        ((-3e38, 3e38), "is too wide"),
    ],
)
def test_a_box_without_numbers_of_single_precision_is_an_error(pair: Any, message: str) -> None:
    with pytest.raises(ValueError, match=rf"bounds\[1\] = .*{message} for dtype='float32'"):
        Minimizer(dtype="float32").fit(lambda X: X[:, 0], bounds=[(0, 1), pair])
    assert Minimizer(max_iter=0).fit(lambda X: X[:, 0], bounds=[(0, 1), pair]).n_evals_ > 0


def test_bounds_that_single_precision_holds_stay() -> None:
    box = np.array([(-0.5, 2.0), (0.0, 1e-40), (-3e38, 0.0)])
    held = box.astype(np.float32).astype(np.float64)
    assert np.array_equal(round_inwards(held, np.float32), held)
    assert np.array_equal(round_inwards(box, np.float64), box)
