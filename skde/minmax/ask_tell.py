"""A cycle of co-evolution with values from a user: the steps behind `MinMaxSolver.ask` and `MinMaxSolver.tell`."""

from __future__ import annotations

from typing import cast

import numpy as np

from skde.arrays import contiguous, moved_to
from skde.engines import Coevolution
from skde.minmax.engine import CoevolutionEngine
from skde.run_results import values_of_points
from skde.runner import Runner
from skde.typing import Array


class AskedCycle:
    """The next cycle of a runner, which waits for the values of points that a user has been given.

    Parameters
    ----------
    runner : Runner
        The populations.
    engine : CoevolutionEngine
        The engine of the runner.
    """

    def __init__(self, runner: Runner, engine: CoevolutionEngine) -> None:
        self.runner, self.engine = runner, engine
        self._requests = engine.cycle(cast(Coevolution, runner.batch), runner.generation + 1)
        with engine.device_context:
            self._take(next(self._requests))

    def _take(self, request: tuple[Array, Array]) -> None:
        """Take the points of a request as they are evaluated."""
        batch = cast(Coevolution, self.runner.batch)
        X, Y = request
        self._values = values_of_points(batch.x, X), values_of_points(batch.y, Y)

    @property
    def points(self) -> tuple[Array, Array]:
        """The points to evaluate, in the shapes that users see."""
        X, Y = self._values
        return (X, Y) if self.runner.batch.n_runs > 1 else (X[0], cast(Array, Y)[0])

    def check_values(self, X: Array, Y: Array, F: Array) -> Array:
        """Return the values of the points' pairs in the form of the engine, after checking the points and the shape."""
        asked, batch = self.points, self.runner.batch
        for name, given, wanted in (("X", X, asked[0]), ("Y", Y, asked[1])):
            if np.shape(given) != wanted.shape or not bool((given == wanted).all()):
                raise ValueError(f"{name} must be what ask returned, of shape {wanted.shape}, got {np.shape(given)}")
        shape = (*asked[0].shape[:-1], asked[1].shape[-2])
        if np.shape(F) != shape:
            hint = ", transposed" if np.shape(F) == (*shape[:-2], shape[-1], shape[-2]) else ""
            raise ValueError(f"F must have shape {shape}, a row for every x, got {np.shape(F)}{hint}")
        with self.engine.device_context:
            values = contiguous(moved_to(F, asked[0], "F"), batch.spec.dtype)
            return values.reshape(batch.n_runs, *shape[-2:])

    def send(self, values: Array) -> bool:
        """Continue with the values, and return whether the cycle asks for more; after an error it cannot continue."""
        with self.engine.device_context:
            try:
                self._take(self._requests.send(values))
            except StopIteration:
                self.runner.end_generation()
                return False
        return True
