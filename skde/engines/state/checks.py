"""Checks of a checkpoint's values, which keep kernels inside the arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import skde._cpu as _cpu
from skde.algorithms.saved_state import SavedRuns, StateChecks
from skde.engines.state.algorithm_kernels import algorithm_entry, state_names
from skde.engines.state.batch import member_rows
from skde.engines.state.coevolution_arrays import SIDES
from skde.engines.state.coevolution_spec import CoevolutionSpec
from skde.engines.state.spec import Spec
from skde.stopping import Status
from skde.typing import FloatArray, IntArray
from skde.utils.serialization import entry

MAX_INT64 = 2**63 - 1
STATUSES = [int(status) for status in Status if status not in (Status.CALLBACK, Status.INTERRUPTED)]


def check_batch(
    spec: Spec, arrays: dict[str, Any], prefix: str = "", own: Any = None, free: int = 0, least: int = 0
) -> None:
    """Check the values of a batch's state, after its layout.

    Parameters
    ----------
    spec : Spec
        The spec of the batch.
    arrays : dict of str to ndarray
        The state; its names have the prefix.
    prefix : str
        The prefix of the names.
    own : Algorithm or None
        The algorithm that checks the counts and indices of its kernel.
    free : int
        Number of the last variables that may be outside their bounds.
    least : int
        The smallest number of a run's last generation; -1: before the initial population.

    Raises
    ------
    ValueError
        With the entry's name.
    """
    state = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
    generation = state["generation"]
    begun = np.maximum(generation, 0)
    checks = StateChecks(prefix)
    checks.check_range("generation", "generations", generation, least, MAX_INT64 - 1)
    evals = [schedule.evals(int(g) + 1) for schedule, g in zip(spec.schedules, generation, strict=True)]
    checks.check("generation", "evaluations up to a generation must be below 2^63", max(evals) <= MAX_INT64)
    checks.check("status", f"states must be among {STATUSES}", np.isin(state["status"], STATUSES))
    checks.check_range("met", "generations of meetings", state["met"], 0, generation + 1)
    checks.check_range("since", "generations of improvements", state["since"], 0, begun)
    checks.check("differed", "it must be 0 or 1", np.isin(state["differed"], (0, 1)))
    checks.check("archive", "its points must be finite", np.isfinite(state["archive"]))
    if spec.recorded:
        slots = state["history"].shape[1]
        fewest, most = _cpu.history_slots(spec.last), _cpu.history_slots(MAX_INT64)
        checks.check("history", f"it must have {fewest} to {most} samples, got {slots}", fewest <= slots <= most)
    sizes = np.array([[one.size(int(g)), one.size(int(g) + 1)] for one, g in zip(spec.schedules, begun, strict=True)])
    check_points(spec, state["x"], generation, checks, free)
    if spec.needs.ordered:
        checks.check_range("order", "individuals' numbers", state["order"], 0, spec.pop_max - 1)
    if own is None:
        return
    lower, upper = (bound.astype(spec.dtype).astype(np.float64) for bound in (spec.lower, spec.upper))
    names, array_names = algorithm_entry(spec.algorithm).parameters, state_names(spec)[0]
    for parameters, runs in runs_by_parameters(spec, generation >= 0):
        order = state["order"][runs] if spec.needs.ordered else np.empty((len(runs), 0), np.int64)
        saved = SavedRuns(
            parameters=dict(zip(names, parameters.tolist(), strict=True)),
            lower=lower,
            upper=upper,
            generation=generation[runs],
            size=sizes[runs, 0],
            next_size=sizes[runs, 1],
            memory=state["memory"][:, runs],
            extra={name: state["extra"][k, runs] for k, name in enumerate(array_names)},
            order=order,
            prefix=prefix,
        )
        if spec.needs.ranked:
            saved.check_order("order", "ranks", order, saved.size)
        own.check_saved(saved)


def runs_by_parameters(spec: Spec, among: Any) -> Iterator[tuple[FloatArray, IntArray]]:
    """Return every set of parameters with the indices of its runs."""
    different, which = np.unique(spec.parameters, axis=0, return_inverse=True)
    for k, parameters in enumerate(different):
        runs = np.flatnonzero((which.reshape(-1) == k) & among)
        if len(runs):
            yield parameters, runs


def check_points(spec: Spec, x: FloatArray, generation: IntArray, checks: StateChecks, free: int) -> None:
    """Check that the members of all populations are inside the box."""
    some = slice(0, len(spec.lower) - free)
    lower, upper = (bound.astype(spec.dtype)[some] for bound in (spec.lower, spec.upper))
    inside = ((x[..., some] >= lower) & (x[..., some] <= upper)).all(axis=-1)
    checks.check("x", "individuals must be inside their bounds", inside | ~member_rows(spec, generation))


def check_coevolution(spec: CoevolutionSpec, arrays: dict[str, Any], own_x: Any, own_y: Any) -> None:
    """Check the values of a co-evolution's state, after its layout; `own_x` and `own_y` are the sides' algorithms.

    Raises
    ------
    ValueError
        With the entry's name.
    """
    prefixes = tuple(f"{name}." for name in SIDES)
    incumbents = {name: array for name, array in arrays.items() if not name.startswith(prefixes)}
    check_batch(spec.incumbents, incumbents, free=len(spec.y.lower) if spec.updates else 0, least=-1)
    cycle = arrays["generation"]
    for prefix, side, own, length in zip(
        prefixes, (spec.x, spec.y), (own_x, own_y), (spec.gens_x, spec.gens_y), strict=True
    ):
        check_batch(side, arrays, prefix, own, least=-1)
        name, generation = f"{prefix}generation", arrays[f"{prefix}generation"]
        with entry(name):
            if spec.updates and prefix == prefixes[1]:
                if (generation != -1).any():
                    raise ValueError("multipliers that are updated have no generations: it must be -1")
            elif not ((generation // length >= cycle) & (generation <= length * (cycle + 1))).all():
                raise ValueError("a side's generations must belong to the run's last cycle or to the next one")
    with entry("columns"):
        if not spec.updates and not np.isfinite(arrays["columns"]).all():
            raise ValueError("opponents must be finite")
