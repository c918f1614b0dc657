"""Header and arrays of a Minimizer's files and pickles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skde.algorithms import Algorithm, describe, get_algorithm
from skde.algorithms.auto import AUTO
from skde.algorithms.sequence import AlgorithmSequence
from skde.engines import Spec
from skde.engines.batch_arrays import batch_layout
from skde.engines.state_checks import check_batch
from skde.engines.task import NUMBER, WORD
from skde.fit.ask_tell import told_state
from skde.fit.earlier_search import EarlierSearch, check_earlier
from skde.fit.known_values import KnownValues
from skde.fit.polished_points import PolishedPoints, check_polished
from skde.fit.runner import Runner
from skde.fit.runner_state import check_runner_state, runner_layout
from skde.islands import Migration
from skde.minimizer_spec import Budget, Parameters, SavedPlan, algorithms_of, search_setting
from skde.objectives.feasibility import calls_of
from skde.serialization import HEADER, Layout, check_keys, check_layout, entry, json_view
from skde.typing import FloatArray
from skde.validation import check_bounds, check_inside, check_int, check_real, check_start
from skde.variables import Variables

BUDGET = ("max_iter", "max_evals", "max_time")
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
    "dtype": str,
    "planned": list,
}
OPTIONAL_KEYS: dict[str, Any] = {
    "feasibility_tol": (float, int),
    "fun_evals": int,
    "variables": list,
    "automatic": bool,
    "polish_evals": int,
    "sequence": dict,
}
SEQUENCE: dict[str, Any] = {"first_evals": int, "second_evals": int, "spent": (int, type(None))}


def fit_state(
    parameters: dict[str, Any],
    algorithm: Algorithm | AlgorithmSequence | Sequence[Algorithm],
    polish_evals: int,
    runner: Runner,
    box: FloatArray,
    source: dict[str, Any],
    budget: Budget,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the header and the arrays of a file.

    Parameters
    ----------
    parameters : dict
        The Minimizer's parameters.
    algorithm : Algorithm, AlgorithmSequence or sequence of Algorithm
        The algorithm that runs.
    polish_evals : int
        Evaluations of a run that are kept for the default polish.
    runner : Runner
        The batch and its clock.
    box : ndarray of shape (dim, 2)
        The bounds of the fit.
    source : dict
        Entries by which the objective is found again.
    budget : tuple
        The limits that the fit began with.
    """
    spec = runner.batch.spec
    migration = parameters["migration"]
    several = isinstance(algorithm, Sequence)
    run_header, run_arrays = runner.state()
    header: dict[str, Any] = {
        "parameters": {
            name: spec.dtype.name if name == "dtype" else json_view(value)
            for name, value in parameters.items()
            if name not in SEPARATE
        },
        "algorithms": [describe(each) for each in listed(algorithm)],
        "migration": None if migration is None else migration.get_params(),
        "one_algorithm": not several,
        "source": source,
        **run_header,
        "dtype": spec.dtype.name,
        "planned": list(budget),
    }
    if isinstance(parameters["algorithm"], str) and parameters["algorithm"] == AUTO:
        header["automatic"] = True
        if polish_evals:
            header["polish_evals"] = polish_evals
    if isinstance(algorithm, AlgorithmSequence):
        header["sequence"] = {name: getattr(algorithm, name) for name in SEQUENCE}
    if spec.variables is not None:
        header["variables"] = spec.variables.describe()
    arrays = {"box": box, "start": spec.start, **run_arrays, **told_state(runner)}
    if runner.rules is not None:
        header["feasibility_tol"] = runner.rules.tolerance
        if (n_calls := calls_of(runner.rules)) is not None:
            header["fun_evals"] = n_calls
        arrays["outcomes"] = runner.outcomes()
    return header, arrays


def listed(algorithm: Algorithm | AlgorithmSequence | Sequence[Algorithm]) -> Sequence[Algorithm]:
    """Return the parameter objects of the algorithm that runs."""
    if isinstance(algorithm, AlgorithmSequence):
        return [algorithm.first, algorithm.second]
    return [algorithm] if isinstance(algorithm, Algorithm) else algorithm


def saved_choice(header: dict[str, Any]) -> Algorithm | AlgorithmSequence | list[Algorithm]:
    """Return the algorithm that runs in a saved Minimizer."""
    return saved_sequence(header) if "sequence" in header else saved_algorithm(header)


def saved_algorithm(header: dict[str, Any]) -> Algorithm | list[Algorithm]:
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


def saved_sequence(header: dict[str, Any]) -> AlgorithmSequence:
    """Return the two searches of a saved Minimizer."""
    check_keys("sequence", header["sequence"], SEQUENCE, {})
    check_dtype_entry(header)
    if len(header["algorithms"]) != 2 or not header.get("automatic"):
        raise ValueError("a sequence must have two algorithms, which 'auto' chose")
    first, second = (get_algorithm(saved["name"], **saved["parameters"]) for saved in header["algorithms"])
    numbers = header["sequence"]
    for name, value in numbers.items():
        if value is not None:
            check_int(name, value, 1)
    return AlgorithmSequence(first, second, **numbers)


def saved_bounds(header: dict[str, Any], arrays: dict[str, Any]) -> Variables | FloatArray:
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


def saved_migration(header: dict[str, Any]) -> Migration | None:
    """Return the argument `migration` of a saved Minimizer."""
    return None if header["migration"] is None else Migration(**header["migration"])


def fit_layout(parameters: Parameters, header: dict[str, Any], arrays: dict[str, Any]) -> dict[str, Layout]:
    """Return the layout of a file's arrays, those of the populations left out."""
    with entry(HEADER):
        n_runs = check_int("n_runs", parameters.n_runs, 1, 2**20)
        n_populations = n_runs * check_int("n_islands", parameters.n_islands, 1, 2**16)
    layout = {
        "box": Layout((None, 2), NUMBER),
        "start": Layout((None, None), NUMBER),
        **runner_layout(n_populations),
    }
    layout |= PolishedPoints.layout(n_runs, arrays) | EarlierSearch.layout(n_runs, arrays)
    if "feasibility_tol" in header:
        layout["outcomes"] = Layout((n_runs, 3), NUMBER)
    return layout


def optional_layout(spec: Spec, arrays: dict[str, Any]) -> dict[str, Layout]:
    """Return the layout of the arrays that only some files have: of an incomplete generation, and of final values."""
    n_runs = len(spec.seeds) // spec.islands.n_islands
    extra = {"extra_evals": Layout((n_runs,), WORD)}
    final = {
        "final_chosen": Layout((n_runs,), WORD),
        "final_points": Layout((n_runs, len(spec.lower)), spec.dtype),
        "final_fun": Layout((n_runs,), NUMBER),
    }
    parts = (("told_rows", told_layout(spec)), ("extra_evals", extra), ("final_chosen", final))
    found = {key: layout for name, part in parts if name in arrays for key, layout in part.items()}
    if "known_points" in arrays and spec.variables is not None:
        found |= KnownValues.layout(spec.variables, n_runs, spec.dtype)
    return found


def check_optional(spec: Spec, arrays: dict[str, Any]) -> None:
    """Check the values of the arrays that only some files have; those of an incomplete generation when it is told."""
    with entry("extra_evals"):
        if "extra_evals" in arrays and not ((arrays["extra_evals"] >= 0) & (arrays["extra_evals"] < 2**40)).all():
            raise ValueError("numbers of evaluations must be in [0, 2^40)")
    if "final_chosen" not in arrays:
        return
    with entry("final_chosen"):
        if not np.isin(arrays["final_chosen"], (0, 1)).all():
            raise ValueError("it must be 0 or 1 for every run")
    with entry("final_points"):
        box = np.stack([spec.lower, spec.upper], axis=1)
        check_inside(arrays["final_points"][arrays["final_chosen"] == 1], box, spec.dtype)


def told_layout(spec: Spec) -> dict[str, Layout]:
    """Return the layout of the values that were told of an incomplete generation."""
    return {
        "told_generations": Layout((None,), WORD),
        "told_rows": Layout((None,), WORD),
        "told_points": Layout((None, len(spec.lower)), spec.dtype),
        "told_values": Layout((None,), spec.dtype),
    }


def saved_plan(parameters: Parameters, header: dict[str, Any], arrays: dict[str, Any]) -> SavedPlan:
    """Check header and arrays, those of the populations left out; return the plan of the saved fit."""
    check_layout(arrays, fit_layout(parameters, header, arrays), whole=False)
    with entry("box"):
        box = check_bounds(arrays["box"])
    with entry(HEADER):
        given = header["planned"]
        if len(given) != len(BUDGET):
            raise ValueError(f"planned must be {', '.join(BUDGET)}, got {given!r}")
        budget = (given[0], given[1], given[2])
        check_source(header["source"], len(header.get("variables", box)))
        check_real("feasibility_tol", header.get("feasibility_tol", 0.0), 0)
        # A false pop_size must not allocate more memory than the file's arrays take.
        rows = arrays["x"].shape[1] if "x" in arrays and arrays["x"].ndim == 3 else 0
        setting = search_setting(parameters, len(box), budget)
        if (header.get("sequence", {}).get("spent") is None) == ("earlier_points" in arrays):
            raise ValueError("a file has the results of an earlier search in the second search of a sequence only")
        for algorithm in unique(algorithms_of(parameters)):
            if (pop_size := algorithm.kernel_parameters(setting)["pop_size"]) > rows:
                raise ValueError(f"pop_size is {pop_size}, and entry 'x' has {rows} rows")
    check_runner_state(header, arrays)
    check_polished(PolishedPoints.from_state(arrays), box, parameters.dtype)
    check_earlier(EarlierSearch.from_state(arrays), box, parameters.dtype)
    if "outcomes" in arrays:
        with entry("outcomes"):
            if not (arrays["outcomes"][:, 1:] >= 0).all():
                raise ValueError("violations must be >= 0")
    return SavedPlan(budget, arrays["seeds"], arrays["limits"])


def unique(objects: Sequence[Any]) -> Sequence[Any]:
    """Return every object once."""
    return list({id(each): each for each in objects}.values())


def check_source(source: dict[str, Any], dim: int) -> None:
    """Check how the objective is to be found again."""
    if "problem" in source and (source.get("dim") != dim or "options" not in source):
        raise ValueError(f"'source' must be a problem of dim {dim}, with options, got {source!r}")


def saved_start(arrays: dict[str, Any]) -> FloatArray | None:
    """Return the checked points that the initial population of a saved fit began with."""
    start: FloatArray | None = arrays["start"] if len(arrays["start"]) else None
    with entry("start"):
        check_start(start, arrays["box"], arrays["x"].shape[1])
    return start


def check_populations(parameters: Parameters, header: dict[str, Any], arrays: dict[str, Any], spec: Spec) -> None:
    """Check all arrays of a file against the Spec of its fit, which takes the file's last generation."""
    optional = optional_layout(spec, arrays)
    check_layout(arrays, {**fit_layout(parameters, header, arrays), **batch_layout(spec), **optional})
    spec.last = max(spec.last, int(arrays["generation"].max()))
    begun = "told_rows" in arrays or "earlier_points" in arrays
    check_batch(spec, arrays, own=algorithms_of(parameters)[0], least=-1 if begun else 0)
    check_optional(spec, arrays)
