"""Trials that a user evaluates: the steps behind `Minimizer.ask` and `Minimizer.tell`."""

from __future__ import annotations

from typing import Any

import numpy as np

from skde.arrays import contiguous, moved_to, real_values, to_numpy
from skde.objectives.feasibility import FeasibilityRules
from skde.run_results import values_of_points
from skde.runner import Runner
from skde.typing import Array
from skde.variables import Variables


def poll_stopped(runner: Runner) -> bool:
    """Return `poll_done` with the trials of the next generation made, which checks the rules of the last."""
    if not runner.has_trials:
        runner.propose()
    return runner.poll_done()


def ask(runner: Runner) -> Array | None:
    """Return a copy of the trials of one generation, in the shape that users see; None where all runs have ended.

    A GPU may report only now that all runs have ended: the trials of that call are returned all the same, so that a
    loop over `poll_stopped` sees the end first.
    """
    if not runner.has_trials:
        runner.propose()
    seen = runner.seen_done
    if runner.poll_done() and (seen or runner.status_poll.exact or runner.generation >= runner.last):
        return None
    runner.asked = values_of_points(runner.batch, trials(runner))
    return runner.asked


def trials(runner: Runner) -> Array:
    """Return a copy of the trials of the next generation, as points of the box."""
    batch = runner.batch
    rows = runner.engine.trials(batch, runner.generation + 1)
    shape = trials_shape(runner)
    with runner.engine.device_context:
        if batch.varies or (batch.pop_sizes != batch.pop_max).any():
            size = shape[-2] // batch.n_islands
            used = np.arange(batch.n_runs)[:, None] * batch.pop_max + np.arange(size) % runner.sizes[:, None]
            rows = rows[batch.xp.asarray(used)]
        return rows.reshape(shape)


def tell(runner: Runner, X: Array, f: Any) -> None:
    """Select by the values that a user found, of the points that `ask` returned or of others inside the bounds."""
    if runner.asked is None:
        raise RuntimeError("tell needs an ask before it: X = ask()")
    batch, xp = runner.batch, runner.batch.xp
    shape = runner.asked.shape
    if np.shape(X) != shape:
        raise ValueError(f"X must have the shape {shape} that ask returned, got {np.shape(X)}")
    if np.shape(f) != shape[:-1]:
        raise ValueError(f"f must have shape {shape[:-1]}, got {np.shape(f)}")
    with runner.engine.device_context:
        told = runner.asked
        if X is not told:
            told = contiguous(moved_to(X, told, "X"), batch.spec.dtype)
        points = told if batch.spec.variables is None else points_of(runner, batch.spec.variables, told)
        # To read the points of a GPU is to wait for it; the points that `ask` returned are inside.
        if xp is np or told is not runner.asked:
            check_inside(runner, points.reshape(batch.n_runs, -1, batch.dim))
        rows = told.reshape(-1, shape[-1])
        values = real_values(f.reshape(-1) if hasattr(f, "reshape") else np.reshape(f, -1), rows, "f")
        if isinstance(runner.rules, FeasibilityRules):
            values = runner.rules.codes(rows, values)
        size = shape[-2] // batch.n_islands
        if size == batch.pop_max:
            runner.accept(points, values)
        else:  # the kernels' rows are those of the largest population
            all_points = xp.zeros((batch.n_runs, batch.pop_max, batch.dim), batch.spec.dtype)
            all_values = xp.zeros((batch.n_runs, batch.pop_max), batch.spec.dtype)
            all_points[:, :size] = points.reshape(batch.n_runs, -1, batch.dim)
            all_values[:, :size] = values.reshape(batch.n_runs, -1)
            runner.accept(all_points, all_values)


def points_of(runner: Runner, variables: Variables, told: Array) -> Array:
    """Return the points of the box behind values: those of `ask` where the values are the same."""
    asked, points = runner.asked, trials(runner)
    if told is asked:
        return points
    n = len(variables)
    values, before = to_numpy(told).reshape(-1, n), to_numpy(asked).reshape(-1, n)
    components = to_numpy(points).reshape(-1, points.shape[-1])
    encoded = variables.encode(values, "X", components, values != before)
    return runner.batch.xp.asarray(encoded, dtype=points.dtype).reshape(points.shape)


def trials_shape(runner: Runner) -> tuple[int, ...]:
    """Return the shape of the trials of the next generation."""
    batch = runner.batch
    size = int(runner.sizes.max()) if batch.varies else batch.pop_max
    shape = (batch.n_runs // batch.n_islands, batch.n_islands * size, batch.dim)
    return shape if shape[0] > 1 else shape[1:]


def check_inside(runner: Runner, points: Array) -> None:
    """Refuse points outside the bounds; rows after the end of a smaller population do not count."""
    spec, xp = runner.batch.spec, runner.batch.xp
    lower, upper = (xp.asarray(bound, dtype=spec.dtype) for bound in (spec.lower, spec.upper))
    inside = (points >= lower) & (points <= upper)
    if bool(inside.all()):
        return
    used = xp.asarray(np.arange(points.shape[1]) < runner.sizes[:, None])
    wrong = ~inside & used[:, :, None]
    if bool(wrong.any()):
        run, row, j = (int(axis[0]) for axis in xp.nonzero(wrong))
        value = float(points[run, row, j])
        raise ValueError(
            f"X must be inside the bounds, got {value} in row {row} for variable {j}, which has the bounds "
            f"[{spec.lower[j]}, {spec.upper[j]}]"
        )
