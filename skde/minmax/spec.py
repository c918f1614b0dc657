"""The spec and the engine of a co-evolution, made from the parameters of a MinMaxSolver."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, cast

import numpy as np

from skde.algorithms import ALGORITHMS, Algorithm, FitSetting, get_algorithm
from skde.algorithms.population_size import PopulationSchedule
from skde.engines import PYTHON_ON_CPU, CoevolutionSpec, DeviceEngine, MultiDeviceEngine, Spec, engine_for
from skde.engines.state.spec_builder import build_spec, build_spec_without_trials
from skde.functions.forms import check_form
from skde.functions.pointwise import ON_ERROR, check_processes
from skde.minmax.engine import CoevolutionEngine, CycleSchedule
from skde.minmax.objective import MinMaxObjective
from skde.stopping import UNLIMITED, StoppingRules, check_stopping
from skde.typing import FloatArray, IntArray
from skde.utils.random_state import island_seeds, run_seeds
from skde.utils.validation import (
    check_choice,
    check_dtype,
    check_int,
    check_jobs,
    check_real,
    check_verbose,
    refuse_iterator,
    round_inwards,
)
from skde.variables import check_variables

POP_SIZE = 50  # of a side with an algorithm that is given by name
MULTIPLIERS = ("update", "evolve")
LARGEST_FACTOR = 1e300  # of multipliers and penalties, so that boxes and products stay finite


class SavedPlan(NamedTuple):
    """The plan of a saved fit: max_iter at its beginning, the seeds of the runs and of the sides, the limits."""

    max_iter: int
    seeds: IntArray
    seeds_x: IntArray
    seeds_y: IntArray
    limits: IntArray


class MinMaxParameters(Protocol):
    """The parameters of a MinMaxSolver that its spec and its engine depend on."""

    algorithm_x: str | Algorithm
    algorithm_y: str | Algorithm | None
    bounds_x: Any
    bounds_y: Any
    max_iter: int
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
    atol: float
    stagnation: int | None
    n_runs: int
    device: str | Sequence[str]
    dtype: str
    pairwise: bool | str
    n_jobs: int | None
    on_error: str
    max_eval_time: float | None
    verbose: int
    random_state: Any


def check_game_parameters(given: MinMaxParameters) -> None:
    """Check types and ranges of those parameters that the spec does not check."""
    refuse_iterator("bounds_x", given.bounds_x)
    refuse_iterator("bounds_y", given.bounds_y)
    check_dtype(given.dtype)
    pairwise = check_form("pairwise", given.pairwise)
    check_verbose(given.verbose)
    check_jobs(given.n_jobs)
    check_real("feasibility_tol", given.feasibility_tol, 0)
    if given.max_eval_time is not None:
        check_processes(given.max_eval_time, given.n_jobs, f"n_jobs={given.n_jobs!r}")
    if check_choice("on_error", given.on_error, ON_ERROR) == "nan" and pairwise is False:
        raise ValueError(
            "on_error='nan' needs pairwise=True: an exception of f(X, Y) does not say which pairs failed; let f return "
            "NaN for these, or take one pair"
        )


def check_game_eval_time(given: MinMaxParameters, objective: MinMaxObjective) -> None:
    """Refuse a time limit of one evaluation where the function takes more than one pair."""
    if given.max_eval_time is not None and not objective.by_pairs:
        raise ValueError(
            f"max_eval_time={given.max_eval_time} is for a Python function of one pair (pairwise=True); the "
            "evaluations of one call cannot be ended one by one"
        )


def coevolution_engine(given: MinMaxParameters, objective: MinMaxObjective) -> CoevolutionEngine | MultiDeviceEngine:
    """Return the engine for one device or for several."""
    # With a Python function, the engine's share of a generation is too short to gain from threads.
    threads, reason = (1, PYTHON_ON_CPU) if objective.game is None else (given.n_jobs, None)
    engine = engine_for(given.device, threads, reason, given.verbose)
    if isinstance(engine, MultiDeviceEngine):
        engines = [CoevolutionEngine(one) for one in engine.engines]
        return MultiDeviceEngine(engines, CoevolutionEngine.load, CoevolutionEngine.advance)
    return CoevolutionEngine(cast(DeviceEngine, engine))


def coevolution_spec(
    given: MinMaxParameters, objective: MinMaxObjective, saved: SavedPlan | None = None
) -> CoevolutionSpec:
    """Check all parameters and return the spec; `saved` is the plan of a fit that was loaded."""
    n_runs = check_int("n_runs", given.n_runs, 1, 2**20)
    gens_x, gens_y = (check_int(name, getattr(given, name), 1, 2**31) for name in ("gens_x", "gens_y"))
    max_iter = check_int("max_iter", given.max_iter if saved is None else saved.max_iter, 0, 2**31)
    archive = check_int("archive_size", given.archive_size, 0, 2**20)
    renewal = check_real("renewal", given.renewal, 0, 1, high_open=True)
    dtype = check_dtype(given.dtype)
    inequalities, equalities, updates, box_y = check_lagrangian(given, objective, dtype)
    if saved is None:
        seeds_x, seeds_y = island_seeds(run_seeds(given.random_state, n_runs), 2).reshape(n_runs, 2).T
        seeds = seeds_x
    else:
        seeds, seeds_x, seeds_y = saved.seeds, saved.seeds_x, saved.seeds_y
    x = side_spec("algorithm_x", given.algorithm_x, objective.box_x, seeds_x, gens_x * max_iter, dtype)
    y = side_spec("algorithm_y", algorithm_of_y(given), box_y, seeds_y, gens_y * max_iter, dtype)
    x.variables = check_variables(objective.variables_x, x.dtype)
    y.variables = check_variables(objective.variables_y, y.dtype)
    if objective.problem is None:
        schedule = CycleSchedule.of_pairs(x.pop_max, y.pop_max, gens_x, gens_y, archive)
    else:
        schedule = CycleSchedule.of_points(x.pop_max, gens_x)
    limits = np.full(n_runs, last_cycle(given, schedule)) if saved is None else saved.limits
    rules = make_rules(given)
    box = np.concatenate([np.stack([side.lower, side.upper], axis=1) for side in (x, y)])
    incumbents = incumbents_spec(box, seeds, schedule, limits, rules, dtype)
    spec = CoevolutionSpec(
        x=x,
        y=y,
        incumbents=incumbents,
        gens_x=gens_x,
        gens_y=gens_y,
        renewed=0 if updates else int(renewal * y.pop_max),
        archive=0 if updates else archive,
        inequalities=inequalities,
        equalities=equalities,
        updates=updates,
        penalty=given.penalty,
        feasibility=given.feasibility_tol,
    )
    if spec.variables is not None:
        incumbents.variables = spec.variables[0] + spec.variables[1]
    return spec


def algorithm_of_y(given: MinMaxParameters) -> Any:
    """Return the algorithm of y as the user gave it."""
    return given.algorithm_x if given.algorithm_y is None else given.algorithm_y


def check_lagrangian(
    given: MinMaxParameters, objective: MinMaxObjective, dtype: str
) -> tuple[int, int, bool, FloatArray]:
    """Check the parameters that only constrained problems use.

    Returns
    -------
    inequalities, equalities, updates, box_y
        Numbers of constraints; whether multipliers are updated; the box of y.
    """
    multipliers = check_choice("multipliers", given.multipliers, MULTIPLIERS)
    bound = check_real("multiplier_bound", given.multiplier_bound, 0, LARGEST_FACTOR, low_open=True)
    if given.penalty is not None:
        check_real("penalty", given.penalty, 0, LARGEST_FACTOR, low_open=True)
    problem = objective.problem
    if problem is None:
        assert objective.box_y is not None
        return 0, 0, False, objective.box_y
    inequalities, equalities = problem.n_inequalities, problem.n_equalities
    if inequalities + equalities == 0:
        raise ValueError(f"{problem!r} has no constraints but its box: use Minimizer")
    if dtype != "float64":
        raise ValueError(f"dtype must be 'float64' for a constrained problem, got {dtype!r}")
    if given.penalty is None and multipliers == "evolve":
        raise ValueError("multipliers='evolve' needs a penalty, as 1e7; None is for multipliers='update'")
    box_y = np.array([(0.0, bound)] * inequalities + [(-bound, bound)] * equalities)
    return inequalities, equalities, multipliers == "update", box_y


def incumbents_spec(
    box: FloatArray, seeds: IntArray, schedule: CycleSchedule, limits: IntArray, rules: StoppingRules, dtype: str
) -> Spec:
    """Return the spec of the incumbents: populations of one, with cycles as generations."""
    return build_spec_without_trials(
        [schedule] * len(seeds),
        box,
        seeds=seeds.copy(),
        limits=limits,
        start=np.empty((0, len(box))),
        target=rules.target,
        tol=rules.tol,
        atol=rules.atol,
        stagnation=rules.stagnation,
        dtype=np.dtype(dtype),
    )


def make_rules(given: MinMaxParameters) -> StoppingRules:
    """Return the checked stopping rules."""
    return check_stopping(given.target, given.tol, given.atol, given.stagnation)


def last_cycle(given: MinMaxParameters, schedule: PopulationSchedule) -> int:
    """Return the number of the last cycle that the limits allow."""
    last = check_int("max_iter", given.max_iter, 0, 2**31)
    if given.max_evals is None:
        return last
    evals = check_int("max_evals", given.max_evals, 1)
    if evals < schedule.evals(0):
        raise ValueError(
            f"max_evals must be at least {schedule.evals(0)}, the evaluations of the initial populations, got {evals}"
        )
    return min(last, schedule.last(evals))


def get_side(name: str, given: Any) -> Algorithm:
    """Return a side's algorithm; its iterations must be single generations."""
    try:
        algorithm = get_algorithm(given)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    if isinstance(given, str):
        algorithm = get_algorithm(given, pop_size=POP_SIZE)
    if algorithm.iteration_length > 1:
        others = ", ".join(repr(kind.name) for kind in ALGORITHMS.values() if kind().iteration_length > 1)
        raise ValueError(f"{name} must be any algorithm but {others}, got {algorithm!r}")
    return algorithm


def side_spec(name: str, given: Any, box: FloatArray, seeds: IntArray, generations: int, dtype: str) -> Spec:
    """Return the spec of one side; the cycles limit its generations."""
    algorithm = get_side(name, given)
    setting = FitSetting(len(box), max_iter=generations)
    parameters = algorithm.kernel_parameters(setting)
    if algorithm.shrinks:
        parameters["pop_min"] = parameters["pop_size"]  # the number of opponents does not change
    box = round_inwards(box, dtype)
    n_runs = len(seeds)
    single = build_spec(
        [algorithm],
        [parameters],
        [PopulationSchedule.from_parameters(algorithm.kernel, parameters)],
        setting,
        box,
        seeds=seeds[:1],
        limits=np.array([UNLIMITED]),
        start=np.empty((0, len(box))),
        recorded=False,
        dtype=np.dtype(dtype),
    )
    return single.repeat(n_runs, seeds.copy(), np.full(n_runs, UNLIMITED))
