"""The launches of a generation: their shapes, and what waits for them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skde.benchmark.execution_models.launches import FpdeLaunches, FusedLaunches, generation_plan, operator_plan
from skde.engines.gpu.launch_plan import Device, Work

H200 = Device(multiprocessors=132, shared_per_block=232_448)


def resident(team: str, threads: int, least: int, trials_shared: int, shared_bytes: int) -> int:
    """A multiprocessor with 2048 threads, 228 KiB of shared memory, and 128 registers a thread."""
    return max(min(2048 // threads, 233_472 // (shared_bytes + 1024), 65_536 // (128 * threads)), 0)


@given(
    dim=st.integers(1, 30_000),
    pop=st.integers(1, 20_000),
    n_runs=st.integers(1, 3000),
    scratch=st.integers(0, 4),
    itemsize=st.sampled_from([4, 8]),
)
def test_launches_of_a_generation_have_a_team_for_every_individual(
    dim: int, pop: int, n_runs: int, scratch: int, itemsize: int
) -> None:
    work = Work(dim, pop, n_runs, scratch, (dim * dim,), itemsize)
    for shape in (generation_plan, FpdeLaunches.plan):
        found = shape(work, H200, resident)
        assert (found.blocks - 1) * found.teams < pop <= found.blocks * found.teams
        assert found.groups == n_runs
        assert found.staged == 0
        assert found.shared_bytes <= H200.shared_per_block
        assert found.trials_shared == (found.shared_bytes >= found.teams * (1 + scratch) * dim * itemsize)
        assert operator_plan(found).teams == found.teams


def test_blocks_have_more_warps_only_where_more_individuals_are_then_at_work() -> None:
    def shape(pop: int, occupancy: Any = resident) -> tuple[str, int]:
        found = generation_plan(Work(10, pop, 1, 0, (), 8), H200, occupancy)
        return found.team, found.teams

    def few(team: str, threads: int, least: int, trials_shared: int, shared_bytes: int) -> int:
        """A multiprocessor with two blocks, however large."""
        return 2

    assert shape(50) == shape(1000) == ("Warp", 1)
    assert shape(50, few) == ("Warp", 1)
    assert shape(500, few) == ("Warp", 2)
    assert shape(2600, few) == ("Warp", 8)


def test_readers_wait_for_launches_before_an_error() -> None:
    orders: list[tuple[str, str]] = []

    def fail(*_: Any) -> None:
        raise ZeroDivisionError

    kernels: Any = object.__new__(FusedLaunches)
    islands = SimpleNamespace(stretches=lambda begin, until: [(begin, until)], migrates=lambda g: False)
    kernels.batch = SimpleNamespace(spec=SimpleNamespace(islands=islands), record=None)
    kernels.cuda, kernels.main = SimpleNamespace(get_current_stream=lambda: "caller"), "main"
    kernels.make, kernels.order = fail, lambda first, then: orders.append((first, then))
    with pytest.raises(ZeroDivisionError):
        kernels.run(0, 5)
    assert orders == [("caller", "main"), ("main", "caller")]
