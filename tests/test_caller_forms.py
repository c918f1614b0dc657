"""The forms in which callers give bounds, and in which their functions answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import NonlinearConstraint

from skde import DE, ConstrainedProblem, Minimizer, MinMaxSolver, minimize

from .short_fits import BOX, f, fit

LOW, HIGH = [-5.0, -5.0, -5.0], [5.0, 5.0, 5.0]


def pairs() -> Any:
    return zip(LOW, HIGH, strict=True)


def test_bounds_may_be_a_zip() -> None:
    wanted = fit().x_
    assert np.array_equal(fit(fit_options={"bounds": pairs()}).x_, wanted)
    assert np.array_equal(fit(fit_options={"bounds": iter(BOX)}).x_, wanted)
    assert np.array_equal(minimize(f, pairs(), method="jde", max_iter=5, random_state=0, device="cpu").x, wanted)
    problem = ConstrainedProblem(f, pairs(), NonlinearConstraint(lambda x: x[..., 0], -9.0, 9.0))
    assert np.array_equal(problem.bounds, BOX)
    assert fit(fit_options={"bounds": zip([0, 1], [1, 1], strict=True)}).params_["x1"] == 1.0  # fixed
    game = MinMaxSolver(max_iter=1, random_state=0, device="cpu")
    solved = game.fit(lambda X, Y: X[:, :1] - Y[:, 0], zip([0], [1], strict=True), zip([0], [1], strict=True))
    assert 0 <= solved.fun_ <= 1


def test_a_constructor_refuses_bounds_that_one_fit_uses_up() -> None:
    with pytest.raises(
        ValueError, match=r"bounds must be a list in the constructor, got a zip, .*list\(zip\(\.\.\.\)\)"
    ):
        Minimizer(bounds=pairs()).fit(f)
    with pytest.raises(ValueError, match="bounds must be a list in the constructor, got a generator"):
        Minimizer(bounds=(pair for pair in BOX)).ask()
    with pytest.raises(ValueError, match="bounds_y must be a list in the constructor, got a zip"):
        MinMaxSolver(bounds_x=BOX, bounds_y=pairs()).ask()


@pytest.mark.parametrize("parameters", [{}, {"dtype": "float32"}, {"n_runs": 2, "device": ["cpu", "cpu"]}], ids=str)
def test_a_column_is_one_value_a_row(parameters: dict[str, Any]) -> None:
    column = fit(lambda X: f(X)[:, None], **parameters)
    assert np.array_equal(column.fitness_, fit(**parameters).fitness_)
    assert fit(lambda X: X, fit_options={"bounds": [(1.0, 2.0)]}).fun_ >= 1.0
    problem = ConstrainedProblem(lambda X: f(X)[:, None], BOX, NonlinearConstraint(lambda x: x[..., 0], 1.0, 3.0))
    assert problem.f(np.ones((4, 3))).shape == (4,)


def test_one_number_is_the_value_of_one_row() -> None:
    def squeezed(X: Any) -> Any:
        return np.squeeze((X * X).sum(axis=1))

    assert np.array_equal(fit(squeezed).fitness_, fit().fitness_)
    with pytest.raises(ValueError, match=r"must have shape \(5,\), .* got shape \(\)"):
        fit(lambda X: (X * X).sum(), vectorized=True)


def test_a_function_of_a_point_may_return_an_array_of_one_value() -> None:
    scalar, one, column = (
        fit(lambda x, shape=shape: np.reshape((x * x).sum(), shape), vectorized=False, algorithm=DE(pop_size=8))
        for shape in ((), (1,), (1, 1))
    )
    assert np.array_equal(scalar.fitness_, one.fitness_)
    assert np.array_equal(scalar.fitness_, column.fitness_)
