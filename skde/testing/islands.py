"""Islands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skde.algorithms import Algorithm
from skde.islands import Migration
from skde.minimizer import Minimizer
from skde.testing.base import BOX, BaseContract, bowl, same


class IslandContract(BaseContract):
    """Migration between islands."""

    @pytest.mark.parametrize("topology", ["ring", "random", "full"])
    @pytest.mark.parametrize("choice", ["best", "random"])
    def test_islands_do_not_depend_on_how_they_are_run(
        self, algorithm: Algorithm, device: str, topology: str, choice: str, tmp_path: Path
    ) -> None:
        """Whole generations or steps, some threads or devices, in one piece or saved at a migration and resumed."""
        place = "worst" if choice == "best" else "random"
        parameters: dict[str, Any] = {
            "n_islands": 4,
            "n_runs": 2,
            "migration": Migration(topology, every=5, n_migrants=3, select=choice, replace=place),
        }
        run, step, threads, shared = (
            self.make(algorithm, where, **parameters, **more).fit("rastrigin", dim=6)
            for where, more in (
                (device, {"n_jobs": 1}),
                (device, {"execution": "step"}),
                (device, {"n_jobs": 2}),
                ([device] * 3, {}),
            )
        )
        assert same(run, step)
        assert same(run, threads)
        assert same(run, shared)
        assert np.array_equal(run.history_.best, step.history_.best)
        assert [r.fun for r in run.runs_] == [r.fun for r in step.runs_]
        for execution in ("run", "step"):
            part = self.make(algorithm, device, execution=execution, **parameters)
            part.set_params(callbacks=lambda progress: progress.n_iter >= 5).fit("rastrigin", dim=6)
            part.save(tmp_path / "islands")
            resumed = Minimizer.load(tmp_path / "islands").set_params(
                execution="run" if execution == "step" else "step"
            )
            assert same(run, resumed.resume())

    def test_islands_of_one_run_equal_the_run_alone(self, algorithm: Algorithm, device: str) -> None:
        """Ask and tell equal fit."""
        parameters: dict[str, Any] = {"n_islands": 3, "migration": Migration(every=4)}
        batch = self.make(algorithm, device, n_runs=2, **parameters).fit(bowl, bounds=BOX)
        for run in batch.runs_:
            alone = self.make(algorithm, device, random_state=run.seed, bounds=BOX, **parameters)
            while not alone.stopped_:
                X = alone.ask()
                alone.tell(X, bowl(X))
            assert alone.fun_ == run.fun
            assert np.array_equal(alone.x_, run.x)
            assert alone.n_evals_ == run.n_evals

    def test_islands_exchange_their_best(self, algorithm: Algorithm, device: str) -> None:
        """Nothing before the first migration; then every island's best is at most its neighbour's."""
        every = 6 * algorithm.iteration_length
        migration = Migration(every=every, n_migrants=2)
        pop = len(self.make(algorithm, device, max_iter=0).fit(bowl, bounds=BOX).population_)
        sizes = {"n_islands": 3, "migration": migration, "max_iter": every + 1, "max_evals": None}
        together = self.make(algorithm, device, **sizes).fit(bowl, bounds=BOX)
        apart = self.make(algorithm, device, **{**sizes, "migration": Migration(every=10 * every)}).fit(
            bowl, bounds=BOX
        )
        assert together.n_evals_ == apart.n_evals_ <= 3 * (every + 2) * pop
        best = together.fitness_.reshape(3, -1).min(axis=1)
        history = self.make(algorithm, device, **{**sizes, "max_iter": every}).fit(bowl, bounds=BOX)
        before = history.fitness_.reshape(3, -1).min(axis=1)
        if not algorithm.shrinks:  # another limit would be another fit
            assert (best <= np.minimum(before, np.roll(before, 1))).all()
        assert not np.array_equal(together.fitness_, apart.fitness_)
