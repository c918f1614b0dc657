"""Arrays that share one allocation."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

from skde.arrays import address, array_namespace, device_of
from skde.engines.block import ALIGNMENT, Block, BlockArrays

REAL, WORD = np.dtype(np.float32), np.dtype(np.int64)
SHAPES = {"first": ((3,), REAL), "none": ((0, 5), REAL), "second": ((2, 2), WORD), "third": ((2**16,), REAL)}


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
        assert block.address[name] == address(arrays[name], dtype, device=device_of(arrays[name]))
        assert block.address[name] % ALIGNMENT == 0
    with pytest.raises(KeyError, match="fourth"):
        arrays["fourth"]


def test_neighbours_are_copied_to_the_host_together(xp: Any) -> None:
    block = Block(SHAPES, xp)
    block.view("second").fill(7)
    copies = block.hosts("none", "second")
    block.view("second").fill(8)
    assert {name: array.tolist() for name, array in copies.items()} == {"none": [], "second": [[7, 7], [7, 7]]}


def test_values_move(xp: Any) -> None:
    block = Block(SHAPES, np)
    block.view("third")[-1] = 5
    block.move_to(xp)
    third = block.view("third")
    assert array_namespace(third) is xp
    assert float(third[-1]) == float(third.sum()) == 5
    assert block.address["third"] == address(third, REAL, device=device_of(third))
