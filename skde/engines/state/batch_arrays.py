"""The arrays of a batch: their axes, from which their shapes, their memory and the form of a checkpoint follow."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

import skde._cpu as _cpu
from skde.constants import CONSTANTS
from skde.engines.state.algorithm_kernels import algorithm_entry, state_names
from skde.engines.state.block import ArrayShapes
from skde.engines.state.spec import Spec
from skde.engines.state.task import KINDS, field_dtypes
from skde.utils.memory import check_memory
from skde.utils.serialization import Layout

# The end of errors about memory.
MEMORY_ADVICE = "take fewer runs, islands, individuals or dimensions, a smaller archive, or dtype='float32'"

# The axes of every array, as `axis_lengths` names them, in the order of their memory. task.cuh has the types. The first
# arrays begin with values of the spec, and the host reads PROGRESS often: one copy writes the former, one reads the
# latter.
AXES = {
    name: tuple(axes.split())
    for name, axes in {
        "seeds": "R",
        "parameters": "R parameters",
        "lower": "D",
        "upper": "D",
        "start": "start D",
        "limit": "R",
        "generation": "R",
        "status": "R",
        "spent": "R 2",
        "history": "R slots",
        "x": "halves R P D",
        "f": "halves R P",
        "extra": "arrays halves R P",
        "scratch": "scratch R P",
        "vectors": "vectors halves R P D",
        "archive": "R archive D",
        "record": "halves R",
        "migrants": "islands migrants",
        "places": "R places",
        "met": "R",
        "clock": "R",
        "arrivals": "barriers",
        "since": "halves R",
        "differed": "R 2",
        "evals": "halves R",
        "order": "halves R ordered",
        "sorting": "R sorting",
        "bests": "R pieces",
        "best_words": "R words",
        "value_sums": "R sums",
        "owners": "R owners",
        "memory": "halves R memory",
    }.items()
}
PROGRESS = ("generation", "status", "spent")
# The arrays of a checkpoint, in their order.
SAVED = (
    *("generation", "status", "record", "since", "differed", "history", "met"),
    *("x", "f", "extra", "vectors", "memory", "archive", "order"),
)
# A checkpoint has one half of these: for a run's last generation.
CURRENT = {"x", "f", "extra", "vectors", "order"}


def axis_lengths(spec: Spec, n_runs: int) -> dict[str, int]:
    """Return the lengths of all axes for n_runs runs of a spec."""
    needs, islands, individuals = spec.needs, spec.islands, spec.pop_max
    arrays, vectors = state_names(spec)
    is_large = individuals > CONSTANTS["COUNTED_BY_GPU"]
    return {
        "R": n_runs,
        "P": individuals,
        "D": len(spec.lower),
        "parameters": spec.parameters.shape[1],
        "start": len(spec.start),
        "2": 2,
        "halves": 2,
        "arrays": len(arrays),
        "vectors": len(vectors),
        "scratch": len(algorithm_entry(spec.algorithm).scratch),
        "memory": needs.memory,
        "archive": needs.archive,
        "owners": needs.archive if CONSTANTS["COUNTED_BY_CPU"] < individuals else 0,
        "ordered": individuals if needs.ordered else 0,
        "sorting": sorting_size(spec),
        "pieces": _cpu.best_pieces(individuals),
        "words": CONSTANTS["BEST_WORDS"] if is_large else 0,
        "sums": CONSTANTS["VALUE_SUMS"] if is_large else 0,
        "slots": count_slots(spec),
        "islands": islands.count_islands(n_runs),
        "migrants": 1 + islands.rows * (1 + len(spec.lower)),
        "places": individuals if islands.rows else 0,
        "barriers": n_runs + 1,
    }


def array_shapes(spec: Spec, n_runs: int) -> ArrayShapes:
    """Return the shapes and dtypes of the arrays of a batch of n_runs runs."""
    lengths = axis_lengths(spec, n_runs)
    return shapes_by_axes(tuple(lengths), tuple(lengths.values()), spec.dtype)


@lru_cache(maxsize=64)
def shapes_by_axes(axes: tuple[str, ...], lengths: tuple[int, ...], dtype: np.dtype[Any]) -> ArrayShapes:
    """Return the shapes and dtypes of the arrays of a batch for the lengths of all axes."""
    by_axis, dtypes = dict(zip(axes, lengths, strict=True)), field_dtypes(dtype)
    return ArrayShapes(
        {name: (tuple([by_axis[axis] for axis in own]), dtypes[KINDS[name]]) for name, own in AXES.items()}
    )


def names_in_file(spec: Spec) -> list[str]:
    """Return the names of the arrays in a checkpoint."""
    return [name for name in SAVED if name != "order" or spec.needs.ordered]


def axes_in_file(name: str) -> list[str]:
    """Return the axes of an array in a checkpoint."""
    return [axis for axis in AXES[name] if name not in CURRENT or axis != "halves"]


def halves_axis(name: str) -> int:
    """Return the axis of the halves in an array of a batch."""
    return AXES[name].index("halves")


def batch_layout(spec: Spec) -> dict[str, Layout]:
    """Return the layout of a batch's checkpoint; the history of a fit may be shorter or longer."""
    lengths: dict[str, int | None] = {**axis_lengths(spec, spec.n_runs), "slots": None if spec.recorded else 0}
    dtypes = field_dtypes(spec.dtype)
    return {
        name: Layout(tuple(lengths[axis] for axis in axes_in_file(name)), dtypes[KINDS[name]])
        for name in names_in_file(spec)
    }


def sorting_size(spec: Spec) -> int:
    """Return the words that sorting takes for each run: of a population with opposites, or migrants of all islands."""
    return _cpu.sorting_words(max(2 * spec.pop_max, spec.islands.n_islands * spec.islands.rows))


def check_batch_memory(spec: Spec, n_runs: int, xp: Any = np) -> ArrayShapes:
    """Return the arrays of a batch, unless they do not fit into memory.

    Parameters
    ----------
    spec : Spec
        The spec of its runs.
    n_runs : int
        Number of runs, each island counted.
    xp : module, default numpy
        The library of the arrays.

    Raises
    ------
    MemoryError
        With the memory needed and available.
    """
    shapes = array_shapes(spec, n_runs)
    what = f"a batch of {n_runs} populations of {spec.pop_max} individuals in {len(spec.lower)} dimensions"
    check_memory(what, shapes.nbytes, MEMORY_ADVICE, xp)
    return shapes


def count_slots(spec: Spec) -> int:
    """Return the number of history slots of a run: up to the end of its last generation's iteration."""
    return _cpu.history_slots(spec.last + spec.iteration - 1) if spec.recorded else 0
