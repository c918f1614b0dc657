"""Trials that a user evaluates: the steps behind `Minimizer.ask` and `Minimizer.tell`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from skde.fit.ask_final import tell_final
from skde.fit.partial_generation import PartialGeneration, order_of_rows, row_keys
from skde.fit.recording import nothing, record_others, record_trials
from skde.fit.run_results import values_of_points
from skde.fit.runner import Runner
from skde.objectives.feasibility import FeasibilityRules
from skde.objectives.told_rules import ToldRules
from skde.stopping import RUNNING
from skde.typing import Array, IntArray
from skde.utils.arrays import array_namespace, contiguous, move_to, real_values, to_numpy
from skde.utils.interrupts import interrupts
from skde.utils.validation import quote
from skde.variables import Variables

Constraints = tuple[Any, Any] | None  # the g and the h that a user tells
NO_ASK = "tell needs an ask before it: X = ask(), and then tell(X, f(X))"


def poll_stopped(runner: Runner) -> bool:
    """Return `poll_done` with the trials of the next generation made, which checks the rules of the last."""
    if not runner.has_trials:
        runner.propose()
    return (runner.remembers and begin_missing(runner) is None) or runner.poll_done()


# -- whole generations -------------------------------------------------------------------------------------------------


def ask(runner: Runner) -> Array | None:
    """Return a copy of the trials of one generation, in the shape that users see; None where all runs have ended.

    A GPU may report only now that all runs have ended: the trials of that call are returned all the same, so that a
    loop over `poll_stopped` sees the end first.
    """
    if not runner.has_trials:
        runner.propose()
    if runner.remembers and begin_missing(runner) is None:
        return None
    seen = runner.seen_done
    if runner.poll_done() and (seen or runner.status_poll.exact or runner.generation >= runner.last):
        return None
    runner.asked = values_of_points(runner.batch, trials(runner))
    if runner.partial is not None:
        runner.partial.handed_out[:] = True
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


def was_asked(runner: Runner) -> bool:
    """Return whether trials of the next generation have been handed out or told."""
    return runner.asked is not None or runner.partial is not None


def tell(runner: Runner, X: Array | None, f: Any, constraints: Constraints = None) -> None:
    """Select by the values that a user found, of the points that `ask` returned or of others inside the bounds."""
    if not (was_asked(runner) or runner.remembers):
        raise RuntimeError(NO_ASK)
    if X is None or runner.asked is None or np.shape(X) != runner.asked.shape:
        tell_rows(runner, X, f, constraints=constraints)
        return
    batch, xp = runner.batch, runner.batch.xp
    shape = runner.asked.shape
    with runner.engine.device_context:
        told = runner.asked
        rows = told.reshape(-1, shape[-1])
        values = with_constraints(runner, read_told_values(f, shape[:-1], rows), constraints, shape[:-1])
        if X is not told:
            told = contiguous(move_to(X, told, "X"), batch.spec.dtype)
            told = told if batch.spec.variables is not None else move_inwards(runner, told)
            told, values = in_order(told, values, runner.asked)
            rows = told.reshape(-1, shape[-1])
        points = told if batch.spec.variables is None else points_of(runner, batch.spec.variables, told)
        # To read the points of a GPU is to wait for it; the points that `ask` returned are inside.
        if xp is np or told is not runner.asked:
            check_inside(runner, points.reshape(batch.n_runs, -1, batch.dim))
        found = codes(runner, rows, values, find_needed_rows(runner))
        if runner.remembers:
            tell_whole(runner, rows, points.reshape(-1, batch.dim), found)
            return
        record = record_whole(runner, rows, found)
        with interrupts.deferred:
            select(runner, points, found)
            record()


def tell_whole(runner: Runner, told: Array, points: Array, values: Array) -> None:
    """Set the values of all trials that have none, and select."""
    partial = begin_partial(runner)
    if partial is None:
        return
    rows = partial.missing_rows
    where = runner.batch.xp.asarray(rows)
    partial.told[where], partial.points[where] = told[where], points[where]
    record = put_told(runner, partial, rows, values[where])
    select_complete(runner, partial)
    record()


def record_whole(runner: Runner, rows: Array, values: Array) -> Callable[[], None]:
    """Return a function that records all trials that need a value."""
    if runner.recorder is None:
        return nothing
    needed = find_needed_rows(runner)
    if runner.partial is not None:
        needed &= ~runner.partial.infeasible  # these are recorded
    needed = np.flatnonzero(needed)
    where = runner.batch.xp.asarray(needed)
    return record_trials(runner, needed, rows[where], values[where])


def in_order(told: Array, values: Array, asked: Array) -> tuple[Array, Array]:
    """Return points and values in the order of `asked`, where the points are its rows in another order."""
    if bool((told == asked).all()):
        return told, values
    rows = told.reshape(-1, told.shape[-1])
    order = order_of_rows(rows, asked.reshape(rows.shape))
    return (told, values) if order is None else (asked, values[array_namespace(values).asarray(order)])


def read_told_values(f: Any, shape: tuple[int, ...], rows: Array) -> Array:
    """Return a user's values, of that shape or a column of it, as an array of shape (n,), one a row."""
    if np.shape(f) != shape and np.shape(f) != (*shape, 1):
        raise ValueError(f"f must have shape {shape}, got {np.shape(f)}")
    return real_values(f.reshape(-1) if hasattr(f, "reshape") else np.reshape(f, -1), rows, "f")


def with_constraints(runner: Runner, f: Array, constraints: Constraints, shape: tuple[int, ...]) -> Array:
    """Return values or, where constraints are told too, rows of f, g and h; `shape` is that of the values as told."""
    rules = runner.rules
    if not isinstance(rules, ToldRules):
        return f
    g, h = constraints or (None, None)
    return rules.rows(f, g, h, shape)


def select(runner: Runner, points: Array, values: Array) -> None:
    """Select by the values of all rows, as selection compares them, at points of the box."""
    batch, xp = runner.batch, runner.batch.xp
    size = len(values) // batch.n_runs
    if size == batch.pop_max:
        runner.accept(points, values)
    else:  # the kernels' rows are those of the largest population
        all_points = xp.zeros((batch.n_runs, batch.pop_max, batch.dim), batch.spec.dtype)
        all_values = xp.zeros((batch.n_runs, batch.pop_max), batch.spec.dtype)
        all_points[:, :size] = points.reshape(batch.n_runs, -1, batch.dim)
        all_values[:, :size] = values.reshape(batch.n_runs, -1)
        runner.accept(all_points, all_values)


def codes(runner: Runner, told: Array, values: Array, needed: Any = None) -> Array:
    """Return values as selection compares them: with constraints, the codes of feasibility rules.

    `needed` says which of the rows needed a value; None: all.
    """
    rules = runner.rules
    if isinstance(rules, ToldRules):
        return rules.codes(told, values)
    if not isinstance(rules, FeasibilityRules):
        return values
    violation = rules.violations(told)
    feasible = to_numpy(violation == 0)
    rules.n_calls += int(np.count_nonzero(feasible if needed is None else feasible & needed))
    return rules.codes(values, violation)


def points_of(runner: Runner, variables: Variables, told: Array) -> Array:
    """Return the points of the box behind values: those of `ask` where the values are the same.

    The values are compared with those of the trials, because a user may have changed the array of `ask` in place.
    """
    points = trials(runner)
    return encode_told(runner, variables, told, values_of_points(runner.batch, points), points)


def encode_told(runner: Runner, variables: Variables, told: Array, asked: Array, points: Array) -> Array:
    """Return the points of the box behind values: where they equal those of `asked`, the same as `points`."""
    n = len(variables)
    values, before = to_numpy(told).reshape(-1, n), to_numpy(asked).reshape(-1, n)
    components = to_numpy(points).reshape(-1, points.shape[-1])
    found = variables.encode(values, "X", components, values != before)
    return move_inwards(runner, runner.batch.xp.asarray(found, dtype=points.dtype).reshape(points.shape))


def move_inwards(runner: Runner, points: Array) -> Array:
    """Return points of which single precision has rounded components at their bounds out of the box, inside it."""
    spec, xp = runner.batch.spec, runner.batch.xp
    if spec.dtype == np.float64:
        return points
    lower, upper = (xp.asarray(bound, dtype=spec.dtype) for bound in (spec.lower, spec.upper))
    below, above = xp.nextafter(lower, lower - 1), xp.nextafter(upper, upper + 1)
    return xp.where((points == below) | (points == above), xp.clip(points, lower, upper), points)


def trials_shape(runner: Runner) -> tuple[int, ...]:
    """Return the shape of the trials of the next generation."""
    batch = runner.batch
    shape = (batch.n_runs // batch.n_islands, batch.n_islands * runner.rows_per_population, batch.dim)
    return shape if shape[0] > 1 else shape[1:]


def check_inside(runner: Runner, points: Array, sizes: IntArray | None = None) -> None:
    """Refuse points outside the bounds, of shape (n, m, dim); of each n, only the first `sizes` rows count.

    By default there are n runs, and `sizes` are those of their populations.
    """
    spec, xp = runner.batch.spec, runner.batch.xp
    lower, upper = (xp.asarray(bound, dtype=spec.dtype) for bound in (spec.lower, spec.upper))
    inside = (points >= lower) & (points <= upper)
    if bool(inside.all()):
        return
    sizes = runner.sizes if sizes is None else sizes
    used = xp.asarray(np.arange(points.shape[1]) < sizes[:, None])
    wrong = ~inside & used[:, :, None]
    if bool(wrong.any()):
        run, row, j = (int(axis[0]) for axis in xp.nonzero(wrong))
        value = float(points[run, row, j])
        raise ValueError(
            f"X must be inside the bounds, got {value} in row {row} for variable {j}, which has the bounds "
            f"[{spec.lower[j]}, {spec.upper[j]}]"
        )


# -- parts of a generation ---------------------------------------------------------------------------------------------


def begin_partial(runner: Runner, remember: bool = True) -> PartialGeneration | None:
    """Return the trials of the next generation, to be told in parts; None where all runs have ended.

    With `remember`, those of a discrete space with known values have them.
    """
    if runner.partial is None:
        if not runner.has_trials:
            runner.propose()
        batch = runner.batch
        running = batch.host("status") == RUNNING
        runner.status_poll.exact = True  # a GPU is waited for in every generation anyway
        if not running.any():
            return None
        points, needed = trials(runner), find_needed_rows(runner)
        with runner.engine.device_context:
            points = points.reshape(-1, batch.dim)
            asked = values_of_points(batch, points)
            place = runner.generation + 1, batch.n_runs
            partial = PartialGeneration(runner.first_id, asked, points, needed, batch.xp, *place)
            for kept in [kept for kept in runner.kept if kept.generation == partial.generation]:
                partial.take(kept)
                runner.kept.remove(kept)
        if runner.asked is not None:
            partial.handed_out[:] = True
        runner.partial = partial
        if remember:
            give_known(runner, partial)
    return runner.partial


def give_known(runner: Runner, partial: PartialGeneration) -> None:
    """Give the trials of a discrete space that were evaluated before their values."""
    if runner.known is not None and runner.remembers:
        runs = np.arange(len(partial.asked)) // runner.rows_per_population // runner.batch.n_islands
        runner.known.begin(partial, to_numpy(partial.told), runs)


def begin_missing(runner: Runner) -> PartialGeneration | None:
    """Return the next generation of which a trial needs a value of the user's; None where all runs have ended.

    Generations before it may have none: of infeasible trials, of points of a discrete space that are known, or where an
    interruption came between the last value and the selection.
    """
    while (partial := begin_partial(runner)) is not None:
        screen(runner, partial)
        if partial.runs is not None or not partial.complete:
            return partial
        select_complete(runner, partial)
    return None


def find_needed_rows(runner: Runner) -> Any:
    """Return which rows of the trials need a value, of shape (n,)."""
    running = runner.batch.host("status") == RUNNING
    used = np.arange(runner.rows_per_population) < runner.sizes[:, None]
    return (running[:, None] & used).reshape(-1)


def select_complete(runner: Runner, partial: PartialGeneration) -> None:
    """Select by the values of a generation that has them all."""
    with runner.engine.device_context, interrupts.deferred:
        select(runner, partial.points, partial.values)
        if partial.keys and runner.known is not None:
            runner.known.end(partial)
            runner.end_exhausted()


def ids_of_asked(runner: Runner) -> IntArray:
    """Return the ids of the points that `ask` returned."""
    shape: tuple[int, ...] = np.shape(cast(Array, runner.asked))[:-1]
    ids: IntArray = runner.first_id + np.arange(math.prod(shape)).reshape(shape)
    return ids


def ask_some(runner: Runner, n: int) -> tuple[Array | None, IntArray | None]:
    """Return up to n trials of one generation that were not handed out, with their ids; None if all runs have ended.

    There are none while a generation waits for values of trials that were handed out, and where all trials of the last
    generations were infeasible, so that the runs have ended only now.
    """
    first = runner.generation
    partial = begin_missing(runner)
    if partial is None:
        if runner.generation == first:
            return None, None
        spec = runner.batch.spec
        width = runner.batch.dim if spec.variables is None else len(spec.variables)
        return runner.batch.xp.zeros((0, width), spec.dtype), np.zeros(0, np.int64)
    rows = partial.hand_out(n)
    with runner.engine.device_context:
        return partial.asked[runner.batch.xp.asarray(rows)], partial.first + rows


def screen(runner: Runner, partial: PartialGeneration) -> None:
    """Evaluate the constraints at the trials without a value, and give those that violate them their codes, once."""
    rules = runner.rules
    if partial.screened or partial.runs is not None or not isinstance(rules, FeasibilityRules):
        return
    rows, xp = partial.missing_rows, runner.batch.xp
    rows = rows[first_of_points(partial, rows)] if partial.keys else rows
    with runner.engine.device_context:
        violation = rules.violations(partial.told[xp.asarray(rows)])
        outside = np.flatnonzero(to_numpy(violation) != 0)
        found = rules.codes(xp.full(len(outside), np.nan), violation[xp.asarray(outside)])
        record = record_rows(runner, partial, rows[outside], found)
        with interrupts.deferred:
            keep_values(runner, partial, rows[outside], found)
            partial.infeasible[rows[outside]] = partial.screened = True
            record()


def tell_rows(runner: Runner, X: Array | None, f: Any, ids: Any = None, constraints: Constraints = None) -> None:
    """Note the values of some trials, by their points or their ids, and select when all trials have values."""
    partial = begin_missing(runner)
    if partial is None and runner.remembers:
        return  # values of points that are known
    if partial is None:
        raise RuntimeError("every run has ended, so that no trial waits for a value")
    with runner.engine.device_context:
        told = None if X is None else read_told_points(runner, X, partial)
        shape: tuple[int, ...]
        if ids is None:
            if X is None:
                raise TypeError("tell needs X or ids: tell(X, f) or tell(f=f, ids=ids)")
            points = read_told_points(runner, X, partial)
            shape, places = np.shape(X)[:-1], unknown_places(runner, points)
            rows = partial.rows_of_points(points[places])
        else:
            given = read_told_ids(ids)
            shape, ids = given.shape, given.reshape(-1)
            if told is not None and len(told) != len(ids):
                raise ValueError(f"X must have a row for each of the {len(ids)} ids, got {len(told)}")
            # Those before are of trials that were complete by the values of equal points.
            places = np.flatnonzero((ids < 0) | (ids >= partial.first)) if partial.keys else np.arange(len(ids))
            rows = partial.rows_of_ids(ids[places])
        values = with_constraints(runner, part_values(f, shape, partial.points), constraints, shape)
        replaces = ids is not None and told is not None
        if partial.keys and replaces:
            partial.reopen(rows[partial.infeasible[rows]])
        # An infeasible trial needs no value, nor one with a known value.
        needless = partial.has_value[rows] if partial.keys else partial.infeasible[rows] & (not replaces)
        rows, places = rows[~needless], places[~needless]
        where, chosen = runner.batch.xp.asarray(rows), runner.batch.xp.asarray(places)
        values, told = values[chosen], None if told is None else told[chosen]
        before = partial.told[where], partial.points[where]
        if ids is not None and told is not None:
            replace_points(runner, partial, where, told)
        try:
            found = codes(runner, partial.told[where], values)
            record = put_told(runner, partial, rows, found)
            if partial.runs is not None:
                tell_final(runner, partial, rows)
            elif partial.complete:
                select_complete(runner, partial)
        except BaseException:  # such as one of a constraint: the values can then be told again
            partial.forget(rows)
            partial.told[where], partial.points[where] = before
            raise
        record()


def unknown_places(runner: Runner, told: Array) -> IntArray:
    """Return the rows of told points that have no known value."""
    if runner.known is None or not runner.remembers:
        return np.arange(len(told))
    return np.array([k for k, key in enumerate(row_keys(told)) if key not in runner.known], np.int64)


def put_told(runner: Runner, partial: PartialGeneration, rows: IntArray, values: Array) -> Callable[[], None]:
    """Set told values, those of points with a known value left out, and return a function that records them."""
    if not partial.keys:
        record = record_rows(runner, partial, rows, values)
        partial.put(rows, values)
        return record
    records = []
    places = first_of_points(partial, rows)
    while len(places):  # again where another point has replaced the first one of equal points
        own, found = rows[places], values[runner.batch.xp.asarray(places)]
        records.append(record_rows(runner, partial, own, found))
        keep_values(runner, partial, own, found)
        places = first_of_points(partial, rows)

    def record_all() -> None:
        for record in records:
            record()

    return record_all


def first_of_points(partial: PartialGeneration, rows: IntArray) -> IntArray:
    """Return the places of some rows that have no value, of equal points the first one."""
    firsts: dict[bytes, int] = {}
    for place, row in enumerate(rows.tolist()):
        if not partial.has_value[row]:
            firsts.setdefault(partial.keys[row], place)
    return np.array(sorted(firsts.values()), np.int64)


def keep_values(runner: Runner, partial: PartialGeneration, rows: IntArray, values: Array) -> None:
    """Set the values of some trials and, in a discrete space, those of equal ones."""
    partial.put(rows, values)
    if partial.keys and runner.known is not None:
        told = to_numpy(partial.told[runner.batch.xp.asarray(rows)])
        runner.known.note(partial, rows, told, to_numpy(partial.values[runner.batch.xp.asarray(rows)]))


def record_rows(runner: Runner, partial: PartialGeneration, rows: IntArray, values: Array) -> Callable[[], None]:
    """Return a function that records some rows of a generation, or of points that are evaluated after the last one."""
    if runner.recorder is None:
        return nothing
    where = runner.batch.xp.asarray(rows)
    if partial.runs is None:
        return record_trials(runner, rows, partial.told[where], values)
    runs, points = partial.runs[rows], partial.points[where].copy()
    return lambda: record_others(runner, runs, points, values, "final")


def read_told_points(runner: Runner, X: Array, partial: PartialGeneration) -> Array:
    """Return a user's points, one or some of a generation's, as an array with a row for each."""
    width = partial.asked.shape[-1]
    if np.ndim(X) == 0 or np.shape(X)[-1] != width:
        raise ValueError(f"X must be rows of what ask returned, of {width} variables, got shape {np.shape(X)}")
    return contiguous(move_to(X, partial.asked, "X"), runner.batch.spec.dtype).reshape(-1, width)


def read_told_ids(ids: Any) -> IntArray:
    """Return ids as an array of integers."""
    array = np.asarray(ids)
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"ids must be integers, those that ask(return_ids=True) returned, got {quote(ids)}")
    return array.astype(np.int64)


def part_values(f: Any, shape: tuple[int, ...], like: Array) -> Array:
    """Return a user's values, of that shape or a column of it, as an array of shape (k,); also from the host."""
    if np.shape(f) not in (shape, (*shape, 1)):
        raise ValueError(f"f must have shape {shape}, got {np.shape(f)}")
    return contiguous(move_to(f, like, "f"), like.dtype).reshape(-1)


def replace_points(runner: Runner, partial: PartialGeneration, where: Array, told: Array) -> None:
    """Let other points inside the bounds replace those of `ask`."""
    asked, points = partial.asked[where], partial.points[where]
    if bool((told == asked).all()):
        return
    if partial.runs is not None:
        raise ValueError("X must be the points that ask returned: those of final_evals cannot be replaced by others")
    variables = runner.batch.spec.variables
    told = told if variables is not None else move_inwards(runner, told)
    points = told if variables is None else encode_told(runner, variables, told, asked, points)
    check_inside(runner, points[None], np.array([len(points)]))
    partial.told[where], partial.points[where] = told, points
