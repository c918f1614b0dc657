"""Stopping rules, limits and history."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from skde.algorithms import Algorithm
from skde.stopping import Status
from skde.testing.base import BOX, PROBE_CALLS, BaseContract, bowl, same
from skde.typing import Array, FloatArray


class StoppingContract(BaseContract):
    """Stopping rules, limits and history."""

    def test_limits(self, algorithm: Algorithm, device: str) -> None:
        """Generations exactly, evaluations never exceeded."""
        pop: int = algorithm.get_params()["pop_size"]
        assert self.make(algorithm, device, max_iter=0).fit("sphere", dim=3).n_evals_ == pop
        later = self.make(algorithm, device, max_iter=1).fit("sphere", dim=3).n_evals_ - pop
        assert 0 < later <= pop
        m = self.make(algorithm, device, max_iter=7).fit("sphere", dim=3)
        assert m.n_iter_ == 7
        assert m.n_evals_ <= 8 * pop if algorithm.shrinks else m.n_evals_ == pop + 7 * later
        most = pop + 9 * later - 1
        m = self.make(algorithm, device, max_iter=None, max_evals=most).fit("sphere", dim=3)
        assert most - later < m.n_evals_ <= most
        assert algorithm.shrinks or m.n_evals_ == pop + 8 * later
        assert m.runs_[0].status == Status.LIMIT

    def test_every_evaluation_is_counted(self, algorithm: Algorithm, device: str) -> None:
        """Only points of the population are evaluated, after the probe, which does not count."""
        seen: list[int] = []

        def count(X: Array) -> Array:
            seen.append(len(X))
            return bowl(X)

        m = self.make(algorithm, device, max_iter=None, max_evals=700).fit(count, bounds=BOX)
        del seen[:PROBE_CALLS]
        assert sum(seen) == m.n_evals_ == m.history_.n_evals[-1]
        assert np.array_equal(np.cumsum(seen), m.history_.n_evals)
        assert seen[-1] <= len(m.population_)
        assert (seen[-1] < seen[1]) == algorithm.shrinks

    @pytest.mark.parametrize("execution", ["run", "step"])
    def test_rules(self, algorithm: Algorithm, device: str, execution: str) -> None:
        """Target, tolerance and stagnation end a run with the first iteration that fulfils them."""
        cases = (
            ({"target": 1.0}, "sphere", Status.TARGET),
            ({"tol": 0.1}, "schwefel", Status.CONVERGED),
            ({"stagnation": 4}, "rastrigin", Status.STAGNATED),
        )
        for rule, problem, status in cases:
            options: dict[str, Any] = {"max_iter": 4000, "execution": execution, **rule}
            m = self.make(algorithm, device, **options).fit(problem, dim=3)
            assert m.runs_[0].status == status
            if algorithm.shrinks:  # another limit would be another fit
                continue
            before = self.make(algorithm, device, **{**options, "max_iter": m.n_iter_ - 1}).fit(problem, dim=3)
            assert before.runs_[0].status == Status.LIMIT
        assert m.history_.best[-1] == m.history_.best[-5]

    @pytest.mark.parametrize("execution", ["run", "step"])
    def test_rules_hold_when_they_say(self, algorithm: Algorithm, device: str, execution: str) -> None:
        """A run ends with the first iteration that fulfils the rule, as in the history of a fit without rules."""
        free = self.make(algorithm, device, max_iter=127).fit("rastrigin", dim=3)
        best = free.history_.best
        assert len(best) == 128
        for target in (best[20], np.nextafter(best[20], -np.inf), best[60]):
            m = self.make(algorithm, device, max_iter=127, target=float(target), execution=execution)
            assert m.fit("rastrigin", dim=3).n_iter_ == np.flatnonzero(best <= target)[0]
        improved = np.maximum.accumulate(np.where(np.diff(best, prepend=np.inf) < 0, np.arange(128), 0))
        for stagnation in (1, 3, 6):
            m = self.make(algorithm, device, max_iter=127, stagnation=stagnation, execution=execution)
            ends = np.arange(128) % algorithm.iteration_length == 0
            waited = np.flatnonzero((np.arange(128) - improved >= stagnation) & ends)
            assert m.fit("rastrigin", dim=3).n_iter_ == (waited[0] if len(waited) else 127)

    def test_tolerance_holds_when_it_says(self, algorithm: Algorithm, device: str) -> None:
        """SciPy's rule: the standard deviation of the values is at most tol times their mean."""
        free = self.make(algorithm, device, max_iter=2000, bounds=BOX)
        spread: list[float] = []
        while not spread or spread[-1] > 0.01 or (len(spread) - 1) % algorithm.iteration_length:
            X = free.ask()
            free.tell(X, bowl(X) + 1.0)
            spread.append(free.fitness_.std() / abs(free.fitness_.mean()))
        for tol in (0.1, 0.02):
            m = self.make(algorithm, device, max_iter=2000, tol=tol).fit(lambda X: bowl(X) + 1.0, bounds=BOX)
            assert m.runs_[0].status == Status.CONVERGED
            ends = np.arange(len(spread)) % algorithm.iteration_length == 0
            assert m.n_iter_ == np.flatnonzero((np.array(spread) <= tol) & ends)[0]

    def test_time_and_callbacks_end_a_fit(self, algorithm: Algorithm, device: str) -> None:
        """With the best so far, and the reason."""
        limit = 10**9 if algorithm.shrinks else None  # such a population needs to know what it may spend
        self.make(algorithm, device, max_iter=1).fit("rastrigin", dim=20)  # compiles
        m = self.make(algorithm, device, max_iter=limit, max_time=0.2).fit("rastrigin", dim=20)
        assert m.runs_[0].status == Status.TIME
        assert 0.15 < m.time_ < 1.0
        minimizer = self.make(algorithm, device, max_iter=20_000, callbacks=lambda progress: progress.n_iter >= 3)
        stopped = minimizer.fit(bowl, bounds=BOX)
        assert stopped.runs_[0].status == Status.CALLBACK
        assert 3 <= stopped.n_iter_ < 20_000

    @pytest.mark.parametrize("problem", ["sphere", bowl])
    def test_stop_iteration_ends_a_fit(self, algorithm: Algorithm, device: str, problem: Any) -> None:
        """The fit can be resumed."""

        def stop(progress: Any) -> None:
            raise StopIteration

        options: dict[str, Any] = {"bounds": BOX, **({"dim": len(BOX)} if problem == "sphere" else {})}
        m = self.make(algorithm, device, max_iter=2000, callbacks=stop).fit(problem, **options)
        assert m.runs_[0].status == Status.CALLBACK
        assert m.n_iter_ < 2000
        whole = self.make(algorithm, device, max_iter=2000).fit(problem, **options)
        assert same(whole, m.set_params(callbacks=None).resume())

    def test_history(self, algorithm: Algorithm, device: str) -> None:
        """Evaluations grow, the best value does not, and the last sample is the result."""
        m = self.make(algorithm, device, max_iter=700).fit("rastrigin", dim=8)
        history = m.history_
        assert (np.diff(history.n_evals) > 0).all()
        assert (np.diff(history.best) <= 0).all()
        assert (np.diff(history.seconds) >= 0).all()
        assert history.best[-1] == m.fun_
        assert history.n_evals[-1] == m.n_evals_
        assert len(history) < 400

    def test_best_is_the_best_of_the_population(self, algorithm: Algorithm, device: str) -> None:
        """x_ and fun_ belong together."""
        m = self.make(algorithm, device, n_runs=3).fit("griewank", dim=5)
        assert m.fun_ == m.fitness_.min() == min(run.fun for run in m.runs_)
        best: FloatArray = m.population_[m.fitness_.argmin()]
        assert np.array_equal(m.x_, best)
