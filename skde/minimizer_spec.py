"""From the parameters that a user set to what is to run, and where."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from skde.algorithms import Algorithm, FitSetting, get_algorithm
from skde.algorithms.population_size import PopulationSchedule
from skde.base import BaseSolver
from skde.engines import Engine, JoblibEngine, Spec, check_device, engine_for
from skde.engines.spec_builder import build_spec
from skde.islands import Archipelago, Migration
from skde.objectives.feasibility import LARGEST, FeasibilityRules, StoredOutcomes
from skde.objectives.objective import Objective
from skde.random_state import island_seeds, run_seeds
from skde.runner import Runner
from skde.stopping import check_stopping, last_generations, planned_budget
from skde.typing import FloatArray, IntArray
from skde.validation import (
    check_bool,
    check_choice,
    check_dtype,
    check_int,
    check_jobs,
    check_precision,
    check_real,
    check_start,
    check_verbose,
)

EXECUTIONS = ("auto", "run", "step", "graph", "joblib")


class Plan(NamedTuple):
    """What a fit that is in a file ran with: max_iter, max_evals and max_time as it began, its seeds and limits."""

    budget: tuple[Any, Any, Any]
    seeds: IntArray
    limits: IntArray


class Preparing(BaseSolver):
    """Checks the parameters of a Minimizer, and makes its engine and its batch of them."""

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

    algorithm: str | Algorithm | Sequence[Algorithm]
    bounds: Any
    max_iter: int | None
    max_evals: int | None
    max_time: float | None
    target: float | None
    tol: float | None
    stagnation: int | None
    n_runs: int
    n_islands: int
    migration: Migration | None
    device: str | Sequence[str]
    execution: str
    vectorized: bool
    warm_start: bool
    dtype: str
    n_jobs: int | None
    verbose: int
    random_state: Any
    constraints: Any
    feasibility_tol: float
    _box: FloatArray
    _planned: tuple[Any, Any, Any]  # the budget that the fit began with: some algorithms plan with it
    _objective: Objective | None  # None: its values are told, or it has to be given again after loading

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters; those of the algorithm, ``algorithm__F``, where it is an object.

        Raises
        ------
        ValueError
            For a parameter that is not there, with those that are.
        """
        algorithm = parameters.get("algorithm", self.algorithm)
        nested = [name for name in parameters if name.startswith("algorithm__")]
        if nested and not isinstance(algorithm, Algorithm):
            raise ValueError(f"{nested[0]} needs a parameter object, such as algorithm=JDE(); got {algorithm!r}")
        super().set_params(**parameters)
        return self

    def _check_parameters(self) -> None:
        """Refuse values of a wrong type or out of range by the parameter's name, whether or not this fit uses it."""
        check_choice("execution", self.execution, EXECUTIONS)
        check_dtype(self.dtype)
        check_bool("vectorized", self.vectorized)
        check_bool("warm_start", self.warm_start)
        check_verbose(self.verbose)
        check_jobs(self.n_jobs)
        check_real("feasibility_tol", self.feasibility_tol, 0)

    def _engine(self, objective: Objective | None) -> Engine:
        device = self.device
        python = objective is not None and objective.compiled is None
        if self.execution == "joblib":
            if not isinstance(device, str):
                raise ValueError(f"execution='joblib' needs one device, that of every worker, got device={device!r}")
            check_device(device)
            return JoblibEngine("cpu" if python and device == "auto" else device, self.n_jobs)
        return engine_for(device, self.n_jobs, python, self.verbose)

    @property
    def _row_jobs(self) -> int | None:
        """Joblib workers of a function of one point: one, where joblib's workers call it."""
        return 1 if self.execution == "joblib" else self.n_jobs

    def _algorithms(self) -> list[Algorithm]:
        """Return one parameter object a run or, where they are all the same, that one."""
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
        return [get_algorithm(self.algorithm)]

    def _start(
        self, engine: Engine, box: FloatArray, x0: Any, rules: FeasibilityRules | StoredOutcomes | None
    ) -> Runner:
        """Check everything and allocate the batch."""
        kinds, times = self._kinds(box, x0, rules is not None)
        engine.check_room(kinds, times * len(kinds.seeds))
        runner = Runner(engine, self._repeated(kinds, times))
        runner.rules = rules
        self._box, self._planned = box, self._budget
        self._note_parameters()
        return runner

    def _stopping(self, constrained: bool) -> dict[str, Any]:
        """Return the checked rules for stopping; with constraints, only feasible points reach a target."""
        rules = check_stopping(self.target, self.tol, self.stagnation, self.max_time)
        if constrained and rules["target"] is not None:
            rules["target"] = min(rules["target"], LARGEST)
        return rules

    def _setting(self, dim: int, budget: tuple[Any, Any, Any]) -> FitSetting:
        """Return what an algorithm may plan with."""
        n_islands = check_int("n_islands", self.n_islands, 1, 2**16)
        return FitSetting(dim, **planned_budget(dim, *budget, n_islands))

    def _spec(self, box: FloatArray, x0: Any, constrained: bool, saved: Plan | None = None) -> Spec:
        """Check everything and say what is to run; `saved`: what a fit that is in a file ran with."""
        return self._repeated(*self._kinds(box, x0, constrained, saved), saved)

    def _kinds(self, box: FloatArray, x0: Any, constrained: bool, saved: Plan | None = None) -> tuple[Spec, int]:
        """Check everything; return one population of each kind, without seeds, and how often each is to run."""
        algorithms = self._algorithms()
        n_islands = check_int("n_islands", self.n_islands, 1, 2**16)
        setting = self._setting(len(box), self._budget if saved is None else saved.budget)
        given = [algorithm.kernel_parameters(setting) for algorithm in algorithms]
        rules = self._stopping(constrained)
        dtype = check_dtype(self.dtype)
        if constrained and dtype != "float64":
            raise ValueError(f"dtype must be 'float64' where there are constraints, got {dtype!r}")
        schedules = [PopulationSchedule.from_parameters(parameters) for parameters in given]
        check_precision(box, dtype)
        kinds = build_spec(
            algorithms,
            given,
            schedules,
            setting,
            box,
            seeds=np.zeros(len(algorithms), np.uint64),
            limits=self._limits(schedules, len(box)) if saved is None else np.full(len(given), saved.limits.max()),
            start=check_start(x0, box, min(schedule.most for schedule in schedules)),
            islands=self._archipelago(n_islands, min(schedule.members for schedule in schedules)),
            target=rules["target"],
            tol=rules["tol"],
            stagnation=rules["stagnation"],
            dtype=np.dtype(dtype),
        )
        return kinds, int(self.n_runs) // len(algorithms) * n_islands

    def _repeated(self, kinds: Spec, times: int, saved: Plan | None = None) -> Spec:
        """Return what is to run, with seeds: every kind so often."""
        n_islands = kinds.islands.n_islands
        if saved is None:
            seeds = island_seeds(run_seeds(self.random_state, len(kinds.seeds) * times // n_islands), n_islands)
            limits = kinds.limits if times == 1 else np.repeat(kinds.limits, times)
        else:
            seeds, limits = saved.seeds, saved.limits
        return kinds.repeated(times, seeds, limits)

    def _limits(self, schedules: Sequence[PopulationSchedule], dim: int, done: Any = None) -> Any:
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
