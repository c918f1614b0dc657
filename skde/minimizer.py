"""Minimizer: every algorithm of the registry as a scikit-learn-style estimator."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import reduce
from operator import or_
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from skde import checkpoint
from skde.algorithms import Algorithm, Setting, describe, get_algorithm
from skde.callbacks import Callback, Progress, ProgressBar
from skde.engines import Engine, Spec, choose_engine
from skde.engines.batch import algorithm_entry
from skde.fitted import Fitted
from skde.islands import Archipelago, Migration
from skde.objective import Objective, real_values, resolve
from skde.problems import get_problem
from skde.runner import Runner, budget
from skde.schedule import Schedule
from skde.seeds import island_seeds, run_seeds
from skde.stopping import Status, check_stopping, last_generations, planned_budget
from skde.typing import Array, FloatArray
from skde.validation import check_bounds, check_choice, check_int, check_precision, check_start

DTYPES = ("float32", "float64")
EXECUTIONS = ("auto", "run", "step", "graph")


class Minimizer(Fitted, BaseEstimator):
    """Minimise a function over a box with a population.

    Parameters
    ----------
    algorithm : str, Algorithm or list of Algorithm, default "jde"
        A registry name or a parameter object, reached as ``algorithm__F`` by set_params; or one object a run, all of
        one class, for runs with parameters of their own (population sizes too).
    bounds : array-like of shape (dim, 2), scipy.optimize.Bounds or None, default None
        The box, for ask and tell, and for fit where the call does not give it. Problems bring their own.
    max_iter : int or None, default None
        Generations after the initial population, >= 0.
    max_evals : int or None, default None
        Evaluations of one run, never exceeded: whole generations that fit. Where neither this nor max_iter nor
        max_time is given, 10000 times dim.
    max_time : float or None, default None
        Seconds of running time, > 0, heeded to about 50 ms or the time of one Python evaluation of the population.
    target : float or None, default None
        A run ends when its best value is <= target.
    tol : float or None, default None
        A run ends when the standard deviation of its population's values is <= tol times the size of their mean, >= 0.
    stagnation : int or None, default None
        A run ends when its best value has not improved for this many generations, >= 1.
    n_runs : int, default 1
        Independent runs in one batch; run 0 is the run that n_runs=1 makes.
    n_islands : int, default 1
        Populations of every run, each of the algorithm's size, which exchange individuals; limits on evaluations hold
        for all of them together.
    migration : Migration or None, default None
        How islands exchange individuals; None: Migration().
    device : {"auto", "cpu", "cuda", "cuda:N"}, default "auto"
        "auto": for names, problems and DeviceObjectives a GPU where there is one; for Python functions the CPU.
    execution : {"auto", "run", "step", "graph"}, default "auto"
        "run": whole generations inside the engine, for compiled objectives. "step": one generation after the other, for
        Python functions. "graph": a generation with a CuPy function is recorded as a CUDA graph and replayed, which
        spares the host's work; the function must do the same operations every time and read nothing back to the host.
    dtype : {"float64", "float32"}, default "float64"
        Of positions and values.
    vectorized : bool, default True
        Whether a callable takes X of shape (n, dim) and returns n values; False: one point, one number.
    n_jobs : int or None, default None
        Threads of the CPU engine (None: OpenMP's number), and joblib workers of a callable with vectorized=False
        (None: 1, or as joblib.parallel_config says).
    callbacks : callable, list of callables or None, default None
        Called with a `Progress` whenever the host hears from the engine: after every generation of a Python function on
        the CPU, every few milliseconds of one on a GPU, about every 40 ms of a compiled objective. One that returns
        True, or raises StopIteration, ends the fit.
    verbose : int, default 0
        1: what "auto" chose, and a progress bar.
    random_state : int, RandomState, Generator or None, default None
        An int makes the result repeatable to the last bit: on any machine, with any number of threads, on the CPU and
        on the GPU, alone or in a batch, in one piece or resumed.
    warm_start : bool, default False
        A second fit goes on from the population of the first, with fresh limits.

    Attributes
    ----------
    x_, fun_ : ndarray of shape (dim,), float
        The best point of all runs, and its value.
    n_evals_, n_iter_, time_ : int, int, float
        Of the best run: evaluations, generations, seconds.
    converged_, message_ : bool, str
        Whether the best run reached its target or tolerance; why it ended.
    population_, fitness_ : ndarray of shape (pop_size, dim), (pop_size,)
        Of the best run; of all its islands, one after the other.
    history_ : History
        Of the best run.
    runs_ : list of RunResult
        Every run.
    result_ : scipy.optimize.OptimizeResult
        The best run in SciPy's form; nfev counts all runs.

    Notes
    -----
    The result is reproducible across machines because nothing is left to them: draws are a function of their address
    (Philox4x32-10), floating-point operations are neither contracted nor reordered, and sine, cosine and exponential
    are the kernels' own. A Python objective brings its own rounding.

    Examples
    --------
    >>> from skde import Minimizer
    >>> m = Minimizer("jde", max_evals=20_000, random_state=0).fit("rastrigin", dim=5)
    >>> bool(m.fun_ < 1e-6)
    True
    >>> m = Minimizer("de", max_iter=200, random_state=0).fit(lambda X: (X**2).sum(axis=1), bounds=[(-5, 5)] * 3)
    >>> m.x_.shape
    (3,)
    """

    def __init__(
        self,
        algorithm: str | Algorithm | Sequence[Algorithm] = "jde",
        *,
        bounds: Any = None,
        max_iter: int | None = None,
        max_evals: int | None = None,
        max_time: float | None = None,
        target: float | None = None,
        tol: float | None = None,
        stagnation: int | None = None,
        n_runs: int = 1,
        n_islands: int = 1,
        migration: Migration | None = None,
        device: str = "auto",
        execution: str = "auto",
        dtype: str = "float64",
        vectorized: bool = True,
        n_jobs: int | None = None,
        callbacks: Callback | Sequence[Callback] | None = None,
        verbose: int = 0,
        random_state: Any = None,
        warm_start: bool = False,
    ) -> None:
        self.algorithm = algorithm
        self.bounds = bounds
        self.max_iter = max_iter
        self.max_evals = max_evals
        self.max_time = max_time
        self.target = target
        self.tol = tol
        self.stagnation = stagnation
        self.n_runs = n_runs
        self.n_islands = n_islands
        self.migration = migration
        self.device = device
        self.execution = execution
        self.dtype = dtype
        self.vectorized = vectorized
        self.n_jobs = n_jobs
        self.callbacks = callbacks
        self.verbose = verbose
        self.random_state = random_state
        self.warm_start = warm_start

    # -- fit and resume ------------------------------------------------------------------------------------------------

    def fit(self, objective: Any, *, dim: int | None = None, bounds: Any = None, x0: Any = None) -> Minimizer:
        """Minimise.

        Parameters
        ----------
        objective : str, Problem, DeviceObjective or callable
            A problem's name; a problem; C++ compiled into the kernels; or f(X) on arrays of shape (n, dim) of the
            device's library (with vectorized=False, f(x) of one point).
        dim : int or None, default None
            Variables, where the objective leaves them open (names: 30).
        bounds : array-like of shape (dim, 2), scipy.optimize.Bounds or None, default None
            The box.
        x0 : array-like of shape (dim,) or (n, dim), or None, default None
            Points that the initial population of every run begins with, inside the box.

        Returns
        -------
        self : Minimizer

        Raises
        ------
        ValueError, TypeError
            For parameters, bounds or objective values that are not allowed; the best so far stays readable.
        RuntimeError
            For a device that is not there.
        """
        found = resolve(
            objective,
            dim,
            self.bounds if bounds is None else bounds,
            vectorized=self.vectorized,
            n_jobs=self.n_jobs,
        )
        engine = self._engine(found)
        if self.warm_start and hasattr(self, "_runner"):
            self._continue_warm(engine, found, x0)
        else:
            self._runner = self._start(engine, found.box, x0)
        self._objective: Objective | None = found
        self._drive(found)
        return self

    def resume(self, objective: Any = None) -> Minimizer:
        """Go on with a fit that was interrupted, or saved, up to the limits that are set now.

        Parameters
        ----------
        objective : optional
            As in `fit`; needed after `load` where the objective was a Python function or a DeviceObjective.

        Returns
        -------
        self : Minimizer
        """
        runner = self._fitted()
        if objective is None:
            found = getattr(self, "_objective", None) or self._saved_objective()
        else:
            dim = runner.batch.dim
            found = resolve(objective, dim, self._box, vectorized=self.vectorized, n_jobs=self.n_jobs)
        self._objective = found
        runner.set_limits(self._limits(runner.batch.spec.schedules, runner.batch.dim))
        self._drive(found)
        return self

    def _saved_objective(self) -> Objective:
        """Find the objective of a loaded fit again, where its name is enough for that."""
        source = getattr(self, "_source", {})
        if "problem" not in source:
            what = source.get("callable") or source.get("device_objective") or "given to ask and tell"
            raise ValueError(f"resume needs the objective again (it was {what}): resume(objective)")
        problem = get_problem(source["problem"], dim=source["dim"], **source["options"])
        return resolve(problem, None, self._box)

    def _drive(self, objective: Objective) -> None:
        rules = check_stopping(self.target, self.tol, self.stagnation, self.max_time)
        execution = check_choice("execution", self.execution, EXECUTIONS)
        if execution == "run" and objective.compiled is None:
            raise ValueError("execution='run' needs a compiled objective: a name, a Problem or a DeviceObjective")
        if execution == "auto":
            execution = "run" if objective.compiled is not None else "step"
        if execution == "graph" and objective.compiled is not None:
            raise ValueError("execution='graph' is for CuPy functions; a compiled objective runs with execution='run'")
        runner = self._runner
        runner.set_rules(rules["target"], rules["tol"], rules["stagnation"])
        bar = ProgressBar(budget(runner.batch.spec), self.max_time) if self.verbose else None
        try:
            runner.fit(objective, execution, rules["max_time"], self._look(bar))
        finally:
            if bar is not None:
                bar(Progress(runner, self), last=True)
                bar.close()

    def _look(self, bar: ProgressBar | None) -> Callable[[], bool] | None:
        """Return what to do whenever the host hears from the engine; None where nobody looks."""
        callbacks = self.callbacks
        if callbacks is None:
            callbacks = []
        elif not isinstance(callbacks, Sequence):
            callbacks = [callbacks]
        for callback in callbacks:
            if not callable(callback):
                raise TypeError(f"callbacks must be callables, got {callback!r}")
        if not callbacks and bar is None:
            return None

        def look() -> bool:
            progress = Progress(self._runner, self)
            if bar is not None:
                bar(progress)
            try:
                return any([is_true(callback(progress)) for callback in callbacks])
            except StopIteration:
                return True

        return look

    # -- setting up ----------------------------------------------------------------------------------------------------

    def _engine(self, objective: Objective | None) -> Engine:
        if self.n_jobs is not None and check_int("n_jobs", self.n_jobs, -(2**31)) == 0:
            raise ValueError("n_jobs must be None or an integer other than 0, got 0")
        device = self.device
        if device == "auto" and objective is not None and objective.compiled is None:
            engine, reason = choose_engine("cpu", self.n_jobs)[0], "a Python function may only know NumPy"
        else:
            engine, reason = choose_engine(device, self.n_jobs)
        if self.verbose and device == "auto":
            print(f"skde: device='auto' chose {engine.name}: {reason}")
        return engine

    def _algorithms(self) -> list[Algorithm]:
        """Return one parameter object a run."""
        n_runs = check_int("n_runs", self.n_runs, 1, 2**20)
        if isinstance(self.algorithm, Sequence) and not isinstance(self.algorithm, str):
            algorithms = [get_algorithm(algorithm) for algorithm in self.algorithm]
            if len(algorithms) != n_runs:
                raise ValueError(f"algorithm has {len(algorithms)} entries, but n_runs={n_runs}; give one a run")
            if len({type(algorithm) for algorithm in algorithms}) != 1:
                raise ValueError("algorithm: all entries must be of one class")
            if len({algorithm.kernel for algorithm in algorithms}) != 1:
                raise ValueError("algorithm: all entries must be with opposition, or all without")
            return algorithms
        return [get_algorithm(self.algorithm)] * n_runs

    def _start(self, engine: Engine, box: FloatArray, x0: Any) -> Runner:
        """Check everything and allocate the batch."""
        return Runner(engine, self._spec(box, x0))

    def _spec(self, box: FloatArray, x0: Any) -> Spec:
        """Check everything and say what is to run."""
        algorithms = self._algorithms()
        n_islands = check_int("n_islands", self.n_islands, 1, 2**16)
        setting = Setting(len(box), **planned_budget(len(box), *self._budget, n_islands))
        given = [algorithm.kernel_parameters(setting) for algorithm in algorithms]
        rules = check_stopping(self.target, self.tol, self.stagnation, self.max_time)
        dtype = check_choice("dtype", self.dtype if isinstance(self.dtype, str) else np.dtype(self.dtype).name, DTYPES)
        schedules = [Schedule.of(parameters) for parameters in given for _ in range(n_islands)]
        needs = [algorithm.needs(setting, parameters) for algorithm, parameters in zip(algorithms, given, strict=True)]
        names = algorithm_entry(algorithms[0].kernel)[2]
        self._box = box
        check_precision(box, dtype)
        return Spec(
            algorithm=algorithms[0].kernel,
            parameters=np.repeat([[float(parameters[name]) for name in names] for parameters in given], n_islands, 0),
            seeds=island_seeds(run_seeds(self.random_state, len(algorithms)), n_islands),
            lower=box[:, 0],
            upper=box[:, 1],
            limits=self._limits(schedules, len(box)),
            start=check_start(x0, box, min(schedule.most for schedule in schedules)),
            constants=algorithms[0].constants,
            needs=reduce(or_, needs),
            schedules=tuple(schedules),
            islands=self._archipelago(n_islands, min(schedule.members for schedule in schedules)),
            target=rules["target"],
            tol=rules["tol"],
            stagnation=rules["stagnation"],
            dtype=np.dtype(dtype),
        )

    def _limits(self, schedules: Sequence[Schedule], dim: int, done: Any = None) -> Any:
        return last_generations(schedules, dim, *self._budget, done, self.n_islands)

    @property
    def _budget(self) -> tuple[Any, Any, Any]:
        return self.max_iter, self.max_evals, self.max_time

    def _archipelago(self, n_islands: int, pop_size: int) -> Archipelago:
        migration = Migration() if self.migration is None else self.migration
        if not isinstance(migration, Migration):
            raise TypeError(f"migration must be a Migration or None, got {migration!r} ({type(migration).__name__})")
        if n_islands > 1:
            return migration.archipelago(n_islands, pop_size)
        if self.migration is not None:
            raise ValueError("migration needs islands to go to: n_islands must be at least 2, got 1")
        return Archipelago()

    def _continue_warm(self, engine: Engine, objective: Objective, x0: Any) -> None:
        runner = self._runner
        if x0 is not None:
            raise ValueError("x0 cannot be given with warm_start=True: the population of the first fit goes on")
        if not np.array_equal(objective.box, self._box):
            raise ValueError("warm_start=True: the box differs from that of the first fit; set warm_start=False")
        before = getattr(self, "_objective", None)
        if before is None or before.origin != objective.origin:
            raise ValueError(
                "warm_start=True: the objective differs from that of the first fit, whose values the population has; "
                "set warm_start=False"
            )
        batch, spec = runner.batch, self._spec(objective.box, None)
        same = np.array_equal(spec.parameters, batch.spec.parameters) and spec.dtype == batch.spec.dtype
        if not same or spec.algorithm != batch.spec.algorithm or engine.name != runner.engine.name:
            raise ValueError(
                "warm_start=True: algorithm, its parameters, n_runs, dtype and device must be those of the first fit; "
                "set warm_start=False"
            )
        runner.counted_from = runner.clock.seconds
        limits = self._limits(batch.spec.schedules, batch.dim, batch.host("generation"))
        batch.array["status"][...] = int(Status.RUNNING)
        runner.set_limits(limits)

    # -- ask and tell --------------------------------------------------------------------------------------------------

    def ask(self) -> Array:
        """Return the points to evaluate next: the trials of one generation.

        Returns
        -------
        X : ndarray of shape (pop_size, dim), or (n_runs, pop_size, dim) with n_runs > 1; islands one after the other
            NumPy or CuPy, where the solver lives; a copy. Asking again without telling returns the same points. Where
            populations differ in size, the largest counts: the rows behind a smaller one's need no value.

        Raises
        ------
        ValueError
            Without bounds in the constructor.
        RuntimeError
            When every run has ended (`stopped_`).
        """
        runner = self._asking()
        if runner.hear():
            raise RuntimeError(f"every run has ended: {self.message_}")
        batch = runner.batch
        rows: Array = runner.engine.copy(batch.rows[(runner.generation + 1) & 1])
        shape = self._ask_shape(runner)
        if batch.varies:
            rows = rows.reshape(batch.n_runs, batch.pop_max, batch.dim)[:, : shape[-2] // batch.n_islands]
        runner.asked = rows.reshape(shape)
        return runner.asked

    def tell(self, X: Array, f: Array) -> Minimizer:
        """Give the values of the points asked for, and select.

        Parameters
        ----------
        X : ndarray of the shape that `ask` returned
            The points that were evaluated, usually those asked for; others are taken in their place, inside the bounds.
        f : array-like of shape (pop_size,), or (n_runs, pop_size)
            Their values.

        Returns
        -------
        self : Minimizer
        """
        runner = self._fitted("ask")
        if runner.asked is None:
            raise RuntimeError("tell needs an ask before it")
        batch, xp = runner.batch, runner.batch.xp
        shape = self._ask_shape(runner)
        if np.shape(X) != shape:
            raise ValueError(f"X must have the shape {shape} that ask returned, got {np.shape(X)}")
        if np.shape(f) != shape[:-1]:
            raise ValueError(f"f must have shape {shape[:-1]}, got {np.shape(f)}")
        points = runner.asked if X is runner.asked else xp.asarray(X, dtype=batch.spec.dtype)
        # Looking at the points of a GPU means waiting for it: those that were asked for are known to be inside.
        if xp is np or points is not runner.asked:
            self._check_inside(points.reshape(batch.n_runs, -1, batch.dim), runner)
        flat = f.reshape(-1) if hasattr(f, "reshape") else np.reshape(f, -1)
        values = real_values(flat, len(flat), batch.spec.dtype, xp, "f")
        size = shape[-2] // batch.n_islands
        if size == batch.pop_max:
            points = points if points is runner.asked else xp.ascontiguousarray(points)
            runner.accept(points, xp.ascontiguousarray(values))
        else:  # the kernels' rows are those of the largest population
            all_points = xp.zeros((batch.n_runs, batch.pop_max, batch.dim), batch.spec.dtype)
            all_values = xp.zeros((batch.n_runs, batch.pop_max), batch.spec.dtype)
            all_points[:, :size] = points.reshape(batch.n_runs, -1, batch.dim)
            all_values[:, :size] = values.reshape(batch.n_runs, -1)
            runner.accept(all_points, all_values)
        return self

    @property
    def stopped_(self) -> bool:
        """Whether every run has ended, so that there is nothing more to ask.

        A GPU is asked at most every few milliseconds, so this may come true some generations late; runs that have ended
        take no notice of what they are told.
        """
        return self._asking().hear()

    def _asking(self) -> Runner:
        """Return the runner with the trials of the next generation made."""
        if not hasattr(self, "_runner"):
            if self.bounds is None:
                raise ValueError("ask needs bounds: Minimizer(bounds=[(low, high), ...])")
            self._objective = None
            self._runner = self._start(self._engine(None), check_bounds(self.bounds), None)
        if not self._runner.proposed:
            self._runner.propose()
        return self._runner

    def _ask_shape(self, runner: Runner) -> tuple[int, ...]:
        batch = runner.batch
        size = int(runner.sizes.max()) if batch.varies else batch.pop_max
        shape = (batch.n_runs // batch.n_islands, batch.n_islands * size, batch.dim)
        return shape if shape[0] > 1 else shape[1:]

    def _check_inside(self, points: Array, runner: Runner) -> None:
        array = runner.batch.array
        used = runner.batch.xp.asarray(np.arange(points.shape[1]) < runner.sizes[:, None])
        inside = ((points >= array["lower"]) & (points <= array["upper"])).all(axis=-1) | ~used
        if not bool(inside.all()):
            raise ValueError("X must lie inside the bounds (and hold no NaN)")

    # -- saving --------------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save parameters and state: data only, written to a temporary name and renamed.

        Parameters
        ----------
        path : str or path-like
            The file.

        Raises
        ------
        OSError
            When it cannot be written; a file of that name then stays as it was.
        """
        header, arrays = self._state()
        checkpoint.save(path, plain(header), arrays)

    def _state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what a file holds: a header for JSON, and arrays."""
        runner = self._fitted()
        spec = runner.batch.spec
        parameters = {
            name: spec.dtype.name if name == "dtype" else plain(value)
            for name, value in self.get_params(deep=False).items()
            if name not in ("algorithm", "bounds", "callbacks", "random_state", "migration")
        }
        algorithms = self.algorithm if isinstance(self.algorithm, list | tuple) else [self.algorithm]
        objective = getattr(self, "_objective", None)
        header = {
            "parameters": parameters,
            "algorithms": [describe(get_algorithm(algorithm)) for algorithm in algorithms],
            "migration": None if self.migration is None else self.migration.get_params(),
            "one_algorithm": not isinstance(self.algorithm, list | tuple),
            "source": objective.source if objective is not None else getattr(self, "_source", {}),
            "seconds": runner.clock.seconds,
            "ending": int(runner.ending),
            "dtype": spec.dtype.name,
        }
        arrays = {
            "box": self._box,
            "start": spec.start,
            "seeds": spec.seeds,
            "limits": spec.limits,
            "marks": np.array(runner.clock.marks, np.float64).reshape(-1, 2),
            **runner.batch.state(),
        }
        return header, arrays

    @classmethod
    def load(cls, path: str | os.PathLike[str], device: str | None = None) -> Minimizer:
        """Return the Minimizer that was saved, ready to resume.

        Parameters
        ----------
        path : str or path-like
            A file that `save` wrote.
        device : str or None, default None
            Where to go on; None: where it ran.

        Returns
        -------
        minimizer : Minimizer

        Raises
        ------
        ValueError
            When the file is broken, foreign, or of another version.
        """
        if device is not None:
            choose_engine(device)  # so that a wrong device is not taken for a broken file
        header, arrays = checkpoint.load(path)
        try:
            algorithms = [get_algorithm(entry["name"], **entry["parameters"]) for entry in header["algorithms"]]
            minimizer = cls(
                algorithms[0] if header["one_algorithm"] else algorithms,
                bounds=arrays["box"],
                random_state=int(arrays["seeds"][0]),
                migration=None if header["migration"] is None else Migration(**header["migration"]),
                **header["parameters"],
            )
            if device is not None:
                minimizer.device = device
            minimizer._restore(header, arrays)
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            raise ValueError(f"{os.fspath(path)!r} is incomplete or inconsistent: {error!r}") from error
        return minimizer

    def _restore(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        self._source = header["source"]
        self._objective = None
        compiled = "problem" in self._source or "device_objective" in self._source
        engine = self._engine(None if compiled or not self._source else Objective(arrays["box"]))
        runner = self._start(engine, arrays["box"], arrays["start"] if len(arrays["start"]) else None)
        runner.batch.spec.seeds = arrays["seeds"]
        runner.batch.array["seeds"][...] = runner.batch.xp.asarray(arrays["seeds"].view(np.int64))
        runner.batch.restore(arrays)
        runner.set_limits(arrays["limits"])
        runner.ending = Status(header["ending"])
        runner.clock.before = header["seconds"]
        runner.clock.marks = [(int(generation), float(seconds)) for generation, seconds in arrays["marks"]]
        self._runner = runner

    # -- pickling ------------------------------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the parameters and, of a fit, what a file would hold; a Python objective is not part of it."""
        hidden = ("_runner", "_objective")
        state = {name: value for name, value in super().__getstate__().items() if name not in hidden}
        if self.__sklearn_is_fitted__():
            state["_saved"] = self._state()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take up a pickled fit where it was."""
        saved = state.pop("_saved", None)
        super().__setstate__(state)
        if saved is not None:
            self._restore(*saved)


def is_true(answer: Any) -> bool:
    """Whether a callback asked to stop: True, NumPy's too, and nothing that merely counts as true."""
    return isinstance(answer, bool | np.bool_) and bool(answer)


def plain(value: Any) -> Any:
    """Return value in JSON's types."""
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    return value
