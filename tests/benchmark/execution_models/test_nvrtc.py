"""The kernels of the execution models compile, without a GPU."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from skde import Fixed, Integer, Variables
from skde.benchmark.execution_models.engines import KERNELS, own_options
from skde.benchmark.execution_models.launches import GENERATION, OPERATORS, WITH_OPERATORS
from skde.engines import DecodedObjective
from skde.engines.gpu.nvrtc import Kernels, kernel_options
from skde.engines.state.algorithm_kernels import algorithm_entry
from skde.problems import get_problem

from ...kernels.test_nvrtc import CONSTANTS, build, kernels, options


def build_own(source: str, given: tuple[str, ...]) -> None:
    """Compile one of the files."""
    build(str(KERNELS / source), 90, (*given, *own_options()))


@pytest.mark.parametrize(("algorithm", "team"), list(zip(kernels(), itertools.cycle(["Warp", "Block"]), strict=False)))
def test_launches_for_every_generation(algorithm: str, team: str) -> None:
    problem = get_problem("rotated_rastrigin", dim=2)
    build_own(GENERATION, options(team, "float64", algorithm, constants=CONSTANTS, objective=problem))
    if algorithm_entry(algorithm).cpp_type in WITH_OPERATORS:
        for kind in (team, "Tile1"):
            build_own(OPERATORS, (*options(kind, "float32", algorithm), "-DSKDE_OPPOSITION"))


def test_launches_in_the_shape_of_fpde() -> None:
    kernels = Kernels(np.dtype("float64"), "jde")
    sphere = get_problem("sphere", dim=2)
    build_own(GENERATION, kernel_options(kernels.with_objective(sphere), "Tile16", 16, 2))
    build("gpu_step", 90, kernel_options(kernels, "Tile1", 16, 2))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_typed_variables(dtype: str) -> None:
    decoded = DecodedObjective(get_problem("sphere"), Variables([Integer(0, 9), Fixed(2)]))
    build_own(GENERATION, options("Block", dtype, "jde", objective=decoded))
