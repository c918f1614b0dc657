"""The contract of every algorithm, as a pytest class to inherit.

Subclass `AlgorithmContract` in a pytest module and define the algorithm to test::

    class TestMine(AlgorithmContract):
        @pytest.fixture
        def algorithm(self):
            return MyAlgorithm(pop_size=30)
"""

from __future__ import annotations

try:
    import pytest  # noqa: F401
except ImportError as error:
    raise ImportError("skde.testing is a suite for pytest, which is missing: pip install 'skde[test]'") from error

from skde.testing.continuation import ContinuationContract
from skde.testing.islands import IslandContract
from skde.testing.parameters import ParameterContract
from skde.testing.reproducibility import ReproducibilityContract
from skde.testing.stopping import StoppingContract
from skde.testing.values import ValueContract

__all__ = ["AlgorithmContract"]


class AlgorithmContract(
    ParameterContract,
    ReproducibilityContract,
    ContinuationContract,
    IslandContract,
    ValueContract,
    StoppingContract,
):
    """The promises of every algorithm, on every device.

    A subclass defines the fixture `algorithm`, a parameter object with at most 60 individuals, and may define `device`.
    """
