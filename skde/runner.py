"""Drives one batch on one engine until every run has ended: the loop behind fit, and the halves behind ask and tell."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from skde.engines import Batch, DeviceEngine, Engine, RecordingEngine, Runs, SharingEngine, Spec
from skde.engines.batch import best_of, sampled_generations
from skde.engines.stepping import Evaluation, StatusPoll
from skde.interrupts import interrupts
from skde.objectives.feasibility import WORST, FeasibilityRules, Outcome, StoredOutcomes, values_of_codes
from skde.objectives.objective import Objective
from skde.result import History, RunResult
from skde.stopping import UNLIMITED, Status
from skde.typing import Array, FloatArray, IntArray

SLOWEST_GROWTH = 8
# Of runs with clocks of their own. At the end of every slice all wait for the slowest: up to an iteration, which takes
# scatter search a hundredth of a second. A GPU with a screen ends kernels that take longer than two seconds.
SLICE_SECONDS = 0.25

Look = Callable[[], bool]


class Clock:
    """Seconds of running time, pauses left out, and when which generation was reached."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.before = seconds
        self.started: float | None = None
        self.marks: list[tuple[int, float]] = []

    @property
    def seconds(self) -> float:
        """Running time so far."""
        return self.before + (0.0 if self.started is None else time.perf_counter() - self.started)

    def start(self) -> None:
        """Begin, or go on after a pause."""
        self.started = time.perf_counter()

    def pause(self) -> None:
        """Stop counting."""
        self.before, self.started = self.seconds, None

    def mark(self, generation: int) -> None:
        """Note that a generation is done."""
        self.marks.append((generation, self.seconds))

    def at(self, generations: Any) -> FloatArray:
        """Return when generations were done, interpolated between the marks."""
        if not self.marks:
            return np.full(np.shape(generations), self.seconds)
        known = np.array(self.marks)
        return np.asarray(np.interp(generations, known[:, 0], known[:, 1]))


class Runner:
    """One batch on one engine.

    Parameters
    ----------
    engine : Engine
        Where it runs.
    spec : Spec
        What runs; or whatever else the engine makes a batch of.
    """

    def __init__(self, engine: Engine, spec: Any) -> None:
        self.engine = engine
        self.batch: Runs = engine.batch(spec)
        self.clock = Clock()
        self.counted_from = 0.0  # where max_time begins: at the last warm start
        self.generation = -1  # the last one that is done, of the runs that run
        self.rules: FeasibilityRules | StoredOutcomes | None = None  # where there are constraints: what the values mean
        self.ending = Status.RUNNING  # why the host ended the runs that the kernels left running
        self.proposed = False  # whether the trials of the next generation stand at their place
        self.asked: Array | None = None  # the copy of them that was handed out
        self._unjudged = False  # whether the last generation may not have been judged: a step leaves that to the next
        self._uneven = False  # whether running runs are at different generations
        self._last = int(self.batch.spec.limits.max())
        self._hearing, self._known_done = StatusPoll(self.batch), False
        self._results: tuple[Any, list[RunResult]] | None = None

    # -- progress ------------------------------------------------------------------------------------------------------

    @property
    def status(self) -> Any:
        """Every run's state, of shape (R,)."""
        self.judge()
        status = self.batch.host("status")
        status[status == Status.HELD] = Status.RUNNING
        limits = self.batch.spec.limits
        # A limit may have been set below the generation that a run is at.
        return np.where((status == 0) & (self.batch.host("generation") >= limits), int(Status.LIMIT), status)

    @property
    def done(self) -> bool:
        """Whether no run is running."""
        return bool((self.status != Status.RUNNING).all())

    def judge(self) -> None:
        """See to it that the last generation has been judged, so that a rule ends a run there or it goes on."""
        if self._unjudged:
            self.engine.judge(self.batch, self.generation)
            self._unjudged = False

    def hear(self) -> bool:
        """Return whether no run is running, as far as is known; for certain where a limit is reached."""
        if self._hearing.listen(surely=self.generation >= self._last):
            ended = np.count_nonzero(self._hearing.status) == self.batch.n_runs and not self._uneven
            self._known_done = ended or (self.generation >= self._last and self.done)
        return self._known_done

    def has_told(self) -> bool:
        """Return whether no run is running and `hear` has said so; a GPU may say it for the first time only now."""
        told = self._known_done
        return self.hear() and (told or self._hearing.exact or self.generation >= self._last)

    def set_rules(self, target: float | None, tol: float | None, stagnation: int | None) -> None:
        """Set the rules that the kernels judge by."""
        spec = self.batch.spec
        spec.target, spec.tol, spec.stagnation = target, tol, stagnation
        self.batch.refresh()

    def set_limits(self, limits: Any) -> None:
        """Set the last generations, and let runs go on that only a limit had ended."""
        self.batch.limit(limits)
        self._last = int(limits.max())
        status, generation = self.batch.host("status"), self.batch.host("generation")
        status[(status == Status.LIMIT) & (generation < limits) | (status == Status.HELD)] = Status.RUNNING
        self.batch.put("status", status)
        self.ending, self._hearing, self._known_done = Status.RUNNING, StatusPoll(self.batch), False
        self._locate()

    def _locate(self) -> None:
        """Find out which generation the runs are at."""
        status, generation = self.batch.host("status"), self.batch.host("generation")
        running = generation[(status == Status.RUNNING) | (status == Status.HELD)]
        self.generation = int(running.min()) if len(running) else int(generation.max())
        self._uneven = len(set(running.tolist())) > 1
        self.proposed, self.asked = False, None

    def _level(self) -> None:
        """Let only those runs go on that are furthest behind: a step makes one generation, the same for all its runs.

        Runs get out of step where a limit ended them at different generations and was then raised.
        """
        status, generation = self.batch.host("status"), self.batch.host("generation")
        going = (status == Status.RUNNING) | (status == Status.HELD)
        if not going.any():
            return
        self.generation = int(generation[going].min())
        behind = going & (generation == self.generation)
        self._uneven = bool((going & ~behind).any())
        status[going] = np.where(behind[going], int(Status.RUNNING), int(Status.HELD))
        self.batch.put("status", status)
        self._hearing = StatusPoll(self.batch)

    # -- fit -----------------------------------------------------------------------------------------------------------

    def fit(self, objective: Any, execution: str, max_time: float | None, look: Look | None) -> None:
        """Run until every run has ended.

        Parameters
        ----------
        objective : Objective
            What is minimised; or what an engine that shares its batch out knows to evaluate.
        execution : {"run", "step", "graph"}
            Whole generations inside the engine (compiled objectives), one after the other with the host's evaluation,
            or one recorded on the GPU and replayed.
        max_time : float or None
            Seconds of running time.
        look : callable or None
            Called whenever the host hears from the engine; true ends the fit.

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C; the results are those of the last generation that is whole, and can be gone on from.
        """
        with interrupts.fit:
            self.clock.start()
            try:
                self.judge()
                self._run(objective, execution, max_time, look)
            except BaseException as error:
                self._locate()
                if isinstance(error, KeyboardInterrupt):
                    self.ending = Status.INTERRUPTED
                raise
            finally:
                self.clock.pause()

    def _run(self, objective: Any, execution: str, max_time: float | None, look: Look | None) -> None:
        if execution == "graph":
            self._run_graph(objective, max_time, look)
        elif isinstance(self.engine, SharingEngine):
            with self.engine.share(self.batch, objective, execution):
                self._run_chunks(max_time, look, level=execution == "step")
        elif execution == "step":
            self._run_steps(objective, max_time, look)
        elif objective.compiled is None:
            raise ValueError("execution='run' needs a compiled objective: a name, a Problem or a DeviceObjective")
        else:
            engine, batch = self._one
            engine.load(batch, objective.compiled)
            if batch.spec.run_seconds is None:
                self._run_chunks(max_time, look)
            else:
                with engine.alone:
                    self._run_slices(look)

    @property
    def _one(self) -> tuple[DeviceEngine, Batch]:
        """Engine and batch, where they are those of one device."""
        return cast(DeviceEngine, self.engine), cast(Batch, self.batch)

    def _ends(self, max_time: float | None, look: Look | None) -> bool:
        if look is not None and look():
            self.ending = Status.CALLBACK
        elif max_time is not None and self.clock.seconds - self.counted_from >= max_time:
            self.ending = Status.TIME
        return self.ending != Status.RUNNING

    def _run_chunks(self, max_time: float | None, look: Look | None, level: bool = False) -> None:
        """Let the engine run some generations at a time; with `level`, all runs are to be at the same one."""
        last = self._last
        generations = 1
        while not self.done:
            if level and self._uneven:
                self._level()
                generations = 1
            until = min(self.generation + generations, last)
            before = self.clock.seconds
            self.proposed, self.asked = False, None
            self.engine.run(self.batch, self.generation, until)
            self.engine.synchronize()
            self.generation = until
            self.clock.mark(until)
            self._check_start()
            if self.done or self._ends(max_time, look):
                return
            generations = self._next_chunk(generations, self.clock.seconds - before, max_time)

    def _run_slices(self, look: Look | None) -> None:
        """Let the engine run every run for some time by its own clock: fast ones don't wait for slow ones.

        What the host does in between, such as compiling, is no run's time.
        """
        spec, until = self.batch.spec, 0  # the initial population first, to be checked
        spec.pause_seconds = 0.0
        while not self.done:
            spec.pause_seconds += SLICE_SECONDS
            self.batch.refresh()
            self.engine.run(self.batch, self.generation, until)
            self.engine.synchronize()
            self._locate()
            self._check_start()
            if look is not None and look():
                self.ending = Status.CALLBACK
                return
            until = self._last

    def _next_chunk(self, generations: int, took: float, max_time: float | None) -> int:
        """Return how many generations fill the next chunk, from how long the last ones took."""
        room = self.engine.chunk_seconds
        if max_time is not None:
            room = min(room, max_time - (self.clock.seconds - self.counted_from))
        wanted = int(generations * room / max(took, 1e-9))
        return max(1, min(wanted, SLOWEST_GROWTH * generations))

    def _run_steps(self, objective: Objective, max_time: float | None, look: Look | None) -> None:
        evaluation = Evaluation(*self._one, objective)
        while True:
            self.propose()
            before = self._hearing.time
            if self.hear():
                return
            if self._hearing.time != before and self.generation >= 0 and self._ends(max_time, look):
                return
            self.accept(None, evaluation.values(self.generation + 1, self._hearing.status))
            if self.generation < 128 or self.generation % 64 == 0:
                self.clock.mark(self.generation)

    def _run_graph(self, objective: Objective, max_time: float | None, look: Look | None) -> None:
        batch = self._one[1]
        if not isinstance(self.engine, RecordingEngine):
            raise ValueError("execution='graph' needs a GPU, and one alone: device='cuda'")
        evaluation = Evaluation(*self._one, objective)
        if batch.varies or (batch.pops != batch.pop_max).any():
            raise ValueError("execution='graph' needs the same pop_size in all runs and generations")
        last = self._last
        self.propose()
        while self.generation < 0 or self._uneven:  # the initial population is checked on the way
            self.accept(None, evaluation.values(self.generation + 1, batch.host("status")))
            self.propose()
        recording = self.engine.record(batch, self.generation, objective.values)
        generations = 1
        while not self.done and not self._ends(max_time, look):
            before = self.clock.seconds
            until = min(self.generation + generations, last)
            self.proposed, self._unjudged = False, True
            recording.replay(until - self.generation)
            generations = self._next_chunk(until - self.generation, self.clock.seconds - before, max_time)
            self.generation = until
            self.clock.mark(until)
            self.propose()
            self.engine.synchronize()

    @property
    def sizes(self) -> IntArray:
        """The size of every run's next generation, of shape (R,)."""
        return self.batch.sizes(self.generation + 1)

    def _check_start(self) -> None:
        """After the initial population: at least one number among the values."""
        if self.generation != 0:
            return
        if self.batch.is_blank():
            raise ValueError("the objective is NaN for every point of the initial population: nothing to compare")
        if self.rules is not None and (self.batch.best()[1] >= WORST).all():
            raise ValueError(
                "the objective or a constraint is NaN or infinite for every point of the initial population: "
                "nothing to compare"
            )

    # -- ask and tell --------------------------------------------------------------------------------------------------

    def propose(self) -> None:
        """Make the trials of the next generation at their place."""
        while True:
            if self._uneven:
                self._level()
            self.engine.propose(self.batch, self.generation + 1)
            # Where all that are behind have just ended, the others go on: there is no generation without trials.
            if not self._uneven or (self.batch.host("status") == Status.RUNNING).any():
                break
        self.proposed, self._unjudged = True, False

    def accept(self, trials: Array | None, f: Array) -> None:
        """Select, by the trials' values of shape (R, P) or flattened."""
        self.proposed, self.asked, self._unjudged = False, None, True
        self.engine.accept(self.batch, self.generation + 1, trials, f)
        # Where an exception comes between these two lines, the generation is made again, and comes out the same.
        self.generation += 1
        self._check_start()

    # -- results -------------------------------------------------------------------------------------------------------

    def results(self) -> list[RunResult]:
        """Return every run's result so far."""
        state = (self.generation, self.ending, self.clock.seconds)
        if self._results is None or self._results[0] != state:
            self._results = state, self._make_results()
        return self._results[1]

    def _make_results(self) -> list[RunResult]:
        batch = self.batch
        generation, status = batch.host("generation"), self.status
        index, value = batch.best()
        evals = batch.evals(generation)
        history = batch.host("history")
        shown = value
        if self.rules is not None:
            history, shown = values_of_codes(history), values_of_codes(value)
        spent = batch.host("spent").max(axis=1)
        results = []
        for first in range(0, batch.n_runs, batch.n_islands):
            islands = np.arange(first, first + batch.n_islands)
            best = first + best_of(value[islands])
            last = int(generation[islands].max())
            x = batch.point(best, int(index[best]))
            outcome = self._outcome(first // batch.n_islands, x, float(value[best]))
            when = self._times(last, float(spent[best]))
            results.append(
                RunResult(
                    x=x,
                    fun=outcome.fun,
                    n_evals=int(evals[islands].sum()),
                    n_iter=max(last, 0),
                    time=float(when(last)),
                    status=self._status_of(status[islands], int(status[best])),
                    seed=int(batch.spec.seeds[first]),
                    history=self._history(history[islands], generation[islands], islands, shown[islands], when),
                    max_violation=outcome.max_violation,
                    violation=outcome.violation,
                )
            )
        return results

    def _outcome(self, run: int, x: FloatArray, value: float) -> Outcome:
        if self.rules is None:
            return Outcome(value)
        with self.engine.here:
            return self.rules.outcome(run, x, value, self.engine.xp)

    def _status_of(self, status: IntArray, best: int) -> Status:
        """Return why a run of islands ended: for the target, if one reached it; else why the best one did."""
        if (status == Status.TARGET).any():
            return Status.TARGET
        return self.ending if (status == Status.RUNNING).any() else Status(best)

    def _times(self, last: int, spent: float) -> Callable[[Any], FloatArray]:
        """Return when a run was done with generations: by its own clock, evenly, where it has one."""
        if self.batch.spec.run_seconds is None:
            return self.clock.at
        return lambda generations: np.asarray(spent * (np.asarray(generations) + 1) / (last + 1))

    def _history(
        self,
        sampled: FloatArray,
        last: IntArray,
        islands: IntArray,
        best: FloatArray,
        when: Callable[[Any], FloatArray],
    ) -> History:
        """Return the samples up to the last generations of a run's islands, which themselves close the history."""
        generations = sampled_generations(int(last.max()))
        if generations[-1] != last.max():
            generations = np.append(generations, last.max())
        evals, values = np.zeros(len(generations), np.int64), np.full(len(generations), np.inf)
        for k, island in enumerate(islands):
            reached = np.minimum(generations, last[k])
            own = np.full(len(generations), best[k])
            before = np.flatnonzero(generations < last[k])
            own[before] = sampled[k, before]
            evals += self.batch.spec.schedules[island].evals_at(reached)
            values = np.fmin(values, own)
        if np.isnan(best).all():
            values[-1] = np.nan
        return History(evals, when(generations), np.minimum.accumulate(values) if self.batch.falls else values)


def budget(spec: Spec) -> int | None:
    """Return the evaluations of all runs together, or None where nothing limits them."""
    if spec.limits.max() >= UNLIMITED:
        return None
    return sum(schedule.evals(int(limit)) for limit, schedule in zip(spec.limits, spec.schedules, strict=True))
