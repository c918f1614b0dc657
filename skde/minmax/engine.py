"""Cycles of co-evolution on one engine: whole ones inside it, or pair by pair with values that come from outside."""

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

# Wants the values of points against opponents, (R, n, dx) and (R, m, dy), and is sent them, (R, n, m). Without
# opponents it wants what stands for the points in a Lagrangian: f, g and h, (R, n, 1 + constraints).
Wanted = Generator[tuple[Array, Array | None], Array, Array]
Cycle = Generator[tuple[Array, Array | None], Array, None]


class CycleSchedule(PopulationSchedule):
    """How many evaluations cycles take: pairs of x and y or, of a constrained problem, points.

    Parameters
    ----------
    first : int
        Of cycle 0, the initial populations.
    each : int
        Of every other cycle.
    growth : int
        How many more with every opponent that is remembered.
    archive : int
        How many of them there are at most.
    """

    def __init__(self, first: int, each: int, growth: int = 0, archive: int = 0) -> None:
        super().__init__(1)
        self.first, self.each, self.growth, self.archive = first, each, growth, archive

    @classmethod
    def of_pairs(cls, pop_x: int, pop_y: int, gens_x: int, gens_y: int, archive: int) -> CycleSchedule:
        """Return the schedule of a game whose pairs are evaluated."""
        rows = gens_x * pop_x + pop_x + 1  # x's generations; its values anew, and the answer's
        return cls(pop_x * pop_y, rows * pop_y + (gens_y + 1) * pop_x * pop_y, rows, archive)

    @classmethod
    def of_points(cls, pop_x: int, gens_x: int) -> CycleSchedule:
        """Return the schedule of a problem that is evaluated at points x only."""
        return cls(2 * pop_x, (gens_x + 1) * pop_x)

    def evals(self, g: int) -> int:
        """Return the evaluations up to the end of cycle g; before cycle 0 there are none."""
        if g < 0:
            return 0
        young = min(g, self.archive)
        remembered = young * (young + 1) // 2 + (g - young) * self.archive
        return self.first + g * self.each + self.growth * remembered

    def evals_at(self, generations: Any) -> IntArray:
        """Return the evaluations up to the end of every one of an array of cycles."""
        return np.array([self.evals(int(g)) for g in np.ravel(generations)], np.int64).reshape(np.shape(generations))

    def last(self, evals: int) -> int:
        """Return the last cycle that is complete within so many evaluations."""
        most = min(max((evals - self.first) // self.each, 0), UNLIMITED)
        return bisect_right(range(most + 1), evals, key=self.evals) - 1


class CoevolutionEngine:
    """The engine of a co-evolution, as a Runner sees it: whole cycles, on a device.

    Parameters
    ----------
    engine : DeviceEngine
        Where.
    """

    def __init__(self, engine: DeviceEngine) -> None:
        self.engine = engine
        self.name, self.xp, self.chunk_seconds = engine.name, engine.xp, engine.chunk_seconds
        self.work: tuple[Any, str] | None = None  # the objective, and its execution

    @property
    def device_context(self) -> Any:
        """In which the engine's library works on its device."""
        return self.engine.device_context

    def apply(self, work: Callable[[Any], None]) -> None:
        """Call work(xp) on the device."""
        self.engine.apply(work)

    def batch(self, rounds: CoevolutionSpec) -> Coevolution:
        """Allocate a co-evolution."""
        return self.engine.coevolution(rounds)

    @contextmanager
    def share(self, pair: Coevolution, objective: Any, execution: str) -> Iterator[None]:
        """Return the context in which a co-evolution runs an objective, by "run" or by "step"."""
        self.load(pair, objective, execution)
        self.work = objective, execution
        try:
            yield
        finally:
            self.work = None

    def run(self, pair: Coevolution, begin: int, until: int) -> None:
        """Run whole cycles up to number `until`, from `begin`, that of the runs furthest behind."""
        if self.work is None:
            raise RuntimeError("run needs share before it")
        self.advance(pair, *self.work, begin, until)

    def load(self, pair: Coevolution, objective: Any, execution: str) -> None:
        """Make a co-evolution ready for `advance`."""
        if execution == "run":
            self.engine.load_game(pair, objective.game)

    def advance(self, pair: Coevolution, objective: Any, execution: str, begin: int, until: int) -> None:
        """Run whole cycles up to number `until`: of a compiled game ("run"), or of an objective's `pairs` ("step")."""
        if execution == "run":
            self.engine.cycles(pair, until)
            return
        with self.device_context:
            for c in range(begin + 1, until + 1):
                running = pair.host("status") == Status.RUNNING
                if not running.any():
                    return
                play(self.cycle(pair, c), partial(objective.pairs, running))

    def cycle(self, pair: Coevolution, c: int) -> Cycle:
        """Make cycle c, or what is left of it: which generations the sides are at tells where it was broken off."""
        engine, x, y, rounds = self.engine, pair.x, pair.y, pair.rounds
        running = pair.host("status") == Status.RUNNING
        for side in (x, y):
            side.put("status", np.where(running, int(Status.RUNNING), int(Status.HELD)))
        done_x, done_y = (int(side.host("generation")[running].max()) for side in (x, y))
        first = c == 0
        if first and not rounds.updates:
            engine.propose(y, 0)
            engine.coevolution_step(pair, 0, GATHER)
        start: Array = None
        opponents = pair.opponents_of(c)
        for g in range(done_x + 1, c * rounds.gens_x + 1):
            engine.propose(x, g)
            values = yield from self._values(pair, self._trials(x, g), opponents.copy())
            engine.accept(x, g, None, self._flat(self.worst_for_x(values)))
            start = values
        if pair.constraints:
            table = yield self._population(x), None
            pair.between["table"][...] = table.transpose(0, 2, 1)
        if rounds.updates:
            with interrupts.held:  # multipliers are corrected once a cycle; from here on nothing is asked for
                engine.coevolution_step(pair, c, CORRECT)
                yield from self._end(pair, c, None)
        else:
            yield from self._turn_of_y(pair, c, done_y, start)
            yield from self._end(pair, c, start if first else None)

    def _end(self, pair: Coevolution, c: int, values: Array) -> Cycle:
        """Judge x anew, unless the values of all its pairs are given, and choose the answer."""
        x = pair.x
        population = self._standing(pair)
        if c > 0 and not pair.constraints:
            answers = self._population(pair)[:, :, : x.dim]
            population = self.xp.concatenate([population, answers], axis=1)
        known = values is not None
        if not known:
            values = yield from self._values(pair, population, pair.opponents_of(c), described=True)
        with interrupts.held:
            if not known:
                self._set_values(x, c * pair.rounds.gens_x, self.worst_for_x(values)[:, : x.pop_max])
            self._weigh(pair, c, values)
            self.engine.coevolution_step(pair, c, CONCLUDE)

    def _turn_of_y(self, pair: Coevolution, c: int, done: int, start: Array) -> Cycle:
        engine, y, rounds = self.engine, pair.y, pair.rounds
        population = self._standing(pair)
        if c == 0 and start is not None:  # of the first populations every pair is known
            engine.accept(y, 0, None, self._flat(self.worst_for_y(start)))
            done = 0
        elif c > 0 and y.host("met").max() < c:  # y has not been judged against the new x
            engine.coevolution_step(pair, c, RENEW)
            values = yield from self._values(pair, population, self._population(y), described=True)
            with interrupts.held:
                self._set_values(y, done, self.worst_for_y(values))
                self._set(y.array["met"], y, c)
        for g in range(done + 1, c * rounds.gens_y + 1):
            engine.propose(y, g)
            values = yield from self._values(pair, population, self._trials(y, g), described=True)
            engine.accept(y, g, None, self._flat(self.worst_for_y(values)))
        engine.coevolution_step(pair, c, GATHER)

    def _standing(self, pair: Coevolution) -> Array:
        """Return the population of x after its turn or, in a Lagrangian, what stands for it."""
        if pair.constraints:
            return self.xp.ascontiguousarray(pair.between["table"].transpose(0, 2, 1))
        return self._population(pair.x)

    def _values(self, pair: Coevolution, X: Array, Y: Array, described: bool = False) -> Wanted:
        """Return the values of pairs: asked for or, of a Lagrangian, made from what stands for X."""
        if not pair.constraints:
            return (yield X, Y)
        features = X if described else (yield X, None)
        games = [lagrangian_game(pair.rounds.inequalities, r) for r in to_numpy(pair.between["penalties"])]
        rows = zip(games, self.xp.ascontiguousarray(features), self.xp.ascontiguousarray(Y), strict=True)
        return self.xp.stack([self.engine.matrix(game, x, y) for game, x, y in rows])

    def _weigh(self, pair: Coevolution, c: int, values: Array) -> None:
        """Leave the values of the best x and of the answer against every opponent where CONCLUDE looks for them."""
        xp, n = self.xp, values.shape[2]
        own = pair.x.array["f"][(c * pair.rounds.gens_x) & 1]
        best = xp.argmin(xp.where(xp.isnan(own), xp.inf, own), axis=1)
        strengths = pair.between["strengths"]
        strengths[:, 0, :n] = xp.take_along_axis(values, best[:, None, None], axis=1)[:, 0]
        if values.shape[1] > pair.x.pop_max:
            strengths[:, 1, :n] = values[:, -1]

    def _set_values(self, side: Batch, g: int, f: Array) -> None:
        self._set(side.array["f"][g & 1], side, f)
        self.engine.migrate(side, g, REFRESH)

    def _set(self, target: Array, side: Batch, values: Any) -> None:
        """Write values of the running runs; those of runs that have ended stay as they are."""
        running = side.array["status"] == Status.RUNNING
        target[...] = self.xp.where(running.reshape(-1, *(1,) * (target.ndim - 1)), values, target)

    def _population(self, side: Batch) -> Array:
        """Return a copy of every run's last population, of shape (R, P, D)."""
        return side.array["x"][side.array["generation"] & 1, self.xp.arange(side.n_runs)]

    def _trials(self, side: Any, g: int) -> Array:
        return self.engine.trials(side, g).reshape(side.n_runs, side.pop_max, side.dim)

    def _flat(self, f: Array) -> Array:
        return self.xp.ascontiguousarray(f).reshape(-1)

    def worst_for_x(self, values: Array) -> Array:
        """Return what every x is worth, as worst_for_x of versus.cuh."""
        return self.xp.where(self.xp.isnan(values), self.xp.inf, values).max(axis=2)

    def worst_for_y(self, values: Array) -> Array:
        """Return what every y is worth, as worst_for_y of versus.cuh."""
        xp = self.xp
        most = values.dtype.type(2.0 ** (1023 if values.dtype == np.float64 else 127))
        worst = xp.where(xp.isnan(values), -xp.inf, -xp.minimum(values, most)).max(axis=1)
        return xp.where(worst == -xp.inf, xp.nan, worst)

    def synchronize(self) -> None:
        """Wait for what was started."""
        self.engine.synchronize()


def play(cycle: Cycle, evaluate: Callable[[Array, Array | None], Array]) -> None:
    """Give a cycle the values that it wants until it is done."""
    wanted = next(cycle, None)
    while wanted is not None:
        values = evaluate(
            *wanted
        )  # outside of `try`: a user's function may raise StopIteration, which does not end a cycle
        try:
            wanted = cycle.send(values)
        except StopIteration:
            return
