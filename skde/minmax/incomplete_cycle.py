"""The part of a cycle that is evaluated before its end, and the best pair of an incomplete first cycle."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from skde.engines.state.coevolution import POINTS, Coevolution, Phase
from skde.minmax.partial_request import PartialRequest, RequestPlace
from skde.objectives.feasibility import feasibility_codes
from skde.problems.constraints import total_violation
from skde.typing import FloatArray, IntArray
from skde.utils.arrays import to_numpy

TOLD = ("told_runs", "told_rows", "told_values")  # the arrays of a file


class RestOfPhase(NamedTuple):
    """The rest of a phase of a cycle.

    Attributes
    ----------
    phase : Phase
        The phase.
    first : int
        The first generation that is left.
    asks : bool
        Whether every generation has a request.
    """

    phase: Phase
    first: int
    asks: bool


class CycleProgress(NamedTuple):
    """How much of a run is done: its last cycle, the generations of the sides, and the last cycle of `met`."""

    cycle: int
    x: int
    y: int
    met: int


def progress_of(batch: Coevolution) -> list[CycleProgress]:
    """Return the progress of every run."""
    numbers = [side.host("generation") for side in (batch, batch.x, batch.y)]
    return [
        CycleProgress(*own) for own in zip(*(array.tolist() for array in (*numbers, batch.y.host("met"))), strict=True)
    ]


def rest_of_cycle(batch: Coevolution, progress: CycleProgress) -> list[RestOfPhase]:
    """Return the rest of the cycle that a run with this progress is in."""
    done = {"x": progress.x, "y": progress.y}
    rest, asked = [], False
    for phase in batch.phases(progress.cycle + 1, progress.met >= progress.cycle + 1):
        first = done[phase.side] + 1 if phase.evolves else phase.generation
        asks = phase.x != POINTS["NONE"] and not (asked and phase.repeated)
        asked = asked or (asks and first <= phase.generation)
        rest.append(RestOfPhase(phase, first, asks))
    return rest


def request_evals(batch: Coevolution, phase: Phase, c: int) -> int:
    """Return the evaluations of a run in one request of a phase of cycle c."""
    n = batch.x.pop_max + (phase.x == POINTS["POPULATION_AND_INCUMBENT"])
    if phase.y == POINTS["NONE"]:
        return n
    if phase.y == POINTS["OPPONENTS"]:
        return n * (batch.opponents + min(c, batch.coevolution_spec.archive))
    return n * batch.opponents


def evals_within(batch: Coevolution, progress: CycleProgress) -> int:
    """Return the evaluations of complete requests in the cycle that a run with this progress is in."""
    c, schedule = progress.cycle + 1, batch.spec.schedules[0]
    rest = sum(
        (one.phase.generation - one.first + 1) * request_evals(batch, one.phase, c)
        for one in rest_of_cycle(batch, progress)
        if one.asks and one.first <= one.phase.generation
    )
    return schedule.evals(c) - schedule.evals(c - 1) - rest


class IncompleteCycle:
    """The evaluations of every run after its last cycle, and their best pair where that is the first.

    Parameters
    ----------
    batch : Coevolution
        The state of the runs.
    requests : list of PartialRequest
        The requests with values.
    rules : object or None
        The feasibility rules of a constrained problem.

    Attributes
    ----------
    evals : ndarray of shape (R,)
        The evaluations.
    """

    def __init__(self, batch: Coevolution, requests: list[PartialRequest], rules: Any) -> None:
        self.batch, self.rules = batch, rules
        self.progress = progress_of(batch)
        done = {one: evals_within(batch, one) for one in set(self.progress)}
        self.places = [RequestPlace(one.cycle + 1, done[one]) for one in self.progress]
        self.requests = [self._find_request(requests, r) for r in range(batch.n_runs)]
        own = [0 if one is None else int(one.evals[r]) for r, one in enumerate(self.requests)]
        self.evals: IntArray = np.array([place.evals for place in self.places], np.int64) + own

    def _find_request(self, requests: list[PartialRequest], r: int) -> PartialRequest | None:
        """Return the request that a run is at."""
        found = [one for one in requests if one.place == self.places[r] and one.needed[r * one.size]]
        return max(found, key=lambda one: int(one.evals[r]), default=None)

    def replace_worse(self, points: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return incumbents and their values, with the best pair known of a run without a complete cycle."""
        points, values = points.copy(), values.copy()
        box = np.array([self.batch.spec.lower, self.batch.spec.upper])
        for r, request in enumerate(self.requests):
            if self.progress[r].cycle >= 0:
                continue
            values[r] = np.nan
            if request is not None:
                points[r], values[r] = self._best_pair(request, r)
            points[r] = np.clip(points[r], *box)
        return points, values

    def _best_pair(self, request: PartialRequest, r: int) -> tuple[FloatArray, float]:
        """Return the best x with its strongest opponent so far, and the value; the first pair and NaN without one."""
        rows = slice(r * request.size, (r + 1) * request.size)
        known, values = request.has_value[rows], to_numpy(request.values[rows]).astype(np.float64)
        x = to_numpy(request.X[r]).astype(np.float64)
        if request.Y is None:
            if request.before is not None:
                values = np.where(known[:, None], values, to_numpy(request.before[rows]))
                known = np.ones_like(known)
            best, value = best_point(values, known, self.rules)
            return np.concatenate([x[best], np.zeros(self.batch.dim - x.shape[1])]), value
        best, opponent, value = best_pair(values.reshape(request.shape[1:]), known.reshape(request.shape[1:]))
        return np.concatenate([x[best], to_numpy(request.Y[r])[opponent]]), value


def best_pair(values: FloatArray, known: Any) -> tuple[int, int, float]:
    """Return the best row of a matrix, its strongest column and its value, NaN where no value is known.

    Only rows with the most known values are compared. A NaN that is known counts as infinity.
    """
    n_known = known.sum(axis=1)
    if not n_known.any():
        return 0, 0, np.nan
    worst = np.where(known, np.where(np.isnan(values), np.inf, values), -np.inf)
    rows = np.flatnonzero(n_known == n_known.max())
    best = int(rows[worst[rows].max(axis=1).argmin()])
    opponent = int(worst[best].argmax())
    return best, opponent, float(worst[best, opponent])


def best_point(features: FloatArray, known: Any, rules: Any) -> tuple[int, float]:
    """Return the best of points by the feasibility rules, and its code, NaN where no features are known."""
    if not known.any():
        return 0, np.nan
    violation = total_violation(features[:, 1:], rules.problem.n_inequalities, rules.tolerance)
    codes = np.where(known, feasibility_codes(features[:, 0], violation), np.inf)
    best = int(codes.argmin())
    return best, float(codes[best])


def collect_told(cycle: IncompleteCycle, first_run: int) -> dict[str, list[Any]]:
    """Return the values of incomplete requests for a file: their runs, rows within a run, and values."""
    arrays: dict[str, list[Any]] = {name: [] for name in TOLD}
    for r, request in enumerate(cycle.requests):
        if request is not None and len(rows := request.find_told_rows(r)):
            values = to_numpy(request.values[r * request.size : (r + 1) * request.size])[rows]
            for name, own in zip(TOLD, (np.full(len(rows), first_run + r), rows, values), strict=True):
                arrays[name].append(own)
    return arrays
