"""The arrays of a batch: their shapes, and the memory that they take."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import skde._cpu as _cpu
from skde.constants import CONSTANTS
from skde.engines.algorithm_kernels import algorithm_entry, state_names
from skde.engines.block import ArrayShapes
from skde.engines.spec import Spec
from skde.memory import check_memory

# The end of errors about memory.
MEMORY_ADVICE = "take fewer runs, islands, individuals or dimensions, a smaller archive, or dtype='float32'"

WORD, NUMBER = np.dtype(np.int64), np.dtype(np.float64)


def array_shapes(spec: Spec, n_runs: int) -> ArrayShapes:
    """Return the arrays of a batch with so many runs of a spec, without those copied from the spec."""
    R, P, D = n_runs, spec.pop_max, len(spec.lower)
    array_names, vector_names = state_names(spec)
    islands = spec.islands
    all_islands = islands.begun(R)
    reals: dict[str, tuple[int, ...]] = {
        "x": (2, R, P, D),
        "f": (2, R, P),
        "extra": (len(array_names), 2, R, P),
        "scratch": (len(algorithm_entry(spec.algorithm).scratch), R, P),
        "vectors": (len(vector_names), 2, R, P, D),
        "archive": (R, spec.needs.archive, D),
        "record": (2, R),
        "history": (R, sampled_slots(spec)),
        "migrants": (all_islands, islands.rows, D),
        "migrant_values": (all_islands, islands.rows),
    }
    words: dict[str, tuple[int, ...]] = {
        "meets": (all_islands,),
        "places": (R, P if islands.rows else 0),
        **{name: (R,) for name in ("status", "met", "limit", "generation", "clock")},
        "arrivals": (R + 1,),
        "since": (2, R),
        "evals": (2, R),
        "order": (2, R, P) if spec.needs.ordered else (2, 1, 1),
        "sorting": (R, sorting_size(spec)),
        "bests": (R, _cpu.best_pieces(P)),
        "owners": (R, spec.needs.archive if CONSTANTS["COUNTED_BY_CPU"] < P else 0),
    }
    numbers = {"spent": (R, 2), "memory": (2, R, spec.needs.memory)}
    kinds = ((reals, spec.dtype), (words, WORD), (numbers, NUMBER))
    return {name: (shape, dtype) for shapes, dtype in kinds for name, shape in shapes.items()}


def sorting_size(spec: Spec) -> int:
    """Return the words that sorting takes for each run: of a population with opposites, or migrants of all islands."""
    return _cpu.sorting_words(max(2 * spec.pop_max, spec.islands.n_islands * spec.islands.rows))


def size_of(arrays: ArrayShapes) -> int:
    """Return the bytes that arrays take."""
    return sum(math.prod(shape) * dtype.itemsize for shape, dtype in arrays.values())


def check_batch_memory(spec: Spec, n_runs: int, xp: Any = np) -> None:
    """Refuse a batch that does not fit into memory.

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
    check_shapes_memory(array_shapes(spec, n_runs), xp)


def check_shapes_memory(arrays: ArrayShapes, xp: Any) -> None:
    """Refuse the arrays of a batch when they do not fit into memory."""
    _, n_runs, individuals, dim = arrays["x"][0]
    what = f"a batch of {n_runs} populations of {individuals} individuals in {dim} dimensions"
    check_memory(what, size_of(arrays), MEMORY_ADVICE, xp)


def sampled_slots(spec: Spec) -> int:
    """Return the number of history slots of a run: up to the end of its last generation's iteration."""
    return _cpu.history_slots(spec.last + spec.iteration - 1) if spec.recorded else 0
