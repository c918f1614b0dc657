"""Arrays that share one allocation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from skde.arrays import array_view, begin_of, bytes_on_device, bytes_on_host
from skde.typing import Array

# The shape and the type of every array.
ArrayShapes = dict[str, tuple[tuple[int, ...], np.dtype[Any]]]

# Bytes, of which the begin of every array is a multiple: a cache line of a GPU, and two of a CPU.
ALIGNMENT = 128


class Block:
    """Zeroed arrays in one piece of memory.

    To allocate, fill or copy the memory takes as long as it takes for one array. On a GPU each of these is a call of
    several microseconds.

    Parameters
    ----------
    shapes : dict of str to (shape, dtype)
        The arrays by their names, in the order of their memory.
    xp : module
        NumPy or CuPy.

    Attributes
    ----------
    address : dict of str to int
        The addresses of the arrays, for compiled code.
    """

    def __init__(self, shapes: ArrayShapes, xp: Any) -> None:
        self.shapes = shapes
        self.offset: dict[str, int] = {}
        size = 0
        for name, (shape, dtype) in shapes.items():
            self.offset[name] = size
            size += -(-math.prod(shape) * dtype.itemsize // ALIGNMENT) * ALIGNMENT
        memory = xp.zeros(size + ALIGNMENT, np.uint8)
        begin = -begin_of(memory) % ALIGNMENT
        self._use(memory[begin : begin + size])

    def _use(self, memory: Array) -> None:
        begin, self.memory = begin_of(memory), memory
        self.address = {name: begin + offset for name, offset in self.offset.items()}

    def move_to(self, xp: Any) -> None:
        """Copy the memory to the GPU where `xp` is CuPy. Arrays that were made before stay where they are."""
        self._use(bytes_on_device(self.memory, xp))

    def view(self, name: str) -> Array:
        """Return one of the arrays."""
        return array_view(self.memory, self.offset[name], *self.shapes[name])

    def hosts(self, first: str, last: str) -> dict[str, Any]:
        """Return the arrays from the first to the last name as NumPy arrays, by one copy of their memory."""
        names = list(self.shapes)
        names = names[names.index(first) : names.index(last) + 1]
        begin, (shape, dtype) = self.offset[first], self.shapes[last]
        copied = bytes_on_host(self.memory, begin, self.offset[last] + math.prod(shape) * dtype.itemsize)
        return {name: array_view(copied, self.offset[name] - begin, *self.shapes[name]) for name in names}


class BlockArrays(dict[str, Array]):
    """The arrays of blocks by their names; each is made when it is first asked for.

    Parameters
    ----------
    *blocks : Block
        The blocks.
    """

    def __init__(self, *blocks: Block) -> None:
        super().__init__()
        self.blocks = blocks

    def __missing__(self, name: str) -> Array:
        for block in self.blocks:
            if name in block.shapes:
                self[name] = array = block.view(name)
                return array
        raise KeyError(name)
