"""A cycle of co-evolution with values from a user: the steps behind `MinMaxSolver.ask` and `MinMaxSolver.tell`."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from skde.arrays import contiguous, moved_to
from skde.engines import Coevolution
from skde.fit.partial_generation import row_keys, rows_by_key
from skde.fit.run_results import values_of_points
from skde.fit.runner import Runner
from skde.minmax.engine import CoevolutionEngine
from skde.typing import Array, IntArray


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
        self._told: tuple[Array, Any] | None = None  # values of pairs told in parts, and which pairs have one
        self._handed_out = 0

    @property
    def points(self) -> tuple[Array, Array]:
        """The points to evaluate, in the shapes that users see."""
        X, Y = self._values
        return (X, Y) if self.runner.batch.n_runs > 1 else (X[0], cast(Array, Y)[0])

    def hand_out(self, n: int) -> tuple[Array, Array]:
        """Return the next n rows of X, or as many as are left, and all of Y."""
        self._check_one_run("ask(n)")
        X, Y = self.points
        begin, self._handed_out = self._handed_out, min(self._handed_out + n, len(X))
        return X[begin : self._handed_out], Y

    def _check_one_run(self, what: str) -> None:
        if self.runner.batch.n_runs > 1:
            raise ValueError(f"{what} needs n_runs=1, got n_runs={self.runner.batch.n_runs}; tell all values at once")

    def check_values(self, X: Array, Y: Array, F: Array) -> Array | None:
        """Return the values of all pairs in the form of the engine; None where some pairs have no value yet.

        The points are checked, and the shape of F.
        """
        asked, batch = self.points, self.runner.batch
        sides = [(name, given, wanted) for name, given, wanted in zip("XY", (X, Y), asked, strict=True)]
        other = [side for side in sides if np.shape(side[1]) != side[2].shape or not bool((side[1] == side[2]).all())]
        if other and batch.n_runs > 1:
            name, given, wanted = other[0]
            raise ValueError(f"{name} must be what ask returned, of shape {wanted.shape}, got {np.shape(given)}")
        rows = [self._rows(*side) for side in sides] if other else None
        shape = (*np.shape(X)[:-1], np.shape(Y)[-2])
        if np.shape(F) != shape:
            hint = ", transposed" if np.shape(F) == (*shape[:-2], shape[-1], shape[-2]) else ""
            raise ValueError(f"F must have shape {shape}, a row for every x, got {np.shape(F)}{hint}")
        with self.engine.device_context:
            values = contiguous(moved_to(F, asked[0], "F"), batch.spec.dtype)
            if rows is not None:
                values = self._tell_part(rows, values)
            return None if values is None else values.reshape(batch.n_runs, *(one.shape[-2] for one in asked))

    def _rows(self, name: str, given: Array, asked: Array) -> list[list[int]]:
        """Return the rows of `asked` that equal each of the given points."""
        wanted = f"{name} must be what ask returned, of shape {asked.shape}, or some of its rows, got {np.shape(given)}"
        if np.ndim(given) != 2 or np.shape(given)[1:] != asked.shape[1:]:
            raise ValueError(wanted)
        places = rows_by_key(asked)
        found = [places.get(key, []) for key in row_keys(moved_to(given, asked, name).astype(asked.dtype))]
        for k, rows in enumerate(found):
            if not rows:
                raise ValueError(f"{wanted}, and row {k} is none of them")
        return found

    def _tell_part(self, rows: list[list[list[int]]], values: Array) -> Array | None:
        """Note the values of some pairs, also for equal points; return those of all pairs when they are complete."""
        xp, (X, Y) = self.runner.batch.xp, self.points
        if self._told is None:
            self._told = xp.zeros((len(X), len(Y)), values.dtype), np.zeros((len(X), len(Y)), bool)
        all_values, has_value = self._told
        (rows_x, from_x), (rows_y, from_y) = (flat_rows(one) for one in rows)
        all_values[xp.asarray(rows_x)[:, None], xp.asarray(rows_y)] = values[
            xp.asarray(from_x)[:, None], xp.asarray(from_y)
        ]
        has_value[np.ix_(rows_x, rows_y)] = True
        return all_values if has_value.all() else None

    def send(self, values: Array) -> bool:
        """Continue with the values, and return whether the cycle asks for more; after an error it cannot continue."""
        with self.engine.device_context:
            try:
                self._take(self._requests.send(values))
            except StopIteration:
                self.runner.end_generation()
                return False
        return True


def flat_rows(rows: list[list[int]]) -> tuple[IntArray, IntArray]:
    """Return all rows of the inner lists, one after the other, and for each the number of its list."""
    lengths = [len(one) for one in rows]
    flat = np.array([row for one in rows for row in one], np.int64)
    return flat, np.repeat(np.arange(len(rows)), lengths)
