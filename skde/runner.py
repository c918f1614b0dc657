"""The loop behind fit, the halves behind ask and tell, and the results of one batch on one engine."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from skde.arrays import contiguous, moved_to, real_values
from skde.engines import Batch, DeviceEngine, Engine, RecordingEngine, Runs, SharingEngine, Spec
from skde.engines.batch import best_of, sampled_generations
from skde.engines.state_layout import NUMBER, WORD
from skde.engines.stepping import Evaluation, StatusPoll
from skde.interrupts import interrupts
from skde.objectives.feasibility import WORST, FeasibilityRules, Outcome, StoredOutcomes, values_of_codes
from skde.objectives.objective import Objective
from skde.result import History, RunResult
from skde.serialization import HEADER, Layout, entry
from skde.stopping import UNLIMITED, Status
from skde.typing import Array, FloatArray, IntArray
from skde.validation import check_real

# A chunk of generations is at most this many times as long as the one before.
CHUNK_GROWTH = 8
# For runs with their own time limits. At the end of a slice all runs wait for the slowest, for up to one iteration: a
# hundredth of a second for scatter search. A GPU with a screen ends kernels that take longer than two seconds.
SLICE_SECONDS = 0.25

# Called after each engine call; true ends the fit.
StopRequest = Callable[[], bool]


class Timer:
    """Running time without pauses, and the time at which generations were done."""

    def __init__(self) -> None:
        self.marks: list[tuple[int, float]] = []
        self._before = 0.0
        self._started: float | None = None

    @property
    def seconds(self) -> float:
        """Running time so far."""
        return self._before + (0.0 if self._started is None else time.perf_counter() - self._started)

    def start(self) -> None:
        """Begin, or go on after a pause."""
        self._started = time.perf_counter()

    def pause(self) -> None:
        """Stop counting."""
        self._before, self._started = self.seconds, None

    def mark(self, generation: int) -> None:
        """Record the time of a generation's end."""
        self.marks.append((generation, self.seconds))

    def restore(self, seconds: float, marks: Any) -> None:
        """Continue from a saved time and saved marks."""
        self._before, self._started = seconds, None
        self.marks = [(int(generation), float(when)) for generation, when in marks]

    def at(self, generations: Any) -> FloatArray:
        """Return the times at which generations were done, interpolated between the marks."""
        if not self.marks:
            return np.full(np.shape(generations), self.seconds)
        marks = np.array(self.marks)
        return np.asarray(np.interp(generations, marks[:, 0], marks[:, 1]))


class Runner:
    """One batch on one engine.

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
    rules : FeasibilityRules, StoredOutcomes or None
        The meaning of the values, where there are constraints.
    """

    def __init__(self, engine: Engine, spec: Any) -> None:
        self.engine = engine
        self.batch: Runs = engine.batch(spec)
        self.generation = -1
        self.rules: FeasibilityRules | StoredOutcomes | None = None
        self._timer = Timer()
        self._time_origin = 0.0  # max_time counts from here: the last warm start
        self._ending = Status.RUNNING  # the host's reason to end the runs that the kernels left running
        self._has_trials = False  # whether the batch holds the trials of the next generation
        self._asked: Array | None = None  # the copy of them that `ask` returned
        self._unjudged = False  # whether the last generation's stopping rules are still to be checked, by the next step
        self._uneven = False  # whether running runs are at different generations
        self._last = int(self.batch.spec.limits.max())
        self._poll, self._done_seen = StatusPoll(self.batch), False
        self._results: tuple[Any, list[RunResult]] | None = None

    # -- progress ------------------------------------------------------------------------------------------------------

    @property
    def seconds(self) -> float:
        """Running time so far."""
        return self._timer.seconds

    @property
    def status(self) -> Any:
        """Every run's status, of shape (R,)."""
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
        """Check the stopping rules at the end of the last generation, where that has not been done."""
        if self._unjudged:
            self.engine.judge(self.batch, self.generation)
            self._unjudged = False

    def poll_done(self) -> bool:
        """Return whether no run is running, by the status of the last poll; exact where a limit is reached."""
        if self._poll.poll(force=self.generation >= self._last):
            ended = np.count_nonzero(self._poll.status) == self.batch.n_runs and not self._uneven
            self._done_seen = ended or (self.generation >= self._last and self.done)
        return self._done_seen

    def set_rules(self, target: float | None, tol: float | None, stagnation: int | None) -> None:
        """Set the stopping rules that the kernels check."""
        spec = self.batch.spec
        spec.target, spec.tol, spec.stagnation = target, tol, stagnation
        self.batch.refresh()

    def set_limits(self, limits: Any) -> None:
        """Set the last generations, and let runs go on that only a limit had ended."""
        self.batch.set_limits(limits)
        self._last = int(limits.max())
        status, generation = self.batch.host("status"), self.batch.host("generation")
        status[(status == Status.LIMIT) & (generation < limits) | (status == Status.HELD)] = Status.RUNNING
        self.batch.put("status", status)
        self._ending, self._poll, self._done_seen = Status.RUNNING, StatusPoll(self.batch), False
        self._locate()

    def restart(self, limits: Any) -> None:
        """Let all runs go on from where they are, with new limits and a new count of max_time."""
        self._time_origin = self.seconds
        self.batch.put("status", np.full(self.batch.n_runs, int(Status.RUNNING)))
        self.set_limits(limits)

    def _locate(self) -> None:
        """Read from the batch which generation the runs are at."""
        status, generation = self.batch.host("status"), self.batch.host("generation")
        running = generation[(status == Status.RUNNING) | (status == Status.HELD)]
        self.generation = int(running.min()) if len(running) else int(generation.max())
        self._uneven = len(set(running.tolist())) > 1
        self._has_trials, self._asked = False, None

    def _hold_leaders(self) -> None:
        """Let only the runs at the lowest generation go on: a step makes one generation, the same for all its runs.

        Runs are at different generations where limits ended them and were then raised.
        """
        status, generation = self.batch.host("status"), self.batch.host("generation")
        running = (status == Status.RUNNING) | (status == Status.HELD)
        if not running.any():
            return
        self.generation = int(generation[running].min())
        behind = running & (generation == self.generation)
        self._uneven = bool((running & ~behind).any())
        status[running] = np.where(behind[running], int(Status.RUNNING), int(Status.HELD))
        self.batch.put("status", status)
        self._poll = StatusPoll(self.batch)

    # -- saved state ---------------------------------------------------------------------------------------------------

    def state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return time and ending for a file's header; seeds, limits, marks and the batch's state as arrays."""
        self.judge()
        spec = self.batch.spec
        header = {"seconds": self.seconds, "ending": int(self._ending)}
        arrays = {
            "seeds": spec.seeds,
            "limits": spec.limits,
            "marks": np.array(self._timer.marks, np.float64).reshape(-1, 2),
            **self.batch.state(),
        }
        return header, arrays

    def restore(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Continue from what `state` returned, checked by `check_runner_state`; the seeds are those of the Spec."""
        self.batch.restore(arrays)
        self.set_limits(arrays["limits"])
        self._ending = Status(header["ending"])
        self._timer.restore(float(header["seconds"]), arrays["marks"])

    # -- fit -----------------------------------------------------------------------------------------------------------

    def fit(self, objective: Any, execution: str, max_time: float | None, stop: StopRequest | None) -> None:
        """Run until every run has ended.

        Parameters
        ----------
        objective : Objective
            The objective, in the form that the engine evaluates.
        execution : {"run", "step", "graph"}
            Whole generations inside the engine (compiled objectives), one after the other with the host's evaluation,
            or one recorded on the GPU and replayed.
        max_time : float or None
            Time limit in seconds.
        stop : callable or None
            Called after each engine call; true ends the fit.

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C; the results are those of the last complete generation, and `fit` can go on from there.
        """
        with interrupts.fit:
            self._timer.start()
            try:
                self.judge()
                self._run(objective, execution, max_time, stop)
            except BaseException as error:
                self._locate()
                if isinstance(error, KeyboardInterrupt):
                    self._ending = Status.INTERRUPTED
                raise
            finally:
                self._timer.pause()

    def _run(self, objective: Any, execution: str, max_time: float | None, stop: StopRequest | None) -> None:
        if execution == "graph":
            self._run_graph(objective, max_time, stop)
        elif isinstance(self.engine, SharingEngine):
            with self.engine.share(self.batch, objective, execution):
                self._run_chunks(max_time, stop, even=execution == "step")
        elif execution == "step":
            self._run_steps(objective, max_time, stop)
        elif objective.compiled is None:
            raise ValueError("execution='run' needs a compiled objective: a name, a Problem or a DeviceObjective")
        else:
            engine, batch = self._device
            engine.load(batch, objective.compiled)
            if batch.spec.run_seconds is None:
                self._run_chunks(max_time, stop)
            else:
                with engine.exclusive:
                    self._run_slices(stop)

    @property
    def _device(self) -> tuple[DeviceEngine, Batch]:
        """Engine and batch of one device."""
        return cast(DeviceEngine, self.engine), cast(Batch, self.batch)

    def _ends(self, max_time: float | None, stop: StopRequest | None) -> bool:
        if stop is not None and stop():
            self._ending = Status.CALLBACK
        elif max_time is not None and self._timer.seconds - self._time_origin >= max_time:
            self._ending = Status.TIME
        return self._ending != Status.RUNNING

    def _run_chunks(self, max_time: float | None, stop: StopRequest | None, even: bool = False) -> None:
        """Let the engine run some generations at a time; with `even`, only for runs at the same generation."""
        last = self._last
        generations = 1
        while not self.done:
            if even and self._uneven:
                self._hold_leaders()
                generations = 1
            until = min(self.generation + generations, last)
            before = self._timer.seconds
            self._has_trials, self._asked = False, None
            self.engine.run(self.batch, self.generation, until)
            self.engine.synchronize()
            self.generation = until
            self._timer.mark(until)
            self._check_start()
            if self.done or self._ends(max_time, stop):
                return
            generations = self._next_chunk(generations, self._timer.seconds - before, max_time)

    def _run_slices(self, stop: StopRequest | None) -> None:
        """Run in slices of time, measured by each run's own clock, so that fast runs do not wait for slow ones.

        The host's work between slices, such as compiling, counts for no run.
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
            if stop is not None and stop():
                self._ending = Status.CALLBACK
                return
            until = self._last

    def _next_chunk(self, generations: int, took: float, max_time: float | None) -> int:
        """Return the length of the next chunk in generations, from the seconds that the last one took."""
        room = self.engine.chunk_seconds
        if max_time is not None:
            room = min(room, max_time - (self._timer.seconds - self._time_origin))
        wanted = int(generations * room / max(took, 1e-9))
        return max(1, min(wanted, CHUNK_GROWTH * generations))

    def _run_steps(self, objective: Objective, max_time: float | None, stop: StopRequest | None) -> None:
        evaluation = Evaluation(*self._device, objective)
        while True:
            self.propose()
            before = self._poll.time
            if self.poll_done():
                return
            if self._poll.time != before and self.generation >= 0 and self._ends(max_time, stop):
                return
            self.accept(None, evaluation.values(self.generation + 1, self._poll.status))
            if self.generation < 128 or self.generation % 64 == 0:
                self._timer.mark(self.generation)

    def _run_graph(self, objective: Objective, max_time: float | None, stop: StopRequest | None) -> None:
        batch = self._device[1]
        if not isinstance(self.engine, RecordingEngine):
            raise ValueError("execution='graph' needs a GPU, and one alone: device='cuda'")
        evaluation = Evaluation(*self._device, objective)
        if batch.varies or (batch.pop_sizes != batch.pop_max).any():
            raise ValueError("execution='graph' needs the same pop_size in all runs and generations")
        last = self._last
        self.propose()
        while self.generation < 0 or self._uneven:  # the initial population is checked on the way
            self.accept(None, evaluation.values(self.generation + 1, batch.host("status")))
            self.propose()
        recording = self.engine.record(batch, self.generation, objective.values)
        generations = 1
        while not self.done and not self._ends(max_time, stop):
            before = self._timer.seconds
            until = min(self.generation + generations, last)
            self._has_trials, self._unjudged = False, True
            recording.replay(until - self.generation)
            generations = self._next_chunk(until - self.generation, self._timer.seconds - before, max_time)
            self.generation = until
            self._timer.mark(until)
            self.propose()
            self.engine.synchronize()

    @property
    def sizes(self) -> IntArray:
        """The size of every run's next generation, of shape (R,)."""
        return self.batch.sizes(self.generation + 1)

    def _check_start(self) -> None:
        """Check that the initial population has at least one value that is a number."""
        if self.generation != 0:
            return
        if self.batch.is_blank():
            raise ValueError("the objective is NaN for every point of the initial population: nothing to compare")
        if self.rules is not None and (self.batch.best()[1] >= WORST).all():
            raise ValueError(
                "the objective or a constraint is NaN or infinite for every point of the initial population: "
                "nothing to compare"
            )

    # -- generations and their halves ----------------------------------------------------------------------------------

    def propose(self) -> None:
        """Make the trials of the next generation in the batch."""
        while True:
            if self._uneven:
                self._hold_leaders()
            self.engine.propose(self.batch, self.generation + 1)
            # The runs at the lowest generation may all have ended just now: then others go on, and need trials.
            if not self._uneven or (self.batch.host("status") == Status.RUNNING).any():
                break
        self._has_trials, self._unjudged = True, False

    def accept(self, trials: Array | None, f: Array) -> None:
        """Select by the trials' values, of shape (R, P) or flattened."""
        self._has_trials, self._asked, self._unjudged = False, None, True
        self.engine.accept(self.batch, self.generation + 1, trials, f)
        # After an exception between these two lines the generation is made again, with the same result.
        self.end_generation()

    def end_generation(self) -> None:
        """Count a generation that is complete."""
        self.generation += 1
        self._check_start()

    # -- ask and tell --------------------------------------------------------------------------------------------------

    @property
    def awaits_values(self) -> bool:
        """Whether `ask` has returned trials whose values `tell` has not been given."""
        return self._asked is not None

    def poll_stopped(self) -> bool:
        """Return `poll_done` with the trials of the next generation made, which checks the rules of the last."""
        if not self._has_trials:
            self.propose()
        return self.poll_done()

    def ask(self) -> Array | None:
        """Return a copy of the trials of one generation, in the shape that users see; None where all runs have ended.

        A GPU may report only now that all runs have ended: the trials of that call are returned all the same, so that
        a loop over `poll_stopped` sees the end first.
        """
        if not self._has_trials:
            self.propose()
        seen = self._done_seen
        if self.poll_done() and (seen or self._poll.exact or self.generation >= self._last):
            return None
        batch = self.batch
        rows = self.engine.trials(batch, self.generation + 1)
        shape = self._trials_shape()
        with self.engine.device_context:
            if batch.varies or (batch.pop_sizes != batch.pop_max).any():
                size = shape[-2] // batch.n_islands
                used = np.arange(batch.n_runs)[:, None] * batch.pop_max + np.arange(size) % self.sizes[:, None]
                rows = rows[batch.xp.asarray(used)]
            self._asked = rows.reshape(shape)
        return self._asked

    def tell(self, X: Array, f: Any) -> None:
        """Select by the values that a user found, of the points that `ask` returned or of others inside the bounds."""
        if self._asked is None:
            raise RuntimeError("tell needs an ask before it")
        batch, xp = self.batch, self.batch.xp
        shape = self._trials_shape()
        if np.shape(X) != shape:
            raise ValueError(f"X must have the shape {shape} that ask returned, got {np.shape(X)}")
        if np.shape(f) != shape[:-1]:
            raise ValueError(f"f must have shape {shape[:-1]}, got {np.shape(f)}")
        with self.engine.device_context:
            points = self._asked
            if X is not points:
                points = contiguous(moved_to(X, points, "X"), batch.spec.dtype)
            # To read the points of a GPU is to wait for it; the points that `ask` returned are inside.
            if xp is np or points is not self._asked:
                self._check_inside(points.reshape(batch.n_runs, -1, batch.dim))
            rows = points.reshape(-1, batch.dim)
            values = real_values(f.reshape(-1) if hasattr(f, "reshape") else np.reshape(f, -1), rows, "f")
            if isinstance(self.rules, FeasibilityRules):
                values = self.rules.codes(rows, values)
            size = shape[-2] // batch.n_islands
            if size == batch.pop_max:
                self.accept(points, values)
            else:  # the kernels' rows are those of the largest population
                all_points = xp.zeros((batch.n_runs, batch.pop_max, batch.dim), batch.spec.dtype)
                all_values = xp.zeros((batch.n_runs, batch.pop_max), batch.spec.dtype)
                all_points[:, :size] = points.reshape(batch.n_runs, -1, batch.dim)
                all_values[:, :size] = values.reshape(batch.n_runs, -1)
                self.accept(all_points, all_values)

    def _trials_shape(self) -> tuple[int, ...]:
        batch = self.batch
        size = int(self.sizes.max()) if batch.varies else batch.pop_max
        shape = (batch.n_runs // batch.n_islands, batch.n_islands * size, batch.dim)
        return shape if shape[0] > 1 else shape[1:]

    def _check_inside(self, points: Array) -> None:
        spec, xp = self.batch.spec, self.batch.xp
        lower, upper = (xp.asarray(bound, dtype=spec.dtype) for bound in (spec.lower, spec.upper))
        used = xp.asarray(np.arange(points.shape[1]) < self.sizes[:, None])
        inside = ((points >= lower) & (points <= upper)).all(axis=-1) | ~used
        if not bool(inside.all()):
            raise ValueError("X must lie inside the bounds (and hold no NaN)")

    # -- results -------------------------------------------------------------------------------------------------------

    def results(self) -> list[RunResult]:
        """Return every run's result so far."""
        state = (self.generation, self._ending, self._timer.seconds)
        if self._results is None or self._results[0] != state:
            self._results = state, self._make_results()
        return self._results[1]

    def outcomes(self) -> FloatArray:
        """Return value, largest violation and violation of every run's best point, as `StoredOutcomes` takes them."""
        return np.array([(run.fun, run.max_violation, run.violation) for run in self.results()])

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
        with self.engine.device_context:
            return self.rules.outcome(run, x, value, self.engine.xp)

    def _status_of(self, status: IntArray, best: int) -> Status:
        """Return the status of a run of islands: TARGET if one island reached it, else that of the best island."""
        if (status == Status.TARGET).any():
            return Status.TARGET
        return self._ending if (status == Status.RUNNING).any() else Status(best)

    def _times(self, last: int, spent: float) -> Callable[[Any], FloatArray]:
        """Return the function from generations to their times; a run's own clock is divided evenly."""
        if self.batch.spec.run_seconds is None:
            return self._timer.at
        return lambda generations: np.asarray(spent * (np.asarray(generations) + 1) / (last + 1))

    def _history(
        self,
        sampled: FloatArray,
        last: IntArray,
        islands: IntArray,
        best: FloatArray,
        when: Callable[[Any], FloatArray],
    ) -> History:
        """Return the samples up to the last generations of a run's islands, which end the history."""
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
        return History(evals, when(generations), np.minimum.accumulate(values) if self.batch.monotone else values)


def runner_layout(n_runs: int) -> dict[str, Layout]:
    """Return the layout of the arrays of `Runner.state`, those of its batch left out."""
    return {
        "seeds": Layout((n_runs,), np.dtype(np.uint64)),
        "limits": Layout((n_runs,), WORD),
        "marks": Layout((None, 2), NUMBER),
    }


def check_runner_state(header: dict[str, Any], arrays: dict[str, Any]) -> None:
    """Check the values of a saved runner; shapes and dtypes are those of `runner_layout`."""
    with entry(HEADER):
        Status(header["ending"])
        check_real("seconds", header["seconds"], 0, UNLIMITED)
    with entry("limits"):
        if (arrays["limits"] < 0).any():
            raise ValueError("limits must be >= 0")
    with entry("marks"):
        marks = arrays["marks"]
        if not (np.isfinite(marks) & (marks >= 0) & (marks <= UNLIMITED)).all():
            raise ValueError("generations and seconds must be numbers >= 0")


def budget(spec: Spec) -> int | None:
    """Return the largest number of evaluations of all runs together, or None without a limit."""
    if spec.limits.max() >= UNLIMITED:
        return None
    return sum(schedule.evals(int(limit)) for limit, schedule in zip(spec.limits, spec.schedules, strict=True))
