"""Arrays that share one allocation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from skde.arrays import array_view, begin_of, to_numpy
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
        self.array: dict[str, Array] = {}
        self.address: dict[str, int] = {}
        self.offset: dict[str, int] = {}
        begin, offset = begin_of(memory), 0
        for name, (shape, dtype) in shapes.items():
            self.array[name] = array_view(memory, offset, shape, dtype)
            self.offset[name], self.address[name] = offset, begin + offset
            offset += aligned_size(shape, dtype)

    def hosts(self, first: str, last: str) -> dict[str, Any]:
        """Return the arrays from the first to the last name as NumPy arrays, by one copy of their memory."""
        begin = self.offset[first]
        copied = to_numpy(self.memory[begin : self.offset[last] + self.array[last].nbytes])
        names = list(self.shapes)
        names = names[names.index(first) : names.index(last) + 1]
        return {name: array_view(copied, self.offset[name] - begin, *self.shapes[name]) for name in names}


def allocate(shapes: ArrayShapes, xp: Any) -> Array:
    """Return zeroed memory for the arrays of a block."""
    size = sum(aligned_size(shape, dtype) for shape, dtype in shapes.values())
    memory = xp.zeros(size + ALIGNMENT, np.uint8)
    begin = -begin_of(memory) % ALIGNMENT
    return memory[begin : begin + size]


def aligned_size(shape: tuple[int, ...], dtype: np.dtype[Any]) -> int:
    """Return the bytes of an array up to the begin of the next one."""
    return -(-math.prod(shape) * dtype.itemsize // ALIGNMENT) * ALIGNMENT
