"""The contract, for every algorithm of the registry, on every device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from skde import Minimizer
from skde.algorithms import ALGORITHMS, Algorithm
from skde.testing import AlgorithmContract, same


@pytest.fixture(params=sorted(ALGORITHMS))
def algorithm(request: pytest.FixtureRequest) -> Algorithm:
    """Return every algorithm with a small population."""
    return ALGORITHMS[request.param](**ALGORITHMS[request.param].get_test_params())


class TestOnCpu(AlgorithmContract):
    @pytest.fixture
    def algorithm(self, algorithm: Algorithm) -> Algorithm:
        return algorithm


@pytest.mark.gpu
class TestOnGpu(AlgorithmContract):
    @pytest.fixture
    def algorithm(self, algorithm: Algorithm) -> Algorithm:
        return algorithm

    @pytest.fixture
    def device(self) -> str:
        return "cuda"

    @pytest.mark.parametrize("dtype", ["float64", "float32"])
    def test_same_bits_as_the_cpu(self, algorithm: Algorithm, dtype: str) -> None:
        options: dict[str, Any] = {"max_iter": 50, "n_runs": 3, "random_state": 1, "dtype": dtype}
        gpu = Minimizer(algorithm, device="cuda", **options).fit("ackley", dim=17)
        cpu = Minimizer(algorithm, device="cpu", **options).fit("ackley", dim=17)
        assert same(gpu, cpu)
        assert np.array_equal(gpu.history_.best, cpu.history_.best)
