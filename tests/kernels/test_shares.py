"""The teams of a GPU take each item once, in any shape of a launch."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skde.engines.gpu.nvrtc import KERNELS
from skde.objectives.device import find_compiler

MANY = 8  # times as many teams as long items, from which on teams with long items have no others
Divide = Callable[..., tuple[Any, Any, Any, int, int]]


@pytest.fixture(scope="module")
def divide(tmp_path_factory: pytest.TempPathFactory) -> Divide:
    """Return the function that counts how often each item is taken."""
    target = tmp_path_factory.mktemp("shares") / "shares.so"
    flags = ("-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{KERNELS}")
    subprocess.run(
        [*find_compiler(), *flags, str(Path(__file__).with_name("shares.cpp")), "-o", str(target)], check=True
    )
    library = ctypes.CDLL(str(target))

    def counts(blocks: int, teams: int, parts: int, before: int, n_long: int, n: int) -> tuple[Any, Any, Any, int, int]:
        items, long_items, positions = (np.zeros(size, np.int32) for size in (n, n_long, n))
        adapting, both = ctypes.c_int(), ctypes.c_int()
        arrays = [ctypes.c_void_p(array.ctypes.data) for array in (items, long_items, positions)]
        library.divide(blocks, teams, parts, before, n_long, n, *arrays, ctypes.byref(adapting), ctypes.byref(both))
        return items, long_items, positions, adapting.value, both.value

    return counts


@pytest.mark.parametrize("before", [0, 1, 700, 1563, 100_003])
@pytest.mark.parametrize("n_long", [0, 1, 6, 24])
@pytest.mark.parametrize(
    ("blocks", "teams", "parts"),
    [
        (1, 1, 1),
        (3, 1, 1),
        (1, 16, 4),
        (5, 4, 1),
        (7, 4, 1),
        (50, 4, 1),
        (264, 4, 1),
        (264, 16, 4),
        (131, 128, 32),
        (251, 1, 1),
    ],
)
def test_each_item_is_taken_once(divide: Divide, blocks: int, teams: int, parts: int, n_long: int, before: int) -> None:
    whole = blocks * teams // parts
    for n in (0, 1, 23, whole - 1, whole, 3 * whole + 5):
        items, long_items, positions, adapting, both = divide(blocks, teams, parts, before, n_long, n)
        assert (items == 1).all()
        assert (long_items == 1).all()
        assert (positions == 1).all()
        assert adapting == 1
        if whole >= MANY * n_long:
            assert both == 0
