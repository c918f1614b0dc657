"""From the parameters that a user set to the populations that are to run, and where."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np

from skde.algorithms import Algorithm, FitSetting, get_algorithm
from skde.algorithms.population_size import PopulationSchedule
from skde.engines import CoevolutionSpec, DeviceEngine, Engine, MultiDeviceEngine, Spec, engine_for
from skde.engines.spec_builder import build_spec
from skde.minmax.engine import CoevolutionEngine, CycleSchedule
from skde.minmax.multi_device import MultiDeviceCoevolution
from skde.minmax.objective import Pairs
from skde.minmax.results import Results
from skde.random_state import island_seeds, run_seeds
from skde.runner import Runner
from skde.stopping import UNLIMITED, check_stopping
from skde.typing import FloatArray, IntArray
from skde.validation import (
    check_bool,
    check_choice,
    check_dtype,
    check_int,
    check_jobs,
    check_precision,
    check_real,
    check_verbose,
)

POP_SIZE = 50  # of a side whose algorithm is given by name
MULTIPLIERS = ("update", "evolve")
LARGEST_FACTOR = 1e300  # of multipliers and penalties, so that boxes and products stay finite


class MinMaxRunner(Runner):
    """A runner that says what a game without a finite answer lacks."""

    def _check_start(self) -> None:
        if self.generation == 0 and self.rules is None and self.batch.is_blank():
            raise ValueError(
                "no x of the initial population has a smallest worst value that is finite: f(X, Y) is NaN or infinite "
                "for some y against every x, or -inf for all y against some x; nothing to compare"
            )
        super()._check_start()


class Plan(NamedTuple):
    """What a fit that is in a file ran with: n_cycles as it began, the runs' seeds and those of the sides, limits."""

    n_cycles: int
    seeds: IntArray
    seeds_x: IntArray
    seeds_y: IntArray
    limits: IntArray


class Preparing(Results):
    """Checks the parameters of a MinMaxSolver, and makes its engine and its populations of them."""

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

    algorithm_x: str | Algorithm
    algorithm_y: str | Algorithm | None
    n_cycles: int
    gens_x: int
    gens_y: int
    archive_size: int
    renewal: float
    multipliers: str
    penalty: float | None
    multiplier_bound: float
    feasibility_tol: float
    max_evals: int | None
    max_time: float | None
    target: float | None
    tol: float | None
    stagnation: int | None
    n_runs: int
    device: str | Sequence[str]
    dtype: str
    pairwise: bool
    n_jobs: int | None
    verbose: int
    random_state: Any
    _planned: int  # n_cycles as the fit began: some algorithms plan with it

    def _check_parameters(self) -> None:
        """Refuse values of a wrong type or out of range by the parameter's name, whether or not this fit uses it."""
        check_dtype(self.dtype)
        check_bool("pairwise", self.pairwise)
        check_verbose(self.verbose)
        check_jobs(self.n_jobs)
        check_real("feasibility_tol", self.feasibility_tol, 0)

    def _engine(self, pairs: Pairs) -> CoevolutionEngine | MultiDeviceCoevolution:
        # Around a Python function a generation's own work is too short for threads to meet twice in it.
        threads = 1 if pairs.game is None else self.n_jobs
        engine = engine_for(self.device, threads, pairs.game is None, self.verbose)
        return (
            MultiDeviceCoevolution(engine)
            if isinstance(engine, MultiDeviceEngine)
            else CoevolutionEngine(cast(DeviceEngine, engine))
        )

    def _start(self, pairs: Pairs) -> Runner:
        """Check everything and allocate the populations."""
        return self._begin_with(pairs, self._rounds(pairs), self.n_cycles)

    def _begin_with(self, pairs: Pairs, rounds: CoevolutionSpec, planned: int) -> Runner:
        """Allocate the populations."""
        # An Arena makes whole cycles: a runner asks it for nothing else.
        runner = MinMaxRunner(cast(Engine, self._engine(pairs)), rounds)
        self._boxes, self._planned = (pairs.box_x, pairs.box_y), planned
        self._note_parameters()
        return runner

    def _rounds(self, pairs: Pairs, saved: Plan | None = None) -> CoevolutionSpec:
        """Check everything and say what is to run; `saved`: what a fit that is in a file ran with."""
        n_runs = check_int("n_runs", self.n_runs, 1, 2**20)
        gens_x, gens_y = (check_int(name, getattr(self, name), 1, 2**31) for name in ("gens_x", "gens_y"))
        n_cycles = check_int("n_cycles", self.n_cycles if saved is None else saved.n_cycles, 0, 2**31)
        archive = check_int("archive_size", self.archive_size, 0, 2**20)
        renewal = check_real("renewal", self.renewal, 0, 1, high_open=True)
        dtype = check_dtype(self.dtype)
        inequalities, equalities, updates, box_y = self._lagrangian(pairs, dtype)
        if saved is None:
            seeds_x, seeds_y = island_seeds(run_seeds(self.random_state, n_runs), 2).reshape(n_runs, 2).T
            seeds = seeds_x
        else:
            seeds, seeds_x, seeds_y = saved.seeds, saved.seeds_x, saved.seeds_y
        x = side_spec("algorithm_x", self.algorithm_x, pairs.box_x, seeds_x, gens_x * n_cycles, dtype)
        y = side_spec("algorithm_y", self._given_y, box_y, seeds_y, gens_y * n_cycles, dtype)
        if pairs.problem is None:
            schedule = CycleSchedule.of_pairs(x.pop_max, y.pop_max, gens_x, gens_y, archive)
        else:
            schedule = CycleSchedule.of_points(x.pop_max, gens_x)
        return CoevolutionSpec(
            x=x,
            y=y,
            answers=self._answers(np.concatenate([pairs.box_x, box_y]), seeds, schedule, dtype, saved),
            gens_x=gens_x,
            gens_y=gens_y,
            renewed=0 if updates else int(renewal * y.pop_max),
            archive=0 if updates else archive,
            inequalities=inequalities,
            equalities=equalities,
            updates=updates,
            penalty=self.penalty,
            feasibility=self.feasibility_tol,
        )

    @property
    def _given_y(self) -> Any:
        """The algorithm of y, as it was given."""
        return self.algorithm_x if self.algorithm_y is None else self.algorithm_y

    def _lagrangian(self, pairs: Pairs, dtype: str) -> tuple[int, int, bool, FloatArray]:
        """Check what is of constrained problems.

        Returns
        -------
        inequalities, equalities, updates, box_y
            Numbers of constraints; whether multipliers are corrected; the box of y.
        """
        multipliers = check_choice("multipliers", self.multipliers, MULTIPLIERS)
        bound = check_real("multiplier_bound", self.multiplier_bound, 0, LARGEST_FACTOR, low_open=True)
        if self.penalty is not None:
            check_real("penalty", self.penalty, 0, LARGEST_FACTOR, low_open=True)
        problem = pairs.problem
        if problem is None:
            assert pairs.box_y is not None
            return 0, 0, False, pairs.box_y
        inequalities, equalities = problem.n_inequalities, problem.n_equalities
        if inequalities + equalities == 0:
            raise ValueError(f"{problem!r} has no constraints but its box: use Minimizer")
        if dtype != "float64":
            raise ValueError(f"dtype must be 'float64' for a constrained problem, got {dtype!r}")
        if self.penalty is None and multipliers == "evolve":
            raise ValueError("multipliers='evolve' needs a penalty, as 1e7; None is for multipliers='update'")
        box_y = np.array([(0.0, bound)] * inequalities + [(-bound, bound)] * equalities)
        return inequalities, equalities, multipliers == "update", box_y

    def _answers(
        self, box: FloatArray, seeds: IntArray, schedule: CycleSchedule, dtype: str, saved: Plan | None
    ) -> Spec:
        n_runs = len(seeds)
        rules = check_stopping(self.target, self.tol, self.stagnation, self.max_time)
        return Spec(
            algorithm="de",  # of a population of one that nobody makes trials for: it does not matter which
            parameters=np.ones((n_runs, 1)),
            seeds=seeds.copy(),
            lower=box[:, 0],
            upper=box[:, 1],
            limits=np.full(n_runs, self._last_cycle(schedule)) if saved is None else saved.limits,
            start=np.empty((0, len(box))),
            schedules=(schedule,) * n_runs,
            target=rules["target"],
            tol=rules["tol"],
            stagnation=rules["stagnation"],
            dtype=np.dtype(dtype),
        )

    def _last_cycle(self, schedule: PopulationSchedule) -> int:
        last = check_int("n_cycles", self.n_cycles, 0, 2**31)
        if self.max_evals is None:
            return last
        evals = check_int("max_evals", self.max_evals, 1)
        if evals < schedule.evals(0):
            raise ValueError(
                f"max_evals must be at least {schedule.evals(0)}, what the initial populations take, got {evals}"
            )
        return min(last, schedule.last(evals))


def get_side(name: str, given: Any) -> Algorithm:
    """Return a side's algorithm, one whose generations are judged one by one."""
    try:
        algorithm = get_algorithm(given)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    if isinstance(given, str):
        algorithm = get_algorithm(given, pop_size=POP_SIZE)
    if algorithm.iteration_length > 1:
        raise ValueError(f"{name} must be one of differential evolution or particle swarms, got {algorithm!r}")
    return algorithm


def side_spec(name: str, given: Any, box: FloatArray, seeds: IntArray, generations: int, dtype: str) -> Spec:
    """Return what one side is made of; it runs for as long as the cycles do."""
    algorithm = get_side(name, given)
    setting = FitSetting(len(box), max_iter=generations)
    parameters = algorithm.kernel_parameters(setting)
    if algorithm.shrinks:
        parameters["pop_min"] = parameters["pop_size"]  # the other side's opponents stay as many as they are
    check_precision(box, dtype)
    n_runs = len(seeds)
    one = build_spec(
        [algorithm],
        [parameters],
        [PopulationSchedule.from_parameters(parameters)],
        setting,
        box,
        seeds=seeds[:1],
        limits=np.array([UNLIMITED]),
        start=np.empty((0, len(box))),
        recorded=False,
        dtype=np.dtype(dtype),
    )
    return one.repeated(n_runs, seeds.copy(), np.full(n_runs, UNLIMITED))
