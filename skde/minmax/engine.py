"""Cycles of co-evolution on one device: compiled ones, and ones that request values from outside."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from skde.algorithms.population_size import PopulationSchedule
from skde.engines import Batch, DecodedGame, DeviceEngine
from skde.engines.state.coevolution import POINTS, Coevolution
from skde.engines.state.coevolution_spec import CoevolutionSpec
from skde.islands import Step
from skde.minmax.incomplete_cycle import evals_within, progress_of, request_evals, rest_of_cycle
from skde.minmax.partial_request import PartialRequest, RequestPlace
from skde.stopping import HELD, RUNNING, UNLIMITED
from skde.typing import Array, IntArray
from skde.utils.interrupts import interrupts

# A cycle as a generator that requests values; the reply to a request has the form of its `reply`. Without opponents the
# request is for the features of points in a Lagrangian: f, g and h.
CycleRequests = Generator[PartialRequest, Array, None]


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
        super().__init__([0], [1])
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
        """Return the last cycle that is complete within the evaluations."""
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
        self.even = False
        self.name, self.xp, self.chunk_seconds = engine.name, engine.xp, engine.chunk_seconds
        self.work: tuple[Any, str] | None = None  # the objective, and its execution
        # Of the cycle that is under way: the last request and, of other runs, those before; kept after an interruption.
        self.requests: list[PartialRequest] = []

    @property
    def device_context(self) -> Any:
        """A context in which the array library works on the device."""
        return self.engine.device_context

    def apply(self, work: Callable[[Any], Any]) -> Any:
        """Return work(xp), called on the device."""
        return self.engine.apply(work)

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
        """Run whole cycles up to number `until`, from `begin`, where the runs furthest behind are."""
        if self.work is None:
            raise RuntimeError("run needs share before it")
        self.advance(batch, *self.work, begin, until)

    def load(self, batch: Coevolution, objective: Any, execution: str) -> None:
        """Make a co-evolution ready for `advance`."""
        if execution == "run":
            game, variables = objective.game, batch.coevolution_spec.variables
            self.engine.load_game(batch, game if variables is None else DecodedGame(game, *variables))

    def advance(self, batch: Coevolution, objective: Any, execution: str, begin: int, until: int) -> None:
        """Run whole cycles up to number `until`: compiled ("run"), or with the values of an evaluator ("step")."""
        if execution == "run":
            self.engine.cycles(batch, until)
            return
        with self.device_context:
            while (runs := runs_behind(batch, until)).any():
                run_cycle(self.cycle(batch, runs), objective.values)

    def cycle(self, batch: Coevolution, runs: Any) -> CycleRequests:
        """Run the next cycle of runs with the same progress, or the rest of it after an interruption.

        The generations of the sides tell how much is done. The extension gives the phases and their requests. Ctrl-C
        takes effect where the rest of a cycle can be repeated: at requests, and while a side evolves.
        """
        with hold_others(batch, runs), ExitStack() as uninterrupted:
            yield from self._rest_of_cycle(batch, runs, uninterrupted)

    def _rest_of_cycle(self, batch: Coevolution, runs: Any, uninterrupted: ExitStack) -> CycleRequests:
        engine, sides = self.engine, {"x": batch.x, "y": batch.y}
        for side in sides.values():
            side.put("status", np.where(runs, RUNNING, HELD))
        progress, values = progress_of(batch)[int(runs.argmax())], None
        c = progress.cycle + 1
        place = RequestPlace(c, evals_within(batch, progress))
        for phase, first, asks in rest_of_cycle(batch, progress):
            points = [self._points(batch, c, *of) for of in (("x", phase.x), ("y", phase.y)) if asks]
            side = sides.get(phase.side, batch)
            for g in range(first, phase.generation + 1):
                if phase.evolves:
                    engine.propose(side, g)
                if asks:
                    uninterrupted.close()
                    values = yield self._request(batch, place, points[0](g), points[1](g), runs)
                    place = RequestPlace(c, place.evals + request_evals(batch, phase, c))
                    if not phase.evolves:
                        uninterrupted.enter_context(interrupts.deferred)
                engine.coevolution_step(batch, c, phase.number, values)
                if phase.evolves:
                    engine.accept(side, g, None, batch.exchange[f"trials_{phase.side}"])
                elif phase.side:
                    engine.migrate(side, g, Step.REFRESH)

    def _request(self, batch: Coevolution, place: RequestPlace, X: Array, Y: Array | None, runs: Any) -> PartialRequest:
        """Return a request with the values that are known already, such as those before an interruption."""
        before = self.requests[0] if self.requests else None
        features = None
        if Y is None and before is not None and place.cycle == before.place.cycle == 0 and before.place != place:
            features = before.values
        request = PartialRequest(place, X, Y, runs, batch.features, self.xp, features)
        for other in self.requests:
            request.take(other)
        self.requests = [request, *(other for other in self.requests if not (other.runs & runs).any())]
        return request

    def _points(self, batch: Coevolution, c: int, name: str, points: int) -> Callable[[int], Array]:
        """Return the function from a generation of a side to its points in a request of cycle c: arrays (R, n, dim)."""
        side = batch.x if name == "x" else batch.y
        if points == POINTS["NONE"]:
            return lambda g: None
        if points == POINTS["TRIALS"]:
            return lambda g: self.engine.trials(side, g).reshape(side.n_runs, side.pop_max, side.dim)
        rows: Array = batch.opponents_of(c) if points == POINTS["OPPONENTS"] else last_population(side)
        if points == POINTS["POPULATION_AND_INCUMBENT"]:
            rows = self.xp.concatenate([rows, last_population(batch)[:, :, : side.dim]], axis=1)
        return lambda g: rows.copy()  # a function may write to its arguments

    def synchronize(self) -> None:
        """Wait for all work that was started."""
        self.engine.synchronize()


def runs_behind(batch: Coevolution, until: int) -> Any:
    """Return which running runs make the next cycle, up to number `until`: those with the least progress."""
    progress, running = progress_of(batch), batch.host("status") == RUNNING
    waiting = [one for one, own in zip(progress, running, strict=True) if own and one.cycle < until]
    least = min(waiting, default=None)
    return running & [one == least for one in progress]


@contextmanager
def hold_others(batch: Coevolution, runs: Any) -> Iterator[None]:
    """Let only these runs continue."""
    status = batch.host("status")
    held = (status == RUNNING) & ~runs
    if not held.any():
        yield
        return
    batch.put("status", np.where(held, HELD, status))
    try:
        yield
    finally:
        batch.put("status", np.where(held, RUNNING, batch.host("status")))


def run_cycle(cycle: CycleRequests, evaluate: Callable[[PartialRequest], Array]) -> None:
    """Run a cycle to its end, and evaluate its requests."""
    request = next(cycle, None)
    while request is not None:
        # Not inside `try`: the StopIteration of a user's function must not look like the end of the cycle.
        values = evaluate(request)
        try:
            request = cycle.send(values)
        except StopIteration:
            return


def last_population(side: Batch) -> Array:
    """Return a copy of every run's last population, of shape (R, P, D)."""
    return side.array["x"][side.array["generation"] & 1, side.xp.arange(side.n_runs)]
