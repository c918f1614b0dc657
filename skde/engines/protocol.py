"""The interfaces of engines, which own memory, loops, launches and time, and know no algorithms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeGuard

from skde.engines.decoded_game import DecodedGame
from skde.engines.game import Game
from skde.engines.state.batch import Batch
from skde.engines.state.coevolution import Coevolution
from skde.engines.state.coevolution_spec import CoevolutionSpec
from skde.engines.state.runs import Runs
from skde.engines.state.spec import Compiled, Spec
from skde.functions.point_workers import Part
from skde.typing import Array
from skde.variables import Variables


class ObjectiveLike(Protocol):
    """An objective, compiled or a function of arrays, as skde/objectives/objective.py defines it."""

    @property
    def compiled(self) -> Compiled | None:
        """The functor for the kernels; None for a Python function."""

    def values(self, X: Array) -> Array:
        """Return the values of the rows of X in the form that engines expect."""


class PointObjective(ObjectiveLike, Protocol):
    """An objective whose values come in parts."""

    def parts(self, X: Array, seconds_left: Callable[[], float]) -> Iterator[Part]:
        """Yield the values of the rows of X as they come, at least one, until no seconds are left."""


class Engine(Protocol):
    """The interface that a Runner needs."""

    @property
    def name(self) -> str:
        """'cpu' or 'cuda:N', or several of them."""

    @property
    def xp(self) -> Any:
        """The array library: NumPy or CuPy."""

    @property
    def device_context(self) -> AbstractContextManager[Any]:
        """A context in which the array library works on this engine's device."""

    @property
    def even(self) -> bool:
        """Whether one call of `run` needs all running runs at the same generation."""

    @property
    def chunk_seconds(self) -> float:
        """Seconds that one call of `run` should take: time limits, callbacks and Ctrl-C wait for its end."""

    def apply(self, work: Callable[[Any], Any]) -> Any:
        """Return work(xp), called on the device or in the worker that evaluates Python functions; xp is its library."""

    def check_memory(self, spec: Spec, n_runs: int) -> None:
        """Refuse a batch of n_runs runs of a spec when there is no memory for it."""

    def batch(self, spec: Any) -> Runs:
        """Allocate a batch."""

    def run(self, batch: Any, begin: int, until: int) -> None:
        """Run whole generations up to number `until`, from `begin`, where the runs furthest behind are.

        On a GPU a call starts them, and `synchronize` waits for their end.
        """

    def judge(self, batch: Any, g: int) -> None:
        """Judge the end of generation g, for the runs that are at it; `propose` does so for the one before."""

    def propose(self, batch: Any, g: int) -> None:
        """Judge the end of generation g - 1 and make the trials of generation g."""

    def accept(self, batch: Any, g: int, trials: Array | None, f: Array) -> None:
        """Select between parents and trials (None: those proposed) by the trials' values."""

    def trials(self, batch: Any, g: int) -> Array:
        """Return a copy of the trials of generation g, of shape (R * P, D)."""

    def synchronize(self) -> None:
        """Wait for all work that was started."""


class DeviceEngine(Engine, Protocol):
    """An engine of one device."""

    @property
    def threads(self) -> int:
        """Number of threads on the host."""

    @property
    def exclusive(self) -> AbstractContextManager[Any]:
        """A context that keeps the timed runs of other threads off the device."""

    def use_own_stream(self) -> None:
        """Make the calling thread independent of the work that other threads start."""

    def batch(self, spec: Any) -> Batch:
        """Allocate a batch."""

    def load(self, batch: Batch, objective: Compiled) -> None:
        """Make a batch ready to run a compiled objective."""

    def migrate(self, batch: Batch, g: int, step: int) -> None:
        """Do one step of the migration between islands after generation g."""

    def evaluate(self, objective: Compiled, x: Array) -> Array:
        """Return the values of the rows of x."""

    def decode(self, variables: Variables, x: Array) -> Array:
        """Return the values of typed variables at the rows of x."""

    def copy_array(self, target: Array, source: Array) -> None:
        """Copy an array into another of the same shape."""

    def mark(self) -> Any:
        """Return a mark of the work that was started."""

    def follow(self, marks: Iterable[Any]) -> None:
        """Let later work wait for the work before some marks, of this engine or of others of the kind."""

    def coevolution(self, spec: CoevolutionSpec) -> Coevolution:
        """Allocate a co-evolution."""

    def load_game(self, batch: Coevolution, game: Game | DecodedGame) -> None:
        """Make a co-evolution ready to run a compiled game."""

    def cycles(self, batch: Coevolution, until: int) -> None:
        """Run whole cycles up to number `until`."""

    def coevolution_step(self, batch: Coevolution, c: int, phase: int, values: Array | None) -> None:
        """Do one phase of cycle c with the values of its request, of shape (R, n, m), if it has had one."""

    def matrix(self, game: Game, X: Array, Y: Array) -> Array:
        """Return the game's values of the rows of X against the rows of Y."""


class SharingEngine(Protocol):
    """An engine that divides a batch into parts, and evaluates Python functions where the parts are."""

    def share(self, batch: Any, objective: ObjectiveLike, execution: str) -> AbstractContextManager[None]:
        """Return the context in which a batch runs an objective, by "run" or by "step"."""


class DividingEngine(SharingEngine, Protocol):
    """A sharing engine that can cut generations of a function of one point short."""

    def run_parts(self, batch: Any, begin: int, until: int, work: Any) -> None:
        """Run generations as `run` does, from and with what is known of them: a `PartsOfGenerations`.

        Runs are at different generations afterwards where the time ended, or an evaluation raised an exception.
        """


class RecordingEngine(Protocol):
    """An engine that can record a generation, the objective included, and replay it."""

    def record(self, batch: Batch, g: int, values: Callable[[Array], Array]) -> Any:
        """Record one generation; see skde/engines/gpu/graphs.py."""


def shares(engine: Any) -> TypeGuard[SharingEngine]:
    """Whether an engine divides batches; isinstance with a protocol would take as long as a small generation."""
    return hasattr(engine, "share")


def divides(engine: Any) -> TypeGuard[DividingEngine]:
    """Whether an engine can cut generations short."""
    return hasattr(engine, "run_parts")


def records(engine: Any) -> TypeGuard[RecordingEngine]:
    """Whether an engine can record a generation."""
    return hasattr(engine, "record")
