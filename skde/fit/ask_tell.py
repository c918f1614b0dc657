"""Trials that a user evaluates: the steps behind `Minimizer.ask` and `Minimizer.tell`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from skde.fit.fit import Fit
from skde.fit.partial_generation import PartialGeneration, order_of_rows, row_keys
from skde.fit.recording import nothing, record_trials
from skde.fit.results import values_of_points
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


def poll_stopped(fit: Fit) -> bool:
    """Return `poll_done` with the trials of the next generation made, which checks the rules of the last."""
    if not fit.population.has_trials:
        fit.population.propose()
    return (fit.remembers and begin_missing(fit) is None) or fit.population.poll_done()


# -- whole generations -------------------------------------------------------------------------------------------------


def ask(fit: Fit) -> Array | None:
    """Return a copy of the trials of one generation, in the shape that users see; None where all runs have ended.

    A GPU may report only now that all runs have ended: the trials of that call are returned all the same, so that a
    loop over `poll_stopped` sees the end first.
    """
    if not fit.population.has_trials:
        fit.population.propose()
    if fit.remembers and begin_missing(fit) is None:
        return None
    seen = fit.population.seen_done
    if fit.population.poll_done() and (
        seen or fit.population.status_poll.exact or fit.population.generation >= fit.population.last
    ):
        return None
    fit.population.asked = values_of_points(fit.batch, trials(fit))
    if fit.population.partial is not None:
        fit.population.partial.handed_out[:] = True
    return fit.population.asked


def trials(fit: Fit) -> Array:
    """Return a copy of the trials of the next generation, as points of the box."""
    batch = fit.batch
    rows = fit.engine.trials(batch, fit.population.generation + 1)
    shape = trials_shape(fit)
    with fit.engine.device_context:
        if batch.varies or (batch.pop_sizes != batch.pop_max).any():
            size = shape[-2] // batch.n_islands
            used = np.arange(batch.n_runs)[:, None] * batch.pop_max + np.arange(size) % fit.population.sizes[:, None]
            rows = rows[batch.xp.asarray(used)]
        return rows.reshape(shape)


def was_asked(fit: Fit) -> bool:
    """Return whether trials of the next generation have been handed out or told."""
    return fit.population.asked is not None or fit.partial is not None


def tell(fit: Fit, X: Array | None, f: Any, constraints: Constraints = None) -> None:
    """Select by the values that a user found, of the points that `ask` returned or of others inside the bounds."""
    if not (was_asked(fit) or fit.remembers):
        raise RuntimeError(NO_ASK)
    if X is None or fit.population.asked is None or np.shape(X) != fit.population.asked.shape:
        tell_rows(fit, X, f, constraints=constraints)
        return
    batch, xp = fit.batch, fit.batch.xp
    shape = fit.population.asked.shape
    with fit.engine.device_context:
        told = fit.population.asked
        rows = told.reshape(-1, shape[-1])
        values = with_constraints(fit, read_told_values(f, shape[:-1], rows), constraints, shape[:-1])
        if X is not told:
            told = contiguous(move_to(X, told, "X"), batch.spec.dtype)
            told = told if batch.spec.variables is not None else move_inwards(fit, told)
            told, values = in_order(told, values, fit.population.asked)
            rows = told.reshape(-1, shape[-1])
        points = told if batch.spec.variables is None else points_of(fit, batch.spec.variables, told)
        # To read the points of a GPU is to wait for it; the points that `ask` returned are inside.
        if xp is np or told is not fit.population.asked:
            check_inside(fit, points.reshape(batch.n_runs, -1, batch.dim))
        found = codes(fit, rows, values, find_needed_rows(fit))
        if fit.remembers:
            tell_whole(fit, rows, points.reshape(-1, batch.dim), found)
            return
        record = record_whole(fit, rows, found)
        with interrupts.deferred:
            select(fit, points, found)
            record()


def tell_whole(fit: Fit, told: Array, points: Array, values: Array) -> None:
    """Set the values of all trials that have none, and select."""
    partial = begin_partial(fit)
    if partial is None:
        return
    rows = partial.missing_rows
    where = fit.batch.xp.asarray(rows)
    partial.told[where], partial.points[where] = told[where], points[where]
    record = put_told(fit, partial, rows, values[where])
    select_complete(fit, partial)
    record()


def record_whole(fit: Fit, rows: Array, values: Array) -> Callable[[], None]:
    """Return a function that records all trials that need a value."""
    if fit.recorder is None:
        return nothing
    needed = find_needed_rows(fit)
    if fit.population.partial is not None:
        needed &= ~fit.population.partial.infeasible  # these are recorded
    needed = np.flatnonzero(needed)
    where = fit.batch.xp.asarray(needed)
    return record_trials(fit, needed, rows[where], values[where])


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


def with_constraints(fit: Fit, f: Array, constraints: Constraints, shape: tuple[int, ...]) -> Array:
    """Return values or, where constraints are told too, rows of f, g and h; `shape` is that of the values as told."""
    rules = fit.rules
    if not isinstance(rules, ToldRules):
        return f
    g, h = constraints or (None, None)
    return rules.rows(f, g, h, shape)


def select(fit: Fit, points: Array, values: Array) -> None:
    """Select by the values of all rows, as selection compares them, at points of the box."""
    batch, xp = fit.batch, fit.batch.xp
    size = len(values) // batch.n_runs
    if size == batch.pop_max:
        fit.population.accept(points, values)
    else:  # the kernels' rows are those of the largest population
        all_points = xp.zeros((batch.n_runs, batch.pop_max, batch.dim), batch.spec.dtype)
        all_values = xp.zeros((batch.n_runs, batch.pop_max), batch.spec.dtype)
        all_points[:, :size] = points.reshape(batch.n_runs, -1, batch.dim)
        all_values[:, :size] = values.reshape(batch.n_runs, -1)
        fit.population.accept(all_points, all_values)


def codes(fit: Fit, told: Array, values: Array, needed: Any = None) -> Array:
    """Return values as selection compares them: with constraints, the codes of feasibility rules.

    `needed` says which of the rows needed a value; None: all.
    """
    rules = fit.rules
    if isinstance(rules, ToldRules):
        return rules.codes(told, values)
    if not isinstance(rules, FeasibilityRules):
        return values
    violation = rules.violations(told)
    feasible = to_numpy(violation == 0)
    rules.n_calls += int(np.count_nonzero(feasible if needed is None else feasible & needed))
    return rules.codes(values, violation)


def points_of(fit: Fit, variables: Variables, told: Array) -> Array:
    """Return the points of the box behind values: those of `ask` where the values are the same.

    The values are compared with those of the trials, because a user may have changed the array of `ask` in place.
    """
    points = trials(fit)
    return encode_told(fit, variables, told, values_of_points(fit.batch, points), points)


def encode_told(fit: Fit, variables: Variables, told: Array, asked: Array, points: Array) -> Array:
    """Return the points of the box behind values: where they equal those of `asked`, the same as `points`."""
    n = len(variables)
    values, before = to_numpy(told).reshape(-1, n), to_numpy(asked).reshape(-1, n)
    components = to_numpy(points).reshape(-1, points.shape[-1])
    found = variables.encode(values, "X", components, values != before)
    return move_inwards(fit, fit.batch.xp.asarray(found, dtype=points.dtype).reshape(points.shape))


def move_inwards(fit: Fit, points: Array) -> Array:
    """Return points of which single precision has rounded components at their bounds out of the box, inside it."""
    spec, xp = fit.batch.spec, fit.batch.xp
    if spec.dtype == np.float64:
        return points
    lower, upper = (xp.asarray(bound, dtype=spec.dtype) for bound in (spec.lower, spec.upper))
    below, above = xp.nextafter(lower, lower - 1), xp.nextafter(upper, upper + 1)
    return xp.where((points == below) | (points == above), xp.clip(points, lower, upper), points)


def trials_shape(fit: Fit) -> tuple[int, ...]:
    """Return the shape of the trials of the next generation."""
    batch = fit.batch
    shape = (batch.n_runs // batch.n_islands, batch.n_islands * fit.population.rows_per_population, batch.dim)
    return shape if shape[0] > 1 else shape[1:]


def check_inside(fit: Fit, points: Array, sizes: IntArray | None = None) -> None:
    """Refuse points outside the bounds, of shape (n, m, dim); of each n, only the first `sizes` rows count.

    By default there are n runs, and `sizes` are those of their populations.
    """
    spec, xp = fit.batch.spec, fit.batch.xp
    lower, upper = (xp.asarray(bound, dtype=spec.dtype) for bound in (spec.lower, spec.upper))
    inside = (points >= lower) & (points <= upper)
    if bool(inside.all()):
        return
    sizes = fit.population.sizes if sizes is None else sizes
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


def begin_partial(fit: Fit, remember: bool = True) -> PartialGeneration | None:
    """Return the trials of the next generation, to be told in parts; None where all runs have ended.

    With `remember`, those of a discrete space with known values have them.
    """
    if fit.population.partial is None:
        if not fit.population.has_trials:
            fit.population.propose()
        batch = fit.batch
        running = batch.host("status") == RUNNING
        fit.population.status_poll.exact = True  # a GPU is waited for in every generation anyway
        if not running.any():
            return None
        points, needed = trials(fit), find_needed_rows(fit)
        with fit.engine.device_context:
            points = points.reshape(-1, batch.dim)
            asked = values_of_points(batch, points)
            place = fit.population.generation + 1, batch.n_runs
            partial = PartialGeneration(fit.first_id, asked, points, needed, batch.xp, *place)
            for kept in [kept for kept in fit.population.kept if kept.generation == partial.generation]:
                partial.take(kept)
                fit.population.kept.remove(kept)
        if fit.population.asked is not None:
            partial.handed_out[:] = True
        fit.population.partial = partial
        if remember:
            give_known(fit, partial)
    return fit.population.partial


def give_known(fit: Fit, partial: PartialGeneration) -> None:
    """Give the trials of a discrete space that were evaluated before their values."""
    if fit.known is not None and fit.remembers:
        runs = np.arange(len(partial.asked)) // fit.population.rows_per_population // fit.batch.n_islands
        fit.known.begin(partial, to_numpy(partial.told), runs)


def begin_missing(fit: Fit) -> PartialGeneration | None:
    """Return the next generation of which a trial needs a value of the user's; None where all runs have ended.

    Generations before it may have none: of infeasible trials, of points of a discrete space that are known, or where an
    interruption came between the last value and the selection.
    """
    while (partial := begin_partial(fit)) is not None:
        screen(fit, partial)
        if not partial.complete:
            return partial
        select_complete(fit, partial)
    return None


def find_needed_rows(fit: Fit) -> Any:
    """Return which rows of the trials need a value, of shape (n,)."""
    running = fit.batch.host("status") == RUNNING
    used = np.arange(fit.population.rows_per_population) < fit.population.sizes[:, None]
    return (running[:, None] & used).reshape(-1)


def select_complete(fit: Fit, partial: PartialGeneration) -> None:
    """Select by the values of a generation that has them all."""
    with fit.engine.device_context, interrupts.deferred:
        select(fit, partial.points, partial.values)
        if partial.keys and fit.known is not None:
            fit.known.end(partial)
            fit.end_exhausted()


def ids_of_asked(fit: Fit) -> IntArray:
    """Return the ids of the points that `ask` returned."""
    shape: tuple[int, ...] = np.shape(cast(Array, fit.population.asked))[:-1]
    ids: IntArray = fit.first_id + np.arange(math.prod(shape)).reshape(shape)
    return ids


def ask_some(fit: Fit, n: int) -> tuple[Array | None, IntArray | None]:
    """Return up to n trials of one generation that were not handed out, with their ids; None if all runs have ended.

    There are none while a generation waits for values of trials that were handed out, and where all trials of the last
    generations were infeasible, so that the runs have ended only now.
    """
    first = fit.population.generation
    partial = begin_missing(fit)
    if partial is None:
        if fit.population.generation == first:
            return None, None
        spec = fit.batch.spec
        width = fit.batch.dim if spec.variables is None else len(spec.variables)
        return fit.batch.xp.zeros((0, width), spec.dtype), np.zeros(0, np.int64)
    rows = partial.hand_out(n)
    with fit.engine.device_context:
        return partial.asked[fit.batch.xp.asarray(rows)], partial.first + rows


def screen(fit: Fit, partial: PartialGeneration) -> None:
    """Evaluate the constraints at the trials without a value, and give those that violate them their codes, once."""
    rules = fit.rules
    if partial.screened or not isinstance(rules, FeasibilityRules):
        return
    rows, xp = partial.missing_rows, fit.batch.xp
    rows = rows[first_of_points(partial, rows)] if partial.keys else rows
    with fit.engine.device_context:
        violation = rules.violations(partial.told[xp.asarray(rows)])
        outside = np.flatnonzero(to_numpy(violation) != 0)
        found = rules.codes(xp.full(len(outside), np.nan), violation[xp.asarray(outside)])
        record = record_rows(fit, partial, rows[outside], found)
        with interrupts.deferred:
            keep_values(fit, partial, rows[outside], found)
            partial.infeasible[rows[outside]] = partial.screened = True
            record()


def tell_rows(fit: Fit, X: Array | None, f: Any, ids: Any = None, constraints: Constraints = None) -> None:
    """Note the values of some trials, by their points or their ids, and select when all trials have values."""
    partial = begin_missing(fit)
    if partial is None and fit.remembers:
        return  # values of points that are known
    if partial is None:
        raise RuntimeError("every run has ended, so that no trial waits for a value")
    with fit.engine.device_context:
        told = None if X is None else read_told_points(fit, X, partial)
        shape: tuple[int, ...]
        if ids is None:
            if X is None:
                raise TypeError("tell needs X or ids: tell(X, f) or tell(f=f, ids=ids)")
            points = read_told_points(fit, X, partial)
            shape, places = np.shape(X)[:-1], unknown_places(fit, points)
            rows = partial.rows_of_points(points[places])
        else:
            given = read_told_ids(ids)
            shape, ids = given.shape, given.reshape(-1)
            if told is not None and len(told) != len(ids):
                raise ValueError(f"X must have a row for each of the {len(ids)} ids, got {len(told)}")
            # Those before are of trials that were complete by the values of equal points.
            places = np.flatnonzero((ids < 0) | (ids >= partial.first)) if partial.keys else np.arange(len(ids))
            rows = partial.rows_of_ids(ids[places])
        values = with_constraints(fit, part_values(f, shape, partial.points), constraints, shape)
        replaces = ids is not None and told is not None
        if partial.keys and replaces:
            partial.reopen(rows[partial.infeasible[rows]])
        # An infeasible trial needs no value, nor one with a known value.
        needless = partial.has_value[rows] if partial.keys else partial.infeasible[rows] & (not replaces)
        rows, places = rows[~needless], places[~needless]
        where, chosen = fit.batch.xp.asarray(rows), fit.batch.xp.asarray(places)
        values, told = values[chosen], None if told is None else told[chosen]
        before = partial.told[where], partial.points[where]
        if ids is not None and told is not None:
            replace_points(fit, partial, where, told)
        try:
            found = codes(fit, partial.told[where], values)
            record = put_told(fit, partial, rows, found)
            if partial.complete:
                select_complete(fit, partial)
        except BaseException:  # such as one of a constraint: the values can then be told again
            partial.forget(rows)
            partial.told[where], partial.points[where] = before
            raise
        record()


def unknown_places(fit: Fit, told: Array) -> IntArray:
    """Return the rows of told points that have no known value."""
    if fit.known is None or not fit.remembers:
        return np.arange(len(told))
    return np.array([k for k, key in enumerate(row_keys(told)) if key not in fit.known], np.int64)


def put_told(fit: Fit, partial: PartialGeneration, rows: IntArray, values: Array) -> Callable[[], None]:
    """Set told values, those of points with a known value left out, and return a function that records them."""
    if not partial.keys:
        record = record_rows(fit, partial, rows, values)
        partial.put(rows, values)
        return record
    records = []
    places = first_of_points(partial, rows)
    while len(places):  # again where another point has replaced the first one of equal points
        own, found = rows[places], values[fit.batch.xp.asarray(places)]
        records.append(record_rows(fit, partial, own, found))
        keep_values(fit, partial, own, found)
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


def keep_values(fit: Fit, partial: PartialGeneration, rows: IntArray, values: Array) -> None:
    """Set the values of some trials and, in a discrete space, those of equal ones."""
    partial.put(rows, values)
    if partial.keys and fit.known is not None:
        told = to_numpy(partial.told[fit.batch.xp.asarray(rows)])
        fit.known.note(partial, rows, told, to_numpy(partial.values[fit.batch.xp.asarray(rows)]))


def record_rows(fit: Fit, partial: PartialGeneration, rows: IntArray, values: Array) -> Callable[[], None]:
    """Return a function that records some rows of a generation."""
    if fit.recorder is None:
        return nothing
    return record_trials(fit, rows, partial.told[fit.batch.xp.asarray(rows)], values)


def read_told_points(fit: Fit, X: Array, partial: PartialGeneration) -> Array:
    """Return a user's points, one or some of a generation's, as an array with a row for each."""
    width = partial.asked.shape[-1]
    if np.ndim(X) == 0 or np.shape(X)[-1] != width:
        raise ValueError(f"X must be rows of what ask returned, of {width} variables, got shape {np.shape(X)}")
    return contiguous(move_to(X, partial.asked, "X"), fit.batch.spec.dtype).reshape(-1, width)


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


def replace_points(fit: Fit, partial: PartialGeneration, where: Array, told: Array) -> None:
    """Let other points inside the bounds replace those of `ask`."""
    asked, points = partial.asked[where], partial.points[where]
    if bool((told == asked).all()):
        return
    variables = fit.batch.spec.variables
    told = told if variables is not None else move_inwards(fit, told)
    points = told if variables is None else encode_told(fit, variables, told, asked, points)
    check_inside(fit, points[None], np.array([len(points)]))
    partial.told[where], partial.points[where] = told, points
