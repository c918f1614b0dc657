"""A cycle of co-evolution with values from a user: the steps behind `MinMaxSolver.ask` and `MinMaxSolver.tell`."""

from __future__ import annotations

from typing import cast

import numpy as np

from skde.engines import Coevolution
from skde.fit.fit import Fit
from skde.fit.partial_generation import row_keys, rows_by_key
from skde.fit.results import values_of_points
from skde.minmax.engine import CoevolutionEngine, runs_behind
from skde.minmax.partial_request import PartialRequest
from skde.minmax.recording import record_request
from skde.typing import Array, IntArray
from skde.utils.arrays import contiguous, move_to


class AskedCycle:
    """The next cycle of a fit, which waits for the values of points that a user has been given.

    Parameters
    ----------
    fit : Fit
        The populations.
    engine : CoevolutionEngine
        The engine of the fit.
    """

    def __init__(self, fit: Fit, engine: CoevolutionEngine) -> None:
        self.fit, self.engine = fit, engine
        batch = cast(Coevolution, fit.batch)
        self._requests = engine.cycle(batch, runs_behind(batch, fit.population.last))
        with engine.device_context:
            self._take(next(self._requests))

    def _take(self, request: PartialRequest) -> None:
        """Take the points of a request as they are evaluated."""
        batch = cast(Coevolution, self.fit.batch)
        self.request = request
        self._values = values_of_points(batch.x, request.X), values_of_points(batch.y, request.Y)
        self._handed_out = 0

    @property
    def points(self) -> tuple[Array, Array]:
        """The points to evaluate, in the shapes that users see."""
        X, Y = self._values
        return (X, Y) if self.fit.batch.n_runs > 1 else (X[0], cast(Array, Y)[0])

    def hand_out(self, n: int) -> tuple[Array, Array]:
        """Return the next n rows of X that have pairs without a value, or as many as are left, and all of Y."""
        self._check_one_run("ask(n)")
        X, Y = self.points
        waiting = np.flatnonzero(~self.request.has_value.reshape(len(X), -1).all(axis=1))
        rows = waiting[waiting >= self._handed_out][:n]
        if len(rows):
            self._handed_out = int(rows[-1]) + 1
        return X[self.fit.batch.xp.asarray(rows)], Y

    def _check_one_run(self, what: str) -> None:
        if self.fit.batch.n_runs > 1:
            raise ValueError(f"{what} needs n_runs=1, got n_runs={self.fit.batch.n_runs}; tell all values at once")

    def tell(self, X: Array, Y: Array, F: Array) -> bool:
        """Note the values of pairs, and return whether all pairs have values; the points are checked, and the shape."""
        asked, batch = self.points, self.fit.batch
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
            values = contiguous(move_to(F, asked[0], "F"), batch.spec.dtype)
            if rows is None:
                self._note(np.arange(len(self.request.needed)), values.reshape(-1))
            else:
                self._note(*self._pairs_of(rows, values))
        return self.request.complete

    def _note(self, rows: IntArray, values: Array) -> None:
        """Note the values of pairs, and record those that had none."""
        new = np.flatnonzero(~self.request.has_value[rows])
        record = record_request(self.fit, self.request, rows[new], values[self.request.xp.asarray(new)])
        self.request.put(rows, values)
        record()

    def _rows(self, name: str, given: Array, asked: Array) -> list[list[int]]:
        """Return the rows of `asked` that equal each of the given points."""
        wanted = f"{name} must be what ask returned, of shape {asked.shape}, or some of its rows, got {np.shape(given)}"
        if np.ndim(given) != 2 or np.shape(given)[1:] != asked.shape[1:]:
            raise ValueError(wanted)
        places = rows_by_key(asked)
        found = [places.get(key, []) for key in row_keys(move_to(given, asked, name).astype(asked.dtype))]
        for k, rows in enumerate(found):
            if not rows:
                raise ValueError(f"{wanted}, and row {k} is none of them")
        return found

    def _pairs_of(self, rows: list[list[list[int]]], values: Array) -> tuple[IntArray, Array]:
        """Return the rows of the request with these points, also with equal ones, and the last value of each."""
        xp, n = self.request.xp, self.request.n_opponents
        (rows_x, from_x), (rows_y, from_y) = (flat_rows(one) for one in rows)
        found = values[xp.asarray(from_x)[:, None], xp.asarray(from_y)]
        pairs, last = np.unique((rows_x[:, None] * n + rows_y).reshape(-1)[::-1], return_index=True)
        return pairs, found.reshape(-1)[::-1][xp.asarray(last)]

    def go_on(self) -> bool:
        """Continue while all pairs have values, and return whether some need one; after an error that is not possible.

        The pairs of the next request may have values from before an interruption.
        """
        with self.engine.device_context:
            while self.request.complete:
                try:
                    self._take(self._requests.send(self.request.reply))
                except StopIteration:
                    self.fit.population.locate()
                    return False
        return True


def next_cycle(fit: Fit, engine: CoevolutionEngine) -> AskedCycle | None:
    """Return the next cycle that needs a value; None where all runs have ended."""
    while not fit.population.done:
        cycle = AskedCycle(fit, engine)
        if cycle.go_on():
            return cycle
    return None


def flat_rows(rows: list[list[int]]) -> tuple[IntArray, IntArray]:
    """Return all rows of the inner lists, one after the other, and for each the number of its list."""
    lengths = [len(one) for one in rows]
    flat = np.array([row for one in rows for row in one], np.int64)
    return flat, np.repeat(np.arange(len(rows)), lengths)
