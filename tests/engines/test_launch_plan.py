"""The arithmetic of GPU launches."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skde import DeviceObjective, get_problem
from skde.algorithms import get_algorithm
from skde.benchmark.generations import constant_size, new_batch
from skde.engines import choose_device
from skde.engines.gpu.engine import CudaEngine, count_repeated_vectors
from skde.engines.gpu.launch_plan import LANES, STEP_BLOCKS, Device, Plan, Work, make_launch_plan, step_plan

H200 = Device(multiprocessors=132, shared_per_block=232_448)


def resident(team: str, threads: int, least: int, trials_shared: int, shared_bytes: int) -> int:
    """A multiprocessor with 2048 threads, 228 KiB of shared memory, and 128 registers a thread."""
    return max(min(2048 // threads, 233_472 // (shared_bytes + 1024), 65_536 // (128 * threads)), 0)


def plan(**work: Any) -> Plan:
    """Plan for an H200."""
    options: dict[str, Any] = {"dim": 30, "pop": 100, "n_runs": 1, "scratch": 0, "array_sizes": (), "itemsize": 8}
    return make_launch_plan(Work(**{**options, **work}), H200, resident)


@given(pop=st.integers(1, 10**6), n_runs=st.integers(1, 10**5))
def test_steps_start_no_more_blocks_than_the_machine_holds(pop: int, n_runs: int) -> None:
    found, most = step_plan(pop, n_runs, H200), STEP_BLOCKS * H200.multiprocessors
    assert found.groups == n_runs
    assert found.grid <= max(most, n_runs)
    assert (found.blocks - 1) * found.teams < pop  # no block without an individual
    assert found.blocks * found.teams >= pop or (found.blocks + 1) * n_runs > most  # each has a team, or all are used


@given(
    dim=st.integers(1, 30_000),
    pop=st.integers(1, 20_000),
    n_runs=st.integers(1, 3000),
    scratch=st.integers(0, 4),
    arrays=st.lists(st.integers(1, 10**6), max_size=8),
    itemsize=st.sampled_from([4, 8]),
)
def test_launches_fit_the_machine(
    dim: int, pop: int, n_runs: int, scratch: int, arrays: list[int], itemsize: int
) -> None:
    found = plan(dim=dim, pop=pop, n_runs=n_runs, scratch=scratch, array_sizes=tuple(arrays), itemsize=itemsize)
    most = (
        resident(found.team, found.threads, found.resident, found.trials_shared, found.shared_bytes)
        * H200.multiprocessors
    )
    assert 1 <= found.grid <= max(most, 1)  # blocks that wait for each other are all there
    assert found.shared_bytes <= H200.shared_per_block
    assert 1 <= found.groups <= n_runs
    assert (found.blocks - 1) * found.teams < pop  # no block without an individual
    assert found.threads in (32, 64, 128, 256)
    assert found.staged < 1 << (len(arrays) + 1)


@given(
    dim=st.integers(1, 3000),
    pop=st.integers(1, 3000),
    n_runs=st.integers(1, 700),
    scratch=st.integers(0, 2),
    arrays=st.lists(st.integers(1, 40_000), max_size=4),
)
def test_every_individual_is_served_once(dim: int, pop: int, n_runs: int, scratch: int, arrays: list[int]) -> None:
    """Runs are divided among groups and individuals among the teams of a group, as in the kernels."""
    found = plan(dim=dim, pop=pop, n_runs=n_runs, scratch=scratch, array_sizes=tuple(arrays))
    runs = [run for group in range(found.groups) for run in range(group, n_runs, found.groups)]
    assert sorted(runs) == list(range(n_runs))
    step = found.blocks * found.teams
    individuals = [i for begin in range(step) for i in range(begin, pop, step)]
    assert sorted(individuals) == list(range(pop))


@given(
    dim=st.integers(1, 30_000),
    pop=st.integers(1, 3000),
    scratch=st.integers(0, 4),
    repeated=st.integers(0, 2),
    arrays=st.lists(st.integers(1, 60_000), max_size=8),
    itemsize=st.sampled_from([4, 8]),
)
def test_shared_memory_holds_staged_arrays(
    dim: int, pop: int, scratch: int, repeated: int, arrays: list[int], itemsize: int
) -> None:
    """The launch asks for as many bytes as the kernel uses (gpu.cuh)."""
    repeated = min(repeated, scratch)
    found = plan(
        dim=dim, pop=pop, n_runs=20, scratch=scratch, repeated=repeated, array_sizes=tuple(arrays), itemsize=itemsize
    )
    trials = found.trials_shared
    elements = sum(size for bit, size in enumerate((2 * dim, *arrays)) if found.staged >> bit & 1)
    if trials:
        elements += found.teams * (trials * (1 + repeated) + scratch - repeated) * dim
    partials = 2 * 128 * 8 if found.team == "Block" else 0
    assert found.shared_bytes == elements * itemsize + partials
    assert found.shared_bytes <= H200.shared_per_block


def test_one_run_of_large_individuals_has_a_block_each() -> None:
    found = plan(dim=100, pop=250)
    assert (found.team, found.blocks, found.groups) == ("Block", 250, 1)


def test_few_dimensions_have_a_warp_each() -> None:
    found = plan(dim=30, pop=48)
    assert (found.team, found.threads, found.blocks) == ("Warp", 32, 48)


def test_many_runs_share_staged_matrices() -> None:
    found = plan(dim=100, pop=250, n_runs=30, scratch=1, array_sizes=(10_000,))
    assert (found.team, found.threads, found.groups) == ("Warp", 256, 30)
    assert found.staged == 0b11
    assert found.trials_shared


@pytest.mark.parametrize(
    ("dim", "pop", "n_runs", "trials"),
    [(100, 250, 1, 1), (100, 250, 30, 4), (100, 100, 30, 2), (100, 500, 30, 4), (500, 99, 30, 1)],
)
def test_teams_with_several_trials_share_the_elements_of_a_matrix(dim: int, pop: int, n_runs: int, trials: int) -> None:
    sizes: dict[str, Any] = {"dim": dim, "pop": pop, "n_runs": n_runs, "scratch": 3, "array_sizes": (3 * dim * dim,)}
    found = plan(**sizes, repeated=2)
    assert found.trials_shared == trials
    assert trials == 1 or found.blocks * found.teams * trials < 2 * pop  # most of the places have a trial
    assert plan(**sizes).trials_shared == 1


@pytest.mark.parametrize(
    ("algorithm", "objective", "vectors"),
    [
        (constant_size("lshade", 9), "janssen2024/F8", 2),
        (get_algorithm("lshade", pop_size=9), "janssen2024/F8", 0),  # the population shrinks
        (get_algorithm("de", pop_size=9), "rotated_rastrigin", 1),
        (get_algorithm("de", pop_size=9), "rastrigin", 0),
    ],
)
def test_trials_are_evaluated_together_where_there_is_a_matrix_and_one_size(
    algorithm: Any, objective: str, vectors: int
) -> None:
    problem = get_problem(objective, dim=10)
    batch = new_batch(choose_device("cpu")[0], algorithm, problem, 3, 5)
    assert count_repeated_vectors(problem, batch) == vectors
    assert count_repeated_vectors(DeviceObjective("return x[0];", scratch=2), batch) == 0
    batch.pop_sizes[1] -= 1
    assert count_repeated_vectors(problem, batch) == 0


@pytest.mark.parametrize(("pop", "n_runs", "trials"), [(8, 1000, 1), (16, 1000, 2), (24, 3000, 3), (50, 1000, 4)])
def test_runs_that_follow_each_other_do_not_share_a_turn(pop: int, n_runs: int, trials: int) -> None:
    """A team evaluates trials of one run together, however many runs wait for its group."""
    found = plan(dim=100, pop=pop, n_runs=n_runs, scratch=3, repeated=2, array_sizes=(30_000,))
    assert found.groups < n_runs
    assert found.trials_shared == trials


@pytest.mark.parametrize(("pop", "trials"), [(100, 1), (250, 4)])
def test_a_staged_matrix_is_better_than_two_trials_together(pop: int, trials: int) -> None:
    found = plan(dim=100, pop=pop, n_runs=30, scratch=2, repeated=2, array_sizes=(100 * 100,))
    assert found.trials_shared == trials
    assert (found.staged == 3) == (trials == 1)


@pytest.mark.parametrize(
    ("dim", "pop", "team", "teams"),
    [
        (30, 2600, "Warp", 4),
        (2, 100_000, "Tile1", 128),
        (10, 100_000, "Tile4", 32),
        (30, 100_000, "Tile8", 16),
        (100, 100_000, "Tile8", 16),
        (300, 30_000, "Warp", 4),
        (1000, 10_000, "Block", 1),
    ],
)
def test_many_individuals_have_small_teams_and_large_ones_large_teams(
    dim: int, pop: int, team: str, teams: int
) -> None:
    found = plan(dim=dim, pop=pop)
    assert (found.team, found.teams, found.threads) == (team, teams, 32 * max(teams * LANES[team] // 32, 1))
    assert found.resident > 1


@pytest.mark.parametrize(
    ("itemsize", "dim", "resident", "trials_shared"),
    [(8, 3000, 3, 1), (4, 10_000, 4, 1), (8, 10_000, 8, 0)],
)
def test_blocks_are_fewer_where_their_trials_fit(itemsize: int, dim: int, resident: int, trials_shared: int) -> None:
    found = plan(dim=dim, pop=3000, itemsize=itemsize)
    assert (found.team, found.resident, found.trials_shared) == ("Block", resident, trials_shared)


def test_large_trials_are_told_by_their_bytes() -> None:
    assert plan(dim=500, pop=10_000, itemsize=8).team == "Block"
    assert plan(dim=500, pop=10_000, itemsize=4).team == "Warp"


@pytest.mark.parametrize(
    ("dim", "pop", "has_vectors", "team"),
    [
        (300, 1000, False, "Warp"),  # a short row
        (400, 1000, False, "Block"),
        (400, 1000, True, "Block"),
        (400, 10_000, False, "Warp"),
        (1000, 10_000, False, "Block"),
        (1000, 10_000, True, "Warp"),
    ],
)
def test_work_between_generations_needs_many_teams(dim: int, pop: int, has_vectors: bool, team: str) -> None:
    found = plan(dim=dim, pop=pop, has_stages=True, has_tiles=False, has_vectors=has_vectors)
    assert found.team == team
    assert found.team == "Warp" or found.resident == 2


@pytest.mark.parametrize(("pop", "divides", "resident"), [(10_000, True, 2), (10_000, False, 5), (1000, True, 1)])
def test_warps_that_divide_work_have_more_registers(pop: int, divides: bool, resident: int) -> None:
    found = plan(dim=30, pop=pop, has_stages=True, has_tiles=False, divides=divides)
    assert (found.team, found.resident) == ("Warp", resident)


def test_large_trials_are_evaluated_together() -> None:
    """Where a function has a matrix, warps share it."""
    problem = get_problem("rotated_rastrigin", dim=400)
    found = plan(dim=400, pop=4000, scratch=problem.scratch, repeated=problem.repeated, array_sizes=(400 * 400,))
    assert (found.team, found.trials_shared) == ("Warp", 2)


def test_teams_of_a_game_are_warps() -> None:
    """It has neither tiles nor stages."""
    assert plan(dim=1000, pop=10_000, has_tiles=False).team == "Warp"


def test_scratch_that_does_not_fit() -> None:
    """With NumPy for CuPy the memory is the host's."""
    batch: Any = SimpleNamespace(spec=SimpleNamespace(dtype=np.dtype("float64")))
    engine: Any = SimpleNamespace(xp=np)
    with pytest.raises(MemoryError, match=r"the scratch of the GPU's teams needs .* take fewer runs"):
        CudaEngine._make_workspace(engine, batch, plan(dim=10**6, pop=1000, scratch=1), 10**12)


def test_runs_count_as_individuals() -> None:
    assert plan(dim=10, pop=50, n_runs=1).team == "Warp"
    assert plan(dim=10, pop=50, n_runs=10_000).team == "Tile4"


def test_teams_with_much_work_have_more_registers() -> None:
    assert plan(dim=30, pop=100_000).resident == 4
    assert plan(dim=100, pop=100_000).resident == 4
    found = plan(dim=30, pop=100_000, has_stages=True)
    assert (found.team, found.resident) == ("Tile8", 2)


@pytest.mark.parametrize(
    ("itemsize", "has_vectors", "team", "resident"),
    [(8, False, "Tile8", 4), (8, True, "Tile16", 4), (4, False, "Tile8", 6), (4, True, "Tile8", 4)],
)
def test_long_rows_depend_on_precision_and_vectors(itemsize: int, has_vectors: bool, team: str, resident: int) -> None:
    found = plan(dim=100, pop=100_000, itemsize=itemsize, has_vectors=has_vectors)
    assert (found.team, found.resident) == (team, resident)


@pytest.mark.parametrize(("pop", "itemsize", "resident"), [(10**5, 4, 4), (10**6, 4, 5), (10**6, 8, 4)])
def test_short_rows_from_memory_have_more_teams(pop: int, itemsize: int, resident: int) -> None:
    assert plan(dim=30, pop=pop, itemsize=itemsize).resident == resident
    assert plan(dim=30, pop=pop, itemsize=itemsize, has_vectors=True).resident == 4


def test_teams_may_be_kept_from_being_parts_of_a_warp() -> None:
    assert plan(dim=30, pop=100_000, has_tiles=False).team == "Warp"
    assert plan(dim=10_000, pop=1000, has_tiles=False).team == "Warp"


@pytest.mark.parametrize(("dim", "trials_shared"), [(1000, 1), (40_000, 0)])
def test_large_arrays_stay_in_global_memory(dim: int, trials_shared: int) -> None:
    assert plan(dim=dim, pop=20).trials_shared == trials_shared
