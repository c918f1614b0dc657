"""The state of a fit: one batch on one engine, its progress, and the steps of its generations."""

from __future__ import annotations

import warnings
from typing import Any, cast

import numpy as np

from skde.engines import Batch, DeviceEngine, Engine, Runs
from skde.engines.single_generations import StatusPoll
from skde.fit.earlier_search import EarlierSearch
from skde.fit.known_values import KnownValues
from skde.fit.ledger import Ledger
from skde.fit.partial_generation import PartialGeneration
from skde.fit.run_results import Rules, best_points, run_results
from skde.recorder import Recorder
from skde.result import RunResult, missing_value
from skde.stopping import HELD, LIMIT, RUNNING, Status, StoppingRules
from skde.typing import Array, FloatArray, IntArray

# Most components of all initial populations for a first engine call of several generations.
FEW_COMPONENTS = 10_000
TARGET = int(Status.TARGET)
BY_RULE = (TARGET, int(Status.CONVERGED), int(Status.STAGNATED))  # the status by target, tol and stagnation


class Runner:
    """One batch on one engine; `skde.fit.execution` runs it, `skde.fit.ask_tell` lets a user evaluate its trials.

    Parameters
    ----------
    engine : Engine
        The engine that runs the batch.
    spec : Spec
        The batch's specification, in the form that the engine's `batch` takes.
    ledger : Ledger or None, default None
        The account of the phases before; None: this is the first one.

    Attributes
    ----------
    generation : int
        The last generation that all running runs have done; -1: none.
    last : int
        The largest of the runs' last generations.
    rules : FeasibilityRules, StoredOutcomes or None
        The meaning of the values, where there are constraints.
    ledger : Ledger
        The account of all phases of the fit.
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
    known : KnownValues or None
        The values of a discrete space.
    remembers : bool
        Whether they are used: they are not for a noisy function.
    recorder : Recorder or None
        Is told all evaluations.
    judged : bool
        Whether the stopping rules have been checked at the end of the last generation; else the next step does it.
    warned : bool
        Whether a warning has said that no evaluation has given a value.
    """

    def __init__(self, engine: Engine, spec: Any, ledger: Ledger | None = None) -> None:
        self.engine = engine
        self.batch: Runs = engine.batch(spec)
        self.generation = -1
        self.last = int(self.batch.spec.limits.max())
        self.rules: Rules | None = None
        self.ledger = Ledger(self.batch.n_runs // self.batch.n_islands) if ledger is None else ledger
        self.ending = Status.RUNNING
        self.status_poll, self.seen_done = StatusPoll(self.batch), False
        self.uneven = False
        self.has_trials, self.judged, self.warned = False, True, False
        self.asked: Array | None = None
        self.partial: PartialGeneration | None = None
        self.kept: list[PartialGeneration] = []
        self.recorder: Recorder | None = None
        self.known: KnownValues | None = None
        self.remembers = False
        self._results: tuple[Any, list[RunResult]] | None = None

    @property
    def on_device(self) -> tuple[DeviceEngine, Batch]:
        """Engine and batch of a fit on one device."""
        return cast(DeviceEngine, self.engine), cast(Batch, self.batch)

    # -- progress ------------------------------------------------------------------------------------------------------

    @property
    def seconds(self) -> float:
        """Running time so far."""
        return self.ledger.timer.seconds

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
        """Every run's status, of shape (R,)."""
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

    def set_rules(self, rules: StoppingRules) -> None:
        """Set the stopping rules that the kernels check. Runs that only a rule ended that has changed continue."""
        spec = self.batch.spec
        before = spec.target, (spec.tol, spec.atol), spec.stagnation
        now = rules.target, (rules.tol, rules.atol), rules.stagnation
        spec.target, spec.tol, spec.atol, spec.stagnation = rules
        self.batch.refresh()
        changed = [status for status, old, new in zip(BY_RULE, before, now, strict=True) if old != new]
        if changed or not self.judged:  # the earlier rules may not have needed the best of the last generation
            self.batch.find_bests()
        if not changed:
            return
        if before[2] is None and rules.stagnation is not None:
            self.begin_stagnation()
        self.judge_again(changed)

    def begin_stagnation(self) -> None:
        """Let the count of generations without a better best begin at the last one: it is kept with the rule only."""
        state = self.batch.state()
        state["record"][...] = np.inf
        state["since"][...] = np.maximum(self.batch.host("generation"), 0)
        self.batch.restore(state)

    def judge_again(self, changed: list[int]) -> None:
        """Check the stopping rules at the last generation of all runs but those that a rule ended as it is now."""
        status, generation = self.batch.host("status"), self.batch.host("generation")
        status[np.isin(status, [*changed, LIMIT])] = RUNNING
        if self.ledger.earlier is not None:
            self.ledger.earlier.reopen(changed)
        self.put_status(status)
        for last in np.unique(generation[(status == RUNNING) & (generation >= 0)]).tolist():
            self.engine.judge(self.batch, last)
        self.judged = True
        status = self.status
        if TARGET in changed and self.batch.spec.target is not None:  # a polish or an earlier search may have met it
            status[np.repeat(self.best_points()[1] <= self.batch.spec.target, self.batch.n_islands)] = TARGET
        self.put_status(status)

    def set_limits(self, limits: Any) -> None:
        """Set the last generations. Runs that ended only by a limit continue."""
        self.batch.set_limits(limits)
        self.last = int(limits.max())
        status, generation = self.batch.host("status"), self.batch.host("generation")
        status[(status == LIMIT) & (generation < limits) | (status == HELD)] = RUNNING
        self.put_status(status)

    def put_status(self, status: IntArray) -> None:
        """Write the status of the runs, of which those that are running continue."""
        self.batch.put("status", status)
        self.ending, self.status_poll, self.seen_done = Status.RUNNING, StatusPoll(self.batch), False
        self._results = None
        self.locate()

    def restart(self, limits: Any) -> None:
        """Let all runs continue from their last generations, with new limits and a new count of max_time."""
        self.ledger.begin_limits(self.own_evals)
        self.batch.put("status", np.full(self.batch.n_runs, RUNNING))
        self.set_limits(limits)

    def leave_ended(self, earlier: EarlierSearch) -> None:
        """Let the runs that ended for good in an earlier search have no generation here."""
        if earlier.ended.any():
            rows = np.repeat(earlier.ended, self.batch.n_islands)
            state = self.batch.state()
            for name, values in (("status", earlier.status), ("x", earlier.points[:, None, :])):
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

    @property
    def rows_per_population(self) -> int:
        """The rows of every population among the trials of the next generation, as users see them."""
        return self.rows_at(self.generation + 1)

    def rows_at(self, generation: int) -> int:
        """Return the rows of every population among the trials of a generation, as users see them."""
        return int(self.batch.sizes(generation).max()) if self.batch.varies else self.batch.pop_max

    @property
    def first_id(self) -> int:
        """The id of the first trial of the next generation."""
        # The population of an earlier search had the same size in all generations.
        earlier = self.ledger.earlier
        before = 0 if earlier is None else int(earlier.n_trials.max()) * len(earlier.n_trials)
        return before + (self.generation + 1) * self.batch.n_runs * self.batch.pop_max

    @property
    def sizes(self) -> IntArray:
        """The size of every run's next generation, of shape (R,)."""
        return self.batch.sizes(self.generation + 1)

    def end_exhausted(self) -> None:
        """End the runs that know every point of the space."""
        if self.known is not None and self.remembers and (ended := self.known.exhausted).any():
            self.judge()  # a target comes first
            status = self.batch.host("status")
            going = (status == RUNNING) | (status == LIMIT)
            status[np.repeat(ended, self.batch.n_islands) & going] = int(Status.CONVERGED)
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
        if self.partial is not None and self.partial.runs is None and len(self.partial.told_rows):
            self.kept.append(self.partial)
        self.has_trials, self.asked, self.partial = False, None, None

    @property
    def begun(self) -> bool:
        """Whether the next generation may have values already."""
        return self.partial is not None or any(kept.generation == self.generation + 1 for kept in self.kept)

    @property
    def incomplete(self) -> list[PartialGeneration]:
        """The generations that have a part of their values."""
        found = self.kept if self.partial is None or self.partial.runs is not None else [*self.kept, self.partial]
        return [one for one in found if one.generation > self.generation and one.evals.any()]

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

    @property
    def starts_small(self) -> bool:
        """Whether the initial populations are so small that they need not be made alone."""
        spec = self.batch.spec
        return spec.recorded and self.batch.n_runs * self.batch.pop_max * self.batch.dim <= FEW_COMPONENTS

    # -- saved state ---------------------------------------------------------------------------------------------------

    def state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return time and ending for a file's header; seeds, limits, marks and the batch's state as arrays.

        With the points and values of evaluations after the last generation. Those of an incomplete generation are in
        `begun_generations.pack_told`.
        """
        self.judge()
        spec = self.batch.spec
        header = {"seconds": self.seconds, "ending": int(self.ending)}
        arrays = {
            "seeds": spec.seeds,
            "limits": spec.limits,
            **self.ledger.state(),
            **self.batch.state(),
            **({} if self.known is None else self.known.state(spec.dtype)),
        }
        return header, arrays

    def restore(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Continue from what `state` returned, checked by `check_runner_state`; the seeds are those of the Spec."""
        self.batch.restore(arrays)
        self.ledger.restore(float(header["seconds"]), arrays)
        self.known = KnownValues.from_state(self.batch.spec.variables, len(self.ledger.before), arrays)
        self.remembers = self.known is not None
        self.set_limits(arrays["limits"])
        self.ending = Status(header["ending"])

    # -- results -------------------------------------------------------------------------------------------------------

    @property
    def has_results(self) -> bool:
        """Whether a point has been evaluated."""
        return self.generation >= 0 or self.ledger.earlier is not None or bool(self.incomplete)

    def results(self) -> list[RunResult]:
        """Return every run's result so far."""
        final = self.ledger.final
        evals = int(final.n_evals.sum()) + int(self.incomplete_evals.sum())
        state = (self.generation, self.ending, self.seconds, final.values is None, final.rounds is None, evals)
        if self._results is None or self._results[0] != state:
            engine, batch, rules = self.engine, self.batch, self.rules
            found = self.ledger, self.incomplete, self.known
            self._results = state, run_results(engine, batch, rules, self.progress, self.ending, *found)
        return self._results[1]

    def warn_without_value(self) -> None:
        """Warn, once, where no evaluation of any run has given a value.

        Results under constraints are made here: the constraints' functions may not work any more when they are read.
        """
        results = self.results()
        if not self.warned and (text := missing_value(results)):
            self.warned = True
            warnings.warn(text, RuntimeWarning, stacklevel=4)

    def best_points(self) -> tuple[FloatArray, FloatArray]:
        """Return every run's best point of the box, also polished or of an earlier search, and its value."""
        generation, found = self.batch.host("generation"), (self.ledger.earlier, *self.incomplete, self.ledger.polish)
        index, value = self.batch.best(generation)
        _, points, codes = best_points(self.batch, generation, index, value, found)
        return points, codes

    def population(self, run: int) -> tuple[FloatArray, FloatArray]:
        """Return the last population of a run as points of the box, that of all its islands, and its values."""
        islands = range(run * self.batch.n_islands, (run + 1) * self.batch.n_islands)
        earlier = self.ledger.earlier
        if earlier is not None and earlier.ended[run]:
            points, values = earlier.population(run)
            return points.astype(self.batch.spec.dtype), values.astype(self.batch.spec.dtype)
        x, f = zip(*(self.batch.population(island) for island in islands), strict=True)
        return np.concatenate(x), np.concatenate(f)

    @property
    def n_iter(self) -> IntArray:
        """The last generation of every run, those of an earlier search before it; -1: none."""
        last: IntArray = self.by_run(self.batch.host("generation")).max(axis=1)
        return last + self.ledger.n_iter

    @property
    def own_evals(self) -> IntArray:
        """Evaluations of every run in the generations of this search, one that is not complete included."""
        evals: IntArray = self.by_run(self.batch.evals(self.batch.host("generation"))).sum(axis=1)
        return evals + self.incomplete_evals - (0 if self.known is None else self.known.repeated)

    @property
    def n_evals(self) -> IntArray:
        """Evaluations of every run in all searches, of populations and local ones."""
        return self.own_evals + self.ledger.search_evals

    @property
    def incomplete_evals(self) -> IntArray:
        """Evaluations of every run in a generation that is not complete."""
        evals = np.zeros_like(self.ledger.before)
        for one in self.incomplete:
            evals += self.by_run(one.evals).sum(axis=1)
        return evals

    @property
    def limited_evals(self) -> IntArray:
        """Evaluations of every run within the present limits, all of them together."""
        return self.own_evals + self.ledger.n_evals - self.ledger.before

    def by_run(self, values: Any) -> Any:
        """Return values of the populations by run and island, of shape (n_runs, n_islands)."""
        return values.reshape(-1, self.batch.n_islands)

    def outcomes(self) -> FloatArray:
        """Return value, largest violation and violation of every run's best point, as `StoredOutcomes` takes them."""
        if not self.has_results:
            return np.full((self.batch.n_runs // self.batch.n_islands, 3), np.inf)
        return np.array([(run.fun, run.max_violation, run.violation) for run in self.results()])
