"""MinMaxSolver and the NumPy implementation: the same populations, opponents and answers after every cycle."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import NonlinearConstraint

from skde import DE, JDE, ConstrainedProblem, MinMaxSolver, get_problem

from .coevolution import MinMaxRunner, Multipliers

BOX_X, BOX_Y = np.array([[-4.0, 4.0], [-1.0, 3.0]]), np.array([[-5.0, 5.0]] * 3)
SIDES = [JDE(pop_size=10), DE(pop_size=9, strategy="best/1/bin", F=0.7, CR=0.7)]


def two(X: Any, Y: Any) -> Any:
    """Every x has two best y, with a ridge between them.

    It calls no library function: the last bits of these depend on shapes.
    """
    x, z, y = X[:, :1], X[:, 1:], Y[:, 0]
    rest = -(Y[:, 1] * Y[:, 1]) - (Y[:, 2] - z) * (Y[:, 2] - z)
    first, second = (x - 1) * (x - 1) - 4 * (y - 3) * (y - 3), (x + 1) * (x + 1) - 4 * (y + 3) * (y + 3)
    return np.maximum(first, second) + z * z + rest


def holes(X: Any, Y: Any) -> Any:
    """The same where some pairs have no value, and some an infinite one."""
    values = two(X, Y)
    values[(X[:, :1] > 3) & (Y[:, 1] > 0)] = np.nan
    values[(X[:, :1] < -3) & (Y[:, 1] < -4)] = np.inf
    return values


def fitted(solver: MinMaxSolver, cycles: int, *arguments: Any) -> MinMaxSolver:
    return solver.set_params(max_iter=cycles, device="cpu", random_state=7).fit(*arguments)


@pytest.mark.parametrize("side", SIDES, ids=lambda side: side.name)
@pytest.mark.parametrize("function", [two, holes])
@pytest.mark.parametrize(("archive", "renewal"), [(0, 0.0), (3, 0.0), (3, 0.35), (20, 0.2)])
def test_games(side: Any, function: Any, archive: int, renewal: float) -> None:
    solver = MinMaxSolver(side, gens_x=2, gens_y=3, archive_size=archive, renewal=renewal)
    pair = fitted(solver, 0, function, BOX_X, BOX_Y)._coevolution
    plain = MinMaxRunner(solver, function, BOX_X, BOX_Y, (int(pair.x.spec.seeds[0]), int(pair.y.spec.seeds[0])))
    for cycle in range(12):
        plain.cycle()
        found = fitted(solver, cycle, function, BOX_X, BOX_Y)
        np.testing.assert_array_equal(found.population_x_, plain.x.x)
        np.testing.assert_array_equal(found.population_y_, plain.y.x)
        np.testing.assert_array_equal(found._coevolution.opponents_of(cycle + 1)[0], plain.opponents())
        x, y, value = plain.answers[-1]
        np.testing.assert_array_equal(np.concatenate([found.x_, found.y_]), np.concatenate([x, y]))
        assert found.fun_ == value
    np.testing.assert_array_equal(found.history_.best, [answer[2] for answer in plain.answers])


def ring() -> ConstrainedProblem:
    """Two inequalities, of which one is active, and an equality."""
    below = NonlinearConstraint(
        lambda x: np.stack([x[..., 0] - x[..., 1], x[..., 1] - 1.5], axis=-1), -np.inf, [0.5, 0]
    )
    on = NonlinearConstraint(lambda x: x[..., 0] * x[..., 0] + x[..., 1] * x[..., 1], 2.0, 2.0)
    return ConstrainedProblem(lambda X: X[:, 0] + 2 * X[:, 1], [(-2, 2)] * 2, [below, on])


@pytest.mark.parametrize("side", SIDES, ids=lambda side: side.name)
@pytest.mark.parametrize("problem", [ring(), get_problem("fabris2012/p3"), get_problem("fabris2012/p5")], ids=repr)
def test_multipliers(side: Any, problem: Any) -> None:
    solver = MinMaxSolver(side, gens_x=3)
    seed = int(fitted(solver, 0, problem)._coevolution.x.spec.seeds[0])
    plain = Multipliers(solver, problem, seed)
    for cycle in range(25):
        plain.cycle()
        found = fitted(solver, cycle, problem)
        np.testing.assert_array_equal(found._coevolution.exchange["penalties"][0], plain.r)
        np.testing.assert_array_equal(found.multipliers_, plain.multipliers)
        np.testing.assert_array_equal(found.population_x_, plain.x.x)
        np.testing.assert_array_equal(found.fitness_, plain.x.f)
        np.testing.assert_array_equal(found.x_, plain.answers[-1][0])
    assert len({tuple(answer[0]) for answer in plain.answers}) > 1  # the answer has moved
    assert (plain.r > 0).all()
    assert len(set(np.log2(plain.r))) > 1
