"""Sums of a large population in parts, as a GPU makes them, have the bits of those made at once."""

from __future__ import annotations

import ctypes
import math
import subprocess
from pathlib import Path

import numpy as np
import pytest

from skde.engines.gpu.nvrtc import KERNELS
from skde.objectives.device import find_compiler


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """Return both ways of summing, compiled for the CPU."""
    target = tmp_path_factory.mktemp("sums") / "sums.so"
    flags = ("-std=c++17", "-O2", "-ffp-contract=off", "-fopenmp-simd", "-shared", "-fPIC", f"-I{KERNELS}")
    source = Path(__file__).with_name("sums.cpp")
    subprocess.run([*find_compiler(), *flags, str(source), "-o", str(target)], check=True)
    return ctypes.CDLL(str(target))


@pytest.mark.parametrize("stages", [1, 4])
@pytest.mark.parametrize("n", [1, 127, 128, 129, 1025, 3071, 3072, 3073, 10_000, 12_288, 12_289, 40_000])
def test_parts_have_the_same_bits(library: ctypes.CDLL, n: int, stages: int) -> None:
    values = np.exp(20 * np.random.default_rng(n).normal(size=n)) * np.random.default_rng(n + 1).choice([-1, 0, 1], n)
    found = np.full((2, 3), np.nan)
    at_once, in_parts = (ctypes.c_void_p(sums.ctypes.data) for sums in found)
    library.sum_at_once(ctypes.c_void_p(values.ctypes.data), n, at_once)
    library.sum_in_parts(ctypes.c_void_p(values.ctypes.data), n, stages, in_parts)
    assert found[0].tobytes() == found[1].tobytes()
    assert found[0, 1] == pytest.approx(math.fsum(values * values), rel=1e-12)
    assert found[0, 2] == (values > 0).sum()


@pytest.mark.parametrize("n", [1, 129, 1025, 2047, 3071, 3072, 3073, 3201, 7000])
def test_all_lanes_wait_equally_often(library: ctypes.CDLL, n: int) -> None:
    # Lanes of one team that wait for each other a different number of times never go on.
    values, waits = np.ones(n), np.zeros(3 * 128, np.int32)
    library.count_waits(ctypes.c_void_p(values.ctypes.data), n, ctypes.c_void_p(waits.ctypes.data))
    assert waits[0] > 0
    assert len(set(waits)) == 1
