"""Many individuals on a GPU that are sorted: each has a part of a warp, or a block where its row is long."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from skde import ARRDE, GADE, JADE, LSRTDE, RDEX, Minimizer, get_problem
from skde.algorithms import ALGORITHMS
from skde.benchmark.generations import new_batch
from skde.constants import CONSTANTS
from skde.engines import choose_device
from skde.engines.gpu.launch_plan import MANY_WITH_STAGES

pytestmark = pytest.mark.gpu
SHRINKING = [kind for kind in ALGORITHMS.values() if kind.shrinks]


def team_of(algorithm: Any, dim: int) -> str:
    batch = new_batch(choose_device("cuda")[0], algorithm, get_problem("sphere", dim=dim), 1, 3)
    return str(batch.program.plan.team)


@pytest.mark.parametrize("kind", SHRINKING)
def test_they_have_parts_of_warps(kind: Any) -> None:
    assert team_of(kind(pop_size=MANY_WITH_STAGES), 30) == "Tile8"


@pytest.mark.parametrize("kind", [ARRDE, LSRTDE, RDEX])
def test_long_rows_have_warps_where_the_algorithm_sorts(kind: Any) -> None:
    assert team_of(kind(pop_size=MANY_WITH_STAGES), 400) == "Warp"


@pytest.mark.parametrize("kind", [JADE, GADE])
def test_blocks_sort_too(kind: Any) -> None:
    algorithm = kind(pop_size=2500)
    assert team_of(algorithm, 400) == "Block"
    gpu, cpu = (
        Minimizer(algorithm, device=device, max_iter=8, random_state=1).fit("rastrigin", dim=400)
        for device in ("cuda", "cpu")
    )
    assert np.array_equal(gpu.population_, cpu.population_)
    assert np.array_equal(gpu.history_.best, cpu.history_.best)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("dim", [3, 10, 30])
@pytest.mark.parametrize("kind", SHRINKING)
def test_those_that_shrink_equal_the_cpus(kind: Any, dim: int, dtype: str) -> None:
    """From many that are sorted to few that are counted, over sizes between."""
    algorithm = kind(pop_size=MANY_WITH_STAGES + 500, pop_min=40)
    given: dict[str, Any] = {"max_iter": 14, "random_state": 2, "dtype": dtype}
    gpu = Minimizer(algorithm, device="cuda", **given).fit("rastrigin", dim=dim)
    cpu = Minimizer(algorithm, device="cpu", **given).fit("rastrigin", dim=dim)
    assert len(cpu.population_) < CONSTANTS["COUNTED_BY_GPU"] < MANY_WITH_STAGES
    assert np.array_equal(gpu.population_, cpu.population_)
    assert np.array_equal(gpu.fitness_, cpu.fitness_)
    assert np.array_equal(gpu.history_.best, cpu.history_.best)
