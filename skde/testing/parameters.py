"""Parameters of an algorithm, and the points that it begins with and proposes."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from skde.algorithms import Algorithm
from skde.algorithms.base import REPAIRS
from skde.testing.base import BOX, PROBE_CALLS, BaseContract, bowl, with_repair
from skde.typing import Array, FloatArray
from skde.utils.arrays import to_numpy


class ParameterContract(BaseContract):
    """Parameters, and the points of trials."""

    def test_clone_keeps_the_parameters(self, algorithm: Algorithm) -> None:
        """A clone has equal parameters and is another object."""
        copy = clone(algorithm)
        assert copy is not algorithm
        assert copy.get_params() == algorithm.get_params()

    def test_set_params_reaches_the_algorithm(self, algorithm: Algorithm, device: str) -> None:
        """The population size set through the Minimizer is the one that runs."""
        m = self.make(clone(algorithm), device, max_iter=0).set_params(algorithm__pop_size=23).fit(bowl, bounds=BOX)
        assert m.population_.shape == (23, len(BOX))

    def test_too_small_a_population_is_refused(self, algorithm: Algorithm, device: str) -> None:
        """The error names the parameter and what was given."""
        with pytest.raises(ValueError, match=r"pop_size.*got 1"):
            self.make(clone(algorithm).set_params(pop_size=1), device).fit("sphere", dim=3)

    def test_parameters_survive_pickling(self, algorithm: Algorithm) -> None:
        """An algorithm is its parameters."""
        assert pickle.loads(pickle.dumps(algorithm)).get_params() == algorithm.get_params()

    @pytest.mark.parametrize("repair", REPAIRS)
    def test_every_trial_is_inside_the_bounds(self, algorithm: Algorithm, device: str, repair: str) -> None:
        """Also where the function pulls out of the box."""
        m = self.make(with_repair(algorithm, repair), device, bounds=BOX)
        while not m.stopped_:
            X = m.ask()
            host = to_numpy(X)
            assert (host >= BOX[:, 0]).all()
            assert (host <= BOX[:, 1]).all()
            m.tell(X, X.sum(axis=1))
        low, high = BOX.sum(axis=0)
        assert m.fun_ < low + 0.02 * (high - low)

    def test_x0_begins_the_population(self, algorithm: Algorithm, device: str) -> None:
        """The given points are the first rows of generation 0."""
        x0 = np.array([BOX.mean(axis=1), BOX[:, 0], BOX[:, 1]])
        m = self.make(algorithm, device, max_iter=0).fit(bowl, bounds=BOX, x0=x0)
        assert np.array_equal(m.population_[:3], x0)

    def test_x0_begins_every_run(self, algorithm: Algorithm, device: str) -> None:
        """The rest of the populations differs from run to run."""
        x0 = BOX.mean(axis=1)
        begun: list[FloatArray] = []

        def first(X: Array) -> Array:
            begun.append(to_numpy(X))
            return bowl(X)

        self.make(algorithm, device, n_runs=3, max_iter=0).fit(first, bounds=BOX, x0=x0)
        populations = begun[PROBE_CALLS].reshape(3, -1, len(BOX))
        assert np.array_equal(populations[:, 0], np.tile(x0, (3, 1)))
        assert not np.array_equal(populations[0, 1:], populations[1, 1:])
