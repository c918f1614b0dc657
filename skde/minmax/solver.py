"""MinMaxSolver: two populations that evolve against each other, for min-max problems and constrained ones."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, ClassVar, Self, cast

import numpy as np

from skde.algorithms import DE, Algorithm
from skde.callbacks import Callback, stop_request
from skde.engines import CoevolutionSpec, Engine, MultiDeviceEngine
from skde.fit.execution import run_search
from skde.fit.fit import Fit
from skde.minmax.ask_tell import AskedCycle, next_cycle
from skde.minmax.engine import CoevolutionEngine
from skde.minmax.evaluator import run_cycles
from skde.minmax.fit import Incumbents, MinMaxFit
from skde.minmax.objective import MinMaxObjective, make_told_objective
from skde.minmax.recording import make_recorded_variables
from skde.minmax.solution import MinMaxSolution
from skde.minmax.solver_objective import find_named_objective, resolve_again, resolve_objective
from skde.minmax.spec import (
    check_game_eval_time,
    check_game_parameters,
    coevolution_engine,
    coevolution_spec,
    last_cycle,
    make_rules,
)
from skde.minmax.state import (
    own_layout,
    pack_algorithms,
    pack_arrays,
    pack_parameters,
    pack_variables,
    read_algorithms,
    read_bounds,
    read_fit,
)
from skde.recorder import Recorder, current_recorder
from skde.stopping import check_limits
from skde.typing import Array
from skde.utils.serialization import HEADER, check_layout, entry
from skde.utils.validation import check_int, check_jobs, suggest_names


class MinMaxSolver(MinMaxSolution):
    r"""Minimise over x the maximum over y of a function, with two populations that evolve in turns.

    In a cycle the population of x evolves for `gens_x` generations while y is fixed, then y for `gens_y` generations
    while x is fixed:

    .. math::

        F_1(x) = \max_{y \in P_2 \cup A} f(x, y), \qquad F_2(y) = \min_{x \in P_1} f(x, y)

    with the strongest opponents of earlier cycles in the archive A. All values are computed again after the other side
    has evolved. The value of the incumbent x_ is the worst against all opponents so far: the best x of a cycle replaces
    it when its worst value is smaller.

    A constrained problem is solved as a game of points against multipliers, with its `AugmentedLagrangian`. By default
    the multipliers are not a population but one vector, updated once a cycle by the method of multipliers, and the
    penalty factors grow where a violation does not fall:

    .. math::

        \mu_i \leftarrow \max(0, \mu_i + 2 r_i g_i(x^b)), \qquad \lambda_j \leftarrow \lambda_j + 2 r_j h_j(x^b),
        \qquad r_i \leftarrow 2 r_i \text{ where } v_i > v_i^{before} / 2

    at the best :math:`x^b` of the population, with :math:`v_i = |\max(g_i, -\mu_i / (2 r_i))|` or :math:`|h_i|`. The
    incumbent is then the best point by feasibility rules among the populations of all cycles.

    Parameters
    ----------
    algorithm_x, algorithm_y : str or Algorithm, default "jde" and None
        The algorithms of the sides: any of the registry but "ss" (docs/minmax.md). A name means 50 individuals.
        None: y as x.
    bounds_x, bounds_y : array-like of shape (dim, 2), scipy.optimize.Bounds, mapping, list or None, default None
        The boxes for ask and tell, and for fit without bounds, or typed variables as in `Minimizer`. Problems have
        their own boxes.
    max_iter : int, default 200
        Limit on the iterations, which are cycles, after the initial populations, >= 0.
    gens_x, gens_y : int, default 20
        Generations of a side in a cycle, >= 1.
    archive_size : int, default 10
        Size of the archive of strongest opponents of x, one from each cycle, >= 0; a new one replaces the oldest.
    renewal : float, default 0.2
        Share of y's population, in [0, 1), that random points of the box replace, the worst first, before y evolves in
        a cycle. This keeps y from gathering at one of several best responses to x.
    multipliers : {"update", "evolve"}, default "update"
        Whether the multipliers of a constrained problem are updated once a cycle, or are a population.
    penalty : float or None, default None
        The factor r of the Lagrangian, in (0, 1e300]; None: one for each constraint, from the initial population, and
        adapted.
    multiplier_bound : float, default 1e4
        Largest absolute value of a multiplier that evolves, in (0, 1e300].
    feasibility_tol : float, default 1e-6
        Largest violation of a constraint at a feasible point, >= 0.
    max_evals : int or None, default None
        Limit of the evaluations of one run, >= 1, which runs whole cycles and never exceeds it. An evaluation is a pair
        (x, y) or, for a constrained problem, a point x.
    max_time : float or None, default None
        Time limit in seconds, > 0, checked between cycles about every 50 ms, between pairs of a function of one pair
        after the first, and between calls of one of arrays. Workers of a function of one pair that hang are ended.
    target : float or None, default None
        A run ends when the value of its incumbent is <= target.
    tol : float or None, default None
        A run ends when a cycle changes nothing: the best values of both sides, at its end and at the end of the cycle
        before, differ by at most atol + tol times the larger of their sizes, >= 0. Not while all values were equal.
    atol : float, default 0.0
        Absolute tolerance of this rule, >= 0, for values near 0; with tol=None and atol > 0, tol is 0.
    stagnation : int or None, default None
        A run ends when the value of its incumbent has not improved for this many cycles, >= 1.
    n_runs : int, default 1
        Independent runs in one batch, >= 1; run 0 is the run of n_runs=1.
    device : {"auto", "cpu", "cuda", "cuda:N"} or list of these, default "auto"
        "auto": a GPU, if there is one, for names and problems; the CPU for Python functions. A list, of GPUs or of
        "cpu" several times, divides the runs: one thread for each device, and each may call a Python function. Results
        have the same bits as on one device.
    dtype : {"float64", "float32"}, default "float64"
        Precision of positions and values, to which bounds are rounded inwards; a constrained problem needs float64.
    pairwise : {"auto"} or bool, default "auto"
        Whether a callable takes one pair, f(x, y), and returns a number; False: f(X, Y) of shapes (n, dim x) and
        (m, dim y) returns all values, of shape (n, m). "auto": `fit` finds it out by a call of each form.
    n_jobs : int or None, default None
        Threads of a CPU for compiled problems (None: OpenMP's number), and joblib workers of a function of one pair, or
        of one point in a constrained problem (None: 1, or as joblib.parallel_config says). At most 1024 or, where these
        are more, the number of processors.
    callbacks : callable, list of callables or None, default None
        Called with a `Progress` after the first cycle and then about every 40 ms, or after each longer cycle, and with
        a Python function on one device every 0.25 s within one. A callback that returns a true value, or raises
        StopIteration, ends the fit.
    verbose : int, default 0
        0: print nothing; 1 or more: print the choice of "auto" and a progress bar.
    random_state : int, RandomState, Generator or None, default None
        An int makes the result repeatable to the last bit. None: NumPy's global state makes the seed.
    on_error : {"raise", "nan"}, default "raise"
        The consequence of an exception in a function of one pair, or in the objective of one point of a constrained
        problem. "raise": the fit ends with it, and `resume` continues. "nan": the value is NaN, which counts as
        infinity for x and never wins for y, and the first exception becomes a RuntimeWarning.
    max_eval_time : float or None, default None
        Time limit in seconds, > 0, of one evaluation of a function of one pair in processes (n_jobs > 1): the value is
        then NaN, the first one becomes a warning, and the process is ended.
    recorder : Recorder, str, path-like or None, default None
        A log of all pairs with their values, or of all points of a constrained problem, or the file to which they are
        appended. Compiled problems then run by single requests, with the same bits. For one device.

    Attributes
    ----------
    x_, y_ : ndarray of shape (dim x,), (dim y,)
        The best incumbent of all runs, and its strongest opponent so far; for a constrained problem the
        multipliers at the end. docs/minmax.md says how runs are compared.
    fun_ : float
        f(x_, y_); for a constrained problem f(x_).
    multipliers_ : ndarray of shape (m + l,)
        y_ of a constrained problem.
    max_violation_ : float
        The largest violation of a constraint at x_, for a constrained problem; 0 without a violation.
    worst_case_ : float
        An estimate of max over y of f(x_, y), at least fun_; larger where no opponent so far was the strongest one.
    saddle_gap_ : float
        worst_case_ minus an estimate of min over x of f(x, y_): about 0 at a saddle point. Searches of 200 generations
        compute both estimates on first access.
    n_evals_, n_iter_, time_ : int, int, float
        Evaluations, also of a cycle that is not complete, complete cycles and seconds of the best run.
    converged_, message_ : bool, str
        Whether the best run reached its target or tolerance; the reason for its end.
    population_x_, population_y_ : ndarray of shape (pop_size, dim)
        The populations of the best run.
    history_ : History
        The history of the best run, by cycles; values rise when a new opponent is stronger than those before.
    runs_ : list of RunResult
        The results of all runs; their x is x followed by y.
    result_ : scipy.optimize.OptimizeResult
        The best run in SciPy's form; nfev counts all runs, success is converged_.

    Notes
    -----
    Source: F. Fabris, R. A. Krohling: A co-evolutionary differential evolution algorithm for solving min-max
    optimization problems implemented on GPU using C-CUDA, Expert Systems with Applications, 2012, algorithm 1,
    equations 6, 7, 11 and 12; `fabris2012` has its settings. The method of multipliers: M. R. Hestenes, 1969; M. J. D.
    Powell, 1969; R. T. Rockafellar, 1973.

    Differences: equation 12 is printed with max, its text and ours have min. The paper evolves multipliers with a fixed
    r; by default they are updated and r is adapted, which reaches optima that the paper does not. The paper has no
    archive, and takes the best of the last population. Pairs are evaluated once; the paper's code does so twice.

    Examples
    --------
    >>> import numpy as np
    >>> from skde import MinMaxSolver
    >>> solver = MinMaxSolver(max_iter=50, random_state=0, device="cpu")
    >>> def f(X, Y):
    ...     return (X[:, :1] - 2) ** 2 - (Y[:, 0] - 2) ** 2 + X[:, :1] * Y[:, 0]
    >>> solver = solver.fit(f, bounds_x=[(-5, 5)], bounds_y=[(-5, 5)])
    >>> np.round(solver.x_, 2), np.round(solver.y_, 2)
    (array([0.8]), array([2.4]))
    >>> solver = MinMaxSolver(random_state=0, device="cpu").fit("fabris2012/p6")
    >>> round(solver.fun_, 6), solver.max_violation_ <= 1e-6
    (0.012665, True)
    """

    FIT_PARAMETERS: ClassVar[tuple[str, ...]] = (
        "algorithm_x",
        "algorithm_y",
        "bounds_x",
        "bounds_y",
        "gens_x",
        "gens_y",
        "archive_size",
        "renewal",
        "multipliers",
        "penalty",
        "multiplier_bound",
        "feasibility_tol",
        "n_runs",
        "device",
        "dtype",
        "random_state",
    )
    REQUIRED_KEYS: ClassVar[dict[str, Any]] = {
        "parameters": dict,
        "algorithms": list,
        "source": dict,
        "seconds": (float, int),
        "ending": int,
        "n_ids": int,
        "planned": int,
    }
    OPTIONAL_KEYS: ClassVar[dict[str, Any]] = {"variables": list}
    NOT_PICKLED: ClassVar[tuple[str, ...]] = (*MinMaxSolution.NOT_PICKLED, "_cycle", "_planned")

    _source: dict[str, Any]  # the entry of a file from which resume gets the function
    _planned: int  # max_iter at the beginning of the fit: some algorithms plan with it
    _cycle: AskedCycle | None = None  # the cycle that ask and tell are in

    @suggest_names
    def __init__(
        self,
        algorithm_x: str | Algorithm = "jde",
        algorithm_y: str | Algorithm | None = None,
        *,
        bounds_x: Any = None,
        bounds_y: Any = None,
        max_iter: int = 200,
        gens_x: int = 20,
        gens_y: int = 20,
        archive_size: int = 10,
        renewal: float = 0.2,
        multipliers: str = "update",
        penalty: float | None = None,
        multiplier_bound: float = 1e4,
        feasibility_tol: float = 1e-6,
        max_evals: int | None = None,
        max_time: float | None = None,
        target: float | None = None,
        tol: float | None = None,
        atol: float = 0.0,
        stagnation: int | None = None,
        n_runs: int = 1,
        device: str = "auto",
        dtype: str = "float64",
        pairwise: bool | str = "auto",
        n_jobs: int | None = None,
        callbacks: Callback | Sequence[Callback] | None = None,
        verbose: int = 0,
        random_state: Any = None,
        on_error: str = "raise",
        max_eval_time: float | None = None,
        recorder: Recorder | str | os.PathLike[str] | None = None,
    ) -> None:
        self.algorithm_x = algorithm_x
        self.algorithm_y = algorithm_y
        self.bounds_x = bounds_x
        self.bounds_y = bounds_y
        self.max_iter = max_iter
        self.gens_x = gens_x
        self.gens_y = gens_y
        self.archive_size = archive_size
        self.renewal = renewal
        self.multipliers = multipliers
        self.penalty = penalty
        self.multiplier_bound = multiplier_bound
        self.feasibility_tol = feasibility_tol
        self.max_evals = max_evals
        self.max_time = max_time
        self.target = target
        self.tol = tol
        self.atol = atol
        self.stagnation = stagnation
        self.n_runs = n_runs
        self.device = device
        self.dtype = dtype
        self.pairwise = pairwise
        self.n_jobs = n_jobs
        self.callbacks = callbacks
        self.verbose = verbose
        self.random_state = random_state
        self.on_error = on_error
        self.max_eval_time = max_eval_time
        self.recorder = recorder

    @classmethod
    def fabris2012(cls, strategy: str = "rand/1/bin", pop_size: int = 50, **parameters: Any) -> MinMaxSolver:
        """Return the solver of Fabris and Krohling (2012): DE on both sides, F = CR = 0.7, r = 1e7.

        Parameters
        ----------
        strategy : {"rand/1/bin", "best/1/bin"}, default "rand/1/bin"
            Strategy of both sides.
        pop_size : int, default 50
            Individuals on each side, as in `DE`; the paper has 50 and 100.
        **parameters
            Other parameters of the solver.
        """
        side = DE(strategy=strategy, F=0.7, CR=0.7, pop_size=pop_size)
        published = {"archive_size": 0, "renewal": 0.0, "multipliers": "evolve", "penalty": 1e7}
        return cls(side, **{**published, **parameters})

    # -- fit and resume ------------------------------------------------------------------------------------------------

    def fit(self, objective: Any, bounds_x: Any = None, bounds_y: Any = None, *, dim: int | None = None) -> Self:
        """Solve.

        Parameters
        ----------
        objective : str, MinMaxProblem, ConstrainedProblem or callable
            A problem's name; a problem; f(X, Y) on arrays of the device's library, of shapes (n, dim x) and
            (m, dim y), which returns the values of all pairs, of shape (n, m); or f(x, y) of one pair.
        bounds_x, bounds_y : array-like of shape (dim, 2), scipy.optimize.Bounds or None, default None
            The boxes.
        dim : int or None, default None
            Number of variables of x, >= 1, where a problem's name leaves it open.

        Returns
        -------
        self : MinMaxSolver

        Raises
        ------
        ValueError, TypeError
            For invalid parameters, boxes or values. The best so far stays readable; where the function fails
            before the first cycle, the result of an earlier fit does.
        RuntimeError
            When there is no such device.
        KeyboardInterrupt
            After Ctrl-C; the best so far stays readable, unless nothing had been evaluated, and `resume` continues.

        Notes
        -----
        Before the first cycle f(X, Y) is called with a few points and with one pair of them, as in `Minimizer.fit`;
        these calls do not count.

        After an error, Ctrl-C, a callback or max_time, also within a cycle, what was evaluated counts, is part of files
        and pickles, and `resume` evaluates no pair again. Of a function of arrays a call that is interrupted is lost.
        x_ and y_ are from the last complete cycle; before the first one, x_ has the smallest worst value of those with
        the most opponents.
        """
        check_game_parameters(self)
        resolved = resolve_objective(self, objective, bounds_x, bounds_y, dim)
        with self._earlier_fit_kept():
            self._objective, self._source, self._cycle = resolved, resolved.source, None
            self._fit = self._start(resolved, coevolution_spec(self, resolved), self.max_iter)
            self._prepare(resolved)
        self._solve(resolved)
        return self

    def resume(self, objective: Any = None) -> Self:
        """Continue a fit that was interrupted, or saved, up to the current limits.

        Parameters
        ----------
        objective : optional
            As in `fit`; needed after `load` where it was a Python function.

        Returns
        -------
        self : MinMaxSolver

        Raises
        ------
        KeyboardInterrupt
            After Ctrl-C, as from `fit`.
        """
        fit = self._require_fit("resume")
        self._check_unchanged()
        if objective is not None:
            takes = self._source.get("takes") if self._objective is None else None
            resolved = resolve_again(self, objective, self._coevolution.coevolution_spec, *self._spaces, takes)
        else:
            resolved = self._objective or find_named_objective(self, self._source)
        check_game_parameters(self)
        fit.population.set_limits(np.full(fit.batch.n_runs, last_cycle(self, fit.batch.spec.schedules[0])))
        self._prepare(resolved)
        self._solve(resolved)
        return self

    def _start(self, objective: MinMaxObjective, spec: CoevolutionSpec, planned: int) -> MinMaxFit:
        """Allocate the populations."""
        # A CoevolutionEngine has the part of the Engine protocol that a fit uses for whole cycles.
        fit = MinMaxFit(Incumbents(cast(Engine, coevolution_engine(self, objective)), spec))
        self._boxes, self._planned = (objective.box_x, objective.box_y), planned
        self._note_parameters()
        return fit

    def _prepare(self, objective: MinMaxObjective) -> None:
        """Check the rest before the first cycle, also the function."""
        fit = self._fit
        fit.rules = objective.rules
        self._begin_record(fit)
        fit.set_rules(make_rules(self))
        objective.probe(fit.engine, fit.batch.spec.dtype, self.verbose)
        check_game_eval_time(self, objective)
        self._objective, self._source, self._cycle = objective, objective.source, None

    def _begin_record(self, fit: Fit) -> None:
        """Set the recorder of the evaluations, after a check that it takes them."""
        fit.recorder = current_recorder(self.recorder, fit.recorder)
        if fit.recorder is not None:
            if isinstance(fit.engine, MultiDeviceEngine):
                raise ValueError(f"recorder needs one device, got {fit.engine.name!r}")
            variables = make_recorded_variables(self._coevolution.coevolution_spec)
            fit.recorder.begin(variables, len(variables))

    def _solve(self, objective: MinMaxObjective) -> None:
        fit, max_time = self._fit, check_limits(None, self.max_evals, self.max_time).max_time
        with stop_request(self, fit) as stop:
            if objective.game is None or fit.recorder is not None:
                run_cycles(fit, objective, max_time, stop)
            else:
                run_search(fit, objective, "run", max_time, stop)
        fit.warn_without_value()  # as in Minimizer

    # -- ask and tell --------------------------------------------------------------------------------------------------

    def ask(self, n: int | None = None) -> tuple[Array, Array]:
        """Return the points to evaluate next, each x against each y.

        Parameters
        ----------
        n : int or None, default None
            None: all points. Else, with n >= 0, at most n rows of X that were not handed out before and have pairs
            without a value, and all of Y; none, when these have been handed out. For n_runs=1.

        Returns
        -------
        X, Y : ndarray of shape (n, dim x), (m, dim y), or (n_runs, n, dim x), (n_runs, m, dim y) with n_runs > 1
            NumPy or CuPy, on the solver's device. Calling ask again without tell returns the same points. The rows of
            a run that has ended are points of its last populations: they are inside the boxes, and need no value.

        Raises
        ------
        ValueError
            Without bounds_x and bounds_y in the constructor, for several devices, and for n with several runs.
        RuntimeError
            When every run has ended (`stopped_`).
        """
        if not hasattr(self, "_fit"):
            self._start_asking()
        fit = self._fit
        if fit.population.done:
            raise RuntimeError(f"every run has ended: {self.message_}")
        engine = cast(Any, fit.engine)
        if not isinstance(engine, CoevolutionEngine):
            raise ValueError(f"ask and tell need one device, got device={self.device!r}")
        if self._cycle is None:
            self._cycle = next_cycle(fit, engine)
        if self._cycle is None:
            raise RuntimeError(f"every run has ended: {self.message_}")
        return self._cycle.points if n is None else self._cycle.hand_out(check_int("n", n, 0))

    def tell(self, X: Array, Y: Array, F: Array) -> Self:
        """Set the values of the pairs that `ask` returned, and continue when all pairs have values.

        Parameters
        ----------
        X, Y : ndarray
            The points that `ask` returned; with n_runs=1 also some rows of these, in any order.
        F : array-like of shape (n, m), or (n_runs, n, m)
            The value of every row of X against every row of Y. Values of a run that has ended are ignored. Of values
            that are told twice the last one counts.

        Returns
        -------
        self : MinMaxSolver

        Notes
        -----
        Values that were told in parts count, and are in files and pickles. After `load`, ask(n) returns the rows of X
        that have pairs without a value.
        """
        cycle = self._cycle
        if cycle is None:
            raise RuntimeError("tell needs an ask before it: X, Y = ask(), and then tell(X, Y, f(X, Y))")
        self._begin_record(self._fit)
        if not cycle.tell(X, Y, F):
            return self
        self._cycle = None  # also after an error in the next line
        if cycle.go_on():
            self._cycle = cycle
        return self

    def _start_asking(self) -> None:
        for name in ("bounds_x", "bounds_y"):
            if getattr(self, name) is None:
                raise ValueError(f"ask needs {name}: MinMaxSolver({name}=[(low, high), ...])")
        check_game_parameters(self)
        check_limits(None, self.max_evals, self.max_time)
        self._objective, self._source = None, {}
        objective = make_told_objective(self.bounds_x, self.bounds_y)
        self._fit = self._start(objective, coevolution_spec(self, objective), self.max_iter)
        self._fit.set_rules(make_rules(self))
        self._begin_record(self._fit)

    @property
    def stopped_(self) -> bool:
        """Whether every run has ended, so that no points are left to evaluate."""
        stopped = hasattr(self, "_fit") and self._fit.population.done
        if stopped:
            self._fit.warn_without_value()
        return stopped

    # -- files and pickles ---------------------------------------------------------------------------------------------

    def _state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        fit, batch = self._require_fit(), self._coevolution
        if batch.constraints and "problem" not in self._source:
            raise ValueError("the constraints of Python functions cannot be in a file or a pickle")
        self._check_unchanged()
        make_rules(self)
        check_limits(None, self.max_evals, self.max_time)
        check_jobs(self.n_jobs)
        run_header, run_arrays = fit.state()
        header: dict[str, Any] = {
            "parameters": pack_parameters(self.get_params(deep=False), batch.spec.dtype.name),
            "algorithms": pack_algorithms(self),
            "source": self._source,
            **run_header,
            "planned": self._planned,
        } | pack_variables(batch)
        return header, pack_arrays(batch, self._boxes) | run_arrays

    @classmethod
    def _from_header(cls, header: dict[str, Any], arrays: dict[str, Any]) -> Self:
        with entry(HEADER):
            algorithm_x, algorithm_y = read_algorithms(header)
            solver = cls(cast(Algorithm, algorithm_x), algorithm_y, **header["parameters"])
        check_layout(arrays, own_layout(solver), whole=False)
        solver.bounds_x, solver.bounds_y = read_bounds(header, arrays)
        solver.random_state = int(arrays["seeds"][0])
        return solver

    def _restore(self, header: dict[str, Any], arrays: dict[str, Any]) -> None:
        check_layout(arrays, own_layout(self), whole=False)
        saved = read_fit(self, header, arrays)
        self._source = header["source"]
        self._objective = saved.objective if "problem" in self._source else None  # a name is enough to find it
        with entry(HEADER):
            fit = self._start(saved.objective, saved.spec, saved.planned)
        fit.rules = saved.objective.rules
        fit.restore(header, arrays)
        fit.restore_told(arrays, saved.objective)
        self._fit = fit
