"""The arrays of a co-evolution: their shapes, their memory and the form of a checkpoint."""

from __future__ import annotations

from typing import Any

import numpy as np

from skde.engines.state.batch_arrays import MEMORY_ADVICE, array_shapes, batch_layout
from skde.engines.state.block import ArrayShapes
from skde.engines.state.coevolution_spec import CoevolutionSpec
from skde.utils.memory import check_memory
from skde.utils.serialization import Layout

# A checkpoint has the arrays of both sides, with the side before their names, and of the arrays that the sides exchange
# those that a cycle reads before it writes them.
SIDES = ("x", "y")
SAVED_ARRAYS = ("columns", "penalties", "excess", "levels")


def exchange_shapes(spec: CoevolutionSpec) -> ArrayShapes:
    """Return the arrays that the sides of a co-evolution exchange."""
    R = spec.n_runs
    values_x, values_y = (0, 0) if spec.variables is None else map(len, spec.variables)
    shapes: dict[str, tuple[int, ...]] = {
        "columns": (R, len(spec.y.lower), spec.max_opponents),
        "values": (R, values_y, spec.max_opponents),
        "table": (R, max(spec.features, values_x), spec.x.pop_max),
        "strengths": (R, 2, spec.max_opponents),
        "penalties": (R, spec.constraints),
        "excess": (R, spec.constraints),
        "levels": (R, 2),
        "trials_x": (R, spec.x.pop_max),
        "trials_y": (R, spec.y.pop_max),
    }
    return ArrayShapes({name: (shape, spec.incumbents.dtype) for name, shape in shapes.items()})


def check_coevolution_memory(spec: CoevolutionSpec, xp: Any = np) -> None:
    """Refuse a co-evolution that does not fit into memory.

    Raises
    ------
    MemoryError
        With the memory needed and available.
    """
    n_runs = spec.n_runs
    sides = (array_shapes(side, n_runs) for side in (spec.x, spec.y, spec.incumbents))
    needed = exchange_shapes(spec).nbytes + sum(shapes.nbytes for shapes in sides)
    what = f"a co-evolution of {n_runs} runs with {spec.x.pop_max} and {spec.y.pop_max} individuals"
    check_memory(what, needed, MEMORY_ADVICE, xp)


def coevolution_layout(spec: CoevolutionSpec) -> dict[str, Layout]:
    """Return the layout of a co-evolution's checkpoint."""
    layout = batch_layout(spec.incumbents)
    for name, side in zip(SIDES, (spec.x, spec.y), strict=True):
        layout |= {f"{name}.{key}": one for key, one in batch_layout(side).items()}
    shapes = exchange_shapes(spec)
    return layout | {name: Layout(*shapes[name]) for name in SAVED_ARRAYS}
