"""Cycles of co-evolution on one device: compiled ones, and ones that request values from outside."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from skde.algorithms.population_size import PopulationSchedule
from skde.arrays import to_numpy
from skde.engines import Batch, DeviceEngine
from skde.engines.coevolution import CONCLUDE, CORRECT, GATHER, RENEW, Coevolution, CoevolutionSpec
from skde.interrupts import interrupts
from skde.islands import REFRESH
from skde.minmax.lagrangian import lagrangian_game
from skde.stopping import UNLIMITED, Status
from skde.typing import Array, IntArray

# Generators that request values. Each request is (X, Y), points against opponents of shapes (R, n, dx) and (R, m, dy),
# and the answer to it has shape (R, n, m). With Y = None the request is for the features of points in a Lagrangian:
# f, g and h, of shape (R, n, 1 + constraints).
ValueRequests = Generator[tuple[Array, Array | None], Array, Array]
CycleRequests = Generator[tuple[Array, Array | None], Array, None]


class CycleSchedule(PopulationSchedule):
    """The evaluations of cycles: of pairs of x and y or, for a constrained problem, of points.

    Parameters
    ----------
    first : int
        Evaluations of cycle 0, the initial populations.
    each : int
        Evaluations of every other cycle.
    growth : int
        Additional evaluations for every opponent in the archive.
    archive : int
        The largest number of opponents in the archive.
    """

    def __init__(self, first: int, each: int, growth: int = 0, archive: int = 0) -> None:
        super().__init__(1)
        self.first, self.each, self.growth, self.archive = first, each, growth, archive

    @classmethod
    def of_pairs(cls, pop_x: int, pop_y: int, gens_x: int, gens_y: int, archive: int) -> CycleSchedule:
        """Return the schedule of a game, which evaluates pairs."""
        rows = gens_x * pop_x + pop_x + 1  # the generations of x, their values again, and the incumbent's
        return cls(pop_x * pop_y, rows * pop_y + (gens_y + 1) * pop_x * pop_y, rows, archive)

    @classmethod
    def of_points(cls, pop_x: int, gens_x: int) -> CycleSchedule:
        """Return the schedule of a constrained problem, which evaluates points x."""
        return cls(2 * pop_x, (gens_x + 1) * pop_x)

    def evals(self, g: int) -> int:
        """Return the evaluations up to the end of cycle g; zero before cycle 0."""
        if g < 0:
            return 0
        growing = min(g, self.archive)  # cycles in which the archive still grows
        archived = growing * (growing + 1) // 2 + (g - growing) * self.archive
        return self.first + g * self.each + self.growth * archived

    def evals_at(self, generations: Any) -> IntArray:
        """Return the evaluations up to the end of every one of an array of cycles."""
        return np.array([self.evals(int(g)) for g in np.ravel(generations)], np.int64).reshape(np.shape(generations))

    def last(self, evals: int) -> int:
        """Return the last cycle that is complete within so many evaluations."""
        most = min(max((evals - self.first) // self.each, 0), UNLIMITED)
        return bisect_right(range(most + 1), evals, key=self.evals) - 1


class CoevolutionEngine:
    """The engine of a co-evolution for a Runner: whole cycles, on one device.

    Parameters
    ----------
    engine : DeviceEngine
        The engine of the device.
    """

    def __init__(self, engine: DeviceEngine) -> None:
        self.engine = engine
        self.name, self.xp, self.chunk_seconds = engine.name, engine.xp, engine.chunk_seconds
        self.work: tuple[Any, str] | None = None  # the objective, and its execution

    @property
    def device_context(self) -> Any:
        """A context in which the array library works on the device."""
        return self.engine.device_context

    def apply(self, work: Callable[[Any], None]) -> None:
        """Call work(xp) on the device."""
        self.engine.apply(work)

    def batch(self, spec: CoevolutionSpec) -> Coevolution:
        """Allocate a co-evolution."""
        return self.engine.coevolution(spec)

    @contextmanager
    def share(self, batch: Coevolution, objective: Any, execution: str) -> Iterator[None]:
        """Return the context in which a co-evolution runs an objective, by "run" or by "step"."""
        self.load(batch, objective, execution)
        self.work = objective, execution
        try:
            yield
        finally:
            self.work = None

    def run(self, batch: Coevolution, begin: int, until: int) -> None:
        """Run whole cycles up to number `until`, from `begin`, that of the runs furthest behind."""
        if self.work is None:
            raise RuntimeError("run needs share before it")
        self.advance(batch, *self.work, begin, until)

    def load(self, batch: Coevolution, objective: Any, execution: str) -> None:
        """Make a co-evolution ready for `advance`."""
        if execution == "run":
            self.engine.load_game(batch, objective.game)

    def advance(self, batch: Coevolution, objective: Any, execution: str, begin: int, until: int) -> None:
        """Run whole cycles up to number `until`: compiled ("run"), or with the values of a MinMaxObjective ("step")."""
        if execution == "run":
            self.engine.cycles(batch, until)
            return
        with self.device_context:
            for c in range(begin + 1, until + 1):
                running = batch.host("status") == Status.RUNNING
                if not running.any():
                    return
                fulfil(self.cycle(batch, c), partial(objective.run_values, running))

    def cycle(self, batch: Coevolution, c: int) -> CycleRequests:
        """Run cycle c, or the rest of it after an interruption: the generations of the sides tell how much is done."""
        engine, x, y, spec = self.engine, batch.x, batch.y, batch.coevolution_spec
        running = batch.host("status") == Status.RUNNING
        for side in (x, y):
            side.put("status", np.where(running, int(Status.RUNNING), int(Status.HELD)))
        done_x, done_y = (int(side.host("generation")[running].max()) for side in (x, y))
        if c == 0 and not spec.updates:
            engine.propose(y, 0)
            engine.coevolution_step(batch, 0, GATHER)
        initial: Array = None  # the values of all pairs of the initial populations
        opponents = batch.opponents_of(c)
        for g in range(done_x + 1, c * spec.gens_x + 1):
            engine.propose(x, g)
            values = yield from self._values(batch, self._trials(x, g), opponents.copy())
            engine.accept(x, g, None, self._flat(self.worst_for_x(values)))
            initial = values
        if batch.constraints:
            features = yield self._population(x), None
            batch.exchange["table"][...] = features.transpose(0, 2, 1)
        if spec.updates:
            with interrupts.deferred:  # multipliers are corrected once a cycle, and no request follows
                engine.coevolution_step(batch, c, CORRECT)
                yield from self._conclude(batch, c, None)
        else:
            yield from self._evolve_y(batch, c, done_y, initial)
            yield from self._conclude(batch, c, initial if c == 0 else None)

    def _conclude(self, batch: Coevolution, c: int, values: Array) -> CycleRequests:
        """Update the values of x, unless those of all its pairs are given, and choose the incumbent."""
        x = batch.x
        points = self._points_of_x(batch)
        if c > 0 and not batch.constraints:
            incumbents = self._population(batch)[:, :, : x.dim]
            points = self.xp.concatenate([points, incumbents], axis=1)
        given = values is not None
        if not given:
            values = yield from self._values(batch, points, batch.opponents_of(c), features=True)
        with interrupts.deferred:
            if not given:
                fitness = self.worst_for_x(values)[:, : x.pop_max]
                self._set_fitness(x, c * batch.coevolution_spec.gens_x, fitness)
            self._set_strengths(batch, c, values)
            self.engine.coevolution_step(batch, c, CONCLUDE)

    def _evolve_y(self, batch: Coevolution, c: int, done: int, initial: Array) -> CycleRequests:
        """Run the generations of y in cycle c, after generation `done`."""
        engine, y, spec = self.engine, batch.y, batch.coevolution_spec
        points = self._points_of_x(batch)
        if c == 0 and initial is not None:
            engine.accept(y, 0, None, self._flat(self.worst_for_y(initial)))
            done = 0
        elif c > 0 and y.host("met").max() < c:  # y has no values yet against the new x
            engine.coevolution_step(batch, c, RENEW)
            values = yield from self._values(batch, points, self._population(y), features=True)
            with interrupts.deferred:
                self._set_fitness(y, done, self.worst_for_y(values))
                self._set(y.array["met"], y, c)
        for g in range(done + 1, c * spec.gens_y + 1):
            engine.propose(y, g)
            values = yield from self._values(batch, points, self._trials(y, g), features=True)
            engine.accept(y, g, None, self._flat(self.worst_for_y(values)))
        engine.coevolution_step(batch, c, GATHER)

    def _points_of_x(self, batch: Coevolution) -> Array:
        """Return the population of x after its generations or, in a Lagrangian, its features."""
        if batch.constraints:
            return self.xp.ascontiguousarray(batch.exchange["table"].transpose(0, 2, 1))
        return self._population(batch.x)

    def _values(self, batch: Coevolution, X: Array, Y: Array, features: bool = False) -> ValueRequests:
        """Return the values of pairs: requested or, in a Lagrangian, computed from features of X (or X itself)."""
        if not batch.constraints:
            return (yield X, Y)
        described = X if features else (yield X, None)
        inequalities = batch.coevolution_spec.inequalities
        games = [lagrangian_game(inequalities, r) for r in to_numpy(batch.exchange["penalties"])]
        runs = zip(games, self.xp.ascontiguousarray(described), self.xp.ascontiguousarray(Y), strict=True)
        return self.xp.stack([self.engine.matrix(game, x, y) for game, x, y in runs])

    def _set_strengths(self, batch: Coevolution, c: int, values: Array) -> None:
        """Set the values of the best x and of the incumbent against every opponent, which CONCLUDE reads."""
        xp, n = self.xp, values.shape[2]
        fitness = batch.x.array["f"][(c * batch.coevolution_spec.gens_x) & 1]
        best = xp.argmin(xp.where(xp.isnan(fitness), xp.inf, fitness), axis=1)
        strengths = batch.exchange["strengths"]
        strengths[:, 0, :n] = xp.take_along_axis(values, best[:, None, None], axis=1)[:, 0]
        if values.shape[1] > batch.x.pop_max:
            strengths[:, 1, :n] = values[:, -1]

    def _set_fitness(self, side: Batch, g: int, f: Array) -> None:
        self._set(side.array["f"][g & 1], side, f)
        self.engine.migrate(side, g, REFRESH)

    def _set(self, target: Array, side: Batch, values: Any) -> None:
        """Write values for the runs that still run."""
        running = side.array["status"] == int(Status.RUNNING)
        target[...] = self.xp.where(running.reshape(-1, *(1,) * (target.ndim - 1)), values, target)

    def _population(self, side: Batch) -> Array:
        """Return a copy of every run's last population, of shape (R, P, D)."""
        return side.array["x"][side.array["generation"] & 1, self.xp.arange(side.n_runs)]

    def _trials(self, side: Any, g: int) -> Array:
        return self.engine.trials(side, g).reshape(side.n_runs, side.pop_max, side.dim)

    def _flat(self, f: Array) -> Array:
        return self.xp.ascontiguousarray(f).reshape(-1)

    def worst_for_x(self, values: Array) -> Array:
        """Return the fitness of every x, as worst_for_x in opponents.cuh."""
        return self.xp.where(self.xp.isnan(values), self.xp.inf, values).max(axis=2)

    def worst_for_y(self, values: Array) -> Array:
        """Return the fitness of every y, as worst_for_y in opponents.cuh."""
        xp = self.xp
        most = values.dtype.type(2.0 ** (1023 if values.dtype == np.float64 else 127))
        worst = xp.where(xp.isnan(values), -xp.inf, -xp.minimum(values, most)).max(axis=1)
        return xp.where(worst == -xp.inf, xp.nan, worst)

    def synchronize(self) -> None:
        """Wait for all work that was started."""
        self.engine.synchronize()


def fulfil(cycle: CycleRequests, evaluate: Callable[[Array, Array | None], Array]) -> None:
    """Run a cycle to its end, with the values that it requests."""
    request = next(cycle, None)
    while request is not None:
        # Not inside `try`: a user's function may raise StopIteration, which does not end a cycle.
        values = evaluate(*request)
        try:
            request = cycle.send(values)
        except StopIteration:
            return
