"""Two populations that evolve in turns, and the answers of their runs: what an engine holds of a co-evolution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skde import _cpu
from skde.arrays import address, contiguous, to_numpy
from skde.engines.batch import FEWER, MAX_ARRAYS, TASK, Batch, Layout, Runs, fill_data, layout, size_of
from skde.engines.spec import Spec
from skde.memory import check_memory
from skde.typing import Array, FloatArray, IntArray

# One field of eight bytes each, as in coevolution.cuh.
FIELDS = np.dtype([(name, "f8" if kind == "number" else "i8") for name, kind in _cpu.coevolution_fields()])
# The steps between the turns (CoevolutionStep in coevolution.cuh).
RENEW, GATHER, CORRECT, CONCLUDE = range(4)
# In what a checkpoint holds, a side's arrays begin with its name; of what is between the sides, it holds what a cycle
# finds there.
SIDES = ("x", "y")
SAVED_ARRAYS = ("columns", "penalties", "excess", "levels")


@dataclass(frozen=True)
class Game:
    """A compiled game: its name in games.cuh, what it reads, and how many constraints it is the Lagrangian of.

    Attributes
    ----------
    kernel : str
        The name.
    arrays : tuple of ndarray
        What the functor reads.
    inequalities, equalities : int
        Constraints; 0, 0: a function of x and y.
    """

    kernel: str
    arrays: tuple[FloatArray, ...] = ()
    inequalities: int = 0
    equalities: int = 0

    def __post_init__(self) -> None:
        # Opponents take three places of what a functor reads, and a Lagrangian's penalty factors one.
        most = MAX_ARRAYS - 3 - (self.scratch > 0)
        if len(self.arrays) > most:
            raise ValueError(f"the game {self.kernel!r} reads {len(self.arrays)} arrays, at most {most} have room")

    @property
    def number(self) -> int:
        """Its place in games.cuh."""
        return int(_cpu.games()[self.kernel][0])

    @property
    def cpp_type(self) -> str:
        """Its C++ type."""
        return str(_cpu.games()[self.kernel][1])

    @property
    def scratch(self) -> int:
        """Vectors that x's features need as working memory."""
        constraints = self.inequalities + self.equalities
        return 1 + constraints if constraints else 0


@dataclass
class CoevolutionSpec:
    """What one co-evolution of R runs is made of, beside the specs of its two sides; all of it checked before.

    Attributes
    ----------
    x, y, answers : Spec
        The sides, and the answers: populations of one, x and y one behind the other, whose generations are the cycles.
    gens_x, gens_y : int
        Generations of a side in a cycle.
    renewed : int
        Individuals of y that give way to new points in every cycle.
    archive : int
        Strongest opponents that are remembered.
    inequalities, equalities : int
        Constraints of the problem whose Lagrangian is played; 0, 0: none.
    updates : bool
        Whether y is one vector of multipliers, corrected once a cycle.
    penalty : float or None
        r of the Lagrangian; None: adapted.
    feasibility : float
        Tolerance of the constraints.
    """

    x: Spec
    y: Spec
    incumbents: Spec
    gens_x: int
    gens_y: int
    renewed: int = 0
    archive: int = 0
    inequalities: int = 0
    equalities: int = 0
    updates: bool = False
    penalty: float | None = None
    feasibility: float = 0.0

    @property
    def n_runs(self) -> int:
        """Number of runs."""
        return len(self.incumbents.seeds)

    @property
    def size_text(self) -> str:
        """The number of runs as errors name it."""
        return f"n_runs={self.n_runs}"

    @property
    def constraints(self) -> int:
        """Constraints of both kinds."""
        return self.inequalities + self.equalities

    @property
    def opponents(self) -> int:
        """Opponents that x has in the population of y."""
        return 1 if self.updates else self.y.pop_max

    @property
    def max_opponents(self) -> int:
        """Opponents that x has at most, with those that are remembered."""
        return self.opponents + self.archive

    @property
    def features(self) -> int:
        """Numbers that stand for a point x."""
        return 1 + self.constraints if self.constraints else len(self.x.lower)

    def parts(self, rows: Sequence[tuple[int, int]]) -> list[CoevolutionSpec]:
        """Return what parts are made of, the runs begin ... end - 1."""
        specs = zip(*(spec.parts(rows) for spec in (self.x, self.y, self.incumbents)), strict=True)
        return [replace(self, x=x, y=y, incumbents=incumbents) for x, y, incumbents in specs]


def exchange_shapes(spec: CoevolutionSpec) -> Layout:
    """Return what is kept between the sides of a co-evolution."""
    R = spec.n_runs
    shapes: dict[str, tuple[int, ...]] = {
        "columns": (R, len(spec.y.lower), spec.max_opponents),
        "table": (R, spec.features, spec.x.pop_max),
        "strengths": (R, 2, spec.max_opponents),
        "penalties": (R, spec.constraints),
        "excess": (R, spec.constraints),
        "levels": (R, 2),
    }
    return {name: (shape, spec.incumbents.dtype) for name, shape in shapes.items()}


def check_coevolution_memory(spec: CoevolutionSpec, xp: Any = np) -> None:
    """Refuse a co-evolution that has no room in memory.

    Raises
    ------
    MemoryError
        With what is needed and what is available.
    """
    n_runs = spec.n_runs
    needed = size_of(exchange_shapes(spec)) + sum(
        size_of(layout(side, n_runs)) for side in (spec.x, spec.y, spec.incumbents)
    )
    what = f"a co-evolution of {n_runs} runs with {spec.x.pop_max} and {spec.y.pop_max} individuals"
    check_memory(what, needed, FEWER, xp)


class IncumbentRuns(Runs):
    """Batches whose runs' values are those of their answers."""

    monotone = False  # an answer may meet a stronger opponent

    def is_blank(self) -> bool:
        """Whether no run has an answer with a number against every opponent."""
        return not np.isfinite(self.best()[1]).any()


class Coevolution(IncumbentRuns, Batch):
    """The state of R runs in the memory of one engine: the batch of their answers, with the two sides.

    Parameters
    ----------
    spec : CoevolutionSpec
        What to run.
    xp : module
        NumPy or CuPy.
    x, y : Batch
        The sides.
    device_context : callable, default nullcontext
        Returns a context in which that library works on this engine's device.
    """

    def __init__(
        self,
        spec: CoevolutionSpec,
        xp: Any,
        x: Batch,
        y: Batch,
        device_context: Callable[[], AbstractContextManager[Any]] = nullcontext,
    ) -> None:
        self.coevolution_spec, self.x, self.y = spec, x, y
        self.constraints, self.opponents = spec.constraints, spec.opponents
        self.max_opponents, self.features = spec.max_opponents, spec.features
        self.fields = np.zeros(1, FIELDS)
        self.step_program: Any = None  # how an engine launches the steps between the turns
        super().__init__(spec.incumbents, xp, device_context)

    def _allocate(self) -> None:
        super()._allocate()
        self.exchange = {
            name: self.xp.zeros(shape, dtype) for name, (shape, dtype) in exchange_shapes(self.coevolution_spec).items()
        }
        if self.coevolution_spec.penalty is not None:
            self.exchange["penalties"][...] = self.coevolution_spec.penalty

    def refresh(self) -> None:
        """Let the kernels know what the spec says now, and where the arrays lie."""
        super().refresh()
        self.task["tol"] = -1.0  # of a population of one there is no spread
        fields, spec = self.fields, self.coevolution_spec
        fields["pop_x"], fields["pop_y"] = self.x.pop_max, self.opponents
        fields["gens_x"], fields["gens_y"] = spec.gens_x, spec.gens_y
        fields["renewed"] = spec.renewed
        fields["archive"], fields["room"], fields["features"] = spec.archive, self.max_opponents, self.features
        fields["inequalities"], fields["equalities"] = spec.inequalities, spec.equalities
        fields["updates"], fields["adapts"] = spec.updates, spec.penalty is None
        fields["feasibility"] = spec.feasibility
        fields["gap"] = -1.0 if self.spec.tol is None else self.spec.tol
        for name, array in self.exchange.items():
            fields[name] = address(array, self.spec.dtype, device=self.device)

    @property
    def addresses(self) -> tuple[int, int, int, int]:
        """Where the records are that the CPU's kernels read."""
        return address(self.fields, FIELDS, 1), self.x.task_address, self.y.task_address, self.task_address

    def best(self) -> tuple[IntArray, FloatArray]:
        """Return the row of every run's answer, and its value."""
        generation, f = self.host("generation"), self.host("f")
        values = np.where(generation >= 0, f[generation & 1, np.arange(self.n_runs), 0].astype(float), np.nan)
        return np.zeros(self.n_runs, np.int64), values

    def opponents_of(self, c: int) -> Array:
        """Return the opponents that x has in cycle c: a copy of shape (R, n, dim y).

        A run that ended in an earlier cycle may remember fewer: its population of y then fills the rest.
        """
        n = self.opponents + min(c, self.coevolution_spec.archive)
        known = self.opponents + np.minimum(self.host("generation") + 1, self.coevolution_spec.archive)
        rows = np.where(np.arange(n) < known[:, None], np.arange(n), np.arange(n) % self.opponents)
        columns = self.exchange["columns"].transpose(0, 2, 1)
        return self.xp.ascontiguousarray(columns[self.xp.arange(self.n_runs)[:, None], self.xp.asarray(rows)])

    def state(self) -> dict[str, Any]:
        """Return all that a checkpoint must hold."""
        saved = super().state()
        for name, side in zip(SIDES, (self.x, self.y), strict=True):
            saved |= {f"{name}.{key}": array for key, array in side.state().items()}
        with self.device_context():
            saved |= {name: to_numpy(self.exchange[name]) for name in SAVED_ARRAYS}
        return saved

    def restore(self, saved: dict[str, Any]) -> None:
        """Continue from what `state` returned."""
        super().restore(saved)
        for name, side in zip(SIDES, (self.x, self.y), strict=True):
            start = f"{name}."
            side.restore({key[len(start) :]: array for key, array in saved.items() if key.startswith(start)})
        with self.device_context():
            for name in SAVED_ARRAYS:
                self.exchange[name][...] = self.xp.asarray(saved[name])


def opponent_task(game: Game, X: Array, Y: Array, xp: Any) -> tuple[Any, tuple[Array, ...]]:
    """Return a task whose data are the rows of Y as opponents of the rows of X, and the arrays to be kept alive."""
    columns = contiguous(Y.T, X.dtype)
    own = tuple(xp.asarray(contiguous(np.asarray(array), X.dtype)) for array in game.arrays)
    task = np.zeros(1, TASK)
    fill_data(task, (columns, columns, columns, *own), X.dtype, None if xp is np else X.device.id)
    task["size0"], task["size1"], task["size2"] = len(Y), len(Y), Y.shape[1]
    return task, (columns, *own)
