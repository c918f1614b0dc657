"""The engine and the Spec that a Minimizer's parameters describe."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from skde.algorithms import ALGORITHMS, Algorithm, FitSetting, get_algorithm
from skde.algorithms.auto import AUTO, Choice, FitProperties, rule
from skde.algorithms.base import MOST_INDIVIDUALS
from skde.algorithms.population_size import PopulationSchedule
from skde.algorithms.sequence import AlgorithmSequence
from skde.engines import (
    EXECUTION_MODELS,
    Engine,
    JoblibEngine,
    Spec,
    check_device,
    check_kind,
    engine_for,
    model_engine,
    model_path,
    records,
    shares,
)
from skde.engines.spec_builder import build_spec
from skde.fit.local_search import QUASI_NEWTON, SIMPLEX
from skde.fit.polish import check_polish, default_evals, reserved_evals
from skde.forms import check_form
from skde.islands import Archipelago, Migration
from skde.objectives.caller_library import CallerLibrary
from skde.objectives.feasibility import CLOSEST, LARGEST, SCALE
from skde.objectives.objective import Objective
from skde.point_workers import PointWorkers
from skde.pointwise import ON_ERROR
from skde.random_state import island_seeds, run_seeds
from skde.stopping import DEFAULT_EVALS_PER_DIM, check_stopping, last_generations, planned_budget
from skde.typing import FloatArray, IntArray
from skde.validation import (
    check_bool,
    check_choice,
    check_dtype,
    check_int,
    check_jobs,
    check_real,
    check_start,
    check_verbose,
    refuse_iterator,
    round_inwards,
)
from skde.variables import Variables, checked_variables

EXECUTIONS = ("auto", "run", "step", "graph", "joblib", *EXECUTION_MODELS)

LARGEST_FINAL = 2**20

Budget = tuple[Any, Any, Any]  # max_iter, max_evals and max_time


class Parameters(Protocol):
    """The parameters of a Minimizer that its engine, its objective and its Spec depend on."""

    algorithm: str | Algorithm | Sequence[Algorithm]
    bounds: Any
    algorithm_: Algorithm | AlgorithmSequence | Sequence[Algorithm]  # what runs; set before the batch is made
    polish_evals_: int  # likewise
    max_iter: int | None
    max_evals: int | None
    max_time: float | None
    target: float | None
    tol: float | None
    atol: float
    stagnation: int | None
    constraints: Any
    feasibility_tol: float
    n_runs: int
    n_islands: int
    migration: Migration | None
    device: str | Sequence[str]
    execution: str
    dtype: str
    vectorized: bool | str
    n_jobs: int | None
    polish: bool | str | None
    verbose: int
    random_state: Any
    warm_start: bool
    final_evals: int
    on_error: str
    max_eval_time: float | None


class SavedPlan(NamedTuple):
    """Budget, seeds and limits of a saved fit; the budget is the one that the fit began with."""

    budget: Budget
    seeds: IntArray
    limits: IntArray


def check_parameters(parameters: Parameters) -> None:
    """Refuse values of a wrong type or out of range by the parameter's name, whether or not this fit uses it."""
    refuse_iterator("bounds", parameters.bounds)
    check_choice("execution", parameters.execution, EXECUTIONS)
    check_dtype(parameters.dtype)
    vectorized = check_form("vectorized", parameters.vectorized)
    check_bool("warm_start", parameters.warm_start)
    check_polish(parameters.polish)
    check_verbose(parameters.verbose)
    check_jobs(parameters.n_jobs)
    check_real("feasibility_tol", parameters.feasibility_tol, 0)
    check_int("final_evals", parameters.final_evals, 0, LARGEST_FINAL)
    if parameters.max_eval_time is not None:
        check_eval_processes(parameters)
    if check_choice("on_error", parameters.on_error, ON_ERROR) == "nan" and vectorized is True:
        raise ValueError(
            "on_error='nan' needs vectorized=False: an exception of f(X) does not say which rows failed; let f return "
            "NaN for these, or take one point"
        )


def check_eval_processes(parameters: Parameters) -> None:
    """Refuse a time limit of one evaluation where no process of its own can be ended."""
    given = check_real("max_eval_time", parameters.max_eval_time, 0, low_open=True)
    if PointWorkers(row_jobs(parameters)).count(2) < 2:
        raise ValueError(
            f"max_eval_time={given} needs processes, which can be ended: n_jobs must be 2 or more, got "
            f"n_jobs={parameters.n_jobs!r} and execution={parameters.execution!r}"
        )


def make_engine(parameters: Parameters, objective: Objective | None) -> Engine:
    """Return the engine of a fit; an objective of None is evaluated by the user, with ask and tell."""
    device = parameters.device
    python = objective is not None and objective.compiled is None
    if parameters.execution == "joblib":
        if not isinstance(device, str):
            raise ValueError(f"execution='joblib' needs one device, that of every worker, got device={device!r}")
        check_device(device)
        return JoblibEngine("cpu" if python and device == "auto" else device, parameters.n_jobs)
    if parameters.execution in EXECUTION_MODELS:
        return model_engine(parameters.execution, device, parameters.n_jobs)
    return engine_for(device, parameters.n_jobs, python, parameters.verbose)


def check_device_of_library(library: CallerLibrary | None, engine: Engine) -> None:
    """Refuse arrays of a caller's library on another kind of device than that of the fit."""
    if library is not None and library.on_gpu == (engine.xp is np):
        raise ValueError(
            f"bounds and x0 are arrays of {library}, and device is {engine.name!r}: with array_api_dispatch both must "
            "be the CPU or a GPU, such as device='cuda'"
        )


def choose_execution(execution: str, objective: Objective, engine: Engine) -> str:
    """Return the execution of a fit on its engine.

    It is "run", "step", "graph", "kernels", "fpde", "fused" or, for one of "step" and "graph", "auto".
    """
    compiled = objective.compiled is not None
    if execution in ("run", *EXECUTION_MODELS) and not compiled:
        raise ValueError(
            f"execution={execution!r} needs a compiled objective: a name, a Problem or a DeviceObjective, without "
            "constraints in Python; Python functions run with execution='step'"
        )
    check_kind(execution, engine)
    if execution in EXECUTION_MODELS:
        return model_path(execution, engine)
    if execution == "auto" and not compiled and records(engine):
        return "auto"
    if execution in ("auto", "joblib"):
        return "run" if compiled else "step"
    if execution == "graph" and compiled:
        raise ValueError("execution='graph' is for CuPy functions; a compiled objective runs with execution='run'")
    return execution


def recorded_execution(execution: str, engine: Engine) -> str:
    """Return the execution of a fit with a recorder: single generations, with values that this process receives."""
    if execution not in ("auto", "step"):
        raise ValueError(
            f"recorder needs execution='auto' or 'step', got {execution!r}, by which this process sees no values; "
            "n_jobs divides a function of one point among processes"
        )
    name = engine.name
    if shares(engine):
        raise ValueError(f"recorder needs one device, got {name!r}")
    return "step"


def row_jobs(parameters: Parameters) -> int | None:
    """Return the joblib workers of a function of one point: one, where joblib's workers call it."""
    return 1 if parameters.execution == "joblib" else parameters.n_jobs


def without_final_evals(parameters: Parameters) -> int | None:
    """Return the evaluations of one run before those at its end; None without a limit."""
    max_evals, final_evals = parameters.max_evals, check_int("final_evals", parameters.final_evals, 0, LARGEST_FINAL)
    if final_evals and parameters.polish not in (None, False):
        raise ValueError(
            f"final_evals={final_evals} is for noisy functions, where a local search follows the noise: leave out "
            f"final_evals or polish={parameters.polish!r}"
        )
    if max_evals is None or not final_evals:
        return max_evals
    if check_int("max_evals", max_evals, 1) <= final_evals:
        raise ValueError(f"final_evals must be less than max_evals={max_evals}, got {final_evals}")
    return int(max_evals) - final_evals


def polish_of(parameters: Parameters) -> bool | str:
    """Return the polish of a fit: as given or, by default, what follows the searches that "auto" chose."""
    given = check_polish(parameters.polish)
    if given is not None:
        return given
    if not parameters.polish_evals_:
        return False
    return QUASI_NEWTON if sequence_of(parameters) is None else SIMPLEX


def reserved_of(parameters: Parameters, dim: int) -> int:
    """Return the evaluations of one run that are kept for the polish."""
    limited = parameters.max_iter is not None or parameters.max_time is not None
    return reserved_evals(polish_of(parameters), dim, parameters.max_evals, limited)


def polish_evals(parameters: Parameters, dim: int, others: IntArray) -> IntArray:
    """Return the evaluations that the polish of every run may make; `others` are those that its run has made."""
    given = parameters.max_iter, without_final_evals(parameters), parameters.max_time
    reserved, limit = reserved_of(parameters, dim), evals_of_run(given, 0, dim)
    allowed = np.full(len(others), reserved)
    return allowed if limit is None else np.clip(limit - others, 0, allowed)


def final_evals_left(parameters: Parameters, made: IntArray) -> IntArray:
    """Return the evaluations of every run after its last generation; `made` are those that it has made."""
    final_evals = np.full(len(made), check_int("final_evals", parameters.final_evals, 0, LARGEST_FINAL))
    return final_evals if parameters.max_evals is None else np.clip(parameters.max_evals - made, 0, final_evals)


def budget_of(parameters: Parameters, dim: int, reserved: int | None = None) -> Budget:
    """Return the limits of the generations, which some algorithms plan with; `reserved` are kept for the polish."""
    max_iter, max_evals, max_time = parameters.max_iter, without_final_evals(parameters), parameters.max_time
    reserved = reserved_of(parameters, dim) if reserved is None else reserved
    if reserved and max_iter is None and max_evals is None and max_time is None:
        max_evals = DEFAULT_EVALS_PER_DIM * dim
    if reserved and max_evals is not None:
        max_evals -= reserved
    return max_iter, max_evals, max_time


def algorithms_of(parameters: Parameters) -> list[Algorithm]:
    """Return one parameter object a run or, where they are all the same, that one."""
    n_runs = check_int("n_runs", parameters.n_runs, 1, 2**20)
    given = parameters.algorithm
    if isinstance(given, Sequence) and not isinstance(given, str):
        algorithms = [get_algorithm(algorithm) for algorithm in given]
        if len(algorithms) != n_runs:
            raise ValueError(f"algorithm has {len(algorithms)} entries, but n_runs={n_runs}; give one a run")
        if len({type(algorithm) for algorithm in algorithms}) != 1:
            raise ValueError("algorithm: all entries must be of one class")
        return algorithms
    if isinstance(given, str) and given == AUTO:
        chosen = parameters.algorithm_
        assert isinstance(chosen, Algorithm | AlgorithmSequence)
        return [chosen.running if isinstance(chosen, AlgorithmSequence) else chosen]
    return [named_algorithm(given)]


def sequence_of(parameters: Parameters) -> AlgorithmSequence | None:
    """Return the two searches that "auto" chose, where it did."""
    chosen = parameters.algorithm_ if isinstance(parameters.algorithm, str) and parameters.algorithm == AUTO else None
    return chosen if isinstance(chosen, AlgorithmSequence) else None


def named_algorithm(given: Any) -> Algorithm:
    """Return the parameter object of a name; one that is given is returned unchanged."""
    if not isinstance(given, Algorithm):
        check_choice("algorithm", given, (AUTO, *ALGORITHMS))
    return get_algorithm(given)


def choose_algorithm(
    parameters: Parameters, box: FloatArray, x0: Any, constrained: bool, discrete: bool, asked: bool
) -> tuple[Algorithm | AlgorithmSequence | list[Algorithm], int]:
    """Return what runs, the given algorithm or for "auto" that of the rule, and what is kept for its default polish.

    `asked`: the user evaluates the points.
    """
    if not (isinstance(parameters.algorithm, str) and parameters.algorithm == AUTO):
        algorithms = algorithms_of(parameters)
        several = isinstance(parameters.algorithm, Sequence) and len(algorithms) > 1
        return algorithms if several else algorithms[0], 0
    default = check_polish(parameters.polish) is None
    setting = make_setting(parameters, len(box), budget_of(parameters, len(box), 0 if default else None))
    limits = parameters.max_iter, parameters.max_evals, parameters.max_time
    evals = None if asked or not default else evals_of_run(limits, 0, len(box))
    given = FitProperties(
        dim=len(box),
        max_evals=setting.max_evals,
        max_iter=setting.max_iter,
        constrained=constrained,
        discrete=discrete,
        n_start=len(check_start(x0, box, MOST_INDIVIDUALS)),
        n_islands=parameters.n_islands,
        one_search=bool(
            parameters.final_evals or parameters.tol is not None or parameters.atol or parameters.stagnation is not None
        ),
        polish=default_evals(len(box), evals),
    )
    choice = rule(given)
    if parameters.verbose:
        print_choice(choice)
    return choice.algorithm, choice.polish_evals


def print_choice(choice: Choice) -> None:
    """Print what "auto" chose, and why."""
    text = str(choice.algorithm)
    if choice.polish_evals:
        method = SIMPLEX if isinstance(choice.algorithm, AlgorithmSequence) else QUASI_NEWTON
        text += f", then {method} for at most {choice.polish_evals}"
    print(f"skde: algorithm='auto' chose {text}: {choice.reason}")


def stopping_rules(parameters: Parameters, constrained: bool) -> dict[str, Any]:
    """Return the checked rules for stopping; with constraints, only feasible points reach a target."""
    given = parameters.target, parameters.tol, parameters.atol, parameters.stagnation, parameters.max_time
    rules = check_stopping(*given)
    if constrained and rules["target"] is not None:
        rules["target"] = min(rules["target"], LARGEST)
    return rules


def check_constrained_dtype(dtype: str) -> None:
    """Refuse single precision where there are constraints: the codes of feasibility rules need more."""
    if dtype != "float64":
        raise ValueError(f"dtype must be 'float64' where there are constraints, got {dtype!r}")


def make_setting(parameters: Parameters, dim: int, budget: Budget) -> FitSetting:
    """Return the facts that an algorithm may plan with."""
    n_islands = check_int("n_islands", parameters.n_islands, 1, 2**16)
    return FitSetting(dim, **planned_budget(dim, *budget, n_islands))


def search_setting(parameters: Parameters, dim: int, budget: Budget) -> FitSetting:
    """Return the facts that the algorithm of the present search may plan with."""
    sequence = sequence_of(parameters)
    return make_setting(parameters, dim, budget if sequence is None else (None, sequence.planned, None))


def generation_limits(
    parameters: Parameters,
    schedules: Sequence[PopulationSchedule],
    dim: int,
    done: Any = None,
    extra_evals: int = 0,
    polished: int = 0,
) -> IntArray:
    """Return the last generation of every population.

    Parameters
    ----------
    parameters : Parameters
        With the limits.
    schedules : sequence of PopulationSchedule
        Every population's sizes.
    dim : int
        Variables.
    done : ndarray or None
        The generations before a warm start.
    extra_evals : int
        Evaluations of a run that belong to no generation.
    polished : int
        Evaluations of a run that its polish has made of those that are kept for it.
    """
    max_evals, least = without_final_evals(parameters), max(schedule.most for schedule in schedules)
    least *= parameters.n_islands
    if max_evals is not None and parameters.final_evals and max_evals < least:
        raise ValueError(
            f"max_evals must be at least {least + parameters.final_evals}, the individuals of a run plus "
            f"final_evals={parameters.final_evals}, got {parameters.max_evals}"
        )
    given = parameters.max_iter, max_evals, parameters.max_time
    reserved = max(reserved_of(parameters, dim), polished) + extra_evals
    sequence = sequence_of(parameters)
    if sequence is not None and done is None:
        given, reserved = limits_of_search(sequence, given, reserved, dim, least), 0
    return last_generations(schedules, dim, *given, done, parameters.n_islands, reserved)


def limits_of_search(sequence: AlgorithmSequence, given: Budget, reserved: int, dim: int, least: int) -> Budget:
    """Return the limits of the present search of a sequence: of the second those that the first has left.

    Parameters
    ----------
    sequence : AlgorithmSequence
        The two searches.
    given : tuple
        The limits of the fit.
    reserved : int
        Evaluations of a run that are kept for the polish.
    dim : int
        Variables.
    least : int
        The individuals of a run.
    """
    evals = evals_of_run(given, reserved, dim)
    if sequence.spent is None:
        evals = sequence.first_evals if evals is None else min(sequence.first_evals, evals)
    elif evals is not None:
        evals = max(evals - sequence.spent, least)
    return given[0], evals, given[2]


def evals_of_run(given: Budget, reserved: int, dim: int) -> int | None:
    """Return the evaluations of a run's generations; None without a limit."""
    max_evals = DEFAULT_EVALS_PER_DIM * dim if given == (None, None, None) else given[1]
    return None if max_evals is None else check_int("max_evals", max_evals, 1) - reserved


def second_search(parameters: Parameters, dim: int, spent: int, n_iter: int) -> AlgorithmSequence | None:
    """Return the sequence in its second search, where its first has ended and there is room for a second."""
    sequence = sequence_of(parameters)
    if sequence is None or sequence.spent is not None:
        return None
    if parameters.max_iter is not None and n_iter >= parameters.max_iter:
        return None
    given = parameters.max_iter, without_final_evals(parameters), parameters.max_time
    evals = evals_of_run(given, reserved_of(parameters, dim), dim)
    least = int(sequence.second.pop_size or 0) * parameters.n_islands
    return None if evals is not None and evals - spent < least else sequence.in_second(spent)


def make_template(
    parameters: Parameters,
    box: FloatArray,
    variables: Variables | None,
    x0: Any,
    constrained: bool,
    saved: SavedPlan | None = None,
) -> tuple[Spec, int]:
    """Check all parameters; return a Spec with one population for each algorithm, and how often it is repeated.

    The template has no seeds. It is small, so that the memory of the whole batch can be checked before it is made.
    """
    algorithms = algorithms_of(parameters)
    n_islands = check_int("n_islands", parameters.n_islands, 1, 2**16)
    setting = search_setting(parameters, len(box), budget_of(parameters, len(box)) if saved is None else saved.budget)
    given = [algorithm.kernel_parameters(setting) for algorithm in algorithms]
    rules = stopping_rules(parameters, constrained)
    dtype = check_dtype(parameters.dtype)
    if constrained:
        check_constrained_dtype(dtype)
    schedules = [PopulationSchedule.from_parameters(values) for values in given]
    inside = round_inwards(box, dtype)
    template = build_spec(
        algorithms,
        given,
        schedules,
        setting,
        inside,
        seeds=np.zeros(len(algorithms), np.uint64),
        limits=(
            generation_limits(parameters, schedules, len(box))
            if saved is None
            else np.full(len(given), saved.limits.max())
        ),
        start=check_start(x0, box, min(schedule.most for schedule in schedules)).clip(*inside.T),
        islands=make_archipelago(parameters, n_islands, min(schedule.members for schedule in schedules)),
        target=rules["target"],
        tol=rules["tol"],
        atol=rules["atol"],
        converging=CLOSEST * SCALE if constrained else np.inf,
        stagnation=rules["stagnation"],
        dtype=np.dtype(dtype),
        variables=checked_variables(variables, np.dtype(dtype)),
    )
    return template, int(parameters.n_runs) // len(algorithms) * n_islands


def repeat_template(parameters: Parameters, template: Spec, times: int, saved: SavedPlan | None = None) -> Spec:
    """Return the Spec of the whole batch, with seeds: `times` copies of every population of the template."""
    n_islands = template.islands.n_islands
    if saved is None:
        seeds = island_seeds(run_seeds(parameters.random_state, len(template.seeds) * times // n_islands), n_islands)
        limits = template.limits if times == 1 else np.repeat(template.limits, times)
    else:
        seeds, limits = saved.seeds, saved.limits
    return template.repeated(times, seeds, limits)


def make_archipelago(parameters: Parameters, n_islands: int, pop_size: int) -> Archipelago:
    """Return the islands' topology and migration."""
    migration = Migration() if parameters.migration is None else parameters.migration
    if not isinstance(migration, Migration):
        raise TypeError(f"migration must be a Migration or None, got {migration!r} ({type(migration).__name__})")
    if n_islands > 1:
        return migration.archipelago(n_islands, pop_size)
    if parameters.migration is not None:
        raise ValueError("migration needs islands to go to: n_islands must be at least 2, got 1")
    return Archipelago()
