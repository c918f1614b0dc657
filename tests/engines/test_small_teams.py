"""Many individuals on a GPU, each of which has a part of a warp: also those of populations that get small."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from skde import ARRDE, JSO, LSHADE, LSRTDE, RDEX, Minimizer, get_problem
from skde.benchmark.generations import new_batch
from skde.constants import CONSTANTS
from skde.engines import choose_device
from skde.engines.launch_plan import MANY_WITH_STAGES

pytestmark = pytest.mark.gpu
SHRINKING = [ARRDE, JSO, LSHADE, LSRTDE, RDEX]


@pytest.mark.parametrize("kind", SHRINKING)
def test_they_have_parts_of_warps(kind: Any) -> None:
    batch = new_batch(choose_device("cuda")[0], kind(pop_size=MANY_WITH_STAGES), get_problem("sphere", dim=30), 1, 3)
    assert batch.program.plan.team == "Tile8"


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("dim", [3, 30])
@pytest.mark.parametrize("kind", SHRINKING)
def test_those_that_shrink_equal_the_cpus(kind: Any, dim: int, dtype: str) -> None:
    """From many that are sorted to few that are counted, over sizes between."""
    algorithm = kind(pop_size=MANY_WITH_STAGES + 500, pop_min=40)
    given: dict[str, Any] = {"max_iter": 14, "random_state": 2, "dtype": dtype}
    gpu = Minimizer(algorithm, device="cuda", execution="persistent", **given).fit("rastrigin", dim=dim)
    cpu = Minimizer(algorithm, device="cpu", **given).fit("rastrigin", dim=dim)
    assert len(cpu.population_) < CONSTANTS["COUNTED_BY_GPU"] < MANY_WITH_STAGES
    assert np.array_equal(gpu.population_, cpu.population_)
    assert np.array_equal(gpu.fitness_, cpu.fitness_)
    assert np.array_equal(gpu.history_.best, cpu.history_.best)
