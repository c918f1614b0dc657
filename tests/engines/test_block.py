"""Arrays that share one allocation."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

from skde.engines.state.block import ALIGNMENT, ArrayShapes, Block, BlockArrays
from skde.utils.arrays import address, array_namespace, device_of

REAL, WORD = np.dtype(np.float32), np.dtype(np.int64)
SHAPES = ArrayShapes(
    {"first": ((3,), REAL), "none": ((0, 5), REAL), "second": ((2, 2), WORD), "third": ((2**16,), REAL)}
)


@pytest.fixture(params=["numpy", pytest.param("cupy", marks=pytest.mark.gpu)])
def xp(request: pytest.FixtureRequest) -> Any:
    return importlib.import_module(request.param)


def test_arrays_have_their_own_aligned_memory(xp: Any) -> None:
    block = Block(SHAPES, xp)
    arrays = BlockArrays(block)
    for number, name in enumerate(SHAPES):
        assert not arrays[name].any()
        arrays[name].fill(number)
    for number, (name, (shape, dtype)) in enumerate(SHAPES.items()):
        assert arrays[name].shape == shape
        assert (arrays[name] == number).all()
        assert block.begin + block.shapes.offsets[name] == address(arrays[name], dtype, device=device_of(arrays[name]))
        assert (block.begin + block.shapes.offsets[name]) % ALIGNMENT == 0
    with pytest.raises(KeyError, match="fourth"):
        arrays["fourth"]


def test_neighbours_are_copied_to_the_host_together(xp: Any) -> None:
    block = Block(SHAPES, xp)
    block.view("second").fill(7)
    copies = block.hosts("none", "second")
    block.view("second").fill(8)
    assert {name: array.tolist() for name, array in copies.items()} == {"none": [], "second": [[7, 7], [7, 7]]}


def test_values_of_the_first_arrays(xp: Any) -> None:
    block = Block(SHAPES, xp, {"second": [[1, 2], [3, 4]], "first": 5})
    assert array_namespace(block.memory) is xp
    assert block.view("first").tolist() == [5, 5, 5]
    assert block.view("second").tolist() == [[1, 2], [3, 4]]
    assert not block.view("third").any()
