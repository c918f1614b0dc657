"""The launch of the persistent GPU driver for a batch; only arithmetic, so that it is tested without a GPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from skde.constants import CONSTANTS

WARP, BLOCK = CONSTANTS["WARP"], CONSTANTS["PARTIALS"]  # lanes of a team
MAX_WARPS = 8  # teams of one warp in a block that shares many staged bytes
FEW_WARPS = 4  # teams of one warp in any other block
MUCH_STAGED = 16 * 1024  # bytes
# Warps in a block -> blocks that a multiprocessor must hold when there are many individuals: the compiler then limits
# its registers. Measured on an H200.
RESIDENT = {FEW_WARPS: 5, MAX_WARPS: 2}


@dataclass(frozen=True)
class Device:
    """The properties of a GPU that a plan depends on."""

    multiprocessors: int
    shared_per_block: int  # bytes a block may ask for


@dataclass(frozen=True)
class Work:
    """The sizes of a batch that a plan depends on."""

    dim: int
    pop: int
    n_runs: int
    scratch: int  # vectors of length dim
    array_sizes: tuple[int, ...]  # elements
    itemsize: int


@dataclass(frozen=True)
class Plan:
    """A launch: the kind of team, the grid, and the contents of shared memory (Plan in plan.cuh)."""

    team: str  # "Warp" or "Block"
    threads: int  # of a block
    resident: int  # blocks that a multiprocessor must be able to hold
    blocks: int  # of a group, which works on one run at a time
    groups: int
    staged: int
    trials_shared: bool
    shared_bytes: int

    @property
    def grid(self) -> int:
        """Blocks of the launch."""
        return self.blocks * self.groups


def team_size(work: Work, device: Device) -> tuple[str, int]:
    """Return the kind of team and the number of teams in a block.

    A block of 128 lanes for each individual is fastest while the machine has unused blocks. One warp for each
    individual is faster with few dimensions or many individuals: the warps of a block share the staged arrays.
    """
    individuals = work.pop * work.n_runs
    if work.dim > WARP and individuals <= 4 * device.multiprocessors:
        return "Block", 1
    most = MAX_WARPS if sum(work.array_sizes) * work.itemsize >= MUCH_STAGED else FEW_WARPS
    teams = 1
    while teams < most and teams * device.multiprocessors < individuals:
        teams *= 2
    return "Warp", teams


def shared_memory(work: Work, device: Device, team: str, teams: int) -> tuple[int, bool, int]:
    """Return which arrays are staged (bits), whether trials fit into shared memory, and the bytes in all.

    The most used arrays come first: trials and scratch, bounds, then the data arrays as far as they fit.
    """
    used = teams * CONSTANTS["BLOCK_BYTES"] if team == "Block" else 0
    staged = 0

    def fits(elements: int) -> bool:
        nonlocal used
        if used + elements * work.itemsize > device.shared_per_block:
            return False
        used += elements * work.itemsize
        return True

    trials_shared = fits(teams * (1 + work.scratch) * work.dim)
    for bit, elements in enumerate((2 * work.dim, *work.array_sizes)):
        if fits(elements):
            staged |= 1 << bit
    return staged, trials_shared, used


def make_plan(work: Work, device: Device, blocks_per_multiprocessor: Callable[[str, int, int, int], int]) -> Plan:
    """Choose a launch whose blocks are all resident at once.

    Parameters
    ----------
    work, device
        The sizes of the batch, and the machine.
    blocks_per_multiprocessor : callable
        (team, threads, resident, shared bytes) -> number of such blocks that one multiprocessor holds.
    """
    team, teams = team_size(work, device)
    threads = BLOCK if team == "Block" else WARP * teams
    staged, trials_shared, shared_bytes = shared_memory(work, device, team, teams)
    busy = team == "Warp" and work.pop * work.n_runs > 2 * MAX_WARPS * device.multiprocessors
    resident = RESIDENT.get(teams, 1) if busy else 1
    capacity = max(1, blocks_per_multiprocessor(team, threads, resident, shared_bytes) * device.multiprocessors)
    # As many blocks for a run as leave every run resident; then only as many as the passes over a population need.
    most = max(1, min(-(-work.pop // teams), capacity // work.n_runs))
    passes = -(-work.pop // (most * teams))
    blocks = -(-work.pop // (passes * teams))
    return Plan(
        team, threads, resident, blocks, min(work.n_runs, capacity // blocks), staged, trials_shared, shared_bytes
    )
