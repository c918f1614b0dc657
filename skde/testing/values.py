"""Values of the function: NaN, infinity, their order, their precision."""

from __future__ import annotations

import numpy as np
import pytest

from skde.algorithms import Algorithm
from skde.algorithms.base import REPAIRS
from skde.testing.base import BOX, BaseContract, bowl, with_repair
from skde.typing import Array


class ValueContract(BaseContract):
    """NaN and infinity, invariances, progress, precision."""

    def test_nan_never_wins(self, algorithm: Algorithm, device: str) -> None:
        """Half of the box is NaN; the best is found in the other half."""

        def half(X: Array) -> Array:
            values = bowl(X)
            values[X[:, 0] > 1.0] = float("nan")
            return values

        m = self.make(algorithm, device, max_iter=300).fit(half, bounds=BOX)
        assert m.fun_ < 1e-2
        assert m.x_[0] <= 1.0
        assert not np.isnan(m.history_.best).any()

    @pytest.mark.parametrize("bad", [float("nan"), float("inf")])
    def test_a_fit_without_a_value_goes_on_to_its_limit(self, algorithm: Algorithm, device: str, bad: float) -> None:
        """There is nothing to compare, which a warning and the message say; ask and tell likewise."""
        with pytest.warns(RuntimeWarning, match="no value of the objective was finite"):
            m = self.make(algorithm, device, max_iter=20).fit(lambda X: X[:, 0] * 0 + bad, bounds=BOX)
        asked = self.make(algorithm, device, max_iter=20, bounds=BOX)

        def tell_all() -> None:
            while not asked.stopped_:
                X = asked.ask()
                asked.tell(X, X[:, 0] * 0 + bad)

        with pytest.warns(RuntimeWarning, match="no value of the objective was finite"):
            tell_all()
        for solver in (m, asked):
            assert solver.n_iter_ == 20
            assert not solver.converged_
            assert solver.message_.startswith(f"No value of {solver.n_evals_} evaluations was finite.")

    def test_a_failing_start_is_left(self, algorithm: Algorithm, device: str) -> None:
        """Where 4 % of the box has values, they are found."""

        def island(X: Array) -> Array:
            values = bowl(X)
            values[values > 0.15] = float("nan")
            return values

        assert self.make(algorithm, device, max_iter=400).fit(island, bounds=BOX).fun_ < 0.15

    def test_nan_loses_to_infinity(self, algorithm: Algorithm, device: str) -> None:
        """Infinity is a value, and NaN is not."""

        def wall(X: Array) -> Array:
            values = X[:, 0] * 0 + float("inf")
            values[X[:, 0] < 1.5] = float("nan")
            return values

        with pytest.warns(RuntimeWarning, match="no value of the objective was finite"):
            m = self.make(algorithm, device, max_iter=0).fit(wall, bounds=BOX, x0=BOX[:, 0])
        assert np.isnan(m.fitness_[0])
        assert m.fun_ == np.inf
        assert m.x_[0] >= 1.5

    def test_a_plateau_of_inf_is_crossed(self, algorithm: Algorithm, device: str) -> None:
        """Ties are accepted, also between infinities: the population moves."""
        with pytest.warns(RuntimeWarning, match="no value of the objective was finite"):
            start, end = (
                self.make(algorithm, device, max_iter=n).fit(lambda X: X[:, 0] * 0 + float("inf"), bounds=BOX)
                for n in (0, 5)
            )
        assert end.fun_ == np.inf
        assert not np.array_equal(start.population_, end.population_)

    def test_progress_on_a_sphere(self, algorithm: Algorithm, device: str) -> None:
        """The best value falls from about 1e4 to below 1e-10."""
        m = self.make(algorithm, device, max_iter=1000).fit("sphere", dim=5)
        assert m.fun_ < 1e-10 < m.history_.best[0]

    @pytest.mark.parametrize("scale", [4.0, 2.0**-30])
    @pytest.mark.parametrize("repair", REPAIRS)
    def test_equivariant_in_scale(self, algorithm: Algorithm, device: str, scale: float, repair: str) -> None:
        """Scaling box and function together scales the result: to the last bit, for powers of two do not round."""
        algorithm = with_repair(algorithm, repair)

        def squares(X: Array) -> Array:
            return (X * X).sum(axis=1)

        first = self.make(algorithm, device).fit(squares, bounds=BOX)
        other = self.make(algorithm, device).fit(lambda X: 8.0 * squares(X / scale), bounds=BOX * scale)
        assert np.array_equal(first.population_ * scale, other.population_)
        assert np.array_equal(first.fitness_ * 8.0, other.fitness_)

    def test_equivariant_in_place(self, algorithm: Algorithm, device: str) -> None:
        """Shifting box and function together shifts the result.

        A shift rounds, and what is rounded differently is in time decided differently: the first few generations are
        compared, to rounding.
        """
        box = np.array([[-1.0, 1.0]] * 3)
        first = self.make(algorithm, device, max_iter=4).fit(lambda X: ((X - 0.5) ** 2).sum(axis=1), bounds=box)
        other = self.make(algorithm, device, max_iter=4).fit(lambda X: ((X - 16.5) ** 2).sum(axis=1), bounds=box + 16.0)
        assert np.allclose(other.population_ - 16.0, first.population_, rtol=0, atol=1e-13)

    def test_equivariant_in_value(self, algorithm: Algorithm, device: str) -> None:
        """Only the order of the values counts."""
        first = self.make(algorithm, device).fit(bowl, bounds=BOX)
        other = self.make(algorithm, device).fit(lambda X: 8.0 * bowl(X), bounds=BOX)
        assert np.array_equal(first.x_, other.x_)

    def test_single_precision(self, algorithm: Algorithm, device: str) -> None:
        """Positions and values are float32 all the way."""
        m = self.make(algorithm, device, dtype="float32", max_iter=400).fit("sphere", dim=4)
        assert m.population_.dtype == m.fitness_.dtype == np.float32
        assert m.fun_ < 1e-3
