"""Contract tests of all algorithms of the registry on all devices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from skde import Minimizer
from skde.algorithms import ALGORITHMS, Algorithm
from skde.testing import AlgorithmContract
from skde.testing.base import same


@pytest.fixture(params=sorted(ALGORITHMS))
def algorithm(request: pytest.FixtureRequest) -> Algorithm:
    """Return every algorithm with a small population."""
    return ALGORITHMS[request.param](**ALGORITHMS[request.param].get_test_params())


class TestOnCpu(AlgorithmContract):
    @pytest.fixture
    def algorithm(self, algorithm: Algorithm) -> Algorithm:
        return algorithm


OPPOSABLE = sorted(name for name, kind in ALGORITHMS.items() if kind().get_params().get("opposition") == 0)


class TestWithOpposition(AlgorithmContract):
    """Of the algorithms that have no opposition by default: it has separate kernels."""

    @pytest.fixture(params=OPPOSABLE)
    def algorithm(self, request: pytest.FixtureRequest) -> Algorithm:
        kind = ALGORITHMS[request.param]
        return kind(**kind.get_test_params(), opposition=0.3)

    def test_equivariant_in_place(self, algorithm: Algorithm, device: str) -> None:
        """Opposites k (a + b) - x depend on where zero lies; scaling the box leaves it there."""
        box = np.array([[-1.0, 1.0]] * 3)
        plain = self.make(algorithm, device).fit(lambda X: ((X - 0.5) ** 2).sum(axis=1), bounds=box)
        other = self.make(algorithm, device).fit(lambda X: ((X / 16 - 0.5) ** 2).sum(axis=1), bounds=box * 16)
        assert np.array_equal(other.population_, plain.population_ * 16)


class OnGpu:
    """The GPU, and its agreement with the CPU."""

    @pytest.fixture
    def device(self) -> str:
        return "cuda"

    # A warp has a component a lane, or several; more than its lanes are not all of them used.
    @pytest.mark.parametrize("dim", [17, 45])
    @pytest.mark.parametrize("dtype", ["float64", "float32"])
    def test_same_bits_as_the_cpu(self, algorithm: Algorithm, dtype: str, dim: int) -> None:
        options: dict[str, Any] = {"max_iter": 50, "n_runs": 3, "random_state": 1, "dtype": dtype}
        gpu = Minimizer(algorithm, device="cuda", **options).fit("ackley", dim=dim)
        cpu = Minimizer(algorithm, device="cpu", **options).fit("ackley", dim=dim)
        assert same(gpu, cpu)
        assert np.array_equal(gpu.history_.best, cpu.history_.best)

    def test_many_individuals_are_served_by_warps(self, algorithm: Algorithm) -> None:
        options: dict[str, Any] = {"max_iter": 12, "n_runs": 40, "random_state": 2}
        gpu = Minimizer(algorithm, device="cuda", **options).fit("rastrigin", dim=45)
        cpu = Minimizer(algorithm, device="cpu", **options).fit("rastrigin", dim=45)
        assert same(gpu, cpu)


@pytest.mark.gpu
class TestOnGpu(OnGpu, TestOnCpu):
    """All algorithms."""


@pytest.mark.gpu
class TestOnGpuWithOpposition(OnGpu, TestWithOpposition):
    """Algorithms with opposition."""
