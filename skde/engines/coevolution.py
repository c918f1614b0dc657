"""The state of a co-evolution: two populations that evolve in turns, and the incumbents of their runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

import skde._cpu as _cpu
from skde.arrays import address, contiguous, device_of, to_numpy
from skde.constants import CONSTANTS, ENUMERATIONS
from skde.engines.batch import Batch
from skde.engines.batch_arrays import MEMORY_ADVICE, array_shapes, size_of
from skde.engines.block import ArrayShapes
from skde.engines.runs import Runs
from skde.engines.spec import Spec
from skde.engines.task import MAX_ARRAYS, TASK, fill_data
from skde.memory import check_memory
from skde.typing import Array, FloatArray, IntArray

# One field of eight bytes each, as in coevolution.cuh.
FIELDS = np.dtype([(name, "f8" if kind == "number" else "i8") for name, kind in _cpu.coevolution_fields()])
# The points of a request, as requests.cuh numbers them.
POINTS = ENUMERATIONS["Points"]
# A checkpoint has the arrays of both sides, with the side before their names, and of the arrays that the sides exchange
# those that a cycle reads before it writes them.
SIDES = ("x", "y")
SAVED_ARRAYS = ("columns", "penalties", "excess", "levels")


@dataclass(repr=False, eq=False)
class Game:
    """A compiled game: its name in games.cuh, its arrays, and the numbers of constraints of a Lagrangian.

    Attributes
    ----------
    kernel : str
        The name.
    arrays : tuple of ndarray
        The arrays that the functor reads.
    inequalities, equalities : int
        Numbers of constraints; 0, 0 for a function of x and y.
    """

    kernel: str
    arrays: tuple[FloatArray, ...] = ()
    inequalities: int = 0
    equalities: int = 0

    def __post_init__(self) -> None:
        # Opponents take some of a functor's arrays, and the penalty factors of a Lagrangian take one.
        most = MAX_ARRAYS - CONSTANTS["OPPONENT_ARRAYS"] - (self.scratch > 0)
        if len(self.arrays) > most:
            raise ValueError(f"the game {self.kernel!r} reads {len(self.arrays)} arrays, at most {most} have room")

    @property
    def number(self) -> int:
        """Its index in games.cuh."""
        return int(_cpu.games()[self.kernel][0])

    @property
    def cpp_type(self) -> str:
        """Its C++ type."""
        return str(_cpu.games()[self.kernel][1])

    @property
    def scratch(self) -> int:
        """Vectors of working memory for the features of x."""
        constraints = self.inequalities + self.equalities
        return 1 + constraints if constraints else 0


class Phase(NamedTuple):
    """One phase of a cycle for a host that evaluates, as the extension describes it."""

    number: int
    side: str  # the side that evolves, or is reordered; "" for the other phases
    evolves: bool
    generation: int  # of the side: the last one to make, or the one to reorder
    x: int  # the points of the request, of POINTS
    y: int
    repeated: bool  # whether the values of the request before are those of this one


@dataclass(repr=False, eq=False)
class CoevolutionSpec:
    """The spec of a co-evolution of R runs, checked.

    Attributes
    ----------
    x, y, incumbents : Spec
        The sides, and the incumbents: populations of one, x followed by y, with cycles as generations.
    gens_x, gens_y : int
        Generations of a side in a cycle.
    renewed : int
        Individuals of y that new points replace in every cycle.
    archive : int
        Size of the archive of strongest opponents.
    inequalities, equalities : int
        Numbers of constraints of a Lagrangian's problem; 0, 0 without one.
    updates : bool
        Whether y is one vector of multipliers that is updated once a cycle.
    penalty : float or None
        r of the Lagrangian; None: r is adapted.
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
        """Number of opponents of x in the population of y."""
        return 1 if self.updates else self.y.pop_max

    @property
    def max_opponents(self) -> int:
        """Largest number of opponents of x, with those in the archive."""
        return self.opponents + self.archive

    @property
    def features(self) -> int:
        """Length of the description of a point x."""
        return 1 + self.constraints if self.constraints else len(self.x.lower)

    def parts(self, rows: Sequence[tuple[int, int]]) -> list[CoevolutionSpec]:
        """Return the specs of parts, each with the runs begin ... end - 1."""
        specs = zip(*(spec.parts(rows) for spec in (self.x, self.y, self.incumbents)), strict=True)
        return [replace(self, x=x, y=y, incumbents=incumbents) for x, y, incumbents in specs]


def exchange_shapes(spec: CoevolutionSpec) -> ArrayShapes:
    """Return the arrays that the sides of a co-evolution exchange."""
    R = spec.n_runs
    shapes: dict[str, tuple[int, ...]] = {
        "columns": (R, len(spec.y.lower), spec.max_opponents),
        "table": (R, spec.features, spec.x.pop_max),
        "strengths": (R, 2, spec.max_opponents),
        "penalties": (R, spec.constraints),
        "excess": (R, spec.constraints),
        "levels": (R, 2),
        "trials_x": (R, spec.x.pop_max),
        "trials_y": (R, spec.y.pop_max),
    }
    return {name: (shape, spec.incumbents.dtype) for name, shape in shapes.items()}


def check_coevolution_memory(spec: CoevolutionSpec, xp: Any = np) -> None:
    """Refuse a co-evolution that does not fit into memory.

    Raises
    ------
    MemoryError
        With the memory needed and available.
    """
    n_runs = spec.n_runs
    needed = size_of(exchange_shapes(spec)) + sum(
        size_of(array_shapes(side, n_runs)) for side in (spec.x, spec.y, spec.incumbents)
    )
    what = f"a co-evolution of {n_runs} runs with {spec.x.pop_max} and {spec.y.pop_max} individuals"
    check_memory(what, needed, MEMORY_ADVICE, xp)


class IncumbentRuns(Runs):
    """Batches in which the value of a run is that of its incumbent."""

    monotone = False  # a new opponent may be stronger than those before

    @property
    def adapted(self) -> list[str]:
        """None: incumbents are no individuals of an algorithm."""
        return []

    def is_blank(self) -> bool:
        """Whether no run has an incumbent with finite values against all opponents."""
        return not np.isfinite(self.best()[1]).any()


class Coevolution(IncumbentRuns, Batch):
    """The state of R runs in the memory of one engine: the batch of their incumbents, and the two sides.

    Parameters
    ----------
    spec : CoevolutionSpec
        The spec of the co-evolution.
    xp : module
        NumPy or CuPy.
    x, y : Batch
        The sides.
    device_context : callable, default nullcontext
        Returns a context in which the library works on this engine's device.
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
        self.phase_program: Any = None  # the engine's launcher for single phases
        super().__init__(spec.incumbents, xp, device_context)
        # Of the records that the CPU's kernels read; they stay where they are.
        self.addresses = address(self.fields, FIELDS, 1), x.task_address, y.task_address, self.task_address

    def _allocate(self) -> None:
        super()._allocate()
        self.exchange = {
            name: self.xp.zeros(shape, dtype) for name, (shape, dtype) in exchange_shapes(self.coevolution_spec).items()
        }
        if self.coevolution_spec.penalty is not None:
            self.exchange["penalties"][...] = self.coevolution_spec.penalty
        for name, array in self.exchange.items():
            self.fields[name] = address(array, self.spec.dtype, device=self.device)

    def _describe(self) -> None:
        super()._describe()
        fields, spec = self.fields, self.coevolution_spec
        fields["pop_x"], fields["pop_y"] = self.x.pop_max, self.opponents
        fields["gens_x"], fields["gens_y"] = spec.gens_x, spec.gens_y
        fields["renewed"] = spec.renewed
        fields["archive"], fields["capacity"], fields["features"] = spec.archive, self.max_opponents, self.features
        fields["inequalities"], fields["equalities"] = spec.inequalities, spec.equalities
        fields["updates"], fields["adapts"] = spec.updates, spec.penalty is None
        fields["feasibility"] = spec.feasibility

    def refresh(self) -> None:
        """Pass the limits and the stopping rules of the current spec to the kernels."""
        super().refresh()
        self.fields["tol"] = self.record["tol"]
        self.record["tol"] = -1.0  # a population of one has no spread

    def best(self, generation: IntArray | None = None) -> tuple[IntArray, FloatArray]:
        """Return the row of every run's incumbent, and its value."""
        generation, f = self.host("generation") if generation is None else generation, self.host("f")
        values = np.where(generation >= 0, f[generation & 1, np.arange(self.n_runs), 0].astype(float), np.nan)
        return np.zeros(self.n_runs, np.int64), values

    def phases(self, c: int, y_evaluated: bool) -> list[Phase]:
        """Return the phases of cycle c; `y_evaluated`: whether y has its values against the new population of x."""
        return list(map(Phase._make, _cpu.coevolution_phases(self.addresses[0], c, y_evaluated)))

    def opponents_of(self, c: int) -> Array:
        """Return the opponents of x in cycle c: a copy of shape (R, n, dim y).

        The archive of a run that ended earlier may have fewer: its population of y then fills the rest.
        """
        n = self.opponents + min(c, self.coevolution_spec.archive)
        filled = self.opponents + np.minimum(self.host("generation") + 1, self.coevolution_spec.archive)
        rows = np.where(np.arange(n) < filled[:, None], np.arange(n), np.arange(n) % self.opponents)
        columns = self.exchange["columns"].transpose(0, 2, 1)
        return self.xp.ascontiguousarray(columns[self.xp.arange(self.n_runs)[:, None], self.xp.asarray(rows)])

    def state(self) -> dict[str, Any]:
        """Return the state for a checkpoint."""
        saved = super().state()
        for name, side in zip(SIDES, (self.x, self.y), strict=True):
            saved |= {f"{name}.{key}": array for key, array in side.state().items()}
        with self.device_context():
            saved |= {name: to_numpy(self.exchange[name]) for name in SAVED_ARRAYS}
        return saved

    def restore(self, saved: dict[str, Any]) -> None:
        """Continue from a state that `state` returned."""
        super().restore(saved)
        for name, side in zip(SIDES, (self.x, self.y), strict=True):
            start = f"{name}."
            side.restore({key[len(start) :]: array for key, array in saved.items() if key.startswith(start)})
        with self.device_context():
            for name in SAVED_ARRAYS:
                self.exchange[name][...] = self.xp.asarray(saved[name])


def opponent_task(game: Game, X: Array, Y: Array, xp: Any) -> tuple[Any, tuple[Array, ...]]:
    """Return a task with the rows of Y as opponents of the rows of X, and the arrays that must stay alive."""
    columns = contiguous(Y.T, X.dtype)
    own = tuple(xp.asarray(contiguous(np.asarray(array), X.dtype)) for array in game.arrays)
    task = np.zeros(1, TASK)
    fill_data(task, (columns, columns, columns, *own), X.dtype, device_of(X))
    task["size0"], task["size1"], task["size2"] = len(Y), len(Y), Y.shape[1]
    return task, (columns, *own)
