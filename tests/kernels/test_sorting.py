"""The GPU's sort by samples, compiled for the CPU, gives the order that NumPy gives."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from skde.constants import CONSTANTS
from skde.engines.gpu.nvrtc import KERNELS
from skde.objectives.device import find_compiler
from skde.typing import FloatArray

Sort = Callable[[FloatArray, int, bool], tuple[list[int], int]]

BUCKET = CONSTANTS["BUCKET"]


@pytest.fixture(scope="module")
def sort(tmp_path_factory: pytest.TempPathFactory) -> Sort:
    """Return the function that sorts values by several teams: their order, and the size of the largest bucket."""
    target = tmp_path_factory.mktemp("sorting") / "sorting.so"
    flags = ("-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-fopenmp-simd", "-shared", "-fPIC", f"-I{KERNELS}")
    source = Path(__file__).with_name("sorting.cpp")
    subprocess.run([*find_compiler(), *flags, str(source), "-o", str(target)], check=True)
    library = ctypes.CDLL(str(target))
    library.words.restype = ctypes.c_longlong

    def order_of(values: FloatArray, teams: int, backward: bool) -> tuple[list[int], int]:
        n, spare = len(values), 7
        order, other = np.full(n + 1, spare), np.full(max(2 * n, 3) + 1, spare)
        memory = np.full(library.words(n) + 1, spare)
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in (order, other, memory)]
        function = getattr(library, f"sort_{values.dtype.name}")
        function(ctypes.c_void_p(values.ctypes.data), n, teams, ctypes.c_bool(backward), *pointers)
        assert (order[n], other[-1], memory[-1]) == (spare, spare, spare)  # nothing is written behind the memory
        samples = library.samples(n)
        return [int(k) for k in order[:n]], int(memory[: samples + 1].max())

    return order_of


def expected(values: FloatArray) -> list[int]:
    """NaN last; equal values, and NaN, by their index."""
    return [int(k) for k in np.argsort(values, kind="stable")]


KINDS: dict[str, Callable[[np.random.Generator, int], FloatArray]] = {
    "different": lambda rng, n: rng.normal(size=n),
    "few values": lambda rng, n: rng.integers(0, 5, n).astype(float),
    "all equal": lambda rng, n: np.zeros(n),
    "ascending": lambda rng, n: np.arange(n, dtype=float),
    "descending": lambda rng, n: -np.arange(n, dtype=float),
    "zeros of both signs": lambda rng, n: np.where(rng.random(n) < 0.5, 0.0, -0.0),
    "not finite": lambda rng, n: rng.choice([np.nan, np.inf, -np.inf, 1.0], n),
    "all NaN": lambda rng, n: np.full(n, np.nan),
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [0, 1, 2, BUCKET - 1, BUCKET, BUCKET + 1, 3000])
@pytest.mark.parametrize(("teams", "backward"), [(1, False), (7, False), (7, True), (500, True)])
def test_order(sort: Sort, dtype: str, kind: str, n: int, teams: int, backward: bool) -> None:
    values = KINDS[kind](np.random.default_rng(n), n).astype(dtype)
    order, largest = sort(values, teams, backward)
    assert order == expected(values)
    if kind in ("all equal", "all NaN", "ascending", "descending"):
        assert largest <= BUCKET


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_order_of_values_with_fewer_samples(sort: Sort, dtype: str) -> None:
    n = BUCKET * CONSTANTS["MOST_SAMPLES"] + 5  # so many that the samples are farther apart
    values = np.random.default_rng(0).integers(0, n, n).astype(dtype)
    order, largest = sort(values, 1, False)
    assert order == expected(values)
    assert BUCKET < largest < 20 * BUCKET
