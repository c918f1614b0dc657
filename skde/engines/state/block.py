"""Arrays that share one allocation."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np

from skde.typing import Array, IntArray
from skde.utils.arrays import array_view, begin_of, bytes_on_host, fill_bytes

# Every array begins at a multiple of these bytes: a cache line of a GPU, and two of a CPU.
ALIGNMENT = 128


class ArrayShapes(dict[str, tuple[tuple[int, ...], np.dtype[Any]]]):
    """The shape and the type of every array of a block by its name, in the order of their memory; it is not changed."""

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The bytes of every array."""
        return {name: math.prod(shape) * dtype.itemsize for name, (shape, dtype) in self.items()}

    @cached_property
    def nbytes(self) -> int:
        """The bytes of all arrays."""
        return sum(self.sizes.values())

    @cached_property
    def offsets(self) -> dict[str, int]:
        """The bytes from the begin of the block to every array's."""
        spaces = (-(-size // ALIGNMENT) * ALIGNMENT for size in self.sizes.values())
        return dict(zip(self, accumulate(spaces, initial=0), strict=False))

    @cached_property
    def length(self) -> int:
        """The bytes of the block."""
        return self.length_to(self)

    def length_to(self, names: Iterable[str]) -> int:
        """Return the bytes from the begin of the block to the end of the last of some arrays."""
        return max((self.offsets[name] + self.sizes[name] for name in names), default=0)

    @cached_property
    def offset_array(self) -> IntArray:
        """The offsets in the order of the arrays."""
        return np.array(list(self.offsets.values()), np.int64)


class Block:
    """Arrays in one piece of memory.

    To allocate, fill or copy the memory takes as long as it takes for one array. On a GPU each of these is a call of
    several microseconds.

    Parameters
    ----------
    shapes : ArrayShapes
        The arrays.
    xp : module
        NumPy or CuPy.
    values : dict of str to array-like, optional
        The values of some of the first arrays; all others are zero.

    Attributes
    ----------
    memory : ndarray of uint8
        The memory, which is a little longer than the block.
    """

    def __init__(self, shapes: ArrayShapes, xp: Any, values: dict[str, Any] | None = None) -> None:
        self.shapes = shapes
        on_host, size = xp is np, shapes.length + ALIGNMENT
        self.memory: Array = np.zeros(size, np.uint8) if on_host else xp.empty(size, np.uint8)
        begin = begin_of(self.memory)
        self.before = -begin % ALIGNMENT  # bytes of the memory before the block
        self.begin = begin + self.before
        written = self.memory[self.before :] if on_host else np.zeros(shapes.length_to(values or ()), np.uint8)
        for name, array in (values or {}).items():
            array_view(written, shapes.offsets[name], *shapes[name])[...] = array
        if not on_host:
            fill_bytes(self.memory, self.before, written, shapes.length)

    @property
    def addresses(self) -> IntArray:
        """The addresses of the arrays in their order, for compiled code."""
        return self.begin + self.shapes.offset_array

    def view(self, name: str) -> Array:
        """Return one of the arrays."""
        return array_view(self.memory, self.before + self.shapes.offsets[name], *self.shapes[name])

    def clear(self, name: str) -> None:
        """Set an array on a GPU to zero."""
        start, size = self.memory.data + (self.before + self.shapes.offsets[name]), self.shapes.sizes[name]
        if size:
            start.memset_async(0, size)

    def hosts(self, *names: str) -> dict[str, Any]:
        """Return neighbours, in their order, as NumPy arrays, by one copy of their memory."""
        shapes, begin = self.shapes, self.shapes.offsets[names[0]]
        copied = bytes_on_host(self.memory, self.before + begin, self.before + shapes.length_to(names[-1:]))
        return {name: array_view(copied, shapes.offsets[name] - begin, *shapes[name]) for name in names}


class BlockArrays(dict[str, Array]):
    """The arrays of a block by their names; each is made when it is first asked for.

    Parameters
    ----------
    block : Block
        The block.
    """

    def __init__(self, block: Block) -> None:
        super().__init__()
        self.block = block

    def __missing__(self, name: str) -> Array:
        self[name] = array = self.block.view(name)
        return array
