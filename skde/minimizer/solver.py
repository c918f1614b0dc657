"""Minimizer: fit, ask, tell and resume with every algorithm of the registry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

from skde.algorithms import Algorithm
from skde.algorithms.auto import AUTO
from skde.algorithms.sequence import AlgorithmSequence
from skde.callbacks import stop_request
from skde.engines import Engine, JoblibEngine, Spec, shares
from skde.fit.ask_phases import ask_phase, is_over, tell_phase
from skde.fit.ask_tell import NO_ASK, ids_of_asked, was_asked
from skde.fit.begun_generations import restore_told
from skde.fit.fit import Fit
from skde.fit.known_values import FEW_POINTS, KnownValues, n_points
from skde.fit.phase_loop import run_phases
from skde.fit.phases.population import Population
from skde.fit.plan import FitPlan
from skde.fit.polish_budget import check_polishable
from skde.fit.schedule import Schedule
from skde.functions.forms import ConstraintsReturned
from skde.minimizer.execution import check_device_of_library, choose_execution, choose_recorded_execution, make_engine
from skde.minimizer.objective import (
    check_eval_time,
    check_noise,
    check_rules,
    constraints_alone,
    find_saved_objective,
    make_objective,
    make_objective_to_ask,
)
from skde.minimizer.parameters import EXECUTIONS, MinimizerParameters, check_parameters
from skde.minimizer.plan import (
    check_constrained_dtype,
    combine_searches,
    limits_of,
    make_plan,
    renew_plan,
    rules_of,
    running_algorithm,
    warm_plan,
)
from skde.minimizer.state import (
    OPTIONAL_KEYS,
    REQUIRED_KEYS,
    check_populations,
    fit_layout,
    fit_state,
    read_algorithm_argument,
    read_bounds_argument,
    read_migration,
    read_plan,
    read_populations,
    read_spent,
)
from skde.minimizer.warm_start import check_warm_objective, check_warm_spec
from skde.objectives.caller_library import CallerLibrary, move_to_host
from skde.objectives.feasibility import LARGEST, FeasibilityRules, StoredOutcomes, calls_of, carry_calls
from skde.objectives.objective import Objective
from skde.objectives.told_rules import ToldRules
from skde.problems.scipy_constraints import constraint_list
from skde.problems.simulation import read_sizes
from skde.recorder import current_recorder
from skde.typing import Array, FloatArray
from skde.utils.serialization import HEADER, check_layout, entry
from skde.utils.validation import (
    check_bool,
    check_choice,
    check_int,
    check_jobs,
    check_real,
    list_bounds,
    refuse_ragged,
)
from skde.variables import Variables


class Minimizer(MinimizerParameters):
    """Minimise a function over a box with a population.

    Parameters
    ----------
    algorithm : str, Algorithm or list of Algorithm, default "auto"
        "auto", a choice by dimension and budget (docs/which.md); a registry name; a parameter object, reached as
        ``algorithm__F`` by set_params; or a list with one parameter object for each run, all of one class. The objects
        of a list may differ in every parameter, also in pop_size.
    bounds : array-like of shape (dim, 2), scipy.optimize.Bounds, mapping, list of Variable or None, default None
        The box, for ask and tell, and for fit where the call does not give it. Problems have one. Named variables are
        a mapping of names to `Real`, `Integer`, `Log`, `Ordinal`, `Categorical`, `Fixed` or pairs (low, high), or a
        list of these. A pair with low equal to high is fixed.
    max_iter : int or None, default None
        Generations after the initial population, >= 0.
    max_evals : int or None, default None
        Limit on the evaluations of one run, >= 1, never exceeded: only whole generations are made, which are planned
        as if every trial were evaluated, also where a repeated point is not (see Notes). Without any limit "auto" ends
        when independent searches agree, and every fit after 10000 times dim (docs/which.md).
    max_time : float or None, default None
        Time limit in seconds, > 0, checked about every 50 ms, between calls of a function of one point, or after one
        call of a function of arrays, also by execution="joblib". Workers of a function of one point that hang are
        ended. Of a compiled objective in joblib's workers it is checked after every message, about every second.
    max_stall_time : float or None, default None
        A fit ends when no run has found a better value for this many seconds, > 0, which are counted from the beginning
        of each search. It is checked as often as callbacks are called.
    max_eval_time : float or None, default None
        Time limit in seconds, > 0, of one evaluation of a function of one point in processes (n_jobs > 1): the value is
        then NaN, the first one becomes a warning, and the process is ended.
    target : float or None, default None
        A run ends when its best value, of a feasible point, is <= target.
    tol : float or None, default None
        A run ends when the standard deviation of its population's values is <= atol + tol * abs(mean of these), >= 0.
        Not while all values were equal: these have converged to nothing. Nor while no point is feasible.
    atol : float, default 0.0
        Absolute tolerance of this rule, >= 0, for minima near 0; with tol=None and atol > 0, tol is 0.
    stagnation : int or None, default None
        A run ends when its best value has not improved for this many generations, >= 1.
    constraints : LinearConstraint, NonlinearConstraint or Bounds of scipy.optimize, list of these or None, default None
        Constraints on the points, as in `ConstrainedProblem`; with dtype="float64" only.
    feasibility_tol : float, default 1e-6
        A point is feasible where g <= feasibility_tol and abs(h) <= feasibility_tol for all constraints g <= 0 and
        h = 0, >= 0.
    n_runs : int, default 1
        Independent runs in one batch, >= 1; run 0 equals the run that n_runs=1 makes.
    n_islands : int, default 1
        Populations of every run, >= 1, each of the algorithm's size, which exchange individuals. Limits on evaluations
        count all of them together.
    migration : Migration or None, default None
        The exchange of individuals between islands; None: Migration().
    device : {"auto", "cpu", "cuda", "cuda:N"} or list of these, default "auto"
        "auto": for names, problems and DeviceObjectives a GPU where there is one; for Python functions the CPU. A list
        of GPUs, ["cuda:0", "cuda:1"] (or of "cpu"), divides islands and runs among them, at least one for each. A
        Python function is called in a thread for each device, with the points of its part.
    execution : {"auto", "run", "step", "graph", "joblib"}, default "auto"
        Whole generations inside the engine, single generations, generations recorded on a GPU, or joblib's workers. A
        function that changes with time, such as one that counts its calls, needs "step" on a GPU (docs/gpu.md).
        A fit that has begun cannot change to or from "joblib".
    dtype : {"float64", "float32"}, default "float64"
        The precision of positions and values. Bounds are rounded to it inwards, so that no point is outside of them; a
        box with fewer than two numbers inside is an error.
    vectorized : {"auto"} or bool, default "auto"
        Whether a callable takes X of shape (n, dim) and returns n values; False: one point, one number. "auto": `fit`
        finds it out, by one call of each form, for each constraint's function too, and verbose=1 says it.
    n_jobs : int or None, default None
        Threads of a CPU (None: OpenMP's number), and joblib workers of a callable of one point or of
        execution="joblib", each of which then has one thread (None: 1, or as joblib.parallel_config says). At most 1024
        or, where these are more, the number of processors.
    polish : bool, {"L-BFGS-B", "SLSQP", "trust-constr", "Nelder-Mead", "COBYQA", "quasi-Newton"} or None, default None
        Whether, or by which method, a local search improves the best point of every run at the end of a fit; the result
        never gets worse, nor infeasible. True: L-BFGS-B, and Nelder-Mead after it, or with constraints SLSQP. None:
        only with algorithm="auto" (docs/which.md). Its evaluations and time are part of the limits (docs/runs.md).
    callbacks : callable, list of callables or None, default None
        Called with a `Progress` after every generation of a Python function on the CPU, about every 40 ms of a
        compiled objective and of a polish, and within long generations (docs/runs.md). A callback that returns a true
        value, or raises StopIteration, ends the fit.
    verbose : int, default 0
        0: print nothing; 1 or more: print the choices of "auto", with the reasons, and show a progress bar.
    random_state : int, RandomState, Generator or None, default None
        An int makes the result repeatable to the last bit, on any machine and device, with any number of threads, in
        one piece or resumed. SciPy's local searches may round differently on another machine (docs/runs.md).
        None: NumPy's global state makes the seed, as in scikit-learn.
    warm_start : bool, default False
        Let a second fit continue from the population of the first, with new limits.
    final_evals : int, default 0
        Further evaluations of every run, >= 0, for a noisy Python function, after its last generation: some choose x_
        among the members of the population, and fun_ is the mean of the others. Without them, fun_ is the luckiest
        value of all. They are part of max_evals, if that is given, and of n_evals_ (docs/objectives.md).
    on_error : {"raise", "nan"}, default "raise"
        The consequence of an exception in an objective of one point. "raise": the fit ends with it, and `resume`
        continues. "nan": the value is NaN, which never wins, and the first exception becomes a RuntimeWarning.
        Exceptions of constraints, and values that are no number, are always errors.
    recorder : Recorder, str, path-like or None, default None
        A log of all points with their values, or the file to which they are appended. Compiled objectives then run by
        single generations, with the same bits; execution="run", "graph" or "joblib" and several devices are refused.

    Attributes
    ----------
    x_, fun_ : ndarray of shape (dim,), float
        The best point of all runs, as it was evaluated, and its value. With constraints, the best feasible point or,
        where there is none, that with the least violation.
    params_ : dict of str to object
        The best point by the names of its variables, where the bounds are typed: integers are int, categories are
        their choices.
    n_fun_evals_ : int or None
        Calls of the objective with a point, of all runs: of a Python function under constraints those with feasible
        points. n_evals_ and max_evals count all points, each with one evaluation of the constraints.
    max_violation_ : float
        The largest violation of one constraint at x_, max(0, g) or abs(h); 0.0 without constraints.
    algorithm_ : Algorithm, list of Algorithm or AlgorithmSequence
        The parameter object that runs, as given or chosen. Where "auto" chose several searches, their `algorithms`,
        and `running`, that of the present one.
    polish_evals_ : int
        Evaluations of a run that "auto" kept for its default polish; 0: there is none.
    n_evals_, n_iter_, time_ : int, int, float
        Evaluations, generations and seconds of the best run.
    converged_, message_ : bool, str
        Whether the best run reached its target or tolerance at a feasible point, or independent searches agreed on it;
        the reason for its end, and whether there is no feasible point.
    population_, fitness_ : ndarray of shape (pop_size, dim), (pop_size,)
        Population and values of the best run; of all its islands, one after the other. Values of points that are not
        feasible are infinite. Of two searches the last; the best point may be one of the first.
    history_ : History
        The history of the best run.
    runs_ : list of RunResult
        The results of all runs.
    result_ : scipy.optimize.OptimizeResult
        The best run in SciPy's form; nfev counts all runs, success is converged_.

    Notes
    -----
    Arrays are NumPy's. With scikit-learn's ``array_api_dispatch``, bounds or x0 may be an array of another library:
    PyTorch, JAX, CuPy, or one with an array API namespace. Then x_, population_, fitness_, the arrays of result_ and
    the points of `ask` are arrays of that library on that device. A Python objective receives and returns them. runs_,
    history_, constraints' functions and fits that were loaded or pickled have NumPy's arrays.

    Where every variable has levels (`Integer`, `Ordinal`, `Categorical`, `Fixed`), the values of a Python function at
    up to 262144 points are remembered, also in files: a repeated point is not evaluated, and not counted in n_evals_.
    So are those of a compiled objective with execution="auto" in a space of at most 1024 points.
    The search is the same. A run ends, with converged_ True where there is a finite value, when it has come to every
    point of the space. The runs of a batch share the values, but each counts what it would evaluate alone. Nothing is
    remembered with final_evals, for a function that gave two values for one point before the fit, and with
    execution="joblib", "graph" or several devices.

    The same random_state gives the same bits, because random numbers are a function of their address (Philox4x32-10),
    floating-point operations are neither contracted nor reordered, and the kernels have their own sine, cosine and
    exponential. The rounding of a Python objective is that of its libraries.

    With constraints, selection follows feasibility rules (K. Deb: An efficient constraint handling method for genetic
    algorithms, 2000). A feasible point is better than an infeasible one. Of two feasible points the one with the
    smaller value is better, of two infeasible points the one with the smaller violation. The violation is the sum of
    all g above feasibility_tol and of the excess of abs(h) over it; it is infinite where f or a constraint is not a
    finite number. Stagnation counts the generations in which neither improved.

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

    FIT_PARAMETERS: ClassVar[tuple[str, ...]] = (
        "algorithm",
        "bounds",
        "n_runs",
        "n_islands",
        "migration",
        "device",
        "dtype",
        "feasibility_tol",
        "random_state",
    )
    REQUIRED_KEYS: ClassVar[dict[str, Any]] = REQUIRED_KEYS
    OPTIONAL_KEYS: ClassVar[dict[str, Any]] = OPTIONAL_KEYS

    _objective: Objective | None  # None: `tell` is given its values, or `resume` is given it after loading
    _source: dict[str, Any]  # of a fit that was loaded: how its objective is found again

    # -- fit and resume ------------------------------------------------------------------------------------------------

    def fit(self, objective: Any, bounds: Any = None, *, dim: int | None = None, x0: Any = None) -> Minimizer:
        """Minimise.

        Parameters
        ----------
        objective : str, Problem, ConstrainedProblem, DeviceObjective, function of C or callable
            A problem's name; a problem, with or without constraints; C++ compiled into the kernels; or f(X) on
            arrays of shape (n, dim), for any n, of the device's library, or f(x) of one point, which gets a dict of
            named variables, or keywords. Values may be of another library on the device, see `from_torch`, `from_jax`.
        dim : int or None, default None
            Number of variables, >= 1, where the objective leaves it open (names: that of the typed variables, or 30).
        bounds : array-like of shape (dim, 2), scipy.optimize.Bounds, mapping, list of Variable or None, default None
            The box, or typed variables, as in the constructor.
        x0 : array-like of shape (dim,) or (n, dim), dict, list of dict or None, default None
            First points of the initial population of every run, inside the box up to rounding; of named variables also
            as dicts, in which those with one value may be left out.

        Returns
        -------
        self : Minimizer

        Raises
        ------
        ValueError, TypeError
            For parameters, bounds or objective values that are not allowed. The best so far stays readable; that of an
            earlier fit does where the function fails before the first generation.
        RuntimeError
            For a device that does not exist.
        KeyboardInterrupt
            After Ctrl-C; the best so far stays readable, unless nothing had been evaluated, and `resume` continues.

        Notes
        -----
        After an error, Ctrl-C, a callback or max_time, also within a generation, what was evaluated is part of the
        results and of files, and `resume` evaluates no point again. Of a function of arrays a call that is interrupted
        is lost.

        Before the first generation f(X) is called with five or six points of the box and with one of them, to check
        that it returns one value a row, computed from that row alone; likewise the constraints' functions. If the two
        calls disagree, two more show whether the function is noisy: a noisy one is accepted. With vectorized="auto" a
        function of one point is called twice: with an array, for which its value is wrong or it raises, and with a
        point. Where neither call is right, the function's own exception is raised. With vectorized=False there are no
        such calls. They count neither in n_evals_ nor in time_. To record f(X), a fit calls it three times more with
        the points of one generation, which does not count in n_evals_.
        """
        check_parameters(self)
        warm = self.warm_start and hasattr(self, "_fit")
        returned, done = self._constraints_of_before() if warm else None, False
        while not done:
            try:
                with self._earlier_fit_kept():
                    prepared = self._begin(objective, dim, bounds, x0, warm, returned)
                if warm:
                    self._restart()
                self._search(*prepared)
                done = True
            except ConstraintsReturned as found:  # of the first call: the fit begins again, with constraints
                returned = found
        return self

    def _constraints_of_before(self) -> ConstraintsReturned | None:
        """Return that the objective of the present fit returns constraints; None where it does not."""
        source = self._source_of_objective()
        return ConstraintsReturned(sizes=read_sizes(source["returns"])) if "returns" in source else None

    def _source_of_objective(self) -> dict[str, Any]:
        """Return the entry of a file on the objective, with the numbers of constraints that it returns."""
        objective, rules = getattr(self, "_objective", None), self._fit.rules
        source = getattr(self, "_source", {}) if objective is None else objective.source
        return {**source, "returns": list(rules.sizes)} if isinstance(rules, ToldRules) and rules.sizes else source

    def _begin(
        self, given: Any, dim: int | None, bounds: Any, x0: Any, warm: bool, returned: ConstraintsReturned | None
    ) -> tuple[Objective, str]:
        """Check the objective, allocate the populations of a fit that is not warm, and return what the search needs."""
        bounds = self.bounds if bounds is None else list_bounds(bounds)
        self._library = CallerLibrary.of(bounds, x0)
        objective = make_objective(self, self._library, given, dim, move_to_host(bounds), returned=returned)
        x0 = move_to_host(x0)
        check_polishable(self.polish, objective)
        engine = self._make_engine(objective, objective.variables)
        check_device_of_library(self._library, engine)
        if warm:
            self._check_warm(engine, objective, x0)
        else:
            self._objective = objective  # before the fit, so that Ctrl-C leaves no fit with another function
            self._fit = self._make_fit(engine, objective, x0, asked=False)
        self._objective = objective
        return self._prepare(objective)

    def resume(self, objective: Any = None) -> Minimizer:
        """Continue a fit that was interrupted, or saved, up to the limits that are set now.

        Parameters
        ----------
        objective : optional
            As in `fit`. It is needed after `load` where the objective was a Python function or a DeviceObjective, or
            had constraints that are not part of a named problem. Set those constraints before, with
            set_params(constraints=...), or give a `ConstrainedProblem`.

        Returns
        -------
        self : Minimizer

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C, as from `fit`.
        """
        fit = self._require_fit("resume")
        self._check_unchanged()
        if objective is None:
            resolved = getattr(self, "_objective", None) or find_saved_objective(
                self, getattr(self, "_source", {}), self._space, fit.rules
            )
        else:
            takes = getattr(self, "_source", {}).get("takes") if getattr(self, "_objective", None) is None else None
            returned = self._constraints_of_before()
            resolved = make_objective(self, self._library, objective, len(self._space), self._space, takes, returned)
            check_rules(fit.rules, resolved.rules)
        check_parameters(self)
        check_polishable(self.polish, resolved)
        self._objective, fit.plan = resolved, renew_plan(self, self._plan)
        fit.population.set_limits(self._schedule.last_generations())
        self._search(*self._prepare(resolved))
        return self

    @property
    def algorithm_(self) -> Algorithm | AlgorithmSequence | Sequence[Algorithm]:
        """The parameter object that runs, as given or chosen."""
        return running_algorithm(self._begun_plan, self._fit.ledger.spent)

    @property
    def polish_evals_(self) -> int:
        """Evaluations of a run that "auto" kept for its default polish; 0: there is none."""
        plan = self._begun_plan
        return plan.polish_evals if plan.polish_is_default else 0

    @property
    def _begun_plan(self) -> FitPlan:
        return self._plan if hasattr(self, "_fit") else self._require_fit().require_plan()

    @property
    def _plan(self) -> FitPlan:
        """The plan of the fit."""
        return self._fit.require_plan()

    @property
    def _limits(self) -> FloatArray:
        variables = self._variables
        return self._plan.box if variables is None else variables.limits

    @property
    def _space(self) -> Variables | FloatArray:
        """The variables of the fit where they are typed, else the box."""
        return self._plan.box if self._plan.variables is None else self._plan.variables

    def _make_fit(self, engine: Engine, objective: Objective, x0: Any, asked: bool) -> Fit:
        """Return a new fit; of the objective only box, variables and rules are used."""
        if objective.variables is not None and x0 is not None:
            x0 = objective.variables.encode(objective.variables.points(x0))
        plan = make_plan(self, objective, x0, asked)
        for place in range(max(plan.n_restarts, 1), len(plan.searches)):  # parameters and memory are checked now
            engine.check_memory(*plan.populations(place, spent=plan.searches[0].evals or 0))
        fit = Fit(Population(engine, self._customize_spec(plan.batch(0, engine.check_memory))))
        fit.plan, fit.rules = plan, objective.rules
        self._note_parameters()
        return fit

    def _make_engine(self, objective: Objective | None, variables: Variables | None) -> Engine:
        """Return the engine of a fit. Without an objective, the user evaluates. A subclass may have its own."""
        return make_engine(self, objective, variables)

    def _customize_spec(self, spec: Spec) -> Spec:
        """Return the Spec that runs; a subclass may change it here."""
        return spec

    def _prepare(self, objective: Objective) -> tuple[Objective, str]:
        """Check the rest before the search, also the function; return it and the execution."""
        check_noise(self, objective)
        fit = self._fit
        execution = choose_execution(self.execution, objective, fit.engine)
        if self.recorder is not None:
            execution = choose_recorded_execution(self.execution, fit.engine)
        self._begin_record(fit)
        carry_calls(fit.rules, objective.rules)
        fit.rules = objective.rules
        fit.set_rules(self._plan.rules)
        objective.probe(fit.engine, fit.batch.spec.dtype, self.verbose)
        check_eval_time(self, objective)
        by_steps = execution in ("auto", "step") or (self.execution == "auto" and execution == "run")
        self._begin_memory(fit, objective, by_steps)
        return objective, "step" if fit.remembers else execution

    def _begin_record(self, fit: Fit) -> None:
        """Set the recorder of the evaluations, after a check that it takes them."""
        fit.recorder = current_recorder(self.recorder, fit.recorder)
        if fit.recorder is not None:
            fit.recorder.begin(fit.batch.spec.variables, fit.batch.dim)

    def _begin_memory(self, fit: Fit, objective: Objective, by_steps: bool) -> None:
        """Let values be remembered where all variables have levels, and this process sees the values of a function.

        Those of a compiled objective are in a small space, which a fit may come to the end of: steps take longer.
        """
        variables = fit.batch.spec.variables
        fit.remembers = (
            by_steps
            and variables is not None
            and not variables.real_components.any()
            and (objective.compiled is None or n_points(variables) <= FEW_POINTS)
            and not (objective.noisy or self.final_evals or shares(fit.engine))
        )
        if fit.remembers and fit.known is None and variables is not None:
            fit.known = KnownValues(variables, self.n_runs)

    def _search(self, objective: Objective, execution: str) -> None:
        fit, plan, schedule = self._fit, self._plan, self._schedule
        if not (fit.population.done and plan.final_evals):
            fit.ledger.final.values = None
        later_evals = None if plan.timed else plan.evals_after(len(fit.ledger.spent)) * plan.n_runs
        with stop_request(self, fit, later_evals) as stop:
            run_phases(schedule, objective, execution, stop, self.verbose)
        if objective.rules is not None or not fit.batch.host("differed").any():  # else two finite values are known
            fit.warn_without_value()

    @property
    def _schedule(self) -> Schedule:
        """The schedule of the fit, by the limits of its plan."""
        return Schedule(self._fit, self._customize_spec, print_news if self.verbose else None)

    def _check_warm(self, engine: Engine, objective: Objective, x0: Any) -> None:
        """Check that the runs can continue from their populations, and plan the rest."""
        fit = self._fit
        before, source = getattr(self, "_objective", None), getattr(self, "_source", {})
        if before is None and "problem" in source:
            before = find_saved_objective(self, source, self._space, fit.rules)
        check_warm_objective(before, self._plan.box, objective, x0)
        fit.plan = plan = warm_plan(self, self._plan, len(self._fit.ledger.spent))
        now = replace(plan, planned=plan.search_limits.without(plan.polish_evals, plan.dim))
        check_warm_spec(fit, now.batch(len(self._fit.ledger.spent), engine.check_memory), engine)
        self._check_unchanged()

    def _restart(self) -> None:
        """Let the runs continue from their populations, with new limits."""
        fit, batch = self._fit, self._fit.batch
        done = batch.host("generation")
        fit.restart(self._plan.last_generations(len(self._fit.ledger.spent), batch.spec.schedules, done=done))

    # -- ask and tell --------------------------------------------------------------------------------------------------

    def ask(self, n: int | None = None, *, return_ids: bool = False) -> Any:
        """Return the points to evaluate next: the trials of one generation, or some of them.

        Parameters
        ----------
        n : int or None, default None
            None: all trials of the generation. Else, with n >= 0, at most n of those that were not handed out before,
            of all runs. When all have been handed out and not all have been told, there are none: the next generation
            depends on every value of this one. Trials that violate constraints are not handed out.
        return_ids : bool, default False
            Whether to return the ids of the points, by which `tell` takes their values.

        Returns
        -------
        X : ndarray of shape (pop_size, dim), or (n_runs, pop_size, dim) with n_runs > 1; islands one after the other
            A copy, in NumPy or CuPy as the device has it, inside the bounds; of typed variables the values to evaluate.
            A second ask without a tell returns the same points. Some rows may need no value (docs/runs.md). With n, in
            a local search and with final_evals the shape is (k, dim), k >= 0, and every row needs a value.
        ids : ndarray of int of shape (pop_size,), (n_runs, pop_size) or (k,)
            With return_ids. No id is used twice in a fit; after `load` the points have the same ids.

        Raises
        ------
        ValueError
            Without bounds in the constructor.
        RuntimeError
            When every run has ended (`stopped_`).

        Examples
        --------
        Four workers; values come in any order. The result is that of `fit`, to the last bit:

        >>> from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
        >>> from skde import Minimizer
        >>> m = Minimizer("jde", bounds=[(-5, 5)] * 2, max_evals=2000, random_state=0, device="cpu")
        >>> with ThreadPoolExecutor(4) as pool:
        ...     running = {}
        ...     while not m.stopped_:
        ...         for x, i in zip(*m.ask(4 - len(running), return_ids=True)):
        ...             running[pool.submit(lambda x: (x**2).sum(), x)] = i
        ...         for job in wait(running, return_when=FIRST_COMPLETED).done:
        ...             m = m.tell(f=job.result(), ids=running.pop(job))
        >>> bool(m.fun_ < 1e-3)
        True
        """
        n = None if n is None else check_int("n", n, 0)
        with_ids = check_bool("return_ids", return_ids)
        fit = self._begun_fit()
        self._find_constraints()
        for phase in self._schedule.phases():
            X, ids = ask_phase(fit, phase, n)
            if X is not None:
                break
        else:
            raise RuntimeError(f"every run has ended: {self.message_}")
        if self._library is not None:
            X = self._library.convert(X)
        if with_ids:
            return X, ids_of_asked(fit) if ids is None else ids
        return X

    def tell(self, X: Array | None = None, f: Any = None, *, ids: Any = None, g: Any = None, h: Any = None) -> Self:
        """Set the values of points that `ask` returned, and select when a generation has all of its values.

        Parameters
        ----------
        X : ndarray of the shape that `ask` returned, or some of its rows, or None, default None
            The points that were evaluated: those of `ask`, in any order and in any parts. Other points inside the
            bounds may replace them: as many as `ask` returned, in its order, or with their `ids`. A component of a
            typed variable that has the value of `ask` stays the one behind it.
        f : array-like of shape (pop_size,), (n_runs, pop_size) or, for some rows, (k,)
            Their values, NaN for an evaluation that failed; the constraints are evaluated here. The values of rows that
            need none are ignored.
        ids : array-like of int of shape (k,), int or None, default None
            The ids of the points, where X is left out or has other points. No point is told twice, except that all rows
            of an `ask` without n may replace what was told of the same generation.
        g, h : array-like of the shape of f and one axis more, or of the shape of f for one, or None, default None
            Constraints g <= 0 and h = 0 that the evaluation has found; from the first tell on, and always as many.

        Returns
        -------
        self : Minimizer

        Raises
        ------
        ValueError
            For points or ids that no trial of the current generation has, or that have a value already; for values of
            another shape. Nothing is told then.
        RuntimeError
            Without an ask before it.

        Notes
        -----
        The values of an incomplete generation are part of the results, of files and of pickles. After `load` the trials
        without a value are handed out again, and values that were under way can be told by their points or ids.
        `resume` evaluates the trials without a value only.
        """
        if not hasattr(self, "_fit"):
            raise RuntimeError(NO_ASK)
        fit = self._fit
        self._begin_record(fit)
        refuse_ragged("X", X)
        refuse_ragged("f", f)
        refuse_ragged("g", g)
        refuse_ragged("h", h)
        if ids is not None or was_asked(fit):
            self._find_constraints()
        before = fit.rules
        if fit.requests is not None and fit.requests.partial is None:  # of a file
            self._needs_no_value()
        try:
            if ids is not None or was_asked(fit):
                self._take_told_constraints(g is not None or h is not None)
            tell_phase(fit, X, f, ids, (g, h))
        except Exception:  # nothing is told then, also not how many constraints there are
            fit.rules = before
            raise
        return self

    def _take_told_constraints(self, told: bool) -> None:
        """Let the fit have constraints that are told, from the first tell on."""
        fit = self._fit
        if told and not isinstance(fit.rules, ToldRules):
            if constraint_list(self.constraints) or isinstance(fit.rules, FeasibilityRules):
                raise ValueError("g and h are told where the constraints are not given; tell evaluates those itself")
            if fit.rules is None and fit.has_results:
                raise ValueError("g and h must be told from the first tell on, and the first one was told f alone")
            check_constrained_dtype(fit.batch.spec.dtype.name)
            fit.batch.spec.converging = LARGEST
            fit.batch.refresh()
            fit.rules = ToldRules(check_real("feasibility_tol", self.feasibility_tol, 0))
        elif not told and isinstance(fit.rules, ToldRules):
            raise ValueError("g and h must be told, as before")
        elif not told and isinstance(fit.rules, StoredOutcomes):
            raise ValueError("tell needs the constraints again: set_params(constraints=...)")

    def _find_constraints(self) -> None:
        """Let a loaded fit have the constraints that are set again."""
        fit, stored = self._fit, self._fit.rules
        if not isinstance(stored, StoredOutcomes):
            return
        if (objective := constraints_alone(self)) is not None:
            carry_calls(stored, objective.rules)
            fit.rules = objective.rules
        elif (returned := self._constraints_of_before()) is not None:
            fit.rules = ToldRules(check_real("feasibility_tol", self.feasibility_tol, 0), returned.sizes, stored)

    @property
    def stopped_(self) -> bool:
        """Whether every run has ended, so that `ask` has no more points.

        The status of a GPU is polled at most every few milliseconds, so that this may turn true some generations late.
        Until then `ask` returns points of the last populations, and their values are ignored. With `ask(n)` it is
        polled in every generation.
        """
        fit = self._begun_fit()
        if not self._needs_no_value():
            return False
        fit.warn_without_value()
        return True

    def _needs_no_value(self) -> bool:
        """Whether all phases are over; if not, the points of the present one can be told."""
        self._find_constraints()
        return all(is_over(self._fit, phase) for phase in self._schedule.phases())

    def _begun_fit(self) -> Fit:
        """Return the fit, which the first ask begins."""
        if not hasattr(self, "_fit"):
            with self._earlier_fit_kept():
                objective = make_objective_to_ask(self)
                self._objective = None
                self._library = CallerLibrary.of(self.bounds)
                engine = self._make_engine(None, objective.variables)
                check_device_of_library(self._library, engine)
                self._fit = self._make_fit(engine, objective, None, asked=True)
                self._begin_record(self._fit)
                self._begin_memory(self._fit, objective, by_steps=True)
        return self._fit

    @property
    def n_fun_evals_(self) -> int | None:
        """Calls of the objective with a point, of all runs: under constraints those of feasible points.

        None with execution="joblib" under constraints, where the calls are made in workers.
        """
        fit = self._require_fit()
        found, fitted = calls_of(fit.rules), getattr(self, "_objective", None) is not None
        if found is not None and fitted and isinstance(fit.engine, JoblibEngine):
            return None
        return sum(run.n_evals for run in self.runs_) if found is None else found

    # -- files ---------------------------------------------------------------------------------------------------------

    def _state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        fit = self._require_fit("save" if self._has_state else "")
        self._check_unchanged()
        rules_of(self, fit.rules is not None)
        limits_of(self)
        check_jobs(self.n_jobs)
        algorithm = combine_searches(self._plan.searches, fit.ledger.spent)
        return fit_state(self.get_params(deep=False), algorithm, self._plan, fit, self._source_of_objective())

    @classmethod
    def _from_header(cls, header: dict[str, Any], arrays: dict[str, Any]) -> Self:
        with entry(HEADER):
            algorithm = AUTO if header.get("automatic") else read_algorithm_argument(header)
            solver = cls(algorithm, migration=read_migration(header), **header["parameters"])
        check_layout(arrays, fit_layout(solver, header, arrays), whole=False)
        solver.bounds, solver.random_state = read_bounds_argument(header, arrays), int(arrays["seeds"][0])
        return solver

    def _restore(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        plan = read_plan(self, header, arrays)
        with entry(HEADER):
            spent = read_spent(header)
            spec = plan.batch(len(spent), saved=read_populations(arrays))
            spec = self._customize_spec(spec)
        check_populations(self, header, arrays, plan.searches[len(spent)].algorithms[0], spec)
        source = header["source"]
        compiled = "problem" in source or "device_objective" in source
        with entry(HEADER):
            check_choice("execution", self.execution, EXECUTIONS)
            asked = set(source) <= {"returns"}
            own = None if compiled or asked else Objective(plan.box)
            fit = Fit(Population(self._make_engine(own, plan.variables), spec))
        fit.ledger.spent = spent
        if "outcomes" in arrays:
            fit.rules = StoredOutcomes(arrays["outcomes"], header["feasibility_tol"], header.get("fun_evals"))
        fit.restore(header, arrays)
        restore_told(fit, arrays)
        self._source, self._objective = source, None
        fit.plan, self._fit = plan, fit
        self._note_parameters()


def print_news(text: str) -> None:
    """Print what a fit begins."""
    print(f"skde: {text}")
