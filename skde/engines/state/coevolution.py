"""The state of a co-evolution: two populations that evolve in turns, and the incumbents of their runs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import numpy as np

import skde._cpu as _cpu
from skde.constants import ENUMERATIONS
from skde.engines.state.batch import Batch
from skde.engines.state.coevolution_arrays import SAVED_ARRAYS, SIDES, exchange_shapes
from skde.engines.state.coevolution_spec import CoevolutionSpec
from skde.engines.state.runs import Runs
from skde.typing import Array, FloatArray, IntArray
from skde.utils.arrays import address, to_numpy

# One field of eight bytes each, as in coevolution.cuh.
FIELDS = np.dtype([(name, "f8" if kind == "number" else "i8") for name, kind in _cpu.coevolution_fields()])
# The points of a request, as requests.cuh numbers them.
POINTS = ENUMERATIONS["Points"]


class Phase(NamedTuple):
    """One phase of a cycle for a host that evaluates, as the extension describes it."""

    number: int
    side: str  # the side that evolves, or is reordered; "" for the other phases
    evolves: bool
    generation: int  # of the side: the last one to make, or the one to reorder
    x: int  # the points of the request, of POINTS
    y: int
    repeated: bool  # whether this request has the values of the one before


class IncumbentRuns(Runs):
    """Batches in which the value of a run is its incumbent's."""

    monotone = False  # a new opponent may be stronger than those before

    @property
    def adapted(self) -> list[str]:
        """None: incumbents are no individuals of an algorithm."""
        return []


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
        self.fields["tol"], self.fields["atol"] = self.record["tol"], self.record["atol"]
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
