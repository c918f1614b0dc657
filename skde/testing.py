"""The contract of every algorithm, as a pytest class to inherit.

Subclass `AlgorithmContract` in a pytest module and define the algorithm to test::

    class TestMine(AlgorithmContract):
        @pytest.fixture
        def algorithm(self):
            return MyAlgorithm(pop_size=30)
"""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from skde.algorithms import Algorithm
from skde.algorithms.base import REPAIRS
from skde.arrays import array_namespace, to_numpy
from skde.islands import Migration
from skde.minimizer import Minimizer
from skde.stopping import Status
from skde.typing import Array, FloatArray

try:
    import pytest
except ImportError as error:
    raise ImportError("skde.testing is a suite for pytest, which is missing: pip install 'skde[test]'") from error

# Bounds of different widths, none of them symmetric, one of them narrow.
BOX = np.array([[-1.0, 3.0], [2.0, 2.5], [-100.0, -10.0], [0.0, 1e-9], [-5.0, 1000.0]])
# Calls of a correct function before a fit, which check its return values.
PROBE_CALLS = 2


def bowl(X: Array) -> Array:
    """Return the squared distance to a point of the box, each variable measured in the width of its bounds."""
    xp = array_namespace(X)
    low, width = xp.asarray(BOX[:, 0], X.dtype), xp.asarray(BOX[:, 1] - BOX[:, 0], X.dtype)
    return (((X - low) / width - 0.25) ** 2).sum(axis=1)


def same(first: Minimizer, second: Minimizer) -> bool:
    """Whether two fits ended with the same bits."""
    pairs = [(first.x_, second.x_), (first.population_, second.population_), (first.fitness_, second.fitness_)]
    return all(np.array_equal(a, b) for a, b in pairs) and first.n_evals_ == second.n_evals_


def with_repair(algorithm: Algorithm, repair: str) -> Algorithm:
    """Return an algorithm with another repair of bounds, or itself where it has none."""
    return clone(algorithm).set_params(repair=repair) if "repair" in algorithm.get_params() else algorithm


class AlgorithmContract:
    """The promises of every algorithm, on every device.

    A subclass defines the fixture `algorithm`, a parameter object with at most 60 individuals, and may define `device`.
    """

    @pytest.fixture
    def algorithm(self) -> Algorithm:
        """Return the algorithm under test."""
        raise TypeError("a subclass of AlgorithmContract needs a fixture named algorithm")

    @pytest.fixture
    def device(self) -> str:
        """Return the device of the tests."""
        return "cpu"

    def make(self, algorithm: Any, device: str | list[str], **parameters: Any) -> Minimizer:
        """Return a Minimizer for a short, repeatable fit."""
        return Minimizer(algorithm, device=device, **{"max_iter": 30, "random_state": 5, **parameters})

    # -- parameters ----------------------------------------------------------------------------------------------------

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

    # -- trials --------------------------------------------------------------------------------------------------------

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

    # -- reproducibility -----------------------------------------------------------------------------------------------

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

    # -- continuation --------------------------------------------------------------------------------------------------

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
        """The result equals that of the higher limit; a population that shrinks with the budget stays small."""
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

    # -- islands -------------------------------------------------------------------------------------------------------

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
        """Nothing before the first migration; then every island's best is at most that of its neighbour."""
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

    # -- NaN and infinity ----------------------------------------------------------------------------------------------

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

    def test_all_nan_is_an_error(self, algorithm: Algorithm, device: str) -> None:
        """There is nothing to compare."""
        with pytest.raises(ValueError, match="NaN for every point"):
            self.make(algorithm, device).fit(lambda X: X[:, 0] * float("nan"), bounds=BOX)
        m = self.make(algorithm, device, bounds=BOX)
        X = m.ask()
        with pytest.raises(ValueError, match="NaN for every point"):
            m.tell(X, X[:, 0] * float("nan"))

    def test_nan_loses_to_infinity(self, algorithm: Algorithm, device: str) -> None:
        """Infinity is a value, and NaN is not."""

        def wall(X: Array) -> Array:
            values = X[:, 0] * 0 + float("inf")
            values[X[:, 0] < 1.5] = float("nan")
            return values

        m = self.make(algorithm, device, max_iter=0).fit(wall, bounds=BOX, x0=BOX[:, 0])
        assert np.isnan(m.fitness_[0])
        assert m.fun_ == np.inf
        assert m.x_[0] >= 1.5

    def test_a_plateau_of_inf_is_crossed(self, algorithm: Algorithm, device: str) -> None:
        """Ties are accepted, also between infinities: the population moves."""
        start, end = (
            self.make(algorithm, device, max_iter=n).fit(lambda X: X[:, 0] * 0 + float("inf"), bounds=BOX)
            for n in (0, 5)
        )
        assert end.fun_ == np.inf
        assert not np.array_equal(start.population_, end.population_)

    # -- invariances and progress --------------------------------------------------------------------------------------

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

    # -- stopping ------------------------------------------------------------------------------------------------------

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

        def counted(X: Array) -> Array:
            seen.append(len(X))
            return bowl(X)

        m = self.make(algorithm, device, max_iter=None, max_evals=700).fit(counted, bounds=BOX)
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
        while (
            not spread
            or spread[-1] > 0.01
            or len(spread) % algorithm.iteration_length != 1 % algorithm.iteration_length
        ):
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
