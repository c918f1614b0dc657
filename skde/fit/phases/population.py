"""A population on an engine: its progress, and the steps of its generations."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from skde.engines import Batch, DeviceEngine, Engine, Runs
from skde.engines.single_generations import StatusPoll
from skde.fit.partial_generation import PartialGeneration
from skde.stopping import HELD, LIMIT, RUNNING, Status, StoppingRules
from skde.typing import Array, FloatArray, IntArray

# Most components of all initial populations for a first engine call of several generations.
FEW_COMPONENTS = 10_000
BY_RULE = (int(Status.TARGET), int(Status.CONVERGED), int(Status.STAGNATED))  # by target, tol and stagnation


class Population:
    """The populations of all runs, in one batch on one engine.

    Parameters
    ----------
    engine : Engine
        The engine that runs the batch.
    spec : Spec
        The batch's specification, in the form that the engine's `batch` takes.

    Attributes
    ----------
    generation : int
        The last generation that all running runs have done; -1: none.
    last : int
        The largest of the runs' last generations.
    ending : Status
        The status that the host gives to runs that are still running.
    status_poll : StatusPoll
        The status of the runs as last read from the device.
    seen_done : bool
        Whether `poll_done` has seen the end of all runs.
    uneven : bool
        Whether running runs are at different generations.
    has_trials : bool
        Whether the batch holds the trials of the next generation.
    asked : array or None
        The copy of these trials that a user has been given and not yet evaluated.
    partial : PartialGeneration or None
        These trials with the values known so far, where they get them in parts.
    kept : list of PartialGeneration
        Such trials before an interruption, which will be made again; of several generations, where runs are at
        different ones.
    judged : bool
        Whether the stopping rules have been checked at the end of the last generation; else the next step does it.
    n_changes : int
        How often the status was written from outside.
    """

    def __init__(self, engine: Engine, spec: Any) -> None:
        self.engine = engine
        self.batch: Runs = engine.batch(spec)
        self.generation = -1
        self.last = int(self.batch.spec.limits.max())
        self.ending = Status.RUNNING
        self.status_poll, self.seen_done = StatusPoll(self.batch), False
        self.uneven = False
        self.has_trials, self.judged = False, True
        self.asked: Array | None = None
        self.partial: PartialGeneration | None = None
        self.kept: list[PartialGeneration] = []
        self.n_changes = 0

    @property
    def on_device(self) -> tuple[DeviceEngine, Batch]:
        """Engine and batch of a fit on one device."""
        return cast(DeviceEngine, self.engine), cast(Batch, self.batch)

    @property
    def n_runs(self) -> int:
        """Runs of the fit, with all islands of each."""
        return self.batch.n_runs // self.batch.n_islands

    # -- progress ------------------------------------------------------------------------------------------------------

    @property
    def progress(self) -> dict[str, Any]:
        """Status, generation and seconds of every run, as NumPy arrays."""
        self.judge()
        return self.settle(self.batch.progress())

    def settle(self, progress: dict[str, Any]) -> dict[str, Any]:
        """Return the progress of the batch, as it was read, with the status at the end of a generation."""
        status = progress["status"]
        status[status == HELD] = RUNNING
        # A limit may have been set below the generation that a run is at.
        status[(status == RUNNING) & (progress["generation"] >= self.batch.spec.limits)] = LIMIT
        return progress

    @property
    def status(self) -> Any:
        """Every population's status, of shape (R,)."""
        return self.progress["status"]

    @property
    def done(self) -> bool:
        """Whether no run is running."""
        return RUNNING not in self.status

    def judge(self) -> None:
        """Check the stopping rules at the end of the last generation, where that has not been done."""
        if not self.judged:
            self.engine.judge(self.batch, self.generation)
            self.judged = True

    def poll_done(self) -> bool:
        """Return whether no run is running, by the status of the last poll; exact where a limit is reached."""
        if self.status_poll.poll(force=self.generation >= self.last):
            ended = np.count_nonzero(self.status_poll.status) == self.batch.n_runs and not self.uneven
            self.seen_done = ended or (self.generation >= self.last and self.done)
        return self.seen_done

    @property
    def begun(self) -> bool:
        """Whether the next generation may have values already."""
        return self.partial is not None or any(kept.generation == self.generation + 1 for kept in self.kept)

    @property
    def incomplete(self) -> list[Any]:
        """The generations that have a part of their values."""
        found = self.kept if self.partial is None else [*self.kept, self.partial]
        return [one for one in found if one.generation > self.generation and one.evals.any()]

    @property
    def starts_small(self) -> bool:
        """Whether the initial populations are so small that they need not be made alone."""
        spec = self.batch.spec
        return spec.recorded and self.batch.n_runs * self.batch.pop_max * self.batch.dim <= FEW_COMPONENTS

    @property
    def rows_per_population(self) -> int:
        """The rows of every population among the trials of the next generation, as users see them."""
        return self.rows_at(self.generation + 1)

    def rows_at(self, generation: int) -> int:
        """Return the rows of every population among the trials of a generation, as users see them."""
        return int(self.batch.sizes(generation).max()) if self.batch.varies else self.batch.pop_max

    @property
    def sizes(self) -> IntArray:
        """The size of every population's next generation, of shape (R,)."""
        return self.batch.sizes(self.generation + 1)

    @property
    def last_generations(self) -> IntArray:
        """The last generation of every run; -1: none."""
        last: IntArray = self.by_run(self.batch.host("generation")).max(axis=1)
        return last

    @property
    def evals(self) -> IntArray:
        """Trials of every run in complete generations."""
        evals: IntArray = self.by_run(self.batch.evals(self.batch.host("generation"))).sum(axis=1)
        return evals

    def by_run(self, values: Any) -> Any:
        """Return values of the populations by run and island, of shape (n_runs, n_islands)."""
        return values.reshape(-1, self.batch.n_islands)

    def members(self, run: int) -> tuple[FloatArray, FloatArray]:
        """Return the last population of a run as points of the box, that of all its islands, and its values."""
        islands = range(run * self.batch.n_islands, (run + 1) * self.batch.n_islands)
        x, f = zip(*(self.batch.population(island) for island in islands), strict=True)
        return np.concatenate(x), np.concatenate(f)

    # -- limits and rules ----------------------------------------------------------------------------------------------

    def replace_rules(self, rules: StoppingRules) -> list[int]:
        """Set the stopping rules that the kernels check, and return the status by those that have changed."""
        spec = self.batch.spec
        before = spec.target, (spec.tol, spec.atol), spec.stagnation
        now = rules.target, (rules.tol, rules.atol), rules.stagnation
        spec.target, spec.tol, spec.atol, spec.stagnation = rules
        self.batch.refresh()
        changed = [status for status, old, new in zip(BY_RULE, before, now, strict=True) if old != new]
        if changed or not self.judged:  # the earlier rules may not have needed the best of the last generation
            self.batch.find_bests()
        if changed and before[2] is None and rules.stagnation is not None:
            self._begin_stagnation()
        return changed

    def _begin_stagnation(self) -> None:
        """Let the count of generations without a better best begin at the last one: it is kept with the rule only."""
        state = self.batch.state()
        state["record"][...] = np.inf
        state["since"][...] = np.maximum(self.batch.host("generation"), 0)
        self.batch.restore(state)

    def judge_again(self, changed: list[int]) -> None:
        """Check the stopping rules at the last generation of all runs but those that a rule ended as it is now."""
        status, generation = self.batch.host("status"), self.batch.host("generation")
        status[np.isin(status, [*changed, LIMIT])] = RUNNING
        self.put_status(status)
        for last in np.unique(generation[(status == RUNNING) & (generation >= 0)]).tolist():
            self.engine.judge(self.batch, last)
        self.judged = True
        self.put_status(self.status)

    def set_limits(self, limits: Any) -> None:
        """Set the last generations. Runs that ended only by a limit continue."""
        self.batch.set_limits(limits)
        self.last = int(limits.max())
        status, generation = self.batch.host("status"), self.batch.host("generation")
        status[(status == LIMIT) & (generation < limits) | (status == HELD)] = RUNNING
        self.put_status(status)

    def restart(self, limits: Any) -> None:
        """Let all runs continue from their last generations, with new limits."""
        self.batch.put("status", np.full(self.batch.n_runs, RUNNING))
        self.set_limits(limits)

    def put_status(self, status: IntArray) -> None:
        """Write the status of the runs; those that are running continue."""
        self.batch.put("status", status)
        self.ending, self.status_poll, self.seen_done = Status.RUNNING, StatusPoll(self.batch), False
        self.n_changes += 1
        self.locate()

    def end(self, runs: Any) -> None:
        """Let some runs that go on, or have reached a limit, end as converged."""
        self.judge()  # a target comes first
        status = self.batch.host("status")
        going = (status == RUNNING) | (status == LIMIT)
        status[np.repeat(runs, self.batch.n_islands) & going] = int(Status.CONVERGED)
        self.batch.put("status", status)
        self.status_poll = StatusPoll(self.batch)
        self.n_changes += 1

    def leave_out(self, runs: Any, status: IntArray, points: FloatArray) -> None:
        """Let some runs have no generation, but this status and point, one of every run."""
        if runs.any():
            rows = np.repeat(runs, self.batch.n_islands)
            state = self.batch.state()
            for name, values in (("status", status), ("x", points[:, None, :])):
                state[name][rows] = np.repeat(values, self.batch.n_islands, axis=0)[rows]
            self.batch.restore(state)

    def locate(self) -> None:
        """Read from the batch which generation the runs are at."""
        status, generation = self.batch.host("status"), self.batch.host("generation")
        running = generation[(status == RUNNING) | (status == HELD)]
        self.generation = int(running.min()) if len(running) else int(generation.max())
        self.uneven = len(set(running.tolist())) > 1
        self.drop_trials()

    def hold_runs_ahead(self) -> None:
        """Let only the runs at the lowest generation continue: a step makes the same generation for all its runs.

        Runs are at different generations where limits ended them and were then raised.
        """
        status, generation = self.batch.host("status"), self.batch.host("generation")
        running = (status == RUNNING) | (status == HELD)
        if not running.any():
            return
        self.generation = int(generation[running].min())
        behind = running & (generation == self.generation)
        self.uneven = bool((running & ~behind).any())
        status[running] = np.where(behind[running], RUNNING, HELD)
        self.batch.put("status", status)
        self.status_poll = StatusPoll(self.batch)

    # -- steps of a generation ----------------------------------------------------------------------------------------

    def propose(self) -> None:
        """Make the trials of the next generation in the batch."""
        while True:
            if self.uneven:
                self.hold_runs_ahead()
            self.engine.propose(self.batch, self.generation + 1)
            # The runs at the lowest generation may all have ended just now: then other runs continue, and need trials.
            if not self.uneven or (self.batch.host("status") == RUNNING).any():
                break
        self.has_trials, self.judged = True, True

    def drop_trials(self) -> None:
        """Forget the trials of the next generation, which can be made again; their values are kept."""
        if self.partial is not None and len(self.partial.told_rows):
            self.kept.append(self.partial)
        self.has_trials, self.asked, self.partial = False, None, None

    def accept(self, trials: Array | None, f: Array) -> None:
        """Select by the trials' values, of shape (R, P) or flattened."""
        self.drop_trials()
        self.judged = False
        self.engine.accept(self.batch, self.generation + 1, trials, f)
        # After an exception between these two lines the generation is made again, with the same result.
        self.end_generation()

    def end_generation(self) -> None:
        """Count a generation that is complete."""
        self.generation += 1
        if self.kept:
            self.kept = [kept for kept in self.kept if kept.generation > self.generation]

    # -- saved state ---------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return the arrays of a file; those of incomplete generations are in `begun_generations.pack_told`."""
        self.judge()
        return {"seeds": self.batch.spec.seeds, "limits": self.batch.spec.limits, **self.batch.state()}

    def restore(self, ending: Status, arrays: dict[str, Any]) -> None:
        """Continue from what `state` returned, checked; the seeds are those of the Spec."""
        self.batch.restore(arrays)
        self.set_limits(arrays["limits"])
        self.ending = ending
