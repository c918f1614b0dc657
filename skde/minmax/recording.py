"""The record of pairs, or of points of a constrained problem, in a Recorder."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np

from skde.engines import Coevolution, CoevolutionSpec, Spec
from skde.fit.fit import Fit
from skde.fit.recording import nothing
from skde.fit.results import values_of_points
from skde.minmax.partial_request import PartialRequest
from skde.objectives.feasibility import FeasibilityRules
from skde.problems.constraints import total_violation
from skde.typing import Array, FloatArray, IntArray
from skde.utils.arrays import to_numpy
from skde.variables import Variable, Variables, nameless


def make_recorded_variables(spec: CoevolutionSpec) -> Variables:
    """Return the variables of a record: x's and, in a game, y's, with different names."""
    sides = [side_variables("x", spec.x)]
    if not spec.constraints:
        sides.append(side_variables("y", spec.y))
    names = [name for side in sides for name in side]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"recorder needs different names of the variables of x and y, and both have {name!r}")
    return Variables({name: variable for side in sides for name, variable in side.items()})


def side_variables(side: str, spec: Spec) -> dict[str, Variable]:
    """Return the variables of a side by name: the user's, or x0, x1 and so on, or y0, y1."""
    if spec.variables is None:
        box = Variables(list(zip(spec.lower.tolist(), spec.upper.tolist(), strict=True)))
        return {f"{side}{j}": member for j, member in enumerate(box.members)}
    members = spec.variables.members
    names = spec.variables.names if spec.variables.named else [f"{side}{j}" for j in range(len(members))]
    return {name: nameless(member) for name, member in zip(names, members, strict=True)}


def record_request(fit: Fit, request: PartialRequest, rows: IntArray, values: Array) -> Callable[[], None]:
    """Return a function that records some rows of a request."""
    recorder = fit.recorder
    if recorder is None:
        return nothing
    batch, (cycle, evals) = cast(Coevolution, fit.batch), request.place
    spec = batch.coevolution_spec
    before = (batch.spec.schedules[0].evals(cycle - 1) + evals) * len(request.X)
    runs = request.places_of(rows)[0]
    sides = zip((batch.x, batch.y), request.points(rows), strict=True)
    X = np.hstack([to_numpy(values_of_points(side, points)) for side, points in sides if points is not None])
    found, seconds = values_and_violations(fit, to_numpy(values).astype(np.float64)), fit.seconds
    return lambda: recorder.add(before + rows, runs, cycle, "search", seconds, found, X, make_recorded_variables(spec))


def values_and_violations(fit: Fit, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return values and violations of pairs, or of points with these features."""
    rules = fit.rules
    if not isinstance(rules, FeasibilityRules):
        return values, np.zeros(len(values))
    return values[:, 0], total_violation(values[:, 1:], rules.problem.n_inequalities, rules.tolerance)
