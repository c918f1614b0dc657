"""The contents of a MinMaxSolver's files: header and arrays, and their checks."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from skde.algorithms import Algorithm, describe, get_algorithm
from skde.engines import Coevolution, CoevolutionSpec, SplitCoevolution
from skde.engines.state.checks import check_coevolution
from skde.engines.state.coevolution_arrays import coevolution_layout
from skde.engines.state.task import NUMBER
from skde.fit.fit_state import base_layout, check_base
from skde.minmax.fit import layout_of_requests
from skde.minmax.incomplete_cycle import TOLD
from skde.minmax.objective import MinMaxObjective, make_told_objective, read_side, resolve_minmax
from skde.minmax.spec import MinMaxParameters, SavedPlan, algorithm_of_y, coevolution_spec, get_side
from skde.problems import get_problem, problem_names
from skde.typing import FloatArray
from skde.utils.serialization import HEADER, Layout, check_layout, entry
from skde.utils.validation import check_choice, check_int
from skde.variables import Variables

# Parameters that a header has in another form, or not at all.
OTHER_FORM = ("algorithm_x", "algorithm_y", "bounds_x", "bounds_y", "callbacks", "random_state", "recorder")


class SavedFit(NamedTuple):
    """A fit as read from a file, checked: the function as far as it is known, the spec, and max_iter."""

    objective: MinMaxObjective
    spec: CoevolutionSpec
    planned: int


def pack_parameters(parameters: dict[str, Any], dtype: str) -> dict[str, Any]:
    """Return the parameters of a solver that a header has in the same form."""
    return {name: value for name, value in parameters.items() if name not in OTHER_FORM} | {"dtype": dtype}


def pack_algorithms(given: MinMaxParameters) -> list[dict[str, Any] | None]:
    """Return the algorithms of both sides as a header has them."""
    sides = (("algorithm_x", given.algorithm_x), ("algorithm_y", given.algorithm_y))
    return [None if side is None else describe(get_side(name, side)) for name, side in sides]


def pack_arrays(batch: Coevolution | SplitCoevolution, boxes: tuple[FloatArray, FloatArray | None]) -> dict[str, Any]:
    """Return the arrays of a file, except the fit's."""
    box_x, box_y = boxes
    return {
        "box_x": box_x,
        "box_y": np.empty((0, 2)) if box_y is None else box_y,
        "seeds_x": batch.x.spec.seeds,
        "seeds_y": batch.y.spec.seeds,
    }


def pack_variables(batch: Coevolution | SplitCoevolution) -> dict[str, Any]:
    """Return the entry of a header with the typed variables of both sides, where there are any."""
    sides = batch.x.spec.variables, batch.y.spec.variables
    if sides == (None, None):
        return {}
    return {"variables": [None if side is None else side.describe() for side in sides]}


def read_bounds(header: dict[str, Any], arrays: dict[str, Any]) -> list[Any]:
    """Return bounds_x and bounds_y of a file: typed variables, or boxes; None for y where it has none."""
    bounds: list[Any] = [arrays[name] if len(arrays[name]) else None for name in ("box_x", "box_y")]
    with entry(HEADER):
        described = header.get("variables", [None, None])
        if len(described) != len(bounds):
            raise ValueError(f"variables must describe x and y, or be null, got {described!r}")
        given = [None if one is None else Variables.from_description(one) for one in described]
    for name, variables in zip(("box_x", "box_y"), given, strict=True):
        with entry(name):
            if variables is not None and not np.array_equal(variables.box, arrays[name]):
                raise ValueError("it must be the box of the variables")
    return [box if variables is None else variables for box, variables in zip(bounds, given, strict=True)]


def read_algorithms(header: dict[str, Any]) -> list[Algorithm | None]:
    """Return the algorithms of both sides that a header describes."""
    given = header["algorithms"]
    if len(given) != 2 or given[0] is None:
        raise ValueError("algorithms must be two entries: the algorithm of x, and the algorithm of y or null")
    return [None if one is None else get_algorithm(one["name"], **one["parameters"]) for one in given]


def own_layout(given: MinMaxParameters) -> dict[str, Layout]:
    """Return the layout of a file's arrays, except the state of the populations."""
    with entry(HEADER):
        n_runs = check_int("n_runs", given.n_runs, 1, 2**20)
    box, seeds = Layout((None, 2), NUMBER), Layout((n_runs,), np.dtype(np.uint64))
    return {
        **dict.fromkeys(("box_x", "box_y"), box),
        **dict.fromkeys(("seeds_x", "seeds_y"), seeds),
        **base_layout(n_runs),
    }


def read_fit(given: MinMaxParameters, header: dict[str, Any], arrays: dict[str, Any]) -> SavedFit:
    """Check the contents of a file, and return what the fit continues with."""
    own = own_layout(given)
    check_layout(arrays, own, whole=False)
    check_base(header, arrays)
    objective = read_objective(given, header, arrays)
    with entry(HEADER):
        planned = header["planned"]
        saved = {name: arrays[name] for name in ("seeds", "seeds_x", "seeds_y", "limits")}
        spec = coevolution_spec(given, objective, SavedPlan(max_iter=planned, **saved))
    told = layout_of_requests(spec) if TOLD[0] in arrays else {}
    check_layout(arrays, own | coevolution_layout(spec) | told)
    spec.incumbents.last = max(spec.incumbents.last, int(arrays["generation"].max()))
    sides = (get_side("algorithm_x", given.algorithm_x), get_side("algorithm_y", algorithm_of_y(given)))
    check_coevolution(spec, arrays, *sides)
    return SavedFit(objective, spec, planned)


def read_objective(given: MinMaxParameters, header: dict[str, Any], arrays: dict[str, Any]) -> MinMaxObjective:
    """Return the boxes of a saved fit and, where its name is enough to find it, the function."""
    source, (bounds_x, bounds_y) = header["source"], read_bounds(header, arrays)
    for name, given_bounds in (("box_x", bounds_x), ("box_y", bounds_y)):
        with entry(name):
            if given_bounds is not None:
                read_side(name, given_bounds)
    with entry(HEADER):
        if "problem" in source:
            check_choice("source", source["problem"], [*problem_names("constrained"), *problem_names("minmax")])
            if bounds_x is None or source.get("dim") != len(bounds_x):
                raise ValueError(f"source must have the dim of box_x, {len(arrays['box_x'])}, got {source!r}")
            problem = get_problem(source["problem"], dim=source["dim"])
            return resolve_minmax(problem, bounds_x, bounds_y, feasibility_tol=given.feasibility_tol)
        if bounds_x is None or bounds_y is None:
            raise ValueError("a function of two sides needs box_x and box_y")
        return make_told_objective(bounds_x, bounds_y)
