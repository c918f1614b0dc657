"""The fit of a MinMaxSolver, with the evaluations of a cycle that is not complete."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from skde.engines import Coevolution, CoevolutionSpec, MultiDeviceEngine, SplitCoevolution
from skde.engines.state.task import WORD
from skde.fit.fit import Fit
from skde.fit.phases.population import Population
from skde.minmax.engine import CoevolutionEngine
from skde.minmax.incomplete_cycle import TOLD, IncompleteCycle, collect_told
from skde.minmax.objective import MinMaxObjective
from skde.minmax.partial_request import PartialRequest
from skde.stopping import RUNNING
from skde.typing import FloatArray, IntArray
from skde.utils.serialization import Layout, entry


class IncompleteCycles:
    """The incomplete cycles of all runs, in consecutive parts, one for each device.

    Parameters
    ----------
    parts : list of IncompleteCycle
        The parts.

    Attributes
    ----------
    evals : ndarray of shape (R,)
        The evaluations of every run in its cycle.
    """

    def __init__(self, parts: list[IncompleteCycle]) -> None:
        self.parts = parts
        self.evals: IntArray = np.concatenate([part.evals for part in parts])

    def replace_worse(self, points: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return incumbents and their values, with the best pair known of a run without a complete cycle."""
        ends = np.cumsum([len(part.evals) for part in self.parts])[:-1]
        own = zip(self.parts, np.split(points, ends), np.split(values, ends), strict=True)
        found = [part.replace_worse(x, value) for part, x, value in own]
        return np.concatenate([x for x, _ in found]), np.concatenate([value for _, value in found])


class Incumbents(Population):
    """The incumbents of all runs, one for each."""

    starts_small = False  # incumbents do not tell how large the populations are

    def judge_again(self, changed: list[int]) -> None:
        """Let the runs continue that a changed rule ended: they are judged at the end of a cycle alone."""
        progress = self.batch.progress()
        progress["status"][np.isin(progress["status"], changed)] = RUNNING
        self.put_status(self.settle(progress)["status"])


class MinMaxFit(Fit):
    """The fit of incumbents, with the values of cycles that are not complete."""

    @property
    def parts(self) -> list[tuple[CoevolutionEngine, Coevolution]]:
        """The engine and the state of every device."""
        if isinstance(self.engine, MultiDeviceEngine):
            return list(zip(self.engine.engines, cast(SplitCoevolution, self.batch).parts, strict=True))
        return [(cast(Any, self.engine), cast(Coevolution, self.batch))]

    def end_at_target(self, target: float) -> None:
        """Leave the runs as they are: they are judged at the end of a cycle alone."""

    @property
    def cycles(self) -> IncompleteCycles:
        """The incomplete cycles of all runs."""
        return IncompleteCycles([IncompleteCycle(batch, engine.requests, self.rules) for engine, batch in self.parts])

    @property
    def incomplete(self) -> list[Any]:
        """The evaluations of the cycles that are not complete."""
        found = self.cycles
        return [found] if found.evals.any() else []

    def state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the state for a file, with the values of incomplete cycles."""
        header, arrays = super().state()
        first_run = 0
        told: dict[str, list[Any]] = {name: [] for name in TOLD}
        for part in self.cycles.parts:
            for name, found in collect_told(part, first_run).items():
                told[name] += found
            first_run += len(part.evals)
        return header, arrays | {name: np.concatenate(found) for name, found in told.items() if found}

    def restore_told(self, arrays: dict[str, Any], objective: MinMaxObjective) -> None:
        """Set the values of incomplete cycles from a file.

        Raises
        ------
        ValueError
            With the entry's name, for rows that no incomplete cycle has.
        """
        with entry("told_rows"):
            if len({len(arrays[name]) for name in TOLD if name in arrays}) > 1:
                raise ValueError("there must be as many rows, runs and values")
        first_run, n_told = 0, 0
        for engine, batch in self.parts:
            n_told += restore_requests(engine, batch, arrays, first_run, objective)
            first_run += batch.n_runs
        with entry("told_rows"):
            if n_told < len(arrays.get("told_rows", ())):
                raise ValueError("the rows must be different, and rows of requests of runs that have not ended")


def restore_requests(
    engine: CoevolutionEngine, batch: Coevolution, arrays: dict[str, Any], first_run: int, objective: MinMaxObjective
) -> int:
    """Make the requests that the runs of a device are at, set the values of a file, and return how many were set."""
    incomplete, running = IncompleteCycle(batch, [], None), batch.host("status") == RUNNING
    own = arrays["told_runs"] - first_run if "told_runs" in arrays else np.zeros(0, np.int64)
    begun = (incomplete.evals > 0) | np.isin(np.arange(batch.n_runs), own)
    waiting = running & (begun | (batch.host("generation") < 0))
    n_told = 0
    with engine.device_context:
        while waiting.any():
            runs = runs_alike(incomplete, waiting)
            requests = engine.cycle(batch, runs)
            request = next(requests)
            requests.close()
            waiting &= ~runs
            if request.Y is None and request.place.cycle == 0 and request.place.evals:  # the same points again
                request.before = objective.features_of(request)
            if len(own):
                n_told += set_told(request, arrays, own)
    return n_told


def runs_alike(incomplete: IncompleteCycle, waiting: Any) -> Any:
    """Return which of some runs have the progress of the first of them."""
    first = incomplete.progress[int(waiting.argmax())]
    return waiting & [one == first for one in incomplete.progress]


def set_told(request: PartialRequest, arrays: dict[str, Any], runs: IntArray) -> int:
    """Set the values of a file in a request, its runs', and return how many were set."""
    rows = arrays["told_rows"]
    own = np.flatnonzero((runs >= 0) & (runs < len(request.runs)) & (rows >= 0) & (rows < request.size))
    own = own[request.runs[runs[own]]]
    places = runs[own] * request.size + rows[own]
    request.put(places, arrays["told_values"][own])
    return len(np.unique(places))


def layout_of_requests(spec: CoevolutionSpec) -> dict[str, Layout]:
    """Return the layout of the values of incomplete cycles."""
    shape = (None, spec.features) if spec.constraints else (None,)
    layouts = Layout((None,), WORD), Layout((None,), WORD), Layout(shape, spec.incumbents.dtype)
    return dict(zip(TOLD, layouts, strict=True))
