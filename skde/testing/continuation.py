"""Saved, resumed and continued fits."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skde.algorithms import Algorithm
from skde.minimizer import Minimizer
from skde.testing.base import BOX, BaseContract, bowl, same


class ContinuationContract(BaseContract):
    """Saving, resuming, warm starts and pickling."""

    @pytest.mark.parametrize("execution", ["run", "step"])
    def test_saved_and_resumed_equals_uninterrupted(
        self, algorithm: Algorithm, device: str, execution: str, tmp_path: Path
    ) -> None:
        """A loaded fit continues like an uninterrupted one."""
        path = tmp_path / "fit.skde"
        parameters: dict[str, Any] = {"n_runs": 2, "execution": execution}
        whole = self.make(algorithm, device, max_iter=25, **parameters).fit("levy", dim=8)
        # A limit that the fit is planned with must stay; else a lower one ends it where the host polls too late.
        limit = 25 if algorithm.shrinks else 11
        stopped = self.make(algorithm, device, max_iter=limit, callbacks=lambda p: p.n_iter >= 3, **parameters)
        stopped.fit("levy", dim=8).save(path)
        assert 3 <= stopped.n_iter_ <= limit
        resumed = Minimizer.load(path).set_params(max_iter=25).resume()
        assert same(whole, resumed)
        assert np.array_equal(whole.history_.best, resumed.history_.best)

    @pytest.mark.parametrize("execution", ["run", "step"])
    def test_a_raised_limit_continues_the_fit(self, algorithm: Algorithm, device: str, execution: str) -> None:
        """The result is the same as with the higher limit; a population that shrinks with the budget stays small."""
        parameters: dict[str, Any] = {"n_runs": 2, "execution": execution}
        m = self.make(algorithm, device, max_iter=11, **parameters).fit("levy", dim=8)
        before, size = m.fun_, len(m.population_)
        m.set_params(max_iter=25).resume()
        assert m.n_iter_ == 25
        if algorithm.shrinks:
            assert len(m.population_) <= size
            assert m.fun_ <= before
        else:
            assert same(m, self.make(algorithm, device, max_iter=25, **parameters).fit("levy", dim=8))

    def test_asked_saved_and_resumed_equals_uninterrupted(
        self, algorithm: Algorithm, device: str, tmp_path: Path
    ) -> None:
        """Also where the file is written between ask and tell: the same points are asked again."""
        whole = self.make(algorithm, device, bounds=BOX, max_iter=12)
        parts = self.make(algorithm, device, bounds=BOX, max_iter=12)
        while not whole.stopped_:
            X = whole.ask()
            if whole.__sklearn_is_fitted__():
                parts.ask()
                parts.save(tmp_path / "asked.skde")
                parts = Minimizer.load(tmp_path / "asked.skde")
            assert bool((parts.ask() == X).all())
            whole.tell(X, bowl(X))
            parts.tell(parts.ask(), bowl(X))
        assert same(whole, parts)

    def test_warm_start_equals_one_longer_fit(self, algorithm: Algorithm, device: str) -> None:
        """Two fits of 10 generations are one of 20, unless the population's size is planned for the fit."""
        warm = self.make(algorithm, device, max_iter=10, warm_start=True).fit(bowl, bounds=BOX)
        before = warm.fun_
        warm.fit(bowl, bounds=BOX)
        assert warm.n_iter_ == 20
        assert warm.fun_ <= before
        assert algorithm.shrinks or same(warm, self.make(algorithm, device, max_iter=20).fit(bowl, bounds=BOX))

    def test_pickle_keeps_the_fit(self, algorithm: Algorithm, device: str) -> None:
        """A pickled fit has its results, and can be resumed."""
        m = self.make(algorithm, device).fit("sphere", dim=4)
        copy = pickle.loads(pickle.dumps(m))
        assert same(m, copy)
        assert same(m.set_params(max_iter=60).resume(), copy.set_params(max_iter=60).resume())
        assert m.n_iter_ == 60
