"""Arrays that share one allocation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from skde.arrays import array_views, begin_of, to_numpy
from skde.typing import Array

# The shape and the type of every array.
ArrayShapes = dict[str, tuple[tuple[int, ...], np.dtype[Any]]]

# Bytes, of which the begin of every array is a multiple: a cache line of a GPU, and two of a CPU.
ALIGNMENT = 128


class Block:
    """Arrays in one piece of memory.

    To allocate, fill or copy the memory takes as long as it takes for one array. On a GPU each of these is a call of
    several microseconds.

    Parameters
    ----------
    shapes : dict of str to (shape, dtype)
        The arrays by their names, in the order of their memory.
    memory : ndarray of uint8
        NumPy or CuPy, as `allocate` returns it or a copy of that.

    Attributes
    ----------
    array : dict of str to ndarray
        The arrays.
    address : dict of str to int
        Their addresses, for compiled code.
    """

    def __init__(self, shapes: ArrayShapes, memory: Array) -> None:
        self.shapes, self.memory = shapes, memory
        self.offset: dict[str, int] = {}
        end = 0
        for name, (shape, dtype) in shapes.items():
            self.offset[name] = end
            end += aligned_size(shape, dtype)
        begin = begin_of(memory)
        self.address = {name: begin + offset for name, offset in self.offset.items()}
        self.array = self._views(memory, list(shapes), 0)

    def hosts(self, first: str, last: str) -> dict[str, Any]:
        """Return the arrays from the first to the last name as NumPy arrays, by one copy of their memory."""
        names = list(self.shapes)
        names = names[names.index(first) : names.index(last) + 1]
        begin, end = self.offset[first], self.offset[last] + self.array[last].nbytes
        return self._views(to_numpy(self.memory[begin:end]), names, begin)

    def _views(self, memory: Array, names: list[str], begin: int) -> dict[str, Array]:
        """Return arrays of this block in memory that has the block's bytes from `begin` on."""
        places = [(self.offset[name] - begin, *self.shapes[name]) for name in names]
        return dict(zip(names, array_views(memory, places), strict=True))


def allocate(shapes: ArrayShapes, xp: Any) -> Array:
    """Return zeroed memory for the arrays of a block."""
    size = sum(aligned_size(shape, dtype) for shape, dtype in shapes.values())
    memory = xp.zeros(size + ALIGNMENT, np.uint8)
    begin = -begin_of(memory) % ALIGNMENT
    return memory[begin : begin + size]


def aligned_size(shape: tuple[int, ...], dtype: np.dtype[Any]) -> int:
    """Return the bytes of an array up to the begin of the next one."""
    return -(-math.prod(shape) * dtype.itemsize // ALIGNMENT) * ALIGNMENT
