"""Bits that depend on the seed alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from skde.algorithms import Algorithm
from skde.algorithms.base import REPAIRS
from skde.testing.base import BOX, BaseContract, bowl, same


class ReproducibilityContract(BaseContract):
    """The same bits by every way of a fit."""

    def test_same_seed_same_bits(self, algorithm: Algorithm, device: str) -> None:
        """Another seed gives another result."""
        first, second = (self.make(algorithm, device).fit("rastrigin", dim=7) for _ in range(2))
        other = self.make(algorithm, device, random_state=6).fit("rastrigin", dim=7)
        assert same(first, second)
        assert not same(first, other)

    def test_threads_do_not_matter(self, algorithm: Algorithm, device: str) -> None:
        """They share runs, or the individuals of one run."""
        dim = 10_000 // algorithm.get_params()["pop_size"] + 1
        for n_runs in (1, 5):
            one, two = (
                self.make(algorithm, device, n_jobs=n, n_runs=n_runs, max_iter=8).fit("griewank", dim=dim)
                for n in (1, 2)
            )
            assert same(one, two)
            assert [run.fun for run in one.runs_] == [run.fun for run in two.runs_]

    def test_step_equals_run(self, algorithm: Algorithm, device: str) -> None:
        """The two drivers make the same decisions."""
        run, step = (self.make(algorithm, device, execution=e, n_runs=3).fit("ackley", dim=9) for e in ("run", "step"))
        assert same(run, step)
        assert np.array_equal(run.history_.best, step.history_.best)

    def test_ask_and_tell_equal_fit(self, algorithm: Algorithm, device: str) -> None:
        """Asking twice gives the same points."""
        fitted = self.make(algorithm, device).fit(bowl, bounds=BOX)
        asked = self.make(algorithm, device, bounds=BOX)
        while not asked.stopped_:
            X = asked.ask()
            assert bool((asked.ask() == X).all())
            asked.tell(X, bowl(X))
        assert same(fitted, asked)

    def test_ask_and_tell_equal_fit_for_many_runs(self, algorithm: Algorithm, device: str) -> None:
        """The points then have a leading axis; other runs continue when one has ended."""
        parameters: dict[str, Any] = {"n_runs": 3, "max_iter": 200, "target": 0.05}
        fitted = self.make(algorithm, device, **parameters).fit(bowl, bounds=BOX)
        asked = self.make(algorithm, device, bounds=BOX, **parameters)
        while not asked.stopped_:
            X = asked.ask()
            assert X.shape[::2] == (3, len(BOX))
            assert X.shape[1] <= algorithm.get_params()["pop_size"]
            asked.tell(X, bowl(X.reshape(-1, len(BOX))).reshape(3, -1))
        assert same(fitted, asked)
        for a, b in zip(fitted.runs_, asked.runs_, strict=True):
            assert np.array_equal(a.x, b.x)
            assert (a.fun, a.n_iter, a.status) == (b.fun, b.n_iter, b.status)

    def test_a_run_of_a_batch_equals_the_run_alone(self, algorithm: Algorithm, device: str) -> None:
        """Every run of a batch can be made again from its seed."""
        batch = self.make(algorithm, device, n_runs=4).fit("rastrigin", dim=6)
        for run in batch.runs_:
            alone = self.make(algorithm, device, random_state=run.seed).fit("rastrigin", dim=6)
            assert np.array_equal(alone.x_, run.x)
            assert alone.fun_ == run.fun
        assert batch.runs_[0].seed == 5

    def test_runs_with_different_parameters(self, algorithm: Algorithm, device: str) -> None:
        """Population sizes may differ; every run equals the run alone."""
        sizes = (20, 33, 50)
        algorithms = [clone(algorithm).set_params(pop_size=size) for size in sizes]
        if "repair" in algorithm.get_params():
            for one, repair in zip(algorithms, REPAIRS, strict=False):
                one.set_params(repair=repair)
        for objective, options in (("sphere", {"dim": 4}), (bowl, {"bounds": BOX})):
            batch = self.make(algorithms, device, n_runs=3, max_iter=None, max_evals=1500).fit(objective, **options)
            for one, run in zip(algorithms, batch.runs_, strict=True):
                alone = self.make(one, device, random_state=run.seed, max_iter=None, max_evals=1500)
                alone.fit(objective, **options)
                assert alone.fun_ == run.fun
                assert alone.n_evals_ == run.n_evals <= 1500
