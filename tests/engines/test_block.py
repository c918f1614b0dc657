"""Arrays that share one allocation."""

from __future__ import annotations

import numpy as np

from skde.arrays import address
from skde.engines.block import ALIGNMENT, Block, allocate

REAL, WORD = np.dtype(np.float32), np.dtype(np.int64)
SHAPES = {"first": ((3,), REAL), "none": ((0, 5), REAL), "second": ((2, 2), WORD), "third": ((2**16,), REAL)}


def test_arrays_have_their_own_aligned_memory() -> None:
    block = Block(SHAPES, allocate(SHAPES, np))
    for number, array in enumerate(block.array.values()):
        assert not array.any()
        array.fill(number)
    for number, (name, (shape, dtype)) in enumerate(SHAPES.items()):
        array = block.array[name]
        assert array.shape == shape
        assert (array == number).all()
        assert block.address[name] == address(array, dtype)
        assert block.address[name] % ALIGNMENT == 0


def test_neighbours_are_copied_to_the_host_together() -> None:
    block = Block(SHAPES, allocate(SHAPES, np))
    block.array["second"][:] = 7
    copies = block.hosts("none", "second")
    block.array["second"][:] = 8
    assert {name: array.tolist() for name, array in copies.items()} == {"none": [], "second": [[7, 7], [7, 7]]}
