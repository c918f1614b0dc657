"""Header and arrays of a Minimizer's files and pickles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

import numpy as np

from skde.algorithms import Algorithm, describe, get_algorithm
from skde.algorithms.auto import AUTO
from skde.algorithms.sequence import AlgorithmSequence
from skde.engines import Spec
from skde.engines.state.batch_arrays import batch_layout
from skde.engines.state.checks import check_batch
from skde.engines.state.task import NUMBER, WORD
from skde.fit.begun_generations import pack_told
from skde.fit.final_results import FinalResults
from skde.fit.fit import Fit
from skde.fit.fit_state import base_layout, check_base
from skde.fit.known_values import KnownValues
from skde.fit.local_results import LocalResults, check_local_results
from skde.fit.past_phases import PastPhases, check_past
from skde.fit.phases.local_search import LocalSearchPhase
from skde.fit.phases.reevaluation import Reevaluation
from skde.fit.phases.scipy_search import QUASI_NEWTON, SIMPLEX
from skde.fit.plan import FitPlan, SavedPopulations, Search, list_searches
from skde.fit.polish_budget import check_polish
from skde.islands import Migration
from skde.minimizer.parameters import MinimizerParameters
from skde.minimizer.plan import check_final_evals, check_migration, choose_dtype, limits_of, rules_of
from skde.objectives.feasibility import calls_of
from skde.stopping import Limits, check_limits
from skde.typing import FloatArray
from skde.utils.serialization import HEADER, Layout, check_keys, check_layout, entry, json_view
from skde.utils.validation import check_bounds, check_int, check_real, check_start
from skde.variables import Variables

LIMITS = tuple(limit.name for limit in fields(Limits))
# Parameters with another form in a file, and those that are not in a file.
SEPARATE = ("algorithm", "bounds", "callbacks", "random_state", "migration", "constraints", "recorder")

REQUIRED_KEYS: dict[str, Any] = {
    "parameters": dict,
    "algorithms": list,
    "migration": (dict, type(None)),
    "one_algorithm": bool,
    "source": dict,
    "seconds": (float, int),
    "ending": int,
    "n_ids": int,
    "dtype": str,
    "planned": dict,
}
OPTIONAL_KEYS: dict[str, Any] = {
    "feasibility_tol": (float, int),
    "fun_evals": int,
    "variables": list,
    "automatic": bool,
    "polish_evals": int,
    "sequence": dict,
    "n_restarts": int,
    "timed": bool,
}
SEQUENCE: dict[str, Any] = {"evals": list, "spent": list}


def fit_state(
    parameters: dict[str, Any],
    algorithm: Algorithm | AlgorithmSequence | Sequence[Algorithm],
    plan: FitPlan,
    fit: Fit,
    source: dict[str, Any],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the header and the arrays of a file.

    Parameters
    ----------
    parameters : dict
        The Minimizer's parameters.
    algorithm : Algorithm, AlgorithmSequence or sequence of Algorithm
        The algorithm that runs.
    plan : FitPlan
        The plan of the fit.
    fit : Fit
        The fit.
    source : dict
        Entries by which the objective is found again.
    """
    spec = fit.batch.spec
    run_header, run_arrays = fit.state()
    header: dict[str, Any] = {
        "parameters": {
            name: spec.dtype.name if name == "dtype" else json_view(value)
            for name, value in parameters.items()
            if name not in SEPARATE
        },
        "algorithms": [describe(each) for each in as_list(algorithm)],
        "migration": None if plan.migration is None else plan.migration.get_params(),
        "one_algorithm": not isinstance(algorithm, Sequence),
        "source": source,
        **run_header,
        "dtype": spec.dtype.name,
        "planned": asdict(plan.planned),
    }
    if isinstance(parameters["algorithm"], str) and parameters["algorithm"] == AUTO:
        header["automatic"] = True
        if plan.polish_is_default:
            header["polish_evals"] = plan.polish_evals
    if isinstance(algorithm, AlgorithmSequence):
        if plan.n_restarts:
            header["n_restarts"] = plan.n_restarts
        if plan.timed:
            header["timed"] = True
        header["sequence"] = {name: list(getattr(algorithm, name)) for name in SEQUENCE}
    if spec.variables is not None:
        header["variables"] = spec.variables.describe()
    arrays = {"box": plan.box, "start": spec.start, **run_arrays, **pack_told(fit)}
    if fit.rules is not None:
        header["feasibility_tol"] = fit.rules.tolerance
        if (n_calls := calls_of(fit.rules)) is not None:
            header["fun_evals"] = n_calls
        arrays["outcomes"] = fit.outcomes()
    return header, arrays


def as_list(algorithm: Algorithm | AlgorithmSequence | Sequence[Algorithm]) -> Sequence[Algorithm]:
    """Return the parameter objects of the algorithm that runs."""
    if isinstance(algorithm, AlgorithmSequence):
        return algorithm.algorithms
    return [algorithm] if isinstance(algorithm, Algorithm) else algorithm


def read_algorithm_argument(header: dict[str, Any]) -> Algorithm | list[Algorithm]:
    """Return the argument `algorithm` of a saved Minimizer."""
    if not header["algorithms"] or (header["one_algorithm"] and len(header["algorithms"]) > 1):
        raise ValueError("algorithms must be one or, for as many runs, several")
    check_dtype_entry(header)
    algorithms = [get_algorithm(saved["name"], **saved["parameters"]) for saved in header["algorithms"]]
    return algorithms[0] if header["one_algorithm"] else algorithms


def check_dtype_entry(header: dict[str, Any]) -> None:
    """Refuse a header with two precisions."""
    if header["parameters"].get("dtype") != header["dtype"]:
        raise ValueError("dtype must be that among the parameters")


def read_sequence(header: dict[str, Any]) -> AlgorithmSequence:
    """Return the searches of a saved Minimizer."""
    check_keys("sequence", header["sequence"], SEQUENCE, {})
    check_dtype_entry(header)
    evals, spent = ([check_int(name, value, 1) for value in header["sequence"][name]] for name in SEQUENCE)
    if not len(spent) < len(evals) == len(header["algorithms"]) or not header.get("automatic"):
        raise ValueError("a sequence must have an algorithm for each of its searches, which 'auto' chose")
    algorithms = tuple(get_algorithm(saved["name"], **saved["parameters"]) for saved in header["algorithms"])
    return AlgorithmSequence(algorithms, tuple(evals), tuple(spent))


def read_spent(header: dict[str, Any]) -> tuple[int, ...]:
    """Return the evaluations of a run that the searches before the present one made."""
    return read_sequence(header).spent if "sequence" in header else ()


def read_searches(header: dict[str, Any]) -> tuple[Search, ...]:
    """Return the searches of a saved fit."""
    if "sequence" in header:
        return list_searches(read_sequence(header))
    algorithm = read_algorithm_argument(header)
    return (Search((algorithm,) if isinstance(algorithm, Algorithm) else tuple(algorithm)),)


def read_bounds_argument(header: dict[str, Any], arrays: dict[str, Any]) -> Variables | FloatArray:
    """Return the argument `bounds` of a saved Minimizer."""
    box: FloatArray = arrays["box"]
    if "variables" not in header:
        return box
    with entry(HEADER):
        variables = Variables.from_description(header["variables"])
    with entry("box"):
        if not np.array_equal(variables.box, box):
            raise ValueError("it must be the box of the variables")
    return variables


def read_migration(header: dict[str, Any]) -> Migration | None:
    """Return the argument `migration` of a saved Minimizer."""
    return None if header["migration"] is None else Migration(**header["migration"])


def fit_layout(given: MinimizerParameters, header: dict[str, Any], arrays: dict[str, Any]) -> dict[str, Layout]:
    """Return the layout of a file's arrays, those of the populations left out."""
    with entry(HEADER):
        n_runs = check_int("n_runs", given.n_runs, 1, 2**20)
        n_populations = n_runs * check_int("n_islands", given.n_islands, 1, 2**16)
    layout = {
        "box": Layout((None, 2), NUMBER),
        "start": Layout((None, None), NUMBER),
        **base_layout(n_populations),
    }
    layout |= LocalResults.layout(n_runs, arrays) | PastPhases.layout(n_runs, arrays)
    if "feasibility_tol" in header:
        layout["outcomes"] = Layout((n_runs, 3), NUMBER)
    return layout


def optional_layout(spec: Spec, arrays: dict[str, Any]) -> dict[str, Layout]:
    """Return the layout of the arrays that only some files have: of an incomplete generation, and of final values."""
    n_runs = len(spec.seeds) // spec.islands.n_islands
    found = layout_of_told(spec) if "told_rows" in arrays else {}
    if "ends" in arrays:
        found["ends"] = Layout((None, n_runs, 1 + len(spec.lower)), NUMBER)
        found["agreeing"] = found["finished"] = Layout((n_runs,), WORD)
    if "known_points" in arrays and spec.variables is not None:
        found |= KnownValues.layout(spec.variables, n_runs, spec.dtype)
    for phase in (LocalSearchPhase, Reevaluation):
        found |= phase.layout(n_runs, len(spec.lower)) if f"{phase.kind}_iter" in arrays else {}
    return found | FinalResults.layout(spec, n_runs, arrays)


def layout_of_told(spec: Spec) -> dict[str, Layout]:
    """Return the layout of the values that were told of an incomplete generation."""
    return {
        "told_generations": Layout((None,), WORD),
        "told_rows": Layout((None,), WORD),
        "told_points": Layout((None, len(spec.lower)), spec.dtype),
        "told_values": Layout((None,), spec.dtype),
    }


def read_plan(given: MinimizerParameters, header: dict[str, Any], arrays: dict[str, Any]) -> FitPlan:
    """Check header and arrays, those of the populations left out; return the plan of the saved fit."""
    check_layout(arrays, fit_layout(given, header, arrays), whole=False)
    with entry("box"):
        box = check_bounds(arrays["box"])
    with entry(HEADER):
        check_source(header["source"], len(header.get("variables", box)))
        check_real("feasibility_tol", header.get("feasibility_tol", 0.0), 0)
        spent = read_spent(header)
        if bool(spent) != ("past_points" in arrays):
            raise ValueError("a file has the results of an earlier search in the later ones of a sequence only")
    variables = read_bounds_argument(header, arrays)
    with entry(HEADER):
        plan = build_plan(given, header, box, variables if isinstance(variables, Variables) else None, arrays)
        # A false pop_size must not allocate more memory than the file's arrays take.
        rows = arrays["x"].shape[1] if "x" in arrays and arrays["x"].ndim == 3 else 0
        setting = plan.setting(len(spent))
        for algorithm in unique(plan.searches[len(spent)].algorithms):
            if (pop_size := algorithm.kernel_parameters(setting)["pop_size"]) > rows:
                raise ValueError(f"pop_size is {pop_size}, and entry 'x' has {rows} rows")
    with entry("start"):
        check_start(plan.start, box, rows)
    check_base(header, arrays)
    check_local_results(LocalResults.from_state(arrays), box, given.dtype)
    check_past(PastPhases.from_state(arrays), box, given.dtype)
    if "outcomes" in arrays:
        with entry("outcomes"):
            if not (arrays["outcomes"][:, 1:] >= 0).all():
                raise ValueError("violations must be >= 0")
    return plan


def build_plan(
    given: MinimizerParameters,
    header: dict[str, Any],
    box: FloatArray,
    variables: Variables | None,
    arrays: dict[str, Any],
) -> FitPlan:
    """Return the plan that a header describes."""
    check_keys("planned", header["planned"], {}, dict.fromkeys(LIMITS))
    searches, constrained = read_searches(header), "outcomes" in arrays
    polish = check_polish(given.polish)
    default = polish is None and check_int("polish_evals", header.get("polish_evals", 0), 0) > 0
    n_islands = check_int("n_islands", given.n_islands, 1, 2**16)
    if default:
        polish = QUASI_NEWTON if len(searches) - header.get("n_restarts", 0) == 1 else SIMPLEX
    return FitPlan(
        box=box,
        variables=variables,
        start=arrays["start"] if len(arrays["start"]) else None,
        constrained=constrained,
        searches=searches,
        n_restarts=check_int("n_restarts", header.get("n_restarts", 0), 0, len(searches)),
        timed=header.get("timed", False),
        polish=False if polish is None else polish,
        polish_is_default=default,
        final_evals=check_final_evals(given),
        limits=limits_of(given),
        planned=check_limits(*(header["planned"].get(name) for name in LIMITS)),
        rules=rules_of(given, constrained),
        n_runs=check_int("n_runs", given.n_runs, 1, 2**20),
        n_islands=n_islands,
        migration=check_migration(read_migration(header), n_islands),
        dtype=choose_dtype(given, constrained),
        seed=int(arrays["seeds"][0]),
    )


def read_populations(arrays: dict[str, Any]) -> SavedPopulations:
    """Return seeds and last generations of a file."""
    return SavedPopulations(arrays["seeds"], arrays["limits"])


def unique(objects: Sequence[Any]) -> Sequence[Any]:
    """Return every object once."""
    return list({id(each): each for each in objects}.values())


def check_source(source: dict[str, Any], dim: int) -> None:
    """Check how the objective is to be found again."""
    if "problem" in source and (source.get("dim") != dim or "options" not in source):
        raise ValueError(f"'source' must be a problem of dim {dim}, with options, got {source!r}")


def check_populations(
    given: MinimizerParameters, header: dict[str, Any], arrays: dict[str, Any], algorithm: Algorithm, spec: Spec
) -> None:
    """Check all arrays of a file against the Spec of its fit, which takes the file's last generation."""
    optional = optional_layout(spec, arrays)
    check_layout(arrays, {**fit_layout(given, header, arrays), **batch_layout(spec), **optional})
    spec.last = max(spec.last, int(arrays["generation"].max()))
    begun = "told_rows" in arrays or "past_points" in arrays
    check_batch(spec, arrays, own=algorithm, least=-1 if begun else 0)
    FinalResults.check(spec, arrays)
